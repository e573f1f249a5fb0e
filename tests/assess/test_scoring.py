"""Proper scores against definitions and scikit-learn, calibration of what should be calibrated."""

from functools import partial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest, norm
from sklearn.metrics import brier_score_loss, log_loss

from tacit.assess import brier_score, crps, interval_coverage, interval_score, log_score, pit, reliability
from tacit.assess.scoring import crps_of_draws, gaussian_crps, gaussian_log_density


def _gap(value, mean, std, x):
    return (norm.cdf(x, mean, std) - (x >= value)) ** 2


def test_scores_are_those_of_their_definitions():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 50)
    y = np.array([rng.choice(3, p=each) for each in p])
    assert log_score(y, p) == pytest.approx(-log_loss(y, p), rel=1e-12)
    assert brier_score(y, p) == pytest.approx(((p - np.eye(3)[y]) ** 2).sum(axis=1).mean(), rel=1e-12)
    assert brier_score(y == 1, p[:, 1]) == pytest.approx(brier_score_loss(y == 1, p[:, 1]), rel=1e-12)
    assert log_score(np.array(["b", "a"]), [[0.2, 0.8], [0.3, 0.7]], ["a", "b"]) == pytest.approx(
        np.log([0.8, 0.3]).mean()
    )
    for value, mean, std in ((0.3, 0.0, 1.0), (-2.0, 1.0, 0.5)):
        gap = partial(_gap, value, mean, std)
        told = quad(gap, -9, 9, points=[value], limit=200)[0]
        assert crps([value], [mean], [std]) == pytest.approx(told, rel=1e-7)
    assert gaussian_crps([3.0], [1.0], [0.0]) == [2.0]
    assert gaussian_log_density([0.5], [0.0], [2.0])[0] == pytest.approx(norm.logpdf(0.5, 0, 2))
    draws = rng.normal(size=(4, 30))
    fair = [np.abs(each - 0.4).mean() - 0.5 * np.abs(each[:, None] - each).sum() / (30 * 29) for each in draws]
    assert crps_of_draws(np.full(4, 0.4), draws) == pytest.approx(fair, rel=1e-12)
    assert crps_of_draws(np.zeros(400), rng.normal(size=(400, 5))).mean() == pytest.approx(
        crps([0.0], [0.0], [1.0]), abs=0.05
    )


def test_calibrated_predictions_are_found_so():
    rng = np.random.default_rng(1)
    mean, std = rng.normal(size=3000), rng.uniform(0.5, 2.0, 3000)
    y = rng.normal(mean, std)
    assert kstest(pit(y, mean, std), "uniform").pvalue > 0.01
    assert kstest(pit(y, draws=rng.normal(mean[:, None], std[:, None], (3000, 19))), "uniform").pvalue > 0.01
    assert kstest(pit(y, mean, 0.5 * std), "uniform").pvalue < 1e-6
    low, high = norm.interval(0.8, mean, std)
    found = interval_coverage(y, low, high)
    assert found.low < 0.8 < found.high
    scores = [interval_score(y, *norm.interval(q, mean, std), 0.8).mean() for q in (0.7, 0.8, 0.9)]
    assert np.argmin(scores) == 1
    p = rng.random(20_000)
    honest, bold = (reliability(rng.random(20_000) < p, told) for told in (p, np.clip(1.5 * p - 0.25, 0, 1)))
    assert honest.error < 0.02 < bold.error
    assert ((honest.low < honest.told) & (honest.told < honest.high)).mean() >= 0.7


def test_murphys_parts_add_up():
    rng = np.random.default_rng(2)
    p = np.repeat([0.1, 0.4, 0.7, 0.9], 50)
    found = reliability(rng.random(200) < p, p, 4)
    assert found.reliability - found.resolution + found.uncertainty == pytest.approx(found.brier, rel=1e-12)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: crps([1.0], [0.0, 1.0], [1.0]), "rows differ: y has 1, mean has 2, std has 1"),
        (lambda: crps([np.nan], [0.0], [1.0]), r"y contains NaN \(row 0\)"),
        (lambda: crps([], [], []), "y is empty"),
        (lambda: crps([1.0], draws=[[1.0]]), r"draws has shape \(1, 1\); give at least 2"),
        (
            lambda: log_score([0, 5], [[0.5, 0.5]] * 2, [0, 1]),
            r"y has class .*5.* \(row 1\), which is none of \[0, 1\]",
        ),
        (lambda: log_score([0, 1], [[1 / 3] * 3] * 2), "there are 2 classes and 3 columns of probabilities"),
        (lambda: interval_score([1.0], [0.0], [2.0], 1.5), "level=1.5 is not a probability"),
    ],
)
def test_bad_input_is_told(call, told):
    with pytest.raises(ValueError, match=told):
        call()
