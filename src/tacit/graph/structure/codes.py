"""`Codes`: rows of discrete variables as numbers, and tables of counts of few of them at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...kernels import kernel

__all__ = ["Codes", "check_edges"]

MOST_PACKED = 1 << 16
MOST_STATES = (1 << 16) - 1
MOST_CELLS = 1 << 27


@dataclass(frozen=True)
class Codes:
    """Rows of discrete variables, a column each.

    Attributes
    ----------
    columns : (d, n) array of uint16
        States 0 … size − 1; `size` is missing.
    sizes : (d,) array of int64
        Numbers of states.
    """

    columns: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, codes: Any, cardinalities: Any) -> Codes:
        """Check an integer array (n, d), in which −1 is missing, and the numbers of states (d,)."""
        given = np.asarray(codes)
        if given.ndim != 2 or not given.size or given.dtype.kind not in "iu":
            raise ValueError(f"X has shape {given.shape} and type {given.dtype}; give whole numbers (rows, variables).")
        sizes = np.asarray(cardinalities)
        if sizes.shape != given.shape[1:] or sizes.dtype.kind not in "iu":
            raise ValueError(
                f"cardinalities={cardinalities!r} must hold {given.shape[1]} whole numbers, one per variable."
            )
        if sizes.min() < 1 or sizes.max() > MOST_STATES:
            raise ValueError(
                f"cardinalities holds {sizes.min() if sizes.min() < 1 else sizes.max()}; use 1 to {MOST_STATES}."
            )
        least, most = given.min(axis=0), given.max(axis=0)
        if least.min() < -1 or (most >= sizes).any():
            j = int(np.argmax((least < -1) | (most >= sizes)))
            bad = least[j] if least[j] < -1 else most[j]
            raise ValueError(f"column {j} of X holds {bad}; its states are 0 to {sizes[j] - 1}, and −1 where missing.")
        if (most < 0).any():
            raise ValueError(
                f"column {int(np.argmin(most))} has no observed value; drop it before learning a structure."
            )
        columns = np.where(given < 0, sizes, given).T
        return cls(np.ascontiguousarray(columns, dtype=np.uint16), sizes.astype(np.int64))

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.sizes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.columns.shape[1]

    @cached_property
    def missing(self) -> bool:
        """Whether a cell is missing."""
        return bool((self.columns == self.sizes[:, None]).any())

    @cached_property
    def codes(self) -> np.ndarray:
        """The rows as they were given, (n, d)."""
        return np.where(self.columns < self.sizes[:, None], self.columns.astype(np.int64), -1).T

    def packed(self, members: Sequence[int]) -> tuple[np.ndarray, int]:
        """Numbers of the configurations of some variables (n,), and how many there are; those that miss a cell have this number.

        Where they would be many, only those that occur have numbers.
        """
        if not len(members):
            return np.zeros(self.n_rows, np.int32), 1
        packed, n_packed = self.columns[members[0]], int(self.sizes[members[0]])
        for member in members[1:]:
            size = int(self.sizes[member])
            out = np.empty(self.n_rows, np.int64)
            kernel("pack")(packed, n_packed, self.columns[member], size, out)
            packed, n_packed = out, n_packed * size
            if n_packed > MOST_PACKED:
                seen, packed = np.unique(out, return_inverse=True)
                n_packed = len(seen) - (seen[-1] == n_packed)
        return packed, int(n_packed)

    def family(self, child: int, parents: Sequence[int]) -> tuple[np.ndarray, int]:
        """As `packed`, the child's state being the last digit."""
        if not len(parents):
            return self.columns[child].astype(np.int32), int(self.sizes[child])
        packed, n_packed = self.packed(parents)
        size, out = int(self.sizes[child]), np.empty(self.n_rows, np.int32)
        if n_packed * size > MOST_CELLS:
            raise ValueError(
                f"variable {child} of {size} states and parents of {n_packed} configurations that occur take a table of more "
                f"than {MOST_CELLS} cells; use a smaller max_parents, or join states."
            )
        kernel("pack")(packed, n_packed, self.columns[child], size, out)
        return out, n_packed * size

    def n_configurations(self, parents: Sequence[int]) -> float:
        """How many configurations some variables have."""
        return float(np.prod(self.sizes[list(parents)].astype(float)))


def check_edges(name: str, edges: Any, n_variables: int) -> np.ndarray:
    """Pairs (parent, child) as a matrix of truths (d, d), parents in rows.

    Parameters
    ----------
    name : str
        Of the setting.
    edges : iterable of pairs of int
    n_variables : int
    """
    matrix = np.zeros((n_variables, n_variables), bool)
    for edge in edges:
        pair = tuple(edge) if isinstance(edge, (tuple, list, np.ndarray)) else ()
        whole = all(isinstance(end, (int, np.integer)) and 0 <= end < n_variables for end in pair)
        if len(pair) != 2 or not whole or pair[0] == pair[1]:
            raise ValueError(
                f"{name} holds {edge!r}, which is no edge; give pairs (parent, child) of different variables from 0 to "
                f"{n_variables - 1}."
            )
        matrix[pair] = True
    return matrix
