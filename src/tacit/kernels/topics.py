"""Passes over documents of topics: expected counts of words by topic, from unique pairs of document and word.

    variational:  φ_dwk ∝ exp(E log θ_dk + E log β_kw),    γ_dk = α_k + Σ_w c_dw φ_dwk
    collapsed:    γ_dwk ∝ (n_dk − γ_dwk + α_k) (n_kw − γ_dwk + η) / n_k,    n_dk = Σ_w c_dw γ_dwk

Tables of topics are laid out (word, topic), so that every inner loop runs along a row of them. The collapsed pass keeps γ of
every pair in single precision, in rows padded to whole vectors; words by topic stay as they were when the pass began, so that
sums do not depend on how documents are cut into blocks.
"""

import math

import numpy as np
from scipy.sparse import csr_array

from .jit import jit, jit_sums

__all__ = ["collapsed", "document_draws", "fold_in", "topic_assignments", "variational"]

LANES = 8  # topics are padded to a multiple of it
TINY = 1e-300


def pairs(X, local=None):
    """Counts, words and document offsets of rows of counts; a missing cell is a word that was not counted."""
    if hasattr(X, "indptr"):
        return X.data, X.indices, X.indptr
    if local is not None and "pairs" in local:
        return local["pairs"]
    matrix = csr_array(np.nan_to_num(X))
    found = matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int64)
    if local is not None:
        local["pairs"] = found
    return found


def padded(table, fill=0.0):
    """A table (rows, topics) in single precision, with its topics padded by a number."""
    wide = np.full((len(table), -(-table.shape[1] // LANES) * LANES), fill, np.float32)
    wide[:, : table.shape[1]] = table
    return wide


@jit
def _digamma(x):
    value = 0.0
    while x < 6.0:
        value -= 1.0 / x
        x += 1.0
    s = 1.0 / (x * x)
    tail = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132 - s * (691 / 32760 - s / 12))))))
    return value + math.log(x) - 0.5 / x - tail


def variational(X, local, weight, gamma, word, alpha, n_iter, tol, counts):
    """Settle γ of every document, in place, and add expected counts of words by topic.

    Parameters
    ----------
    X : (n, V) rows of counts
    local : dict
        What the block remembers.
    weight : (n,)
        Weights of the documents.
    gamma : (n, K)
        Where γ starts; changed in place.
    word : (V, K)
        exp E log β.
    alpha : (K,)
    n_iter, tol
        Updates of a document at most, and the mean change of its γ at which they end.
    counts : (V, K) or (0, K)
        Added to, unless empty.

    Returns
    -------
    bound : (n,)
        What each document adds to the bound, at the best q(z).
    """
    bound = np.empty(len(gamma))
    _variational(*pairs(X, local), weight, gamma, word, alpha, n_iter, tol, counts, bound)
    return bound


@jit
def _expect(gamma, log_theta, theta):
    """E log θ and its exponential."""
    whole = _digamma(gamma.sum())
    for k in range(len(gamma)):
        log_theta[k] = _digamma(gamma[k]) - whole
        theta[k] = math.exp(log_theta[k])


@jit_sums
def _gather(data, indices, word, theta, total):
    """total_k = Σ_w c_w β_kw / Σ_l θ_l β_lw of one document."""
    total[:] = 0.0
    for p in range(len(data)):
        row = word[indices[p]]
        norm = 0.0
        for k in range(len(theta)):
            norm += theta[k] * row[k]
        rate = data[p] / max(norm, TINY)
        for k in range(len(theta)):
            total[k] += rate * row[k]


@jit_sums
def _spread(data, indices, word, theta, weight, counts):
    """Add a document's expected counts to those of all; its Σ_w c_w log Σ_k θ_k β_kw."""
    loglik = 0.0
    for p in range(len(data)):
        row = word[indices[p]]
        norm = 0.0
        for k in range(len(theta)):
            norm += theta[k] * row[k]
        norm = max(norm, TINY)
        loglik += data[p] * math.log(norm)
        if len(counts):
            out, rate = counts[indices[p]], weight * data[p] / norm
            for k in range(len(theta)):
                out[k] += rate * theta[k] * row[k]
    return loglik


@jit
def _variational(data, indices, indptr, weight, gamma, word, alpha, n_iter, tol, counts, bound):
    n_topics = len(alpha)
    theta, log_theta, total = np.empty(n_topics), np.empty(n_topics), np.empty(n_topics)
    prior = math.lgamma(alpha.sum())
    for k in range(n_topics):
        prior -= math.lgamma(alpha[k])
    for d in range(len(gamma)):
        g, a, b = gamma[d], indptr[d], indptr[d + 1]
        _expect(g, log_theta, theta)
        for _ in range(n_iter):
            _gather(data[a:b], indices[a:b], word, theta, total)
            change = 0.0
            for k in range(n_topics):
                value = alpha[k] + theta[k] * total[k]
                change += abs(value - g[k])
                g[k] = value
            _expect(g, log_theta, theta)
            if change < tol * n_topics:
                break
        value = prior - math.lgamma(g.sum()) + _spread(data[a:b], indices[a:b], word, theta, weight[d], counts)
        for k in range(n_topics):
            value += (alpha[k] - g[k]) * log_theta[k] + math.lgamma(g[k])
        bound[d] = value


def collapsed(X, local, weight, owner, counts, word, alpha, out):
    """One sweep over all pairs, with the words by topic as they were before it.

    Parameters
    ----------
    X, local, weight
        As in `variational`.
    owner : object
        Whose fit it is: what the block keeps of another one's is forgotten.
    counts : (n, K) float32
        n_dk; changed in place. Zero where a document was not seen yet.
    word : (V, K)
        n_kw + η.
    alpha : (K,)
    out : (V, K)
        Expected counts are added to it.

    Returns
    -------
    loglik : (n,)
        Log probability of each document's words, of every one given the others.
    """
    data, indices, indptr = pairs(X, local)
    table, n_topics = padded(word), word.shape[1]
    totals = np.ones(table.shape[1], np.float32)
    totals[:n_topics] = word.sum(axis=0)
    kept = local.get("topics of pairs")
    known = kept is not None and kept[0] is owner
    gamma = kept[1] if known else np.empty((len(data), table.shape[1]), np.float32)
    sums, loglik = np.zeros_like(table), np.empty(len(counts))
    prior = padded(alpha[None])[0]
    data = data.astype(np.float32, copy=False)
    _collapsed(data, indices, indptr, weight, gamma, known, counts, table, 1 / totals, prior, sums, loglik)
    local["topics of pairs"] = owner, gamma
    out += sums[:, :n_topics]
    return loglik


@jit_sums
def _sum(values):
    # A loop of its own, which no other array may alias: whether it runs in vectors must not depend on where arrays lie.
    total = values[0]
    for k in range(1, len(values)):
        total += values[k]
    return total


@jit
def _posterior(theta, row, rate, out):
    """Make `out` ∝ θ β probabilities."""
    for k in range(len(out)):
        out[k] = theta[k] * row[k] * rate[k]
    scale = np.float32(1.0) / _sum(out)
    for k in range(len(out)):
        out[k] *= scale


@jit
def _without(theta, row, rate, own, out):
    """Make `out` ∝ θ β, without what one word of the pair itself adds to the counts; its sum."""
    least = np.float32(1e-10)
    for k in range(len(out)):
        out[k] = max(theta[k] - own[k], least) * max(row[k] - own[k], least) * rate[k]
    return _sum(out)


@jit
def _settle(fresh, total, count, weight, moves, own, theta, sums, here):
    """Make `fresh` the pair's probabilities, and let counts follow."""
    scale, mass = np.float32(1.0) / total, np.float32(weight * count)
    for k in range(len(own)):
        value = fresh[k] * scale
        if moves:
            theta[k] += count * (value - own[k])
        own[k] = value
        here[k] += count * value
        sums[k] += mass * value


@jit
def _collapsed(data, indices, indptr, weight, gamma, known, counts, table, rate, prior, sums, loglik):
    n_topics = counts.shape[1]
    theta, fresh, here = np.empty_like(prior), np.empty_like(prior), np.empty_like(prior)
    for d in range(len(counts)):
        mass, seen = np.float32(0.0), False
        theta[:] = prior
        here[:] = 0.0
        for k in range(n_topics):
            theta[k] += counts[d, k]
            mass += prior[k]
            seen = seen or counts[d, k] > 0.0
        for p in range(indptr[d], indptr[d + 1]):
            mass += data[p]
        value, size = 0.0, math.log(max(mass - np.float32(1.0), np.float32(1e-6)))
        for p in range(indptr[d], indptr[d + 1]):
            row, own = table[indices[p]], gamma[p]
            if not known and seen:  # what was lost is made again from the document's counts
                _posterior(theta, row, rate, own)
            elif not known:
                own[:] = 0.0
            total = _without(theta, row, rate, own, fresh)
            value += data[p] * (math.log(total) - size)
            _settle(fresh, total, data[p], weight[d], known or not seen, own, theta, sums[indices[p]], here)
        for k in range(n_topics):
            counts[d, k] = here[k]
        loglik[d] = value


def fold_in(X, local, weight, word, alpha, n_iter, tol, out):
    """Counts n_dk (n, K) of documents whose topics β (V, K) are known, by collapsed updates, and their log probability (n,).

    Expected counts of words by topic are added to `out` (V, K), unless it is empty.
    """
    data, indices, indptr = pairs(X, local)
    counts, loglik = np.empty((len(indptr) - 1, len(alpha))), np.empty(len(indptr) - 1)
    longest = int(np.diff(indptr).max(initial=0))
    gamma = np.empty((longest, len(alpha)))
    _fold_in(data, indices, indptr, weight, word, alpha, n_iter, tol, gamma, counts, out, loglik)
    return counts, loglik


@jit
def _folded(data, indices, word, theta, gamma):
    """One sweep over a document's pairs; γ, and θ = α + n, change in place."""
    fresh = np.empty(len(theta))
    for p in range(len(data)):
        row, g = word[indices[p]], gamma[p]
        for k in range(len(theta)):
            fresh[k] = max(theta[k] - g[k], TINY) * row[k]
        scale = 1.0 / max(_sum(fresh), TINY)
        for k in range(len(theta)):
            value = fresh[k] * scale
            theta[k] += data[p] * (value - g[k])
            g[k] = value


@jit
def _fold_in(data, indices, indptr, weight, word, alpha, n_iter, tol, gamma, counts, out, loglik):
    n_topics = len(alpha)
    theta, before = np.empty(n_topics), np.empty(n_topics)
    for d in range(len(counts)):
        a, b = indptr[d], indptr[d + 1]
        theta[:] = alpha
        gamma[: b - a] = 0.0
        for _ in range(max(n_iter, 1)):
            before[:] = theta
            _folded(data[a:b], indices[a:b], word, theta, gamma)
            if np.abs(theta - before).sum() < tol * n_topics:
                break
        counts[d] = theta - alpha
        mass, value = theta.sum(), 0.0
        for p in range(a, b):
            row, total = word[indices[p]], 0.0
            for k in range(n_topics):
                total += theta[k] * row[k]
                if len(out):
                    out[indices[p], k] += weight[d] * data[p] * gamma[p - a, k]
            value += data[p] * math.log(max(total / mass, TINY))
        loglik[d] = value


def topic_assignments(X, local, theta, word):
    """p(topic | document, word) (pairs, K) of every stored pair."""
    _, indices, indptr = pairs(X, local)
    found = np.repeat(theta, np.diff(indptr), axis=0) * word[indices]
    return found / np.maximum(found.sum(axis=1, keepdims=True), TINY)


def document_draws(X, local, word, alpha, seeds, n_burn, n_draws, low, high):
    """Standard deviations and quantiles of θ given topics, by collapsed Gibbs sampling of every document.

    Parameters
    ----------
    X, local
        As in `variational`.
    word : (V, K)
        β.
    alpha : (K,)
    seeds : (n,) int64
        One per document.
    n_burn, n_draws : int
        Sweeps before draws are kept, and draws.
    low, high : float
        Which quantiles.

    Returns
    -------
    spread, lower, upper : (n, K)
    """
    data, indices, indptr = pairs(X, local)
    found = np.empty((3, len(indptr) - 1, len(alpha)))
    _draws(data, indices, indptr, word, alpha, seeds, n_burn, n_draws, low, high, *found)
    return found


@jit
def _sweep(words, mass, topic, word, count, cumulated):
    """Draw the topic of every token given the others."""
    for t in range(len(words)):
        count[topic[t]] -= mass[t]
        row, total = word[words[t]], 0.0
        for k in range(len(count)):
            total += max(count[k], 0.0) * row[k]
            cumulated[k] = total
        at = np.random.random() * total  # noqa: NPY002 - numba's generator, seeded by document
        k = 0
        while k < len(count) - 1 and cumulated[k] <= at:
            k += 1
        topic[t] = k
        count[k] += mass[t]


@jit
def _draws(data, indices, indptr, word, alpha, seeds, n_burn, n_draws, low, high, spread, lower, upper):
    n_topics = len(alpha)
    kept, cumulated = np.empty((n_topics, n_draws)), np.empty(n_topics)
    for d in range(len(seeds)):
        np.random.seed(seeds[d])  # noqa: NPY002
        a, b = indptr[d], indptr[d + 1]
        n_tokens = 0
        for p in range(a, b):
            n_tokens += math.ceil(data[p])
        words, mass, topic = np.empty(n_tokens, np.int64), np.empty(n_tokens), np.empty(n_tokens, np.int64)
        count, t = alpha.copy(), 0
        for p in range(a, b):
            n = math.ceil(data[p])  # a fractional count is shared by as many tokens as it takes
            for _ in range(n):
                words[t], mass[t], topic[t] = indices[p], data[p] / n, np.argmax(word[indices[p]])
                count[topic[t]] += mass[t]
                t += 1
        for _ in range(n_burn):
            _sweep(words, mass, topic, word, count, cumulated)
        for draw in range(n_draws):
            _sweep(words, mass, topic, word, count, cumulated)
            for k in range(n_topics):
                # A gamma of a shape near 0 is 0 in floating point, which is where it should be.
                kept[k, draw] = np.random.standard_gamma(max(count[k], 1e-12))  # noqa: NPY002
            kept[:, draw] /= max(kept[:, draw].sum(), TINY)
        for k in range(n_topics):
            values = np.sort(kept[k])
            spread[d, k] = values.std()
            lower[d, k], upper[d, k] = values[int(low * (n_draws - 1))], values[math.ceil(high * (n_draws - 1))]
