"""Rows drawn from the networks of BIF files, for comparisons of what learns from them."""

import re
from functools import cache
from pathlib import Path

import numpy as np

__all__ = ["network", "rows_of"]

VARIABLE = re.compile(r"variable\s+(\S+)\s*\{\s*type\s+discrete\s*\[\s*\d+\s*\]\s*\{([^}]*)\}", re.S)
TABLE = re.compile(r"probability\s*\(\s*([^|)]+?)\s*(?:\|([^)]*))?\)\s*\{(.*?)\n\}", re.S)
LINE = re.compile(r"(?:\(([^)]*)\)|table)\s*([^;]*);")


def _names(text):
    return [name.strip() for name in (text or "").split(",") if name.strip()]


@cache
def network(path):
    """Variables with their states, and for each variable its parents and table (parents' states …, states)."""
    text = Path(path).read_text()
    states = {name: _names(levels) for name, levels in VARIABLE.findall(text)}
    tables = {}
    for child, parents, body in TABLE.findall(text):
        parents = _names(parents)
        table = np.zeros([len(states[name]) for name in [*parents, child]])
        for given, numbers in LINE.findall(body):
            at = tuple(states[name].index(level) for name, level in zip(parents, _names(given)))
            table[at] = [float(number) for number in _names(numbers)]
        tables[child] = parents, table
    return states, tables


def rows_of(path, n, seed=0):
    """Names, cardinalities, codes (n, d) and true edges of rows drawn from a network."""
    states, tables = network(str(path))
    names, rng, drawn = list(states), np.random.default_rng(seed), {}
    while len(drawn) < len(names):
        for child in names:
            parents, table = tables[child]
            if child in drawn or any(name not in drawn for name in parents):
                continue
            cumulated = np.cumsum(table[tuple(drawn[name] for name in parents)], axis=-1)
            cumulated = np.broadcast_to(cumulated, (n, table.shape[-1]))
            drawn[child] = (rng.random(n)[:, None] * cumulated[:, -1:] > cumulated).sum(axis=1)
    codes = np.column_stack([drawn[name] for name in names])
    edges = [(names.index(parent), names.index(child)) for child in names for parent in tables[child][0]]
    return names, np.array([len(states[name]) for name in names]), codes, edges
