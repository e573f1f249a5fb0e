"""The groups as cards, what sets each apart, and the models that were tried to find how many there are."""

from functools import partial

from ...study.findings import Group
from ..charts.bars import glance, profile_bars
from ..charts.colours import colour, group_name
from ..charts.curve import CRITERIA, selection_curve
from ..charts.figure import strip
from ..markup import LONGEST_SENTENCE, Markup, cut, join, percent, plural, tag
from .common import Findings, Section, choices, titled
from .editing import editor

__all__ = ["CRITERIA", "group_card", "groups", "profiles", "selection"]


def groups(findings: Findings) -> Section | None:
    """A card for each group."""
    if not findings.groups:
        return None
    cards = [group_card(group, findings.n_rows, findings.group_names.get(group.number)) for group in findings.groups]
    lead = "Each row is counted in the group it most probably belongs to. The words say what sets a group apart from others."
    if findings.learned is not None:
        lead = (
            f"New rows, each counted in the group it most probably belongs to. The words describe the "
            f"{findings.learned['n_rows']:,} rows of {findings.learned['title']} that the model was learned from."
        )
    if len(findings.groups) == 1 and len({row["n_components"] for row in findings.selection}) > 1:
        lead = "The table is best described as one group: no way of splitting its rows that was tried is worth its parameters."
    elif len(findings.groups) == 1:
        lead = "All rows together: no other number of groups was tried."
    return Section("groups", "The groups", "Groups", join([tag("ol", cards, class_="cards"), editor(findings)]), lead)


def group_card(group: Group, n_rows: int, name: str | None = None) -> Markup:
    """A group: its name, how large it is, and what sets it apart."""
    share = group.n_rows / max(n_rows, 1)
    return tag(
        "li",
        tag("h3", group_name(group.number, name)),
        tag("p", tag("b", plural(group.n_rows, "row")), f" · {percent(share)} of the table", class_="size"),
        strip(share),
        tag("p", cut(group.words, LONGEST_SENTENCE) or "Close to the average in every column.", class_="what"),
        class_=f"card {colour(group.number)}",
        data_card=group.number,
        data_n=group.n_rows,
    )


def profiles(findings: Findings) -> Section | None:
    """Differences of every group from the whole table."""
    told = [group for group in findings.groups if group.profile]
    if len(told) < 2:
        return None
    names = ["All groups", *(group_name(group.number, findings.group_names.get(group.number)) for group in told)]
    named = partial(titled, findings)
    charts = [glance(told, named), *(profile_bars(group, named) for group in told)]
    panels = [
        tag("div", tag("h3", name), made, class_="panel", data_set="profile", data_panel=k)
        for k, (name, made) in enumerate(zip(names, charts))
    ]
    buttons = choices("profile", names, "Which group to show")
    lead = (
        "How far a group lies from the mean of all rows, in standard deviations of the column: beyond 0.5 is easily "
        "seen, beyond 1 is large. The largest differences come first. "
        "Values are in the column's own units; levels of categories are shares of the rows in which the column is known."
    )
    return Section("profiles", "What sets each group apart", "Profiles", join([buttons, panels]), lead)


def selection(findings: Findings) -> Section | None:
    """The selection curve and the models behind it."""
    tried = findings.selection
    if len(tried) < 2:
        return None
    lead = "Every line is a kind of shape that groups may have, every point a model."
    if tried[0].get("criterion", "bic") == "bic":
        lead += (
            " BIC weighs how well a model fits against how many parameters it needs: lower is better, and a lead "
            "of 10 is strong evidence."
        )
    return Section("selection", "Why this many groups", "Selection", selection_curve(tried), lead)
