"""Displays of mixtures of tables: categories are not drawn as numbers unless asked for."""

import numpy as np
import pytest

from tacit.mixture import Mixture
from tacit.plot import ClustersDisplay, MissingnessDisplay, ResponsibilitiesDisplay

from ..mixture.test_mixture import patients

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(scope="module")
def fitted():
    table, _ = patients(200)
    table = table[["ward", "age", "visits", "pressure", "smoker"]]
    return Mixture(3, random_state=0).fit(table), table


def test_clusters_take_columns_of_numbers(fitted):
    mixture, table = fitted
    display = ClustersDisplay.from_estimator(mixture, table)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("age", "visits")
    assert not np.isnan(display.points).any()
    assert len(display.ellipses_) == 6
    np.testing.assert_allclose(display.covariances[:, 0, 1], 0.0)  # a Gaussian and a Poisson are independent
    joint = ClustersDisplay.from_estimator(mixture, table, features=["age", "pressure"])
    gaussian = mixture.params_.components.parts[0]
    np.testing.assert_allclose(joint.covariances, gaussian.covariance)
    assert ClustersDisplay.from_estimator(mixture, table, features="discriminating").names != ["ward", "smoker"]
    coded = ClustersDisplay.from_estimator(mixture, table, features=["ward", "age"])
    assert coded.means is None
    assert set(coded.points[:, 0]) == {0.0, 1.0, 2.0}


def test_too_few_numbers_to_draw():
    table = patients(60)[0][["ward", "smoker", "age"]]
    with pytest.raises(ValueError, match="two columns of numbers, but X has 1; name two columns as features"):
        ClustersDisplay.from_estimator(Mixture(2, random_state=0).fit(table), table)


def test_missing_categories_are_named(fitted):
    mixture, table = fitted
    display = MissingnessDisplay.from_estimator(mixture, table, columns=["ward", "age"])
    ward, age = display.imputed_axes_
    assert [label.get_text() for label in ward.get_yticklabels()] == ["east", "north", "west"]
    assert "most probable level" in ward.get_title()
    assert "90% intervals" in age.get_title()


def test_memberships(fitted):
    mixture, table = fitted
    display = ResponsibilitiesDisplay.from_estimator(mixture, table)
    assert display.ax_.get_ylim()[1] == pytest.approx(1.0, abs=0.1)
