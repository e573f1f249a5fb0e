"""Proportions of given topics in documents, and words as mixtures of anchors: maxima on the simplex by multiplicative steps."""

import numpy as np

from .jit import jit

__all__ = ["proportions"]


@jit
def proportions(indptr, indices, counts, word_topic, prior, tol, max_iter, out):
    """Maximise Σ_w n_w log Σ_k θ_k β_k(w) + Σ_k a_k log θ_k over θ for every sparse row, from the θ in `out` on (EM)."""
    n_topics = word_topic.shape[1]
    gain = np.empty(n_topics)
    for d in range(len(indptr) - 1):
        theta = out[d]
        for _step in range(max_iter):
            gain[:] = 0.0
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
                    gain[k] += scale * row[k]
            if total <= 0.0:
                break
            moved = 0.0
            for k in range(n_topics):
                new = (prior[k] + theta[k] * gain[k]) / total
                moved += abs(new - theta[k])
                theta[k] = new
            if moved < tol:
                break
