"""`learn_structure`: one door to all that learns networks from rows of codes."""

from __future__ import annotations

from inspect import signature
from typing import Any

from ...checks import check_choice
from .climbing import hill_climb
from .constraint import pc_stable
from .structure import Structure
from .tree import chow_liu

__all__ = ["METHODS", "find_structure", "learn_structure"]

METHODS = {"hill_climb": hill_climb, "chow_liu": chow_liu, "pc": pc_stable}


def learn_structure(
    codes: Any, cardinalities: Any, method: str = "hill_climb", **settings: Any
) -> list[tuple[int, int]]:
    """Learn a network of discrete variables.

    Parameters
    ----------
    codes : array-like of int, (n, d)
        States of the variables, from 0; −1 is missing.
    cardinalities : array-like of int, (d,)
        Numbers of states.
    method : {"hill_climb", "chow_liu", "pc"}, default="hill_climb"
        The function to call.
    **settings
        Of `hill_climb`, `chow_liu` or `pc_stable`; None is the default.

    Returns
    -------
    list of (parent, child)

    Examples
    --------
    >>> from tacit.graph import learn_structure
    >>> learn_structure([[0, 0], [1, 1]] * 20, [2, 2], "chow_liu")
    [(0, 1)]
    """
    return find_structure(codes, cardinalities, method, **settings).edges


def find_structure(X: Any, cardinalities: Any = None, method: str = "hill_climb", **settings: Any) -> Structure:
    """As `learn_structure`, with all that is known of the result.

    Parameters
    ----------
    X : array-like of int, (n, d), or table
    cardinalities : array-like of int, (d,), optional
        None for a table.
    method, **settings
        As in `learn_structure`.

    Returns
    -------
    Structure
    """
    check_choice("method", method, METHODS)
    function = METHODS[method]
    settings = {name: value for name, value in settings.items() if value is not None}
    known = [name for name in signature(function).parameters if name not in ("X", "cardinalities")]
    for name, value in settings.items():
        if name not in known:
            raise ValueError(f"{name}={value!r} is no setting of method={method!r}, which takes {', '.join(known)}.")
    return function(X, cardinalities, **settings)
