"""Dissimilarities by name or as a function, and what they learn from rows."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics.pairwise import haversine_distances

from ...declared import SQUARES, Numbers, Spec, check_declared
from ...kernels import lazy
from ..scaling import column_variances
from .blocks import Dissimilarity
from .function import Function
from .gower import gower_parameters

__all__ = ["LEARNED", "METRICS", "learn_parameters", "make", "takes_nan"]

kernels = lazy("medoids")

ALIASES = {"l1": "cityblock", "manhattan": "cityblock", "l2": "euclidean", "matching": "hamming"}
SCIPY = (
    "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "dice", "euclidean", "hamming", "jaccard",
    "jensenshannon", "mahalanobis", "minkowski", "rogerstanimoto", "seuclidean", "sokalsneath", "sqeuclidean", "yule",
)  # fmt: skip
OF_BOOLEANS = ("dice", "jaccard", "rogerstanimoto", "sokalsneath", "yule")
METRICS = (*SCIPY, *ALIASES, "haversine", "nan_euclidean", "gower", "precomputed")
LEARNED: dict[Any, dict[str, Spec]] = {
    "gower": {
        "ranges": Numbers("d", low=0, beside=(np.nan,)),
        "asymmetric": Numbers("d", kind="b", needed=False),
        "weights": Numbers("d", low=0),
        "unknown": Numbers(low=0),
    },
    "nan_euclidean": {"unknown": Numbers(low=0)},
    "seuclidean": {"V": Numbers("d", above=0, high=SQUARES), "w": Numbers("d", low=0, needed=False)},
    "mahalanobis": {"VI": Numbers("d d", form="scatter", high=SQUARES)},
    "haversine": {},
    "precomputed": {},
}
"""What is declared of the parameters of metrics, which compiled code reads."""


class Named(Dissimilarity):
    """A dissimilarity of SciPy."""

    undefined = "it is not defined for them, or too large for a float; leave one of them out, or scale the columns"

    def __init__(self, name: str, parameters: dict):
        self.name, self.parameters = name, parameters
        self.label = repr(name)

    def between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        try:
            return np.maximum(cdist(A, B, self.name, **self.parameters), 0.0)  # rounding may fall below 0
        except TypeError as error:
            raise ValueError(f"metric_params={self.parameters!r} do not fit metric={self.name!r}: {error}.") from None


class Haversine(Named):
    """Angle between points on a sphere given by latitude and longitude in radians."""

    def between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return haversine_distances(A, B)


class NanEuclidean(Named):
    """Euclidean distance over the columns observed in both rows, scaled up to all columns.

    Rows without such a column are as far apart as two rows drawn at random: √(2 Σ variances), in the root mean square.
    """

    def between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        out = np.empty((len(A), len(B)))
        kernels.nan_euclidean(A, B, self.parameters["unknown"], out)
        return out


class Gower(Named):
    """Gower's dissimilarity: the mean over columns of |a − b| / range, or of 0 and 1 for categories.

    Asymmetric columns count where one of the two rows has what they tell. Rows without a column observed in both are as far
    apart as two rows drawn at random, in the mean.
    """

    def __init__(self, name: str, parameters: dict):
        super().__init__(name, parameters)
        ranges = parameters["ranges"]
        self.scale = np.where(
            np.isnan(ranges), -1.0, np.divide(1.0, ranges, where=ranges > 0, out=np.zeros(len(ranges)))
        )
        asymmetric = parameters.get("asymmetric", np.zeros(len(ranges), bool))
        self.asymmetric = np.flatnonzero(asymmetric & (parameters["weights"] > 0))

    def between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        out = np.empty((len(A), len(B)))
        weights = self.parameters["weights"]
        kernels.gower(A, B, self.scale, weights, self.parameters["unknown"], out)
        if len(self.asymmetric):  # what both rows lack was counted as a gap of 0
            counted = (~np.isnan(A) * weights) @ (~np.isnan(B)).T
            lacking = ((A[:, self.asymmetric] == 0) * weights[self.asymmetric]) @ (B[:, self.asymmetric] == 0).T
            rest = counted - lacking
            rest[rest <= 1e-12 * counted] = np.inf
            out *= np.where(counted > 0, counted / rest, 1.0)
        return out


def takes_nan(metric: str | Callable) -> bool:
    """Whether a metric may be given rows with missing cells."""
    return callable(metric) or metric in ("gower", "nan_euclidean")


def learn_parameters(
    metric: str | Callable, parameters: dict | None, X: np.ndarray, weight: np.ndarray, names: list | None = None,
    categories: Any = False,
) -> dict:  # fmt: skip
    """Parameters of a metric, completed by those that the rows tell; names and categories of columns are for Gower's."""
    parameters = dict(parameters or {})
    if callable(metric):
        return parameters
    if metric == "gower":
        return gower_parameters(parameters, X, weight, names, categories)
    if metric == "nan_euclidean":
        if parameters:
            raise ValueError(f"metric_params={parameters!r} do not fit metric='nan_euclidean', which takes none.")
        # How far apart two rows drawn at random are, in the root mean square.
        return {"unknown": float(np.sqrt(2.0 * column_variances(X, weight).sum()))}
    if metric in OF_BOOLEANS and not np.isin(X, (0.0, 1.0)).all():
        warnings.warn(
            f"metric={metric!r} compares booleans, and takes all cells of X but 0 as true; for measurements use 'euclidean', for "
            "tables 'gower'.",
            DataConversionWarning,
            stacklevel=4,
        )
    if metric == "minkowski" and not parameters.get("p", 2) > 0:
        raise ValueError(f"metric_params holds p={parameters['p']!r}, but metric='minkowski' needs p > 0.")
    if metric == "seuclidean" and "V" not in parameters:
        variance = np.diag(_covariance(X, weight))
        parameters["V"] = np.where(variance > 0, variance, 1.0)  # a constant column tells nothing
    if metric == "mahalanobis" and "VI" not in parameters:
        parameters["VI"] = np.linalg.pinv(_covariance(X, weight))
    if metric in LEARNED:
        parameters = {
            name: np.asarray(value, dtype=np.float64) if isinstance(value, (list, tuple)) else value
            for name, value in parameters.items()
        }
        try:
            check_declared(LEARNED[metric], parameters, {"d": X.shape[1]}, None, f"metric={metric!r}")
        except ValueError as error:
            raise ValueError(f"metric_params do not fit metric={metric!r}: {error}.") from None
    return parameters


def _covariance(X: np.ndarray, weight: np.ndarray) -> np.ndarray:
    gaps = X - np.average(X, axis=0, weights=weight)
    return np.atleast_2d((gaps * weight[:, None]).T @ gaps / max(weight.sum() - 1.0, 1.0)).astype(np.float64)


def make(metric: str | Callable, parameters: dict, sample: np.ndarray) -> Dissimilarity:
    """The dissimilarity of a name or a function with complete parameters; functions are tried on a sample of rows."""
    if callable(metric):
        return Function(metric, parameters, sample)
    name = ALIASES.get(metric, metric)
    kind = {"haversine": Haversine, "nan_euclidean": NanEuclidean, "gower": Gower}.get(name, Named)
    if name == "haversine" and parameters:
        raise ValueError(f"metric_params={parameters!r} do not fit metric={metric!r}, which takes none.")
    if name == "haversine" and sample.shape[1] != 2:
        raise ValueError(f"metric='haversine' takes 2 columns, latitude and longitude; X has {sample.shape[1]}.")
    return kind(name, parameters)
