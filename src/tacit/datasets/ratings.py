"""MovieLens: who gave which film how many stars."""

from __future__ import annotations

import csv
import re
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from .dataset import Dataset
from .files import archive_at, find, lines_beside

__all__ = ["load_movielens"]

WHERE = "https://grouplens.org/datasets/movielens"
FILMS = {"u.data": "u.item", "ratings.dat": "movies.dat", "ratings.csv": "movies.csv", "ratings.npz": "movies.dat"}
"""Files of ratings, and the file that each has its films in."""


GENRES = (
    "unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama", "Fantasy",
    "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller", "War", "Western",
)  # fmt: skip
"""Of the 100K edition, in the order of its columns."""
OCCUPATIONS = (
    "other", "educator", "artist", "clerical", "college student", "customer service", "doctor", "executive", "farmer",
    "homemaker", "pupil", "lawyer", "programmer", "retired", "sales", "scientist", "self-employed", "engineer", "tradesman",
    "unemployed", "writer",
)  # fmt: skip
"""Of the 1M edition, by number."""


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
        1970) where it is known, and where their files are there: `titles` by item; `items`, a table of films with year and
        genres; `users`, a table of people with age, gender and occupation (100K and 1M); and `fold`, the number of the test set
        that a rating of the 100K edition is in (``u1.test`` …, or ``splits.npz``).

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
    films = _films(place)
    titles = {number: title for number, title, _ in films} or None
    more = {"time": time, "titles": titles, "fold": fold, "items": _table(films), "users": _people(place)}
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


def _films(place: Path) -> list[tuple[int, str, str]]:
    """Number, title and genres, with bars between, of films; none where their file is not beside the ratings."""
    name = FILMS[place.name]
    if name == "movies.csv":
        rows = csv.DictReader(lines_beside(place, name))
        return [(int(row["movieId"]), row["title"], row.get("genres") or "") for row in rows]
    lines = lines_beside(place, name, encoding="latin-1")
    cells = [line.split("|" if name == "u.item" else "::") for line in lines if line]
    if name == "u.item":
        return [(int(row[0]), row[1], "|".join(compress(GENRES, map(int, row[5:])))) for row in cells]
    return [(int(row[0]), row[1], row[2] if len(row) > 2 else "") for row in cells]


def _table(films: list[tuple[int, str, str]]) -> dict[str, np.ndarray] | None:
    """Columns of films: number, year as the title tells it, and genres; None where there are no films."""
    if not films:
        return None
    years = [re.search(r"\((\d{4})\)\s*$", title) for _, title, _ in films]
    return {
        "item": np.array([number for number, _, _ in films]),
        "year": np.array([float(found[1]) if found else np.nan for found in years]),
        "genres": np.array([genres for _, _, genres in films], dtype=object),
    }


def _people(place: Path) -> dict[str, np.ndarray] | None:
    """Columns of people: number, age, gender and occupation; None where their file is not beside the ratings."""
    if place.name == "u.data":
        rows = [line.split("|") for line in lines_beside(place, "u.user", encoding="latin-1") if line]
        told = [(row[0], row[1], row[2], row[3]) for row in rows]
    else:
        rows = [line.split("::") for line in lines_beside(place, "users.dat", encoding="latin-1") if line]
        told = [(row[0], row[2], row[1], OCCUPATIONS[int(row[3])]) for row in rows]
    if not told:
        return None
    user, age, gender, occupation = zip(*told)
    return {
        "user": np.array(user, dtype=np.int64), "age": np.array(age, dtype=float),
        "gender": np.array(gender, dtype=object), "occupation": np.array(occupation, dtype=object),
    }  # fmt: skip


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
