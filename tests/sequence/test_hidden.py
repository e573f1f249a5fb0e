"""`HiddenMarkovModel` as its users meet it: tables with times, labels, constraints, forecasts, missing cells, bad input."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm

import tacit
from tacit.datasets import load
from tacit.mixture import Mixture
from tacit.sequence import CategoricalHMM, GaussianHMM, HiddenMarkovModel, PoissonHMM
from tacit.source import Block

MOVE = np.array([[0.95, 0.05], [0.1, 0.9]])


def walk(n, rng, move=MOVE):
    states = [0]
    for _ in range(n - 1):
        states.append(int(rng.random() < move[states[-1], 1]))
    return np.array(states)


@pytest.fixture(scope="module")
def diary():
    """Two people, days in a mixed order, some missing altogether, a measurement with missing cells and a category."""
    rng = np.random.default_rng(0)
    parts = []
    for who in ("ann", "bob"):
        days = np.delete(np.arange(300), [50, 51, 52, 200])
        states = walk(300, rng)[days]
        mood = rng.normal(3.0 * states, 1.0)
        mood[rng.random(296) < 0.1] = np.nan
        kind = np.where(rng.random(296) < 0.2 + 0.6 * states, "out", "in")
        date = [datetime.date(2024, 1, 1) + datetime.timedelta(int(day)) for day in days]
        parts.append(pd.DataFrame({"who": who, "date": pd.to_datetime(date), "mood": mood, "kind": kind, "z": states}))
    return pd.concat(parts).sample(frac=1.0, random_state=0, ignore_index=True)


SETTINGS = {"sequence": "who", "time": "date", "random_state": 0}


@pytest.fixture(scope="module")
def fitted(diary):
    return HiddenMarkovModel(2, **SETTINGS).fit(diary.drop(columns="z"))


def test_a_long_table_in_any_order(diary, fitted):
    X = diary.drop(columns="z")
    assert fitted.clock_.unit == "day"
    low = np.argmin(fitted.describe()["mood"]["mean"])
    assert ((fitted.predict(X) != low) == diary["z"]).mean() > 0.93
    ordered = X.sort_values(["who", "date"])
    np.testing.assert_array_equal(fitted.predict(X)[ordered.index], fitted.predict(ordered))
    same = HiddenMarkovModel(2, **SETTINGS).fit(pl.from_pandas(ordered))
    np.testing.assert_allclose(same.transmat_, fitted.transmat_, rtol=1e-6)
    proba = fitted.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert fitted.filter(X).shape == proba.shape == (len(X), 2)
    assert fitted.predict_pairs(X).shape == (len(X), 2, 2)


def test_steps_that_times_leave_out_are_steps_without_observations(diary, fitted):
    X = diary.drop(columns="z")
    grid = pd.MultiIndex.from_product([["ann", "bob"], pd.date_range("2024-01-01", periods=300)], names=["who", "date"])
    whole = X.set_index(["who", "date"]).reindex(grid).reset_index()
    expected = fitted.predict_proba(whole)
    at = whole.merge(X.assign(row=np.arange(len(X))), on=["who", "date"], how="left")["row"].to_numpy()
    real = ~np.isnan(at)
    np.testing.assert_allclose(fitted.predict_proba(X)[at[real].astype(int)], expected[real], atol=1e-10)
    ignoring = HiddenMarkovModel(2, **SETTINGS, gaps="ignore").fit(X)
    assert np.abs(ignoring.predict_proba(X) - fitted.predict_proba(X)).max() > 1e-4


def test_forecast_of_a_table(diary, fitted):
    X = diary.drop(columns="z")
    found = fitted.forecast(X, 50, interval=0.8)
    assert found.names == list(X["who"].unique())
    assert found.time[0, 0] == (datetime.date(2024, 1, 1) - datetime.date(1970, 1, 1)).days + 300
    assert "kind: in (" in repr(found)
    assert "mood: " in repr(found)
    assert (found.low[..., 0] < found.mean[..., 0]).all()
    # In the long run, what is known of the last step is forgotten.
    np.testing.assert_allclose(found.states[0, -1], fitted.get_stationary_distribution(), atol=0.02)


def test_one_step_ahead(diary, fitted):
    X = diary.drop(columns="z")
    ahead = fitted.predictive(X)
    np.testing.assert_allclose(ahead.log_density, fitted.score_samples(X))
    seen = X["mood"].notna().to_numpy()
    low, high = ahead.interval(0.9)
    covered = (low[seen, 0] <= X["mood"][seen]) & (X["mood"][seen] <= high[seen, 0])
    assert 0.87 < covered.mean() < 0.94
    np.testing.assert_allclose(fitted.score(X), ahead.log_density.mean())


def test_missing_cells_are_told_by_their_neighbours(diary, fitted):
    X = diary.drop(columns="z")
    filled = fitted.impute(X, interval=0.9)
    holes = X["mood"].isna().to_numpy()
    state = diary["z"].to_numpy()
    truth = 3.0 * state[holes]
    error = np.abs(filled.filled["mood"].to_numpy()[holes] - truth).mean()
    alone = Mixture(2, random_state=0).fit(X[["mood", "kind"]]).impute(X[["mood", "kind"]])["mood"].to_numpy()
    assert error < 0.6 * np.abs(alone[holes] - truth).mean()
    drawn = fitted.draw_missing(X, 3, random_state=0)
    assert len(drawn) == 3
    assert not drawn[0]["mood"].isna().any()
    assert (drawn[0]["mood"][~holes] == X["mood"][~holes]).all()


def test_saved_and_loaded(diary, fitted, tmp_path):
    X = diary.drop(columns="z")
    tacit.save(fitted, tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(again.forecast(X, 3).low, fitted.forecast(X, 3).low)


@pytest.mark.parametrize("how", ["lengths", "list"])
def test_lengths_and_lists_are_the_same_sequences(how):
    rng = np.random.default_rng(0)
    states = np.concatenate([walk(n, rng) for n in (100, 1, 59)])
    X = rng.normal(4.0 * states, 1.0)[:, None]
    base = HiddenMarkovModel(2, random_state=0).fit(X, lengths=[100, 1, 59])
    if how == "list":
        other = HiddenMarkovModel(2, random_state=0).fit(np.split(X, [100, 101]))
    else:
        table = pd.DataFrame({"s": np.repeat(["x", "y", "z"], [100, 1, 59]), "v": X[:, 0]})
        other = HiddenMarkovModel(2, random_state=0, sequence="s").fit(table)
    np.testing.assert_allclose(other.transmat_, base.transmat_, rtol=1e-9)
    np.testing.assert_allclose(other.startprob_, base.startprob_, atol=1e-9)


def test_some_states_known():
    rng = np.random.default_rng(0)
    states = walk(400, rng)
    X = rng.normal(1.5 * states, 1.0)[:, None]
    y = np.where(rng.random(400) < 0.3, 1 - states, -1)  # states are called by the other name
    model = HiddenMarkovModel(2, random_state=0).fit(X, y)
    assert (model.predict(X) == 1 - states).mean() > 0.85
    by_name = np.where(y < 0, None, np.array(["calm", "wild"], dtype=object)[np.maximum(y, 0)])
    named = HiddenMarkovModel(2, random_state=0).fit(X, by_name)
    assert set(named.classes_) == {"calm", "wild"}


def test_moves_that_are_not_allowed_stay_impossible():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal([0, 3, 6][k], 1.0, (30, 1)) for _ in range(4) for k in range(3)])
    lengths = [90] * 4
    model = HiddenMarkovModel(3, transitions="next", random_state=0).fit(X, lengths=lengths)
    assert (model.transmat_[~np.isin(np.arange(3) - np.arange(3)[:, None], [0, 1])] == 0).all()
    assert model.startprob_.tolist() == [1.0, 0.0, 0.0]
    assert (np.diff(model.predict(X[:90])) >= 0).all()
    np.testing.assert_allclose(model.describe()["0"]["mean"] if "0" in model.describe() else model.describe()[0]["mean"],
                               [0, 3, 6], atol=0.4)  # fmt: skip
    around = HiddenMarkovModel(3, transitions="cyclic", random_state=0).fit(X)
    assert (np.count_nonzero(around.transmat_ > 0, axis=1) == 2).all()
    band = HiddenMarkovModel(3, transitions=1, random_state=0).fit(X)
    assert band.transmat_[0, 2] == band.transmat_[2, 0] == 0


def test_a_sticky_prior_makes_states_last():
    rng = np.random.default_rng(0)
    X = rng.normal(6.0 * rng.integers(2, size=100), 1.0)[:, None]  # states without memory
    loose = HiddenMarkovModel(2, random_state=0).fit(X)
    sticky = HiddenMarkovModel(2, sticky=100.0, random_state=0).fit(X)
    assert np.diag(sticky.transmat_).min() > 0.7 > np.diag(loose.transmat_).max()


@pytest.mark.parametrize("duration", [4, [1, 6], ("negative_binomial", 3), ("any", 20)])
def test_durations(duration):
    rng = np.random.default_rng(0)
    stays = rng.integers(8, 13, 60)
    states = np.repeat(np.arange(60) % 2, stays)
    X = rng.normal(2.0 * states, 1.0)[:, None]
    plain = HiddenMarkovModel(2, random_state=0).fit(X)
    model = HiddenMarkovModel(2, duration=duration, random_state=0).fit(X)
    assert model.score(X) > plain.score(X) - 0.02
    np.testing.assert_allclose(model.stays().mean(), 10.0, rtol=0.2)
    runs = np.diff(np.flatnonzero(np.diff(model.predict(X), prepend=-1, append=-1)))
    if duration == 4:
        assert runs[:-1].min() >= 4
    if duration == ("any", 20):
        assert model.durations_.shape == (2, 20)
        assert model.durations_[:, 7:12].sum(axis=1).min() > 0.9
        assert model.score(X) > plain.score(X)
    share = model.get_stationary_distribution()
    np.testing.assert_allclose(share, [0.5, 0.5], atol=0.1)


def test_irregular_times_need_rates():
    rng = np.random.default_rng(1)
    times = np.cumsum(rng.exponential(1.0, 500))
    states = walk(500, rng)
    table = pd.DataFrame({"t": times, "v": rng.normal(4.0 * states, 1.0)})
    with pytest.raises(ValueError, match=r"multiples of no step; use continuous_time=True, or gaps='ignore'"):
        HiddenMarkovModel(2, time="t").fit(table)
    model = HiddenMarkovModel(2, time="t", continuous_time=True, random_state=0).fit(table)
    np.testing.assert_allclose(model.generator_.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(model.transmat_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.stays(), -1.0 / np.diag(model.generator_))
    assert model.forecast(table, 2, times=[0.5, 10.0]).time[0, 0] == times[-1] + 0.5
    share = model.get_stationary_distribution()
    np.testing.assert_allclose(share @ model.generator_, 0.0, atol=1e-10)


def test_what_is_held_is_not_learned():
    rng = np.random.default_rng(0)
    X = rng.normal(3.0 * walk(200, rng), 1.0)[:, None]
    model = HiddenMarkovModel(2, fixed=("transitions",), random_state=0)
    model.transmat_ = MOVE
    np.testing.assert_array_equal(model.fit(X).transmat_, MOVE)
    with pytest.raises(ValueError, match="keeps startprob_, which is not set; set it before fit"):
        HiddenMarkovModel(2, fixed=("start",)).fit(X)


def test_states_that_look_alike():
    rng = np.random.default_rng(0)
    states = np.tile(np.repeat([0, 1, 2, 1], [20, 5, 20, 15]), 8)
    X = rng.normal(np.array([0.0, 4.0, 8.0])[states], 1.0)[:, None]
    model = HiddenMarkovModel(4, emissions=[0, 1, 2, 1], random_state=0).fit(X)
    mean = next(iter(model.describe().values()))["mean"]
    assert mean[1] == mean[3]
    np.testing.assert_allclose(np.unique(mean.round(6)), [0.0, 4.0, 8.0], atol=0.4)


def test_partial_fit_learns_from_batches_of_sequences():
    rng = np.random.default_rng(0)
    model = HiddenMarkovModel(2, random_state=0)
    for _ in range(12):
        states = np.concatenate([walk(100, rng) for _ in range(4)])
        model.partial_fit(rng.normal(4.0 * states, 1.0)[:, None], lengths=[100] * 4)
    order = np.argsort(next(iter(model.describe().values()))["mean"])
    np.testing.assert_allclose(model.transmat_[np.ix_(order, order)], MOVE, atol=0.04)


# Intervals


@pytest.mark.parametrize("n", [20, pytest.param(60, marks=pytest.mark.full), pytest.param(300, marks=pytest.mark.full)])
def test_intervals_of_forecasts_and_fills_hold_what_they_promise(n):
    """90 % intervals of the next three steps and of missing cells: how probable the truth makes it that they hold their cells."""
    rng, move, ahead, filled = np.random.default_rng(n), np.array([[0.8, 0.2], [0.3, 0.7]]), [], []
    for _ in range(80):
        states = walk(n, rng, move)
        holes = rng.choice(np.arange(1, n - 1), max(n // 10, 1), replace=False)
        seen = rng.normal(3.0 * states, 1.0)[:, None]
        seen[holes] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = HiddenMarkovModel(2, covariance_type="tied", random_state=0).fit(seen)
        found, fill = model.forecast(seen, 3), model.impute(seen, interval=0.9)
        now = np.stack([np.linalg.matrix_power(move, h)[states[-1]] for h in (1, 2, 3)])
        ahead.append((now * held(found.low[0], found.high[0], np.array([0.0, 3.0]))).sum(axis=1))
        told = holes[~np.isnan(fill.low[holes, 0])]  # a state of next to no rows says nothing
        filled.append(held(fill.low[told, 0], fill.high[told, 0], 3.0 * states[told]))
    assert 0.85 <= np.mean(ahead) <= 0.93
    assert 0.85 <= np.mean(np.concatenate(filled)) <= 0.93


def held(low, high, mean):
    """The probability that an interval holds a draw from N(mean, 1)."""
    return norm.cdf(high - mean) - norm.cdf(low - mean)


# Bad input


@pytest.mark.parametrize(("settings", "message"), [
    ({"duration": 0}, r"duration=0 must be a number of steps, one for each of the 2 states"),
    ({"transitions": np.zeros((2, 2))}, r"state 0 may not be followed by any; allow it a move at least"),
    ({"transitions": "backwards"}, r"transitions='backwards'"),
    ({"fixed": ("all",)}, r"fixed names 'all'; use a tuple of 'start', 'transitions', 'emissions'"),
    ({"start": 5}, r"start=5"),
    ({"start": "stationary", "duration": 3}, r"start='stationary' is of chains in steps without durations"),
    ({"emissions": [0, 2]}, r"emissions=\[0, 2\] must number what states look like from 0"),
    ({"continuous_time": True}, r"continuous_time=True needs the time of every step"),
    ({"transition_prior": 0.5}, r"transition_prior=0.5 must be a number from 1"),
    ({"gaps": "fill"}, r"gaps='fill'"),
    ({"algorithm": "best"}, r"algorithm='best'"),
    ({"time": "when"}, r"column 'when' is to tell of sequences, but X has no named columns"),
])  # fmt: skip
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        HiddenMarkovModel(2, **settings).fit(np.random.default_rng(0).normal(size=(20, 1)))


X10 = np.random.default_rng(0).normal(size=(10, 1))


@pytest.mark.parametrize(("X", "given", "message"), [
    (X10, {"lengths": [5, 4]}, r"lengths add up to 9, but X has 10 rows"),
    (X10, {"lengths": [10, 0]}, r"lengths holds 0 at place 1; every sequence has a step at least"),
    (X10, {"lengths": [5.5, 4.5]}, r"must be whole numbers"),
    ([X10, np.zeros((0, 1))], {}, r"sequence 1 is empty"),
    ([X10, np.zeros((3, 2))], {}, r"sequences have 1 to 2 columns"),
    ([X10], {"lengths": [10]}, r"X is a list of sequences, whose lengths are its own"),
    (X10, {"sample_weight": np.arange(10.0)}, r"sample_weight holds 0 and 1 in one sequence"),
    (X10, {"sample_weight": [-1.0]}, r"sample_weight holds -1"),
    (np.full((10, 1), np.nan), {}, r"column 0 has no observed value"),
    (X10[:1], {}, r"Found array with 1 sample"),
])  # fmt: skip
def test_bad_sequences(X, given, message):
    with pytest.raises(ValueError, match=message):
        HiddenMarkovModel(2).fit(X, **given)


def test_bad_times(diary):
    X = diary.drop(columns="z")
    twice = pd.concat([X, X.iloc[:1]])
    with pytest.raises(ValueError, match=r"has two rows at date = .*; times of a sequence must differ"):
        HiddenMarkovModel(2, **SETTINGS).fit(twice)
    with pytest.raises(ValueError, match=r"row 3 has no 'date'; every row needs a time"):
        HiddenMarkovModel(2, **SETTINGS).fit(X.assign(date=X["date"].where(np.arange(len(X)) != 3)))
    with pytest.raises(ValueError, match=r"the table has no column 'whom'; it has who, date"):
        HiddenMarkovModel(2, sequence="whom").fit(X)
    far = X.assign(date=np.where(np.arange(len(X)) == 0, pd.Timestamp("2300-01-01"), X["date"]))
    with pytest.raises(ValueError, match=r"leaves out [\d,]+ steps between its 592 rows"):
        HiddenMarkovModel(2, **SETTINGS).fit(far)


def test_symbols_and_columns_that_were_not_there(diary, fitted):
    X = diary.drop(columns="z")
    with pytest.raises(ValueError, match=r"column 'kind' holds 'away', which was not there at fit"):
        fitted.predict(X.assign(kind="away"))
    with pytest.raises(ValueError, match="mood"):
        fitted.predict(X.drop(columns="mood"))


@pytest.mark.parametrize("label", [2, -3])
def test_labels_that_are_no_state_are_refused(label):
    y = np.where(np.arange(10) == 3, label, -1)
    for model in (HiddenMarkovModel(2), GaussianHMM(2)):
        with pytest.raises(ValueError, match=rf"y holds {label}, which is no class; known classes are 0 to 1, and −1"):
            model.fit(X10, y=y)


def test_symbols_that_were_not_there_at_fit_are_named():
    model = CategoricalHMM(2, random_state=0).fit(np.array([[0, 1, 2, 1, 0, 2]]).T)
    with pytest.raises(
        ValueError, match=r"X holds the symbol 7, but there are 3, numbered from 0; fit with n_features=8\."
    ):
        model.predict(np.array([[0], [7]]))


def test_masked_moves_that_make_rows_impossible_are_named():
    y = np.array([0, 0, 1, 1, 0, 1, 1, 0, 0, 0])
    with pytest.raises(ValueError, match=r"sequence 0 is impossible at its step 4"):
        HiddenMarkovModel(2, transitions="left-right", random_state=0).fit(X10, np.where(np.arange(10) < 6, y, -1))


def test_a_sequence_of_which_nothing_is_seen_and_a_state_never_visited():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 1)), np.full((10, 1), np.nan), rng.normal(size=(1, 1))])
    model = HiddenMarkovModel(3, random_state=0).fit(X, lengths=[50, 10, 1])
    assert np.isfinite(model.transmat_).all()
    assert np.isfinite(model.predict_proba(X, [50, 10, 1])).all()
    np.testing.assert_allclose(model.score_samples(X, [50, 10, 1])[50:60], 0.0, atol=1e-12)
    counts = PoissonHMM(4, random_state=0, n_iter=50).fit(np.full((30, 1), 7))
    np.testing.assert_allclose(counts.transmat_.sum(axis=1), 1.0)


def test_drop_ins_take_missing_values():
    rng = np.random.default_rng(0)
    X = rng.normal(4.0 * walk(300, rng)[:, None], 1.0, (300, 2))
    full = GaussianHMM(2, random_state=0).fit(X)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[100:110] = np.nan
    model = GaussianHMM(2, random_state=0).fit(X)
    order = np.argsort(model.means_[:, 0]), np.argsort(full.means_[:, 0])
    np.testing.assert_allclose(model.means_[order[0]], full.means_[order[1]], atol=0.3)
    assert not np.isnan(model.impute(X)).any()


@pytest.mark.parametrize("covariance_type", ["diag", "spherical", "full", "tied"])
def test_a_state_of_next_to_no_weight_keeps_its_parameters(covariance_type):
    """Squares over a weight of 1e-322 overflow."""
    rng = np.random.default_rng(0)
    model = GaussianHMM(2, covariance_type=covariance_type, random_state=0).fit(rng.normal(size=(50, 2)))
    family, block = model._family(), Block.of(rng.normal(size=(20, 2)))
    before = model._components()
    family.penalty.scatter, family.penalty.weight = np.zeros_like(family.penalty.scatter), 0.0
    after = family.m_step(family.stats(before, block, np.array([[1.0, 1e-322]] * 20)), before)
    np.testing.assert_allclose(after.mean[1], before.mean[1])
    assert np.isfinite(after.covariance).all()
    if covariance_type != "tied":
        np.testing.assert_allclose(after.covariance[1], before.covariance[1])


# Published results


@pytest.mark.parametrize(("rates", "log_likelihood"), [(1, -391.9189), (2, -342.3183), (3, -329.4603), (4, -327.8316)])
def test_earthquakes_of_zucchini_and_macdonald(rates, log_likelihood):
    counts = load("earthquakes").X[:, 1:]
    how = {"start": "stationary", "tol": 1e-8, "max_iter": 500, "random_state": 0}
    model = HiddenMarkovModel(rates, "poisson", **how).fit(counts)
    assert model.score_samples(counts).sum() == pytest.approx(log_likelihood, abs=2e-3)


@pytest.mark.parametrize(("lengths", "log_likelihood"), [([168, 134, 137], -84.3417), (None, -88.7306)])
def test_speed_of_depmix(lengths, log_likelihood, table):
    times = table("hmm/speed.csv")["rt"].to_numpy()[:, None]
    model = HiddenMarkovModel(2, tol=1e-9, max_iter=500, random_state=0).fit(times, lengths=lengths)
    assert model.score_samples(times, lengths=lengths).sum() == pytest.approx(log_likelihood, abs=1e-4)


def test_returns_of_the_market(table):
    returns = table("hmm/sp500_monthly.csv")["logret"].to_numpy()[:, None]
    for k, log_likelihood in ((2, 1334.6352), (3, 1347.0749)):
        model = HiddenMarkovModel(k, tol=1e-9, max_iter=1000, n_init=3, random_state=0).fit(returns)
        assert model.score_samples(returns).sum() == pytest.approx(log_likelihood, abs=2e-3)
