"""Displays of classifiers: regions with how sure they are, and whether probabilities hold."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from tacit.classification import GaussianBayes
from tacit.gaussian_process import GaussianProcessRegressor
from tacit.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from tacit.linear_model import ARDRegression
from tacit.plot import (
    DecisionRegionsDisplay,
    EvidenceDisplay,
    PredictiveFanDisplay,
    ReliabilityDisplay,
    SparsityDisplay,
)
from tacit.relevance import RelevanceVectorRegressor
from tacit.svm import SVC

X, Y = load_iris(return_X_y=True, as_frame=True)
PETALS = X.iloc[:, 2:]


def test_regions_show_the_class_and_how_sure_it_is():
    model = GaussianBayes("full").fit(PETALS, Y)
    display = DecisionRegionsDisplay.from_estimator(model, PETALS, Y, resolution=60)
    grid = pd.DataFrame(
        np.column_stack([part.ravel() for part in np.meshgrid(display.x, display.y)]), columns=PETALS.columns
    )
    np.testing.assert_array_equal(display.sure.argmax(axis=2).ravel(), model.predict(grid))
    shown = np.asarray(display.image_.get_array())
    best = display.sure.max(axis=2)
    assert shown[best > 0.999].mean() < shown[best < 0.6].mean()  # pale where it is not sure
    assert [len(part.get_offsets()) for part in display.rows_] == [50, 50, 50]
    assert display.ax_.get_xlabel() == PETALS.columns[0]


def test_regions_of_a_margin_circle_support_vectors():
    rows, labels = PETALS.to_numpy()[:100], Y.to_numpy()[:100]
    model = SVC(kernel="linear", C=np.inf).fit(rows, labels)
    display = DecisionRegionsDisplay.from_estimator(model, rows, labels, resolution=30)
    np.testing.assert_array_equal(display.support, model.support_)
    assert set(np.unique(display.sure)) == {0.0, 1.0}
    np.testing.assert_array_equal(display.values > 0, display.sure[..., 1] == 1)
    with pytest.raises(ValueError, match=r"X has shape \(150, 4\), but regions are drawn in the plane of two"):
        DecisionRegionsDisplay.from_estimator(model, X)


def test_reliability_is_on_the_line_where_probabilities_hold():
    rng = np.random.default_rng(0)
    told = rng.random(20_000)
    display = ReliabilityDisplay(told, rng.random(20_000) < told, n=20).plot()
    assert np.mean((display.low <= display.mean_told) & (display.mean_told <= display.high)) >= 0.85
    assert display.brier == pytest.approx(1 / 6, abs=0.01)
    wrong = ReliabilityDisplay(told, rng.random(20_000) < told**3)
    assert (wrong.high < wrong.mean_told)[2:8].all()
    model = GaussianBayes().fit(PETALS, Y)
    assert ReliabilityDisplay.from_estimator(model, PETALS, Y, label=1).name == "1"
    with pytest.raises(ValueError, match="label=7 is no class of the estimator; use one of 0, 1, 2"):
        ReliabilityDisplay.from_estimator(model, PETALS, Y, label=7)


@pytest.fixture(scope="module")
def curve():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3, 3, 60))
    return x[:, None], np.sin(2 * x) + rng.normal(0, 0.2, 60)


@pytest.fixture(scope="module")
def process(curve):
    return GaussianProcessRegressor(ConstantKernel() * RBF() + WhiteKernel(0.1)).fit(*curve)


def test_a_fan_holds_the_rows_and_widens_beyond_them(curve, process):
    display = PredictiveFanDisplay.from_estimator(process, *curve, levels=(0.9, 0.5), resolution=80)
    assert list(display.bands) == [0.5, 0.9]
    for level, (low, high) in display.bands.items():
        at = np.interp(curve[0][:, 0], display.x, low), np.interp(curve[0][:, 0], display.x, high)
        assert abs(np.mean((at[0] <= curve[1]) & (curve[1] <= at[1])) - level) < 0.2
        assert ((low <= display.mean) & (display.mean <= high)).all()
    width = np.subtract(*display.bands[0.9][::-1])
    assert width[0] > 1.2 * width[40]
    assert len(display.bands_) == 2
    assert len(display.rows_.get_offsets()) == 60
    with pytest.raises(ValueError, match="column=1 is none of X"):
        PredictiveFanDisplay.from_estimator(process, *curve, column=1)


def test_evidence_is_highest_where_it_was_learned(process):
    display = EvidenceDisplay.from_estimator(process, 1, resolution=21)
    assert display.name == "k1__k2__length_scale"
    assert display.evidence.max() <= display.highest + 1e-6
    assert display.low <= display.learned <= display.high
    np.testing.assert_allclose(display.evidence[10], process.log_marginal_likelihood_value_, rtol=1e-9)
    with pytest.raises(ValueError, match="hyperparameter=3 is none of the 3 of the kernel; use 0 to 2"):
        EvidenceDisplay.from_estimator(process, 3)
    with pytest.raises(ValueError, match="span=1 must be greater than 1"):
        EvidenceDisplay.from_estimator(process, span=1)


def test_sparsity_shows_what_remained(curve):
    machine = RelevanceVectorRegressor(gamma=1.0).fit(*curve)
    display = SparsityDisplay.from_estimator(machine, n_rows=60)
    assert len(display.weights) == len(machine.relevance_) < 20
    assert (np.diff(np.abs(display.weights[display.order])) <= 0).all()
    kept = machine.places_[:, 1] < len(machine.relevance_)
    np.testing.assert_allclose(display.std, np.sqrt(np.diagonal(machine.sigma_))[kept])
    assert f"{len(machine.relevance_)} of 60 relevance vectors kept" in display.ax_.get_title()
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(80, 12))
    sparse = ARDRegression().fit(rows, rows[:, 3] - 2 * rows[:, 7] + rng.normal(0, 0.1, 80))
    display = SparsityDisplay.from_estimator(sparse)
    assert [display.names[k] for k in display.order[:2]] == ["x7", "x3"]
    with pytest.raises(ValueError, match="score=1 is none of the 1 rows of coef_"):
        SparsityDisplay.from_estimator(sparse, score=1)
