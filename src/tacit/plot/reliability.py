"""`ReliabilityDisplay`: whether classes are as frequent as a classifier says they are."""

from typing import Any, Self

import numpy as np

from ..assess.scoring import reliability
from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["ReliabilityDisplay"]


class ReliabilityDisplay(Display, figsize=(4.6, 4.2)):
    """Shares of a class against the probabilities that were told of it, in parts of equal size, with 95 % intervals.

    Parameters
    ----------
    told : array-like of shape (n,)
        Probabilities of the class.
    is_class : array-like of bool of shape (n,)
        Whether a row is of the class.
    n : int, default=10
        Parts that rows are divided into by what was told.
    name : str
        What the class is called.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    curve_ : artist
    mean_told, share, low, high : ndarray
        What is drawn, by part: the mean probability, the share of the class, and Wilson's interval of that.
    brier : float
        Mean squared difference of what was told and what was.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference.

    Examples
    --------
    >>> from tacit.plot import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_estimator(fitted, X_new, y_new)  # doctest: +SKIP
    """

    def __init__(self, told: Any, is_class: Any, n: int = 10, name: str = "") -> None:
        told, found = np.asarray(told, dtype=np.float64), np.asarray(is_class, dtype=bool)
        if told.shape != found.shape or told.ndim != 1 or not len(told):
            raise ValueError(f"told has shape {told.shape} and is_class {found.shape}; give one of each per row.")
        self.brier, self.name, self.n_rows = float(np.mean((told - found) ** 2)), name, len(told)
        parts = reliability(found, told, n)
        self.mean_told, self.share, self.low, self.high = parts.told, parts.share, parts.low, parts.high

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, label: Any = None, n: int = 10, ax: Axes | None = None
    ) -> Self:
        """Ask a classifier about rows that it has not seen, and draw how what it tells holds.

        Parameters
        ----------
        estimator : object
            A fitted classifier with `predict_proba`.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            The classes of the rows.
        label : object, optional
            The class that is looked at; default the last of ``classes_``.
        n : int, default=10
            Parts of equal size.
        ax : matplotlib axes, optional

        Returns
        -------
        ReliabilityDisplay
        """
        classes = np.asarray(estimator.classes_).tolist()
        label = classes[-1] if label is None else label
        if label not in classes:
            raise ValueError(
                f"label={label!r} is no class of the estimator; use one of {', '.join(map(repr, classes))}."
            )
        told = np.asarray(estimator.predict_proba(X))[:, classes.index(label)]
        return cls(told, np.asarray(y) == label, n, str(label)).plot(ax)

    def _draw(self, ax: Axes) -> None:
        ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle="--")
        colour, errors = colours(1)[0], np.array([self.share - self.low, self.high - self.share])
        self.curve_ = ax.errorbar(
            self.mean_told, self.share, np.clip(errors, 0, None), color=colour, marker="o", markersize=5, linewidth=1.2
        )
        what = f" of {self.name}" if self.name else ""
        ax.set(xlabel=f"probability{what}", ylabel=f"share{what}", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        self._title(f"{self.n_rows:,} rows, Brier score {self.brier:.3f}", ax)
