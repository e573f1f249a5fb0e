"""`SelectionDisplay`: a criterion against the number of components, one line per structure."""

from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np

from .display import Display
from .style import MARKERS, MUTED, Axes, colours, ring

__all__ = ["SelectionDisplay"]

LABELS = {
    "bic": "BIC (lower is better)",
    "aic": "AIC (lower is better)",
    "icl": "ICL (lower is better)",
    "cv": "log density per row left out (higher is better)",
}


class SelectionDisplay(Display, figsize=(7.0, 4.4)):
    """A criterion against the number of components, one line per combination of the other settings; the best is marked.

    Parameters
    ----------
    rows : list of dict
        Rows of a selection's table, best first.
    settings : tuple of str
        Names of the settings; the first is drawn along the axis.
    criterion : str
        Name of the column to draw.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : dict
        Lines by the values of the other settings.
    best_ : artist
        The mark of the best fit.
    collapsed_ : artist or None
        Marks of fits in which a class collapsed, which do not take part in the ranking.

    Examples
    --------
    >>> from tacit.plot import SelectionDisplay
    >>> display = SelectionDisplay.from_selection(found)  # doctest: +SKIP
    """

    def __init__(self, rows: Iterable[dict], settings: Iterable[str], criterion: str = "bic") -> None:
        self.rows, self.settings, self.criterion = list(rows), tuple(settings), criterion

    @classmethod
    def from_selection(cls, selection: Any, *, criterion: str | None = None, ax: Axes | None = None) -> Self:
        """Draw the result of :func:`tacit.mixture.select`, by its own criterion unless another is named."""
        criterion = criterion or selection.criterion
        if criterion not in LABELS or all(value is None for value in selection.table[criterion]):
            have = [name for name in LABELS if any(value is not None for value in selection.table[name])]
            raise ValueError(f"criterion={criterion!r} is not in the table; use one of {', '.join(map(repr, have))}.")
        return cls(selection.table, selection.settings, criterion).plot(ax)

    def _draw(self, ax: Axes) -> None:
        self.lines_: dict = {}
        places = self._places()
        groups: dict = {}
        for row in self.rows:
            groups.setdefault(tuple(str(row[name]) for name in self.settings[1:]), []).append(row)
        for i, (name, colour) in enumerate(zip(groups, colours(len(groups)))):
            good = sorted((places(row), row[self.criterion]) for row in groups[name] if self._counts(row))
            (self.lines_[name],) = ax.plot(
                [x for x, _ in good], [y for _, y in good], color=colour, marker=MARKERS[i % len(MARKERS)], markersize=5,
                linestyle=("-", "--", ":")[i // len(MARKERS) % 3], label=", ".join(name) or None,
            )  # fmt: skip
        self._mark(places)
        ax.set(xlabel=self.settings[0].replace("n_components", "number of components"), ylabel=LABELS[self.criterion])
        if len(groups) > 1 or self.collapsed_ is not None:
            title = ", ".join(self.settings[1:])
            ax.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.01, 0.5), title=title)

    def _counts(self, row: dict) -> bool:
        return row["failed"] is None and row[self.criterion] is not None

    def _places(self) -> Callable[[dict], float]:
        """Where a row lies along the axis; values that are no numbers stand side by side."""
        values = list(dict.fromkeys(row[self.settings[0]] for row in self.rows))
        if all(isinstance(value, (int, float, np.number)) for value in values):
            self.ax_.set_xticks(sorted(values)) if len(values) <= 20 else None
            return lambda row: row[self.settings[0]]
        texts = [str(value) for value in values]
        self.ax_.set_xticks(range(len(texts)), texts)
        return lambda row: texts.index(str(row[self.settings[0]]))

    def _mark(self, places: Callable[[dict], float]) -> None:
        """Mark the best fit, and those that collapsed where they lie within the picture."""
        better = max if self.criterion == "cv" else min
        good = [row for row in self.rows if self._counts(row)]
        best = better(good or self.rows, key=lambda row: row[self.criterion])
        bottom, top = self.ax_.get_ylim()
        collapsed = [row for row in self.rows if row["failed"] is not None and row[self.criterion] is not None]
        self.collapsed_ = None
        if collapsed:
            self.collapsed_ = self.ax_.scatter(
                [places(row) for row in collapsed], np.clip([row[self.criterion] for row in collapsed], bottom, top),
                marker="x", color=MUTED, s=24, label="collapsed, not ranked", clip_on=False,
            )  # fmt: skip
        self.best_ = ring(self.ax_, places(best), best[self.criterion])
        settings = ", ".join(str(best[name]) for name in self.settings)
        self.ax_.annotate(
            f"best: {settings}", (places(best), best[self.criterion]), xytext=(0, -14 if better is min else 10),
            textcoords="offset points", ha="center", va="top" if better is min else "bottom", fontsize="small",
        )  # fmt: skip
        self.ax_.margins(y=0.12)
