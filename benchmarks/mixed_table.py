"""Mixtures of mixed tables with missing cells against StepMix: the same columns, start, model and number of steps.

StepMix describes measurements with missing cells by independent normals and has no counts, so the comparison is over the columns
it supports; a second job gives our side all columns and a full covariance, which StepMix cannot do, against the same rival run.
"""

from functools import partial

import numpy as np

from .harness import Job

STEPS, K, MEASURED, LEVELS, COUNTED = 20, 6, 6, (3, 4, 5, 3), 2


def make(n=50_000, missing=0.1):
    """Measurements, categories and counts of K groups, with missing values."""
    rng = np.random.default_rng(0)
    group = rng.integers(K, size=n)
    measured = 2.5 * rng.normal(size=(K, MEASURED))[group] + rng.normal(size=(n, MEASURED))
    shares = [rng.dirichlet(np.ones(levels), K) for levels in LEVELS]
    categories = [(rng.random((n, 1)) > np.cumsum(share[group], axis=1)[:, :-1]).sum(axis=1) for share in shares]
    counts = rng.poisson(rng.gamma(3.0, 2.0, size=(K, COUNTED))[group])
    X = np.column_stack([measured, *categories, counts]).astype(float)
    return np.where(rng.random(X.shape) < missing, np.nan, X)


def _tacit(kind, X):
    from tacit.engine import fit
    from tacit.families import GAUSSIANS, Categorical, Poisson, Product
    from tacit.mixture import MixtureModel
    from tacit.mixture.model import MixtureParams
    from tacit.source import ArraySource

    columns = np.split(np.arange(MEASURED + len(LEVELS) + COUNTED), [MEASURED, MEASURED + len(LEVELS)])
    parts = [(GAUSSIANS[kind](), columns[0]), (Categorical(LEVELS), columns[1])]
    if kind == "full":
        parts.append((Poisson(), columns[2]))
    else:
        X = np.ascontiguousarray(X[:, : MEASURED + len(LEVELS)])
    family, source = Product(parts), ArraySource(X)
    resp = np.random.RandomState(0).uniform(size=(len(X), K))
    resp /= resp.sum(axis=1)[:, None]
    start = family.start(source.take(np.arange(0, len(X), 10)), resp[::10])
    # The families soften a start; the M-step at the given responsibilities is the rival's start exactly.
    stats = [family.stats(start, block, resp[at : at + len(block)]) for at, block in _blocks(source)]
    params = MixtureParams(np.full(K, 1 / K), family.m_step(sum(stats[1:], stats[0]), start))
    return fit(MixtureModel(family, K), source, params, max_iter=STEPS, tol=0.0).trace.per_weight[-1]


def _blocks(source):
    at = 0
    for block in source:
        yield at, block
        at += len(block)


def _stepmix(X):
    from stepmix.stepmix import StepMix

    descriptor = {
        "measured": {"model": "continuous_nan", "n_columns": MEASURED},
        "categories": {"model": "categorical_nan", "n_columns": len(LEVELS)},
    }
    model = StepMix(
        K, measurement=descriptor, max_iter=STEPS, abs_tol=0.0, rel_tol=0.0, random_state=0, progress_bar=0, verbose=0
    )
    return model.fit(X[:, : MEASURED + len(LEVELS)]).lower_bound_


def _equal(ours, theirs):
    gap = abs(ours - theirs)
    assert gap < 1e-6 * abs(theirs), f"log-likelihoods {ours} and {theirs} differ by {gap} per row"
    return f"log-likelihood per row equal to {gap:.0e}"


def _richer(ours, theirs):
    return f"log-likelihood per row {ours:.2f} of all columns; the rival's {theirs:.2f} is of ten"


JOBS = [
    Job(
        name=f"mixed table n=50,000, 6 measured + 4 categories, 10 % missing, K={K}, {STEPS} steps", rival="StepMix",
        make=make, ours=partial(_tacit, "diag"), theirs=_stepmix, equal=_equal, target=10, repeats=3,
    ),
    Job(
        name=f"mixed table n=50,000, full covariance, + 2 counts, 10 % missing, K={K}, {STEPS} steps",
        rival="StepMix on ten columns, independent", make=make, ours=partial(_tacit, "full"), theirs=_stepmix,
        equal=_richer, target=10, repeats=3,
    ),
]  # fmt: skip
