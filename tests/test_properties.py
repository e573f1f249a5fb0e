"""The property list of tacit.testing, run over every family and every model."""

import numpy as np
import pytest

from tacit.families import FullGaussian
from tacit.mixture import MixtureModel
from tacit.testing import check_family, check_model

from .zoo import FAMILIES, LEARNERS, MODELS, PARAMETRISATIONS, WITH_PRIORS, gaussian_rows, some, with_missing


@pytest.mark.parametrize("name", FAMILIES)
def test_family(name):
    family, rows = FAMILIES[name]
    check_family(family, rows())


@pytest.mark.parametrize("name", WITH_PRIORS)
def test_family_with_a_prior(name):
    family, rows = WITH_PRIORS[name]
    check_family(family, rows())


@pytest.mark.parametrize("name", some(LEARNERS, PARAMETRISATIONS))
def test_model(name):
    model, rows = LEARNERS[name]
    check_model(model, rows())


@pytest.mark.parametrize("name", LEARNERS)
def test_model_with_holes(name):
    model, rows = LEARNERS[name]
    check_model(model, with_missing(rows()))


@pytest.mark.parametrize("name", some(MODELS, PARAMETRISATIONS))
def test_model_with_weights_and_labels(name):
    model, rows = MODELS[name]
    rng = np.random.default_rng(3)
    X = with_missing(rows(), 0.1)
    labels = np.where(rng.random(len(X)) < 0.2, rng.integers(model.n_components, size=len(X)), -1)
    check_model(model, X, weight=rng.uniform(0.2, 3.0, len(X)), labels=labels)


@pytest.mark.parametrize("d", [1, 2, 7, 8, 9, 31, 33, 40])
def test_every_width_of_strip_and_moment(d):
    X = gaussian_rows(300, d, 2)
    check_model(MixtureModel(FullGaussian(floor=1e-3), 2), X, max_iter=8)


def test_a_wrong_m_step_is_caught():
    class Wrong(FullGaussian):
        def m_step(self, stats, params):
            right = super().m_step(stats, params)
            return self.params(params.mean + 0.3, right.covariance, right.origin, right.scale)

    with pytest.raises(AssertionError, match="m_step"):
        check_family(Wrong(), gaussian_rows())
    with pytest.raises((AssertionError, RuntimeWarning), match=r"fell|never decreases"):
        check_model(MixtureModel(Wrong(), 2), gaussian_rows())


def test_models_that_break_the_rules_are_told_which():
    class Writer(MixtureModel):
        def e_step(self, params, block):
            self.last = block.X.shape
            return super().e_step(params, block)

    class Pair(MixtureModel):
        def e_step(self, params, block):
            return super().e_step(params, block), 0.0

    X = gaussian_rows()
    with pytest.raises(
        AssertionError, match="a model reads its settings and writes nothing, but these have changed: last"
    ):
        check_model(Writer(FullGaussian(), 2), X, max_iter=8)
    with pytest.raises(AssertionError, match="e_step returns a record of arrays, not a tuple"):
        check_model(Pair(FullGaussian(), 2), X)
    with pytest.raises(ValueError, match=r"X has shape \(0, 3\); models are checked on a table of at least 2 rows"):
        check_model(MixtureModel(FullGaussian(), 2), np.empty((0, 3)))
