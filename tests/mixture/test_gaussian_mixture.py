"""GaussianMixture: what it computes, checked against direct formulas, scikit-learn and itself."""

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as SklearnMixture
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tacit
from tacit.engine import Progress
from tacit.mixture import GaussianMixture

from ..zoo import gaussian_rows, with_missing

KINDS = ["full", "tied", "diag", "spherical"]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def dense(mixture):
    """Covariances as (classes, d, d)."""
    k, d = mixture.means_.shape
    covariance = mixture.covariances_
    if mixture.covariance_type == "tied":
        return np.repeat(covariance[None], k, axis=0)
    if mixture.covariance_type == "diag":
        return covariance[:, :, None] * np.eye(d)
    if mixture.covariance_type == "spherical":
        return covariance[:, None, None] * np.eye(d)
    return covariance


def direct(mixture, x):
    """Log density, class probabilities, mean and covariance of a row given its observed cells, from the formulas."""
    o, m = np.flatnonzero(~np.isnan(x)), np.flatnonzero(np.isnan(x))
    scores, means, covariances = [], [], []
    for weight, mean, covariance in zip(mixture.weights_, mixture.means_, dense(mixture)):
        density = multivariate_normal(mean[o], covariance[np.ix_(o, o)]).logpdf(x[o]) if len(o) else 0.0
        scores.append(np.log(weight) + density)
        gain = covariance[np.ix_(m, o)] @ np.linalg.inv(covariance[np.ix_(o, o)])
        filled, within = x.copy(), np.zeros_like(covariance)
        filled[m] = mean[m] + gain @ (x[o] - mean[o])
        within[np.ix_(m, m)] = covariance[np.ix_(m, m)] - gain @ covariance[np.ix_(o, m)]
        means.append(filled)
        covariances.append(within)
    evidence = logsumexp(scores)
    resp = np.exp(scores - evidence)
    mean = resp @ means
    spread = [within + np.outer(part - mean, part - mean) for within, part in zip(covariances, means)]
    return evidence, resp, mean, np.einsum("k,kij->ij", resp, spread)


def overlapping(n=300, seed=0):
    """Two classes in three columns that overlap, with missing values: EM is slow on them."""
    rng = np.random.default_rng(seed)
    classes = rng.random(n) < 0.4
    X = rng.normal(size=(n, 3)) @ [[1.0, 0.6, 0.0], [0.0, 0.8, 0.3], [0.0, 0.0, 1.0]] + 2.0 * classes[:, None]
    return with_missing(X, 0.2), classes.astype(int)


def start_of(X, k, kind, seed=0):
    """An arbitrary start for data of unit scale."""
    d = X.shape[1]
    means = X[np.random.default_rng(seed).choice(len(X), k, replace=False)]
    precision = {"full": np.array([np.eye(d)] * k), "tied": np.eye(d), "diag": np.ones((k, d)), "spherical": np.ones(k)}
    return {"weights_init": np.full(k, 1 / k), "means_init": means, "precisions_init": 0.3 * precision[kind]}


def slowly(X, **settings):
    """A mixture of two that has many steps to go."""
    near = {**start_of(X, 2, "full"), "means_init": np.add(np.nanmean(X, axis=0), [[-0.5], [1.0]])}
    return GaussianMixture(2, random_state=0, accelerate=None, **{**near, **settings})


def fitted_to_holes(k, kind="full"):
    X = with_missing(gaussian_rows(), 0.3)
    X[7] = np.nan
    return GaussianMixture(k, covariance_type=kind, parameter_draws=0, random_state=0).fit(X), X


# Missing cells


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 3])
def test_missing_cells_follow_the_formulas(k, kind):
    mixture, X = fitted_to_holes(k, kind)
    evidence, resp, mean, covariance = map(np.array, zip(*[direct(mixture, x) for x in X]))
    np.testing.assert_allclose(mixture.score_samples(X), evidence, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(mixture.predict_proba(X), resp, rtol=1e-7, atol=1e-10)
    np.testing.assert_array_equal(mixture.predict(X), resp.argmax(axis=1))
    np.testing.assert_allclose(mixture.impute(X), mean, rtol=1e-8)
    filled, spread = mixture.conditional(X)
    np.testing.assert_allclose(filled, mean, rtol=1e-8)
    np.testing.assert_allclose(spread, covariance, rtol=1e-6, atol=1e-9)
    filled, std = mixture.impute(X, return_std=True)
    np.testing.assert_allclose(filled, mean, rtol=1e-8)
    np.testing.assert_allclose(std**2, np.diagonal(covariance, axis1=1, axis2=2), rtol=1e-6, atol=1e-9)


def test_observed_cells_stay_and_are_certain():
    mixture, X = fitted_to_holes(3)
    seen = ~np.isnan(X)
    filled, std = mixture.impute(X, return_std=True)
    _, covariance = mixture.conditional(X)
    np.testing.assert_array_equal(filled[seen], X[seen])
    np.testing.assert_array_equal(std[seen], 0.0)
    assert (std[~seen] > 0).all()
    np.testing.assert_array_equal(covariance[seen[:, :, None] | seen[:, None, :]], 0.0)


def test_a_row_without_cells_is_known_as_well_as_the_mixture():
    mixture, X = fitted_to_holes(3)
    nothing = X[7:8]
    np.testing.assert_allclose(mixture.predict_proba(nothing)[0], mixture.weights_, rtol=1e-12)
    assert mixture.score_samples(nothing)[0] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(mixture.impute(nothing)[0], mixture.weights_ @ mixture.means_, rtol=1e-10)


def test_draws_keep_observed_cells_and_have_the_conditional_moments():
    mixture, X = fitted_to_holes(3)
    X, n = X[:12], 20_000
    draws = mixture.draw_missing(X, n_draws=n, random_state=0)
    assert draws.shape == (n, *X.shape)
    seen = ~np.isnan(X)
    np.testing.assert_array_equal(draws[:, seen], np.broadcast_to(X[seen], (n, seen.sum())))
    mean, covariance = mixture.conditional(X)
    deviation = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    np.testing.assert_array_less(np.abs(draws.mean(axis=0) - mean), 5 * deviation / np.sqrt(n) + 1e-9)
    centred = draws - mean
    found = np.einsum("sni,snj->nij", centred, centred) / n
    # Five standard errors, for a kurtosis of at most 10.
    error = 5 * np.sqrt(10 / n) * deviation[:, :, None] * deviation[:, None, :]
    np.testing.assert_array_less(np.abs(found - covariance), error + 1e-9)


def test_draws_depend_on_the_seed_alone():
    mixture, X = fitted_to_holes(2)
    first = mixture.draw_missing(X, 2, random_state=3)
    np.testing.assert_array_equal(mixture.draw_missing(X, 2, random_state=3), first)
    assert not np.array_equal(mixture.draw_missing(X, 2, random_state=4), first)
    assert not np.array_equal(first[0], first[1])


@pytest.mark.parametrize("n_draws", [0, -1, 2.5])
def test_draws_need_a_whole_number(n_draws):
    mixture, X = fitted_to_holes(1)
    with pytest.raises(ValueError, match=f"n_draws={n_draws} is not a whole number of at least 1"):
        mixture.draw_missing(X, n_draws)


# Labels


def test_a_few_labels_name_the_classes():
    X, classes = overlapping()
    for names in ([0, 1], [1, 0]):
        y = np.full(len(X), -1)
        for k in (0, 1):
            y[np.flatnonzero(classes == k)[:5]] = names[k]
        mixture = GaussianMixture(2, random_state=0).fit(X, y)
        assert mixture.means_[names[1]].sum() > mixture.means_[names[0]].sum() + 2
        assert (mixture.predict(X) == np.array(names)[classes]).mean() > 0.8


def test_labels_outweigh_the_data():
    X = np.vstack([np.random.default_rng(0).normal(size=(100, 2)), np.full((10, 2), 1.0)])
    y = np.r_[np.full(100, 0), np.full(5, 1), np.full(5, -1)]
    mixture = GaussianMixture(2, random_state=0).fit(X, y)
    np.testing.assert_allclose(mixture.means_[1], 1.0, atol=1e-3)
    assert mixture.weights_[1] == pytest.approx(10 / 110, abs=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_all_labels_give_the_complete_data_estimate_in_one_pass(kind):
    X = gaussian_rows()
    y = np.random.default_rng(1).integers(3, size=len(X))
    mixture = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X, y)
    groups = [X[y == k] for k in range(3)]
    share = np.bincount(y) / len(y)
    within = np.array([np.cov(group.T, bias=True) for group in groups])
    variances = np.diagonal(within, axis1=1, axis2=2)
    expected = {
        "full": within,
        "tied": np.einsum("k,kij->ij", share, within),
        "diag": variances,
        "spherical": variances.mean(axis=1),
    }[kind]
    np.testing.assert_allclose(mixture.weights_, share, rtol=1e-13)
    np.testing.assert_allclose(mixture.means_, [group.mean(axis=0) for group in groups], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(mixture.covariances_, expected, rtol=1e-11, atol=1e-12)
    assert mixture.fit_.reason == "every class was known, so one pass gave the maximum"
    assert mixture.n_iter_ == 1
    assert mixture.converged_


def test_all_labels_with_holes_still_iterate_to_the_maximum_of_each_group():
    X, y = overlapping()
    both = GaussianMixture(2, random_state=0, tol=1e-12, max_iter=2000).fit(X, y)
    for k in (0, 1):
        alone = GaussianMixture(1, tol=1e-12, max_iter=2000).fit(X[y == k])
        np.testing.assert_allclose(both.means_[k], alone.means_[0], rtol=1e-4)
        np.testing.assert_allclose(both.covariances_[k], alone.covariances_[0], rtol=1e-3, atol=1e-4)


def test_only_unknown_labels_are_no_labels():
    X, _ = overlapping()
    with_y = GaussianMixture(2, random_state=0).fit(X, np.full(len(X), -1))
    np.testing.assert_array_equal(with_y.means_, GaussianMixture(2, random_state=0).fit(X).means_)


@pytest.mark.parametrize("bad", [2, -2, 0.5])
def test_a_label_out_of_range_is_an_error_where_others_are_unknown(bad):
    X = gaussian_rows()
    y = np.full(len(X), -1.0)
    y[3] = bad
    with pytest.raises(ValueError, match=f"y holds .*{bad}.*, which is no class; known classes are 0 to 1, and −1"):
        GaussianMixture(2).fit(X, y)


def test_targets_of_another_task_are_ignored_with_a_warning():
    X = gaussian_rows()
    with pytest.warns(UserWarning, match=r"which is no class; known classes are 0 to 1.*y is ignored"):
        mixture = GaussianMixture(2, random_state=0).fit(X, np.linspace(0, 9, 240))
    np.testing.assert_array_equal(mixture.means_, GaussianMixture(2, random_state=0).fit(X).means_)


def test_missing_labels_are_unknown_and_names_are_classes(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = overlapping()
    y = np.where(np.arange(len(y)) % 3 == 0, y, -1)
    expected = GaussianMixture(3, random_state=0).fit(X, y)
    gone = pd.Series(y).where(y >= 0)
    for labels in (gone, gone.astype("Int64"), gone.astype(object).where(y >= 0, None), gone.tolist()):
        np.testing.assert_array_equal(GaussianMixture(3, random_state=0).fit(X, labels).means_, expected.means_)
    names = pd.Series(np.array(["ill", "well", None], dtype=object)[y])
    listed = [-1 if label < 0 else ["ill", "well"][label] for label in y]
    marks = (names, names.astype("category"), listed, np.array(listed), np.array(["ill", "well", np.nan])[y])
    for labels in marks:
        named = GaussianMixture(3, random_state=0).fit(X, labels)
        np.testing.assert_array_equal(named.means_, expected.means_)
        assert named.classes_.tolist() == ["ill", "well"]
    tacit.save(named, tmp_path / "named.tacit")
    assert tacit.load(tmp_path / "named.tacit").classes_.tolist() == ["ill", "well"]
    assert not hasattr(named.fit(X, y), "classes_")
    with pytest.raises(
        ValueError, match=r"y names 3 classes \(a, b and c\), but n_components=2; use n_components=3 or more"
    ):
        GaussianMixture(2).fit(X, np.resize(["a", "b", "c"], len(X)))
    batches = GaussianMixture(2, random_state=0).partial_fit(X, names)
    with pytest.raises(
        ValueError, match="y names 'dead', which is none of the classes of the first rows, ill and well"
    ):
        batches.partial_fit(X, np.resize(["ill", "dead"], len(X)))
    with pytest.raises(
        ValueError, match=r"y holds 7\.0, which is no class; .* −1 or a missing value stands for unknown"
    ):
        GaussianMixture(2).fit(X, np.where(y < 0, np.nan, 7))


def test_labels_need_one_per_row():
    with pytest.raises(ValueError, match=r"y has shape \(3,\), but X has 240 rows; give one label per row"):
        GaussianMixture(2).fit(gaussian_rows(), [0, 1, 0])


def test_a_single_component_ignores_labels():
    X = gaussian_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mixture = GaussianMixture().fit(X, np.arange(len(X)))
    np.testing.assert_allclose(mixture.means_[0], X.mean(axis=0), rtol=1e-10)


# Weights


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_weight_counts_rows(kind, holes):
    X = with_missing(gaussian_rows(), holes) if holes else gaussian_rows()
    weight = np.random.default_rng(0).integers(0, 4, size=len(X))
    settings = {"covariance_type": kind, "random_state": 0, "tol": 1e-9, "max_iter": 500}
    weighted = GaussianMixture(3, **settings).fit(X, sample_weight=weight)
    repeated_rows = np.repeat(X, weight, axis=0)
    repeated = GaussianMixture(3, **settings).fit(repeated_rows)
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-6)
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(weighted.covariances_, repeated.covariances_, rtol=1e-5, atol=1e-6)
    assert weighted.lower_bound_ == pytest.approx(repeated.lower_bound_, rel=1e-9)
    for method in ("score", "bic", "aic", "icl"):
        assert getattr(weighted, method)(X, sample_weight=weight) == pytest.approx(
            getattr(weighted, method)(repeated_rows), rel=1e-9
        )


# What a fit says about itself


def test_icl_is_bic_plus_the_cost_of_naming_classes():
    X, _ = overlapping()
    mixture = GaussianMixture(2, random_state=0).fit(X)
    cost = -2 * np.log(mixture.predict_proba(X).max(axis=1)).sum()
    assert cost > 1
    assert mixture.icl(X) == pytest.approx(mixture.bic(X) + cost, rel=1e-12)
    one = GaussianMixture().fit(X)
    assert one.icl(X) == pytest.approx(one.bic(X), rel=1e-12)


def test_criteria_count_free_parameters():
    X = gaussian_rows()
    free = {"full": 2 + 12 + 30, "tied": 2 + 12 + 10, "diag": 2 + 12 + 12, "spherical": 2 + 12 + 3}
    for kind, p in free.items():
        mixture = GaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
        deviance = -2 * len(X) * mixture.score(X)
        assert mixture.aic(X) == pytest.approx(deviance + 2 * p)
        assert mixture.bic(X) == pytest.approx(deviance + p * np.log(len(X)))


def test_fit_record_holds_parameters_trace_and_reason():
    X, _ = overlapping()
    mixture = slowly(X).fit(X)
    fit = mixture.fit_
    np.testing.assert_array_equal(fit.params.components.mean, mixture.means_)
    np.testing.assert_array_equal(fit.params.weight, mixture.weights_)
    assert fit.reason == "improvement fell below tol"
    assert fit.converged
    assert mixture.converged_
    assert fit.failures == ()
    assert len(fit.trace) == mixture.n_iter_ == len(mixture.lower_bounds_) > 3
    assert (np.diff(fit.trace.objectives) > 0).all()
    assert mixture.lower_bound_ == mixture.lower_bounds_[-1] == fit.trace.objectives[-1] / len(X)
    assert mixture.lower_bound_ <= mixture.score(X) < mixture.lower_bound_ + mixture.tol


def test_steps_of_the_short_run_that_found_the_start_count():
    X, _ = overlapping()
    mixture = GaussianMixture(2, random_state=0).fit(X)
    assert mixture.n_iter_ == 10 + len(mixture.fit_.trace)
    assert slowly(X).fit(X).fit_.trace.led == 0
    with pytest.warns(ConvergenceWarning):
        assert GaussianMixture(2, random_state=0, max_iter=3, tol=0.0).fit(X).n_iter_ == 3
    mixture.set_params(warm_start=True).fit(X)
    assert mixture.n_iter_ == len(mixture.fit_.trace)


def test_too_few_steps_warn_and_say_so():
    X, _ = overlapping()
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        mixture = slowly(X, max_iter=2).fit(X)
    assert mixture.fit_.reason == "max_iter=2 steps were taken"
    assert not mixture.converged_
    assert mixture.n_iter_ == 2


def test_aitken_stops_within_tol_of_the_limit():
    X, _ = overlapping()
    limit = slowly(X, tol=1e-13, max_iter=5000).fit(X).score(X)
    plain = slowly(X, tol=1e-4).fit(X)
    aitken = slowly(X, tol=1e-4, convergence="aitken").fit(X)
    assert aitken.converged_
    assert 0.0 < limit - plain.score(X) < 1e-3 / len(X) < limit - aitken.score(X) < 1e-4
    assert aitken.n_iter_ < plain.n_iter_  # of few rows, a fit goes on to its limit


def test_acceleration_reaches_the_same_maximum_in_fewer_steps():
    X, _ = overlapping()
    plain = slowly(X, tol=1e-12, max_iter=5000).fit(X)
    for name in ("auto", "anderson", "squarem"):
        fast = slowly(X, tol=1e-12, max_iter=5000).set_params(accelerate=name).fit(X)
        assert fast.score(X) == pytest.approx(plain.score(X), abs=1e-9)
        assert fast.n_iter_ < 0.7 * plain.n_iter_
        assert np.diff(fast.lower_bounds_).min() > -1e-12
    np.testing.assert_array_equal(slowly(X).set_params(accelerate="off").fit(X).means_, slowly(X).fit(X).means_)


def test_verbose_prints_lines(capsys):
    X, _ = overlapping()
    slowly(X, verbose=1, verbose_interval=2, max_iter=5).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["Initialization 0", "  Iteration 2", "  Iteration 4"]
    assert len(lines) == 4
    assert "max_iter=5 steps were taken" in lines[3]
    assert "converged" not in lines[3]
    slowly(X, verbose=2, verbose_interval=2).fit(X)
    line = capsys.readouterr().out.splitlines()[1]
    assert re.fullmatch(r"  Iteration 2\t time lapse [\d.]+s\t ll change [\d.]+", line)
    slowly(X).fit(X)
    assert capsys.readouterr().out == ""


def test_callback_is_told_every_step_of_every_start():
    X, _ = overlapping()
    calls = []
    mixture = GaussianMixture(2, random_state=0, n_init=3, callback=calls.append).fit(X)
    assert all(isinstance(call, Progress) for call in calls)
    assert {(call.run, call.n_runs) for call in calls} == {(1, 3), (2, 3), (3, 3)}
    assert [call.done for call in calls].count(True) == 3
    best = [[c.objective for c in calls if c.run == run and not c.done] for run in (1, 2, 3)]
    assert mixture.lower_bounds_ in best


@pytest.mark.parametrize("once", [True, False], ids=["stops once", "stops whenever called"])
def test_an_interrupted_fit_is_usable(once):
    X, _ = overlapping()

    def stop(progress):
        if progress.step >= 4 and not (once and progress.done):
            raise KeyboardInterrupt

    mixture = slowly(X, callback=stop)
    try:
        with pytest.warns(UserWarning, match="interrupted by the user after 4 steps; what was learned so far is kept"):
            mixture.fit(X)
    except KeyboardInterrupt:
        pytest.fail("the interrupt escaped from fit")
    assert mixture.fit_.interrupted
    assert not mixture.converged_
    assert re.match("interrupted by the user after .*4", mixture.fit_.reason)
    assert mixture.n_iter_ == 4
    np.testing.assert_array_equal(mixture.means_, slowly(X, max_iter=3).fit(X).means_)
    assert np.isfinite(mixture.score(X))


def test_warm_start_continues():
    X, _ = overlapping()
    whole = slowly(X, tol=1e-7, max_iter=12).fit(X)
    parts = slowly(X, tol=1e-7, max_iter=3, warm_start=True)
    bounds = [bound for _ in range(4) for bound in parts.fit(X).lower_bounds_]
    np.testing.assert_allclose(bounds, whole.lower_bounds_, rtol=1e-10)
    np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-8)
    parts.set_params(max_iter=5000).fit(X)
    assert parts.converged_
    assert parts.fit(X).n_iter_ == 1


def test_the_best_of_several_starts_is_kept():
    X = np.random.default_rng(0).normal(size=(100, 2))
    for seed in range(2):
        calls = []
        best = GaussianMixture(5, n_init=4, reg_covar=1e-2, random_state=seed, callback=calls.append).fit(X)
        reached = [call.objective for call in calls if call.done]
        assert len(reached) == 4
        assert best.lower_bound_ == pytest.approx(max(reached), abs=1e-8)
        single = GaussianMixture(5, reg_covar=1e-2, random_state=seed).fit(X)
        assert single.lower_bound_ == pytest.approx(reached[0], abs=1e-8)


# Precision and determinism


@pytest.mark.parametrize("kind", KINDS)
def test_integer_input_scores_as_float_does(kind):
    X = np.random.default_rng(0).integers(0, 300, size=(80, 3))
    X[:40] += 100
    mixture = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    same = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X.astype(float))
    np.testing.assert_array_equal(mixture.covariances_, same.covariances_)
    np.testing.assert_allclose(mixture.score_samples(X), [direct(mixture, x)[0] for x in X.astype(float)], rtol=1e-10)
    assert mixture.bic(X) == mixture.bic(X.astype(float))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("holes", [False, True])
def test_an_offset_of_a_million_costs_no_digits(kind, holes):
    X = gaussian_rows()
    X = np.round(with_missing(X) if holes else X, 6)
    start = start_of(np.nan_to_num(X), 3, kind)
    settings = {"covariance_type": kind, "tol": 0.0, "max_iter": 20, "accelerate": None}
    near = GaussianMixture(3, **settings, **start).fit(X)
    start["means_init"] = start["means_init"] + 1e6
    far = GaussianMixture(3, **settings, **start).fit(X + 1e6)
    np.testing.assert_allclose(far.covariances_, near.covariances_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(far.means_ - 1e6, near.means_, atol=1e-8)
    np.testing.assert_allclose(far.lower_bounds_, near.lower_bounds_, rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("holes", [False, True])
def test_float32_agrees_with_float64(kind, holes):
    X = with_missing(gaussian_rows()) if holes else gaussian_rows()
    start = start_of(np.nan_to_num(X), 3, kind)
    settings = {"covariance_type": kind, "tol": 0.0, "max_iter": 20, "accelerate": None, **start}
    wide = GaussianMixture(3, **settings).fit(X)
    narrow = GaussianMixture(3, **settings).fit(X.astype(np.float32))
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        value, expected = getattr(narrow, name), getattr(wide, name)
        assert value.dtype == np.float32
        assert expected.dtype == np.float64
        assert np.abs(value - expected).max() <= 1e-3 * np.abs(expected).max(), name
    for method in ("score_samples", "predict_proba", "impute", "draw_missing"):
        assert getattr(narrow, method)(X.astype(np.float32)).dtype == np.float32, method
    np.testing.assert_allclose(narrow.score_samples(X.astype(np.float32)), wide.score_samples(X), rtol=1e-3, atol=1e-3)


def test_standard_deviations_do_not_change_the_precision():
    mixture, X = fitted_to_holes(2)
    assert [part.dtype for part in mixture.impute(X, return_std=True)] == [np.float64] * 2
    assert [part.dtype for part in mixture.impute(X.astype(np.float32), return_std=True)] == [np.float32] * 2


@pytest.mark.parametrize("kind", KINDS)
def test_threads_and_repetition_change_no_bit(kind):
    X = with_missing(gaussian_rows(40_000), 0.02)
    start = start_of(np.nan_to_num(X), 3, kind)
    models = [
        GaussianMixture(3, covariance_type=kind, random_state=0, max_iter=3, n_jobs=n_jobs, **start).fit(X)
        for n_jobs in (1, 2, 3, 3)
    ]
    for other in models[1:]:
        for name in ("weights_", "means_", "covariances_"):
            np.testing.assert_array_equal(getattr(other, name), getattr(models[0], name))
        np.testing.assert_array_equal(other.predict_proba(X), models[0].predict_proba(X))
        np.testing.assert_array_equal(other.impute(X), models[0].impute(X))


@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random", "random_from_data"])
def test_row_order_does_not_matter(init):
    X = with_missing(gaussian_rows(), 0.1)
    order = np.random.default_rng(5).permutation(len(X))
    settings = {"init_params": init, "random_state": 1, "tol": 1e-8, "max_iter": 500}
    one, other = GaussianMixture(3, **settings).fit(X), GaussianMixture(3, **settings).fit(X[order])
    np.testing.assert_allclose(other.means_, one.means_, rtol=1e-6)
    np.testing.assert_allclose(other.covariances_, one.covariances_, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(other.predict(X), one.predict(X))


@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_those_of_sklearn(kind):
    X = gaussian_rows()
    settings = {"covariance_type": kind, "tol": 0.0, "max_iter": 7, "reg_covar": 1e-14, **start_of(X, 3, kind)}
    ours, theirs = GaussianMixture(3, accelerate=None, **settings).fit(X), SklearnMixture(3, **settings).fit(X)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        assert getattr(ours, name).shape == getattr(theirs, name).shape
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-8, err_msg=name)
    assert ours.n_iter_ == theirs.n_iter_ == 7
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, rel=1e-9)
    for method in ("score_samples", "predict_proba"):
        np.testing.assert_allclose(getattr(ours, method)(X), getattr(theirs, method)(X), rtol=1e-6, atol=1e-9)
    for method in ("score", "bic", "aic"):
        assert getattr(ours, method)(X) == pytest.approx(getattr(theirs, method)(X), rel=1e-9)


# Among scikit-learn's tools


def test_a_collapsed_component_is_named():
    X = gaussian_rows(60)
    X[:4] = 30.0  # all alike
    message = r"component 0 collapsed: too few distinct rows.* fewer than n_components=2, a larger reg_covar than 1e-06"
    with pytest.warns(UserWarning, match=message):
        mixture = GaussianMixture(2, means_init=X[[0, 10]]).fit(X)
    np.testing.assert_allclose(mixture.weights_[0], 4 / 60, rtol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        GaussianMixture(2, means_init=X[[0, 10]], covariance_type="tied").fit(X)


def test_column_names_are_kept_and_checked():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(with_missing(gaussian_rows()), columns=list("abcd"))
    mixture = GaussianMixture(2, random_state=0).fit(frame)
    assert mixture.feature_names_in_.tolist() == list("abcd")
    assert mixture.n_features_in_ == 4
    with pytest.raises(ValueError, match=r"(?s)feature names should match.*\n- e\n"):
        mixture.predict(frame.rename(columns={"d": "e"}))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(mixture.predict(frame.to_numpy()), mixture.predict(frame))


def test_the_number_of_columns_is_checked():
    mixture, X = fitted_to_holes(1)
    with pytest.raises(ValueError, match="X has 3 features, but GaussianMixture is expecting 4 features"):
        mixture.impute(X[:, :3])


def test_pipeline_and_grid_search_choose_the_number_of_classes():
    X = with_missing(gaussian_rows(600), 0.1)
    pipeline = make_pipeline(StandardScaler(), GaussianMixture(random_state=0))
    search = GridSearchCV(pipeline, {"gaussianmixture__n_components": [1, 3]}, cv=3).fit(X)
    assert search.best_params_ == {"gaussianmixture__n_components": 3}
    assert np.isfinite(search.best_score_)
    assert search.best_estimator_.predict_proba(X).shape == (600, 3)


MEMORY = """
import resource, sys, warnings
import numpy as np
from tacit.mixture import GaussianMixture

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 16))
k, steps, given = map(int, sys.argv[1:])
mixture = GaussianMixture(k, max_iter=steps, tol=0.0, random_state=0, n_jobs=2)
if given:
    mixture.set_params(means_init=X[:k])
mixture.fit(X[:2000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
mixture.fit(X)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, X.nbytes)
"""


@pytest.mark.full
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss is in other units elsewhere")
@pytest.mark.parametrize("arguments", ["16 4 0", "64 2 1"])
def test_memory_does_not_grow_with_rows_times_classes(arguments):
    command = [sys.executable, "-c", MEMORY, *arguments.split()]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    grown, size = map(int, run.stdout.split())
    assert grown <= 0.3 * size + 60e6


@pytest.mark.parametrize("kind", ["EII", "VEI", "EVE", "VEV", "EVV"])
def test_a_default_prior_for_every_structure_keeps_components_from_collapsing(kind):
    X = with_missing(np.repeat(gaussian_rows(12, 3), 2, axis=0), 0.1)
    mixture = GaussianMixture(4, covariance_type=kind, component_prior="default", reg_covar=1e-9, random_state=0)
    mixture.fit(X)
    assert type(mixture.component_prior_).__name__ == (
        "NormalInverseGamma" if kind[2] == "I" else "NormalInverseWishart"
    )
    assert not mixture._model().collapsed(mixture.fit_.params)
    assert (np.diff(mixture.lower_bounds_) > -1e-9).all()
