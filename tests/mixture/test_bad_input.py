"""Tables and settings nobody should give: each gets an error that names its value, or a finite, sensible fit."""

import re
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tacit.mixture import GaussianMixture

KINDS = ["full", "tied", "diag", "spherical"]
SURPLUS = r"n_components={} exceeds the {} distinct rows; the surplus components repeat others"
every_kind = pytest.mark.parametrize("kind", KINDS)
with_and_without_holes = pytest.mark.parametrize("holes", [False, True], ids=["whole", "holes"])


def two_groups(n=60, d=3, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[: n // 2] += 5
    return X


def punched(X, holes, seed=1):
    """X, with a fifth of its cells missing if `holes`; the first two rows stay whole."""
    missing = np.random.default_rng(seed).random(X.shape) < 0.2
    missing[:2] = False
    return np.where(missing & holes, np.nan, X)


def checked(X, k=2, kind="full", *, weight=None, **settings):
    """Fit, without any warning, and assert that all that was learned is finite and that the objective never fell."""
    settings = {"random_state": 0, "max_iter": 500, "tol": 1e-6, **settings}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "components? .* collapsed")  # that repeated rows are what they are
        if settings["tol"] == 0:
            warnings.simplefilter("ignore", ConvergenceWarning)
        return sound(GaussianMixture(k, covariance_type=kind, **settings).fit(X, sample_weight=weight), X)


def sound(mixture, X):
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        assert np.isfinite(getattr(mixture, name)).all(), name
    assert mixture.weights_.sum() == pytest.approx(1.0)
    assert np.isfinite(mixture.score_samples(X)).all()
    assert np.isfinite(mixture.impute(X)).all()
    np.testing.assert_allclose(mixture.predict_proba(X).sum(axis=1), 1.0)
    objectives = np.array(mixture.fit_.trace.objectives)
    assert (np.diff(objectives) >= -1e-9 * (1 + np.abs(objectives).max())).all()
    return mixture


def from_far(X, k, kind, **settings):
    """Fit from a start with many steps to go, for what happens on the way."""
    mixture = checked(X, k, kind, means_init=np.nan_to_num(X[:k]), accelerate=None, tol=0.0, max_iter=30, **settings)
    assert mixture.n_iter_ == 30
    return mixture


# Tables that are errors


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.empty((0, 3)), "0 sample(s) (shape=(0, 3)) while a minimum of 2 is required"),
        (np.empty((5, 0)), "0 feature(s) (shape=(5, 0)) while a minimum of 1 is required"),
        (np.ones((1, 3)), "1 sample(s) (shape=(1, 3)) while a minimum of 2 is required"),
        (np.ones(4), "Expected 2D array, got 1D array instead"),
        ([["a", "b"], ["c", "d"]], "could not convert string to float: 'a'"),
        (np.full((5, 2), np.nan), "column 0 has no observed value; drop it before fitting"),
    ],
    ids=["empty", "no columns", "one row", "one axis", "strings", "nothing observed"],
)
def test_a_table_that_cannot_be_fitted(X, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        GaussianMixture().fit(X)


@with_and_without_holes
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinities_are_refused(value, holes):
    X = punched(two_groups(), holes)
    mixture = GaussianMixture().fit(X)
    X[1, 2] = value
    for method in (mixture.fit, mixture.predict, mixture.score_samples, mixture.impute, mixture.draw_missing):
        with pytest.raises(ValueError, match="Input X contains infinity or a value too large for"):
            method(X)


@with_and_without_holes
def test_an_empty_column_is_named(holes):
    pandas = pytest.importorskip("pandas")
    X = punched(two_groups(), holes)
    X[:, 1] = np.nan
    with pytest.raises(ValueError, match="column 1 has no observed value; drop it before fitting"):
        GaussianMixture(2).fit(X)
    with pytest.raises(ValueError, match=r"column 1 \('b'\) has no observed value; drop it before fitting"):
        GaussianMixture(2).fit(pandas.DataFrame(X, columns=list("abc")))


def test_a_column_seen_only_in_rows_of_weight_zero_is_empty():
    X, weight = two_groups(), np.ones(60)
    X[5:, 2], weight[:5] = np.nan, 0.0
    with pytest.raises(ValueError, match="column 2 has no observed value; drop it before fitting"):
        GaussianMixture(2, random_state=0).fit(X, sample_weight=weight)


@with_and_without_holes
def test_more_components_than_rows(holes):
    X = punched(two_groups(4), holes)
    with pytest.raises(ValueError, match=r"n_components = 5, n_samples = 4; use at most 4 components"):
        GaussianMixture(5).fit(X)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.r_[-1.5, np.ones(59)], "sample_weight holds -1.5; weights must be finite and not negative"),
        (np.r_[np.nan, np.ones(59)], "sample_weight holds nan; weights must be finite"),
        (np.r_[np.inf, np.ones(59)], "sample_weight holds inf; weights must be finite"),
        (np.zeros(60), "sample_weight is zero for every row; at least one row must count"),
        (np.ones(59), "sample_weight has shape (59,), but X has 60 rows; give one weight per row"),
        (np.ones((60, 1)), "sample_weight has shape (60, 1), but X has 60 rows"),
    ],
    ids=["negative", "nan", "infinite", "zero", "short", "two axes"],
)
@with_and_without_holes
def test_bad_weights(weight, message, holes):
    X = punched(two_groups(), holes)
    mixture = GaussianMixture(2, random_state=0).fit(X)
    for method in (mixture.fit, mixture.score, mixture.bic, mixture.aic, mixture.icl):
        with pytest.raises(ValueError, match=re.escape(message)):
            method(X, sample_weight=weight)


# Settings


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_components", 0, "is not a whole number of at least 1"),
        ("n_components", 2.5, "is not a whole number of at least 1"),
        ("tol", -1, "is not a number of at least 0"),
        ("tol", float("nan"), "is not a number of at least 0"),
        ("reg_covar", -0.001, "is not a number of at least 0"),
        ("max_iter", -1, "is not a whole number of at least 0"),
        ("n_init", 0, "is not a whole number of at least 1"),
        ("verbose_interval", 0, "is not a whole number of at least 1"),
        ("covariance_type", "banana", "is unknown; use one of 'full', 'tied', 'diag', 'spherical'"),
        ("init_params", "banana", "is unknown; use one of 'kmeans', 'k-means++', 'random', 'random_from_data'"),
        ("convergence", "banana", "is unknown; use one of 'relative', 'aitken'"),
        ("accelerate", "banana", "is unknown; use one of 'auto', 'anderson', 'squarem'"),
        ("n_jobs", 0, "n_jobs"),
        ("n_jobs", 1.5, "n_jobs"),
    ],
)
def test_bad_settings_are_named_with_their_value(name, value, message):
    with pytest.raises(ValueError, match=re.escape(f"{name}={value!r}")) as error:
        GaussianMixture(**{name: value}).fit(two_groups())
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"weights_init": [0.5, 0.6]}, "should be normalized, but got sum(weights) = 1.10000"),
        ({"weights_init": [1.5, -0.5]}, "in the range [0, 1], but got max value 1.50000, min value -0.50000"),
        ({"means_init": [[0.0, 1.0]]}, "'means' should have the shape of (2, 3), but got (1, 2)"),
        ({"means_init": [[0.0, 0.0, np.nan], [1.0, 1.0, 1.0]]}, "contains NaN"),
        ({"precisions_init": -np.stack([np.eye(3)] * 2)}, "'full precision' should be symmetric, positive-definite"),
    ],
    ids=["weights do not add up", "weights out of range", "shape", "nan", "negative precision"],
)
def test_bad_starts(start, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        GaussianMixture(2, **start).fit(two_groups())


def test_minus_one_jobs_are_all_cores():
    X = np.random.default_rng(0).normal(size=(40_000, 2))
    every, one = (GaussianMixture(n_jobs=n_jobs, random_state=0).fit(X) for n_jobs in (-1, 1))
    np.testing.assert_array_equal(every.covariances_, one.covariances_)


def test_no_steps_leave_the_start():
    X = two_groups()
    mixture = GaussianMixture(2, max_iter=0, means_init=X[[0, -1]]).fit(X)
    np.testing.assert_array_equal(mixture.means_, X[[0, -1]])
    assert mixture.fit_.reason == "max_iter=0 steps were taken"
    assert np.isfinite(mixture.score(X))


def test_no_floor_and_a_collapsed_component_is_an_error():
    X = np.vstack([two_groups(), np.full((5, 3), 50.0)])
    means = [[5.0] * 3, [0.0] * 3, [50.0] * 3]
    with pytest.raises(ValueError, match="ill-defined empirical covariance"):
        GaussianMixture(3, reg_covar=0.0, means_init=means).fit(X)
    with pytest.warns(UserWarning, match="component 2 collapsed: too few distinct rows for the columns"):
        mixture = sound(GaussianMixture(3, means_init=means, tol=1e-6).fit(X), X)
    assert mixture.weights_.min() == pytest.approx(5 / 65)


# Tables that are odd but can be fitted


@every_kind
@with_and_without_holes
def test_a_constant_column_says_nothing(kind, holes):
    X = punched(two_groups(), holes)
    X[~np.isnan(X[:, 1]), 1] = 0.1
    mixture = checked(X, kind=kind)
    np.testing.assert_allclose(mixture.means_[:, 1], 0.1, rtol=1e-9)
    np.testing.assert_allclose(mixture.impute(X)[:, 1], 0.1, rtol=1e-6)
    assert len(set(mixture.predict(X[:30]))) == len(set(mixture.predict(X[30:]))) == 1


@every_kind
@with_and_without_holes
@pytest.mark.parametrize("value", [0.0, 0.1, -3e5])
def test_only_constant_columns(kind, holes, value):
    X = punched(np.full((20, 3), value), holes)
    with pytest.warns(UserWarning, match=SURPLUS.format(2, 1)):
        mixture = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    sound(mixture, X)
    np.testing.assert_allclose(mixture.means_, value, rtol=1e-12)
    np.testing.assert_allclose(mixture.impute(X), value, rtol=1e-12)
    np.testing.assert_array_equal(checked(X, 1, kind).means_, mixture.means_[:1])


@every_kind
def test_more_components_than_distinct_rows(kind):
    X = np.repeat(two_groups(3), 20, axis=0)
    with pytest.warns(UserWarning, match=SURPLUS.format(5, 3)):
        mixture = GaussianMixture(5, covariance_type=kind, random_state=0).fit(X)
    sound(mixture, X)
    assert np.abs(mixture.impute(np.where(np.arange(3) == 2, np.nan, X)) - X).max() < 0.05 * np.abs(X).max()


@every_kind
@with_and_without_holes
def test_repeated_rows(kind, holes):
    X = np.repeat(punched(two_groups(12), holes), 20, axis=0)
    from_far(X, 3, kind)
    checked(X, 3, kind)


@every_kind
@with_and_without_holes
def test_perfectly_collinear_columns(kind, holes):
    X = two_groups()
    X = punched(np.column_stack([X, X @ [1.0, 2.0, 3.0], -2.0 * X[:, 0]]), holes)
    from_far(X, 2, kind)
    mixture = checked(X, kind=kind)
    assert len(set(mixture.predict(X[:30]))) == len(set(mixture.predict(X[30:]))) == 1


@every_kind
@with_and_without_holes
def test_more_columns_than_rows(kind, holes):
    X = punched(two_groups(8, 20), holes)
    from_far(X, 2, kind)
    mixture = checked(X, kind=kind, tol=1e-3)
    assert sorted(np.bincount(mixture.predict(X))) == [4, 4]


@every_kind
@pytest.mark.parametrize("k", [1, 2])
def test_two_rows(kind, k):
    X = two_groups(2)
    mixture = checked(X, k, kind)
    np.testing.assert_allclose(mixture.weights_ @ mixture.means_, X.mean(axis=0), rtol=1e-6)


@every_kind
def test_rows_without_any_cell_change_nothing_but_the_counts(kind):
    X = punched(two_groups(), True)
    gaps = X.copy()
    gaps[5:15] = gaps[40:50] = np.nan
    kept = np.r_[0:5, 15:40, 50:60]
    mixture, without = checked(gaps, kind=kind), checked(X[kept], kind=kind)
    order = [m.means_[:, 0].argsort() for m in (mixture, without)]
    np.testing.assert_allclose(mixture.means_[order[0]], without.means_[order[1]], rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(mixture.predict_proba(gaps)[5:15], np.tile(mixture.weights_, (10, 1)))
    np.testing.assert_allclose(mixture.score_samples(gaps)[5:15], 0.0, atol=1e-12)


@every_kind
@with_and_without_holes
def test_one_row_counts(kind, holes):
    X, weight = punched(two_groups(), holes), np.zeros(60)
    weight[1] = 2.0
    mixture = checked(X, 1, kind, weight=weight)
    np.testing.assert_allclose(mixture.means_[0], X[1], rtol=1e-9)


@every_kind
@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_the_scale_of_the_weights_does_not_matter(kind, factor):
    X, weight = punched(two_groups(), True), np.random.default_rng(2).uniform(0.5, 2.0, 60)
    start = {"means_init": [[4.0, 4.0, 4.0], [1.0, 1.0, 1.0]]}
    one, other = (checked(X, 2, kind, weight=w, **start) for w in (weight, factor * weight))
    np.testing.assert_allclose(other.means_, one.means_, rtol=1e-6)
    np.testing.assert_allclose(other.covariances_, one.covariances_, rtol=1e-6, atol=1e-9)


@every_kind
@with_and_without_holes
@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e100, 1e150])
def test_the_scale_of_the_table_does_not_matter(kind, holes, scale):
    X = punched(two_groups(), holes)
    one, other = checked(X, kind=kind), checked(scale * X, kind=kind)
    np.testing.assert_allclose(other.means_ / scale, one.means_, rtol=1e-4)
    np.testing.assert_array_equal(other.predict(scale * X), one.predict(X))


@pytest.mark.parametrize("kind", ["full", "tied", "diag"])
@with_and_without_holes
@pytest.mark.parametrize("scales", [(1e9, 1e-9, 1.0), (1e100, 1e-100, 1.0)])
def test_columns_of_different_scales(kind, holes, scales):
    X = punched(two_groups(), holes)
    one, other = checked(X, kind=kind), checked(X * scales, kind=kind)
    np.testing.assert_allclose(other.means_ / scales, one.means_, rtol=1e-4)
    np.testing.assert_array_equal(other.predict(X * scales), one.predict(X))


@pytest.mark.parametrize("factor", [2.0**-30, 2.0**30])
def test_the_unit_of_a_column_of_noise_does_not_hide_groups_in_the_others(factor):
    rng = np.random.default_rng(0)
    classes, centres = rng.integers(6, size=600), 10 * rng.normal(size=(6, 2))
    X = np.column_stack([rng.normal(size=600), centres[classes] + rng.normal(size=(600, 2))])
    for seed in range(3):
        one, other = (checked(X * [f, 1.0, 1.0], 6, "tied", random_state=seed) for f in (1.0, factor))
        assert other.lower_bound_ + np.log(factor) == pytest.approx(one.lower_bound_, abs=1e-6)


@every_kind
@with_and_without_holes
def test_variances_that_underflow_count_as_constant(kind, holes):
    X = punched(two_groups(), holes)
    tiny = X * [1.0, 1e-200, 1.0]
    mixture = checked(tiny, kind=kind)
    assert len(set(mixture.predict(tiny[:30]))) == len(set(mixture.predict(tiny[30:]))) == 1
    assert np.abs(mixture.means_[:, 1]).max() < 1e-12
    with pytest.warns(UserWarning, match="distinct rows"):
        sound(GaussianMixture(2, covariance_type=kind, random_state=0).fit(X * 1e-200), X * 1e-200)
