"""Columns that go around a cycle: von Mises's distribution, its fits, filled cells and arcs."""

import numpy as np
import pytest
from scipy import stats

from tacit.engine import fit
from tacit.families import VonMises
from tacit.mixture import MixtureModel
from tacit.source import ArraySource, Block


def test_is_that_of_scipy_and_its_likeliest_parameters(rng):
    x = np.degrees(stats.vonmises.rvs(3.0, loc=2.9, size=4000, random_state=rng)) % 360.0
    p = VonMises(360).fit(x)
    kappa, loc, _ = stats.vonmises.fit(np.radians(x), fscale=1.0)
    np.testing.assert_allclose(p.parameters["concentration"], kappa, rtol=1e-6)
    np.testing.assert_allclose(p.parameters["direction"], np.degrees(loc) % 360.0, rtol=1e-6)
    density = stats.vonmises.logpdf(np.radians(x), kappa, loc=loc) + np.log(np.pi / 180.0)
    np.testing.assert_allclose(p.log_prob(x), density, rtol=1e-5)


def test_whole_numbers_have_probabilities_also_where_all_are_alike(rng):
    steps = np.arange(24.0)[:, None]
    for x in ([22, 23, 23, 0, 0, 1, 4], [5] * 9, rng.integers(24, size=60)):
        p = VonMises(24, steps=24).fit(np.asarray(x, float))
        np.testing.assert_allclose(np.exp(p.log_prob(steps)).sum(), 1.0, rtol=1e-12)
        np.testing.assert_allclose(p.log_prob(steps), p.log_prob(steps + 24), atol=1e-9)  # a cycle
        assert (p.log_prob(steps) <= 1e-12).all()
    assert VonMises(12, origin=1, steps=12).fit([11.0, 12.0, 1.0, 2.0, 12.0]).mean == pytest.approx(12.3, abs=0.2)


def test_missing_cells_are_places_of_the_cycle_with_arcs_that_hold_them(rng):
    """Two groups of rows, one about midnight; the arc of 90 % of a hidden hour holds nine of ten, also through midnight."""
    group = rng.integers(2, size=6000)
    hour = np.floor((np.where(group, 11.5, 23.5) + 2.5 * rng.normal(size=6000)) % 24)
    X = np.column_stack([hour, np.where(group, 8.0, -8.0) + rng.normal(size=6000)])
    from tacit.families import FullGaussian, Product

    family = Product([(VonMises(24, steps=24), (0,)), (FullGaussian(), (1,))])
    model = MixtureModel(family, 2)
    params = fit(model, ArraySource(X), model.init(Block.of(X), rng), max_iter=200).params
    hidden = X.copy()
    hidden[:, 0] = np.nan
    block = Block.of(hidden)
    resp = model.posterior(params, block)[0]
    filled, _ = family.expect(params.components, block, resp)
    law = family.law(params.components, block)
    low, high = law.quantile(0.05, resp), law.quantile(0.95, resp)
    whole = family.possible(filled)[:, 0]
    assert set(np.unique(whole[group == 0])) <= {23.0, 0.0}
    assert (low[group == 0] > high[group == 0]).all()  # through midnight
    within = (hour - low) % 24 <= (high - low) % 24
    assert 0.9 <= within.mean() < 0.97  # arcs end at whole hours
    np.testing.assert_allclose(law.std(resp)[group == 0].mean(), 2.5, rtol=0.1)
    drawn = family.draw(params.components, block, resp, 20, rng)[:, :, 0]
    assert np.isin(drawn, np.arange(24.0)).all()
    midnight = np.angle(np.exp(2j * np.pi * drawn[:, group == 0] / 24).mean()) * 24 / (2 * np.pi)
    assert abs(midnight - -1.0) < 0.2  # floors of 23.5


def test_refusals():
    with pytest.raises(ValueError, match="period=0 must be positive"):
        VonMises(0)
    with pytest.raises(ValueError, match="smoothing=-1 must be at least 0"):
        VonMises(24, smoothing=-1)
    with pytest.raises(ValueError, match="period names 2 columns, but X has 3"):
        VonMises([24, 7]).fit(np.ones((5, 3)))
    with pytest.raises(TypeError, match="takes direction, concentration, but got mean"):
        VonMises.of(period=24, mean=2.0)
