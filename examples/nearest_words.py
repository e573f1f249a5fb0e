"""Nearest words: how few edit distances Orchard's algorithm, AESA and linear AESA with buoys compute.

The words are those of Python's own documentation; half of them are looked for among the others, and these again with one letter
left out. Every search finds the same words.

Run: python examples/nearest_words.py [FIGURE.png]
"""

import sys
from pydoc_data.topics import topics

import numpy as np

from tacit.neighbors import NearestNeighbors

rng = np.random.default_rng(0)
words = sorted({word for text in topics.values() for word in text.lower().split() if word.isalpha() and len(word) > 2})
order = rng.permutation(len(words))
known, unknown = ([words[i] for i in part] for part in np.array_split(order, 2))
misspelt = [word[:at] + word[at + 1 :] for word in known for at in [rng.integers(len(word))]]
print(f"{len(known)} words are known; distances computed, as a share of all:")
print(f"{'':14s}{'to prepare':>12s}{'unknown':>10s}{'misspelt':>10s}")

shares, found = {}, {}
for algorithm in ("brute", "orchard", "aesa", "laesa"):
    model = NearestNeighbors(n_neighbors=1, metric="edit", algorithm=algorithm).fit(known)
    shares[algorithm] = []
    for name, queries in (("unknown", unknown), ("misspelt", misspelt)):
        rows = model.kneighbors(queries)[1][:, 0]
        assert (found.setdefault(name, rows) == rows).all()
        shares[algorithm].append(model.n_distances_ / (len(known) * len(queries)))
    prepared = model.n_distances_fit_ / len(known) ** 2
    print(f"{algorithm:14s}{prepared:12.1%}{shares[algorithm][0]:10.2%}{shares[algorithm][1]:10.2%}")
for place in range(4):
    print(f"{misspelt[place]} → {known[found['misspelt'][place]]}")

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    at = np.arange(len(shares))
    for shift, name in ((-0.2, "unknown words"), (0.2, "misspelt words")):
        ax.bar(at + shift, [each[int(shift > 0)] for each in shares.values()], 0.4, label=name)
    ax.set_yscale("log")
    ax.set_xticks(at, ["all pairs", "Orchard", "AESA", "linear AESA"])
    ax.set_ylabel("share of distances computed")
    ax.legend()
    figure.savefig(sys.argv[1], dpi=120)
