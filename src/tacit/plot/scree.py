"""`ScreeDisplay`: how much variance each component explains, and how many rise above chance."""

from typing import Any, Self

import numpy as np

from .display import Display
from .linear import final, inner_rows
from .style import DARK_ORANGE, MARKERS, Axes, colours

__all__ = ["ScreeDisplay"]


class ScreeDisplay(Display, figsize=(6.0, 3.9)):
    """Variances of components in falling order, their cumulative share, and the threshold that a component must exceed.

    Parameters
    ----------
    eigenvalues : (n,) array
        Variances of the components, falling.
    threshold : float or (m,) array, optional
        What each eigenvalue must exceed to count, such as Horn's: what as large a table of pure noise would give.
    chosen : int, optional
        Components that are kept; they are filled. Default: those before the first that does not exceed the threshold, where
        there is one.
    total : float, optional
        Variance of all components, of which shares are told; default the sum of the eigenvalues.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    right_ : matplotlib axes
        Of the shares.
    line_, points_ : artists
        All eigenvalues, and those that are kept.
    share_ : artist
        The cumulative share.
    threshold_ : artist or None

    References
    ----------
    Horn (1965), A rationale and test for the number of factors in factor analysis, Psychometrika 30.

    Examples
    --------
    >>> from tacit.plot import ScreeDisplay
    >>> ScreeDisplay([4.2, 1.1, 0.4, 0.3], threshold=[1.4, 1.1, 0.9, 0.7]).chosen
    1
    >>> display = ScreeDisplay.from_data(X, scale=True)  # doctest: +SKIP
    """

    def __init__(
        self, eigenvalues: Any, threshold: Any = None, chosen: int | None = None, *, total: float | None = None
    ) -> None:
        self.eigenvalues = np.asarray(eigenvalues, dtype=float)
        n = len(self.eigenvalues) if self.eigenvalues.ndim == 1 else 0
        if not n:
            raise ValueError(f"eigenvalues have shape {self.eigenvalues.shape}; give a list of at least one.")
        self.threshold = None if threshold is None else _threshold(threshold, n)
        if chosen is not None and not (isinstance(chosen, (int, np.integer)) and 0 <= chosen <= n):
            raise ValueError(f"chosen={chosen!r} is not a number of components between 0 and {n}.")
        if chosen is None and self.threshold is not None:
            m = len(self.threshold)
            chosen = int(np.cumprod(self.eigenvalues[:m] > self.threshold).sum())
        self.chosen = chosen
        self.total = float(self.eigenvalues.sum()) if total is None else float(total)

    @classmethod
    def from_data(
        cls, X: Any, *, scale: bool = False, n_simulations: int = 100, quantile: float = 0.95, random_state: int = 0,
        ax: Axes | None = None,
    ) -> Self:  # fmt: skip
        """Draw the variances of a table's principal components, and Horn's threshold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or whatever :func:`tacit.factor.choose_rank` takes
        scale : bool, default=False
            Whether columns are divided by their standard deviations first.
        n_simulations, quantile, random_state
            Tables of independent columns to simulate, the quantile of their eigenvalues to exceed, and the seed.
        ax : matplotlib axes, optional

        Returns
        -------
        ScreeDisplay
        """
        from ..factor import choose_rank

        choice = choose_rank(
            X, "parallel", scale=scale, n_simulations=n_simulations, quantile=quantile, random_state=random_state
        )
        return cls.from_choice(choice, ax=ax)

    @classmethod
    def from_choice(cls, choice: Any, *, ax: Axes | None = None) -> Self:
        """Draw a :class:`tacit.factor.RankChoice` by parallel analysis."""
        if choice.method != "parallel":
            raise ValueError(
                f"the choice by {choice.method!r} holds no variances of components with a threshold; use method='parallel', or "
                "give the eigenvalues themselves to ScreeDisplay."
            )
        return cls(choice.values, choice.threshold, int(choice.rank)).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, threshold: Any = None, random_state: int = 0, ax: Axes | None = None
    ) -> Self:
        """Draw the variances of a fitted model's components.

        Parameters
        ----------
        estimator : fitted estimator
            With `explained_variance_` (PCA and its kin) or `eigenvalues_` (kernel PCA), or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features), optional
            Rows by which to find Horn's threshold, and the variances of all components that there are. Not needed where the
            number of components was chosen by it (``n_components="parallel"``).
        threshold : float or array, optional
            Another one, as in the class.
        random_state : int, default=0
            Seed of the threshold.
        ax : matplotlib axes, optional

        Returns
        -------
        ScreeDisplay
        """
        model = final(estimator)
        values = getattr(model, "explained_variance_", getattr(model, "eigenvalues_", None))
        if values is None:
            raise TypeError(
                f"{type(model).__name__} has no explained_variance_; use a model such as tacit.factor.PCA(), or give the "
                "eigenvalues themselves to ScreeDisplay."
            )
        choice = getattr(model, "rank_choice_", None)
        if threshold is None and getattr(choice, "method", None) == "parallel":
            return cls.from_choice(choice, ax=ax)
        if X is not None and not hasattr(model, "rank_choice_") and type(model).__name__ != "PCA":
            raise TypeError(
                f"Horn's threshold is for principal components of rows, not for {type(model).__name__}; leave X out to draw the "
                "model's own variances."
            )
        if threshold is None and X is not None:
            rows = inner_rows(estimator, X)
            return cls.from_data(rows, scale=bool(getattr(model, "scale", False)), random_state=random_state, ax=ax)
        share, total = getattr(model, "explained_variance_ratio_", None), None
        if share is not None and np.sum(share) > 0:
            total = np.sum(values) / np.sum(share)
        return cls(values, threshold, total=total).plot(ax)

    def _draw(self, ax: Axes) -> None:
        self.right_ = ax.twinx()
        numbers, blue = np.arange(1, len(self.eigenvalues) + 1), colours(1)[0]
        self._shares(numbers)
        size = float(np.clip(150 / len(numbers), 2.5, 6))
        (self.line_,) = ax.plot(
            numbers, self.eigenvalues, "-o", color=blue, markerfacecolor="white", markersize=size, label="variance"
        )
        kept = slice(0, self.chosen)
        (self.points_,) = ax.plot(numbers[kept], self.eigenvalues[kept], "o", color=blue, markersize=size)
        self._threshold()
        ax.set(xlabel="component", ylabel="variance", xlim=(0.5, len(numbers) + 0.5))
        ax.locator_params(axis="x", integer=True)
        ax.set_ylim(bottom=min(0.0, 1.05 * float(self.eigenvalues.min())))
        ax.set_zorder(self.right_.get_zorder() + 1)  # variances lie above the shares
        ax.patch.set_visible(False)
        if self.chosen is not None:
            self._title(self._finding())

    def _shares(self, numbers: np.ndarray) -> None:
        from matplotlib.ticker import PercentFormatter

        share = np.cumsum(self.eigenvalues) / self.total if self.total > 0 else np.zeros(len(numbers))
        marks: dict = {"marker": MARKERS[1] if len(numbers) <= 30 else None, "markersize": 4}
        (self.share_,) = self.right_.plot(numbers, share, color=colours(2)[1], linestyle="--", linewidth=1.2, **marks)
        self.right_.set_ylim(0.0, 1.05)
        self.right_.set_ylabel("cumulative share of variance", color=DARK_ORANGE)
        self.right_.tick_params(axis="y", colors=DARK_ORANGE)
        self.right_.yaxis.set_major_formatter(PercentFormatter(1.0))

    def _threshold(self) -> None:
        self.threshold_ = None
        if self.threshold is None:
            return
        numbers = np.arange(1, len(self.threshold) + 1)
        look: dict = {"color": "black", "linestyle": ":", "linewidth": 1.6}
        (self.threshold_,) = self.ax_.plot(numbers, self.threshold, label="threshold", **look)
        self.ax_.legend(handles=[self.line_, self.threshold_], fontsize="small", loc="center right")

    def _finding(self) -> str:
        share = self.eigenvalues[: self.chosen].sum() / self.total if self.total > 0 else 0.0
        noun, verb = ("component", "explains") if self.chosen == 1 else ("components", "explain")
        above = "" if self.threshold is None else " above the threshold"
        return f"{self.chosen} {noun}{above} {verb} {share:.1%} of the variance"


def _threshold(threshold: Any, n: int) -> np.ndarray:
    threshold = np.asarray(threshold, dtype=float)
    threshold = np.full(n, float(threshold)) if threshold.ndim == 0 else threshold
    if threshold.ndim != 1 or not 1 <= len(threshold) <= n or np.isnan(threshold).any():
        raise ValueError(
            f"threshold has shape {threshold.shape}, but there are {n} eigenvalues; give a number, or one per eigenvalue."
        )
    return threshold
