"""Counts, numbers, models and groups in words."""

from types import SimpleNamespace

import numpy as np
import pytest

from tacit import words
from tacit.study import phrases
from tacit.study.phrases import group_phrase


@pytest.mark.parametrize(
    ("n", "text"), [(0, "no rows"), (1, "1 row"), (2, "2 rows"), (1000, "1,000 rows"), (1234567, "1,234,567 rows")]
)
def test_counts_have_their_noun(n, text):
    assert words.count(n, "row") == text


def test_a_plural_may_be_given():
    assert words.count(2, "category", "categories") == "2 categories"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (-0.0, "0"), (1, "1"), (3.14159, "3.142"), (-2.5, "-2.5"), (1234.5678, "1235"), (12345.67, "12,346"),
     (0.00012345, "0.0001234"), (1e-9, "1e-9"), (1e15, "1e15"),
     (2007, "2007"), (np.nan, "–"), (None, "–"), (np.inf, "–"), (100, "100")],
)  # fmt: skip
def test_numbers_have_the_digits_they_deserve(value, text):
    assert words.number(value) == text


def test_rounding_beside_the_spread_is_zero():
    assert words.number(3.76e-15, scale=2.0) == "0"
    assert words.number(3.76e-15) == "3.76e-15"
    assert words.number(-3e-3, scale=2.0) == "-0.003"


@pytest.mark.parametrize(
    ("values", "texts"),
    [([1990, 2000, 2010], ["1990", "2000", "2010"]), ([8000, 10000, 12000], ["8,000", "10,000", "12,000"]),
     ([-0.5, 0.0, 0.5], ["-0.5", "0", "0.5"]), ([0.0, 2.5, 5.0], ["0", "2.5", "5.0"]), ([1e8, 2e8], ["1e8", "2e8"]),
     ([2007], ["2007"])],
)  # fmt: skip
def test_ticks_are_written_alike_and_years_without_separators(values, texts):
    assert words.ticks(values) == texts


@pytest.mark.parametrize(
    ("value", "text"), [(0.004, "0.00"), (-0.004, "0.00"), (1.5, "+1.50"), (-2, "-2.00"), (None, "–")]
)
def test_signs(value, text):
    assert words.signed(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 %"),
        (1, "100 %"),
        (0.5, "50 %"),
        (0.007, "0.7 %"),
        (0.0999, "10 %"),
        (0.0004, "< 0.1 %"),
        (0.9999, "> 99.9 %"),
        (0.996, "99.6 %"),
        (0.994, "99 %"),
    ],
)
def test_shares_are_all_or_none_only_if_they_are(value, text):
    assert words.share(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.9999, "> 0.99"), (1.0, "1.00"),
     (0.5, "0.50"), (0.0123, "0.01"), (0.00034, "0.0003"), (1e-30, "below 1e-12"), (0.0, "below 1e-12")],
)  # fmt: skip
def test_probabilities_however_small(value, text):
    assert words.probability(value) == text


@pytest.mark.parametrize(("parts", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), ("abc", "a, b and c")])
def test_lists(parts, text):
    assert words.joined(parts) == text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [((1, "full"), "1 group (full)"),
     ((2,), "2 groups"),
     ((2, "tied", False, 1), "2 groups, all groups with the same spread (tied)"),
     ((3, "VEV", True), "3 groups, varying volume, equal shape, varying orientation (VEV), heavy tails"),
     ((2, "EII"), "2 groups, equal volume, round, columns independent inside a group (EII)")],
)  # fmt: skip
def test_models(arguments, text):
    assert phrases.model_words(*arguments) == text


def test_columns_left_out_for_the_same_reason_are_told_together():
    columns = [
        SimpleNamespace(name=name, left_out=why)
        for name, why in (("a", "text"), ("d", "a date; say so"), ("b", "text"))
    ]
    assert phrases.left_out_words(columns) == ["a, b (text)", "d (a date; say so)"]
    assert phrases.left_out_words(columns, brief=True)[1] == "d (a date)"


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [((0.21, 10.4), ("0.21", "10")), ((0.03, 5.2), ("0.030", "5.2")), ((-0.02, 4.2), ("-0.020", "4.2")),
     ((217.2, 192.7), ("217", "193")), ((-1e-9, 4.2), ("0.0", "4.2")), ((123456.7, 98765.4), ("123,457", "98,765"))],
)  # fmt: skip
def test_two_numbers_have_two_digits_that_count(numbers, texts):
    assert words.pair(*numbers) == texts


def test_a_group_is_told_by_its_columns_or_by_its_spread_or_as_average():
    entries = [{"phrase": f"{name} high", "column": name, "is_missing": False} for name in "abcdef"]
    assert group_phrase(entries) == "a high, b high, c high, d high"
    assert group_phrase([], [("x", 1.2), ("y", 0.2), ("z", 3.0)]) == "y less spread out, z more spread out"
    assert group_phrase([], [("x", 1.2)]) == "like the table as a whole"
