"""MovieLens: who gave which film how many stars."""

import csv

import numpy as np

from .dataset import Dataset
from .files import archive_at, find, lines_of

__all__ = ["load_movielens"]

WHERE = "https://grouplens.org/datasets/movielens"
RATINGS = ("u.data", "ratings.dat", "ratings.csv", "ratings.npz")
TITLES = {"u.data": ("u.item", "|"), "ratings.dat": ("movies.dat", "::"), "ratings.npz": ("movies.dat", "::")}


def load_movielens(path):
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
    place = find(path, RATINGS, WHERE)
    user, item, rating, time = _READ[place.name](place)
    more = {} if time is None else {"time": time}
    titles = _titles(place)
    more |= {"titles": titles} if titles else {}
    fold = _folds(place, user, item) if place.name == "u.data" else None
    more |= {} if fold is None else {"fold": fold}
    X = np.column_stack([user, item]).astype(np.int64)
    told = f"MovieLens ratings, {place.name}; {WHERE}. For research, not to be passed on (Harper and Konstan 2015)."
    return Dataset("movielens", X, ["user", "item"], np.asarray(rating, dtype=np.float64), told, more)


def _separated(place, separator):
    """Ratings of a text file, user, item, rating and time in each line."""
    try:
        cells = np.array([line.split(separator) for line in lines_of(place, "latin-1") if line], dtype=np.float64)
        user, item, rating, time = cells.T
    except ValueError:
        raise ValueError(f"{place} does not hold four numbers in each line: user, item, rating and time.") from None
    return user, item, rating, time.astype(np.int64)


def _archive(place):
    arrays = archive_at(place, ("user", "item", "rating"))
    return arrays["user"], arrays["item"], arrays["rating"], arrays.get("time")


def _csv(place):
    try:
        table = np.genfromtxt(place, delimiter=",", skip_header=1, dtype=np.float64)
        user, item, rating, time = table.T
    except ValueError:
        raise ValueError(f"{place} does not hold the columns userId, movieId, rating and timestamp.") from None
    return user, item, rating, time.astype(np.int64)


_READ = {
    "u.data": lambda place: _separated(place, "\t"),
    "ratings.dat": lambda place: _separated(place, "::"),
    "ratings.csv": _csv,
    "ratings.npz": _archive,
}


def _titles(place):
    """Titles of films by number; empty where their file is not beside the ratings."""
    if place.name == "ratings.csv":
        films = place.with_name("movies.csv")
        if not films.is_file():
            return {}
        with films.open(newline="", encoding="utf-8") as file:
            return {int(row["movieId"]): row["title"] for row in csv.DictReader(file)}
    name, separator = TITLES[place.name]
    films = place.with_name(name)
    if not films.is_file():
        return {}
    rows = (line.split(separator) for line in lines_of(films, "latin-1") if line)
    return {int(row[0]): row[1] for row in rows}


def _folds(place, user, item):
    """Which of the five published test sets each rating is in; None where they are not there."""
    splits = place.with_name("splits.npz")
    if splits.is_file():
        return archive_at(splits, ("fold",))["fold"].astype(int)
    tests = [place.with_name(f"u{k}.test") for k in range(1, 6)]
    if not all(test.is_file() for test in tests):
        return None
    number: dict = {}
    for k, test in enumerate(tests, 1):
        u, i, *_ = _separated(test, "\t")
        number |= dict.fromkeys(zip(u, i), k)
    return np.array([number.get(pair, 0) for pair in zip(user, item)])
