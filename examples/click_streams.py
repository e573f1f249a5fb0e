"""Types of visitors from click streams: a mixture of Markov chains, their number by BIC, and how far back a chain must look.

Run: python examples/click_streams.py; visits of three made-up kinds of visitors to a shop, some clicks of which are not known.
"""

import numpy as np

from tacit.mixture import select
from tacit.sequence import MarkovChain, MarkovMixture, select_order

PAGES = ["home", "search", "product", "basket", "pay", "help", "leave"]
KINDS = {
    "buyers": {
        "home": "search product",
        "search": "product",
        "product": "basket",
        "basket": "pay product",
        "pay": "leave",
    },
    "browsers": {"home": "product search", "search": "search product", "product": "product search product leave"},
    "helped": {"home": "help search", "search": "help", "help": "help product leave", "product": "help"},
}


def visit(kind, rng):
    """One visit: pages until the visitor leaves, with a few turns at random and a few clicks lost."""
    page, path = "home", ["home"]
    while page != "leave" and len(path) < 30:
        usual = KINDS[kind].get(page, "home leave").split()
        page = str(rng.choice(usual if rng.random() < 0.9 else PAGES[1:]))
        path.append(page)
    return [None if 0 < t < len(path) - 1 and rng.random() < 0.05 else page for t, page in enumerate(path)]


rng = np.random.default_rng(0)
kinds = rng.choice(list(KINDS), 600, p=[0.3, 0.5, 0.2])
visits = [visit(kind, rng) for kind in kinds]
lost = sum(page is None for path in visits for page in path)
print(f"{len(visits)} visits, {sum(map(len, visits)):,} clicks, of which {lost} are lost; the first: {visits[0]}\n")

found = select(MarkovMixture(prior=0.1, random_state=0), visits, n_components=range(1, 6))
print(f"{found}\n")
groups = found.best.predict(visits)
for k in range(found.best.n_components):
    own = [f"{np.mean(groups[kinds == kind] == k):.0%} of the {kind}" for kind in KINDS]
    print(f"group {k}, {found.best.weights_[k]:.0%} of visits: {', '.join(own)}")

print(f"\nhow they go on, where some group does so often:\n{found.best.describe(least=0.3)}\n")

print(
    f"one chain for all visitors, by how many clicks it looks back:\n{select_order(MarkovChain(prior=0.1), visits, range(4))}"
)
chain = MarkovChain(1, prior=0.1, random_state=1).fit(visits)
drawn = ", ".join(chain.sample(6))
print(f"\nafter home, search: {chain.predict([['home', 'search']])[0]}; a new visit: {drawn}")
