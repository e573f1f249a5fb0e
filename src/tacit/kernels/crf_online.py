"""Conditional random fields learned one sequence after the other: stochastic gradients, and updates after mistakes.

    gradient:     w ← w + η/d ∂ log p(y | x; d w),  d ← d (1 − η λ),  η = 1 / (λ (t₀ + t))
    perceptron:   w ← w + Δ                            Δ = f(x, y) − f(x, ŷ), ŷ being the likeliest labels
    passive:      w ← w + τ Δ                          τ from the loss ℓ and |Δ|²
    confidence:   w ← w + α Σ Δ,  Σ⁻¹ ← Σ⁻¹ + Δ² / γ   α = ℓ / (γ + Δᵀ Σ Δ)

Weights w end with those of transitions (labels, labels). Attributes are laid out as in `crf`, none of them in a table.
"""

import math

import numpy as np

from .chain import highest, settle_labels, smooth_rows
from .chain_paths import decode
from .crf import add_scores, add_slopes
from .jit import jit

PERCEPTRON, PASSIVE, CONFIDENCE = 0, 1, 2


@jit
def sequence_scores(data, indices, indptr, a, z, pointer, label, w, scale, scores):
    """Scores (labels, steps) of the steps from a to before z, times a scale."""
    nothing, row = np.empty((0, 0)), np.empty(len(scores))
    for t in range(a, z):
        add_scores(data, indices, indptr[t], indptr[t + 1], nothing, pointer, label, w, row)
        for j in range(len(row)):
            scores[j, t - a] = scale * row[j]


@jit
def expect(scores, move, shift, start, end, labels, weight, moves):
    """Posterior of labels in place of scores; their log-likelihood is returned, expected moves are added.

    `move` holds probabilities relative to exp(shift); `labels` are known ones, −1 where they are not.
    """
    n_labels, n_steps = scores.shape
    for j in range(n_labels):
        scores[j, n_steps - 1] += end[j]
    evidence, which = np.empty(1), np.empty(0, np.int64)
    settle_labels(scores, labels)
    weights, offsets = np.full(n_steps, weight), np.array([0, n_steps])
    smooth_rows(scores, highest(scores), offsets, weights, start, move, which, True, moves, evidence)
    return evidence[0] + (n_steps - 1) * shift


@jit
def gradient_pass(
    order,
    data,
    indices,
    indptr,
    offsets,
    labels,
    weight,
    pointer,
    label,
    n_labels,
    exists,
    start,
    allowed,
    end,
    rate,
    w,
):
    """One pass of stochastic gradients; returns the loss as it was at each sequence, summed.

    Parameters
    ----------
    order : (some,) int
        Sequences, in the order they are learned from.
    data, indices, indptr, pointer, label
        As in `label_scores`.
    offsets, labels, weight : (sequences + 1,), (steps,), (sequences,)
        Where sequences begin, labels of steps (−1 unknown), and weights.
    n_labels, exists : int, (labels², ) bool
        Which transitions have a weight.
    start, allowed, end : (labels,), (labels, labels), (labels,)
        1 for the labels that may come first and moves that are allowed, else 0; 0 for labels that may come last, else −∞.
    rate : (3,)
        λ, t₀, and the number of sequences seen so far, which is counted on.
    w : (features + labels²,)
        Weights, which are changed.
    """
    p = w.size - n_labels * n_labels
    states, loss, decay = w[:p], 0.0, 1.0
    nothing, row, unknown = np.empty((0, 0)), np.empty(n_labels), np.full(indptr.size - 1, -1)
    for u in order:
        a, z = offsets[u], offsets[u + 1]
        eta = 1.0 / (rate[0] * (rate[1] + rate[2]))
        decay *= 1.0 - eta * rate[0]
        gain = eta / decay
        moves, shift = moves_of(w[p:], decay, allowed)
        free, held = np.empty((n_labels, z - a)), np.zeros((1, n_labels, n_labels))
        sequence_scores(data, indices, indptr, a, z, pointer, label, states, decay, free)
        known, more = free.copy(), np.zeros((1, n_labels, n_labels))
        loss -= weight[u] * expect(known, moves, shift, start, end, labels[a:z], weight[u], held)
        loss += weight[u] * expect(free, moves, shift, start, end, unknown[a:z], weight[u], more)
        for t in range(z - a):
            for j in range(n_labels):
                row[j] = gain * (known[j, t] - free[j, t])
            add_slopes(data, indices, indptr[a + t], indptr[a + t + 1], nothing, pointer, label, states, row)
        for i in range(n_labels):
            for j in range(n_labels):
                if exists[i * n_labels + j]:
                    w[p + i * n_labels + j] += gain * (held[0, i, j] - more[0, i, j])
        rate[2] += 1.0
    for k in range(w.size):
        w[k] *= decay
    return loss


@jit
def moves_of(w, scale, allowed):
    """Probabilities of moves, (1, labels, labels), relative to those of the likeliest, and its logarithm."""
    n_labels, top = len(allowed), -np.inf
    move = np.zeros((1, n_labels, n_labels))
    for i in range(n_labels):
        for j in range(n_labels):
            if allowed[i, j] > 0.0:
                top = max(top, scale * w[i * n_labels + j])
    for i in range(n_labels):
        for j in range(n_labels):
            if allowed[i, j] > 0.0:
                move[0, i, j] = math.exp(scale * w[i * n_labels + j] - top)
    return move, top if top > -np.inf else 0.0


@jit
def mistake_pass(
    order, data, indices, indptr, offsets, labels, weight, pointer, label, n_labels, exists, log_start, log_allowed, end, rule,
    rate, w, other,
):  # fmt: skip
    """One pass of updates after mistakes; returns the loss.

    Parameters
    ----------
    order … exists, end
        As in `gradient_pass`.
    log_start, log_allowed : (labels,), (labels, labels)
        0 where a label may come first and a move is allowed, else −∞.
    rule : int
        PERCEPTRON, PASSIVE or CONFIDENCE.
    rate : (4,)
        The number of sequences seen so far plus 1, which is counted on; what kind of passive updates there are (0, 1, 2) and
        C, or 0 and γ; and whether losses grow with the number of mistakes.
    w, other : (features + labels²,)
        Weights, and Σ of updates times when they were made (of CONFIDENCE: variances), which are changed.
    """
    p, loss = w.size - n_labels * n_labels, 0.0
    delta, seen = np.zeros(w.size), np.zeros(w.size, np.bool_)
    unknown, none = np.full(indptr.size - 1, -1), np.empty(0, np.int64)
    for u in order:
        a, z = offsets[u], offsets[u + 1]
        n, active, score = z - a, 0, np.empty(1)
        scores, one = np.empty((n_labels, n)), np.array([0, n])
        sequence_scores(data, indices, indptr, a, z, pointer, label, w[:p], 1.0, scores)
        scores[:, n - 1] += end
        log_move = log_allowed.copy().reshape(1, n_labels, n_labels)
        for k in range(n_labels * n_labels):
            log_move[0, k // n_labels, k % n_labels] += w[p + k]
        gold, path = np.empty(n, np.int64), np.empty(n, np.int64)
        decode(scores.copy(), one, labels[a:z], log_start, log_move, none, gold, score)
        best = score[0]
        decode(scores, one, unknown[a:z], log_start, log_move, none, path, score)
        wrong = 0
        for t in range(n):
            wrong += gold[t] != path[t]
        if wrong:
            places = np.empty(2 * (indptr[z] - indptr[a] + n), np.int64)
            for t in range(n):
                active = mark(
                    data, indices, indptr, a + t, pointer, label, gold[t], path[t], delta, seen, places, active
                )
                if t:
                    k, other_k = p + gold[t - 1] * n_labels + gold[t], p + path[t - 1] * n_labels + path[t]
                    if k != other_k:
                        active = note(k, 1.0, exists[k - p], delta, seen, places, active)
                        active = note(other_k, -1.0, exists[other_k - p], delta, seen, places, active)
            gap = score[0] - best
            loss += update(rule, rate, weight[u], gap, wrong, n, delta, places[:active], w, other)
            for k in places[:active]:
                delta[k], seen[k] = 0.0, False
        rate[0] += 1.0
    return loss


@jit
def note(k, x, there, delta, seen, places, active):
    """Add x to entry k of a sparse vector, whose entries so far are counted; returns how many there are now."""
    if not there:
        return active
    if not seen[k]:
        seen[k], places[active] = True, k
        active += 1
    delta[k] += x
    return active


@jit
def mark(data, indices, indptr, t, pointer, label, gold, path, delta, seen, places, active):
    """Add the features of step t with its label, less those with the label that was found for it."""
    if gold == path:
        return active
    for c in range(indptr[t], indptr[t + 1]):
        for k in range(pointer[indices[c]], pointer[indices[c] + np.uint32(1)]):
            if label[k] == gold:
                active = note(k, data[c], True, delta, seen, places, active)
            elif label[k] == path:
                active = note(k, -data[c], True, delta, seen, places, active)
    return active


@jit
def update(rule, rate, weight, gap, wrong, n, delta, places, w, other):
    """Change the weights of a sequence's features; returns what its mistakes cost."""
    if rule == CONFIDENCE:
        cost, spread, gamma = gap + wrong, rate[2], rate[2]
        for k in places:
            spread += (weight * delta[k]) ** 2 * other[k]
        for k in places:
            w[k] += cost / spread * other[k] * weight * delta[k]
            other[k] = 1.0 / (1.0 / other[k] + (weight * delta[k]) ** 2 / gamma)
        return cost * weight
    cost, step = wrong / n, 1.0
    if rule == PASSIVE:
        cost, square = gap + (math.sqrt(wrong) if rate[3] else 1.0), 0.0
        for k in places:
            square += delta[k] ** 2
        kind, c = rate[1], rate[2]
        step = cost / (square + 0.5 / c) if kind == 2.0 else cost / square if square > 0.0 else 0.0
        step = min(c, step) if kind == 1.0 else step
    for k in places:
        w[k] += weight * step * delta[k]
        other[k] += rate[0] * weight * step * delta[k]
    return cost * weight
