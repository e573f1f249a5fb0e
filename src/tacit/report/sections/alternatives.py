"""Other numbers of groups that were tried, one at a time."""

from typing import Any

import numpy as np

from ..charts.figure import figure
from ..charts.scatter import scatter
from ..markup import Markup, amount, join, note, number, option, percent, plural, table, tag, unfolding
from ..projection import views
from .common import Findings, Section, group_mark, named_files
from .groups import CRITERIA, group_card
from .map import plot

__all__ = ["alternatives"]


def alternatives(findings: Findings) -> Section | None:
    """The best groups of every number tried, chosen by a slider."""
    found = findings.alternatives
    if len(found) < 2 or findings.group is None:
        return None
    chosen = next((k for k, each in enumerate(found) if each.n_groups == len(findings.groups)), 0)
    panels = [
        tag(
            "div", tag("h3", plural(each.n_groups, "group")), note(_told(findings, each)),
            tag("ol", [group_card(group, each.n_counted or findings.n_rows) for group in each.groups], class_="cards"),
            _crossed(findings, each), _command(findings, f"tacit fit {{}} --groups {each.n_groups}"),
            class_="panel", data_set="numbers", data_panel=k, data_groups=" ".join(map(str, each.group)),
        )
        for k, each in enumerate(found)
    ]  # fmt: skip
    slider = tag(
        "input",
        type="range",
        id="numbers-slider",
        min=0,
        max=len(found) - 1,
        step=1,
        value=chosen,
        list="numbers-ticks",
    )
    ticks = tag("datalist", [tag("option", value=k) for k in range(len(found))], id="numbers-ticks")
    shown = tag("output", amount(found[chosen].n_groups), id="numbers-shown")
    control = tag("div", tag("label", "Number of groups ", slider), shown, ticks, class_="filters control")
    lead = (
        "The best model of every number of groups that was tried, fitted to the same rows. Everything else on this page is about "
        f"the {plural(len(findings.groups), 'group')} that {'was' if len(findings.groups) == 1 else 'were'} chosen."
    )
    return Section("numbers", "Other numbers of groups", "Number", join([control, _map(findings), panels]), lead)


def _told(findings: Findings, each: Any) -> str:
    name = (
        CRITERIA.get(findings.selection[0].get("criterion", "bic"), "criterion") if findings.selection else "criterion"
    )
    told = [f"Structure {each.covariance_type}."]
    if each.value is not None:
        gap = "the best of all" if not each.behind else f"{number(each.behind, 3)} behind the best"
        told.append(f"{name} {number(each.value, 7)}, {gap}.")
    if each.n_counted is not None:
        told.append(f"Counted on {plural(each.n_counted, 'row')} drawn at random.")
    if each.n_groups > 1:
        share = percent(each.n_uncertain / max(each.n_counted or findings.n_rows, 1))
        whole = "them" if each.n_counted else "the table"
        told.append(f"{plural(each.n_uncertain, 'row')} ({share} of {whole}) less than 90 % sure of their group.")
    return " ".join(told)


def _crossed(findings: Findings, each: Any) -> Markup | None:
    """In which of the chosen groups the rows of these are."""
    own, others = np.asarray(findings.group, dtype=int), np.asarray(each.group, dtype=int)
    if each.n_groups == len(findings.groups):
        return None
    numbers = [group.number for group in findings.groups]
    rows = [
        [
            f"Group {group.number} of {each.n_groups}",
            *(amount((own[others == group.number] == k).sum()) for k in numbers),
        ]
        for group in each.groups
    ]
    header = ["Rows shown", *(join(["in ", group_mark(k)]) for k in numbers)]
    made = table(
        header, rows, numeric=range(1, len(header)), caption="Rows of these groups in the groups that were chosen"
    )
    return unfolding(f"Where these rows are among the {len(numbers)} chosen", made)


def _map(findings: Findings) -> Markup | None:
    """One map, whose marks the script makes those of the number of groups that is shown."""
    planes = views(findings)
    if not planes:
        return None
    svg, _ = scatter(
        "numbers-map", planes[0].places, np.asarray(findings.group, dtype=int), ellipses=False,
        aria_label="Map of the rows in the colours of the groups shown.",
    )  # fmt: skip
    return figure(plot(svg, planes[0].labels), class_="control")


def _command(findings: Findings, words: str) -> Markup | None:
    files = named_files(findings)
    return tag("p", "The whole page about them: ", option(words.format(files[0]))) if files else None
