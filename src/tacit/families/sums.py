"""Expectations over counts that have no closed form: E[f(x)] = Σ_x p(x) f(x)."""

import numpy as np

__all__ = ["expected_over_counts"]

CHUNK = 1 << 16


def expected_over_counts(function, law, *shape, extra=(), tail=1e-14):
    """Σ_j E[f(x_j)] under each class, by summing over the counts between two tails.

    Parameters
    ----------
    function : callable
        f of an array x, then the numbers of one cell: its parameters and the extra ones.
    law : scipy.stats distribution
        The distribution of a cell.
    *shape, extra : ndarray of shape (classes, d)
        Its parameters, and what else f wants.
    tail : float
        Probability left out at either end.

    Returns
    -------
    ndarray of shape (classes,)
    """
    out = np.zeros(shape[0].shape)
    for cell in np.ndindex(out.shape):
        numbers, others = [float(a[cell]) for a in shape], [float(a[cell]) for a in extra]
        low, high = max(law.ppf(tail, *numbers), 0.0), min(law.isf(tail, *numbers) + 1.0, law.support(*numbers)[1])
        for first in np.arange(low, high + 1.0, CHUNK):
            x = np.arange(first, min(first + CHUNK, high + 1.0))
            out[cell] += law.pmf(x, *numbers) @ function(x, *numbers, *others)
    return out.sum(axis=1)
