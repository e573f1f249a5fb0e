"""Types of users and items: EM that never falls, the same on any number of threads, that finds types which were drawn."""

import pickle

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

import tacit
from tacit.engine import fit
from tacit.recommend import MatrixFactorization, Ratings, TwoSidedMixture
from tacit.recommend.two_sided_model import TwoSidedModel
from tacit.source import ArraySource
from tacit.testing import check_model, close

from .tables import drawn, judged, movielens, needs_movielens, odd_ratings

TABLE = np.array([[[0.9, 0.05, 0.05], [0.1, 0.8, 0.1]], [[0.05, 0.05, 0.9], [0.8, 0.1, 0.1]]])  # (K, L, levels)


def of_types(n_users=150, n_items=60, share=0.3, seed=0):
    """Ratings 1, 2 and 3 of users and items of one type each, and the types."""
    rng = np.random.default_rng(seed)
    types = rng.integers(2, size=n_users), rng.integers(2, size=n_items)
    user, item = np.nonzero(rng.random((n_users, n_items)) < share)
    below = np.cumsum(TABLE[types[0][user], types[1][item]], axis=1)
    rating = 1 + (rng.random(len(user))[:, None] > below[:, :-1]).sum(axis=1)
    return Ratings(user, item, rating, np.arange(n_users), np.arange(n_items)), types


def rows(ratings):
    """Rows [item, level] and their users."""
    side = ratings.by_user.rows
    return np.column_stack([side.indices, side.data - 1]).astype(float), np.repeat(
        np.arange(ratings.n_users), np.diff(side.indptr)
    )


def test_the_model_has_every_property():
    X, unit = rows(drawn(30, 12))
    # A prior counts once for a user, whatever the user weighs; without one, weight 2 is the user twice.
    check_model(TwoSidedModel(3, 2, 12, 5, user_prior=0.0), X, unit=unit, max_iter=16)


def test_a_rating_of_weight_2_is_the_rating_twice():
    X, unit = rows(drawn(30, 12))
    model, rng = TwoSidedModel(3, 2, 12, 5), np.random.default_rng(0)
    weight = rng.integers(1, 4, len(X))
    whole = ArraySource(X, weight.astype(float), unit=unit)
    start = model.init(whole.sample(len(X), rng), rng)
    many = ArraySource(np.repeat(X, weight, axis=0), unit=np.repeat(unit, weight))
    found = [fit(model, source, start, max_iter=20, tol=0.0) for source in (whole, many)]
    close(found[0].params, found[1].params, 1e-9)
    assert np.diff(found[0].trace.objectives).min() > 0


def test_types_that_were_drawn_are_found():
    ratings, types = of_types()
    model = TwoSidedMixture(2, 2, n_fits=3, random_state=0).fit(ratings)
    for members, truth in zip((model.user_membership_[0], model.item_membership_[0]), types):
        agree = np.array([[np.mean(members.argmax(axis=1)[truth == a] == b) for b in range(2)] for a in range(2)])
        assert agree[linear_sum_assignment(-agree)].min() > 0.97
    user, item = np.divmod(np.arange(150 * 60), 60)
    assert np.abs(model.predict_proba((user, item)) - TABLE[types[0][user], types[1][item]]).mean() < 0.06


def test_predictions_are_a_law_and_intervals_hold_what_they_say():
    ratings, _ = of_types(300, 80, 0.4)
    held = np.random.default_rng(1).random(len(ratings)) < 0.3
    test = ratings.take(held)
    model = TwoSidedMixture(2, 2, n_fits=2, random_state=0).fit(ratings.take(~held))
    chances = model.predict_proba(test)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    rating, std = model.predict(test, return_std=True)
    np.testing.assert_allclose(rating, chances @ [1, 2, 3])
    np.testing.assert_allclose(std**2, chances @ [1, 4, 9] - rating**2)
    np.testing.assert_allclose(model._rows(np.array([5, -1]))[0], model._expect(np.full(80, 5), np.arange(80)))
    low, high = model.predict_interval(test, 0.9)
    assert 0.87 < np.mean((low <= test.rating) & (test.rating <= high)) < 0.93


def test_threads_pickling_saving_and_cloning_change_nothing(tmp_path):
    ratings = drawn(200, 150, 0.2)
    model = TwoSidedMixture(4, 3, n_fits=2, max_iter=20, random_state=3, n_jobs=1).fit(ratings)
    expected = model.predict_proba(ratings)
    tacit.save(model, tmp_path / "model.tacit")
    again = clone(model).set_params(n_jobs=3).fit(ratings)
    for other in (again, pickle.loads(pickle.dumps(model)), tacit.load(tmp_path / "model.tacit")):
        np.testing.assert_array_equal(other.predict_proba(ratings), expected)
        np.testing.assert_array_equal(other.predict_interval(ratings), model.predict_interval(ratings))
    assert model.objective_[0] >= model.objective_[1]
    assert all(np.diff(each.trace.objectives).min() > 0 for each in model.fits_)


def test_a_newcomer_is_like_a_user_with_the_same_ratings():
    ratings, _ = of_types()
    model = TwoSidedMixture(2, 2, n_fits=2, random_state=0).fit(ratings)
    mine = ratings.user == 4
    expected, variance = model._newcomer(ratings.item[mine], ratings.rating[mine])
    np.testing.assert_allclose(expected, model._rows(np.array([4]))[0], atol=0.02)
    np.testing.assert_allclose(variance, model._spread(np.full(60, 4), np.arange(60)), atol=0.02)
    np.testing.assert_allclose(model._newcomer(np.zeros(0, int), np.zeros(0))[0], model._rows(np.array([-1]))[0])


def test_types_are_told_in_numbers_and_words():
    ratings, types = of_types()
    model = TwoSidedMixture(2, 2, n_fits=1, random_state=0).fit(ratings)
    told = model.describe(3)
    assert sum(each["share"] for each in told["user_types"]) == pytest.approx(1.0)
    assert sum(each["members"] for each in told["item_types"]) == 60
    np.testing.assert_allclose(told["table"], model.rating_table_[0] @ [1, 2, 3])
    first = told["user_types"][0]
    liked, disliked = (types[1][[each["item"] for each in first[name]]] for name in ("most_liked", "least_liked"))
    assert len(set(liked)) == len(set(disliked)) == 1
    assert liked[0] != disliked[0]
    assert "of users; rate" in first["words"]
    assert model.item_types_[0]["words"].startswith(
        f"{told['item_types'][0]['share']:.0%}".replace("%", " % of items, such as")
    )
    reasons = model.explain(3, 8)
    assert sum(reasons.parts.values()) == pytest.approx(reasons.rating)


@pytest.mark.parametrize(("what", "ratings"), list(odd_ratings()))
def test_odd_ratings_and_more_types_than_users(what, ratings):
    model = TwoSidedMixture(7, 6, n_fits=2, max_iter=10, random_state=0).fit(ratings)
    everyone = np.repeat(np.append(ratings.users.astype(object), "?"), ratings.n_items + 1)
    everything = np.tile(np.append(ratings.items.astype(object), "?"), ratings.n_users + 1)
    pairs = everyone, everything
    rating, std = model.predict(pairs, return_std=True)
    low, high = model.predict_interval(pairs)
    assert ((model.scale_[0] <= low) & (low <= high) & (high <= model.scale_[1])).all()
    assert np.isfinite(rating).all()
    assert (std > 0).all()
    assert model.recommend("nobody", 2).cold
    assert len(model.describe()["user_types"]) == 7


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_user_types": 0}, "n_user_types=0 is not a whole number of at least 1"),
        ({"table_prior": -1.0}, "table_prior=-1.0 is not a number of at least 0"),
        ({"n_fits": 1.5}, "n_fits=1.5 is not a whole number of at least 1"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        TwoSidedMixture(**settings).fit(drawn())


def test_ratings_without_levels_are_refused():
    ratings = Ratings(np.arange(30), np.zeros(30), np.linspace(0, 1, 30), np.arange(30), np.arange(1))
    with pytest.raises(
        ValueError, match=r"the ratings have 30 distinct values.*round them to a scale of at most 20 levels"
    ):
        TwoSidedMixture().fit(ratings)


@needs_movielens
def test_movielens_fold():
    ratings, fold = movielens()
    model = TwoSidedMixture(10, 10, n_fits=2, max_iter=60, random_state=0).fit(ratings.take(fold != 2))
    rmse, coverage, score = judged(model, ratings.take(fold == 2))
    assert rmse < 0.95
    assert 0.87 < coverage < 0.93
    assert score > -1.25


@needs_movielens
@pytest.mark.full
def test_movielens():
    ratings, fold = movielens()
    ours, theirs = [], []
    for each in range(1, 6):
        learned, test = ratings.take(fold != each), ratings.take(fold == each)
        ours.append(judged(TwoSidedMixture(random_state=0).fit(learned), test))
        theirs.append(judged(MatrixFactorization(noise="constant", random_state=0).fit(learned), test))
    (rmse, coverage, score), (_, _, other) = np.mean(ours, axis=0), np.mean(theirs, axis=0)
    assert rmse < 0.935
    assert 0.88 < coverage < 0.92
    assert score > other + 0.005


def test_fits_end_when_they_are_interrupted():
    """What was learned so far is kept, and no further fit is begun."""
    seen = []

    def stop(progress):
        seen.append(progress)
        if len(seen) == 4:
            raise KeyboardInterrupt

    rng = np.random.default_rng(0)
    table = {"user": rng.integers(0, 30, 300), "item": rng.integers(0, 20, 300), "rating": rng.integers(1, 6, 300)}
    model = TwoSidedMixture(2, 2, n_fits=3, max_iter=50, tol=0.0, random_state=0, callback=stop).fit(table)
    assert len(model.objective_) == 1
    assert model.fits_[0].interrupted
    assert np.isfinite(model.predict(([0, 1], [2, 3]))).all()
