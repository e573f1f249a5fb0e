"""`find_network`: edges of any table, how surely they are found, how well cells are guessed, and what is said of it."""

import warnings

import numpy as np
import pandas as pd
import pytest

from tacit.graph import BeliefNetwork, choice, find_network
from tacit.tables import open_table


def made(n=600, seed=0, missing=0.0):
    """Age decides income, income and a coin decide owning; a column apart, and names."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    income = age * 0.5 + rng.normal(0, 6, n)
    owns = np.where(income + rng.normal(0, 5, n) > 30, "yes", "no")
    frame = pd.DataFrame({"age": age, "income": income.round(2), "owns": owns, "toss": rng.choice(["head", "tail"], n),
                          "size": rng.choice(["small", "large"], n)})  # fmt: skip
    holes = rng.random(frame.shape) < missing
    holes[:, 3] = False
    frame = frame.mask(holes)
    return frame.assign(name=[f"person {i}" for i in range(n)])


@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_edges_are_found_and_checked(missing):
    frame = made(missing=missing)
    found = find_network(frame.drop(columns="name"), check=10)
    told = found.study()
    assert {frozenset((each.parent, each.child)) for each in told.dependencies} == {
        frozenset(("age", "income")), frozenset(("income", "owns"))
    }  # fmt: skip
    assert told.alone == ["toss", "size"]
    assert all(each.found >= 0.9 for each in told.dependencies)
    assert told.dependencies[0].information > told.dependencies[1].information > 0.1
    assert not any(each.directed for each in told.dependencies)  # a chain reads either way
    assert told.n_missing == int(frame.drop(columns="name").isna().to_numpy().sum())
    guessed = found.guessed
    assert guessed.n_rows == 120
    assert {row["column"] for row in guessed.columns} == set(frame.columns) - {"name"}
    by_column = {row["column"]: row for row in guessed.columns}
    assert by_column["income"]["right"] > by_column["income"]["usual"] + 0.2
    assert guessed.gain > 0.5
    for each in told.dependencies:  # what is said is what can be counted
        own, given = (told.variables[j].name for j in (each.contrast.column, each.contrast.given))
        codes = pd.DataFrame(found.codes, columns=[v.name for v in told.variables])
        codes = codes[(codes[own] >= 0) & (codes[given] >= 0)]
        shares = (codes[own] == each.contrast.level).groupby(codes[given]).mean()
        assert shares[each.contrast.high] == each.contrast.share_high == shares.max()
        assert shares[each.contrast.low] == each.contrast.share_low == shares.min()
    probabilities = {v.name: v.probabilities for v in told.variables}
    for name, p in probabilities.items():
        np.testing.assert_allclose(p, found.model.query(name).values)


def test_the_best_of_the_starts_is_taken_by_the_known_cells():
    frame = made(missing=0.15).drop(columns="name")
    found = find_network(frame, check=0)
    rows = np.where(found.codes < 0, np.nan, found.codes.astype(float))

    def bic(edges):
        network = choice.learned(found.model.schema_, found.codes, edges, None, 0)
        nodes = network.nodes_
        free = (nodes.sizes // nodes.cards * (nodes.cards - 1)).sum()
        return network._scores(choice.Block.of(rows)).sum() - 0.5 * np.log(len(rows)) * free

    best = bic(found.structure.edges)
    for start in choice.STARTS:
        sizes = [len(column.levels) for column in found.model.schema_.columns]
        other = choice.find_structure(found.codes, sizes, "hill_climb", max_parents=4, start=start)
        assert bic(other.edges) <= best + 1e-9


def test_other_searches_and_asked_edges():
    frame = made().drop(columns="name")
    tree = find_network(frame, structure="chow-liu", check=0)
    assert len(tree.model.nodes_.edges) == 4
    assert find_network(frame, structure="pc", check=0).method == "pc"
    asked = find_network(frame, required=[("toss", "size")], forbidden=[("age", "income"), ("income", "age")], check=0)
    edges = asked.model.nodes_.edges
    assert ("toss", "size") in edges
    assert {("age", "income"), ("income", "age")}.isdisjoint(edges)
    assert len(find_network(frame, levels=6, check=0).model.states_of("age")) == 6
    assert max(map(len, find_network(frame, max_parents=1, check=0).model.nodes_.parents)) == 1


def test_a_network_too_large_for_exact_answers_becomes_a_tree(monkeypatch):
    frame = made().drop(columns="name")
    monkeypatch.setattr(choice, "MOST_CELLS", 3.0)
    found = find_network(frame, check=0)
    assert found.method == "chow-liu"
    assert any("too large for exact answers" in note for note in found.study().notes)


def test_time_that_runs_out_is_told():
    found = find_network(made().drop(columns="name"), budget=1e-9)
    assert (found.reached, found.n_resamples, found.guessed) == ("budget", 0, None)
    told = found.study()
    assert any("ended at the budget" in each for each in told.summary)
    assert all(each.found is None for each in told.dependencies)


def test_few_rows_and_none_that_depend():
    rng = np.random.default_rng(0)
    found = find_network({"a": rng.choice(["x", "y"], 30), "b": rng.normal(size=30)}, check=4)
    assert found.guessed is None
    told = found.study()
    assert told.summary[0] == "30 rows of 2 columns: no two columns are found to depend on each other."
    assert any("30 rows are few" in each for each in told.limits)


@pytest.mark.parametrize(
    ("frame", "settings", "fault"),
    [
        ({"a": ["x", "y"] * 20}, {}, "has 1 column that a network can be learned from, and at least 2 are needed"),
        (made(), {"columns": ["age", "owns"], "required": [("age", "wage")]}, "required names 'wage', which is no column in use"),
        (made(), {"columns": ["age", "owns"], "structure": "chow-liu", "max_parents": 2}, "max_parents is for hill climbing"),
        (made(), {"columns": ["age", "owns"], "structure": "best"}, "structure='best' is unknown"),
        (made(), {"columns": ["age", "owns"], "levels": 1}, "levels=1 is not a whole number of at least 2"),
        (made(), {"columns": ["age", "owns"], "check": -1}, "check=-1 is not a whole number of at least 0"),
        (made(), {"columns": ["age", "owns"], "budget": 0}, "budget=0 is not a number above 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(frame, settings, fault):
    with pytest.raises(ValueError, match=fault.replace("(", r"\(")):
        find_network(frame, **settings)


def test_a_table_for_a_network_with_other_variables_is_refused():
    frame = made().drop(columns="name")
    network = BeliefNetwork([("owns", "income")]).fit(frame)
    with pytest.raises(ValueError, match="has continuous or hidden variables"):
        choice.study_table(network, open_table(frame))


def any_column(rng, n):
    """Cells of some kind, few of which a network can use."""
    kinds = (
        lambda: rng.normal(size=n) * 10.0 ** rng.integers(-9, 9), lambda: rng.integers(0, rng.integers(1, 40), n),
        lambda: rng.choice(["a", "b c", "é", "?"], n), lambda: rng.random(n) < rng.random(), lambda: np.full(n, 3.5),
        lambda: np.full(n, np.nan), lambda: np.where(rng.random(n) < 0.9, 0.0, rng.exponential(size=n)),
        lambda: [f"id {i}" for i in range(n)], lambda: np.round(rng.normal(size=n), 1) + 1e7,
    )  # fmt: skip
    return kinds[rng.integers(len(kinds))]()


def test_any_table_gives_a_network_or_says_why_not():
    rng, n_learned = np.random.default_rng(0), 0
    for _ in range(60):
        n, d = int(rng.choice([2, 3, 5, 12, 40, 120])), int(rng.integers(2, 9))
        frame = pd.DataFrame({f"c{j}": any_column(rng, n) for j in range(d)})
        frame = frame.mask(rng.random(frame.shape) < rng.choice([0.0, 0.1, 0.5]))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = find_network(frame, check=1)
        except ValueError as error:
            assert "that a network can be learned from" in str(error)  # noqa: PT017
            continue
        told, n_learned = found.study(), n_learned + 1
        assert all(sum(each.probabilities) == pytest.approx(1.0) for each in told.variables)
        assert np.isfinite(found.model.score_samples(found.table)).all()
        assert not any("nan" in sentence for sentence in [*told.summary, *told.limits])
    assert n_learned > 20
