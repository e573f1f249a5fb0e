"""`SparsityDisplay`: which weights of a sparse model remained, how large they are, and how many were dropped."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["SparsityDisplay"]

MOST = 60
"""Weights that are drawn, the largest."""


class SparsityDisplay(Display, figsize=(5.2, 4.0)):
    """Weights that a sparse model kept, the largest first, with two standard deviations where they are known.

    Parameters
    ----------
    weights : array-like of shape (n,)
        Weights that were kept.
    std : array-like of shape (n,), optional
        Their standard deviations.
    names : sequence of str, optional
        What they are of.
    n_possible : int, optional
        How many weights there were to choose from.
    what : str
        What they are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    marks_ : artist
    order : ndarray of int
        Which weights are drawn, from the top.

    Examples
    --------
    >>> from tacit.plot import SparsityDisplay
    >>> display = SparsityDisplay.from_estimator(fitted)  # doctest: +SKIP
    """

    def __init__(
        self, weights: Any, std: Any = None, names: Any = None, n_possible: int | None = None, what: str = "weights"
    ) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        if self.weights.ndim != 1:
            raise ValueError(f"weights have shape {self.weights.shape}; give those of one target or class.")
        self.std = None if std is None else np.asarray(std, dtype=np.float64)
        self.names = list(map(str, range(len(self.weights)) if names is None else names))
        self.n_possible, self.what = n_possible, what
        self.order = np.argsort(-np.abs(self.weights), kind="stable")[:MOST]

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, score: int = 0, n_rows: int | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw the weights of relevance vectors, or the coefficients of a sparse linear regression.

        Parameters
        ----------
        estimator : object
            Fitted: a relevance vector machine, or a regression such as `ARDRegression`, whose dropped coefficients are 0.
        score : int, default=0
            Which class's weights, or which target's.
        n_rows : int, optional
            Rows that relevance vectors were chosen from.
        ax : matplotlib axes, optional

        Returns
        -------
        SparsityDisplay
        """
        coef = np.atleast_2d(estimator.coef_)
        if not -len(coef) <= score < len(coef):
            raise ValueError(f"score={score} is none of the {len(coef)} rows of coef_; use 0 to {len(coef) - 1}.")
        own = coef[score]
        kept = np.flatnonzero(own)
        if hasattr(estimator, "relevance_"):
            names = [f"row {row + 1}" for row in estimator.relevance_[kept]]
            std = np.full((len(coef), coef.shape[1] + 1), np.nan)
            std[tuple(estimator.places_.T)] = np.sqrt(np.diagonal(estimator.sigma_))
            return cls(own[kept], std[score, kept], names, n_rows, "relevance vectors").plot(ax)
        named = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(len(own))])
        return cls(own[kept], None, [str(named[j]) for j in kept], len(own), "coefficients").plot(ax)

    def _draw(self, ax: Axes) -> None:
        y, own = np.arange(len(self.order)), self.weights[self.order]
        colour = colours(1)[0]
        ax.axvline(0.0, color=MUTED, linewidth=1)
        ax.hlines(y, 0.0, own, color=colour, linewidth=1.2)
        (self.marks_,) = ax.plot(own, y, "o", color=colour, markersize=4)
        if self.std is not None:
            ax.errorbar(own, y, xerr=2.0 * self.std[self.order], fmt="none", color=MUTED, linewidth=1)
        ax.set_yticks(y, [self.names[k] for k in self.order], fontsize="small")
        ax.set(xlabel="weight", ylim=(len(y) - 0.5, -0.5))
        of = f" of {self.n_possible:,}" if self.n_possible is not None else ""
        shown = f", the largest {len(self.order)} drawn" if len(self.order) < len(self.weights) else ""
        self._title(f"{len(self.weights):,}{of} {self.what} kept{shown}", ax)
