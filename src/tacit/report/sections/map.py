"""The map of the groups: all rows shown on a plane."""

import numpy as np

from ..charts.colours import glyph
from ..charts.scatter import scatter, symbols
from ..markup import cut, join, number, percent, plural, tag
from ..markup import table as table_of
from ..projection import views
from ..section import Section
from .common import group_mark, outlying, unsure

__all__ = ["choices", "groups_map", "legend", "plot"]


def groups_map(findings):
    """Rows on the plane that separates the groups, and on the one along which they vary most."""
    if not findings.groups or findings.group is None:
        return None
    planes = views(findings)
    if not planes:
        return None
    group = np.asarray(findings.group, dtype=int)
    hollow, ringed = unsure(findings), outlying(findings)
    shown = [_panel(findings, k, view, group, hollow, ringed) for k, view in enumerate(planes)]
    marks = symbols([part.number for part in findings.groups], len(group))
    body = join([marks, choices("map", [view.name for view in planes]), legend(findings, hollow, ringed), shown])
    m = len(group)
    which = f"{plural(m, 'row')} drawn at random of {findings.n_rows:,}" if m < findings.n_rows else "every row"
    lead = (
        f"A point for {which}; rows that are alike lie close together. "
        "Point at one, or use the arrow keys, to see the row."
    )
    return Section("map", "Map of the rows", "Map", body, lead)


def _panel(findings, k, view, group, hollow, ringed):
    name = f"map{k}"
    counts = "; ".join(f"group {part.number}: {(group == part.number).sum()} rows" for part in findings.groups[:12])
    svg, beyond = scatter(
        name, view.places, group, hollow=hollow, ringed=ringed,
        aria_label=f"Map of the rows: {view.name.lower()}. {counts}.",
    )  # fmt: skip
    note = [view.note, "Ellipses hold about 90 % of a group."] if len(group) > 2 else [view.note]
    if beyond:
        note.append(f"{plural(beyond, 'row')} beyond the edge {'is' if beyond == 1 else 'are'} drawn at it.")
    return tag(
        "figure", plot(svg, view.labels), tag("figcaption", " ".join(note)), tag(
            "details", tag("summary", "Numbers of this chart"), _centres(findings, view, group), class_="numbers"
        ),
        class_="panel", data_set="map", data_panel=k,
    )  # fmt: skip


def plot(svg, labels):
    """A map that can be walked over with keys, the card that shows the row, and what the axes mean."""
    tip = tag("div", class_="tip", role="status", aria_live="polite", hidden=True)
    # Words beside the drawing keep their size where it shrinks, and wrap.
    across = tag("p", cut(labels[0], 120), " →", class_="meaning across") if labels[0] else None
    upward = tag("p", "↑ ", cut(labels[1], 120), class_="meaning") if labels[1] else None
    return join([upward, tag("div", svg, tip, class_="plot"), across])


def _centres(findings, view, group):
    rows = []
    for part in findings.groups:
        inside = view.places[group == part.number]
        if len(inside):
            middle, spread = inside.mean(axis=0), inside.std(axis=0)
            rows.append([group_mark(part.number), f"{len(inside):,}", *(number(v, 3) for v in (*middle, *spread))])
    header = ["Group", "Rows drawn", "Across: middle", "Up: middle", "Across: spread", "Up: spread"]
    return table_of(header, rows, numeric=(1, 2, 3, 4, 5), caption="Where the groups lie on the map")


def choices(name, labels):
    """Buttons that choose one of several panels."""
    if len(labels) < 2:
        return None
    buttons = [
        tag("button", cut(label, 40), type="button", data_show=k, aria_pressed="true" if k == 0 else "false")
        for k, label in enumerate(labels)
    ]
    return tag("div", buttons, class_="choices control", role="group", aria_label="What to show", data_set=name)


def legend(findings, hollow, ringed):
    """Which mark is which group; each hides and shows its rows."""
    entries = [
        tag(
            "button", glyph(part.number), f" Group {part.number} ",
            tag("small", percent(part.n_rows / max(findings.n_rows, 1))), type="button",
            data_toggle=part.number, aria_pressed="true", title="Hide or show its rows",
        )
        for part in findings.groups
    ]  # fmt: skip
    if hollow.any():
        entries.append(tag("span", tag("i", class_="hollow"), f" hollow: less than 90 % sure ({int(hollow.sum())})"))
    if ringed.any():
        entries.append(tag("span", tag("i", class_="ringed"), f" ringed: outlier ({int(ringed.sum())})"))
    return tag("div", entries, class_="legend", role="group", aria_label="Legend")
