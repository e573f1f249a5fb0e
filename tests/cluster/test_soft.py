"""SoftKMeans: by hand, against mixtures and k-means, both ends of the stiffness, missing cells, sources and bad input."""

import re

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from sklearn.base import clone

from tacit.cluster import KMeans, SoftKMeans, SoftKMeansModel
from tacit.engine import fit
from tacit.source import ArraySource, DaskSource
from tacit.testing import check_model

from ..zoo import gaussian_rows, with_missing


def squares(X, center):
    """Squared distances over observed cells, scaled up to all."""
    seen = ~np.isnan(X)
    scale = X.shape[1] / np.maximum(seen.sum(axis=1), 1)
    return scale[:, None] * np.nansum((X[:, None] - center) ** 2, axis=2)


def steps_by_hand(X, weight, center, stiffness, n_steps):
    """Objectives and centres of plain EM for the mixture with equal weights and covariance I/(2β)."""
    seen, objectives = ~np.isnan(X), []
    scale = X.shape[1] / np.maximum(seen.sum(axis=1), 1)
    for _ in range(n_steps):
        joint = -stiffness * squares(X, center)
        objectives.append(weight @ logsumexp(joint, axis=1) / stiffness)
        r = softmax(joint, axis=1) * (weight * scale)[:, None]
        center = (r.T @ np.where(seen, X, 0.0)) / (r.T @ seen)
    return np.array(objectives), center


@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize("stiffness", [0.01, 0.3, 10.0])
def test_every_step_is_that_of_a_mixture_with_known_variance(stiffness, holes):
    X = with_missing(gaussian_rows(), holes)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, len(X))
    start = np.random.default_rng(2).normal(size=(3, 4))
    objectives, center = steps_by_hand(X, weight, start, stiffness, 12)
    model = SoftKMeansModel(3, stiffness)
    found = fit(model, ArraySource(X, weight), model.at(start, np.zeros(4)), max_iter=12, tol=0.0)
    np.testing.assert_allclose(found.trace.objectives, objectives, rtol=1e-10)
    np.testing.assert_allclose(found.params.center, center, rtol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize("stiffness", [0.05, 1.0, 50.0])
def test_properties(stiffness, holes, weighted):
    X = with_missing(gaussian_rows(), holes)
    weight = np.random.default_rng(3).uniform(0.2, 3.0, len(X)) if weighted else None
    check_model(SoftKMeansModel(4, stiffness), X, weight=weight)


def test_the_spherical_mixture_with_equal_weights_is_the_same_model():
    from sklearn.mixture import GaussianMixture

    X = gaussian_rows()
    fitted = SoftKMeans(3, stiffness=0.2, tol=1e-10, random_state=0).fit(X)
    mixture = GaussianMixture(3, covariance_type="spherical")
    mixture.weights_, mixture.means_ = np.full(3, 1 / 3), fitted.cluster_centers_
    mixture.covariances_, mixture.precisions_cholesky_ = np.full(3, 2.5), np.full(3, np.sqrt(0.4))
    np.testing.assert_allclose(fitted.predict_proba(X), mixture.predict_proba(X), rtol=1e-9, atol=1e-300)
    constant = np.log(3.0) + 2.0 * np.log(2.0 * np.pi * 2.5)
    assert 0.2 * fitted.score(X) == pytest.approx((mixture.score_samples(X) + constant).sum(), rel=1e-10)
    resp = mixture.predict_proba(X)
    np.testing.assert_allclose(fitted.cluster_centers_, resp.T @ X / resp.sum(axis=0)[:, None], rtol=1e-4)


@pytest.mark.parametrize("stiffness", [1e4, 1e150, 1e300])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_a_large_stiffness_is_k_means(holes, stiffness):
    X = with_missing(gaussian_rows(), holes)
    start = np.nan_to_num(X[:3])
    hard = KMeans(3, init=start, tol=0.0).fit(X)
    soft = SoftKMeans(3, stiffness=stiffness, init=start, tol=1e-9).fit(X)
    np.testing.assert_allclose(soft.cluster_centers_, hard.cluster_centers_, rtol=1e-9)
    np.testing.assert_array_equal(soft.labels_, hard.labels_)
    assert soft.inertia_ == pytest.approx(hard.inertia_, rel=1e-9)
    assert soft.score(X) == pytest.approx(hard.score(X), rel=1e-3 if stiffness == 1e4 else 1e-12)


def test_centres_part_at_the_critical_stiffness():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2)) * [3.0, 1.0]
    critical = 0.5 / np.linalg.eigvalsh(np.cov(X.T, bias=True))[-1]

    def apart(stiffness):
        centers = SoftKMeans(2, stiffness=stiffness, tol=1e-12, max_iter=3000, random_state=0).fit(X).cluster_centers_
        return np.abs(centers[0] - centers[1])

    assert apart(0.9 * critical).max() < 0.02
    wide, narrow = apart(1.3 * critical)
    assert wide > 1.0
    assert narrow < 0.2


def test_a_large_offset_costs_no_digits():
    X = gaussian_rows()
    near, far = (SoftKMeans(3, init=X[:3] + offset, tol=1e-9).fit(X + offset) for offset in (0.0, 1e7))
    np.testing.assert_allclose(far.cluster_centers_ - 1e7, near.cluster_centers_, atol=1e-6)
    assert far.stiffness_ == pytest.approx(near.stiffness_, rel=1e-6)
    assert far.score(X + 1e7) == pytest.approx(near.score(X), rel=1e-6)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_usual_stiffness_follows_the_width_of_clusters(scale):
    rng = np.random.default_rng(0)
    means = 10.0 * np.eye(4)
    classes = rng.integers(4, size=2000)
    X = scale * (means[classes] + rng.normal(size=(2000, 4)))
    fitted = SoftKMeans(4, random_state=0).fit(X)
    assert fitted.stiffness_ == pytest.approx(0.5 / scale**2, rel=0.05)
    order = fitted.cluster_centers_.argmax(axis=1)
    np.testing.assert_array_equal(np.sort(order), np.arange(4))
    assert (order[fitted.labels_] == classes).mean() > 0.999


def test_predictions():
    X = with_missing(gaussian_rows())
    weight = np.random.default_rng(0).uniform(0.0, 2.0, len(X))
    fitted = SoftKMeans(3, stiffness=0.1, random_state=0).fit(X, sample_weight=weight)
    apart = squares(X, fitted.cluster_centers_)
    np.testing.assert_allclose(fitted.predict_proba(X), softmax(-0.1 * apart, axis=1), rtol=1e-10)
    np.testing.assert_allclose(fitted.transform(X), np.sqrt(apart), rtol=1e-10)
    np.testing.assert_array_equal(fitted.predict(X), apart.argmin(axis=1))
    np.testing.assert_array_equal(fitted.labels_, fitted.predict(X))
    np.testing.assert_array_equal(fitted.predict_proba(X).argmax(axis=1), fitted.labels_)
    assert fitted.inertia_ == pytest.approx(weight @ apart.min(axis=1), rel=1e-12)
    assert fitted.score(X, sample_weight=weight) == pytest.approx(
        weight @ logsumexp(-0.1 * apart, axis=1) / 0.1, rel=1e-10
    )
    assert fitted.predict_proba(X.astype(np.float32)).dtype == np.float32


def test_weight_two_is_a_row_twice():
    X = with_missing(gaussian_rows())
    start = np.nan_to_num(X[:3])
    double = SoftKMeans(3, init=start).fit(X, sample_weight=np.full(len(X), 2.0))
    twice = SoftKMeans(3, init=start).fit(np.vstack([X, X]))
    assert double.stiffness_ == pytest.approx(twice.stiffness_, rel=1e-9)
    np.testing.assert_allclose(double.cluster_centers_, twice.cluster_centers_, rtol=1e-7)


@pytest.mark.parametrize("init", ["k-means++", "k-means||", "random"])
def test_every_start_and_every_source_agree(init, tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X = with_missing(gaussian_rows())
    columns = {f"x{j}": pa.array(column, from_pandas=True) for j, column in enumerate(X.T)}
    parquet.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=90)
    sources = [tmp_path / "rows.parquet", DaskSource(pytest.importorskip("dask.array").from_array(X, chunks=(90, -1)))]
    sources += [pytest.importorskip("torch").as_tensor(X)]
    base = SoftKMeans(3, init=init, n_init=2, random_state=0).fit(X)
    for source in sources:
        fitted = clone(base).fit(source)
        np.testing.assert_allclose(fitted.cluster_centers_, base.cluster_centers_, rtol=1e-8)
        np.testing.assert_array_equal(fitted.labels_, base.labels_)
        np.testing.assert_allclose(fitted.predict_proba(source), base.predict_proba(X), rtol=1e-7, atol=1e-12)


def test_a_centre_that_no_row_belongs_to_moves():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [50.0]])
    fitted = SoftKMeans(2, stiffness=100.0, init=[[1.0], [1e6]]).fit(X)
    np.testing.assert_allclose(np.sort(fitted.cluster_centers_[:, 0]), [1.5, 50.0])


@pytest.mark.parametrize("stiffness", ["auto", 3.0])
def test_equal_rows(stiffness):
    with pytest.warns(match=r"Number of distinct clusters \(1\) found smaller than n_clusters \(3\)"):
        fitted = SoftKMeans(3, stiffness=stiffness, random_state=0).fit(np.full((20, 2), 0.1))
    np.testing.assert_array_equal(fitted.cluster_centers_, 0.1)
    np.testing.assert_allclose(fitted.predict_proba([[0.1, 5.0]]), 1 / 3)
    assert fitted.stiffness_ == (1.0 if stiffness == "auto" else 3.0)


def test_a_small_stiffness_is_named_where_centres_coincide():
    X = gaussian_rows()
    remedy = r"With stiffness=0\.001 centres coincide .*: raise it, to ([\d.]+) or more, or use stiffness='auto'"
    with pytest.warns(match=remedy) as told:
        merged = SoftKMeans(3, stiffness=1e-3, random_state=0).fit(X)
    np.testing.assert_allclose(merged.cluster_centers_, np.tile(X.mean(axis=0), (3, 1)), atol=1e-2)
    parted = float(re.search(remedy, str(told[0].message)).group(1))
    assert len(np.unique(SoftKMeans(3, stiffness=parted, random_state=0).fit(X).labels_)) == 3


def test_as_many_clusters_as_rows():
    X = np.arange(6.0).reshape(3, 2)
    fitted = SoftKMeans(3, random_state=0).fit(X)
    assert fitted.inertia_ == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("settings", "message"), [
    ({"stiffness": 0.0}, r"stiffness=0\.0 is not a number above 0"),
    ({"stiffness": -2}, r"stiffness=-2 is not a number above 0"),
    ({"stiffness": np.inf}, r"stiffness=inf is not a number above 0"),
    ({"stiffness": np.nan}, r"stiffness=nan is not a number above 0"),
    ({"stiffness": None}, r"stiffness=None is not a number above 0"),
    ({"stiffness": True}, r"stiffness=True is not a number above 0"),
    ({"stiffness": "hard"}, r"stiffness='hard' is unknown; use 'auto' or a number above 0"),
    ({"n_clusters": 7}, r"n_samples=6 should be >= n_clusters=7; use at most 6 clusters"),
])  # fmt: skip
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        SoftKMeans(**({"n_clusters": 2} | settings)).fit(np.arange(12.0).reshape(6, 2))
