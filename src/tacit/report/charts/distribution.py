"""Small multiples: how a column is distributed in every group, in colour, over the whole table, in grey.

Both have the same area. Bins of whole numbers are whole; a column much longer at one end is drawn on a logarithmic scale, its
zeros in a bin of their own. Groups with few known cells show them one by one instead.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...survey.column import ColumnInfo
from ..markup import Markup, amount, cut, number, percent, plural, table, tag
from .colours import SHAPES, colour, shape
from .figure import chart, figure, horizontal, line_path, text
from .scale import Scale

__all__ = ["FEW", "Bins", "bins_of", "distribution"]

WIDTH, LEFT, RIGHT, ROW = 320, 30, 312, 40
N_BINS = 32
MOST_LEVELS = 8
FEW = 20
"""Known cells below which no share is told."""
SKEWED = 1.5
LONG = 5.0
"""Ratio of the largest to the middle positive number from which a skewed column is drawn on a logarithmic scale."""


@dataclass(frozen=True)
class Bins:
    """Places of bins along an axis.

    Attributes
    ----------
    edges : (b + 1,) array
        In the column's units; zeros of a logarithmic axis fall below the first.
    log : bool
    zero : bool
        Whether zeros have a bin of their own, left of the first.
    """

    edges: np.ndarray
    log: bool = False
    zero: bool = False

    @property
    def places(self) -> np.ndarray:
        """The edges along the axis, with those of the bin of zeros."""
        along = np.log10(self.edges) if self.log else self.edges
        width = np.median(np.diff(along))
        return np.concatenate([[along[0] - 1.6 * width, along[0] - 0.6 * width], along]) if self.zero else along

    def at(self, values: np.ndarray) -> np.ndarray:
        """Where numbers lie along the axis."""
        if not self.log:
            return values
        along = np.log10(np.where(values > 0, values, 1.0))
        return np.where(values > 0, along, self.places[:2].mean())

    def heights(self, values: np.ndarray) -> np.ndarray:
        """Density along the axis in every bin, and 0 between the zeros and the first."""
        if not len(values):
            return np.zeros(len(self.places) - 1)
        return np.histogram(self.at(values), self.places)[0] / len(values) / np.diff(self.places)

    def ticks(self) -> list[tuple[float, str]]:
        """Places and texts of ticks."""
        if not self.log:
            return Scale(self.edges[0], self.edges[-1], 0, 1).labels(4)
        low, high = np.log10(self.edges[0]), np.log10(self.edges[-1])
        powers = [k for k in range(int(np.ceil(low - 0.2)), int(np.floor(high + 0.2)) + 1) if low <= k <= high]
        told = [10.0**k for k in powers[:: max(1, -(-len(powers) // 5))]]
        if len(told) < 2:
            told = sorted({*told, *(m * 10.0**k for k in range(int(np.floor(low)), int(np.ceil(high)) + 1) for m in (2, 5)
                                    if low <= np.log10(m) + k <= high)})  # fmt: skip
        marks = [(float(np.log10(value)), number(value)) for value in told]
        return [(float(self.places[:2].mean()), "0"), *marks] if self.zero else marks


def bins_of(values: np.ndarray, whole: bool, log: bool = True) -> Bins:
    """Bins for all finite values of a column, on a logarithmic scale where `log` allows it."""
    low, high = float(values.min()), float(values.max())
    positive = values[values > 0]
    if log and low >= 0 and len(positive) > FEW and high > LONG * np.median(positive) and _skew(positive) > SKEWED:
        least = float(positive.min())
        edges = np.geomspace(least, high * (1 + 1e-9), N_BINS + 1)
        if whole:  # between whole numbers
            edges = np.unique(np.append(np.floor(edges[:-1]), np.floor(high) + 1)) - 0.5
        return Bins(edges, log=True, zero=low == 0)
    if whole:
        width = max(1, int(np.ceil((high - low + 1) / N_BINS)))
        first = np.floor(low / width) * width
        return Bins(np.arange(first, high + width + 0.5, width) - 0.5 * (width == 1))
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return Bins(np.array([low - 0.5, low + 0.5]))
    step = _round_width((high - low) / N_BINS)
    return Bins(np.arange(np.floor(low / step), np.ceil(high / step + 1e-9) + 1) * step)


def _round_width(width: float) -> float:
    ticks = Scale(0.0, width * 4, 0, 1).ticks(4)
    return ticks[1] - ticks[0]


def _skew(values: np.ndarray) -> float:
    spread = values.std()
    return float(np.mean(((values - values.mean()) / spread) ** 3)) if spread > 0 else 0.0


def distribution(
    name: str, column: ColumnInfo, title: str, cells: np.ndarray, group: np.ndarray, groups: dict[int, str]
) -> Markup:
    """The chart of one column: a line of bars for every group, by number and name, over those of all rows."""
    known = np.isfinite(cells)
    draw = _levels if column.coded else _numbers
    rows, axis, header, data = draw(column, cells[known], group[known], list(groups))
    parts = []
    for k, (number_, bars) in enumerate(zip(groups, rows)):
        y = 8.0 + ROW * k
        mark = tag("path", d=SHAPES[shape(number_)], transform=f"translate(9 {y + ROW - 12:.0f})", class_="mark")
        label = tag("title", groups[number_])
        parts.append(tag("g", label, mark, text(18, y + ROW - 8, str(number_), "start"), bars(y + 4, y + ROW - 2),
                         class_=f"multiple {colour(number_)}"))  # fmt: skip
    base = 8.0 + ROW * len(groups)
    described = f"{title} in {plural(len(groups), 'group')}, each over all rows."
    svg = chart(name, f"{title}: distribution in each group", described, WIDTH, base + 24, parts, axis(base))
    n_missing = int((~known).sum())
    words = f"{amount(known.sum())} known of {plural(len(cells), 'row')}." if n_missing else ""
    made = table(header, data, numeric=range(1, len(header)), caption=f"{title} by group")
    return figure(tag("div", tag("h3", title), svg), words, made)


def _numbers(column: ColumnInfo, values: np.ndarray, group: np.ndarray, groups: list[int]) -> tuple:
    bins = bins_of(values, bool(np.all(values == np.round(values))) and np.abs(values).max(initial=0.0) < 1e9)
    places = bins.places
    across = Scale(float(places[0]), float(places[-1]), LEFT, RIGHT)
    every, rows, data = bins.heights(values), [], []
    for each in groups:
        own = values[group == each]
        rows.append(_bars_of(bins, across, every, own))
        spread = [number(v) for v in np.quantile(own, [0.1, 0.5, 0.9])] if len(own) >= FEW else ["–"] * 3
        data.append([f"Group {each}", amount(len(own)), *spread])
    spread = [number(v) for v in np.quantile(values, [0.1, 0.5, 0.9])]
    data.append(["All rows shown", amount(len(values)), *spread])

    def axis(base: float) -> Markup:
        ticks = [(place, words) for place, words in bins.ticks() if places[0] <= place <= places[-1]]
        return horizontal(across, base, labels=ticks)

    return rows, axis, ["Rows", "Known", "A tenth below", "Middle", "A tenth above"], data


def _bars_of(bins: Bins, across: Scale, every: np.ndarray, own: np.ndarray) -> Any:
    heights, places = bins.heights(own), bins.places
    most = max(every.max(initial=0.0), heights.max(initial=0.0) if len(own) >= FEW else 0.0) or 1.0

    def drawn(top: float, bottom: float) -> list:
        upward = Scale(0.0, most, bottom, top)
        grey = tag("path", d=_steps(places, every, across, upward), class_="whole-table")
        if len(own) >= FEW:
            return [grey, tag("path", d=_steps(places, heights, across, upward), class_="own")]
        if not len(own):
            return [grey, text(RIGHT, bottom - 6, "none known", "end")]
        return [grey, *(tag("circle", cx=across(x), cy=bottom - 4, r=2.6, class_="own") for x in bins.at(own))]

    return drawn


def _steps(places: np.ndarray, heights: np.ndarray, across: Scale, upward: Scale) -> Markup:
    """The outline of bars that stand side by side."""
    x, y = np.repeat(across(places), 2), np.concatenate([[0.0], np.repeat(heights, 2), [0.0]])
    return Markup(line_path(zip(x, upward(y))) + "Z")


def _levels(column: ColumnInfo, codes: np.ndarray, group: np.ndarray, groups: list[int]) -> tuple:
    counts = np.bincount(codes.astype(int), minlength=len(column.levels))
    order = np.argsort(-counts, kind="stable")[:MOST_LEVELS]
    order = np.sort(order) if column.role == "ordinal" else order
    across = Scale(0.0, float(len(order)), LEFT, RIGHT)
    shares = {each: np.bincount(codes[group == each].astype(int), minlength=len(counts))[order] for each in groups}
    known = {each: int((group == each).sum()) for each in groups}
    every = counts[order] / max(len(codes), 1)
    rows = [_level_bars(across, every, shares[each], known[each]) for each in groups]
    names = [column.levels[code] for code in order]
    data = [[f"Group {each}", amount(known[each]), *(_share(n, known[each]) for n in shares[each])] for each in groups]
    data.append(["All rows shown", amount(len(codes)), *(_share(n, len(codes)) for n in counts[order])])

    def axis(base: float) -> Markup:
        room = (RIGHT - LEFT) / len(order)
        fits = int(room / 6.4)
        labels = [(k + 0.5, cut(level, max(fits, 2))) for k, level in enumerate(names)]
        return horizontal(across, base, labels=labels)

    return rows, axis, ["Rows", "Known", *(cut(level, 40) for level in names)], data


def _share(n: int, known: int) -> str:
    return percent(n / known) if known >= FEW else "–"


def _level_bars(across: Scale, every: np.ndarray, counts: np.ndarray, known: int) -> Any:
    def drawn(top: float, bottom: float) -> list:
        upward = Scale(0.0, max(every.max(initial=0.0), (counts / max(known, 1)).max(initial=0.0)) or 1.0, bottom, top)
        parts = []
        for k, (share, n) in enumerate(zip(every, counts)):
            x, wide = across(k + 0.06), across(0.88) - across(0.0)
            parts.append(
                tag("rect", x=x, width=wide, y=upward(share), height=bottom - upward(share), class_="whole-table")
            )
            if known >= FEW:
                y = upward(n / known)
                parts.append(tag("rect", x=x + 0.2 * wide, width=0.6 * wide, y=y, height=bottom - y, class_="own"))
            elif n:
                parts.append(text(x + wide / 2, bottom - 5, amount(n)))
        return parts if known else [*parts, text(RIGHT, bottom - 6, "none known", "end")]

    return drawn
