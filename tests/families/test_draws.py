"""Draws of missing cells have the moments that `expect` gives."""

import numpy as np
import pytest

from tacit.engine import fit
from tacit.families import Categorical, Dirichlet, Multinomial, VonMises
from tacit.families.linear import ProbabilityParams
from tacit.mixture import MixtureModel
from tacit.source import ArraySource, Block

from ..zoo import FAMILIES, with_missing

DRAWS = 2000


@pytest.mark.parametrize("name", FAMILIES)
def test_draws_have_the_expected_moments(name, rng):
    family, rows = FAMILIES[name]
    if isinstance(family, (Categorical, Dirichlet, VonMises)) or name == "product":
        pytest.skip("cells are codes, depend on each other, or go around a cycle")
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


def test_a_row_of_no_observed_count_is_one_of_the_stated_total():
    family, params = Multinomial(50), ProbabilityParams(np.array([[0.2, 0.3, 0.5]]))
    block = Block.of(np.array([[np.nan, np.nan, np.nan], [4.0, np.nan, np.nan], [0.0, np.nan, np.nan]]))
    with np.errstate(all="raise"):
        filled = family.filled(params, block, np.ones((3, 1)))
        drawn = family.draw(params, block, np.ones((3, 1)), 4000, np.random.default_rng(0))
    np.testing.assert_allclose(filled, [[10.0, 15.0, 25.0], [4.0, 6.0, 10.0], [0.0, 0.0, 0.0]], atol=1e-9)
    np.testing.assert_allclose(drawn.mean(axis=0), filled, rtol=0.05, atol=0.01)
