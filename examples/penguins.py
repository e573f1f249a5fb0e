"""Penguins with missing values: find the groups, compare them with the species, and check the imputed cells against cells we hid.

Run: python examples/penguins.py
"""

import numpy as np
from sklearn.metrics import adjusted_rand_score

from tacit.datasets import load_penguins
from tacit.mixture import GaussianMixture

X, species, columns = load_penguins()
print(f"{len(X)} penguins, {np.isnan(X).sum()} of {X.size} cells missing")

# Which model? Rows with missing values take part.
fits = [GaussianMixture(k, covariance_type=kind, tol=1e-6, max_iter=500, random_state=0).fit(X)
        for k in range(1, 6) for kind in ("full", "tied")]  # fmt: skip
best = min(fits, key=lambda fit: fit.bic(X))
print(f"best by BIC: {best.n_components} groups, {best.covariance_type} covariance; stopped because {best.fit_.reason}")
print(f"agreement with the species (adjusted Rand index): {adjusted_rand_score(species, best.predict(X)):.2f}")

# A tenth of the cells hidden: how good are the guesses, and are they as uncertain as they claim?
rng = np.random.default_rng(0)
hidden = (rng.random(X.shape) < 0.1) & ~np.isnan(X)
incomplete = np.where(hidden, np.nan, X)
mixture = GaussianMixture(best.n_components, covariance_type=best.covariance_type, random_state=0).fit(incomplete)
filled, std = mixture.impute(incomplete, return_std=True)
error = np.abs(filled - X)
print(f"\n{'column':<20}{'error':>9}{'mean fill':>11}{'within 90 % interval':>23}")
for j, name in enumerate(columns):
    rows = hidden[:, j]
    rmse = np.sqrt((error[rows, j] ** 2).mean())
    naive = np.sqrt(((np.nanmean(incomplete[:, j]) - X[rows, j]) ** 2).mean())
    covered = (error[rows, j] < 1.645 * std[rows, j]).mean()
    print(f"{name:<20}{rmse:>9.2f}{naive:>11.2f}{covered:>22.0%}")

# Multiple imputation: the mean body mass of each completed table, and how much the missing values leave open.
draws = mixture.draw_missing(incomplete, n_draws=200, random_state=0)
masses = draws[:, :, 3].mean(axis=1)
print(f"\nmean body mass {masses.mean():.1f} g; the missing cells alone leave ±{1.96 * masses.std():.1f} g open")
