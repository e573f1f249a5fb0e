"""Draws of missing cells have the moments that `expect` gives."""

import numpy as np
import pytest

from tacit.engine import fit
from tacit.families import Categorical, Dirichlet
from tacit.mixture import MixtureModel
from tacit.source import ArraySource, Block

from ..zoo import FAMILIES, with_missing

DRAWS = 2000


@pytest.mark.parametrize("name", FAMILIES)
def test_draws_have_the_expected_moments(name, rng):
    family, rows = FAMILIES[name]
    if isinstance(family, (Categorical, Dirichlet)) or name == "product":
        pytest.skip("cells are codes, or depend on each other")
    X = with_missing(rows(60), 0.2)
    model = MixtureModel(family, 2)
    block = Block.of(X)
    params = fit(model, ArraySource(X), model.init(block, rng), max_iter=5).params
    resp = model.posterior(params, block)[0]
    mean, std = family.expect(params.components, block, resp)
    drawn = family.draw(params.components, block, resp, DRAWS, rng)
    missing = np.isnan(X)
    assert (drawn[:, ~missing] == X[~missing]).all()
    wide = np.isfinite(std) & missing  # a Student t of few degrees of freedom has no variance
    error = (drawn.mean(axis=0) - mean)[wide] / (std[wide] / np.sqrt(DRAWS) + 1e-9)
    assert np.sqrt(np.mean(error**2)) < 2.0
