"""Names and merges of groups, with the command that keeps them."""

from ..charts.colours import group_name
from ..markup import Markup, cut, table, tag
from .common import Findings, named_files

__all__ = ["editor"]


def editor(findings: Findings) -> Markup | None:
    """Names and merges of groups, and the command that makes the page with them."""
    files = named_files(findings)
    if len(findings.groups) < 2 or files is None:
        return None
    lines = []
    for group in findings.groups:
        others = [part.number for part in findings.groups if part.number != group.number]
        into = [tag("option", "stays", value=""), *(tag("option", f"merged into group {k}", value=k) for k in others)]
        label = f"group {group.number}"
        lines.append(
            [
                group_name(group.number),
                tag("input", type="text", maxlength=40, data_name=group.number, aria_label=f"Name of {label}", autocomplete="off",
                    value=cut(findings.group_names.get(group.number, ""), 40)),
                tag("select", into, data_merge=group.number, aria_label=f"What becomes of {label}"),
            ]
        )  # fmt: skip
    made = table(["Group", "Name", "Merge"], lines, caption="Names and merges of groups")
    words = (
        "Names and merges show in the cards, the map and the rows; the rest of the page follows when it is made anew:"
    )
    typed = tag("code", id="edit-command", data_model=files[1], data_table=files[0])
    shown = tag("p", words, class_="note"), tag("pre", typed, tabindex="0")
    copy = tag("button", "Copy", type="button", id="edit-copy")
    return tag("details", tag("summary", "Rename or merge groups"), made, shown, copy, class_="editor control")
