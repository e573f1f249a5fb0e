"""Kernels of machines by their settings: named ones, matrices that are given, and functions that the user wrote."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..factor.kernel.checks import check_finite
from ..factor.kernel.function import Kernel
from ..kernels import lazy
from ..pairs import Pairs
from ..source.threads import all_of, slices, thread_count
from .gram import CODES, Gram, gram_of_matrix, gram_of_rows

__all__ = ["GivenKernel", "NamedKernel", "WrittenKernel", "dense_if_small"]

kernel_rows = lazy("kernel_rows")

WHOLE = 1500
"""Rows up to which the whole matrix is made at once."""
SMALL = 1 << 22
"""Cells of sparse rows up to which they are made dense for that."""
SPLIT = 1 << 22
"""Pairs of rows from which predictions run on threads."""


def dense_if_small(X: Any) -> Any:
    """Sparse rows as dense ones where they are few: BLAS is faster, and both kinds then learn the same to the last digit."""
    return X.toarray() if sparse.issparse(X) and X.shape[0] * X.shape[1] <= SMALL else X


class NamedKernel:
    """A linear, polynomial, Gaussian or sigmoid kernel of rows."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def matrix(self, X: Any) -> np.ndarray:
        """All pairs of rows."""
        X = dense_if_small(X)
        kernel = self.kernel
        if kernel.rule == "rbf" and not sparse.issparse(X) and kernel.origin is None:
            kernel = replace(kernel, origin=X.mean(axis=0))
        rows = kernel.rows(X)
        if kernel.rule == "linear" or sparse.issparse(X) or kernel._rounds(rows, rows):
            K = kernel.block(rows, rows)
        else:  # BLAS would start threads, which costs more than few rows do
            flipped = np.zeros((-(-X.shape[1] // 4) * 4, len(rows)))
            flipped[: X.shape[1]] = rows.values.T
            settings = float(kernel.gamma), float(kernel.coef0), float(kernel.degree)
            K = np.empty((len(rows), len(rows)))
            kernel_rows.all_rows(flipped, rows.squares, CODES[kernel.rule], settings, K)
        check_finite(K, kernel.label)
        if self.kernel.rule == "rbf":
            np.fill_diagonal(K, 1.0)
        return K

    def gram(self, X: Any, chosen: np.ndarray | None, K: np.ndarray | None, megabytes: float, exactly: bool) -> Gram:
        """Rows of the kernel matrix of the chosen rows; `K` is that of all rows where it was made."""
        if K is not None:
            return gram_of_matrix(K if chosen is None else K[chosen[:, None], chosen])
        part = X if chosen is None else X[chosen]
        if part.shape[0] <= WHOLE:
            return gram_of_matrix(self.matrix(part))
        return gram_of_rows(self.kernel, part, megabytes, exactly)

    def whole(self, X: Any) -> np.ndarray | None:
        """The matrix of all rows, where it is small."""
        return self.matrix(X) if X.shape[0] <= WHOLE else None

    def between(self, X: Any, vectors: Any) -> np.ndarray:
        """k(x, v) for all rows x of X and all vectors."""
        values = self.kernel.block(self.kernel.rows(X), self.kernel.rows(vectors))
        check_finite(values, self.kernel.label)
        return values

    def apply(self, X: Any, vectors: Any, function: Any) -> np.ndarray:
        """function(k(X, vectors)) of a matrix, in blocks of its rows, on threads."""
        threads = thread_count(self.kernel.n_jobs)
        if X.shape[0] * vectors.shape[0] <= SPLIT:
            return function(self.between(X, vectors))
        parts = slices(X.shape[0], vectors.shape[0])
        return np.concatenate(
            all_of(lambda part: function(self.between(X[part], vectors)), parts, threads, serial_blas=True)
        )

    def expand(self, X: Any, vectors: Any, weights: np.ndarray) -> np.ndarray:
        """Σ_j w_j k(x, v_j) of rows x."""
        if sparse.issparse(X) or sparse.issparse(vectors) or self._rounds(X, vectors):
            return self.apply(X, vectors, lambda K: K @ weights)
        prepared, centers = self.kernel.rows(X), self.kernel.rows(vectors)
        width = -(-X.shape[1] // 4) * 4
        own = np.zeros((len(centers), width))
        own[:, : X.shape[1]] = centers.values
        settings = float(self.kernel.gamma), float(self.kernel.coef0), float(self.kernel.degree)
        out = np.empty(len(prepared))

        def fill(part: slice) -> None:
            some = prepared[part]
            flipped = np.zeros((width, len(some)))
            flipped[: X.shape[1]] = some.values.T
            kernel_rows.expansion(
                flipped, some.squares, own, centers.squares, weights, CODES[self.kernel.rule], settings, out[part]
            )

        many = len(prepared) * len(centers) > SPLIT
        parts = slices(len(prepared), 64) if many else [slice(0, len(prepared))]
        all_of(fill, parts, thread_count(self.kernel.n_jobs) if many else 1)
        check_finite(out, self.kernel.label)
        return out

    def _rounds(self, X: Any, vectors: Any) -> bool:
        """Whether distances need more digits than squared lengths have."""
        return self.kernel.rule == "rbf" and self.kernel._rounds(self.kernel.rows(X), self.kernel.rows(vectors))

    def serial(self) -> NamedKernel:
        """The same on one thread."""
        return NamedKernel(replace(self.kernel, n_jobs=1))


class GivenKernel:
    """Values that are given: rows are those of the matrix, and vectors the numbers of its columns."""

    label = "kernel='precomputed'"

    def whole(self, X: np.ndarray) -> np.ndarray:
        """The matrix."""
        return X

    def gram(self, X: Any, chosen: np.ndarray | None, K: np.ndarray, megabytes: float, exactly: bool) -> Gram:
        """The chosen rows and columns of K."""
        return gram_of_matrix(np.ascontiguousarray(K if chosen is None else K[chosen[:, None], chosen]))

    def between(self, X: Any, vectors: Any) -> np.ndarray:
        """The columns of the vectors."""
        return X[:, vectors]

    def apply(self, X: Any, vectors: Any, function: Any) -> np.ndarray:
        """function(k(X, vectors)) of a matrix."""
        return function(self.between(X, vectors))

    def expand(self, X: Any, vectors: Any, weights: np.ndarray) -> np.ndarray:
        """Σ_j w_j k(x, v_j) of rows x."""
        return self.between(X, vectors) @ weights

    def serial(self) -> GivenKernel:
        """The same on one thread."""
        return self


class WrittenKernel(GivenKernel):
    """A function that the user wrote: of two tables, giving all values at once as in scikit-learn, or of two rows.

    Parameters
    ----------
    function : callable
    X : array-like
        The rows that are learned from.
    """

    def __init__(self, function: Any, X: Any):
        self.function, self.X, self.label = function, X, f"kernel={function!r}"
        self.note, self._pairs = "called with whole tables", None
        self._first: np.ndarray | None = None
        if not self._takes_tables():
            self._pairs = self._of_rows()
            self.note = self._pairs.note

    def _takes_tables(self) -> bool:
        """Whether the function gives a matrix for two tables, and the same for one row of each."""
        n = self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)
        try:
            one, found = _matrix(self.function(self.X[:1], self.X[:1])), _matrix(self.function(self.X, self.X))
        except (TypeError, ValueError, IndexError):
            return False
        if one is None or one.shape != (1, 1) or found is None or found.shape != (n, n):
            return False
        self._first = found
        return True

    def _of_rows(self) -> Pairs:
        try:
            rows = np.asarray(self.X.toarray() if sparse.issparse(self.X) else self.X, dtype=np.float64)
            tried = self.function(rows[0], rows[-1])
            if np.ndim(tried) == 0:
                self.X = rows
                return Pairs(self.function, {}, rows, "kernel")
            fault = f"an array of shape {np.shape(tried)} for two rows"
        except (TypeError, ValueError, IndexError) as error:
            fault = f"neither for tables nor for rows a result ({type(error).__name__}: {error})"
        raise ValueError(
            f"{self.label} gives {fault}; a kernel takes two tables of n and m rows and returns an array of shape (n, m), or "
            "takes two rows and returns a number."
        )

    def whole(self, X: Any) -> np.ndarray:
        if self._pairs is not None:
            K = self._pairs.between(self.X, self.X)
        else:
            found = _matrix(self.function(X, self.X)) if self._first is None else self._first
            K, self._first = np.asarray(found), None
        check_finite(K, self.label)
        return K

    def between(self, X: Any, vectors: Any) -> np.ndarray:
        """Values of rows of X with the rows learned from that vectors number."""
        n = self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)
        if self._pairs is not None:
            rows = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
            K = self._pairs.between(rows, self.X[vectors])
        else:
            found = _matrix(self.function(X, self.X))
            if found is None or found.shape[1] != n:
                raise ValueError(
                    f"{self.label} gives {() if found is None else found.shape}, where the second number must be {n}, the rows "
                    "it was learned from."
                )
            K = found[:, vectors]
        check_finite(K, self.label)
        return K


def _matrix(values: Any) -> np.ndarray | None:
    """What a function gave, as a matrix; None where it is none."""
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    return np.ascontiguousarray(values, dtype=np.float64) if values.ndim == 2 else None
