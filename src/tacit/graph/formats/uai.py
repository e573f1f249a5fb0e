"""UAI, the format of inference competitions: numbered variables and tables over them, of a belief or a Markov network."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..nodes import MOST_TABLE, Nodes
from ..potential import Potential
from .text import Words, fault, number_of, read_text

__all__ = ["read_uai", "read_uai_factors", "write_uai"]

PATTERN = r"(?P<skip>\s+)|(?P<word>\S+)"
MOST_VARIABLES = 10_000_000


def read_uai_factors(path: Any) -> tuple[str, list[Potential]]:
    """The kind of a UAI network, "BAYES" or "MARKOV", and its factors, whose variables are numbers from 0.

    Parameters
    ----------
    path : str, path-like or object with ``read``
    """
    words = Words(read_text(path), PATTERN)
    kind, line = words.word().upper(), words.last
    if kind not in ("BAYES", "MARKOV"):
        raise fault(line, f"found {kind[:40]!r} where 'BAYES' or 'MARKOV' must stand; it is no UAI file.")
    cards = [_whole(words, 1) for _ in range(_whole(words, 1))]
    scopes = [_scope(words, len(cards)) for _ in range(_whole(words, 0))]
    states = {v: range(n) for v, n in enumerate(cards)}
    factors = [_factor(words, scope, cards, states) for scope in scopes]
    if not words.ended:
        raise fault(words.line, f"found {words.next[:40]!r} after the last table, where the file must end.")
    return kind, factors


def _whole(words: Words, least: int, most: int = MOST_VARIABLES) -> int:
    word = words.word()
    if not (word.isascii() and word.isdigit() and len(word) <= 12 and least <= int(word) <= most):
        raise fault(words.last, f"found {word[:40]!r} where a whole number from {least} to {most} must stand.")
    return int(word)


def _scope(words: Words, n: int) -> list[int]:
    scope = [_whole(words, 0, n - 1) for _ in range(_whole(words, 0, n))]
    if len(set(scope)) < len(scope):
        raise fault(words.last, f"a factor over {scope} names a variable twice.")
    return scope


def _factor(words: Words, scope: list[int], cards: list[int], states: dict) -> Potential:
    shape = tuple(cards[v] for v in scope)
    size = np.prod(shape, dtype=np.float64)
    if size > MOST_TABLE or len(scope) > 60:
        raise fault(words.line, f"a factor over {len(scope)} variables would have {size:.3g} cells.")
    told = _whole(words, 1, MOST_TABLE)
    if told != size:
        raise fault(words.last, f"a factor over {scope} has {told} values, but its states need {int(size)}.")
    line, values = words.line, [number_of(words.word(), words.last) for _ in range(told)]
    if min(values) < 0:
        raise fault(line, f"a factor over {scope} holds {min(values):g}; values must be at least 0.")
    return Potential(scope, np.array(values).reshape(shape), states)


def read_uai(path: Any) -> tuple[Nodes, np.ndarray]:
    """Nodes and tables of a UAI file of kind BAYES; the last variable of every factor is the child."""
    kind, factors = read_uai_factors(path)
    if kind != "BAYES":
        raise ValueError(
            "the file holds a Markov network (MARKOV), which is no belief network; read it with read_uai_factors."
        )
    own = {factor.variables[-1]: factor for factor in factors if factor.variables}
    named = [int(v) for factor in factors for v in factor.variables]  # type: ignore[call-overload]
    n = 1 + max(named, default=-1)
    if len(own) != n or len(factors) != n:
        raise ValueError(
            f"{n} variables have {len(factors)} factors for {len(own)} of them; a belief network has one each."
        )
    states = tuple(tuple(own[v].states[v]) for v in range(n))
    nodes = Nodes(tuple(range(n)), states, tuple(own[v].variables[:-1] for v in range(n)))
    return nodes, nodes.check_tables(np.concatenate([own[v].values.ravel() for v in range(n)]))


def write_uai(nodes: Nodes, theta: np.ndarray) -> str:
    """A network as text in UAI, which keeps numbers of variables and states but no names."""
    lines = ["BAYES", str(len(nodes.names)), " ".join(map(str, nodes.cards.tolist())), str(len(nodes.names))]
    lines += [" ".join(map(str, (len(nodes.parents[i]) + 1, *nodes.parents[i], i))) for i in range(len(nodes.names))]
    for i in range(len(nodes.names)):
        values = theta[nodes.offsets[i] : nodes.offsets[i + 1]]
        lines += ["", str(values.size), " ".join(map(repr, values.tolist()))]
    return "\n".join(lines) + "\n"
