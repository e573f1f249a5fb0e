"""`Mixed`: answers of networks of discrete and continuous variables, the latter integrated out first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr, ndtri

from .continuous import Component, Message, components, integrate, regressors
from .inference import Inference, Soft
from .nodes import Nodes

if TYPE_CHECKING:
    from .model import NetworkParams

__all__ = ["Mixed", "Part"]

HALVINGS = 50
"""Steps to a quantile, each of which halves where it may lie."""


@dataclass(frozen=True)
class Part:
    """Answers for rows that observe the same continuous variables.

    Attributes
    ----------
    rows : (m,) int
    loglik : (m,)
    marginals : (m, cells)
        Posteriors of the targets, one after the other.
    components, messages, posteriors : lists
        Of the continuous variables, what each component says, and the posterior (m, cells) of its discrete parents.
    """

    rows: np.ndarray
    loglik: np.ndarray
    marginals: np.ndarray
    components: list[Component]
    messages: list[Message]
    posteriors: list[np.ndarray]

    def moments(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Posterior mean and variance of a hidden continuous variable for every row."""
        weight, mean, variance = self.mixture(i)
        centre = (weight * mean).sum(axis=1)
        return centre, (weight * (variance + (mean - centre[:, None]) ** 2)).sum(axis=1)

    def mixture(self, i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The posterior of a hidden continuous variable: weights and means (m, cells) and variances (cells,) of Gaussians."""
        for component, message, posterior in zip(self.components, self.messages, self.posteriors):
            if i in component.hidden:
                a = component.hidden.index(i)
                return posterior, message.mean[:, :, a], message.covariance[:, a, a]
        raise KeyError(i)

    def interval(self, i: int, level: float) -> np.ndarray:
        """Central intervals (m, 2) of a hidden continuous variable, which has a mixture of Gaussians."""
        weight, mean, variance = self.mixture(i)
        spread, ends = np.sqrt(variance), np.empty((len(weight), 2))
        for side, share in enumerate((0.5 - 0.5 * level, 0.5 + 0.5 * level)):
            points = mean + ndtri(share) * spread
            low, high = (
                points.min(axis=1),
                points.max(axis=1),
            )  # the mixture's quantile is between those of its components
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                above = (weight * ndtr((middle[:, None] - mean) / spread)).sum(axis=1) > share
                low, high = np.where(above, low, middle), np.where(above, middle, high)
            ends[:, side] = 0.5 * (low + high)
        return ends


class Mixed:
    """Questions to a network of variables of both kinds.

    Parameters
    ----------
    nodes : Nodes
    """

    def __init__(self, nodes: Nodes) -> None:
        self.nodes, self.inference = nodes, Inference(nodes)
        self.gaussian = np.flatnonzero(nodes.continuous).tolist()

    @cached_property
    def shapes(self) -> list[tuple[int, int]]:
        """States of the discrete parents, and coefficients, of each continuous variable."""
        return [(int(np.prod(self.nodes.shape(i))), len(regressors(self.nodes, i)) + 1) for i in self.gaussian]

    def regressions(self, params: NetworkParams) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
        """Coefficients (states, coefficients) and variances (states,) by variable."""
        ends = np.cumsum([q * m for q, m in self.shapes]), np.cumsum([q for q, _ in self.shapes])
        coefficients = [part.reshape(shape) for part, shape in zip(np.split(params.coefficients, ends[0]), self.shapes)]
        return dict(zip(self.gaussian, coefficients)), dict(zip(self.gaussian, np.split(params.variance, ends[1])))

    def joined(self, theta: np.ndarray, coefficients: list[np.ndarray], variance: list[np.ndarray]) -> NetworkParams:
        """Parameters of tables and of regressions, in the order of the variables."""
        from .model import NetworkParams

        flat = [np.concatenate([np.empty(0), *map(np.ravel, each)]) for each in (coefficients, variance)]
        return NetworkParams(theta, *flat)

    def draw_rows(self, params: NetworkParams, n: int, rng: np.random.Generator) -> np.ndarray:
        """Rows (n, variables) drawn from the roots down."""
        nodes, (coefficients, variance) = self.nodes, self.regressions(params)
        rows = np.full((n, len(nodes.names)), np.nan)
        for i in nodes.order:
            at = np.zeros(n, np.int64)
            for j in nodes.parents[i]:
                if not nodes.continuous[j]:
                    at = at * int(nodes.cards[j]) + rows[:, j].astype(np.int64)
            if nodes.continuous[i]:
                weights = coefficients[i][at]
                mean = weights[:, 0] + sum(w * rows[:, j] for w, j in zip(weights[:, 1:].T, regressors(nodes, i)))
                rows[:, i] = mean + np.sqrt(variance[i][at]) * rng.normal(size=n)
            else:
                table = params.theta[nodes.offsets[i] : nodes.offsets[i + 1]].reshape(-1, nodes.cards[i])
                cumulated = np.cumsum(table, axis=1)
                rows[:, i] = (rng.random((n, 1)) >= (cumulated / cumulated[:, -1:])[at]).sum(axis=1)
        return rows

    def messages(
        self,
        params: NetworkParams,
        values: np.ndarray | None,
        rows: np.ndarray,
        asked: Iterable[int],
        by_max: bool = False,
    ) -> tuple[list[Component], list[Message], list[Soft], np.ndarray]:
        """What continuous variables say of discrete ones in rows that observe the same of them, and logs taken off each row."""
        if values is None:
            return [], [], [], np.zeros(len(rows))
        own = values[rows]
        seen = [i for i in self.gaussian if not np.isnan(own[0, i])]
        found = components(self.nodes, {*asked, *seen}, seen)
        told = [integrate(self.nodes, each, *self.regressions(params), own, by_max) for each in found]
        soft, taken = [], np.zeros(len(rows))
        for component, message in zip(found, told):
            highest = message.log.max(axis=1)
            taken += highest
            if component.scope:
                soft.append(Soft(component.scope, np.exp(message.log - highest[:, None])))
        return found, told, soft, taken

    def groups(self, values: np.ndarray | None, n: int) -> list[np.ndarray]:
        """Rows that observe the same continuous variables."""
        if values is None:
            return [np.arange(n)]
        packed = np.packbits(~np.isnan(values[:, self.gaussian]), axis=1)
        kinds, group = np.unique(packed, axis=0, return_inverse=True)
        return [np.flatnonzero(group.ravel() == g) for g in range(len(kinds))]

    def parts(
        self, params: NetworkParams, codes: np.ndarray, values: np.ndarray | None, targets: Sequence[Sequence[int]],
        asked: Iterable[int], soft: Sequence[Soft] = (),
    ) -> Iterator[Part]:  # fmt: skip
        """Posteriors of discrete targets and of the continuous variables among `asked`, part by part of the rows."""
        for rows in self.groups(values, len(codes)):
            found, told, own, taken = self.messages(params, values, rows, asked)
            scopes = [component.scope for component in found]
            given = [*own, *(Soft(each.variables, each.values[rows]) for each in soft)]
            wanted = [*targets, *(scope for scope in scopes if scope)]
            loglik, marginals = self.inference.posteriors(params.theta, codes[rows], wanted, given)
            ends, posteriors, k = self.inference.cells(wanted), [], len(targets)
            for scope in scopes:
                if scope:
                    posteriors.append(marginals[:, ends[k] : ends[k + 1]])
                    k += 1
                else:
                    posteriors.append(np.ones((len(rows), 1)))
            yield Part(rows, loglik + taken, marginals[:, : ends[len(targets)]], found, told, posteriors)

    def most_probable(
        self,
        params: NetworkParams,
        codes: np.ndarray,
        values: np.ndarray | None,
        variables: Sequence[int],
        soft: Sequence[Soft] = (),
    ) -> tuple[np.ndarray, np.ndarray]:
        """Log maxima (rows,) and the rows completed: the most probable states of some discrete variables and, where these are
        all, the most probable values of the continuous ones.
        """
        n, whole = len(codes), set(variables) >= {i for i in range(len(self.nodes.names)) if self.nodes.states[i]}
        logs, filled = np.empty(n), np.full((n, len(self.nodes.names)), np.nan)
        for rows in self.groups(values, n):
            found, told, own, taken = self.messages(params, values, rows, self.gaussian if whole else (), whole)
            given = [*own, *(Soft(each.variables, each.values[rows]) for each in soft)]
            log, states = self.inference.most_probable(params.theta, codes[rows], variables, given)
            logs[rows] = log + taken
            filled[np.ix_(rows, np.array(variables, dtype=int))] = states
            if whole and values is not None:
                self._fill(found, told, rows, filled, values)
        return logs, filled

    def _fill(
        self,
        found: list[Component],
        told: list[Message],
        rows: np.ndarray,
        filled: np.ndarray,
        values: np.ndarray,
        rng: Any = None,
    ) -> None:
        """Values of continuous variables given the states of the discrete ones: observed, most probable, or drawn."""
        for component, message in zip(found, told):
            at = np.zeros(len(rows), np.int64)
            for j in component.scope:
                at = at * int(self.nodes.cards[j]) + filled[rows, j].astype(np.int64)
            if component.hidden:
                mean = message.mean[np.arange(len(rows)), at]
                if rng is not None:
                    root = np.linalg.cholesky(message.covariance)
                    mean = mean + np.einsum("nab,nb->na", root[at], rng.normal(size=mean.shape))
                filled[np.ix_(rows, np.array(component.hidden))] = mean
            for i in component.families:
                if i not in component.hidden:
                    filled[rows, i] = values[rows, i]

    def draw(
        self,
        params: NetworkParams,
        codes: np.ndarray,
        values: np.ndarray | None,
        n: int,
        rng: np.random.Generator,
        soft: Sequence[Soft] = (),
    ) -> tuple[float, np.ndarray]:
        """N rows drawn given what one row (1, variables) observes, and the log-likelihood of that."""
        found, told, own, taken = self.messages(params, values, np.arange(1), self.gaussian)
        log, states = self.inference.draw(params.theta, codes[0], n, rng, [*own, *soft])
        filled = states.astype(np.float64)
        filled[:, self.gaussian] = np.nan
        if values is not None and np.isfinite(log):
            many = [Message(np.repeat(m.log, n, 0), np.repeat(m.mean, n, 0), m.covariance) for m in told]
            self._fill(found, many, np.arange(n), filled, np.repeat(values, n, 0), rng)
        return log + float(taken[0]), filled
