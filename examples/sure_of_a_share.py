"""How sure is a share, or a mean? Intervals by four methods, and the bootstrap of skewed waits.

Run: python examples/sure_of_a_share.py
"""

import numpy as np

from tacit.assess import bootstrap, mean_interval, proportion_interval

print("15 of 40")
for method in ("wald", "wilson", "clopper-pearson", "likelihood"):
    each = proportion_interval(15, 40, method=method)
    print(f"  {method:<16} {each.low:.3f} to {each.high:.3f}")
none = proportion_interval(0, 40)
print(
    f"0 of 40: by Wilson up to {none.high:.3f}, by Wald no more than {proportion_interval(0, 40, method='wald').high:.3f}\n"
)

rng = np.random.default_rng(1)
waits = rng.exponential(10.0, 30)
told = mean_interval(waits)
print(f"30 waits of 10 minutes on average: mean {waits.mean():.2f}, t interval {told.low:.2f} to {told.high:.2f}")
for method in ("percentile", "bca"):
    each = bootstrap("mean", waits, method=method, n_resamples=4000, random_state=0)
    print(f"  bootstrap, {method:<12} {float(each.low):.2f} to {float(each.high):.2f}")
held = dict.fromkeys(("t", "bootstrap, bca"), 0)
for k in range(300):
    sample = rng.exponential(10.0, 30)
    found = mean_interval(sample), bootstrap("mean", sample, method="bca", n_resamples=1000, random_state=k)
    for name, each in zip(held, found):
        held[name] += float(each.low) <= 10.0 <= float(each.high)
print("of 300 samples", ", ".join(f"{name} held the mean in {count / 300:.0%}" for name, count in held.items()))
