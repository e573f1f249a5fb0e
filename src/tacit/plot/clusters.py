"""`ClustersDisplay`: rows in two columns, coloured by class, with ellipses of the components or centres of the clusters."""

import numpy as np

from ..checks import check_choice
from ..families import Categorical, Product
from .style import MARKERS, MUTED, axes, colours, column_names, imputed, levels_of, memory_rows

__all__ = ["ClustersDisplay"]


class ClustersDisplay:
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

    def __init__(self, points, classes, *, filled, means=None, covariances=None, names=("", ""), weights=None):
        self.points, self.classes, self.filled, self.weights = points, classes, filled, weights
        self.means, self.covariances, self.names = means, covariances, names
        self.n_classes = len(means) if means is not None else int(classes.max()) + 1

    @classmethod
    def from_estimator(cls, estimator, X, *, features=None, missing=None, ax=None):
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
        names = column_names(estimator, rows if not hasattr(X, "columns") else X)
        classes = np.asarray(labels_of(estimator, X)).astype(int)
        pair = _pair(features, names, rows, classes, levels_of(estimator, len(names)))
        incomplete = np.isnan(rows[:, pair]).any(axis=1)
        if incomplete.any() and (missing or ("impute" if hasattr(estimator, "impute") else "rug")) == "impute":
            rows, filled = imputed(estimator, X)[0], incomplete
        else:
            filled = np.zeros(len(rows), bool)
        means, covariances = _moments(estimator, pair)
        display = cls(
            rows[:, pair], classes, filled=filled, means=means, covariances=covariances, names=[names[j] for j in pair],
            weights=getattr(estimator, "weights_", None),
        )  # fmt: skip
        return display.plot(ax)

    def plot(self, ax=None):
        """Draw; returns self."""
        ax = axes(ax)
        self.ax_, self.figure_ = ax, ax.figure
        self.scatters_, self.ellipses_, self.rugs_, self.centers_ = [], [], [], []
        palette = colours(self.n_classes)
        for k, colour in enumerate(palette):
            self._scatter(k, colour)
            self._rug(k, colour)
            if self._is_shown(k) and self.covariances is not None:
                self._ellipses(k, colour)
            elif self._is_shown(k):
                self._center(k, colour)
        if (self.classes < 0).any():
            self._scatter(-1, MUTED)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        self._legend(palette)
        ax.autoscale_view()
        return self

    def _is_shown(self, k):
        """Whether a component has an ellipse: moments that are known, and rows or a weight that is worth one."""
        worth = self.weights is None or self.weights[k] * len(self.points) >= 0.5 or (self.classes == k).any()
        return self.means is not None and bool(worth)

    def _scatter(self, k, colour):
        marker = MARKERS[k % len(MARKERS)] if k >= 0 else "."
        size = float(np.clip(4000 / max(len(self.points), 1), 4, 28))
        for filled in (False, True):
            rows = (self.classes == k) & (self.filled == filled) & ~np.isnan(self.points).any(axis=1)
            if rows.any():
                face = {"facecolors": "none", "linewidths": 1.1} if filled else {"linewidths": 0}
                alpha = 1.0 if filled else 0.65
                look = {"edgecolors": [colour], **face} if filled else {"c": [colour], **face}
                self.scatters_.append(
                    self.ax_.scatter(*self.points[rows].T, s=size, marker=marker, alpha=alpha, **look)
                )

    def _rug(self, k, colour):
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

    def _ellipses(self, k, colour):
        from matplotlib.patches import Ellipse

        value, vector = np.linalg.eigh(self.covariances[k])
        angle = np.degrees(np.arctan2(vector[1, 1], vector[0, 1]))
        width, height = 2.0 * np.sqrt(value[::-1])
        for n_deviations, style in ((1, "-"), (2, "--")):
            ellipse = Ellipse(
                self.means[k], n_deviations * width, n_deviations * height, angle=angle, fill=False, edgecolor=colour,
                linestyle=style, linewidth=1.6,
            )  # fmt: skip
            self.ellipses_.append(self.ax_.add_patch(ellipse))

    def _center(self, k, colour):
        self.centers_ += self.ax_.plot(
            *self.means[k], "P", color=colour, markersize=11, markeredgecolor="white", markeredgewidth=1.2, zorder=4
        )

    def _legend(self, palette):
        from matplotlib.lines import Line2D

        shown = [k for k in range(self.n_classes) if (self.classes == k).any() or self._is_shown(k)]
        handles = [
            Line2D([], [], color=palette[k], marker=MARKERS[k % len(MARKERS)], linestyle="none", label=f"class {k}")
            for k in shown
        ]
        if (self.classes < 0).any():
            handles.append(Line2D([], [], color=MUTED, marker=".", linestyle="none", label="noise"))
        if self.filled.any():
            handles.append(
                Line2D([], [], color=MUTED, marker="o", fillstyle="none", linestyle="none", label="a cell imputed")
            )
        if self.rugs_:
            handles.append(Line2D([], [], color=MUTED, marker="|", linestyle="none", label="other cell missing"))
        if self.centers_:
            handles.append(Line2D([], [], color=MUTED, marker="P", linestyle="none", markersize=9, label="centre"))
        if self.ellipses_:
            handles.append(Line2D([], [], color=MUTED, linestyle="-", label="1 standard deviation"))
            handles.append(Line2D([], [], color=MUTED, linestyle="--", label="2 standard deviations"))
        crowded = len(handles) > 8
        place = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5)} if crowded else {"loc": "best"}
        self.ax_.legend(handles=handles, fontsize="small", **place)


def _pair(features, names, X, classes, levels):
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


def _discriminating(X, classes):
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


def _moments(estimator, pair):
    """Means and covariances of the components in two columns; none where a family does not say."""
    if hasattr(estimator, "cluster_centers_") or not hasattr(estimator, "_model"):
        centers = getattr(estimator, "cluster_centers_", None)
        return (None if centers is None else centers[:, pair]), None
    return _family_moments(estimator._model().family, estimator._params().components, pair)


def _family_moments(family, components, pair):
    if isinstance(family, Product):
        return _product_moments(family, components, pair)
    if hasattr(components, "dense"):
        return components.mean[:, pair], components.dense[:, pair][:, :, pair]
    try:
        mean, variance = family.mean(components), family.variance(components)
    except NotImplementedError:
        return None, None
    return mean[:, pair], variance[:, pair][:, :, None] * np.eye(len(pair))


def _product_moments(family, components, pair):
    """Columns of one part may depend on each other; those of different parts do not."""
    homes = [next(i for i, (_, columns) in enumerate(family.parts) if j in columns) for j in pair]
    found = []
    for home in dict.fromkeys(homes):
        part, columns = family.parts[home]
        if isinstance(part, Categorical):
            return None, None
        inside = [columns.index(j) for j, where in zip(pair, homes) if where == home]
        found.append(_family_moments(part, components.parts[home], inside))
    if len(found) == 1 or found[0][0] is None:
        return found[0]
    (mean, square), (other, other_square) = found
    both = np.zeros((len(mean), 2, 2))
    both[:, :1, :1], both[:, 1:, 1:] = square, other_square
    return np.hstack([mean, other]), both
