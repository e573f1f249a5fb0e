"""``python -m benchmarks.coverage``: how many hidden cells of real tables lie within intervals of 50, 90 and 95 %.

A quarter of the cells of samples of n rows is hidden, completely at random (MCAR) or depending on the first column (MAR). Ours is
a default `GaussianMixture`; `IterativeImputer` draws ten tables, whose mean and standard deviation give its intervals, and its
errors are those of its expectations. Errors are root mean squares in standard deviations of the columns.
Tables beyond those of scikit-learn are read from the folder that TACIT_DATA names.
"""

import argparse
import warnings

import numpy as np
from scipy.stats import norm
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from tacit.datasets import make_missing
from tacit.mixture import GaussianMixture

from .harness import table
from .held_out_cells import tables

CHOSEN = ("iris", "wine", "diabetes", "breast_cancer", "airquality", "marks", "cars", "pima")
SIZES = {20: 12, 40: 8, 80: 4, 150: 3, None: 2}
"""Rows of a sample (None: all), and how many samples."""
LEVELS = (0.5, 0.9, 0.95)
SHARE, N_DRAWS, DRAWN = 0.25, 10, 2
"""Share of cells hidden; tables that the rival draws, and of how many samples: that takes a hundred times as long as ours."""


def ours(X, seed):
    """Expectations, and intervals by level."""
    model = GaussianMixture(random_state=0).fit(X)
    found = {level: model.impute(X, interval=level) for level in LEVELS}
    return found[0.9].filled, {level: (each.low, each.high) for level, each in found.items()}


def theirs(X, seed):
    """The same of rounds of regressions; no intervals of samples beyond the first."""
    expected = IterativeImputer(random_state=0).fit_transform(X)
    if seed >= DRAWN:
        return expected, {}
    draws = [IterativeImputer(sample_posterior=True, random_state=each).fit_transform(X) for each in range(N_DRAWS)]
    mean, std = np.mean(draws, axis=0), np.std(draws, axis=0, ddof=1)
    reach = {level: norm.ppf(0.5 + level / 2) * std for level in LEVELS}
    return expected, {level: (mean - each, mean + each) for level, each in reach.items()}


def compare(X, n, mechanism, rivals):
    """A row of the table: coverage by level and error, of each."""
    inside, errors = {name: [] for name in rivals}, {name: [] for name in rivals}
    for seed in range(SIZES[n]):
        rng = np.random.default_rng([seed, n or 0])
        rows = X[rng.permutation(len(X))[:n]]
        H = make_missing(rows, SHARE, mechanism, rng)
        empty = np.isnan(H).all(axis=0)
        H[:, empty] = rows[:, empty]
        lost, spread = np.isnan(H), X.std(axis=0)
        for name, fill in rivals.items():
            filled, intervals = fill(H, seed)
            errors[name].append(np.sqrt(np.mean(((filled - rows) / spread)[lost] ** 2)))
            if intervals:
                inside[name].append([((low <= rows) & (rows <= high))[lost].mean() for low, high in intervals.values()])
    covered = {name: " ".join(f"{each:.2f}" for each in np.mean(values, axis=0)) for name, values in inside.items()}
    return covered | {f"error of {name}": f"{np.mean(values):.2f}" for name, values in errors.items()}


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage")
    parser.add_argument("--ours", action="store_true", help="leave the rival out")
    parser.add_argument("tables", nargs="*", default=CHOSEN)
    asked = parser.parse_args()
    rivals = {"tacit": ours} if asked.ours else {"tacit": ours, "IterativeImputer": theirs}
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, X in tables():
            X = X[~np.isnan(X).any(axis=1)]
            for mechanism in ("mcar", "mar"):
                for n in SIZES if name in asked.tables else ():
                    if n is None or n < len(X):
                        told = {"table": name, "n": str(n or len(X)), "hidden": mechanism.upper()}
                        rows.append(told | compare(X, n, mechanism, rivals))
                        print(rows[-1], flush=True)
    print(table(rows))


if __name__ == "__main__":
    main()
