"""Rows of Parquet and Arrow: the same blocks, fits and predictions as from an array, in bounded memory."""

import gc
import os
import re
import threading

import numpy as np
import pytest

from tacit.mixture import GaussianMixture
from tacit.source import ArraySource, ParquetSource, as_source, is_arrow
from tacit.source.parquet import READ_AHEAD
from tacit.source.source import default_block_rows

from ..zoo import gaussian_rows, with_missing

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ds = pytest.importorskip("pyarrow.dataset")

NAMES = ["a", "b", "c"]


@pytest.fixture(autouse=True)
def no_thread_is_left():
    yield
    if readers():
        gc.collect()
    assert not readers()


def readers():
    return [thread for thread in threading.enumerate() if thread.name == "tacit-read"]


def to_table(X, names=None, **more):
    """Columns of X, with null where it is NaN."""
    names = names or [f"x{j}" for j in range(X.shape[1])]
    return pa.table({name: pa.array(X[:, j], from_pandas=True) for j, name in enumerate(names)} | more)


def write(path, X, names=None, rows_per_group=None, **more):
    pq.write_table(to_table(X, names, **more), path, row_group_size=rows_per_group)
    return path


def rows_of(source):
    return np.concatenate([block.X for block in source])


def sizes(source):
    return [len(block) for block in source]


@pytest.fixture
def X():
    return with_missing(gaussian_rows(501, 3, 2))


@pytest.fixture
def path(X, tmp_path):
    return write(tmp_path / "rows.parquet", X, NAMES, 64)


def folder_of(X, folder, cuts=(13, 14, 200, 333), groups=(5, 9, 50, 7, 41)):
    folder.mkdir()
    for i, (part, group) in enumerate(zip(np.split(X, cuts), groups)):
        write(folder / f"part-{i}.parquet", part, NAMES, group)
    return folder


def as_file(X, folder):
    return write(folder / "one.parquet", X, NAMES)


def as_text(X, folder):
    return str(as_file(X, folder))


def as_folder(X, folder):
    return folder_of(X, folder / "parts")


def as_files(X, folder):
    return sorted(folder_of(X, folder / "parts").iterdir())


def as_dataset(X, folder):
    return ds.dataset(as_folder(X, folder), format="parquet")


def as_table(X, folder):
    return to_table(X, NAMES)


def as_chunks(X, folder):
    return pa.concat_tables([to_table(part, NAMES) for part in np.split(X, [1, 100, 101])])


def as_batch(X, folder):
    return to_table(X, NAMES).combine_chunks().to_batches()[0]


def as_reader(X, folder):
    table = to_table(X, NAMES)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=37))


KINDS = [as_file, as_text, as_folder, as_files, as_dataset, as_table, as_chunks, as_batch, as_reader]


@pytest.mark.parametrize("block_rows", [1000, 501, 100, 17])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_blocks_are_those_of_the_array(kind, block_rows, X, tmp_path):
    source = ParquetSource(kind(X, tmp_path), block_rows=block_rows)
    assert (source.n_rows, source.n_features, source.columns) == (501, 3, NAMES)
    expected = ArraySource(X, block_rows=block_rows)
    for _ in range(2):
        blocks = list(source)
        assert [len(b) for b in blocks] == [len(b) for b in expected]
        for block, other in zip(blocks, expected):
            np.testing.assert_array_equal(block.X, other.X)
            np.testing.assert_array_equal(block.weight, other.weight)
            np.testing.assert_array_equal(block.labels, other.labels)
            np.testing.assert_array_equal(block.patterns.missing, other.patterns.missing)
            assert block.X.flags.c_contiguous


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_are_mapped_in_order_on_any_number_of_threads(n_jobs, X, path):
    source = ParquetSource(path, block_rows=10, n_jobs=n_jobs)
    np.testing.assert_array_equal(np.concatenate(list(source.map(lambda block: block.X))), X)


def test_samples_are_those_of_the_array(X, path):
    drawn = [
        source.sample(40, np.random.default_rng(5)) for source in (ParquetSource(path, block_rows=30), ArraySource(X))
    ]
    np.testing.assert_array_equal(drawn[0].X, drawn[1].X)
    everything = ParquetSource(path).sample(10_000, np.random.default_rng(5))
    np.testing.assert_array_equal(everything.X, X)


def test_rows_are_taken_by_number(X, path):
    rows = np.array([0, 63, 64, 65, 300, 500])
    np.testing.assert_array_equal(ParquetSource(path, block_rows=64).take(rows).X, X[rows])


def test_as_source_knows_paths_and_arrow_data(X, path):
    assert isinstance(as_source(path), ParquetSource)
    assert isinstance(as_source(to_table(X)), ParquetSource)
    assert isinstance(as_source(X), ArraySource)
    assert not is_arrow(pytest.importorskip("pandas").DataFrame(X))


def test_a_stream_is_read_once_and_its_spool_goes_with_the_source(X, tmp_path):
    source = ParquetSource(as_reader(X, tmp_path), block_rows=50)
    spool = source._spool.name
    assert os.listdir(spool) == ["rows.arrow"]
    for _ in range(3):
        np.testing.assert_array_equal(rows_of(source), X)
    del source
    gc.collect()
    assert not os.path.exists(spool)


def test_float32_is_kept(X, tmp_path):
    source = ParquetSource(write(tmp_path / "f.parquet", X.astype(np.float32)))
    assert source.dtype == np.float32
    assert next(iter(source)).X.dtype == np.float32
    np.testing.assert_array_equal(rows_of(source), X.astype(np.float32))


def test_whole_numbers_and_yes_no_become_floats_and_null_becomes_nan():
    table = pa.table(
        {
            "small": pa.array([1, None, -3], pa.int8()),
            "large": pa.array([2**40, 5, None], pa.int64()),
            "count": pa.array([1, 2, 3], pa.uint16()),
            "yes": pa.array([True, False, None]),
            "sure": pa.array([True, False, True]),
            "half": pa.array(np.array([0.5, np.nan, 2.0], np.float32)),
        }
    )
    source = ParquetSource(table)
    assert source.dtype == np.float64
    expected = [[1, 2**40, 1, 1, 1, 0.5], [np.nan, 5, 2, 0, 0, np.nan], [-3, np.nan, 3, np.nan, 1, 2]]
    np.testing.assert_array_equal(rows_of(source), expected)


def test_nulls_in_some_chunks_only():
    table = pa.concat_tables(
        [pa.table({"n": pa.array(n, pa.int32()), "yes": pa.array(yes, pa.bool_())}) for n, yes in
         [([1, 2], [True, False]), ([None, 4], [None, True])]]
    )  # fmt: skip
    np.testing.assert_array_equal(rows_of(ParquetSource(table)), [[1, 1], [2, 0], [np.nan, np.nan], [4, 1]])


def test_columns_are_chosen_in_the_order_asked_for(X, path):
    source = ParquetSource(path, ["c", "a"], block_rows=33)
    assert source.n_features == 2
    np.testing.assert_array_equal(rows_of(source), X[:, [2, 0]])


def test_text_columns_are_left_out_unless_asked_for(X, tmp_path):
    path = write(tmp_path / "t.parquet", X, NAMES, note=pa.array(["x"] * len(X)))
    assert ParquetSource(path).columns == NAMES
    with pytest.raises(ValueError, match="column 'note' holds string, which is not a number"):
        ParquetSource(path, ["a", "note"])


def test_weights_and_labels_are_columns_that_are_no_features(X, tmp_path, rng):
    weight, labels = rng.integers(0, 3, len(X)), rng.integers(-1, 2, len(X))
    known = pa.array(labels, mask=labels < 0)
    path = write(tmp_path / "w.parquet", X, NAMES, w=pa.array(weight), y=known)
    source = ParquetSource(path, weight="w", labels="y", block_rows=77)
    assert source.columns == NAMES
    np.testing.assert_array_equal(np.concatenate([block.weight for block in source]), weight)
    np.testing.assert_array_equal(np.concatenate([block.labels for block in source]), labels)
    np.testing.assert_array_equal(source.eligible(), np.flatnonzero(weight))
    drawn = source.sample(50, np.random.default_rng(1))
    assert len(drawn) == 50
    assert drawn.weight.all()


# Estimators


def mixture(**settings):
    return GaussianMixture(2, **{"random_state": 0, "max_iter": 30, "tol": 1e-4, **settings})


def fitted_alike(found, expected, rtol=1e-10):
    for name in ("weights_", "means_", "covariances_"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=rtol)


@pytest.mark.parametrize("kind", [as_text, as_folder, as_table, as_dataset, as_reader], ids=lambda kind: kind.__name__)
def test_an_estimator_takes_a_path_or_arrow_data_for_an_array(kind, X, tmp_path):
    expected = mixture().fit(X)
    found = mixture().fit(kind(X, tmp_path))
    fitted_alike(found, expected)
    assert found.feature_names_in_.tolist() == NAMES
    assert found.n_features_in_ == 3


@pytest.mark.parametrize("method", ["predict", "predict_proba", "score_samples", "impute", "score", "bic"])
def test_results_for_a_path_are_those_for_the_array(method, X, path):
    model = mixture().fit(path)
    found = getattr(model, method)(path)
    with pytest.warns(UserWarning, match="valid feature names"):
        expected = getattr(model, method)(X)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert np.shape(found) == np.shape(expected)


def test_float32_results_are_float32(X, tmp_path):
    path = write(tmp_path / "f.parquet", X.astype(np.float32), NAMES)
    model = mixture().fit(path)
    assert model.means_.dtype == model.predict_proba(path).dtype == model.impute(path).dtype == np.float32


def test_weights_and_labels_of_a_path_are_named(X, tmp_path, rng):
    weight, labels = (
        rng.uniform(0.5, 2.0, len(X)),
        np.where(rng.random(len(X)) < 0.3, X[:, 0] > np.nanmean(X[:, 0]), -1),
    )
    path = write(tmp_path / "w.parquet", X, NAMES, w=pa.array(weight), y=pa.array(labels))
    found, expected = mixture().fit(path, "y", "w"), mixture().fit(X, labels, weight)
    fitted_alike(found, expected)
    # The file still has both columns, which are no features.
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_array_equal(found.predict(path), found.predict(X))


def test_columns_are_found_by_name(X, path, tmp_path):
    model = mixture().fit(path)
    turned = write(tmp_path / "turned.parquet", X[:, ::-1], NAMES[::-1], other=pa.array(np.ones(len(X))))
    np.testing.assert_allclose(model.predict_proba(turned), model.predict_proba(path), rtol=1e-12)
    np.testing.assert_array_equal(model.impute(turned), model.impute(path))
    frame = pytest.importorskip("pandas").DataFrame(X, columns=NAMES)
    np.testing.assert_array_equal(model.predict(frame), model.predict(path))
    fitted_alike(mixture().fit(frame), model)


def test_a_source_with_columns_in_another_order_is_not_taken_for_the_right_one(X, path):
    model = mixture().fit(path)
    with pytest.raises(ValueError, match="feature names"):
        model.predict_proba(ParquetSource(path, ["c", "b", "a"]))


def test_a_column_that_is_missing_at_prediction_is_named(X, path, tmp_path):
    less = write(tmp_path / "less.parquet", X[:, :2], NAMES[:2])
    with pytest.raises(ValueError, match=r"less\.parquet' has no column 'c'; it has a, b\."):
        mixture().fit(path).predict(less)


def test_the_number_of_features_must_match_where_there_are_no_names(X, tmp_path):
    less = write(tmp_path / "less.parquet", X[:, :2])
    with pytest.raises(ValueError, match="X has 2 features, but GaussianMixture is expecting 3 features"):
        mixture().fit(X).predict(less)


def test_refitting_to_an_array_forgets_the_names(X, path):
    model = mixture().fit(path).fit(X)
    assert not hasattr(model, "feature_names_in_")


def test_more_components_than_rows_of_a_path(X, tmp_path):
    with pytest.raises(ValueError, match=r"n_components = 9, n_samples = 4; use at most 4 components\."):
        GaussianMixture(9).fit(write(tmp_path / "few.parquet", X[:4]))


def test_a_memory_map_is_read_like_an_array(X, tmp_path):
    mapped = np.memmap(tmp_path / "rows.bin", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    fitted_alike(mixture().fit(mapped), mixture().fit(X), 0.0)
    source = ArraySource(mapped, block_rows=100)
    assert all(np.shares_memory(block.X, mapped) for block in source)
    np.testing.assert_array_equal(rows_of(source), X)


# Results in a stream


@pytest.mark.parametrize(
    ("method", "columns"),
    [
        ("predict", ["class"]),
        ("predict_proba", ["probability_0", "probability_1"]),
        ("score_samples", ["log_density"]),
        ("impute", NAMES),
    ],
)
@pytest.mark.parametrize("block_rows", [None, 40])
def test_results_written_to_a_file_are_those_returned(method, columns, block_rows, X, path, tmp_path):
    model = mixture().fit(path)
    rows, out = ParquetSource(path, block_rows=block_rows), tmp_path / "out.parquet"
    assert getattr(model, method)(rows, out=out) == out
    written = pq.read_table(out)
    assert written.column_names == columns
    expected = getattr(model, method)(path)
    found = np.column_stack([written.column(name).to_numpy() for name in columns])
    np.testing.assert_array_equal(found, expected.reshape(len(X), -1))
    assert sorted(os.listdir(tmp_path)) == ["out.parquet", "rows.parquet"]


def test_results_for_an_array_can_be_written_too(X, tmp_path):
    model = mixture().fit(X)
    model.impute(X, out=tmp_path / "out.parquet")
    np.testing.assert_array_equal(rows_of(ParquetSource(tmp_path / "out.parquet")), model.impute(X))
    assert pq.read_schema(tmp_path / "out.parquet").names == ["x0", "x1", "x2"]


@pytest.mark.parametrize("before", [None, b"what was there"])
def test_an_error_midway_leaves_the_file_as_it_was(before, X, tmp_path):
    model = mixture().fit(X)
    bad = np.nan_to_num(X)
    bad[400, 1] = np.inf
    out = tmp_path / "out.parquet"
    if before:
        out.write_bytes(before)
    with pytest.raises(ValueError, match="contains infinity"):
        model.predict_proba(ParquetSource(to_table(bad), block_rows=50), out=out)
    assert os.listdir(tmp_path) == (["out.parquet"] if before else [])
    assert not before or out.read_bytes() == before


def test_a_folder_that_does_not_exist_is_named(X, tmp_path):
    where = tmp_path / "nowhere"
    with pytest.raises(
        FileNotFoundError, match=f"the folder {re.escape(repr(str(where)))} does not exist; create it first"
    ):
        mixture().fit(X).predict(X, out=where / "out.parquet")


# Memory


def test_blocks_shrink_to_fit_the_memory():
    X = np.zeros((5000, 20))
    table, row = to_table(X), 20 * 8
    wide = ParquetSource(table, n_jobs=2)
    assert wide.block_rows == default_block_rows(20)
    memory = 1 << 20
    narrow = ParquetSource(table, n_jobs=2, memory=memory)
    assert 64 <= narrow.block_rows < wide.block_rows
    assert narrow.block_rows * row * (READ_AHEAD + 2 * 2) <= memory
    assert sizes(narrow)[0] == narrow.block_rows
    assert ParquetSource(table, memory=1).block_rows == 64
    assert ParquetSource(table, memory=1, block_rows=1000).block_rows == 1000


def test_reading_ahead_is_bounded(monkeypatch):
    source = ParquetSource(to_table(np.zeros((2000, 1))), block_rows=10)
    made, original = [], ParquetSource._batches

    def counted(self):
        for batch in original(self):
            made.append(batch)
            yield batch

    monkeypatch.setattr(ParquetSource, "_batches", counted)
    blocks = iter(source)
    for _ in range(3):
        next(blocks)
    threading.Event().wait(0.3)
    assert 3 <= len(made) <= 3 + READ_AHEAD + 1


# Threads


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_the_consumer_stops_the_reader(n_jobs, path):
    source = ParquetSource(path, block_rows=5, n_jobs=n_jobs)

    def fail(block):
        raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError):
        source.sum(fail)
    assert not readers()
    np.testing.assert_array_equal(source.sum(len), 501)


def test_a_loop_that_is_left_stops_the_reader(path):
    blocks = iter(ParquetSource(path, block_rows=5))
    next(blocks)
    assert len(readers()) == 1
    del blocks
    assert not readers()


def test_an_interrupted_fit_stops_the_reader(path):
    def stop(progress):
        raise KeyboardInterrupt

    model = mixture(callback=stop).fit(path)
    assert model.fit_.interrupted
    assert not readers()


# Bad input


def test_a_path_that_does_not_exist_is_named(X, path, tmp_path):
    missing = tmp_path / "none.parquet"
    for data in (missing, [path, missing]):
        with pytest.raises(FileNotFoundError, match=re.escape(f"there is no file or folder {str(missing)!r}.")):
            ParquetSource(data)
    with pytest.raises(FileNotFoundError, match=r"none\.parquet"):
        mixture().fit(str(missing))


@pytest.mark.parametrize("kept", [0, 3, 0.5, -1, -8])
def test_a_file_cut_short_is_named(kept, path):
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))] if 0 < kept < 1 else content[:kept])
    with pytest.raises(ValueError, match=r"rows\.parquet' cannot be read as Parquet"):
        ParquetSource(path)


def test_a_file_with_damaged_rows_is_named(tmp_path, rng):
    path = write(tmp_path / "rows.parquet", rng.normal(size=(4000, 3)))
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[100 : middle + 100] = bytes(middle)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"rows\.parquet' could not be read to its end"):
        rows_of(ParquetSource(path, block_rows=100))
    assert not readers()


def test_text_instead_of_parquet_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"rows\.csv' cannot be read as Parquet"):
        ParquetSource(path)


def two_files(folder, first, second):
    for name, table in (("1.parquet", first), ("2.parquet", second)):
        pq.write_table(pa.table(table), folder / name)
    return folder


@pytest.mark.parametrize("name", ["b", "t", "weight"])
def test_a_column_missing_from_one_file_is_named(name, tmp_path):
    data = two_files(tmp_path, {"a": [1.0, 2.0], name: [3.0, 4.0]}, {"a": [5.0, 6.0]})
    with pytest.raises(ValueError, match=rf"the file '.*2\.parquet' has no column '{name}', which others have"):
        ParquetSource(data)


def test_a_column_missing_from_the_first_file_is_named(tmp_path):
    data = two_files(tmp_path, {"a": [5.0, 6.0]}, {"a": [1.0, 2.0], "b": [3.0, 4.0]})
    with pytest.raises(ValueError, match=r"1\.parquet' has no column 'b'"):
        ParquetSource(data)


def test_a_missing_column_that_is_not_used_does_not_matter(tmp_path):
    data = two_files(tmp_path, {"a": [1.0, 2.0], "b": [3.0, 4.0]}, {"a": [5.0, 6.0]})
    np.testing.assert_array_equal(rows_of(ParquetSource(data, ["a"])).ravel(), [1, 2, 5, 6])


def test_files_with_columns_in_another_order_are_read_by_name(tmp_path):
    data = two_files(tmp_path, {"a": [1.0], "b": [2.0]}, {"b": [4.0], "a": [3.0]})
    np.testing.assert_array_equal(rows_of(ParquetSource(data)), [[1, 2], [3, 4]])


@pytest.mark.parametrize("bad", [1, 2])
def test_a_column_of_text_in_one_file_is_named(bad, tmp_path):
    tables = {"a": [1.0], "b": [2.0]}, {"a": [1.0], "b": ["two"]}
    data = two_files(tmp_path, *(tables if bad == 2 else tables[::-1]))
    with pytest.raises(ValueError, match=rf"column 'b' is string in the file '.*{bad}\.parquet' but double in others"):
        ParquetSource(data)


def test_files_with_whole_and_broken_numbers_keep_the_broken_ones(tmp_path):
    whole, broken = {"a": pa.array([1, 2], pa.int64())}, {"a": [0.1, 0.2]}
    for first, second, expected in ((whole, broken, [1, 2, 0.1, 0.2]), (broken, whole, [0.1, 0.2, 1, 2])):
        np.testing.assert_array_equal(rows_of(ParquetSource(two_files(tmp_path, first, second))).ravel(), expected)


def test_files_of_single_and_double_precision_keep_the_digits(tmp_path):
    single, double = {"a": pa.array([0.5], pa.float32())}, {"a": [0.1]}
    np.testing.assert_array_equal(rows_of(ParquetSource(two_files(tmp_path, single, double))).ravel(), [0.5, 0.1])


def test_a_file_without_rows_among_others_is_passed_over(X, tmp_path):
    folder = folder_of(X, tmp_path / "parts")
    for name in ("part-0a", "a-first", "z-last"):
        write(folder / f"{name}.parquet", X[:0], NAMES)
    np.testing.assert_array_equal(rows_of(ParquetSource(folder, block_rows=60)), X)


def test_no_rows_at_all(X, tmp_path):
    path = write(tmp_path / "none.parquet", X[:0], NAMES)
    for data in (path, tmp_path):
        with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\): '.*' has no rows"):
            ParquetSource(data)


def test_an_empty_folder(tmp_path):
    with pytest.raises(ValueError, match=re.escape(str(tmp_path))):
        ParquetSource(tmp_path)


def test_no_numeric_column(tmp_path):
    path = tmp_path / "text.parquet"
    pq.write_table(pa.table({"name": ["x", "y"], "day": pa.array([1, 2], pa.date32())}), path)
    with pytest.raises(ValueError, match=r"text\.parquet' has no numeric column; it has name, day\."):
        ParquetSource(path)


@pytest.mark.parametrize("setting", ["weight", "labels"])
def test_columns_of_weights_and_labels_must_exist(setting, path):
    with pytest.raises(ValueError, match=r"rows\.parquet' has no column 'zz'; it has a, b, c\."):
        ParquetSource(path, **{setting: "zz"})


@pytest.mark.parametrize("others", [[1.0], [np.nan], [-np.inf], []], ids=str)
def test_infinity_is_an_error(others):
    X = np.array([[1.0, 2.0], [np.inf, *(others or [3.0])]])
    with pytest.raises(
        ValueError, match="'Table' contains infinity in column 'x0'; replace it or leave the cell empty"
    ):
        rows_of(ParquetSource(to_table(X)))


@pytest.mark.parametrize("other", [1.0, np.nan])
def test_cells_too_large_to_be_squared_are_an_error(other):
    with pytest.raises(ValueError, match=r"column 'x1' of 'Table' holds .*1e\+200"):
        rows_of(ParquetSource(to_table(np.array([[1.0, other], [2.0, -1e200]]))))


@pytest.mark.parametrize(("value", "shown"), [(-1.0, "-1"), (np.nan, "nan"), (np.inf, "inf")])
def test_weights_that_make_no_sense_are_an_error(value, shown, X, tmp_path):
    weight = np.ones(len(X))
    weight[300] = value
    path = write(tmp_path / "w.parquet", X, NAMES, w=pa.array(weight, from_pandas=True))
    with pytest.raises(ValueError, match=f"holds {shown}; weights must be finite and not negative"):
        mixture().fit(path, sample_weight="w")


@pytest.mark.parametrize("label", [2, 10, -2, 0.5])
def test_labels_that_are_no_class_are_an_error(label, X, tmp_path):
    labels = np.zeros(len(X))
    labels[:10], labels[300] = -1, label
    path = write(tmp_path / "y.parquet", X, NAMES, y=pa.array(labels))
    with pytest.raises(ValueError, match=re.escape(f"{label:g}")):
        mixture().fit(path, "y")


@pytest.mark.parametrize("argument", ["y", "sample_weight"])
def test_an_array_beside_a_path_is_an_error(argument, X, path):
    with pytest.raises((ValueError, TypeError), match="column"):
        mixture().fit(path, **{argument: np.ones(len(X))})


@pytest.mark.parametrize("argument", ["y", "sample_weight"])
def test_weights_and_labels_beside_a_source_are_not_ignored(argument, X):
    with pytest.raises((ValueError, TypeError), match=argument):
        mixture().fit(ArraySource(X), **{argument: np.zeros(len(X)) + 1.0})


def test_a_column_without_any_value_is_an_error(X, tmp_path):
    X[:, 1] = np.nan
    with pytest.raises(ValueError, match=r"column 1.* has no observed value; drop it before fitting"):
        mixture().fit(write(tmp_path / "e.parquet", X, NAMES))
