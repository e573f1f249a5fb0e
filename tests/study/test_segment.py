"""What is said of regimes is true of the record it is said of."""

import numpy as np
import pandas as pd
import pytest

from tacit.sequence import find_regimes
from tacit.study.segment import lasting, study_regimes


def series(levels, spreads, n=40, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(level, spread, n) for level, spread in zip(levels, spreads)])


def studied(x, n_ahead=0, **how):
    table = pd.DataFrame({"month": pd.date_range("2000-01-01", periods=len(x), freq="MS"), "x": x})
    return find_regimes(table, time="month", **how).study(n_ahead=n_ahead)


def test_spread_sets_regimes_apart():
    found = studied(series((0, 0, 0), (1, 6, 1)), states=[2])
    calm, wild = found.regimes
    assert calm.words.startswith("x much steadier (standard deviation ")
    assert wild.words.startswith("x much more volatile (standard deviation ")
    entry = wild.profile[0]
    own = found.segmentation.states == 1
    assert entry["std"] == pytest.approx(found.segmentation.cells[own, 0].std())
    assert entry["rest_std"] == pytest.approx(found.segmentation.cells[~own, 0].std())
    assert wild.lasts.endswith(" months")
    assert (wild.n_segments, wild.n_left, calm.n_segments, calm.n_left) == (1, 1, 2, 1)


def test_levels_set_regimes_apart():
    found = studied(series((0, 9, 0), (1, 1, 1)), states=[2])
    assert found.regimes[1].words.startswith("x much higher (mean ")
    assert found.sure > 0.95
    assert [claim.code for claim in found.summary][:3] == ["verdict", "regime", "regime"]
    assert "as asked for" in found.summary[0]


def test_a_regime_that_is_never_left_has_no_length():
    found = studied(series((0, 9), (1, 1)), states=[2])
    ends = found.regimes[int(found.segmentation.states[-1])]
    assert (ends.lasts, ends.n_left) == ("", 0)
    assert any(f"Regime {ends.number}:" in each and "was never left" in each for each in found.summary)


def test_no_length_is_told_that_is_longer_than_any_series():
    """Of twenty series of ten steps one changes its level: regimes last for longer than can be seen."""
    rng, level = np.random.default_rng(0), np.repeat(np.arange(20) % 2, 10)
    level[5:10] = 1
    table = pd.DataFrame(
        {"id": np.repeat(np.arange(20), 10), "days": np.tile(np.arange(10), 20), "x": rng.normal(9.0 * level)}
    )
    choice = find_regimes(table, sequence="id", states=[2], check=False)
    assert choice.model.time == "days"
    found, stays = choice.study(), choice.model.stays()
    left = next(regime for regime in found.regimes if regime.n_left)
    assert left.stay == stays[left.number - 1] > 50
    assert f"lasts {left.lasts} on average" in next(each for each in found.summary if f"Regime {left.number}:" in each)
    assert left.lasts == "more than 10 days"


def test_a_regime_that_is_on_no_path_was_never_entered():
    found = studied(np.random.default_rng(0).normal(size=40), states=[2], duration=100)
    assert found.regimes[1].n_segments == 0
    assert next(each for each in found.summary if "Regime 2:" in each).endswith(" of the steps, never entered.")


def test_forecasts_stay_where_values_may_be():
    rng = np.random.default_rng(0)
    found = studied(np.abs(series((0.5, 5, 0.5), (1, 3, 1), seed=1)) * rng.uniform(0.0, 1.0, 120), n_ahead=3)
    assert found.forecast.low.min() == 0.0
    assert "−" not in next(each for each in found.summary if each.code == "forecast")


def test_a_series_that_moves_gradually_is_told():
    found = studied(np.linspace(0.0, 10.0, 120) + np.random.default_rng(0).normal(0, 0.05, 120))
    told = {getattr(each, "code", "") for each in found.limits}
    assert "gradual" in told
    assert found.carried[1] > 0.9
    assert "The last value predicts the next one better than regimes do" in next(
        each for each in found.summary if getattr(each, "code", "") == "ahead"
    )
    independent = studied(series((0, 9, 0), (1, 1, 1)))
    assert "gradual" not in {getattr(each, "code", "") for each in independent.limits}


def test_the_most_that_were_tried_is_told():
    found = studied(np.linspace(0.0, 10.0, 120), states=range(1, 4))
    assert any(each.startswith("3 regimes are the most that were tried") for each in found.limits)


def test_forecast_and_fills_are_of_the_record():
    x = series((0, 9, 0), (1, 1, 1))
    x[[3, 50]] = np.nan
    found = studied(x, n_ahead=3, states=[2])
    assert found.n_missing == 2
    assert found.times_ahead(0) == ["2010-01-01", "2010-02-01", "2010-03-01"]
    claim = next(each for each in found.summary if getattr(each, "code", "") == "forecast")
    assert claim.check.figures["mean"] == found.forecast.mean[0, -1, 0]
    gone = np.isnan(found.segmentation.cells[:, 0])
    assert (found.filled.low[gone, 0] < found.filled.filled[gone, 0]).all()
    assert found.filled.filled[~gone, 0] == pytest.approx(x[~gone])
    assert abs(found.filled.filled[50, 0] - 9) < 1.5  # what its neighbours are


def test_lengths_in_continuous_time_have_units_that_suit():
    rng = np.random.default_rng(0)
    x = series((0, 9, 0), (1, 1, 1))
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.cumsum(2.0 + rng.exponential(60.0, len(x))), "s")
    choice = find_regimes(pd.DataFrame({"when": when.round("s"), "x": x}), time="when", states=[2], check=False)
    assert choice.model.continuous_time
    assert study_regimes(choice).regimes[1].lasts.endswith((" minutes", " hours"))
    assert lasting(choice.model, 2.0) == "2 days"
    assert lasting(choice.model, 1.0) == "1 day"


def test_regimes_that_collapsed_onto_equal_values_are_told():
    """Rain is 0 on most days: a regime of these days has no spread, and no likelihood is the largest."""
    rng = np.random.default_rng(0)
    rain = np.where(rng.random(400) < 0.6, 0.0, rng.gamma(1.0, 8.0, 400).round(1))
    told = str(studied(rain).summary[0])
    assert "described by one regime: of the models with 2 to 6 regimes each had a regime that collapsed" in told
    assert f"({np.mean(rain == 0):.0%} of x are 0)" in told.replace("\u202f", " ").replace(" %", "%")
    assert "too short" not in told
