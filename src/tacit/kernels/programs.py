"""Programs of loops over the tables of a junction tree, one for each pattern of observed variables.

What a row observes has one state there and no axis: a program drops such axes and joins neighbours, so that loops are as few
and as long as can be. It takes about as long to write as to run.
"""

from typing import NamedTuple

import numpy as np

from .jit import jit

__all__ = ["Plan", "Schedule", "make_plan", "new_plan"]


class Schedule(NamedTuple):
    """Cliques, factors and targets as arrays; every ``start`` says where the entries of each begin.

    Attributes
    ----------
    cards : (variables,)
    clique_start, clique_vars
        Axes of the cliques; children are numbered before their parents.
    parent, n_shared : (cliques,)
        −1 of a root; the first axes of a clique, which its parent has as well.
    child_start, children
    own_start, own : factors of each clique
    factor_start, factor_vars, factor_steps
        Scopes of the factors, and the strides of their tables.
    factor_base, factor_soft : (factors,)
        Where the table of a factor begins, in the tables of all rows or, if `factor_soft`, in the row's own.
    target_start, target_vars, target_steps, target_base, target_clique
        What is asked for, and where it goes.
    by_max : (cliques,)
        Whether a clique is maximised rather than summed.
    """

    cards: np.ndarray
    clique_start: np.ndarray
    clique_vars: np.ndarray
    parent: np.ndarray
    n_shared: np.ndarray
    child_start: np.ndarray
    children: np.ndarray
    own_start: np.ndarray
    own: np.ndarray
    factor_start: np.ndarray
    factor_vars: np.ndarray
    factor_steps: np.ndarray
    factor_base: np.ndarray
    factor_soft: np.ndarray
    target_start: np.ndarray
    target_vars: np.ndarray
    target_steps: np.ndarray
    target_base: np.ndarray
    target_clique: np.ndarray
    by_max: np.ndarray


FACTOR, SOFT, MESSAGE, ONES, SEND, ABSORB, TELL = range(7)
KIND, AT, SIZE, OTHER, WHICH, LOOPS, COUNT, UP_AT, UP_SIZE, FIRST = range(10)
"""Columns of a program; from FIRST on, extents and strides of its loops in turn, from the innermost out."""


class Plan(NamedTuple):
    """What is done to rows that observe the same variables.

    Attributes
    ----------
    extent, step : (variables,)
        States of each variable, 1 where observed; and a scratch array of strides.
    program : (instructions, columns)
        Messages up, messages down, and targets.
    up, down : (cliques + 1,)
        Where the instructions for each clique begin.
    table_at, table_size, message_at, message_size : (cliques,)
    ends : (4,)
        Where messages up, messages down and targets end in the program, and where scratch begins in the tables.
    """

    extent: np.ndarray
    step: np.ndarray
    program: np.ndarray
    up: np.ndarray
    table_at: np.ndarray
    table_size: np.ndarray
    message_at: np.ndarray
    message_size: np.ndarray
    ends: np.ndarray


def new_plan(schedule):
    """Arrays for the plans of a schedule."""
    n, c = len(schedule.cards), len(schedule.parent)
    width = FIRST + 2 * max(1, int(np.max(np.diff(schedule.clique_start), initial=1)))
    program = np.zeros((len(schedule.factor_base) + len(schedule.target_base) + 4 * c, width), np.int64)
    one, two, three, four = (np.zeros(c, np.int64) for _ in range(4))
    return Plan(
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        program,
        np.zeros(c + 1, np.int64),
        one,
        two,
        three,
        four,
        np.zeros(4, np.int64),
    )


# Programs


@jit
def write(program, row, kind, at, size, other, which):
    """Begin an instruction."""
    program[row, KIND], program[row, AT], program[row, SIZE] = kind, at, size
    program[row, OTHER], program[row, WHICH], program[row, LOOPS] = other, which, 0


@jit
def lay_loops(program, row, clique_vars, first, last, extent, step):
    """The loops of an instruction over a table with these axes, beside another whose strides `step` holds."""
    n, inner_extent, inner_step = 0, 1, 0
    for axis in range(last - 1, first - 1, -1):
        v = clique_vars[axis]
        if extent[v] == 1:
            continue
        if n > 0 and step[v] == inner_step * inner_extent:
            inner_extent *= extent[v]
            program[row, FIRST + 2 * n - 2] = inner_extent
        else:
            inner_extent, inner_step = extent[v], step[v]
            program[row, FIRST + 2 * n], program[row, FIRST + 2 * n + 1] = inner_extent, inner_step
            n += 1
    program[row, LOOPS] = n


@jit
def set_steps(step, variables, steps, a, z, keep):
    """Enter the strides of a table, or take them back."""
    for i in range(a, z):
        step[variables[i]] = steps[i] if keep else 0


@jit
def set_message_steps(step, extent, clique_vars, first, shared, keep):
    """Enter the strides of a message, or take them back."""
    size = 1
    for axis in range(first + shared - 1, first - 1, -1):
        v = clique_vars[axis]
        step[v] = size if keep else 0
        size *= extent[v]


@jit
def lay_tables(schedule, plan, codes):
    """Places of tables and messages for rows that observe what this one does; the number of floats that they take."""
    cards, clique_start, clique_vars, n_shared = (
        schedule.cards,
        schedule.clique_start,
        schedule.clique_vars,
        schedule.n_shared,
    )
    extent, table_at, table_size = plan.extent, plan.table_at, plan.table_size
    message_at, message_size = plan.message_at, plan.message_size
    at, widest = 0, 1
    for v in range(cards.size):
        extent[v] = cards[v] if codes[v] < 0 else 1
    for c in range(n_shared.size):
        first, size, shared = clique_start[c], 1, 1
        for axis in range(first, clique_start[c + 1]):
            size *= extent[clique_vars[axis]]
            if axis - first < n_shared[c]:
                shared = size
        table_at[c], table_size[c] = at, size
        message_at[c], message_size[c] = at + size, shared
        at += size + shared
        widest = max(widest, shared)
    plan.ends[3] = at
    return at + widest


@jit
def make_plan(schedule, plan, codes):
    """Write the program for rows that observe what this one does; the number of floats that its tables take."""
    total = lay_tables(schedule, plan, codes)
    clique_start, clique_vars = schedule.clique_start, schedule.clique_vars
    parent, n_shared, children, child_start = (
        schedule.parent,
        schedule.n_shared,
        schedule.children,
        schedule.child_start,
    )
    own_start, own, factor_start, factor_vars = (
        schedule.own_start,
        schedule.own,
        schedule.factor_start,
        schedule.factor_vars,
    )
    factor_steps, factor_soft = schedule.factor_steps, schedule.factor_soft
    extent, step, program, up = plan.extent, plan.step, plan.program, plan.up
    table_at, table_size, message_at, message_size = plan.table_at, plan.table_size, plan.message_at, plan.message_size
    row = 0
    for c in range(parent.size):
        up[c] = row
        first, last = clique_start[c], clique_start[c + 1]
        for k in range(own_start[c], own_start[c + 1]):
            f = own[k]
            write(program, row, SOFT if factor_soft[f] else FACTOR, table_at[c], table_size[c], f, row == up[c])
            a, z = factor_start[f], factor_start[f + 1]
            set_steps(step, factor_vars, factor_steps, a, z, True)
            lay_loops(program, row, clique_vars, first, last, extent, step)
            set_steps(step, factor_vars, factor_steps, a, z, False)
            row += 1
        for k in range(child_start[c], child_start[c + 1]):
            s = children[k]
            write(program, row, MESSAGE, table_at[c], table_size[c], message_at[s], row == up[c])
            set_message_steps(step, extent, clique_vars, clique_start[s], n_shared[s], True)
            lay_loops(program, row, clique_vars, first, last, extent, step)
            set_message_steps(step, extent, clique_vars, clique_start[s], n_shared[s], False)
            row += 1
        if row == up[c]:
            write(program, row, ONES, table_at[c], table_size[c], 0, 1)
            row += 1
        write(program, row, SEND, table_at[c], table_size[c], message_at[c], c)
        program[row, COUNT] = message_size[c]
        row += 1
    up[parent.size] = row
    plan.ends[0] = row
    for c in range(parent.size - 1, -1, -1):
        write(program, row, ABSORB, table_at[c], table_size[c], message_at[c], c)
        program[row, COUNT], program[row, UP_AT] = message_size[c], -1
        if parent[c] >= 0:
            p = parent[c]
            program[row, UP_AT], program[row, UP_SIZE] = table_at[p], table_size[p]
            set_message_steps(step, extent, clique_vars, clique_start[c], n_shared[c], True)
            lay_loops(program, row, clique_vars, clique_start[p], clique_start[p + 1], extent, step)
            set_message_steps(step, extent, clique_vars, clique_start[c], n_shared[c], False)
        row += 1
    plan.ends[1] = row
    for t in range(schedule.target_base.size):
        c = schedule.target_clique[t]
        a, z = schedule.target_start[t], schedule.target_start[t + 1]
        write(program, row, TELL, table_at[c], table_size[c], t, 1)
        for i in range(a, z):
            if codes[schedule.target_vars[i]] < 0:
                program[row, WHICH] = 0
        if not program[row, WHICH]:
            set_steps(step, schedule.target_vars, schedule.target_steps, a, z, True)
            lay_loops(program, row, clique_vars, clique_start[c], clique_start[c + 1], extent, step)
            set_steps(step, schedule.target_vars, schedule.target_steps, a, z, False)
        row += 1
    plan.ends[2] = row
    return total
