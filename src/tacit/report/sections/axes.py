"""Hidden axes: what they oppose, how much each explains, and where the rows lie on them."""

from typing import Any

import numpy as np

from ..charts.curve import scree
from ..charts.figure import figure, strip
from ..charts.scatter import scatter, symbols
from ..markup import LONGEST_SENTENCE, Markup, cut, framed, join, note, number, percent, plural, signed, table, tag
from ..projection import golden
from .common import Findings, Section, choices, drawn_rows, titled
from .map import plot

__all__ = ["axes", "scores"]

MOST_COLUMNS = 60
MOST_ARROWS = 10
LEAST_ARROW = 0.3
"""Loadings below which a column has no arrow."""
PAIRS = ((0, 1), (0, 2), (1, 2))


def axes(findings: Findings) -> Section | None:
    """The axes in words, their loadings and the scree plot."""
    found = findings.axes
    if found is None or not found.names:
        return None
    cards = [
        tag(
            "li", tag("h3", cut(name, 60)), tag("p", f"explains {percent(float(share))} of the variance", class_="size"),
            strip(float(share)), tag("p", cut(words, LONGEST_SENTENCE), class_="what"), class_="card g1",
        )
        for name, share, words in zip(found.names, found.explained, found.words)
    ]  # fmt: skip
    loadings = _loadings([titled(findings, name) for name in findings.used], found.loadings, found.names)
    body = [tag("ol", cards, class_="cards"), tag("h3", "How each column leans on the axes"), loadings]
    if len(found.spectrum) > 1:
        body += [
            tag("h3", "How many axes there are"),
            scree(found.spectrum, len(found.names), found.noise, float(np.sum(found.explained))),
        ]
    lead = "Each axis weighs columns that rise and fall together; a row has one place on it, instead of one in every column."
    return Section("axes", "The axes", "Axes", join(body), lead)


def _loadings(columns: list[str], loadings: Any, names: list[str]) -> Markup:
    """Columns by axes, shaded by weight and sign."""
    loadings = np.asarray(loadings, dtype=float)
    most = np.max(np.abs(loadings), initial=0.0) or 1.0
    order = np.argsort(-np.max(np.abs(loadings), axis=1), kind="stable")
    rows = [
        tag("tr", tag("th", cut(columns[j], 40), scope="row"), [_weight(value, most) for value in loadings[j]])
        for j in order[:MOST_COLUMNS]
    ]
    heads = [tag("th", "Column", scope="col"), *(tag("th", cut(name, 24), scope="col", class_="n") for name in names)]
    words = (
        "A loading is the correlation of the column with the axis, from −1 to +1. Blue rises along the axis, orange falls; the "
        "stronger the shade, the closer the two go together. Columns that load most come first."
    )
    if len(loadings) > MOST_COLUMNS:
        words += f" The {MOST_COLUMNS} of {len(loadings)} columns that load most."
    return join([framed(heads, rows, "Loadings of the columns on the axes", "glance"), note(words)])


def _weight(value: float, most: float) -> Markup:
    depth = abs(value) / most
    step = 0 if depth < 0.15 else 1 if depth < 0.4 else 2 if depth < 0.7 else 3
    return tag("td", signed(value), class_=f"n {'low' if value < 0 else 'high'}{step}")


def scores(findings: Findings) -> Section | None:
    """The rows on pairs of axes, each with its uncertainty."""
    found = findings.axes
    if found is None or len(found.scores) < 2:
        return None
    places, spread = (np.asarray(part, dtype=float) for part in (found.scores, found.std))
    if places.shape[1] == 1:
        # Spread across so that rows on a line can be seen.
        places = np.column_stack([places[:, 0], golden(len(places))])
        spread = np.column_stack([spread[:, 0], np.full(len(places), 0.008)])
    names = [cut(name, 40) for name in found.names] + [""]
    pairs = [pair for pair in PAIRS if max(pair) < places.shape[1]]
    group = np.ones(len(places), dtype=int)
    loadings = np.column_stack([np.asarray(found.loadings, dtype=float), np.zeros(len(findings.used))])
    columns = [titled(findings, name) for name in findings.used]
    panels = [
        _panel(
            k, places[:, pair], spread[:, pair], [names[j] for j in pair], group, _arrows(loadings[:, pair], columns)
        )
        for k, pair in enumerate(map(list, pairs))
    ]
    labels = [cut(f"{names[a]} and {names[b]}", 40) for a, b in pairs]
    body = join([symbols([1], len(places)), choices("scores", labels), panels])
    lead = (
        f"A point for {drawn_rows(len(places), findings)}, with the ellipse that holds its true place with 90 % probability. "
        "Where rows are many, only those that are less certain than most have one, such as rows with missing values. "
        "Arrows point to where columns rise; the longer, the closer a column goes along with the two axes."
    )
    return Section("scores", "Where the rows lie", "Map", body, lead)


def _arrows(loadings: np.ndarray, columns: list[str]) -> list[tuple[str, float, float]]:
    """Names and loadings of the columns that have most to do with two axes, the longest first."""
    order = np.argsort(-np.hypot(*loadings.T), kind="stable")[:MOST_ARROWS]
    return [
        (cut(columns[j], 24), float(loadings[j, 0]), float(loadings[j, 1]))
        for j in order
        if np.hypot(*loadings[j]) > LEAST_ARROW
    ]


def _panel(
    k: int, places: np.ndarray, spread: np.ndarray, labels: list[str], group: np.ndarray, arrows: list
) -> Markup:
    svg, beyond = scatter(
        f"scores{k}", places, group, spread=spread, ellipses=False, arrows=arrows if labels[1] else [],
        aria_label=f"Rows on the axes {' and '.join(label for label in labels if label)}.",
    )  # fmt: skip
    rows = [
        [label, *(number(v, 3) for v in np.quantile(places[:, j], [0, 0.25, 0.5, 0.75, 1]))]
        for j, label in enumerate(labels)
        if label
    ]
    header = ["Axis", "Least", "Quarter", "Middle", "Three quarters", "Most"]
    data = table(header, rows, numeric=range(1, 6), caption="Places of the rows")
    words = f"{plural(beyond, 'row')} beyond the edge drawn at it." if beyond else ""
    return figure(plot(svg, labels), words, data, class_="panel", data_set="scores", data_panel=k)
