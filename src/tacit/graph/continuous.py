"""Continuous variables that depend linearly on each other, p(x_i | x_c, x_d) = N(x_i; b_d + w_d · x_c, s_d).

Given the states d of the discrete parents, hidden continuous variables z of a component are jointly Gaussian in canonical form,
exp(−z·K_d z / 2 + h_d · z + g_d). They are integrated out before any discrete variable is (a strong root), which leaves one
factor over the discrete parents of the component: exact, at the cost of a table over all of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .nodes import Nodes

__all__ = ["Component", "Message", "components", "expected_moments", "integrate", "regressors", "solve_moments"]

LOG_2PI = float(np.log(2.0 * np.pi))
MOST_CELLS = 2**26  # numbers of one component in a block of rows: half a gigabyte


@dataclass(frozen=True)
class Component:
    """Continuous families that share hidden variables.

    Attributes
    ----------
    families : tuple of int
        Continuous variables, each with its regression.
    hidden : tuple of int
        Those of their variables that are not observed.
    scope : tuple of int
        Discrete parents.
    """

    families: tuple[int, ...]
    hidden: tuple[int, ...]
    scope: tuple[int, ...]


@dataclass(frozen=True)
class Message:
    """What a component says of its discrete parents, and of its hidden variables given them.

    Attributes
    ----------
    log : (rows, cells)
        Log density of what rows observe, for each state of the discrete parents.
    mean : (rows, cells, hidden)
    covariance : (cells, hidden, hidden)
    """

    log: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray


def components(nodes: Nodes, asked: Iterable[int], observed: Iterable[int]) -> list[Component]:
    """The components of the continuous variables among `asked` and those they depend on."""
    seen, taken, waiting = set(observed), set(), list(asked)
    while waiting:
        i = waiting.pop()
        if i not in taken:
            taken.add(i)
            waiting += nodes.parents[i]
    families = [i for i in sorted(taken) if nodes.continuous[i]]
    home = {i: i for i in families}

    def root(i: int) -> int:
        while home[i] != i:
            i = home[i]
        return i

    for i in families:
        for j in nodes.parents[i]:
            if nodes.continuous[j] and j not in seen:
                home[root(i)] = root(j)
    groups: dict[int, list[int]] = {}
    for i in families:
        groups.setdefault(root(i), []).append(i)
    found = []
    for group in groups.values():
        scope = sorted({j for i in group for j in nodes.parents[i] if not nodes.continuous[j]})
        found.append(Component(tuple(group), tuple(i for i in group if i not in seen), tuple(scope)))
    return found


def _cells_of(nodes: Nodes, scope: Sequence[int], family: Sequence[int]) -> np.ndarray:
    """For every state of a scope the state of a family within it, both as numbers of cells."""
    if not scope:
        return np.zeros(1, np.int64)
    shape = [int(nodes.cards[j]) for j in scope]
    grid = np.indices(shape).reshape(len(shape), -1)
    number = np.zeros(grid.shape[1], np.int64)
    for j in family:
        number = number * int(nodes.cards[j]) + grid[list(scope).index(j)]
    return number


def regressors(nodes: Nodes, i: int) -> list[int]:
    """The continuous parents of a variable."""
    return [j for j in nodes.parents[i] if nodes.continuous[j]]


def integrate(
    nodes: Nodes, component: Component, coefficients: dict[int, np.ndarray], variance: dict[int, np.ndarray],
    values: np.ndarray, by_max: bool = False,
) -> Message:  # fmt: skip
    """Integrate the hidden variables of a component out of rows `values` (rows, variables), or maximise over them."""
    n, k = len(values), len(component.hidden)
    cells = int(np.prod([nodes.cards[j] for j in component.scope], dtype=np.float64))
    if n * cells * (k + 1.0) > MOST_CELLS and n > 1:
        parts = [
            integrate(nodes, component, coefficients, variance, part, by_max) for part in np.array_split(values, 2)
        ]
        log, mean = np.concatenate([part.log for part in parts]), np.concatenate([part.mean for part in parts])
        return Message(log, mean, parts[0].covariance)
    if cells * (k + 1.0) ** 2 > MOST_CELLS:
        some = ", ".join(str(nodes.names[j]) for j in component.scope[:6])
        raise ValueError(
            f"{len(component.families)} continuous variables have {len(component.scope)} discrete parents together ({some}, …), "
            f"{cells:.3g} states, {8.0 * cells * (k + 1) ** 2:.3g} bytes; observe more of them, or remove edges."
        )
    place = {j: a for a, j in enumerate(component.hidden)}
    log, precision = np.zeros((n, cells)), np.zeros((cells, k, k))
    linear = np.zeros((n, cells, k))
    for i in component.families:
        own = _cells_of(nodes, component.scope, [j for j in nodes.parents[i] if not nodes.continuous[j]])
        weights, spread = coefficients[i][own], variance[i][own]
        slope, rest = np.zeros((cells, k)), np.broadcast_to(-weights[:, 0], (n, cells)).copy()
        for j, factor in [(i, np.ones(cells)), *zip(regressors(nodes, i), -weights[:, 1:].T)]:
            if j in place:
                slope[:, place[j]] += factor
            else:
                rest += values[:, j, None] * factor
        precision += slope[:, :, None] * slope[:, None, :] / spread[:, None, None]
        linear -= slope * (rest / spread)[:, :, None]
        log -= 0.5 * (rest**2 / spread + np.log(spread) + LOG_2PI)
    if not k:
        return Message(log, linear, precision)
    covariance = np.linalg.inv(precision)
    mean = np.einsum("dab,ndb->nda", covariance, linear)
    log += 0.5 * np.einsum("nda,nda->nd", mean, linear)
    if not by_max:
        log += 0.5 * (k * LOG_2PI - np.linalg.slogdet(precision)[1])
    return Message(log, mean, covariance)


def expected_moments(
    nodes: Nodes, component: Component, message: Message, weight: np.ndarray, values: np.ndarray, i: int
) -> np.ndarray:
    """Σ E[v v'] of v = (1, continuous parents, x_i) for each state of the discrete parents of x_i.

    Parameters
    ----------
    weight : (rows, cells)
        Posterior of the scope times the weight of the row.
    """
    variables = [*regressors(nodes, i), i]
    place = {j: a for a, j in enumerate(component.hidden)}
    n, cells = weight.shape
    v = np.ones((n, cells, len(variables) + 1))
    for a, j in enumerate(variables, 1):
        v[:, :, a] = message.mean[:, :, place[j]] if j in place else values[:, j, None]
    moments = np.einsum("nd,nda,ndb->dab", weight, v, v, optimize=True)
    both = [(a, place[j]) for a, j in enumerate(variables, 1) if j in place]
    if both:
        mine, theirs = (np.array(each) for each in zip(*both))
        block = message.covariance[:, theirs[:, None], theirs]
        moments[:, mine[:, None], mine] += weight.sum(axis=0)[:, None, None] * block
    own = _cells_of(nodes, component.scope, [j for j in nodes.parents[i] if not nodes.continuous[j]])
    total = np.zeros((int(np.prod(nodes.shape(i))), *moments.shape[1:]))
    np.add.at(total, own, moments)
    return total


def solve_moments(
    moments: np.ndarray, floor: float, coefficients: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and variances of regressions that maximise the likelihood; a state that no row has keeps what it had."""
    coefficients, variance = coefficients.copy(), variance.copy()
    for cell, m in enumerate(moments):
        count = m[0, 0]
        if count <= 1e-8:
            continue
        # Centred first: raw second moments lose digits where means are large.
        mean = m[0, 1:] / count
        centred = m[1:, 1:] / count - np.outer(mean, mean)
        slope = np.linalg.lstsq(centred[:-1, :-1], centred[:-1, -1], rcond=1e-10)[0]
        left = centred[-1, -1] - 2.0 * slope @ centred[:-1, -1] + slope @ centred[:-1, :-1] @ slope
        coefficients[cell] = mean[-1] - slope @ mean[:-1], *slope
        variance[cell] = max(float(left), floor)
    return coefficients, variance
