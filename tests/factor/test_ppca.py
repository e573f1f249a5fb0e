"""Probabilistic PCA: the closed form, EM to the same place, missing cells, what is uncertain, and bad input."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

import tacit
from tacit.engine import fit
from tacit.factor import FactorAnalysis, ProbabilisticPCA
from tacit.families import FactorGaussian
from tacit.mixture import Mixture, MixtureModel
from tacit.source import ArraySource, SparseSource
from tacit.testing import close

from ..zoo import with_missing

AXES = np.random.default_rng(3).normal(size=(3, 8))


def rows(n=300, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    return 5.0 + rng.normal(size=(n, 3)) @ AXES + noise * rng.normal(size=(n, 8))


def dense_posterior(model, row):
    """Mean and covariance of the missing cells of one row, by the dense Gaussian."""
    covariance, seen = model.get_covariance(), ~np.isnan(row)
    gain = np.linalg.solve(covariance[np.ix_(seen, seen)], covariance[np.ix_(seen, ~seen)]).T
    mean = model.mean_[~seen] + gain @ (row[seen] - model.mean_[seen])
    return mean, covariance[np.ix_(~seen, ~seen)] - gain @ covariance[np.ix_(seen, ~seen)]


# Complete rows


@pytest.mark.parametrize("source", [np.asarray, lambda X: ArraySource(X, block_rows=50)])
def test_the_closed_form_is_that_of_principal_components(source):
    X = rows()
    model, other = ProbabilisticPCA(3).fit(source(X)), PCA(3).fit(X)
    np.testing.assert_allclose(np.abs(model.components_ @ other.components_.T), np.eye(3), atol=1e-10)
    np.testing.assert_allclose(model.explained_variance_, other.explained_variance_ * 299 / 300, rtol=1e-10)
    np.testing.assert_allclose(model.explained_variance_ratio_, other.explained_variance_ratio_, rtol=1e-10)
    np.testing.assert_allclose(model.noise_variance_, other.noise_variance_ * 299 / 300, rtol=1e-10)
    np.testing.assert_allclose(
        model.get_covariance(), model.loadings_ @ model.loadings_.T + model.noise_variance_ * np.eye(8)
    )
    np.testing.assert_allclose(model.get_precision(), np.linalg.inv(model.get_covariance()), atol=1e-10)
    assert model.score(X) == pytest.approx(model.lower_bound_, abs=1e-12)
    assert model.score(X) >= other.score(X)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("accelerate", ["off", "anderson", "squarem"])
def test_em_reaches_the_likelihood_of_the_closed_form(accelerate, scale):
    X = rows(noise=2.0) * np.array([1.0, 5.0, 0.2, 1.0, 3.0, 1.0, 1.0, 2.0])
    closed = ProbabilisticPCA(3, scale=scale).fit(X)
    model = ProbabilisticPCA(3, scale=scale, solver="em", tol=1e-12, accelerate=accelerate).fit(X)
    assert model.lower_bound_ == pytest.approx(closed.lower_bound_, abs=1e-8)
    assert model.converged_
    assert (np.diff(model.lower_bounds_) > -1e-12).all()
    np.testing.assert_allclose(np.abs(model.components_ @ closed.components_.T), np.eye(3), atol=1e-4)
    np.testing.assert_allclose(model.noise_variance_, closed.noise_variance_, rtol=1e-5)


def test_acceleration_takes_far_fewer_passes_where_axes_hardly_stand_out():
    rng = np.random.default_rng(0)
    X = 0.1 * rng.normal(size=(2000, 4)) @ rng.normal(size=(4, 20)) + rng.normal(size=(2000, 20))
    X[rng.random(X.shape) < 0.3] = np.nan
    settings = {"tol": 1e-9, "max_iter": 5000}
    plain = ProbabilisticPCA(4, accelerate="off", **settings).fit(X)
    fast = ProbabilisticPCA(4, **settings).fit(X)
    assert fast.lower_bound_ >= plain.lower_bound_ - 1e-7
    assert fast.fit_.trace.passes < plain.fit_.trace.passes / 3


def test_scaled_axes_are_those_of_standardised_columns():
    X = rows() * np.geomspace(0.01, 100.0, 8)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    scaled, plain = ProbabilisticPCA(2, scale=True).fit(X), ProbabilisticPCA(2).fit(Z)
    np.testing.assert_allclose(scaled.components_, plain.components_, atol=1e-8)
    np.testing.assert_allclose(scaled.noise_variance_, plain.noise_variance_)
    np.testing.assert_allclose(scaled.transform(X), plain.transform(Z), atol=1e-8)
    np.testing.assert_allclose(scaled.lower_bound_, plain.lower_bound_ - np.log(X.std(axis=0)).sum())


# Missing cells and uncertainty


def test_rows_with_holes_have_the_posterior_of_the_dense_gaussian():
    X = with_missing(rows(60), 0.4)
    X[5] = np.nan
    model = ProbabilisticPCA(3, parameter_draws=0).fit(X)
    filled, std = model.impute(X, return_std=True)
    for i in range(20):
        mean, covariance = dense_posterior(model, X[i])
        np.testing.assert_allclose(filled[i][np.isnan(X[i])], mean, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(std[i][np.isnan(X[i])], np.sqrt(np.diagonal(covariance)), rtol=1e-8)
    np.testing.assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    np.testing.assert_allclose(filled[5], model.mean_)
    assert model.score_samples(X)[5] == 0.0
    draws = model.draw_missing(X[:5], 4000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=0), filled[:5], atol=0.15)
    np.testing.assert_allclose(draws.std(axis=0), std[:5], atol=0.1)


def test_scores_tell_how_uncertain_they_are():
    X = rows()
    X[0, :5] = np.nan
    model = ProbabilisticPCA(3).fit(X)
    score, covariance = model.transform(X, return_cov=True)
    W, noise = model.loadings_, model.noise_variance_
    for i, seen in ((0, slice(5, None)), (1, slice(None))):
        M = np.eye(3) + W[seen].T @ W[seen] / noise
        np.testing.assert_allclose(covariance[i], np.linalg.inv(M), atol=1e-10)
        expected = np.linalg.solve(M, W[seen].T @ (X[i] - model.mean_)[seen] / noise)
        np.testing.assert_allclose(score[i], expected, atol=1e-9)
    assert np.trace(covariance[0]) > np.trace(covariance[1])
    np.testing.assert_allclose(model.reconstruct(X), model.inverse_transform(score), atol=1e-10)


def test_it_recovers_the_plane_and_the_noise_it_was_drawn_from():
    X = with_missing(rows(4000), 0.3)
    model = ProbabilisticPCA(3).fit(X)
    plane, _ = np.linalg.qr(AXES.T)
    np.testing.assert_allclose(plane @ plane.T, model.components_.T @ model.components_, atol=0.03)
    assert model.noise_variance_ == pytest.approx(0.25, rel=0.05)
    again = ProbabilisticPCA(3).fit(model.sample(4000, random_state=1))
    np.testing.assert_allclose(again.get_covariance(), model.get_covariance(), rtol=0.2, atol=0.3)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_diabetes])
def test_lost_cells_are_filled_better_than_by_scikit_learns_imputers(load):
    X = load().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(0)
    errors, covered = {}, []
    for _ in range(3):
        lost = rng.random(X.shape) < 0.2
        H = np.where(lost, np.nan, X)
        model = ProbabilisticPCA("bic", scale=True).fit(H)
        filled, std = model.impute(H, return_std=True)
        covered.append((np.abs(filled - X) < 1.645 * std)[lost].mean())
        rivals = SimpleImputer(), KNNImputer(), IterativeImputer(random_state=0, max_iter=30, tol=1e-2)
        for rival, table in [("ours", filled), *((type(r).__name__, r.fit_transform(H)) for r in rivals)]:
            errors.setdefault(rival, []).append(np.mean((table - X)[lost] ** 2))
    ours = np.mean(errors.pop("ours"))
    assert all(ours < np.mean(theirs) for theirs in errors.values())
    assert 0.85 <= np.mean(covered) <= 0.95


# Like every estimator


def test_weight_two_is_the_row_twice_and_blocks_do_not_matter():
    X = with_missing(rows(200), 0.2)
    weight = np.random.default_rng(0).integers(1, 3, 200)
    one = ProbabilisticPCA(2, tol=1e-11).fit(X, sample_weight=weight)
    two = ProbabilisticPCA(2, tol=1e-11).fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(one.get_covariance(), two.get_covariance(), rtol=1e-9, atol=1e-11)
    cut = ProbabilisticPCA(2, tol=1e-11).fit(ArraySource(X, block_rows=17))
    whole = ProbabilisticPCA(2, tol=1e-11).fit(X)
    np.testing.assert_allclose(cut.get_covariance(), whole.get_covariance(), rtol=1e-8)


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_single_precision_and_files_and_names(holes, tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(with_missing(rows(), holes).astype(np.float32), columns=list("abcdefgh"))
    model = ProbabilisticPCA(2).fit(X)
    assert model.transform(X).dtype == model.components_.dtype == np.float32
    assert list(model.get_feature_names_out()) == ["probabilisticpca0", "probabilisticpca1"]
    assert list(model.set_output(transform="pandas").transform(X).columns) == list(model.get_feature_names_out())
    exact = ProbabilisticPCA(2).fit(X.astype(np.float64))
    np.testing.assert_allclose(model.get_covariance(), exact.get_covariance(), rtol=1e-3, atol=1e-3)
    tacit.save(model, tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    assert again.impute(X).equals(model.impute(X))
    assert (model.impute(X).dtypes == np.float32).all()
    X.to_parquet(tmp_path / "rows.parquet")
    streamed = ProbabilisticPCA(2).fit(tmp_path / "rows.parquet")
    np.testing.assert_allclose(streamed.get_covariance(), model.get_covariance(), rtol=1e-4, atol=1e-4)


def test_tensors():
    torch = pytest.importorskip("torch")
    X = with_missing(rows(), 0.2)
    model, other = (ProbabilisticPCA(2, tol=1e-9).fit(each) for each in (X, torch.as_tensor(X)))
    np.testing.assert_allclose(other.get_covariance(), model.get_covariance(), rtol=1e-6)
    np.testing.assert_allclose(other.transform(torch.as_tensor(X)), model.transform(X), atol=1e-5)
    np.testing.assert_allclose(other.impute(torch.as_tensor(X)), model.impute(X), atol=1e-5)


# Mixtures


@pytest.mark.parametrize("noise_type", ["spherical", "diagonal"])
def test_mixtures_of_planes_tell_groups_apart_that_overlap_in_their_means(noise_type):
    rng = np.random.default_rng(0)
    planes = rng.normal(size=(2, 2, 10))
    X = np.concatenate([2.0 * rng.normal(size=(300, 2)) @ plane + 0.3 * rng.normal(size=(300, 10)) for plane in planes])
    groups = np.repeat([0, 1], 300)
    H = with_missing(X, 0.15)
    mixture = Mixture(2, family=FactorGaussian(2, noise_type), n_init=5, random_state=0, max_iter=300).fit(H)
    agreement = (mixture.predict(H) == groups).mean()
    assert max(agreement, 1 - agreement) > 0.95
    lost = np.isnan(H)
    single = ProbabilisticPCA(2).fit(H)
    error, alone = (np.mean((model.impute(H) - X)[lost] ** 2) for model in (mixture, single))
    assert error < 0.5 * alone


# Bad input


@pytest.mark.parametrize(
    ("settings", "change", "message"),
    [
        ({"n_components": 8}, None, r"n_components=8 leaves no noise, since X has 8 feature\(s\); use at most 7\."),
        ({"n_components": 0}, None, r"n_components=0 is not a whole number of at least 1"),
        ({"n_components": "many"}, None, r"n_components='many' is unknown; use"),
        ({"n_components": 1.5}, None, r"n_components=1\.5 is"),
        ({"solver": "svd"}, None, r"solver='svd' is unknown; use one of 'auto', 'closed', 'em'\."),
        ({"solver": "closed"}, (0, 0), r"solver='closed' needs complete rows, but X has missing cells; use solver='auto'\."),
        ({}, (slice(None), 2), r"column 2 has no observed value; drop it before fitting\."),
        ({"noise_floor": -1.0}, None, r"noise_floor=-1\.0 is not a number of at least 0"),
    ],
)  # fmt: skip
def test_bad_input_is_named(settings, change, message):
    X = rows(50)
    if change is not None:
        X[change] = np.nan
    with pytest.raises(ValueError, match=message):
        ProbabilisticPCA(**{"n_components": 2} | settings).fit(X)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_what_leaves_no_noise_is_said(holes, seed):
    rng = np.random.default_rng(seed)
    X = with_missing(rng.normal(size=(100, 2)) @ rng.normal(size=(2, 6)), holes)
    with pytest.warns(ConvergenceWarning, match="n_components=3 explain all that varies.*use fewer components"):
        model = ProbabilisticPCA(3, max_iter=3000).fit(X)
    assert np.isfinite(model.impute(X)).all()


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_only_the_ratios_of_weights_matter(holes):
    X = with_missing(rows(), holes)
    weight = np.random.default_rng(0).random(300)
    one, two = (ProbabilisticPCA(2, tol=1e-10).fit(X, sample_weight=w) for w in (weight, 0.5 * weight / weight.sum()))
    np.testing.assert_allclose(one.get_covariance(), two.get_covariance(), rtol=1e-6)
    for total in (0.5, 1.0):
        little = np.where(np.arange(300) < 256, total / 256, 0.0)
        with pytest.raises(
            ValueError, match=rf"the rows weigh {total:g} together, but weights count rows where a number of"
        ):
            ProbabilisticPCA("parallel").fit(X, sample_weight=little)


def test_what_is_chosen_leaves_noise_and_draws_follow_the_seed():
    model = ProbabilisticPCA(0.999999, random_state=3).fit(rows()[:, :3])
    assert model.n_components_ == 2
    np.testing.assert_array_equal(model.sample(5), model.sample(5))
    assert not np.array_equal(model.sample(5), model.sample(5, random_state=4))


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_constant_columns_and_more_columns_than_rows_are_fine(holes):
    X = np.random.default_rng(0).normal(size=(12, 40))
    X[:, 3] = 7.0
    H = with_missing(X, holes)
    model = ProbabilisticPCA(2).fit(H)
    np.testing.assert_allclose(model.impute(H)[:, 3], 7.0, atol=1e-6)
    assert np.isfinite(model.score(X))
    with pytest.raises(
        ValueError, match="column 3 is constant, so it cannot be scaled to unit variance; drop it, or use"
    ):
        ProbabilisticPCA(2, scale=True).fit(H)


@pytest.mark.parametrize("method", ["bic", "cv", "parallel", "mle", 0.8])
@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_the_number_of_components_can_be_chosen(method, holes, tmp_path):
    X = with_missing(rows(400), holes)
    model = ProbabilisticPCA(method, random_state=0).fit(X)
    # Horn asks the third axis to exceed what the columns of most variance would give by chance.
    assert model.n_components_ == (2 if method in (0.8, "parallel") else 3)
    assert model.rank_choice_.rank == model.n_components_
    tacit.save(model, tmp_path / "model.tacit")
    assert tacit.load(tmp_path / "model.tacit").rank_choice_.rank == model.n_components_


@pytest.mark.parametrize("noise", ["spherical", "diagonal"])
@pytest.mark.parametrize("n_classes", [1, 2])
def test_cells_that_sparse_rows_do_not_store_may_be_missing(noise, n_classes):
    import scipy.sparse

    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2)) @ rng.normal(size=(2, 6)) + 0.3 * rng.normal(size=(150, 6)) + 4.0
    X[rng.random(X.shape) < 0.4] = np.nan
    X[0, 0] = 1.0  # every row observes something
    rows, columns = np.nonzero(~np.isnan(X))
    matrix = scipy.sparse.csr_array((X[rows, columns], (rows, columns)), shape=X.shape)
    model = MixtureModel(FactorGaussian(2, noise), n_classes)
    dense, ratings = ArraySource(X), SparseSource(matrix, absent="missing", n_blocks=3)
    start = model.init(dense.sample(150, np.random.default_rng(0)), np.random.default_rng(0))
    again = model.init(ratings.sample(150, np.random.default_rng(0)), np.random.default_rng(0))
    if n_classes == 1:  # several are seeded along the sorted rows, in which a missing cell has another place than 0
        close(again, start, 1e-10, "starts")
    expected, found = (fit(model, source, start, max_iter=20, tol=0.0) for source in (dense, ratings))
    close(found.params, expected.params, 1e-8, "fits")
    block, other = next(iter(ratings)), dense.take(np.arange(len(next(iter(ratings)))))
    for one, two in zip(
        model.family.expect(found.params.components, block, model.posterior(found.params, block)[0]),
        model.family.expect(found.params.components, other, model.posterior(found.params, other)[0]),
    ):
        np.testing.assert_allclose(one, two, rtol=1e-8, atol=1e-10)


def hidden_cells(X, seed, share=0.2):
    hidden = np.random.default_rng(seed).random(X.shape) < share
    hidden[hidden.all(axis=1), 0] = False
    return np.where(hidden, np.nan, X), hidden


def test_auto_fills_cells_of_few_rows_where_more_axes_would_follow_noise():
    rng = np.random.default_rng(1)
    X = load_breast_cancer().data[rng.permutation(569)[:40]]
    incomplete, hidden = hidden_cells(X, 1)
    model = ProbabilisticPCA("auto", scale=True, random_state=0, parameter_draws=0).fit(incomplete)
    assert model.rank_choice_.method == "cells"
    assert 1 < model.n_components_ < 10
    mean = np.broadcast_to(np.nanmean(incomplete, axis=0), X.shape)
    error, of_mean = (
        np.sqrt(((((filled - X) / X.std(axis=0))[hidden]) ** 2).mean()) for filled in (model.impute(incomplete), mean)
    )
    assert error < 0.8 * of_mean  # BIC takes 18 axes, which err more than the mean


def test_auto_finds_the_rank_there_is():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)) @ rng.normal(size=(4, 15)) + 0.5 * rng.normal(size=(400, 15))
    incomplete, _ = hidden_cells(X, 0)
    assert ProbabilisticPCA("auto", random_state=0).fit(incomplete).n_components_ == 4
    complete = ProbabilisticPCA("auto").fit(X)
    assert complete.n_components_ == 4
    assert complete.rank_choice_.method == "cv"
    noise, _ = hidden_cells(rng.normal(size=(300, 6)), 1)
    assert ProbabilisticPCA("auto", random_state=0).fit(noise).rank_choice_.rank == 0


@pytest.mark.parametrize("make", [partial(ProbabilisticPCA, 2, scale=True), partial(FactorAnalysis, 2, scale=True)])
def test_intervals_of_few_rows_cover_since_parameters_are_drawn(make):
    X, plugged, drawn, errors = load_wine().data, [], [], []
    for seed in range(8):
        rows = X[np.random.default_rng(seed).permutation(len(X))[:30]]
        incomplete, hidden = hidden_cells(rows, seed, 0.3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make(random_state=0).fit(incomplete)
            known = make(random_state=0, parameter_draws=0).fit(incomplete)
        assert len(model.draws_) == 20
        assert known.draws_ == []
        spread = rows.std(axis=0)
        for each, covered in ((model, drawn), (known, plugged)):
            found = each.impute(incomplete, interval=0.9)
            covered.append(((found.low <= rows) & (rows <= found.high))[hidden].mean())
            errors.append(((((found.filled - rows) / spread)[hidden]) ** 2).mean())
    assert 0.86 < np.mean(drawn) < 0.94
    assert np.mean(plugged) < np.mean(drawn) - 0.03
    assert np.mean(errors[::2]) < 1.03 * np.mean(errors[1::2])  # of the same cells


@pytest.mark.filterwarnings("ignore::tacit.factor.HeywoodWarning")
def test_draws_of_parameters_spread_as_estimates_of_new_rows_do():
    rng = np.random.default_rng(0)
    loading, noise = rng.normal(size=(5, 1)), np.array([0.3, 0.5, 0.8, 1.0, 0.4])

    def drawn(seed):
        rng = np.random.default_rng(seed)
        return rng.normal(size=(60, 1)) @ loading.T + rng.normal(size=(60, 5)) * np.sqrt(noise)

    model = FactorAnalysis(1, parameter_draws=200).fit(drawn(0))
    draws = np.array(
        [np.append(each.components.dense[0].diagonal(), each.components.noise[0]) for each in model.draws_]
    )
    again = [FactorAnalysis(1).fit(drawn(seed)) for seed in range(1, 101)]
    estimates = np.array([np.append(each.get_covariance().diagonal(), each.noise_variance_) for each in again])
    np.testing.assert_allclose(draws.std(axis=0), estimates.std(axis=0), rtol=0.5)
