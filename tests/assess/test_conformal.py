"""Coverage of conformal intervals and sets: exact in expectation for any n, in groups, under shift; and their definitions."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, QuantileRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from tacit.assess import ConformalClassifier, ConformalRegressor, interval_coverage
from tacit.assess.exchangeable import fewest, finite_quantile, rank_of, weighted_quantile
from tacit.linear_model import BayesianRidge

L = LinearRegression()


def _skewed(rng, n):
    """Rows whose errors are exponential and wider away from 0."""
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + (rng.exponential(size=n) - 1) * (0.5 + np.abs(X[:, 1]))


@pytest.mark.parametrize(("n", "level"), [(20, 0.9), (20, 0.95), (33, 0.8), (100, 0.9)])
def test_split_coverage_is_exact(n, level):
    """With a model that is given, E P(covered) = ⌈level (n + 1)⌉ / (n + 1), the mean of a beta distribution."""
    rng, zero = np.random.default_rng(n), DummyRegressor(strategy="constant", constant=0.0).fit([[0.0]], [0.0])
    chance = []
    for _ in range(1500):
        model = ConformalRegressor(zero, method="prefit", level=level).fit(np.zeros((n, 1)), rng.uniform(-1, 1, n))
        low, high = model.predict_interval(np.zeros((1, 1)))
        chance.append(0.5 * (high[0] - low[0]))  # of a further uniform number
    k = rank_of(n, level)
    exact, spread = k / (n + 1), np.sqrt(k * (n + 1 - k) / ((n + 1) ** 2 * (n + 2)))
    assert np.mean(chance) == pytest.approx(exact, abs=4 * spread / np.sqrt(1500))
    assert exact >= level


MAKERS = {
    "split": lambda seed: ConformalRegressor(L, method="split", random_state=seed),
    "split, scale": lambda seed: ConformalRegressor(L, method="split", scale=LinearRegression(), random_state=seed),
    "split, asymmetric": lambda seed: ConformalRegressor(L, method="split", symmetric=False, random_state=seed),
    "split, std": lambda seed: ConformalRegressor(BayesianRidge(), method="split", scale="std", random_state=seed),
    "cv+": lambda seed: ConformalRegressor(L, random_state=seed),
    "cv+, asymmetric": lambda seed: ConformalRegressor(L, symmetric=False, random_state=seed),
    "jackknife+": lambda seed: ConformalRegressor(L, method="jackknife+"),
    "quantiles": lambda seed: ConformalRegressor(BayesianRidge(), ends="interval", method="split", random_state=seed),
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("n", [20, 60])
def test_intervals_hold_what_they_promise_on_skewed_rows(name, n):
    rng, held, level = np.random.default_rng(n), [], 0.8
    for seed in range(80):
        X, y = _skewed(rng, n + 40)
        model = MAKERS[name](seed).fit(X[:n], y[:n])
        held.append(interval_coverage(y[n:], *model.predict_interval(X[n:], level)).share)
    assert np.mean(held) >= level - 3 * np.std(held) / np.sqrt(len(held))


def test_the_jackknife_is_that_of_its_definition():
    X, y = _skewed(np.random.default_rng(0), 31)
    low, high = ConformalRegressor(L, method="jackknife+", level=0.8).fit(X[:30], y[:30]).predict_interval(X[30:])
    told, missed = [], []
    for i in range(30):
        rest = np.arange(30) != i
        model = LinearRegression().fit(X[:30][rest], y[:30][rest])
        told.append(model.predict(X[30:])[0])
        missed.append(abs(y[i] - model.predict(X[i : i + 1])[0]))
    told, missed = np.array(told), np.array(missed)
    assert low[0] == pytest.approx(np.sort(told - missed)[int(np.floor(0.2 * 31)) - 1], rel=1e-10)
    assert high[0] == pytest.approx(np.sort(told + missed)[int(np.ceil(0.8 * 31)) - 1], rel=1e-10)


def test_quantiles_with_weights_are_those_of_their_definition():
    rng = np.random.default_rng(0)
    values, weight, own = rng.normal(size=40), rng.random(40), 5 * rng.random(7)
    found = weighted_quantile(values, weight, own, 0.85)
    for each, extra in zip(found, own):
        enough = [v for v in values if weight[values <= v].sum() >= 0.85 * (weight.sum() + extra)]
        assert each == (min(enough) if enough else np.inf)
    assert (
        weighted_quantile(values, np.ones(40), np.ones(1), 0.9)[0]
        == finite_quantile(values, 0.9)
        == np.sort(values)[36]
    )
    assert finite_quantile(values[:8], 0.9) == np.inf
    assert [fewest(level) for level in (0.5, 0.8, 0.9, 0.95, 0.99)] == [1, 4, 9, 19, 99]


def test_groups_hold_the_level_each_by_itself():
    rng, held = np.random.default_rng(0), {False: [], True: []}
    apart = {False: [], True: []}
    for seed in range(60):
        X = np.column_stack([rng.normal(size=240), rng.integers(0, 2, 240)])
        y = X[:, 0] + rng.normal(size=240) * (1 + 4 * X[:, 1])
        for by, found in ((1, held), (None, apart)):
            model = ConformalRegressor(L, method="split", by=by, level=0.8, random_state=seed).fit(X[:120], y[:120])
            low, high = model.predict_interval(X[120:])
            inside = (low <= y[120:]) & (y[120:] <= high)
            for wide in (False, True):
                found[wide].append(inside[X[120:, 1] == wide].mean())
    for wide in (False, True):
        assert np.mean(held[wide]) >= 0.8 - 3 * np.std(held[wide]) / np.sqrt(60)
    assert np.mean(apart[True]) < 0.7 < 0.9 < np.mean(apart[False])


def test_weights_make_up_for_rows_elsewhere():
    rng, held, without = np.random.default_rng(0), [], []
    for seed in range(60):
        X = rng.normal(size=(160, 1))
        y = np.abs(X[:, 0]) * rng.normal(size=160) * np.exp(0.7 * X[:, 0])
        new = rng.normal(1.0, 1.0, size=(60, 1))
        target = np.abs(new[:, 0]) * rng.normal(size=60) * np.exp(0.7 * new[:, 0])
        for weight, found in ((lambda X: np.exp(X[:, 0] - 0.5), held), (None, without)):
            model = ConformalRegressor(L, method="split", weight=weight, level=0.8, random_state=seed).fit(X, y)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                low, high = model.predict_interval(new)
            found.append(((low <= target) & (target <= high)).mean())
    assert np.mean(held) >= 0.8 - 3 * np.std(held) / np.sqrt(60)
    assert np.mean(without) < 0.72


def test_quantile_models_in_a_pair():
    rng = np.random.default_rng(0)
    X, y = _skewed(rng, 400)
    pair = [QuantileRegressor(quantile=q, alpha=0.0, solver="highs") for q in (0.1, 0.9)]
    model = ConformalRegressor(pair, ends="interval", method="split", level=0.8).fit(X[:200], y[:200])
    found = interval_coverage(y[200:], *model.predict_interval(X[200:]))
    assert found.low < 0.8 < found.high
    wide = model.predict_interval(np.array([[0.0, 0.0], [0.0, 3.0]]))
    assert model.predict(X[:2]).shape == (2,)
    assert (wide[1] - wide[0] > 0).all()


# Sets of classes


def _classes(rng, n):
    X = rng.normal(size=(n, 2))
    p = np.exp(np.column_stack([X[:, 0], X[:, 1], -X.sum(axis=1)]))
    p /= p.sum(axis=1, keepdims=True)
    return X, np.array(["a", "b", "c"])[(rng.random((n, 1)) > p.cumsum(axis=1)).sum(axis=1)], p


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize("score", ["lac", "aps"])
@pytest.mark.parametrize("method", ["split", "cv+"])
def test_sets_hold_the_class(n, score, method):
    rng, held, sizes = np.random.default_rng(n), [], []
    for seed in range(24 if method == "cv+" else 60):
        X, y, _ = _classes(rng, n + 60)
        model = ConformalClassifier(
            LogisticRegression(), method=method, kind=score, cv=3, random_state=seed, allow_empty=True
        )
        sets = model.fit(X[:n], y[:n]).predict_set(X[n:], 0.8)
        held.append(
            sets[np.arange(60), np.searchsorted(model.classes_, y[n:]).clip(max=len(model.classes_) - 1)].mean()
        )
        sizes.append(sets.sum(axis=1).mean())
    assert np.mean(held) >= 0.8 - 3 * np.std(held) / np.sqrt(len(held))
    assert np.mean(sizes) < 2.7


def test_sets_by_class_and_what_is_smallest():
    rng = np.random.default_rng(0)
    X, y, p = _classes(rng, 9000)
    rare = (y != "c") | (rng.random(9000) < 0.2)
    X, y, p = X[rare], y[rare], p[rare]
    n = len(y) // 2
    own = ConformalClassifier(LogisticRegression(), method="split", by="class", level=0.85).fit(X[:n], y[:n])
    all_ = ConformalClassifier(LogisticRegression(), method="split", level=0.85).fit(X[:n], y[:n])
    aps = ConformalClassifier(LogisticRegression(), method="split", kind="aps", level=0.85).fit(X[:n], y[:n])
    share = [model.predict_set(X[n:])[y[n:] == "c", 2].mean() for model in (own, all_)]
    assert share[0] == pytest.approx(0.85, abs=0.07)
    assert share[1] < 0.75
    assert all_.predict_set(X[n:]).sum() < aps.predict_set(X[n:]).sum()
    assert all_.predict_set(X[n:], 0.3).any(axis=1).all()
    assert (all_.predict(X[n:]) == all_.estimator_.predict(X[n:])).all()


# As estimators

DRAWN = "rows are drawn, so that a row given twice may be on both sides, and one of weight 2 may not"


def _expected(estimator):
    if estimator.method != "split":
        return {}
    return {f"check_sample_weight_equivalence_on_{kind}_data": DRAWN for kind in ("dense", "sparse")}


@parametrize_with_checks(
    [ConformalRegressor(cv=2), ConformalRegressor(method="split"), ConformalClassifier(cv=2)],
    expected_failed_checks=_expected,
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_models_are_pickled():
    X, y = _skewed(np.random.default_rng(0), 60)
    model = ConformalRegressor(by=None).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_interval(X)[0] == model.predict_interval(X)[0]).all()


# What is told


def test_too_few_rows_give_infinite_intervals_and_say_so():
    X, y = _skewed(np.random.default_rng(0), 30)
    model = ConformalRegressor(L, method="split", level=0.95).fit(X, y)
    with pytest.warns(
        UserWarning, match="15 calibration rows are too few for level=0.95, so that intervals are infinite; 19"
    ):
        low, high = model.predict_interval(X[:2])
    assert np.isinf(low).all()
    assert np.isinf(high).all()
    assert np.isfinite(model.predict_interval(X, 0.9)[0]).all()
    by = ConformalRegressor(L, method="split", by=lambda X: np.where(X[:, 0] > 1.5, "far", "near")).fit(X, y)
    with pytest.warns(UserWarning, match=r"calibration rows of group 'far' are too few for level=0.9"):
        by.predict_interval(np.array([[2.0, 0.0], [0.0, 0.0]]))
    labels = np.where(X[:, 0] > 0, "a", "b")
    sets = ConformalClassifier(method="split", level=0.99).fit(X, labels)
    with pytest.warns(UserWarning, match="sets hold every class; 99 are needed"):
        assert sets.predict_set(X).all()


def test_rows_that_belong_together_are_never_on_both_sides():
    X, y = _skewed(np.random.default_rng(0), 60)
    groups = np.repeat(np.arange(12), 5)
    model = ConformalRegressor(L, cv=4).fit(X, y, groups=groups)
    assert len(model.estimators_) == 4
    split = ConformalRegressor(L, method="split").fit(X, y, groups=groups)
    assert len(split.scores_) % 5 == 0


X, Y = load_diabetes(return_X_y=True)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: ConformalRegressor(level=0.0).fit(X, Y), "level=0.0 is not a probability between 0 and 1, both excluded"),
        (lambda: ConformalRegressor().fit(X, Y).predict_interval(X, 1.0), "level=1.0 is not a probability"),
        (lambda: ConformalRegressor(method="loo").fit(X, Y), "method='loo' is unknown; use one of 'split'"),
        (lambda: ConformalRegressor().fit(X, np.where(Y > 300, np.nan, Y)), r"y contains NaN \(row .*leave out the"),
        (lambda: ConformalRegressor().fit(X, None), "requires y to be passed"),
        (lambda: ConformalRegressor().fit(X[:1], Y[:1]), r"1 sample"),
        (lambda: ConformalRegressor().fit(X, np.column_stack([Y, Y])), r"y has shape \(442, 2\); intervals are those of one"),
        (lambda: ConformalRegressor(L, ends="interval").fit(X, Y), "LinearRegression tells no intervals; give ends='mean'"),
        (lambda: ConformalRegressor(weight=lambda X: X[:, 0]).fit(X, Y), "weight needs rows that are set aside"),
        (lambda: ConformalRegressor(weight=lambda X: X[:, 0], method="split").fit(X, Y), "one finite number of at least 0"),
        (lambda: ConformalRegressor(by=12).fit(X, Y), "by=12 is no column of X; it has 0 to 9"),
        (lambda: ConformalRegressor(ends="interval", scale="std").fit(X, Y), "scale is for ends='mean'"),
        (lambda: ConformalRegressor(calibration=1.0, method="split").fit(X, Y), "calibration=1.0 is not a probability"),
        (lambda: ConformalClassifier().fit(X, np.ones(442)), "y has 1 class"),
        (lambda: ConformalClassifier(Perceptron()).fit(X, Y > 100), "Perceptron tells no probabilities .*CalibratedClassifierCV"),
        (lambda: ConformalClassifier(kind="raps").fit(X, Y > 100), "kind='raps' is unknown"),
    ],
)  # fmt: skip
def test_bad_input_is_told(call, told):
    with pytest.raises(ValueError, match=told):
        call()
