"""`NetworkModel`: a belief network as the engine learns it, p(x) = Π_i p(x_i | x_pa(i)).

The E-step adds up, over rows, the posterior of every variable with its parents: expected counts n_ijk (state k of variable i
where its parents are in state j), which a junction tree gives exactly. The M-step, θ_ijk = (n_ijk + a_ijk) / Σ_k (n_ijk + a_ijk),
is the maximum of the likelihood, or of the posterior density under Dirichlet(1 + a) priors. Others have regressions.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Arrays, record
from ..declared import Numbers, declare
from ..engine import Model, SingularError
from ..engine.coordinates import Record, Simplex
from ..kernels import host
from ..source import Block
from .continuous import expected_moments, regressors, solve_moments
from .mixed import Mixed
from .nodes import Nodes

__all__ = ["NetworkModel", "NetworkParams", "NetworkStats", "codes_of", "values_of"]

FLOOR = 1e-8  # of a variance, in shares of that of the column
LARGE_COUNTS = 50.0  # of a Dirichlet draw about uniform tables, where starts are random


@record
class NetworkParams(Arrays):
    """All tables in one vector; in two more, coefficients and variances of continuous variables."""

    theta: np.ndarray
    coefficients: np.ndarray
    variance: np.ndarray
    _saved = declare(theta=Numbers("T", low=0, high=1), coefficients=Numbers("C"), variance=Numbers("Q", above=0))


@record
class NetworkStats(Arrays):
    """Log-likelihood, total weight, expected counts, and expected moments of continuous families."""

    loglik: float
    weight: float
    counts: np.ndarray
    moments: tuple = ()
    _summed = declare(weight=Numbers(low=0), counts=Numbers("T", low=0))


def codes_of(block: Block, nodes: Nodes) -> np.ndarray:
    """States of the variables of rows, −1 where missing or hidden; made once and kept."""
    if "codes" not in block.local:
        X = host(block.X)
        codes = np.full((len(X), len(nodes.names)), -1, np.int32)
        discrete = np.flatnonzero(~nodes.continuous[: X.shape[1]])
        cells = X[:, discrete]
        codes[:, discrete] = np.where(np.isnan(cells), -1, cells)
        block.local["codes"] = codes
    return block.local["codes"]


def values_of(block: Block, nodes: Nodes) -> np.ndarray | None:
    """Cells of the rows for all variables as floats, NaN where missing; None where no variable is continuous."""
    if not nodes.continuous.any():
        return None
    X = host(block.X)
    blank = np.full((len(X), len(nodes.names) - X.shape[1]), np.nan)
    return np.hstack([X, blank]).astype(np.float64, copy=False)


class NetworkModel(Model):
    """A belief network of known structure.

    Parameters
    ----------
    nodes : Nodes
        The first variables are the columns of rows, in order; those after them are hidden in every row.
    n_columns : int
        How many columns rows have.
    pseudo : ndarray, optional
        Pseudo-counts a of all cells.
    origin, scale : ndarray, optional
        Location and spread of continuous columns, to start from and to bound variances by.
    mixed : Mixed, optional
        What answers questions, to be shared.
    """

    def __init__(
        self, nodes: Nodes, n_columns: int, pseudo: np.ndarray | None = None, origin: Any = None, scale: Any = None,
        mixed: Mixed | None = None,
    ) -> None:  # fmt: skip
        self.nodes, self.n_columns, self.pseudo = nodes, n_columns, pseudo
        if mixed is not None:
            self.__dict__["mixed"] = mixed
        n = len(nodes.names)
        self.origin = np.zeros(n) if origin is None else origin
        self.scale = np.ones(n) if scale is None else scale
        self.one_start = n_columns == n  # type: ignore[misc]
        self.gaussian = np.flatnonzero(nodes.continuous).tolist()

    @cached_property
    def mixed(self) -> Mixed:
        """What answers questions: a cache of what was compiled."""
        return Mixed(self.nodes)

    # Learning

    def init(self, sample: Any, rng: np.random.Generator) -> NetworkParams:
        """Equal probabilities, but random ones of hidden variables and of what depends on them."""
        theta = np.empty(int(self.nodes.offsets[-1]))
        hidden = set(range(self.n_columns, len(self.nodes.names)))
        for i in np.flatnonzero(self.nodes.sizes).tolist():
            rows = theta[self.nodes.offsets[i] : self.nodes.offsets[i + 1]].reshape(-1, self.nodes.cards[i])
            rows[:] = 1.0 / rows.shape[1]
            if hidden & {i, *self.nodes.parents[i]}:
                rows[:] = rng.dirichlet(np.full(rows.shape[1], LARGE_COUNTS / rows.shape[1]), len(rows))
        coefficients, variance = [], []
        for i in self.gaussian:
            cells, m = int(np.prod(self.nodes.shape(i))), len(regressors(self.nodes, i))
            table = np.zeros((cells, m + 1))
            table[:, 0] = self.origin[i]
            if hidden & {i, *self.nodes.parents[i]}:
                table[:, 0] += self.scale[i] * rng.normal(size=cells)
            coefficients.append(table)
            variance.append(np.full(cells, self.scale[i] ** 2))
        return self.mixed.joined(theta, coefficients, variance)

    def _moved(self, params: NetworkParams, sign: float) -> NetworkParams:
        """Regressions of cells about the origin, of which sums of squares lose no digits, or back."""
        coefficients, variance = self.mixed.regressions(params)
        moved = []
        for i in self.gaussian:
            table = coefficients[i].copy()
            table[:, 0] += sign * (table[:, 1:] @ self.origin[regressors(self.nodes, i)] - self.origin[i])
            moved.append(table)
        return self.mixed.joined(params.theta, moved, list(variance.values()))

    def e_step(self, params: NetworkParams, block: Block) -> NetworkStats:
        """Expected counts and moments of the rows of a block."""
        codes, values, nodes = codes_of(block, self.nodes), values_of(block, self.nodes), self.nodes
        families = [nodes.family(int(i)) for i in np.flatnonzero(nodes.sizes)]
        if values is None:
            loglik, counts = self.mixed.inference.expected(params.theta, codes, block.weight, families)
            self._check_possible(loglik, block)
            return NetworkStats(float(block.weight @ loglik), float(block.weight.sum()), counts)
        params, values = self._moved(params, 1.0), values - self.origin
        loglik, counts = np.empty(len(codes)), np.zeros(int(nodes.offsets[-1]))
        moments = [0.0 * _empty(nodes, i) for i in self.gaussian]
        for part in self.mixed.parts(params, codes, values, families, range(len(nodes.names))):
            loglik[part.rows] = part.loglik
            weight = block.weight[part.rows]
            counts += weight @ part.marginals[:, : len(counts)]
            for component, message, posterior in zip(part.components, part.messages, part.posteriors):
                for i in component.families:
                    moments[self.gaussian.index(i)] += expected_moments(
                        nodes, component, message, weight[:, None] * posterior, values[part.rows], i
                    )
        self._check_possible(loglik, block)
        return NetworkStats(float(block.weight @ loglik), float(block.weight.sum()), counts, tuple(moments))

    @staticmethod
    def _check_possible(loglik: np.ndarray, block: Block) -> None:
        if np.isneginf(loglik).any():
            row = block.first + int(np.argmax(np.isneginf(loglik)))
            raise SingularError(
                f"row {row} is impossible under the network's tables; set prior above 0, or start from other tables."
            )

    def m_step(self, stats: NetworkStats, params: NetworkParams) -> NetworkParams:
        """The maximum; tables keep a distribution of which nothing is known."""
        nodes, theta = self.nodes, params.theta.copy()
        counts = stats.counts if self.pseudo is None else stats.counts + self.pseudo
        for i in np.flatnonzero(nodes.sizes):
            part = slice(nodes.offsets[i], nodes.offsets[i + 1])
            rows = counts[part].reshape(-1, nodes.cards[i])
            total = rows.sum(axis=1, keepdims=True)
            theta[part].reshape(rows.shape)[:] = np.where(
                total > 0, rows / np.where(total > 0, total, 1.0), theta[part].reshape(rows.shape)
            )
        coefficients, variance = self.mixed.regressions(self._moved(params, 1.0))
        solved = [
            solve_moments(m, FLOOR * self.scale[i] ** 2, coefficients[i], variance[i])
            for i, m in zip(self.gaussian, stats.moments)
        ]
        return self._moved(self.mixed.joined(theta, [c for c, _ in solved], [v for _, v in solved]), -1.0)

    def log_prior(self, params: NetworkParams) -> float:
        """Σ a log θ, up to a constant."""
        if self.pseudo is None:
            return 0.0
        used = self.pseudo > 0
        return float(self.pseudo[used] @ np.log(np.maximum(params.theta[used], 1e-300)))

    def coordinates(self, params: NetworkParams) -> Record:
        """Contrasts of the logs of every distribution of a table."""
        nodes = self.nodes
        if self.gaussian:
            raise NotImplementedError(
                f"{nodes.names[self.gaussian[0]]!r} is continuous, and its regression has no prior."
            )
        groups = [
            slice(start, start + nodes.cards[i])
            for i in range(len(nodes.names))
            for start in range(int(nodes.offsets[i]), int(nodes.offsets[i + 1]), int(nodes.cards[i]))
        ]
        return Record(params, theta=Simplex(params.theta, groups, alpha=1.0 + self._pseudo))

    @property
    def _pseudo(self) -> Any:
        return 0.0 if self.pseudo is None else self.pseudo

    def score(self, stats: NetworkStats, params: NetworkParams) -> dict[str, np.ndarray]:
        return {"theta": stats.counts / np.maximum(params.theta, 1e-300)}

    def prior_score(self, params: NetworkParams) -> dict[str, np.ndarray]:
        return {"theta": self._pseudo / np.maximum(params.theta, 1e-300)}

    def posterior(self, params: NetworkParams, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Log densities of rows; there is no class of a row, so that its probability is 1."""
        codes, values = codes_of(block, self.nodes), values_of(block, self.nodes)
        loglik = np.empty(len(codes))
        for part in self.mixed.parts(params, codes, values, (), ()):
            loglik[part.rows] = part.loglik
        return np.ones((len(codes), 1)), loglik

    # What was learned

    def check_params(self, params: NetworkParams, n_columns: int) -> None:
        """Raise where the parameters of a file are not those of the structure."""
        nodes = self.nodes
        if params.theta.shape != (int(nodes.offsets[-1]),):
            raise ValueError(f"'theta' has {params.theta.size} cells, but the tables have {int(nodes.offsets[-1])}")
        nodes.check_tables(params.theta)
        shapes = self.mixed.shapes
        sizes = sum(q * m for q, m in shapes), sum(q for q, _ in shapes)
        if (params.coefficients.size, params.variance.size) != sizes:
            raise ValueError("'coefficients' and 'variance' are not those of the continuous variables")
        if not (np.isfinite(params.coefficients).all() and (params.variance > 0).all()):
            raise ValueError(
                f"'variance' holds {params.variance.min():g}, which must be above 0, and all numbers finite"
            )

    def n_parameters(self, params: NetworkParams) -> int:
        """Free parameters: a probability less than there are states for each state of the parents, and those of regressions."""
        nodes = self.nodes
        free = sum(int(nodes.sizes[i] // nodes.cards[i] * (nodes.cards[i] - 1)) for i in np.flatnonzero(nodes.sizes))
        return free + params.coefficients.size + params.variance.size

    def sample(self, params: NetworkParams, n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows of all variables, codes and numbers, drawn from the roots down; the second says that each is of the one class."""
        drawn = self.mixed.draw_rows(params, n_rows, rng)
        return drawn[:, : self.n_columns], np.zeros(n_rows, int)


def _empty(nodes: Nodes, i: int) -> np.ndarray:
    """Moments of a continuous family, of no rows."""
    width = len(regressors(nodes, i)) + 2
    return np.zeros((int(np.prod(nodes.shape(i))), width, width))
