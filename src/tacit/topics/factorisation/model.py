"""`PartsModel`: rows as sums of non-negative parts, x_i ≈ w_i H.

    min over W, H ≥ 0 of  Σ_i s_i Σ_j v_j d_β(x_ij, (WH)_ij) + Σ_i s_i p_W(w_i) + Σ_i s_i p_H(H),    p(z) = l1 Σ z + ½ l2 Σ z²

d_2 is half the square of the difference, d_1 the divergence of Kullback and Leibler, minus the log-likelihood of Poisson counts
but for a constant, d_0 that of Itakura and Saito. w_i is what row i remembers; a pass brings every w_i down and adds up what H is
then learned from, so that minus the loss never falls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from ...arrays import Arrays, record
from ...declared import SQUARES, Numbers, declare
from ...engine import Model, Trace
from ...kernels import backend, empty, host, kernel, lazy
from ...notes import Note
from ...source import Block
from ...source.threads import one_blas_thread
from .starts import cells_of, start_at

__all__ = ["CountStats", "Factors", "PartsModel", "Scores", "SquareStats"]

SOLVERS = ("hals", "als", "mu")
SWEEPS = 10  # over the coordinates of a row between two products, at most
REST = 0.1  # a row rests when a sweep moves it by this share of what the first did
EXACT = (1000, 1e-8)  # the same where a row is to be solved for
CAUTION = 0.5  # of the slope at the start: several sweeps a pass leave less slope than one does at the same loss
PATIENCE = 10  # multiplicative steps over which an improvement is judged, as in scikit-learn
STEADY = Note("tol", "what is left to go down fell below tol of what there was at first")
SLOW = Note("tol", "the loss improved by less than tol of the first one in ten passes")
compiled = lazy("nonnegative")


@record
class Factors(Arrays):
    """Parameters: the parts, and what slope there was left to go down, now and at first."""

    components: np.ndarray  # (K, d)
    violation: float = 0.0
    first: float = 0.0
    _saved = declare(
        components=Numbers("K d", low=0), violation=Numbers(low=0, high=SQUARES), first=Numbers(low=0, high=SQUARES)
    )


@record
class Scores(Arrays):
    """What rows remember: their w."""

    scores: np.ndarray  # (rows, K)


class Broadcast(Arrays):
    """Sums of which some have one row where columns need not be told apart, and are added to those with one row per column."""

    def __iadd__(self, other: Self) -> Self:
        return self + other


@record
class SquareStats(Broadcast):
    """Sums over rows for squared errors; see `tacit.kernels.nonnegative.least_squares`."""

    loglik: float
    weight: float
    violation: float
    gram: np.ndarray
    own: np.ndarray
    cross: np.ndarray


@record
class CountStats(Broadcast):
    """Sums over rows for divergences: H^(1/γ) Σ r w, expected counts where β = 1, and Σ q w."""

    loglik: float
    weight: float
    counts: np.ndarray
    below: np.ndarray


class PartsModel(Model):
    """Non-negative factorisation as a model of rows.

    Parameters
    ----------
    n_components : int
        K.
    beta : float
        Which divergence.
    solver : {"hals", "als", "mu"}
        How squared errors are brought down: a few sweeps of coordinates, to the least squares themselves, or by multiplicative
        steps, which other divergences always take.
    row_penalty, column_penalty : (float, float)
        l1 and l2 of W and of H, per row.
    column_weight : (d,) array, optional
        v.
    init : {"nndsvd", "nndsvda", "nndsvdar", "random"}
        How to start.
    level : float
        What rows start at where steps are multiplicative.
    scores : (n, K) array, optional
        What rows start at.
    """

    remembers = True

    def __init__(
        self, n_components: int, beta: float = 2.0, solver: str = "hals", *, row_penalty: tuple[float, float] = (0.0, 0.0),
        column_penalty: tuple[float, float] = (0.0, 0.0), column_weight: np.ndarray | None = None, init: str = "nndsvda",
        level: float = 1.0, scores: np.ndarray | None = None,
    ):  # fmt: skip
        self.n_components, self.beta, self.solver = n_components, float(beta), solver
        self.row_penalty, self.column_penalty, self.column_weight = row_penalty, column_penalty, column_weight
        self.init_method, self.level, self.scores = init, level, scores
        self.one_start = init in ("nndsvd", "nndsvda")

    @property
    def by_squares(self) -> bool:
        """Whether sums are those of squared errors."""
        return self.beta == 2.0

    @property
    def gamma(self) -> float:
        """The exponent of multiplicative steps."""
        return compiled.exponent(self.beta)

    def columns(self, params: Factors) -> np.ndarray:
        """Weights of the columns."""
        return np.ones(params.components.shape[1]) if self.column_weight is None else self.column_weight

    def inner(self, n_others: float) -> tuple[int, float, bool]:
        """Sweeps, rest and kind of the steps of rows that meet so many others: products cost as much as d / K sweeps do."""
        if self.solver == "mu":
            return 1, 0.0, True
        if self.solver == "als":
            return *EXACT, False
        return int(np.clip(1 + n_others // (2 * self.n_components), 2, SWEEPS)), REST, False

    # Learning

    def init(self, sample: Block, rng: np.random.Generator) -> Factors:
        H, W = start_at(sample, self.n_components, self.init_method, rng)
        return Factors(H, 0.0, self._first(H, W, sample) if self.by_squares and self.solver != "mu" else 0.0)

    def _first(self, H: np.ndarray, W: np.ndarray, sample: Block) -> float:
        """By what slope the end is judged: a share of what there is to go down at scikit-learn's start, by W and then by H."""
        X, weight, d = cells_of(sample), host(sample.weight), H.shape[1]
        columns = np.ones(d) if self.column_weight is None else self.column_weight
        share, table, (l1, l2) = weight / weight.sum(), np.array(H.T, order="C"), self.column_penalty
        with one_blas_thread():
            scaled = table * columns[:, None]
            found = compiled.first_down(W, np.asarray(X @ scaled), scaled.T @ table, share, *self.row_penalty)
            mine = share[:, None] * W
            cross = np.ascontiguousarray((X.T @ mine) if hasattr(X, "tocsr") else (mine.T @ X).T)
            own = np.zeros((1, len(H), len(H)))
            found += compiled.columns_down(
                table, cross, mine.T @ W, own, columns, l1 / columns, l2 / columns, 1, 0.0, False
            )
        return CAUTION * float(found)

    def memory(self, block: Block) -> Scores:
        if self.scores is not None:
            own = empty((block.n_units, self.n_components), block.X)
            own[:] = _like(own, self.scores[block.first : block.first + block.n_units])
            return Scores(own)
        own = empty((block.n_units, self.n_components), block.X)
        own[:] = self.level if self.solver == "mu" or not self.by_squares else 0.0
        return Scores(own)

    def e_step(self, params: Factors, block: Block) -> SquareStats | CountStats:
        # Without a memory rows start anew: their scores are then solved for.
        scores = self.solved(params, block) if block.memory is None else block.memory.scores  # type: ignore[attr-defined]
        return self.sums(params, block, scores, 1)

    def sums(self, params: Factors, block: Block, scores: Any, steps: int) -> SquareStats | CountStats:
        """Statistics of a block; `scores` are brought down in place, by sweeps of one step, where any step is to be taken."""
        H, columns = params.components, self.columns(params)
        weight = float(host(block.weight).sum())
        charge = weight * _penalty(H, self.column_penalty)
        given = block.X, block.patterns, block.weight, scores, H, columns
        if self.by_squares:
            inner = self.inner(H.shape[1]) if steps else (0, 0.0, False)
            loss, violation, gram, own, cross = kernel("least_squares", backend(block.X))(
                *given, self.row_penalty, inner, block.local
            )
            return SquareStats(-float(loss) - charge, weight, float(violation), gram, own, cross)
        loss, above, below = kernel("divergence", backend(block.X))(
            *given, self.beta, self.row_penalty, steps, block.local
        )
        return CountStats(-float(loss) - charge, weight, above.T * H ** (1.0 / self.gamma), below.T)

    def m_step(self, stats: SquareStats | CountStats, params: Factors) -> Factors:
        if isinstance(stats, CountStats):
            return Factors(self.lifted(stats, params))
        table, columns = np.array(params.components.T, order="C"), self.columns(params)
        share, (l1, l2) = 1.0 / stats.weight, self.column_penalty
        found = compiled.columns_down(
            table, share * stats.cross, share * stats.gram, share * stats.own, columns, l1 / columns, l2 / columns,
            *self.inner(stats.weight),
        )  # fmt: skip
        violation = float(share * stats.violation + found)
        return Factors(np.ascontiguousarray(table.T), violation, params.first or violation)

    def lifted(self, stats: CountStats, params: Factors) -> np.ndarray:
        """H after a step, which goes down whatever the penalty."""
        (l1, l2), columns, H = self.column_penalty, self.columns(params), params.components
        below, fine = stats.below + stats.weight * l1 / columns, stats.weight * l2 / columns
        # Counts hold H^(1/γ), so that the slope of squares, of the order q of a step, is left with what q is short of.
        fine = fine * H ** np.clip(self.beta - 1.0, 0.0, 1.0)
        return self.kept(compiled.stepped(stats.counts, below, fine, self.beta, l2 > 0.0, H))

    def beneath(self, stats: CountStats, params: Factors) -> np.ndarray:
        """What counts are divided by, penalties included."""
        (l1, l2), columns = self.column_penalty, self.columns(params)
        return stats.below + stats.weight * (l1 + l2 * params.components) / columns

    def beneath_squares(self, stats: SquareStats, params: Factors) -> np.ndarray:
        """The same of squared errors, where H · cross is above."""
        (l1, l2), columns, H = self.column_penalty, self.columns(params), params.components
        own = np.einsum("jab,bj->aj", stats.own, H) if len(stats.own) > 1 else 0.0
        return stats.gram @ H + own + stats.weight * (l1 + l2 * H) / columns

    def ratio(self, above: np.ndarray, below: np.ndarray) -> np.ndarray:
        """H = (above / below)^γ."""
        H = above / np.where(below == 0.0, compiled.TINY, below)
        return self.kept(H if self.gamma == 1.0 else H**self.gamma)

    def kept(self, H: np.ndarray) -> np.ndarray:
        """H, of which next to nothing is nothing where β ≤ 1."""
        return np.where(np.finfo(np.float64).eps > H, 0.0, H) if self.beta <= 1.0 else H

    def settled(self, trace: Trace, params: Factors, image: Factors, tol: float) -> Note | None:
        """By the slope that is left, or, of multiplicative steps, by the loss: what scikit-learn's `tol` means."""
        if tol <= 0.0:
            return None
        if self.by_squares and self.solver != "mu":
            return STEADY if params.first and image.violation <= tol * params.first else None
        if len(trace) <= PATIENCE:
            return None
        first, before, now = (np.sqrt(max(-trace.objectives[at], 0.0)) for at in (0, -1 - PATIENCE, -1))
        return SLOW if before - now < tol * first else None

    # What was learned

    def solved(self, params: Factors, block: Block, tol: float = 1e-4, max_iter: int = 200) -> Any:
        """The scores of rows that start anew, each brought down until it rests."""
        blank = self if self.scores is None else PartsModel(self.n_components, self.beta, self.solver, level=self.level)
        scores = blank.memory(block).scores
        H, columns = params.components, self.columns(params)
        if self.by_squares and self.solver != "mu":
            inner = max_iter if self.solver == "hals" else EXACT[0], tol, False
            given = block.X, block.patterns, block.weight, scores, H, columns
            kernel("least_squares", backend(block.X))(*given, self.row_penalty, inner, block.local)
            return scores
        self._repeat(block, scores, H, columns, tol, max_iter)
        return scores

    def _repeat(self, block: Block, scores: Any, H: np.ndarray, columns: np.ndarray, tol: float, max_iter: int) -> None:
        """Multiplicative steps of all rows that still move: those of a row do not depend on the others."""
        step, active = self._stepper(H, columns, block), np.arange(len(block))
        for done in range(0, max_iter, PATIENCE):
            part = scores[active]
            before = host(part).copy()
            step(active, part, min(PATIENCE, max_iter - done))
            scores[active] = part
            after = host(part)
            active = active[np.abs(after - before).max(axis=1) > tol * after.max(axis=1)]
            if not len(active):
                break

    def _stepper(self, H: np.ndarray, columns: np.ndarray, block: Block) -> Callable[[np.ndarray, Any, int], None]:
        """A function that takes multiplicative steps of some rows of a block."""

        def step(rows: np.ndarray, scores: Any, n_steps: int) -> None:
            whole = len(rows) == len(block)
            X, weight = (block.X, block.weight) if whole else (block.X[rows], block.weight[rows])
            if not self.by_squares:
                kernel("divergence", backend(X))(
                    X, block.patterns, weight, scores, H, columns, self.beta, self.row_penalty, n_steps, {}
                )
                return
            patterns = block.patterns if whole or block.patterns.is_complete else Block.of(host(X)).patterns
            patterns = type(patterns).whole(*X.shape) if patterns.is_complete and not whole else patterns
            for _ in range(n_steps):
                kernel("least_squares", backend(X))(
                    X, patterns, weight, scores, H, columns, self.row_penalty, (1, 0.0, True), {}
                )

        return step

    def loss(self, params: Factors, scores: Any, block: Block) -> float:
        """Σ_i s_i Σ_j v_j d_β of a block, penalties left out."""
        given = block.X, block.patterns, block.weight, scores, params.components, self.columns(params)
        return float(kernel("divergence", backend(block.X))(*given, self.beta, (0.0, 0.0), 0, block.local)[0])

    def posterior(self, params: Factors, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Shares of the parts in each row, and minus the row's loss."""
        scores = host(self.solved(params, block))
        total = scores.sum(axis=1, keepdims=True)
        shares = np.where(total > 0, scores / np.where(total > 0, total, 1.0), 1.0 / self.n_components)
        lost = [self.loss(params, scores[i : i + 1], _one(block, i)) for i in range(len(block))]
        return shares, -np.array(lost)

    def check_params(self, params: Factors, n_columns: int) -> None:
        params.check({"K": self.n_components, "d": n_columns})

    def n_parameters(self, params: Factors) -> int:
        return params.components.size


def _penalty(values: np.ndarray, penalty: tuple[float, float]) -> float:
    return float(penalty[0] * values.sum() + 0.5 * penalty[1] * (values**2).sum()) if any(penalty) else 0.0


def _like(own: Any, values: np.ndarray) -> Any:
    """Numbers as an array of the kind of `own`."""
    return own.new_tensor(values) if hasattr(own, "new_tensor") else values


def _one(block: Block, row: int) -> Block:
    X = block.X[np.array([row])]
    return Block.of(X if backend(X) == "sparse" else host(X), host(block.weight)[row : row + 1])
