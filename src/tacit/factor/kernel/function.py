"""`Kernel`: how alike two rows are, k(x, y) = φ(x)·φ(y), in blocks.

Products of rows come from BLAS and the rest is compiled. Kernels that do not change, or change by what centring removes, when
all rows are shifted are computed about the mean of the fitted rows: far from the origin, expanding ‖x − y‖² would cancel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

from ...kernels import lazy
from ...source.threads import all_of, slices, thread_count, tile_pairs
from .checks import check_finite

__all__ = ["KERNELS", "SHIFTABLE", "Kernel", "Rows", "centre"]

KERNELS = tuple(sorted(PAIRWISE_KERNEL_FUNCTIONS))
COMPILED = ("linear", "poly", "polynomial", "rbf", "sigmoid", "cosine", "laplacian")
SHIFTABLE = ("linear", "rbf", "laplacian")
LENGTH_ONE = ("rbf", "laplacian", "chi2")  # k(x, x) = 1
TILE = 384

gram = lazy("gram")


@dataclass(frozen=True)
class Rows:
    """Rows as a kernel wants them."""

    values: Any  # (n, d) array or CSR, shifted or scaled where the kernel asks for it
    squares: np.ndarray  # (n,) squared lengths

    def __len__(self) -> int:
        return self.values.shape[0]

    def __getitem__(self, rows: slice) -> Rows:
        return Rows(self.values[rows], self.squares[rows])


@dataclass(frozen=True)
class Kernel:
    """A rule for k(x, y)."""

    rule: Any  # a name of `sklearn.metrics.pairwise.pairwise_kernels`, or a function of two rows
    gamma: float  # of the named kernels that have it, as degree and coef0
    degree: float
    coef0: float
    params: dict[str, Any]  # keyword arguments of a function
    origin: np.ndarray | None = None  # what is subtracted from all rows
    n_jobs: int | None = None

    @property
    def threads(self) -> int:
        """Threads that blocks may run on; a user's function is called from one."""
        return 1 if callable(self.rule) else thread_count(self.n_jobs)

    def rows(self, X: Any) -> Rows:
        """Rows ready for `block`."""
        if sparse.issparse(X):
            return Rows(X, np.asarray(X.multiply(X).sum(axis=1)).ravel())
        if self.origin is not None:
            X = (X - self.origin).astype(X.dtype, copy=False)
        X = np.ascontiguousarray(X)
        with np.errstate(over="ignore"):
            squares = np.einsum("ij,ij->i", X, X)
        if self.rule == "cosine":
            X = X / np.where(squares > 0, np.sqrt(squares), 1.0)[:, None]
            squares = np.where(squares > 0, 1.0, 0.0).astype(X.dtype)
        return Rows(X, squares)

    def block(self, A: Rows, B: Rows) -> np.ndarray:
        """k(a, b) for all rows of A and B, as `rows` made them."""
        if callable(self.rule) or sparse.issparse(A.values) or self.rule not in COMPILED:
            return self._named(A.values, B.values)
        if self.rule == "laplacian":
            out = np.empty((len(A), len(B)), dtype=A.values.dtype)
            gram.laplacian(A.values, np.ascontiguousarray(B.values.T), self.gamma, out)
            return out
        if self.rule == "rbf" and self._rounds(A, B):
            return np.exp(-self.gamma * cdist(A.values, B.values, "sqeuclidean")).astype(A.values.dtype, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):  # told by whoever asked for the values
            out = A.values @ B.values.T
        if self.rule == "rbf":
            gram.rbf(out, A.squares, B.squares, self.gamma)
        elif self.rule == "sigmoid":
            gram.sigmoid(out, self.gamma, self.coef0)
        elif self.rule in ("poly", "polynomial"):
            whole = float(self.degree).is_integer() and self.degree <= 64
            gram.polynomial(out, self.gamma, self.coef0, int(self.degree) if whole else float(self.degree), whole)
        return out

    def _rounds(self, A: Rows, B: Rows) -> bool:
        """Whether ‖x‖² + ‖y‖² − 2 x·y loses too many digits: groups of rows that are far apart have no mean that helps."""
        longest = max(float(A.squares.max(initial=0.0)), float(B.squares.max(initial=0.0)))
        return self.gamma * longest > 1.0 / np.sqrt(np.finfo(A.values.dtype).eps)

    def _named(self, A: Any, B: Any = None) -> np.ndarray:
        """By scikit-learn's function."""
        given = self.params
        if not callable(self.rule):
            given = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        values = pairwise_kernels(A, B, metric=self.rule, filter_params=True, **given)
        return values.toarray() if sparse.issparse(values) else values

    def square(self, X: Any) -> np.ndarray:
        """The symmetric matrix of all pairs, each computed once."""
        if callable(self.rule):
            return self._named(X)
        rows = self.rows(X)
        n = len(rows)
        K = np.empty((n, n), dtype=X.dtype)

        def fill(place: tuple[slice, slice]) -> None:
            a, b = place
            K[a, b] = block = self.block(rows[a], rows[b])
            if a is not b:
                K[b, a] = block.T

        all_of(fill, tile_pairs(n, TILE), self.threads, serial_blas=True)
        if self.rule in LENGTH_ONE:
            np.fill_diagonal(K, 1.0)  # ‖x‖² + ‖x‖² − 2 x·x is 0 but for rounding
        return K

    def diagonal(self, A: Rows) -> np.ndarray:
        """k(a, a) for all rows of A, as `rows` made them."""
        if callable(self.rule):
            return np.array([self._named(A.values[i : i + 1])[0, 0] for i in range(len(A))])
        if self.rule in LENGTH_ONE:
            return np.ones(len(A))
        if self.rule == "additive_chi2":
            return np.zeros(len(A))
        if self.rule == "cosine":
            return np.where(A.squares > 0, 1.0, 0.0)
        if self.rule == "linear":
            return A.squares.astype(np.float64)
        inner = self.gamma * A.squares.astype(np.float64) + self.coef0
        with np.errstate(over="ignore", invalid="ignore"):
            return np.tanh(inner) if self.rule == "sigmoid" else inner ** float(self.degree)

    def project(self, X: Any, fitted: Any, center: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """(k(x, fitted) − center) @ coefficients for all rows x of X, in blocks, in the precision of X."""
        dtype = np.result_type(X, coefficients)
        rows = self.rows(fitted.astype(dtype, copy=False))
        out = np.empty((X.shape[0], coefficients.shape[1]), dtype=X.dtype)

        def fill(part: slice) -> None:
            values = self.block(self.rows(X[part].astype(dtype, copy=False)), rows)
            check_finite(values, self.label)
            values -= center
            out[part] = values @ coefficients

        all_of(fill, slices(X.shape[0], len(rows)), self.threads, serial_blas=True)
        return out

    @property
    def label(self) -> str:
        """The kernel in words, for messages."""
        return f"kernel={self.rule!r}"


def centre(K: np.ndarray, threads: int, label: str) -> tuple[np.ndarray, float]:
    """Centre a symmetric kernel matrix in place; return the means of its columns and its largest entry in size before."""
    parts = slices(len(K), len(K))

    def describe(part: slice) -> tuple[np.ndarray, float]:
        check_finite(K[part], label)
        return K[part].mean(axis=1, dtype=np.float64), max(float(K[part].max()), -float(K[part].min()))

    found = all_of(describe, parts, threads, serial_blas=True)
    means = np.concatenate([mean for mean, _ in found])
    shift = means - means.mean()

    def subtract(part: slice) -> None:
        K[part] -= means.astype(K.dtype)
        K[part] -= shift[part, None].astype(K.dtype)

    all_of(subtract, parts, threads, serial_blas=True)
    return means, max(largest for _, largest in found)
