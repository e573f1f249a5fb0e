"""Evidence: observed states, likelihoods of states (Pearl), and beliefs that marginals are to have afterwards (Jeffrey).

Likelihood evidence λ multiplies p(x) by λ(x_i). Jeffrey's rule asks for p'(x) = p(x | x_i) q(x_i) with a given q, which is
likelihood evidence λ = q / p; of several beliefs, λ is found by proportional fitting until all hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .inference import Soft
from .nodes import Nodes
from .potential import state_number

__all__ = ["Evidence", "read_evidence"]


@dataclass
class Evidence:
    """What is known of one case.

    Attributes
    ----------
    codes : (1, variables) int32
    values : (1, variables) or None
        Cells of continuous variables, NaN where missing; None where there are none.
    likelihood : dict of int to ndarray
    belief : dict of int to ndarray
    """

    codes: np.ndarray
    values: np.ndarray | None
    likelihood: dict[int, np.ndarray] = field(default_factory=dict)
    belief: dict[int, np.ndarray] = field(default_factory=dict)

    @property
    def soft(self) -> list[Soft]:
        """Likelihoods as factors."""
        return [Soft((i,), each[None, :]) for i, each in self.likelihood.items()]

    @property
    def observed(self) -> list[int]:
        """Observed variables."""
        seen = set(np.flatnonzero(self.codes[0] >= 0).tolist())
        if self.values is not None:
            seen |= set(np.flatnonzero(~np.isnan(self.values[0])).tolist())
        return sorted(seen)


def read_evidence(nodes: Nodes, given: Any = None, likelihood: Any = None, belief: Any = None) -> Evidence:
    """Evidence as users give it, by names.

    Parameters
    ----------
    nodes : Nodes
    given : mapping of variable to state, optional
        A number for a continuous variable.
    likelihood, belief : mapping of variable to (mapping of state to number, or sequence), optional
    """
    n = len(nodes.names)
    found = Evidence(np.full((1, n), -1, np.int32), np.full((1, n), np.nan) if nodes.continuous.any() else None)
    for name, told in (("given", given), ("likelihood", likelihood), ("belief", belief)):
        if told is not None and not isinstance(told, Mapping):
            raise ValueError(f"{name}={told!r} is not a dictionary of variables and what is known of them.")
    for variable, state in (given or {}).items():
        i = nodes.at(variable)
        if nodes.continuous[i]:
            found.values[0, i] = _number(variable, state)  # type: ignore[index]
        else:
            found.codes[0, i] = state_number(variable, nodes.states[i], state)
    for name, told, kept in (("likelihood", likelihood, found.likelihood), ("belief", belief, found.belief)):
        for variable, each in (told or {}).items():
            i = nodes.at(variable)
            if i in found.observed or i in found.likelihood:
                raise ValueError(
                    f"{name} tells of {variable!r}, which is told of elsewhere; say one thing of a variable."
                )
            kept[i] = _vector(nodes, i, each, name)
    return found


def _number(variable: Any, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise ValueError(f"{variable!r} is continuous, but {value!r} is not a finite number.")
    return number


def _vector(nodes: Nodes, i: int, told: Any, name: str) -> np.ndarray:
    """Numbers for the states of a variable."""
    variable, states = nodes.names[i], nodes.states[i]
    if not states:
        raise ValueError(f"{name} tells of {variable!r}, which is continuous; only discrete variables take it.")
    if isinstance(told, Mapping):
        vector = np.zeros(len(states))
        for state, value in told.items():
            vector[state_number(variable, states, state)] = value
    else:
        vector = np.asarray(told, dtype=np.float64)
    if vector.shape != (len(states),):
        raise ValueError(f"{name} of {variable!r} has shape {vector.shape}, but there are {len(states)} states.")
    if not (np.isfinite(vector).all() and (vector >= 0).all() and vector.any()):
        raise ValueError(
            f"{name} of {variable!r} is {vector.tolist()}; numbers must be finite, at least 0, and not all 0."
        )
    if name == "belief":
        if abs(vector.sum() - 1.0) > 1e-6:
            raise ValueError(f"belief of {variable!r} sums to {vector.sum():g}; it must sum to 1.")
        return vector / vector.sum()
    return vector / vector.max()
