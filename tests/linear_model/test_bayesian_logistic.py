"""`BayesianLogisticRegression`: coverage and calibration from few rows on; frames, sources and weights; bad input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import log_loss

from tacit.linear_model import BayesianLogisticRegression, LogisticRegression
from tacit.source import ArraySource

from .test_logistic import some_rows


@pytest.mark.parametrize(("n", "n_draws"), [(20, 60), pytest.param(60, 150, marks=pytest.mark.full)])
def test_intervals_cover_and_chances_come_true(n, n_draws):
    covered, told, came = [], [], []
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        X, true = rng.normal(size=(n + 60, 3)), rng.normal(size=3)
        y = rng.random(n + 60) < 1 / (1 + np.exp(-X @ true - 0.5 * rng.normal()))
        if 1 < y[:n].sum() < n - 1:
            model = BayesianLogisticRegression().fit(X[:n], y[:n])
            covered.append(np.abs(model.coef_[0] - true) < 1.96 * model.coef_std_[0])
            told.append(model.predict_proba(X[n:])[:, 1])
            came.append(y[n:])
    assert 0.92 <= np.mean(covered) <= 0.99
    told, came = np.concatenate(told), np.concatenate(came)
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.0)):
        part = (told >= low) & (told < high)
        assert abs(told[part].mean() - came[part].mean()) < 0.06


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_predicts_better_than_a_single_estimate(load):
    X, y = load(return_X_y=True)
    model, single = BayesianLogisticRegression().fit(X[::2], y[::2]), LogisticRegression().fit(X[::2], y[::2])
    assert log_loss(y[1::2], model.predict_proba(X[1::2])) < log_loss(y[1::2], single.predict_proba(X[1::2]))
    # Far away, where nothing was seen, nothing is certain.
    assert model.predict_proba(X.mean(axis=0) + 1e4 * X.std(axis=0) * np.ones((1, X.shape[1]))).max() < 0.9999


def test_units_and_order_of_classes_do_not_matter():
    X, y = some_rows(90)
    model = BayesianLogisticRegression().fit(X, y)
    chance = model.predict_proba(X)
    other = BayesianLogisticRegression().fit(1000.0 * X - 5.0, y)
    np.testing.assert_allclose(other.predict_proba(1000.0 * X - 5.0), chance, atol=1e-6)
    np.testing.assert_allclose(other.coef_std_, model.coef_std_ / 1000.0, rtol=1e-5)
    renamed = BayesianLogisticRegression().fit(X, 2 - y)
    np.testing.assert_allclose(renamed.predict_proba(X)[:, ::-1], chance, atol=1e-6)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-6)
    assert (np.diff(model.fit_.trace.objectives) > 0).all()


def test_a_given_prior_is_that_of_standardised_features():
    X, y = some_rows(200, n_classes=2)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model = BayesianLogisticRegression(alpha=3.0).fit(Z, y)
    expected = LogisticRegression(C=1 / 3.0, tol=1e-9).fit(Z, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, atol=1e-6)
    wide = BayesianLogisticRegression(alpha=1e-6).fit(Z, y)  # a flat prior: the inverse information
    chance = wide.predict_proba(Z)[:, 1]
    D = np.column_stack([Z, np.ones(len(Z))])
    information = np.linalg.inv((D * (chance * (1 - chance))[:, None]).T @ D)
    np.testing.assert_allclose(wide.coef_std_[0], np.sqrt(information.diagonal()[:-1]), rtol=0.05)


def test_rows_anywhere_teach_the_same(tmp_path):
    X, y = some_rows(150)
    weight = np.random.default_rng(0).integers(0, 3, size=len(X)).astype(float)
    chance = BayesianLogisticRegression().fit(X, y, weight).predict_proba(X)
    twice = BayesianLogisticRegression().fit(np.repeat(X, weight.astype(int), axis=0), np.repeat(y, weight.astype(int)))
    np.testing.assert_allclose(twice.predict_proba(X), chance, atol=1e-6)
    source = ArraySource(X, weight, targets=y[:, None].astype(float), block_rows=40, n_jobs=3)
    np.testing.assert_allclose(BayesianLogisticRegression().fit(source).predict_proba(X), chance, atol=1e-6)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, w=weight)
    frame.to_parquet(tmp_path / "rows.parquet")
    stored = BayesianLogisticRegression().fit(str(tmp_path / "rows.parquet"), "y", "w")
    np.testing.assert_allclose(stored.predict_proba(str(tmp_path / "rows.parquet")), chance, atol=1e-6)


def test_separable_constant_and_bad():
    X, y = load_iris(return_X_y=True)
    twice = np.column_stack([X, X[:, 0], np.ones(len(X))])
    model = BayesianLogisticRegression().fit(twice, y == 0)
    assert np.isfinite(model.coef_).all()
    assert model.score(twice, y == 0) == 1.0
    with pytest.raises(ValueError, match="alpha=0 is not a number of at least"):
        BayesianLogisticRegression(alpha=0).fit(X, y)
    with pytest.raises(ValueError, match="y holds one class, 1; BayesianLogisticRegression needs at least two"):
        BayesianLogisticRegression().fit(X, np.ones(150, dtype=int))
    hole = X.copy()
    hole[0, 2] = np.nan
    with pytest.raises(
        ValueError, match=r"NaN \(row 0, column 2\), and BayesianLogisticRegression takes no missing values"
    ):
        BayesianLogisticRegression().fit(hole, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_may_be_far_from_0(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=60), [-0.5, 0.5][: n_classes - 1])
    near = BayesianLogisticRegression().fit(X, y)
    for far in (1e2, 1e4, 1e8):
        model = BayesianLogisticRegression().fit(X + far, y)
        np.testing.assert_allclose(model.predict_proba(X + far), near.predict_proba(X), atol=1e-6)
        np.testing.assert_allclose(model.coef_std_, near.coef_std_, rtol=1e-6)
        mode, own = model.fit_.params, near.fit_.params
        np.testing.assert_allclose(mode.offset + mode.slope @ [far, far], own.offset, atol=1e-4)
    with pytest.warns(UserWarning, match=r"column 0 lies more than 1000 standard deviations from 0.*subtract its mean"):
        BayesianLogisticRegression(fit_intercept=False).fit(X + 1e4, y)
