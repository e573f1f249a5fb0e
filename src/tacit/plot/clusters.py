"""`ClustersDisplay`: rows in two columns, coloured by class, with ellipses of the components or centres of the clusters."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..checks import check_choice
from ..families import Categorical, Family, Product
from .display import Display
from .rows import column_names, imputed, levels_of, memory_rows
from .style import MARKERS, MUTED, Axes, colours, ellipse, key, scatter_rows

__all__ = ["ClustersDisplay"]

Moments = tuple[np.ndarray | None, np.ndarray | None]


class ClustersDisplay(Display):
    """Rows in two columns, coloured by class; ellipses show each component at one and two standard deviations.

    Clusters without a distribution (`KMeans`, `KMedoids` …) have a cross at their centre instead.

    Parameters
    ----------
    points : (rows, 2) array
        The two columns; missing cells are NaN, or filled where `filled` says so.
    classes : (rows,) int array
        Class of each row; −1 for noise.
    filled : (rows,) bool array
        Rows of which a cell was imputed; they are drawn hollow.
    means, covariances : (classes, 2) and (classes, 2, 2) arrays, optional
        Moments of the components in the two columns; means alone are drawn as crosses.
    names : (str, str)
        Names of the columns.
    weights : (classes,) array, optional
        Shares of the components; one that is worth no row is left out.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    scatters_ : list of artists
        One per class that has rows, and one more per class that has imputed rows.
    ellipses_ : list of artists
        Two per component.
    centers_ : list of artists
        Crosses at the centres of clusters that have no covariances.
    rugs_ : list of artists
        Marks at the observed cell of rows of which the other is missing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.mixture import GaussianMixture
    >>> from tacit.plot import ClustersDisplay
    >>> X = load_iris(as_frame=True).data
    >>> fitted = GaussianMixture(3, random_state=0).fit(X)
    >>> display = ClustersDisplay.from_estimator(fitted, X, features=[2, 3])  # doctest: +SKIP
    """

    def __init__(
        self, points: np.ndarray, classes: np.ndarray, *, filled: np.ndarray, means: np.ndarray | None = None,
        covariances: np.ndarray | None = None, names: Sequence[str] = ("", ""), weights: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.points, self.classes, self.filled, self.weights = points, classes, filled, weights
        self.means, self.covariances, self.names = means, covariances, names
        self.n_classes = len(means) if means is not None else int(classes.max()) + 1

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, features: Any = None, missing: str | None = None, ax: Axes | None = None
    ) -> Self:
        """Draw the classes of a fitted mixture or clusterer.

        Parameters
        ----------
        estimator : fitted mixture or clusterer
        X : array-like of shape (n_samples, n_features)
            Rows; NaN is missing.
        features : pair of int or str, or "discriminating", optional
            Which two columns; default the first two. "discriminating" takes those whose class means differ most, relative to
            the spread within classes.
        missing : {"impute", "rug"}, optional
            Draw missing cells at their expectation, hollow, or leave them out and mark the cell that is observed on its
            axis. Default: the former where the estimator can.
        ax : matplotlib axes, optional

        Returns
        -------
        ClustersDisplay
        """
        from ..cluster.report.labelled import labels_of

        estimator = getattr(estimator, "mixture_", estimator)  # of a classifier
        rows = memory_rows(estimator, X)
        check_choice("missing", missing, (None, "impute", "rug"))
        names = column_names(estimator, rows.shape[1], X)
        classes = np.asarray(labels_of(estimator, X)).astype(int)
        pair = _pair(features, names, rows, classes, levels_of(estimator, len(names)))
        incomplete = np.isnan(rows[:, pair]).any(axis=1)
        if incomplete.any() and (missing or ("impute" if hasattr(estimator, "impute") else "rug")) == "impute":
            rows, filled = imputed(estimator, X)[0], incomplete
        else:
            filled = np.zeros(len(rows), bool)
        means, covariances = _moments(estimator, pair)
        return cls(
            rows[:, pair], classes, filled=filled, means=means, covariances=covariances, names=[names[j] for j in pair],
            weights=getattr(estimator, "weights_", None),
        ).plot(ax)  # fmt: skip

    def _draw(self, ax: Axes) -> None:
        self.scatters_: list = []
        self.ellipses_: list = []
        self.rugs_: list = []
        self.centers_: list = []
        palette = colours(self.n_classes)
        for k, colour in enumerate(palette):
            self._scatter(k, colour)
            self._rug(k, colour)
            if self.means is None or not self._is_shown(k):
                continue
            if self.covariances is None:
                look: dict = {"markersize": 11, "markeredgecolor": "white", "markeredgewidth": 1.2, "zorder": 4}
                self.centers_ += ax.plot(*self.means[k], "P", color=colour, **look)
                continue
            for radius, style in ((1, "-"), (2, "--")):
                look = {"edgecolor": colour, "linestyle": style, "linewidth": 1.6}
                self.ellipses_.append(ellipse(ax, self.means[k], self.covariances[k], radius, **look))
        if (self.classes < 0).any():
            self._scatter(-1, MUTED)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        self._legend(palette)
        ax.autoscale_view()

    def _is_shown(self, k: int) -> bool:
        """Whether a component has an ellipse: moments that are known, and rows or a weight that is worth one."""
        worth = self.weights is None or self.weights[k] * len(self.points) >= 0.5 or (self.classes == k).any()
        return self.means is not None and bool(worth)

    def _scatter(self, k: int, colour: Any) -> None:
        marker = MARKERS[k % len(MARKERS)] if k >= 0 else "."
        rows = (self.classes == k) & ~np.isnan(self.points).any(axis=1)
        self.scatters_ += scatter_rows(self.ax_, self.points[rows], self.filled[rows], colour, marker, len(self.points))

    def _rug(self, k: int, colour: Any) -> None:
        missing = np.isnan(self.points) & (self.classes == k)[:, None]
        for axis in (0, 1):
            at = self.points[missing[:, 1 - axis] & ~missing[:, axis], axis]
            if len(at):
                at_edge = np.zeros(len(at))
                place = (at, at_edge) if axis == 0 else (at_edge, at)
                along = self.ax_.get_xaxis_transform() if axis == 0 else self.ax_.get_yaxis_transform()
                marker = "|" if axis == 0 else "_"
                (rug,) = self.ax_.plot(
                    *place, marker, color=colour, transform=along, markersize=12, markeredgewidth=1.4, clip_on=False
                )
                self.rugs_.append(rug)

    def _legend(self, palette: list) -> None:
        shown = [k for k in range(self.n_classes) if (self.classes == k).any() or self._is_shown(k)]
        handles = [key(f"class {k}", palette[k], MARKERS[k % len(MARKERS)]) for k in shown]
        if (self.classes < 0).any():
            handles.append(key("noise", marker="."))
        if self.filled.any():
            handles.append(key("a cell imputed", marker="o", fillstyle="none"))
        if self.rugs_:
            handles.append(key("other cell missing", marker="|"))
        if self.centers_:
            handles.append(key("centre", marker="P", markersize=9))
        if self.ellipses_:
            handles += [key("1 standard deviation"), key("2 standard deviations", linestyle="--")]
        crowded = len(handles) > 8
        place = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5)} if crowded else {"loc": "best"}
        self.ax_.legend(handles=handles, fontsize="small", **place)


def _pair(features: Any, names: list[str], X: np.ndarray, classes: np.ndarray, levels: list[tuple]) -> list[int]:
    """Numbers of two columns; by default not of categories."""
    d = len(names)
    if d < 2:
        raise ValueError(f"ClustersDisplay shows two columns, but X has {d}; draw a histogram instead.")
    measured = [j for j in range(d) if not levels[j]]
    if len(measured) < 2 and (features is None or isinstance(features, str)):
        raise ValueError(
            f"ClustersDisplay shows two columns of numbers, but X has {len(measured)}; name two columns as features to draw "
            "the codes of categories."
        )
    if features is None:
        return measured[:2]
    if isinstance(features, str):
        check_choice("features", features, ("discriminating",))
        return [measured[j] for j in _discriminating(X[:, measured], classes)]
    pair = [names.index(each) if each in names else each for each in features]
    bad = [each for each in pair if not isinstance(each, (int, np.integer)) or not 0 <= each < d]
    if bad or len(pair) != 2:
        raise ValueError(
            f"features={features!r} are not two columns; use two of {', '.join(names)}, or numbers below {d}."
        )
    return [int(each) for each in pair]


def _discriminating(X: np.ndarray, classes: np.ndarray) -> list[int]:
    """The two columns of which the classes explain the largest share of variance, in their order."""
    total = np.nanvar(X, axis=0)
    within = np.zeros(X.shape[1])
    for k in np.unique(classes):
        rows = X[classes == k]
        seen = (~np.isnan(rows)).sum(axis=0)
        within += np.where(seen > 0, seen * np.nanvar(np.where(seen > 0, rows, 0.0), axis=0), 0.0)
    within /= np.maximum((~np.isnan(X)).sum(axis=0), 1)
    share = np.where(total > 0, within / np.where(total > 0, total, 1.0), 1.0)
    return sorted(np.argsort(share, kind="stable")[:2].tolist())


def _moments(estimator: Any, pair: list[int]) -> Moments:
    """Means and covariances of the components in two columns; none where a family does not say."""
    if hasattr(estimator, "cluster_centers_") or not hasattr(estimator, "_model"):
        centers = getattr(estimator, "cluster_centers_", None)
        return (None if centers is None else centers[:, pair]), None
    return _family_moments(estimator._family(), estimator._params().components, pair)


def _family_moments(family: Family, components: Any, pair: list[int]) -> Moments:
    if isinstance(family, Product):
        return _product_moments(family, components, pair)
    if hasattr(components, "dense"):
        return components.mean[:, pair], components.dense[:, pair][:, :, pair]
    try:
        mean, variance = family.mean(components), family.variance(components)
    except NotImplementedError:
        return None, None
    return mean[:, pair], variance[:, pair][:, :, None] * np.eye(len(pair))


def _product_moments(family: Product, components: Any, pair: list[int]) -> Moments:
    """Columns of one part may depend on each other; those of different parts do not."""
    homes = [next(i for i, (_, columns) in enumerate(family.parts) if j in columns) for j in pair]
    found = []
    for home in dict.fromkeys(homes):
        part, columns = family.parts[home]
        if isinstance(part, Categorical):
            return None, None
        inside = [columns.index(j) for j, where in zip(pair, homes) if where == home]
        found.append(_family_moments(part, components.parts[home], inside))
    if len(found) == 1:
        return found[0]
    (mean, square), (other, other_square) = found
    if mean is None or other is None:
        return None, None
    both = np.zeros((len(mean), 2, 2))
    both[:, :1, :1], both[:, 1:, 1:] = square, other_square
    return np.hstack([mean, other]), both
