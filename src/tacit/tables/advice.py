"""`advise`: which command fits a table, by facts about its columns."""

from __future__ import annotations

import numpy as np

from ..frames import is_numeral
from ..survey.column import ColumnInfo
from ..survey.scores import mean_ranks
from ..words import count, share
from .data import DataTable

__all__ = ["advise", "rating_columns", "text_column"]

SAMPLE = 2000
SPARSE, ALIKE, NUMBERS = 0.15, 0.35, 0.8
"""Shares of missing cells and of number columns, and the mean |rank correlation|, that decide."""
RATED = ("rating", "star", "score", "overall", "rate", "grade", "vote", "points")
"""What names of columns of ratings hold."""
MOST_BESIDE, FEWEST_RATINGS, AGAIN, MOST_LEVELS = 8, 20, 0.8, 20
"""Columns of a table of ratings, its rows, the share of different users and of different items in them at most, and levels."""
FEWEST_WORDS, FEWEST_TEXTS = 6.0, 10
"""Words that cells of free text have on average, and cells that there must be."""


def advise(table: DataTable) -> tuple[str, str]:
    """The verb that fits a table, and why: "impute" where much is missing, "reduce" where numbers correlate, else "fit".

    Where a column is free text with more words in a cell than other columns can be used, the verb is "topics"; where the columns
    are a user, an item and a rating, it is "recommend".
    """
    rated = rating_columns(table)
    if rated is not None:
        user, item, rating = rated
        told = (
            f"{user}, {item} and {rating} are"
            if not _is_nameless(table.columns[0])
            else "the first three columns look like"
        )
        return "recommend", f"{told} a user, an item and a rating in each of {count(table.n_rows, 'row')}"
    used = [column for column in table.used if not column.copied]
    prose, n_words = _prose(table)
    if prose is not None and n_words > len(used):
        beside = count(len(used), "other column") if used else "no other column"
        return "topics", f"{prose} is free text, of {n_words:.0f} words on average, and {beside} can be used"
    if not used:
        return "inspect", "no column can be used yet"
    lost = sum(column.n_missing for column in used) / (table.n_rows * len(used))
    if lost >= SPARSE:
        return "impute", f"{share(lost)} of the cells of the columns used are missing"
    numbers = [column.name for column in used if not column.levels]
    if len(numbers) >= 4 and len(numbers) >= NUMBERS * len(used) and table.n_rows >= 10:
        alike = _alike(table, numbers)
        if alike >= ALIKE:
            return "reduce", (
                f"{len(numbers)} of the {count(len(used), 'column')} used are numbers, whose rank correlations are {alike:.2f} "
                "on average (without sign): a few axes may stand for many columns"
            )
    others = len(used) - len(numbers)
    kinds = f"{len(numbers)} of numbers and {others} of categories"
    if not numbers or not others:
        kinds = "all of numbers" if numbers else "all of categories"
    return "fit", f"{count(table.n_rows, 'row')} have {count(len(used), 'column')} to tell groups by, {kinds}"


def rating_columns(table: DataTable) -> tuple[str, str, str] | None:
    """Columns of a user, an item and a rating, where a table is a long one of ratings; None elsewhere.

    They are found by their names or, where the first line is no header, in the usual order; users and items must come again, and
    no more than a few other columns may stand beside.
    """
    if 3 <= len(table.columns) <= 4 and table.n_rows >= FEWEST_RATINGS and all(map(_is_nameless, table.columns)):
        return _unnamed_ratings(table)
    names = " ".join(column.name.lower() for column in table.columns)
    if (
        not 3 <= len(table.columns) <= MOST_BESIDE
        or table.n_rows < FEWEST_RATINGS
        or not any(word in names for word in RATED)
    ):
        return None  # before anything is loaded: a look at a table must be quick
    from ..recommend.reading import NAMES

    plain = {
        "".join(letter for letter in column.name.lower() if letter.isalnum()): column
        for column in reversed(table.columns)
    }
    found = [next((plain[name] for name in NAMES[role] if name in plain), None) for role in ("user", "item", "rating")]
    if None in found or len({column.name for column in found if column}) < 3:
        return None
    user, item, rating = (column for column in found if column is not None)
    ratings = rating.low is not None or (rating.levels and all(map(is_numeral, rating.levels)))
    return (user.name, item.name, rating.name) if ratings and _come_again(table, [user.name, item.name]) else None


def _is_nameless(column: ColumnInfo) -> bool:
    """Whether the name of a column is a cell, or a number for want of a name."""
    return is_numeral(column.name) or column.name.removeprefix("column_").isdigit()


def _unnamed_ratings(table: DataTable) -> tuple[str, str, str] | None:
    """The first three columns, where they hold ids that come again, no pair twice, and a few levels."""
    batch = next(iter(table.reader.batches()))
    user, item, rating = ([str(cell) for cell in batch[c.name].originals()[: 5 * SAMPLE]] for c in table.columns[:3])
    levels, ids = set(rating), (len(set(user)), len(set(item)))
    if not all(map(is_numeral, levels)) or not 1 < len(levels) <= MOST_LEVELS or min(ids) <= len(levels):
        return None
    names = [column.name for column in table.columns[:3]]
    return (names[0], names[1], names[2]) if _come_again(table, names[:2]) else None


def _come_again(table: DataTable, names: list[str]) -> bool:
    """Whether cells of both columns come again in the first rows, and hardly a pair of them does."""
    batch = next(iter(table.reader.batches()))
    cells = [[str(cell) for cell in batch[name].originals()[: 5 * SAMPLE]] for name in names]
    n, pairs = len(cells[0]), len(set(zip(*cells)))
    return all(1 < len(set(column)) < AGAIN * n for column in cells) and pairs > 0.9 * n


def text_column(table: DataTable) -> str | None:
    """The column of free text: of those that are read as texts, the one with the most words in a cell; None without any."""
    return _prose(table)[0]


def _prose(table: DataTable) -> tuple[str | None, float]:
    """The column of free text and the words that its first cells have on average."""
    names = [column.name for column in table.columns if column.role == "text"]
    if not names or table.n_rows < FEWEST_TEXTS:
        return None, 0.0
    batch = next(iter(table.reader.batches()))
    found = {name: _words(batch[name].originals()[:SAMPLE]) for name in names}
    best = max(found, key=found.__getitem__)
    return (best, found[best]) if found[best] >= FEWEST_WORDS else (None, 0.0)


def _words(cells: list) -> float:
    """How many words a cell has on average, of those that are there."""
    from ..topics.tokens import Reading

    known = [len(Reading().words(cell)) for cell in cells if isinstance(cell, str) and cell.strip()]
    return float(np.mean(known)) if known else 0.0


def _alike(table: DataTable, names: list[str]) -> float:
    """The mean absolute rank correlation of columns, of pairs of cells that are both known."""
    _, batch = table.sample(SAMPLE)
    ranks = []
    for name in names:
        values = np.where(batch[name].missing, np.nan, batch[name].values).astype(np.float64)
        known = ~np.isnan(values)
        own = np.full(len(values), np.nan)
        own[known] = mean_ranks(values[known])
        ranks.append(own)
    found = []
    for i, x in enumerate(ranks):
        for y in ranks[i + 1 :]:
            both = ~np.isnan(x) & ~np.isnan(y)
            if both.sum() > 2 and np.ptp(x[both]) > 0 and np.ptp(y[both]) > 0:
                found.append(abs(float(np.corrcoef(x[both], y[both])[0, 1])))
    return float(np.mean(found)) if found else 0.0
