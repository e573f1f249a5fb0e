"""Fifteen of forty: a test with its p-value, critical region, errors and power, by formula and by simulation.

Forty trials of a probability that is said to be one half gave fifteen successes. Is it smaller? The test would reject at
fourteen or fewer; if the probability were 0.3, it would do so four times in five.

Run: python examples/fifteen_of_forty.py [FIGURE.png]
"""

import sys

import numpy as np

from tacit.assess import binomial_test

found = binomial_test(15, 40, 0.5, alternative="less")
print(found)
print(f"critical region {found.critical_region}, error of the first kind {found.type_i_error:.4f}")

drawn = np.random.default_rng(0).binomial(40, 0.3, size=100_000)
simulated = np.mean(drawn <= found.critical_region.lower)
print(f"power at 0.3: {found.power(0.3):.4f} by formula, {simulated:.4f} in 100,000 samples")
print(
    f"trials for a power of 90 %: {found.sample_size(0.9, 0.3)}; found with 80 % in forty: "
    f"{found.detectable(0.8, side=-1):.3f}"
)

if len(sys.argv) > 1:
    found.plot(0.3).figure_.savefig(sys.argv[1])
