"""Boltzmann machine: bars and stripes, learned by pairs of pixels, or by hidden units that tell what a picture is.

p(v) ∝ Σ_h exp(aᵀv + bᵀh + vᵀWh), or exp(aᵀv + vᵀWv / 2) without hidden units. Two are too few for 14 pictures, six are enough.

Run: python examples/boltzmann_machine.py
"""

import itertools

import numpy as np

from tacit.graph import BoltzmannMachine

size = 3
lines = np.array(list(itertools.product([0, 1], repeat=size)))
pictures = np.unique(np.concatenate([np.repeat(lines, size, axis=1), np.tile(lines, size)]), axis=0)
print(f"{len(pictures)} bars and stripes of {2 ** (size * size)} pictures of {size} × {size} pixels")
rows = np.repeat(pictures, 20, axis=0)
every = np.array(list(itertools.product([0, 1], repeat=size * size)))
for n_hidden in (0, 2, 6):
    machine = BoltzmannMachine(n_hidden, alpha=0.01, max_iter=2000, random_state=0).fit(rows)
    p = np.exp(machine.score_samples(every))
    theirs = np.exp(machine.score_samples(pictures)).sum()
    print(f"{n_hidden} hidden units: all pictures have probability {p.sum():.6f}, bars and stripes {theirs:.3f} of it")
    print(f"   log-likelihood a picture {machine.score(rows):.3f}; no model is above {-np.log(len(pictures)):.3f}")
drawn = machine.sample(4, random_state=1)
print("\nfour draws of the last machine")
for line in range(size):
    print(
        "   ".join(
            "".join("#" if cell else "." for cell in each.reshape(size, size)[line].astype(int)) for each in drawn
        )
    )
