"""Proportions of given topics in documents, and words as mixtures of anchors: maxima on the simplex by multiplicative steps."""

import numpy as np

from .jit import jit

__all__ = ["mix_rows", "proportions"]


@jit
def proportions(indptr, indices, counts, word_topic, prior, tol, max_iter, out):
    """Maximise Σ_w n_w log Σ_k θ_k β_k(w) + Σ_k a_k log θ_k over θ, document by document (EM)."""
    n_topics = word_topic.shape[1]
    theta, gain = np.empty(n_topics), np.empty(n_topics)
    for d in range(len(indptr) - 1):
        total = 0.0
        for k in range(n_topics):
            theta[k] = 1.0 / n_topics
        for _step in range(max_iter):
            for k in range(n_topics):
                gain[k] = prior[k]
            total = prior.sum()
            for i in range(indptr[d], indptr[d + 1]):
                row = word_topic[indices[i]]
                expected = 0.0
                for k in range(n_topics):
                    expected += theta[k] * row[k]
                if expected <= 0.0:
                    continue
                scale = counts[i] / expected
                total += counts[i]
                for k in range(n_topics):
                    gain[k] += scale * theta[k] * row[k]
            if total <= 0.0:
                break
            moved = 0.0
            for k in range(n_topics):
                moved += abs(gain[k] / total - theta[k])
                theta[k] = gain[k] / total
            if moved < tol:
                break
        out[d] = theta


@jit
def mix_rows(indptr, indices, values, anchors, tol, max_iter, out):
    """Minimise KL(q_i ‖ Σ_k c_k s_k) over c on the simplex for every sparse row q_i; `anchors` is (columns, K)."""
    n_topics = anchors.shape[1]
    gain = np.empty(n_topics)
    for i in range(len(indptr) - 1):
        weight = out[i]
        for _step in range(max_iter):
            gain[:] = 0.0
            total = 0.0
            for at in range(indptr[i], indptr[i + 1]):
                row = anchors[indices[at]]
                expected = 0.0
                for k in range(n_topics):
                    expected += weight[k] * row[k]
                if expected <= 0.0:
                    continue
                scale = values[at] / expected
                total += values[at]
                for k in range(n_topics):
                    gain[k] += scale * row[k]
            if total <= 0.0:
                break
            moved = 0.0
            for k in range(n_topics):
                new = weight[k] * gain[k] / total
                moved += abs(new - weight[k])
                weight[k] = new
            if moved < tol:
                break
