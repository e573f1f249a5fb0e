"""Splits of ratings: every rating on one side, the right ones held out, and faults told."""

import numpy as np
import pytest

from tacit.recommend import Ratings, folds, split_ratings

from .toys import some_ratings


@pytest.fixture
def ratings(rng):
    return Ratings.read(some_ratings(rng))


def cells(*parts):
    return sorted(
        triple for part in parts for triple in zip(part.user.tolist(), part.item.tolist(), part.rating.tolist())
    )


@pytest.mark.parametrize(
    ("test", "by", "given"),
    [(0.2, "random", None), (100, "random", None), (0.25, "user", None), (7, "user", 3), (0.1, "time", None), (2, "last", None),
     (0.3, "last", None)],
)  # fmt: skip
def test_every_rating_is_on_one_side(ratings, test, by, given):
    parts = split_ratings(ratings, test, by, given=given, random_state=1)
    assert cells(*parts) == cells(ratings)
    assert all(
        part.users is ratings.users and part.items is ratings.items and part.scale == ratings.scale for part in parts
    )
    again, other = (split_ratings(ratings, test, by, given=given, random_state=seed) for seed in (1, 2))
    assert cells(again[-1]) == cells(parts[-1])
    assert (cells(other[-1]) == cells(parts[-1])) == (by in ("time", "last"))


def test_shares_and_numbers_are_kept(ratings):
    n = len(ratings)
    assert len(split_ratings(ratings, 0.2, random_state=0)[1]) == round(0.2 * n)
    assert len(split_ratings(ratings, 33, random_state=0)[1]) == 33
    train, test = split_ratings(ratings, 0.25, "user", random_state=0)
    assert len(set(test.user)) == 10
    assert not set(test.user) & set(train.user)
    train, test = split_ratings(ratings, 0.2, "time")
    assert train.time.max() < test.time.min()


def test_the_last_ratings_of_each_user(ratings):
    train, test = split_ratings(ratings, 2, "last")
    for user in np.unique(ratings.user):
        times = np.sort(ratings.time[ratings.user == user])
        assert np.sort(test.time[test.user == user]).tolist() == times[-2:].tolist()
        assert np.sort(train.time[train.user == user]).tolist() == times[:-2].tolist()
    few = Ratings.read({"user": [1, 1, 2], "item": [1, 2, 1], "rating": [1, 2, 3], "time": [2, 1, 5]})
    train, test = split_ratings(few, 1, "last")
    assert test.rating.tolist() == [1.0]  # the user with one rating keeps it


def test_users_of_whom_some_is_given(ratings):
    train, given, test = split_ratings(ratings, 10, "user", given=3, random_state=0)
    assert set(given.user) == set(test.user)
    assert not set(test.user) & set(train.user)
    for user in set(test.user.tolist()):
        assert (given.user == user).sum() == 3
        assert given.time[given.user == user].max() < test.time[test.user == user].min()


def test_folds_deal_every_rating_once(ratings):
    for by in ("random", "user"):
        parts = list(folds(ratings, 4, by, random_state=0))
        assert cells(*(test for _, test in parts)) == cells(ratings)
        assert all(cells(train, test) == cells(ratings) for train, test in parts)
        assert all(not set(train.user) & set(test.user) for train, test in parts) == (by == "user")
    number = np.arange(len(ratings)) % 3 - 1
    parts = list(folds(ratings, number))
    assert [len(test) for _, test in parts] == [(number == 0).sum(), (number == 1).sum()]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: split_ratings(r, 1.5), "test=1.5 is neither a share between 0 and 1 nor a number of ratings"),
        (lambda r: split_ratings(r, 1e-9), "test=1e-09 leaves nothing to judge by"),
        (lambda r: split_ratings(r, 10**6), "leaves nothing to learn from: "),
        (lambda r: split_ratings(r, 0.2, "day"), "by='day' is unknown"),
        (lambda r: split_ratings(r, 0.2, given=3), "given=3 is for by='user'"),
        (lambda r: split_ratings(r, 2, "user", given=10**6), "given=1000000 leaves nothing to judge by"),
        (
            lambda r: split_ratings(Ratings(r.user, r.item, r.rating, r.users, r.items), 0.2, "time"),
            "by='time' needs times",
        ),
        (lambda r: list(folds(r, 10**6)), "n_folds=1000000 exceeds the .* ratings, so that a fold would be empty"),
        (lambda r: list(folds(r, 41, "user")), "n_folds=41 exceeds the 40 users"),
        (lambda r: list(folds(r, 1)), "n_folds=1 is not a whole number of at least 2"),
        (lambda r: list(folds(r, [1, 2])), r"its shape is \(2,\)"),
        (lambda r: list(folds(r, np.ones(len(r), int))), r"the numbers of folds are \[1\], so that nothing is left"),
    ],
)
def test_splits_without_sense_are_refused(ratings, call, message):
    with pytest.raises(ValueError, match=message):
        call(ratings)
