"""`TransitionWeightsDisplay`: which labels a conditional random field likes to see after which."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .display import Display
from .style import Axes, cell_texts, name_columns

__all__ = ["TransitionWeightsDisplay"]

MOST_TEXTS = 12


class TransitionWeightsDisplay(Display, figsize=(5.6, 4.8)):
    """Weights of a label (row) before another (column) as a map of colours; what has no weight is left empty.

    Parameters
    ----------
    weights : array of shape (n_classes, n_classes)
    labels : list of str

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    image_ : the map
    texts_ : list of artists
        Weights, where labels are few.

    Examples
    --------
    >>> from tacit.plot import TransitionWeightsDisplay
    >>> display = TransitionWeightsDisplay.from_estimator(fitted)  # doctest: +SKIP
    """

    def __init__(self, weights: Any, labels: Any) -> None:
        self.weights, self.labels = np.asarray(weights, dtype=float), [str(label) for label in labels]

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw the weights of a fitted model.

        Parameters
        ----------
        estimator : LinearChainCRF
            Fitted.
        ax : matplotlib axes, optional

        Returns
        -------
        TransitionWeightsDisplay
        """
        check_is_fitted(estimator)
        return cls(estimator.transition_weights_, estimator.classes_).plot(ax)

    def _draw(self, ax: Axes) -> None:
        n, shown = len(self.labels), np.where(self.weights == 0.0, np.nan, self.weights)
        most = float(np.nanmax(np.abs(shown), initial=0.0)) or 1.0
        self.image_ = ax.imshow(shown, cmap="PuOr", vmin=-most, vmax=most)
        name_columns(ax, self.labels)
        ax.set_yticks(range(n), self.labels, fontsize="small" if n <= 8 else "x-small")
        ax.set(xlabel="next label", ylabel="label")
        cells = [
            (j, i, f"{w:.1f}", abs(w) > 0.6 * most) for i, row in enumerate(shown) for j, w in enumerate(row) if w == w
        ]
        self.texts_ = cell_texts(ax, cells if n <= MOST_TEXTS else [])
        self.figure_.colorbar(self.image_, ax=ax, label="weight")
