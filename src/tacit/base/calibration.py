"""`Calibration`: what cells that were hidden on purpose teach about the fills of a model, applied to all its fills.

    x̂' = m_j + b_j (x̂ − m_j),    [x̂' − q_j (x̂ − low + ε_j), x̂' + q_j (high − x̂ + ε_j)]

b_j shrinks fills of column j to its mean m_j as far as that errs less on hidden cells, and is 0 where the mean does better;
q_j is the factor by which intervals of a level must be wider, or may be narrower, to hold that share of them (split conformal
prediction; ε_j keeps intervals of no width apart). Ends stay inside what the column can hold: its bounds, and whole numbers
where it has no others. Fills stay near the cells that were seen, and none rests on a cell so far from those that it must be an
error.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit

from ..declared import Flag, Listed, Numbers, Part, Whole, declare, savable

__all__ = ["Absence", "Calibration"]

BOUND = Numbers(beside=(np.inf, -np.inf))
TRIED = Numbers("t", low=0, beside=(np.nan,))
GROSS = 3.0
"""Ranges of all other cells of a column beyond which a number must be an error."""
BEYOND, ENDS_BEYOND = 0.1, 0.5
"""Ranges of the cells of a column that fills, and ends of intervals, may lie beyond them."""
USUAL = 1.2
"""How much surer than other levels the most frequent one must be where the model tells nothing: no coin is tossed."""


@savable
@dataclass(frozen=True, eq=False)
class Absence:
    """A rule by which a cell is not applicable: `column` has no value where `by` has one of `values`, or one beyond the bounds.

    Attributes
    ----------
    column, by : int
        Places of the columns among those of the model.
    values : array
        Numbers, or codes of levels.
    above, below : float
        Bounds beyond which nothing applies; infinite for none.
    seen : bool
        Whether nothing applies wherever `by` has any value.
    """

    column: int
    by: int
    values: np.ndarray = field(default_factory=lambda: np.empty(0))
    above: float = np.inf
    below: float = -np.inf
    seen: bool = False
    _saved = declare(
        column=Whole(0), by=Whole(0), values=Numbers("v"), above=BOUND, below=BOUND, seen=Flag()
    )  # fmt: skip

    def rows(self, cells: np.ndarray) -> np.ndarray:
        """The rows in which nothing can stand in the column."""
        by = cells[:, self.by]
        with np.errstate(invalid="ignore"):
            return np.isin(by, self.values) | (by > self.above) | (by < self.below) | (self.seen & ~np.isnan(by))


@savable
@dataclass(frozen=True, eq=False)
class Calibration:
    """How the fills of d columns are corrected, and how good they then are on hidden cells that the correction had not seen.

    Attributes
    ----------
    levels, factors : (L,) and (L, d) arrays
        Levels of intervals and their factors; between levels they are interpolated.
    slope, centre, pad : (d,) arrays
        b, m and ε.
    least, most : (d,) arrays
        Bounds of the columns, infinite for none.
    period : (d,) array
        Periods of cyclic columns, whose fills and intervals stay as they are; 0 for others.
    whole, coded : (d,) bool arrays
        Which columns hold whole numbers only, and which hold levels without an order.
    usual, share : (d,) arrays
        Code of the most frequent level, where that is right as often as the model's or oftener (−1 elsewhere), and its share.
    temper : float
        Power to which the odds of a filled level are raised.
    sure : float
        Probability from which a level is filled; a fifth more is asked of the most frequent one where the model tells nothing.
    absent : tuple of Absence
        Cells that are not applicable, and stay empty.
    hidden : (d,) int array
        Cells hidden of every column that were filled.
    error, naive, covered, right : (d,) arrays
        Root of the mean squared error of numbers relative to the column's spread, the same of the column's mean (of levels,
        how often the most frequent is right), the share within intervals of `level`, and how often levels are right; NaN
        where not tried.
    level : float
    refit : bool
        Whether hidden cells were unknown to the model that filled them.
    lowest, highest : (d,) arrays
        Ends of the cells that were seen, gross errors aside; infinite where that says nothing, as of levels.
    """

    levels: np.ndarray
    factors: np.ndarray
    slope: np.ndarray
    centre: np.ndarray
    pad: np.ndarray
    least: np.ndarray
    most: np.ndarray
    period: np.ndarray
    whole: np.ndarray
    coded: np.ndarray
    usual: np.ndarray
    share: np.ndarray
    temper: float = 1.0
    sure: float = 0.5
    absent: tuple = ()
    hidden: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))
    error: np.ndarray = field(default_factory=lambda: np.zeros(0))
    naive: np.ndarray = field(default_factory=lambda: np.zeros(0))
    covered: np.ndarray = field(default_factory=lambda: np.zeros(0))
    right: np.ndarray = field(default_factory=lambda: np.zeros(0))
    level: float = 0.9
    refit: bool = True
    lowest: np.ndarray = field(default_factory=lambda: np.full(1, -np.inf))
    highest: np.ndarray = field(default_factory=lambda: np.full(1, np.inf))
    _saved = declare(
        levels=Numbers("L", low=0, high=1), factors=Numbers("L d", low=0), slope=Numbers("d", low=0, high=1), centre=Numbers("d"),
        pad=Numbers("d", low=0), least=replace(BOUND, shape="d"), most=replace(BOUND, shape="d"), period=Numbers("d", low=0),
        whole=Numbers("d", kind="b"),
        coded=Numbers("d", kind="b"), usual=Numbers("d", low=-1), share=Numbers("d", low=0, high=1), temper=Numbers(low=0),
        sure=Numbers(low=0, high=1), absent=Listed(Part(Absence), kind=tuple), hidden=Numbers("t", kind="i", low=0),
        error=TRIED, naive=TRIED, covered=replace(TRIED, high=1), right=replace(TRIED, high=1),
        level=Numbers(low=0, high=1), refit=Flag(), lowest=replace(BOUND, shape="d", needed=False),
        highest=replace(BOUND, shape="d", needed=False),
    )  # fmt: skip

    def __post_init__(self) -> None:
        for name in ("lowest", "highest"):
            object.__setattr__(self, name, np.broadcast_to(getattr(self, name), self.slope.shape).copy())

    def check_columns(self, n_columns: int) -> None:
        """Raise where it tells of other columns than those of a model."""
        if len(self.slope) != n_columns:
            raise ValueError(f"'calibration_' tells of {len(self.slope)} columns, not {n_columns}")
        if any(max(rule.column, rule.by) >= n_columns for rule in self.absent):
            raise ValueError(f"'calibration_' has a rule about a column beyond the {n_columns} there are")

    def not_applicable(self, cells: np.ndarray) -> np.ndarray:
        """Which cells are not applicable, (rows, d) bool."""
        found = np.zeros(cells.shape, dtype=bool)
        for rule in self.absent:
            found[:, rule.column] |= rule.rows(cells)
        return found

    def doubted(self, cells: np.ndarray) -> np.ndarray:
        """Which cells must be errors, (rows, d) bool: no fill rests on them."""
        with np.errstate(invalid="ignore"):
            far = GROSS * (self.highest - self.lowest)
            return (cells < self.lowest - far) | (cells > self.highest + far)

    def _near(self, values: np.ndarray, j: np.ndarray, most: float) -> np.ndarray:
        """Values of the columns j that are no more than so many ranges beyond cells that were seen."""
        far = most * (self.highest - self.lowest)
        low, high = (np.broadcast_to(end, self.slope.shape)[j] for end in (self.lowest - far, self.highest + far))
        return np.clip(values, low, high)

    def factor(self, level: float) -> np.ndarray:
        """Factors of the columns at any level."""
        at = [np.interp(level, self.levels, each) for each in self.factors.T]
        return np.array(at) if len(self.levels) else np.ones(len(self.slope))

    def apply(self, what: Any, told: np.ndarray, j: np.ndarray, probability: np.ndarray) -> np.ndarray:
        """Correct what a model tells of cells in columns j: answers as in `tacit.base.missing`, probabilities of levels."""
        told, number = told.copy(), np.isnan(probability) & (self.period[j] == 0)
        mean, level = told[0].copy(), what not in ("mean", "std")
        shrunk = self._near(self.centre[j] + self.slope[j] * (mean - self.centre[j]), j, BEYOND)
        told[0, number] = np.clip(shrunk, self.least[j], self.most[j])[number]
        wider = self.factor(what if level else 0.6827)[j]
        if level:
            low = shrunk - wider * (mean - told[1] + self.pad[j])
            high = shrunk + wider * (told[2] - mean + self.pad[j])
            told[1:3, number] = self.inside(low, high, told[0], j)[:, number]
        elif what == "std":
            told[1, number] *= wider[number]
        level_cell = ~np.isnan(probability)
        usual = level_cell & (self.usual[j] >= 0)
        told[0, usual] = self.usual[j][usual]
        sure = np.where(usual, self.share[j], self.tempered(probability))
        if len(told) > 1:
            told[-1, level_cell] = (sure if level else 1.0 - sure)[level_cell]
        least = np.where(usual, USUAL * self.sure, self.sure)
        told[:, self.coded[j] & (sure < least)] = np.nan
        return told

    def tempered(self, probability: np.ndarray) -> np.ndarray:
        """Probabilities of levels as hidden cells bear them out."""
        with np.errstate(divide="ignore", over="ignore"):
            return np.where(probability > 0.5, expit(self.temper * logit(probability)), probability)

    def inside(self, low: np.ndarray, high: np.ndarray, filled: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Ends of intervals inside what the columns j can hold; they hold the fill too."""
        low, high = (np.clip(self._near(end, j, ENDS_BEYOND), self.least[j], self.most[j]) for end in (low, high))
        small = 1e-9 * np.maximum(np.abs(low), 1.0)
        low, high = (
            np.where(self.whole[j], end, own)
            for end, own in ((np.ceil(low - small), low), (np.floor(high + small), high))
        )
        down, up = (np.where(self.whole[j], end(filled), filled) for end in (np.floor, np.ceil))
        return np.array([np.minimum(low, down), np.maximum(high, up)])

    def check(self, names: list) -> dict:
        """How good the fills are, as `tacit.impute.trial.judge` tells it."""
        columns, n = [], self.hidden
        for name, cells, error, naive, covered, right, slope in zip(
            names, n, self.error, self.naive, self.covered, self.right, self.slope
        ):
            if cells:
                own = (
                    {"right": right, "usual": naive}
                    if np.isnan(error)
                    else {"error": error, "naive": naive, "covered": covered}
                )
                plain = {"by_mean": True} if "error" in own and slope == 0.0 else {}
                told = {key: float(value) for key, value in own.items()}
                columns.append({"column": name, "cells": int(cells), **told, **plain})
        numbers, levels = (n > 0) & ~np.isnan(self.error), (n > 0) & np.isnan(self.error)

        def mean(values: np.ndarray, which: np.ndarray) -> float | None:
            return float(np.average(values[which], weights=n[which])) if which.any() else None

        squares = mean(self.error**2, numbers), mean(self.naive**2, numbers)
        return {
            "numbers": int(n[numbers].sum()), "categories": int(n[levels].sum()), "level": self.level,
            "error": None if squares[0] is None else float(np.sqrt(squares[0])),
            "naive": None if squares[1] is None else float(np.sqrt(squares[1])),
            "covered": mean(self.covered, numbers), "right": mean(self.right, levels), "usual": mean(self.naive, levels),
            "columns": columns, "refit": self.refit,
        }  # fmt: skip
