"""How many rates do great earthquakes come at? A mixture of Poissons, its number of components chosen in three ways.

Counts of 107 years vary more than one Poisson can. Information criteria and the bootstrap of the likelihood ratio say how many
rates there are, as far as years may be taken as independent of each other.

Run: python examples/how_many_rates.py [FIGURE.png]
"""

import sys

import numpy as np
from scipy import stats

from tacit.datasets import load
from tacit.mixture import Mixture, bootstrap_lrt, select

year, count = load("earthquakes").X.T
rows = count[:, None]
plain = Mixture(by_column={0: "poisson"}, random_state=0)

# By information criteria.
chosen = select(plain, rows, n_components=range(1, 5))
print(f"{'rates':<8}{'log-likelihood':>15}{'BIC':>9}{'AIC':>9}{'ICL':>9}")
for row in sorted(chosen.table, key=lambda row: row["n_components"]):
    print(
        f"{row['n_components']:<8}{row['log_likelihood']:>15.3f}{row['bic']:>9.1f}{row['aic']:>9.1f}{row['icl']:>9.1f}"
    )

# By a test: how often does a sample from K rates gain as much from one more as these years do?
test = bootstrap_lrt(plain, rows, n_bootstrap=19, max_components=2, random_state=0)
print(f"\n{test}")

# What the best mixture says.
best = chosen.best
rate = best.describe()[0]["mean"]
for k in np.argsort(rate):
    print(f"{best.weights_[k]:.0%} of the years come at {rate[k]:.1f} earthquakes a year")
print(f"{(best.predict_proba(rows).max(axis=1) < 0.9).mean():.0%} of the years may belong to either")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4), layout="constrained")
    k = np.arange(0, 46)
    left.hist(count, bins=np.arange(-0.5, 46), density=True, color="#DDDDDD")
    left.plot(k, stats.poisson(count.mean()).pmf(k), "--", color="#E69F00", label="one rate")
    left.plot(k, stats.poisson.pmf(k[:, None], rate) @ best.weights_, color="#0072B2", label=f"{len(rate)} rates")
    left.set(xlabel="earthquakes in a year", ylabel="share of the years")
    left.legend(frameon=False)
    right.bar(year, count, color="#DDDDDD")
    right.plot(year, best.predict_proba(rows) @ rate, color="#0072B2", label="expected rate of the year")
    right.set(xlabel="year", ylabel="earthquakes")
    right.legend(frameon=False)
    figure.savefig(sys.argv[1], dpi=110)
