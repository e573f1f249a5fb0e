"""Perceptrons: passes over rows that change weights where a row is on the wrong side, w ← w + η y x."""

from .jit import jit

__all__ = ["dual_pass", "primal_pass"]


@jit
def primal_pass(order, data, indices, indptr, sign, step, shrink, truncate, constant, average, w, total, spent, clock):
    """One pass over rows of a sparse matrix.

    Parameters
    ----------
    order : (n,) int
        Rows in the order in which they come.
    data, indices, indptr
        Cells.
    sign, step : (n,)
        ±1, and the length of a row's step; rows of length 0 are passed over.
    shrink, truncate : float
        Shares of η α by which weights shrink (L2) and are cut off (L1) at every row.
    constant : float
        1 where there is a constant, else 0.
    average : bool
        Whether `total` is added what makes w its mean over all rows: mean = w − total / clock[0].
    w, total : (d + 1,)
        Weights, the constant's last; its `step` is that of the rows, and it neither shrinks nor is cut off.
    spent : (d + 1,)
        What was cut off each weight so far.
    clock : (2,)
        Rows so far plus 1, and what could have been cut off so far.

    Returns
    -------
    loss, mistakes : float, int
        Σ max(0, −y f), and how often weights changed.
    """
    d, loss, mistakes = len(w) - 1, 0.0, 0
    for i in order:
        if step[i] == 0.0:
            continue
        begin, end, score = indptr[i], indptr[i + 1], w[d] * constant
        for p in range(begin, end):
            score += data[p] * w[indices[p]]
        if shrink > 0.0:
            for j in range(d):
                w[j] *= max(0.0, 1.0 - shrink)
        if sign[i] * score <= 0.0:
            loss -= sign[i] * score * step[i]
            mistakes += 1
            move = step[i] * sign[i]
            for p in range(begin, end):
                w[indices[p]] += move * data[p]
            w[d] += move * constant
            if average:
                for p in range(begin, end):
                    total[indices[p]] += clock[0] * move * data[p]
                total[d] += clock[0] * move * constant
        if truncate > 0.0:
            clock[1] += truncate
            for p in range(begin, end):
                j = indices[p]
                before = w[j]
                if before > 0.0:
                    w[j] = max(0.0, before - (clock[1] + spent[j]))
                elif before < 0.0:
                    w[j] = min(0.0, before + (clock[1] - spent[j]))
                spent[j] += w[j] - before
        clock[0] += 1.0
    return loss, mistakes


@jit
def dual_pass(order, K, sign, step, constant, average, c, total, score, clock):
    """As `primal_pass` for weights Σ_i c_i φ(x_i) with products K of φ; `score` holds those of all rows and is kept right."""
    n, loss, mistakes = len(c) - 1, 0.0, 0
    for i in order:
        if step[i] == 0.0:
            continue
        if sign[i] * score[i] <= 0.0:
            loss -= sign[i] * score[i] * step[i]
            mistakes += 1
            move = step[i] * sign[i]
            c[i] += move
            for j in range(n):
                score[j] += move * (K[i, j] + constant)
            c[n] += move * constant
            if average:
                total[i] += clock[0] * move
                total[n] += clock[0] * move * constant
        clock[0] += 1.0
    return loss, mistakes
