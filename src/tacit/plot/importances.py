"""`ImportancesDisplay`: what columns add to the predictions of trees: mean |φ| of Shapley values, with every row's."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["ImportancesDisplay"]

MOST = 20
"""Columns that are drawn, the most important."""


class ImportancesDisplay(Display, figsize=(5.6, 4.2)):
    """Mean |φ| of columns as bars, the middle nine tenths of rows' |φ| as lines.

    Parameters
    ----------
    values : array-like of shape (n_rows, n_features)
        Shapley values.
    names : sequence of str, optional

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    bars_ : artist
    importances : ndarray of shape (n_features,)
        Mean |φ|.
    order : ndarray of int
        Columns that are drawn, from the top.

    Examples
    --------
    >>> from tacit.plot import ImportancesDisplay
    >>> display = ImportancesDisplay.from_estimator(fitted, X_new)  # doctest: +SKIP
    """

    def __init__(self, values: Any, names: Any = None) -> None:
        self.values = np.asarray(values, dtype=np.float64)
        if self.values.ndim != 2 or not len(self.values):
            raise ValueError(f"values have shape {self.values.shape}; give those of rows by columns, of one output.")
        self.names = list(map(str, range(self.values.shape[1]) if names is None else names))
        self.importances = np.abs(self.values).mean(axis=0)
        self.order = np.argsort(-self.importances, kind="stable")[:MOST]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, output: int = -1, ax: Axes | None = None) -> Self:
        """Explain rows by `tacit.tree.shap_values`, and draw what columns add.

        Parameters
        ----------
        estimator : object
            A fitted estimator of `tacit.tree` or `tacit.ensemble`.
        X : array-like of shape (n_samples, n_features)
        output : int, default=-1
            Which class's score, where there are several.
        ax : matplotlib axes, optional

        Returns
        -------
        ImportancesDisplay
        """
        from ..tree import shap_values

        told = shap_values(estimator, X)
        values = told.values if told.values.ndim == 2 else told.values[:, :, output]
        return cls(values, told.columns).plot(ax)

    def _draw(self, ax: Axes) -> None:
        y, size = np.arange(len(self.order)), np.abs(self.values[:, self.order])
        self.bars_ = ax.barh(y, self.importances[self.order], color=colours(1)[0], height=0.6)
        low, high = np.quantile(size, [0.05, 0.95], axis=0)
        ax.hlines(y, low, high, color=MUTED, linewidth=1)
        ax.set_yticks(y, [self.names[j] for j in self.order], fontsize="small")
        ax.set(xlabel="mean |φ|, and |φ| of nine tenths of rows", ylim=(len(y) - 0.5, -0.5))
        of = f" of {len(self.names)}" if len(self.order) < len(self.names) else ""
        self._title(f"{len(self.order)}{of} columns, {len(self.values):,} rows", ax)
