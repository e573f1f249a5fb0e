"""MovieLens: who gave which film how many stars."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from .dataset import Dataset
from .files import archive_at, find, lines_beside

__all__ = ["load_movielens"]

WHERE = "https://grouplens.org/datasets/movielens"
FILMS = {"u.data": "u.item", "ratings.dat": "movies.dat", "ratings.csv": "movies.csv", "ratings.npz": "movies.dat"}
"""Files of ratings, and the file that each has its films in."""


def load_movielens(path: Any) -> Dataset:
    """Ratings of films by people: MovieLens-100K, -1M or any later edition.

    Parameters
    ----------
    path : path-like
        The folder of the edition, or its file of ratings: ``u.data`` (100K), ``ratings.dat`` (1M, 10M), ``ratings.csv`` (20M and
        later), or ``ratings.npz`` with the arrays `user`, `item` and `rating`.

    Returns
    -------
    Dataset
        X has the columns user and item (numbers as published), the target is the rating. ``more`` has `time` (seconds since
        1970) where it is known, `titles` by item where the file of films is there, and where the five folds of the 100K edition
        are there (``u1.test`` …, or ``splits.npz``), `fold`, the number of the test set that a rating is in.

    Examples
    --------
    >>> from tacit.datasets import load_movielens
    >>> ratings = load_movielens("ml-100k")  # doctest: +SKIP
    >>> ratings.X.shape, ratings.target.mean()  # doctest: +SKIP
    ((100000, 2), 3.52986)
    """
    place = find(path, tuple(FILMS), WHERE)
    if place.suffix == ".npz":
        arrays = archive_at(place, ("user", "item", "rating"))
        user, item, rating, time = *(arrays[name] for name in ("user", "item", "rating")), arrays.get("time")
    else:
        user, item, rating, time = _read(place)
    fold = _folds(place, user, item) if place.name == "u.data" else None
    more = {"time": time, "titles": _titles(place) or None, "fold": fold}
    X = np.column_stack([user, item]).astype(np.int64)
    told = f"MovieLens ratings, {place.name}; {WHERE}. For research, not to be passed on (Harper and Konstan 2015)."
    known = {name: value for name, value in more.items() if value is not None}
    return Dataset("movielens", X, ["user", "item"], np.asarray(rating, dtype=np.float64), told, known)


def _read(place: Path) -> tuple[np.ndarray, ...]:
    """User, item, rating and time in each line of a text file."""
    try:
        with place.open(encoding="latin-1") as file:
            lines = (line.replace("::", ",").replace("\t", ",") for line in file)
            user, item, rating, time = np.loadtxt(lines, delimiter=",", skiprows=int(place.suffix == ".csv"), ndmin=2).T
    except ValueError:
        raise ValueError(f"{place} does not hold four numbers in each line: user, item, rating and time.") from None
    return user, item, rating, time.astype(np.int64)


def _titles(place: Path) -> dict[int, str]:
    """Titles of films by number; empty where their file is not beside the ratings."""
    name = FILMS[place.name]
    if name == "movies.csv":
        return {int(row["movieId"]): row["title"] for row in csv.DictReader(lines_beside(place, name))}
    lines = lines_beside(place, name, encoding="latin-1")
    rows = (line.split("|" if name == "u.item" else "::") for line in lines if line)
    return {int(row[0]): row[1] for row in rows}


def _folds(place: Path, user: np.ndarray, item: np.ndarray) -> np.ndarray | None:
    """Which of the five published test sets each rating is in; None where they are not there."""
    splits = place.with_name("splits.npz")
    if splits.is_file():
        return archive_at(splits, ("fold",))["fold"].astype(int)
    tests = [place.with_name(f"u{k}.test") for k in range(1, 6)]
    if not all(test.is_file() for test in tests):
        return None
    number: dict = {}
    for k, test in enumerate(tests, 1):
        u, i, *_ = _read(test)
        number |= dict.fromkeys(zip(u, i), k)
    return np.array([number.get(pair, 0) for pair in zip(user, item)])
