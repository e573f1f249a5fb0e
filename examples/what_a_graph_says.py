"""What a graph says: which variables are independent, which graphs say the same, and how a junction tree answers.

The network is Lauritzen and Spiegelhalter's chest clinic: a visit to Asia, smoking, three diseases, an X-ray and short breath.

Run: python examples/what_a_graph_says.py
"""

from tacit.graph import BeliefNetwork, JunctionTree, ancestral, d_separated, equivalent, immoralities, moral, skeleton

edges = [("asia", "tub"), ("tub", "either"), ("lung", "either"), ("smoke", "lung"), ("smoke", "bronc"), ("either", "xray"),
         ("either", "dysp"), ("bronc", "dysp")]  # fmt: skip
married = set(map(frozenset, moral(edges))) - set(map(frozenset, edges))
print("pairs joined by moralisation:", sorted(map(sorted, married)))
print("immoralities:", sorted(map(str, immoralities(edges))))
print("ancestral graph of lung and tub:", sorted(map(str, ancestral(edges, ["lung", "tub"]))))
questions = [
    ("tub", "smoke", []),
    ("tub", "smoke", ["dysp"]),
    ("xray", "dysp", ["either"]),
    ("xray", "dysp", ["either", "bronc"]),
]
for a, b, given in questions:
    word = "separates" if d_separated(edges, a, b, given) else "does not separate"
    print(f"  {given if given else 'nothing known':} {word} {a} from {b}")
for old in (("tub", "either"), ("smoke", "lung")):
    each = [edge[::-1] if edge == old else edge for edge in edges]
    same = set(map(frozenset, skeleton(edges))) == set(map(frozenset, skeleton(each)))
    print(f"{old[0]} -> {old[1]} turned: same skeleton {same}, equivalent {equivalent(edges, each)}")

no_yes = ["no", "yes"]
clinic = BeliefNetwork.from_tables(
    {
        "asia": [0.99, 0.01],
        "tub": (["asia"], [[0.99, 0.01], [0.95, 0.05]]),
        "smoke": [0.5, 0.5],
        "lung": (["smoke"], [[0.99, 0.01], [0.9, 0.1]]),
        "bronc": (["smoke"], [[0.7, 0.3], [0.4, 0.6]]),
        "either": (["lung", "tub"], [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]),
        "xray": (["either"], [[0.95, 0.05], [0.02, 0.98]]),
        "dysp": (["bronc", "either"], [[[0.9, 0.1], [0.3, 0.7]], [[0.2, 0.8], [0.1, 0.9]]]),
    },
    dict.fromkeys(["asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"], no_yes),
)
tree = JunctionTree(clinic)
print("\ncliques of the junction tree:", *(", ".join(sorted(clique)) for clique in tree.cliques), sep="\n  ")
print("separators:", *(", ".join(sorted(each)) for each in tree.separators if each), sep="\n  ")
for given in ({}, {"asia": "yes"}, {"asia": "yes", "xray": "yes"}):
    tree.withdraw().observe(given)
    told = {name: float(tree.marginal(name).values[1]) for name in ("tub", "lung", "bronc")}
    print(given if given else "nothing known", {name: round(value, 6) for name, value in told.items()})
