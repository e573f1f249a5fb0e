"""``python -m benchmarks.intervals [SAMPLES]``: how often intervals of 95 % hold the truth, on even, skewed and discrete data.

Every method has the same samples. A share of 0.95 is off by about 0.007 in 1,000 samples.
"""

import sys

import numpy as np

from tacit.assess import bootstrap, mean_interval, median_interval, proportion_interval, variance_interval

SIZES = (20, 50, 200)
DATA = {  # draw, mean, variance, median
    "normal": (lambda rng, n: rng.normal(size=n), 0.0, 1.0, 0.0),
    "exponential": (lambda rng, n: rng.exponential(size=n), 1.0, 1.0, np.log(2)),
    "lognormal": (lambda rng, n: rng.lognormal(size=n), np.exp(0.5), (np.e - 1) * np.e, 1.0),
    "Poisson(2)": (lambda rng, n: rng.poisson(2.0, n).astype(float), 2.0, 2.0, 2.0),
}
BOOTSTRAPS = ("percentile", "basic", "bca", "studentised")


def methods(statistic):
    """What intervals of a statistic there are."""
    exact = {"mean": ("t", lambda x, seed: mean_interval(x)), "variance": ("χ²", lambda x, seed: variance_interval(x)),
             "median": ("order statistics", lambda x, seed: median_interval(x))}[statistic]  # fmt: skip
    found = dict([exact])
    for method in BOOTSTRAPS[: 4 if statistic == "mean" else 3]:
        found[method] = lambda x, seed, method=method: bootstrap(
            statistic, x, method=method, n_resamples=999, random_state=seed
        )
    return found


def of_numbers(n_samples):
    """Lines about means, variances and medians."""
    for place, statistic in enumerate(("mean", "variance", "median")):
        made = methods(statistic)
        print(f"\n| {statistic} of | rows | {' | '.join(made)} |\n|---|---|{'---|' * len(made)}")
        for name, (draw, *truths) in DATA.items():
            for n in SIZES:
                inside = dict.fromkeys(made, 0)
                rng = np.random.default_rng([n, place])
                for seed in range(n_samples):
                    x = draw(rng, n)
                    if np.ptp(x) == 0:
                        continue
                    for method, make in made.items():
                        found = make(x, seed)
                        inside[method] += found.low <= truths[place] <= found.high
                shares = " | ".join(f"{count / n_samples:.3f}" for count in inside.values())
                print(f"| {name} | {n} | {shares} |", flush=True)


def of_shares():
    """Exact coverage of intervals of a probability: its mean and its least over probabilities from 0.02 to 0.98."""
    from scipy.stats import binom

    names = ("wald", "wilson", "likelihood", "clopper-pearson")
    print(f"\n| rows | {' | '.join(f'{name}, mean | least' for name in names)} |\n|---|{'---|---|' * len(names)}")
    for n in SIZES:
        told = []
        for method in names:
            ends = np.array([(f.low, f.high) for f in (proportion_interval(k, n, method=method) for k in range(n + 1))])
            counts, low, high = np.arange(n + 1), *ends.T
            held = [binom.pmf(counts, n, p)[(low <= p) & (p <= high)].sum() for p in np.linspace(0.02, 0.98, 97)]
            told += [f"{np.mean(held):.3f} | {np.min(held):.3f}"]
        print(f"| {n} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    of_shares()
    of_numbers(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
