"""`GateDisplay`: which expert answers where, and what it says, along one feature."""

import numbers
import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..checks import check_number
from .style import Axes, pyplot

__all__ = ["GateDisplay"]


class GateDisplay:
    """A mixture of experts along one feature: predictions above, the gate below.

    Above, the data, every expert's line (where the gate gives it weight), the predictive mean and the band that holds
    `coverage` of y; for a classifier, the probability of each class. Make it with `from_estimator`.

    Parameters
    ----------
    grid : ndarray of shape (n_points,)
        Values of the feature.
    gate : ndarray of shape (n_points, n_components)
        Probability of each expert.
    mean : ndarray of shape (n_points,) or (n_points, n_classes)
        Predictive mean, or the probabilities of the classes.
    band : ndarray of shape (n_points, 2), optional
        Lower and upper quantile of y.
    lines : ndarray of shape (n_points, n_components), optional
        Mean of y given the expert.
    points : tuple of two ndarrays, optional
        Feature and target of the rows.
    feature_name : str
    classes : ndarray of shape (n_classes,), optional

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure
    ax_ : matplotlib.axes.Axes
        Predictions.
    gate_ax_ : matplotlib.axes.Axes
        The gate.

    References
    ----------
    Jordan and Jacobs (1994), Hierarchical mixtures of experts and the EM algorithm.

    Examples
    --------
    >>> from tacit.datasets import load_giss
    >>> from tacit.mixture import MixtureOfExperts
    >>> from tacit.plot import GateDisplay
    >>> year, anomaly, _ = load_giss()
    >>> model = MixtureOfExperts(2, random_state=0).fit(year[:, None], anomaly[:, 0])
    >>> GateDisplay.from_estimator(model, year[:, None], anomaly[:, 0])  # doctest: +SKIP
    """

    def __init__(
        self, *, grid: np.ndarray, gate: np.ndarray, mean: np.ndarray, band: np.ndarray | None = None,
        lines: np.ndarray | None = None, points: tuple[np.ndarray, np.ndarray] | None = None, feature_name: str = "x",
        classes: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        self.grid, self.gate, self.mean, self.band, self.lines = grid, gate, mean, band, lines
        self.points, self.feature_name, self.classes = points, feature_name, classes

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, feature: int | str = 0, coverage: float = 0.9, n_points: int = 200,
        axes: Sequence[Axes] | None = None,
    ) -> Self:  # fmt: skip
        """Draw a fitted mixture of experts along one feature, the others held at their means.

        Parameters
        ----------
        estimator : MixtureOfExperts or MixtureOfExpertsClassifier
            Fitted, with one target.
        X : array-like of shape (n_samples, n_features)
            Rows whose range is drawn.
        y : array-like of shape (n_samples,), optional
            Targets, drawn as points.
        feature : int or str, default=0
            Number or name of the feature.
        coverage : float, default=0.9
            Share of y that the band holds.
        n_points : int, default=200
            Points of the grid.
        axes : sequence of two matplotlib axes, optional
            Where to draw predictions and gate; a new figure by default.

        Returns
        -------
        GateDisplay
        """
        if not hasattr(estimator, "predict_gate"):
            raise TypeError(
                f"{type(estimator).__name__} has no gate; use MixtureOfExperts or MixtureOfExpertsClassifier."
            )
        check_is_fitted(estimator)
        check_number("coverage", coverage, numbers.Real, 0.01, 0.999)
        check_number("n_points", n_points, numbers.Integral, 2)
        j, name = _feature(estimator, feature)
        X = estimator._validate(X, reset=False)
        rows = np.repeat(X.mean(axis=0)[None], n_points, axis=0)
        rows[:, j] = np.linspace(X[:, j].min(), X[:, j].max(), n_points)
        points = None if y is None or hasattr(estimator, "classes_") else (X[:, j], np.asarray(y, dtype=float).ravel())
        parts = _predictions(estimator, rows, coverage)
        return cls(grid=rows[:, j], feature_name=name, points=points, **parts).plot(axes)

    def plot(self, axes: Sequence[Axes] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        axes : sequence of two matplotlib axes, optional
            Where to draw predictions and gate; a new figure by default.

        Returns
        -------
        GateDisplay
        """
        if axes is None:
            _, axes = pyplot().subplots(2, 1, sharex=True, height_ratios=(3, 1), layout="constrained")
        self.ax_: Axes
        self.gate_ax_: Axes
        self.ax_, self.gate_ax_ = axes
        self.figure_ = self.ax_.figure
        if self.classes is None:
            self._draw_lines()
        else:
            for c, label in enumerate(self.classes):
                self.ax_.plot(self.grid, self.mean[:, c], label=f"class {label}")
            self.ax_.set_ylabel("probability of the class")
        for k, share in enumerate(self.gate.T):
            self.gate_ax_.plot(self.grid, share, color=f"C{k}", label=f"expert {k}")
        self.gate_ax_.set(xlabel=self.feature_name, ylabel="gate", ylim=(-0.05, 1.05))
        self.ax_.legend()
        return self

    def _draw_lines(self) -> None:
        if self.points is not None:
            self.ax_.plot(*self.points, ".", color="grey", alpha=0.6)
        if self.band is not None:
            self.ax_.fill_between(self.grid, *self.band.T, color="black", alpha=0.1, linewidth=0)
        self.ax_.plot(self.grid, self.mean, color="black", label="mean")
        for k, line in enumerate(() if self.lines is None else self.lines.T):
            # An expert has nothing to say where the gate gives it no weight.
            heard = np.where(self.gate[:, k] > 0.01, line, np.nan)
            self.ax_.plot(self.grid, heard, "--", color=f"C{k}", label=f"expert {k}")
        self.ax_.set_ylabel("y")


def _predictions(estimator: Any, rows: np.ndarray, coverage: float) -> dict[str, Any]:
    """What the estimator says of the rows of the grid, by the names that `GateDisplay` gives it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")  # the grid has none
        parts = {"gate": estimator.predict_gate(rows)}
        if hasattr(estimator, "classes_"):
            return parts | {"mean": estimator.predict_proba(rows), "classes": estimator.classes_}
        if estimator.coef_.ndim > 2:
            raise ValueError(f"the estimator has {estimator.coef_.shape[1]} targets; fit one to draw it.")
        band = estimator.quantile(rows, [(1 - coverage) / 2, (1 + coverage) / 2])
        return parts | {"mean": estimator.predict(rows), "band": band, "lines": estimator.predict_experts(rows)}


def _feature(estimator: Any, feature: int | str) -> tuple[int, str]:
    """The number and the name of a feature."""
    names = list(getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(estimator.n_features_in_)]))
    if isinstance(feature, str) and feature in names:
        return names.index(feature), feature
    if isinstance(feature, numbers.Integral) and int(feature) in range(len(names)):
        return int(feature), str(names[feature])
    raise ValueError(
        f"feature={feature!r} is none of the {len(names)} features; use {', '.join(map(str, names))} or a number."
    )
