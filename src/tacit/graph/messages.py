"""Messages of a factor graph: what each factor tells each of its variables, in logarithms.

    m_{f→v}(x_v) = ⊕_{x_u, u ≠ v} φ_f(x) Π_{u ≠ v} Π_{g ≠ f} m_{g→u}(x_u)

with ⊕ a sum (sum-product) or a maximum (max-product). On a tree each message is sent once, from the leaves to a root and back;
with loops they are sent until they hardly change, the one that would change most first.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from ..notes import Note

__all__ = ["ImpossibleError", "Messages", "pass_messages", "tree_order"]

Scopes = Sequence[tuple[int, ...]]
EXACT = Note("exact", "every message was sent once, which is exact on a tree")


class ImpossibleError(ValueError):
    """All states have probability 0."""


class Messages:
    """Messages from factors to variables.

    Parameters
    ----------
    scopes : sequence of tuple of int
        Variables of each factor.
    tables : sequence of ndarray
        Logs of the factors, an axis a variable.
    unary : sequence of ndarray
        Logs of what is known of each variable.
    largest : bool
        Whether states are maximised over instead of summed.
    """

    def __init__(self, scopes: Scopes, tables: Sequence[np.ndarray], unary: Sequence[np.ndarray], largest: bool):
        self.scopes, self.tables, self.unary, self.largest = scopes, tables, unary, largest
        self.near: list[list[int]] = [[] for _ in unary]
        for f, scope in enumerate(scopes):
            for v in scope:
                self.near[v].append(f)
        self.sent = {(f, v): np.zeros(len(unary[v])) for f, scope in enumerate(scopes) for v in scope}

    def told(self, v: int, without: int = -1) -> np.ndarray:
        """What a variable knows of its states, from all factors but one."""
        return self.unary[v] + sum(self.sent[f, v] for f in self.near[v] if f != without)

    def joint(self, f: int, without: int = -1) -> np.ndarray:
        """A factor times what its variables know from elsewhere, but for one of them."""
        scope, total = self.scopes[f], self.tables[f]
        for axis, u in enumerate(scope):
            if u != without:
                shape = [1] * len(scope)
                shape[axis] = -1
                total = total + self.told(u, f).reshape(shape)
        return total

    def message(self, f: int, v: int) -> np.ndarray:
        """What a factor has to tell a variable now; its total is 1, or its maximum."""
        total, others = self.joint(f, v), tuple(a for a, u in enumerate(self.scopes[f]) if u != v)
        if others:
            total = total.max(axis=others) if self.largest else logsumexp(total, axis=others)
        return normalised(total, self.largest)

    def send(self, f: int, v: int) -> None:
        """Let a factor tell a variable."""
        self.sent[f, v] = self.message(f, v)


def normalised(log: np.ndarray, largest: bool) -> np.ndarray:
    """Logs whose maximum, or total, is that of 1.

    Parameters
    ----------
    log : ndarray
    largest : bool
    """
    top = log.max() if largest else logsumexp(log)
    if top == -np.inf:
        raise ImpossibleError
    return log - top


def tree_order(scopes: Scopes, n_variables: int) -> list[tuple[int, int]] | None:
    """Factors with the variable towards the root, the root's first; None where there are loops.

    Parameters
    ----------
    scopes : sequence of tuple of int
    n_variables : int
    """
    near: list[list[int]] = [[] for _ in range(n_variables)]
    for f, scope in enumerate(scopes):
        for v in scope:
            near[v].append(f)
    order, seen, used = [], [False] * n_variables, [False] * len(scopes)
    for root in range(n_variables):
        ahead = [] if seen[root] else [root]
        seen[root] = True
        for v in ahead:
            for f in near[v]:
                if used[f]:
                    continue
                used[f] = True
                order.append((f, v))
                for u in scopes[f]:
                    if u == v:
                        continue
                    if seen[u]:
                        return None
                    seen[u] = True
                    ahead.append(u)
    return order


def pass_messages(
    messages: Messages, order: list[tuple[int, int]] | None, max_iter: int, tol: float, damping: float, schedule: str
) -> Note:
    """Send messages until all is told; says why that ended.

    Parameters
    ----------
    messages : Messages
    order : list of (factor, variable), or None
        As of `tree_order`.
    max_iter : int
        With loops, how often each message is sent at most, on average.
    tol, damping : float
        The change at which messages rest, and the share of the old one that is kept.
    schedule : {"residual", "sweep"}
    """
    if order is not None:
        for f, v in reversed(order):
            messages.send(f, v)
        for f, v in order:
            for u in messages.scopes[f]:
                if u != v:
                    messages.send(f, u)
        return EXACT
    passing = _by_residual if schedule == "residual" else _by_sweeps
    n_sent, change = passing(messages, max_iter * len(messages.sent), tol, damping)
    if change <= tol:
        told = (
            "messages changed by less than tol={tol:g} after {n_sent} were sent; with loops the result is approximate"
        )
        return Note("converged", told, tol=tol, n_sent=n_sent)
    told = "messages did not settle: after {n_sent} were sent the next would change by {change:.3g}; the result is unreliable"
    return Note("not_converged", told, n_sent=n_sent, change=change)


def _changed(old: np.ndarray, new: np.ndarray) -> float:
    return float(np.abs(np.exp(new) - np.exp(old)).max())


def _mixed(messages: Messages, key: tuple[int, int], damping: float) -> np.ndarray:
    """The message to send, with a share of the one that was sent before."""
    new = messages.message(*key)
    if not damping:
        return new
    with np.errstate(divide="ignore"):
        mixed = np.log(damping * np.exp(messages.sent[key]) + (1.0 - damping) * np.exp(new))
    return normalised(mixed, messages.largest)


def _by_residual(messages: Messages, most: int, tol: float, damping: float) -> tuple[int, float]:
    """Always the message that would change most (Elidan, McGraw and Koller)."""
    ready = {key: _mixed(messages, key, damping) for key in messages.sent}
    change = {key: _changed(messages.sent[key], new) for key, new in ready.items()}
    heap = [(-value, key) for key, value in change.items()]
    heapq.heapify(heap)
    n_sent = 0
    while heap:
        value, key = heapq.heappop(heap)
        if -value != change[key]:
            continue  # it was made again since
        if -value <= tol or n_sent >= most:
            return n_sent, -value
        f, v = key
        messages.sent[key], n_sent = ready[key], n_sent + 1
        later = [(g, u) for g in messages.near[v] if g != f for u in messages.scopes[g] if u != v]
        for other in [key, *later]:
            ready[other] = _mixed(messages, other, damping)
            change[other] = _changed(messages.sent[other], ready[other])
            heapq.heappush(heap, (-change[other], other))
    return n_sent, 0.0


def _by_sweeps(messages: Messages, most: int, tol: float, damping: float) -> tuple[int, float]:
    """All messages in turn, and again."""
    n_sent, change = 0, np.inf
    while change > tol and n_sent < most:
        change = 0.0
        for key in messages.sent:
            new = _mixed(messages, key, damping)
            change = max(change, _changed(messages.sent[key], new))
            messages.sent[key], n_sent = new, n_sent + 1
    return n_sent, change
