"""`Covariance`: a kernel over all pairs of rows, in tiles, and slopes of any function of the matrix, passed back tile by tile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..checks import machine_memory
from ..source.threads import all_of, slices, thread_count, tile_pairs
from .covariance import expression

__all__ = ["Covariance", "Slopes", "check_square"]

TILE = 256
Slope = Callable[[slice, slice], np.ndarray]
Slopes = Callable[[Slope], np.ndarray]
"""Given what tells ∂F/∂K of a tile of the lower triangle, as if K were not symmetric, gives ∂F/∂θ."""


def check_square(n_rows: int, n_matrices: int, remedy: str) -> None:
    """Raise where memory does not hold matrices of all pairs of rows."""
    needed, there = 8.0 * n_rows * n_rows * n_matrices, machine_memory()
    if needed > there:
        raise MemoryError(
            f"{n_rows} rows have {n_matrices} {'matrix' if n_matrices == 1 else 'matrices'} of all pairs, {needed:.4g} bytes, "
            f"but this machine has {there:.4g} bytes of memory; {remedy}."
        )


class Covariance:
    """A kernel of scikit-learn's at any hyperparameters.

    Kernels that are no `Expression` are asked for all pairs at once, and for all slopes of them, which takes memory for
    n × n × hyperparameters.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
    n_jobs : int, optional
        Threads; results do not depend on it.
    """

    def __init__(self, kernel: Any, n_jobs: int | None = None):
        self.kernel, self.tree, self.threads = kernel, expression(kernel), thread_count(n_jobs)

    def square(self, theta: np.ndarray, X: Any, gradient: bool = True) -> tuple[np.ndarray, Slopes]:
        """The lower triangle of k(X, X) in columns, and what passes slopes back."""
        if self.tree is None:
            return self._generic(theta, X, gradient)
        n, tree = len(X), self.tree
        if n <= TILE:
            values, pull = tree(theta, X, X)
            K = np.array(np.broadcast_to(values, (n, n))).T
            return K, lambda slope: self._pulled(pull, slope, slice(0, n), slice(0, n), len(theta))
        K = np.zeros((n, n), order="F")
        rows: dict[int, Any] = {}

        def part(a: slice) -> np.ndarray:
            return rows.setdefault(a.start, X[a])  # the same object for the same rows: they share their noise

        def fill(place: tuple[slice, slice]) -> None:
            K[place] = tree(theta, part(place[0]), part(place[1]))[0]

        def pulled(slope: Slope) -> np.ndarray:
            def one(place: tuple[slice, slice]) -> np.ndarray:
                a, b = place
                return self._pulled(tree(theta, part(a), part(b))[1], slope, a, b, len(theta))

            return np.sum(all_of(one, places, self.threads, serial_blas=True), axis=0)

        places = tile_pairs(n, TILE)
        all_of(fill, places, self.threads, serial_blas=True)
        return K, pulled

    @staticmethod
    def _pulled(pull: Any, slope: Slope, a: slice, b: slice, n_theta: int) -> np.ndarray:
        """Slopes of one tile, with those of its mirror image."""
        G, found = slope(a, b), np.zeros(n_theta)
        if a.start == b.start:
            own = np.diagonal(G).copy()
            G = np.tril(G, -1) * 2.0
            np.fill_diagonal(G, own)
        else:
            G = G * 2.0
        pull(G, found)
        return found

    def _generic(self, theta: np.ndarray, X: Any, gradient: bool) -> tuple[np.ndarray, Slopes]:
        kernel = self.kernel.clone_with_theta(theta)
        K, steep = kernel(X, eval_gradient=True) if gradient else (kernel(X), np.zeros(0))
        everything = slice(0, len(K))

        def pulled(slope: Slope) -> np.ndarray:
            G = np.tril(slope(everything, everything))
            G = G + np.tril(G, -1).T
            return np.einsum("ij,ijp->p", G, steep)

        return np.array(K, dtype=np.float64, order="F"), pulled

    def in_parts(self, function: Callable[[slice], tuple], n_rows: int, n_points: int) -> list[np.ndarray]:
        """What a function of a slice of rows gives, one after the other: each of its arrays for all rows."""
        threads = self.threads if self.tree is not None else 1
        found = all_of(function, slices(n_rows, n_points), threads, serial_blas=True)
        return [np.concatenate(part) for part in zip(*found)]

    def cross(self, theta: np.ndarray, A: Any, B: Any) -> np.ndarray:
        """k(A, B), without noise, for rows A that make a small block with those of B."""
        if self.tree is None:
            return np.asarray(self.kernel.clone_with_theta(theta)(A, B), dtype=np.float64)
        values = self.tree(theta, A, B.view() if A is B else B)[0]
        return values if np.ndim(values) else np.full((len(A), len(B)), values)
