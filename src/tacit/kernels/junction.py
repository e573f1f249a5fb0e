"""Inference on a junction tree: φ(C) = Π_f θ_f · Π_s μ_s over every clique, messages up to the roots and down again, row by row.

The axes of a clique stand in the reverse of the order of elimination, so that those it shares with its parent come first: a
message up is the sum over blocks that lie together. What is done to a row is a program (`tacit.kernels.programs`), which is
written anew only where a row observes other variables than the one before.
"""

import math

import numpy as np

from .jit import jit
from .programs import (
    AT,
    COUNT,
    FACTOR,
    FIRST,
    KIND,
    LOOPS,
    MESSAGE,
    ONES,
    OTHER,
    SIZE,
    SOFT,
    UP_AT,
    UP_SIZE,
    WHICH,
    Plan,
    Schedule,
    make_plan,
    new_plan,
)  # fmt: skip

__all__ = ["Plan", "Schedule", "draw_joint", "make_plan", "maximise", "new_plan", "propagate"]


# Loops over a table that lies together, beside one that is strided


@jit
def next_block(program, row, n, counter, b):
    """Where the strided table goes on after an innermost loop."""
    for k in range(1, n):
        counter[k] += 1
        b += program[row, FIRST + 2 * k + 1]
        if counter[k] < program[row, FIRST + 2 * k]:
            return b
        b -= program[row, FIRST + 2 * k + 1] * program[row, FIRST + 2 * k]
        counter[k] = 0
    return b


@jit
def spread(work, program, row, other, b, counter):
    """Table ·= other over all of a table, or table = other where it is the first."""
    n, i, first = program[row, LOOPS], program[row, AT], program[row, WHICH]
    if n == 0:
        work[i] = other[b] if first else work[i] * other[b]
        return
    inner, step, end = program[row, FIRST], program[row, FIRST + 1], i + program[row, SIZE]
    for k in range(n):
        counter[k] = 0
    while i < end:
        if first:
            for k in range(inner):
                work[i + k] = other[b + k * step]
        elif step == 0:
            value = other[b]
            for k in range(inner):
                work[i + k] *= value
        elif step == 1:
            for k in range(inner):
                work[i + k] *= other[b + k]
        else:
            for k in range(inner):
                work[i + k] *= other[b + k * step]
        i += inner
        b = next_block(program, row, n, counter, b)


@jit
def gather(work, at, size, program, row, weight, other, b, counter):
    """Other += weight · table, summed over what `other` has no axis for."""
    n, i, end = program[row, LOOPS], at, at + size
    if n == 0:
        other[b] += weight * work[i]
        return
    inner, step = program[row, FIRST], program[row, FIRST + 1]
    for k in range(n):
        counter[k] = 0
    while i < end:
        if step == 0:
            value = 0.0
            for k in range(inner):
                value += work[i + k]
            other[b] += weight * value
        elif step == 1:
            for k in range(inner):
                other[b + k] += weight * work[i + k]
        else:
            for k in range(inner):
                other[b + k * step] += weight * work[i + k]
        i += inner
        b = next_block(program, row, n, counter, b)


# Passes of messages


@jit
def find_bases(start, variables, steps, base, codes, out):
    """Where the part of each table begins that a row's observed states leave."""
    for f in range(base.size):
        at = base[f]
        for i in range(start[f], start[f + 1]):
            code = codes[variables[i]]
            if code > 0:
                at += code * steps[i]
        out[f] = at


@jit
def send(program, row, work, by_max):
    """Make the message of a filled clique to its parent, of sum 1; what it was divided by."""
    at, to, n = program[row, AT], program[row, OTHER], program[row, COUNT]
    inner, total = program[row, SIZE] // n, 0.0
    for o in range(n):
        value = 0.0
        if by_max:
            for k in range(inner):
                value = max(value, work[at + k])
        else:
            for k in range(inner):
                value += work[at + k]
        work[to + o] = value
        total += value
        at += inner
    if total > 0.0:
        for o in range(n):
            work[to + o] /= total
    return total


@jit
def absorb(program, row, total, scratch, work, counter):
    """Make the table of a filled clique its marginal, from that of its parent; of a root, divide by its total."""
    at, size, to, n = program[row, AT], program[row, SIZE], program[row, OTHER], program[row, COUNT]
    if program[row, UP_AT] < 0:
        for k in range(size):
            work[at + k] /= total
        return
    for o in range(n):
        work[scratch + o] = 0.0
    gather(work, program[row, UP_AT], program[row, UP_SIZE], program, row, 1.0, work, scratch, counter)
    inner = size // n
    for o in range(n):
        before = work[to + o] * total
        ratio = work[scratch + o] / before if before > 0.0 else 0.0
        for k in range(inner):
            work[at + k] *= ratio
        at += inner


@jit
def collect(program, begin, end, by_max, bases, theta, soft, totals, work, counter):
    """Messages of some cliques towards the roots; the log of the total of their products."""
    loglik = 0.0
    for row in range(begin, end):
        kind = program[row, KIND]
        if kind == FACTOR:
            spread(work, program, row, theta, bases[program[row, OTHER]], counter)
        elif kind == SOFT:
            spread(work, program, row, soft, bases[program[row, OTHER]], counter)
        elif kind == MESSAGE:
            spread(work, program, row, work, program[row, OTHER], counter)
        elif kind == ONES:
            for k in range(program[row, AT], program[row, AT] + program[row, SIZE]):
                work[k] = 1.0
        else:
            c = program[row, WHICH]
            totals[c] = send(program, row, work, by_max[c])
            if not totals[c] > 0.0:
                return -np.inf
            loglik += math.log(totals[c])
    return loglik


@jit
def tell(program, begin, end, bases, weight, out, work, counter):
    """Add weighted marginals of the targets to `out`, at the states that a row observes."""
    for row in range(begin, end):
        b = bases[program[row, OTHER]]
        if program[row, WHICH]:
            out[b] += weight
        else:
            gather(work, program[row, AT], program[row, SIZE], program, row, weight, out, b, counter)


@jit
def same_pattern(codes, before, size):
    """Whether two rows observe the same variables."""
    same = True
    for v in range(size):
        same &= (codes[v] < 0) == (before[v] < 0)
    return same


@jit
def propagate(schedule, plan, codes, rows, theta, soft, weight, loglik, marginals, counts):
    """Log-likelihoods and posteriors of rows; what is expected of their targets is added up.

    Parameters
    ----------
    schedule, plan : Schedule, Plan
    codes : (n, variables) int32
        Observed states, −1 where there is none.
    rows : (m,) integers
        Rows to go over; those that observe the same variables should stand together.
    theta, soft : (cells,), (n, cells)
        Tables of the factors, and those of each row.
    weight : (n,)
    loglik : (n,)
        Is set; −∞ where what a row observes is impossible, of which no posterior is given.
    marginals : (n, cells) or (0, 0)
        Posteriors of the targets are added.
    counts : (cells,) or (0,)
        Posteriors times weight are added.
    """
    n_variables, by_max = schedule.cards.size, schedule.by_max
    factor_start, factor_vars = schedule.factor_start, schedule.factor_vars
    factor_steps, factor_base = schedule.factor_steps, schedule.factor_base
    target_start, target_vars = schedule.target_start, schedule.target_vars
    target_steps, target_base = schedule.target_steps, schedule.target_base
    program, totals, work, last = plan.program, np.empty(by_max.size), np.empty(0), -1
    counter = np.zeros(program.shape[1], np.int64)
    bases, places = np.empty(factor_base.size, np.int64), np.empty(target_base.size, np.int64)
    one_each, summed, no_soft = marginals.shape[0] > 0, counts.size > 0, np.empty(0)
    up = down = end = scratch = 0
    for i in range(rows.size):
        r = rows[i]
        own = codes[r]
        if last < 0 or not same_pattern(own, codes[last], n_variables):
            size = make_plan(schedule, plan, own)
            up, down, end, scratch = plan.ends[0], plan.ends[1], plan.ends[2], plan.ends[3]
            if size > work.size:
                work = np.empty(size)
        last = r
        softs = soft[r] if soft.shape[0] > 0 else no_soft
        find_bases(factor_start, factor_vars, factor_steps, factor_base, own, bases)
        loglik[r] = collect(program, 0, up, by_max, bases, theta, softs, totals, work, counter)
        if loglik[r] == -np.inf or not (one_each or summed):
            continue
        for row in range(up, down):
            absorb(program, row, totals[program[row, WHICH]], scratch, work, counter)
        find_bases(target_start, target_vars, target_steps, target_base, own, places)
        if one_each:
            tell(program, down, end, places, 1.0, marginals[r], work, counter)
        if summed and weight[r] != 0.0:
            tell(program, down, end, places, weight[r], counts, work, counter)


# States of all variables at once


@jit
def trace_back(schedule, plan, codes, chance, work, states):
    """States of the variables of all cliques that are maximised, or of all drawn where `chance` has a number per clique."""
    for v in range(schedule.cards.size):
        states[v] = codes[v]
    for c in range(schedule.parent.size - 1, -1, -1):
        if chance.size == 0 and not schedule.by_max[c]:
            continue
        first, last = schedule.clique_start[c], schedule.clique_start[c + 1]
        block = 0
        for axis in range(first, first + schedule.n_shared[c]):
            v = schedule.clique_vars[axis]
            if plan.extent[v] > 1:
                block = block * plan.extent[v] + states[v]
        inner = plan.table_size[c] // plan.message_size[c]
        at = plan.table_at[c] + block * inner
        best = 0
        if chance.size == 0:
            for k in range(1, inner):
                if work[at + k] > work[at + best]:
                    best = k
        else:
            total = 0.0
            for k in range(inner):
                total += work[at + k]
            left, best = chance[c] * total, inner - 1
            for k in range(inner):
                left -= work[at + k]
                if left < 0.0:
                    best = k
                    break
            while best > 0 and work[at + best] == 0.0:  # rounding at the end of the sum
                best -= 1
        for axis in range(last - 1, first + schedule.n_shared[c] - 1, -1):
            v = schedule.clique_vars[axis]
            if plan.extent[v] > 1:
                states[v] = best % plan.extent[v]
                best //= plan.extent[v]
            elif states[v] < 0:  # there is but one
                states[v] = 0


@jit
def maximise(schedule, plan, codes, rows, theta, soft, loglik, states):
    """The most probable states of the variables in cliques that are maximised, those of the others being summed over.

    `states` (n, variables) and `loglik` (n,), the log of the maximum, are set; the rest is as in `propagate`.
    """
    totals, none, no_soft = np.empty(schedule.parent.size), np.empty(0), np.empty(0)
    bases, counter = np.empty(schedule.factor_base.size, np.int64), np.zeros(plan.program.shape[1], np.int64)
    for i in range(rows.size):
        r = rows[i]
        work = np.empty(make_plan(schedule, plan, codes[r]))
        softs = soft[r] if soft.shape[0] > 0 else no_soft
        find_bases(
            schedule.factor_start, schedule.factor_vars, schedule.factor_steps, schedule.factor_base, codes[r], bases
        )
        loglik[r] = collect(plan.program, 0, plan.ends[0], schedule.by_max, bases, theta, softs, totals, work, counter)
        if loglik[r] > -np.inf:
            trace_back(schedule, plan, codes[r], none, work, states[r])


@jit
def draw_joint(schedule, plan, codes, theta, soft, chance, states):
    """Draw all variables given what `codes` (variables,) observes; returns the log probability of that.

    `chance` (n, cliques) holds uniform numbers; `states` (n, variables) is set.
    """
    totals, sums = np.empty(schedule.parent.size), np.zeros(schedule.parent.size, np.int64)
    bases, counter = np.empty(schedule.factor_base.size, np.int64), np.zeros(plan.program.shape[1], np.int64)
    work = np.empty(make_plan(schedule, plan, codes))
    find_bases(schedule.factor_start, schedule.factor_vars, schedule.factor_steps, schedule.factor_base, codes, bases)
    loglik = collect(plan.program, 0, plan.ends[0], sums, bases, theta, soft, totals, work, counter)
    if loglik > -np.inf:
        for r in range(chance.shape[0]):
            trace_back(schedule, plan, codes, chance[r], work, states[r])
    return loglik
