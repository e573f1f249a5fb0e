"""`Potential`: products, sums, maxima and what is given, against plain loops."""

import itertools

import numpy as np
import pytest

from tacit.graph import Potential

STATES = {"a": ["x", "y"], "b": [0, 1, 2], "c": ["u", "v"]}


def table(variables, seed=0):
    shape = [len(STATES[v]) for v in variables]
    return Potential(variables, np.random.default_rng(seed).random(shape), STATES)


def value(t, assignment):
    return t.values[tuple(t.number(v, assignment[v]) for v in t.variables)]


def assignments(variables):
    for states in itertools.product(*(STATES[v] for v in variables)):
        yield dict(zip(variables, states))


def test_a_product_multiplies_values_of_the_same_assignment():
    left, right = table("ab"), table("cb", 1)
    both = left * right
    assert both.variables == ("a", "b", "c")
    for at in assignments("abc"):
        assert value(both, at) == value(left, at) * value(right, at)
    assert (both / right).values == pytest.approx((left * Potential("c", [1, 1], STATES)).values)


def test_marginals_sum_and_max_marginals_take_the_largest():
    t = table("abc")
    for at in assignments("ca"):
        over = [value(t, at | {"b": b}) for b in STATES["b"]]
        assert value(t.marginal("ca"), at) == pytest.approx(sum(over))
        assert value(t.max_marginal("ca"), at) == max(over)
    assert t.marginal([]).total == pytest.approx(t.total)


def test_reduce_fixes_states_and_ignores_other_variables():
    t = table("abc").reduce({"b": 2, "d": "z"})
    assert t.variables == ("a", "c")
    assert np.array_equal(t.values, table("abc").values[:, 2, :])


def test_zeros_are_safe():
    t = Potential("a", [0.0, 2.0], STATES)
    assert t.log.tolist() == [-np.inf, np.log(2.0)]
    assert (t / t).values.tolist() == [0.0, 1.0]
    assert t.normalised().values.tolist() == [0.0, 1.0]
    assert t.argmax() == {"a": "y"}


def test_the_product_of_nothing_is_one_and_order_does_not_matter_for_equality():
    assert Potential.product([]).total == 1.0
    assert table("ab") == table("ab").aligned("ba")
    assert table("ab") != table("ab", 1)


def test_values_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        table("ab").values[0, 0] = 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [(lambda: Potential("aa", np.ones((2, 2))), r"variables=\['a', 'a'\] names a variable twice"),
     (lambda: Potential("ab", np.ones((2, 2)), STATES), r"values has shape \(2, 2\), but the states of a, b give \(2, 3\)"),
     (lambda: Potential("a", [1.0, -0.5]), r"the table of a holds -0.5; values must be finite and at least 0"),
     (lambda: Potential("a", [1.0, np.nan]), r"the table of a holds nan"),
     (lambda: Potential("a", [1.0, 1.0], {}), r"states does not tell the states of 'a'"),
     (lambda: table("ab").reduce({"a": "z"}), r"'z' is no state of 'a'; its states are 'x', 'y'"),
     (lambda: table("ab").marginal("c"), r"'c' is no variable of the table of a, b"),
     (lambda: table("ab").aligned("a"), r"cannot be put in the order \['a'\]"),
     (lambda: Potential("a", [0.0, 0.0]).normalised(), r"the table of a sums to 0"),
     (lambda: Potential("a", [1, 1]) * Potential("a", [1, 1], STATES),
      r"the states of 'a' are \[0, 1\] in one table and \['x', 'y'\]"),
     (lambda: Potential(range(15), np.ones([2] * 15)) * Potential(range(15, 30), np.ones([2] * 15)),
      r"a table of 30 variables has 1.07e\+09 cells, 8.59e\+09 bytes; combine fewer tables at once")],
)  # fmt: skip
def test_bad_tables_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
