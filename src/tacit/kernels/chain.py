"""Chains of hidden states, one per step: z_1 ~ π, z_t | z_{t−1} ~ A, x_t | z_t = k with density b_t(k).

    forward:   p_t = Aᵀ α_{t−1} (π at a first step),   α_t = p_t ∘ b_t / s_t,   log p(x) = Σ_t log s_t
    backward:  ρ_t = γ_t / p_t,   γ_{t−1} = α_{t−1} ∘ A ρ_t,   expected moves A ∘ Σ_t α_{t−1} ρ_tᵀ

Dividing γ by p instead of scaling a backward variable of its own keeps every number in range. Neither π nor the rows of A
need to sum to 1. Rows of `joint` are states, its columns steps; `offsets` says where sequences begin.

Many steps go side by side in lanes (`chain_lanes`). A sequence in which a state that matters is less probable than the least
number is taken again in logarithms.
"""

import math

import numpy as np

from .chain_lanes import (
    GRAIN,
    LEAST,
    LOST,
    MOST_LANES,
    TILE,
    WARM,
    add_scales,
    begins_of,
    lengths_of,
    run_back,
    run_lanes,
    weigh,
)  # fmt: skip
from .jit import jit
from .small import aligned


@jit
def smooth(joint, offsets, weight, labels, start, move, which, first, moves, evidence):
    """Posterior of states: log densities (states, steps) become probabilities times the sequence's weight, in place.

    Parameters
    ----------
    joint : (states, steps)
    offsets : (sequences + 1,)
    weight, labels : (steps,)
        Weights, equal within a sequence, and known states, −1 where unknown.
    start, move : (states,), (matrices, states, states)
        Probabilities.
    which : (steps,) or (0,)
        The matrix of the move into each step; empty where there is only one.
    first, moves : (states,), (matrices, states, states)
        Are added the expected number of first states and of moves.
    evidence : (sequences,)
        Is filled with log densities; −inf where a sequence is impossible.

    Returns
    -------
    loglik : float
        Σ weight · evidence over sequences.
    """
    settle_labels(joint, labels)
    fragile, n_lanes = has_traps(start, move), lanes_of(start, move, which, joint.shape[1], evidence.size)
    if n_lanes:
        smooth_lanes(joint, offsets, weight, start, move[0], n_lanes, fragile, moves[0], evidence)
    else:
        smooth_rows(joint, highest(joint), offsets, weight, start, move, which, fragile, moves, evidence)
    loglik = 0.0
    for u in range(evidence.size):
        a = offsets[u]
        for k in range(first.size):
            first[k] += joint[k, a]
        loglik += weight[a] * evidence[u] if weight[a] > 0.0 else 0.0
    return loglik


@jit
def settle_labels(joint, labels):
    """Make other states than a known one impossible."""
    for i in range(labels.size):
        if labels[i] >= 0:
            known = joint[labels[i], i]
            for k in range(len(joint)):
                joint[k, i] = -np.inf
            joint[labels[i], i] = known


@jit
def highest(joint):
    """Each step's largest log density; 0 where there is none."""
    top = np.full(joint.shape[1], -np.inf)
    for k in range(len(joint)):
        row = joint[k]
        for i in range(top.size):
            top[i] = row[i] if row[i] > top[i] else top[i]
    for i in range(top.size):
        top[i] = top[i] if top[i] > -np.inf else 0.0
    return top


@jit
def has_traps(start, move):
    """Whether a state may not be reached from some other, so that a share of it that underflows never comes back."""
    for i in range(start.size):
        for m in range(move.shape[0]):
            for j in range(start.size):
                if move[m, i, j] < 1e-100:
                    return True
    return False


# One step after the other


@jit
def smooth_rows(joint, top, offsets, weight, start, move, which, fragile, moves, evidence):
    n_states = joint.shape[0]
    longest = 0
    for u in range(evidence.size):
        longest = max(longest, offsets[u + 1] - offsets[u])
    b, alpha, before = np.empty((longest, n_states)), np.empty((longest, n_states)), np.empty((longest, n_states))
    line, zero = np.empty(longest), np.zeros(longest, np.int64)
    turned = np.empty_like(move)
    for m in range(len(move)):
        turned[m] = move[m].T
    sums = np.zeros_like(move)
    for u in range(evidence.size):
        a, n = offsets[u], offsets[u + 1] - offsets[u]
        at = which[a : a + n] if which.size else zero[:n]
        for k in range(n_states):
            line[:n] = joint[k, a : a + n]
            weigh(line[:n], top[a : a + n])
            for t in range(n):
                b[t, k] = line[t]
        done, value = forward(b[:n], start, move, at, fragile, alpha, before)
        if not done:
            evidence[u] = smooth_logs(joint[:, a : a + n], start, move, at, weight[a], moves)
            continue
        for t in range(n):
            value += top[a + t]
        evidence[u] = value
        backward(alpha[:n], before, turned, at, weight[a], sums, b)
        for k in range(n_states):
            for t in range(n):
                joint[k, a + t] = weight[a] * b[t, k]
    moves += sums * move


@jit
def forward(b, start, move, at, fragile, alpha, before):
    """α and p of every step of one sequence, and Σ log s; whether no state that matters was lost."""
    n_steps, n_states = b.shape
    total, product = 0.0, 1.0
    for t in range(n_steps):
        p, now, here = before[t], alpha[t], b[t]
        if t == 0:
            for j in range(n_states):
                p[j] = start[j]
        else:
            advance(alpha[t - 1], move[at[t]], p)
        s = 0.0
        for j in range(n_states):
            x = p[j] * here[j]
            now[j] = x
            s += x
            if fragile and x < LOST and p[j] > 0.0 and here[j] > 0.0:
                return False, 0.0
        if not s > LOST:
            return False, 0.0
        inverse = 1.0 / s
        for j in range(n_states):
            now[j] *= inverse
        product *= s
        if product < 1e-140 or product > 1e140:
            total += math.log(product)
            product = 1.0
    return True, total + math.log(product)


@jit
def advance(share, move, out):
    """Aᵀ share, into `out`."""
    n = out.size
    for j in range(n):
        out[j] = 0.0
    for i in range(n):
        q, row = share[i], move[i]
        for j in range(n):
            out[j] += q * row[j]


@jit
def backward(alpha, before, turned, at, weight, sums, gamma):
    """γ of every step, from α and p; expected moves over A are added to `sums`."""
    n_steps, n_states = alpha.shape
    rho, back = np.empty(n_states), np.empty(n_states)
    for k in range(n_states):
        gamma[n_steps - 1, k] = alpha[n_steps - 1, k]
    for t in range(n_steps - 2, -1, -1):
        after, p = gamma[t + 1], before[t + 1]
        for j in range(n_states):
            rho[j] = after[j] / p[j] if p[j] > 0.0 else 0.0
        advance(rho, turned[at[t + 1]], back)
        total, now, here = sums[at[t + 1]], gamma[t], alpha[t]
        for i in range(n_states):
            q, row = weight * here[i], total[i]
            now[i] = here[i] * back[i]
            for j in range(n_states):
                row[j] += q * rho[j]


# In logarithms, for sequences in which a state that matters is less probable than the least number


@jit
def add_logs(x):
    top = -np.inf
    for value in x:
        top = max(top, value)
    if top == -np.inf:
        return top
    total = 0.0
    for value in x:
        total += math.exp(value - top)
    return top + math.log(total)


@jit
def log_of(x):
    return math.log(x) if x > 0.0 else -np.inf


@jit
def forward_logs(joint, start, move, at, alpha, scale):
    """Logs of α (steps, states) and of the sums s of one sequence; whether it is possible, up to the step where it is not."""
    n_states, n_steps = joint.shape
    term = np.empty(n_states)
    for t in range(n_steps):
        for j in range(n_states):
            for i in range(n_states if t else 0):
                term[i] = alpha[t - 1, i] + log_of(move[at[t], i, j])
            alpha[t, j] = joint[j, t] + (add_logs(term) if t else log_of(start[j]))
        scale[t] = add_logs(alpha[t])
        if scale[t] == -np.inf:
            return False
        alpha[t] -= scale[t]
    return True


@jit
def smooth_logs(joint, start, move, at, weight, moves):
    """As `smooth` for one sequence; returns its log density, and leaves `joint` 0 where that is −inf."""
    n_states, n_steps = joint.shape
    alpha, scale = np.empty((n_steps, n_states)), np.empty(n_steps)
    if not forward_logs(joint, start, move, at, alpha, scale):
        joint[:] = 0.0
        return -np.inf
    total = scale.sum()
    beta, ahead, both = np.zeros(n_states), np.empty(n_states), np.empty((n_states, n_states))
    for t in range(n_steps - 1, -1, -1):
        if t < n_steps - 1:
            for i in range(n_states):
                for j in range(n_states):
                    both[i, j] = log_of(move[at[t + 1], i, j]) + ahead[j]
                beta[i] = add_logs(both[i])
        norm = add_logs(alpha[t] + beta)
        for k in range(n_states):
            beta[k] -= norm
            ahead[k] = beta[k] + joint[k, t]
            joint[k, t] = weight * math.exp(alpha[t, k] + beta[k])
        if t < n_steps - 1:
            for i in range(n_states):
                for j in range(n_states):
                    moves[at[t + 1], i, j] += weight * math.exp(alpha[t, i] + both[i, j] - norm)
    return total


# Along a chain: what is known so far, and how probable its steps are


@jit
def filter_states(joint, offsets, labels, start, move, which, predictive):
    """Log densities (states, steps) become probabilities of states given the steps so far, in place.

    Parameters
    ----------
    joint, offsets, labels, start, move, which
        As in `smooth`.
    predictive : (steps,)
        Is filled with log densities of steps given those before; −inf, and probabilities 0, from where a sequence is impossible.
    """
    n_states, n_steps = joint.shape
    settle_labels(joint, labels)
    top = highest(joint)
    p, share, b, line = np.empty(n_states), np.empty(n_states), np.empty((n_states, n_steps)), np.empty(n_steps)
    fragile = has_traps(start, move)
    for k in range(n_states):
        b[k] = joint[k]
        weigh(b[k], top)
    for u in range(offsets.size - 1):
        a, z, lost = offsets[u], offsets[u + 1], False
        for t in range(a, z):
            if t == a:
                for j in range(n_states):
                    p[j] = start[j]
            else:
                advance(share, move[which[t] if which.size else 0], p)
            s = 0.0
            for j in range(n_states):
                share[j] = p[j] * b[j, t]
                s += share[j]
                lost |= fragile and share[j] < LOST and p[j] > 0.0 and b[j, t] > 0.0
            if lost or not s > LOST:
                lost = True
                break
            line[t] = math.log(s) + top[t]
            for j in range(n_states):
                share[j] /= s
                b[j, t] = share[j]
        if lost:
            at = which[a:z] if which.size else np.zeros(z - a, np.int64)
            filter_logs(joint[:, a:z], start, move, at, b[:, a:z], line[a:z])
    joint[:] = b
    predictive[:] = line


@jit
def filter_logs(joint, start, move, at, out, line):
    """As `filter_states` for one sequence."""
    n_states, n_steps = joint.shape
    alpha = np.full((n_steps, n_states), -np.inf)
    line[:] = -np.inf
    forward_logs(joint, start, move, at, alpha, line)
    for t in range(n_steps):
        for k in range(n_states):
            out[k, t] = math.exp(alpha[t, k]) if line[t] > -np.inf else 0.0


@jit
def weigh_sequences(joint, offsets, labels, start, move, which, evidence):
    """Log densities of sequences alone; −inf where one is impossible.

    Parameters
    ----------
    joint, offsets, labels, start, move, which, evidence
        As in `smooth`; only known states are settled in `joint`.
    """
    n_states, n_steps = joint.shape
    settle_labels(joint, labels)
    fragile, n_lanes = has_traps(start, move), lanes_of(start, move, which, n_steps, evidence.size)
    failed, longest = np.ones(evidence.size, np.bool_), 0
    if n_lanes:
        failed = in_lanes(joint, offsets, start, move[0], n_lanes, fragile, evidence)[-1]
        if not failed.any():
            return
    top = highest(joint)
    for u in range(evidence.size):
        longest = max(longest, offsets[u + 1] - offsets[u])
    b, alpha, before, scale = (
        np.empty((longest, n_states)), np.empty((longest, n_states)), np.empty((longest, n_states)), np.empty(longest),
    )  # fmt: skip
    for u in range(evidence.size):
        if not failed[u]:
            continue
        a, n = offsets[u], offsets[u + 1] - offsets[u]
        at = which[a : a + n] if which.size else np.zeros(n, np.int64)
        for k in range(n_states):
            scale[:n] = joint[k, a : a + n]
            weigh(scale[:n], top[a : a + n])
            for t in range(n):
                b[t, k] = scale[t]
        done, value = (False, 0.0) if n_lanes else forward(b[:n], start, move, at, fragile, alpha, before)
        if done:
            for t in range(n):
                value += top[a + t]
        elif forward_logs(joint[:, a : a + n], start, move, at, alpha[:n], scale[:n]):
            value = scale[:n].sum()
        else:
            value = -np.inf
        evidence[u] = value


# Side by side


@jit
def smooth_lanes(joint, offsets, weight, start, move, n_lanes, fragile, moves, evidence):
    n_states, n_steps = joint.shape
    values, flat, shares, scale, begins, some, failed = in_lanes(
        joint, offsets, start, move, n_lanes, fragile, evidence
    )
    heavy, evenly, kept = weight.copy(), True, np.empty((n_states, 0))
    for u in range(evidence.size):
        a, z = offsets[u], offsets[u + 1]
        evenly &= weight[a] == 1.0 and not failed[u]
        if failed[u]:
            heavy[a:z] = 0.0
            kept = np.concatenate((kept, joint[:, a:z]), axis=1)
    sums = np.zeros((n_states, n_states))
    run_back(values, flat, shares, scale, begins, some, move, heavy, evenly, joint, sums)
    moves += sums * move
    for k in range(0 if evenly else n_states):
        row = joint[k]
        for i in range(n_steps):
            row[i] *= heavy[i]
    at = 0
    for u in range(evidence.size):
        if failed[u]:
            a, z = offsets[u], offsets[u + 1]
            part = kept[:, at : at + z - a].copy()
            none, only = np.zeros(z - a, np.int64), moves.reshape(1, n_states, n_states)
            evidence[u] = smooth_logs(part, start, move.reshape(only.shape), none, weight[a], only)
            joint[:, a:z] = part
            at += z - a


@jit
def in_lanes(joint, offsets, start, move, n_lanes, fragile, evidence):
    """What `run_lanes` fills, where sequences begin, and which of them have lost a state; `evidence` is filled."""
    n_states, n_steps = joint.shape
    m = lengths_of(n_steps, n_lanes)
    n_tiles, width = m // TILE, TILE * n_lanes
    size = n_tiles * n_states * width
    # In one piece: the allocator gives several large ones back to the system after every block.
    room = aligned(2 * size + n_states * width + 2 * m * n_lanes)
    values, flat = room[:size].reshape(n_tiles, n_states, TILE, n_lanes), room[:size].reshape(n_tiles, n_states, width)
    end = 2 * size + n_states * width
    shares = room[size:end].reshape(n_tiles + 1, n_states, TILE, n_lanes)
    scale = room[end : end + m * n_lanes].reshape(m, n_lanes)
    top = room[end + m * n_lanes : end + 2 * m * n_lanes].reshape(n_tiles, width)
    begins, some = begins_of(offsets, m, n_lanes)
    run_lanes(joint, begins, some, start, move, fragile, values, flat, shares, scale, top)
    failed = add_scales(scale, top, begins, some, offsets, evidence)
    return values, flat, shares, scale, begins, some, failed


@jit
def lanes_of(start, move, which, n_steps, n_sequences):
    """How many lanes to take; 0 where steps go one after the other."""
    n_lanes = min(MOST_LANES, n_steps // LEAST) // GRAIN * GRAIN
    # A chain with traps does not forget: its long sequences would be run again.
    fit = which.size == 0 and n_lanes > 0
    return n_lanes if fit and (not has_traps(start, move) or n_steps <= WARM * n_sequences) else 0
