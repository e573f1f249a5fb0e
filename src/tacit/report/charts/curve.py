"""Curves: a criterion against the number of groups, the objective against the steps of a fit, shares against axes."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..markup import Markup, amount, cut, note, number, percent, plural, table, tag
from .figure import chart, figure, horizontal, line_path, text, vertical
from .scale import Scale, spanning

__all__ = ["CRITERIA", "scree", "selection_curve", "trace_curve"]

WIDTH, HEIGHT = 680, 340
LEFT, RIGHT, TOP, BOTTOM = 84, 560, 34, 288
DASHES = (None, "7 4", "2 4", "9 3 2 3", "1 3", "12 4", "5 2", "3 6")
MOST_LINES = 6
LINE = 21.0
"""Height of a line of text, as large as narrow screens show it."""
FEW_STEPS = 3
LEVEL = 1e-6
"""Traces that vary by less than this share of their size are called level."""
CRITERIA = {"bic": "BIC", "aic": "AIC", "icl": "ICL", "cv": "Cross-validated density"}
Lines = dict[str, list[tuple[int, float]]]
"""Numbers of groups and values of the criterion, by structure, the one of the best model first."""


def selection_curve(tried: Sequence[dict]) -> Markup:
    """The criterion against the number of groups, a line for each covariance structure, the best marked."""
    name, least = _criterion(tried)
    sound = [row for row in tried if _value(row, name) is not None and not row.get("failed")]
    data = table(
        ["Groups", "Structure", CRITERIA[name], "Worse than the best by", "Note"], [_tried(row, sound, name) for row in tried],
        numeric=(0, 2, 3), caption="Models tried, best first",
    )  # fmt: skip
    if not sound:
        return figure(note("No model could be fitted without trouble."), data=data)
    lines: Lines = {}
    for row in sound:
        lines.setdefault(row["covariance_type"], []).append((int(row["n_components"]), _value(row, name)))
    lines, n_structures = {structure: sorted(lines[structure]) for structure in list(lines)[:MOST_LINES]}, len(lines)
    upward = _readable([value for points in lines.values() for _, value in points], BOTTOM - 6, TOP + 6, least)
    lines = {
        structure: points
        for structure, points in lines.items()
        if any(upward.low <= value <= upward.high for _, value in points)
    }
    counts = sorted({int(row["n_components"]) for row in tried})
    across = spanning(counts, LEFT + 6, RIGHT - 6, 0.02)
    failed = sorted({int(row["n_components"]) for row in tried if row.get("failed")})
    crosses = [text(across(count), BOTTOM - 6, "×", class_="failed") for count in failed]
    best = sound[0]
    value = _value(best, name)
    words = f"Best: {plural(best['n_components'], 'group')}, {best['covariance_type']}, {CRITERIA[name]} {number(value, 7)}."
    window = tag("rect", x=LEFT, y=TOP, width=RIGHT - LEFT + 4, height=BOTTOM - TOP + 4)
    svg = chart(
        "selection-curve", f"{CRITERIA[name]} against the number of groups", words, WIDTH, HEIGHT,
        vertical(upward, LEFT, RIGHT, f"{CRITERIA[name]} ({'lower' if least else 'higher'} is better)"),
        horizontal(across, BOTTOM, "number of groups", labels=[(c, amount(c)) for c in _thin(counts)]),
        tag("clipPath", window, id="selection-window"),
        tag("g", [_line(k, lines[each], across, upward) for k, each in enumerate(lines)], clip_path="url(#selection-window)"),
        _names(lines, upward), crosses,
        _best_mark(across(best["n_components"]), upward(value), least, _along(lines, across, upward)),
    )  # fmt: skip
    notes = [words]
    if failed:
        notes.append("× marks numbers of groups with models that failed or collapsed onto few rows.")
    if len(lines) < n_structures:
        notes.append("Structures that are far worse, or more than can be told apart, are left to the table below.")
    return figure(svg, " ".join(notes), data)


def _criterion(tried: Sequence[dict]) -> tuple[str, bool]:
    """What models were compared by, and whether less of it is better."""
    name = tried[0].get("criterion", "bic")
    return (name if name in CRITERIA else "bic"), name != "cv"


def _value(row: dict, name: str) -> Any:
    value = row.get(name)
    return float(value) if value is not None and np.isfinite(value) else None


def _tried(row: dict, sound: list[dict], name: str) -> list[str]:
    value, best = _value(row, name), _value(sound[0], name) if sound else None
    failed = row.get("failed")
    words = failed if isinstance(failed, str) else "failed or collapsed" if failed else ""
    gap = number(abs(value - best), 4) if value is not None and best is not None and not failed else "–"
    return [amount(row["n_components"]), cut(row["covariance_type"]), number(value, 7), gap, cut(words, 120)]


def _best_mark(x: float, y: float, least: bool, drawn: np.ndarray) -> Markup:
    """A ring around the best model, and its name where it covers least of the lines."""
    offsets = [(0, 26), (0, -14), (30, 26), (-30, 26), (30, -14), (-30, -14), (0, 44), (0, -44), (0, -74)]
    spots = [(x + dx, y + (dy if least else 12 - dy)) for dx, dy in offsets]
    spots = [(a, b) for a, b in spots if LEFT + 22 < a < RIGHT - 22 and TOP + LINE < b < BOTTOM - 4]
    a, b = min(spots or [(x, y - 14)], key=lambda spot: _covered(drawn, *spot))
    return tag("g", tag("circle", cx=x, cy=y, r=7.0, class_="best"), text(a, b, "best", class_="best"))


def _covered(drawn: np.ndarray, x: float, y: float) -> int:
    """How much of the lines a short name at (x, y) would cover."""
    return int(((np.abs(drawn[:, 0] - x) < 24) & (drawn[:, 1] > y - LINE + 3) & (drawn[:, 1] < y + 6)).sum())


def _along(lines: Lines, across: Scale, upward: Scale) -> np.ndarray:
    """Places all along the lines, (n, 2)."""
    found = []
    for points in lines.values():
        x, y = np.array(points).T
        fine = np.linspace(x[0], x[-1], 400)
        found.append(np.column_stack([across(fine), upward(np.interp(fine, x, y))]))
    return np.concatenate(found)


def _readable(values: list[float], start: float, end: float, least: bool) -> Scale:
    """A scale on which the good values can be told apart: the very bad ones are cut off."""
    ranked = np.sort(np.asarray(values, dtype=float) * (1.0 if least else -1.0))
    low, middle, high = ranked[0], np.median(ranked), ranked[-1]
    if high - low > 4.0 * (middle - low) > 0:
        high = low + 4.0 * (middle - low)
    return spanning([low, high] if least else [-high, -low], start, end, 0.06)


def _line(k: int, points: list[tuple[int, float]], across: Scale, upward: Scale) -> Markup:
    # Far off, coordinates would only grow; the window cuts them.
    places = [(across(x), float(np.clip(upward(y), -2000.0, 3000.0))) for x, y in points]
    dots = [tag("circle", cx=x, cy=y, r=3.0) for x, y in places]
    path = tag("path", d=line_path(places), stroke_dasharray=DASHES[k % len(DASHES)]) if len(places) > 1 else None
    return tag("g", path, dots, class_=f"curve s{k}")


def _names(lines: Lines, upward: Scale) -> list[Markup]:
    """Names of the structures where their lines end, moved apart: down from the top, then up from the bottom."""
    ends = (float(upward(np.clip(points[-1][1], upward.low, upward.high))) for points in lines.values())
    placed: list[list[Any]] = sorted([y, structure, k] for k, (y, structure) in enumerate(zip(ends, lines)))
    for above, below in pairwise(placed):
        below[0] = max(below[0], above[0] + LINE)
    limit = float(BOTTOM)
    for place in reversed(placed):
        place[0] = min(place[0], limit)
        limit = place[0] - LINE
    return [text(RIGHT + 8, y + 4, cut(structure, 16), "start", class_=f"end s{k}") for y, structure, k in placed]


def _thin(counts: Sequence[int], most: int = 14) -> Sequence[int]:
    return counts[:: max(1, -(-len(counts) // most))]


def trace_curve(trace: Any) -> Markup:
    """The objective per row after each step; in words where few steps make no curve."""
    trace = np.asarray(trace, dtype=float)
    level = np.ptp(trace) <= LEVEL * np.abs(trace).max()
    if level or len(trace) <= FEW_STEPS:
        gain = "" if level else f", up from {number(trace[0], 6)}"
        began = ": nothing was left to gain from the first on" if level else ""
        words = f"Settled after {plural(len(trace), 'step')} at a log-likelihood of {number(trace[-1], 6)} per row{gain}{began}."
        return tag("p", words)
    steps = np.arange(1, len(trace) + 1)
    keep = np.unique(np.linspace(0, len(trace) - 1, min(len(trace), 400)).astype(int))
    across = Scale(1, max(len(trace), 2), LEFT + 6, RIGHT + 96)
    words = f"{len(trace)} steps, from {number(trace[0], 6)} to {number(trace[-1], 6)} per row."
    values, upward, label = _told_apart(trace)
    points = [(across(steps[i]), upward(values[i])) for i in keep]
    ticks = sorted({max(1, round(tick)) for tick in across.ticks(8)})
    svg = chart(
        "trace-curve", "Objective against steps", words, WIDTH, 280, vertical(upward, LEFT, RIGHT + 100, label),
        horizontal(across, 234, "step", labels=[(tick, amount(tick)) for tick in ticks]),
        tag("g", tag("path", d=line_path(points)), tag("circle", cx=points[-1][0], cy=points[-1][1], r=4.0), class_="curve s0"),
    )  # fmt: skip
    chosen = keep if len(keep) <= 40 else keep[np.unique(np.linspace(0, len(keep) - 1, 40).astype(int))]
    data = table(
        ["Step", "Objective per row"], [[amount(steps[i]), number(trace[i], 8)] for i in chosen], numeric=(0, 1),
        caption="Objective after each step",
    )  # fmt: skip
    return figure(svg, words, data)


def _told_apart(trace: np.ndarray) -> tuple[np.ndarray, Scale, str]:
    """Values to draw, their scale and its name: differences from the last where the numbers themselves need many digits."""
    upward = spanning(trace, 228, TOP + 6, 0.06)
    if max(len(words) for _, words in upward.labels()) <= 6:
        return trace, upward, "log-likelihood per row"
    values, label = trace - trace[-1], f"log-likelihood per row, less the final {number(trace[-1], 6)}"
    return values, spanning(values, 228, TOP + 6, 0.06), label


def scree(spectrum: Any, n_kept: int, noise: Any = None, explained: float | None = None) -> Markup:
    """Shares of the variance along all axes, those kept filled, and the line that noise would reach."""
    spectrum = np.asarray(spectrum, dtype=float)
    shown = min(len(spectrum), 30)
    reached: list[float] = [] if noise is None else np.asarray(noise, dtype=float)[:shown].tolist()
    across = Scale(0.4, shown + 0.6, LEFT, RIGHT + 100)
    upward = Scale(0.0, max([*spectrum[:shown], *reached, 1e-12]) * 1.08, 228, TOP + 6)
    wide = max(3.0, 0.7 * (across(1) - across(0)))
    bars = [
        tag(
            "rect", x=across(j + 1) - wide / 2, width=wide, y=upward(share), height=max(0.0, 228 - upward(share)),
            class_="kept" if j < n_kept else "rest",
        )
        for j, share in enumerate(spectrum[:shown])
    ]  # fmt: skip
    kept = float(spectrum[:n_kept].sum())
    words = f"The {n_kept} kept explain {percent(kept)} of the variance."
    words = words if n_kept > 1 else f"It explains {percent(kept)}."
    if explained is not None and abs(explained - kept) > 0.005:
        words = f"Bars are principal axes of the correlations; what was found explains {percent(explained)} of the variance."
    line = None
    if len(reached) > 1:
        places = [(float(across(j + 1)), float(upward(share))) for j, share in enumerate(reached)]
        line = tag(
            "g",
            tag("path", d=line_path(places)),
            text(places[-1][0], places[-1][1] - 8, "noise", "end"),
            class_="noise",
        )
        words += " The dashed line is what unrelated columns would reach in 19 of 20 tables of this size."
    labels = [(tick, percent(tick, 0 if upward.high > 0.05 else 1)) for tick in upward.ticks(5)]
    numbers = _thin(range(1, shown + 1))
    svg = chart(
        "scree-plot", "Share of the variance along each axis", words, WIDTH, 280,
        vertical(upward, LEFT, RIGHT + 100, "share of the variance", labels=labels),
        horizontal(across, 228, "axis", labels=[(j, amount(j)) for j in numbers]), tag("g", bars, class_="columns"), line,
    )  # fmt: skip
    total = np.cumsum(spectrum)
    data = table(
        ["Axis", "Share", "Together", *(["Noise"] if line else [])],
        [
            [amount(j + 1), *(percent(part, 1) for part in (spectrum[j], min(total[j], 1.0), *reached[j : j + 1]))]
            for j in range(len(spectrum[:100]))
        ],
        numeric=(0, 1, 2, 3), caption="Share of the variance along each axis",
    )  # fmt: skip
    return figure(svg, words, data)
