"""What mixtures of experts say of y given x, and what they say of bad input."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from tacit.engine import Trace
from tacit.families.laws import NormalLaw
from tacit.mixture import MixtureOfExperts, MixtureOfExpertsClassifier
from tacit.source import ArraySource

from .test_experts import broken_line, crossed


@pytest.fixture(scope="module")
def line():
    X, y = broken_line()
    return MixtureOfExperts(2, random_state=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def cross():
    X, y = crossed()
    return MixtureOfExpertsClassifier(2, random_state=0).fit(X, np.where(y, "yes", "no")), X, np.where(y, "yes", "no")


def by_hand(model, X):
    """Gate, means and standard deviations from the fitted attributes."""
    score = np.exp(model.gate_intercept_ + X @ model.gate_coef_.T)
    mean = model.intercept_ + X @ model.coef_.T
    return score / score.sum(axis=1, keepdims=True), mean, np.sqrt(model.noise_variance_)


def test_density_is_the_formula(line):
    model, X, y = line
    gate, mean, std = by_hand(model, X)
    joint = gate * norm.pdf(y[:, None], mean, std)
    np.testing.assert_allclose(model.predict_gate(X), gate, rtol=1e-10)
    np.testing.assert_allclose(model.density(X, y), joint.sum(axis=1), rtol=1e-8)
    np.testing.assert_allclose(model.log_density(X, y), np.log(joint.sum(axis=1)), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(model.responsibilities(X, y), joint / joint.sum(axis=1, keepdims=True), atol=1e-8)
    np.testing.assert_allclose(model.predict_experts(X), mean, rtol=1e-8, atol=1e-10)
    assert model.lower_bound_ == pytest.approx(model.log_density(X, y).mean(), abs=1e-2)


def test_moments_are_those_of_the_density(line):
    model, X, _ = line
    grid = np.linspace(-8, 8, 8001)
    for row in X[:5]:
        density = model.density(np.repeat(row[None], len(grid), axis=0), grid) * (grid[1] - grid[0])
        mean, std = model.predict(row[None], return_std=True)
        assert density.sum() == pytest.approx(1.0, abs=1e-6)
        assert mean[0] == pytest.approx(density @ grid, abs=1e-6)
        assert std[0] ** 2 == pytest.approx(density @ (grid - mean[0]) ** 2, rel=1e-5)
        assert model.predict_variance(row[None])[0] == pytest.approx(std[0] ** 2)


@pytest.mark.parametrize("q", [1e-6, 0.05, 0.5, 0.95, 1 - 1e-6])
def test_quantiles_invert_the_distribution(line, q):
    model, X, _ = line
    gate, mean, std = by_hand(model, X)
    found = model.quantile(X, q)
    np.testing.assert_allclose((gate * norm.cdf((found[:, None] - mean) / std)).sum(axis=1), q, rtol=1e-9)


def test_quantiles_of_modes_far_apart():
    weight, mean, std = (
        np.array([[0.5, 0.5], [0.3, 0.7]]),
        np.array([[0.0, 1e6], [0.0, 50.0]]),
        np.array([[1e-3, 1.0]] * 2),
    )
    middle = NormalLaw(mean, std**2).quantile(0.5, weight)
    assert 0 < middle[0] < 1e6
    for q in (0.2, 0.4, 0.9):
        found = NormalLaw(mean, std**2).quantile(q, weight)
        np.testing.assert_allclose((weight * norm.cdf((found[:, None] - mean) / std)).sum(axis=1), q, rtol=1e-8)
    one = NormalLaw(np.full((1, 1), 2.0), np.full((1, 1), 9.0)).quantile(0.9, np.ones((1, 1)))
    assert one[0] == pytest.approx(norm.ppf(0.9, 2, 3))


def test_quantiles_of_several_levels(line):
    model, X, y = line
    band = model.quantile(X, [0.05, 0.95])
    assert band.shape == (len(X), 2)
    np.testing.assert_array_equal(band[:, 1], model.quantile(X, 0.95))
    assert ((band[:, 0] < y) & (y < band[:, 1])).mean() == pytest.approx(0.9, abs=0.04)


def test_draws_follow_the_density(line):
    model, X, _ = line
    rows = np.repeat(X[:3], 20_000, axis=0)
    drawn = model.sample(rows, random_state=0).reshape(3, -1)
    np.testing.assert_allclose(drawn.mean(axis=1), model.predict(X[:3]), atol=0.03)
    np.testing.assert_allclose(drawn.var(axis=1), model.predict_variance(X[:3]), rtol=0.05)
    np.testing.assert_array_equal(model.sample(X, random_state=1), model.sample(X, random_state=1))


def test_several_targets_share_the_gate():
    X, y = broken_line()
    both = np.column_stack([y, -2.0 * y + 0.1 * np.random.default_rng(2).normal(size=len(y))])
    model = MixtureOfExperts(2, random_state=0).fit(X, both)
    assert model.coef_.shape == (2, 2, 2)
    assert model.intercept_.shape == model.noise_variance_.shape == (2, 2)
    mean, std = model.predict(X, return_std=True)
    assert mean.shape == std.shape == (400, 2)
    assert model.quantile(X, [0.1, 0.5, 0.9]).shape == (400, 2, 3)
    assert model.sample(X, random_state=0).shape == (400, 2)
    assert model.score(X, both) > 0.85
    log_gate = np.log(model.predict_gate(X))
    cells = norm.logpdf(both[:, :, None], model.predict_experts(X), np.sqrt(model.noise_variance_).T)
    np.testing.assert_allclose(
        model.log_density(X, both), np.logaddexp.reduce(log_gate + cells.sum(axis=1), axis=1), rtol=1e-8
    )
    assert MixtureOfExperts(1).fit(X, y[:, None]).predict(X).shape == (400, 1)
    with pytest.raises(ValueError, match="y has 1 columns, but 2 were seen at fit"):
        model.log_density(X, y)


def test_class_probabilities(cross):
    model, X, y = cross
    chance = model.predict_proba(X)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.density(X, y), chance[np.arange(len(y)), (y == "yes").astype(int)], rtol=1e-8)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(chance))
    np.testing.assert_allclose(model.responsibilities(X, y).sum(axis=1), 1.0)
    drawn = model.sample(np.repeat(X[:2], 20_000, axis=0), random_state=0).reshape(2, -1)
    np.testing.assert_allclose((drawn == "yes").mean(axis=1), chance[:2, 1], atol=0.02)
    assert model.score(X, y) > 0.85


# Bad input


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, r"n_components=0 is not a whole number of at least 1"),
        ({"gate": "hard"}, r"gate='hard' is unknown; use one of 'softmax', 'constant'"),
        ({"alpha": -1.0}, r"alpha=-1.0 is not a number of at least 0"),
        ({"noise_floor": 0.0}, r"noise_floor=0.0 is not a number of at least 1e-12"),
        ({"convergence": "soon"}, r"convergence='soon' is unknown"),
        ({"accelerate": "warp"}, r"accelerate='warp' is unknown"),
        ({"n_components": 401}, r"n_components=401 exceeds the 400 rows of X; use at most 400"),
    ],
)
def test_bad_settings(settings, message):
    X, y = broken_line()
    with pytest.raises(ValueError, match=message):
        MixtureOfExperts(**settings).fit(X, y)


def test_missing_cells_name_the_remedy(line):
    model, X, y = line
    incomplete = X.copy()
    incomplete[3, 1] = np.nan
    with pytest.raises(
        ValueError, match=r"missing value \(row 3, column 1\), but none was missing at fit.*fill it first"
    ):
        model.predict(incomplete)
    with pytest.raises(ValueError, match="missing values, which are not taken together with unit"):
        MixtureOfExperts().fit(incomplete, y, unit=np.arange(len(y)) // 2)
    with pytest.raises(ValueError, match="Input y contains NaN"):
        MixtureOfExperts().fit(X, np.where(y > 0, y, np.nan))


def test_rows_must_match(line):
    model, X, y = line
    for call in (MixtureOfExperts().fit, model.log_density):
        with pytest.raises(ValueError, match="X has 400 rows and y has 399; give one target per row"):
            call(X, y[:-1])
    with pytest.raises(ValueError, match="requires y to be passed"):
        MixtureOfExperts().fit(X, None)
    with pytest.raises(ValueError, match="ArraySource, read in a stream; MixtureOfExperts takes rows in memory"):
        MixtureOfExperts().fit(ArraySource(X), y)


@pytest.mark.parametrize("q", [0.0, 1.0, -0.1, np.nan, [0.5, 2.0]])
def test_bad_quantiles(line, q):
    with pytest.raises(ValueError, match=r"q holds .*; quantiles are defined for probabilities between 0 and 1"):
        line[0].quantile(line[1], q)


def test_bad_classes(cross):
    model, X, y = cross
    with pytest.raises(ValueError, match="y holds one class, 'no'; a classifier needs at least two classes"):
        MixtureOfExpertsClassifier().fit(X, np.full(len(X), "no", dtype=object))
    with pytest.raises(ValueError, match="y holds 'maybe', which is none of the classes seen at fit, 'no', 'yes'"):
        model.log_density(X, np.where(y == "yes", "maybe", y).astype(object))
    with pytest.raises(ValueError, match="Unknown label type"):
        MixtureOfExpertsClassifier().fit(X, X[:, 0])


def test_score_samples_says_what_to_use(line):
    assert not hasattr(line[0], "score_samples")
    with pytest.raises(AttributeError, match=r"use log_density\(X, y\)"):
        _ = line[0].score_samples


def test_constant_target():
    X, _ = broken_line()
    for n_components in (1, 2):
        with pytest.warns(UserWarning, match=r"noise variance of expert \d is at its floor, 0.0001"):
            model = MixtureOfExperts(n_components, random_state=0).fit(X, np.full(len(X), 7.0))
        np.testing.assert_allclose(model.predict(X), 7.0)


def test_perfect_lines_are_said_to_be_at_the_floor():
    X, _ = broken_line()
    with pytest.warns(UserWarning, match=r"at its floor, .* Lower noise_floor=0.0001"):
        model = MixtureOfExperts(2, random_state=0).fit(X, np.abs(X[:, 0]))
    assert model.score(X, np.abs(X[:, 0])) > 0.999


def test_more_experts_than_the_rows_tell_apart():
    X, y = np.repeat(np.array([[0.0], [1.0], [2.0]]), 4, axis=0), np.tile([0.0, 0.2, 0.1, 0.3], 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MixtureOfExperts(6, random_state=0).fit(X, y)
        classifier = MixtureOfExpertsClassifier(6, random_state=0).fit(X, y > 0.15)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(classifier.predict_proba(X)).all()
    assert np.diff(model.lower_bounds_).min() >= -1e-9


def test_an_idle_expert_is_named():
    X, y = broken_line()
    model = MixtureOfExperts(2, gate="constant", random_state=0, warm_start=True).fit(X, y)
    model.fit_ = replace(model.fit_, trace=Trace())  # what follows is no continuation
    model.gate_intercept_ = np.array([0.0, -700.0])
    model.intercept_ = model.intercept_ + np.array([0.0, 100.0])
    with pytest.warns(UserWarning, match="expert 1 is responsible for no row: .* use n_components=1"):
        model.fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert model.weights_[0] == pytest.approx(1.0)
