"""`BiplotDisplay`: rows as points and columns as arrows in the plane of two components.

x − μ ≈ z₁ w₁ + z₂ w₂: a row is far along an arrow where it has much of that column.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from ..checks import check_number
from .display import Display
from .linear import groups_of, loadings_of, pair_of, scatter_groups, scores_of, titles
from .rows import column_names
from .style import DARK_ORANGE, MUTED, Axes

__all__ = ["BiplotDisplay"]


class BiplotDisplay(Display, figsize=(6.6, 6.0)):
    """Scores of rows as points, loadings of columns as labelled arrows, on axes of their own.

    Parameters
    ----------
    scores : (rows, 2) array
    loadings : (columns, 2) array
        What a column gains per standard deviation of each score.
    names : list of str
        Names of the columns.
    groups : (rows,) array, optional
        Names of groups; each has a colour and a marker.
    titles : (str, str)
        Names of the two components.
    alpha : float in [0, 1], default=0
        0: scores are divided by their standard deviations and arrows are loadings, so that an angle between arrows is about a
        correlation of columns. 1: scores are as the model gives them, so that distances between points are about those of rows.
    max_arrows : int, default=25
        The longest are drawn.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    scatters_ : list of artists
        One per group that has rows.
    arrows_, labels_ : lists of artists
        One per drawn column.
    shown_ : int array
        Numbers of the columns drawn.
    stretch_ : float
        Length of an arrow, in units of the scores, per unit of a loading.

    References
    ----------
    Gabriel (1971), The biplot graphic display of matrices with application to principal component analysis, Biometrika 58.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.factor import PCA
    >>> from tacit.plot import BiplotDisplay
    >>> X, species = load_iris(return_X_y=True, as_frame=True)
    >>> display = BiplotDisplay.from_estimator(PCA(2).fit(X), X, groups=species)  # doctest: +SKIP
    """

    def __init__(
        self, scores: Any, loadings: Any, names: Iterable[str], *, groups: Any = None, titles: Sequence[str] = ("", ""),
        alpha: float = 0.0, max_arrows: int = 25,
    ) -> None:  # fmt: skip
        check_number("alpha", alpha, (int, float), 0, 1)
        check_number("max_arrows", max_arrows, (int, np.integer), 1)
        self.scores, self.loadings = np.asarray(scores, dtype=float), np.asarray(loadings, dtype=float)
        self.names, self.titles, self.alpha, self.max_arrows = list(names), list(titles), alpha, max_arrows
        self.groups = groups_of(groups, len(self.scores))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, groups: Any = None, components: Sequence[int] = (0, 1), alpha: float = 0.0,
        max_arrows: int = 25, feature_names: Sequence[str] | None = None, ax: Axes | None = None,
    ) -> Self:  # fmt: skip
        """Draw rows and columns in the plane of two components of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator
            With `components_` and `transform`, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), optional
        components : pair of int, default=(0, 1)
        alpha, max_arrows
            As in the class.
        feature_names : list of str, optional
            Default: those seen at fit.
        ax : matplotlib axes, optional

        Returns
        -------
        BiplotDisplay
        """
        loadings = loadings_of(estimator)
        pair = pair_of(components, loadings.shape[1])
        names = column_names(estimator, len(loadings), X, feature_names)
        return cls(
            scores_of(estimator, X)[:, pair], loadings[:, pair], names, groups=groups, titles=titles(estimator, pair),
            alpha=alpha, max_arrows=max_arrows,
        ).plot(ax)  # fmt: skip

    def _draw(self, ax: Axes) -> None:
        from .labels import spread_labels

        spread = self.scores.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        points, tips = self.scores / spread ** (1.0 - self.alpha), self.loadings / spread**self.alpha
        self.scatters_, handles = scatter_groups(ax, points, self.groups)
        self._arrows(points, tips)
        ax.axhline(0, color=MUTED, linewidth=0.6, zorder=0)
        ax.axvline(0, color=MUTED, linewidth=0.6, zorder=0)
        ax.set(xlabel=self.titles[0], ylabel=self.titles[1])
        ax.margins(0.14)
        ax.set_aspect("equal", adjustable="datalim")
        self._loading_axes()
        if handles:
            ax.legend(handles=handles, fontsize="small", loc="best")
        self.labels_ = spread_labels(
            ax, self.stretch_ * tips[self.shown_], [self.names[j] for j in self.shown_], color=DARK_ORANGE
        )

    def _arrows(self, points: np.ndarray, tips: np.ndarray) -> None:
        """Arrows from the middle, the longest about as far as the points reach."""
        lengths = np.linalg.norm(tips, axis=1)
        self.shown_ = np.sort(np.argsort(-lengths, kind="stable")[: self.max_arrows])
        distances = np.linalg.norm(points, axis=1)
        reach = max(np.quantile(distances, 0.98), 0.5 * distances.max())  # a few far rows must not dwarf the arrows
        self.stretch_ = float(reach / lengths.max()) if lengths.max() > 0 and reach > 0 else 1.0
        look = {"arrowstyle": "-|>", "color": DARK_ORANGE, "linewidth": 1.2, "mutation_scale": 9}
        look |= {"shrinkA": 0, "shrinkB": 0}
        self.arrows_ = [
            self.ax_.annotate("", self.stretch_ * tips[j], xytext=(0.0, 0.0), arrowprops=look) for j in self.shown_
        ]
        self.ax_.update_datalim(self.stretch_ * tips[self.shown_])

    def _loading_axes(self) -> None:
        """The scale of the arrows, above and on the right."""
        forth, back = partial(np.multiply, 1 / self.stretch_), partial(np.multiply, self.stretch_)  # these pickle
        for secondary in (
            self.ax_.secondary_xaxis("top", functions=(forth, back)),
            self.ax_.secondary_yaxis("right", functions=(forth, back)),
        ):
            secondary.tick_params(colors=DARK_ORANGE, labelsize="small")
            secondary.spines[:].set_color(DARK_ORANGE)
