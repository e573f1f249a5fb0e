"""Surplus components vanish: ask for twelve groups of penguins, and Bayesian learning keeps as many as the rows can tell apart.

Maximum likelihood uses every component it is given. With a Dirichlet prior on the weights, variational Bayes leaves those empty
that do not pay for themselves, so that the number of groups need not be searched for.

Run: python examples/surplus_components.py [FIGURE.png]
"""

import sys
import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score

from tacit.datasets import load_penguins
from tacit.mixture import BayesianGaussianMixture, GaussianMixture

X, species, columns = load_penguins()
X = X / np.nanstd(X, axis=0)
warnings.simplefilter("ignore")  # twelve components of maximum likelihood are too many on purpose

# The same twelve components, learned in two ways.
likely = GaussianMixture(12, random_state=0, max_iter=500).fit(X)
bayes = BayesianGaussianMixture(12, weight_concentration_prior=0.01, random_state=0, max_iter=1000).fit(X)
print(f"{'weights, in order':<20}" + " ".join(f"{number:>5}" for number in range(1, 13)))
for name, model in (("maximum likelihood", likely), ("variational Bayes", bayes)):
    print(f"{name:<20}" + " ".join(f"{weight:>5.2f}" for weight in np.sort(model.weights_)[::-1]))

# What is left are the species, without anybody having said how many there are.
for name, model in (("maximum likelihood", likely), ("variational Bayes", bayes)):
    groups = model.predict(X)
    print(
        f"{name}: {len(np.unique(groups))} groups in use, agreement with the species {adjusted_rand_score(species, groups):.2f}"
    )

# How strong the prior is decides how readily components vanish; the bound of the evidence compares the priors.
print(f"\n{'concentration':<15}{'in use':>7}{'bound':>12}")
for concentration in (1e-3, 1e-2, 1e-1, 1.0, 10.0):
    model = BayesianGaussianMixture(
        12, weight_concentration_prior=concentration, weight_concentration_prior_type="dirichlet_distribution",
        random_state=0, max_iter=1000,
    ).fit(X)  # fmt: skip
    print(f"{concentration:<15g}{(model.weights_ > 0.01).sum():>7}{model.lower_bound_:>12.1f}")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    place = np.arange(1, 13)
    left.bar(place - 0.2, np.sort(likely.weights_)[::-1], 0.4, label="maximum likelihood", color="#E69F00")
    left.bar(place + 0.2, np.sort(bayes.weights_)[::-1], 0.4, label="variational Bayes", color="#0072B2")
    left.set(xlabel="component, by weight", ylabel="weight", xticks=place)
    left.legend(frameon=False)
    whole = bayes.impute(X)
    for number, group in enumerate(np.unique(bayes.predict(X))):
        rows = bayes.predict(X) == group
        right.scatter(
            whole[rows, 0], whole[rows, 2], s=12, color=["#0072B2", "#E69F00", "#009E73", "#CC79A7"][number % 4]
        )
    right.set(xlabel=f"{columns[0]} / deviation", ylabel=f"{columns[2]} / deviation", title="the groups that are left")
    figure.savefig(sys.argv[1], dpi=110)
