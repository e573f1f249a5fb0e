"""Colours of the page in light and dark, and the shapes that go with the colours of groups.

Groups differ in hue and in lightness, so that the colour-blind can tell them apart, and each has a shape of its own beside.
"""

from ..markup import Markup, cut, join, tag

__all__ = ["DARK", "GROUPS", "LIGHT", "SHAPES", "colour", "glyph", "group_name", "shape", "style"]

LIGHT = {
    "paper": "#ffffff", "panel": "#f7f6f3", "ink": "#1c1b19", "soft": "#5c5953", "line": "#dedbd4", "grid": "#eceae5",
    "accent": "#0b5c8c", "mark": "#b3261e", "wash": "#e3eef5", "low": "#b4561a", "high": "#0b5c8c",
    "g1": "#0067a5", "g2": "#c46f00", "g3": "#00806b", "g4": "#b8478a", "g5": "#3d3d4e", "g6": "#2e93d1", "g7": "#8c7b00",
    "g8": "#a33b20", "g9": "#6e4bb5",
}  # fmt: skip
DARK = {
    "paper": "#141517", "panel": "#1d1f22", "ink": "#ecebe8", "soft": "#a9a7a2", "line": "#3a3c40", "grid": "#2a2c30",
    "accent": "#7cc0ec", "mark": "#ff8a80", "wash": "#1d3240", "low": "#f0a368", "high": "#7cc0ec",
    "g1": "#4aa8ec", "g2": "#f0a640", "g3": "#2fc2a0", "g4": "#ea8cc3", "g5": "#d3d4de", "g6": "#a8dcff", "g7": "#d8c84a",
    "g8": "#f0785a", "g9": "#b095f5",
}  # fmt: skip
GROUPS = [name for name in LIGHT if name[0] == "g" and name[1:].isdigit()]
SHAPES = (
    "M4 0A4 4 0 1 1-4 0A4 4 0 1 1 4 0Z",
    "M-3.6-3.6H3.6V3.6H-3.6Z",
    "M0-4.8L4.5 3.4H-4.5Z",
    "M0-5L4.4 0L0 5L-4.4 0Z",
    "M0 4.8L4.5-3.4H-4.5Z",
    "M-1.6-4.6H1.6V-1.6H4.6V1.6H1.6V4.6H-1.6V1.6H-4.6V-1.6H-1.6Z",
    "M-2.6 -4.6L0-2L2.6-4.6L4.6-2.6L2 0L4.6 2.6L2.6 4.6L0 2L-2.6 4.6L-4.6 2.6L-2 0L-4.6-2.6Z",
    "M0-5.2L1.5-1.7L5.2-1.4L2.4 1L3.2 4.7L0 2.7L-3.2 4.7L-2.4 1L-5.2-1.4L-1.5-1.7Z",
    "M-4.6 0L-2.3-4H2.3L4.6 0L2.3 4H-2.3Z",
)


def colour(group: int) -> str:
    """Name of the colour of a group, counted from 1."""
    return GROUPS[(group - 1) % len(GROUPS)]


def shape(group: int) -> int:
    """Position in `SHAPES` of the shape of a group; colour and shape together repeat after 81 groups."""
    return (group - 1 + (group - 1) // len(GROUPS)) % len(SHAPES)


def glyph(group: int) -> Markup:
    """The mark of a group, to stand in text."""
    mark, hidden = tag("path", d=SHAPES[shape(group)]), {"aria_hidden": "true", "focusable": "false"}
    return tag("svg", mark, class_=f"glyph {colour(group)}", viewBox="-6 -6 12 12", **hidden)


def group_name(group: int, name: str | None = None) -> Markup:
    """Mark and name of a group, with the one that the user gave it."""
    title = f"Group {group}" + (f": {cut(name, 40)}" if name else "")
    return join([glyph(group), " ", tag("span", title, data_called=group)])


def style() -> str:
    """The colours as CSS: light, dark where the system asks for it, and what the button chooses."""
    light, dark = ("".join(f"--{name}:{value};" for name, value in theme.items()) for theme in (LIGHT, DARK))
    rules = "".join(f".{name}{{--own:var(--{name})}}" for name in GROUPS)
    return (
        f":root{{color-scheme:light;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}"
        f"@media screen{{:root[data-theme=dark]{{color-scheme:dark;{dark}}}}}{rules}"
    )
