"""StudentTMixture against our own GaussianMixture, per step: same rows, same start, same number of steps."""

import warnings
from functools import partial

import numpy as np

from .gaussian_mixture import STEPS, make, settings
from .harness import Job


def with_missing(share, *shape):
    """Rows of which a share of the cells is missing."""
    X = make(*shape)
    X[np.random.default_rng(2).random(X.shape) < share] = np.nan
    return X


def _fit(name, options, X, **more):
    from tacit import mixture

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(mixture, name)(**options, **more, accelerate=None).fit(X)


def _student(options, X):
    return _fit("StudentTMixture", options, X, df_init=10.0), options, X


def _gaussian(options, X):
    return _fit("GaussianMixture", options, X).lower_bound_


def _equal(ours, theirs):
    """With a million degrees of freedom the likelihood is the Gaussian's."""
    fitted, options, X = ours
    assert np.isfinite(fitted.lower_bound_), "the fit is finite"
    gap = abs(_fit("StudentTMixture", options, X, df=1e6).lower_bound_ - theirs)
    assert gap < 1e-3 * abs(theirs), f"log-likelihoods differ by {gap} per row"
    return f"with df=1e6, log-likelihood per row equal to {gap:.0e}"


def _job(n, d, k, holes):
    options = settings(d, k, "full")
    suffix = f", {holes:.0%} missing" if holes else ""
    return Job(
        name=f"Student t n={n:,} d={d} K={k}{suffix}, {STEPS} steps", rival="GaussianMixture",
        make=partial(with_missing, holes, n, d, k), ours=partial(_student, options), theirs=partial(_gaussian, options),
        equal=_equal, target=1 / 1.6, repeats=5,
    )  # fmt: skip


JOBS = [_job(200_000, 16, 16, 0.0), _job(50_000, 8, 6, 0.1)]
