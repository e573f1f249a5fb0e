"""Moves of Markov chains of any order: the cell of step t is (x_{t−L}, …, x_{t−1}; x_t) in a table of contexts and symbols.

Symbols are numbers below S, less than 0 where missing. Before its first step a sequence has the symbol S, so that the number of a
context has digits to the base S + 1, the newest last, and a cell is context · S + x. A step counts as seen where nothing in its
cell is missing; the others go in runs, in which contexts differ only in what is missing, so that a state is the number whose
digits to the base S are the missing symbols, the newest last.
"""

import math

import numpy as np

from .jit import jit


@jit
def count_moves(codes, low, offsets, weight, order, n_symbols, counts):
    """Add the weights (sequences, classes) of the sequences to the cells (cells, classes) that their steps see.

    Parameters
    ----------
    codes : (steps,) integers
        Symbols plus `low`; smaller is missing.
    low : int
    offsets : (sequences + 1,)
    weight : (sequences, classes)
    order, n_symbols : int
    counts : (cells, classes)
        Are added to.
    """
    n_classes = weight.shape[1]
    radix = n_symbols + 1
    top = radix ** max(order - 1, 0)
    for u in range(offsets.size - 1):
        a, z = offsets[u], offsets[u + 1]
        first = weight[u, 0]
        if order == 1 and n_classes == 1:
            before = np.int64(n_symbols)
            for t in range(a, z):
                x = np.int64(codes[t]) - low
                if x >= 0 and before >= 0:
                    counts[before * n_symbols + x, 0] += first
                before = x
            continue
        context, blind = radix**order - 1, 0
        for t in range(a, z):
            x = np.int64(codes[t]) - low
            if x >= 0 and blind <= 0:
                cell = context * n_symbols + x
                for k in range(n_classes):
                    counts[cell, k] += weight[u, k]
            context, blind = go_on(codes, low, a, t, x, context, blind, order, n_symbols, top)


@jit
def go_on(codes, low, a, t, x, context, blind, order, n_symbols, top):
    """The context of the next step, a missing symbol in it being 0, and for how many steps it has one."""
    if order == 0:
        return context, 0
    oldest = np.int64(n_symbols)
    if t - order >= a:
        oldest = np.int64(codes[t - order]) - low
    context = (context - (oldest if oldest > 0 else 0) * top) * (n_symbols + 1) + (x if x > 0 else 0)
    return context, order if x < 0 else blind - 1


@jit
def score_moves(codes, offsets, order, n_symbols, table, out):
    """Add the logs (cells, classes) of the cells that steps see to `out` (sequences, classes)."""
    top = (n_symbols + 1) ** max(order - 1, 0)
    for u in range(offsets.size - 1):
        a, z = offsets[u], offsets[u + 1]
        context, blind = (n_symbols + 1) ** order - 1, 0
        for t in range(a, z):
            x = np.int64(codes[t])
            if x >= 0 and blind <= 0:
                cell = context * n_symbols + x
                for k in range(table.shape[1]):
                    out[u, k] += table[cell, k]
            context, blind = go_on(codes, 0, a, t, x, context, blind, order, n_symbols, top)


@jit
def hidden_moves(codes, offsets, order, n_symbols, table, weight, counts, out):
    """What runs of steps that do not see all of their cell tell: probabilities, and expected moves given both ends.

    Parameters
    ----------
    codes, offsets, order, n_symbols
        As in `count_moves`, with `low` at 0.
    table : (cells, classes)
        Probabilities; all of them positive where moves are counted.
    weight, counts : (sequences, classes), (cells, classes)
        Expected moves are added to `counts` times the weight; nothing is where `counts` has no cells.
    out : (sequences, classes)
        Log probabilities of the runs are added.
    """
    if order == 0:
        return
    for u in range(offsets.size - 1):
        a, z = offsets[u], offsets[u + 1]
        while z > a and codes[z - 1] < 0:  # what is missing at the end tells nothing
            z -= 1
        t = a
        while t < z:
            if codes[t] >= 0:
                t += 1
                continue
            last, end = t, t + 1
            while end < z and end - last <= order:
                if codes[end] < 0:
                    last = end
                end += 1
            sizes, contexts = run_contexts(codes, a, t, end, order, n_symbols)
            for k in range(table.shape[1]):
                out[u, k] += run(codes, t, end, order, n_symbols, sizes, contexts, table, k, weight[u, k], counts)
            t = end


@jit
def run_contexts(codes, a, begin, end, order, n_symbols):
    """Where the states of each step of a run begin, and the contexts they are."""
    radix = n_symbols + 1
    top = radix ** (order - 1)
    starts = np.zeros(end - begin + 2, np.int64)
    for t in range(begin, end + 1):
        size = 1
        for s in range(max(begin, t - order), t):
            if codes[s] < 0:
                size *= n_symbols
        starts[t - begin + 1] = starts[t - begin] + size
    contexts = np.zeros(starts[-1], np.int64)
    for s in range(begin - order, begin):
        contexts[0] = contexts[0] * radix + (codes[s] if s >= a else n_symbols)
    for t in range(begin, end):
        here, there = starts[t - begin], starts[t - begin + 1]
        n_next = starts[t - begin + 2] - there
        for j in range(there - here):
            stem = (contexts[here + j] % top) * radix
            if codes[t] >= 0:
                contexts[there + j % n_next] = stem + codes[t]
            else:
                for y in range(n_symbols):
                    contexts[there + (j * n_symbols + y) % n_next] = stem + y
    return starts, contexts


@jit
def run(codes, begin, end, order, n_symbols, starts, contexts, table, k, weight, counts):
    """Log probability of a run of steps under one class; expected moves are added to its counts."""
    alpha = np.zeros(starts[-1])
    scale = np.empty(end - begin)
    alpha[0], loglik = 1.0, 0.0
    for t in range(begin, end):
        i = t - begin
        here, there = starts[i], starts[i + 1]
        n_next = starts[i + 2] - there
        for j in range(there - here):
            cell = contexts[here + j] * n_symbols
            if codes[t] >= 0:
                alpha[there + j % n_next] += alpha[here + j] * table[cell + codes[t], k]
            else:
                for y in range(n_symbols):
                    alpha[there + (j * n_symbols + y) % n_next] += alpha[here + j] * table[cell + y, k]
        scale[i] = alpha[there : there + n_next].sum()
        if scale[i] == 0.0:
            return -np.inf
        alpha[there : there + n_next] /= scale[i]
        loglik += math.log(scale[i])
    if counts.shape[0] == 0:
        return loglik
    beta = np.ones(starts[-1])
    for t in range(end - 1, begin - 1, -1):
        i = t - begin
        here, there = starts[i], starts[i + 1]
        n_next = starts[i + 2] - there
        for j in range(there - here):
            cell, total = contexts[here + j] * n_symbols, 0.0
            for y in range(n_symbols):
                if codes[t] >= 0 and y != codes[t]:
                    continue
                to = j % n_next if codes[t] >= 0 else (j * n_symbols + y) % n_next
                share = table[cell + y, k] * beta[there + to] / scale[i]
                total += share
                counts[cell + y, k] += weight * alpha[here + j] * share
            beta[here + j] = total
    return loglik
