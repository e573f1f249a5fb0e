"""What is kept of a table while its rows go by: sums of every column in every group, and the rows that stand out most."""

import numpy as np

from ..cluster.report.defining import CLEAR, LEAST, in_words, phrase, profile_of_sums
from .words import number, share

__all__ = ["Tallies", "TopRows", "defining", "profile_of"]

STRONG = 1.2
"""A mean so many standard deviations from that of all rows, the group's own among them, is told as very high or low."""


class Tallies:
    """Sums over the observed cells of every column in every group; rows count in their likeliest group.

    Parameters
    ----------
    schema : Schema
        The columns.
    n_groups : int
    """

    def __init__(self, schema, n_groups):
        self.columns, self.n_groups = schema.columns, n_groups
        d = len(schema.columns)
        self.n_rows = np.zeros(n_groups)
        self.origin = np.full(d, np.nan)
        self.largest = np.zeros(d)
        self.seen, self.first, self.second = (np.zeros((d, n_groups)) for _ in range(3))
        self.levels = [np.zeros((max(len(column.levels), 1), n_groups)) for column in schema.columns]

    def add(self, cells, group):
        """Take rows in; `group` is their number from 1."""
        codes = group - 1
        self.n_rows += np.bincount(codes, minlength=self.n_groups)
        for j, column in enumerate(self.columns):
            there = ~np.isnan(cells[:, j])
            values, own = cells[there, j], codes[there]
            self.seen[j] += np.bincount(own, minlength=self.n_groups)
            if column.kind == "category":
                places = values.astype(int) * self.n_groups + own
                self.levels[j] += np.bincount(places, minlength=self.levels[j].size).reshape(self.levels[j].shape)
            elif len(values):
                self._add_numbers(j, values, own)

    def _add_numbers(self, j, values, codes):
        if np.isnan(self.origin[j]):  # sums about a value near the mean keep their digits
            self.origin[j] = values.mean()
        apart = values - self.origin[j]
        self.largest[j] = max(self.largest[j], np.abs(values).max())
        self.first[j] += np.bincount(codes, apart, minlength=self.n_groups)
        self.second[j] += np.bincount(codes, apart**2, minlength=self.n_groups)

    @property
    def n_missing(self):
        """Missing cells, by name of the column."""
        lost = self.n_rows.sum() - self.seen.sum(axis=1)
        return {str(column.name): int(n) for column, n in zip(self.columns, lost)}

    def profiles(self):
        """What `tacit.cluster.report.defining.profiles` says, from the sums."""
        found = []
        for j, column in enumerate(self.columns):
            name = str(column.name)
            if column.kind == "category":
                for level, sums in zip(column.levels, self.levels[j]):
                    found.append(profile_of_sums(name, str(level), self.seen[j], sums, sums))
            else:
                origin = np.nan_to_num(self.origin[j])
                sums = self.seen[j], self.first[j], self.second[j]
                found.append(profile_of_sums(name, None, *sums, origin=origin, largest=self.largest[j]))
            lost = self.n_rows - self.seen[j]
            if lost.any():
                found.append(profile_of_sums(name, "missing", self.n_rows, lost, lost, is_missing=True))
        return found

    def spreads(self, k):
        """Columns of numbers, and how many times more they spread in group k than in all other rows."""
        found = []
        for j, column in enumerate(self.columns):
            own = np.arange(self.n_groups) == k
            if column.kind != "category" and self.seen[j][own].sum() > 2 and self.seen[j][~own].sum() > 2:
                inside, outside = (self._deviation(j, which) for which in (own, ~own))
                if inside > 0 and outside > 0:
                    found.append((str(column.name), inside / outside))
        return found

    def _deviation(self, j, which):
        n, first, second = (sums[j][which].sum() for sums in (self.seen, self.first, self.second))
        variance = second / n - (first / n) ** 2
        return float(np.sqrt(variance)) if variance > (1e-13 * self.largest[j]) ** 2 else 0.0


def profile_of(found, k):
    """The profile of group k as `tacit.report.Group` has it, the strongest entries first, from `Tallies.profiles`."""
    profile = [_entry(each, k) for each in found]
    profile = [entry for entry in profile if not entry["is_missing"] or entry["difference"] >= LEAST]
    return sorted(profile, key=lambda entry: -abs(entry["difference"]))


def defining(profile):
    """The entries of a profile that set a group apart, one for each column, the strongest first."""
    best: dict = {}
    for entry in profile:
        key = entry["column"], entry["is_missing"]
        if abs(entry["difference"]) >= LEAST and (key not in best or _tells_more(entry, best[key])):
            best[key] = entry
    return sorted(best.values(), key=lambda entry: -abs(entry["difference"]))


def _tells_more(entry, other):
    """Whether the level that most rows have says more than one that they have not."""
    return entry["level"] is not None and entry["value"] >= 0.5 > other["value"] and entry["difference"] >= CLEAR


def _entry(profile, k):
    column, level, is_missing = profile["column"], profile["level"], profile["is_missing"]
    difference, overall = float(profile["from_overall"][k]), float(profile["overall"])
    value, rest = (None if np.isnan(profile[key][k]) else float(profile[key][k]) for key in ("value", "rest"))
    entry = {
        "column": column, "level": level, "value": value, "rest": rest,
        "overall": None if np.isnan(overall) else overall, "difference": difference, "text": "", "phrase": "",
        "is_missing": is_missing,
    }  # fmt: skip
    if value is None:
        entry["text"] = f"{column}: not observed"
    elif rest is None or abs(difference) < LEAST:
        told = number(value) if level is None else f"{level} {share(value)}"
        entry["text"] = f"{column} {told}" if rest is None else f"{column} about as in the whole table ({told})"
    else:
        entry["text"] = in_words(column, level, value, overall, difference, STRONG)
        entry["phrase"] = phrase(column, level, value, difference, STRONG)
    return entry


class TopRows:
    """The rows of a table that come first by a key, and how many there are in all.

    Parameters
    ----------
    most : int
        How many to keep.
    """

    def __init__(self, most):
        self.most, self.n_rows, self.kept = most, 0, []

    def add(self, key, chosen, describe):
        """Take in the rows that are `chosen`; `describe` of a row's place makes what is kept of it."""
        places = np.flatnonzero(chosen)
        self.n_rows += len(places)
        first = places[np.argsort(key[places], kind="stable")[: self.most]]
        # Ties go by the order of the table.
        self.kept = sorted(
            [*self.kept, *((float(key[place]), describe(place)) for place in first)], key=lambda each: each[0]
        )[: self.most]

    @property
    def rows(self):
        """What is kept, the first first."""
        return [told for _, told in self.kept]
