"""Dissimilarities as searches need them: distances of points, and values alone, some of which keep the triangle inequality.

    d(x, y) = f(Σ_j |z(x)_j − z(y)_j|^p)

Minkowski's distances, weighted or not, and those of standardised, whitened and normalised rows are distances of points z(x): they
are searched by products of matrices and by trees. All others are known by their values alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..cluster.dissimilarity.blocks import Dissimilarity
from ..cluster.dissimilarity.function import Function
from ..cluster.dissimilarity.metrics import METRICS, make
from ..kernels import lazy

__all__ = ["NAMES", "Metric", "Points", "canonical", "make_metric"]

compiled = lazy("compiled")
kernels = lazy("nearest")
texts = lazy("edit")

ALIASES = {
    "infinity": "chebyshev", "l1": "manhattan", "cityblock": "manhattan", "l2": "euclidean", "levenshtein": "edit",
    "p": "minkowski",
}  # fmt: skip
NAMES = (*METRICS, "edit", "infinity", "levenshtein", "p", "russellrao")
MEASURED = {"ManhattanDistance": "manhattan", "EuclideanDistance": "euclidean", "ChebyshevDistance": "chebyshev"}
"""Distances of points among scikit-learn's."""
TRIANGLE = ("canberra", "hamming", "haversine", "jaccard", "jensenshannon", "matching", "rogerstanimoto")
"""Dissimilarities, besides those of points and the edit distance, that keep the triangle inequality."""
PATIENCE = 0.5
"""Seconds that a function may take in Python before it is compiled, which takes about as long."""


class Metric(Dissimilarity):
    """A dissimilarity; `points` makes of rows what `between` takes."""

    p: float | None = None  # of points
    triangle: bool | None = None  # whether it keeps the triangle inequality; None where nobody knows
    slack = 1e-12  # share of the longest distance by which rounding may break it

    def points(self, X: Any) -> np.ndarray:
        """Rows as they are compared."""
        return X

    def prepare(self, n_pairs: int) -> None:
        """Be told how many values are wanted next."""

    def check(self, X: np.ndarray) -> None:
        """Raise where it is not symmetric, as far as a few rows show."""


class Points(Metric):
    """A distance of points."""

    p: float
    undefined = "it is too large for a float; divide the columns by their scale"

    def __init__(self, label: str, p: float, place: Callable = np.asarray, finish: str = "root"):
        self.label, self.p, self._place, self._finish = repr(label), float(p), place, finish
        self.triangle = p >= 1 and finish == "root"

    def points(self, X: Any) -> np.ndarray:
        return np.ascontiguousarray(self._place(X))

    def finish(self, sums: np.ndarray) -> np.ndarray:
        """Distances, of sums of powers."""
        if self._finish != "root" or self.p in (1.0, np.inf):
            return 0.5 * sums if self._finish == "half" else sums
        return np.sqrt(sums) if self.p == 2.0 else sums ** (1.0 / self.p)

    def most(self, radius: np.ndarray) -> np.ndarray:
        """A sum of powers that no distance up to a radius exceeds."""
        if self._finish != "root" or self.p in (1.0, np.inf):
            return radius * (2.0 if self._finish == "half" else 1.0) * (1.0 + 1e-12)
        return radius**self.p * (1.0 + 1e-9)

    def between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        out = np.empty((len(A), len(B)))
        kernels.power_sums(A, np.ascontiguousarray(B.T), self.p, out)
        return self.finish(out)


class Valued(Metric):
    """Any other dissimilarity of `tacit.cluster`."""

    def __init__(self, of: Dissimilarity, triangle: bool | None = False):
        self.of, self.label, self.undefined, self.triangle = of, of.label, of.undefined, triangle

    def between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return self.of.between(A, B)


class Edits(Metric):
    """The edit distance of texts, which are rows of codes, −1 where they have ended."""

    label, undefined, triangle, slack = "'edit'", "", True, 0.0

    def between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        out = np.empty((len(A), len(B)))
        texts.edit_distances(A, B, (A >= 0).sum(axis=1), (B >= 0).sum(axis=1), out)
        return out


class Spoken(Metric):
    """A function that the user wrote: called from Python while that takes no longer than compiling it would."""

    undefined = Function.undefined

    def __init__(self, function: Callable, parameters: dict, sample: np.ndarray):
        self.label, self.threads = repr(function), False
        self._made_of = function, parameters, sample
        self._python = compiled.python_pairs(function, parameters)[0]
        self._compiled: Function | None = None
        few = sample[:4]
        begin = time.perf_counter()
        self.between(few, few)
        self.cost = (time.perf_counter() - begin) / max(len(few), 1) ** 2
        self._waited = 0.0

    @property
    def note(self) -> str:
        return "called from Python, since that was quick enough" if self._compiled is None else self._compiled.note

    def prepare(self, n_pairs: int) -> None:
        self._waited += n_pairs * self.cost
        if self._compiled is None and self._waited > PATIENCE:
            self._compiled = Function(*self._made_of)
            self.threads = self._compiled.threads

    def check(self, X: np.ndarray) -> None:
        self.prepare(1600)
        (self._compiled or Function(*self._made_of)).check(X)

    def between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        if self._compiled is not None:
            return self._compiled.between(A, B)
        out = np.empty((len(A), len(B)))
        self._python(A, B, (), out)
        return out


class Measured(Metric):
    """A `DistanceMetric` of scikit-learn."""

    undefined = "a dissimilarity must be a finite number"

    def __init__(self, of: Any):
        self.of, self.label = of, repr(of)

    def between(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.asarray(self.of.pairwise(A, B), dtype=np.float64)


def canonical(metric: Any, parameters: dict) -> tuple[Any, dict]:
    """A metric by its usual name, with the parameters it has by that name: Minkowski's distance of power 2 is Euclid's."""
    if not isinstance(metric, str):
        return metric, dict(parameters)
    name, parameters = ALIASES.get(metric, metric), dict(parameters)
    if name == "minkowski" and parameters.get("w") is None:
        p = parameters.get("p", 2)
        short = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}.get(p)
        return (short, {}) if short else (name, {"p": p})
    return name, parameters


def make_metric(metric: Any, parameters: dict, sample: np.ndarray) -> Metric:
    """The dissimilarity of a name, function or `DistanceMetric` with complete parameters; `sample` are rows of it."""
    name, given = canonical(metric, parameters)
    if not isinstance(name, str):
        if callable(name):
            return Spoken(name, given, sample)
        name = MEASURED.get(type(name).__name__.rstrip("3264"), name)
        if not isinstance(name, str):
            return Measured(name)
    if name == "edit":
        return Edits()
    p = {"manhattan": 1, "euclidean": 2, "sqeuclidean": 2, "chebyshev": np.inf}.get(name, given.get("p", 2))
    place = PLACES.get(name)
    if place is not None:
        found = place(sample.shape[1], p, **{key: value for key, value in given.items() if key != "p"})
        if found is not None:
            return Points(name, p, found, FINISH.get(name, "root"))
    return Valued(make(name, given, sample), name in TRIANGLE)


# Where the points of rows lie, given the number of columns, p and the parameters; None where the parameters do not tell.


def _as_given(d: int, p: float, w: Any = None) -> Callable | None:
    if w is None:
        return np.asarray
    w = np.asarray(w, dtype=np.float64)
    if w.shape != (d,) or not (w >= 0).all() or np.isinf(w).any():
        raise ValueError(f"metric_params['w']={w.tolist()} must be {d} numbers, one for each column, none negative.")
    factor = w if p == np.inf else w ** (1.0 / p)
    return lambda X: X * factor


def _standardised(d: int, p: float, V: Any = None, w: Any = None) -> Callable | None:
    return None if V is None or w is not None else lambda X: X / np.sqrt(V)


def _whitened(d: int, p: float, VI: Any = None, V: Any = None) -> Callable | None:
    """Rows turned and scaled such that (x − y)ᵀ VI (x − y) is their squared distance."""
    if VI is None or V is not None:
        return None
    values, axes = np.linalg.eigh(0.5 * (np.asarray(VI) + np.asarray(VI).T))
    if values.min() < -1e-10 * values.max():
        return None
    factor = axes * np.sqrt(np.maximum(values, 0.0))
    return lambda X: X @ factor


def _normalised(d: int, p: float) -> Callable:
    """Rows of length 1; a row of zeros is at a right angle to all others."""

    def place(X: np.ndarray) -> np.ndarray:
        length = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
        unit = np.asarray(X, dtype=np.float64) / np.where(length > 0, length, 1.0)[:, None]
        return np.hstack([unit, (length == 0)[:, None]])

    return place


def _centred(d: int, p: float) -> Callable:
    normalised = _normalised(d, p)
    return lambda X: normalised(X - X.mean(axis=1, keepdims=True))


PLACES: dict[str, Callable] = {
    "manhattan": _as_given, "euclidean": _as_given, "chebyshev": _as_given, "minkowski": _as_given, "sqeuclidean": _as_given,
    "seuclidean": _standardised, "mahalanobis": _whitened, "cosine": _normalised, "correlation": _centred,
}  # fmt: skip
FINISH = {"sqeuclidean": "square", "cosine": "half", "correlation": "half"}
