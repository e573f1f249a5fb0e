"""Charts of ratings: how they are distributed, how many users and items have, and whether predictions hold."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..markup import Markup, amount, number, percent, table, tag
from .figure import chart, figure, horizontal, line_path, text, vertical
from .scale import Scale

__all__ = ["calibration", "coverage", "distribution_bars", "tail_bars"]

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BASE = 360, 236, 44, 352, 34, 186
MOST_TEXTS = 10


def distribution_bars(labels: Sequence[str], counts: np.ndarray, mean: float) -> Markup:
    """A bar for each level of ratings, or for each bin."""
    shares = counts / max(counts.sum(), 1)
    across, upward = Scale(-0.6, len(counts) - 0.4, LEFT, RIGHT), Scale(0.0, 1.08 * float(shares.max()), BASE, TOP)
    wide = 0.74 * (across(1) - across(0))
    bars = [
        tag(
            "g", tag("title", f"{label}: {amount(n)} ratings, {percent(part)}"),
            tag("rect", x=across(k) - wide / 2, width=wide, y=upward(part), height=BASE - upward(part), class_="kept"),
            text(across(k), upward(part) - 6, percent(part)) if len(counts) <= MOST_TEXTS else None,
        )
        for k, (label, n, part) in enumerate(zip(labels, counts, shares))
    ]  # fmt: skip
    every = max(1, -(-len(labels) // MOST_TEXTS))
    ticks = [(float(k), label) for k, label in enumerate(labels)][::every]
    words = f"The mean is {number(mean, 3)}; the most frequent rating is {labels[int(counts.argmax())]}."
    svg = chart(
        "distribution", "How ratings are distributed", words, WIDTH, HEIGHT, tag("g", bars, class_="columns"),
        horizontal(across, BASE, "rating", labels=ticks),
    )  # fmt: skip
    rows = [[label, amount(n), percent(part)] for label, n, part in zip(labels, counts, shares)]
    data = table(["Rating", "Ratings", "Share"], rows, numeric=(0, 1, 2), caption="How ratings are distributed")
    return figure(svg, words, data)


def tail_bars(name: str, counts: np.ndarray, noun: str, few: int) -> Markup:
    """How many users, or items, have so many ratings: bins that double, those with few ratings marked."""
    known, one = counts[counts > 0], "a user" if noun == "user" else f"an {noun}"
    edges = _edges(int(known.max()), few)
    n = np.histogram(known, edges)[0]
    across, upward = Scale(-0.6, len(n) - 0.4, LEFT, RIGHT), Scale(0.0, 1.1 * max(int(n.max()), 1), BASE, TOP)
    wide = 0.86 * (across(1) - across(0))
    told = [f"{a}" if b - a == 1 else f"{a}–{b - 1}" for a, b in pairwise(edges)]
    bars = [
        tag(
            "g", tag("title", f"{amount(m)} {noun}s with {label} ratings"),
            tag("rect", x=across(k) - wide / 2, width=wide, y=upward(m), height=BASE - upward(m),
                class_="cold" if edges[k + 1] <= few else "kept"),
        )
        for k, (label, m) in enumerate(zip(told, n))
    ]  # fmt: skip
    every = max(1, -(-len(n) // 6))
    ticks = [(float(k), f"{edges[k]:,}" if k < len(n) - 1 or len(n) < 3 else f"{edges[k]:,}+") for k in range(len(n))][
        ::every
    ]
    words = (
        f"Half of the {noun}s have at most {number(float(np.median(known)))} ratings, one has {amount(known.max())}."
    )
    svg = chart(
        name, f"Ratings of {one}", words, WIDTH, HEIGHT,
        vertical(upward, LEFT, RIGHT, f"{noun}s", labels=[(tick, amount(tick)) for tick in upward.ticks(4) if tick == int(tick)]),
        tag("g", bars, class_="columns"), horizontal(across, BASE, f"ratings of {one}", labels=ticks),
    )  # fmt: skip
    rows = [[label, amount(m), percent(m / len(known))] for label, m in zip(told, n)]
    data = table(["Ratings", f"{noun.capitalize()}s", "Share"], rows, numeric=(0, 1, 2), caption=f"Ratings of {noun}s")
    return figure(svg, words, data)


def _edges(most: int, few: int) -> list[int]:
    """Edges of bins: single numbers below `few`, then each bin about twice as wide as the one before."""
    edges = list(range(1, few + 1))
    while edges[-1] <= most:
        edges.append(2 * edges[-1])
    return edges


def calibration(points: Sequence[dict], scale: tuple[float, float]) -> Markup:
    """What was predicted against what was rated, in parts of equal size."""
    ends = [value for point in points for value in (point["predicted"], point["rated"])]
    low, high = max(min(ends) - 0.1, scale[0]), min(max(ends) + 0.1, scale[1])
    across, upward = Scale(low, high, LEFT, RIGHT), Scale(low, high, BASE, TOP)
    places = [(float(across(point["predicted"])), float(upward(point["rated"]))) for point in points]
    dots = [
        tag("g", tag("title", f"predicted {number(p['predicted'], 3)}, rated {number(p['rated'], 3)}: {amount(p['n'])} ratings"),
            tag("circle", cx=x, cy=y, r=4.0))
        for p, (x, y) in zip(points, places)
    ]  # fmt: skip
    far = max(abs(point["predicted"] - point["rated"]) for point in points)
    words = f"The mean rating differs from the mean prediction by {number(far, 2)} at most in {len(points)} parts of equal size."
    svg = chart(
        "calibration", "Predicted and rated", words, WIDTH, HEIGHT, vertical(upward, LEFT, RIGHT, "mean rating"),
        horizontal(across, BASE, "mean prediction", n=5),
        tag("line", x1=LEFT, x2=RIGHT, y1=BASE, y2=TOP, class_="ideal"), tag("path", d=line_path(places), class_="followed"),
        tag("g", dots, class_="dots"),
    )  # fmt: skip
    rows = [[number(p["predicted"], 4), number(p["rated"], 4), amount(p["n"])] for p in points]
    data = table(["Predicted", "Rated", "Ratings"], rows, numeric=(0, 1, 2), caption="Predicted and rated")
    return figure(svg, words, data)


def coverage(inside: dict[float, float]) -> Markup:
    """Shares of ratings inside intervals against what they should be."""
    low = min(0.5, *inside.values()) - 0.05
    across, upward = Scale(low, 1.0, LEFT, RIGHT), Scale(low, 1.0, BASE, TOP)
    places = [(float(across(meant)), float(upward(found))) for meant, found in inside.items()]
    dots = [
        tag(
            "g",
            tag("title", f"{percent(found)} inside intervals of {percent(meant)}"),
            tag("circle", cx=x, cy=y, r=4.0),
        )
        for (meant, found), (x, y) in zip(inside.items(), places)
    ]
    ticks = [(tick, percent(tick, 0)) for tick in across.ticks(4)]
    words = ", ".join(
        f"{percent(meant)}: {percent(found)}" for meant, found in inside.items() if meant in (0.5, 0.8, 0.9)
    )
    words = f"Share inside, by what it should be: {words}."
    svg = chart(
        "coverage", "Ratings inside intervals", words, WIDTH, HEIGHT,
        vertical(upward, LEFT, RIGHT, "share of ratings inside", labels=ticks),
        horizontal(across, BASE, "share that should be inside", labels=ticks),
        tag("line", x1=LEFT, x2=RIGHT, y1=BASE, y2=TOP, class_="ideal"), tag("path", d=line_path(places), class_="followed"),
        tag("g", dots, class_="dots"),
    )  # fmt: skip
    rows = [[percent(meant), percent(found)] for meant, found in inside.items()]
    data = table(["Should be inside", "Are inside"], rows, numeric=(0, 1), caption="Ratings inside intervals")
    return figure(svg, words, data)
