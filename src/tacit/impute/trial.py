"""How good are the filled cells? Hide some that are known, fill them, and compare.

error = √ mean((ŷ − y)² / s²), s the standard deviation of the cell's column: 0 is perfect, 1 no better than the column's mean
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logit
from sklearn.base import clone

from ..assess.cells import FEWEST, SHARE, hide_alike
from ..assess.exchangeable import rank_of
from ..base.calibration import Absence, Calibration
from ..base.missing import Imputed, impute_cells
from ..schema import Column
from ..source import ArraySource, Source
from ..study.missingness import diagnose_missing
from ..survey.column import ROLES
from ..survey.dates import DATE_READINGS

if TYPE_CHECKING:
    from ..tables import DataTable

__all__ = [
    "FEWEST", "SHARE", "SURE", "calibrate", "check_finished", "filled_cells", "judge", "lowest_of", "sampled", "try_fills",
]  # fmt: skip

SURE = 0.5
"""Probability from which a level is filled: below, another is as likely as not."""
LEVELS = (0.5, 0.8, 0.9, 0.95)
FEWEST_ROUNDS, ROUNDS, ENOUGH, FOLDS = 2, 5, 100, 5
"""Rounds of hiding, at least and at most; hidden cells a column that are enough; parts of which each is judged by the others."""
FEWEST_WORSE, WORSE = 5, 1.2
"""Hidden cells of a column, and how many times the mean's squared error fills must err there, for the mean to be taken."""
SHARED = 20.0
"""Cells of a column that count as much as all columns of its kind together."""
REFIT_ROWS = 20_000
"""Rows beyond which a few cells more or less do not change a model."""


def lowest_of(model: Any, table: DataTable) -> np.ndarray | None:
    """The least values that cells of a table may have; None where the model knows them itself."""
    return None if model._reads_tables else np.array([Column.of(column).least for column in table.used])


def filled_cells(model: Any, table: DataTable, cells: np.ndarray, level: float) -> Imputed:
    """Cells of a table, as the model codes them, with the missing ones filled in: counts by whole numbers."""
    filled, *rest = impute_cells(model, cells, level, lowest_of(model, table))
    rows = np.isnan(cells).any(axis=1)
    filled[rows] = model._model().family.possible(filled[rows])
    return Imputed(filled, *rest)


def sampled(source: Source, n_rows: int, seed: int) -> Source:
    """At most so many rows of a source, as a source; itself where it has no more."""
    if source.n_rows <= n_rows:
        return source
    rows = np.sort(np.random.default_rng(seed).choice(source.n_rows, n_rows, replace=False))
    return source.subset(rows).described_as(source)


@dataclass(frozen=True)
class Hidden:
    """Hidden cells as a model without any correction fills them: an entry a cell, of `low` and `high` a row a level."""

    row: np.ndarray
    column: np.ndarray
    truth: np.ndarray
    filled: np.ndarray
    low: np.ndarray
    high: np.ndarray
    probability: np.ndarray

    @classmethod
    def of(cls, model: Any, table: DataTable, cells: np.ndarray, hidden: np.ndarray, levels: Sequence[float]) -> Hidden:
        """Fill the hidden cells by a model that is not calibrated."""
        rows = np.flatnonzero(hidden.any(axis=1))
        at, truth = np.nonzero(hidden[rows]), cells[rows]
        given = np.where(hidden[rows], np.nan, truth)
        told = [impute_cells(model, given, level, lowest_of(model, table))[(slice(None), *at)] for level in levels]  # type: ignore[arg-type]
        kept = ~np.isnan(told[0][0])  # some may be left empty
        ends = ([each[end][kept] for each in told] for end in (1, 2))
        column, filled = at[1][kept], told[0][0][kept]
        answers = [truth[at][kept], *map(np.array, ends)]
        for j, info in enumerate(table.used):
            if info.role == "cyclic":
                here = column == j
                for each in answers:
                    each[..., here] = info.unrolled(each[..., here], filled[here])
        truth, low, high = answers
        return cls(rows[at[0]][kept], column, truth, filled, low, high, told[0][3][kept])

    def take(self, which: np.ndarray) -> Hidden:
        """Some of the cells."""
        return Hidden(*(getattr(self, each.name)[..., which] for each in fields(self)))

    @classmethod
    def joined(cls, parts: Sequence[Hidden]) -> Hidden:
        """The cells of several rounds."""
        return cls(*(np.concatenate([getattr(part, each.name) for part in parts], axis=-1) for each in fields(cls)))


def plain_calibration(table: DataTable, cells: np.ndarray, levels: Sequence[float], **known: Any) -> Calibration:
    """What columns can hold, and no correction yet."""
    d, infos = len(table.used), table.used
    coded = np.array([bool(info.levels) for info in infos])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of columns without any value
        centre, spread = np.nanmean(cells, axis=0), np.nanstd(cells, axis=0)
    bounds = np.array(
        [(-np.inf, np.inf) if info.levels else _bounds(info, cells[:, j]) for j, info in enumerate(infos)]
    )
    cycles = np.array([info.cycle if info.role == "cyclic" else (0.0, 0.0) for info in infos])
    period, around = cycles[:, 1], cycles[:, 1] > 0
    if around.any():
        angles = 2j * np.pi * (cells[:, around] - cycles[around, 0]) / period[around]
        turn = np.angle(np.nanmean(np.exp(angles), axis=0)) / (2 * np.pi) % 1.0
        centre[around] = cycles[around, 0] + period[around] * turn
        bounds[around] = -np.inf, np.inf
    whole = np.array([info.whole and not info.levels for info in infos]) & ~around
    # Of few different values the next may be any.
    free = coded | around | np.array([len(np.unique(column[~np.isnan(column)])) < FEWEST for column in cells.T])
    ends = (np.fmin.reduce(cells, initial=np.inf), -np.inf), (np.fmax.reduce(cells, initial=-np.inf), np.inf)
    known |= {name: np.where(free, none, end) for name, (end, none) in zip(("lowest", "highest"), ends)}
    return Calibration(
        np.asarray(levels, dtype=np.float64), np.ones((len(levels), d)), np.ones(d), np.where(coded, 0.0, np.nan_to_num(centre)),
        np.where(coded, 0.0, np.where(whole, 0.5, 1e-3 * np.nan_to_num(spread))), bounds[:, 0], bounds[:, 1], period, whole,
        np.array([ROLES[info.role] == "category" for info in infos]), np.full(d, -1.0), np.zeros(d), **known,
    )  # fmt: skip


def _bounds(info: Any, values: np.ndarray) -> tuple[float, float]:
    """What the numbers of a column can be: none negative, shares, and ends at which values heap."""
    seen = np.sort(values[~np.isnan(values)])
    if len(seen) < FEWEST:
        return -np.inf, np.inf
    low, high = float(seen[0]), float(seen[-1])
    heap = max(3, len(seen) // 50)
    many = len(np.unique(seen)) > FEWEST
    at = [many and (seen == end).sum() >= heap for end in (low, high)]
    positive = low >= 0 and info.reading not in DATE_READINGS
    least = low if at[0] else 0.0 if positive else -np.inf
    return least, high if at[1] or (positive and high in (1.0, 100.0)) else np.inf


def learn_calibration(
    start: Calibration, hidden: Hidden, cells: np.ndarray, kinds: Sequence[str], plain: Sequence[int] = ()
) -> Calibration:
    """Slopes, factors and the rest of a calibration, from hidden cells; columns of a kind share what few cells tell.

    Columns that are `plain` are filled by their means.
    """
    d = len(start.slope)
    slope, factors, usual, share = start.slope.copy(), start.factors.copy(), start.usual.copy(), start.share.copy()
    columns = {j: hidden.take(hidden.column == j) for j in np.unique(hidden.column) if not start.period[j]}
    numbers = {j: part for j, part in columns.items() if np.isnan(part.probability).all()}
    for j, part in numbers.items():
        x, y = part.filled - start.centre[j], part.truth - start.centre[j]
        prior = SHARED * (x**2).mean()
        slope[j] = np.clip((x @ y + prior) / (x @ x + prior), 0.0, 1.0) if prior > 0 else 1.0
        if j in plain or (len(x) >= FEWEST and ((slope[j] * x - y) ** 2).sum() >= (y**2).sum()):
            slope[j] = 0.0
    for kind in sorted({kinds[j] for j in numbers}):
        own = {j: _misses(start, part, slope[j], j) for j, part in numbers.items() if kinds[j] == kind}
        every = np.concatenate(list(own.values()), axis=1)
        trust = every.shape[1] / (every.shape[1] + SHARED)  # few cells are no reason to doubt the model
        pooled = [_quantile(row, level) ** trust for row, level in zip(every, start.levels)]
        for j in range(d):
            if kinds[j] == kind and every.shape[1] >= FEWEST:
                n = own[j].shape[1] if j in own else 0
                mine = [_quantile(row, level) for row, level in zip(own[j], start.levels)] if n else pooled
                weight = n / (n + SHARED)
                factors[:, j] = np.exp(weight * np.log(mine) + (1.0 - weight) * np.log(pooled))
    for j, part in columns.items():
        if j in numbers:
            continue
        best = _most_frequent(cells[:, j])
        share[j] = float((cells[:, j] == best).sum() / (~np.isnan(cells[:, j])).sum())
        if len(part.truth) >= FEWEST and (part.filled == part.truth).mean() <= (part.truth == best).mean():
            usual[j] = best
    told = hidden.take(~np.isnan(hidden.probability))
    temper = _temper(told.probability, told.filled == told.truth) if len(told.truth) >= FEWEST else 1.0
    return replace(start, slope=slope, factors=factors, usual=usual, share=share, temper=temper)


def _misses(start: Calibration, part: Hidden, slope: float, j: int) -> np.ndarray:
    """Distances of the truth from fills, in half-widths of the intervals of every level, (levels, cells)."""
    fill = start.centre[j] + slope * (part.filled - start.centre[j])
    down, up = part.filled - part.low + start.pad[j], part.high - part.filled + start.pad[j]
    apart = part.truth - fill
    return np.abs(apart) / np.maximum(np.where(apart < 0, down, up), 1e-9 * np.abs(apart).max() + np.finfo(float).tiny)


def _quantile(values: np.ndarray, level: float) -> float:
    """The value that the next one exceeds with a probability of at most 1 − level, where values are exchangeable."""
    n = len(values)
    at = min(rank_of(n, level), n) - 1
    return float(np.clip(np.sort(values)[at], 1e-3, 1e6))


def _temper(probability: np.ndarray, right: np.ndarray) -> float:
    """The power of the odds of levels that makes them bear out best; 1 where none above one half is known."""
    above = (probability > 0.5) & (probability < 1.0)
    if above.sum() < FEWEST:
        return 1.0
    odds, right = logit(np.minimum(probability[above], 1 - 1e-9)), right[above]

    def loss(power: float) -> float:
        return float(np.logaddexp(0.0, np.where(right, -power, power) * odds).sum() + SHARED / 10 * np.log(power) ** 2)

    return float(minimize_scalar(loss, bounds=(0.05, 2.0), method="bounded").x)


def assess(calibration: Calibration, hidden: Hidden, cells: np.ndarray, level: float) -> tuple[np.ndarray, ...]:
    """Squared error, that of the mean, whether covered and whether right of hidden cells, (4, cells); NaN where not filled."""
    at = list(calibration.levels).index(level)
    told = np.array([hidden.filled, hidden.low[at], hidden.high[at], hidden.probability])
    filled, low, high, _ = calibration.apply(level, told, hidden.column, hidden.probability)
    spread = np.array([np.nanstd(column) or 1.0 for column in cells.T])[hidden.column]
    number = np.isnan(hidden.probability)
    levels = set(hidden.column[~number].tolist())
    best = np.array([_most_frequent(column) if j in levels else -1 for j, column in enumerate(cells.T)])[hidden.column]
    error = np.where(number, ((filled - hidden.truth) / spread) ** 2, np.nan)
    apart, period = calibration.centre[hidden.column] - hidden.truth, calibration.period[hidden.column]
    turned = (apart + 0.5 * period) % np.where(period > 0, period, 1.0) - 0.5 * period
    naive = np.where(number, (np.where(period > 0, turned, apart) / spread) ** 2, hidden.truth == best)
    covered = np.where(number, (low <= hidden.truth) & (hidden.truth <= high), np.nan)
    right = np.where(number | np.isnan(filled), np.nan, filled == hidden.truth)
    return error, np.where(np.isnan(filled), np.nan, naive), covered, right


def judged(calibration: Calibration, hidden: Hidden, parts: Sequence[np.ndarray], level: float) -> Calibration:
    """The calibration with what `assess` found, by column."""
    error, naive, covered, right = parts
    d, tried = len(calibration.slope), ~np.isnan(naive)
    found = np.full((4, d), np.nan)
    n = np.bincount(hidden.column[tried], minlength=d)
    for j in np.flatnonzero(n):
        here = tried & (hidden.column == j)
        number = bool(np.isnan(right[here]).all())
        values = [error[here].mean(), naive[here].mean(), covered[here].mean(), right[here].mean()]
        found[:, j] = (
            [np.sqrt(values[0]), np.sqrt(values[1]), values[2], np.nan]
            if number
            else [np.nan, values[1], np.nan, values[3]]
        )
    return replace(calibration, hidden=n, error=found[0], naive=found[1], covered=found[2], right=found[3], level=level)


def judge(model: Any, table: DataTable, cells: np.ndarray, hidden: np.ndarray, level: float = 0.9) -> dict:
    """Compare what a fitted model fills in with the true cells of a table, those that are hidden, at a level of intervals.

    Returns
    -------
    dict
        ``numbers`` and ``categories`` (how many were hidden and filled), ``error``, ``naive`` (of the columns' means) and
        ``covered`` of numbers, ``right`` and ``usual`` (how often the most frequent level would have been right) of
        categories, None where there are none; ``columns``, the same for each column.
    """
    calibration = model._calibration or plain_calibration(table, cells, [level], sure=0.0)
    bare = copy(model)
    bare.calibration_ = None
    found = Hidden.of(bare, table, cells, hidden, list(dict.fromkeys([*calibration.levels, level])))
    if level not in calibration.levels:
        calibration = replace(
            calibration, levels=np.append(calibration.levels, level),
            factors=np.vstack([calibration.factors, calibration.factor(level)]),
        )  # fmt: skip
    return judged(calibration, found, assess(calibration, found, cells, level), level).check(
        [c.name for c in table.used]
    )


def _most_frequent(codes: np.ndarray) -> int:
    codes = codes[~np.isnan(codes)].astype(int)
    return int(np.bincount(codes).argmax()) if len(codes) else -1


def calibrate(
    model: Any, table: DataTable, *, level: float = 0.9, seed: int = 0, sure: float = SURE, budget: float = 60.0,
    missingness: Sequence[Any] | None = None, masks: Sequence[np.ndarray] | None = None,
) -> Calibration:  # fmt: skip
    """Hide cells of a table, fill them by the model, and learn from them how its fills are to be corrected and how good they are.

    The model is given the result as ``calibration_``, so that its `impute` and everything made of it are corrected. Up to
    `REFIT_ROWS` rows the model is learned again without the hidden cells, in several rounds; beyond, they do not matter to
    it. What is told of fills comes from cells whose rows were left out of the correction.

    Parameters
    ----------
    model : fitted Mixture, ProbabilisticPCA or FactorAnalysis
        Whose columns are those that the table uses.
    table : tacit.tables.DataTable
    level : float
        Of the intervals that are judged.
    seed : int
        Seeds which cells are hidden.
    sure : float
        Probability from which a level is filled.
    budget : float
        Seconds after which no third or further round is begun.
    missingness : sequence of Missingness, optional
        As `tacit.study.diagnose_missing` found it; default it is asked.
    masks : sequence of arrays, optional
        Cells to hide in each round, of the table's first `REFIT_ROWS` rows or a sample of them.

    Returns
    -------
    Calibration
    """
    started = time.monotonic()
    missingness = diagnose_missing(table, seed=seed) if missingness is None else missingness
    absent = absences(table, missingness)
    model.calibration_ = None
    cells = trial_cells(table, seed)
    levels = sorted({*LEVELS, level})
    start = plain_calibration(table, cells, levels, sure=sure, absent=absent, refit=table.n_rows <= REFIT_ROWS)
    rounds = hidden_rounds(table, cells, start, seed, missingness) if masks is None else masks
    found: list = []
    for mask in rounds:
        if not mask.any() or (len(found) >= FEWEST_ROUNDS and time.monotonic() - started > budget):
            break
        own = _relearned(model, np.where(mask, np.nan, cells), table) if start.refit else model
        found.append(Hidden.of(own, table, cells, mask, levels))
    if found and (hidden := Hidden.joined(found)).truth.size >= FEWEST:
        kinds = [column.role for column in table.used]
        parts = _left_out(start, hidden, cells, kinds, level)
        if plain := _worse(hidden, parts, start.period):
            parts = _left_out(start, hidden, cells, kinds, level, plain)
        start = judged(learn_calibration(start, hidden, cells, kinds, plain), hidden, list(parts), level)
    model.calibration_ = start
    return start


def _left_out(
    start: Calibration, hidden: Hidden, cells: np.ndarray, kinds: Sequence[str], level: float, plain: Sequence[int] = ()
) -> np.ndarray:
    """What `assess` finds of hidden cells by a calibration that was learned from other rows."""
    parts = np.full((4, len(hidden.truth)), np.nan)
    for fold in range(FOLDS):
        held = hidden.row % FOLDS == fold
        if held.any() and not held.all():
            learned = learn_calibration(start, hidden.take(~held), cells, kinds, plain)
            parts[:, held] = assess(learned, hidden.take(held), cells, level)
    return parts


def _worse(hidden: Hidden, parts: np.ndarray, period: np.ndarray) -> list[int]:
    """Columns of numbers whose hidden cells the mean would have filled clearly better."""
    found, (error, naive, _, _) = [], parts
    for j in np.unique(hidden.column):
        here = (hidden.column == j) & ~np.isnan(error)
        if here.sum() >= FEWEST_WORSE and not period[j] and error[here].sum() > WORSE * naive[here].sum():
            found.append(int(j))
    return found


def trial_cells(table: DataTable, seed: int) -> np.ndarray:
    """The rows of a table in which cells are hidden: all, or a sample of many; gross errors are missing."""
    from ..mixture.finding import gross_places

    cells = np.concatenate([block.X for block in sampled(table.source(), REFIT_ROWS, seed)])
    for j, rows in gross_places(cells, table.schema.columns).items():
        cells[rows, j] = np.nan
    return cells


def hidden_rounds(
    table: DataTable, cells: np.ndarray, start: Calibration, seed: int, missingness: Sequence[Any], most: int = ROUNDS
) -> list[np.ndarray]:
    """Which cells to hide in each of at most so many rounds, none twice."""
    places = {column.name: j for j, column in enumerate(table.used)}
    related = np.zeros((len(places), len(places)), dtype=bool)
    for each in missingness:
        if each.kind == "related" and each.column in places:
            related[places[each.column], [places[name] for name in each.by if name in places]] = True
    absent = np.isnan(cells) & start.not_applicable(cells)
    # Gross errors are no example of missing cells, or columns that nothing is filled in would be judged.
    absent |= np.isnan(cells) & np.array([not column.n_missing for column in table.used])
    coded = np.array([bool(column.levels) for column in table.used])
    rounds: list[np.ndarray] = []
    for k in range(most if start.refit else 1):
        before = np.any(rounds, axis=0) if rounds else None
        mask = hide_alike(cells, seed=seed + k, absent=absent, related=related, coded=coded, spared=before)
        if mask.sum() < FEWEST:
            break
        rounds.append(mask)
        if sum(each.sum() for each in rounds) >= ENOUGH * len(np.unique(np.nonzero(mask)[1])):
            break
    return rounds


def absences(table: DataTable, missingness: Sequence[Any]) -> tuple[Absence, ...]:
    """Cells that are not applicable, as rules about the columns that the table uses."""
    return tuple(rule for each in missingness for rule in each.rules(table))


def try_fills(
    model: Any, table: DataTable, *, level: float = 0.9, seed: int = 0, sure: float = SURE, budget: float = 60.0
) -> dict | None:
    """Hide a few cells of a table, fill them, compare: how good a model's fills are once they are calibrated.

    Parameters
    ----------
    model : fitted Mixture, ProbabilisticPCA or FactorAnalysis
        Whose columns are those that the table uses; it is calibrated (see `calibrate`) unless it is.
    table : tacit.tables.DataTable
    level : float
        Of the intervals.
    seed, sure, budget
        As in `calibrate`.

    Returns
    -------
    dict or None
        As `judge` gives it, and ``refit``; None where too few cells are observed.
    """
    learned = model._calibration
    if learned is None or learned.level != level:
        learned = calibrate(model, table, level=level, seed=seed, sure=sure, budget=budget)
    return learned.check([column.name for column in table.used]) if learned.hidden.sum() else None


def _relearned(model: Any, cells: np.ndarray, table: DataTable) -> Any:
    rank = getattr(model, "n_components_", None)
    again = clone(model).set_params(**({} if rank is None else {"n_components": rank}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again.fit(ArraySource(cells).described_as(table.source()))
    return check_finished(again)


def check_finished(model: Any) -> Any:
    """The model; what interrupted its fit interrupts more than that."""
    if model.fit_.interrupted:
        raise KeyboardInterrupt
    return model
