"""How displays look: colours that the colour-blind can tell apart, marks, legends, names below maps."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
else:
    Axes = Any  # matplotlib is loaded when something is drawn

__all__ = [
    "DARK_ORANGE", "MARKERS", "MUTED", "Axes", "cell_texts", "colours", "ellipse", "key", "name_columns", "pyplot", "ring",
    "scatter_rows",
]  # fmt: skip

# Okabe and Ito's palette, in an order that keeps neighbours apart.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
MUTED = "#767676"
DARK_ORANGE = "#9A6A00"  # the palette's orange, dark enough for letters
MOST_NAMES = 30


def pyplot() -> Any:
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib; install it with: pip install 'tacit[plot]'") from error
    return pyplot


def colours(n: int) -> list:
    """One colour per class: a fixed palette for up to eight, else evenly spaced on a map of growing lightness."""
    if n <= len(PALETTE):
        return list(PALETTE[:n])
    pyplot()
    from matplotlib import colormaps

    return [colormaps["viridis"](value) for value in np.linspace(0.0, 0.95, n)]


def key(label: str, colour: Any = MUTED, marker: str | None = None, **look: Any) -> Any:
    """An entry of a legend: a line, or a marker alone."""
    from matplotlib.lines import Line2D

    style: dict[str, Any] = {} if marker is None else {"marker": marker, "linestyle": "none"}
    return Line2D([], [], color=colour, label=label, **style, **look)


def scatter_rows(ax: Axes, points: np.ndarray, hollow: np.ndarray, colour: Any, marker: str, n_rows: int) -> list:
    """Draw the rows of a class among so many, some of them hollow; returns the artists."""
    size = float(np.clip(4000 / max(n_rows, 1), 4, 28))
    full: dict = {"c": [colour], "linewidths": 0, "alpha": 0.65}
    empty: dict = {"edgecolors": [colour], "facecolors": "none", "linewidths": 1.1}
    parts = ((points[~hollow], full), (points[hollow], empty))
    return [ax.scatter(rows[:, 0], rows[:, 1], size, marker=marker, **look) for rows, look in parts if len(rows)]


def ellipse(ax: Axes, mean: np.ndarray, covariance: np.ndarray, radius: float, **look: Any) -> Any:
    """Draw the ellipse of so many standard deviations around a mean."""
    from matplotlib.patches import Ellipse

    value, vector = np.linalg.eigh(covariance)
    width, height = 2.0 * radius * np.sqrt(np.maximum(value[::-1], 0.0))
    angle = np.degrees(np.arctan2(vector[1, 1], vector[0, 1]))
    return ax.add_patch(Ellipse(tuple(mean), width, height, angle=angle, fill=False, **look))


def ring(ax: Axes, x: float, y: float) -> Any:
    """Mark a point as the best."""
    return ax.scatter([x], [y], s=170, facecolors="none", edgecolors="black", linewidths=1.8, zorder=5)


def cell_texts(ax: Axes, cells: Any, size: str = "small") -> list:
    """The texts of a heat map's cells, given as (x, y, text, whether the cell is dark): white on dark."""
    return [
        ax.text(x, y, text, ha="center", va="center", fontsize=size, color="white" if dark else "black")
        for x, y, text, dark in cells
    ]


def name_columns(ax: Axes, names: list[str]) -> None:
    """Write the names of a map's columns below it, as many as there is room for."""
    d = len(names)
    step = max(1, -(-d // MOST_NAMES))
    look: dict = {"rotation": 45, "ha": "right"} if d <= 8 else {"rotation": 90, "ha": "center"}
    ax.set_xticks(range(0, d, step), names[::step], fontsize="small" if d <= 8 else "x-small", **look)
