"""Envelopes and bounds: draws under a curve, and the independent variables nearest to ones that are not.

Run: python examples/envelopes.py
"""

import math

from scipy.stats import uniform

from tacit.graph import FactorGraph, Potential
from tacit.sampling import rejection_sample
from tacit.variational import mean_field

kept = rejection_sample(
    lambda x: math.log(6 * x[0] * (1 - x[0])), uniform(), 5000, log_bound=math.log(1.5), random_state=0
)
print(f"a parabola under a box of height 1.5: {kept.acceptance_rate:.3f} of proposals are kept, 2/3 in the long run")
print(f"mean {kept.draws.mean():.3f} and variance {kept.draws.var():.4f}; they are 0.5 and 0.05")
for strength in (1.5, 3.0, 9.0):
    pair = [[strength, 1], [1, strength]]
    graph = FactorGraph([Potential("ab", pair), Potential("bc", pair), Potential("ca", pair)])
    near = mean_field(graph, {"c": 1}, random_state=0)
    told = f"bound {near.bound:.4f}, log evidence {near.log_evidence:.4f}, gap {near.gap:.4f}"
    print(f"three variables that agree by {strength}: {told}")
