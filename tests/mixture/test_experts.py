"""Mixtures of experts: properties of the model, known truths, rivals and published numbers."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.special import log_softmax
from scipy.stats import norm
from sklearn.linear_model import LinearRegression, LogisticRegression

import tacit
from tacit.engine import fit
from tacit.mixture import MixtureOfExperts, MixtureOfExpertsClassifier
from tacit.mixture.expert_families import LinearExperts, LogisticExperts
from tacit.mixture.experts_model import ExpertsModel, Frame
from tacit.mixture.gate import ConstantGate, SoftmaxGate, newton_step, softmax_stats
from tacit.source import ArraySource
from tacit.testing import check_model, check_sources


def broken_line(n=400, seed=0, noise=0.2):
    """A line that breaks at 0.5, and a second feature that does nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] > 0.5, 3.0 - 2.0 * X[:, 0], 1.0 + X[:, 0]) + noise * rng.normal(size=n)
    return X, y


def crossed(n=400, seed=0, flipped=0.05):
    """Two classes that no single line separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = X[:, 0] * X[:, 1] + 0.3 * X[:, 0] > 0
    return X, np.where(rng.random(n) < flipped, ~y, y)


def linear_rows():
    X, y = broken_line(240)
    return X, y[:, None]


def two_target_rows():
    X, y = broken_line(240)
    return X, np.column_stack([y, X[:, 1] - y + 0.3 * np.random.default_rng(5).normal(size=len(y))])


def class_rows():
    X, y = crossed(240, flipped=0.2)
    return X, (y + (X[:, 1] > 1.0))[:, None].astype(float)


MODELS = {
    "softmax gate": (ExpertsModel(SoftmaxGate(0.0), LinearExperts(1e-6), 2), linear_rows),
    "three experts": (ExpertsModel(SoftmaxGate(0.0), LinearExperts(1e-6), 3), linear_rows),
    "constant gate": (ExpertsModel(ConstantGate(0.0), LinearExperts(1e-6), 3), linear_rows),
    "two targets": (ExpertsModel(SoftmaxGate(0.0), LinearExperts(1e-6), 2), two_target_rows),
    "logistic experts": (ExpertsModel(SoftmaxGate(0.0), LogisticExperts(3, 0.0), 2), class_rows),
    "logistic, constant gate": (ExpertsModel(ConstantGate(0.0), LogisticExperts(3, 0.0), 2), class_rows),
}


@pytest.mark.parametrize("name", MODELS)
def test_model_has_every_property(name):
    model, rows = MODELS[name]
    X, targets = rows()
    check_model(model, X, targets=targets, rtol=1e-6)
    check_sources(model, X, targets=targets, sources=["parquet", "dask"], rtol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_model_with_weights_and_known_experts(name):
    model, rows = MODELS[name]
    (X, targets), rng = rows(), np.random.default_rng(3)
    labels = np.where(rng.random(len(X)) < 0.2, rng.integers(model.n_components, size=len(X)), -1)
    check_model(model, X, weight=rng.uniform(0.2, 3.0, len(X)), labels=labels, targets=targets, rtol=1e-6)


@pytest.mark.parametrize("accelerate", [None, "anderson", "squarem"])
@pytest.mark.parametrize("seed", range(5))
def test_objective_with_prior_never_falls(seed, accelerate):
    rng = np.random.default_rng(seed)
    X, targets = linear_rows() if seed % 2 else class_rows()
    experts = LinearExperts(1e-6) if seed % 2 else LogisticExperts(3, 0.1)
    model = ExpertsModel(SoftmaxGate(0.1), experts, 3)
    source = ArraySource(X, targets=targets)
    start = model.init(source.sample(len(X), rng), rng)
    start = model.bound(model.free(start) + 5.0 * rng.normal(size=len(model.free(start))), start)
    objectives = fit(model, source, start, max_iter=60, tol=0.0, accelerate=accelerate).trace.objectives
    assert np.diff(objectives).min() >= -1e-9 * np.abs(objectives).max()
    assert objectives[-1] > objectives[0] + 1.0


# The softmax step


def softmax_value(coef, Z, counts, alpha):
    return (counts * log_softmax(Z @ coef.T, axis=1)).sum() - 0.5 * alpha * (coef**2).sum()


def reach_of(Z):
    return Frame.of(ArraySource(Z[:, 1:], targets=Z[:, :1])).reach


def softmax_problem(seed, n=60, q=4, n_classes=3):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, q - 1))
    Z = np.column_stack([np.ones(n), (features - features.mean(axis=0)) / features.std(axis=0)])
    return Z, rng.dirichlet(0.3 * np.ones(n_classes), n) * rng.uniform(0.1, 3.0, (n, 1)), rng


def test_softmax_stats_are_derivatives():
    Z, counts, rng = softmax_problem(0)
    coef = rng.normal(size=(3, 4))
    stats, h = softmax_stats(coef, Z, counts), 1e-5
    for at in np.ndindex(coef.shape):
        step = np.zeros_like(coef)
        step[at] = h
        ahead, behind = coef + step, coef - step
        slope = (softmax_value(ahead, Z, counts, 0.0) - softmax_value(behind, Z, counts, 0.0)) / (2 * h)
        assert stats.gradient[at] == pytest.approx(slope, abs=1e-6)
        bend = (softmax_stats(ahead, Z, counts).gradient - softmax_stats(behind, Z, counts).gradient) / (2 * h)
        np.testing.assert_allclose(stats.curvature[at], -bend, atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 1.0])
def test_a_newton_step_always_climbs(seed, alpha):
    Z, counts, rng = softmax_problem(seed)
    coef = 10.0 ** rng.uniform(-1, 2) * rng.normal(size=(3, 4))
    reach = reach_of(Z)
    for _ in range(10):
        better = newton_step(coef, softmax_stats(coef, Z, counts), alpha, reach)
        before, after = (softmax_value(c, Z, counts, alpha) for c in (coef, better))
        assert after >= before - 1e-9 * abs(before)
        coef = better


def test_newton_steps_become_quadratic():
    Z, counts, _ = softmax_problem(1)
    coef, reach, sizes = np.zeros((3, 4)), reach_of(Z), []
    for _ in range(30):
        better = newton_step(coef, softmax_stats(coef, Z, counts), 1e-3, reach)
        sizes.append(np.abs(better - coef).max())
        coef = better
    small = next(k for k, size in enumerate(sizes) if size < 1e-3)
    assert sizes[small + 3] < 1e-9


def test_reach_bounds_every_row():
    Z, _, rng = softmax_problem(2)
    directions = rng.normal(size=(200, 4))
    bound = np.linalg.norm(directions @ reach_of(Z).T, axis=1)
    largest = np.abs(directions @ Z.T).max(axis=1)
    assert (largest <= bound).all()
    assert (bound / largest).mean() < 3


# Known truths


def test_finds_the_break_of_a_broken_line():
    X, y = broken_line(2000)
    model = MixtureOfExperts(2, random_state=0).fit(X, y)
    assert model.converged_
    low, high = np.argsort(model.coef_[:, 0])
    np.testing.assert_allclose(model.coef_[low], [-2.0, 0.0], atol=0.06)
    np.testing.assert_allclose(model.coef_[high], [1.0, 0.0], atol=0.06)
    np.testing.assert_allclose(model.intercept_[[low, high]], [3.0, 1.0], atol=0.06)
    np.testing.assert_allclose(model.noise_variance_, 0.04, rtol=0.15)
    turn = (
        -(model.gate_intercept_[low] - model.gate_intercept_[high])
        / (model.gate_coef_[low] - model.gate_coef_[high])[0]
    )
    assert turn == pytest.approx(0.5, abs=0.05)
    assert model.weights_[low] == pytest.approx(norm.sf(0.5), abs=0.03)


@pytest.mark.parametrize("seed", range(5))
def test_recovers_a_soft_gate(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(5000, 1))
    first = rng.random(5000) < 1 / (1 + np.exp(-(0.5 + 1.5 * X[:, 0])))
    y = np.where(first, 1 + X[:, 0], -1 - X[:, 0]) + np.where(first, 0.3, 0.6) * rng.normal(size=5000)
    model = MixtureOfExperts(2, random_state=seed).fit(X, y)
    k = int(np.argmax(model.coef_[:, 0]))
    assert model.gate_coef_[k, 0] - model.gate_coef_[1 - k, 0] == pytest.approx(1.5, abs=0.25)
    assert model.gate_intercept_[k] - model.gate_intercept_[1 - k] == pytest.approx(0.5, abs=0.2)
    np.testing.assert_allclose(np.sqrt(model.noise_variance_[[k, 1 - k]]), [0.3, 0.6], atol=0.04)


def test_a_gate_turns_two_lines_into_a_cross():
    X, y = crossed(1000, flipped=0.0)
    model = MixtureOfExpertsClassifier(2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.97
    assert MixtureOfExpertsClassifier(1).fit(X, y).score(X, y) < 0.75


# Rivals


def test_one_expert_is_least_squares():
    X, y = broken_line()
    weight = np.random.default_rng(1).uniform(0.1, 2.0, len(y))
    model, rival = MixtureOfExperts(1).fit(X, y, weight), LinearRegression().fit(X, y, weight)
    np.testing.assert_allclose(model.coef_[0], rival.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.intercept_[0], rival.intercept_, rtol=1e-10)
    residual = y - rival.predict(X)
    assert model.noise_variance_[0] == pytest.approx(np.average(residual**2, weights=weight), rel=1e-10)
    assert model.score(X, y) == pytest.approx(rival.score(X, y), rel=1e-10)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_constant_and_collinear_columns_predict_as_least_squares(offset):
    X, y = broken_line()
    X = np.column_stack([X, np.full(len(X), 3.0), X[:, 0] - 2 * X[:, 1]]) + offset
    model = MixtureOfExperts(1).fit(X, y)
    np.testing.assert_allclose(model.predict(X), LinearRegression().fit(X, y).predict(X), atol=1e-6)
    assert np.abs(model.coef_).max() < 10
    assert MixtureOfExperts(2, random_state=0).fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize("classes", [2, 3])
def test_one_logistic_expert_is_logistic_regression(classes):
    X, y = crossed(flipped=0.2)
    y = y + (X[:, 1] + 0.5 * X[:, 0] > 1.0) if classes == 3 else y
    X = 10.0 + 3.0 * X
    model = MixtureOfExpertsClassifier(1, alpha=1e-9, tol=1e-12).fit(X, y)
    rival = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), rival.predict_proba(X), atol=1e-5)


GNP = [19.02, 3.67, 28.2, 40.94, 10.61, 20.09, 15.72, 28.11, 26.44, 4.74, 32.1, 23.24, 26.27, 28.87, 11.46, 4.34, 17.11,
       19.88, 25.94, 24.51, 3.23, 10.16, 14.35, 25.71, 44.35, 2.83, 19.6, 2.41]  # fmt: skip
CO2 = [14.7, 3.9, 20.8, 9.0, 8.3, 16.0, 7.6, 7.4, 10.2, 10.8, 10.5, 10.0, 5.8, 10.2, 7.3, 5.5, 9.0, 7.2, 8.8, 16.6, 8.8,
       5.2, 5.9, 5.0, 5.5, 2.7, 9.3, 12.3]  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_published_mixture_of_regressions(seed):
    """CO2 and GNP per head of 28 countries in 1996, Hurn, Justel and Robert (2003)."""
    X, y = np.array(GNP)[:, None], np.array(CO2)
    model = MixtureOfExperts(2, gate="constant", tol=1e-12, max_iter=2000, random_state=seed).fit(X, y)
    large, small = np.argsort(-model.weights_)
    assert model.log_density(X, y).sum() == pytest.approx(-66.93977, abs=5e-6)
    assert model.weights_[large] == pytest.approx(0.754921, abs=5e-6)
    np.testing.assert_allclose(np.sqrt(model.noise_variance_[[large, small]]), [2.049315, 0.809389], atol=5e-6)
    assert (model.gate_coef_ == 0).all()


# The estimators


def test_units_do_not_matter():
    X, y = broken_line()
    base = MixtureOfExperts(2, random_state=0, tol=1e-9).fit(X, y)
    moved = MixtureOfExperts(2, random_state=0, tol=1e-9).fit(1e6 + 100.0 * X, 5.0 - 1000.0 * y)
    np.testing.assert_allclose(moved.predict(1e6 + 100.0 * X), 5.0 - 1000.0 * base.predict(X), rtol=1e-5, atol=1e-2)
    np.testing.assert_allclose(moved.noise_variance_, 1e6 * base.noise_variance_, rtol=1e-5)
    np.testing.assert_allclose(moved.log_density(1e6 + 100.0 * X, 5.0 - 1000.0 * y), base.log_density(X, y) - np.log(1e3),
                               atol=1e-4)  # fmt: skip


@pytest.mark.parametrize("kind", [MixtureOfExperts, MixtureOfExpertsClassifier])
def test_threads_do_not_matter(kind):
    X, y = crossed(40_000) if kind is MixtureOfExpertsClassifier else broken_line(40_000)
    one, three = (kind(2, random_state=0, max_iter=5, n_jobs=n, tol=0.1).fit(X, y) for n in (1, 3))
    np.testing.assert_array_equal(one.coef_, three.coef_)
    np.testing.assert_array_equal(one.gate_coef_, three.gate_coef_)


def test_lower_bound_is_likelihood_and_prior():
    X, y = broken_line()
    model = MixtureOfExperts(2, alpha=0.5, tol=1e-10, random_state=0).fit(X, y)
    standard = np.column_stack(
        [model.gate_intercept_ + model.gate_coef_ @ X.mean(axis=0), model.gate_coef_ * X.std(axis=0)]
    )
    expected = model.log_density(X, y).sum() - 0.25 * (standard**2).sum()
    assert len(y) * model.lower_bound_ == pytest.approx(expected, rel=1e-8)


def test_the_prior_keeps_a_separable_gate_finite():
    X, y = broken_line(noise=1e-3)
    sharp, soft = (MixtureOfExperts(2, alpha=a, noise_floor=1e-8, random_state=0).fit(X, y) for a in (1e-4, 1.0))
    assert np.abs(soft.gate_coef_).max() < np.abs(sharp.gate_coef_).max() < 1e3
    assert sharp.score(X, y) > 0.999


def test_warm_start_goes_on():
    X, y = broken_line()
    model = MixtureOfExperts(2, random_state=0, max_iter=5, tol=0.0, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = model.fit(X, y).lower_bounds_
        second = model.fit(X, y).lower_bounds_
    assert second[0] >= first[-1]
    assert second[-1] > first[-1]


def test_criteria_count_parameters():
    X, y = broken_line()
    model = MixtureOfExperts(3, random_state=0).fit(X, y)
    loglik = model.log_density(X, y).sum()
    assert model.aic(X, y) == pytest.approx(-2 * loglik + 2 * (2 * 3 + 3 * 4))
    assert model.bic(X, y) == pytest.approx(-2 * loglik + (2 * 3 + 3 * 4) * np.log(400))
    constant = MixtureOfExperts(3, gate="constant", random_state=0).fit(X, y)
    assert constant.aic(X, y) == pytest.approx(-2 * constant.log_density(X, y).sum() + 2 * (2 + 3 * 4))
    Xc, yc = crossed()
    classifier = MixtureOfExpertsClassifier(2, random_state=0).fit(Xc, yc)
    assert classifier.aic(Xc, yc) == pytest.approx(-2 * classifier.log_density(Xc, yc).sum() + 2 * (3 + 2 * 3))


@pytest.mark.parametrize("targets", [1, 2])
def test_saved_and_pickled_models_predict_the_same(targets, tmp_path):
    X, y = broken_line()
    y = y if targets == 1 else np.column_stack([y, np.roll(y, 1)])
    model = MixtureOfExperts(2, random_state=0).fit(X, y)
    tacit.save(model, tmp_path / "experts.tacit")
    for again in (tacit.load(tmp_path / "experts.tacit"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.quantile(X, 0.9), model.quantile(X, 0.9))
        np.testing.assert_array_equal(again.log_density(X, y), model.log_density(X, y))
        np.testing.assert_array_equal(again.weights_, model.weights_)


def test_saved_classifier_keeps_its_classes(tmp_path):
    X, y = crossed()
    model = MixtureOfExpertsClassifier(2, random_state=0).fit(X, np.where(y, "yes", "no"))
    tacit.save(model, tmp_path / "experts.tacit")
    again = tacit.load(tmp_path / "experts.tacit")
    assert list(again.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.log_density(X, model.predict(X)), model.log_density(X, model.predict(X)))
