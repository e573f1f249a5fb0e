"""Displays of ratings draw what there is and what was predicted."""

import numpy as np
import pytest

from tacit.datasets import make_ratings
from tacit.plot import CalibrationDisplay, ItemMapDisplay, RatingsDisplay
from tacit.recommend import MatrixFactorization, Ratings
from tacit.recommend.trial import try_recommender


@pytest.fixture(scope="module")
def drawn():
    return make_ratings(120, 30, density=0.4, random_state=0)


@pytest.fixture(scope="module")
def ratings(drawn):
    return Ratings.read(drawn.table())


@pytest.fixture(scope="module")
def model(ratings):
    return MatrixFactorization(6, random_state=0).fit(ratings)


def test_bars_are_shares_and_tails_are_sorted(model, ratings):
    display = RatingsDisplay.from_estimator(model)
    heights = [bar.get_height() for bar in display.bars_]
    np.testing.assert_allclose(heights, [np.mean(ratings.rating == level) for level in range(1, 6)])
    tail = display.tails_[0].get_ydata()
    assert (np.diff(tail) <= 0).all()
    assert tail.sum() == len(ratings) == display.tails_[1].get_ydata().sum()


def test_ratings_without_levels_are_binned(pyplot):
    table = {"user": np.repeat(np.arange(30), 4), "item": np.tile(np.arange(4), 30), "rating": np.linspace(0, 10, 120)}
    figure, ax = pyplot.subplots()
    display = RatingsDisplay.from_ratings(table, ax=ax)
    assert display.figure_ is figure
    assert len(display.bars_) == 20
    assert display.tails_ == []


def test_the_map_separates_genres(drawn, model):
    display = ItemMapDisplay.from_estimator(model, names=drawn.more["titles"], types=drawn.more["genre"] + 1, n=8)
    assert len(display.names_) == 8
    assert display.names[0] == drawn.more["titles"][model.items_[np.bincount(model.seen_.indices).argmax()]]
    kind, places = display.types, display.places
    centres = np.array([places[kind == k].mean(axis=0) for k in (1, 2, 3)])
    nearest = np.linalg.norm(places[:, None] - centres, axis=2).argmin(axis=1) + 1
    assert (nearest == kind).mean() > 0.9


def test_lines_are_those_of_the_check(model, ratings):
    display = CalibrationDisplay.from_estimator(model, ratings, n=5)
    check = try_recommender(model, ratings)
    np.testing.assert_allclose(display.curve_.get_xdata(), [point["predicted"] for point in check.curve(5)])
    np.testing.assert_allclose(display.inside_.get_ydata(), list(check.inside.values()))
    assert f"error {check.rmse():.3f}" in display.axes_[0].get_title()
