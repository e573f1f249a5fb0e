"""What sets each group apart: at a glance for all, in detail for each."""

from ..charts.bars import glance, profile_bars
from ..charts.colours import group_name
from ..markup import join, tag
from .common import Findings, Section, choices

__all__ = ["profiles"]


def profiles(findings: Findings) -> Section | None:
    """Differences of every group from the whole table."""
    told = [group for group in findings.groups if group.profile]
    if len(told) < 2:
        return None
    names = ["All groups", *(group_name(group.number) for group in told)]
    charts = [glance(told), *map(profile_bars, told)]
    panels = [
        tag("div", tag("h3", name), made, class_="panel", data_set="profile", data_panel=k)
        for k, (name, made) in enumerate(zip(names, charts))
    ]
    buttons = choices("profile", names, "Which group to show")
    lead = (
        "How far a group lies from the mean of all rows, in standard deviations of the column: beyond 0.5 is easily "
        "seen, beyond 1 is large. The largest differences come first. "
        "Values are in the column's own units; levels of categories are shares of rows."
    )
    return Section("profiles", "What sets each group apart", "Profiles", join([buttons, panels]), lead)
