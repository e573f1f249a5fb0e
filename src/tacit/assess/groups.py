"""`compare_groups`: which columns of a table differ between groups of its rows, how surely, and by how much.

Every column has the test that suits what it holds; p-values are corrected together for how many there are, and intervals hold
together (Bonferroni). A test of numbers is chosen by how values lie within groups, never by how far groups lie apart, so that
it keeps its level.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy import stats

from ..checks import check_choice
from ..schema import Column, level_text
from ..survey.column import ColumnInfo
from ..tables import DataTable, open_table
from ..tables.reader import meant
from ..words import count, number
from .adjusting import CORRECTIONS, adjust
from .contingency import chi_square_test, fisher_test
from .means import t_test
from .permutation import permutation_test
from .ranks import kruskal, mann_whitney
from .result import TestResult
from .samples import check_alpha
from .variances import anova

__all__ = ["GroupTests", "compare_groups"]

MOST = 30
"""Groups at most."""
FEW, ROWS, SKEWED, HEAVY = 10, 40, 1.0, 3.0
"""Values of a group below which ranks are taken; from which means are whatever the shape; skewness and kurtosis beyond "
  "which ranks are."""
FEWEST = 5
"""Missing cells of a column below which no test asks where they are."""
METHODS = ("auto", "means", "ranks")


@dataclass(frozen=True)
class GroupTests:
    """Which columns differ between groups.

    Attributes
    ----------
    table, by : str
        The table and the column that says the group.
    groups : list of dict
        `name` and `n_rows`.
    tests : list of dict
        Every test, the surest first: `what` ("values", "levels" or "missing"), `column`, `test` and `why` that one,
        `statistic`, `symbol`, `p`, `adjusted`, `differs`, `effect_name`, `effect`, `low`, `high`, `detectable` (the smallest
        effect that is found with a probability of 80 %), `values` (a mean, a median or shares of every group), `measure` (which
        of these), `level`, `known` and `missing` (cells of every group), and `sentence`.
    skipped : list of dict
        `column` and `reason`.
    n_rows, n_left_out : int
        Rows that were compared, and rows without a group.
    correction, alpha : str, float
    results : list of TestResult
        In the order of `tests`; at the level alpha over their number.
    summary, limits : list of str
    """

    table: str
    by: str
    groups: list[dict]
    tests: list[dict]
    skipped: list[dict]
    n_rows: int
    n_left_out: int
    correction: str
    alpha: float
    results: list[TestResult] = field(repr=False)
    summary: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)

    @property
    def different(self) -> list[dict]:
        """What differs beyond chance."""
        return [test for test in self.tests if test["differs"]]

    def __str__(self) -> str:
        return "\n".join(self.summary)


def compare_groups(
    table: Any, by: str, *, values: Sequence[str] | None = None, method: str = "auto", correction: str = "holm",
    alpha: float = 0.05, roles: dict | None = None, columns: list[str] | None = None, ignore: Sequence[str] = (), **reading: Any,
) -> GroupTests:  # fmt: skip
    """Test every column of a table for differences between groups of rows.

    Parameters
    ----------
    table : table in memory, path or DataTable
        As `tacit.tables.open_table` takes it.
    by : str
        The column whose value says which group a row is of.
    values : sequence of str, optional
        The groups to compare; default all.
    method : {"auto", "means", "ranks"}
        Tests of measurements: Welch's of means, those of ranks, or the first unless a group has few values or an uneven shape.
    correction : {"holm", "bh"}
        As in `adjust`.
    alpha : float
        Level of all tests together; intervals hold together with probability 1 − alpha.
    roles, columns, ignore, **reading
        As in `tacit.tables.open_table`.

    Returns
    -------
    GroupTests

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.assess import compare_groups
    >>> rng = np.random.default_rng(0)
    >>> rows = {"plot": ["a", "b"] * 30, "yield": rng.normal(5, 1, 60) + [0, 2] * 30, "depth": rng.normal(9, 1, 60)}
    >>> [test["column"] for test in compare_groups(rows, by="plot").different]
    ['yield']
    """
    check_choice("method", method, METHODS)
    check_choice("correction", correction, CORRECTIONS)
    alpha = check_alpha(alpha)
    opened = _opened(table, by, roles, columns, ignore, reading)
    group, names, n_left_out = _groups(opened, by, values)
    kept = group >= 0
    sizes = np.bincount(group[kept], minlength=len(names))
    infos = [info for info in opened.used if info.name != by]
    found: list[tuple[dict, partial]] = []
    skipped = [{"column": c.name, "reason": str(c.left_out)} for c in opened.columns if not c.used and c.name != by]
    every = zip(opened.used, opened.schema.columns, opened.cells.T) if opened.used else ()
    for info, column, cells in every:
        if info.name == by:
            continue
        if info.copied:
            skipped.append({"column": info.name, "reason": "says the same as another column"})
            continue
        try:
            found += _tests(info, column, cells[kept], group[kept], names, method)
        except ValueError as error:
            skipped.append({"column": info.name, "reason": str(error).rstrip(".")})
    results: list[TestResult] = []
    tests: list[dict] = []
    share = alpha / max(len(found), 1)
    for told, test in found:
        try:
            results.append(test(alpha=share))
            tests.append(told)
        except ValueError as error:
            skipped.append({"column": told["column"], "reason": str(error).rstrip(".")})
    if not tests:
        reasons = "; ".join(f"{each['column']}: {each['reason']}" for each in skipped[:5])
        raise ValueError(
            f"no column of {opened.reader.place} can be compared between the groups of {by!r} ({reasons or infos})."
        )
    for told, result, adjusted in zip(tests, results, adjust([each.p_value for each in results], correction)):
        told.update(_told(result, names), adjusted=float(adjusted), differs=bool(adjusted <= alpha))
    order = sorted(range(len(tests)), key=lambda i: (tests[i]["adjusted"], tests[i]["p"], i))
    tests, results = [tests[i] for i in order], [results[i] for i in order]
    record = GroupTests(
        opened.reader.name, by, [{"name": n, "n_rows": int(s)} for n, s in zip(names, sizes)], tests, skipped, int(kept.sum()),
        n_left_out, correction, alpha, results,
    )  # fmt: skip
    from .group_words import worded

    return worded(record, opened)


def _opened(table: Any, by: str, roles: Any, columns: Any, ignore: Sequence[str], reading: dict) -> DataTable:
    if isinstance(table, DataTable):
        opened = table
    else:
        if columns is not None and by not in columns:
            columns = [*columns, by]
        opened = open_table(table, roles=roles or {}, columns=columns, ignore=list(ignore), **reading)
    names = [column.name for column in opened.columns]
    if by not in names:
        raise ValueError(f"{opened.reader.place} has no column {by!r} to tell the groups by; {meant(by, names)}")
    return opened


def _groups(table: DataTable, by: str, values: Iterable[str] | None) -> tuple[np.ndarray, list[str], int]:
    """The number of every row's group, −1 for those left out; the names; how many rows have no group."""
    cells = (cell for batch in table.reader.batches() for cell in batch[by].objects)
    texts = [None if cell is None or cell != cell else level_text(cell) for cell in cells]
    counts = Counter(texts)
    n_lost = counts.pop(None, 0)
    known: list = sorted(counts)
    if values is not None:
        values = list(values)
        for value in values:
            if value not in known:
                raise ValueError(f"column {by!r} has no value {value!r}; it has {', '.join(known[:10])}.")
        if len(set(values)) < max(len(values), 2):
            raise ValueError(f"values={values!r} must name at least two groups of column {by!r}, each once.")
        known = values
    if len(known) < 2:
        raise ValueError(f"column {by!r} has {count(len(known), 'value')}; at least two groups are needed to compare.")
    if len(known) > MOST:
        raise ValueError(
            f"column {by!r} has {len(known):,} values, more than {MOST} groups; name those to compare, such as "
            f"{by}={known[0]},{known[1]}."
        )
    for name in known:
        if counts.get(name, 0) < 2:
            raise ValueError(
                f"group {name!r} of column {by!r} has {count(counts.get(name, 0), 'row')}; at least 2 are needed. Name "
                f"the groups to "
                f"compare, such as {by}={','.join([n for n in known if counts.get(n, 0) > 1][:2])}."
            )
    places = {name: i for i, name in enumerate(known)}
    return np.array([places.get(text, -1) for text in texts]), known, n_lost


def _tests(
    info: ColumnInfo, column: Column, cells: np.ndarray, group: np.ndarray, names: list[str], method: str
) -> list[tuple[dict, partial]]:
    """Tests of the values of a column, and of which of its cells are missing."""
    seen, k = ~np.isnan(cells), len(names)
    known, lost = (np.bincount(group[rows], minlength=k) for rows in (seen, ~seen))
    told: dict = {"column": str(info.name), "role": info.role, "known": known.tolist(), "missing": lost.tolist()}
    tests: list[tuple[dict, partial]] = []
    share = (lost / np.maximum(known + lost, 1)).tolist()
    empty = np.flatnonzero(known < 2)
    if lost.sum() >= FEWEST and seen.sum() >= FEWEST:
        why, test = _table_test(np.stack([lost, known], axis=1))
        tests.append(
            (told | {"what": "missing", "measure": "share missing", "values": share, "level": None, "why": why}, test)
        )
    if len(empty):
        if not tests:
            raise ValueError(f"group {names[empty[0]]!r} has {count(int(known[empty[0]]), 'known value')}")
        return tests
    samples = [cells[seen & (group == g)] for g in range(k)]
    if len(np.unique(cells[seen])) < 2:
        return tests
    return [_values_test(info, column, samples, told, method), *tests]


def _table_test(counts: np.ndarray) -> tuple[str, partial]:
    """The test of a table of counts, and why that one."""
    seen = counts[:, counts.sum(axis=0) > 0]
    expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / seen.sum()
    if expected.min() >= 5:
        return "shares of levels, at least 5 expected in every cell", partial(chi_square_test, seen)
    if seen.shape == (2, 2):
        return "two groups and two levels, fewer than 5 expected in a cell", partial(fisher_test, seen)
    return "shares of levels, fewer than 5 expected in a cell", partial(chi_square_test, seen, method="random")


def _values_test(
    info: ColumnInfo, column: Column, samples: list[np.ndarray], told: dict, method: str
) -> tuple[dict, partial]:
    if column.kind == "category":
        return _levels_test(column, samples, told)
    told = told | {"what": "values", "level": None}
    if column.kind == "cyclic":
        return _cyclic_test(column, samples, told)
    if column.kind == "ordinal":
        names = [str(column.levels[int(np.median(part))]) for part in samples]
        return _rank_test(
            samples, told | {"values": names, "measure": "median", "why": "levels in order have ranks, and no means"}
        )
    means, why = _means(info, samples, method)
    if not means:
        medians = [float(np.median(part)) for part in samples]
        return _rank_test(samples, told | {"values": medians, "measure": "median", "why": why})
    told |= {"values": [float(part.mean()) for part in samples], "measure": "mean", "why": why}
    if len(samples) == 2:
        return told, partial(t_test, samples[1], samples[0])
    return told, partial(anova, *samples, equal_variances=False)


def _rank_test(samples: list[np.ndarray], told: dict) -> tuple[dict, partial]:
    if len(samples) == 2:
        return told, partial(mann_whitney, samples[1], samples[0])
    return told, partial(kruskal, *samples)


def _means(info: ColumnInfo, samples: list[np.ndarray], method: str) -> tuple[bool, str]:
    """Whether means are compared, and why."""
    if method != "auto":
        return method == "means", f"{method} were asked for"
    if info.role == "count":
        return False, "counts are skewed, and have ranks"
    fewest = min(map(len, samples))
    if any(np.ptp(part) == 0 for part in samples):
        return False, "all values of a group are equal, so that means have no known error"
    if fewest < FEW:
        return False, f"a group has {count(fewest, 'value')}, too few to tell that means are nearly normal"
    z = np.concatenate([(part - part.mean()) / part.std() for part in samples])
    skewness, kurtosis = float(stats.skew(z)), float(stats.kurtosis(z))
    if abs(skewness) < SKEWED and kurtosis < HEAVY:
        return True, "values within groups are about as even as normal ones"
    uneven = f"values within groups are uneven (skewness {number(skewness, 2)}, excess kurtosis {number(kurtosis, 2)})"
    if fewest >= ROWS and abs(skewness) < 2 * SKEWED and kurtosis < 4 * HEAVY:
        return True, f"{uneven}, but groups have {fewest} values or more"
    return False, uneven


def _levels_test(column: Column, samples: list[np.ndarray], told: dict) -> tuple[dict, partial]:
    """The shares of levels; the level that differs most is told."""
    counts = np.array([np.bincount(part.astype(int), minlength=len(column.levels)) for part in samples])
    total = counts.sum(axis=1, keepdims=True)
    shares, pooled = counts / total, counts.sum(axis=0) / total.sum()
    spread = np.ptp(shares, axis=0) / np.sqrt(np.maximum(pooled * (1 - pooled), 1e-12))
    j = int(np.argmax(np.where(pooled > 0, spread, -1)))
    why, test = _table_test(counts)
    return told | {"what": "levels", "level": str(column.levels[j]), "values": shares[:, j].tolist(), "measure": "share",
                   "why": why}, test  # fmt: skip


def _cyclic_test(column: Column, samples: list[np.ndarray], told: dict) -> tuple[dict, partial]:
    """Directions: how much nearer values lie to the mean direction of their group than to that of all."""
    period = float(column.cycle[1])
    turns = [np.exp(2j * np.pi * part / period) for part in samples]
    means = [float(np.angle(part.mean()) / (2 * np.pi) * period % period) for part in turns]
    told = told | {"values": means, "measure": "mean", "why": "values go round in a cycle, and are permuted"}
    return told, partial(_permuted_cycle, samples, period)


def _permuted_cycle(samples: list[np.ndarray], period: float, alpha: float) -> TestResult:
    def apart(*parts: np.ndarray) -> float:
        turns = [np.exp(2j * np.pi * part / period) for part in parts]
        n = sum(map(len, turns))
        return float(sum(abs(turn.sum()) for turn in turns) - abs(sum(turn.sum() for turn in turns))) / n

    return permutation_test(*samples, statistic=apart, alternative="greater", n_resamples=999, alpha=alpha)


def _told(result: TestResult, names: list[str]) -> dict:
    """What a result says, as values."""
    low, high = result.effect_interval
    try:
        least = result.detectable(0.8) if result.name != "The permutation test" else float("nan")
    except ValueError:
        least = float("nan")
    values = {"statistic": result.statistic, "p": result.p_value, "effect": result.effect, "low": low, "high": high,
              "detectable": least}  # fmt: skip
    told: dict = {name: float(value) if np.isfinite(value) else None for name, value in values.items()}
    name = result.effect_name
    if name == "P(X > Y)":  # the second group is given first, so that effects above the null one mean that it is higher
        name = f"P({names[1]} > {names[0]})"
    return told | {"test": result.name, "symbol": result.symbol, "effect_name": name, "sentence": result.sentence}
