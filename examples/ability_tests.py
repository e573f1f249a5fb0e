"""Six ability tests: R's ``ability.cov``, two factors from a published covariance matrix, by three ways of estimation.

Smith and Stanley (1983) gave six tests to 112 people. Only the covariances are known, which is enough for factors, a test of
their number, and rotations. χ² and uniquenesses by maximum likelihood are those that R's ``factanal`` prints.

Run: python examples/ability_tests.py [FIGURE.png]        with a path, the figure is written there (needs matplotlib)
"""

import sys

import numpy as np
import pandas as pd

from tacit.factor import FactorAnalysis

tests = ["general", "picture", "blocks", "maze", "reading", "vocab"]
lower = """24.641
5.991 6.700
33.520 18.137 149.831
6.023 1.782 19.424 12.711
20.755 4.936 31.430 4.757 52.604
29.701 7.204 50.753 9.075 66.762 135.292"""
covariance = np.zeros((6, 6))
covariance[np.tril_indices(6)] = [float(cell) for cell in lower.split()]
covariance = pd.DataFrame(covariance + np.tril(covariance, -1).T, tests, tests)

# How many factors? One is rejected, two suffice (R: 75.18 on 9 and 6.11 on 4 degrees of freedom).
for k in (1, 2):
    print(f"{k} factor{'s' * (k > 1)}: {FactorAnalysis(k, scale=True).fit_covariance(covariance, 112).test_}")
for how in ("parallel", "parallel_factors", "bic"):
    print(f"{how:<16} {FactorAnalysis(how, scale=True).fit_covariance(covariance, 112).rank_choice_.rank}")

# Least squares of the correlations needs no normal distribution; its solution is another one, and close.
by_method = {
    method: FactorAnalysis(2, scale=True, method=method).fit_covariance(covariance, 112)
    for method in ("ml", "minres", "principal_axis")
}
print("\nuniquenesses")
print(pd.DataFrame({name: model.uniqueness_ for name, model in by_method.items()}, tests).round(3))

# Turned towards simple structure: a verbal factor (reading, vocabulary) and a spatial one (blocks, pictures, mazes).
turned = {}
for rotation in ("varimax", "promax"):
    kaiser = {"normalize": True if rotation == "varimax" else "varimax"}  # as factanal does
    model = FactorAnalysis(2, scale=True, rotation=rotation, rotation_params=kaiser).fit_covariance(covariance, 112)
    turned[rotation] = model.components_.T
    print(f"\n{rotation}, correlation of the factors {model.factor_correlation_[0, 1]:.3f}")
    print(pd.DataFrame(turned[rotation], tests, ["verbal", "spatial"]).round(3))

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, places = pyplot.subplots(1, 2, figsize=(8, 3.8), layout="constrained", sharex=True, sharey=True)
    for ax, (rotation, loadings) in zip(places, turned.items()):
        ax.axhline(0, color="#BBBBBB")
        ax.axvline(0, color="#BBBBBB")
        ax.scatter(*loadings.T, color="#0072B2")
        for test, at in zip(tests, loadings):
            ax.annotate(test, at, xytext=(4, 4), textcoords="offset points")
        ax.set(title=rotation, xlabel="loading on the verbal factor", xlim=(-0.2, 1.35), ylim=(-0.2, 1.1))
    places[0].set_ylabel("loading on the spatial factor")
    figure.savefig(sys.argv[1], dpi=110)
