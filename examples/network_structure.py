"""Structure of a network: edges of a known network are found again from rows drawn from it.

Run: python examples/network_structure.py
"""

import numpy as np

from tacit.graph import chow_liu, hill_climb, pc_stable, score_structure

rng = np.random.default_rng(0)
n = 5000


def noisy(values, share=0.1):
    return np.where(rng.random(n) < share, 1 - values, values)


burglar, quake = (rng.random(n) < 0.3).astype(int), (rng.random(n) < 0.2).astype(int)
alarm = noisy(burglar | quake, 0.05)
columns = {"burglar": burglar, "quake": quake, "alarm": alarm, "radio": noisy(quake), "call": noisy(alarm)}
names, X, sizes = list(columns), np.column_stack(list(columns.values())), [2] * 5


def told(edges):
    return ", ".join(sorted(f"{names[a]} → {names[b]}" for a, b in edges))


truth = [(0, 2), (1, 2), (1, 3), (2, 4)]
print(f"{'the truth':<16}{score_structure(X, sizes, truth):>12.1f}  {told(truth)}")
found = {"Chow–Liu tree": chow_liu(X, sizes), "hill climbing": hill_climb(X, sizes), "PC-stable": pc_stable(X, sizes)}
for name, structure in found.items():
    print(f"{name:<16}{score_structure(X, sizes, structure.edges):>12.1f}  {told(structure.edges)}")

pattern = found["PC-stable"]
print(f"\nevery network of the class has: {told(pattern.directed)}")
undirected = ", ".join(f"{names[a]} – {names[b]}" for a, b in pattern.undirected)
print(f"the rows cannot tell the direction of: {undirected or 'none'}")
for pair, given in sorted(pattern.separating.items(), key=lambda item: sorted(item[0])):
    a, b = sorted(pair)
    print(f"{names[a]} and {names[b]} are independent given {', '.join(names[z] for z in given) or 'nothing'}")
