"""`KNeighborsClassifier` and `RadiusNeighborsClassifier`: classes that neighbours vote for.

p(c | q) = Σ_i w_i [y_i = c] / Σ_i w_i over the neighbours i of q
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..base.settings import settings
from ..base.supervised import coded_classes
from ..checks import as_numpy
from ..declared import Either, Label, Listed, Names, Numbers, Spec
from ..source.threads import slices
from .estimator import NeighborsEstimator
from .queries import KNeighbors, RadiusNeighbors
from .votes import check_weights, weights_of, weights_within

__all__ = ["KNeighborsClassifier", "RadiusNeighborsClassifier"]


@dataclass(frozen=True)
class _Classes(Spec):
    """The classes of one of several targets."""

    def examine(self, name: str, value: Any, sizes: dict[str, int], owner: Any) -> None:
        Names("K", labels=True).examine(name, value, {}, owner)


class VotingNeighbors(ClassifierMixin, NeighborsEstimator):
    """Base of classifiers by neighbours, of one target or several."""

    weights: Any
    classes_: Any
    _needs = ("metric", "weights")
    _saved = NeighborsEstimator._saved | {
        "classes_": Either(Names("K", labels=True), Listed(_Classes())),
        "_y": Numbers("n o", low=0, kind="i"),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = tags.target_tags.multi_output = True
        return tags

    def _check_settings(self) -> None:
        super()._check_settings()
        check_weights(self.weights)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        lists = self._class_lists()
        if self._y.shape[1] != len(lists) or any(codes.max() >= len(each) for codes, each in zip(self._y.T, lists)):
            raise ValueError("'_y' does not hold numbers of 'classes_'")

    @property
    def outputs_2d_(self) -> bool:
        """Whether there are several targets."""
        return isinstance(self.classes_, list)

    def _class_lists(self) -> list[np.ndarray]:
        return self.classes_ if self.outputs_2d_ else [self.classes_]

    def _learn(self, X: Any, y: Any) -> Self:
        """Keep the rows and their classes."""
        self._check_settings()
        given = y if y is None else y.toarray() if hasattr(y, "toarray") else np.asarray(as_numpy(y))
        if given is not None and given.ndim == 2 and given.shape[1] > 1:
            lists, codes = zip(*(coded_classes(self, column) for column in given.T))
            self.classes_, self._y = list(lists), np.column_stack(codes)
        else:
            self.classes_, codes = coded_classes(self, given)
            self._y = codes[:, None]
        self._fit(X)
        check_lengths(self, len(self._y))
        return self

    def _votes(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How many neighbours each query has, their numbers and weights."""
        raise NotImplementedError(f"{type(self).__name__} does not define _votes.")

    def _shares(self, X: Any, function: Callable[[np.ndarray, int], np.ndarray]) -> list[np.ndarray]:
        """function(Σ w of every class (queries, classes), target) of blocks of queries, put together for each target."""
        check_is_fitted(self)
        count, indices, weight = self._votes(X)
        starts, found = np.concatenate([[0], np.cumsum(count)]), []
        for target, classes in enumerate(self._class_lists()):
            codes, n_classes, parts = self._y[:, target], len(classes), []
            for here in slices(len(count), n_classes):
                mine = slice(starts[here.start], starts[here.stop])
                owner = np.repeat(np.arange(here.stop - here.start), count[here])
                cells = np.bincount(
                    owner * n_classes + codes[indices[mine]], weight[mine], (here.stop - here.start) * n_classes
                )
                parts.append(function(cells.reshape(-1, n_classes), target))
            found.append(np.concatenate(parts))
        return found

    def predict(self, X: Any) -> np.ndarray:
        """The class that neighbours vote for, of several the first.

        Parameters
        ----------
        X
            As in :meth:`NearestNeighbors.fit`; None predicts the rows of the fit, each from the others.

        Returns
        -------
        ndarray of shape (n_queries,) or (n_queries, n_outputs)
        """
        codes = self._shares(X, lambda shares, target: np.argmax(shares, axis=1))
        found = [classes[each] for classes, each in zip(self._class_lists(), codes)]
        return np.stack(found, axis=1) if self.outputs_2d_ else found[0]

    def predict_proba(self, X: Any) -> Any:
        """Weights of the neighbours of each class, as shares.

        Parameters
        ----------
        X
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n_queries, n_classes), or a list of them for several targets
        """
        found = self._shares(X, lambda shares, target: shares / shares.sum(axis=1, keepdims=True))
        return found if self.outputs_2d_ else found[0]


def check_lengths(model: Any, n_targets: int) -> None:
    """Raise where there are not as many targets as rows."""
    if n_targets != model.n_samples_fit_:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {model.n_samples_fit_} rows and y {n_targets}; "
            f"{type(model).__name__} takes one target for each row."
        )


@settings
class KNeighborsClassifier(VotingNeighbors, KNeighbors):
    """Classify by the classes of the nearest rows.

    Takes the place of :class:`sklearn.neighbors.KNeighborsClassifier`; see :class:`NearestNeighbors` for metrics and searches.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows vote.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        What a vote counts: the same for all, 1 / distance, or what a function of an array of distances gives.
    algorithm, leaf_size, metric, p, metric_params, n_buoys, n_jobs
        As in :class:`NearestNeighbors`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them for several targets
        Classes in their order.
    outputs_2d_ : bool
        Whether there are several targets.
    effective_metric_, effective_metric_params_, n_samples_fit_, n_distances_, n_distances_fit_, n_features_in_, feature_names_in_
        As in :class:`NearestNeighbors`.

    References
    ----------
    T. Cover and P. Hart, *Nearest neighbor pattern classification*, IEEE Transactions on Information Theory 13 (1967).

    Examples
    --------
    >>> from tacit.neighbors import KNeighborsClassifier
    >>> model = KNeighborsClassifier(3).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> model.predict([[1.1]]).tolist(), model.predict_proba([[0.9]]).round(2).tolist()
    (['a'], [[0.67, 0.33]])
    """

    weights: Any = "uniform"

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows and their classes.

        Parameters
        ----------
        X
            As in :meth:`NearestNeighbors.fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Classes.

        Returns
        -------
        self
        """
        return self._learn(X, y)

    def _votes(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        distances, indices, everyone = self._givers(X)
        weight = weights_of(distances, self.weights)
        if not everyone:
            return np.full(len(indices), indices.shape[1]), indices.ravel(), weight.ravel()
        rows = [everyone.get(q, near) for q, near in enumerate(indices)]
        weights = [np.ones(len(everyone[q])) if q in everyone else each for q, each in enumerate(weight)]
        return np.array([len(each) for each in rows]), np.concatenate(rows), np.concatenate(weights)


@settings
class RadiusNeighborsClassifier(VotingNeighbors, RadiusNeighbors):
    """Classify by the classes of all rows within a radius.

    Takes the place of :class:`sklearn.neighbors.RadiusNeighborsClassifier`.

    Parameters
    ----------
    radius : float, default=1.0
        Up to which distance rows vote.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        As in :class:`KNeighborsClassifier`; a function is given an array of arrays.
    outlier_label : label, list of labels, "most_frequent" or None, default=None
        What queries without neighbours are; None refuses them.
    algorithm, leaf_size, metric, p, metric_params, n_buoys, n_jobs
        As in :class:`NearestNeighbors`.

    Attributes
    ----------
    classes_, outputs_2d_
        As in :class:`KNeighborsClassifier`.
    outlier_label_ : list
        What queries without neighbours are, of every target; None where they are refused.
    effective_metric_, effective_metric_params_, n_samples_fit_, n_distances_, n_distances_fit_, n_features_in_, feature_names_in_
        As in :class:`NearestNeighbors`.

    Examples
    --------
    >>> from tacit.neighbors import RadiusNeighborsClassifier
    >>> model = RadiusNeighborsClassifier(1.0, outlier_label="far").fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    >>> model.predict([[0.5], [9.0]]).tolist()
    ['a', 'far']
    """

    weights: Any = "uniform"
    outlier_label: Any = None

    _saved = VotingNeighbors._saved | {"outlier_label_": Listed(Label(optional=True))}

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows and their classes; see :meth:`KNeighborsClassifier.fit`."""
        self._learn(X, y)
        self.outlier_label_ = self._outlier_labels()
        return self

    def _outlier_labels(self) -> list:
        """The label of queries without neighbours, of every target."""
        lists, asked = self._class_lists(), self.outlier_label
        if asked is None:
            return [None] * len(lists)
        if isinstance(asked, str) and asked == "most_frequent":
            return [classes[np.bincount(codes).argmax()] for classes, codes in zip(lists, self._y.T)]
        if not self.outputs_2d_ or isinstance(asked, str) or not hasattr(asked, "__len__"):
            labels = [asked] * len(lists)
        else:
            labels = list(asked)
            if len(labels) != len(lists):
                raise ValueError(
                    f"The length of outlier_label: {labels!r} is inconsistent with the {len(lists)} targets; give one label for "
                    "each."
                )
        for classes, label in zip(lists, labels):
            if not np.isscalar(label):
                raise TypeError(f"The outlier_label of classes {classes} is supposed to be a scalar, got {label!r}.")
            if (
                not np.can_cast(np.asarray(label).dtype, classes.dtype, casting="same_kind")
                and classes.dtype.kind != "O"
            ):
                raise TypeError(f"The dtype of outlier_label {label!r} is inconsistent with classes {classes} in y.")
        return labels

    def _votes(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        count, indices, distances = self._within(X)
        alone = np.flatnonzero(count == 0)
        if len(alone) and self.outlier_label_[0] is None:
            raise ValueError(
                f"No neighbors found for test samples {alone!r}, you can try using larger radius, giving a label for outliers, "
                "or "
                "considering removing them from your dataset."
            )
        return count, indices, weights_within(count, distances, self.weights)

    def predict(self, X: Any) -> np.ndarray:
        """As in :meth:`KNeighborsClassifier.predict`; queries without neighbours get `outlier_label_`."""
        found = []
        codes = self._shares(X, lambda shares, target: np.where(shares.any(axis=1), np.argmax(shares, axis=1), -1))
        for classes, label, each in zip(self._class_lists(), self.outlier_label_, codes):
            labels = classes if label is None else np.append(classes, np.asarray([label], dtype=_wide(classes, label)))
            found.append(labels[each])  # −1 is the last
        return np.stack(found, axis=1) if self.outputs_2d_ else found[0]

    def predict_proba(self, X: Any) -> Any:
        """As in :meth:`KNeighborsClassifier.predict_proba`; where there are no neighbours, `outlier_label_` has all."""

        def shares_of(shares: np.ndarray, target: int) -> np.ndarray:
            alone = ~shares.any(axis=1)
            total = np.where(alone, 1.0, shares.sum(axis=1))
            out = shares / total[:, None]
            place = np.flatnonzero(self._class_lists()[target] == self.outlier_label_[target])
            if alone.any() and len(place):
                out[alone, place[0]] = 1.0
            elif alone.any():
                warnings.warn(
                    f"Outlier label {self.outlier_label_[target]} is not in training classes. All class probabilities of "
                    "outliers will "
                    "be assigned with 0.",
                    UserWarning,
                    stacklevel=4,
                )
            return out

        found = self._shares(X, shares_of)
        return found if self.outputs_2d_ else found[0]


def _wide(classes: np.ndarray, label: Any) -> Any:
    """A type that holds the classes and the label."""
    return object if classes.dtype.kind == "O" else np.result_type(classes.dtype, np.asarray(label).dtype)
