"""CCA against scikit-learn's NIPALS: the same rows, the same number of pairs, default settings.

NIPALS stops within its tolerance of the solution, or at its limit of steps; ours is exact. So the rival's scores may correlate
less, never more, and both must span the same space.
"""

import warnings
from functools import partial

import numpy as np

from .harness import Job


def make(n, p, q, k):
    """Two views that k variables of falling strength link, joined so that rows can be cut."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n, k)) * np.linspace(2.0, 0.6, k)
    views = [z @ rng.normal(size=(k, d)) / np.sqrt(k) + rng.normal(size=(n, d)) for d in (p, q)]
    return np.hstack(views)


def _fit(name, p, k, rows):
    from sklearn import cross_decomposition

    from tacit import factor

    X, y = rows[:, :p], rows[:, p:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = (factor if name == "tacit" else cross_decomposition).CCA(k).fit(X, y)
    return model, X, y


def _correlations(fitted):
    model, X, y = fitted
    scores = model.transform(X, y)
    return np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(scores[0].T, scores[1].T)]), scores[0]


def _equal(ours, theirs):
    (mine, scores), (other, rival) = _correlations(ours), _correlations(theirs)
    np.testing.assert_allclose(mine, ours[0].canonical_correlations_, rtol=1e-9)
    gap = np.abs(np.sort(mine) - np.sort(other)).max()
    assert gap < 1e-3, f"canonical correlations differ by {gap}"
    assert (np.cumsum(mine) >= np.cumsum(np.sort(other)[::-1]) - 1e-9).all(), "the rival found more correlation"
    basis, _ = np.linalg.qr(scores - scores.mean(axis=0))
    other_basis, _ = np.linalg.qr(rival - rival.mean(axis=0))
    shared = np.linalg.svd(basis.T @ other_basis, compute_uv=False).min()
    assert shared > 0.99, f"the spaces of scores share only {shared}"
    return f"correlations equal to {gap:.0e}, least cosine between scores {shared:.5f}"


def _job(n, p, q, k, repeats):
    return Job(
        name=f"CCA n={n:,} {p} + {q} columns, {k} pairs", rival="scikit-learn", make=partial(make, n, p, q, k),
        ours=partial(_fit, "tacit", p, k), theirs=partial(_fit, "scikit-learn", p, k), equal=_equal, target=10.0,
        repeats=repeats,
    )  # fmt: skip


JOBS = [_job(20_000, 60, 40, 10, 3), _job(2000, 20, 20, 5, 9)]
