"""Regressions on features: exact posteriors, a bound that never falls, and intervals that hold for what is new."""

import pickle

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone

import tacit
from tacit.engine import fit
from tacit.recommend import ContentRecommender, Ratings
from tacit.recommend.baseline import fit_baseline
from tacit.recommend.content_model import ContentModel, ContentParams
from tacit.source import ArraySource, Block
from tacit.testing import close

from .tables import drawn, films, judged, movielens, needs_movielens, odd_ratings


def of_features(n_users=300, n_items=300, share=0.1, seed=0):
    """Ratings by three features of items, whose weights depend on a feature of users; the features of both."""
    rng = np.random.default_rng(seed)
    phi, psi = rng.normal(size=(n_items, 3)), rng.normal(size=(n_users, 1))
    weights = np.outer(psi[:, 0], [0.6, 0.0, 0.3]) + rng.normal(size=(n_users, 3)) * [0.2, 0.5, 0.4]
    user, item = np.nonzero(rng.random((n_users, n_items)) < share)
    own = rng.normal(size=n_users)[user] * 0.4 + rng.normal(size=n_items)[item] * 0.3
    rating = 3 + own + (weights[user] * phi[item]).sum(axis=1) + 0.5 * rng.normal(size=len(user))
    return Ratings(user, item, rating, np.arange(n_users), np.arange(n_items)), phi, psi


def covered(model, test):
    low, high = model.predict_interval(test)
    return np.mean((low <= test.rating) & (test.rating <= high))


def rows(ratings):
    side = ratings.by_user.rows
    return np.column_stack([side.indices, side.data]).astype(float), np.repeat(
        np.arange(ratings.n_users), np.diff(side.indptr)
    )


def test_posteriors_are_those_of_a_gaussian(rng):
    features, about = np.hstack([np.ones((6, 1)), rng.normal(size=(6, 2))]), np.ones((1, 1))
    params = ContentParams(
        rng.normal(size=(3, 1)), np.diag([0.5, 0.3, 0.2]) + 0.05, 0.7, rng.normal(size=6), np.zeros(6), 1.0
    )
    item, rating = np.array([0, 2, 5, 3]), rng.normal(size=4)
    block = Block.of(np.column_stack([item, rating]), units=np.array([0, 4]))
    mean, covariance, loglik = ContentModel(features, about, 1.0)._weights(params, block, about)
    phi, prior = features[item], params.effect[:, 0]
    marginal = phi @ params.covariance @ phi.T + 0.7 * np.eye(4)
    left = rating - params.item[item] - phi @ prior
    gain = params.covariance @ phi.T @ np.linalg.inv(marginal)
    np.testing.assert_allclose(mean[0], prior + gain @ left)
    np.testing.assert_allclose(covariance[0], params.covariance - gain @ phi @ params.covariance)
    np.testing.assert_allclose(loglik[0], multivariate_normal(np.zeros(4), marginal).logpdf(left))


def test_the_bound_never_falls_and_weights_and_blocks_are_what_they_say():
    ratings, phi, psi = of_features(40, 20)
    X, unit = rows(ratings)
    features, about = np.hstack([np.ones((20, 1)), phi]), np.hstack([np.ones((40, 1)), psi])
    model, rng = ContentModel(features, about, float(X[:, 1].var())), np.random.default_rng(0)
    weight = rng.integers(1, 4, len(X))
    sources = [
        ArraySource(X, weight.astype(float), unit=unit),
        ArraySource(np.repeat(X, weight, axis=0), unit=np.repeat(unit, weight)),
        ArraySource(X, weight.astype(float), unit=unit, block_rows=17, n_jobs=1),
        ArraySource(X, weight.astype(float), unit=unit, block_rows=17, n_jobs=3),
    ]
    start = model.init(sources[0].sample(len(X), rng), rng)
    found = [fit(model, source, start, max_iter=30, tol=0.0) for source in sources]
    assert np.diff(found[0].trace.objectives).min() > 0
    for other, rtol in zip(found[1:3], (1e-9, 1e-9)):
        close(found[0].params, other.params, rtol)
    close(found[2].params, found[3].params, 0.0)


def test_what_was_drawn_is_found_and_intervals_hold_for_what_is_new(rng):
    ratings, phi, psi = of_features()
    new_item, new_user = rng.random(300) < 0.2, rng.random(300) < 0.2
    seen = ~new_item[ratings.item] & ~new_user[ratings.user]
    hidden = rng.random(len(ratings)) < 0.2
    model = ContentRecommender().fit(ratings.take(seen & ~hidden), item_features=phi, user_features=psi)
    assert model.params_.noise == pytest.approx(0.25, rel=0.15)
    assert model.params_.item_prior == pytest.approx(0.09, rel=0.6)
    slopes = model.params_.effect[1:, 1] / (phi.std(axis=0) * psi.std(axis=0))
    np.testing.assert_allclose(slopes, [0.6, 0.0, 0.3], atol=0.15)
    general = fit_baseline(ratings.take(seen & ~hidden))
    for part in (seen & hidden, new_item[ratings.item] & ~new_user[ratings.user], new_user[ratings.user]):
        test = ratings.take(part)
        assert 0.86 < covered(model, test) < 0.94
        wrong = np.mean((model.predict(test) - test.rating) ** 2)
        user = np.where(new_user[test.user], -1, test.user)
        assert wrong < 0.8 * np.mean(
            (general.expect(user, np.where(new_item[test.item], -1, test.item)) - test.rating) ** 2
        )


def test_threads_pickling_saving_and_cloning_change_nothing(tmp_path):
    ratings, phi, psi = of_features(80, 40)
    ratings = Ratings(
        ratings.user, ratings.item, ratings.rating, ratings.users, ratings.items, weight=np.ones(len(ratings)) * 1.5
    )
    model = ContentRecommender(max_iter=10, n_jobs=1).fit(ratings, item_features=phi, user_features=psi)
    expected = model.predict(ratings, return_std=True)
    tacit.save(model, tmp_path / "model.tacit")
    again = clone(model).set_params(n_jobs=3).fit(ratings, item_features=phi, user_features=psi)
    for other in (again, pickle.loads(pickle.dumps(model)), tacit.load(tmp_path / "model.tacit")):
        np.testing.assert_array_equal(other.predict(ratings, return_std=True), expected)
    model.rating_weight_ = model.rating_weight_[:-1]
    tacit.save(model, tmp_path / "broken.tacit")
    with pytest.raises(ValueError, match=f"it has {len(ratings) - 1} weights of {len(ratings)} ratings"):
        tacit.load(tmp_path / "broken.tacit")


def test_newcomers_reasons_and_likeness():
    ratings, phi, _ = of_features(80, 40)
    model = ContentRecommender().fit(ratings, item_features=phi)
    mine = ratings.user == 4
    expected, variance = model._newcomer(ratings.item[mine], ratings.rating[mine])
    np.testing.assert_allclose(expected, model._rows(np.array([4]))[0])
    np.testing.assert_allclose(variance, model._spread(np.full(40, 4), np.arange(40)))
    told = model.explain(4, 7)
    assert sum(told.parts.values()) == pytest.approx(model._expect(np.array([4]), np.array([7]))[0])
    assert {"mean", "user", "item", "item_feature_0"} <= set(told.parts)
    assert len(model.similar_items(3, 5)[0]) == 5
    assert model.explain("nobody", "nothing").rating == pytest.approx(model.params_.effect[0, 0])


def test_many_features_become_directions(rng):
    ratings, phi, _ = of_features(80, 40)
    wide = np.hstack([phi, phi @ rng.normal(size=(3, 30)) + 0.1 * rng.normal(size=(40, 30))])
    model = ContentRecommender(n_directions=3).fit(ratings, item_features=wide)
    assert model.item_features_.shape == (40, 4)
    assert model.directions_.shape == (33, 3)
    told = model.explain(4, 7)
    assert sum(told.parts.values()) == pytest.approx(model._expect(np.array([4]), np.array([7]))[0])


@pytest.mark.parametrize(("what", "ratings"), list(odd_ratings()))
def test_odd_ratings(what, ratings, rng):
    model = ContentRecommender().fit(ratings, item_features=rng.normal(size=(ratings.n_items, 2)))
    everyone = np.repeat(np.append(ratings.users.astype(object), "?"), ratings.n_items + 1)
    everything = np.tile(np.append(ratings.items.astype(object), "?"), ratings.n_users + 1)
    rating, std = model.predict((everyone, everything), return_std=True)
    assert np.isfinite(rating).all()
    assert (std > 0).all()


def test_what_is_missing_is_told():
    with pytest.raises(
        ValueError, match="ContentRecommender learns from features, and none are given; pass item_features"
    ):
        ContentRecommender().fit(drawn())
    with pytest.raises(ValueError, match="n_directions=0 is not a whole number of at least 1"):
        ContentRecommender(n_directions=0).fit(drawn(), item_features=np.ones((25, 1)))
    alone = ContentRecommender().fit(drawn(), user_features=np.arange(40.0)[:, None])
    assert np.isfinite(alone.predict(([3, "?"], [5, "?"]))).all()


@needs_movielens
def test_films_that_nobody_has_rated():
    ratings, _ = movielens()
    new = np.random.default_rng(0).random(ratings.n_items) < 0.2
    learned, test = ratings.take(~new[ratings.item]), ratings.take(new[ratings.item])
    model = ContentRecommender().fit(learned, item_features=films())
    rmse, coverage, _ = judged(model, test)
    base = fit_baseline(learned)
    assert rmse < 0.99 * np.sqrt(np.mean((base.expect(test.user, np.full(len(test), -1)) - test.rating) ** 2))
    assert rmse < 0.95 * np.sqrt(np.mean((base.mean - test.rating) ** 2))
    assert 0.87 < coverage < 0.93
