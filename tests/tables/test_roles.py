"""Roles of columns that are neither counts nor measurements: cycles, codes, ids, answers, years; names only support."""

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.mixture import Mixture, find_groups
from tacit.schema import roles_by_name
from tacit.survey import parse_role
from tacit.tables import open_table

RNG = np.random.default_rng(0)
N = 900
HOURS = np.floor((14 + 5 * RNG.normal(size=N)) % 24)
FLIGHTS = RNG.choice(RNG.choice(6000, 150, replace=False), N, p=RNG.dirichlet(np.full(150, 0.5)))
NUMBERED = np.sort(RNG.choice(int(1.3 * N), N, replace=False)) + 5000
CASES = [
    ("hour", HOURS, "cyclic", "hours of the day, from 0 to 23"),
    ("x", HOURS, "cyclic", "hours of the day, from 0 to 23 (nats a cell: around the cycle"),
    ("month", RNG.integers(1, 13, N), "cyclic", "months, from 1 to 12"),
    ("weekday", RNG.integers(0, 7, N), "cyclic", "days of the week, from 0 to 6"),
    ("DayOfWeek", RNG.integers(1, 8, N), "cyclic", "days of the week, from 1 to 7"),
    ("wind_dir", 10 * RNG.integers(0, 37, N), "cyclic", "degrees, from 0 to 360"),
    ("bearing", (20 * RNG.normal(size=N)) % 360, "cyclic", "degrees, from 0"),
    ("phase", RNG.uniform(-np.pi, np.pi, N), "cyclic", "radians, from -3.1"),
    # Names that support, over values that do not:
    ("hour", RNG.poisson(3.0, N), "count", "whole numbers from 0"),
    ("hour", RNG.integers(0, 60, N), "measurement", "whole numbers"),
    ("direction", RNG.integers(1, 5, N), "category", "only 4 distinct whole numbers"),
    ("angle", RNG.uniform(0, 140, N), "measurement", "numbers with decimals"),
    ("hours_per_week", np.clip(np.round(40 + 5 * RNG.normal(size=N)), 5, 53), "measurement", "whole numbers"),
    ("status", RNG.normal(50, 10, N).round(), "measurement", "whole numbers"),
    # Ranges of a cycle without its name, which say nothing alone:
    ("Q1", np.clip(np.round(4 + 1.5 * RNG.normal(size=N)), 1, 7), "ordinal", "7 levels in order"),
    ("x", RNG.integers(1, 13, N), "category", "only 12 distinct whole numbers"),
    ("income", np.clip(np.round(16 + 6 * RNG.normal(size=N)), 1, 24), "measurement", "whole numbers"),
    ("x", np.minimum(RNG.poisson(6.0, N), 23), "count", "whole numbers from 0"),
    # Codes and ids:
    ("flight", FLIGHTS, "code", "1"),
    ("precinct", RNG.choice(RNG.choice(123, 60, replace=False) + 1, N, p=RNG.dirichlet(np.full(60, 0.7))), "code", ""),
    ("county", np.random.default_rng(3).choice(29, N, p=np.random.default_rng(3).dirichlet(np.full(29, 0.7))) + 1, "code", "2"),
    ("status", RNG.choice([200, 201, 204, 301, 304, 400, 401, 403, 404, 500], N), "category", "10 different whole numbers"),
    ("pid", np.cumsum(RNG.integers(1, 40, N)), "id", "a different whole number in every row, under a name that ids have"),
    ("dept", np.append(np.arange(1, N), 2000), "id", "a different whole number in every row, under a name that ids have"),
    ("x", NUMBERED, "id", "different whole numbers that fill at least half of their range, as numbers of rows do"),
    ("person", np.repeat(np.arange(1, N // 4 + 1), 4), "id", "all whole numbers from 1 to 225, each 4 times"),
    ("wave", np.repeat(np.arange(1, N // 4 + 1), 4), "measurement", "whole numbers"),
    # Answers of 0, 1 and 2 end where counts would go on; counts do not:
    ("answer", RNG.choice(3, N, p=[0.3, 0.4, 0.3]), "category", "only 3 distinct whole numbers, where counts would go beyond 2"),
    ("children", RNG.poisson(0.6, N), "count", "whole numbers from 0"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values", "role", "reason"), CASES)
@pytest.mark.parametrize("hidden", [0, 0.1])
def test_values_decide_and_names_support(name, values, role, reason, hidden):
    values = np.asarray(values, dtype=float)
    cells = np.where(np.random.default_rng(1).random(len(values)) < hidden, np.nan, values)
    frame = {"first": np.random.default_rng(2).normal(size=len(values)), name: cells}
    found = open_table(frame).columns[1]
    assert (found.role, found.reason[: len(reason) if not hidden else 0]) == (role, reason if not hidden else "")
    assert found.used == (role not in ("id", "code", "date")), found.left_out


def test_years_of_a_series_are_no_row_numbers():
    found = open_table({"year": np.arange(1750, 1930), "spots": RNG.normal(size=180)}).columns[0]
    assert (found.role, found.reason) == ("date", "years, a different one in every row")
    assert found.notes == ("to use the years as a trend, use roles={'year': 'measurement'}",)


def night_and_day(n=600, seed=0):
    """Rows of two groups, one about midnight and northerly winds."""
    rng = np.random.default_rng(seed)
    day = rng.integers(2, size=n)
    hour = np.floor((np.where(day, 12.5, 0.5) + 2 * rng.normal(size=n)) % 24)
    wind = (np.where(day, 90, 355) + 20 * rng.normal(size=n)) % 360
    frame = pd.DataFrame({"hour": hour, "wind_dir": wind, "temp": np.where(day, 20, 5) + 3 * rng.normal(size=n)})
    return frame, day


def test_a_cycle_is_a_direction_in_every_model(tmp_path):
    """Fits, fills, draws and saves: hours around midnight are one group, and what is filled is an hour of the clock."""
    frame, _ = night_and_day()
    holed = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.1)
    found = find_groups(holed, groups=[1, 2, 3], covariance=["full"], seed=0)
    assert found.model.n_components == 2
    words = sorted(group.words for group in found.study().groups)
    assert "hour around 10–14" in words[0]
    assert "hour around 22–2" in words[1]
    assert not any("hour high" in each or "hour low" in each for each in words)
    model = Mixture(2, random_state=0).fit(holed)
    assert [column.kind for column in model.schema_.columns] == ["cyclic", "cyclic", "continuous"]
    told = model.describe()
    assert {"hour", "wind_dir"} == {name for name in told if told[name]["family"] == "VonMises"}
    filled = model.impute(holed)
    gone = holed["hour"].isna()
    assert filled["hour"].isin(range(24)).all()
    apart = (filled["hour"][gone] - frame["hour"][gone] + 12) % 24 - 12
    assert np.sqrt((apart**2).mean()) < 3.0  # 2 is the spread within a group; a straight mean would be 12 off
    rows, _ = model.sample(500)
    assert rows["hour"].isin(range(24)).all()
    assert rows["wind_dir"].between(0, 360).all()
    tacit.save(model, tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    np.testing.assert_array_equal(again.predict_proba(holed), model.predict_proba(holed))
    assert again.schema_ == model.schema_
    # The same whether 0 or 12 stands for midnight: no place of the clock is an end.
    turned = Mixture(2, random_state=0).fit(holed.assign(hour=(holed["hour"] + 12) % 24))
    assert turned.score(holed.assign(hour=(holed["hour"] + 12) % 24)) == pytest.approx(model.score(holed), abs=1e-3)


def test_roles_are_asked_for_by_name_pattern_or_period():
    frame = {"Q1": RNG.integers(1, 6, 60), "Q2": RNG.integers(1, 6, 60), "tide": RNG.uniform(0, 12.4, 60)}
    columns = open_table(frame, roles={"Q*": "ordinal", "tide": "cyclic:12.42", "Q2": "category"}).columns
    assert [column.role for column in columns] == ["ordinal", "category", "cyclic"]
    assert columns[2].cycle == (0.0, 12.42)
    assert columns[2].reason == "as asked"
    assert open_table(frame, roles={"Q1, Q2": "number"}).columns[1].role == "measurement"
    assert roles_by_name({"a[x": "count"}, ["a[x"]) == {"a[x": "count"}  # a name that looks like a pattern
    assert [parse_role(text) for text in ("trend", "hour")] == [("measurement", None), ("cyclic", "hour")]
    for roles, told in [
        ({"X*": "ordinal"}, r"no column matches 'X\*', which is asked for as ordinal; there are 'Q1', 'Q2', 'tide'"),
        ({"Q1": "cyclic:0"}, "column 'Q1' is asked for as 'cyclic:0'; say how long the cycle is, such as cyclic:24"),
        ({"Q1": "likert"}, "column 'Q1' is asked for as 'likert'; roles are measurement, count"),
    ]:
        with pytest.raises(ValueError, match=told):
            open_table(frame, roles=roles)
    with pytest.raises(ValueError, match=r"no usual cycle holds its numbers \(from 1 to 5000\); say its period"):
        open_table({"x": np.r_[1, 5000, RNG.integers(1, 5000, 60)], "y": RNG.normal(size=62)}, roles={"x": "cyclic"})


def test_a_cyclic_column_of_a_file_must_have_a_cycle():
    from tacit.schema import Column

    with pytest.raises(ValueError, match=r"column 'hour' is cyclic but \(\) is no least value and period of a cycle"):
        Column("hour", "cyclic")


def test_hidden_places_of_a_cycle_are_judged_around_it():
    """Arcs of 90 % hold nine in ten hidden hours, though half of them go through midnight."""
    from tacit.impute.trial import judge

    frame, _ = night_and_day(3000)
    table = open_table(frame)
    model = Mixture(2, random_state=0).fit(table.source())
    hidden = np.zeros((3000, 3), dtype=bool)
    hidden[::2, 0] = True
    told = judge(model, table, table.cells, hidden)["columns"][0]
    assert 0.88 < told["covered"] < 0.97
    assert told["error"] < 0.4  # of the hours' spread, 8; a straight line would be off by 1.2


DATES = pd.date_range("2019-01-01", periods=1200, freq="D")


@pytest.mark.parametrize(
    "pattern", ["%Y-%m-%d", "%d-%b-%Y", "%b %d %Y", "%B %d, %Y", "%m/%d/%Y", "%d.%m.%Y", "%d %B %Y"]
)
def test_dates_of_every_form_say_what_goes_with_them(pattern, tmp_path):
    rng = np.random.default_rng(0)
    heat = 10 * np.cos(2 * np.pi * (DATES.dayofyear - 200) / 365.25) + 3 * rng.normal(size=1200)
    frame = pd.DataFrame({"day": DATES.strftime(pattern), "heat": heat, "noise": rng.normal(size=1200)})
    frame.sample(1200, random_state=0).to_csv(tmp_path / "t.csv", index=False, sep=";")
    found = open_table(tmp_path / "t.csv", separator=";").columns[0]
    assert (found.role, found.low, found.high) == ("date", 17897.0, 17897.0 + 1199)
    assert found.left_out.startswith("a date; heat goes with the season (8")
    assert found.left_out.endswith("to use it so, use roles={'day': 'season'}")
    used = open_table(tmp_path / "t.csv", separator=";", roles={"day": "season"})
    assert used.columns[0].cycle == (0.0, 365.2425)
    weekly = open_table(frame.assign(heat=DATES.dayofweek + rng.normal(size=1200), day=DATES.strftime(pattern)))
    assert "heat goes with the day of the week" in weekly.columns[0].left_out
    alone = open_table(frame[["day", "noise"]])
    assert alone.columns[0].left_out == "a date; to use it as a number of days, use roles={'day': 'measurement'}"


def test_groups_of_dates_are_told_by_season_and_never_filled():
    summer = np.isin(DATES.month, (5, 6, 7, 8))
    frame = pd.DataFrame({"day": DATES.strftime("%Y-%m-%d"), "heat": 20.0 * summer + RNG.normal(size=1200)})
    frame.loc[::10, "day"] = None
    found = find_groups(frame, roles={"day": "season"}, groups=[2], covariance=["full"])
    assert "day around" in found.study().groups[1].words
    words = found.study().groups[1].words.split("day around ")[1]
    assert words.startswith(("25 May", "26 May", "27 May", "28 May", "24 May", "29 May")), words
    with pytest.raises(ValueError, match="column 'day' holds dates, which are no bearing; use one of hour, weekday"):
        open_table(frame, roles={"day": "bearing"})


def test_names_of_days_and_months_are_in_the_order_of_the_calendar():
    days = RNG.choice(["Sun", "Mon", "Wed", "Sat"], 90)
    months = RNG.choice(["march", "January", "December"], 90)
    levels = [
        column.levels for column in open_table({"d": days, "m": months, "x": RNG.choice(["Mon", "x"], 90)}).columns
    ]
    assert levels == [("Mon", "Wed", "Sat", "Sun"), ("January", "march", "December"), ("Mon", "x")]


def test_places_on_the_map_stay_together():
    rng = np.random.default_rng(0)
    place = np.array([47.0, 8.0]) + rng.normal(size=(400, 2)) @ [[0.2, 0.15], [0.0, 0.05]]
    frame = pd.DataFrame({"lat": place[:, 0], "rent": rng.normal(size=400), "lon": place[:, 1]})
    columns = open_table(frame).columns
    assert columns[0].reason == "latitude in degrees, of places whose longitude is lon"
    parts = Mixture(2, covariance_type="diag", random_state=0).fit(frame).family_.parts
    assert [(type(part).__name__, own) for part, own in parts] == [("DiagonalGaussian", (1,)), ("FullGaussian", (0, 2))]
    parts = Mixture(2, random_state=0).fit(frame).family_.parts  # correlated with all others anyway
    assert [(type(part).__name__, own) for part, own in parts] == [("FullGaussian", (0, 1, 2))]
    assert open_table(frame.assign(lat=1000 * frame["lat"])).columns[0].law == ""  # no degrees


def test_whole_numbers_with_decimal_commas_are_numbers(tmp_path):
    """Numbers from 7 to 334 may be days of a year, which is told by how often each occurs."""
    values = np.random.default_rng(0).integers(7, 335, 153)
    (tmp_path / "t.csv").write_text("sun;wind\n" + "".join(f"{x},0;{x / 8:.1f}\n".replace(".", ",") for x in values))
    found = open_table(tmp_path / "t.csv").columns[0]
    assert (found.role, found.low, found.high) == ("measurement", values.min(), values.max())
