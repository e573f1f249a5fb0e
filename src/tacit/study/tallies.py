"""`Tallies`: sums of every column in every group, added up while rows go by, and what they say of the groups.

    difference = (mean of the group − mean of all rows) / standard deviation of the column

A level of a category is a column of 0 and 1, and so is a cell's being missing: their means are shares.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..schema import Column
from ..words import ROUNDING, number, share
from .cycles import around_words, mean_direction
from .phrases import CLEAR, LEAST, enough_known, in_words, phrase

__all__ = ["Tallies", "defining", "profile_of"]


class Tallies:
    """Sums over the observed cells of every column in every group."""

    def __init__(self, columns: Sequence[Column], n_groups: int):
        self.columns, self.n_groups = columns, n_groups
        d = len(columns)
        self.n_rows = np.zeros(n_groups)
        self.origin = np.full(d, np.nan)
        self.largest = np.zeros(d)
        self.seen, self.first, self.second = (np.zeros((d, n_groups)) for _ in range(3))
        self.levels = [np.zeros((max(len(column.levels), 1), n_groups)) for column in columns]

    def add(self, cells: np.ndarray, group: np.ndarray, weight: np.ndarray | None = None) -> None:
        """Take rows in; `group` is their number from 0, `weight` what each counts for."""
        weight = np.ones(len(group)) if weight is None else weight
        self.n_rows += self._sums(group, weight)
        for j, column in enumerate(self.columns):
            there = ~np.isnan(cells[:, j])
            values, own, counts = cells[there, j].astype(np.float64), group[there], weight[there]
            self.seen[j] += self._sums(own, counts)
            if column.coded:
                places = values.astype(int) * self.n_groups + own
                found = np.bincount(places, counts, minlength=self.levels[j].size)
                self.levels[j] += found.reshape(self.levels[j].shape)
            elif column.cycle:
                turn = 2.0 * np.pi * values / column.cycle[1]
                self.first[j] += self._sums(own, counts * np.cos(turn))
                self.second[j] += self._sums(own, counts * np.sin(turn))
            elif len(values):
                self._add_numbers(j, values, own, counts)

    def _sums(self, group: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return np.bincount(group, weight, minlength=self.n_groups)

    def _add_numbers(self, j: int, values: np.ndarray, group: np.ndarray, weight: np.ndarray) -> None:
        if np.isnan(self.origin[j]):  # sums about a value near the mean keep their digits
            self.origin[j] = values.mean()
        apart = values - self.origin[j]
        self.largest[j] = max(self.largest[j], np.abs(values).max())
        self.first[j] += self._sums(group, weight * apart)
        self.second[j] += self._sums(group, weight * apart**2)

    @property
    def n_missing(self) -> dict[str, int]:
        """Missing cells, by name of the column."""
        lost = self.n_rows.sum() - self.seen.sum(axis=1)
        return {str(column.name): int(n) for column, n in zip(self.columns, lost)}

    def profiles(self) -> list[dict]:
        """Means of every column in every group, in the table's units and as differences in standard deviations.

        Returns
        -------
        list of dict
            One per number, per level of a category and per column with missing cells, with `column`, `level` (None for a
            number, "missing" for missing cells as `is_missing` says; of a cyclic column `words` say where each of the
            following lies), arrays `value`, `rest` (the other rows) and
            `difference` with one entry per group, and the mean `overall` of all rows.
        """
        found = []
        for j, column in enumerate(self.columns):
            name = str(column.name)
            if column.coded:
                for level, sums in zip(column.levels, self.levels[j]):
                    found.append(_profile(name, str(level), self.seen[j], sums, sums))
            elif column.cycle:
                found.append(_around(column, self.seen[j], self.first[j], self.second[j]))
            else:
                origin = np.nan_to_num(self.origin[j])
                moments = self.seen[j], self.first[j], self.second[j]
                found.append(_profile(name, None, *moments, origin=float(origin), largest=float(self.largest[j])))
            lost = self.n_rows - self.seen[j]
            if lost.any():
                found.append(_profile(name, "missing", self.n_rows, lost, lost, is_missing=True))
        for profile in found:
            profile["n_rows"] = self.n_rows
        return found

    def spreads(self, k: int) -> list[tuple[str, float]]:
        """Columns of numbers, and how many times more they spread in group k than in all other rows."""
        found, own = [], np.arange(self.n_groups) == k
        for j, column in enumerate(self.columns):
            if not column.coded and not column.cycle and self.seen[j][own].sum() > 2 and self.seen[j][~own].sum() > 2:
                inside, outside = (self._deviation(j, which) for which in (own, ~own))
                if inside > 0 and outside > 0:
                    found.append((str(column.name), inside / outside))
        return found

    def _deviation(self, j: int, which: np.ndarray) -> float:
        n, first, second = (sums[j][which].sum() for sums in (self.seen, self.first, self.second))
        variance = second / n - (first / n) ** 2
        return float(np.sqrt(variance)) if variance > (1e-13 * self.largest[j]) ** 2 else 0.0


def _profile(
    name: str, level: str | None, totals: np.ndarray, sums: np.ndarray, squares: np.ndarray, *, origin: float = 0.0,
    largest: float = 1.0, is_missing: bool = False,
) -> dict:  # fmt: skip
    """What `Tallies.profiles` says of one column, from weights, sums and sums of squares about an origin, (groups,) each."""
    told = {"column": name, "level": level, "is_missing": is_missing, "known": totals}
    whole = totals.sum()
    if whole <= 0:  # the column is only observed in rows without a group
        empty = np.full(len(totals), np.nan)
        return told | {"value": empty, "rest": empty, "difference": np.zeros(len(totals)), "overall": np.nan}
    others = whole - totals
    value = _divide(sums, totals)
    rest = _divide(sums.sum() - sums, np.where(others > 1e-12 * whole, others, 0.0))
    overall = sums.sum() / whole
    deviation = float(np.sqrt(max(squares.sum() / whole - overall**2, 0.0)))
    difference = np.zeros(len(totals))
    if deviation > 1e-13 * largest:  # less is rounding
        difference = np.where(np.isnan(rest), 0.0, np.nan_to_num((value - overall) / deviation))
    value, rest, overall = origin + value, origin + rest, origin + overall
    if level is not None:  # rounding may leave the range of shares
        value, rest, overall = (np.clip(shares, 0.0, 1.0) for shares in (value, rest, overall))
    else:
        value, rest, overall = (
            np.where(np.abs(means) < ROUNDING * largest, 0.0, means) for means in (value, rest, overall)
        )
    return told | {"value": value, "rest": rest, "difference": difference, "overall": float(overall)}


def _around(column: Column, totals: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> dict:
    """The same of a cyclic column, from sums of cosines and sines: mean directions, and how far apart mean places are."""
    whole = max(totals.sum(), np.finfo(float).tiny)
    place, every = np.array([_divide(cos, totals), _divide(sin, totals)]), np.array([cos.sum(), sin.sum()]) / whole
    others = np.where(whole - totals > 1e-12 * whole, whole - totals, 0.0)
    rest = np.array([_divide(cos.sum() - cos, others), _divide(sin.sum() - sin, others)])
    deviation = np.sqrt(max(1.0 - (every**2).sum(), 1e-12))
    difference = np.nan_to_num(np.sqrt(((place - every[:, None]) ** 2).sum(axis=0)) / deviation)
    told = [[around_words(column, *each) for each in places] for places in (place.T, rest.T, [every] * len(totals))]
    directions = (mean_direction(column, *each) for each in (place, rest, every))
    keys = {
        "column": str(column.name),
        "level": None,
        "is_missing": False,
        "known": totals,
        "words": dict(zip(("value", "rest", "overall"), told)),
    }
    difference = np.where(np.isnan(rest).any(axis=0), 0.0, difference)
    return keys | dict(zip(("value", "rest", "overall"), directions)) | {"difference": difference}


def _divide(sums: np.ndarray, totals: np.ndarray) -> np.ndarray:
    return np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), np.nan)


def profile_of(found: list[dict], k: int) -> list[dict]:
    """What `Tallies.profiles` says of group k, the strongest differences first, each with `text` and `phrase`."""
    profile = [_entry(each, k) for each in found]
    profile = [entry for entry in profile if not entry["is_missing"] or entry["difference"] >= LEAST]
    return sorted(profile, key=lambda entry: -abs(entry["difference"]))


def defining(profile: list[dict]) -> list[dict]:
    """The entries of a profile that set a group apart, one for each column, the strongest first.

    What few known cells say by chance, a difference of less than two standard errors, is not told.
    """
    best: dict = {}
    for entry in profile:
        key = entry["column"], entry["is_missing"]
        apart = abs(entry["difference"])
        backed = entry["phrase"] and apart * np.sqrt(entry.get("known") or 0) >= 2.0
        backed = backed and not (entry["is_missing"] and entry["value"] * entry["n_rows"] < 1.5)  # one cell is no trait
        if backed and apart >= LEAST and (key not in best or _tells_more(entry, best[key])):
            best[key] = entry
    return sorted(best.values(), key=lambda entry: -abs(entry["difference"]))


def _tells_more(entry: dict, other: dict) -> bool:
    """Whether the level that most rows have says more than one that they have not."""
    return entry["level"] is not None and entry["value"] >= 0.5 > other["value"] and entry["difference"] >= CLEAR


def _entry(profile: dict, k: int) -> dict:
    column, level = profile["column"], profile["level"]
    difference, overall = float(profile["difference"][k]), float(profile["overall"])
    value, rest = (None if np.isnan(profile[key][k]) else float(profile[key][k]) for key in ("value", "rest"))
    known, rows = int(profile["known"][k]), int(profile["n_rows"][k])
    entry = {
        "known": known, "n_rows": rows, "column": column, "level": level, "value": value, "rest": rest,
        "overall": None if np.isnan(overall) else overall, "difference": difference, "text": "", "phrase": "",
        "is_missing": profile["is_missing"],
    }  # fmt: skip
    if value is None:
        entry["text"] = f"{column}: not observed"
    elif "words" in profile:
        words, apart = (
            {key: each[k] for key, each in profile["words"].items()},
            rest is not None and difference >= LEAST,
        )
        entry["phrase"] = f"{column} {words['value']}" if apart else ""
        entry["text"] = f"{column} {words['value']}" + (f" (all rows: {words['overall']})" if apart else "")
        entry |= {f"{key}_text": text for key, text in words.items()}
    elif level is not None and not enough_known(known, rows):
        entry["text"] = f"{column}: known in {known:,} of {rows:,} rows only"
    elif rest is None or abs(difference) < LEAST:
        told = number(value) if level is None else f"{level} {share(value)}"
        entry["text"] = f"{column} {told}" if rest is None else f"{column} about as in the whole table ({told})"
    else:
        entry["text"] = in_words(column, level, value, overall, difference, known, rows)
        entry["phrase"] = phrase(column, level, value, difference, known, rows)
    return entry
