"""Choosing models of sequences: `select`, `find_regimes`, what is left out to check them, and segments."""

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.mixture import GaussianMixture, select
from tacit.notes import NoteError
from tacit.sequence import Clock, HiddenMarkovModel, find_regimes, segment
from tacit.sequence.trial import try_ahead, try_hidden
from tacit.tables import open_table


def steps(seed=0, lengths=(40, 30, 50), levels=(0.0, 6.0, 0.0)):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(level, 1.0, n) for level, n in zip(levels, lengths)])


def frame(seed=0, start="2020-01-06", **columns):
    x = steps(seed)
    return pd.DataFrame({"day": pd.date_range(start, periods=len(x)), "x": x} | columns)


def test_select_over_states_and_structures():
    x = steps()[:, None]
    found = select(
        HiddenMarkovModel(random_state=0), x, n_components=[1, 2, 3], transitions=["free", "next"], duration=[None, 3]
    )
    assert found.best_settings["n_components"] == 2
    assert found.best_settings["transitions"] == "free"  # the series comes back, which "next" does not allow
    assert len(found.table) == 12
    assert all(row["failed"] is None for row in found.table)
    row = found.table[0]
    assert row["bic"] == pytest.approx(found.best.bic(x))
    assert row["icl"] == pytest.approx(found.best.icl(x))


def test_select_keeps_sequences_apart():
    parts = [steps(seed)[:, None] for seed in range(3)]
    X, lengths = np.concatenate(parts), [len(part) for part in parts]
    model = HiddenMarkovModel(random_state=0)
    by_lengths = select(model, X, n_components=[2], lengths=lengths)
    by_list = select(model, parts, n_components=[2])
    assert by_lengths.table[0]["log_likelihood"] == pytest.approx(by_list.table[0]["log_likelihood"])
    together = select(model, X, n_components=[2])
    assert together.table[0]["log_likelihood"] != pytest.approx(by_list.table[0]["log_likelihood"], abs=1e-3)
    with pytest.raises(ValueError, match="GaussianMixture takes no lengths; its rows are no steps of sequences"):
        select(GaussianMixture(), X, lengths=lengths)
    with pytest.raises(ValueError, match=r"lengths add up to 5, but X has 360 rows"):
        select(model, X, lengths=[5])


def test_select_keeps_the_clock_for_forecasts():
    table = frame()
    found = select(HiddenMarkovModel(time="day", random_state=0), table, n_components=[1, 2])
    assert found.best.clock_ == Clock("day", 1.0, True)
    ahead = found.best.forecast(table, 2)
    assert ahead.time[0].tolist() == [float(table.day.iloc[-1].value // 86400 // 10**9) + h for h in (1, 2)]


def test_a_table_that_is_open_is_as_a_frame(tmp_path):
    table = frame(kind=["a", "b"] * 60).drop(index=[7, 8])
    table.to_csv(tmp_path / "t.csv", index=False)
    model = HiddenMarkovModel(2, time="day", random_state=0, smoothing=0.5)
    opened = open_table(tmp_path / "t.csv")
    from_file, from_frame = (model.__class__(**model.get_params()).fit(X) for X in (opened, table))
    np.testing.assert_allclose(from_file.transmat_, from_frame.transmat_, rtol=1e-6)
    np.testing.assert_allclose(from_file.predict_proba(opened), from_frame.predict_proba(table), atol=1e-8)
    with pytest.raises(ValueError, match="the table has no column 'when'; it has day, x, kind"):
        HiddenMarkovModel(2, time="when").fit(opened)


def test_segments_are_stretches_of_the_likeliest_path():
    table = frame().drop(index=[5, 6])
    model = HiddenMarkovModel(2, time="day", random_state=0).fit(table)
    found = segment(model, table)
    assert len(found) == 120
    assert (found.row < 0).sum() == 2
    assert np.isnan(found.cells[5:7]).all()
    np.testing.assert_array_equal(found.states[found.row >= 0], model.predict(table))
    np.testing.assert_allclose(found.probability[found.row >= 0], model.predict_proba(table))
    rows = found.table()
    assert rows["length"] == [40, 30, 50]
    assert rows["start"] == ["2020-01-06", "2020-02-15", "2020-03-16"]
    assert rows["end"][-1] == "2020-05-04"
    own = found.probability[:40, found.states[0]].mean()
    assert rows["probability"][0] == pytest.approx(own)
    assert segment(HiddenMarkovModel(2, random_state=0).fit(steps()[:, None]), steps()[:, None]).table()["start"] == [
        1,
        41,
        71,
    ]


def test_the_number_of_regimes_is_chosen_and_states_are_ordered():
    found = find_regimes(frame(), states=range(1, 4))
    assert found.model.n_components == 2
    assert found.model.time == "day"
    assert [note.code for note in found.notes] == ["time"]
    assert found.model.weights_[0] > found.model.weights_[1]
    np.testing.assert_allclose(found.model.weights_, [90 / 120, 30 / 120], atol=0.01)
    means = found.model.describe()["x"]["mean"]
    assert means[0] == pytest.approx(0.0, abs=0.5)
    assert means[1] == pytest.approx(6.0, abs=0.5)
    alone = find_regimes({"x": np.random.default_rng(0).normal(size=80)})
    assert alone.model.n_components == 1
    assert [note.code for note in alone.notes] == ["no_time"]


def test_irregular_times_are_continuous_time():
    x = steps()
    table = {"t": np.cumsum(np.random.default_rng(1).exponential(1.0, len(x))), "x": x}
    found = find_regimes(table, states=[2], check=False)
    assert found.model.continuous_time
    assert found.notes[-1].code == "irregular"
    with pytest.raises(NoteError, match="duration counts steps, and times lie on no regular grid; leave it out"):
        find_regimes(table, duration=3)


def test_bad_input_is_told():
    table = frame(id="a", other=pd.date_range("2021-01-01", periods=120))
    with pytest.raises(NoteError, match="'day' and 'other' may both tell the time of a row; say which does with time"):
        find_regimes(table)
    twice = pd.DataFrame({"year": np.repeat(np.arange(2000, 2030), 4), "x": steps()})
    fault = (
        r"'year' is taken as the time of a row, but the sequence has two rows at year = 2000; .* by ignore=\['year'\]"
    )
    with pytest.raises(NoteError, match=fault):
        find_regimes(twice)
    with pytest.raises(NoteError, match="has no column 'who', which sequence names"):
        find_regimes(table, sequence="who")
    with pytest.raises(NoteError, match="every sequence that 'day' names has one row"):
        find_regimes(frame(), sequence="day")
    with pytest.raises(NoteError, match=r"states=.* is none of 1 to 120, the number of rows"):
        find_regimes(frame(), states=[500])
    with pytest.raises(ValueError, match=r"the sequence has two rows at day = 2020-01-06"):
        find_regimes(pd.concat([frame(), frame(1)]), time="day")
    with pytest.raises(NoteError, match=r"has no column to find regimes by: day .tells the time of a row., c"):
        find_regimes(pd.DataFrame({"day": pd.date_range("2020-01-01", periods=9), "c": 1.0}), time="day")


def test_held_out_values_are_inside_intervals_as_often_as_promised():
    """Coverage of one step ahead and of hidden cells, where the model holds."""
    inside = {"ahead": [], "hidden": []}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        states, z = [], 0
        for _ in range(150):
            z = z if rng.random() < 0.95 else 1 - z
            states.append(z)
        x = rng.normal(3.0 * np.array(states), 1.0)
        x[rng.random(150) < 0.1] = np.nan
        model = HiddenMarkovModel(2, random_state=seed)
        source = model._open(x[:, None], reset=True)
        for name, trial in (
            ("ahead", try_ahead(model, source, 0.8, seed)),
            ("hidden", try_hidden(model, source, 0.8, seed)),
        ):
            inside[name].append((round(trial.covered * trial.n), trial.n))
            assert trial.error < trial.mean_error + 0.3
    for counts in inside.values():
        hit, n = np.sum(counts, axis=0)
        assert 0.72 < hit / n < 0.88


def test_nothing_is_tried_on_few_steps():
    model = HiddenMarkovModel(1)
    source = model._open(np.arange(8.0)[:, None], reset=True)
    assert try_ahead(model, source) is None
    assert try_hidden(model, source) is None


def test_models_are_saved_with_their_clock(tmp_path):
    table = frame(kind=["a", "b"] * 60)
    found = find_regimes(table, states=[2], check=False)
    tacit.save(found.model, tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    np.testing.assert_array_equal(again.predict(table), found.model.predict(table))
    np.testing.assert_array_equal(again.forecast(table, 3).time, found.model.forecast(table, 3).time)
