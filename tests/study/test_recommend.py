"""What is said of ratings is so: verdicts follow errors, contrasts are means of ratings, maps hold what they say."""

import numpy as np
import pytest

from tacit.datasets import make_ratings
from tacit.recommend import MatrixFactorization, Ratings, RecommenderChoice, choose_recommender
from tacit.recommend.choice import find_types
from tacit.recommend.trial import HeldOut, try_recommender
from tacit.study.reasons import explain_pair
from tacit.study.recommend import study_ratings
from tacit.study.tastes import quoted, tastes_of


@pytest.fixture(scope="module")
def drawn():
    return make_ratings(200, 40, density=0.4, random_state=0)


@pytest.fixture(scope="module")
def ratings(drawn):
    return Ratings.read(drawn.table())


@pytest.fixture(scope="module")
def choice(ratings):
    return choose_recommender(ratings, method="factorization", n_components=8)


def held(predicted, averages, mean, n=400):
    """Ratings held out with errors of these sizes."""
    rng = np.random.default_rng(0)
    rating, own = rng.integers(1, 6, n).astype(float), rng.normal(size=n)
    parts = [rating + size * own for size in (predicted, mean, averages)]
    return HeldOut(np.arange(n) % 50, np.arange(n) % 20, rating, *parts, rating - 1, rating + 1, {0.9: 1.0}, None, 0, 0)


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        ((0.8, 1.0, 1.2), "Ratings can be predicted: "),
        ((1.0, 1.0, 1.2), "The ratings tell little beyond averages of users and items: "),
        ((1.2, 1.2, 1.2), "Ratings can hardly be predicted: "),
        ((1.1, 1.2, 1.2), "Ratings can be predicted: "),
    ],
)
def test_the_verdict_follows_errors(errors, verdict, choice, ratings):
    check = held(errors[0], errors[1], errors[2])
    found = study_ratings(RecommenderChoice(choice.model, "factorization", check), ratings)
    assert found.summary[0].startswith(verdict)
    assert found.summary[0].check.figures["error"] == check.rmse()


def test_no_check_is_told(choice, ratings):
    found = study_ratings(choice.model, ratings)
    assert found.check is None
    assert not any("held out" in sentence for sentence in found.summary)


def test_means_of_types_are_those_of_ratings(drawn, ratings):
    model = find_types(ratings, 3)
    names = np.array([drawn.more["titles"][item] for item in ratings.items], dtype=object)
    tastes = tastes_of(model, ratings, names)
    user, item = tastes.user_type[ratings.user], tastes.item_type[ratings.item]
    for k in range(3):
        for l in range(3):
            part = (user == k + 1) & (item == l + 1)
            assert tastes.counts[k, l] == part.sum()
            assert not part.any() or tastes.means[k, l] == pytest.approx(ratings.rating[part].mean(), rel=1e-6)
    assert sum(taste.n for taste in tastes.users) == 200
    assert [taste.n for taste in tastes.users] == sorted((taste.n for taste in tastes.users), reverse=True)
    claims = [words for taste in tastes.users for words in taste.words if words.code == "taste"]
    assert claims
    for words in claims:
        assert (" more than " in words) == (words.check.figures["mean"] > words.check.figures["others"])


def test_the_map_is_of_the_most_rated_items(choice, ratings, drawn):
    found = study_ratings(choice, ratings, names=drawn.more["titles"])
    counts = [item.n_ratings for item in found.mapped]
    assert counts == sorted(counts, reverse=True)
    assert 0.5 < found.kept <= 1.0
    for item in found.mapped[:5]:
        own = ratings.rating[ratings.item == item.code]
        assert (item.n_ratings, item.name) == (len(own), drawn.more["titles"][item.id])
        assert item.mean == pytest.approx(own.mean(), rel=1e-6)
        assert sum(item.bars) == pytest.approx(1.0)
        genre = item.name.split()[0]
        assert found.names[item.similar[0][0]].split()[0] == genre


def test_reasons_add_up(choice):
    told = explain_pair(choice.model, "u001", "f01")
    assert np.clip(told.total, *choice.model.scale_) == pytest.approx(told.rating, abs=1e-6)
    assert explain_pair(choice.model, "who", "what").notes == [
        "the user 'who' is not known to the model; what is known in general is told",
        "the item 'what' is not known to the model; what is known in general is told",
    ]


def test_other_ratings_are_refused(choice):
    other = Ratings.read(make_ratings(30, 20, random_state=1).table())
    with pytest.raises(
        ValueError, match="the ratings are of 30 users, and the model knows 200 users that are not the same"
    ):
        study_ratings(choice, other)


def test_names_must_fit(choice, ratings):
    with pytest.raises(ValueError, match="2 names are given for 40 items; give one for each, or a dictionary by id"):
        study_ratings(choice, ratings, names=["a", "b"])
    assert quoted(["Alien", "Thing, The"]) == "“Alien” and “Thing, The”"


def test_splits_are_pooled(ratings):
    model = MatrixFactorization(3, max_iter=5, random_state=0)
    both, first = try_recommender(model, ratings, n_splits=2), try_recommender(model, ratings)
    assert len(both) == 2 * len(first)
    assert both.n_splits == 2
    assert both.ranked.n_users >= first.ranked.n_users
    np.testing.assert_array_equal(both.rating[: len(first)], first.rating)


def test_features_that_a_recommender_takes_not_are_told(ratings, drawn):
    genres = {"item": drawn.more["items"], "genre": [title.split()[0] for title in drawn.more["titles"].values()]}
    found = choose_recommender(ratings, method="neighbours", item_features=genres)
    assert found.features == {"item": 0}
    assert "not used" in study_ratings(found, ratings).card["Features"]
    with pytest.raises(ValueError, match="method='magic'"):
        choose_recommender(ratings, method="magic")
