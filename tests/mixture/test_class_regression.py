"""Covariates on class membership in one step and in three, distal outcomes: rivals, bias, standard errors, bad input."""

import warnings

import numpy as np
import pytest
from scipy.special import expit, logsumexp, xlog1py, xlogy

import tacit
from tacit.families import Product
from tacit.mixture import GaussianMixture, LatentClassRegression, Mixture, select, standard_errors, three_step
from tacit.mixture.class_regression import ResponseExperts
from tacit.mixture.experts_model import ExpertsModel
from tacit.mixture.gate import SoftmaxGate
from tacit.testing import check_model

from ..zoo import FAMILIES, with_missing

TIGHT = {"tol": 1e-13, "max_iter": 20_000, "random_state": 0}


def survey(n=1000, seed=0, sharp=0.8):
    """Five yes/no answers of two classes; membership depends on z with slope 1, and the class moves an outcome by 2."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    member = rng.random(n) < 1 / (1 + np.exp(-(0.3 + z)))
    answers = (rng.random((n, 5)) < np.where(member, sharp, 1.05 - sharp)[:, None]).astype(float)
    return answers, z, np.where(member, 2.0, 0.0) + rng.normal(size=n)


@pytest.fixture(scope="module")
def answered():
    answers, z, outcome = survey()
    mixture = Mixture(2, family="bernoulli", **TIGHT).fit(answers)
    # Class 1 is the one of fewer yeses, as in the rival's fit.
    return mixture, answers, z, outcome, int(mixture.describe()[0]["mean"].argmin())


# One step


@pytest.mark.parametrize(
    "name",
    ["categorical", pytest.param("full", marks=pytest.mark.full), pytest.param("product", marks=pytest.mark.full)],
)
def test_model_has_every_property(name):
    family, rows = FAMILIES[name]
    Y = with_missing(rows())
    model = ExpertsModel(
        SoftmaxGate(1e-3), ResponseExperts(Product([(family, range(Y.shape[1]))])), 2, expert_columns=np.array([0])
    )
    X = np.random.default_rng(1).normal(size=(len(Y), 2))
    check_model(model, X, weight=np.random.default_rng(3).uniform(0.2, 3.0, len(X)), targets=Y, rtol=1e-5)


def test_one_step_agrees_with_stepmix_and_by_hand(answered, tmp_path):
    """Numbers of stepmix 3.0.0, StepMix(2, n_steps=1, measurement="bernoulli", structural="covariate"), to 1e-12."""
    _, answers, z, _, _ = answered
    model = LatentClassRegression(2, family="bernoulli", alpha=0.0, **TIGHT).fit(z[:, None], answers)
    k = int(model.describe()[0]["mean"].argmin())
    assert model.gate_intercept_[k] - model.gate_intercept_[1 - k] == pytest.approx(-0.32039488, abs=2e-5)
    assert model.gate_coef_[k, 0] - model.gate_coef_[1 - k, 0] == pytest.approx(-0.93008246, abs=2e-5)
    assert model.log_density(z[:, None], answers).mean() == pytest.approx(-3.0858985491966933, abs=1e-10)
    chance = np.array([told["mean"] for told in model.describe().values()])
    each = xlogy(answers[:, :, None], chance).sum(axis=1) + xlog1py(1 - answers[:, :, None], -chance).sum(axis=1)
    by_hand = logsumexp(np.log(model.predict_gate(z[:, None])) + each, axis=1)
    np.testing.assert_allclose(model.log_density(z[:, None], answers), by_hand)
    np.testing.assert_array_equal(model.predict(z[:, None]), model.predict_gate(z[:, None]).argmax(axis=1))
    tacit.save(model, tmp_path / "classes.tacit")
    again = tacit.load(tmp_path / "classes.tacit")
    np.testing.assert_array_equal(again.predict(z[:, None], answers), model.predict(z[:, None], answers))
    assert str(again.describe()) == str(model.describe())
    found = select(LatentClassRegression(family="bernoulli", random_state=0), z[:, None], answers, n_components=[1, 2])
    assert found.best_settings == {"n_components": 2}


def test_tables_with_holes_on_both_sides():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    answers, z, outcome = survey(600)
    region = np.where(rng.random(600) < expit(z), "north", "south").astype(object)
    X = pandas.DataFrame({"age": np.where(rng.random(600) < 0.1, np.nan, z), "region": region})
    y = pandas.DataFrame(np.where(answers > 0, "yes", "no"), columns=list("abcde")).assign(score=outcome)
    y = y.mask(rng.random(y.shape) < 0.1)
    model = LatentClassRegression(2, n_draws=20, random_state=0).fit(X, y)
    assert model.terms_ == ["age", "region = south"]
    assert abs(np.diff(model.gate_coef_[:, 0])[0]) == pytest.approx(1.0, abs=0.4)
    agree = (model.predict(X, y) == (outcome > 1)).mean()
    assert max(agree, 1 - agree) > 0.8
    told = standard_errors(model, X, y, method="information")
    assert {"gate_coef_", "probability of a = yes"} <= set(told.estimate)
    with pytest.raises(ValueError, match="'maybe', which was not there at fit"):
        model.log_density(X, y.assign(a="maybe"))


# Three steps


STEPMIX = {  # assignment, correction: intercept and slope of class 1 against class 0; means of the outcome, class 0 first
    ("modal", "none"): ([-0.36182206, -0.73247936], [1.86389485, 0.09398636]),
    ("modal", "bch"): ([-0.30016994, -0.93594276], [2.05900477, -0.07402932]),
    ("modal", "ml"): ([-0.3030949, -0.93704321], [2.03289026, -0.04489561]),
    ("proportional", "none"): ([-0.26401772, -0.60922887], [1.78546526, 0.26605314]),
    ("proportional", "bch"): ([-0.29706371, -0.91001513], [2.04069383, -0.05126395]),
}
"""stepmix 3.0.0, StepMix(2, n_steps=3, measurement="bernoulli", structural="covariate" or "gaussian_diag"), to 1e-12."""


@pytest.mark.parametrize("assignment", ["modal", "proportional"])
@pytest.mark.parametrize("correction", ["none", "bch", "ml"])
def test_three_steps_agree_with_stepmix(answered, assignment, correction):
    mixture, answers, z, outcome, one = answered
    order = np.array([1 - one, one])
    who = three_step(mixture, answers, covariates=z, correction=correction, assignment=assignment)
    what = three_step(mixture, answers, outcome=outcome, correction=correction, assignment=assignment)
    coef = np.array([np.diff(who.estimate["intercept"][order])[0], np.diff(who.estimate["coef"][order, 0])[0]])
    means = what.estimate["mean"][order]
    if (assignment, correction) not in STEPMIX:
        # The rival multiplies errors of classification in proportion, which overstates; here shares of a row add up.
        np.testing.assert_allclose(coef, [-0.3, -1.0], atol=0.25)
        np.testing.assert_allclose(means, [2.0, 0.0], atol=0.15)
        return
    expected, expected_means = STEPMIX[assignment, correction]
    np.testing.assert_allclose(coef, expected, atol=2e-5)
    # With ML the rival holds the class sizes of step 1, here step 3 has its own.
    np.testing.assert_allclose(means, expected_means, atol=1e-3 if correction == "ml" else 5e-5)
    np.testing.assert_allclose(who.classification_error.sum(axis=1), 1.0)
    assert who.p_value < 1e-10
    assert who.wald == pytest.approx((coef[1] / who.standard_error["coef"][1, 0]) ** 2)
    assert what.wald > 400
    assert what.df == 1


def simulate(replications, n=500):
    """Estimates of slope 1 and difference 2, and whether intervals held slope and means, by correction."""
    found: dict = {}
    for seed in range(replications):
        answers, z, outcome = survey(n, seed)
        mixture = Mixture(2, family="bernoulli", tol=1e-9, max_iter=5000, random_state=0).fit(answers)
        one = int(mixture.describe()[0]["mean"].argmin())
        order, sign = np.array([one, 1 - one]), 1.0 if one == 0 else -1.0
        for correction in ("none", "bch", "ml"):
            who = three_step(mixture, answers, covariates=z, correction=correction)
            what = three_step(mixture, answers, outcome=outcome, correction=correction)
            slope, held = sign * who.estimate["coef"][1, 0], np.array([0.0, 2.0])
            inside = (what.lower["mean"][order] <= held) & (held <= what.upper["mean"][order])
            within = abs(slope - 1.0) <= 1.96 * who.standard_error["coef"][1, 0]
            found.setdefault(correction, []).append([slope, np.diff(what.estimate["mean"][order])[0], within, *inside])
    return {correction: np.mean(values, axis=0) for correction, values in found.items()}


def test_corrected_three_steps_are_unbiased_in_small():
    found = simulate(5, 1000)
    assert found["none"][0] < 0.85
    assert found["none"][1] < 1.85
    for correction in ("bch", "ml"):
        np.testing.assert_allclose(found[correction][:2], [1.0, 2.0], atol=0.12)


@pytest.mark.full
def test_corrected_three_steps_are_unbiased_and_cover():
    found = simulate(400, 1000)
    assert found["none"][0] < 0.85
    assert found["none"][1] < 1.8
    assert (found["none"][2:] < 0.75).all()
    for correction in ("bch", "ml"):
        np.testing.assert_allclose(found[correction][:2], [1.0, 2.0], atol=0.03)
        # Each is known to 0.011.
        assert ((found[correction][2:] >= 0.92) & (found[correction][2:] <= 0.98)).all(), found
        assert 0.93 <= found[correction][2:].mean() <= 0.97, found


@pytest.mark.full
def test_one_step_intervals_cover():
    held = []
    for seed in range(200):
        answers, z, _ = survey(1000, seed)
        model = LatentClassRegression(2, family="bernoulli", alpha=0.0, tol=1e-9, max_iter=5000, random_state=0)
        model.fit(z[:, None], answers)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = standard_errors(model, z[:, None], answers, method="information")
        order = np.argsort(found.estimate["probability of 0"])
        truth = {"gate_coef_": [[-0.5], [0.5]], "gate_intercept_": [-0.15, 0.15], "probability of 0": [0.25, 0.8]}
        held.append([
            ((found.lower[name][order] <= value) & (value <= found.upper[name][order])).mean() for name, value in truth.items()
        ])  # fmt: skip
    # Each is known to 0.017; measured 0.935, 0.925 and 0.935.
    assert ((np.mean(held, axis=0) >= 0.91) & (np.mean(held, axis=0) <= 0.98)).all(), np.mean(held, axis=0)


def test_a_category_as_outcome_with_holes(answered):
    mixture, answers, _, outcome, one = answered
    level = np.where(outcome > 1, "high", "low").astype(object)
    level[::7] = None
    found = three_step(mixture, answers, outcome=level)
    share = found.estimate["probability"]
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    np.testing.assert_allclose(share[[one, 1 - one], 0], [0.159, 0.841], atol=0.06)
    assert "probability[0, high]" in [row["parameter"] for row in found.table]
    # Two levels as numbers are the same as a mean.
    numbers = np.where(level == None, np.nan, level == "high").astype(float)  # noqa: E711
    np.testing.assert_allclose(three_step(mixture, answers, outcome=numbers).estimate["mean"], share[:, 0])
    np.testing.assert_allclose(
        three_step(mixture, answers, outcome=numbers).standard_error["mean"],
        found.standard_error["probability"][:, 0],
        rtol=1e-4,
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "give either covariates or an outcome, and not both"),
        ({"outcome": np.ones(3)}, "X has 1000 rows, but 3 were given beside it"),
        ({"outcome": np.ones((1000, 2))}, "the outcome has 2 dimensions"),
        ({"outcome": np.full(1000, "a")}, "the outcome has 1 level"),
        (
            {"covariates": np.where(np.arange(1000) == 5, np.nan, 1.0)},
            r"covariates have a missing value \(row 5, column 0\)",
        ),
        (
            {"covariates": np.ones(1000), "correction": "BCH"},
            "correction='BCH' is unknown; use one of 'bch', 'ml', 'none'",
        ),
        ({"covariates": np.ones(1000), "assignment": "soft"}, "assignment='soft' is unknown"),
        ({"covariates": np.ones(1000), "level": 95}, "level=95 is not a number between 0 and 1"),
    ],
)
def test_bad_input(answered, given, message):
    with pytest.raises(ValueError, match=message):
        three_step(answered[0], answered[1], **given)


def test_mixtures_that_have_no_third_step(answered):
    _, answers, z, _, _ = answered
    with pytest.raises(ValueError, match="one class, which nothing can depend on"):
        three_step(GaussianMixture(1).fit(answers), answers, covariates=z)
    with pytest.raises(TypeError, match="three_step takes a mixture learned by likelihood"):
        three_step(LatentClassRegression(2), answers, covariates=z)


def test_weights_of_all_sizes_count_once():
    rng = np.random.default_rng(0)
    x, y, weight = rng.normal(size=(60, 1)), rng.normal(5.0, 2.0, size=60), 10.0 ** rng.uniform(-8, 8, size=60)
    found = LatentClassRegression(1, family="gaussian").fit(x, y, sample_weight=weight)
    mean = np.average(y, weights=weight)
    part = found.components_.parts[0]
    assert part.mean[0, 0] == pytest.approx(mean)
    assert part.covariance.ravel()[0] == pytest.approx(np.average((y - mean) ** 2, weights=weight))
