"""Conjugate learning: what a few years say about the rate of great earthquakes, and what the next year may bring.

A Gamma prior of a Poisson rate becomes a Gamma posterior by adding: shape + number of earthquakes, rate + number of years. The
predictive distribution integrates the rate out, and is a negative binomial: wider than any single Poisson.

Run: python examples/conjugate_learning.py [FIGURE.png]
"""

import sys

import numpy as np
from scipy import stats

from tacit.datasets import load
from tacit.families import BetaPrior, Binomial, GammaPrior, NegativeBinomial, Poisson

count = load("earthquakes").X[:, 1]
prior = GammaPrior(2.0, 0.1)  # about 20 a year, give or take 14

# The posterior narrows as years come in; the mode is what MAP learning finds, the plain estimate is the mean of the years.
print(f"{'years seen':<12}{'prior mean':>11}{'posterior mean':>16}{'deviation':>11}{'plain estimate':>16}")
posteriors = {}
for years in (1, 5, 20, len(count)):
    posterior = posteriors[years] = Poisson().posterior(count[:years], prior)
    plain = Poisson().fit(count[:years]).mean[0]
    print(
        f"{years:<12}{prior.mean[0]:>11.1f}{posterior.mean[0]:>16.2f}{np.sqrt(posterior.variance[0]):>11.2f}{plain:>16.2f}"
    )
best = Poisson().map(count, prior).mean[0]
print(f"mode after all years {posteriors[len(count)].mode[0]:.3f}; MAP learning finds {best:.3f}")

# The next year after the first five: a plug-in Poisson is too sure of itself.
predictive = Poisson().predictive(posteriors[5])
shape, rate = posteriors[5].shape[0], posteriors[5].rate[0]
wide = stats.nbinom(shape, rate / (rate + 1))
plug = stats.poisson(count[:5].mean())
print(
    f"\nnext year: mean {predictive.mean[0]:.1f}, variance {predictive.variance[0]:.1f}; plug-in variance {plug.var():.1f}"
)
later = count[5:]
for name, law in (("predictive", wide), ("plug-in", plug)):
    low, high = law.ppf([0.05, 0.95])
    print(
        f"  {name:<11} 90 % interval {low:.0f} to {high:.0f} holds {((low <= later) & (later <= high)).mean():.0%} of later years"
    )

# Is one rate enough? Evidence for a Poisson and the likelihood of a family that varies more.
print(f"\nlog evidence of one Poisson rate: {Poisson().log_marginal(count, prior):.1f}")
spread = NegativeBinomial().fit(count)
print(
    f"variance of the counts {count.var():.1f}; Poisson says {count.mean():.1f}, negative binomial {spread.variance[0]:.1f}"
)
close = np.corrcoef(count[1:], count[:-1])[0, 1]
print(
    f"Five quiet years were not typical: counts of neighbouring years correlate by {close:.2f}, which no single rate knows."
)

# The same for yes and no: how often is a year above twenty?
above = Binomial(len(count)).posterior([float((count > 20).sum())], BetaPrior(1, 1))
low, high = stats.beta(above.a[0], above.b[0]).ppf([0.05, 0.95])
print(f"\na year is above twenty with probability {above.mean[0]:.2f} (90 %: {low:.2f} to {high:.2f})")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    x = np.linspace(5, 35, 400)
    left.plot(x, stats.gamma(prior.shape, scale=1 / prior.rate).pdf(x), color="#767676", label="prior")
    for years, colour in zip(posteriors, ("#56B4E9", "#0072B2", "#009E73", "#D55E00")):
        law = stats.gamma(posteriors[years].shape[0], scale=1 / posteriors[years].rate[0])
        left.plot(x, law.pdf(x), color=colour, label=f"after {years} year{'s' * (years > 1)}")
    left.set(xlabel="earthquakes a year", ylabel="density of the rate")
    left.legend(frameon=False)
    k = np.arange(0, 45)
    right.hist(later, bins=np.arange(-0.5, 45), density=True, color="#DDDDDD", label="later years")
    right.plot(k, wide.pmf(k), "o-", markersize=3, color="#0072B2", label="predictive")
    right.plot(k, plug.pmf(k), "s--", markersize=3, color="#E69F00", label="plug-in")
    right.set(xlabel="earthquakes in a year", ylabel="probability, learned from five years")
    right.legend(frameon=False)
    figure.savefig(sys.argv[1], dpi=110)
