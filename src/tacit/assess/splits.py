"""Which rows are learned from and which are judged: folds at random, by class, by group, in blocks of time.

Every trial of the library divides its rows here. Splitters are scikit-learn's; what is added is a number of folds for whatever
has to be dealt (rows, sequences, documents, users), blocks with a gap on both sides, and errors that say what to do.
"""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..checks import check_number

__all__ = ["BlockedKFold", "deal", "divide", "hold_out", "number_folds"]

Split = tuple[np.ndarray, np.ndarray]


class BlockedKFold:
    """Folds of steps that follow each other, and nothing is learned from steps next to those that are judged.

    Unlike scikit-learn's `TimeSeriesSplit`, every step is judged once and all others teach, also later ones: for series
    without a trend, whose neighbours are alike.

    Parameters
    ----------
    n_splits : int, default=5
        Blocks.
    gap : int, default=0
        Steps before and after a block that are left out of what is learned from; as many as neighbours are alike.

    Examples
    --------
    >>> from tacit.assess import BlockedKFold
    >>> for train, test in BlockedKFold(3, gap=1).split(range(9)):
    ...     print(train, test)
    [4 5 6 7 8] [0 1 2]
    [0 1 7 8] [3 4 5]
    [0 1 2 3 4] [6 7 8]
    """

    def __init__(self, n_splits: int = 5, *, gap: int = 0):
        self.n_splits, self.gap = n_splits, gap

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many blocks."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Yield the rows to learn from and those of the block, for every block."""
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        check_number("n_splits", self.n_splits, numbers.Integral, 2)
        check_number("gap", self.gap, numbers.Integral, 0)
        _check_many("n_splits", self.n_splits, n, "rows")
        steps = np.arange(n)
        for block in np.array_split(steps, self.n_splits):
            yield steps[(steps < block[0] - self.gap) | (steps > block[-1] + self.gap)], block


def deal(n: int, n_folds: int, rng: Any) -> np.ndarray:
    """A fold for each of n things, at random and of equal sizes; one byte each where there are at most 256.

    Parameters
    ----------
    n, n_folds : int
    rng : numpy.random.Generator or RandomState
    """
    fold = np.resize(np.arange(n_folds, dtype=np.min_scalar_type(n_folds)), n)
    rng.shuffle(fold)
    return fold


def number_folds(cv: Any, n: int, rng: Any, *, name: str = "cv", what: str = "rows") -> np.ndarray:
    """The number of the fold of each of n things: dealt at random, or as given.

    Parameters
    ----------
    cv : int or array-like of shape (n,)
        How many folds, or the fold of each.
    n : int
    rng : numpy.random.Generator or RandomState
    name, what : str
        What messages call the setting, and the things.
    """
    if not isinstance(cv, numbers.Integral):
        fold = np.asarray(cv)
        if fold.shape != (n,):
            raise ValueError(
                f"{name} has shape {fold.shape}, but there are {n} {what}; tell the fold of each, or a number."
            )
        return fold
    check_number(name, cv, numbers.Integral, 2)
    _check_many(name, int(cv), n, what)
    return deal(n, int(cv), rng)


def divide(
    cv: Any, n: int, *, y: Any = None, groups: Any = None, random_state: Any = 0, name: str = "cv", what: str = "rows"
) -> list[Split]:
    """Rows to learn from and rows to judge, for every fold.

    Parameters
    ----------
    cv : int, scikit-learn splitter, array-like of shape (n,), or iterable of (train, test)
        How many folds at random; with `groups`, no group is in two. Or who divides, the fold of each row, or the divisions.
    n : int
        Rows.
    y : array-like of shape (n,), optional
        Classes, which are spread over the folds; what a splitter is given.
    groups : array-like of shape (n,), optional
        Rows that belong together.
    random_state : int or RandomState, default=0
        Draws the folds.
    name, what : str
        What messages call the setting, and the rows.

    Examples
    --------
    >>> from tacit.assess.splits import divide
    >>> [test.tolist() for _, test in divide(2, 4, groups=["a", "b", "a", "b"])]
    [[1, 3], [0, 2]]
    """
    groups = None if groups is None else _checked_groups(groups, n, what)
    place = np.zeros((n, 0))
    if isinstance(cv, numbers.Integral):
        check_number(name, cv, numbers.Integral, 2)
        cv = _splitter(int(cv), n, y, groups, random_state, name, what)
    if hasattr(cv, "split") and not isinstance(cv, str):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that a class has fewer rows than there are folds
            found = list(cv.split(place, y, groups))
    else:
        found = _given(cv, n, name, what)
    if not found:
        raise ValueError(f"{name} divides nothing: it has no pair of rows to learn from and to judge.")
    return [_checked(train, test, n, number, name) for number, (train, test) in enumerate(found, 1)]


def hold_out(n: int, n_out: int, rng: Any) -> Split:
    """Things to learn from and so many to judge, at random, each in their order.

    Parameters
    ----------
    n, n_out : int
    rng : numpy.random.Generator or RandomState
    """
    order = rng.permutation(n)
    return np.sort(order[n_out:]), np.sort(order[:n_out])


def _splitter(k: int, n: int, y: Any, groups: np.ndarray | None, random_state: Any, name: str, what: str) -> Any:
    from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold  # where used: sources deal folds too

    if groups is not None:
        _check_many(name, k, len(np.unique(groups)), "groups")
        return GroupKFold(k)
    _check_many(name, k, n, what)
    if y is not None and (np.unique(y, return_counts=True)[1] >= k).any():
        return StratifiedKFold(k, shuffle=True, random_state=random_state)
    return KFold(k, shuffle=True, random_state=random_state)


def _given(cv: Any, n: int, name: str, what: str) -> list:
    """Divisions that are given: pairs, or the fold of each row."""
    if not isinstance(cv, Iterable):
        raise ValueError(
            f"{name}={cv!r} is neither a number of folds, a splitter such as KFold(5), nor pairs (train, test)."
        )
    listed = list(cv)
    if len(listed) == n and all(np.ndim(each) == 0 for each in listed):
        fold = np.asarray(listed)
        if len(np.unique(fold)) < 2:
            raise ValueError(f"{name} puts all {n} {what} into fold {fold[0]!r}; use two folds or more.")
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)]
    if not all(isinstance(each, (tuple, list)) and len(each) == 2 for each in listed):
        raise ValueError(f"{name} holds {len(listed)} entries, which are neither pairs (train, test) nor {n} folds.")
    return listed


def _checked(train: Any, test: Any, n: int, number: int, name: str) -> Split:
    """Numbers of rows, none of which is outside, and neither part empty."""
    parts = []
    for rows, do in ((train, "learn from"), (test, "judge")):
        rows = np.asarray(rows)
        rows = np.flatnonzero(rows) if rows.dtype == bool and len(rows) == n else rows
        if not len(rows):
            raise ValueError(f"fold {number} of {name} has no rows to {do}; use fewer folds, or a smaller gap.")
        if rows.min() < -n or rows.max() >= n:
            raise ValueError(f"fold {number} of {name} has row {rows.max()}, but there are {n} rows.")
        parts.append(rows.astype(np.intp) % n)
    return parts[0], parts[1]


def _checked_groups(groups: Any, n: int, what: str) -> np.ndarray:
    groups = np.asarray(groups)
    if groups.shape != (n,):
        raise ValueError(f"groups has shape {groups.shape}, but there are {n} {what}; tell the group of each.")
    if groups.dtype.kind == "f" and np.isnan(groups).any():
        raise ValueError(
            f"groups is NaN in row {int(np.argmax(np.isnan(groups)))}; give these rows groups of their own, or leave them out."
        )
    if len(np.unique(groups)) < 2:
        raise ValueError(
            f"groups has one value, {groups[:1].tolist()[0]!r}; at least 2 groups are needed to leave one out."
        )
    return groups


def _check_many(name: str, k: int, n: int, what: str) -> None:
    if n < 2:
        raise ValueError(f"{name}={k} needs at least 2 {what} to hold some out, but there is {n}; give more {what}.")
    if k > n:
        raise ValueError(f"{name}={k} exceeds the {n} {what}; use at most {n}.")
