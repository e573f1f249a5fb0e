"""What is said of the regimes of sequences: `RegimeFindings`, which the console, JSON and the page show and add nothing to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..base.missing import Imputed
from ..sequence.choice import RegimeChoice
from ..sequence.clock import unit_named
from ..sequence.forecast import Forecast
from ..sequence.segmentation import Segmentation, moments, segment
from ..sequence.trial import Trial
from ..words import count, number
from .regime_words import regime_words
from .segment_sentences import card, limits, summary

__all__ = ["Regime", "RegimeFindings", "lasting", "leaving", "study_regimes"]

SURE = 0.9
"""Probability from which the regime of a step is called sure."""
FEWEST_PAIRS = 20


@dataclass(frozen=True)
class Regime:
    """A regime.

    Attributes
    ----------
    number : int
        From 1, the one with most steps first.
    n_steps : int
        Steps of the likeliest path that are in it.
    share : float
        Of all steps.
    n_segments, n_left : int
        How often it was entered, sequences that begin in it included, and left.
    stay : float
        Steps, or units of time, that the model expects it to last once it is entered.
    lasts : str
        The same in words, "more than" the longest sequence where it is longer; empty where it was never left.
    profile : list of dict
        For every column, or level of a category: `column`, `level`, `n`, `mean`, `std`, `rest_mean`, `rest_std`, of known cells
        in its steps and in those of other regimes.
    words : str
        What sets it apart.
    """

    number: int
    n_steps: int
    share: float
    n_segments: int
    n_left: int
    stay: float
    lasts: str
    profile: list[dict]
    words: str = ""


@dataclass(frozen=True, eq=False)
class RegimeFindings:
    """Everything that was found about regimes.

    Attributes
    ----------
    title : str
    n_rows : int
    regimes : tuple of Regime
    segmentation : Segmentation
    filled : Imputed
        All steps with missing cells filled in, and their intervals; codes of categories.
    forecast : Forecast or None
    moves : (K, K) array
        Probabilities that a regime, when it is left, is followed by another; 0 on the diagonal.
    unit : str
        What lengths are told in: "steps", "days", "working days" …
    columns : tuple of tacit.schema.Column
    carried : (str, float) or None
        The column whose values depend most on those before them within regimes, and the correlation of neighbours.
    sure : float
        Share of the steps whose regime is at least 90 % probable.
    n_missing, n_left_out : int
        Missing cells of rows, and steps that times leave out.
    ahead, hidden : Trial or None
    selection : list of dict
    level : float
        Of intervals.
    notes : tuple of str
    summary, limits : list of str
    card : dict of str to str
    trace : array
    """

    title: str
    n_rows: int
    regimes: tuple[Regime, ...]
    segmentation: Segmentation
    filled: Imputed
    forecast: Forecast | None
    moves: np.ndarray
    unit: str
    columns: tuple
    carried: tuple[str, float] | None
    sure: float
    n_missing: int
    n_left_out: int
    ahead: Trial | None
    hidden: Trial | None
    selection: list[dict]
    level: float
    notes: tuple = ()
    summary: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    card: dict[str, str] = field(default_factory=dict)
    trace: np.ndarray = field(default_factory=lambda: np.empty(0))
    kind: str = "regimes"

    def __repr__(self) -> str:
        return (
            f"RegimeFindings({self.title!r}: {self.summary[0] if self.summary else count(len(self.regimes), 'regime')})"
        )

    def times_ahead(self, sequence: int) -> list:
        """Times of the steps ahead of a sequence, or their numbers."""
        assert self.forecast is not None
        if self.forecast.time is None:
            offsets = self.segmentation.offsets
            length = int(offsets[sequence + 1] - offsets[sequence])
            return list(range(length + 1, length + 1 + self.forecast.mean.shape[1]))
        return moments(self.forecast.time[sequence], self.segmentation.dated)


def study_regimes(choice: RegimeChoice, *, n_ahead: int = 0, seed: int = 0) -> RegimeFindings:
    """Findings about the regimes of a table.

    Parameters
    ----------
    choice : RegimeChoice
        What `tacit.sequence.find_regimes` found.
    n_ahead : int
        Steps to forecast of every sequence.
    seed : int

    Returns
    -------
    RegimeFindings

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.sequence import find_regimes
    >>> x = np.concatenate([np.random.default_rng(0).normal(m, 1, 40) for m in (0, 9, 0)])
    >>> found = find_regimes({"t": np.arange(120), "x": x}, time="t", states=[1, 2]).study(n_ahead=2)
    >>> [regime.n_steps for regime in found.regimes], found.forecast.mean.shape
    ([80, 40], (1, 2, 1))
    """
    model, table = choice.model, choice.table
    source = model._open(model._steps(table)) if choice.source is None else choice.source
    found = segment(model, source)
    stays, unit = model.stays(), _unit(model)
    regimes = tuple(_regime(k, model, found, float(stays[k])) for k in range(model.n_components))
    regimes = tuple(replace(each, words=regime_words(each, len(regimes))) for each in regimes)
    left_out = found.row < 0
    own = found.probability[np.arange(len(found)), found.states]
    made = RegimeFindings(
        table.reader.name, table.n_rows, regimes, found, _filled(model, source, choice.level),
        model.forecast(source, n_ahead, interval=choice.level) if n_ahead else None, leaving(model), unit, model.schema_.columns,
        _carried(model.schema_.columns, found), float((own >= SURE).mean()), int(np.isnan(found.cells[~left_out]).sum()),
        int(left_out.sum()), choice.ahead, choice.hidden, choice.selection, choice.level, choice.notes,
        trace=np.asarray(getattr(model, "lower_bounds_", ()), dtype=np.float64), card=card(choice, found, seed),
    )  # fmt: skip
    made.summary.extend(summary(made, choice))
    made.limits.extend(limits(made, choice))
    return made


def _carried(columns: tuple, found: Segmentation) -> tuple[str, float] | None:
    """The largest correlation of neighbours in a segment, over columns of numbers."""
    inside = np.setdiff1d(np.arange(1, len(found)), found.bounds)
    told: list[tuple[str, float]] = []
    for j, column in enumerate(columns):
        if column.levels or column.cycle:
            continue
        cells, known = found.cells[:, j], ~np.isnan(found.cells[:, j])
        size = np.bincount(found.states[known], minlength=found.states.max() + 1)
        sums = np.bincount(found.states[known], cells[known], minlength=len(size))
        rest = cells - (sums / np.maximum(size, 1))[found.states]
        now, before = rest[inside], rest[inside - 1]
        both = ~np.isnan(now * before)
        if both.sum() >= FEWEST_PAIRS and now[both].std() > 0 and before[both].std() > 0:
            told.append((str(column.name), float(np.corrcoef(now[both], before[both])[0, 1])))
    return max(told, key=lambda each: each[1], default=None)


def _filled(model: Any, source: Any, level: float) -> Imputed:
    """All steps, those that times leave out included, with missing cells filled in."""
    found = np.concatenate([np.asarray(part) for part in source.map(model._filler(level))])
    return Imputed(model._model().family.possible(found[:, 0]), *np.moveaxis(found[:, 1:], 1, 0))


def leaving(model: Any) -> np.ndarray:
    """Where regimes go when they are left."""
    moves = np.array(model.generator_ if model.continuous_time else model.transmat_, dtype=np.float64)
    np.fill_diagonal(moves, 0.0)
    total = moves.sum(axis=1, keepdims=True)
    return np.where(total > 0, moves / np.where(total > 0, total, 1.0), 0.0)


def _unit(model: Any) -> str:
    """What lengths are told in, in the plural: the clock's unit, that of which a column of numbers has the name, or steps."""
    clock = model.clock_
    if clock is None or model.gaps == "ignore":
        return "steps"
    if clock.unit:
        return {"weekday": "working days"}.get(clock.unit, f"{clock.unit}s")
    even = clock.step == 1.0 and not model.continuous_time
    return unit_named(model.time) or ("steps" if even else "units of time")


def lasting(model: Any, n_steps: float) -> str:
    """So many steps, or units of continuous time, in words."""
    unit = _unit(model)
    amount = n_steps * (1.0 if model.clock_ is None else model.clock_.step)
    if model.continuous_time and unit == "days" and amount < 1.0:
        amount, unit = next(
            ((amount * f, name) for name, f in (("hours", 24.0), ("minutes", 1440.0)) if amount * f >= 1.0),
            (amount * 86400.0, "seconds"),
        )
    text = number(amount, 3)
    return f"{text} {unit.replace('units', 'unit') if text == '1' and 'units' in unit else unit[:-1] if text == '1' else unit}"


def _regime(k: int, model: Any, found: Segmentation, stay: float) -> Regime:
    here = found.states == k
    own = found.segment_states == k
    ends = np.isin(found.bounds[1:], found.offsets[1:])
    n_left = int((own & ~ends).sum())
    profile = [
        entry
        for j, column in enumerate(model.schema_.columns)
        for entry in _entries(column, found.cells[:, j], found.states, k)
    ]
    longest = _longest(model, found)
    lasts = lasting(model, stay) if stay <= longest else f"more than {lasting(model, longest)}"
    lasts = lasts if n_left else ""
    return Regime(k + 1, int(here.sum()), float(here.mean()), int(own.sum()), n_left, stay, lasts, profile)


def _longest(model: Any, found: Segmentation) -> float:
    """How long the longest sequence is, in steps or units of continuous time: nothing longer was seen."""
    if not model.continuous_time or found.time is None:
        return float(np.diff(found.offsets).max())
    return float((found.time[found.offsets[1:] - 1] - found.time[found.offsets[:-1]]).max())


def _entries(column: Any, cells: np.ndarray, states: np.ndarray, k: int) -> list[dict]:
    """Means and spreads of a column of numbers, or shares of levels, in a regime and in all others; spreads within regimes."""
    known, here = ~np.isnan(cells), states == k
    parts = cells[known & here], cells[known & ~here]
    if column.cycle:
        return []
    levels = list(enumerate(column.levels)) if column.levels else [(None, None)]
    entries = []
    for code, level in levels:
        own, rest = (part if code is None else (part == code).astype(float) for part in parts)
        told: dict = {"column": str(column.name), "level": None if level is None else str(level), "n": len(own)}
        within = states[known & ~here]
        parted = [rest[within == other] for other in np.unique(within)]
        squares = sum(float(((part - part.mean()) ** 2).sum()) for part in parted)
        told |= {"mean": float(own.mean()) if len(own) else None, "std": float(own.std()) if len(own) else None}
        told |= {
            "rest_mean": float(rest.mean()) if len(rest) else None,
            "rest_std": float(np.sqrt(squares / len(rest))) if len(rest) else None,
        }
        spread = float(cells[known].std()) if code is None and known.any() else 1.0
        entries.append(told | {"spread": spread})
    return entries
