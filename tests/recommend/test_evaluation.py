"""What a recommender is told to be worth: the same as worked out plainly, and intervals that hold."""

import json

import numpy as np
import pytest

from tacit.recommend import MatrixFactorization, Ratings, cross_validate, evaluate, metrics, split_ratings
from tacit.recommend import evaluation as module
from tacit.recommend.validation import interval

from .toys import Biases, some_ratings


@pytest.fixture
def parts(rng):
    return split_ratings(some_ratings(rng), 0.25, random_state=0)


def test_figures_are_those_worked_out_plainly(parts, monkeypatch):
    train, test = parts
    model = Biases().fit(train)
    found = evaluate(model, test, k=5)
    told, _std = model.predict(test, return_std=True)
    chances = model.predict_proba(test)
    assert found.rmse == pytest.approx(metrics.rmse(test.rating, told))
    assert found.mae == pytest.approx(metrics.mae(test.rating, told))
    assert found.log_score == pytest.approx(metrics.log_score(test.rating, chances, model.levels_))
    assert found.crps == pytest.approx(metrics.discrete_crps(test.rating, chances, model.levels_))
    assert found.coverage == pytest.approx(metrics.interval_coverage(test.rating, *model.predict_interval(test, 0.9)))
    assert dict(found.calibration)[0.9] == found.coverage
    lists, wanted = [], []
    for user in np.unique(test.user[test.rating >= 4]):
        lists.append(model.recommend(test.users[user], 5).items.tolist())
        wanted.append(set(test.items[test.item[(test.user == user) & (test.rating >= 4)]].tolist()))
    hits, n = metrics.hits_of(lists, wanted)
    assert (found.k, found.relevant, found.n_ranked) == (5, 4.0, len(lists))
    for name, values in {
        "precision": metrics.precision(hits), "recall": metrics.recall(hits, n), "map": metrics.average_precision(hits, n),
        "ndcg": metrics.ndcg(hits, n), "mrr": metrics.reciprocal_rank(hits), "hit_rate": metrics.hit_rate(hits),
    }.items():  # fmt: skip
        assert getattr(found, name) == pytest.approx(values.mean()), name
    assert found.catalogue_coverage == len({item for told in lists for item in told}) / train.n_items
    monkeypatch.setattr("tacit.recommend.spool.BLOCK_ROWS", 7)
    monkeypatch.setattr("tacit.recommend.base.BLOCK_CELLS", 64)
    for other in (evaluate(model, test, k=5), evaluate(model, test, train, k=5)):
        for name in (*module.RATINGS, *module.RANKINGS, "novelty", "popularity_lift", "gini"):
            assert getattr(other, name) == pytest.approx(getattr(found, name)), name
    assert json.loads(json.dumps(found.to_dict()))["rmse"] == found.rmse


def test_who_and_what_was_not_seen(parts):
    train, test = parts
    model = Biases().fit(train)
    strangers = {"user": [1, 999, 999], "item": [100, 100, 999], "rating": [4, 5, 3]}
    found = evaluate(model, strangers)
    assert (found.cold_users, found.cold_items) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert found.n_ratings == 3
    assert found.n_users == 2
    whole = evaluate(model, strangers, train={"user": [999], "item": [101], "rating": [5]})
    assert whole.n_ranked == 2
    dull = evaluate(model, {"user": [1], "item": [101], "rating": [1]})
    assert dull.notes[0].code == "nothing_relevant"
    assert dull.ndcg is None
    assert dull.novelty is None
    odd = evaluate(model, {"user": [1, 2], "item": [101, 101], "rating": [2.5, 5]})
    assert [note.code for note in odd.notes] == ["unknown_level"]
    more = evaluate(model, test, k=1000)
    assert more.recall == pytest.approx(1.0)  # all that is left is in a list of all


def test_a_model_without_spread_tells_what_it_can(parts):
    train, test = parts
    found = evaluate(Biases(spread=None).fit(train), test)
    assert found.log_score is found.crps is found.coverage is None
    assert found.calibration == []
    assert found.rmse == pytest.approx(evaluate(Biases().fit(train), test).rmse)


def test_ratings_that_are_measurements_have_densities(rng):
    table = some_ratings(rng)
    train, test = split_ratings(
        table | {"rating": table["rating"] + rng.normal(0, 0.1, len(table["rating"]))}, 0.3, random_state=0
    )
    model = Biases().fit(train)
    found, (told, std) = evaluate(model, test), model.predict(test, return_std=True)
    assert found.log_score == pytest.approx(metrics.gaussian_log_score(test.rating, told, std))
    assert found.crps == pytest.approx(metrics.crps(test.rating, told, std))


def test_recommenders_are_compared_on_the_same_folds(rng):
    ratings = Ratings.read(some_ratings(rng, 60))
    models = {"both": Biases(), "items": Biases(by_user=None), "again": Biases()}
    found = cross_validate(models, ratings, 4, k=5)
    same = found.difference("again", "both")
    assert (same.value, same.low, same.high, same.clear) == (0, 0, 0, False)
    worse = found.difference("items", "both")
    assert worse.clear
    assert not worse.better
    assert found.best() in ("both", "again")
    assert worse.value == pytest.approx(found.estimate("items").value - found.estimate("both").value)
    assert found.estimate("both", "ndcg").low < found.estimate("both", "ndcg").value
    table = found.table()
    assert len(table["fold"]) == 12
    assert table["model"][:4] == ["both"] * 4
    whole = json.loads(json.dumps(found.to_dict()))
    assert whole["estimates"]["both"]["rmse"]["value"] == found.estimate("both").value
    number = np.arange(len(ratings)) % 2
    assert len(cross_validate([Biases(), Biases()], ratings, number).evaluations["Biases 2"]) == 2
    with pytest.raises(ValueError, match="there is no recommender 'x'; there are both, items, again"):
        found.estimate("x")
    with pytest.raises(ValueError, match="measure='auc' is unknown"):
        found.estimate("both", "auc")
    with pytest.raises(ValueError, match="no recommender to judge"):
        cross_validate([], ratings)
    with pytest.raises(ValueError, match="none of plain tells crps"):
        cross_validate({"plain": Biases(spread=None)}, ratings, 2).best("crps")


def test_one_user_is_judged_without_an_interval():
    ratings = {"user": [1] * 6, "item": range(6), "rating": [1, 2, 3, 4, 5, 3]}
    found = cross_validate(Biases(), ratings, 3).estimate("Biases", "rmse")
    assert found.low < found.value < found.high


def test_a_factorisation_is_evaluated(parts):
    found = evaluate(MatrixFactorization(2, random_state=0).fit(parts[0]), parts[1])
    assert 0 < found.rmse < 2
    assert found.log_score < 0


# Coverage


def judged(rng, n, d, models, n_folds=5):
    """Squared errors of two models of biases in cross-validation of new ratings of new users and items, by user and item."""
    sizes = np.minimum(3 + rng.geometric(0.08, n), d)
    user, item = np.repeat(np.arange(n), sizes), np.concatenate([rng.permutation(d)[:size] for size in sizes])
    rating = rng.normal(0, 0.5, n)[user] + rng.normal(0, 0.5, d)[item] + rng.normal(0, 0.9, len(user))
    fold = rng.permutation(len(user)) % n_folds
    losses = np.empty((2, len(user)))
    for k in range(n_folds):
        learned, held = fold != k, fold == k
        for model, (by_item, by_user) in enumerate(models):
            left = rating[learned] - rating[learned].mean()
            items = Biases._shrunk(item[learned], left, d, by_item)
            users = Biases._shrunk(user[learned], left - items[item[learned]], n, by_user)
            told = rating[learned].mean() + items[item[held]] + users[user[held]]
            losses[model, held] = (rating[held] - told) ** 2
    return [
        [np.stack([np.bincount(code, loss, size), np.bincount(code, minlength=size)], axis=1) for loss in losses]
        for code, size in ((user, n), (item, d))
    ]


@pytest.mark.parametrize(("n", "d"), [(20, 30), (100, 60)])
def test_intervals_of_differences_hold(n, d):
    rng, n_trials = np.random.default_rng(5), 300
    for models in (((5, None), (5, 5)), ((5, 5), (20, 5)), ((None, None), (5, 5))):
        found = [interval("rmse", judged(rng, n, d, models), 0.95) for _ in range(n_trials)]
        truth = np.mean([each.value for each in found])
        covered = np.mean([each.low <= truth <= each.high for each in found])
        assert 0.88 <= covered <= 0.995, (models, covered)


def test_events_have_lists_and_no_errors(rng):
    user, item = np.nonzero(rng.random((40, 20)) < 0.3)
    events = Ratings(user, item, rng.integers(1, 6, len(user)), np.arange(40), np.arange(20))
    train, test = split_ratings(events, 0.3, random_state=0)
    found = evaluate(MatrixFactorization(3, response="implicit", random_state=0).fit(train), test)
    assert [getattr(found, name) for name in ("rmse", "mae", "log_score", "crps", "coverage")] == [None] * 5
    assert found.calibration == []
    assert "errors and intervals of ratings are not told" in str(found.notes[0])
    # Every event is relevant, however weak.
    assert found.relevant == test.rating.min()
    assert found.n_ranked == found.n_users == len(np.unique(test.user))
    assert 0 < found.recall < 1
    assert len(repr(found)) < 200
    assert "rmse" not in repr(found)
    folds = cross_validate(MatrixFactorization(3, response="implicit", random_state=0), events, 2)
    assert folds.estimate("MatrixFactorization") is None
    assert folds.best("recall") == "MatrixFactorization"
    assert repr(folds) == "CrossValidation(2 folds; rmse: none)"
