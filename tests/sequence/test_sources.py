"""Hidden Markov models from every kind of source: the same rows give the same model, wherever they are."""

import importlib.util

import numpy as np
import pytest

from tacit.families import DiagonalGaussian
from tacit.sequence import HiddenMarkovModel
from tacit.sequence.model import ChainModel
from tacit.sequence.structure import Structure
from tacit.testing import check_sources

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")  # pa.parquet is there once it is imported

LENGTHS = [40, 1, 75, 30, 60, 25]
pytestmark = pytest.mark.filterwarnings("ignore:Best performing initialization did not converge")
SETTINGS = {"random_state": 0, "max_iter": 5, "tol": 0.0}


def walk(holes=0.05):
    """Steps of sequences in two states, some cells missing, and the states."""
    rng = np.random.default_rng(3)
    state = np.concatenate([(rng.random(n) < 0.1).cumsum() % 2 for n in LENGTHS])
    X = rng.normal(size=(len(state), 2)) + 3.0 * state[:, None]
    X[rng.random(X.shape) < holes] = np.nan
    return X, state


@pytest.fixture(scope="module")
def diary():
    """A long table: text names of sequences, days, two measurements, a weight by sequence and known states of some steps."""
    X, state = walk()
    name = np.repeat([f"s{u}" for u in range(len(LENGTHS))], LENGTHS)
    day = np.concatenate([np.arange(n) for n in LENGTHS])
    known = np.where(np.arange(len(X)) % 7 == 0, state, -1)
    weight = np.repeat([1.0, 2.0, 0.5, 1.0, 3.0, 1.0], LENGTHS)
    return pd.DataFrame(
        {"who": name, "day": day, "x": X[:, 0], "y": X[:, 1], "state": known, "weight": weight}
    )  # fmt: skip


def on_disk(table, folder, **how):
    path = str(folder / "steps.parquet")
    pa.parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), path, row_group_size=50, **how)
    return path


def same(a, b, rtol=1e-9):
    for name in ("startprob_", "transmat_", "weights_"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=1e-12, err_msg=name)
    assert a.fit_.trace.objectives[-1] == pytest.approx(b.fit_.trace.objectives[-1], rel=max(1e-10, 1e-3 * rtol))


@pytest.mark.parametrize("labelled", [False, True])
def test_the_model_learns_the_same_from_every_source(labelled):
    X, state = walk()
    unit = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
    weight = np.repeat([1.0, 2.0, 0.5, 0.0, 3.0, 1.0], LENGTHS) if labelled else None
    labels = np.where(np.arange(len(X)) % 5 == 0, state, -1) if labelled else None
    check_sources(ChainModel(DiagonalGaussian(), Structure(2)), X, unit=unit, weight=weight, labels=labels)


def test_lengths_lists_and_tables_are_the_same_rows(diary):
    X = diary[["x", "y"]].to_numpy()
    parts = np.split(X, np.cumsum(LENGTHS)[:-1])
    expected = HiddenMarkovModel(2, **SETTINGS).fit(X, lengths=LENGTHS)
    same(HiddenMarkovModel(2, **SETTINGS).fit(parts), expected)
    same(HiddenMarkovModel(2, **SETTINGS).fit([pd.DataFrame(part) for part in parts]), expected)
    rows = diary[["who", "day", "x", "y"]]
    named = HiddenMarkovModel(2, sequence="who", time="day", **SETTINGS)
    mixed = rows.sample(frac=1.0, random_state=1)
    tables = [rows, pa.Table.from_pandas(rows, preserve_index=False)]
    if importlib.util.find_spec("polars"):
        import polars as pl

        tables.append(pl.from_pandas(rows))
    for table in tables:
        found = named.fit(table)
        same(found, expected, 1e-5)  # which began elsewhere
        np.testing.assert_array_equal(found.predict(table), expected.predict(X, lengths=LENGTHS))
    # In any order of the rows, but for that of the sequences: that tells the numbers of what is drawn.
    mixed = mixed.iloc[np.argsort(mixed["who"].to_numpy(), kind="stable")]
    same(named.fit(mixed), expected, 1e-5)
    inverse = np.argsort(mixed.index.to_numpy())
    np.testing.assert_array_equal(named.predict(mixed)[inverse], expected.predict(X, lengths=LENGTHS))


@pytest.mark.parametrize("kind", ["parquet", "dataset", "dask"])
@pytest.mark.parametrize("told", [False, True])
def test_streams_of_rows_with_names_times_weights_and_labels(kind, told, diary, tmp_path):
    table = diary if told else diary[["who", "day", "x", "y"]]
    streamed, more = on_disk(table, tmp_path), {"y": "state", "sample_weight": "weight"} if told else {}
    if kind == "dataset":
        streamed = pa.dataset.dataset(streamed)
    if kind == "dask":
        dask = pytest.importorskip("dask.dataframe")
        streamed = dask.from_pandas(table, npartitions=3, sort=False)
    found = HiddenMarkovModel(2, sequence="who", time="day", **SETTINGS).fit(streamed, **more)
    held = {"y": diary["state"].to_numpy(), "sample_weight": diary["weight"].to_numpy()} if told else {}
    rows = diary[["who", "day", "x", "y"]]
    expected = HiddenMarkovModel(2, sequence="who", time="day", **SETTINGS).fit(rows, **held)
    same(found, expected)
    assert found.clock_ == expected.clock_
    bare = streamed if not told else on_disk(rows, tmp_path) if kind != "dask" else streamed[["who", "day", "x", "y"]]
    np.testing.assert_array_equal(found.predict(bare), expected.predict(rows))
    np.testing.assert_allclose(found.predict_proba(bare), expected.predict_proba(rows), atol=1e-8)
    assert found.score(bare) == pytest.approx(expected.score(rows), rel=1e-10)


def test_dates_in_a_file_and_one_sequence_without_a_name(diary, tmp_path):
    rows = diary[["x", "y"]].assign(when=pd.date_range("2024-01-01", periods=len(diary), freq="D"))
    found = HiddenMarkovModel(2, time="when", **SETTINGS).fit(on_disk(rows, tmp_path))
    expected = HiddenMarkovModel(2, time="when", **SETTINGS).fit(rows)
    same(found, expected)
    assert found.clock_ == expected.clock_
    assert found.clock_.dated
    np.testing.assert_array_equal(found.predict(on_disk(rows, tmp_path)), expected.predict(rows))


def test_irregular_times_in_a_file(diary, tmp_path):
    rng = np.random.default_rng(0)
    rows = diary[["who", "x", "y"]].assign(at=np.cumsum(rng.exponential(size=len(diary))))
    settings = SETTINGS | {"sequence": "who", "time": "at", "continuous_time": True}
    same(
        HiddenMarkovModel(2, **settings).fit(on_disk(rows, tmp_path)), HiddenMarkovModel(2, **settings).fit(rows), 1e-7
    )


def test_predictions_for_a_file_go_to_a_file(diary, tmp_path):
    rows = diary[["who", "day", "x", "y"]]
    path, out = on_disk(rows, tmp_path), str(tmp_path / "out.parquet")
    model = HiddenMarkovModel(2, sequence="who", time="day", **SETTINGS).fit(path)
    assert model.predict(path, out=out) == out
    np.testing.assert_array_equal(pa.parquet.read_table(out).column(0).to_numpy(), model.predict(rows))
    model.predict_proba(path, out=out)
    found = pa.parquet.read_table(out).to_pandas()
    assert list(found) == ["state_0", "state_1"]
    np.testing.assert_allclose(found.to_numpy(), model.predict_proba(rows), atol=1e-9)
    turned = rows.iloc[::-1]
    model.predict(turned, out=out)
    np.testing.assert_array_equal(pa.parquet.read_table(out)["state"].to_numpy(), model.predict(turned))
    model.set_params(algorithm="map").predict(path, out=out)
    np.testing.assert_array_equal(pa.parquet.read_table(out)["state"].to_numpy(), model.predict(rows))


def test_what_streams_cannot_tell_is_refused(diary, tmp_path):
    rows = diary[["who", "day", "x", "y"]]
    model = HiddenMarkovModel(2, sequence="who", time="day", **SETTINGS)
    with pytest.raises(
        ValueError, match=r"row 10 is 2 steps of 1 step after the row before it in its sequence.*gaps='ignore'"
    ):
        model.fit(on_disk(rows.drop(index=10), tmp_path))
    model.set_params(gaps="ignore").fit(on_disk(rows.drop(index=10), tmp_path))
    model.set_params(gaps="missing")
    turned = rows.iloc[[1, 0, *range(2, len(rows))]]
    with pytest.raises(ValueError, match="row 1 has day = 0 after 1 in its sequence; rows of files must be sorted"):
        model.fit(on_disk(turned, tmp_path))
    apart = rows.iloc[[*range(100, len(rows)), *range(100)]]
    with pytest.raises(ValueError, match="the rows of unit 's2' do not lie together; sort the rows by unit"):
        model.fit(on_disk(apart, tmp_path))
    uneven = diary.drop(columns="state").assign(weight=np.arange(len(diary)) + 1.0)
    with pytest.raises(ValueError, match="sample_weight holds 1 and 2 in one sequence; a sequence has one weight"):
        model.fit(on_disk(uneven, tmp_path), sample_weight="weight")
    with pytest.raises(ValueError, match="name the column that tells them apart by sequence='…'"):
        HiddenMarkovModel(2).fit(on_disk(rows, tmp_path))


def test_tensors(diary):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    X = diary[["x", "y"]].to_numpy()
    given = {"lengths": LENGTHS, "y": diary["state"].to_numpy(), "sample_weight": [1.0, 2.0, 0.5, 1.0, 3.0, 1.0]}
    found, expected = (HiddenMarkovModel(2, **SETTINGS).fit(each, **given) for each in (torch.tensor(X), X))
    same(found, expected)
    rows = torch.tensor(X)
    for name in ("predict", "predict_proba", "filter", "predict_pairs"):
        ours, theirs = (getattr(expected, name)(each, lengths=LENGTHS) for each in (rows, X))
        np.testing.assert_allclose(ours, theirs, atol=1e-10, err_msg=name)
    draws = [expected.sample_paths(each, 3, lengths=LENGTHS, random_state=0) for each in (rows, X)]
    np.testing.assert_array_equal(*draws)
