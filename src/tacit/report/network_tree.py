"""`tree_of`: the junction tree of a belief network, p(x) = Π_c Π_{i in c} p(x_i | x_pa(i)), as numbers a page goes on with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph.schedule import Compiled, Factor, compile_schedule, strides

__all__ = ["MOST_CELLS", "MOST_TABLES", "as_json", "marginals_of", "tree_of"]

MOST_CELLS = 4_000_000
"""Numbers in the tables of all cliques that a page works with: some 100 MB of its memory, and less than a second a click."""
MOST_TABLES = 400_000
"""Numbers in the conditional tables that a page carries: a few MB."""
MOST_ASKED = 1e8
"""Cells of the tables that one marginal of the drawing may need."""

Scoped = tuple[int, tuple[int, ...], np.ndarray, np.ndarray]


def tree_of(network: Any) -> dict | None:
    """What a page needs for exact answers; None where that is too much, or where there are no discrete variables.

    Parameters
    ----------
    network : BeliefNetwork

    Returns
    -------
    dict or None
        By key: ``cards``, states of all variables (0 of continuous ones); ``cliques``, variables of each, children before
        parents; ``parents`` of cliques, −1 of a root; ``shared``, how many of the first variables of a clique its parent has
        as well; ``homes``, of each variable a clique that holds it; ``tables``, of each discrete variable the clique that it is
        multiplied to, its axes and probabilities; ``gaussian``, of each continuous variable a clique, the discrete variables in
        it on which the continuous one depends, and means and variances for all of their states.
    """
    nodes = network.nodes_
    discrete = np.flatnonzero(~nodes.continuous).tolist()
    if not discrete or int(nodes.sizes.sum()) > MOST_TABLES:
        return None
    try:
        scoped = [_gaussian(network, i) for i in np.flatnonzero(nodes.continuous).tolist()]
    except ValueError:  # a table over all the discrete parents of a component does not fit
        return None
    if sum(len(means) for _, _, means, _ in scoped) > MOST_TABLES:
        return None
    compiled = _compiled(nodes, discrete, [scope for _, scope, _, _ in scoped])
    if compiled.total > MOST_CELLS:
        return None
    schedule, homes = compiled.schedule, compiled.schedule.target_clique.tolist()
    at = dict(zip(discrete, homes))
    table_home = np.empty(len(discrete), np.int64)
    for c in range(len(compiled.cliques)):
        table_home[schedule.own[schedule.own_start[c] : schedule.own_start[c + 1]]] = c
    return {
        "cards": [0 if gauss else card for card, gauss in zip(nodes.cards.tolist(), nodes.continuous)],
        "cliques": [list(clique) for clique in compiled.cliques],
        "parents": schedule.parent.tolist(),
        "shared": schedule.n_shared.tolist(),
        "homes": [at.get(i, -1) for i in range(len(nodes.names))],
        "tables": [
            [home, list(nodes.family(i)), _table(network, i).tolist()] for i, home in zip(discrete, table_home.tolist())
        ],
        "gaussian": [
            [i, home, list(scope), means.tolist(), variances.tolist()]
            for (i, scope, means, variances), home in zip(scoped, homes[len(discrete) :])
        ],
    }  # fmt: skip


def _table(network: Any, i: int) -> np.ndarray:
    nodes = network.nodes_
    return network.params_.theta[nodes.offsets[i] : nodes.offsets[i + 1]]


def _gaussian(network: Any, i: int) -> Scoped:
    """A continuous variable, the discrete ones it depends on, and its means and variances given these."""
    nowhere = np.full((1, len(network.nodes_.names)), np.nan)
    found, told, _, _ = network._mixed.messages(network.params_, nowhere, np.zeros(1, np.int64), [i])
    for component, message in zip(found, told):
        if i in component.hidden:
            a = component.hidden.index(i)
            return i, component.scope, message.mean[0, :, a], message.covariance[:, a, a]
    raise KeyError(i)


def _compiled(nodes: Any, discrete: Sequence[int], scopes: Sequence[tuple[int, ...]]) -> Compiled:
    """The tree in which every variable and every scope lies in one clique."""

    def factor(scope: Sequence[int], base: int = 0) -> Factor:
        return Factor(tuple(scope), strides([int(nodes.cards[v]) for v in scope]), base)

    families = [factor(nodes.family(i), int(nodes.offsets[i])) for i in discrete]
    return compile_schedule(nodes.cards, families, [factor(scope) for scope in [*((i,) for i in discrete), *scopes]])


def marginals_of(network: Any) -> list:
    """Of each variable the probabilities of its states, or mean and standard deviation; None where that is too much work.

    Each is found among the variables on which it depends, which is little where a tree for all of them would be large.
    """
    return [_marginal(network, i) for i in range(len(network.nodes_.names))]


def _marginal(network: Any, i: int) -> Any:
    nodes = network.nodes_
    try:
        if nodes.continuous[i]:
            found = network.query(nodes.names[i])
            return found.mean, float(np.sqrt(found.variance))
        if network._mixed.inference.compiled([(i,)], ()).total > MOST_ASKED:
            return None
        return network.query([nodes.names[i]]).values
    except ValueError:  # the tables do not fit into memory
        return None


def as_json(value: Any) -> str:
    """Lists of numbers as JSON that reads back to the same bits, whole ones without their point."""
    if isinstance(value, dict):
        return "{" + ",".join(f'"{key}":{as_json(each)}' for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(as_json, value)) + "]"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
