"""Records of arrays: arithmetic, vectors, dictionaries, pickles."""

import copy
import pickle
from functools import cached_property

import numpy as np
import pytest

from tacit.arrays import Arrays, record


@record
class Inner(Arrays):
    x: np.ndarray

    @cached_property
    def norm(self):
        return float(np.linalg.norm(self.x))


@record
class Other(Arrays):
    x: np.ndarray


@record
class Outer(Arrays):
    weight: float
    table: np.ndarray
    inner: Arrays


def outer(seed=0):
    rng = np.random.default_rng(seed)
    return Outer(float(rng.normal()), rng.normal(size=(2, 3)), Inner(rng.normal(size=4)))


def same(a, b):
    assert type(a) is type(b)
    assert a.to_dict().keys() == b.to_dict().keys()
    for name, value in a.to_dict().items():
        np.testing.assert_array_equal(value, b.to_dict()[name])


def test_sum_and_multiple_act_on_every_array_at_every_depth():
    a, b = outer(0), outer(1)
    c = a + 2.0 * b
    assert isinstance(c, Outer)
    assert isinstance(c.inner, Inner)
    assert c.weight == a.weight + 2.0 * b.weight
    np.testing.assert_array_equal(c.table, a.table + 2.0 * b.table)
    np.testing.assert_array_equal(c.inner.x, a.inner.x + 2.0 * b.inner.x)
    same(a * 0.5, np.float64(0.5) * a)


def test_arithmetic_leaves_the_operands_alone():
    a, b = outer(0), outer(1)
    before = copy.deepcopy(a)
    a + b, 3.0 * a
    same(a, before)


def test_records_of_different_types_cannot_be_added():
    with pytest.raises(TypeError, match="'Inner' and 'Other'"):
        Inner(np.ones(2)) + Other(np.ones(2))
    with pytest.raises(TypeError, match="'Inner' and 'int'"):
        Inner(np.ones(2)) + 1


def test_nested_records_of_different_types_cannot_be_added():
    with pytest.raises(TypeError):
        Outer(1.0, np.ones(2), Inner(np.ones(2))) + Outer(1.0, np.ones(2), Other(np.ones(2)))


def test_vector_holds_every_number_in_field_order_and_comes_back():
    a = outer()
    vector = a.to_vector()
    assert vector.dtype == np.float64
    np.testing.assert_array_equal(vector, [a.weight, *a.table.ravel(), *a.inner.x])
    b = outer(1).from_vector(vector)
    same(b, a)
    assert isinstance(b.weight, float)


def test_dictionary_is_flat_and_comes_back():
    a = outer()
    flat = a.to_dict()
    assert list(flat) == ["weight", "table", "inner.x"]
    assert all(isinstance(value, np.ndarray) for value in flat.values())
    b = outer(1).from_dict(flat)
    same(b, a)
    assert isinstance(b.weight, float)


def test_a_missing_entry_of_a_dictionary_is_named():
    flat = outer().to_dict()
    del flat["inner.x"]
    with pytest.raises(KeyError, match=r"inner\.x"):
        outer().from_dict(flat)


def test_map_passes_matching_arrays_of_other_records():
    a, b, c = outer(0), outer(1), outer(2)
    middle = a.map(lambda x, y, z: np.median([x, y, z], axis=0), b, c)
    np.testing.assert_array_equal(middle.inner.x, np.median([a.inner.x, b.inner.x, c.inner.x], axis=0))


@pytest.mark.parametrize("again", [lambda a: pickle.loads(pickle.dumps(a)), copy.copy, copy.deepcopy])
def test_pickles_and_copies_leave_cached_values_behind(again):
    a = outer()
    assert a.inner.norm > 0.0
    b = again(a.inner)
    same(b, a.inner)
    assert list(b.__dict__) == ["x"]
    assert b.norm == a.inner.norm


def test_cached_values_are_made_anew_after_arithmetic():
    a = Inner(np.array([3.0, 4.0]))
    assert a.norm == 5.0
    assert (2.0 * a).norm == 10.0
    assert (a + a).norm == 10.0


def test_fields_cannot_be_reassigned():
    with pytest.raises(AttributeError, match="cannot assign to field 'weight'"):
        outer().weight = 2.0
