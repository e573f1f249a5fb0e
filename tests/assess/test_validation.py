"""Cross-validation of every kind of model: the same as scikit-learn's where it has one, units never cut, bad input told."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.cluster import DBSCAN
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.model_selection import cross_validate as rival
from sklearn.neighbors import KernelDensity, KNeighborsRegressor

from tacit.assess import BlockedKFold, cross_validate, learning_curve, one_standard_error, validation_curve
from tacit.assess.estimates import by_folds, by_rows
from tacit.assess.splits import deal, divide, number_folds
from tacit.classification import GaussianBayes
from tacit.factor import FactorAnalysis, ProbabilisticCCA, ProbabilisticPCA
from tacit.graph import BeliefNetwork
from tacit.impute import GaussianImputer
from tacit.linear_model import BayesianRidge
from tacit.mixture import GaussianMixture, MixtureOfExperts
from tacit.recommend import MatrixFactorization, Ratings
from tacit.sequence import HiddenMarkovModel, LinearChainCRF, MarkovChain
from tacit.topics import LatentDirichletAllocation

IRIS, SPECIES = load_iris(return_X_y=True)
X, Y = load_diabetes(return_X_y=True)
HOLES = np.where(np.random.default_rng(0).random(IRIS.shape) < 0.1, np.nan, IRIS)


def test_folds_score_as_scikit_learns_do():
    cv = KFold(5, shuffle=True, random_state=3)
    names = ["neg_mean_squared_error", "neg_mean_absolute_error", "r2"]
    theirs = rival(Ridge(0.1), X, Y, cv=cv, scoring=names, return_train_score=True)
    ours = cross_validate(
        Ridge(0.1), X, Y, cv=cv, measures=["squared_error", "absolute_error", "r2"], train_scores=True
    )
    assert ours.scores("squared_error") == pytest.approx(-theirs["test_neg_mean_squared_error"], rel=1e-12)
    assert ours.scores("absolute_error") == pytest.approx(-theirs["test_neg_mean_absolute_error"], rel=1e-12)
    assert ours.scores("r2") == pytest.approx(theirs["test_r2"], rel=1e-12)
    assert ours.train_scores("squared_error") == pytest.approx(-theirs["train_neg_mean_squared_error"], rel=1e-12)
    names = ["neg_log_loss", "accuracy", "neg_brier_score"]
    theirs = rival(LogisticRegression(max_iter=500), IRIS, SPECIES == 1, cv=cv, scoring=names)
    ours = cross_validate(
        LogisticRegression(max_iter=500), IRIS, SPECIES == 1, cv=cv, measures=["log_loss", "error", "brier"]
    )
    assert ours.scores("log_loss") == pytest.approx(-theirs["test_neg_log_loss"], rel=1e-10)
    assert ours.scores("error") == pytest.approx(1 - theirs["test_accuracy"], abs=1e-12)
    assert ours.scores("brier") == pytest.approx(-theirs["test_neg_brier_score"], rel=1e-10)
    assert ours.row_scores["error"].mean() == pytest.approx(np.average(ours.scores("error")))


RNG = np.random.default_rng(0)
STEPS = [RNG.normal(size=(12, 2)) for _ in range(6)]
WORDS = [[["a", "b"][k % 2] for k in range(5)] for _ in range(6)]
RATED = Ratings(user=RNG.integers(0, 8, 120), item=RNG.integers(0, 9, 120), rating=RNG.integers(1, 6, 120).astype(float),
                users=list(range(8)), items=list(range(9)), scale=(1.0, 5.0))  # fmt: skip
KINDS = [
    (GaussianBayes(), (HOLES, SPECIES), {}, "log_loss"),
    (BayesianRidge(), (X, Y), {}, "squared_error"),
    (BayesianRidge(), (X, Y), {"measures": ["log_density", "crps", "coverage"]}, "crps"),
    (MixtureOfExperts(1), (X[:, :2], Y), {"measures": "log_density"}, "log_density"),
    (GaussianMixture(2, random_state=0), (HOLES,), {}, "log_likelihood"),
    (KernelDensity(), (IRIS,), {}, "log_likelihood"),
    (FactorAnalysis(1), (HOLES,), {}, "log_likelihood"),
    (ProbabilisticCCA(1), (IRIS[:, :2], IRIS[:, 2:]), {}, "log_likelihood"),
    (BeliefNetwork([("a", "b")]), (pd.DataFrame({"a": SPECIES % 2, "b": SPECIES}).astype(str),), {}, "log_likelihood"),
    (GaussianImputer(), (HOLES,), {}, "hidden_cells"),
    (ProbabilisticPCA(2), (HOLES,), {"measures": ["hidden_cells", "hidden_coverage"]}, "hidden_coverage"),
    (LatentDirichletAllocation(2, max_iter=5, random_state=0), ((10 * IRIS).astype(int),), {"cv": 2}, "perplexity"),
    (HiddenMarkovModel(1), (STEPS,), {"cv": 3}, "log_likelihood"),
    (MarkovChain(prior=1.0), (RNG.integers(0, 3, 60),), {"cv": 3, "lengths": [10] * 6}, "log_likelihood"),
    (LinearChainCRF(), ([[[word] for word in each] for each in WORDS], WORDS), {"cv": 2}, "error"),
    (MatrixFactorization(1, random_state=0), (RATED,), {"cv": 3}, "rating_error"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "given", "how", "measure"), KINDS, ids=lambda each: type(each).__name__)
def test_every_kind_of_model_is_judged(model, given, how, measure):
    found = cross_validate(model, *given, **how)
    assert measure in found.measures
    assert not found.failures
    estimate = found.estimate(measure)
    assert np.isfinite(found.scores(measure)).all()
    assert estimate.low <= estimate.value <= estimate.high
    assert type(model).__name__ in repr(found)


def test_held_out_log_likelihood_is_that_of_a_loop():
    splits = list(KFold(3, shuffle=True, random_state=0).split(IRIS))
    model = GaussianMixture(2, random_state=0)
    found = cross_validate(model, IRIS, cv=splits)
    expected = np.full(150, np.nan)
    for train, test in splits:
        expected[test] = GaussianMixture(2, random_state=0).fit(IRIS[train]).score_samples(IRIS[test])
    assert found.row_scores["log_likelihood"] == pytest.approx(expected, rel=1e-12)


def test_weight_two_is_a_row_twice_and_threads_do_not_matter():
    fold = np.arange(60) % 4
    twice = np.concatenate([np.arange(60), np.arange(20)])
    weight = np.where(np.arange(60) < 20, 2.0, 1.0)
    a = cross_validate(LinearRegression(), X[:60], Y[:60], cv=fold, sample_weight=weight)
    b = cross_validate(LinearRegression(), X[twice], Y[twice], cv=fold[twice], n_jobs=2)
    assert a.estimate().value == pytest.approx(b.estimate().value, rel=1e-9)
    assert a.scores() == pytest.approx(b.scores(), rel=1e-9)
    again = cross_validate(LinearRegression(), X[twice], Y[twice], cv=fold[twice])
    assert (again.row_scores["squared_error"] == b.row_scores["squared_error"]).all()


def test_units_are_never_cut():
    groups = np.repeat(np.arange(12), 5)
    for train, test in divide(4, 60, groups=groups):
        assert not set(groups[train]) & set(groups[test])
    for (train, test), block in zip(BlockedKFold(4, gap=3).split(np.zeros(40)), np.split(np.arange(40), 4)):
        assert (test == block).all()
        assert min(abs(train[:, None] - test).min(axis=1)) == 4
    found = cross_validate(HiddenMarkovModel(1), np.concatenate(STEPS), lengths=[12] * 6, cv=3)
    assert sorted(np.concatenate([fold.test for fold in found.folds])) == list(range(6))
    ordered = cross_validate(Ridge(), X, Y, cv=TimeSeriesSplit(4, gap=2))
    assert ordered.ordered
    mean = ordered.scores()
    told = by_folds(list(mean), ordered.n_train, np.mean([len(f.test) for f in ordered.folds]), 0.95)
    assert ordered.estimate().low == told.low
    assert sorted(np.bincount(deal(103, 5, np.random.default_rng(0)))) == [20, 20, 21, 21, 21]
    with pytest.raises(ValueError, match=r"cv has shape \(3,\), but there are 4 rows"):
        number_folds([0, 1, 1], 4, np.random.default_rng(0))


def test_settings_are_chosen_without_the_judged_rows():
    grid = {"alpha": [1e-3, 1.0, 1e4]}
    found = cross_validate(Ridge(), X, Y, grid=grid, cv=KFold(3), inner=KFold(4))
    for fold in found.folds:
        scores = [
            cross_validate(Ridge(alpha=a), X[fold.train], Y[fold.train], cv=KFold(4)).scores().mean()
            for a in grid["alpha"]
        ]
        assert fold.settings["alpha"] == grid["alpha"][int(np.argmin(scores))]
        fold_of = fold.train, fold.test
        simple = cross_validate(
            Ridge(), X, Y, grid={"alpha": [5.0, 2.0, 1e-3]}, rule="1se", cv=[fold_of], inner=KFold(4)
        )
        scores = [
            cross_validate(Ridge(a), X[fold.train], Y[fold.train], cv=KFold(4)).scores() for a in (5.0, 2.0, 1e-3)
        ]
        assert simple.chosen[0]["alpha"] == (5.0, 2.0, 1e-3)[one_standard_error(scores)]


def test_one_standard_error():
    assert one_standard_error([[5.0, 5.2], [3.0, 3.4], [2.9, 3.3]]) == 1
    assert one_standard_error([1.0, 2.0, 2.05], [0.1, 0.1, 0.1], larger=True) == 1
    assert one_standard_error([3.0, 3.1, 9.0], [0.2, 0.2, 0.2], complexity=[2, 1, 3]) == 1
    assert one_standard_error([np.nan, 3.0], [np.nan, 0.0]) == 1
    for bad, told in (([[1.0], [2.0]], "1 fold"), ([np.nan, np.nan], "NaN for every model")):
        with pytest.raises(ValueError, match=told):
            one_standard_error(bad, None if np.ndim(bad) == 2 else [1.0, 1.0])


def test_curves():
    curve = learning_curve(Ridge(0.1), X, Y, [20, 80, 320], cv=KFold(5, shuffle=True, random_state=0))
    values = [each.value for each in curve.estimates]
    assert values[0] > values[1] > values[2]
    assert all(each.low < each.value < each.high for each in curve.estimates)
    small, large = (trial.folds[2].train for trial in curve.trials[:2])
    assert set(small) < set(large)
    shares = learning_curve(GaussianBayes(), IRIS, SPECIES, [0.05, 1.0], measure="error")
    assert shares.values == [6, 120]
    assert not shares.failures  # even six rows hold all classes twice
    whole = validation_curve(KNeighborsRegressor(), X, Y, setting="n_neighbors", values=[60, 20, 1], cv=5)
    assert whole.best == 20
    assert whole.simplest() in (60, 20)
    assert whole.train[-1] == 0.0
    with pytest.raises(ValueError, match="setting='k' is none of KNeighborsRegressor"):
        validation_curve(KNeighborsRegressor(), X, Y, setting="k", values=[1])
    with pytest.raises(ValueError, match="sizes holds 400, but each fold has 353 rows"):
        learning_curve(Ridge(), X, Y, [400])
    with pytest.raises(ValueError, match="nowhere: Expected n_neighbors <= n_samples_fit"):
        validation_curve(KNeighborsRegressor(), X, Y, setting="n_neighbors", values=[400])


class _Fussy(RegressorMixin, BaseEstimator):
    """Refuses to learn from rows without the first one."""

    def fit(self, X, y):
        if X[0, 0] != 7.0:
            raise ValueError("the first row is not here.\nA second line.")
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_a_fold_that_fails_ends_alone():
    rows = np.arange(20.0)[:, None] + 7
    found = cross_validate(_Fussy(), rows, rows[:, 0], cv=KFold(4))
    assert found.failures == ["the first row is not here."]
    assert np.isnan(found.scores()).tolist() == [True, False, False, False]
    assert np.isnan(found.row_scores["squared_error"][:5]).all()
    with pytest.raises(ValueError, match=r"_Fussy could be learned and judged on no fold: the first row"):
        cross_validate(_Fussy(), rows + 1, rows[:, 0])


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: cross_validate(Ridge(), X[:4], Y[:4]), "cv=5 exceeds the 4 rows; use at most 4"),
        (lambda: cross_validate(Ridge(), X[:1], Y[:1]), "cv=5 needs at least 2 rows to hold some out, but there is 1"),
        (lambda: cross_validate(Ridge(), X, Y, groups=np.arange(442) % 3), "cv=5 exceeds the 3 groups; use at most 3"),
        (lambda: cross_validate(Ridge(), X, Y, groups=np.zeros(442)), "groups has one value, 0.0"),
        (lambda: cross_validate(Ridge(), X, Y, groups=[1]), r"groups has shape \(1,\), but there are 442 rows"),
        (lambda: cross_validate(Ridge(), X, np.where(np.arange(442) == 3, np.nan, Y)), r"NaN \(row 3\).*leave out the 1 rows"),
        (lambda: cross_validate(Ridge(), X, Y[:5]), "X has 442 rows and y 5"),
        (lambda: cross_validate(Ridge(), X), "Ridge predicts a target, but y is None"),
        (lambda: cross_validate(LogisticRegression(), HOLES, SPECIES), "contains NaN; put an imputer before it"),
        (lambda: cross_validate(DBSCAN(), IRIS), "DBSCAN has nothing to judge held-out rows by.*cluster_stability"),
        (lambda: cross_validate(IsolationForest(), IRIS), "IsolationForest has nothing to judge"),
        (lambda: cross_validate(Ridge(), X, Y, measures="accuracies"), "measures='accuracies' is unknown; use one of sq"),
        (lambda: cross_validate(Ridge(), X, Y, measures=[]), "measures is empty"),
        (lambda: cross_validate(Ridge(), X, Y, cv=BlockedKFold(2, gap=400)), "fold 1 of cv has no rows to learn from"),
        (lambda: cross_validate(Ridge(), X, Y, cv=[([0], [900])]), "fold 1 of cv has row 900, but there are 442 rows"),
        (lambda: cross_validate(Ridge(), X, Y, cv="five"), "cv holds 4 entries, which are neither pairs"),
        (lambda: cross_validate(Ridge(), "rows.csv", Y), "read the rows into memory first"),
        (lambda: cross_validate(Ridge(), X, Y).estimate(level=1.0), "level=1.0 is not a probability between 0 and 1"),
        (lambda: cross_validate(Ridge(), X, Y).estimate("r2"), "measure='r2' was not taken; there are squared_error"),
        (lambda: cross_validate(Ridge(), X, Y).difference(cross_validate(Ridge(), X, Y, random_state=1)), "different folds"),
        (lambda: cross_validate(HiddenMarkovModel(1), IRIS, lengths=[3]), "lengths add up to 3, but X has 150 rows"),
    ],
)  # fmt: skip
def test_bad_input_is_told(call, told):
    with pytest.raises(ValueError, match=told):
        call()


def test_a_constant_target_is_told():
    with pytest.warns(UserWarning, match="y is 1 in all 442 rows"):
        found = cross_validate(Ridge(), X, np.ones(442))
    assert found.estimate().value < 1e-20


# Intervals


def test_the_interval_over_rows_by_hand():
    v, w, g = RNG.normal(size=30), RNG.integers(1, 4, 30).astype(float), np.arange(30) // 3
    found = by_rows(v, w, g, 24.0, 0.9)
    mean = np.average(v, weights=w)
    sums = np.array([(w * (v - mean))[g == k].sum() for k in range(10)])
    from scipy.stats import t

    half = t.ppf(0.95, 9) * np.sqrt(10 / 9 * (sums**2).sum() * (1 + 30 / 24)) / w.sum()
    assert (found.low, found.high) == pytest.approx((mean - half, mean + half), rel=1e-12)


@pytest.mark.parametrize("n", [20, 60])
def test_equal_models_are_not_told_apart_and_intervals_hold(n):
    """Two models that are equally good, each with half of the columns, and nearest neighbours: the hard case."""
    rng, level, times = np.random.default_rng(n), 0.95, 80
    false, held = 0, 0
    errors = []
    for _ in range(times):
        rows = rng.normal(size=(n, 4))
        y = rows.sum(axis=1) + rng.normal(size=n)
        fold = number_folds(5, n, rng)
        a, b = (cross_validate(KNeighborsRegressor(1), rows[:, part], y, cv=fold) for part in ([0, 1], [2, 3]))
        false += a.difference(b).p_value < 1 - level
        errors.append(a.estimate(level=level))
    truth = np.mean([each.value for each in errors])
    held = np.mean([each.low <= truth <= each.high for each in errors])
    assert false / times <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / times)
    assert held >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / times)


def test_shares_have_intervals_at_their_ends():
    found = cross_validate(GaussianBayes(), IRIS[:100], SPECIES[:100], measures="error").estimate()
    assert found.value == 0.0
    assert 0.0 == found.low < found.high < 0.12
    assert cross_validate(DummyRegressor(), X, Y).estimate().low > 0
