"""The map of the groups: all rows shown on a plane."""

from collections.abc import Sequence

import numpy as np

from ..charts.colours import group_name
from ..charts.figure import figure
from ..charts.scatter import scatter, symbols
from ..markup import Markup, cut, join, note, number, percent, plural, table, tag
from ..projection import View, mapped, views
from .common import Findings, Section, choices, drawn_rows, group_mark, outlying, titled, unsure

__all__ = ["groups_map", "plot"]


def groups_map(findings: Findings) -> Section | None:
    """Rows on the plane that separates the groups, and on the one along which they vary most."""
    if not findings.groups or findings.group is None:
        return None
    planes = views(findings)
    if not planes:
        return None
    used = mapped(findings)
    group = np.asarray(findings.group, dtype=int)
    hollow, ringed = unsure(findings), outlying(findings)
    shown = [_panel(findings, k, view, group, hollow, ringed) for k, view in enumerate(planes)]
    most = max([len(findings.groups), *(each.n_groups for each in findings.alternatives)])
    marks = symbols(range(1, most + 1), len(group))
    body = join([marks, _controls(planes), _legend(findings, hollow, ringed), shown, note(_left_out(findings, used))])
    lead = (
        f"A point for {drawn_rows(len(group), findings)}; rows that are alike lie close together. "
        "Point at one, or use the arrow keys, to see the row."
    )
    return Section("map", "Map of the rows", "Map", body, lead)


def _controls(planes: list[View]) -> Markup:
    """Which plane to show, and what to colour the points by; the script lists the columns."""
    colour = tag("select", tag("option", "group", value=""), id="map-colour")
    label = tag("label", "Colour by ", colour)
    return join(
        [
            choices("map", [cut(view.name, 40) for view in planes]),
            tag("div", label, tag("span", id="map-key", class_="key", aria_live="polite"), class_="filters control"),
        ]
    )


def _left_out(findings: Findings, used: list[int]) -> str:
    """Which columns do not make the map, and how many rows miss cells of those that do."""
    others = [titled(findings, name) for j, name in enumerate(findings.used) if j not in used]
    told = []
    if others:
        more = f" and {len(others) - 8} more" if len(others) > 8 else ""
        told.append(f"The map is made of known cells only: {', '.join(others[:8])}{more} with missing cells left out.")
    n = int(np.isnan(findings.sample.encoded[:, used]).any(axis=1).sum())
    if n:
        told.append(f"{plural(n, 'row')} shown that {'misses' if n == 1 else 'miss'} a cell of the columns of the map "
                    f"{'lies' if n == 1 else 'lie'} where the known ones say.")  # fmt: skip
    return " ".join(told)


def _panel(findings: Findings, k: int, view: View, group: np.ndarray, hollow: np.ndarray, ringed: np.ndarray) -> Markup:
    counts = "; ".join(f"group {part.number}: {(group == part.number).sum()} rows" for part in findings.groups[:12])
    svg, beyond = scatter(
        f"map{k}", view.places, group, hollow=hollow, ringed=ringed,
        aria_label=f"Map of the rows: {view.name.lower()}. {counts}.",
    )  # fmt: skip
    notes = [view.note, "Ellipses hold about 90 % of a group."] if len(group) > 2 else [view.note]
    if beyond:
        notes.append(f"{plural(beyond, 'row')} beyond the edge {'is' if beyond == 1 else 'are'} drawn at it.")
    data = _centres(findings, view, group)
    return figure(plot(svg, view.labels), " ".join(notes), data, class_="panel", data_set="map", data_panel=k)


def plot(svg: Markup, labels: Sequence[str]) -> Markup:
    """A map that can be walked over with keys, the card that shows the row, and what the axes mean."""
    tip = tag("div", class_="tip", role="status", aria_live="polite", hidden=True)
    # Words beside the drawing keep their size where it shrinks, and wrap.
    across = tag("p", cut(labels[0], 120), " →", class_="meaning across") if labels[0] else None
    upward = tag("p", "↑ ", cut(labels[1], 120), class_="meaning") if labels[1] else None
    return join([upward, tag("div", svg, tip, class_="plot"), across])


def _centres(findings: Findings, view: View, group: np.ndarray) -> Markup:
    rows = []
    for part in findings.groups:
        inside = view.places[group == part.number]
        if len(inside):
            middle, spread = inside.mean(axis=0), inside.std(axis=0)
            rows.append([group_mark(part.number), f"{len(inside):,}", *(number(v, 3) for v in (*middle, *spread))])
    header = ["Group", "Rows drawn", "Across: middle", "Up: middle", "Across: spread", "Up: spread"]
    return table(header, rows, numeric=(1, 2, 3, 4, 5), caption="Where the groups lie on the map")


def _legend(findings: Findings, hollow: np.ndarray, ringed: np.ndarray) -> Markup:
    """Which mark is which group; each hides and shows its rows."""
    entries = [
        tag(
            "button", group_name(part.number, findings.group_names.get(part.number)), " ",
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
