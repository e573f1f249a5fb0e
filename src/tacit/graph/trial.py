"""How far can a network of a table be trusted? Cells of rows left out are guessed, and edges looked for again in resamples.

right    the share of cells whose most probable level, given the other cells of their row, is the true one
gain     the mean of log₂ p(row) − Σ_j log₂ p(x_j), the second of independent columns
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..assess.splits import hold_out
from ..schema import Schema
from ..source import ArraySource, Block
from .belief import BeliefNetwork

__all__ = ["Guessed", "guess_left_out", "learned", "resampled"]

LEFT_OUT, MOST_LEFT_OUT, FEWEST_ROWS = 0.2, 1000, 50
"""Share of the rows that is left out, how many at most, and rows below which none is."""


@dataclass(frozen=True)
class Guessed:
    """How well cells of rows left out are predicted from the other cells of their rows.

    Attributes
    ----------
    n_rows, n_cells : int
        Rows left out, and their known cells.
    right, usual : float
        Shares of the cells whose most probable level was the true one, and that have their column's most frequent level.
    gain : float
        Bits by which the network describes a row better than independent columns do.
    columns : list of dict
        `column`, `n`, `right` and `usual` of each.
    """

    n_rows: int
    n_cells: int
    right: float
    usual: float
    gain: float
    columns: list[dict]


def _source(schema: Schema, codes: np.ndarray) -> ArraySource:
    source = ArraySource(np.where(codes < 0, np.nan, codes.astype(float)))
    source.schema, source.columns = schema, schema.names
    return source


def learned(
    schema: Schema, codes: np.ndarray, edges: list[tuple[int, int]], levels: int | None, seed: int
) -> BeliefNetwork:
    """A network of these edges with the probabilities that rows tell."""
    named = [(schema.names[a], schema.names[b]) for a, b in edges]
    network = BeliefNetwork(named, levels=levels or "auto", unknown="missing", random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network.fit(_source(schema, codes))
    network.feature_names_in_ = np.array(schema.names, dtype=object)
    return network


def guess_left_out(
    schema: Schema, codes: np.ndarray, search: Callable, seed: int, deadline: float = np.inf
) -> Guessed | None:
    """Predict each known cell of rows that were left out from the other cells of its row; None where rows or time are short."""
    n = len(codes)
    if n < FEWEST_ROWS or time.monotonic() > deadline:
        return None
    seen, held = hold_out(n, min(round(LEFT_OUT * n), MOST_LEFT_OUT), np.random.default_rng(seed))
    left, rest = codes[held], codes[seen]
    if (rest < 0).all(axis=0).any():
        return None
    network, alone = learned(schema, rest, search(rest).edges, None, seed), learned(schema, rest, [], None, seed)
    rows = np.where(left < 0, np.nan, left.astype(float))
    gain = float(np.mean(network._scores(Block.of(rows)) - alone._scores(Block.of(rows))) / np.log(2))
    told = []
    for j, column in enumerate(schema.columns):
        known = left[:, j] >= 0
        if time.monotonic() > deadline:
            return None
        if not known.any():
            continue
        hidden = rows[known].copy()
        hidden[:, j] = np.nan
        best = np.empty(len(hidden), dtype=np.int64)
        for part in network._row_parts(Block.of(hidden), [(j,)]):
            best[part.rows] = part.marginals.argmax(axis=1)
        usual = np.bincount(rest[rest[:, j] >= 0, j]).argmax()
        truth = left[known, j]
        told.append({"column": column.name, "n": int(known.sum()), "right": float((best == truth).mean()),
                     "usual": float((truth == usual).mean())})  # fmt: skip
    n_cells = sum(row["n"] for row in told)
    right, usual = (sum(row["n"] * row[name] for row in told) / n_cells for name in ("right", "usual"))
    return Guessed(len(left), n_cells, right, usual, gain, told)


def resampled(
    codes: np.ndarray, search: Callable, times: int, seed: int, deadline: float, tell: Callable
) -> tuple[np.ndarray, int]:
    """Share of resamples of the rows in which each edge was found, and how many there were."""
    rng, n = np.random.default_rng([seed, 1]), len(codes)
    joined, made = np.zeros((codes.shape[1],) * 2), 0
    for _ in range(times):
        rows = codes[rng.integers(n, size=n)]
        if time.monotonic() > deadline:
            break
        made += 1
        tell(f"resample {made} of {times}")
        if (rows < 0).all(axis=0).any():  # a column lost its few known cells: it has no edge
            continue
        for a, b in search(rows).edges:
            joined[a, b] += 1.0
    return joined / max(made, 1), made
