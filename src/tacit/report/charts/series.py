"""A sequence over time, coloured by regime, with what is filled in, the probabilities of the regimes, and steps ahead."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ...sequence.segmentation import moments
from ..markup import Markup, cut, percent, plural, tag
from .colours import colour
from .figure import chart, line_path, text, vertical
from .scale import Scale, spanning

__all__ = ["series_chart", "time_labels"]

WIDTH, LEFT, RIGHT = 760, 78, 748
HEIGHT, ROOM, STRIP = 190, 46, 64
MOST_POINTS, MOST_DOTS, MOST_COLUMNS = 700, 250, 4


def series_chart(
    found: Any, sequence: int, ahead: bool = True, last: int | None = None, name: str = "series"
) -> Markup:
    """One sequence as SVG: a panel for each of the first columns of numbers, then the probabilities of the regimes.

    With `last`, only so many steps before the forecast.
    """
    segments, forecast = found.segmentation, found.forecast if ahead else None
    a, z = (int(each) for each in segments.offsets[sequence : sequence + 2])
    a = a if last is None else max(a, z - last)
    columns = [j for j, column in enumerate(found.columns) if not column.levels][:MOST_COLUMNS]
    kept = _kept(segments.cells[a:z, columns]) + a
    times = _times(segments, kept)
    later = np.empty(0) if forecast is None else _later(found, sequence)
    across = spanning([*times, *later], LEFT, RIGHT, 0.0)
    parts, top = [], 34.0
    for j in columns:
        parts.append(_panel(found, sequence, j, kept, times, later, across, top, (a, z)))
        top += HEIGHT + ROOM
    several = len(found.regimes) > 1
    if several:
        ends = [] if forecast is None else [(later, forecast.states[sequence])]
        parts.append(_probabilities(_smoothed(segments.probability, kept, z), times, across, top, ends))
        top += STRIP + ROOM
    parts.append(_bottom(segments, across, top - ROOM))
    words = _words(found, sequence, a, z)
    called = cut(segments.name(sequence), 60) if segments.names is not None else cut(found.title, 60)
    return chart(f"{name}-{sequence + 1}", f"{called} over time", words, WIDTH, top - ROOM + 34, parts)


def _words(found: Any, sequence: int, a: int, z: int) -> str:
    states = found.segmentation.states[a:z]
    counts = [(int((states == k).sum()), k + 1) for k in range(len(found.regimes))]
    told = ", ".join(f"{percent(n / len(states))} in regime {k}" for n, k in counts if n)
    return f"{plural(z - a, 'step')}: {told}." if len(found.regimes) > 1 else f"{plural(z - a, 'step')}."


def _kept(cells: np.ndarray) -> np.ndarray:
    """Steps to draw: all, or of each stretch those where a column is least and most."""
    n = len(cells)
    if n <= MOST_POINTS or not cells.shape[1]:
        return np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).astype(int))
    edges, found = np.linspace(0, n, MOST_POINTS // 2 // cells.shape[1] + 1).astype(int), {0, n - 1}
    for a, z in pairwise(edges):
        for part in cells[a:z].T:
            if not np.isnan(part).all():
                found |= {a + int(np.nanargmin(part)), a + int(np.nanargmax(part))}
    return np.array(sorted(found))


def _times(segments: Any, steps: np.ndarray) -> np.ndarray:
    if segments.time is not None:
        return segments.time[steps]
    first = segments.offsets[np.searchsorted(segments.offsets, steps, side="right") - 1]
    return (steps - first + 1).astype(float)


def _later(found: Any, sequence: int) -> np.ndarray:
    if found.forecast.time is not None:
        return found.forecast.time[sequence]
    return np.asarray(found.times_ahead(sequence), dtype=float)


def _smoothed(probability: np.ndarray, kept: np.ndarray, end: int) -> np.ndarray:
    """Means of probabilities from each step that is drawn to the next."""
    return np.array([probability[a:z].mean(axis=0) for a, z in pairwise([*kept, max(end, int(kept[-1]) + 1)])])


def _panel(
    found: Any, sequence: int, j: int, kept: np.ndarray, times: np.ndarray, later: np.ndarray, across: Scale, top: float,
    bounds: tuple[int, int],
) -> Markup:  # fmt: skip
    segments, filled, forecast = found.segmentation, found.filled, found.forecast
    cells, states = segments.cells[kept, j], segments.states[kept]
    seen = [cells]
    if len(later):
        seen += [forecast.low[sequence, :, j], forecast.high[sequence, :, j]]
    gone = np.arange(*bounds)[np.isnan(segments.cells[slice(*bounds), j])]
    shown = gone if len(gone) <= MOST_DOTS else gone[:0]
    seen += [filled.low[shown, j], filled.high[shown, j]]
    upward = spanning(np.concatenate(seen), top + HEIGHT, top, 0.05)
    base: list[Any] = [
        vertical(upward, LEFT, RIGHT, cut(found.columns[j].name, 60)),
        _bands(times, states, across, top) if len(found.regimes) > 1 else None,
        _lines(times, cells, states, across, upward),
    ]
    if len(shown):
        places = across(_times(segments, shown))
        low, high, middle = (upward(part[shown, j]) for part in (filled.low, filled.high, filled.filled))
        marks = [
            (tag("line", x1=x, x2=x, y1=a, y2=b), tag("circle", cx=x, cy=y, r=2.4))
            for x, a, b, y in zip(places, low, high, middle) if np.isfinite([x, a, b, y]).all()
        ]  # fmt: skip
        base.append(tag("g", marks, class_="fills"))
    if len(later):
        base.append(_fan(found, sequence, j, times, cells, later, across, upward))
    return tag("g", base)


def _bands(times: np.ndarray, states: np.ndarray, across: Scale, top: float) -> Markup:
    """Stretches behind a series in the colours of its regimes, numbered where there is room."""
    edges = np.append(np.flatnonzero(np.diff(states, prepend=-1)), len(states))
    marks: list[Any] = []
    for a, z in pairwise(edges):
        x, end = across(times[a]), across(times[min(z, len(times) - 1)])
        number = int(states[a]) + 1
        marks.append(
            tag(
                "rect",
                x=float(x),
                y=top,
                width=float(max(end - x, 0.6)),
                height=float(HEIGHT),
                class_=f"band {colour(number)}",
            )
        )
        if end - x > 16:
            marks.append(text(x + 6, top + 13, str(number), "start", class_="band-number"))
    return tag("g", marks)


def _lines(times: np.ndarray, cells: np.ndarray, states: np.ndarray, across: Scale, upward: Scale) -> Markup:
    """The series, each step in the colour of its regime; a gap where nothing is known."""
    known = ~np.isnan(cells)
    paths: dict[int, list[str]] = {}
    edges = np.append(np.flatnonzero(np.diff(states, prepend=-1) | np.diff(known.astype(int), prepend=-1)), len(states))
    dots: list[Any] = []
    for a, z in pairwise(edges):
        if not known[a]:
            continue
        stop = z + 1 if z < len(cells) and known[z] else z  # up to the next stretch, so that the line goes on
        points = list(zip(across(times[a:stop]).tolist(), upward(cells[a:stop]).tolist()))
        number = int(states[a]) + 1
        if len(points) > 1:
            paths.setdefault(number, []).append(line_path(points))
        else:
            dots.append(tag("circle", cx=points[0][0], cy=points[0][1], r=1.8, class_=f"dot {colour(number)}"))
    made = [
        tag("path", d=Markup("".join(parts)), class_=f"line {colour(number)}")
        for number, parts in sorted(paths.items())
    ]
    return tag("g", made, dots, class_="regime-line")


def _fan(
    found: Any,
    sequence: int,
    j: int,
    times: np.ndarray,
    cells: np.ndarray,
    later: np.ndarray,
    across: Scale,
    upward: Scale,
) -> Markup:
    forecast = found.forecast
    low, high, mean = (part[sequence, :, j] for part in (forecast.low, forecast.high, forecast.mean))
    x = across(later).tolist()
    known = np.flatnonzero(~np.isnan(cells))
    if known.size:
        last = across(times[known[-1]]), float(upward(cells[known[-1]]))
        start = [last]
    else:
        start = []
    top, bottom = (list(zip(x, upward(part).tolist())) for part in (high, low))
    area = Markup(line_path([*start, *top, *bottom[::-1]]) + "Z") if len(top) + len(start) > 1 else Markup("")
    middle = [*start, *zip(x, upward(mean).tolist())]
    dots = [tag("circle", cx=a, cy=b, r=2.0) for a, b in middle[-1:]]
    lines = [tag("line", x1=a[0], x2=a[0], y1=a[1], y2=b[1]) for a, b in zip(top, bottom)] if len(top) == 1 else []
    return tag(
        "g", tag("path", d=area, class_="fan") if area else None, lines,
        tag("path", d=line_path(middle), class_="ahead") if len(middle) > 1 else None, dots, class_="forecast",
    )  # fmt: skip


def _probabilities(shares: np.ndarray, times: np.ndarray, across: Scale, top: float, more: list) -> Markup:
    """Probabilities of the regimes, one upon the other."""
    upward, layers = Scale(0.0, 1.0, top + STRIP, top), []
    for x, part, faint in [(times, shares, ""), *((x, part, " faint") for x, part in more)]:
        x = across(np.append(x, x[-1])) if len(x) == 1 else across(x)
        part = np.vstack([part, part[-1:]]) if len(x) != len(part) else part
        heights = np.vstack([np.zeros(len(part)), np.cumsum(part, axis=1).T])
        for k, (low, high) in enumerate(pairwise(heights), 1):
            points = [*zip(x, upward(np.minimum(high, 1.0))), *zip(x[::-1], upward(np.minimum(low, 1.0))[::-1])]
            layers.append(tag("path", d=Markup(line_path(points) + "Z"), class_=f"share {colour(k)}{faint}"))
    axis = vertical(upward, LEFT, RIGHT, "probability of each regime", labels=[(0.0, "0 %"), (1.0, "100 %")])
    return tag("g", axis, layers)


def _bottom(segments: Any, across: Scale, y: float) -> Markup:
    marks = [
        (
            tag("line", x1=float(across(at)), x2=float(across(at)), y1=y, y2=y + 4, class_="axis"),
            text(across(at), y + 19, label),
        )
        for at, label in time_labels(across.low, across.high, segments.dated)
    ]
    return tag("g", tag("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="axis"), marks, class_="ticks")


def time_labels(low: float, high: float, dated: bool, most: int = 6) -> list[tuple[float, str]]:
    """Round times between two, with their texts: numbers, years, months, days or times of day."""
    if not dated:
        return Scale(low, high, 0.0, 1.0).labels(most)
    start, end = (np.datetime64(round(each * 86400.0), "s") for each in (low, high))
    for unit, steps in (
        ("Y", (1, 2, 5, 10, 20, 50, 100)),
        ("M", (1, 3, 6)),
        ("D", (1, 2, 7, 14)),
        ("h", (1, 3, 6, 12)),
        ("m", (1, 5, 15, 30)),
    ):
        every = np.arange(start.astype(f"datetime64[{unit}]"), end.astype(f"datetime64[{unit}]") + 1)
        every = every[(every >= start) & (every <= end)]
        if len(every) >= 3:
            step = next((each for each in steps if len(every) / each <= most), -(-len(every) // most))
            every = every[every.astype(int) % step == 0] if unit in "YMhm" else every[::step]
            return [
                (float(each.astype("datetime64[s]").astype(np.int64)) / 86400.0, str(each).replace("T", " "))
                for each in every
            ]
    return [(each, moments(np.array([each]), True)[0]) for each in (low, high)]
