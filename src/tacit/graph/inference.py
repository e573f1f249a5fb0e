"""`Inference`: exact answers of a network of discrete variables for rows of evidence, p(x | e) ∝ Σ Π_i θ_i · λ.

What was compiled for one question serves all later ones of its kind: of the same targets, and of rows that observe the same
columns.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import accumulate
from math import prod
from threading import Lock
from typing import NamedTuple

import numpy as np

from .nodes import Nodes
from .schedule import Compiled, Factor, compile_schedule, junction, strides
from .sizes import check_cells

__all__ = ["Inference", "Soft"]

MOST_COMPILED = 128
LARGE = 1e5  # cells: beyond, rows that observe the same variables are given a schedule of their own


class Soft(NamedTuple):
    """Factors that every row has of its own: variables, and values of shape (rows, cells)."""

    variables: tuple[int, ...]
    values: np.ndarray


class Inference:
    """Questions to a network, each compiled when it is first asked.

    Parameters
    ----------
    nodes : Nodes
    """

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self._cards: list[int] = nodes.cards.tolist()
        self._compiled: OrderedDict[tuple, Compiled] = OrderedDict()
        self._lock = Lock()

    def __reduce__(self) -> tuple:
        return Inference, (self.nodes,)

    # Compiling

    def _family(self, i: int) -> Factor:
        nodes = self.nodes
        return Factor(nodes.family(i), strides(nodes.shape(i)), int(nodes.offsets[i]))

    def kept(self, asked: Sequence[int]) -> tuple[int, ...]:
        """The discrete variables on which others depend that are asked for or observed; the rest sums to 1."""
        found, waiting = set(), list(asked)
        while waiting:
            i = waiting.pop()
            if i not in found:
                found.add(i)
                waiting += self.nodes.parents[i]
        return tuple(i for i in sorted(found) if self.nodes.states[i])

    def compiled(
        self, targets: Sequence[Sequence[int]], observed: Sequence[int], soft: Sequence[Sequence[int]] = (),
        some: Sequence[int] = (), maximised: Sequence[int] | None = None,
    ) -> Compiled:  # fmt: skip
        """The schedule for targets, in rows that all observe `observed` and some also others."""
        late = None if maximised is None else tuple(maximised)
        key = tuple(map(tuple, targets)), tuple(observed), tuple(map(tuple, soft)), tuple(some), late
        with self._lock:
            if key in self._compiled:
                self._compiled.move_to_end(key)
                return self._compiled[key]
        asked = {v for each in (*targets, observed, some, *soft, late or ()) for v in each}
        factors = [self._family(i) for i in self.kept(list(asked))]
        base = 0
        for scope in soft:
            shape = [int(self.nodes.cards[v]) for v in scope]
            factors.append(Factor(tuple(scope), strides(shape), base, True))
            base += prod(shape)
        found = compile_schedule(
            self.nodes.cards, factors, self._layout(targets), observed=observed, maximised=late, merge=late is None
        )
        check_cells(found, self.nodes)
        with self._lock:
            self._compiled[key] = found
            if len(self._compiled) > MOST_COMPILED:
                self._compiled.popitem(last=False)
        return found

    def _layout(self, targets: Sequence[Sequence[int]]) -> list[Factor]:
        """Targets one after the other."""
        found, base = [], 0
        for scope in targets:
            shape = [int(self.nodes.cards[v]) for v in scope]
            found.append(Factor(tuple(scope), strides(shape), base))
            base += prod(shape)
        return found

    def cells(self, targets: Sequence[Sequence[int]]) -> np.ndarray:
        """Where each target begins, and the end of the last."""
        sizes = [prod(self._cards[v] for v in scope) for scope in targets]
        return np.array([0, *accumulate(sizes)], dtype=np.int64)

    # Running

    def _groups(
        self,
        codes: np.ndarray,
        targets: Sequence[Sequence[int]],
        soft: Sequence[Soft],
        maximised: Sequence[int] | None = None,
    ) -> list[tuple[Compiled, np.ndarray]]:
        """Rows with the schedule that each goes by, those that observe the same variables together."""
        seen, scopes = codes >= 0, [each.variables for each in soft]
        always = np.flatnonzero(seen.all(axis=0)).tolist()
        some = np.flatnonzero(seen.any(axis=0) & ~seen.all(axis=0)).tolist()
        if not some:
            return [(self.compiled(targets, always, scopes, (), maximised), np.arange(len(codes)))]
        packed = np.packbits(seen, axis=1)
        order = np.lexsort(packed.T[::-1])
        changes = np.flatnonzero((packed[order[1:]] != packed[order[:-1]]).any(axis=1)) + 1
        try:
            told = self.compiled(targets, always, scopes, some, maximised)
            if told.total <= LARGE or len(changes) > MOST_COMPILED:
                return [(told, order)]
        except ValueError:  # too large where nothing more is observed, perhaps not in these rows
            if len(changes) > 100 * MOST_COMPILED:
                raise
        return [
            (self.compiled(targets, np.flatnonzero(seen[part[0]]).tolist(), scopes, (), maximised), part)
            for part in np.split(order, changes)
        ]

    def posteriors(
        self, theta: np.ndarray, codes: np.ndarray, targets: Sequence[Sequence[int]], soft: Sequence[Soft] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """Log-likelihoods (rows,) and posteriors of the targets (rows, cells), one after the other.

        Parameters
        ----------
        theta : ndarray
            All tables.
        codes : (n, variables) int32
            Observed states, −1 where there is none.
        targets : sequence of sequence of int
        soft : sequence of Soft
        """
        marginals = np.zeros((len(codes), int(self.cells(targets)[-1])))
        loglik = self._run(theta, codes, targets, soft, np.ones(len(codes)), marginals, np.empty(0))
        return loglik, marginals

    def expected(
        self, theta: np.ndarray, codes: np.ndarray, weight: np.ndarray, targets: Sequence[Sequence[int]]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Log-likelihoods (rows,) and the sum of the weighted posteriors of the targets (cells,)."""
        counts = np.zeros(int(self.cells(targets)[-1]))
        loglik = self._run(theta, codes, targets, (), weight, np.empty((0, 0)), counts)
        return loglik, counts

    def _run(
        self, theta: np.ndarray, codes: np.ndarray, targets: Sequence[Sequence[int]], soft: Sequence[Soft], weight: np.ndarray,
        marginals: np.ndarray, counts: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        loglik, softs = np.empty(len(codes)), _joined(soft)
        for compiled, rows in self._groups(codes, targets, soft):
            plan = junction.new_plan(compiled.schedule)
            junction.propagate(compiled.schedule, plan, codes, rows, theta, softs, weight, loglik, marginals, counts)
        return loglik

    def most_probable(
        self, theta: np.ndarray, codes: np.ndarray, variables: Sequence[int], soft: Sequence[Soft] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """The most probable states of some variables, the others being summed over: log maxima, and states (rows, some)."""
        loglik, states = np.empty(len(codes)), np.full(codes.shape, -1, np.int32)
        softs = _joined(soft)
        for compiled, rows in self._groups(codes, (), soft, tuple(variables)):
            plan = junction.new_plan(compiled.schedule)
            junction.maximise(compiled.schedule, plan, codes, rows, theta, softs, loglik, states)
        return loglik, states[:, list(variables)]

    def draw(
        self, theta: np.ndarray, codes: np.ndarray, n: int, rng: np.random.Generator, soft: Sequence[Soft] = ()
    ) -> tuple[float, np.ndarray]:
        """N draws of all discrete variables given what one row observes, and the log-likelihood of that."""
        everything = [v for v in range(len(codes)) if self.nodes.states[v]]
        seen = np.flatnonzero(codes >= 0).tolist()
        compiled = self.compiled((), seen, [each.variables for each in soft], everything)
        plan = junction.new_plan(compiled.schedule)
        states = np.full((n, len(codes)), -1, np.int32)
        chance = rng.random((n, len(compiled.cliques)))
        softs = _joined(soft)
        own = softs[0] if len(softs) else np.empty(0)
        return junction.draw_joint(compiled.schedule, plan, codes, theta, own, chance, states), states


def _joined(soft: Sequence[Soft]) -> np.ndarray:
    """Factors of rows side by side, (rows, cells)."""
    if not soft:
        return np.empty((0, 0))
    return np.ascontiguousarray(np.hstack([each.values for each in soft]), dtype=np.float64)
