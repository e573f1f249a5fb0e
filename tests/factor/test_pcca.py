"""ProbabilisticCCA: its closed form, EM with missing cells and views, what it tells of rows, and bad input."""

import pickle
import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import tacit
from tacit.engine import fit
from tacit.factor import CCA, ProbabilisticCCA
from tacit.families.canonical import CanonicalGaussian, link
from tacit.mixture import MixtureModel
from tacit.source import ArraySource
from tacit.testing import check_family, check_model

from ..zoo import gaussian_rows, with_missing
from .test_cca import two_views


def truth(n, p=5, q=4, k=2, seed=0, draw=0, correlations=(0.9, 0.7)):
    """Rows of two views with given canonical correlations, and the covariance they were drawn from."""
    rng = np.random.default_rng(seed)
    covariance = np.eye(p + q)
    covariance[range(k), range(p, p + k)] = covariance[range(p, p + k), range(k)] = correlations
    mix = np.zeros((p + q, p + q))
    mix[:p, :p], mix[p:, p:] = rng.normal(size=(p, p)) + 2.0 * np.eye(p), rng.normal(size=(q, q)) + 2.0 * np.eye(q)
    covariance = mix @ covariance @ mix.T
    rows = np.random.default_rng([seed, draw]).multivariate_normal(np.arange(p + q), covariance, n)
    return rows[:, :p], rows[:, p:], covariance


def semi_paired(n=600, share=0.8, seed=0):
    """Views of which a share of the rows lacks one or the other."""
    X, y, covariance = truth(n, seed=seed)
    X, y = X.copy(), y.copy()
    lacking = np.random.default_rng(seed + 1).random(n)
    X[lacking < share / 2] = np.nan
    y[(lacking >= share / 2) & (lacking < share)] = np.nan
    return X, y, covariance


def joint(model):
    """The covariance of [x, y] under a model."""
    return model._params().components.covariance[0]


def test_the_family_has_every_property():
    check_family(CanonicalGaussian(2, 1), gaussian_rows())
    check_family(CanonicalGaussian(1, 1), gaussian_rows())
    check_family(CanonicalGaussian(3, 0), gaussian_rows())
    check_model(MixtureModel(CanonicalGaussian(2, 1), 3), with_missing(gaussian_rows()))


def test_the_projection_is_the_maximum():
    """No covariance of the structure is likelier; in the directions of the closed form the gradient vanishes."""
    rng = np.random.default_rng(0)
    S = np.cov(np.hstack(two_views()).T)
    best = link(S, 5, 2)

    def loss(covariance):
        return np.linalg.slogdet(covariance)[1] + np.trace(np.linalg.solve(covariance, S))

    assert np.linalg.matrix_rank(best[:5, 5:], tol=1e-9) == 2
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(25):
            noise = rng.normal(size=(9, 30))
            assert loss(best) <= loss(link(best + size * (noise @ noise.T), 5, 2)) + 1e-12
            assert loss(best) <= loss(link((1 - size) * best + size * S, 5, 2)) + 1e-12


def test_closed_form_is_bach_and_jordans():
    X, y = two_views()
    model, cca = ProbabilisticCCA(2).fit(X, y), CCA(2).fit(X, y)
    np.testing.assert_allclose(model.canonical_correlations_, cca.canonical_correlations_, rtol=1e-10)
    S = np.cov(X.T, y.T, ddof=0)
    root = np.sqrt(model.canonical_correlations_)
    np.testing.assert_allclose(model.x_loadings_, S[:5, :5] @ model.x_rotations_ * root, rtol=1e-9)
    np.testing.assert_allclose(model.y_loadings_, S[5:, 5:] @ model.y_rotations_ * root, rtol=1e-9)
    np.testing.assert_allclose(model.x_noise_covariance_, S[:5, :5] - model.x_loadings_ @ model.x_loadings_.T)
    assert np.linalg.eigvalsh(model.y_noise_covariance_).min() > 0
    # Expectations of z given one view are CCA's scores, in units of their own.
    scores, z = cca.transform(X), model.transform(X)
    np.testing.assert_allclose(np.abs([np.corrcoef(scores[:, i], z[:, i])[0, 1] for i in (0, 1)]), 1.0, rtol=1e-10)
    np.testing.assert_allclose(z.var(axis=0), model.canonical_correlations_, rtol=1e-9)


@pytest.mark.parametrize("accelerate", [None, "anderson"])
def test_em_reaches_the_closed_form(accelerate):
    X, y = two_views()
    closed = ProbabilisticCCA(2).fit(X, y)
    model = closed._model()
    source = ArraySource(np.hstack([X, y]))
    start = model.init(source.sample(100, np.random.default_rng(0)), np.random.default_rng(0))
    em = fit(model, source, start, max_iter=50, tol=1e-12, accelerate=accelerate)
    assert em.trace.objectives[-1] / len(X) == pytest.approx(closed.lower_bound_, abs=1e-10)
    np.testing.assert_allclose(em.params.components.covariance[0], joint(closed), atol=1e-9 * joint(closed).max())


def test_one_missing_cell_is_nearly_the_closed_form():
    X, y = two_views(2000)
    closed = ProbabilisticCCA(2).fit(X, y)
    X[0, 0] = np.nan
    by_em = ProbabilisticCCA(2, tol=1e-12).fit(X, y)
    assert by_em.n_iter_ > 1 == closed.n_iter_
    np.testing.assert_allclose(by_em.canonical_correlations_, closed.canonical_correlations_, atol=2e-3)


def test_the_density_is_that_of_the_observed_cells():
    X, y, _ = truth(200)
    holes = with_missing(np.hstack([X, y]), 0.2)
    holes[0], holes[1, :5], holes[2, 5:] = np.nan, np.nan, np.nan
    model = ProbabilisticCCA(2).fit(holes[:, :5], holes[:, 5:])
    mean, covariance = np.concatenate([model.x_mean_, model.y_mean_]), joint(model)
    found = model.score_samples(holes[:, :5], holes[:, 5:])
    for row, value in zip(holes[:20], found):
        o = ~np.isnan(row)
        expected = multivariate_normal(mean[o], covariance[np.ix_(o, o)]).logpdf(row[o]) if o.any() else 0.0
        assert value == pytest.approx(expected, rel=1e-9)
    assert model.score(holes[:, :5], holes[:, 5:]) == pytest.approx(model.lower_bound_, abs=1e-4)
    free = 9 + 15 + 10 + 2 * (9 - 2)
    deviance = -2 * found.sum()
    assert model.bic(holes[:, :5], holes[:, 5:]) == pytest.approx(deviance + free * np.log(200))
    assert model.aic(holes[:, :5], holes[:, 5:]) == pytest.approx(deviance + 2 * free)


def test_hidden_variables_and_cells_are_bayes_rule():
    """Against conditioning the joint Gaussian of z, x and y by hand, whatever is missing."""
    X, y, _ = truth(40)
    model = ProbabilisticCCA(2).fit(X, y)
    holes = with_missing(np.hstack([X, y]), 0.4)
    holes[0], holes[1, :5], holes[2, 5:] = np.nan, np.nan, np.nan
    views = holes[:, :5], holes[:, 5:]
    z, spread = model.transform(*views, return_cov=True)
    (filled, filled_y), (std, std_y) = model.impute(*views, return_std=True)
    filled, std = np.hstack([filled, filled_y]), np.hstack([std, std_y])
    mean, S, W = np.concatenate([model.x_mean_, model.y_mean_]), joint(model), model._loadings
    for i, row in enumerate(holes):
        o, m = ~np.isnan(row), np.isnan(row)
        gain = np.linalg.solve(S[np.ix_(o, o)], np.hstack([W[o], S[np.ix_(o, m)]]))
        expected = (row[o] - mean[o]) @ gain
        np.testing.assert_allclose(z[i], expected[:2], atol=1e-10)
        np.testing.assert_allclose(spread[i], np.eye(2) - W[o].T @ gain[:, :2], atol=1e-10)
        np.testing.assert_allclose(filled[i, m], mean[m] + expected[2:], atol=1e-9)
        np.testing.assert_allclose(filled[i, o], row[o])
        variance = np.diag(S)[m] - np.einsum("om,om->m", S[np.ix_(o, m)], gain[:, 2:])
        np.testing.assert_allclose(std[i, m], np.sqrt(variance), atol=1e-9)
        np.testing.assert_array_equal(std[i, o], 0.0)


def test_one_view_predicts_the_other_and_back():
    X, y, covariance = truth(20_000)
    model = ProbabilisticCCA(2).fit(X, y)
    new_X, new_y, _ = truth(4000, draw=1)
    mean, std = model.predict(new_X, return_std=True)
    np.testing.assert_allclose((new_y - mean).std(axis=0), std[0], rtol=0.05)
    assert 0.885 < (np.abs(new_y - mean) < 1.645 * std).mean() < 0.915
    slope = np.linalg.solve(covariance[:5, :5], covariance[:5, 5:])
    np.testing.assert_allclose(mean, np.arange(5, 9) + (new_X - np.arange(5)) @ slope, atol=0.35)
    back, spread = model.predict_x(new_y, return_std=True)
    assert back.shape == spread.shape == new_X.shape
    assert 0.885 < (np.abs(new_X - back) < 1.645 * spread).mean() < 0.915
    np.testing.assert_array_equal(model.predict(new_X), mean)


def test_recovers_a_known_truth_with_missing_cells_and_views():
    X, y, covariance = truth(8000)
    rows = with_missing(np.hstack([X, y]), 0.2)
    rows[:1000, :5], rows[1000:2000, 5:] = np.nan, np.nan
    model = ProbabilisticCCA(2).fit(rows[:, :5], rows[:, 5:])
    assert model.converged_
    np.testing.assert_allclose(model.canonical_correlations_, [0.9, 0.7], atol=0.03)
    np.testing.assert_allclose(joint(model), covariance, atol=0.06 * covariance.max())


def test_rows_with_one_view_help():
    """Fresh rows are likelier under what semi-paired rows teach than under what the complete pairs among them do."""
    wins = []
    for seed in range(6):
        X, y = semi_paired(300, seed=seed)[:2]
        pairs = ~(np.isnan(X[:, 0]) | np.isnan(y[:, 0]))
        fresh_X, fresh_y, _ = truth(3000, seed=seed, draw=1)
        all_rows, paired = ProbabilisticCCA(2).fit(X, y), ProbabilisticCCA(2).fit(X[pairs], y[pairs])
        wins.append(all_rows.score(fresh_X, fresh_y) - paired.score(fresh_X, fresh_y))
    assert np.mean(wins) > 0.05
    assert min(wins) > 0.0


def test_objective_never_decreases_and_weights_count_rows():
    X, y, _ = semi_paired(200)
    X[3, 1] = np.nan
    weight = np.random.default_rng(0).integers(0, 4, 200)
    rows = np.repeat(np.arange(200), weight)
    plain = ProbabilisticCCA(2, tol=1e-9, accelerate=None).fit(X, y, sample_weight=weight)
    assert np.diff(plain.trace_.objectives).min() >= -1e-9
    repeated = ProbabilisticCCA(2, tol=1e-9, accelerate=None).fit(X[rows], y[rows])
    np.testing.assert_allclose(joint(plain), joint(repeated), rtol=1e-7, atol=1e-9)
    complete = ProbabilisticCCA(1).fit(*truth(50)[:2], sample_weight=np.full(50, 2.0))
    np.testing.assert_allclose(joint(complete), joint(ProbabilisticCCA(1).fit(*truth(50)[:2])), rtol=1e-10)
    assert plain.lower_bound_ == pytest.approx(
        ProbabilisticCCA(2, tol=1e-9).fit(X, y, sample_weight=weight).lower_bound_
    )


def test_threads_do_not_matter():
    X, y, _ = semi_paired(3000)
    one, two = (ProbabilisticCCA(2, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 3))
    np.testing.assert_array_equal(joint(one), joint(two))
    np.testing.assert_array_equal(one.transform(X, y), two.transform(X, y))


def test_bic_finds_the_number_of_hidden_variables():
    X, y, _ = truth(500)
    model = ProbabilisticCCA("bic").fit(X, y)
    assert model.n_components_ == 2
    assert model.selection_["n_components"] == [0, 1, 2, 3, 4]
    assert model.selection_[2]["bic"] == pytest.approx(model.bic(X, y))
    assert (np.diff(model.selection_["log_likelihood"]) > 0).all()
    holes = with_missing(np.hstack([X, y]), 0.1)
    missing = ProbabilisticCCA("bic").fit(holes[:, :5], holes[:, 5:])
    assert missing.n_components_ == 2
    assert missing.selection_["n_components"] == [0, 1, 2, 3, 4]
    same = ProbabilisticCCA(2, tol=1e-8).fit(holes[:, :5], holes[:, 5:])
    assert missing.lower_bound_ == pytest.approx(same.lower_bound_, abs=1e-4)
    with pytest.warns(UserWarning, match=r"BIC is lowest for views that nothing links"):
        ProbabilisticCCA("bic").fit(X, np.random.default_rng(5).normal(size=(500, 3)))


def test_draws_have_the_moments_of_the_missing_cells():
    X, y, _ = truth(300)
    model = ProbabilisticCCA(2, random_state=0).fit(X, y)
    y = y[:4].copy()
    y[:2], y[2, 1] = np.nan, np.nan
    X_drawn, y_drawn = model.draw_missing(X[:4], y, n_draws=4000, random_state=0)
    (_, mean), (_, std) = model.impute(X[:4], y, return_std=True)
    assert (X_drawn.shape, y_drawn.shape) == ((4000, 4, 5), (4000, 4, 4))
    np.testing.assert_array_equal(X_drawn, np.broadcast_to(X[:4], X_drawn.shape))
    np.testing.assert_allclose(y_drawn.mean(axis=0), mean, atol=0.08 * std.max())
    np.testing.assert_allclose(y_drawn.std(axis=0), std, atol=0.05 * std.max())
    drawn = np.hstack(model.sample(20_000))
    np.testing.assert_allclose(np.cov(drawn.T), joint(model), atol=0.05 * joint(model).max())


def test_samples_have_a_seed_of_their_own_or_the_models():
    model = ProbabilisticCCA(2, random_state=0).fit(*truth(50)[:2])
    own, same, models = (np.hstack(model.sample(3, random_state=seed)) for seed in (1, 1, None))
    np.testing.assert_array_equal(own, same)
    np.testing.assert_array_equal(models, np.hstack(model.sample(3)))
    np.testing.assert_array_equal(models, np.hstack(model.sample(3, 0)))
    assert np.abs(own - models).max() > 0.1


def test_a_second_view_of_one_dimension_stays_so(tmp_path):
    X, y, _ = truth(80)
    flat = y[:, 0].astype(np.float32)
    flat[:5] = np.nan
    model = ProbabilisticCCA(1).fit(X.astype(np.float32), flat)
    (_, filled), (_, std) = model.impute(X, flat, return_std=True)
    assert filled.shape == std.shape == model.predict(X).shape == (80,)
    assert model.predict(X.astype(np.float32)).dtype == model.transform(X.astype(np.float32)).dtype == np.float32
    assert model.predict_x(flat).shape == (80, 5)
    assert [part.shape for part in model.sample(3)] == [(3, 5), (3,)]
    assert [part.shape for part in model.draw_missing(X, flat, 2)] == [(2, 80, 5), (2, 80)]
    assert model.transform(None, flat).shape == (80, 1)
    tacit.save(model, tmp_path / "views.tacit")
    for again in (tacit.load(tmp_path / "views.tacit"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.trace_.objectives == model.trace_.objectives
        assert again.fit_.reason == model.fit_.reason


def test_selection_and_frames_survive(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y, _ = truth(100)
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = ProbabilisticCCA("bic").set_output(transform="pandas").fit(frame, pandas.DataFrame(y))
    assert list(model.transform(frame).columns) == ["probabilisticcca0", "probabilisticcca1"]
    mean, cov = model.transform(frame, y, return_cov=True)
    assert mean.shape == (100, 2)
    assert cov.shape == (100, 2, 2)
    tacit.save(model, tmp_path / "model.tacit")
    assert str(tacit.load(tmp_path / "model.tacit").selection_) == str(model.selection_)


def test_constant_columns_few_rows_and_empty_rows():
    X, y, _ = truth(200)
    constant = np.column_stack([X, np.full(200, 0.1)])
    model = ProbabilisticCCA(2).fit(constant, y)
    np.testing.assert_allclose(
        model.canonical_correlations_, ProbabilisticCCA(2).fit(X, y).canonical_correlations_, atol=1e-4
    )
    np.testing.assert_allclose(model.predict_x(y)[:, 5], 0.1, atol=1e-6)
    with pytest.warns(UserWarning, match=r"9 rows with both views are too few for 5 and 4 columns.* Raise reg_covar"):
        few = ProbabilisticCCA(2).fit(X[:9], y[:9])
    assert np.isfinite(few.score(X, y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held = ProbabilisticCCA(2, reg_covar=0.1).fit(X[:9], y[:9])
    assert held.canonical_correlations_.max() < 0.999
    assert held.score(X, y) > few.score(X, y)
    y[:20], X[:20] = np.nan, np.nan
    empty, without = ProbabilisticCCA(2, tol=1e-12).fit(X, y), ProbabilisticCCA(2).fit(X[20:], y[20:])
    np.testing.assert_allclose(empty.canonical_correlations_, without.canonical_correlations_, atol=1e-8)
    z, spread = empty.transform(X[:1], y[:1], return_cov=True)
    np.testing.assert_allclose(z, 0.0, atol=1e-12)
    np.testing.assert_allclose(spread[0], np.eye(2), atol=1e-9)


def test_more_hidden_variables_than_the_rank_of_a_view_correlate_nothing():
    X, y, _ = truth(200)
    flat = np.column_stack([y[:, 0], 2.0 * y[:, 0]])
    model, one = ProbabilisticCCA(2).fit(X, flat), ProbabilisticCCA(1).fit(X, y[:, :1])
    assert model.canonical_correlations_[0] == pytest.approx(one.canonical_correlations_[0], abs=1e-4)
    assert model.canonical_correlations_[1] < 1e-3
    np.testing.assert_allclose(model.predict(X)[:, :1], one.predict(X), atol=0.01)


def test_a_repeated_column_is_held_by_the_floor():
    X, y, _ = truth(200)
    twice = np.column_stack([X, X[:, 0]])
    model = ProbabilisticCCA(2).fit(twice, y)
    plain = ProbabilisticCCA(2).fit(X, y)
    np.testing.assert_allclose(model.predict(twice), plain.predict(X), atol=1e-3)
    twice[:20, 0] = np.nan
    by_em = ProbabilisticCCA(2).fit(twice, y)
    assert np.diff(by_em.trace_.objectives).min() > -1e-6
    np.testing.assert_allclose(by_em.impute(twice, y)[0][:20, 0], X[:20, 0], atol=0.01)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, r"n_components=0 is not a whole number of at least 1"),
        ({"n_components": 5}, r"n_components=5 exceeds the 4 columns of the smaller view; use at most 4"),
        ({"n_components": "mle"}, r"n_components='mle' is neither a number nor 'bic'"),
        ({"reg_covar": -1.0}, r"reg_covar=-1.0 is not a number of at least 0"),
        ({"tol": None}, r"tol=None is not a number of at least 0"),
        ({"max_iter": 0}, r"max_iter=0 is not a whole number of at least 1"),
        ({"accelerate": "fast"}, r"accelerate='fast' is unknown"),
        ({"n_jobs": 0}, r"n_jobs=0 is not a whole number of at least 1"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        ProbabilisticCCA(**settings).fit(*truth(30)[:2])


def test_bad_rows():
    X, y, _ = truth(30)
    nothing = np.full_like(y, np.nan)
    with pytest.raises(ValueError, match=r"y has no observed value in any row"):
        ProbabilisticCCA().fit(X, nothing)
    with pytest.raises(ValueError, match=r"X has no observed value in any row"):
        ProbabilisticCCA().fit(np.full_like(X, np.nan), y)
    hole = y.copy()
    hole[:, 2] = np.nan
    with pytest.raises(ValueError, match=r"column 2 of y has no observed value; drop it before fitting"):
        ProbabilisticCCA().fit(X, hole)
    apart_X, apart_y = X.copy(), y.copy()
    apart_X[:15], apart_y[15:] = np.nan, np.nan
    with pytest.raises(ValueError, match=r"no row has observed cells in both views"):
        ProbabilisticCCA().fit(apart_X, apart_y)
    with pytest.raises(ValueError, match=r"X has 30 rows, but y has 29"):
        ProbabilisticCCA().fit(X, y[1:])
    with pytest.raises(ValueError, match=r"ProbabilisticCCA requires y to be passed"):
        ProbabilisticCCA().fit(X, None)
    with pytest.raises(ValueError, match=r"infinity"):
        ProbabilisticCCA().fit(X, np.full_like(y, np.inf))
    with pytest.raises(ValueError, match=r"sample_weight has shape \(3,\)"):
        ProbabilisticCCA().fit(X, y, sample_weight=np.ones(3))
    twice = np.column_stack([y, y[:, 0]])
    twice_with_a_hole = twice.copy()
    twice_with_a_hole[3, 1] = np.nan
    for second in (np.ones((30, 2)), twice, twice_with_a_hole):
        for n_components in (1, "bic"):
            with pytest.raises(
                ValueError, match=r"singular with reg_covar=0; raise reg_covar, or drop columns that repeat"
            ):
                ProbabilisticCCA(n_components, reg_covar=0.0).fit(X, second)
    with pytest.raises(TypeError, match=r"y is read in a stream"):
        ProbabilisticCCA().fit(X, "rows.parquet")
    model = ProbabilisticCCA().fit(X, y)
    with pytest.raises(ValueError, match=r"X and y are both None; give at least one view"):
        model.transform(None)
    with pytest.raises(ValueError, match=r"y has 2 columns, but ProbabilisticCCA was fitted to a second view of 4"):
        model.impute(X, y[:, :2])
    with pytest.raises(ValueError, match=r"n_draws=0 is not a whole number"):
        model.draw_missing(X, n_draws=0)
    with pytest.raises(ValueError, match=r"n_samples=0 is not a whole number"):
        model.sample(0)


@pytest.mark.parametrize("model", [CCA(2), ProbabilisticCCA(2)], ids=["CCA", "ProbabilisticCCA"])
def test_columns_of_the_second_view_are_known_by_name(model, tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    first = pandas.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    second = pandas.DataFrame(first.to_numpy() + rng.normal(size=(60, 3)), columns=list("uvw"))
    tacit.save(model.fit(first, second), tmp_path / "model.tacit")
    for known in (model, tacit.load(tmp_path / "model.tacit")):
        known.transform(first, second)
        with pytest.raises(
            ValueError, match="y has the columns w, v, u, but those seen at fit are u, v, w; give it these"
        ):
            known.transform(first, second[["w", "v", "u"]])
    assert not hasattr(model.fit(first, second.to_numpy()), "target_names_in_")
