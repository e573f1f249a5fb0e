"""Structure learning: scores, trees, search and tests against plain computations, known truths, equivalence, bad input."""

import itertools
import os
import re
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from benchmarks.sampled import rows_of
from scipy.special import gammaln
from scipy.stats import chi2_contingency, power_divergence

from tacit.graph import (
    chow_liu,
    find_structure,
    hill_climb,
    independence_test,
    learn_structure,
    mutual_information,
    pc_stable,
    score_structure,
)  # fmt: skip
from tacit.graph.structure.codes import Codes, check_edges
from tacit.graph.structure.knowledge import cycle_of, reach
from tacit.graph.structure.orientation import complete, cpdag_of, extension, structural_distance
from tacit.graph.structure.scores import SCORES, Gains

EQUIVALENT = [score for score in SCORES if score != "k2"]


def drawn(n=3000, seed=0, missing=0.0):
    """Rows of 0 → 2 ← 1, 2 → 3, 3 → 4 with 2, 3, 3, 2 and 2 states, in which 5 is apart."""
    rng = np.random.default_rng(seed)
    a, b, apart = rng.integers(2, size=n), rng.integers(3, size=n), rng.integers(3, size=n)
    c = np.where(rng.random(n) < 0.1, rng.integers(3, size=n), np.minimum(a + b, 2))
    d = np.where(rng.random(n) < 0.1, rng.integers(2, size=n), c > 1)
    e = np.where(rng.random(n) < 0.1, rng.integers(2, size=n), d)
    codes = np.column_stack([a, b, c, d, e, apart]).astype(int)
    return np.where(rng.random(codes.shape) < missing, -1, codes), np.array([2, 3, 3, 2, 2, 3])


TRUTH = [(0, 2), (1, 2), (2, 3), (3, 4)]


def all_networks(n):
    """All directed acyclic graphs of n nodes, as matrices."""
    ends = list(itertools.combinations(range(n), 2))
    for kinds in itertools.product(range(3), repeat=len(ends)):
        edges = np.zeros((n, n), bool)
        for (a, b), kind in zip(ends, kinds):
            if kind:
                edges[(a, b) if kind == 1 else (b, a)] = True
        if cycle_of(edges) is None:
            yield edges


def pairs_of(edges):
    return [tuple(map(int, edge)) for edge in np.argwhere(edges)]


def by_hand(codes, sizes, edges, score, ess=10.0):
    """The score of a network by dictionaries of counts."""
    total, n = 0.0, len(codes)
    for child, r in enumerate(sizes):
        parents = [a for a, b in edges if b == child]
        q = float(np.prod([sizes[p] for p in parents]))
        table = {}
        for row in codes:
            table.setdefault(tuple(row[parents]), np.zeros(r))[row[child]] += 1
        for counts in table.values():
            if score in ("bdeu", "k2"):
                a = 1.0 if score == "k2" else ess / (q * r)
                total += gammaln(r * a) - gammaln(counts.sum() + r * a) + (gammaln(counts + a) - gammaln(a)).sum()
            else:
                seen = counts[counts > 0]
                total += (seen * np.log(seen / seen.sum())).sum()
        penalty = {"bic": 0.5 * np.log(n), "aic": 1.0}.get(score, 0.0)
        total -= penalty * q * (r - 1)
    return total


# Scores


@pytest.mark.parametrize("score", SCORES)
def test_scores_are_their_formulas(score):
    codes, sizes = drawn(200)
    for edges in ([], TRUTH, [(0, 1), (2, 1), (5, 1), (4, 5)]):
        expected = by_hand(codes, sizes, edges, score)
        assert score_structure(codes, sizes, edges, score=score) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("score", EQUIVALENT)
def test_equivalent_networks_have_the_same_score(score):
    codes, sizes = drawn(300)
    codes, sizes = codes[:, [0, 1, 2, 3]], sizes[:4]
    by_class = {}
    for edges in all_networks(4):
        value = score_structure(codes, sizes, pairs_of(edges), score=score, equivalent_sample_size=3.0)
        by_class.setdefault(cpdag_of(edges).tobytes(), []).append(value)
    assert len(by_class) == 185  # classes of networks of four nodes
    assert max(np.ptp(values) for values in by_class.values()) < 1e-9
    k2 = [score_structure(codes, sizes, edges, score="k2") for edges in ([(0, 2)], [(2, 0)])]
    assert abs(k2[0] - k2[1]) > 1e-6  # it is not equivalent


@pytest.mark.parametrize("score", SCORES)
def test_a_gain_is_the_difference_of_scores(score):
    codes, sizes = drawn(400)
    gains = Gains(Codes.of(codes, sizes), score, 4.0, n_jobs=1)
    got = gains.of(2, (1, 3), np.array([0, 4, 5]))
    before = score_structure(codes, sizes, [(1, 2), (3, 2)], score=score, equivalent_sample_size=4.0)
    for gain, z in zip(got, (0, 4, 5)):
        after = score_structure(codes, sizes, [(1, 2), (3, 2), (z, 2)], score=score, equivalent_sample_size=4.0)
        assert gain == pytest.approx(after - before, abs=1e-8)
    counted = gains.n_counted
    np.testing.assert_array_equal(gains.of(2, (3, 1), np.array([0, 4])), got[:2])
    assert gains.n_counted == counted  # kept


def test_gains_with_missing_cells_are_of_the_rows_that_observe_the_family():
    codes, sizes = drawn(400, missing=0.2)
    gain = Gains(Codes.of(codes, sizes), "bic").of(2, (1,), np.array([0]))[0]
    seen = codes[(codes[:, [0, 1, 2]] >= 0).all(axis=1)][:, [0, 1, 2]]
    with_it, without = (score_structure(seen, sizes[:3], edges) for edges in ([(1, 2), (0, 2)], [(1, 2)]))
    assert gain == pytest.approx(with_it - without, abs=1e-9)


def test_many_configurations_are_numbered_as_they_occur():
    rng = np.random.default_rng(0)
    codes = np.where(rng.random((300, 8)) < 0.1, -1, rng.integers(30, size=(300, 8)))
    table = Codes.of(codes, [30] * 8)
    packed, n = table.packed(range(7))  # 30 ** 7 configurations
    seen = (codes[:, :7] >= 0).all(axis=1)
    assert n <= 300 * 30
    assert (packed[~seen] == n).all()
    assert len(set(map(tuple, codes[seen][:, :7].tolist()))) == len(set(packed[seen].tolist()))


def test_a_table_that_is_too_large_is_told_before_it_is_made():
    codes = np.tile(np.arange(40_000)[:, None], (1, 2))
    with pytest.raises(
        ValueError, match="variable 1 of 40000 states and parents of 40000 configurations that occur take"
    ):
        Codes.of(codes, [40_000, 40_000]).family(1, [0])


# Trees


def test_a_chow_liu_tree_is_the_most_likely_tree():
    codes, sizes = drawn(500, seed=3)
    codes, sizes = codes[:, :5], sizes[:5]
    best = -np.inf
    for chosen in itertools.combinations(itertools.combinations(range(5), 2), 4):
        graph = nx.Graph(chosen)
        if len(graph) == 5 and nx.is_tree(graph):
            edges = list(nx.bfs_edges(graph, 0))
            best = max(best, score_structure(codes, sizes, edges, score="loglik"))
    found = chow_liu(codes, sizes)
    assert score_structure(codes, sizes, found.edges, score="loglik") == pytest.approx(best, rel=1e-12)
    rooted = chow_liu(codes, sizes, root=4).edges
    assert {frozenset(edge) for edge in rooted} == {frozenset(edge) for edge in found.edges}
    assert 4 not in {child for _, child in rooted}
    assert len({child for _, child in rooted}) == 4


def test_mutual_information_is_that_of_tables():
    codes, sizes = drawn(300, missing=0.1)
    got = mutual_information(codes, sizes)
    for a, b in ((0, 2), (3, 1), (2, 2)):
        seen = codes[(codes[:, [a, b]] >= 0).all(axis=1)]
        table = pd.crosstab(seen[:, a], seen[:, b]).to_numpy() / len(seen)
        outer = np.outer(table.sum(axis=1), table.sum(axis=0))
        assert got[a, b] == pytest.approx((table[table > 0] * np.log((table / outer)[table > 0])).sum(), abs=1e-12)
    np.testing.assert_allclose(got, got.T)


def test_trees_keep_to_what_is_known():
    codes, sizes = drawn()
    edges = {frozenset(edge) for edge in chow_liu(codes, sizes, required=[(5, 0)], forbidden=[(3, 4)]).edges}
    assert frozenset((0, 5)) in edges
    assert frozenset((3, 4)) not in edges
    assert len(edges) == 5
    assert len(chow_liu(codes, sizes, least=0.05).edges) < 5
    with pytest.raises(ValueError, match=r"the required edge \(\d, \d\) closes a cycle, and a tree has none"):
        chow_liu(codes, sizes, required=[(0, 1), (1, 2), (0, 2)])
    with pytest.raises(ValueError, match=re.escape("the required edge (0, 1) is also forbidden")):
        chow_liu(codes, sizes, required=[(0, 1)], forbidden=[(1, 0)])


# Search


@pytest.mark.parametrize("start", ["pc", "tree", "empty"])
@pytest.mark.parametrize("score", ["bic", "bdeu", "aic"])
def test_hill_climbing_finds_the_class_of_the_truth(score, start):
    codes, sizes = drawn(4000)
    found = hill_climb(codes, sizes, score=score, start=start)
    extra = structural_distance(check_edges("e", found.edges, 6), check_edges("e", TRUTH, 6))
    assert extra <= (1 if score == "aic" else 0)
    assert found.reason.code == "maximum"


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_hill_climbing_finds_the_best_of_all_networks(score):
    for seed in range(3):
        codes, sizes = drawn(60, seed)
        codes, sizes = codes[:, :4], sizes[:4]
        best = max(score_structure(codes, sizes, pairs_of(edges), score=score) for edges in all_networks(4))
        found = hill_climb(codes, sizes, score=score, n_restarts=5, random_state=0)
        assert score_structure(codes, sizes, found.edges, score=score) == pytest.approx(best, abs=1e-8)


def test_search_does_not_depend_on_threads_and_is_seeded():
    codes, sizes = drawn(500)
    settings = {"n_restarts": 3, "random_state": 7}
    found = [hill_climb(codes, sizes, n_jobs=jobs, **settings).edges for jobs in (1, 2, 2)]
    assert found[0] == found[1] == found[2]


def test_maxima_are_left_where_all_cells_are_known():
    codes, sizes = drawn(500, missing=0.1)
    assert [note.code for note in hill_climb(codes, sizes, n_restarts=3).notes] == ["missing"]
    assert hill_climb(np.abs(codes), sizes, n_restarts=1).notes == []


def test_missing_cells_leave_the_truth_to_be_found():
    codes, sizes = drawn(6000, missing=0.1)
    for edges in (hill_climb(codes, sizes).edges, pc_stable(codes, sizes).edges):
        assert structural_distance(check_edges("e", edges, 6), check_edges("e", TRUTH, 6)) <= 1


def test_search_keeps_to_what_is_known():
    codes, sizes = drawn()
    found = set(hill_climb(codes, sizes, required=[(5, 0), (3, 2)], forbidden=[(0, 2), (2, 0)]).edges)
    assert {(5, 0), (3, 2)} <= found
    assert not {(0, 2), (2, 0)} & found
    allowed = [(0, 2), (1, 2), (0, 3), (4, 5)]
    assert set(hill_climb(codes, sizes, allowed=allowed, start="tree").edges) <= set(allowed)
    for most in (0, 1):
        edges = check_edges("e", hill_climb(codes, sizes, max_parents=most, n_restarts=2, random_state=0).edges, 6)
        assert edges.sum(axis=0).max() <= most
    assert (3, 4) in hill_climb(codes, sizes, start=[(3, 4)], max_iter=1, tabu=0).edges


def test_most_moves_are_told():
    codes, sizes = drawn()
    found = hill_climb(codes, sizes, start="empty", max_iter=2)
    assert len(found.edges) == 2
    assert (found.reason.code, found.reason) == ("max_iter", "max_iter=2 moves were made")


def test_columns_that_tell_nothing_stay_apart():
    codes, sizes = drawn(500)
    codes = np.column_stack([codes, np.zeros(500, int), np.ones(500, int)])
    sizes = [*sizes, 1, 3]
    for found in (hill_climb(codes, sizes), hill_climb(codes, sizes, score="aic"), pc_stable(codes, sizes)):
        assert not {6, 7} & {end for edge in found.edges for end in edge}
    assert 6 not in {end for edge in hill_climb(codes, sizes, score="bdeu").edges for end in edge}


# Tests of independence


def test_statistics_are_those_of_scipy():
    codes, sizes = drawn(800)
    for test, power in (("g2", 0), ("chi2", 1)):
        table = np.array(pd.crosstab(codes[:, 0], codes[:, 2]))
        expected = chi2_contingency(table, correction=False, lambda_=power)
        got = independence_test(codes, sizes, 0, 2, test=test)
        np.testing.assert_allclose(got, (expected.statistic, expected.dof, expected.pvalue), rtol=1e-10)
        got, parts = independence_test(codes, sizes, 0, 3, [2], test=test), 0.0
        for state in range(3):
            table = np.array(pd.crosstab(codes[codes[:, 2] == state, 0], codes[codes[:, 2] == state, 3]))
            outer = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
            parts += power_divergence(table.ravel(), outer.ravel(), lambda_=power).statistic
        assert got[:2] == pytest.approx((parts, 3))


def test_levels_are_kept():
    """Of independent pairs about the level is found dependent."""
    rng = np.random.default_rng(0)
    p = [independence_test(rng.integers(3, size=(300, 2)), [3, 3], 0, 1)[2] for _ in range(400)]
    assert 0.02 < np.mean(np.array(p) < 0.05) < 0.09


def test_pc_finds_pattern_and_separating_sets():
    codes, sizes = drawn(4000)
    found = pc_stable(codes, sizes)
    assert found.directed == TRUTH
    assert found.undirected == found.notes == []
    assert found.separating[frozenset((0, 1))] == ()
    assert found.separating[frozenset((0, 3))] == (2,)
    chain = pc_stable(codes[:, [2, 3, 4]], sizes[[2, 3, 4]])
    assert (chain.directed, chain.undirected) == ([], [(0, 1), (1, 2)])
    assert structural_distance(check_edges("e", chain.edges, 3), check_edges("e", [(0, 1), (1, 2)], 3)) == 0


def test_pc_does_not_depend_on_the_order_of_variables():
    codes, sizes = drawn(300, seed=5)
    order = np.array([4, 0, 5, 2, 1, 3])
    one, other = pc_stable(codes, sizes, alpha=0.2), pc_stable(codes[:, order], sizes[order], alpha=0.2)
    edges = {frozenset(edge) for edge in one.edges}
    assert edges == {frozenset((int(order[a]), int(order[b]))) for a, b in other.edges}


def test_pc_keeps_to_what_is_known():
    codes, sizes = drawn()
    found = pc_stable(codes[:, [2, 3, 4]], sizes[[2, 3, 4]], required=[(1, 0)])
    assert found.directed == [(1, 0)] or (1, 0) in found.directed
    assert (2, 1) not in pc_stable(codes[:, [2, 3, 4]], sizes[[2, 3, 4]], forbidden=[(2, 1)]).edges
    only = pc_stable(codes, sizes, allowed=[(0, 2), (4, 3)])
    assert set(only.edges) <= {(0, 2), (4, 3)}
    assert all(len(given) <= 1 for given in pc_stable(codes, sizes, max_given=1).separating.values())


def test_contradicting_colliders_are_told_and_a_network_is_given_all_the_same():
    rng = np.random.default_rng(0)
    told = set()
    for _ in range(60):
        mixing = rng.integers(2, size=(40, 6))
        mixing[:, 3:] ^= mixing[:, :3] & rng.integers(2, size=(40, 3))
        found = pc_stable(mixing, [2] * 6, alpha=0.3)
        assert cycle_of(check_edges("e", found.edges, 6)) is None
        assert {frozenset(e) for e in found.edges} == {frozenset(e) for e in [*found.directed, *found.undirected]}
        told |= {note.code for note in found.notes}
    assert "contradicted" in told


# Patterns


def test_patterns_are_those_of_all_equivalent_networks():
    """An edge of the pattern is directed where all networks of a class, grouped by skeleton and colliders, agree."""
    classes = {}
    for edges in all_networks(4):
        married = edges | edges.T
        colliders = {
            (a, c, b) for a, b, c in itertools.permutations(range(4), 3)
            if a < b and edges[a, c] and edges[b, c] and not married[a, b]
        }  # fmt: skip
        classes.setdefault((married.tobytes(), frozenset(colliders)), []).append(edges)
    for members in classes.values():
        union = np.any(members, axis=0)
        for edges in members:
            np.testing.assert_array_equal(cpdag_of(edges), union)
        assert extension(union).tobytes() in {edges.tobytes() for edges in members}


def test_meeks_rules_direct_what_must_be():
    def pattern(directed, undirected, n=4):
        edges = check_edges("e", [*directed, *undirected, *((b, a) for a, b in undirected)], n)
        return pairs_of(complete(edges))

    assert pattern([(0, 1)], [(1, 2)], 3) == [(0, 1), (1, 2)]
    assert pattern([(0, 1), (1, 2)], [(0, 2)], 3) == [(0, 1), (0, 2), (1, 2)]
    assert (0, 3) in pattern([(1, 3), (2, 3)], [(0, 1), (0, 2), (0, 3)])
    assert (3, 0) not in pattern([(1, 3), (2, 3)], [(0, 1), (0, 2), (0, 3)])
    assert (3, 0) not in pattern([(1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)])


def test_a_pattern_without_extension_is_told():
    square = check_edges("e", [(0, 1), (1, 2), (2, 3), (3, 0)], 4)
    assert extension(square | square.T) is None


def test_reach_and_cycles():
    edges = check_edges("e", [(0, 1), (1, 2), (2, 0), (3, 0)], 5)
    assert reach(edges)[3].tolist() == [True, True, True, False, False]
    cycle = cycle_of(edges)
    assert cycle[0] == cycle[-1]
    assert sorted(cycle[:-1]) == [0, 1, 2]
    assert cycle_of(np.triu(np.ones((4, 4), bool), 1)) is None


# Tables, one door, bad input


def test_tables_have_names():
    codes, _ = drawn(missing=0.05)
    names = ["rain", "sprinkler", "wet", "slippery", "fall", "other"]
    table = pd.DataFrame({name: pd.Series(column).where(column >= 0) for name, column in zip(names, codes.T)})
    table["wet"] = table["wet"].map({0: "dry", 1: "damp", 2: "wet"})
    expected = {(names[a], names[b]) for a, b in TRUTH}
    assert set(hill_climb(table).edges) == set(pc_stable(table).directed) == expected
    assert set(find_structure(table, method="pc").edges) == expected
    assert "fall" not in {child for _, child in chow_liu(table, root="fall").edges}
    assert ("other", "rain") in hill_climb(table, required=[("other", "rain")]).edges
    with pytest.raises(ValueError, match="required names 'wat', which is no column; there are rain, sprinkler, wet"):
        hill_climb(table, required=[("rain", "wat")])
    table["id"] = np.arange(len(table))
    with pytest.raises(ValueError, match=r"column 'id' has 3000 levels, more than 256; cut it into classes"):
        hill_climb(table)


def test_one_door_to_all():
    codes, sizes = drawn()
    assert learn_structure(codes, sizes) == hill_climb(codes, sizes).edges
    assert learn_structure(codes, sizes, "chow_liu", root=2) == chow_liu(codes, sizes, root=2).edges
    assert learn_structure(codes, sizes, "pc", test="chi2", score=None) == pc_stable(codes, sizes, test="chi2").edges
    with pytest.raises(ValueError, match="tabu=3 is no setting of method='pc', which takes test, alpha, required"):
        learn_structure(codes, sizes, "pc", tabu=3)
    with pytest.raises(ValueError, match="method='ges' is unknown; use one of 'hill_climb', 'chow_liu', 'pc'"):
        learn_structure(codes, sizes, "ges")


CODES = np.array([[0, 1], [1, 0], [-1, 1]])


@pytest.mark.parametrize(
    ("codes", "sizes", "settings", "message"),
    [
        ([0, 1], [2], {}, "X has shape (2,) and type int64; give whole numbers (rows, variables)."),
        (np.zeros((0, 2), int), [2, 2], {}, "X has shape (0, 2)"),
        ([[0.5, 1.0]], [2, 2], {}, "X has shape (1, 2) and type float64"),
        (CODES, [2], {}, "cardinalities=[2] must hold 2 whole numbers, one per variable."),
        (CODES, [2, 0], {}, "cardinalities holds 0; use 1 to 65535."),
        (CODES, [2, 1], {}, "column 1 of X holds 1; its states are 0 to 0, and −1 where missing."),
        (CODES - 1, [2, 2], {}, "column 0 of X holds -2; its states are 0 to 1"),
        ([[0, -1], [1, -1]], [2, 2], {}, "column 1 has no observed value; drop it before learning a structure."),
        (CODES, [2, 2], {"score": "mdl"}, "score='mdl' is unknown; use one of 'bic', 'aic', 'bdeu', 'k2', 'loglik'."),
        (CODES, [2, 2], {"equivalent_sample_size": 0}, "equivalent_sample_size=0 is not a number above 0."),
        (CODES, [2, 2], {"tabu": -1}, "tabu=-1 is not a whole number of at least 0."),
        (CODES, [2, 2], {"n_restarts": 1.5}, "n_restarts=1.5 is not a whole number of at least 0."),
        (CODES, [2, 2], {"max_parents": -1}, "max_parents=-1 is not a whole number of at least 0."),
        (CODES, [2, 2], {"start": "best"}, "start='best' is unknown; use one of 'pc', 'tree', 'empty'."),
        (CODES, [2, 2], {"required": [(0, 2)]}, "required holds (0, 2), which is no edge; give pairs (parent, child)"),
        (CODES, [2, 2], {"forbidden": [(1, 1)]}, "forbidden holds (1, 1), which is no edge"),
        (CODES, [2, 2], {"required": [(0, 1)], "forbidden": [(0, 1)]}, "the required edge (0, 1) is also forbidden"),
        (CODES, [2, 2], {"required": [(0, 1), (1, 0)]}, "the required edge (0, 1) is also required the other way round"),
        (CODES, [2, 2], {"required": [(0, 1)], "allowed": []}, "the required edge (0, 1) is not among those allowed"),
        (CODES, [2, 2], {"required": [(0, 1)], "max_parents": 0}, "max_parents=0, but variable 1 has 1 required parents"),
    ],
)  # fmt: skip
def test_bad_input_is_told(codes, sizes, settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        hill_climb(codes, sizes, **settings)


def test_cycles_are_told():
    codes, sizes = drawn(50)
    cycle = [(0, 1), (1, 2), (2, 0)]
    with pytest.raises(ValueError, match="the required edges form the cycle 0 → 1 → 2 → 0; leave out one of them"):
        hill_climb(codes, sizes, required=cycle)
    with pytest.raises(ValueError, match="the edges form the cycle 0 → 1 → 2 → 0; a network has none"):
        score_structure(codes, sizes, cycle)


def test_tests_of_independence_refuse_what_they_cannot_test():
    codes, sizes = drawn(50)
    with pytest.raises(ValueError, match=r"x=0, y=1 and given=\[1\] name a variable twice"):
        independence_test(codes, sizes, 0, 1, [1])
    with pytest.raises(ValueError, match="y=9 is not a whole number of at least 0 and at most 5"):
        independence_test(codes, sizes, 0, 9)
    with pytest.raises(ValueError, match="alpha=2 is not a number of at least 0 and at most 1"):
        pc_stable(codes, sizes, alpha=2)


# Alarm

ALARM = Path(os.environ.get("TACIT_DATA", "")) / "bif" / "alarm.bif"


@pytest.mark.skipif(not ALARM.is_file(), reason="TACIT_DATA does not name the published data sets")
@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_alarm_is_found_again(score):
    _, sizes, codes, truth = rows_of(ALARM, 10_000)
    settings = {"score": score, "equivalent_sample_size": 1.0}
    found = hill_climb(codes, sizes, **settings)
    assert structural_distance(*(check_edges("e", edges, 37) for edges in (found.edges, truth))) <= 5
    assert score_structure(codes, sizes, found.edges, **settings) > score_structure(codes, sizes, truth, **settings)
