"""Properties that every family and every model must have, for the library's own and for yours.

    from tacit.testing import check_family, check_model

Each function raises AssertionError, naming the property, at the first that does not hold.
"""

import pickle
import warnings
from functools import partial

import numpy as np

from .engine import fit
from .source import ArraySource, Block

__all__ = ["check_family", "check_model", "close"]


def close(a, b, rtol=1e-9, what="values"):
    """Assert that two records of arrays agree, relative to the largest number of each array.

    Parameters
    ----------
    a, b : Arrays
        The records.
    rtol : float
        How far apart they may be.
    what : str
        What they are, for the message.
    """
    other = b.to_dict()
    for name, value in a.to_dict().items():
        scale = max(np.abs(value).max(initial=0.0), 1e-12)
        error = np.abs(value - other[name]).max(initial=0.0) / scale
        assert error <= rtol, f"{what}: {name} differs by {error:.3g} of its scale, more than {rtol:.3g}"


def _with_holes(X, rng, share=0.2):
    holes = rng.random(X.shape) < share
    holes[np.arange(len(X)), rng.integers(X.shape[1], size=len(X))] = False
    return np.where(holes, np.nan, X)


def _soft(n_rows, n_classes, rng):
    return rng.dirichlet(np.ones(n_classes), n_rows)


def check_family(family, X, n_classes=3, random_state=0):
    """Check a family on rows it can describe.

    M-steps must maximise the expected log-likelihood plus the log prior; where the family says that its M-step is not
    ``exact`` (it maximises a bound, or takes one step), it must only be no worse than where it started.

    Parameters
    ----------
    family : Family
        The family.
    X : ndarray of shape (n, d)
        At least fifty complete rows.
    n_classes : int
        Number of classes to try.
    random_state : int
        Seed.
    """
    rng = np.random.default_rng(random_state)
    X = np.asarray(X, dtype=np.float64)
    family.check(X)
    for rows in (X, _with_holes(X, rng)):
        block, resp = Block.of(rows), _soft(len(rows), n_classes, rng)
        params = family.start(block, resp)
        _check_record(params)
        _check_scores(family, params, block)
        _check_additive(family, params, rows, resp)
        _check_e_step(family, params, block, rng)
    _check_maximum(family, X, n_classes, rng)
    _check_sampling(family, params, rng)


def _check_record(params):
    close(params.from_vector(params.to_vector()), params, 0.0, "vector round trip")
    close(pickle.loads(pickle.dumps(params)), params, 0.0, "pickle round trip")
    close(0.5 * params + 0.5 * params, params, 1e-15, "arithmetic")


def _check_scores(family, params, block):
    scores = family.log_prob(params, block)
    n_classes = scores.shape[1]
    assert scores.shape == (len(block), n_classes), "log_prob has shape (rows, classes)"
    assert np.isfinite(scores).all(), "log_prob is finite"
    nothing = np.full((2, block.X.shape[1]), np.nan)
    empty = family.log_prob(params, Block.of(np.vstack([block.X, nothing])))
    assert np.allclose(empty[-2:], 0.0, atol=1e-10), "a row without any observed cell has density 1"
    assert np.allclose(empty[:-2], scores, rtol=1e-9, atol=1e-9), "a row's density does not depend on other rows"


def _check_additive(family, params, X, resp):
    whole = family.stats(params, Block.of(X), resp)
    cut = len(X) // 3
    parts = family.stats(params, Block.of(X[:cut]), resp[:cut]) + family.stats(params, Block.of(X[cut:]), resp[cut:])
    close(whole, parts, 1e-9, "statistics add over blocks")
    twice = family.stats(params, Block.of(np.vstack([X, X])), np.vstack([resp, resp]))
    close(2.0 * whole, twice, 1e-9, "responsibility 2 equals the row given twice")


def _check_e_step(family, params, block, rng):
    from .families import responsibilities

    log_weight = np.log(rng.dirichlet(np.ones(family.log_prob(params, block).shape[1])))
    loglik, counts, stats = family.e_step(params, log_weight, block)
    resp, _, expected = responsibilities(family.log_prob(params, block), log_weight, block.weight, block.labels)
    assert np.isclose(loglik, expected, rtol=1e-10), "e_step's log-likelihood is that of log_prob"
    assert np.allclose(counts, resp.sum(axis=0), rtol=1e-9, atol=1e-9), "e_step's counts are those of log_prob"
    close(stats, family.stats(params, block, resp), 1e-8, "e_step's statistics are those of stats")


def _check_maximum(family, X, n_classes, rng):
    block, resp = Block.of(X), _soft(len(X), n_classes, rng)
    start = family.start(block, resp)
    best = family.m_step(family.stats(start, block, resp), start)

    def expected(params):
        return float((resp * family.log_prob(params, block)).sum()) + family.log_prior(params)

    top = expected(best)
    assert top >= expected(start) - 1e-8 * abs(top), "m_step is no worse than where it started"
    for _ in range(5 if family.exact else 0):
        other = _soft(len(X), n_classes, rng)
        near = family.m_step(family.stats(best, block, 0.95 * resp + 0.05 * other), best)
        assert expected(near) <= top + 1e-8 * abs(top), "m_step maximises the expected log-likelihood"


def _check_sampling(family, params, rng, n_rows=4000):
    n_classes = family.log_prob(params, Block.of(family.sample(params, np.zeros(1, int), rng))).shape[1]
    classes = np.repeat(np.arange(n_classes), n_rows)
    X = family.sample(params, classes, rng)
    block, resp = Block.of(X), np.eye(n_classes)[classes]
    learned = family.m_step(family.stats(params, block, resp), params)
    gain = (resp * (family.log_prob(learned, block) - family.log_prob(params, block))).sum()
    gain = (gain + family.log_prior(learned) - family.log_prior(params)) / len(X)
    allowed = 5.0 * params.to_vector().size / len(X)
    assert -1e-9 <= gain <= allowed, f"samples recover the parameters (gain {gain:.3g} per row, at most {allowed:.3g})"


def check_model(model, X, *, weight=None, labels=None, random_state=0, max_iter=30, rtol=1e-8):
    """Check a model on rows it can describe.

    Parameters
    ----------
    model : Model
        Has ``init``, ``e_step``, ``m_step`` and ``posterior``.
    X : ndarray of shape (n, d)
        Rows; may have missing cells.
    weight, labels : ndarray of shape (n,), optional
        Row weights and known classes.
    random_state : int
        Seed.
    max_iter : int
        Steps of each fit.
    rtol : float
        How closely parameters must agree.
    """
    rng = np.random.default_rng(random_state)
    X = np.asarray(X)
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    labels = np.full(len(X), -1) if labels is None else np.asarray(labels)
    source = ArraySource(X, weight, labels)
    start = model.init(source.sample(len(X), rng), rng)

    def learn(*table, **settings):
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            return fit(model, ArraySource(*table, **settings), start, max_iter=max_iter, tol=0.0)

    base = learn(X, weight, labels)
    gains = np.diff(base.trace.objectives)
    slack = 1e-9 * (1.0 + np.abs(base.trace.objectives).max())
    assert gains.min(initial=0.0) >= -slack, f"the objective never decreases (it fell by {-gains.min():.3g})"
    assert gains.max(initial=0.0) > 0.0, "the objective increases at least once"

    one = learn(X, weight, labels, block_rows=17, n_jobs=1)
    close(one.params, learn(X, weight, labels, block_rows=17, n_jobs=3).params, 0.0, "threads do not matter")
    close(base.params, one.params, rtol, "block size does not matter")
    close(base.params, learn(np.asfortranarray(X), weight, labels).params, rtol, "memory layout does not matter")

    double = learn(X, 2.0 * weight, labels)
    twice = learn(np.vstack([X, X]), np.tile(weight, 2), np.tile(labels, 2))
    close(double.params, twice.params, rtol, "weight 2 equals the row given twice")
    log_prior = getattr(model, "log_prior", None)
    if log_prior is None or log_prior(start) == 0.0:
        close(double.params, base.params, rtol, "without a prior, the scale of the weights does not matter")

    ghost = np.full((1, X.shape[1]), np.nan, dtype=X.dtype)
    ghost[0, 0] = X[~np.isnan(X[:, 0]), 0][0]
    more = learn(np.vstack([X, ghost]), np.append(weight, 0.0), np.append(labels, -1))
    close(more.params, base.params, rtol, "a row of weight 0 does not matter, even with missing cells")

    close(pickle.loads(pickle.dumps(base)).params, base.params, 0.0, "a fit survives pickling")
    stats = source.sum(partial(model.e_step, base.params))
    _check_record(stats)
    resp, evidence = model.posterior(base.params, Block.of(X))
    assert np.allclose(resp.sum(axis=1), 1.0), "posterior probabilities sum to 1"
    if (labels < 0).all():
        assert np.isclose(weight @ evidence, stats.loglik, rtol=1e-9), "the posterior's evidence is the likelihood"
    return base
