"""Models compared row by row: the tests behind it, what is said, other data sets, models that fail; cells and clusters."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering as TheirAgglomerative
from sklearn.cluster import KMeans as TheirKMeans
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.mixture import GaussianMixture as TheirMixture
from sklearn.tree import DecisionTreeRegressor

from tacit.assess import (
    adjust,
    cluster_stability,
    compare,
    corrected_resampled_t,
    cross_validate,
    friedman,
    hidden_cells,
    nemenyi,
)  # fmt: skip
from tacit.assess.cells import hide_alike, hide_any, hide_evenly
from tacit.assess.stability import agreement
from tacit.cluster import KMeans
from tacit.factor import ProbabilisticPCA
from tacit.impute import GaussianImputer, MixtureImputer
from tacit.mixture import GaussianMixture, Mixture

IRIS, _ = load_iris(return_X_y=True)
X, Y = load_diabetes(return_X_y=True)
MODELS = {
    "ols": LinearRegression(),
    "ridge": Ridge(),
    "tree": DecisionTreeRegressor(random_state=0),
    "mean": DummyRegressor(),
}


def test_differences_are_those_of_paired_rows():
    found = compare(MODELS, X, Y)
    ols, tree = (cross_validate(MODELS[name], X, Y) for name in ("ols", "tree"))
    gap = ols.row_scores["squared_error"] - tree.row_scores["squared_error"]
    told = found.difference("ols", "tree")
    assert told.value == pytest.approx(gap.mean(), rel=1e-12)
    assert found.difference("tree", "ols").low == -told.high
    plain = [
        each.p_value for each in (ols.difference(cross_validate(m, X, Y)) for k, m in MODELS.items() if k != "ols")
    ]
    assert found.difference("ols", "ridge").p_value >= min(plain)
    every = [found.trials["data"][a].difference(found.trials["data"][b]).p_value for a, b in found.differences]
    assert [each.p_value for each in found.differences.values()] == pytest.approx(adjust(every))
    assert found.best == "ols"
    assert found.table["model"] == ["ols", "ridge", "mean", "tree"]
    assert "ols does best (mean squared error 2978) and is told apart from ridge" in found.sentence
    # A measure without rows goes by folds
    rank = compare(MODELS, X, Y, measures="r2")
    first = rank.trials["data"]
    test = corrected_resampled_t(first["ols"].scores() - first["ridge"].scores(), first["ols"].n_train, 442 / 5)
    assert first["ols"].difference(first["ridge"]).p_value == pytest.approx(test.p_value)
    assert rank.best == "ols"


def test_what_is_not_told_apart_is_said():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    found = compare({"a": Ridge(1.0), "b": Ridge(1.5)}, rows, rows @ [1, 1, 0] + 3 * rng.normal(size=60))
    assert "is not told apart from" in found.sentence
    assert "which does not show that they do equally well" in found.sentence
    assert found.differences["a", "b"].low < 0 < found.differences["a", "b"].high


def test_densities_with_missing_cells_beside_scikit_learns():
    holes = np.where(np.random.default_rng(0).random(IRIS.shape) < 0.1, np.nan, IRIS)
    models = {"three": GaussianMixture(3, random_state=0), "one": GaussianMixture(1), "theirs": TheirMixture(3)}
    found = compare(models, holes)
    assert found.best == "three"
    assert found.failures["data", "theirs"].startswith("Input X contains NaN; put an imputer before it")
    assert found.table[2]["failed"]
    assert "theirs could not be learned" in found.sentence
    with pytest.raises(ValueError, match="theirs could not be learned, so that nothing is compared with it"):
        found.difference("theirs", "one")
    same = compare({"ours": GaussianMixture(1), "theirs": TheirMixture(1, reg_covar=0)}, IRIS)
    assert same.differences["ours", "theirs"].value == pytest.approx(0.0, abs=1e-9)


def test_several_data_sets_are_ranked():
    sets = {f"part {k}": (X[k::6], Y[k::6]) for k in range(6)}
    found = compare(MODELS, sets)
    assert found.scores.shape == (6, 4)
    ranks = np.argsort(np.argsort(found.scores, axis=1), axis=1) + 1.0
    assert found.ranks == pytest.approx(ranks)
    assert found.friedman.statistic == pytest.approx(friedman(found.scores).statistic)
    assert found.nemenyi.mean_ranks == pytest.approx(nemenyi(found.scores, best="low").mean_ranks)
    assert found.nemenyi.mean_ranks == pytest.approx(ranks.mean(axis=0))
    assert "Over 6 data sets ols has the best mean rank" in found.sentence
    with pytest.raises(ValueError, match="there are 6 data sets"):
        found.difference("ols", "tree")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: compare([Ridge()], X, Y), "there is 1 model; compare two or more"),
        (lambda: compare([Ridge(), GaussianMixture()], X, Y), "no measure fits all models: Ridge by squared_error and"),
        (lambda: compare(MODELS, {"a": (X, Y)}, Y), "several data sets carry their own targets"),
        (lambda: compare(MODELS, {}), "X holds no data set"),
        (lambda: compare(MODELS, X, Y, level=0), "level=0 is not a probability"),
        (lambda: compare(MODELS, X, Y).difference("ols", "lasso"), "there is no model 'lasso'; there are ols, ridge, tree, mean"),
        (lambda: compare(MODELS, X, Y).nemenyi, "there is 1 data set"),
        (lambda: hidden_cells(LinearRegression(), IRIS), "LinearRegression fills no cells"),
        (lambda: hidden_cells(GaussianImputer(), IRIS[:3]), "no column of X has 4 known cells"),
        (lambda: hidden_cells(GaussianImputer(add_indicator=True), np.where(IRIS > 7, np.nan, IRIS)), "add_indicator=False"),
        (lambda: cluster_stability(KMeans(2), IRIS[:3], share=0.3), "learn clusters from more"),
    ],
)  # fmt: skip
def test_bad_input_is_told(call, told):
    with pytest.raises(ValueError, match=told):
        call()


def test_hidden_cells():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(400, 1))
    rows = common + 0.5 * rng.normal(size=(400, 4))
    rows[rng.random(rows.shape) < 0.05] = np.nan
    found = hidden_cells(ProbabilisticPCA(1), rows, level=0.9)
    # Var(x_j | the other three) / Var(x_j), by hand: 0.25 + 0.25 / (0.25 + 3) over 1.25
    assert found.error == pytest.approx(np.sqrt((0.25 + 0.25 / 3.25) / 1.25), rel=0.12)
    assert found.naive == pytest.approx(1.0, abs=0.1)
    assert found.covered == pytest.approx(0.9, abs=0.05)
    assert sum(found.table["cells"]) == found.n
    frame = pd.DataFrame(rows[:, :2], columns=["u", "v"]).assign(up=np.where(common[:, 0] > 0, "yes", "no"))
    mixed = hidden_cells(Mixture(2, random_state=0), frame, n_rounds=2)
    row = next(each for each in mixed.table if each["column"] == "up")
    assert row["right"] > 0.75 > row["most_frequent"]
    assert hidden_cells(MixtureImputer(1), rows).error == pytest.approx(found.error, rel=0.25)


def test_which_cells_are_hidden():
    rng = np.random.default_rng(0)
    seen = rng.random((200, 3)) < 0.8
    for hidden in (hide_evenly(seen, rng, 0.2), hide_any(seen, 50, rng)):
        assert hidden[seen].any()
        assert not hidden[~seen].any()
    hidden = hide_evenly(seen, rng, 0.2)
    assert ((seen & ~hidden).any(axis=1) == seen.any(axis=1)).all()
    assert hidden.sum(axis=0) == pytest.approx(0.2 * seen.sum(axis=0), rel=0.2)
    cells = np.where(seen, 1.0, np.nan)
    assert not hide_alike(cells, seed=0)[~seen].any()


def test_stability_finds_clusters_that_are_there():
    rng = np.random.default_rng(0)
    there = rng.normal(size=(120, 2)) + 8 * np.repeat(np.eye(3, 2), 40, axis=0)
    even = rng.random((120, 2))
    for model in (KMeans(3, random_state=0), TheirKMeans(3, n_init=3, random_state=0), TheirAgglomerative(3)):
        assert cluster_stability(model, there, n_resamples=5).rand.min() == 1.0
    loose = cluster_stability(KMeans(7, random_state=0), even, n_resamples=10)
    assert loose.rand.mean() < 0.8
    assert not all(loose.table["stable"])
    assert agreement(np.array([0, 0, 1, 1, 2]), np.array([5, 5, 3, 3, 3]))[1] == pytest.approx(0.8)
    assert agreement(np.array([0, 0, 1, 1]), np.array([7, 7, 2, 2])) == (1.0, 1.0)
