"""Generalised linear experts, repeated measures, gates and experts with columns of their own, categories and missing features."""

import warnings

import numpy as np
import pytest
from scipy.special import expit, logsumexp
from scipy.stats import binom, gamma, norm, poisson
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor

import tacit
from tacit.mixture import MixtureOfExperts, MixtureOfExpertsClassifier, select, standard_errors
from tacit.mixture.expert_families import LinearExperts
from tacit.mixture.expert_glm import GLMS
from tacit.mixture.experts_model import ExpertsModel
from tacit.mixture.gate import ConstantGate, EqualGate, SoftmaxGate
from tacit.testing import check_model, check_sources

TIGHT = {"tol": 1e-12, "max_iter": 5000, "random_state": 0}


def two_lines(n=240, seed=0):
    """Features and linear predictors of two experts, each of half of the rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    first = rng.random(n) < 0.5
    return X, np.where(first, 1.0 + X[:, 0], 0.2 - 0.8 * X[:, 0] + 0.3 * X[:, 1]), rng


def rows_of(name, n=240):
    X, eta, rng = two_lines(n)
    if name == "poisson":
        return X, rng.poisson(np.exp(eta))[:, None].astype(float)
    if name == "binomial":
        trials = rng.integers(5, 12, n)
        return X, np.column_stack([rng.binomial(trials, expit(2 * eta)), trials]).astype(float)
    if name == "gamma":
        return X, rng.gamma(4.0, np.exp(eta) / 4.0)[:, None]
    return X, (eta + 0.3 * rng.normal(size=n))[:, None]


UNIT = np.repeat(np.arange(60), [1, 3, 5, 7] * 15)
MODELS = {
    "poisson": (ExpertsModel(SoftmaxGate(0.0), GLMS["poisson"](0.0), 2), None),
    "poisson, constant gate": (ExpertsModel(ConstantGate(0.0), GLMS["poisson"](1e-3), 3), None),
    "binomial": (ExpertsModel(ConstantGate(0.0), GLMS["binomial"](0.0), 2), None),
    "gamma": (ExpertsModel(SoftmaxGate(0.0), GLMS["gamma"](0.0), 2), None),
    "gamma, equal dispersions": (ExpertsModel(EqualGate(0.0), GLMS["gamma"](0.0, equal=True), 2), None),
    "gaussian, equal variances": (ExpertsModel(ConstantGate(0.0), LinearExperts(1e-6, True), 2), None),
    "columns apart": (
        ExpertsModel(SoftmaxGate(0.0), LinearExperts(1e-6), 2, gate_columns=np.array([0, 2]), expert_columns=np.array([0, 1])),
        None,
    ),
    "gaussian subjects": (ExpertsModel(ConstantGate(0.0), LinearExperts(1e-6), 2), UNIT),
    "poisson subjects": (ExpertsModel(SoftmaxGate(1e-3), GLMS["poisson"](0.0), 2), UNIT),
    "draws": (ExpertsModel(SoftmaxGate(1e-3), LinearExperts(1e-6), 2, draws=True), UNIT),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_model_has_every_property(name):
    model, unit = MODELS[name]
    X, targets = rows_of(name.split()[0].strip(","))
    weight = np.random.default_rng(3).uniform(0.2, 3.0, len(X))
    check_model(model, X, weight=weight if unit is None else weight[unit], targets=targets, unit=unit, rtol=1e-5)


def test_sources_agree():
    model, unit = MODELS["poisson subjects"]
    X, targets = rows_of("poisson")
    check_sources(model, X, targets=targets, unit=unit, sources=["parquet", "dask"], rtol=1e-6)


# Known truths and rivals


@pytest.mark.parametrize("family", GLMS)
def test_one_expert_is_a_generalised_linear_model(family):
    X, targets = rows_of(family)
    y, weight = targets[:, 0], np.random.default_rng(1).uniform(0.5, 2.0, len(X))
    if family == "binomial":
        y = (y / targets[:, 1] > 0.5).astype(float)
    rival = {
        "poisson": PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=10_000),
        "binomial": LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000),
        "gamma": GammaRegressor(alpha=0.0, tol=1e-10, max_iter=10_000),
    }[family].fit(X, y, weight)
    model = MixtureOfExperts(1, family=family, alpha=0.0, **TIGHT).fit(X, y, weight)
    np.testing.assert_allclose(model.coef_[0], np.ravel(rival.coef_), rtol=1e-4)
    np.testing.assert_allclose(model.intercept_[0], np.ravel(rival.intercept_)[0], rtol=1e-4)
    if family == "binomial":
        counts = MixtureOfExperts(1, family=family, alpha=0.0, **TIGHT).fit(X, np.column_stack([y, 1 - y]), weight)
        np.testing.assert_allclose(counts.coef_, model.coef_, rtol=1e-6)


def npreg(n=200, seed=0):
    """The artificial data of flexmix's vignette: two classes, of a Gaussian and of a Poisson response."""
    rng = np.random.default_rng(seed)
    first, x = rng.permutation(n) < n / 2, rng.uniform(0, 10, n)
    yn = np.where(first, 5 * x, 40 - (x - 5) ** 2) + 3 * rng.normal(size=n)
    return x, yn, rng.poisson(np.exp(np.where(first, 2 - 0.2 * x, 1 + 0.1 * x)))


def test_flexmix_vignette_is_recovered():
    """Leisch (2004), FlexMix: a general framework for finite mixture models and latent class regression in R, section 4."""
    x, yn, yp = npreg(2000)
    X = np.column_stack([x, x**2])
    model = MixtureOfExperts(2, gate="constant", random_state=0).fit(X, yn)
    k = int(np.argmin(model.coef_[:, 1]))
    np.testing.assert_allclose(model.coef_[[1 - k, k]], [[5.0, 0.0], [10.0, -1.0]], atol=0.35)
    np.testing.assert_allclose(model.intercept_[[1 - k, k]], [0.0, 15.0], atol=0.8)
    np.testing.assert_allclose(np.sqrt(model.noise_variance_), 3.0, atol=0.2)
    found = select(MixtureOfExperts(gate="constant", random_state=0), X[:300], yn[:300], n_components=range(1, 4))
    assert found.best_settings == {"n_components": 2}
    counts = MixtureOfExperts(2, gate="constant", family="poisson", n_init=3, random_state=0).fit(x[:, None], yp)
    k = int(np.argmin(counts.coef_[:, 0]))
    np.testing.assert_allclose(counts.coef_[[k, 1 - k], 0], [-0.2, 0.1], atol=0.03)
    np.testing.assert_allclose(counts.intercept_[[k, 1 - k]], [2.0, 1.0], atol=0.25)
    np.testing.assert_allclose(counts.weights_, 0.5, atol=0.06)


@pytest.mark.parametrize("family", GLMS)
def test_predictions_are_those_of_the_mixture(family):
    X, targets = rows_of(family)
    y = targets[:, 0] if family != "binomial" else np.column_stack([targets[:, 0], targets[:, 1] - targets[:, 0]])
    model = MixtureOfExperts(2, family=family, random_state=0).fit(X, y)
    gate, eta = model.predict_gate(X), X @ model.coef_.T + model.intercept_
    mean, phi = expit(eta) if family == "binomial" else np.exp(eta), model.noise_variance_
    law = {"poisson": poisson(mean), "binomial": binom(1, mean), "gamma": gamma(1 / phi, scale=mean * phi)}[family]
    np.testing.assert_allclose(model.predict_experts(X), mean)
    np.testing.assert_allclose(model.predict(X), (gate * mean).sum(axis=1))
    second = (gate * (law.var() + mean**2)).sum(axis=1)
    np.testing.assert_allclose(model.predict_variance(X), second - model.predict(X) ** 2, rtol=1e-6)
    q = model.quantile(X, 0.7)[:, None]
    assert ((gate * law.cdf(q)).sum(axis=1) >= 0.7 - 1e-9).all()
    assert ((gate * law.cdf(q - (1 if family != "gamma" else 1e-6 * q))).sum(axis=1) < 0.7).all()
    drawn = np.mean([model.sample(X, seed) for seed in range(200)], axis=0)
    assert np.abs(drawn - model.predict(X)).mean() < 0.12 * np.sqrt(model.predict_variance(X)).mean()
    each = law.logpmf(targets[:, :1]) if family == "poisson" else None
    if family == "binomial":
        each = binom(targets[:, 1:], mean).logpmf(targets[:, :1])
    each = law.logpdf(targets) if family == "gamma" else each
    np.testing.assert_allclose(model.log_density(X, y), logsumexp(np.log(gate) + each, axis=1), rtol=1e-6)


def test_equal_variances_and_proportions():
    X, targets = rows_of("gaussian", 600)
    model = MixtureOfExperts(2, gate="equal", equal_variances=True, **TIGHT).fit(X, targets[:, 0])
    assert model.noise_variance_[0] == model.noise_variance_[1] == pytest.approx(0.09, abs=0.03)
    np.testing.assert_array_equal(model.weights_, [0.5, 0.5])
    deviance = -2 * model.log_density(X, targets).sum()
    assert model.aic(X, targets[:, 0]) == pytest.approx(deviance + 2 * (2 * 3 + 1))
    free = MixtureOfExperts(2, gate="constant", **TIGHT).fit(X, targets[:, 0])
    assert free.log_density(X, targets).sum() > -0.5 * deviance


# Repeated measures


def subjects(n=80, seed=0, noise=1.5):
    """Subjects of two kinds, three to six rows each; the kind depends on z, and one row alone hardly tells it."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 7, n)
    z, unit = rng.normal(size=n), np.repeat(np.arange(n), lengths)
    kind = rng.random(n) < expit(0.5 + z)
    x = rng.normal(size=len(unit))
    y = np.where(kind[unit], 1 + x, -1 - x) + noise * rng.normal(size=len(unit))
    return np.column_stack([x, z[unit]]), y, np.array([f"s{u}" for u in unit]), kind[unit]


def test_rows_of_a_subject_share_their_expert():
    X, y, unit, kind = subjects()
    model = MixtureOfExperts(2, gate_columns=[1], expert_columns=[0], **TIGHT).fit(X, y, unit=unit)
    resp, k = model.responsibilities(X, y, unit=unit), int(model.coef_[:, 0].argmax())
    assert all(np.ptp(resp[unit == u], axis=0).max() == 0 for u in np.unique(unit))
    assert (kind == (resp[:, k] > 0.5)).mean() > 0.95
    alone = MixtureOfExperts(2, gate_columns=[1], expert_columns=[0], **TIGHT).fit(X, y)
    one_by_one = alone.responsibilities(X, y)[:, int(alone.coef_[:, 0].argmax())]
    assert (kind == (one_by_one > 0.5)).mean() < 0.9
    np.testing.assert_allclose(np.sort(model.coef_[:, 0]), [-1.0, 1.0], atol=0.25)
    assert (model.coef_[:, 1] == 0).all()
    assert (model.gate_coef_[:, 0] == 0).all()
    # The likelihood by hand.
    first = np.flatnonzero(np.append(True, unit[1:] != unit[:-1]))
    each = norm.logpdf(y[:, None], X @ model.coef_.T + model.intercept_, np.sqrt(model.noise_variance_))
    joint = np.log(model.predict_gate(X)[first]) + np.add.reduceat(each, first)
    np.testing.assert_allclose(model.log_density(X, y, unit=unit), logsumexp(joint, axis=1))
    n = len(first)
    assert model.bic(X, y, unit=unit) == pytest.approx(-2 * logsumexp(joint, axis=1).sum() + 8 * np.log(n))
    found = select(MixtureOfExperts(2, gate_columns=[1], random_state=0), X, y, unit=unit, n_components=[1, 2])
    assert found.best_settings["n_components"] == 2
    folds = {"criterion": "cv", "cv": 3, "unit": unit, "n_components": [1, 2]}
    by_folds = select(MixtureOfExperts(2, gate_columns=[1], random_state=0), X, y, **folds)
    assert by_folds.best_settings["n_components"] == 2


def test_subjects_that_differ_where_they_must_not():
    X, y, unit, _ = subjects()
    with pytest.raises(ValueError, match=r"'x0' differs between rows of a unit.*gate_columns, or use gate='constant'"):
        MixtureOfExperts(2).fit(X, y, unit=unit)
    with pytest.raises(ValueError, match="rows of a unit differ in sample_weight"):
        MixtureOfExperts(2, gate="constant").fit(X, y, np.arange(1.0, len(y) + 1), unit=unit)
    with pytest.raises(ValueError, match="rows of unit 's0' do not lie together; sort"):
        MixtureOfExperts(2, gate="constant").fit(np.vstack([X, X[:1]]), np.append(y, y[0]), unit=np.append(unit, "s0"))
    with pytest.raises(ValueError, match="n_components=3 exceeds the 2 units"):
        MixtureOfExperts(3, gate="constant").fit(X[:8], y[:8], unit=np.arange(8) // 4)
    with pytest.raises(ValueError, match="GaussianMixture takes no unit"):
        select(tacit.mixture.GaussianMixture(), X, unit=unit)


# Categories and missing features


def mixed_features(n=400, seed=0):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    group = np.array(["a", "b", "c"], dtype=object)[
        np.clip(np.floor(x + 1.5 + 0.7 * rng.normal(size=n)), 0, 2).astype(int)
    ]
    level = np.array([0.0, 2.0, -1.0])[np.searchsorted(["a", "b", "c"], group)]
    y = 1 + 2 * x + level + 0.5 * rng.normal(size=n)
    return pandas.DataFrame({"x": x, "group": group}), y, rng


def test_categories_are_indicators_of_their_levels(tmp_path):
    X, y, _ = mixed_features()
    model = MixtureOfExperts(2, gate_columns=["group"], random_state=0).fit(X, y)
    assert model.terms_ == ["x", "group = b", "group = c"]
    assert model.coef_.shape == (2, 3)
    assert (model.gate_coef_[:, 0] == 0).all()
    by_hand = np.column_stack([X["x"], X["group"] == "b", X["group"] == "c"]).astype(float)
    plain = MixtureOfExperts(2, gate_columns=[1, 2], random_state=0).fit(by_hand, y)
    np.testing.assert_allclose(model.predict(X), plain.predict(by_hand))
    tacit.save(model, tmp_path / "experts.tacit")
    np.testing.assert_array_equal(tacit.load(tmp_path / "experts.tacit").predict(X), model.predict(X))
    with pytest.raises(ValueError, match=r"column 'group' holds 'd', which was not there at fit"):
        model.predict(X.assign(group="d"))
    classifier = MixtureOfExpertsClassifier(1).fit(X, y > 1)
    np.testing.assert_allclose(
        classifier.predict_proba(X), MixtureOfExpertsClassifier(1).fit(by_hand, y > 1).predict_proba(by_hand)
    )
    told = standard_errors(MixtureOfExperts(1).fit(X, y), X, y, method="information").table
    assert "coef_[0, group = b]" in [row["parameter"] for row in told]


def test_missing_features_are_averaged_over(tmp_path):
    """One expert with features missing at random: coefficients are near those of all rows, and filling by means is not."""
    X, y, rng = mixed_features(1500)
    whole = MixtureOfExperts(1).fit(X, y)
    holes = X.copy()
    lost = rng.random(len(X)) < expit(1.5 * (X["group"] == "b") - 0.5)  # more often in one group
    holes.loc[lost, "x"] = np.nan
    holes.loc[~lost & (rng.random(len(X)) < 0.2), "group"] = None
    model = MixtureOfExperts(1).fit(holes, y)
    filled = MixtureOfExperts(1).fit(holes.assign(x=holes["x"].fillna(holes["x"].mean())).ffill().bfill(), y)
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=0.15)
    assert np.abs(filled.coef_ - whole.coef_).max() > 0.5
    assert model.noise_variance_[0] == pytest.approx(whole.noise_variance_[0], rel=0.15)
    error = np.sqrt(np.mean((model.predict(holes) - y)[lost] ** 2))
    _, std = model.predict(holes, return_std=True)
    assert error == pytest.approx(np.sqrt(np.mean(std[lost] ** 2)), rel=0.15)
    low, high = model.quantile(holes, [0.05, 0.95]).T
    assert ((low < y) & (y < high))[lost].mean() == pytest.approx(0.9, abs=0.04)
    assert model.log_density(holes, y).shape == (1500,)
    tacit.save(model, tmp_path / "experts.tacit")
    np.testing.assert_array_equal(tacit.load(tmp_path / "experts.tacit").predict(holes), model.predict(holes))
    wide, narrow = (
        standard_errors(fitted, rows, y, method="information").standard_error["coef_"]
        for fitted, rows in ((model, holes), (whole, X))
    )
    assert (wide > 1.05 * narrow).all()


# Settings and targets that cannot be


@pytest.mark.parametrize(
    ("family", "y", "message"),
    [
        ("poisson", -1.0, "y holds -1, but family='poisson' takes counts"),
        ("poisson", 0.5, r"y holds 0\.5, but family='poisson' takes counts"),
        ("binomial", 2.0, "y holds 2, but family='binomial' takes 0 and 1, or two columns"),
        ("gamma", 0.0, "y holds 0, but family='gamma' takes numbers above 0"),
    ],
)
def test_targets_that_a_law_does_not_describe(family, y, message):
    X = np.random.default_rng(0).normal(size=(20, 1))
    with pytest.raises(ValueError, match=message):
        MixtureOfExperts(2, family=family).fit(X, np.where(np.arange(20) == 3, y, 1.0))
    with pytest.raises(ValueError, match="columns"):
        MixtureOfExperts(2, family=family).fit(X, np.ones((20, 3)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"family": "beta"}, "family='beta' is unknown; use one of 'gaussian', 'poisson', 'binomial', 'gamma'"),
        ({"gate_columns": [3]}, "gate_columns holds 3, which is no column; there are 0 to 0"),
        ({"expert_columns": "x"}, "expert_columns='x' is not a list of columns"),
        ({"equal_variances": "yes"}, "equal_variances='yes' is neither True nor False"),
        ({"n_draws": 1}, "n_draws=1 is not a whole number of at least 2"),
    ],
)
def test_bad_settings(settings, message):
    X = np.random.default_rng(0).normal(size=(20, 1))
    with pytest.raises(ValueError, match=message):
        MixtureOfExperts(2, **settings).fit(X, X[:, 0])


# Standard errors


def cover(make, truth, replications, **how):
    """How often intervals hold the truth, by parameter."""
    held = []
    for seed in range(replications):
        model, rows = make(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = standard_errors(model, *rows[:2], method="information", **(rows[2] if len(rows) > 2 else {}), **how)
        order = np.argsort(found.estimate["coef_"][:, 0])
        ends = {name: (found.lower[name][order], found.upper[name][order]) for name in truth}
        # A coefficient of 0 is that of a column which is not seen: nothing is estimated.
        held.append(
            [((ends[name][0] <= value) & (value <= ends[name][1]))[value != 0].mean() for name, value in truth.items()]
        )
    return dict(zip(truth, np.mean(held, axis=0)))


def glm_case(family):
    def make(seed):
        rng = np.random.default_rng(seed)
        n = 300
        X, first = rng.normal(size=(n, 1)), rng.random(n) < 0.4
        eta = np.where(first, 2.0 - X[:, 0], 0.5 + X[:, 0])
        y = {
            "gaussian": lambda: eta + 0.5 * rng.normal(size=n), "poisson": lambda: rng.poisson(np.exp(eta)),
            "gamma": lambda: rng.gamma(10.0, np.exp(eta) / 10.0),
            "binomial": lambda: np.column_stack([s := rng.binomial(20, expit(eta - 1.0)), 20 - s]),
        }[family]()  # fmt: skip
        model = MixtureOfExperts(2, gate="constant", family=family, alpha=0.0, tol=1e-9, random_state=0)
        return model.fit(X, y), (X, y)

    shift = -1.0 if family == "binomial" else 0.0
    truth = {"weights_": [0.4, 0.6], "coef_": [[-1.0], [1.0]], "intercept_": [2.0 + shift, 0.5 + shift]}
    noise = {"gaussian": [0.25, 0.25], "gamma": [0.1, 0.1]}
    return make, {k: np.array(v) for k, v in truth.items()} | (
        {"noise_variance_": np.array(noise[family])} if family in noise else {}
    )


def subject_case():
    def make(seed):
        X, y, unit, _ = subjects(200, seed, noise=1.0)
        model = MixtureOfExperts(2, gate_columns=[1], expert_columns=[0], alpha=0.0, tol=1e-9, random_state=0)
        return model.fit(X, y, unit=unit), (X, y, {"unit": unit})

    truth = {"coef_": [[-1.0, 0.0], [1.0, 0.0]], "intercept_": [-1.0, 1.0], "gate_coef_": [[0.0, -0.5], [0.0, 0.5]]}
    return make, {
        name: np.array(value)
        for name, value in (truth | {"gate_intercept_": [-0.25, 0.25], "noise_variance_": [1.0, 1.0]}).items()
    }


def test_intervals_cover_in_small():
    make, truth = glm_case("poisson")
    assert 0.8 <= np.mean(list(cover(make, truth, 10).values())) <= 1.0


@pytest.mark.full
@pytest.mark.parametrize("case", ["gaussian", "poisson", "binomial", "gamma", "subjects"])
def test_intervals_cover(case):
    make, truth = subject_case() if case == "subjects" else glm_case(case)
    found = cover(make, truth, 400)
    assert all(0.93 <= share <= 0.97 for share in found.values()), found
