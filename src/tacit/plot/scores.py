"""`ScoresDisplay`: rows in the plane of two components, with ellipses that tell how unsure their scores are.

z | x ~ N(m, C): an ellipse holds the score with the given probability.
"""

import inspect
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.stats import chi2

from ..checks import check_number
from .display import Display
from .linear import final, groups_of, inner_rows, numbers_of, pair_of, scatter_groups, titles
from .style import Axes, colours, ellipse, key

__all__ = ["ScoresDisplay"]


class ScoresDisplay(Display, figsize=(6.4, 5.2)):
    """Posterior means of scores as points; ellipses hold the score with a given probability.

    Parameters
    ----------
    means : (rows, 2) array
    covariances : (rows, 2, 2) array, or (2, 2) for all rows
    groups : (rows,) array, optional
        Names of groups; each has a colour and a marker.
    hollow : (rows,) bool array, optional
        Rows that are drawn hollow: those with missing cells.
    titles : (str, str)
        Names of the two components.
    level : float, default=0.95
        Probability that an ellipse holds.
    max_ellipses : int, default=30
        Where there are more rows, those of a random sample are drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    scatters_ : list of artists
        One per group that has rows, and one more per group with hollow ones.
    ellipses_ : list of artists
    shown_ : int array
        The rows whose ellipses are drawn.

    Examples
    --------
    >>> from tacit.plot import ScoresDisplay
    >>> display = ScoresDisplay.from_estimator(fitted, X)  # doctest: +SKIP
    """

    def __init__(
        self, means: Any, covariances: Any, *, groups: Any = None, hollow: np.ndarray | None = None,
        titles: Sequence[str] = ("", ""), level: float = 0.95, max_ellipses: int = 30,
    ) -> None:  # fmt: skip
        self.means, covariances = np.asarray(means, dtype=float), np.asarray(covariances, dtype=float)
        n = len(self.means)
        if self.means.shape != (n, 2) or covariances.shape not in ((2, 2), (n, 2, 2)):
            raise ValueError(
                f"means and covariances have shapes {self.means.shape} and {covariances.shape}; give those of two components, "
                "(rows, 2) and (rows, 2, 2)."
            )
        if not isinstance(level, (int, float)) or not 0 < level < 1:
            raise ValueError(f"level={level!r} is not a probability between 0 and 1.")
        check_number("max_ellipses", max_ellipses, (int, np.integer), 0)
        self.covariances = np.broadcast_to(covariances, (n, 2, 2))
        self.groups, self.hollow, self.titles = groups_of(groups, n), hollow, list(titles)
        self.level, self.max_ellipses = level, max_ellipses

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, groups: Any = None, components: Sequence[int] = (0, 1), level: float = 0.95,
        max_ellipses: int = 30, ax: Axes | None = None,
    ) -> Self:  # fmt: skip
        """Draw the scores that a fitted model gives the rows of X.

        Parameters
        ----------
        estimator : fitted estimator
            With ``transform(X, return_cov=True)`` or ``posterior(X)``, either of which returns means and covariances.
        X : array-like of shape (n_samples, n_features)
            Rows; NaN is missing.
        groups : array-like of shape (n_samples,), optional
        components : pair of int, default=(0, 1)
        level, max_ellipses
            As in the class.
        ax : matplotlib axes, optional

        Returns
        -------
        ScoresDisplay
        """
        hollow = np.isnan(numbers_of(X)).any(axis=1)
        means, covariances = _posterior(estimator, X)
        pair = pair_of(components, means.shape[1])
        return cls(
            means[:, pair], covariances[..., pair, :][..., pair], groups=groups, hollow=hollow,
            titles=titles(estimator, pair), level=level, max_ellipses=max_ellipses,
        ).plot(ax)  # fmt: skip

    def _draw(self, ax: Axes) -> None:
        self.scatters_, handles = scatter_groups(ax, self.means, self.groups, self.hollow)
        n = len(self.means)
        self.shown_ = np.arange(n)
        if n > self.max_ellipses:
            self.shown_ = np.sort(np.random.default_rng(0).choice(n, self.max_ellipses, replace=False))
        codes, names = self.groups
        palette, radius = colours(len(names)), float(np.sqrt(chi2.ppf(self.level, 2)))
        look = {"linewidth": 0.8, "alpha": 0.7}
        self.ellipses_ = [
            ellipse(ax, self.means[i], self.covariances[i], radius, edgecolor=palette[codes[i]], **look)
            for i in self.shown_
        ]
        sample = "" if n <= self.max_ellipses else f" of {len(self.shown_)} rows"
        if self.ellipses_:
            handles.append(key(f"{self.level:.0%} ellipse{sample}"))
        ax.set(xlabel=self.titles[0], ylabel=self.titles[1])
        if handles:
            ax.legend(handles=handles, fontsize="small", loc="best")
        ax.autoscale_view()


def _posterior(estimator: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Means (rows, components) and covariances (rows or none, components, components) of the scores."""
    model, rows = final(estimator), inner_rows(estimator, X)
    if "return_cov" in inspect.signature(getattr(model, "transform", len)).parameters:
        means, covariances = model.transform(rows, return_cov=True)
    elif hasattr(model, "posterior"):
        means, covariances = model.posterior(rows)
    else:
        raise TypeError(
            f"{type(model).__name__} does not tell how unsure its scores are; use a model whose transform takes return_cov, such "
            "as tacit.factor.ProbabilisticPCA(), or BiplotDisplay for scores alone."
        )
    return np.asarray(means, dtype=float), np.asarray(covariances, dtype=float)
