"""Tables that break linear models elsewhere: every model of rows gives finite answers, or names the fault."""

import warnings

import numpy as np
import pytest

from tacit.factor import PCA, FactorAnalysis, ProbabilisticPCA

MODELS = [PCA(2), PCA(2, scale=True), ProbabilisticPCA(2), ProbabilisticPCA(2, scale=True), FactorAnalysis(1)]


def table(n=40, d=6, rank=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d)) + 0.3 * rng.normal(size=(n, d))


def constant(X):
    X[:, 2] = 4.0


def repeated(X):
    X[:, 3] = X[:, 1]


def empty_row(X):
    X[4] = np.nan


def one_cell(X):
    X[4, 1:] = np.nan


def of_rank_one(X):
    X[:] = X[:, :1] * np.arange(1.0, X.shape[1] + 1)


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("spoil", [constant, repeated, empty_row, one_cell, of_rank_one])
@pytest.mark.parametrize("shape", [(40, 6), (5, 12)], ids=["tall", "wide"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_odd_tables_have_finite_answers_or_a_named_fault(model, shape, spoil, holes):
    X = table(*shape)
    spoil(X)
    if holes:
        X[0, 0] = X[2, 4] = np.nan
    if spoil is constant and getattr(model, "scale", False):
        with pytest.raises(
            ValueError, match="column 2 is constant, so it cannot be scaled to unit variance; drop it, or use"
        ):
            model.fit(X)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of floors, which these tables reach
        model.fit(X)
    assert np.isfinite(model.transform(X)).all()
    filled = model.impute(X)
    assert np.isfinite(filled).all()
    np.testing.assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    assert np.isfinite(model.score_samples(X)).all()


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_column_that_nobody_saw_is_named(model):
    X = table()
    X[:, 3] = np.nan
    with pytest.raises(ValueError, match=r"column 3 has no observed value; drop it before fitting\."):
        model.fit(X)
