"""Intervals hold what they promise: of few rows, and of rows held out of real tables."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import ConstantKernel as C
from sklearn.model_selection import KFold

from tacit.gaussian_process import GaussianProcessRegressor
from tacit.gaussian_process.kernels import RBF, WhiteKernel

from ..zoo import some
from .rows import table


def covered(model, X, y, **given):
    low, high = model.predict_interval(X, **given)
    return np.mean((low < y) & (y < high))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("size", some([(20, 60), (40, 80), (100, 30)], [(20, 60)]), ids=str)
def test_few_rows(size):
    (n, n_tables), found = size, []
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X = rng.uniform(0, 4, (n + 50, 1))
        y = 5.0 + np.linalg.cholesky(RBF(0.8)(X) + 0.1 * np.eye(n + 50)) @ rng.normal(size=n + 50)
        model = GaussianProcessRegressor(C() * RBF() + WhiteKernel(), normalize_y=True, n_jobs=1).fit(X[:n], y[:n])
        found.append(covered(model, X[n:], y[n:]))
    assert 0.925 < np.mean(found) < 0.975


def real(name):
    """Rows and targets of a real table."""
    pandas, folder = pytest.importorskip("pandas"), Path(os.environ["TACIT_DATA"])
    if name == "diabetes":
        return load_diabetes(return_X_y=True)
    if name == "california":
        held = np.load(folder / "california" / "california.npz", allow_pickle=True)
        chosen = np.random.default_rng(0).permutation(len(held["y"]))[:1200]
        return np.log1p(np.abs(held["X"][chosen])), np.log(held["y"][chosen])
    path, target = {
        "prostate": ("esl/prostate.csv", "lpsa"), "cars": ("cars04/cars04_387.csv", "HighwayMPG"),
        "marks": ("marks/marks.csv", None),
    }[name]  # fmt: skip
    rows = pandas.read_csv(folder / path).select_dtypes("number")
    target = target or rows.columns[-1]
    return rows.drop(columns=target).to_numpy(float), rows[target].to_numpy(float)


@pytest.mark.skipif("TACIT_DATA" not in os.environ, reason="TACIT_DATA names no folder of published data sets")
@pytest.mark.parametrize("name", some(["diabetes", "prostate", "cars", "marks", "california"], ["prostate"]))
def test_real_tables(name):
    X, y = real(name)
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    inside = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = GaussianProcessRegressor(C() * RBF(3.0) + WhiteKernel(), normalize_y=True).fit(X[train], y[train])
        inside.append(covered(model, X[test], y[test]) * len(test))
    slack = np.sqrt(0.95 * 0.05 / len(y))  # what chance makes of it
    assert 0.93 - slack < sum(inside) / len(y) < 0.97 + slack


def test_noise_of_groups_is_in_the_intervals():
    X, _ = table(200, d=1, noise=0.0)
    group = np.where(np.arange(200) % 2, "calm", "loud")
    y = np.sin(X[:, 0]) + np.where(group == "loud", 1.0, 0.1) * np.random.default_rng(1).normal(size=200)
    model = GaussianProcessRegressor(RBF()).fit(X, y, noise_groups=group)
    (low, high), few = (
        model.predict_interval(X, 0.9, noise_groups=group),
        model.predict_interval(X, 0.5, noise_groups=group),
    )
    width = high - low
    np.testing.assert_allclose(width[group == "loud"].mean() / width[group == "calm"].mean(), 10.0, rtol=0.25)
    assert (few[1] - few[0] < width).all()
    with pytest.raises(
        ValueError, match="noise_groups must name one of the groups calm, loud for each of the 200 rows"
    ):
        model.predict_interval(X)
    with pytest.raises(ValueError, match=r"level=1\.5 is not a number between 0 and 1"):
        model.predict_interval(X, 1.5, noise_groups=group)
