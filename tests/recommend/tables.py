"""Ratings for tests: drawn ones, and the MovieLens tables where they are to be had."""

import os
from pathlib import Path

import numpy as np
import pytest

from tacit.recommend import Ratings

DATA = os.environ.get("TACIT_DATA", "")
needs_movielens = pytest.mark.skipif(
    not (Path(DATA) / "movielens100k").is_dir() or not DATA, reason="TACIT_DATA does not say where MovieLens is"
)


def drawn(n_users=40, n_items=25, share=0.4, seed=0, **along):
    """Ratings from 1 to 5 by biases and one taste, each cell with a chance to be there."""
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((n_users, n_items)) < share)
    taste = rng.normal(size=n_users)[user] * rng.normal(size=n_items)[item]
    level = 3.2 + 0.5 * rng.normal(size=n_users)[user] + 0.5 * rng.normal(size=n_items)[item] + 0.8 * taste
    rating = np.clip(np.round(level + 0.4 * rng.normal(size=len(user))), 1, 5)
    order = rng.permutation(len(user))
    return Ratings(user[order], item[order], rating[order], np.arange(n_users), np.arange(n_items), **along)


def movielens():
    """MovieLens-100K and the official fold of every rating."""
    folder = Path(DATA) / "movielens100k"
    cells = np.loadtxt(folder / "u.data")
    fold = np.load(folder / "splits.npz")["fold"]
    return Ratings(cells[:, 0] - 1, cells[:, 1] - 1, cells[:, 2], np.arange(1, 944), np.arange(1, 1683)), fold


def films():
    """Years and genres of the films of MovieLens-100K, as a table."""
    lines = (Path(DATA) / "movielens100k" / "u.item").read_text(encoding="latin-1").splitlines()
    cells = [line.split("|") for line in lines]
    genres = ["|".join(str(k) for k, mark in enumerate(each[-19:]) if mark == "1") for each in cells]
    years = [float(each[2][-4:]) if each[2] else np.nan for each in cells]
    return {"item": np.arange(1, 1683), "year": years, "genre": genres}


def judged(model, test):
    """RMSE, coverage of 90 % intervals and mean log probability of the ratings that were given."""
    low, high = model.predict_interval(test)
    chances = model.predict_proba(test)[np.arange(len(test)), np.searchsorted(model.levels_, test.rating)]
    rmse = np.sqrt(np.mean((model.predict(test) - test.rating) ** 2))
    return float(rmse), float(np.mean((low <= test.rating) & (test.rating <= high))), float(np.log(chances).mean())


def odd_ratings():
    """Small and odd ratings: by one user, of one item, one rating, all alike, users with one rating, a constant user."""
    yield "one user", Ratings([0, 0, 0], [0, 1, 2], [1, 5, 3], np.array(["a"]), np.arange(3))
    yield "one item", Ratings([0, 1, 2], [0, 0, 0], [1, 5, 3], np.arange(3), np.array(["a"]))
    yield "one rating", Ratings([0], [0], [4], np.arange(1), np.arange(1))
    yield "all alike", Ratings([0, 0, 1, 1], [0, 1, 0, 1], [3, 3, 3, 3], np.arange(2), np.arange(2))
    yield "users with one rating", Ratings([0, 1, 2, 3], [0, 0, 1, 1], [1, 2, 4, 5], np.arange(4), np.arange(2))
    yield (
        "a constant user",
        Ratings([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2], [4, 4, 4, 1, 5, 2], np.arange(2), np.arange(3)),
    )
    yield "who and what has no rating", Ratings([0, 0, 1], [0, 1, 0], [1, 5, 2], np.arange(4), np.arange(5))
