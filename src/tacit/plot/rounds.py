"""`RoundsDisplay`: how the error of a sum of trees, or of votes, goes with the number of rounds."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["RoundsDisplay"]


class RoundsDisplay(Display, figsize=(5.2, 3.6)):
    """Errors by rounds, the least of each curve marked.

    Parameters
    ----------
    curves : dict of str to array-like of shape (n_rounds,)
        Errors after each round, by what they are called.
    ylabel : str
    first : int, default=1
        The number of the first round; 0 where errors before it are there.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    lines_ : dict of str to artist
    best : dict of str to int
        The round with the least error of each curve.

    Examples
    --------
    >>> from tacit.plot import RoundsDisplay
    >>> display = RoundsDisplay.from_estimator(fitted, X_new, y_new)  # doctest: +SKIP
    """

    def __init__(self, curves: dict[str, Any], ylabel: str = "error", first: int = 1) -> None:
        self.curves = {name: np.asarray(curve, dtype=np.float64) for name, curve in curves.items()}
        if not self.curves or not all(len(curve) for curve in self.curves.values()):
            raise ValueError("there are no errors by rounds; fit with early_stopping=True, or give rows to predict.")
        self.ylabel, self.first = ylabel, first
        self.best = {name: int(np.nanargmin(curve)) + first for name, curve in self.curves.items()}

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None) -> Self:
        """Draw what fit kept: losses of early stopping, or AdaBoost's error and its bound; and errors on other rows.

        Parameters
        ----------
        estimator : object
            Fitted: boosting of `tacit.ensemble`.
        X, y : array-like, optional
            Other rows, by whose errors rounds are judged instead: shares of wrong classes, or mean squared errors.
        ax : matplotlib axes, optional

        Returns
        -------
        RoundsDisplay
        """
        if not hasattr(estimator, "staged_predict"):
            raise TypeError(
                f"a {type(estimator).__name__} has no rounds; RoundsDisplay draws gradient boosting and AdaBoost."
            )
        check_is_fitted(estimator)
        if X is not None:
            y, wrong = np.asarray(y), hasattr(estimator, "classes_")
            told = [said != y if wrong else (said - y) ** 2 for said in estimator.staged_predict(X)]
            curve = np.mean(told, axis=1)
            return cls({"other rows": curve}, "share of wrong classes" if wrong else "mean squared error").plot(ax)
        if hasattr(estimator, "train_errors_"):
            curves = {"training rows": estimator.train_errors_, "bound": estimator.bounds_}
            return cls(curves, "share of wrong classes").plot(ax)
        kept = {"training rows": estimator.train_score_, "rows held out": estimator.validation_score_}
        curves = {name: -score for name, score in kept.items() if len(score)}
        return cls(curves, "loss" if estimator.scoring == "loss" else "minus score", 0).plot(ax)

    def _draw(self, ax: Axes) -> None:
        self.lines_ = {}
        for (name, curve), colour in zip(self.curves.items(), colours(len(self.curves))):
            rounds = np.arange(self.first, self.first + len(curve))
            (self.lines_[name],) = ax.plot(rounds, curve, color=colour, linewidth=1.4, label=name)
            best = self.best[name]
            ax.plot([best], [curve[best - self.first]], "o", color=colour, markersize=4)
        if len(self.curves) > 1:
            ax.legend(frameon=False, fontsize="small", labelcolor=MUTED)
        ax.set(xlabel="rounds", ylabel=self.ylabel)
        name = list(self.curves)[-1]
        least = self.curves[name][self.best[name] - self.first]
        self._title(f"{name}: least after {self.best[name]:,} rounds, {least:.4g}", ax)
