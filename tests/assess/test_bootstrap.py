"""The bootstrap: SciPy's intervals from the same replicates, laws of compiled replicates, estimators, resumption, coverage."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from tacit.assess import bootstrap, replicates
from tacit.assess.drawing import drawing_for
from tacit.assess.named import NAMED, Quantile
from tacit.cluster import KMeans
from tacit.linear_model import LinearRegression
from tacit.mixture import GaussianMixture, standard_errors

STATISTICS = {
    "mean": np.mean, "variance": lambda x: np.var(x, ddof=1), "sd": lambda x: np.std(x, ddof=1), "skewness": stats.skew,
    "kurtosis": stats.kurtosis, "median": np.median, 0.9: lambda x: np.quantile(x, 0.9),
}  # fmt: skip


@pytest.fixture
def x(rng):
    return rng.gamma(2.0, size=35)


@pytest.mark.parametrize("name", STATISTICS)
def test_compiled_statistics_are_those_of_functions(name, x):
    """The same estimate and jackknife, and replicates of the same law."""
    ours = bootstrap(name, x, n_resamples=20_000, random_state=0)
    plain = bootstrap(lambda rows: STATISTICS[name](rows), x, n_resamples=4000, random_state=1)
    assert ours.estimate == pytest.approx(plain.estimate, rel=1e-10)
    assert ours.standard_error == pytest.approx(plain.standard_error, rel=0.06)
    assert stats.ks_2samp(ours.replicates, plain.replicates).pvalue > 1e-3
    scale = plain.high - plain.low
    assert (ours.low, ours.high) == pytest.approx((plain.low, plain.high), abs=0.08 * scale)
    task = replicates._task(name, [x], False, 0, "cases", None, None, None, None, False)
    expected = [STATISTICS[name](np.delete(x, i)) for i in range(len(x))]
    jackknife = task.jackknife()[:, 0]
    np.testing.assert_allclose(np.sort(jackknife), np.sort(expected), rtol=1e-9)
    assert set(NAMED) < set(STATISTICS)


@pytest.mark.parametrize("n", [2, 3, 8])
@pytest.mark.parametrize("q", [0.5, 0.1, 0.75])
def test_quantiles_of_resamples_have_the_law_of_resamples(n, q, rng):
    """All n^n resamples of distinct values, against replicates that were drawn without any."""
    x = np.sort(rng.normal(size=n))
    drawn = Quantile(q, x, 0).block(0, 40_000)[0][:, 0]
    if n < 8:
        every = np.stack(np.meshgrid(*[x] * n), axis=-1).reshape(-1, n)
    else:
        every = rng.choice(x, size=(40_000, n))
    expected = np.quantile(every, q, axis=1)
    for value in np.unique(np.round(expected, 12)):
        assert (np.abs(drawn - value) < 1e-9).mean() == pytest.approx(
            (np.abs(expected - value) < 1e-9).mean(), abs=0.02
        )


def test_rows_are_drawn_evenly_and_apart():
    drawing = drawing_for(7, 3, "cases", None, None)
    drawn = np.array([drawing.rows(b) for b in range(6000)])
    counts = np.bincount(drawn.ravel(), minlength=7)
    assert stats.chisquare(counts).pvalue > 1e-3
    pairs = np.bincount(drawn[:, 0] * 7 + drawn[:, 1], minlength=49)
    assert stats.chisquare(pairs).pvalue > 1e-3
    neighbours = np.bincount(drawn[:-1, 0] * 7 + drawn[1:, 0], minlength=49)
    assert stats.chisquare(neighbours).pvalue > 1e-3


@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
def test_intervals_are_scipys_from_the_same_replicates(method, x):
    ours = bootstrap(lambda rows: np.mean(rows) ** 2, x, method=method, n_resamples=999, random_state=0)
    given = SimpleNamespace(bootstrap_distribution=ours.replicates)
    theirs = stats.bootstrap((x,), lambda rows, axis: np.mean(rows, axis=axis) ** 2, n_resamples=0, bootstrap_result=given,
                             method="BCa" if method == "bca" else method).confidence_interval  # fmt: skip
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_studentised_intervals_by_their_definition(x):
    ours = bootstrap("mean", x, method="studentised", n_resamples=2000, random_state=0)
    rows = bootstrap(np.average, x, method="studentised", n_resamples=2000, random_state=0,
                     standard_error=lambda rows: rows.std(ddof=1) / math.sqrt(len(rows)))  # fmt: skip
    assert (ours.low, ours.high) == pytest.approx((rows.low, rows.high), abs=0.15 * (rows.high - rows.low))
    inner = bootstrap(np.average, x, method="studentised", n_resamples=300, random_state=0)
    assert (inner.low, inner.high) == pytest.approx((ours.low, ours.high), abs=0.35 * (ours.high - ours.low))


def test_results_do_not_depend_on_threads_or_interruption(x, tmp_path, monkeypatch):
    once = bootstrap("sd", x, n_resamples=3000, random_state=5, n_jobs=1)
    assert np.array_equal(once.replicates, bootstrap("sd", x, n_resamples=3000, random_state=5, n_jobs=3).replicates)
    assert not np.array_equal(once.replicates, bootstrap("sd", x, n_resamples=3000, random_state=6).replicates)
    calls, path = [], tmp_path / "kept"

    def stops(rows):
        calls.append(1)
        if len(calls) == 700:
            raise KeyboardInterrupt
        return rows.mean()

    settings = {"n_resamples": 1000, "random_state": 3, "checkpoint": path, "method": "percentile"}
    with pytest.raises(KeyboardInterrupt):
        bootstrap(stops, x, **settings)
    assert path.exists()
    with pytest.raises(
        ValueError, match="belongs to a bootstrap of other data or settings; remove it or choose another path"
    ):
        bootstrap(stops, x + 1, **settings)
    before = len(calls)
    resumed = bootstrap(stops, x, **settings)
    assert len(calls) - before < 600
    assert not path.exists()
    settings.pop("checkpoint")
    np.testing.assert_array_equal(resumed.replicates, bootstrap(lambda rows: rows.mean(), x, **settings).replicates)


def test_several_samples_columns_and_targets(rng):
    a, b = rng.normal(1, 1, 30), rng.normal(0, 1, 40)
    gap = bootstrap(lambda x, y: x.mean() - y.mean(), (a, b), n_resamples=1000, random_state=0)
    assert gap.standard_error == pytest.approx(math.sqrt(a.var() / 30 + b.var() / 40), rel=0.1)
    columns = bootstrap("mean", np.stack([a, a + 5], axis=1), n_resamples=500, random_state=0)
    assert columns.low.shape == (2,)
    np.testing.assert_allclose(columns.replicates[:, 0] + 5, columns.replicates[:, 1])
    y = 2 * a + 0.01 * rng.normal(size=30)
    slope = bootstrap(lambda x, y: np.polyfit(x, y, 1)[0], a, y, n_resamples=200, random_state=0)
    assert slope.standard_error < 0.01
    assert "interval" in slope.sentence


def test_clusters_and_blocks_know_that_rows_hang_together(rng):
    """The standard error of a mean whose rows come in copies, or follow each other, is larger than that of cases."""
    copies = np.repeat(rng.normal(size=20), 10)
    labels = np.repeat(np.arange(20), 10)
    cases = bootstrap("mean", copies, n_resamples=999, random_state=0)
    clusters = bootstrap("mean", copies, n_resamples=999, random_state=0, clusters=labels)
    assert clusters.standard_error / cases.standard_error == pytest.approx(math.sqrt(10), rel=0.15)
    assert clusters.standard_error == pytest.approx(copies[::10].std() / math.sqrt(20), rel=0.1)
    series = np.zeros(800)
    for t in range(1, 800):
        series[t] = 0.8 * series[t - 1] + rng.normal()
    blocks = bootstrap("mean", series, n_resamples=999, random_state=0, resample="blocks", block_length=40)
    plain = bootstrap("mean", series, n_resamples=999, random_state=0)
    assert 2 < blocks.standard_error / plain.standard_error < 3.6  # 3 where blocks are long


# Estimators


def test_a_mixture_keeps_its_components_and_agrees_with_standard_errors(rng):
    X = np.concatenate([rng.normal(m, 1, (120, 2)) for m in (0, 6)])
    fitted = GaussianMixture(2, random_state=0).fit(X)
    found = bootstrap(fitted, X, n_resamples=150, random_state=0)
    assert set(found.estimate) == {"weights_", "means_", "covariances_"}
    # No refit has its components the other way round.
    assert (np.abs(found.replicates["means_"] - fitted.means_) < 2).all()
    other = standard_errors(fitted, X, n_bootstrap=150, random_state=0)
    np.testing.assert_allclose(found.standard_error["means_"], other.standard_error["means_"], rtol=0.25)
    assert (found.low["means_"] < fitted.means_).all()
    assert (fitted.means_ < found.high["means_"]).all()
    gap = bootstrap(fitted, X, n_resamples=60, random_state=0, of=lambda m: np.ptp(m.means_[:, 0]), method="percentile")
    assert gap.low < 6 < gap.high + 0.3
    again = bootstrap(fitted, X, n_resamples=60, random_state=0, n_jobs=2, method="percentile")
    np.testing.assert_array_equal(again.replicates["means_"], found.replicates["means_"][:60])
    model = bootstrap(fitted, X, n_resamples=60, random_state=0, resample="parametric", method="basic")
    np.testing.assert_allclose(model.standard_error["means_"], found.standard_error["means_"], rtol=0.5)


def test_rows_with_missing_cells_are_refitted(rng):
    X = np.concatenate([rng.normal(m, 1, (60, 2)) for m in (0, 8)])
    X[rng.random(X.shape) < 0.1] = np.nan
    fitted = GaussianMixture(2, random_state=0).fit(X)
    found = bootstrap(fitted, X, n_resamples=30, random_state=0, method="percentile")
    assert found.n_failed == 0


def test_other_estimators(rng):
    X = np.concatenate([rng.normal(m, 1, (50, 2)) for m in (0, 5, 10)])
    found = bootstrap(KMeans(3, random_state=0).fit(X), X, n_resamples=60, random_state=0, method="percentile")
    centers = found.replicates["cluster_centers_"]
    assert np.ptp(centers, axis=0).max() < 2.5  # not the distance between clusters
    x, noise = rng.normal(size=(400, 2)), rng.normal(size=400)
    y = x @ [1.0, -2.0] + noise
    line = LinearRegression().fit(x, y)
    for resample in ("cases", "residuals"):
        found = bootstrap(line, x, y, n_resamples=200, random_state=0, resample=resample)
        error = np.sqrt(np.diag(np.linalg.inv(x.T @ x)))
        np.testing.assert_allclose(found.standard_error["coef_"], error, rtol=0.3)
        assert (found.low["coef_"] < line.coef_).all()
    with pytest.raises(ValueError, match="resample='residuals' is for regressors with y"):
        bootstrap(KMeans(3).fit(X), X, n_resamples=5, resample="residuals")
    with pytest.raises(ValueError, match="method='studentised' needs a standard error of every refit"):
        bootstrap(line, x, y, method="studentised")


# Coverage


def coverage(method, statistic, draw, true, n, n_samples):
    rng, inside = np.random.default_rng(7), 0
    for seed in range(n_samples):
        found = bootstrap(statistic, draw(rng, n), method=method, n_resamples=999, random_state=seed)
        inside += found.low <= true <= found.high
    return inside / n_samples


def test_bca_and_studentised_are_better_than_percentile_where_theory_says(record_property):
    """The variance of skewed data and the mean of exponential data: second-order intervals miss less."""
    shares = {
        method: coverage(method, "variance", lambda rng, n: rng.normal(size=n), 1.0, 20, 400)
        for method in ("percentile", "basic", "bca")
    }
    assert shares["bca"] > shares["percentile"] + 0.01
    assert shares["bca"] > shares["basic"]
    means = {
        method: coverage(method, "mean", lambda rng, n: rng.exponential(size=n), 1.0, 20, 400)
        for method in ("percentile", "bca", "studentised")
    }  # fmt: skip
    assert means["studentised"] > means["percentile"]
    assert means["studentised"] == pytest.approx(0.95, abs=0.035)
    assert means["studentised"] > means["bca"] > means["percentile"] - 0.02
    record_property("coverage", {"variance": shares, "mean": means})


@pytest.mark.full
@pytest.mark.parametrize("method", ["percentile", "bca", "studentised"])
def test_coverage_of_many_samples(method):
    share = coverage(method, "mean", lambda rng, n: rng.gamma(2, size=n), 2.0, 60, 2000)
    assert share == pytest.approx(0.95, abs=0.02)
