"""What sets a cluster apart: for every column, how far its rows are from all others.

    difference = (mean of the cluster − mean of the other rows) / standard deviation of the column

A level of a category is a column of 0 and 1, and so is a cell's being missing: their means are shares.
"""

import numpy as np

__all__ = ["LEAST", "defining_columns", "in_words", "pair", "phrase", "profile_of_sums", "profiles"]

LEAST = 0.2
"""Smaller differences do not set a cluster apart; from `CLEAR` on it is plain, from `STRONG` on very much so."""
CLEAR, STRONG = 0.5, 1.5


def profiles(rows, clusters):
    """Means of every column in and outside every cluster, in the table's units and as standardised differences.

    Returns
    -------
    list of dict
        One per number, per level of a category and per column with missing cells, with `column`, `level` (None for a number,
        "missing" for missing cells as `is_missing` says), arrays `value`, `rest` and `difference` with one entry per cluster, the
        mean `overall` of all rows, and the differences from it in standard deviations, `from_overall`.
    """
    found = []
    for j, column in enumerate(rows.columns):
        cells = rows.cells[clusters.rows, j].astype(np.float64)
        seen = ~np.isnan(cells)
        if column.kind == "category":
            for code, level in enumerate(column.levels):
                found.append(_profile(str(column.name), level, (cells == code).astype(float), seen, clusters))
        else:
            found.append(_profile(str(column.name), None, cells, seen, clusters))
        if not seen.all():
            every = np.ones(len(cells), bool)
            found.append(_profile(str(column.name), "missing", (~seen).astype(float), every, clusters, is_missing=True))
    return found


def _profile(name, level, cells, seen, clusters, is_missing=False):
    codes, weight, cells = clusters.codes[seen], clusters.weight[seen], cells[seen]
    n_clusters = len(clusters.names)
    origin = np.average(cells, weights=weight) if len(cells) else 0.0
    totals = np.bincount(codes, weight, minlength=n_clusters)
    sums, squares = (np.bincount(codes, weight * (cells - origin) ** power, minlength=n_clusters) for power in (1, 2))
    largest = np.abs(cells).max(initial=0.0)
    return profile_of_sums(name, level, totals, sums, squares, origin=origin, largest=largest, is_missing=is_missing)


def profile_of_sums(name, level, totals, sums, squares, *, origin=0.0, largest=1.0, is_missing=False):
    """What `profiles` says of one column, from sums that may have been added up over parts of a table.

    Parameters
    ----------
    totals, sums, squares : (clusters,) arrays
        Weight, sum and sum of squares of the observed cells of each cluster, about `origin`.
    origin : float
        About which sums were taken; near the mean, lest digits be lost.
    largest : float
        Largest absolute value of a cell: a deviation that is nothing beside it is rounding.
    """
    whole = totals.sum()
    if whole <= 0:  # the column is only observed in rows without a cluster
        empty = np.full(len(totals), np.nan)
        none = np.zeros(len(totals))
        return dict(
            column=name, level=level, is_missing=is_missing, value=empty, rest=empty, difference=none, overall=np.nan,
            from_overall=none,
        )  # fmt: skip
    others = whole - totals
    value = _divide(sums, totals)
    rest = _divide(sums.sum() - sums, np.where(others > 1e-12 * whole, others, 0.0))
    overall = sums.sum() / whole
    deviation = float(np.sqrt(max(squares.sum() / whole - overall**2, 0.0)))
    if deviation <= 1e-13 * largest:
        difference = from_overall = np.zeros(len(totals))
    else:
        difference = np.nan_to_num((value - rest) / deviation)
        from_overall = np.where(np.isnan(rest), 0.0, np.nan_to_num((value - overall) / deviation))
    value, rest, overall = origin + value, origin + rest, origin + overall
    if level is not None:  # rounding may leave the range of shares
        value, rest, overall = (np.clip(shares, 0.0, 1.0) for shares in (value, rest, overall))
    return dict(
        column=name, level=level, is_missing=is_missing, value=value, rest=rest, difference=difference,
        overall=float(overall), from_overall=from_overall,
    )  # fmt: skip


def _divide(sums, totals):
    return np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), np.nan)


def defining_columns(found, clusters):
    """Rows of a table: for each cluster the columns that set it apart, those that do so most first."""
    rows = []
    for k, name in enumerate(clusters.names):
        best: dict = {}
        for each in found:
            entry = _entry(name, each, k)
            key = (each["column"], each["is_missing"])
            if entry is not None and (key not in best or _strength(entry) > _strength(best[key])):
                best[key] = entry
        rows += sorted(best.values(), key=lambda entry: -abs(entry["difference"]))
    return rows


def _strength(entry):
    # Of two levels that say the same, the one that the cluster has says it.
    return round(abs(entry["difference"]), 6), entry["difference"]


def _entry(name, profile, k):
    value, rest, difference = (float(profile[key][k]) for key in ("value", "rest", "difference"))
    if abs(difference) < LEAST or (profile["is_missing"] and difference < 0):
        return None
    text = in_words(profile["column"], profile["level"], value, rest, difference)
    return {
        "cluster": name, "column": profile["column"], "level": profile["level"], "value": value, "rest": rest,
        "difference": difference, "text": text,
    }  # fmt: skip


def phrase(column, level, value, difference, strong=STRONG):
    """What a difference is like: "flipper_length_mm high", "island mostly Biscoe"."""
    if level is not None:
        if difference > 0:
            word = "always" if value >= 0.9995 else "mostly" if value >= 0.5 else "more often"
        else:
            word = "never" if value < 0.0005 else "rarely" if value < 0.1 else "less often"
        return f"{column} {word} {level}"
    size = "very " if abs(difference) >= strong else "" if abs(difference) >= CLEAR else "slightly "
    return f"{column} {size}{'high' if difference > 0 else 'low'}"


def in_words(column, level, value, rest, difference, strong=STRONG):
    """A difference as a phrase: "flipper_length_mm high (217 vs 193)", "island mostly Biscoe (98 % vs 24 %)"."""
    told = " vs ".join(pair(value, rest)) if level is None else f"{_percent(value)} vs {_percent(rest)}"
    return f"{phrase(column, level, value, difference, strong)} ({told})"


def _percent(share):
    return f"{100.0 * share:.0f} %"


def pair(value, rest):
    """Two different numbers with as many digits as tell them apart, two of each that count, and no zero that is none."""
    gap, largest = abs(value - rest), max(abs(value), abs(rest))
    decimals = 1 - int(np.floor(np.log10(gap)))
    if decimals > 6 or largest >= 1e7:
        digits = max(decimals + int(np.floor(np.log10(largest))) + 1, 2)
        return f"{value:.{digits}g}", f"{rest:.{digits}g}"
    return _rounded(value, max(decimals, 0), gap), _rounded(rest, max(decimals, 0), gap)


def _rounded(value, decimals, gap):
    if abs(value) < 1e-4 * gap:
        return f"{0.0:.{decimals}f}"
    decimals = max(decimals, min(1 - int(np.floor(np.log10(abs(value)))), 6))
    return f"{value:,.{decimals}f}" if abs(value) >= 1e4 else f"{value:.{decimals}f}"
