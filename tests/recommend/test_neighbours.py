"""Votes of neighbours: as plain loops have them, from any number of threads, with intervals that hold what they say."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import tacit
from tacit.kernels import neighbours as kernels
from tacit.recommend import NeighbourhoodRecommender
from tacit.recommend.baseline import deviations, fit_baseline

from .tables import drawn, judged, movielens, needs_movielens, odd_ratings

WAYS = [("item", "pearson-shrunk"), ("user", "pearson-shrunk"), ("item", "cosine"), ("user", "pearson")]


def reference(ratings, model, user, item):
    """Predictions by loops over pairs."""
    base, n, d = model.baseline_, ratings.n_users, ratings.n_items
    full = np.full((n, d), np.nan)
    full[ratings.user, ratings.item] = ratings.rating
    left = full - base.mean - base.user[:, None] - base.item
    if model.by == "user":
        full, left, user, item = full.T, left.T, item, user
    compared = {"pearson-shrunk": left, "cosine": full, "pearson": full - np.nanmean(full, axis=0)}[model.metric]
    found = []
    for u, i in zip(user, item):
        votes = []
        for j in np.flatnonzero(~np.isnan(full[u])):
            both = ~np.isnan(full[:, i]) & ~np.isnan(full[:, j])
            x, y = compared[both, i], compared[both, j]
            if j != i and both.sum() >= model.min_support and x @ y > 0:
                shrunk = both.sum() / (both.sum() + (model.shrinkage if model.metric == "pearson-shrunk" else 0))
                votes.append((x @ y / np.sqrt((x @ x) * (y @ y)) * shrunk, left[u, j]))
        votes = np.array(sorted(votes, reverse=True)[: model.n_neighbours]).reshape(-1, 2)
        weight = votes[:, 0] ** model.amplification
        found.append(weight @ votes[:, 1] / (weight.sum() + model.prior_vote) if len(votes) else 0.0)
    return np.array(found)


@pytest.mark.parametrize(("by", "metric"), WAYS)
def test_votes_are_those_of_plain_loops(by, metric):
    ratings = drawn()
    ratings.rating[:] += 0.1 * np.random.default_rng(0).normal(
        size=len(ratings)
    )  # so that no two rows are equally similar
    model = NeighbourhoodRecommender(by, metric=metric, n_neighbours=5, shrinkage=4, min_support=3).fit(ratings)
    user, item = np.divmod(np.random.default_rng(1).permutation(40 * 25)[:200], 25)
    votes = model._expect(user, item) - model.baseline_.expect(user, item)
    np.testing.assert_allclose(votes, reference(ratings, model, user, item), atol=2e-6)
    np.testing.assert_allclose(model._rows(np.array([7, 3, -1]))[1], model._expect(np.full(25, 3), np.arange(25)))


@pytest.mark.parametrize("by", ["item", "user"])
def test_threads_pickling_saving_and_cloning_change_nothing(by, tmp_path):
    ratings = drawn(200, 150, 0.2)
    model = NeighbourhoodRecommender(by, n_jobs=1).fit(ratings)
    expected = model.predict(ratings, return_std=True)
    tacit.save(model, tmp_path / "model.tacit")
    again = clone(model).set_params(n_jobs=3).fit(ratings)
    for other in (again, pickle.loads(pickle.dumps(model)), tacit.load(tmp_path / "model.tacit")):
        np.testing.assert_array_equal(other.predict(ratings, return_std=True), expected)
        np.testing.assert_array_equal(other.recommend_all(3)[0], model.recommend_all(3)[0])


def test_a_file_that_does_not_fit_together_is_refused(tmp_path):
    model = NeighbourhoodRecommender().fit(drawn())
    model.by = "user"
    tacit.save(model, tmp_path / "model.tacit")
    with pytest.raises(ValueError, match="its similarities and biases are not those of 40 users and 25 items"):
        tacit.load(tmp_path / "model.tacit")


def test_biases_are_ridge_regressions_whose_ridges_are_learned():
    rng = np.random.default_rng(0)
    ratings = drawn(300, 200, 0.3)
    user, item = rng.normal(size=300) * 0.5, rng.normal(size=200) * 0.3
    ratings.rating[:] = 3 + user[ratings.user] + item[ratings.item] + rng.normal(size=len(ratings))
    base = fit_baseline(ratings)
    np.testing.assert_allclose([base.user_prior, base.item_prior, base.noise], [user.var(), item.var(), 1.0], rtol=0.1)
    inside = np.abs(base.user - user) < 1.645 * np.sqrt(base.user_variance)
    assert 0.85 < inside.mean() < 0.95


def test_weights_count_in_biases():
    twice = drawn(weight=None)
    copies = [np.append(value, value[:100]) for value in (twice.user, twice.item, twice.rating)]
    weight = np.append(2.0 * np.ones(100), np.ones(len(twice) - 100))
    ours, theirs = fit_baseline(drawn(weight=weight)), fit_baseline(type(twice)(*copies, twice.users, twice.items))
    np.testing.assert_allclose(ours.user, theirs.user, atol=1e-6)
    np.testing.assert_allclose(ours.item, theirs.item, atol=1e-6)


def test_votes_on_ratings_left_out_are_those_without_them():
    ratings = drawn(60, 40)
    base, rule = fit_baseline(ratings), (2.0, 10.0, 5, 1.5, 0.1)

    def tables(kept):
        item, user = kept.by_item.rows, kept.by_user.rows
        left = deviations(user, base, True)
        by_item = item.indptr, item.indices, deviations(item, base, False)
        return by_item, (user.indptr, user.indices, left), left

    cell = 17
    starts = np.append(np.zeros(ratings.item[cell] + 1, int), np.ones(40 - ratings.item[cell], int))
    tried = ratings.user[cell : cell + 1].astype(np.int64)
    *_, shift, mass = kernels.similar(0, 40, *tables(ratings), rule, 100, starts, tried)
    rest = tables(ratings.take(np.arange(len(ratings)) != cell))
    count, index, near, _, _ = kernels.similar(0, 40, *rest, rule, 100, np.zeros(41, int), tried[:0])
    out, weight = np.empty(1), np.empty(1)
    pair = tried, ratings.item[cell : cell + 1].astype(np.int64)
    kernels.vote(*pair, rest[1], np.append(0, np.cumsum(count)), index, near, 40, rule, out, weight)
    np.testing.assert_allclose([shift[0], mass[0]], [out[0], weight[0]], rtol=1e-5)
    assert mass[0] > 0


@pytest.mark.parametrize("by", ["item", "user"])
def test_a_newcomer_is_like_a_user_with_the_same_ratings(by):
    ratings = drawn(200, 60, 0.3)
    model = NeighbourhoodRecommender(by, shrinkage=10).fit(ratings)
    mine = ratings.user == 4
    given = dict(zip(ratings.item[mine].tolist(), ratings.rating[mine].tolist()))
    told, known = model.recommend(given, 60), model.recommend(4, 60)
    order = np.argsort(told.items), np.argsort(known.items)
    alike = np.corrcoef(told.ratings[order[0]], known.ratings[order[1]])[0, 1]
    assert alike > (0.999 if by == "item" else 0.95)  # a twin of a user votes for what that user rated
    assert model.recommend({}, 3).cold
    assert len(model.recommend({"unknown": 3.0}, 3)) == 3


def test_reasons_add_up():
    ratings = drawn()
    model = NeighbourhoodRecommender(n_neighbours=4).fit(ratings)
    told = model.explain(3, 8)
    assert sum(told.parts.values()) == pytest.approx(model._expect(np.array([3]), np.array([8]))[0])
    assert sum(adds for *_, adds in told.because) == pytest.approx(told.parts["votes"])
    assert 0 < len(told.because) <= 4
    assert NeighbourhoodRecommender("user").fit(ratings).explain(3, 8).because == []
    assert model.explain("nobody", "nothing").rating == pytest.approx(model.mean_)


def test_similar_items_are_those_that_were_kept():
    model = NeighbourhoodRecommender().fit(drawn())
    items, near = model.similar_items(3, 5)
    assert len(items) == 5
    assert (np.diff(near) <= 0).all()
    assert near[0] == model.similarity_[3].max()
    assert len(NeighbourhoodRecommender("user").fit(drawn()).similar_items(3, 5)[0]) == 5
    assert len(model.recommend(1, 5, diversity=0.5)) == 5
    with pytest.raises(ValueError, match="item 'x' was not seen"):
        model.similar_items("x")


@pytest.mark.parametrize("by", ["item", "user"])
@pytest.mark.parametrize(("what", "ratings"), list(odd_ratings()))
def test_odd_ratings(by, what, ratings):
    model = NeighbourhoodRecommender(by).fit(ratings)
    everyone = np.repeat(np.append(ratings.users.astype(object), "?"), ratings.n_items + 1)
    everything = np.tile(np.append(ratings.items.astype(object), "?"), ratings.n_users + 1)
    rating, std = model.predict((everyone, everything), return_std=True)
    assert ((model.scale_[0] <= rating) & (rating <= model.scale_[1])).all()
    assert np.isfinite(std).all()
    assert (std > 0).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"by": "both"}, "by='both' is unknown; use one of 'item', 'user'"),
        ({"metric": "x"}, "metric='x' is unknown; use one of 'pearson-shrunk', 'pearson', 'cosine'"),
        ({"n_neighbours": 0}, "n_neighbours=0 is not a whole number of at least 1"),
        ({"shrinkage": -1}, "shrinkage=-1 is not a number of at least 0"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        NeighbourhoodRecommender(**settings).fit(drawn())


@needs_movielens
def test_movielens():
    ratings, fold = movielens()
    found = [
        judged(NeighbourhoodRecommender().fit(ratings.take(fold != each)), ratings.take(fold == each))
        for each in range(1, 6)
    ]
    rmse, coverage, _ = np.mean(found, axis=0)
    assert rmse < 0.9125
    assert 0.89 < coverage < 0.92
    user = NeighbourhoodRecommender("user").fit(ratings.take(fold != 2))
    rmse, coverage, _ = judged(user, ratings.take(fold == 2))
    assert rmse < 0.93
    assert 0.87 < coverage < 0.93
