"""Mixtures of measurements and categories with missing values, step by step the same as StepMix's."""

import warnings

import numpy as np
import pytest

from tacit.engine import fit
from tacit.families import Categorical, DiagonalGaussian, Product
from tacit.mixture import MixtureModel
from tacit.mixture.model import MixtureParams
from tacit.source import ArraySource

from ..zoo import with_missing

K = 3


def rows(n=300):
    rng = np.random.default_rng(0)
    group = rng.integers(K, size=n)
    levels = [[rng.choice(m, p=p) for p in rng.dirichlet(np.ones(m), K)[group]] for m in (2, 4)]
    return with_missing(
        np.column_stack([2.0 * rng.normal(size=(K, 2))[group] + rng.normal(size=(n, 2)), *levels]), 0.15
    )


@pytest.mark.parametrize("steps", [1, 5, 40])
def test_the_same_steps_from_the_same_start(steps):
    stepmix = pytest.importorskip("stepmix.stepmix", reason="StepMix is not installed")
    X = rows()
    measurement = {
        "measured": {"model": "continuous_nan", "n_columns": 2},
        "categories": {"model": "categorical_nan", "n_columns": 2},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = stepmix.StepMix(
            K,
            measurement=measurement,
            max_iter=steps,
            abs_tol=0.0,
            rel_tol=0.0,
            random_state=0,
            progress_bar=0,
            verbose=0,
        ).fit(X)
    family, source = Product([(DiagonalGaussian(), (0, 1)), (Categorical((2, 4)), (2, 3))]), ArraySource(X)
    resp = np.random.RandomState(0).uniform(size=(len(X), K))
    resp /= resp.sum(axis=1)[:, None]
    block = next(iter(source))
    start = family.start(block, resp)
    start = MixtureParams(np.full(K, 1 / K), family.m_step(family.stats(start, block, resp), start))
    ours = fit(MixtureModel(family, K), source, start, max_iter=steps, tol=0.0)
    assert ours.trace.per_weight[-1] == pytest.approx(theirs.lower_bound_, rel=1e-9)
