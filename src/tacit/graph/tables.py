"""Tables and regressions as users give them, put together to a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .nodes import Nodes, closest
from .potential import Potential

__all__ = ["read_tables"]


def read_tables(
    tables: Mapping, states: Mapping | None = None
) -> tuple[Nodes, np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Nodes, tables in one vector, and coefficients and variances of continuous variables.

    Parameters
    ----------
    tables, states
        As in `BeliefNetwork.from_tables`.
    """
    if not isinstance(tables, Mapping):
        raise ValueError(f"tables is a {type(tables).__name__}, not a dictionary of variables and their tables.")
    told = {v: _parts(v, each) for v, each in tables.items()}
    known = {v: tuple(each) for v, each in (states or {}).items()}
    for v in known:
        if v not in told:
            raise ValueError(f"states tells of {v!r}, which has no table; {closest(v, told)}")
    for v, (_, table, own) in told.items():
        known = own | known
        if not isinstance(table, Mapping):
            known.setdefault(v, tuple(range(np.shape(table)[-1] if np.ndim(table) else 0)))
    edges = [(parent, v) for v, (parents, _, _) in told.items() for parent in parents]
    nodes = Nodes.of_edges(edges, list(told), {v: () if isinstance(told[v][1], Mapping) else known[v] for v in told})
    theta, coefficients, variance = [np.empty(0)], [], []
    for i, (_, table, _) in enumerate(told.values()):
        if isinstance(table, Mapping):
            one, two = _regression(nodes, i, table)
            coefficients.append(one)
            variance.append(two)
        else:
            theta.append(_table(nodes, i, table).ravel())
    return nodes, nodes.check_tables(np.concatenate(theta)), coefficients, variance


def _parts(variable: Any, told: Any) -> tuple[list, Any, dict]:
    """Parents, table or regression, and states that it tells."""
    if isinstance(told, Potential):
        if not told.variables or told.variables[-1] != variable:
            raise ValueError(
                f"the table of {variable!r} is over {', '.join(map(str, told.variables))}; {variable!r} must be the last."
            )
        return list(told.variables[:-1]), told.values, told.states
    if isinstance(told, Mapping):
        return [], told, {}
    if isinstance(told, tuple) and len(told) == 2 and not np.isscalar(told[0]):
        return list(told[0]), told[1], {}
    return [], told, {}


def _table(nodes: Nodes, i: int, table: Any) -> np.ndarray:
    """A table of the right shape."""
    try:
        values = np.asarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"the table of {nodes.names[i]!r} is no array of numbers.") from None
    if values.shape != nodes.shape(i):
        axes = " × ".join(str(nodes.names[j]) for j in nodes.family(i))
        raise ValueError(
            f"the table of {nodes.names[i]!r} has shape {values.shape}, but {axes} have {nodes.shape(i)} states."
        )
    return values


def _regression(nodes: Nodes, i: int, told: Mapping) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (states, 1 + continuous parents) and variances (states,)."""
    v = nodes.names[i]
    if set(told) != {"coefficients", "variance"}:
        raise ValueError(
            f"the regression of {v!r} has {sorted(map(str, told))}; it must have 'coefficients' and 'variance'."
        )
    shape = nodes.shape(i)
    width = 1 + sum(bool(nodes.continuous[j]) for j in nodes.parents[i])
    coefficients = np.asarray(told["coefficients"], dtype=np.float64)
    coefficients = coefficients[..., None] if width == 1 and coefficients.shape == shape else coefficients
    variance = np.broadcast_to(np.asarray(told["variance"], dtype=np.float64), shape) if np.ndim(told["variance"]) == 0 \
        else np.asarray(told["variance"], dtype=np.float64)  # fmt: skip
    if coefficients.shape != (*shape, width) or variance.shape != shape:
        raise ValueError(
            f"the regression of {v!r} has coefficients of shape {coefficients.shape} and variances of shape {variance.shape}; "
            f"they must have {(*shape, width)} (the intercept first) and {shape}."
        )
    if not (np.isfinite(coefficients).all() and np.isfinite(variance).all() and (variance > 0).all()):
        raise ValueError(
            f"the regression of {v!r} has the variance {variance.min():g}; it must be above 0, and all numbers finite."
        )
    return coefficients.reshape(-1, width), variance.ravel()
