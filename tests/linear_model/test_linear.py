"""Linear models: forms, sources and weights agree, missing features are integrated out, published numbers, bad input."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal, norm
from sklearn import linear_model as theirs

from tacit.factor.moments import moments
from tacit.linear_model import (
    ARDRegression,
    BayesianLinearRegression,
    BayesianRidge,
    LinearRegression,
    Ridge,
    SparseBayesianRegression,
)
from tacit.linear_model.design import design_of, of_moments
from tacit.linear_model.joint import LinearGaussian, learn_joint
from tacit.source import ArraySource, Block

from .tables import coverage, folder, real_tables, rows

MODELS = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(2.0),
    BayesianRidge(tol=1e-9, max_iter=2000),
    BayesianLinearRegression(),
    ARDRegression(),
    SparseBayesianRegression(),
]


def same(one, other, tol=1e-9):
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=tol, atol=tol)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=tol, atol=tol)
    np.testing.assert_allclose(one.noise_variance_, other.noise_variance_, rtol=100 * tol)


@pytest.mark.parametrize("lost", [0.0, 0.2], ids=["complete", "missing"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_weight_two_is_the_row_twice(model, lost):
    X, y = rows(240, lost=lost)
    weight = np.where(np.arange(len(X)) < 100, 2.0, 1.0)
    twice = np.repeat(np.arange(len(X)), weight.astype(int))
    one, other = type(model)(**model.get_params()), type(model)(**model.get_params())
    same(one.fit(X, y, weight), other.fit(X[twice], y[twice]), 1e-7 if lost else 1e-9)


@pytest.mark.parametrize("lost", [0.0, 0.2], ids=["complete", "missing"])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_blocks_and_threads_do_not_matter(model, lost, monkeypatch):
    monkeypatch.setattr("tacit.linear_model.design.HELD", 0)  # sums in blocks, also of few rows
    X, y = rows(300, lost=lost)
    fits = []
    for block_rows, n_jobs in ((1000, 1), (37, 1), (37, 2)):
        source = ArraySource(X, targets=y[:, None], block_rows=block_rows, n_jobs=n_jobs)
        fits.append(type(model)(**model.get_params()).fit(source, None))
    same(fits[0], fits[1], 1e-7)
    np.testing.assert_array_equal(fits[1].coef_, fits[2].coef_)
    whole = type(model)(**model.get_params()).fit(X, y)
    same(fits[0], whole, 1e-7)


@pytest.mark.parametrize("kind", ["parquet", "torch", "float32"])
def test_rows_from_anywhere(kind, tmp_path):
    X, y = rows(200, lost=0.1)
    expected = BayesianLinearRegression().fit(X, y)
    if kind == "parquet":
        path = tmp_path / "rows.parquet"
        pd.DataFrame(X, columns=list("abcde")).assign(target=y).to_parquet(path)
        found = BayesianLinearRegression().fit(path, "target")
        held = tmp_path / "features.parquet"
        pd.DataFrame(X, columns=list("abcde")).to_parquet(held)
        np.testing.assert_allclose(found.predict(held), expected.predict(X), atol=1e-6)
    elif kind == "torch":
        torch = pytest.importorskip("torch")
        found = BayesianLinearRegression().fit(torch.tensor(X), torch.tensor(y))
    else:
        found = BayesianLinearRegression().fit(X.astype(np.float32), y)
        assert found.coef_.dtype == np.float32
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-4 if kind == "float32" else 1e-8)


@pytest.mark.parametrize("model", [Ridge(0.7), Ridge(0.7, solver="svd"), BayesianRidge(tol=1e-10)], ids=repr)
def test_primal_and_dual_forms_agree(model):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 50)) + 1.0, rng.normal(size=(20, 1))
    source = ArraySource(X, targets=Y)
    dual = design_of(source, True)
    primal = of_moments(moments(source), X.shape, True)
    assert dual.wide
    assert not primal.wide
    one, other = model._learn(dual), model._learn(primal)
    np.testing.assert_allclose(one.coef, other.coef, atol=1e-10)
    np.testing.assert_allclose(one.spread.dense(), other.spread.dense(), atol=1e-8)


@pytest.mark.parametrize("wide", [False, True])
def test_evidence_is_the_density_of_the_targets(wide):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 20 if wide else 4)), rng.normal(size=12)
    model = BayesianRidge(
        updates="given", alpha_init=1.3, lambda_init=0.6, fit_intercept=False, compute_score=True,
        alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0,
    ).fit(X, y)  # fmt: skip
    covariance = np.eye(12) / 1.3 + X @ X.T / 0.6
    assert model.log_evidence_ == pytest.approx(multivariate_normal(cov=covariance).logpdf(y), rel=1e-10)
    precision = 0.6 * np.eye(X.shape[1]) + 1.3 * X.T @ X
    np.testing.assert_allclose(model.sigma_, np.linalg.inv(precision), atol=1e-12)


def test_em_never_lowers_the_evidence_and_ends_where_the_fixed_point_does():
    X, y = rows(40, noise=3.0)
    em = BayesianRidge(updates="em", compute_score=True, tol=1e-12, max_iter=20_000).fit(X, y)
    fixed = BayesianRidge(compute_score=True, tol=1e-12, max_iter=5000).fit(X, y)
    assert (np.diff(em.scores_) > -1e-9).all()
    assert em.log_evidence_ == pytest.approx(fixed.log_evidence_, abs=1e-8)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_the_path_of_missing_cells_gives_the_same_where_none_is_missing(model):
    X, y = rows(150)
    complete = type(model)(**model.get_params()).fit(X, y)
    model = type(model)(**model.get_params())
    source = model._open_targets(X, y)
    fit, _, estimate, features = learn_joint(model, source)
    tol = 2e-3 if isinstance(model, (ARDRegression, BayesianLinearRegression)) else 1e-6
    np.testing.assert_allclose(estimate.coef[0], complete.coef_, atol=tol)
    np.testing.assert_allclose(features.covariance, complete.features_.covariance, rtol=1e-6, atol=1e-9)
    if not isinstance(model, ARDRegression):
        assert np.diff(fit.trace.objectives).min() > -1e-7


@pytest.mark.parametrize("model", MODELS[:5], ids=repr)
def test_the_bound_never_falls_where_cells_are_missing(model):
    X, y = rows(150, lost=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = type(model)(**model.get_params()).fit(X, y)
    assert np.diff(model.fit_.trace.objectives).min() > -1e-7


def test_missing_features_are_integrated_as_quadrature_does():
    X, y = rows(400, d=2, lost=0.2, seed=3)
    model = LinearRegression().fit(X, y)
    mean, covariance, w, b = model.features_.mean, model.features_.covariance, model.coef_, model.intercept_
    noise = model.fit_.params.noise[0] * model.fit_.params.components.scale[-1]
    grid = mean[1] + np.sqrt(covariance[1, 1]) * np.linspace(-12, 12, 20001)
    x0, target = 1.0, 2.5
    both = np.column_stack([np.full(len(grid), x0), grid])
    prior = multivariate_normal(mean, covariance).pdf(both)
    step = grid[1] - grid[0]
    density = (prior * norm(both @ w + b, np.sqrt(noise)).pdf(target)).sum() * step
    learned = LinearGaussian(model, 2)
    # The published covariance is that of the last E-step; the parameters are one M-step further.
    block = Block.of(np.array([[x0, np.nan]]), targets=np.array([[target]]))
    assert learned.posterior(model.fit_.params, block)[1][0] == pytest.approx(np.log(density), abs=1e-3)
    given = prior / prior.sum()
    expected = given @ (both @ w + b)
    variance = given @ (both @ w + b - expected) ** 2
    found, more, _ = model._given_seen(np.array([[x0, np.nan]]))
    assert found[0, 0] == pytest.approx(expected, rel=1e-8)
    assert more[0, 0] == pytest.approx(variance, rel=1e-6)


@pytest.mark.parametrize("name", ["LinearRegression", "Ridge", "BayesianRidge", "ARDRegression"])
def test_the_rivals_estimates(name):
    X, y = rows(90, 7)
    import tacit.linear_model as ours

    one, other = getattr(ours, name)().fit(X, y), getattr(theirs, name)().fit(X, y)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-10)
    several = getattr(ours, name)().fit(X, np.column_stack([y, -2.0 * y + X[:, 0]]))
    np.testing.assert_allclose(several.coef_[0], one.coef_, atol=1e-10)
    assert several.predict(X).shape == (90, 2)
    low, high = several.predict_interval(X)
    assert low.shape == (90, 2)
    assert (low < high).all()


def test_least_squares_intervals_are_the_classical_ones():
    X, y = rows(25, 3)
    model = LinearRegression().fit(X, y)
    design = np.column_stack([np.ones(25), X])
    noise = np.sum((y - model.predict(X)) ** 2) / 21
    width = np.sqrt(noise * (1 + np.einsum("ij,jk,ik->i", design, np.linalg.inv(design.T @ design), design)))
    np.testing.assert_allclose(model.predict(X, return_std=True)[1], width, rtol=1e-10)
    low, high = model.predict_interval(X, 0.9)
    np.testing.assert_allclose(high - low, 2 * 1.720743 * width, rtol=1e-6)  # t of 21 degrees of freedom
    told = model.predictive(X)
    np.testing.assert_allclose(told.cdf(high), 0.95, rtol=1e-6)
    assert told.log_density(y).shape == (25,)


def test_prostate():
    table = pd.read_csv(folder("esl", "prostate.csv"))
    X, y, train = table.loc[:, "lcavol":"pgg45"].to_numpy(), table["lpsa"].to_numpy(), table["train"].to_numpy()
    scale = X[train].std(axis=0, ddof=1)
    model = LinearRegression().fit(X[train] / scale, y[train])
    assert np.mean((model.predict(X[~train] / scale) - y[~train]) ** 2) == pytest.approx(0.521, abs=5e-4)


def test_collinear_columns_and_units():
    X, y = rows(60, 3)
    both = np.column_stack([X, X[:, 0] + X[:, 1]])
    model, rival = LinearRegression().fit(both, y), theirs.LinearRegression().fit(both, y)
    np.testing.assert_allclose(model.coef_, rival.coef_, atol=1e-8)
    assert model.rank_ == 3
    units = np.array([1e9, 1.0, 1e-9])
    np.testing.assert_allclose(
        LinearRegression().fit(X * units, y).coef_ * units, LinearRegression().fit(X, y).coef_, rtol=1e-6
    )
    np.testing.assert_array_equal(
        SparseBayesianRegression().fit(X * units, y).relevant_, SparseBayesianRegression().fit(X, y).relevant_
    )


@pytest.mark.parametrize("shape", [(3000, 1500), (900, 6000)], ids=["tall", "wide"])
def test_sparse_rows(shape):
    X = sparse.random_array(shape, density=0.01, rng=0, format="csr") + sparse.csr_array(
        ([1.0], ([0], [0])), shape=shape
    )
    X = X.tocsr()
    y = X @ np.random.default_rng(0).normal(size=shape[1]) + 3.0
    model, dense = Ridge(0.5).fit(X, y), Ridge(0.5).fit(X.toarray(), y)
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-8)
    np.testing.assert_allclose(model.predict(X[:9]), dense.predict(X[:9].toarray()), atol=1e-8)


def test_few_rows_are_told_in_intervals():
    inside = []
    for seed in range(12):
        X, y = rows(520, 4, seed=seed)
        rng = np.random.default_rng(seed)
        Z = np.where(rng.random(X.shape) < 0.2, np.nan, X)
        low, high = BayesianLinearRegression().fit(Z[:20], y[:20]).predict_interval(Z[20:])
        inside.append(np.mean((low < y[20:]) & (y[20:] < high)))
    assert 0.92 < np.mean(inside) < 0.98


@pytest.mark.full
@pytest.mark.parametrize("lost", [0.0, 0.2], ids=["complete", "missing"])
@pytest.mark.parametrize(
    "model", [LinearRegression(), BayesianLinearRegression(), SparseBayesianRegression()], ids=repr
)
def test_intervals_of_real_tables(model, lost):
    covered = {name: coverage(model, X, y, lost=lost) for name, (X, y) in real_tables().items()}
    # Columns that a sparse model dropped are taken to be irrelevant, which of few rows costs some coverage.
    least = 0.91 if isinstance(model, SparseBayesianRegression) else 0.93
    assert all(least <= share <= 0.975 for share in covered.values()), covered
    assert 0.93 <= np.mean(list(covered.values())) <= 0.97, covered


# Bad input


def test_bad_input():
    X, y = rows(30, 3)
    gone = np.where(np.arange(30) == 4, np.nan, y)
    for model in MODELS:
        with pytest.raises(ValueError, match=r"y contains NaN \(row 4\).*leave out the 1 rows"):
            model.fit(X, gone)
    empty = X.copy()
    empty[:, 1] = np.nan
    with pytest.raises(ValueError, match="column 1 has no observed value; drop it before fitting"):
        Ridge().fit(empty, y)
    with pytest.raises(ValueError, match=r"alpha=-1.0 is not a number of at least 0"):
        Ridge(-1.0).fit(X, y)
    with pytest.raises(ValueError, match="solver='magic' is unknown; use one of 'auto'"):
        Ridge(solver="magic").fit(X, y)
    with pytest.raises(ValueError, match="updates='given' keeps precisions"):
        ARDRegression(updates="given").fit(X, y)
    with pytest.raises(ValueError, match="lambda_1=-1 is not a number of at least 0"):
        BayesianRidge(lambda_1=-1).fit(X, y)
    with pytest.raises(ValueError, match=r"level=1\.5 is not a probability"):
        LinearRegression().fit(X, y).predict_interval(X, 1.5)
    with pytest.raises(ValueError, match="infinity"):
        LinearRegression().fit(X, y).predict([[np.inf, 0.0, 0.0]])


def test_too_few_rows_for_a_standard_deviation():
    X, y = rows(4, 6)
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"4 rows and 6 columns leave nothing .*BayesianLinearRegression"):
        model.predict(X, return_std=True)
    with pytest.raises(ValueError, match=r"fitted on 6 columns and fewer rows.*GaussianImputer"):
        model.predict(np.where(X > 2, np.nan, X))
    single = Ridge().fit([[1.0, 2.0]], [3.0])
    assert single.predict([[5.0, 5.0]]) == pytest.approx(3.0)
    assert BayesianRidge().fit([[1.0, 2.0]], [3.0]).predict([[5.0, 5.0]]) == pytest.approx(3.0)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_constant_targets_and_columns(model):
    X, y = rows(30, 3)
    model = type(model)(**model.get_params())
    if model.fit_intercept:
        np.testing.assert_allclose(model.fit(X, np.full(30, 7.0)).predict(X), 7.0, atol=1e-6)
    X = np.column_stack([X, np.full(30, 2.0)])
    assert np.isfinite(model.fit(X, y).predict(X)).all()
    if model.fit_intercept:
        assert model.coef_[-1] == pytest.approx(0.0, abs=1e-8)


def test_rows_that_can_be_fitted_exactly_are_told():
    X, y = rows(12, 6, lost=0.4, seed=1)
    with pytest.warns(UserWarning, match=r"fitted exactly.*BayesianLinearRegression"):
        LinearRegression().fit(X, y)


@pytest.mark.parametrize("make", [BayesianLinearRegression, SparseBayesianRegression])
def test_units_of_the_target_do_not_matter(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    y = X @ [1.0, 2.0, 3.0, 0.0] + 0.3 * rng.normal(size=50)
    own = make().fit(X, y)
    for unit in (1e-9, 1e-3, 1e6):
        model = make().fit(X, unit * y)
        np.testing.assert_allclose(model.predict(X), unit * own.predict(X), rtol=1e-6, atol=1e-6 * unit)
        np.testing.assert_allclose(
            model.predict_interval(X), unit * np.array(own.predict_interval(X)), rtol=1e-6, atol=1e-6 * unit
        )


def test_dropping_all_columns_is_quiet(capfd):
    model = ARDRegression().fit(np.random.default_rng(0).normal(size=(40, 3)), np.full(40, 5.0))
    np.testing.assert_allclose(model.predict(np.zeros((2, 3))), 5.0)
    assert capfd.readouterr().err == ""
