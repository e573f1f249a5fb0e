"""Columns of numbers that networks take as levels: where they are cut, what they are called, and numbers given back."""

import numpy as np
import pandas as pd
import pytest

import tacit
from tacit.frames import Cells
from tacit.graph import BeliefNetwork, find_network
from tacit.graph.levels import centres, cut_column, interval
from tacit.schema import Column
from tacit.source import Block


def cut(values, n_levels=None, **more):
    values = np.asarray(values, dtype=float)
    return cut_column("x", Cells(values, np.isnan(values)), n_levels, **more)


@pytest.mark.parametrize(
    ("values", "n_levels", "levels"),
    [
        (np.arange(1, 31), 3, ("under 10", "10 to under 20", "20 and over")),
        (np.linspace(0.98, 4.02, 400), 3, ("under 2", "2 to under 3", "3 and over")),
        ([0] * 70 + list(range(1, 31)), 3, ("0", "1 and over")),
        ([-3.5, -3.5, 0, 0, 8, 8], 3, ("-3.5", "0", "5 and over")),
        ([1, np.nan, 2], None, ("1", "2 and over")),
        ([1e-9, 2e-9, 3e-9], 3, ("1e-09", "2e-09", "3e-09 and over")),
    ],
)
def test_cuts_are_round_and_near_quantiles(values, n_levels, levels):
    assert cut(values, n_levels).levels == levels


def test_few_different_numbers_are_levels_as_they_are():
    assert cut([4, 6, 8, 6, 4, 5.5], kept=4).levels == ("4", "5.5", "6", "8")
    assert cut([4, 6, 8, 6, 4, 5.5], 2, kept=3).levels == ("under 6", "6 and over")


def test_every_level_has_numbers_and_gives_them_back():
    rng = np.random.default_rng(0)
    for _ in range(400):
        n, scale = rng.integers(2, 60), 10.0 ** rng.integers(-8, 9)
        kinds = (
            rng.normal(size=n) * scale + rng.choice([0, 1e6]),
            rng.poisson(3, n),
            rng.integers(0, 3, n),
            rng.lognormal(0, 5, n),
        )
        values = rng.choice(kinds[rng.integers(4)], n).astype(float)
        if len(np.unique(values)) < 2:
            continue
        column = cut(values, int(rng.integers(2, 7)))
        codes = column.level_of(values)
        k = len(column.levels)
        assert len(set(column.levels)) == k > 1
        assert (np.bincount(codes.astype(int), minlength=k) > 0).all()
        points = np.array(column.points)
        assert (np.diff(points) >= 0).all()
        assert (column.level_of(points) == np.repeat(np.arange(k), len(points) // k)).all()
    assert np.isnan(column.level_of(np.array([np.nan]))).all()


def test_a_column_that_does_not_vary_is_named():
    with pytest.raises(ValueError, match=r"column 'x' is 2.5 in every row; leave it out, or name states for it\."):
        BeliefNetwork().fit(pd.DataFrame({"x": [2.5] * 5, "y": ["a", "b"] * 2 + ["a"]}))
    with pytest.raises(ValueError, match=r"column 'x' is cut at \(2.0, 1.0\), which does not go with its 3 levels"):
        Column("x", "continuous", ("a", "b", "c"), cuts=(2.0, 1.0), points=(1.0,) * 3)


@pytest.fixture(scope="module")
def rows():
    """A kind that two numbers and a count follow, with holes."""
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c"], 600)
    shift = pd.Series(kind).map({"a": 0.0, "b": 4.0, "c": 9.0}).to_numpy()
    frame = pd.DataFrame({"kind": kind, "x": shift + rng.normal(size=600), "y": 10 * shift + rng.normal(size=600) * 9,
                          "n": rng.poisson(30 + shift)})  # fmt: skip
    return frame.mask(rng.random(frame.shape) < 0.1)


def test_numbers_are_evidence_and_are_given_back(rows, tmp_path):
    network = BeliefNetwork().fit(rows)
    assert {network.schema_.columns[j].kind for j in (1, 2, 3)} == {"continuous"}
    level = network.schema_.columns[1].levels[0]
    by_number, by_level = (network.query("kind", {"x": value}).values for value in (-0.5, level))
    assert (by_number == by_level).all()
    assert by_number[0] > 0.9
    filled = network.impute(rows)
    known = rows.notna()
    assert (filled.where(known) == rows).where(known, other=True).to_numpy().all()
    assert filled.notna().to_numpy().all()
    joint = network.impute(rows, method="joint")
    assert joint["x"].between(rows["x"].min() - 1, rows["x"].max() + 1).all()
    # Expectations of numbers beat the mean.
    truth = rows["y"].dropna()
    predicted = network.predict(rows.loc[truth.index], "y")
    assert np.mean((predicted - truth) ** 2) < 0.3 * truth.var()
    drawn = network.sample(4000, random_state=0)
    assert drawn["y"].mean() == pytest.approx(rows["y"].mean(), rel=0.05)
    assert drawn["y"].std() == pytest.approx(rows["y"].std(), rel=0.1)
    assert len(drawn["y"].unique()) > 1000
    tacit.save(network, tmp_path / "n.tacit")
    again = tacit.load(tmp_path / "n.tacit")
    assert again.schema_ == network.schema_
    np.testing.assert_array_equal(again.predict(rows, "y"), network.predict(rows, "y"))


def test_arrays_and_given_edges(rows):
    X = rows[["x", "y"]].to_numpy(float)
    found = BeliefNetwork().fit(X)
    filled = found.impute(X)
    assert (filled[~np.isnan(X)] == X[~np.isnan(X)]).all()
    assert not np.isnan(filled).any()
    # Edges that are given leave numbers as they are, unless levels are asked for.
    assert BeliefNetwork([("x", "y")]).fit(rows[["x", "y"]]).nodes_.continuous.all()
    asked = BeliefNetwork([("x", "kind")], levels=4).fit(rows[["x", "kind"]])
    assert len(asked.states_of("x")) == 4
    with pytest.raises(ValueError, match=r"levels=1 is not a whole number of at least 2"):
        BeliefNetwork(levels=1).fit(rows)
    with pytest.raises(ValueError, match=r"'x' is to be continuous; give a list of edges, or continuous='auto'"):
        BeliefNetwork(continuous=["x"]).fit(rows[["x", "kind"]].dropna())


def test_a_table_gives_the_same_network_in_memory_and_opened(rows):
    found = find_network(rows, check=0)
    assert found.model.score_samples(found.table) == pytest.approx(found.model.score_samples(rows))


def test_a_search_counts_rows_by_their_weight(rows):
    known = rows[["kind", "n"]].dropna()
    apart = pd.DataFrame({"kind": np.resize(["a", "b", "c"], 900), "n": np.repeat(np.arange(25, 55), 30)})
    both = pd.concat([known, apart], ignore_index=True)
    first = (both.index < len(known)).astype(float)
    assert BeliefNetwork().fit(both, sample_weight=first).nodes_.edges
    assert not BeliefNetwork().fit(both, sample_weight=1 - first).nodes_.edges
    with pytest.raises(ValueError, match=r"counts rows, but sample_weight holds 0\.5; give whole numbers of at most"):
        BeliefNetwork().fit(both, sample_weight=np.full(len(both), 0.5))


@pytest.mark.parametrize("n", [20, pytest.param(60, marks=pytest.mark.full), pytest.param(400, marks=pytest.mark.full)])
def test_intervals_hold_what_they_promise(n):
    rng = np.random.default_rng(n)
    held = []
    for _ in range(40):
        a = rng.normal(size=n + 200)
        b = 0.8 * a + 0.6 * rng.normal(size=n + 200)
        frame = pd.DataFrame({"a": a, "b": b, "c": rng.gamma(2.0, 1.0, n + 200) + (b > 0)})
        network = BeliefNetwork().fit(frame.iloc[:n])
        for j, name in ((1, "b"), (2, "c")):
            cells = network.schema_.encode(frame.iloc[n:])
            cells[:, j] = np.nan
            found, truth = network._imputed(Block.of(cells), 0.9), frame[name].to_numpy()[n:]
            held.append(np.mean((found.low[:, j] <= truth) & (truth <= found.high[:, j])))
    assert np.mean(held) == pytest.approx(0.9, abs=0.045)


def test_an_interval_of_one_level_is_that_of_its_numbers():
    column = cut(np.arange(200.0), 2)
    low, high = interval(column, np.array([[0.0, 1.0]]), 0.5)[0]
    assert (low, high) == pytest.approx((125, 175), abs=3)
    assert centres(column) == pytest.approx([49.5, 149.5], abs=1.0)


def test_intervals_of_continuous_variables_are_those_of_their_mixture():
    states = {"k": ["a", "b"]}
    regression = {"coefficients": [[-2.0], [3.0]], "variance": [1.0, 0.25]}
    network = BeliefNetwork.from_tables({"k": [0.3, 0.7], "x": (["k"], regression)}, states)
    found = network._imputed(Block.of(np.full((1, 2), np.nan)), 0.8)
    rng = np.random.default_rng(0)
    k = rng.random(400_000) < 0.7
    x = np.where(k, 3 + 0.5 * rng.normal(size=len(k)), -2 + rng.normal(size=len(k)))
    assert (found.low[0, 1], found.high[0, 1]) == pytest.approx(np.quantile(x, [0.1, 0.9]), abs=0.02)
