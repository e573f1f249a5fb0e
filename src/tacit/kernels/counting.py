"""Tables of counts over few discrete columns, and what structure learning reads from them: scores of families, tests.

Columns hold codes 0 … size − 1, and `size` where a cell is missing: such rows go to cells of their own, which nobody reads.
"""

import math

import numpy as np

from .jit import jit

__all__ = ["family_scores", "independence", "pack"]

LANES = 4


@jit
def pack(packed, n_packed, column, size, out):
    """Numbers of pairs of codes, packed · size + column, and n_packed · size where one of the two is missing.

    Parameters
    ----------
    packed, column, out : (n,) integers
        `out` is written.
    n_packed, size : int
        What missing codes are.
    """
    missing = n_packed * size
    for r in range(len(column)):
        known = packed[r] < n_packed and column[r] < size
        out[r] = packed[r] * size + column[r] if known else missing


@jit
def joint_counts(base, n_base, column, size, lanes, counts):
    """Count pairs into counts (size, n_base). Rows take turns in tables, so that an increment need not wait for the last one."""
    width = n_base + 1
    cells = (size + 1) * width
    lanes[:, :cells] = 0
    n = len(column)
    whole = n - n % LANES
    for r in range(0, whole, LANES):
        lanes[0, column[r] * width + base[r]] += 1
        lanes[1, column[r + 1] * width + base[r + 1]] += 1
        lanes[2, column[r + 2] * width + base[r + 2]] += 1
        lanes[3, column[r + 3] * width + base[r + 3]] += 1
    for r in range(whole, n):
        lanes[0, column[r] * width + base[r]] += 1
    for z in range(size):
        for b in range(n_base):
            at = z * width + b
            counts[z, b] = lanes[0, at] + lanes[1, at] + lanes[2, at] + lanes[3, at]


@jit
def likelihood(counts, n_states):
    """Σ N log (N / N of its configuration) over cells, a configuration being `n_states` cells in a row."""
    total = 0.0
    for start in range(0, len(counts), n_states):
        rows = 0
        for cell in range(start, start + n_states):
            if counts[cell]:
                rows += counts[cell]
                total += counts[cell] * math.log(counts[cell])
        if rows:
            total -= rows * math.log(rows)
    return total


@jit
def evidence(counts, n_states, alpha):
    """Log of the Dirichlet–multinomial probability of the rows, `alpha` being the pseudo-count of a cell."""
    total, none = 0.0, math.lgamma(alpha)
    whole = alpha * n_states
    empty = math.lgamma(whole)
    for start in range(0, len(counts), n_states):
        rows = 0
        for cell in range(start, start + n_states):
            if counts[cell]:
                rows += counts[cell]
                total += math.lgamma(counts[cell] + alpha) - none
        if rows:
            total -= math.lgamma(rows + whole) - empty
    return total


@jit
def score(counts, n_states, n_configurations, bayesian, value, n_rows):
    """The score of a family: penalised likelihood (BIC where `value` is negative), or evidence (K2 where it is)."""
    if bayesian:
        return evidence(counts, n_states, 1.0 if value < 0 else value / (n_configurations * n_states))
    penalty = 0.5 * math.log(max(n_rows, 1)) if value < 0 else value
    return likelihood(counts, n_states) - penalty * n_configurations * (n_states - 1)


@jit
def family_scores(base, n_base, n_states, n_configurations, columns, sizes, candidates, bayesian, value, out):
    """Scores of a child given its parents with and without each of some candidates, over the rows that observe all of them.

    Parameters
    ----------
    base : (n,) int32
        Parents' configuration · n_states + child, `n_base` where one is missing; only configurations that occur have numbers.
    n_base, n_states : int
    n_configurations : float
        Of the parents, those that do not occur included.
    columns, sizes : (d, n) uint16, (d,)
    candidates : (c,) integers
        Columns that may join the parents.
    bayesian, value
        As in `score`.
    out : (c, 3)
        The score with the candidate, without it, and the number of rows.
    """
    widest = 1
    for c in range(len(candidates)):
        widest = max(widest, sizes[candidates[c]])
    lanes = np.empty((LANES, (widest + 1) * (n_base + 1)), np.int32)
    counts, margin = np.empty((widest, n_base), np.int64), np.empty(n_base, np.int64)
    for c in range(len(candidates)):
        size = sizes[candidates[c]]
        joint_counts(base, n_base, columns[candidates[c]], size, lanes, counts)
        margin[:] = 0
        for z in range(size):
            for b in range(n_base):
                margin[b] += counts[z, b]
        rows = margin.sum()
        wider = counts[:size].reshape(size * n_base)
        out[c, 0] = score(wider, n_states, n_configurations * size, bayesian, value, rows)
        out[c, 1] = score(margin, n_states, n_configurations, bayesian, value, rows)
        out[c, 2] = rows


@jit
def independence(base, n_base, n_states, column, size, pearson, out):
    """Test x ⊥ z | s in a table of counts: G² = 2 Σ N log (N N_s / (N_xs N_zs)), or Pearson's χ².

    Parameters
    ----------
    base : (n,) int32
        s · n_states + x, `n_base` where one is missing.
    column, size
        z.
    pearson : bool
    out : (2,)
        The statistic, and its degrees of freedom: states that do not occur with s do not count.
    """
    lanes = np.empty((LANES, (size + 1) * (n_base + 1)), np.int32)
    counts = np.empty((size, n_base), np.int64)
    joint_counts(base, n_base, column, size, lanes, counts)
    of_x, of_z = np.empty(n_states, np.int64), np.empty(size, np.int64)
    total, freedom = 0.0, 0
    for start in range(0, n_base, n_states):
        of_x[:], of_z[:] = 0, 0
        for z in range(size):
            for x in range(n_states):
                of_x[x] += counts[z, start + x]
                of_z[z] += counts[z, start + x]
        rows = of_x.sum()
        n_x, n_z = (of_x > 0).sum(), (of_z > 0).sum()
        if n_x < 2 or n_z < 2:
            continue
        freedom += (n_x - 1) * (n_z - 1)
        for z in range(size):
            for x in range(n_states):
                n, expected = counts[z, start + x], of_x[x] * of_z[z] / rows
                if pearson and expected > 0:
                    total += (n - expected) ** 2 / expected
                elif n:
                    total += 2.0 * n * math.log(n / expected)
    out[0], out[1] = total, freedom
