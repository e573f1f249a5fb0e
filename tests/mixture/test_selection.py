"""Model selection: published winners, the ranking of the best known maxima, failures as rows, any source."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA

from tacit.assess.splits import deal
from tacit.families import GAUSSIANS
from tacit.mixture import GaussianMixture, Selection, select
from tacit.mixture.starts import merges, pinned, splits
from tacit.source import ArraySource, FoldSource

from ..zoo import gaussian_rows, some, with_missing

TIGHT = {"tol": 1e-9, "max_iter": 5000, "random_state": 0}
STRUCTURES = list({family: name for name, family in reversed(GAUSSIANS.items())}.values())[::-1]


def structure(settings):
    """The family a row stands for, whatever it is called."""
    return GAUSSIANS[settings["covariance_type"]]


@pytest.fixture
def faithful(table):
    return table("faithful/faithful.csv").to_numpy(float)[:, -2:]


def proper(mixture, X):
    """Whether no class collapsed, or has fewer than two rows for each parameter of its own.

    Such classes are spurious maxima: of iris's rows, measured to a tenth, six lie within .002 of a hyperplane by chance.
    """
    d = X.shape[1]
    own = {"full": d + d * (d + 1) / 2, "tied": d, "diag": 2 * d, "spherical": d + 1}[mixture.covariance_type]
    return not mixture._model().collapsed(mixture.fit_.params) and mixture.weights_.min() * len(X) >= 2 * own


def independent(X, k, kind, n_restarts):
    """The best BIC of fits from many seeds that know nothing of each other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [
            GaussianMixture(k, covariance_type=kind, tol=1e-9, max_iter=5000, random_state=seed).fit(X)
            for seed in range(n_restarts)
        ]
    return min((fit.bic(X) for fit in fits if proper(fit, X)), default=np.inf)


@pytest.mark.parametrize("most", some([4, 9], [4]))
def test_faithful_is_three_with_a_common_covariance(most, faithful):
    found = select(GaussianMixture(**TIGHT), faithful, n_components=range(1, most + 1), covariance_type="all")
    assert len(found.table) == most * len(STRUCTURES)
    assert found.best_settings["n_components"] == 3
    assert structure(found.best_settings) is GAUSSIANS["tied"]
    assert -found.table[0]["bic"] == pytest.approx(-2314.2957, abs=5e-5)
    assert found.best.bic(faithful) == pytest.approx(found.table[0]["bic"], abs=1e-8)


@pytest.mark.parametrize("most", some([3, 9], [3]))
def test_iris(most):
    X = load_iris().data
    found = select(GaussianMixture(**TIGHT), X, n_components=range(1, most + 1), covariance_type="all")
    assert found.best_settings == {"n_components": 2, "covariance_type": "VEV"}
    assert -found.table[0]["bic"] == pytest.approx(-561.72846, abs=5e-5)
    four = [
        row
        for row in found.table
        if structure(row) in [GAUSSIANS[kind] for kind in ("full", "tied", "diag", "spherical")]
    ]
    assert (four[0]["n_components"], structure(four[0])) == (2, GAUSSIANS["full"])
    assert four[0]["log_likelihood"] == pytest.approx(-214.3547, abs=5e-5)
    assert -four[0]["bic"] == pytest.approx(-574.0178, abs=5e-5)


@pytest.mark.full
@pytest.mark.parametrize("name", ["faithful", "iris"])
def test_ranking_is_that_of_the_best_known_maxima(name, request):
    X = load_iris().data if name == "iris" else request.getfixturevalue("faithful")
    kinds = ["full", "tied", "diag", "spherical"]
    found = select(GaussianMixture(n_init=3, **TIGHT), X, n_components=range(1, 7), covariance_type=kinds)
    known = {
        (row["n_components"], row["covariance_type"]): (
            row["bic"],
            independent(X, row["n_components"], row["covariance_type"], 10),
        )
        for row in found.table
    }
    best = {key: min(pair) for key, pair in known.items()}
    for key, (ours, others) in known.items():
        assert ours <= others + 0.2, f"{key}: {ours} against {others}"
    ranked = sorted(best, key=lambda key: best[key])
    shown = [(row["n_components"], row["covariance_type"]) for row in found.table]
    # One component is the same whether its covariance is called full or tied.
    assert [key for key in shown if key[0] > 1] == [key for key in ranked if key[0] > 1]


def test_figures_are_those_of_the_models():
    X = with_missing(gaussian_rows())
    weight = np.linspace(0.5, 2.0, len(X))
    found = select(
        GaussianMixture(random_state=0), X, sample_weight=weight, n_components=(2, 3), covariance_type=["full", "diag"]
    )
    assert found.settings == ("n_components", "covariance_type")
    for row in found.table:
        model = found.models[row["n_components"], row["covariance_type"]]
        assert row["bic"] == pytest.approx(model.bic(X, weight), rel=1e-12)
        assert row["aic"] == pytest.approx(model.aic(X, weight), rel=1e-12)
        assert row["icl"] == pytest.approx(model.icl(X, weight), rel=1e-12)
        assert row["log_likelihood"] == pytest.approx(weight @ model.score_samples(X), rel=1e-12)
        assert row["n_parameters"] == model._n_parameters()
        assert (row["converged"], row["n_iter"]) == (model.converged_, model.n_iter_)
        assert row["cv"] is None
        assert row["failed"] is None
    assert found.best is found.models[tuple(found.best_settings.values())]


@pytest.mark.parametrize("criterion", ["bic", "aic", "icl"])
def test_ranked_by_the_criterion(criterion):
    found = select(GaussianMixture(random_state=0), gaussian_rows(), n_components=range(1, 5), criterion=criterion)
    assert found.table[criterion] == sorted(found.table[criterion])
    assert found.best_settings == {"n_components": found.table[0]["n_components"]}


def test_cross_validation_scores_rows_that_were_left_out():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(-4, 1, size=(60, 2)), rng.normal(4, 1, size=(60, 2))])
    found = select(GaussianMixture(random_state=0), X, n_components=(1, 2, 6), criterion="cv", cv=4)
    assert found.best_settings == {"n_components": 2}
    assert found.table["cv"] == sorted(found.table["cv"], reverse=True)
    # Six components fit the rows they see better, and rows they do not see worse.
    by_size = {row["n_components"]: row for row in found.table}
    assert by_size[6]["log_likelihood"] > by_size[2]["log_likelihood"]
    one = 0.0
    fold = deal(120, 4, GaussianMixture(random_state=0)._rng())
    for number in range(4):
        one += GaussianMixture().fit(X[fold != number]).score_samples(X[fold == number]).sum()
    assert by_size[1]["cv"] == pytest.approx(one / 120, rel=1e-9)


def test_fold_source_is_the_rows_that_remain(rng):
    X = with_missing(gaussian_rows())
    weight, kept = rng.uniform(1, 2, len(X)), rng.random(len(X)) < 0.7
    rest = FoldSource(ArraySource(X, weight, block_rows=50), kept)
    kind = {"covariance_type": "tied", "random_state": 0, "tol": 1e-10, "max_iter": 2000}
    ours = GaussianMixture(3, **kind).fit(rest)
    direct = GaussianMixture(3, **kind).fit(X[kept], sample_weight=weight[kept])
    assert ours.lower_bound_ == pytest.approx(direct.lower_bound_, abs=1e-7)
    assert sorted(np.bincount(deal(103, 5, rng)).tolist()) == [20, 20, 21, 21, 21]


def test_a_failed_fit_is_a_row():
    X = gaussian_rows(n=12)
    found = select(GaussianMixture(random_state=0), X, n_components=(1, 20), covariance_type=["diag", "banana"])
    assert [row["failed"] is None for row in found.table] == [True, False, False, False]
    reasons = {(row["n_components"], row["covariance_type"]): row["failed"] for row in found.table}
    assert "n_components = 20, n_samples = 12" in reasons[20, "diag"]
    assert "covariance_type='banana' is unknown" in reasons[1, "banana"]
    assert list(found.models) == [(1, "diag")]
    assert "covariance_type='banana' is unknown" in str(found.table)


def test_all_fits_failing_is_an_error_with_the_reason():
    with pytest.raises(
        ValueError, match="none of the 2 fits succeeded; the first failed because: covariance_type='banana'"
    ):
        select(GaussianMixture(), gaussian_rows(), n_components=(1, 2), covariance_type="banana")


def test_collapsed_fits_are_ranked_last(rng):
    # Twenty equal rows: a class of their own has any likelihood one likes.
    X = np.concatenate([rng.normal(size=(80, 2)), np.full((20, 2), 6.0)])
    found = select(GaussianMixture(random_state=0), X, n_components=(1, 2), covariance_type=["full", "tied"])
    last = found.table[-1]
    assert (last["n_components"], last["covariance_type"]) == (2, "full")
    assert last["bic"] < found.table[0]["bic"]
    assert "collapsed onto the covariance floor" in last["failed"]
    assert not proper(found.models[2, "full"], X)
    assert found.table[0]["failed"] is None
    # A floor set by hand is a choice, not a collapse.
    chosen = select(GaussianMixture(random_state=0, reg_covar=0.01), X, n_components=(1, 2))
    assert chosen.best_settings == {"n_components": 2}


def test_any_setting_may_be_tried():
    X = gaussian_rows()
    means = [gaussian_rows()[:2], gaussian_rows()[2:4]]
    found = select(GaussianMixture(), X, n_components=2, reg_covar=[1e-6, 0.5], means_init=means)
    assert found.settings == ("n_components", "reg_covar", "means_init")
    assert len(found.models) == 4
    assert found.best_settings["reg_covar"] == 1e-6
    np.testing.assert_array_equal(found.best.means_init, found.best_settings["means_init"])


def test_same_seed_same_result_whatever_the_threads():
    X = gaussian_rows(n=3000)
    first, again = (
        select(GaussianMixture(random_state=3), X, n_components=(2, 3), covariance_type=["full", "tied"], n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    assert [row["bic"] for row in first.table] == [row["bic"] for row in again.table]
    assert again.best.n_jobs == 2


def test_partial_labels_hold_in_every_fit():
    X, rng = gaussian_rows(), np.random.default_rng(0)
    truth = GaussianMixture(3, random_state=0).fit(X).predict(X)
    labels = np.where(rng.random(len(X)) < 0.2, (truth + 1) % 3, -1)
    found = select(GaussianMixture(random_state=0), X, labels, n_components=(2, 3, 4))
    by_size = {row["n_components"]: row for row in found.table}
    assert "y holds 2, which is no class" in by_size[2]["failed"]
    predicted = found.models[(3,)].predict(X)
    np.testing.assert_array_equal(predicted, (truth + 1) % 3)


def test_streams_give_what_arrays_give(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    X = gaussian_rows(n=2500)
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({f"c{j}": X[:, j] for j in range(X.shape[1])}), path)
    settings = {"n_components": (1, 3), "covariance_type": ["full", "tied"], "criterion": "cv", "cv": 2}
    array, stream = (select(GaussianMixture(random_state=0), rows, **settings) for rows in (X, path))
    for name in ("n_components", "covariance_type"):
        assert array.table[name] == stream.table[name]
    np.testing.assert_allclose(array.table["bic"], stream.table["bic"], rtol=1e-9)
    np.testing.assert_allclose(array.table["cv"], stream.table["cv"], rtol=1e-9)
    assert stream.best.feature_names_in_.tolist() == ["c0", "c1", "c2", "c3"]


def test_dask(tmp_path):
    dask_array = pytest.importorskip("dask.array")
    X = gaussian_rows(n=2500)
    settings = {"n_components": (1, 3), "criterion": "cv", "cv": 2}
    array = select(GaussianMixture(random_state=0), X, **settings)
    cluster = select(GaussianMixture(random_state=0), dask_array.from_array(X, chunks=(900, -1)), **settings)
    np.testing.assert_allclose(array.table["bic"], cluster.table["bic"], rtol=1e-9)
    np.testing.assert_allclose(array.table["cv"], cluster.table["cv"], rtol=1e-9)


def test_names_of_a_frame_reach_the_models():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(gaussian_rows(), columns=list("abcd"))
    found = select(GaussianMixture(random_state=0), frame, n_components=2)
    assert found.best.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert found.best.predict(frame).shape == (240,)
    assert found.table.to_pandas().equals(found.table.to_frame())
    assert found.table.to_pandas().loc[0, "n_components"] == 2


def test_callback_pickle_and_print():
    rows = []
    found = select(GaussianMixture(random_state=0), gaussian_rows(), n_components=range(1, 13), callback=rows.append)
    assert [row["n_components"] for row in rows] == list(range(1, 13))
    again = pickle.loads(pickle.dumps(found))
    assert isinstance(again, Selection)
    assert again.best_settings == found.best_settings
    assert "… and 2 more rows in .table" in repr(found)
    assert repr(found).splitlines()[0].split()[:2] == ["n_components", "log_likelihood"]


def test_interrupt_keeps_what_was_fitted():
    def stop(row):
        if row["n_components"] == 2:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted by the user; what was fitted so far is kept"):
        found = select(GaussianMixture(random_state=0), gaussian_rows(), n_components=(1, 2, 3), callback=stop)
    assert sorted(found.models) == [(1,), (2,)]
    assert found.table[-1]["failed"] == "interrupted by the user before this fit"


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"criterion": "dic"}, ValueError, "criterion='dic' is unknown"),
        ({"n_components": []}, ValueError, "n_components is empty"),
        ({"n_components": [0]}, ValueError, "n_components=0 is not a whole number of at least 1"),
        ({"banana": [1]}, ValueError, "GaussianMixture has no setting 'banana'"),
        ({"cv": 1, "criterion": "cv"}, ValueError, "cv=1 is not a whole number of at least 2"),
        ({"cv": 500, "criterion": "cv", "n_components": 1}, ValueError, "cv=500 exceeds the 240 rows"),
        ({"callback": 3}, TypeError, "callback=3 cannot be called"),
        ({"estimator": PCA()}, TypeError, "but got PCA"),
        ({"estimator": GaussianMixture}, TypeError, "but got GaussianMixture"),
    ],
)
def test_bad_arguments(change, kind, message):
    arguments = {"estimator": GaussianMixture(), "X": gaussian_rows(), **change}
    with pytest.raises(kind, match=message):
        select(**arguments)


def test_splits_and_merges_move_whole_rows(rng):
    resp, weight = rng.dirichlet(np.ones(3), size=40), rng.uniform(1, 2, 40)
    for cut in splits(resp, rng.normal(size=(40, 2)), weight):
        assert cut.shape == (40, 4)
        np.testing.assert_allclose(cut.sum(axis=1), 1.0)
    pairs = merges(np.eye(3)[[0, 0, 1, 1, 2, 2]] * 0.9 + [[0, 0.1, 0]], np.ones(6))
    assert len(pairs) == 3
    assert all(np.allclose(merged.sum(axis=1), 1.0) for merged in pairs)
    np.testing.assert_array_equal(pinned(np.full((2, 2), 0.5), np.array([-1, 1])), [[0.5, 0.5], [0, 1]])
