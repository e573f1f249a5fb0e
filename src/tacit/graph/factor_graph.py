"""`FactorGraph`: p(x) ∝ Π_f φ_f(x_f), asked by messages between factors and variables."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from scipy.special import xlogy

from ..checks import check_choice, check_number
from ..notes import Note
from .beliefs import Beliefs, Solution, is_tied, names_of, shares_of
from .elimination import eliminate
from .messages import ImpossibleError, Messages, pass_messages, tree_order
from .potential import Potential, state_number

__all__ = ["FactorGraph"]

SCHEDULES = ("residual", "sweep")


class FactorGraph:
    """A product of factors over discrete variables, as a graph of factors and variables.

    Parameters
    ----------
    factors : iterable of Potential
        Tables that are multiplied, such as those of `read_uai_factors`.

    Attributes
    ----------
    factors : list of Potential
    states : dict of variable to tuple
        In the order in which factors name variables.
    is_tree : bool
        Whether the graph has no loop, so that messages are exact.

    References
    ----------
    Kschischang, Frey and Loeliger (2001), Factor graphs and the sum-product algorithm.

    Examples
    --------
    >>> from tacit.graph import FactorGraph, Potential
    >>> graph = FactorGraph([Potential("ab", [[3, 1], [1, 3]]), Potential("bc", [[2, 1], [1, 2]])])
    >>> graph.sum_product({"c": 1}).marginals["a"].values.round(3).tolist()
    [0.417, 0.583]
    >>> graph.most_probable({"c": 1}).states
    {'a': 1, 'b': 1, 'c': 1}
    """

    def __init__(self, factors: Iterable[Potential]) -> None:
        self.factors = list(factors)
        self.states: dict[Any, tuple] = {}
        for factor in self.factors:
            if not isinstance(factor, Potential):
                raise TypeError(f"a factor is a {type(factor).__name__}; give tables of tacit.graph.Potential.")
            for v in factor.variables:
                if self.states.setdefault(v, factor.states[v]) != factor.states[v]:
                    raise ValueError(
                        f"the states of {v!r} are {list(self.states[v])} in one factor and {list(factor.states[v])} in another; "
                        "give it the same ones in the same order."
                    )
        if not self.states:
            raise ValueError("the factors have no variable; give at least one factor of a variable.")
        self._number = {v: i for i, v in enumerate(self.states)}
        self._scopes = [tuple(self._number[v] for v in factor.variables) for factor in self.factors]

    def __repr__(self) -> str:
        kind = "a tree" if self.is_tree else "with loops"
        return f"{type(self).__name__}({len(self.factors)} factors of {len(self.states)} variables, {kind})"

    @property
    def variables(self) -> tuple:
        """The variables."""
        return tuple(self.states)

    @cached_property
    def _order(self) -> list[tuple[int, int]] | None:
        return tree_order(self._scopes, len(self.states))

    @property
    def is_tree(self) -> bool:
        """Whether the graph has no loop."""
        return self._order is not None

    @cached_property
    def _logs(self) -> list[np.ndarray]:
        return [factor.log for factor in self.factors]

    def log_value(self, states: Mapping) -> float:
        """The log of the product of the factors at states of all variables.

        Parameters
        ----------
        states : dict of variable to state
        """
        at = [state_number(v, known, self._state(states, v)) for v, known in self.states.items()]
        return float(sum(log[tuple(at[i] for i in scope)] for log, scope in zip(self._logs, self._scopes)))

    @staticmethod
    def _state(states: Mapping, v: Hashable) -> Any:
        if v not in states:
            raise ValueError(f"states does not tell {v!r}; give a state of every variable.")
        return states[v]

    # Evidence

    def _known(self, given: Mapping | None) -> list[np.ndarray]:
        """Logs of what evidence says of each variable."""
        unary = [np.zeros(len(known)) for known in self.states.values()]
        for v, state in (given or {}).items():
            if v not in self.states:
                raise ValueError(
                    f"given tells of {v!r}, which is no variable; there are {', '.join(map(str, self.states))}."
                )
            at = state_number(v, self.states[v], state)
            unary[self._number[v]][np.arange(len(self.states[v])) != at] = -np.inf
        return unary

    def _conflict(self, given: Mapping | None) -> str:
        """Which part of the evidence is impossible: what is left where nothing can be left out."""

        def impossible(part: Mapping) -> bool:
            try:
                self._sent(self._known(part), True)
            except ImpossibleError:
                return True
            return False

        rest = dict(given or {})
        if impossible({}):
            return "the product of the factors is 0 for all states; give factors that allow at least one."
        for v in list(rest):
            less = {u: state for u, state in rest.items() if u != v}
            rest = less if impossible(less) else rest
        told = ", ".join(f"{v} = {state}" for v, state in rest.items())
        return f"the evidence is impossible: {told} has probability 0; correct or leave out one of these."

    # Messages

    def _sent(
        self, unary: list[np.ndarray], largest: bool, max_iter: int = 100, tol: float = 1e-8, damping: float = 0.3,
        schedule: str = "residual",
    ) -> tuple[Messages, Note]:  # fmt: skip
        messages = Messages(self._scopes, self._logs, unary, largest)
        reason = pass_messages(messages, self._order, max_iter, tol, damping, schedule)
        for v in range(len(unary)):
            if messages.told(v).max() == -np.inf:
                raise ImpossibleError
        return messages, reason

    @staticmethod
    def _check_settings(max_iter: int, tol: float, damping: float, schedule: str) -> dict[str, Any]:
        check_number("max_iter", max_iter, numbers.Integral, 1)
        check_number("tol", tol, numbers.Real, 0)
        check_number("damping", damping, numbers.Real, 0, 0.999)
        check_choice("schedule", schedule, SCHEDULES)
        return {"max_iter": max_iter, "tol": tol, "damping": damping, "schedule": schedule}

    def sum_product(
        self, given: Mapping | None = None, *, max_iter: int = 100, tol: float = 1e-8, damping: float = 0.3,
        schedule: str = "residual",
    ) -> Beliefs:  # fmt: skip
        """The marginals of all variables and factors: exact on trees, approximate with loops.

        Parameters
        ----------
        given : dict of variable to state, optional
            What is observed.
        max_iter : int, default=100
            With loops, how often each message is sent at most, on average.
        tol : float, default=1e-8
            With loops, messages rest when none would change by more.
        damping : float, default=0.3
            With loops, the share of the old message that is kept.
        schedule : {"residual", "sweep"}, default="residual"
            With loops, whether the message that would change most comes next, or each in turn.

        Returns
        -------
        Beliefs
        """
        settings = self._check_settings(max_iter, tol, damping, schedule)
        try:
            messages, reason = self._sent(self._known(given), False, **settings)
            shares = [shares_of(messages.told(v)) for v in range(len(self.states))]
            tables = [shares_of(messages.joint(f)) for f in range(len(self.factors))]
        except ImpossibleError:
            raise ValueError(self._conflict(given)) from None
        marginals = {v: Potential([v], p, {v: self.states[v]}) for v, p in zip(self.states, shares)}
        factors = [Potential(factor.variables, p, self.states) for factor, p in zip(self.factors, tables)]
        return Beliefs(marginals, factors, self._bethe(shares, tables), self.is_tree, reason)

    def _bethe(self, shares: list[np.ndarray], tables: list[np.ndarray]) -> float:
        """Bethe's free energy: Σ_f Σ b_f log (φ_f / b_f) + Σ_v (d_v − 1) Σ b_v log b_v; exact on a tree."""
        total, degree = 0.0, np.zeros(len(shares))
        for table, log, scope in zip(tables, self._logs, self._scopes):
            total += float((table * np.where(table > 0, log, 0.0)).sum() - xlogy(table, table).sum())
            degree[list(scope)] += 1.0
        return total + float(sum((d - 1.0) * xlogy(p, p).sum() for d, p in zip(degree, shares)))

    def query(self, variables: Any, given: Mapping | None = None) -> Potential:
        """The joint distribution of some variables given others: exact also with loops, by elimination.

        Parameters
        ----------
        variables : variable or list of variables
        given : dict of variable to state, optional

        Returns
        -------
        Potential
        """
        asked = names_of(variables, self.states)
        self._known(given)
        found = eliminate(
            [factor.reduce(given or {}) for factor in self.factors], [v for v in asked if v not in (given or {})]
        )
        if not found.total > 0:
            raise ValueError(self._conflict(given))
        for v in asked:
            if v in (given or {}):
                sure = np.array([float(state == given[v]) for state in self.states[v]])  # type: ignore[index]
                found = found * Potential([v], sure, {v: self.states[v]})
        return found.aligned(asked).normalised()

    # The most probable states

    def most_probable(
        self, given: Mapping | None = None, *, max_iter: int = 100, tol: float = 1e-8, damping: float = 0.3,
        schedule: str = "residual",
    ) -> Solution:  # fmt: skip
        """The states with the largest product, by max-product: exact on trees.

        Parameters
        ----------
        given, max_iter, tol, damping, schedule
            As in `sum_product`.

        Returns
        -------
        Solution
        """
        settings = self._check_settings(max_iter, tol, damping, schedule)
        try:
            return self._best(self._known(given), settings)
        except ImpossibleError:
            raise ValueError(self._conflict(given)) from None

    def _best(self, unary: list[np.ndarray], settings: dict[str, Any]) -> Solution:
        messages, reason = self._sent(unary, True, **settings)
        at, notes = self._decoded(messages), []
        value = float(sum(log[tuple(at[i] for i in scope)] for log, scope in zip(self._logs, self._scopes)))
        tied = [v for i, v in enumerate(self.states) if is_tied(messages.told(i))]
        if tied:
            told = "other states are as probable: {variables} can be in more than one of their states at the maximum"
            notes.append(Note("ties", told, variables=", ".join(map(str, tied))))
        if value == -np.inf:
            notes.append(
                Note("impossible", "the states that were found have probability 0; use more max_iter or query")
            )
        states = {v: known[at[i]] for i, (v, known) in enumerate(self.states.items())}
        return Solution(states, value, self.is_tree, reason, notes)

    def _decoded(self, messages: Messages) -> list[int]:
        """States of the maximum, each chosen given those of its neighbours that are chosen already."""
        at = [-1] * len(self.states)
        for root in range(len(at)):
            ahead = [] if at[root] >= 0 else [root]
            if ahead:
                at[root] = int(messages.told(root).argmax())
            for v in ahead:
                for f in messages.near[v]:
                    scope = self._scopes[f]
                    free = [u for u in scope if at[u] < 0]
                    if not free:
                        continue
                    rest = messages.joint(f)[tuple(slice(None) if at[u] < 0 else at[u] for u in scope)]
                    for u, state in zip(free, np.unravel_index(int(rest.argmax()), rest.shape)):
                        at[u] = int(state)
                    ahead.extend(free)
        return at

    def n_best(self, n: int, given: Mapping | None = None, **settings: Any) -> list[Solution]:
        """The n most probable states of all variables, the best first: exact on trees.

        Parameters
        ----------
        n : int
        given : dict of variable to state, optional
        **settings
            As in `sum_product`.

        Returns
        -------
        list of Solution
            Fewer where fewer states are possible.

        References
        ----------
        Nilsson (1998), An efficient algorithm for finding the M most probable configurations in probabilistic expert systems.
        """
        check_number("n", n, numbers.Integral, 1)
        defaults: dict[str, Any] = {"max_iter": 100, "tol": 1e-8, "damping": 0.3, "schedule": "residual"}
        first, chosen = self.most_probable(given, **settings), defaults | settings
        # Each candidate is the best of a part of all states; the parts of the best without itself take its place.
        waiting = [(first, self._known(given))]
        found: list[Solution] = []
        while waiting and len(found) < n:
            place = max(range(len(waiting)), key=lambda i: waiting[i][0].log_value)
            best, unary = waiting.pop(place)
            if best.log_value == -np.inf:
                continue
            found.append(best)
            for part in self._without(best, unary):
                try:
                    waiting.append((self._best(part, chosen), part))
                except ImpossibleError:
                    continue
        return found

    def _without(self, best: Solution, unary: list[np.ndarray]) -> Iterator[list[np.ndarray]]:
        """Parts of the states that are allowed, which together are all but the best: those that differ from it first at v."""
        unary = [each.copy() for each in unary]
        for i, (v, known) in enumerate(self.states.items()):
            at, part = known.index(best.states[v]), [each.copy() for each in unary]
            part[i][at] = -np.inf
            if part[i].max() > -np.inf:
                yield part
            unary[i][np.arange(len(known)) != at] = -np.inf

    def enumerate_states(self) -> Iterator[tuple[dict, float]]:
        """All states of all variables with the log of their product: the definition, for a few variables."""
        for states in product(*self.states.values()):
            told = dict(zip(self.states, states))
            yield told, self.log_value(told)
