"""`Gram`: rows of a kernel matrix as the solver takes them, all of them there or made when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..factor.kernel.checks import check_finite
from ..factor.kernel.function import Kernel
from ..kernels import lazy

__all__ = ["Gram", "gram_of_matrix", "gram_of_rows"]

smo, kernel_rows = lazy("smo"), lazy("kernel_rows")

CODES = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 3}
"""Numbers of kernels in `kernels.kernel_rows`."""
SINGLE = 16.0
"""γ‖x‖² up to which ‖x − y‖² in single precision leaves kernel values as many digits as they need."""
LEAST_PLACES = 16
NO_CELLS = np.zeros(1), np.zeros(1, np.int32), np.zeros(2, np.int32), 0


@dataclass(frozen=True, eq=False)
class Gram:
    """The rows of a kernel matrix, at the columns that take part.

    Attributes
    ----------
    memory : ndarray
        Rows one after the other, in as many places as it has room for.
    places, owners, clocks : ndarray
        Where a row is, whose row is at a place, and when it was last used; see `kernels.kernel_rows`.
    diagonal : ndarray of shape (n,)
        In the precision of the rows.
    rows, squares, code, settings
        What rows are made of: features (d, n) or sparse cells, squared lengths, and the kernel.
    """

    memory: np.ndarray
    places: np.ndarray
    owners: np.ndarray
    clocks: np.ndarray
    diagonal: np.ndarray
    rows: tuple
    squares: np.ndarray
    code: int = -1
    settings: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __len__(self) -> int:
        return len(self.diagonal)

    @property
    def shrinks(self) -> bool:
        """Whether columns can be left out: its memory is its own, and it knows how to make rows."""
        return self.code >= 0 and not self.rows[-1]

    def arguments(self) -> tuple:
        """What the solver is given of it."""
        n = len(self)
        store = self.memory[: len(self.owners) * n].reshape(-1, n)
        tiny = self.memory.dtype.type(1e-12)
        return (
            store, self.places, self.owners, self.clocks, self.rows, self.squares, self.code, self.settings,
            self.diagonal, tiny,
        )  # fmt: skip

    def product(self, beta: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """Kβ at some columns, or at all."""
        chosen, n = np.flatnonzero(beta), len(self)
        if self.code < 0:
            K = self.memory.reshape(n, n)
            return (K @ beta) if columns is None else K[columns] @ beta
        if self.rows[-1]:
            out = np.empty(n)
            kernel_rows.sparse_expansion(self.rows, self.squares, chosen, beta[chosen], self.code, self.settings, out)
            return out if columns is None else out[columns]
        flipped, squares = self.rows[0], self.squares
        centers = np.ascontiguousarray(flipped[:, chosen].T), squares[chosen]
        if columns is not None:
            flipped, squares = np.ascontiguousarray(flipped[:, columns]), squares[columns]
        out = np.empty(flipped.shape[1])
        kernel_rows.expansion(flipped, squares, *centers, beta[chosen], self.code, self.settings, out)
        return out

    def matrix(self) -> np.ndarray:
        """All values."""
        n = len(self)
        return self.memory.reshape(n, n) if self.code < 0 else np.array([self.product(unit) for unit in np.eye(n)])

    def renewed(self, columns: np.ndarray) -> Gram:
        """These columns alone, of which no row is known yet."""
        rows = (np.ascontiguousarray(self.rows[0][:, columns]), *NO_CELLS)
        return replace(
            self, **_places(self.memory, len(columns)), diagonal=self.diagonal[columns], rows=rows,
            squares=self.squares[columns],
        )  # fmt: skip

    def compacted(self, kept: np.ndarray) -> Gram:
        """As `renewed`; rows that are known stay so. What it was made from is no longer valid."""
        new, n_places = self.renewed(kept), len(self.owners)
        n_rows = smo.compact(self.memory, len(self), n_places, kept, new.places, self.owners, self.clocks)
        new.owners[:n_rows], new.clocks[:n_rows] = self.owners[:n_rows], self.clocks[:n_rows]
        return new


def _places(memory: np.ndarray, n: int) -> dict[str, Any]:
    """Empty places for rows of n values."""
    n_places = min(n, len(memory) // n)
    return {
        "memory": memory, "places": np.full(n, -1, np.int32), "owners": np.full(n_places, -1, np.int32),
        "clocks": np.full(n_places, -1, np.int64),
    }  # fmt: skip


def gram_of_matrix(K: np.ndarray) -> Gram:
    """All rows of a matrix that is there, and that is not changed."""
    n = len(K)
    rows = (np.zeros((0, 0), K.dtype), *NO_CELLS)
    numbers = np.arange(n, dtype=np.int32)
    return Gram(
        K.reshape(-1), numbers, numbers.copy(), np.zeros(n, np.int64), K.diagonal().copy(), rows, np.zeros(0, K.dtype)
    )


def gram_of_rows(kernel: Kernel, X: Any, megabytes: float, exactly: bool) -> Gram:
    """Rows that are made when they are asked for, and kept in so many megabytes.

    Parameters
    ----------
    kernel : Kernel
        One of `CODES`.
    X : ndarray or CSR matrix of shape (n, d)
    megabytes : float
    exactly : bool
        Whether double precision is asked for where single would do.
    """
    prepared = kernel.rows(X)
    dtype: Any = np.dtype(np.float64)
    diagonal = kernel.diagonal(prepared)
    check_finite(diagonal, kernel.label)
    if sparse.issparse(X):
        rows = (np.zeros((0, 0)), X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32), X.shape[1])
    else:
        longest = float(prepared.squares.max(initial=0.0))
        if kernel.rule == "rbf" and kernel.gamma * longest < SINGLE and not exactly:
            dtype = np.dtype(np.float32)
        padded = np.zeros((-(-X.shape[1] // 4) * 4, len(X)), dtype)
        padded[: X.shape[1]] = prepared.values.T
        rows = (padded, *NO_CELLS)
    n = X.shape[0]
    size = min(n * n, max(int(megabytes * 2**20) // dtype.itemsize, LEAST_PLACES * n))
    return Gram(
        **_places(np.empty(size, dtype), n), diagonal=diagonal.astype(dtype), rows=rows,
        squares=prepared.squares.astype(dtype), code=CODES[kernel.rule],
        settings=(float(kernel.gamma), float(kernel.coef0), float(kernel.degree)),
    )  # fmt: skip
