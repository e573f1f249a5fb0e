"""Fills are tried on hidden cells: none rests on an error, and none is worse than the mean."""

from dataclasses import fields

import numpy as np
import pytest

from tacit.impute import choose_imputer
from tacit.impute.trial import Hidden, _left_out, _worse, judged, learn_calibration, plain_calibration
from tacit.mixture import find_groups
from tacit.study.imputation import _where, moved_words, tell_check
from tacit.tables import open_table

pandas = pytest.importorskip("pandas")


def heights(n=70, seed=0):
    """Heights that masses tell, of which some are missing, and a mass that must be an error in a row without a height."""
    rng = np.random.default_rng(seed)
    height = rng.normal(175.0, 20.0, n)
    mass = 0.8 * (height - 175.0) + 75.0 + rng.normal(0.0, 6.0, n)
    mass[3], height[[3, 8, 20, 21, 40]] = 1358.0, np.nan
    return pandas.DataFrame({"height": height, "mass": mass, "age": rng.normal(40.0, 9.0, n).round(1)})


@pytest.mark.parametrize("fill", ["groups", "imputer"])
def test_no_fill_rests_on_a_gross_error(fill):
    table = heights()
    if fill == "groups":
        found = find_groups(table, groups=[1], covariance="full")
    else:
        found = choose_imputer(table, groups=[1], budget=5.0)
    known, told = table["height"].dropna(), found.model.impute(table, interval=0.9)
    height, low, high = told.filled["height"][3], told.low[3, 0], told.high[3, 0]
    assert abs(height - known.mean()) < known.std()
    assert low < known.mean() < high < known.mean() + 4 * known.std()
    assert told.filled["mass"][3] == 1358.0  # what is there stays
    assert np.isnan(told.low[3, 1])
    drawn = found.model.draw_missing(table, 20, random_state=0)
    assert all(abs(each["height"][3] - known.mean()) < 5 * known.std() for each in drawn)
    assert all(each["mass"][3] == 1358.0 for each in drawn)
    # A row of another table too.
    new = pandas.DataFrame({"height": [np.nan, 170.0], "mass": [9e5, 70.0], "age": [40.0, 41.0]})
    assert abs(found.model.impute(new)["height"][0] - known.mean()) < known.std()


def hidden_cells(truth, filled):
    """Hidden cells of one column of numbers, as a model fills them, in rows of their own."""
    n = len(truth)
    values = {field.name: np.zeros(n) for field in fields(Hidden)}
    values |= {"row": np.arange(n), "column": np.zeros(n, int), "truth": truth, "filled": filled}
    values |= {"low": filled[None] - 0.5, "high": filled[None] + 0.5, "probability": np.full(n, np.nan)}
    return Hidden(**values)


def test_a_column_that_its_mean_fills_better_takes_the_mean():
    truth, kinds = np.linspace(-1.0, 1.0, 12), ["measurement"]
    table = open_table({"x": np.linspace(-1.0, 1.0, 60) + 0.01})
    start = plain_calibration(table, table.cells, [0.9])
    good, bad = hidden_cells(truth, truth + 0.1), hidden_cells(truth, -3.0 * truth)
    assert _worse(good, _left_out(start, good, table.cells, kinds, 0.9), start.period) == []
    assert _worse(bad, _left_out(start, bad, table.cells, kinds, 0.9), start.period) == [0]
    learned = learn_calibration(start, bad, table.cells, kinds, [0])
    assert learned.slope.tolist() == [0.0]
    check = judged(learned, bad, list(_left_out(start, bad, table.cells, kinds, 0.9, [0])), 0.9).check(["x"])
    assert check["columns"][0]["by_mean"]
    assert check["error"] == pytest.approx(check["naive"])
    assert "x is filled by the mean of known cells, which did as well" in " ".join(tell_check(check))


def test_where_fills_are_is_told_as_it_is():
    assert _where({"a": 400, "b": 400}) == "400 in each"
    assert _where({"a": 4, "b": 4, "c": 1}) == "as many in a and b (4 each)"
    assert _where({"a": 4, "b": 2, "c": 3}) == "more than anywhere else in a (4)"
    assert _where({"a": 4, "b": 2}) == "most of them in a (4)"
    assert (_where({"a": 1}), _where({"a": 2})) == ("in a", "all in a")


def test_a_rare_level_that_gains_is_not_called_frequent():
    row = {"column": "sent", "n_known": 512, "n_filled": 714}
    shares = [row | {"level": "0", "known": 0.32, "after": 0.42}, row | {"level": "1", "known": 0.68, "after": 0.58}]
    assert moved_words(shares)[0].endswith("with the 714 filled ones: to count levels, use tables of draws.")
    shares = [row | {"level": "0", "known": 0.32, "after": 0.13}, row | {"level": "1", "known": 0.68, "after": 0.87}]
    assert moved_words(shares)[0].endswith("most probable levels overstate the frequent.")


def test_columns_with_gross_errors_only_are_not_judged():
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    far, kind = x + rng.normal(size=600), np.where(x > 0, "a", "b").astype(object)
    far[7] = 1e6
    kind[rng.random(600) < 0.3] = None
    check = choose_imputer({"x": x, "far": far, "kind": kind}, seed=0, budget=5).model._calibration.check(
        ["x", "far", "kind"]
    )
    assert check["numbers"] == 0
    assert check["categories"] > 20
