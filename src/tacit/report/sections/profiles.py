"""What sets each group apart: at a glance for all, in detail for each."""

from ..charts.bars import glance, profile_bars
from ..charts.colours import glyph
from ..markup import join, tag
from ..section import Section

__all__ = ["profiles"]


def profiles(findings):
    """Differences of every group from the whole table."""
    told = [group for group in findings.groups if group.profile]
    if len(told) < 2:
        return None
    panels = [
        tag(
            "div", tag("h3", glyph(group.number), f" Group {group.number}"), profile_bars(group),
            class_="panel", data_set="profile", data_panel=k + 1,
        )
        for k, group in enumerate(told)
    ]  # fmt: skip
    every = tag("div", tag("h3", "All groups"), glance(told), class_="panel", data_set="profile", data_panel=0)
    buttons = tag(
        "div",
        tag("button", "All groups", type="button", data_show=0, aria_pressed="true"),
        [
            tag("button", glyph(group.number), f" Group {group.number}", type="button", data_show=k + 1, aria_pressed="false")
            for k, group in enumerate(told)
        ],
        class_="choices control", role="group", aria_label="Which group to show", data_set="profile",
    )  # fmt: skip
    lead = (
        "How far a group lies from the mean of all rows, in standard deviations of the column: beyond 0.5 is easily "
        "seen, beyond 1 is large. The largest differences come first. "
        "Values are in the column's own units; levels of categories are shares of rows."
    )
    return Section("profiles", "What sets each group apart", "Profiles", join([buttons, every, panels]), lead)
