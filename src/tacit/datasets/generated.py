"""Rows drawn from models, with the truth behind them.

make_mixed_table:  group ~ weights;  measurements | group ~ N(μ, Σ),  counts ~ Poisson(λ),  categories ~ p, all of the group
make_factors:      x = μ + Λ f + ε,  f ~ N(0, I),  ε ~ N(0, Ψ)
make_outliers:     rows around a few centres, and a share of rows anywhere
make_ratings:      r = round(3.5 + t[type of user, type of item] + b_user + b_item + ε) within 1 to 5
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from ..checks import check_number, check_positive
from .dataset import Dataset
from .missingness import check_share, make_missing

__all__ = ["make_factors", "make_mixed_table", "make_outliers", "make_ratings"]

COLOURS = ("red", "green", "blue", "yellow", "black", "white")
GENRES = ("Comedy", "Crime", "Space", "Western", "Romance", "Nature", "Music", "War")


def _check_sizes(least: int, **sizes: Any) -> None:
    for name, value in sizes.items():
        check_number(name, value, numbers.Integral, least)


def make_mixed_table(
    n_rows: int = 500, n_groups: int = 3, *, n_measurements: int = 3, n_counts: int = 1, n_categories: int = 1,
    separation: float = 3.0, missing: float = 0.1, mechanism: str = "mcar", random_state: Any = None,
) -> Dataset:  # fmt: skip
    """A table of groups of rows with measurements, counts, categories and missing values.

    Parameters
    ----------
    n_rows, n_groups : int
        Sizes.
    n_measurements, n_counts, n_categories : int
        Columns of each kind.
    separation : float, default=3.0
        Distance between groups, in standard deviations within one.
    missing : float, default=0.1
        Share of the cells that are missing.
    mechanism : {"mcar", "mar", "mnar"}, default="mcar"
        How they went missing; see :func:`make_missing`.
    random_state : int or Generator, optional
        Seeds the draw.

    Returns
    -------
    Dataset
        The target is the true group; ``more["complete"]`` are the rows without missing values.

    Examples
    --------
    >>> from tacit.datasets import make_mixed_table
    >>> table = make_mixed_table(100, missing=0.2, random_state=0)
    >>> table.columns
    ['measure_1', 'measure_2', 'measure_3', 'count_1', 'kind_1']
    """
    _check_sizes(1, n_rows=n_rows, n_groups=n_groups)
    _check_sizes(0, n_measurements=n_measurements, n_counts=n_counts, n_categories=n_categories)
    if n_measurements + n_counts + n_categories == 0:
        raise ValueError("n_measurements, n_counts and n_categories are all 0; ask for at least one column.")
    rng = np.random.default_rng(random_state)
    group = rng.choice(n_groups, n_rows, p=rng.dirichlet(np.full(n_groups, 20.0)))
    columns: dict = {}
    for name, values in (
        ("measure", _measurements(group, n_groups, n_measurements, separation, rng)),
        ("count", _counts(group, n_groups, n_counts, separation, rng)),
        ("kind", _categories(group, n_groups, n_categories, rng)),
    ):
        columns |= {f"{name}_{j + 1}": column for j, column in enumerate(values.T)}
    complete = np.empty((n_rows, len(columns)), dtype=object)
    for j, column in enumerate(columns.values()):
        complete[:, j] = column.tolist()
    if not n_categories:
        complete = complete.astype(np.float64)
    X = make_missing(complete, missing, mechanism, rng)
    more = {"complete": complete, "target_column": "group"}
    return Dataset("mixed", X, list(columns), group, _told("mixed rows of known groups", random_state), more)


def _measurements(group: np.ndarray, n_groups: int, d: int, separation: float, rng: np.random.Generator) -> np.ndarray:
    centre = rng.normal(size=(n_groups, d))
    centre *= separation / np.maximum(np.linalg.norm(centre, axis=1, keepdims=True), 1e-12) / np.sqrt(2)
    turn = np.eye(d) + 0.4 * rng.normal(size=(n_groups, d, d)) / max(np.sqrt(d), 1.0)
    noise = np.einsum("nij,nj->ni", turn[group], rng.normal(size=(len(group), d)))
    return (10.0 * (1 + np.arange(d)) + (centre[group] + noise) * (1 + np.arange(d))).round(4)


def _counts(group: np.ndarray, n_groups: int, d: int, separation: float, rng: np.random.Generator) -> np.ndarray:
    # Square roots of counts have a spread of a half, whatever the rate.
    root = 1.5 + 0.5 * separation * rng.permuted(np.tile(np.arange(n_groups)[:, None], (1, d)), axis=0)
    return rng.poisson(root[group] ** 2)


def _categories(group: np.ndarray, n_groups: int, d: int, rng: np.random.Generator) -> np.ndarray:
    n_levels = min(max(n_groups, 2), len(COLOURS))
    chances = rng.dirichlet(np.full(n_levels, 0.5), size=(d, n_groups))
    code = (rng.random((len(group), d, 1)) > np.cumsum(chances, axis=2).transpose(1, 0, 2)[group]).sum(axis=2)
    return np.array(COLOURS, dtype=object)[np.minimum(code, n_levels - 1)]


def make_factors(
    n_rows: int = 500, n_columns: int = 8, n_factors: int = 2, *, noise: float = 0.5, missing: float = 0.0,
    mechanism: str = "mcar", random_state: Any = None,
) -> Dataset:  # fmt: skip
    """Columns behind which a few factors are.

    Parameters
    ----------
    n_rows, n_columns, n_factors : int
        Sizes; at most one factor less than columns.
    noise : float, default=0.5
        Standard deviation of what is each column's own, about 1 being that of the factors.
    missing, mechanism, random_state
        As in :func:`make_mixed_table`.

    Returns
    -------
    Dataset
        ``more`` has `complete`, `loadings` (columns, factors), `scores` (rows, factors) and `noise`, the standard deviations of
        the columns' own parts.

    Examples
    --------
    >>> from tacit.datasets import make_factors
    >>> make_factors(50, 6, 2, random_state=0).more["loadings"].shape
    (6, 2)
    """
    _check_sizes(1, n_rows=n_rows, n_factors=n_factors)
    _check_sizes(2, n_columns=n_columns)
    if n_factors >= n_columns:
        raise ValueError(
            f"n_factors={n_factors} leaves nothing to explain of {n_columns} columns; use at most {n_columns - 1}."
        )
    check_positive("noise", noise)
    rng = np.random.default_rng(random_state)
    own = np.arange(n_columns) % n_factors  # every column belongs to one factor most
    loadings = 0.15 * rng.normal(size=(n_columns, n_factors))
    loadings[np.arange(n_columns), own] = rng.choice([-1.0, 1.0], n_columns) * rng.uniform(0.7, 1.1, n_columns)
    scores = rng.normal(size=(n_rows, n_factors))
    spread = noise * rng.uniform(0.7, 1.3, n_columns)
    complete = 50.0 + 10.0 * (scores @ loadings.T + spread * rng.normal(size=(n_rows, n_columns)))
    X = make_missing(complete, missing, mechanism, rng)
    more = {"complete": complete, "loadings": 10.0 * loadings, "scores": scores, "noise": 10.0 * spread}
    columns = [f"test_{j + 1}" for j in range(n_columns)]
    return Dataset("factors", X, columns, None, _told("columns behind which known factors are", random_state), more)


def make_outliers(
    n_rows: int = 500, n_columns: int = 3, n_groups: int = 2, *, share: float = 0.05, missing: float = 0.0,
    mechanism: str = "mcar", random_state: Any = None,
) -> Dataset:  # fmt: skip
    """Rows around a few centres, and some that belong to none.

    Parameters
    ----------
    n_rows, n_columns, n_groups : int
        Sizes.
    share : float, default=0.05
        Of the rows that are outliers.
    missing, mechanism, random_state
        As in :func:`make_mixed_table`.

    Returns
    -------
    Dataset
        The target is the group, −1 for outliers; ``more["complete"]`` are the rows without missing values.

    Examples
    --------
    >>> from tacit.datasets import make_outliers
    >>> int((make_outliers(200, share=0.1, random_state=0).target < 0).sum())
    20
    """
    _check_sizes(1, n_rows=n_rows, n_columns=n_columns, n_groups=n_groups)
    check_share(share)
    rng = np.random.default_rng(random_state)
    group = rng.integers(0, n_groups, n_rows)
    centres = 8.0 * rng.normal(size=(n_groups, n_columns))
    X = centres[group] + rng.normal(size=(n_rows, n_columns))
    wild = rng.choice(n_rows, round(share * n_rows), replace=False)
    reach = 3.0 * (np.abs(centres).max() + 3.0)
    X[wild] = rng.uniform(-reach, reach, (len(wild), n_columns))
    group[wild] = -1
    columns = [f"x{j + 1}" for j in range(n_columns)]
    told = _told("groups of rows with outliers", random_state)
    more = {"complete": X, "target_column": "group"}
    return Dataset("outliers", make_missing(X, missing, mechanism, rng), columns, group, told, more)


def make_ratings(
    n_users: int = 300, n_items: int = 80, n_types: int = 3, *, density: float = 0.2, taste: float = 1.0, noise: float = 0.7,
    random_state: Any = None,
) -> Dataset:  # fmt: skip
    """Ratings of films from 1 to 5 by users who like films of one genre more than those of others.

    A rating is 3.5 plus what the user's type adds to the item's, the user's and the item's own bias and noise, rounded to the
    scale. A few items have most of the ratings, and a few users give most of them.

    Parameters
    ----------
    n_users, n_items : int
        Sizes.
    n_types : int, default=3
        Types of users, and of items, which are genres; at most 8.
    density : float, default=0.2
        Share of all pairs that are rated; a user rates at least one item.
    taste : float, default=1
        How much users add to the rating of an item of their own genre, and take from that of another.
    noise : float, default=0.7
        Standard deviation of what nothing explains.
    random_state : int, Generator or None

    Returns
    -------
    Dataset
        X has the columns user and item (texts), the target is the rating. ``more`` has `time` (days since 1970), `users` and
        `items` (ids in order), `titles` by item, `genre` and `user_type` (numbers, by item and by user), `item_features`
        (items, types: 1 where an item is of a genre), `feature_names`, and `expected`, the rating before noise and rounding.

    Examples
    --------
    >>> from tacit.datasets import make_ratings
    >>> ratings = make_ratings(50, 20, random_state=0)
    >>> ratings.columns, sorted(set(ratings.target.tolist()))
    (['user', 'item'], [1.0, 2.0, 3.0, 4.0, 5.0])
    """
    _check_sizes(1, n_users=n_users, n_items=n_items, n_types=n_types)
    if n_types > len(GENRES):
        raise ValueError(f"n_types={n_types} is more than there are genres; use at most {len(GENRES)}.")
    check_number("density", density, (int, float), 0, 1)
    check_positive("taste", taste)
    check_positive("noise", noise)
    rng = np.random.default_rng(random_state)
    genre, kind = rng.permutation(np.arange(n_items) % n_types), rng.permutation(np.arange(n_users) % n_types)
    likes = taste * (2.0 * np.eye(n_types) - 1.0) if n_types > 1 else np.zeros((1, 1))
    own, liked = 0.3 * rng.normal(size=n_users), 0.3 * rng.normal(size=n_items)
    user, item = _rated(n_users, n_items, density, rng)
    expected = 3.5 + likes[kind[user], genre[item]] + own[user] + liked[item]
    rating = np.clip(np.round(expected + noise * rng.normal(size=len(user))), 1, 5)
    users = np.array([f"u{i + 1:0{len(str(n_users))}d}" for i in range(n_users)], dtype=object)
    items = np.array([f"f{j + 1:0{len(str(n_items))}d}" for j in range(n_items)], dtype=object)
    told = {j: f"{GENRES[genre[j]]} {1 + int((genre[:j] == genre[j]).sum())}" for j in range(n_items)}
    more = {
        "target_column": "rating", "time": rng.integers(18_000, 19_500, len(user)), "users": users, "items": items,
        "titles": {items[j]: title for j, title in told.items()}, "genre": genre, "user_type": kind,
        "item_features": np.eye(n_types)[genre], "feature_names": list(GENRES[:n_types]), "expected": expected,
    }  # fmt: skip
    X = np.column_stack([users[user], items[item]])
    return Dataset(
        "ratings", X, ["user", "item"], rating, _told("ratings by types of users and items", random_state), more
    )


def _rated(n_users: int, n_items: int, density: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Who rated what: numbers of users and items, with long tails on both sides."""
    busy = rng.gamma(1.2, size=n_users)
    n = np.clip(np.round(density * n_items * busy / busy.mean()), 1, n_items).astype(int)
    popular = rng.permutation(np.log(1.0 / (np.arange(n_items) + 3.0)))
    item = [np.argsort(-(popular + rng.gumbel(size=n_items)))[:each] for each in n]
    return np.repeat(np.arange(n_users), n), np.concatenate(item)


def _told(what: str, seed: Any) -> str:
    return f"Generated: {what}" + (f", seed {seed}." if isinstance(seed, numbers.Integral) else ".")
