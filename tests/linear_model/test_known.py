"""Draws of coefficients whose prior is uncertain: quadrature, units, coverage of few rows, and rows that tell nothing."""

import numpy as np
import pytest

import tacit
from tacit.linear_model import (
    ARDRegression,
    BayesianLinearRegression,
    BayesianLogisticRegression,
    BayesianRidge,
    Ridge,
    SparseBayesianRegression,
)
from tacit.linear_model.known import Known, OnePrior, OwnPriors, drawn

from .tables import rows


def r_squared(s):
    """Density of s = √v where R² = s² / (1 + s²) is uniform."""
    return 2 * s / (1 + s**2) ** 2


def horseshoe(s):
    """Density of the product of two half-Cauchy variables."""
    return 4 / np.pi**2 * np.log(s) / (s**2 - 1)


@pytest.mark.parametrize(("prior", "density"), [(OnePrior, r_squared), (OwnPriors, horseshoe)])
def test_draws_are_those_of_the_posterior(prior, density):
    rng = np.random.default_rng(0)
    x = rng.normal(size=8)
    y = 0.6 * x + rng.normal(size=8)
    x, y = (x - x.mean()) / x.std(), y - y.mean()
    known = Known(x[:, None], y[:, None], np.zeros(1), np.ones(1), np.float64(7.0))
    coef, noise = drawn(known, prior, 6000)
    s = np.exp(np.linspace(-9, 9, 4001)) + 1e-9
    v, e = s**2, x @ x
    w = e * v / (1 + e * v) * (x @ y) / e
    squares = y @ y - w * (x @ y)
    weight = density(s) * s / np.sqrt(1 + e * v) * squares**-3.5
    weight /= weight.sum()
    assert coef.mean() == pytest.approx(weight @ w, abs=0.03)
    assert 1 / np.mean(1 / noise) == pytest.approx(1 / (weight @ (7 / squares)), rel=0.05)
    spread = weight @ (squares / 5 * v / (1 + e * v) + w**2) - (weight @ w) ** 2
    assert coef.var() == pytest.approx(spread, rel=0.12)


@pytest.mark.parametrize("lost", [0.0, 0.2], ids=["complete", "missing"])
def test_intervals_of_20_rows(lost):
    inside = []
    for seed in range(10):
        X, y = rows(320, 6, seed=seed)
        rng = np.random.default_rng(100 + seed)
        y = 2 * X[:, 0] - X[:, 3] + rng.normal(size=320)
        X = np.where(rng.random(X.shape) < lost, np.nan, X)
        low, high = SparseBayesianRegression().fit(X[:20], y[:20]).predict_interval(X[20:])
        inside.append(np.mean((low < y[20:]) & (y[20:] < high)))
    assert 0.925 <= np.mean(inside) <= 0.975  # .87 where precisions are taken for known


@pytest.mark.parametrize(
    "model", [BayesianRidge(), BayesianLinearRegression(), ARDRegression(), SparseBayesianRegression()]
)
@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.filterwarnings("ignore:rows with missing values are fitted exactly")
def test_two_to_four_rows(model, lost, tmp_path):
    for n in (2, 3, 4):
        X, y = rows(n, 3, seed=n)
        X[0, 0] = np.nan if lost and n > 2 else X[0, 0]
        low, high = model.fit(X, y).predict_interval([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
        assert np.isfinite([low, high]).all()
        assert (0.5 * np.ptp(y) < high - low).all()
        assert (high - low < 1e4 * np.ptp(y)).all()
        tacit.save(model, tmp_path / "few.tacit")
        again = tacit.load(tmp_path / "few.tacit").predict_interval([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
        np.testing.assert_array_equal(again, (low, high))


def test_rows_that_tell_nothing_of_the_noise():
    with pytest.raises(ValueError, match=r"total weight 1 leave nothing to tell the noise from.*updates='given'"):
        BayesianRidge().fit([[1.0, 2.0]], [3.0]).predict_interval([[0.0, 0.0]])
    with pytest.raises(
        ValueError, match=r"2 rows and 3 columns leave 0\.069 degrees of freedom.*BayesianLinearRegression"
    ):
        Ridge().fit([[1.0, 2.0, 0.0], [2.0, 1.0, 5.0]], [3.0, 4.0]).predict_interval([[0.0, 0.0, 0.0]])
    given = BayesianRidge(updates="given", alpha_init=4.0, lambda_init=1.0).fit([[1.0]], [3.0])
    low, high = given.predict_interval([[1.0]])
    assert high - low == pytest.approx(2 * 1.959964 * np.sqrt(0.25 + 0.25))


@pytest.mark.parametrize("model", [Ridge(), BayesianLinearRegression(), BayesianLogisticRegression()])
def test_weights_that_add_up_to_1_are_told(model):
    X, y = rows(40, 2)
    y = (y > np.median(y)).astype(int) if isinstance(model, BayesianLogisticRegression) else y
    with pytest.warns(UserWarning, match=r"sample_weight adds up to 1 over 40 rows.*divide the weights by their mean"):
        model.fit(X, y, sample_weight=np.full(40, 1 / 40))
