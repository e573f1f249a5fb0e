"""Rows grouped by pattern, cut into blocks, summed on threads."""

import multiprocessing
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from tacit.factor import PCA
from tacit.mixture import GaussianMixture
from tacit.source import ArraySource, Block, Patterns, as_source
from tacit.source.source import MAX_ROWS, default_block_rows
from tacit.source.threads import one_blas_thread


def numbered(n_rows, d=3):
    """Rows that tell their own number in the first column."""
    return np.arange(n_rows)[:, None] + np.linspace(0.0, 0.5, d)


def with_patterns(d, rng, n_rows=200):
    X = rng.normal(size=(n_rows, d))
    X[rng.random(X.shape) < 0.3] = np.nan
    X[::9] = np.nan
    X[::5] = rng.normal(size=(len(X[::5]), d))
    return X


@pytest.mark.parametrize("d", [1, 2, 8, 9, 40])
def test_patterns_group_rows_by_missing_cells_complete_ones_first(d, rng):
    X = with_patterns(d, rng)
    patterns = Patterns.of(X)
    np.testing.assert_array_equal(np.sort(patterns.rows), np.arange(len(X)))
    assert patterns.starts[0] == 0
    assert patterns.starts[-1] == len(X)
    assert (np.diff(patterns.starts) > 0).all()
    assert len(np.unique(patterns.missing, axis=0)) == len(patterns.missing) == len(patterns.starts) - 1
    for group, mask in enumerate(patterns.missing):
        rows = patterns.rows[patterns.starts[group] : patterns.starts[group + 1]]
        assert (np.isnan(X[rows]) == mask).all()
        assert (np.diff(rows) > 0).all()
    assert not patterns.missing[0].any()
    assert not patterns.is_complete


def test_complete_and_incomplete_rows_part_the_patterns(rng):
    X = with_patterns(4, rng)
    patterns = Patterns.of(X)
    whole = np.flatnonzero(~np.isnan(X).any(axis=1))
    np.testing.assert_array_equal(patterns.complete, whole)
    holes = patterns.incomplete
    np.testing.assert_array_equal(np.sort(holes.rows), np.setdiff1d(np.arange(len(X)), whole))
    for group, mask in enumerate(holes.missing):
        assert mask.any()
        assert (np.isnan(X[holes.rows[holes.starts[group] : holes.starts[group + 1]]]) == mask).all()
    assert holes.starts[-1] == len(holes.rows)


def test_patterns_of_rows_that_all_have_holes(rng):
    X = np.where(np.eye(3, dtype=bool)[rng.integers(3, size=30)], np.nan, 1.0)
    patterns = Patterns.of(X)
    assert len(patterns.complete) == 0
    assert patterns.incomplete is patterns


@pytest.mark.parametrize("X", [np.ones((4, 2)), np.array([[np.inf, -np.inf], [1.0, 2.0]]), np.empty((0, 2))])
def test_patterns_of_rows_without_holes(X):
    with np.errstate(invalid="ignore"):
        patterns = Patterns.of(X)
    assert patterns.is_complete
    np.testing.assert_array_equal(patterns.complete, np.arange(len(X)))
    assert len(patterns.incomplete.rows) == 0


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("block_rows", [1, 7, 50, 64, None])
def test_blocks_cover_rows_once_and_in_order(block_rows, order):
    X = numbered(50)
    X[[3, 20, 21], 1] = np.nan
    weight, labels = np.linspace(1.0, 2.0, 50), np.arange(50) % 4 - 1
    source = ArraySource(np.asarray(X, order=order), weight, labels, block_rows=block_rows)
    blocks = list(source)
    assert len(blocks) == len(source) == -(-50 // (block_rows or 50))
    np.testing.assert_array_equal(np.vstack([block.X for block in blocks]), X)
    np.testing.assert_array_equal(np.concatenate([block.weight for block in blocks]), weight)
    np.testing.assert_array_equal(np.concatenate([block.labels for block in blocks]), labels)
    for block in blocks:
        assert block.X.flags.c_contiguous
        np.testing.assert_array_equal(block.patterns.complete, np.flatnonzero(~np.isnan(block.X[:, 1])))
        np.testing.assert_array_equal(np.sort(block.patterns.rows), np.arange(len(block)))


def test_blocks_have_unit_weights_and_unknown_labels_by_default():
    for block in ArraySource(numbered(50), block_rows=16):
        np.testing.assert_array_equal(block.weight, np.ones(len(block)))
        np.testing.assert_array_equal(block.labels, np.full(len(block), -1))


def test_contiguous_rows_are_never_copied():
    X = numbered(100)
    blocks = list(ArraySource(X, block_rows=30))
    assert len(blocks) == 4
    assert all(np.shares_memory(block.X, X) for block in blocks)


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2]])
def test_what_models_keep_with_a_block_is_there_on_the_next_pass(layout):
    X = numbered(50)
    source = ArraySource(layout(X), block_rows=20)
    for number, block in enumerate(source):
        np.testing.assert_array_equal(block.X, X[20 * number : 20 * number + 20])
        block.local["number"] = number
    assert [block.local["number"] for block in source] == [0, 1, 2]


def test_default_blocks_hold_about_two_megabytes_within_bounds():
    assert default_block_rows(1) == MAX_ROWS
    assert default_block_rows(64) * 64 * 8 == 2**21
    assert default_block_rows(64, 4) == 2 * default_block_rows(64)
    assert default_block_rows(10**6) == 512


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_sums_do_not_depend_on_threads_to_the_last_bit(n_jobs, rng):
    X = rng.normal(size=(1000, 2)) * 10.0 ** rng.integers(-12, 12, size=(1000, 1))
    X[:, 0] = np.arange(1000)
    ended = [threading.Event() for _ in range(20)]

    def out_of_order(block):
        """Every other block ends after the next: the order of ending must not be the order of adding."""
        number = int(block.X[0, 0]) // 50
        assert number % 2 or ended[number + 1].wait(10)
        ended[number].set()
        return block.X[:, 1].sum()

    alone = ArraySource(X, block_rows=50, n_jobs=1).sum(lambda block: block.X[:, 1].sum())
    assert ArraySource(X, block_rows=50, n_jobs=n_jobs).sum(out_of_order) == alone


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_map_keeps_the_order_of_blocks(n_jobs):
    source = ArraySource(numbered(95), block_rows=10, n_jobs=n_jobs)
    assert list(source.map(lambda block: block.X[0, 0])) == list(range(0, 95, 10))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_block_reaches_the_caller_and_the_threads_go_on(n_jobs):
    source = ArraySource(numbered(100), block_rows=5, n_jobs=n_jobs)

    def fail(block):
        if block.X[0, 0] == 35.0:
            raise ZeroDivisionError("row 35")
        return len(block)

    with threadpool_limits(2, user_api="blas"):
        before = [library["num_threads"] for library in threadpool_info()]
        for _ in range(2 * n_jobs):
            with pytest.raises(ZeroDivisionError, match="row 35"):
                source.sum(fail)
        assert [library["num_threads"] for library in threadpool_info()] == before
    assert source.sum(len) == 100


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blas_has_one_thread_inside_a_block(n_jobs):
    source = ArraySource(numbered(40), block_rows=10, n_jobs=n_jobs)

    def blas_threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    with threadpool_limits(2, user_api="blas"):
        inside = list(source.map(lambda block: max(blas_threads())))
        assert inside == [1, 1, 1, 1]
        assert min(blas_threads()) == 2


def test_blas_has_one_thread_until_the_last_who_asked_for_it_is_done():
    def blas_threads():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)  # as maps that are not nested end
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == {2}


def test_blas_keeps_its_threads_while_maps_wait_and_after_fits_at_once():
    def blas_threads():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    def learn(seed):
        rows = np.random.default_rng(seed).normal(size=(200, 3))
        return PCA(2).fit(rows), GaussianMixture(2, n_init=2, random_state=seed).fit(rows)

    with threadpool_limits(2, user_api="blas"):
        for n_jobs in (1, 2):
            waiting = ArraySource(numbered(20), block_rows=10, n_jobs=n_jobs).map(lambda block: blas_threads())
            assert next(waiting) == {1}
            until = time.monotonic() + 30.0
            while blas_threads() != {2} and time.monotonic() < until:  # until what was begun ahead has ended
                time.sleep(0.01)
            assert blas_threads() == {2}
        with ThreadPoolExecutor(4) as pool:
            assert len(list(pool.map(learn, range(8)))) == 8
        assert blas_threads() == {2}


def test_a_map_left_halfway_does_not_stop_the_next():
    source = ArraySource(numbered(100), block_rows=5, n_jobs=2)
    part = source.map(len)
    assert next(part) == 5
    part.close()
    assert source.sum(len) == 100


def total(source):
    return source.sum(len)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="processes are not forked here")
def test_a_forked_process_has_threads_of_its_own():
    source = ArraySource(numbered(100), block_rows=5, n_jobs=2)
    assert total(source) == 100
    child = multiprocessing.get_context("fork").Process(target=total, args=[source], daemon=True)
    child.start()
    child.join(10)
    code = child.exitcode
    child.kill()
    assert code == 0, "the child process hangs"


def test_sample_draws_distinct_rows_of_positive_weight(rng):
    X = numbered(200)
    weight = np.where(np.arange(200) % 3 == 0, 0.0, 1.0 + np.arange(200))
    labels = np.arange(200) % 5
    block = ArraySource(X, weight, labels).sample(60, rng)
    rows = block.X[:, 0].astype(int)
    assert len(rows) == len(set(rows)) == 60
    assert (rows % 3 != 0).all()
    np.testing.assert_array_equal(block.X, X[rows])
    np.testing.assert_array_equal(block.weight, weight[rows])
    np.testing.assert_array_equal(block.labels, labels[rows])


def test_sample_of_few_rows_is_all_that_count(rng):
    weight = np.where(np.arange(20) < 4, 0.0, 1.0)
    block = ArraySource(numbered(20), weight).sample(100, rng)
    np.testing.assert_array_equal(block.X[:, 0], np.arange(4, 20))
    assert len(ArraySource(numbered(20)).sample(100, rng)) == 20


def test_samples_differ_by_seed_only():
    source = ArraySource(numbered(500))
    first, again, other = (source.sample(50, np.random.default_rng(seed)).X for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_source_passes_through_as_source():
    source = ArraySource(numbered(5))
    assert as_source(source) is source
    made = as_source(numbered(5), np.arange(5.0), n_jobs=1)
    assert made.n_jobs == 1
    np.testing.assert_array_equal(next(iter(made)).weight, np.arange(5.0))


def test_observed_is_one_where_a_cell_is_there():
    block = Block.of(np.array([[1.0, np.nan], [np.nan, 0.0]], dtype=np.float32))
    assert block.observed.dtype == np.float32
    np.testing.assert_array_equal(block.observed, np.eye(2))
