"""Labels that keep out of each other's way. Imports matplotlib, so it is imported where it is used."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation, Text

__all__ = ["spread_labels"]

PAD = 2.0  # pixels between two labels
STEP = 3.0  # pixels between places that are tried


def spread_labels(ax: Axes, tips: Any, names: Sequence[str], **look: Any) -> list[Annotation]:
    """Annotate points outwards from the origin, each label moved as little as keeps all apart and inside the axes.

    A thin line leads from a label that had to move to its point. Returns the annotations.
    """
    texts = [
        ax.annotate(
            name, tip, xytext=(0, 0), textcoords="offset pixels", ha="center", va="center", fontsize="small",
            path_effects=[withStroke(linewidth=2.2, foreground="white")], zorder=6, in_layout=False,
            arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": look.get("color"), "shrinkA": 0, "shrinkB": 0}, **look,
        )
        for tip, name in zip(tips, names)
    ]  # fmt: skip
    ax.add_artist(Spreader(np.asarray(tips), texts))
    return texts


class Spreader(Artist):
    """Draws nothing, but is drawn just before the labels, when it is settled where the axes lie, and moves them apart."""

    def __init__(self, tips: np.ndarray, texts: list[Annotation]) -> None:
        super().__init__()
        self.tips, self.texts = tips, texts
        self.set(zorder=5.9, in_layout=False)

    def draw(self, renderer: Any) -> None:
        _spread(self.axes, self.tips, self.texts)


def _spread(ax: Any, tips: np.ndarray, texts: list[Any]) -> None:
    """Give every label its offset, in pixels as they are now."""
    if not texts:
        return
    origin, places = ax.transData.transform((0.0, 0.0)), ax.transData.transform(tips)
    sizes = np.array([_size(text) for text in texts]) + PAD
    box = ax.get_window_extent()
    outwards = places - origin
    outwards /= np.maximum(np.linalg.norm(outwards, axis=1, keepdims=True), 1e-9)
    # Far enough that the label's nearest edge, not its middle, is at the tip.
    start = places + outwards * (4.0 + 0.5 * np.abs(outwards * sizes).sum(axis=1, keepdims=True))
    middles = _apart(start, sizes, places, np.array([[box.x0, box.y0], [box.x1, box.y1]]))
    for text, place, middle, first in zip(texts, places, middles, start):
        text.set_position(tuple(middle - place))
        text.arrow_patch.set_visible(bool(np.linalg.norm(middle - first) > 10.0))


def _apart(start: np.ndarray, sizes: np.ndarray, tips: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Middles of labels: each at the place nearest to its start that is free, one after the other."""
    rings = np.arange(0.0, np.linalg.norm(box[1] - box[0]), STEP)
    angles = np.linspace(0.0, 2 * np.pi, 32, endpoint=False)
    ways = (rings[:, None, None] * np.column_stack([np.cos(angles), np.sin(angles)])).reshape(-1, 2)
    taken, widths = tips.copy(), np.full(tips.shape, 4.0)
    middles = start.copy()
    for i, size in enumerate(sizes):
        places = start[i] + ways
        inside = ((places >= box[0] + size / 2) & (places <= box[1] - size / 2)).all(axis=1)
        places = places[inside]
        clear = ~(np.abs(places[:, None] - taken) < (size + widths) / 2).all(axis=2).any(axis=1)
        if clear.any():
            middles[i] = places[np.argmax(clear)]
        taken, widths = np.vstack([taken, middles[i]]), np.vstack([widths, size])
    return middles


def _size(text: Text) -> tuple[float, float]:
    """Width and height of the words alone, in pixels."""
    box = Text.get_window_extent(text)
    return box.width, box.height
