"""Pi by darts, and a rare event: averages of random points with their error, and weights where plain draws see nothing.

Run: python examples/darts.py
"""

import numpy as np
from scipy.stats import norm

from tacit.sampling import expectation, importance_sample, quasi_random

print("π = 4 × the share of darts in the quarter circle")
print(f"{'darts':>9}{'estimate':>10}{'± error':>9}{'even points':>13}")


def inside(x):
    return 4.0 * ((x**2).sum(axis=1) < 1)


for n in (1_000, 10_000, 100_000, 1_000_000):
    darts = expectation(inside, lambda size, rng: rng.random((size, 2)), n, random_state=0)
    even = inside(quasi_random(1 << int(np.log2(n)), 2, random_state=0)).mean()
    print(f"{n:>9,}{darts.value:>10.4f}{darts.standard_error:>9.4f}{even:>13.4f}")
print("To gain a digit takes 100 times as many darts; points that cover the square evenly do better.\n")

truth, n = norm.sf(5), 10_000
print(f"P(x > 5) of a standard normal is {truth:.4g}")
plain = expectation(lambda x: x[:, 0] > 5, norm(), n, random_state=1)
print(f"{n:,} plain draws: {plain.value:.4g}, since none of them is that large")
for center in (5, 4, 2):
    sample = importance_sample(norm(), norm(center, 1), n, smooth=False, random_state=1)
    weights = np.exp(sample.raw_log_weights)
    found = expectation(lambda w: w, weights * (sample.draws[:, 0] > 5))
    print(f"{n:,} draws about {center}, weighted: {found.value:.4g} ± {found.standard_error:.2g}")

print(
    "\nWeights of a proposal with tails that are too light have infinite variance, which the tail of the weights tells:"
)
for scale in (2.0, 1.0, 0.5, 0.3):
    sample = importance_sample(norm(), norm(0, scale), n, random_state=2)
    told = sample.notes[0].code if sample.notes else "nothing to tell"
    print(f"  proposal N(0, {scale}²): k-hat {sample.k_hat:6.2f}, worth {sample.ess:7.0f} draws, {told}")
