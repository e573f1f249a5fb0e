"""Rows of Dask collections on a real cluster of two worker processes, one of which is killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from tacit.engine import fit
from tacit.families import FullGaussian
from tacit.mixture import GaussianMixture, MixtureModel
from tacit.source import ArraySource, Block, as_source
from tacit.source.cluster import Cluster, Here, places
from tacit.source.dask import DaskSource, is_dask
from tacit.testing import close

from ..zoo import KINDS, LEARNERS, gaussian_rows, some, with_missing

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
sizeof = pytest.importorskip("dask.sizeof").sizeof
pandas = pytest.importorskip("pandas")

NAMES = ["a", "b", "c", "d"]
REST = [name for name in LEARNERS if name not in KINDS]
OTHERS = [tuple(REST[i : i + 11]) for i in range(0, len(REST), 11)]
pytestmark = pytest.mark.xdist_group("dask")


@pytest.fixture(scope="module")
def two_workers():
    """Workers that are forked from a process which has imported what they need: one that dies is soon followed by another."""
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        distributed.utils.get_mp_context().set_forkserver_preload(["distributed", "dask.dataframe", "tests.zoo"])
        yield from workers()


def workers():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def client(two_workers):
    with two_workers.as_current():
        yield two_workers


def cut(X, n_rows=37):
    return da.from_array(X, chunks=(n_rows, -1))


def frame(X, n_partitions=4, **more):
    return dd.from_pandas(pandas.DataFrame(X, columns=NAMES).assign(**more), npartitions=n_partitions, sort=False)


def start(model, X):
    return model.init(Block.of(X), np.random.default_rng(0))


class Slow(MixtureModel):
    """A mixture that takes its time."""

    def e_step(self, params, block):
        time.sleep(0.05)
        return super().e_step(params, block)


class Deadly(MixtureModel):
    """A mixture that ends its worker."""

    def e_step(self, params, block):
        os.kill(os.getpid(), signal.SIGKILL)


class Wrong(MixtureModel):
    """A mixture that meets a singular matrix."""

    def e_step(self, params, block):
        raise np.linalg.LinAlgError("singular, on a worker")


def kill_one(client):
    """Kill the worker that holds most; returns its address."""
    held = client.has_what()
    address = max(held, key=lambda worker: len(held[worker]))
    os.kill(client.run(os.getpid, workers=[address])[address], signal.SIGKILL)
    return address


# Fits


@pytest.mark.parametrize("missing", some([False, True], [True]), ids=["complete", "missing"])
@pytest.mark.parametrize("name", some(LEARNERS, ["mixture of full"]))
def test_workers_give_the_fit_in_memory(client, name, missing):
    model, rows = LEARNERS[name]
    X = with_missing(rows()) if missing else rows()
    params = start(model, X)
    here = fit(model, ArraySource(X), params, max_iter=8, tol=0.0)
    there = fit(model, DaskSource(cut(X)), params, max_iter=8, tol=0.0)
    close(there.params, here.params, 1e-10)
    np.testing.assert_allclose(there.trace.objectives, here.trace.objectives, rtol=1e-12)


def test_weights_and_labels_of_arrays(client, rng):
    X = with_missing(gaussian_rows())
    weight, labels = rng.uniform(0.0, 2.0, len(X)) * (rng.random(len(X)) < 0.8), rng.integers(-1, 3, len(X))
    model = MixtureModel(FullGaussian(), 3)
    params = start(model, X)
    here = ArraySource(X, weight, labels)
    expected = here.sum(partial(model.e_step, params))
    for given in ((weight, labels), (da.from_array(weight, chunks=100), da.from_array(labels, chunks=7))):
        source = DaskSource(cut(X), weight=given[0], labels=given[1])
        close(source.sum(partial(model.e_step, params)), expected, 1e-10)
        assert source.label_range == (-1, 2)
        np.testing.assert_array_equal(source.eligible(), here.eligible())
        drawn = [each.sample(50, np.random.default_rng(1)) for each in (source, here)]
        for field in ("X", "weight", "labels"):
            np.testing.assert_array_equal(*(getattr(block, field) for block in drawn))


def test_source_looks_like_an_array(client):
    X = gaussian_rows().astype(np.float32)
    source = as_source(cut(X))
    assert isinstance(source, DaskSource)
    assert isinstance(source.cluster, Cluster)
    assert (source.n_rows, source.n_features, source.dtype, source.n_partitions) == (240, 4, np.float32, 7)
    assert not source.labelled
    np.testing.assert_array_equal(np.vstack([block.X for block in source]), X)
    np.testing.assert_array_equal(np.vstack(list(source.map(lambda block: block.X))), X)
    rows = np.array([0, 36, 37, 200, 239])
    np.testing.assert_array_equal(source.take(rows).X, X[rows])
    np.testing.assert_array_equal(source.sample(1000, None).X, X)


def test_sums_do_not_depend_on_where_partitions_are(client):
    X = with_missing(gaussian_rows())
    model = MixtureModel(FullGaussian(), 3)
    e_step = partial(model.e_step, start(model, X))
    first = DaskSource(cut(X, 11)).sum(e_step)
    again = DaskSource(cut(X, 11)).sum(e_step)
    close(first, again, 0.0)


def test_partitions_are_balanced_and_stay(client):
    X = gaussian_rows(20_000)
    source = DaskSource(cut(X, 1000))
    model = MixtureModel(FullGaussian(), 3)
    distributed.wait(source._partitions)
    before = client.who_has(source._partitions)
    counts = np.unique([at[0] for at in before.values()], return_counts=True)[1]
    np.testing.assert_array_equal(counts, [10, 10])
    fit(model, source, start(model, X), max_iter=5, tol=0.0)
    assert client.who_has(source._partitions) == before


def test_nothing_is_left_on_workers(client):
    def held(most):
        """What workers hold, once that is no more than `most` or after five seconds."""
        for _ in range(100):
            keys = [key for keys in client.has_what().values() for key in keys if str(key).startswith("tacit-")]
            if len(keys) <= most:
                break
            time.sleep(0.05)
        return keys

    X = gaussian_rows()
    source = DaskSource(cut(X))
    model = MixtureModel(FullGaussian(), 3)
    fit(model, source, start(model, X), max_iter=5, tol=0.0)
    assert len(held(source.n_partitions)) == source.n_partitions
    del source
    assert held(0) == []


def count_visits(block):
    block.local["visits"] = block.local.get("visits", 0) + 1
    return block.local["visits"]


def test_what_blocks_remember_stays_with_them(client):
    source = DaskSource(cut(gaussian_rows()))
    assert [source.sum(count_visits) for _ in range(3)] == [7, 14, 21]


def test_what_fails_on_a_worker_fails_here(client):
    X = gaussian_rows()
    model = Wrong(FullGaussian(), 3)
    with pytest.raises(np.linalg.LinAlgError, match="singular, on a worker"):
        DaskSource(cut(X)).sum(partial(model.e_step, start(model, X)))


def test_places_follow_threads_and_move_little():
    assert places(["a", "a", "b", "b"], [1, 1, 1, 1], {"a": 1, "b": 1}) == ["a", "a", "b", "b"]
    assert places(["a"] * 4, [1, 1, 1, 1], {"a": 1, "b": 1}) == ["a", "a", "b", "b"]
    assert places(["a", None, "gone", "a"], [1, 1, 1, 1], {"a": 1, "b": 1}) == ["a", "b", "b", "a"]
    assert sorted(places(["a"] * 8, [1] * 8, {"a": 1, "b": 3})) == ["a"] * 2 + ["b"] * 6
    assert places(["a"], [1], {}) == ["a"]


# Estimators


@pytest.fixture(scope="module")
def rows():
    return with_missing(gaussian_rows(), 0.1)


@pytest.fixture(scope="module")
def here(rows):
    return GaussianMixture(3, random_state=0, tol=1e-6).fit(rows)


def same(a, b):
    for name in ("weights_", "means_", "covariances_"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-10, atol=1e-10)


def test_estimator_on_an_array(client, rows, here, tmp_path):
    X = cut(rows)
    there = GaussianMixture(3, random_state=0, tol=1e-6).fit(X)
    same(there, here)
    np.testing.assert_array_equal(there.predict(X), here.predict(rows))
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(rows), atol=1e-10)
    np.testing.assert_allclose(there.score_samples(X), here.score_samples(rows), rtol=1e-10)
    np.testing.assert_allclose(there.impute(X), here.impute(rows), rtol=1e-9)
    np.testing.assert_allclose(there.bic(X), here.bic(rows))
    parquet = pytest.importorskip("pyarrow.parquet")
    there.impute(X, out=tmp_path / "filled.parquet")
    table = parquet.read_table(tmp_path / "filled.parquet").to_pandas()
    np.testing.assert_allclose(table.to_numpy(), here.impute(rows), rtol=1e-9)


def test_estimator_on_a_dataframe(client, rows, here):
    weight, labels = np.ones(len(rows)), np.full(len(rows), -1)
    table = frame(rows, word="text", weight=weight, y=labels)
    there = GaussianMixture(3, random_state=0, tol=1e-6).fit(table, "y", "weight")
    same(there, here)
    np.testing.assert_array_equal(there.feature_names_in_, NAMES)
    # Columns are found by name, in any order.
    np.testing.assert_array_equal(there.predict(table[["weight", *NAMES[::-1]]]), here.predict(rows))


def test_estimator_on_parquet_read_by_workers(client, rows, here, tmp_path):
    pytest.importorskip("pyarrow")
    frame(rows).to_parquet(tmp_path / "rows")
    there = GaussianMixture(3, random_state=0, tol=1e-6).fit(dd.read_parquet(tmp_path / "rows"))
    same(there, here)


def test_estimator_with_all_labels_online_and_checkpoint(client, rows, here, tmp_path):
    labels = here.predict(rows)
    whole = here.impute(rows)
    settings = {"n_components": 3, "random_state": 0}
    same(GaussianMixture(**settings).fit(cut(whole), labels), GaussianMixture(**settings).fit(whole, labels))
    same(GaussianMixture(**settings).fit(cut(rows), checkpoint=tmp_path / "c"), GaussianMixture(**settings).fit(rows))
    assert GaussianMixture(**settings).fit(cut(rows), online=True).converged_


def test_the_identity_of_a_checkpoint_is_made_where_the_rows_are(client, monkeypatch):
    X, sent, gather = gaussian_rows(20_000), [], Cluster.gather

    def weighed(cluster, futures):
        found = gather(cluster, futures)
        sent.append(sizeof(found))
        return found

    one, same, other = DaskSource(cut(X, 5000)), DaskSource(cut(X, 5000)), DaskSource(cut(X + (X[-1] == X), 5000))
    monkeypatch.setattr(Cluster, "gather", weighed)
    expected = GaussianMixture(3, random_state=0)._identity(one)
    assert sum(sent) < 0.01 * X.nbytes
    assert GaussianMixture(3, random_state=0)._identity(same) == expected
    assert GaussianMixture(3, random_state=0)._identity(other) != expected


def test_without_a_client_partitions_are_held_here(rows, here):
    source = DaskSource(cut(rows))
    assert isinstance(source.cluster, Here)
    same(GaussianMixture(3, random_state=0, tol=1e-6).fit(source), here)
    with dask.config.set(scheduler="synchronous"):
        same(GaussianMixture(3, random_state=0, tol=1e-6).fit(frame(rows)), here)


# Kinds of input


def test_partitions_without_rows_are_skipped(client, rows):
    table = frame(rows, 4)
    table = dd.concat([table.partitions[0].query("a > 1e9"), table, table.partitions[1].query("a > 1e9")])
    source = DaskSource(table)
    assert (source.n_rows, source.n_partitions) == (240, 4)
    np.testing.assert_array_equal(np.vstack([block.X for block in source]), rows)
    with pytest.raises(ValueError, match=r"0 sample\(s\): no partition has any rows"):
        DaskSource(table.query("a > 1e9"))


def test_columns_in_chunks_are_brought_together(client, rows):
    source = DaskSource(da.from_array(rows, chunks=(50, 3)))
    np.testing.assert_array_equal(source.take(np.arange(240)).X, rows)


def test_chunks_of_unknown_length(client, rows, rng):
    weight = rng.uniform(size=len(rows))
    X = frame(rows).to_dask_array()
    source = DaskSource(X, weight=weight)
    np.testing.assert_array_equal(source.take(np.arange(240)).weight, weight)
    source = DaskSource(frame(rows).to_dask_array(), weight=frame(rows, weight=weight)["weight"])
    np.testing.assert_array_equal(source.take(np.arange(240)).weight, weight)
    short = frame(rows[:200], weight=weight[:200])["weight"]
    with pytest.raises(ValueError, match=r"partition \d has 60 rows, but weight has shape \(50,\)"):
        DaskSource(frame(rows).to_dask_array(), weight=short)


def test_lists_of_delayed_values_and_futures(client, rows):
    parts = np.array_split(rows, 3)
    for data in ([dask.delayed(part) for part in parts], client.scatter(parts)):
        assert is_dask(data)
        source = DaskSource(data)
        np.testing.assert_array_equal(source.take(np.arange(240)).X, rows)
    with pytest.raises(ValueError, match="partitions have 4 and 2 columns"):
        DaskSource([dask.delayed(rows), dask.delayed(rows[:, :2])])


def test_integers_and_missing_values_of_pandas(client):
    table = pandas.DataFrame(
        {"a": pandas.array([1, None, 3], dtype="Int64"), "b": [True, False, True], "c": np.float32([1, 2, 3])}
    )
    source = DaskSource(dd.from_pandas(table, npartitions=1))
    assert source.dtype == np.float64
    np.testing.assert_array_equal(source.take(np.arange(3)).X, [[1, 1, 1], [np.nan, 0, 2], [3, 1, 3]])
    assert DaskSource(da.ones((4, 2), dtype=int)).dtype == np.float64
    assert DaskSource(dd.from_pandas(table[["c"]], npartitions=1)).dtype == np.float32


# Bad input


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (lambda: da.ones(8), {}, "Expected 2D array, got 1D array instead"),
        (lambda: frame(gaussian_rows())["a"], {}, "got a series instead"),
        (lambda: da.ones((8, 0)), {}, r"0 feature\(s\)"),
        (lambda: da.from_array(np.array([["x", "y"]])), {}, "the array holds <U1, which is not a number"),
        (lambda: frame(gaussian_rows(), word="x"), {"columns": ["a", "word"]}, "column 'word' holds str"),
        (lambda: frame(gaussian_rows(), word="x")[["word"]], {}, "no numeric column; it has word"),
        (lambda: frame(gaussian_rows()), {"weight": "mass"}, "no column 'mass'; it has a, b, c, d"),
        (lambda: frame(gaussian_rows()), {"weight": np.ones(240)}, "weight is a ndarray; .* give the name of a column"),
        (lambda: cut(gaussian_rows()), {"weight": "a"}, "weight='a' names a column, but an array has no names"),
        (lambda: cut(gaussian_rows()), {"weight": np.ones(9)}, r"weight has shape \(9,\), but X has 240 rows"),
        (lambda: cut(gaussian_rows()), {"weight": -np.ones(240)}, "the weight holds -1 .partition"),
        (lambda: cut(gaussian_rows()), {"weight": np.zeros(240)}, "the weight is zero for every row"),
        (lambda: cut(gaussian_rows()), {"labels": np.full(240, 0.5)}, "labels hold 0.5"),
        (lambda: cut(np.array([[1.0, np.nan], [np.inf, 1.0]])), {}, "contains infinity .partition 0"),
        (lambda: cut(np.array([[1.0, np.nan], [1.0, -1e200]])), {}, "column 1 .partition 0. .*1e\\+200"),
    ],
)
def test_bad_input(client, make, settings, message):
    with pytest.raises(ValueError, match=message):
        DaskSource(make(), **settings)


def test_bad_input_of_estimators(client, rows, here):
    with pytest.raises(ValueError, match="y holds 3, which is no class; known classes are 0 to 2"):
        GaussianMixture(3).fit(cut(rows), np.full(len(rows), 3))
    with pytest.raises(ValueError, match="X has 2 features, but GaussianMixture is expecting 4"):
        here.predict(cut(rows[:, :2]))
    with pytest.raises(ValueError, match=r"column 1 \('b'\) has no observed value"):
        GaussianMixture(3).fit(frame(np.where(np.arange(4) == 1, np.nan, rows)))
    with pytest.raises(TypeError, match="rows cannot be read from Bag"):
        DaskSource(pytest.importorskip("dask.bag").from_sequence([1]))


def test_dask_missing_names_the_extra():
    # In a process of its own: threads of a cluster import Dask at any moment.
    code = "import sys; sys.modules['dask'] = None; from tacit.source.dask import DaskSource; DaskSource([object()])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (
        "ImportError: rows of Dask collections need dask; install it with: pip install 'tacit[cluster]'" in done.stderr
    )


# Workers that die; these come last, since they leave the cluster with other workers


@pytest.mark.parametrize("names", some([tuple(KINDS), *OTHERS], [tuple(KINDS)]), ids=lambda names: f"{names[0]}, …")
def test_a_worker_killed_between_steps_costs_no_fit(client, names):
    """One worker dies when the fits of all models, side by side, have taken three steps."""
    client.wait_for_workers(2, timeout=30)
    killed = []
    ready = threading.Barrier(len(names), lambda: killed.append(kill_one(client)))

    def wait(progress):
        if progress.step == 3 and not progress.done:
            ready.wait(timeout=60)

    def run(name):
        model, make = LEARNERS[name]
        X = with_missing(make())
        params = start(model, X)
        here = fit(model, ArraySource(X), params, max_iter=6, tol=0.0)
        there = fit(model, DaskSource(cut(X, 60), client=client), params, max_iter=6, tol=0.0, callback=wait)
        return here, there

    with ThreadPoolExecutor(len(names)) as pool:
        for name, (here, there) in zip(names, pool.map(run, names)):
            seen = 3 if LEARNERS[name][0].remembers else None
            np.testing.assert_allclose(there.trace.objectives[:seen], here.trace.objectives[:seen], rtol=1e-12)
            if seen is None:
                close(there.params, here.params, 1e-10)
            else:  # what rows remembered on the worker is lost, which may cost passes, not the fit
                assert len(there.trace.objectives) == 6
                assert there.trace.objectives[-1] > there.trace.objectives[0]
    assert len(killed) == 1
    assert killed[0] not in client.nthreads()


def test_a_worker_killed_in_the_middle_of_a_step_costs_no_fit(client):
    client.wait_for_workers(2, timeout=30)
    X = with_missing(gaussian_rows())
    model = Slow(FullGaussian(), 3)
    params = start(model, X)
    expected = fit(MixtureModel(FullGaussian(), 3), ArraySource(X), params, max_iter=5, tol=0.0)
    source = DaskSource(cut(X, 24))
    killed = []
    # A pass takes a quarter of a second: ten partitions of 0.05 s each on two workers.
    timer = threading.Timer(0.35, lambda: killed.append(kill_one(client)))
    timer.start()
    found = fit(model, source, params, max_iter=5, tol=0.0)
    timer.join()
    assert killed
    close(found.params, expected.params, 1e-10)


def test_scattered_rows_lost_with_their_worker_are_an_error(client):
    client.wait_for_workers(2, timeout=30)
    source = DaskSource(client.scatter(np.array_split(gaussian_rows(), 4)))
    kill_one(client)
    with pytest.raises(RuntimeError, match=r"rows were lost with their worker .* instead of client.scatter"):
        source.sum(len)


def test_rows_that_end_every_worker_are_an_error(client):
    client.wait_for_workers(2, timeout=30)
    scheduler = client.cluster.scheduler
    before, scheduler.allowed_failures = scheduler.allowed_failures, 0
    try:
        X = gaussian_rows()
        model = Deadly(FullGaussian(), 3)
        source = DaskSource(cut(X, 240))
        with pytest.raises(RuntimeError, match=r"workers died 1 times on 'tacit-sum-.*most often for want of memory"):
            source.sum(partial(model.e_step, start(model, X)))
    finally:
        scheduler.allowed_failures = before


def hungry(n_bytes):
    """Rows that need more memory than the worker has."""
    rows = np.ones((n_bytes // 8, 1))
    time.sleep(20)
    return rows


@pytest.mark.full
def test_a_worker_out_of_memory_is_an_error():
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit="500MB",
            silence_logs="CRITICAL",
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        cluster.scheduler.allowed_failures = 0
        with pytest.raises(RuntimeError, match=r"workers died 1 times on '.*make partitions smaller"):
            DaskSource([dask.delayed(hungry)(700_000_000)], client=client)
