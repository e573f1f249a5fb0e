"""`DecisionRegionsDisplay`: where in the plane a classifier says which class, and how sure it is."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["DecisionRegionsDisplay"]

MARGIN = 0.08
"""Share of the rows' range that the picture extends beyond them."""


class DecisionRegionsDisplay(Display, figsize=(5.0, 4.2)):
    """Regions of a classifier of two features, in full colour where it is sure and pale where it is not.

    Parameters
    ----------
    x, y : ndarray of shape (n,), (m,)
        The grid.
    sure : ndarray of shape (m, n, n_classes)
        What the classifier gives each class: probabilities, or 0 and 1 where it tells none.
    classes : array-like
        What the classes are called.
    values : ndarray of shape (m, n), optional
        Decision values of two classes, of which the lines −1, 0 and 1 are drawn.
    rows, labels : ndarray of shape (r, 2), (r,), optional
        Rows to be drawn, and their classes.
    support : ndarray of int, optional
        Rows that are circled.
    names : tuple of str
        What the features are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    image_, rows_ : artists

    Examples
    --------
    >>> from tacit.plot import DecisionRegionsDisplay
    >>> display = DecisionRegionsDisplay.from_estimator(fitted, X, y)  # doctest: +SKIP
    """

    def __init__(
        self, x: np.ndarray, y: np.ndarray, sure: np.ndarray, classes: Any, values: np.ndarray | None = None,
        rows: np.ndarray | None = None, labels: np.ndarray | None = None, support: np.ndarray | None = None,
        names: tuple[str, str] = ("x0", "x1"),
    ) -> None:  # fmt: skip
        self.x, self.y, self.sure, self.classes, self.values = x, y, sure, np.asarray(classes), values
        self.rows, self.labels, self.support, self.names = rows, labels, support, names

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, resolution: int = 200, ax: Axes | None = None
    ) -> Self:
        """Ask a classifier about a grid around rows, and draw what it says.

        Parameters
        ----------
        estimator : object
            A fitted classifier of two features, of any library; probabilities are drawn where it tells them.
        X : array-like of shape (n_samples, 2)
            Rows that the picture holds.
        y : array-like of shape (n_samples,), optional
            Their classes; the rows are drawn where they are given.
        resolution : int, default=200
            Points of the grid along each feature.
        ax : matplotlib axes, optional

        Returns
        -------
        DecisionRegionsDisplay
        """
        named = [str(name) for name in X.columns] if hasattr(X, "columns") else ["x0", "x1"]
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise ValueError(
                f"X has shape {rows.shape}, but regions are drawn in the plane of two features; fit a classifier of two columns."
            )
        low, high = np.nanmin(rows, axis=0), np.nanmax(rows, axis=0)
        wide = np.where(high > low, high - low, 1.0) * MARGIN
        axes = [np.linspace(a - w, b + w, resolution) for a, b, w in zip(low, high, wide)]
        grid = np.column_stack([part.ravel() for part in np.meshgrid(*axes)])
        asked = type(X)(grid, columns=X.columns) if hasattr(X, "columns") else grid
        told, classes = estimator.predict(asked), np.asarray(estimator.classes_)
        values = None
        if hasattr(estimator, "predict_proba"):
            sure = np.asarray(estimator.predict_proba(asked))
        else:
            sure = (told[:, None] == classes).astype(float)
        if len(classes) == 2 and hasattr(estimator, "decision_function"):
            values = np.asarray(estimator.decision_function(asked)).reshape(resolution, resolution)
        labels = None if y is None else np.asarray(y)
        support = getattr(estimator, "support_", None) if labels is not None else None
        support = support if support is not None and len(support) and support.max() < len(rows) else None
        sure = sure.reshape(resolution, resolution, len(classes))
        return cls(axes[0], axes[1], sure, classes, values, rows, labels, support, (named[0], named[1])).plot(ax)

    def _draw(self, ax: Axes) -> None:
        from matplotlib.colors import to_rgb

        shades = np.array([to_rgb(colour) for colour in colours(len(self.classes))])
        # From white where all classes are alike to the class's own colour where it is sure.
        best, n = self.sure.max(axis=2), len(self.classes)
        strength = 0.08 + 0.5 * np.clip((best - 1 / n) / (1 - 1 / n), 0, 1)
        shown = 1 - strength[..., None] * (1 - shades[self.sure.argmax(axis=2)])
        extent = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        self.image_ = ax.imshow(shown, extent=extent, origin="lower", aspect="auto", interpolation="bilinear")
        if self.values is not None:
            ax.contour(
                self.x, self.y, self.values, levels=[-1, 0, 1], colors=MUTED, linestyles=["--", "-", "--"], linewidths=1
            )
        self.rows_ = []
        if self.labels is not None and self.rows is not None:
            for k, (label, colour) in enumerate(zip(self.classes, shades)):
                part = self.rows[self.labels == label]
                drawn = ax.scatter(
                    part[:, 0],
                    part[:, 1],
                    s=16,
                    color=colour,
                    edgecolor="white",
                    linewidth=0.5,
                    label=str(label),
                    zorder=3 + k,
                )
                self.rows_.append(drawn)
            if self.support is not None:
                ax.scatter(
                    self.rows[self.support, 0],
                    self.rows[self.support, 1],
                    s=42,
                    facecolor="none",
                    edgecolor=MUTED,
                    linewidth=0.8,
                    zorder=2,
                )
            ax.legend(frameon=False, fontsize="small")
        ax.set(xlabel=self.names[0], ylabel=self.names[1], xlim=extent[:2], ylim=extent[2:])
