"""Units, targets and memory: models of sequences, documents and users learn the same from every source."""

import numpy as np
import pytest

from tacit.assess.splits import deal
from tacit.engine import fit
from tacit.source import ArraySource, FoldSource, SparseSource, as_source
from tacit.source.units import block_bounds, drawn_units, unit_offsets
from tacit.testing import check_model, check_sources

from .toys import HiddenMarkov, MatrixFactors, Topics


def sequences(seed=0):
    """Sequences of 1 to 40 steps of a chain of two states; a tenth of the steps are missing."""
    rng = np.random.default_rng(seed)
    lengths = [1, 40, 3, 17, 2, *rng.integers(2, 30, size=12)]
    rows, units = [], []
    for number, n in enumerate(lengths):
        state = np.cumsum(rng.random(n) < 0.15) % 2
        rows.append(np.where(rng.random(n) < 0.1, np.nan, 3.0 * state + rng.normal(size=n)))
        units += [f"s{number}"] * n
    rows[0][:] = 1.0
    return np.concatenate(rows)[:, None], np.array(units, dtype=object)


def documents(seed=0, n=60, d=12):
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(d, 0.3), 3)
    return np.array([rng.multinomial(30, rng.dirichlet(np.ones(3)) @ topics) for _ in range(n)], dtype=float)


def ratings(seed=0, n_users=40, n_items=8):
    rng = np.random.default_rng(seed)
    taste, item = rng.normal(size=(n_users, 2)), rng.normal(size=(n_items, 2))
    rows, units = [], []
    for u in range(n_users):
        for i in rng.permutation(n_items)[: rng.integers(1, n_items)]:
            rows.append([i, taste[u] @ item[i] + 0.3 * rng.normal()])
            units.append(u)
    return np.array(rows), np.array(units)


TOYS = {
    "hidden Markov": (HiddenMarkov(2), *sequences()),
    "topics": (Topics(3), documents(), None),
    "matrix factors": (MatrixFactors(8, 2), *ratings()),
}


@pytest.mark.parametrize("name", TOYS)
def test_a_toy_has_every_property_from_every_source(name):
    pytest.importorskip("pyarrow")
    pytest.importorskip("dask.array")
    pytest.importorskip("torch")
    model, X, unit = TOYS[name]
    check_model(model, X, unit=unit, max_iter=16)
    check_sources(model, X, unit=unit, rtol=1e-9)


# Cutting, sampling and folding


def test_names_of_units_become_offsets():
    assert unit_offsets(None, 3) is None
    assert unit_offsets(["a", "b", "c"], 3) is None
    np.testing.assert_array_equal(unit_offsets(["b", "b", "a", "c", "c"], 5), [0, 2, 3, 5])
    np.testing.assert_array_equal(unit_offsets(np.array([4, 4, 9, 9, 9]), 5), [0, 2, 5])
    with pytest.raises(ValueError, match="the rows of unit 'a' do not lie together; sort the rows by unit"):
        unit_offsets(["a", "b", "a"], 3)
    with pytest.raises(ValueError, match="row 1 has no unit; name the unit of every row"):
        unit_offsets(np.array(["a", None, "b"], dtype=object), 3)
    with pytest.raises(ValueError, match=r"unit has shape \(2,\), but there are 3 rows; name the unit of each row"):
        unit_offsets(["a", "b"], 3)


def test_blocks_hold_as_many_whole_units_as_fit_and_at_least_one():
    offsets = np.array([0, 3, 5, 25, 26, 30, 31])
    rows, units = block_bounds(31, 6, offsets)
    np.testing.assert_array_equal(rows, [0, 5, 25, 31])
    np.testing.assert_array_equal(units, [0, 2, 3, 6])


@pytest.mark.parametrize("block_rows", [1, 7, 50, 1000])
def test_no_source_cuts_a_unit(block_rows):
    X, unit = sequences()
    source = ArraySource(X, np.arange(len(X), dtype=float), unit=unit, block_rows=block_rows)
    blocks, at = list(source), 0
    assert source.n_units == len(np.unique(unit)) == sum(block.n_units for block in blocks)
    for block in blocks:
        assert block.first == at
        assert block.offsets[0] == 0
        assert block.offsets[-1] == len(block)
        assert block.n_units == 1 or len(block) <= block_rows
        at += block.n_units
    np.testing.assert_array_equal(np.concatenate([block.X for block in blocks]), X)
    lengths = np.concatenate([np.diff(block.offsets) for block in blocks])
    np.testing.assert_array_equal(lengths, [np.sum(unit == name) for name in dict.fromkeys(unit)])


def test_samples_and_subsets_hold_whole_units():
    _, unit = sequences()
    names = np.array(list(dict.fromkeys(unit)), dtype=object)
    number = np.searchsorted(np.sort(names), unit)
    source = ArraySource(number[:, None].astype(float), np.where(number % 3 == 0, 0.0, 1.0), unit=unit)
    for seed in range(20):
        block = source.sample(60, np.random.default_rng(seed))
        assert len(block) <= 60
        for a, b in zip(block.offsets, block.offsets[1:]):
            (value,) = np.unique(block.X[a:b])
            assert value % 3 != 0
            assert b - a == np.sum(number == value)
    assert source.sample(1, np.random.default_rng(0)).n_units == 1
    part = source.subset(np.array([1, 4]))
    assert (part.n_units, part.n_rows) == (2, int(np.sum(np.isin(unit, names[[1, 4]]))))
    everything = drawn_units(np.arange(3), 100, np.array([0, 5, 9, 20]), np.random.default_rng(0))
    np.testing.assert_array_equal(everything, [0, 1, 2])


def test_folds_hold_whole_units():
    X, unit = sequences()
    source = ArraySource(X, unit=unit, block_rows=20)
    fold = deal(source.n_units, 3, np.random.default_rng(0))
    total = np.zeros(len(X))
    for number in range(3):
        part = FoldSource(source, fold == number)
        weight = np.concatenate([block.weight for block in part])
        assert all(len(np.unique(weight[unit == name])) == 1 for name in np.unique(unit))
        np.testing.assert_array_equal(part.eligible(), np.flatnonzero(fold == number))
        total += weight
    np.testing.assert_array_equal(total, 1.0)


def test_sparse_rows_have_units_labels_and_targets():
    X = documents()
    unit, labels, targets = np.repeat(np.arange(15), 4), np.arange(60) % 3 - 1, X[:, :2] + 0.5
    import scipy.sparse

    source = SparseSource(scipy.sparse.csr_array(X), None, labels, targets, unit=unit, n_blocks=4)
    assert source.n_units == 15
    assert source.n_blocks == 4
    for block in source:
        assert (np.diff(block.offsets) == 4).all()
    np.testing.assert_array_equal(np.concatenate([block.targets for block in source]), targets)
    np.testing.assert_array_equal(np.concatenate([block.labels for block in source]), labels)
    np.testing.assert_array_equal(source.take(np.array([2, 3])).X.toarray(), X[8:16])


def test_a_unit_that_two_or_more_partitions_share_is_brought_together():
    dask_array = pytest.importorskip("dask.array")
    X = np.arange(40.0)[:, None]
    unit = np.repeat([0, 1, 2, 3, 4], [3, 22, 1, 10, 4])
    source = as_source(dask_array.from_array(X, chunks=(6, -1)), unit=unit)
    assert source.n_units == 5
    found = [block.X[a:b, 0].tolist() for block in source for a, b in zip(block.offsets, block.offsets[1:])]
    assert found == [X[unit == name, 0].tolist() for name in range(5)]
    np.testing.assert_array_equal(source.take(np.array([1, 3])).X[:, 0], X[np.isin(unit, [1, 3]), 0])
    np.testing.assert_array_equal([block.first for block in source], np.unique([block.first for block in source]))


def test_units_of_a_file_must_lie_together(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"x": [1.0, 2.0, 3.0], "who": ["a", "b", "a"]}), tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="the rows of unit 'a' do not lie together"):
        as_source(tmp_path / "rows.parquet", unit="who")
    with pytest.raises(ValueError, match="has no column 'whom'; it has x, who"):
        as_source(tmp_path / "rows.parquet", unit="whom")


def test_a_block_that_does_not_fit_a_device_is_cut_at_a_unit():
    torch = pytest.importorskip("torch")
    from tacit.source.torch import TorchSource

    X, unit = sequences()
    source = TorchSource(X, unit=unit)
    source.remember(lambda block: Topics(2).memory(block))
    kept = source.recall()
    (block,) = source

    def greedy(block):
        if len(block) > 50:
            raise torch.cuda.OutOfMemoryError("no memory")
        return [X.tolist() for X in np.split(block.X.numpy(), block.offsets[1:-1])]

    found = [each for part in source.map(greedy) for each in part]
    assert len(source) > 3
    assert len(found) == block.n_units
    np.testing.assert_array_equal(np.concatenate(found), X)
    np.testing.assert_array_equal(source.recall().gamma, kept.gamma)
    long = TorchSource(np.zeros((100, 1)), unit=np.zeros(100))
    with pytest.raises(torch.cuda.OutOfMemoryError):
        list(long.map(greedy))


# Memory


def test_what_units_remember_outlives_a_pass_in_every_source():
    pytest.importorskip("dask.array")
    import dask.array

    X = documents()
    model = Topics(3)
    start = model.init(ArraySource(X).sample(60, np.random.default_rng(0)), np.random.default_rng(0))
    for source in (ArraySource(X, block_rows=13), as_source(dask.array.from_array(X, chunks=(25, -1)))):
        fit(model, source, start, max_iter=3, tol=0.0)
        once = source.recall().gamma
        source.sum(lambda block: model.e_step(start, block).loglik)
        assert np.abs(source.recall().gamma - once).max() > 1e-3
        source.remember(model.memory, source.recall())
        np.testing.assert_array_equal(source.recall().gamma.shape, (60, 3))
        source.remember(None)
        assert source.recall() is None


def test_a_new_fit_begins_with_a_new_memory():
    X, model = documents(), Topics(3)
    source = ArraySource(X)
    start = model.init(source.sample(60, np.random.default_rng(0)), np.random.default_rng(0))
    first, again = (fit(model, source, start, max_iter=4, tol=0.0).trace.objectives for _ in range(2))
    assert first == again


@pytest.mark.parametrize("kind", ["array", "dask"])
def test_a_checkpoint_keeps_what_units_remember(kind, tmp_path):
    from tacit.engine import Checkpoint, fit_best

    X, model = documents(), Topics(3)

    def source():
        if kind == "array":
            return ArraySource(X, block_rows=13)
        return as_source(pytest.importorskip("dask.array").from_array(X, chunks=(25, -1)))

    few = ArraySource(X).sample(10, np.random.default_rng(0))
    start = model.init(few, np.random.default_rng(0))

    def run(callback=None):
        kept = Checkpoint(tmp_path / "state", start, every=0.0, memory=model.memory(few))
        settings = {"max_iter": 12, "tol": 0.0, "callback": callback}
        return fit_best(model, source(), [lambda: start], checkpoint=kept, **settings)

    def die(progress):
        if progress.step == 7:
            raise RuntimeError("killed")

    expected = fit(model, source(), start, max_iter=12, tol=0.0)
    with pytest.raises(RuntimeError, match="killed"):
        run(die)
    found = run()
    assert found.trace.objectives == expected.trace.objectives
    np.testing.assert_array_equal(found.params.topic, expected.params.topic)
