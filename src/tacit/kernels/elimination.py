"""Triangulation: an order in which variables are eliminated from a graph, and the links that this adds."""

import math

import numpy as np

from .jit import jit

__all__ = ["eliminate"]


@jit
def fill_cost(linked, active, v, weight, kind):
    """Links that eliminating v would add (0), the log size of the table it would make (1), or the weight of those links (2)."""
    n = linked.shape[0]
    near = np.empty(n, np.int64)
    size = 0
    total = weight[v]
    for u in range(n):
        if linked[v, u] and active[u]:
            near[size] = u
            size += 1
            total += weight[u]
    if kind == 1:
        return total
    missing = 0.0
    for i in range(size):
        for j in range(i):
            if not linked[near[i], near[j]]:
                missing += 1.0 if kind == 0 else math.exp(weight[near[i]] + weight[near[j]])
    return missing


@jit
def eliminate(linked, weight, group, noise, kind, order):
    """Triangulate a graph: eliminate the variable of least cost, link its neighbours, and so on.

    Parameters
    ----------
    linked : (n, n) bool
        Neighbours; links are added.
    weight : (n,)
        Logs of the numbers of states.
    group : (n,)
        Variables of a smaller group go first; those below 0 take no part.
    noise : (n,)
        Breaks ties; the smaller goes first.
    kind : {0, 1, 2}
        The cost of a variable: links it adds, the log size of its table, or the links by the sizes of what they link.
    order : (n,)
        Is set to the variables in order; returns how many they are.
    """
    n = linked.shape[0]
    active, cost = group >= 0, np.empty(n)
    for v in range(n):
        if active[v]:
            cost[v] = fill_cost(linked, active, v, weight, kind)
    near = np.empty(n, np.int64)
    count = 0
    while True:
        best = -1
        for v in range(n):
            if active[v] and (
                best < 0
                or group[v] < group[best]
                or (
                    group[v] == group[best]
                    and (cost[v] < cost[best] or (cost[v] == cost[best] and noise[v] < noise[best]))
                )
            ):
                best = v
        if best < 0:
            return count
        order[count] = best
        count += 1
        active[best] = False
        size = 0
        for u in range(n):
            if linked[best, u] and active[u]:
                near[size] = u
                size += 1
        for i in range(size):
            for j in range(i):
                linked[near[i], near[j]] = linked[near[j], near[i]] = True
        stale = np.zeros(n, np.bool_)
        for i in range(size):
            stale[near[i]] = True
            if kind != 1:
                for u in range(n):
                    if linked[near[i], u] and active[u]:
                        stale[u] = True
        for v in range(n):
            if stale[v]:
                cost[v] = fill_cost(linked, active, v, weight, kind)
