"""Matrix factorisation: what it finds, how sure it is, and that nothing depends on threads."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import tacit
from tacit.datasets import load_movielens
from tacit.kernels import factorization as kernels
from tacit.kernels import gradients
from tacit.recommend import MatrixFactorization, NeighbourhoodRecommender, Ratings, TwoSidedMixture
from tacit.recommend.factorization.priors import packed, unpacked
from tacit.recommend.factorization.source import RatedRows

WAYS = [
    {},
    {"noise": "constant", "biases": False},
    {"inference": "map"},
    {"inference": "map", "regularization": 3.0},
    {"inference": "map", "regularization": 3.0, "solver": "cg"},
    {"response": "ordinal"},
    {"response": "implicit"},
    {"response": "implicit", "inference": "map", "regularization": 3.0, "solver": "cg"},
]


def made(n_users=150, n_items=80, n=4000, K=2, noise=0.5, seed=0):
    """Ratings from biases and factors, with what was expected of each."""
    rng = np.random.default_rng(seed)
    cells = rng.choice(n_users * n_items, min(n, n_users * n_items), replace=False)
    user, item = cells // n_items, cells % n_items
    b, c, u, v = (rng.normal(0, s, size) for s, size in (
        (0.4, n_users), (0.5, n_items), (0.7, (n_users, K)), (0.7, (n_items, K))
    ))  # fmt: skip
    mean = 3.0 + b[user] + c[item] + (u[user] * v[item]).sum(axis=1)
    return Ratings(user, item, mean + rng.normal(0, noise, len(user)), np.arange(n_users), np.arange(n_items)), mean


def stars(seed=0, **sizes):
    """Such ratings, rounded to 1 to 5."""
    ratings, _ = made(seed=seed, **sizes)
    return Ratings(ratings.user, ratings.item, np.clip(np.round(ratings.rating), 1, 5), ratings.users, ratings.items)


def apart(ratings, share=0.2, seed=0):
    hidden = np.random.default_rng(seed).random(len(ratings)) < share
    return ratings.take(~hidden), ratings.take(hidden)


# Kernels


def side(kind, seed=0, n=7, n_other=9, K=3):
    rng = np.random.default_rng(seed)
    lengths = np.array([4, 0, 9, 1, 6, 3, 5])
    indices = np.concatenate([np.sort(rng.choice(n_other, k, replace=False)) for k in lengths]).astype(np.int32)
    data, weight = rng.normal(size=len(indices)).astype(kind), rng.uniform(0.5, 2, len(indices)).astype(kind)
    rows = RatedRows(data, indices, np.concatenate([[0], np.cumsum(lengths)]), (n, n_other), "missing", weight)
    mean, root = rng.normal(size=(n_other, 1 + K)), rng.normal(size=(n_other, 1 + K, 1 + K)) / 3
    return rows, mean, root @ root.transpose(0, 2, 1)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("dense", [False, True])
def test_half_a_sweep_is_what_it_says(kind, dense):
    rows, mean, S = side(kind)
    table = kernels.moment_table(mean, packed(S).astype(kind), kind)
    q, n = mean.shape[1], len(rows)
    rng = np.random.default_rng(1)
    root = rng.normal(size=(q, q))
    P, shift, noise = root @ root.T + np.eye(q), rng.normal(size=(n, q)), 0.7
    base = table.sum(axis=1, dtype=float).ravel() if dense else np.zeros(0)
    out, spread = np.zeros((n, q)), np.zeros((n, q * (q + 1) // 2))
    extended = np.hstack([np.ones((len(mean), 1)), mean])
    told = kernels.half_sweep(rows, rows.weight, rows.data, extended, table, P, shift, noise, base, out, spread)
    second = extended[:, :, None] * extended[:, None, :]
    second[:, 1:, 1:] += S
    own = np.array([0, *range(2, q + 1)])
    for a in range(n):
        cells = slice(rows.indptr[a], rows.indptr[a + 1])
        j, w, t = rows.indices[cells], rows.weight[cells].astype(float), rows.data[cells].astype(float)
        sums = np.einsum("n,nkl->kl", w, second[j]) + (second.sum(axis=0) if dense else 0.0)
        A, b = sums[np.ix_(own, own)], (w * t) @ extended[j][:, own] - sums[own, 1]
        covariance = np.linalg.inv(A / noise + P)
        m = covariance @ (b / noise + shift[a])
        np.testing.assert_allclose(out[a], m, atol=1e-4 if kind == np.float32 else 1e-11)
        np.testing.assert_allclose(unpacked(spread[a], q), covariance, atol=1e-5 if kind == np.float32 else 1e-12)
        xx = np.outer(m, m) + covariance
        error = w @ t**2 - 2 * (w * t) @ extended[j, 1] + sums[1, 1] - 2 * m @ b + (xx * A).sum()
        expected = error, np.linalg.slogdet(covariance)[1], (xx * P).sum() - 2 * m @ shift[a]
        np.testing.assert_allclose(told[a], expected, rtol=1e-4 if kind == np.float32 else 1e-10)


@pytest.mark.parametrize("K", [3, 140])
@pytest.mark.parametrize("dense", [False, True])
def test_gradients_and_products_lead_where_the_equations_do(dense, K):
    rows, mean, _ = side(np.float64, K=K)
    q, n, nothing = mean.shape[1], len(rows), np.zeros((0, 10))
    table, extended = kernels.moment_table(mean, nothing), np.hstack([np.ones((len(mean), 1)), mean])
    base = table.sum(axis=1).ravel() if dense else np.zeros(0)
    shared = rows, rows.weight, rows.data, extended
    prior = np.eye(q) + 0.1, np.ones((1, q)), 0.5
    exact, near = np.zeros((n, q)), np.zeros((n, q))
    told = kernels.half_sweep(*shared, table, *prior, base, exact, nothing)
    again = np.zeros((n, q))  # without a table, sums are products of vectors
    base = packed(extended.T @ extended) if dense else np.zeros(0)
    same = kernels.half_sweep(*shared, np.zeros((0, 0, 0)), *prior, base, again, nothing)
    np.testing.assert_allclose(again, exact, atol=1e-11)
    np.testing.assert_allclose(same, told, atol=1e-9, rtol=1e-9)
    gram = extended.T @ extended if dense else np.zeros((0, 0))
    metric = prior[0] * prior[2] + (np.delete(np.delete(gram, 1, axis=0), 1, axis=1) if dense else 0.0)
    points = *gradients.whitened(np.delete(extended, 1, axis=1), metric, np.dtype(float)), mean[:, 0].copy()
    also = gradients.half_sweep_by_gradients(*shared[:3], *points, *prior, gram, 50, near)
    np.testing.assert_allclose(near, exact, atol=1e-9)
    np.testing.assert_allclose(also[:, [0, 2]], told[:, [0, 2]], atol=1e-8, rtol=1e-8)


def test_variances_of_pairs_are_those_of_draws():
    _, x, S = side(np.float64, seed=3)
    _, y, T = side(np.float64, seed=4)
    found = np.empty(1)
    kernels.pair_spread(np.array([2]), np.array([5]), x, packed(S), y, packed(T), found)
    rng = np.random.default_rng(0)
    a, b = rng.multivariate_normal(x[2], S[2], 400_000), rng.multivariate_normal(y[5], T[5], 400_000)
    drawn = a[:, 0] + b[:, 0] + (a[:, 1:] * b[:, 1:]).sum(axis=1)
    np.testing.assert_allclose(found[0], drawn.var(), rtol=0.02)


# Learning


@pytest.mark.filterwarnings("ignore:Best performing")
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_objective_never_falls_and_threads_do_not_matter(way):
    ratings = stars(n=6000)
    one, two = (
        MatrixFactorization(3, random_state=0, max_iter=12, tol=0.0, n_jobs=k, **way).fit(ratings) for k in (1, 2)
    )
    gains = np.diff(one.fit_.trace.objectives)
    assert len(gains) > 8
    assert gains.min() > -1e-9 * abs(one.fit_.trace.objectives[0])
    assert np.array_equal(one.item_factors_, two.item_factors_)
    assert np.array_equal(one.user_spread_, two.user_spread_)


@pytest.mark.filterwarnings("ignore:Best performing")
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_models_are_kept_and_taken_up_again(way, tmp_path):
    ratings = stars()
    model = MatrixFactorization(2, random_state=0, max_iter=5, **way).fit(ratings)
    tacit.save(model, tmp_path / "m.tacit")
    pairs = ratings.users[:5], ratings.items[:5]
    for again in (tacit.load(tmp_path / "m.tacit"), pickle.loads(pickle.dumps(model))):
        for answer in ("predict", "recommend_all"):
            given = (pairs,) if answer == "predict" else (3,)
            np.testing.assert_array_equal(getattr(again, answer)(*given), getattr(model, answer)(*given))
        again.partial_fit({"user": [500, 500], "item": [3, 900], "rating": [5, 1]})
        assert len(again.users_) == 151
        assert len(again.items_) == 81
        assert np.isfinite(again.predict(([500, 500], [5, 900]))).all()
    clone(model)


def test_biases_that_are_not_wanted_are_zero():
    for way in ({}, {"inference": "map", "regularization": 3.0}):
        model = MatrixFactorization(3, biases=False, random_state=0, **way).fit(stars())
        assert max(np.abs(model.user_bias_).max(), np.abs(model.item_bias_).max()) < 1e-6


def test_a_weight_of_two_is_a_rating_twice():
    ratings = stars(n=1500)
    twice = np.arange(len(ratings)) % 3 == 0
    rows = np.concatenate([np.arange(len(ratings)), np.flatnonzero(twice)])
    repeated = Ratings(ratings.user[rows], ratings.item[rows], ratings.rating[rows], ratings.users, ratings.items)
    weighted = Ratings(ratings.user, ratings.item, ratings.rating, ratings.users, ratings.items, weight=1.0 + twice)
    settings = {"random_state": 0, "max_iter": 8, "tol": 0.0}
    with pytest.warns(ConvergenceWarning):
        a, b = (MatrixFactorization(2, **settings).fit(each) for each in (repeated, weighted))
    pairs = ratings.users[:20], ratings.items[:20]
    # Their means differ: that of a rating twice counts it twice.
    np.testing.assert_allclose(a.predict(pairs), b.predict(pairs), atol=0.03)


def test_truth_is_found_and_intervals_cover():
    ratings, mean = made(n_users=300, n_items=150, n=15_000)
    train, test = apart(ratings)
    hidden = np.random.default_rng(0).random(len(ratings)) < 0.2
    model = MatrixFactorization(6, random_state=0).fit(train)
    found, _std = model.predict(test, return_std=True)
    inside = np.abs(mean[hidden]) < 10
    assert np.sqrt(np.mean((found - mean[hidden])[inside] ** 2)) < 0.3
    assert 0.4 < np.sqrt(model.noise_variance_) < 0.6
    low, high = model.predict_interval(test, 0.9)
    assert 0.87 < np.mean((test.rating >= low) & (test.rating <= high)) < 0.93
    # What is not supported shrinks: two factors carry nearly all there is.
    size = np.sort(np.linalg.svd(model.user_factors_ @ model.item_factors_.T, compute_uv=False))[::-1]
    assert size[2] < 0.25 * size[1]


@pytest.mark.parametrize("inference", ["vb", "map"])
@pytest.mark.parametrize("n_users", [20, 60])
def test_intervals_cover_where_users_are_few(n_users, inference):
    covered = []
    for seed in range(12):
        ratings, _ = made(n_users, 30, 12 * n_users, seed=seed)
        train, test = apart(ratings, seed=seed)
        model = MatrixFactorization(inference=inference, random_state=0).fit(train)
        low, high = model.predict_interval(test, 0.9)
        covered.append((test.rating >= low) & (test.rating <= high))
    assert 0.85 < np.concatenate(covered).mean() < 0.96


def test_levels_have_probabilities():
    ratings = stars(n=8000)
    train, test = apart(ratings)
    ordinal, naive = (
        MatrixFactorization(3, response="ordinal", random_state=0).fit(train),
        np.bincount(train.rating.astype(int)),
    )
    chances = ordinal.predict_proba(test)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    level = np.searchsorted(ordinal.levels_, test.rating)
    ours = np.log(chances[np.arange(len(test)), level]).mean()
    assert ours > np.log(naive[1:] / naive.sum())[level].mean() + 0.3
    assert (np.diff(ordinal.thresholds_) > 0).all()
    np.testing.assert_allclose(chances.mean(axis=0), np.bincount(level) / len(level), atol=0.03)


def test_what_is_known_of_items_helps_new_ones():
    rng = np.random.default_rng(0)
    n_users, n_items = 200, 120
    kind = rng.integers(0, 4, n_items)
    taste, user, item = rng.normal(0, 0.8, (n_users, 4)), *rng.integers(0, (n_users, n_items), (6000, 2)).T
    rating = 3 + taste[user, kind[item]] + rng.normal(0, 0.4, len(user))
    ratings = Ratings(user, item, rating, np.arange(n_users), np.arange(n_items))
    new = item >= 100
    table = {"item": np.arange(n_items), "kind": np.array(["comedy", "drama", "crime", "war"], object)[kind]}
    train, test = ratings.take(~new), ratings.take(new)
    told = MatrixFactorization(6, random_state=0).fit(train, item_features=table)
    plain = MatrixFactorization(6, random_state=0).fit(train)
    wrong = [np.sqrt(np.mean((model.predict(test) - test.rating) ** 2)) for model in (told, plain)]
    assert wrong[0] < 0.6 * wrong[1]
    assert wrong[0] < 0.55
    low, high = told.predict_interval(test, 0.9)
    assert 0.85 < np.mean((test.rating >= low) & (test.rating <= high)) < 0.95


def test_a_new_user_by_ratings_is_a_fitted_one():
    ratings = stars(n=5000)
    model = MatrixFactorization(3, noise="constant", random_state=0).fit(ratings)
    cells = slice(*model.seen_.indptr[7:9])
    known = dict(zip(model.items_[model.seen_.indices[cells]].tolist(), model.seen_.data[cells].tolist()))
    ours, theirs = model.recommend(known, 5), model.recommend(7, 5)
    assert ours.items.tolist() == theirs.items.tolist()
    np.testing.assert_allclose(ours.ratings, theirs.ratings, atol=1e-6)
    np.testing.assert_allclose(ours.spread, theirs.spread, rtol=1e-6)


def test_parts_of_an_explanation_add_up():
    model = MatrixFactorization(3, random_state=0).fit(stars(n=5000))
    told = model.explain(7, 3)
    raw = model._expect(np.array([7]), np.array([3]))[0]
    assert sum(told.parts.values()) == pytest.approx(raw)
    assert len(told.because) == 10
    assert all(item in model.items_ for item, _, _ in told.because)
    _, S = model._side("user")
    every = model.seen_.indptr[8] - model.seen_.indptr[7]
    assert every >= 10
    assert np.isfinite([adds for *_, adds in told.because]).all()
    assert len(S) == 151


def test_rankings_leave_out_what_was_seen_and_know_no_strangers():
    ratings = stars(n=3000)
    model = MatrixFactorization(3, random_state=0).fit(ratings)
    items, scores = model.recommend_all(5)
    assert items.shape == (150, 5)
    assert (np.diff(scores, axis=1) <= 0).all()
    for user in range(0, 150, 29):
        alone = model.recommend(user, 5)
        assert alone.items.tolist() == items[user].tolist()
        assert not set(alone.items) & set(model.seen_.indices[slice(*model.seen_.indptr[user : user + 2])])
    stranger = model.recommend("nobody", 5)
    assert stranger.cold
    assert len(stranger) == 5
    assert len(set(model.recommend(3, 5, diversity=0.7).items)) == 5
    near, alike = model.similar_items(0, 4)
    assert 0 not in near
    assert (np.diff(alike) <= 0).all()
    assert np.isfinite(model.predict((["nobody", 3], [4, "nothing"]))).all()


@pytest.mark.filterwarnings("ignore:Best performing")
def test_a_fit_goes_on_where_it_ended(tmp_path):
    ratings, settings = stars(), {"n_components": 3, "random_state": 0, "tol": 0.0}

    class Stop(Exception):
        pass

    def stop(progress):
        if progress.step == 4:
            raise Stop

    path = tmp_path / "kept"
    with pytest.raises(Stop):
        MatrixFactorization(max_iter=8, callback=stop, **settings).fit(ratings, checkpoint=path, checkpoint_every=0.0)
    resumed = MatrixFactorization(max_iter=8, **settings).fit(ratings, checkpoint=path)
    whole = MatrixFactorization(max_iter=8, **settings).fit(ratings)
    np.testing.assert_allclose(resumed.item_factors_, whole.item_factors_, atol=1e-9)
    warm = MatrixFactorization(max_iter=8, warm_start=True, **settings).fit(ratings)
    assert warm.fit(ratings).lower_bounds_[0] > whole.lower_bounds_[-1] - 1e-3


def test_a_device_gives_the_same():
    pytest.importorskip("torch")
    ratings = stars()
    for way in ({}, {"response": "ordinal"}, {"response": "implicit", "inference": "map", "regularization": 2.0}):
        settings = {"random_state": 0, "max_iter": 4, "tol": 0.0, **way}
        with pytest.warns(ConvergenceWarning):
            ours, other = (MatrixFactorization(3, device=device, **settings).fit(ratings) for device in (None, "cpu"))
        np.testing.assert_allclose(ours.item_factors_, other.item_factors_, atol=1e-9)
        np.testing.assert_allclose(ours.user_spread_, other.user_spread_, atol=1e-9)


# Bad input


def test_bad_input_is_told():
    ratings = stars(n=600)
    for settings, told in (
        ({"regularization": 2.0}, "regularization=2.0 cannot be given for inference='vb'"),
        ({"regularization": -1.0, "inference": "map"}, "regularization"),
        ({"inference": "mcmc"}, "inference='mcmc'"),
        ({"response": "poisson"}, "response='poisson'"),
        (
            {"n_components": 8, "inference": "map", "regularization": 0},
            r"user \d+ has \d+ ratings for a bias and 8 factors",
        ),
    ):
        with pytest.raises(ValueError, match=told):
            MatrixFactorization(**settings).fit(ratings)
    zero = Ratings([0, 1], [0, 1], [0.0, 1.0], np.arange(2), np.arange(2))
    with pytest.raises(ValueError, match="strengths of events above 0, but a rating is 0"):
        MatrixFactorization(response="implicit").fit(zero)
    same = Ratings([0, 1], [0, 1], [3.0, 3.0], np.arange(2), np.arange(2))
    with pytest.raises(ValueError, match="ratings have a single value"):
        MatrixFactorization(response="ordinal").fit(same)
    with pytest.raises(ValueError, match=r"features of the shape \(3, 2\) do not have a row for each of the 80 items"):
        MatrixFactorization().fit(ratings, item_features=np.zeros((3, 2)))


@pytest.mark.parametrize("users", [["a"] * 4, list("abcd"), list("aaab")], ids=["one user", "one rating each", "few"])
@pytest.mark.parametrize("values", [[3, 3, 3, 3], [1, 5, 2, 4]], ids=["constant", "varying"])
def test_small_tables_are_no_trouble(users, values):
    model = MatrixFactorization(random_state=0).fit({"user": users, "item": list("wxyz"), "rating": values})
    rating, std = model.predict((["a", "e"], ["w", "z"]), return_std=True)
    assert np.isfinite(rating).all()
    assert np.isfinite(std).all()
    assert (std > 0).all()
    assert (rating >= min(values)).all()
    assert (rating <= max(values)).all()


def test_what_is_wrong_with_ratings_is_told():
    """Constant ratings, impossible ones of a newcomer, several users at once."""
    with pytest.warns(UserWarning, match=r"all 3 ratings are 1, .*response='implicit'"):
        MatrixFactorization(2).fit({"user": list("aab"), "item": list("xyx")})
    model = MatrixFactorization(2, random_state=0).fit(stars(n=1500))
    for value in (float("nan"), 50.0):
        with pytest.raises(ValueError, match=f"the rating of 3 is {value:g}, but ratings lie from 1 to 5"):
            model.recommend({3: value})
    with pytest.raises(TypeError, match=r"recommend takes one user, not list; recommend_all\(n, users\) takes several"):
        model.recommend([1, 2])


def test_items_of_a_table_of_features_are_known():
    """Those without ratings are predicted by their features, and recommended."""
    ratings = stars(n=3000)
    kind = ratings.items % 3
    table = {"item": [*ratings.items, 1000], "kind": [*(f"k{k}" for k in kind), "k1"]}
    model = MatrixFactorization(3, random_state=0).fit(ratings, item_features=table)
    assert len(model.items_) == 81
    new, stranger = model.predict(([5, 5], [1000, 2000]))
    assert new != stranger


@pytest.mark.parametrize("size", [(150, 80, 1800), (400, 150, 6400)])
def test_few_ratings_a_user_do_not_lose_the_factors(size):
    """From small factors variational Bayes ends at biases alone."""
    ratings, _ = made(*size, noise=0.6, seed=1)
    train, test = apart(ratings)
    found = rmse(MatrixFactorization(random_state=0).fit(train), test)
    assert found < 0.93 * rmse(MatrixFactorization(0).fit(train), test)


# MovieLens


def movielens(name):
    place = Path(os.environ.get("TACIT_DATA", "")) / name
    if not (os.environ.get("TACIT_DATA") and place.is_dir()):
        pytest.skip(f"TACIT_DATA does not name a folder with {name}")
    data = load_movielens(place)
    users, user = np.unique(data.X[:, 0], return_inverse=True)
    items, item = np.unique(data.X[:, 1], return_inverse=True)
    return Ratings(user, item, data.target, users, items), data.more


def rmse(model, test):
    return float(np.sqrt(np.mean((model.predict(test) - test.rating) ** 2)))


def test_the_first_fold_of_movielens():
    ratings, more = movielens("movielens100k")
    train, test = ratings.take(more["fold"] != 1), ratings.take(more["fold"] == 1)
    model = MatrixFactorization(random_state=0).fit(train)
    low, high = model.predict_interval(test)
    assert rmse(model, test) < 0.911  # the bias model has .960
    assert 0.87 < np.mean((test.rating >= low) & (test.rating <= high)) < 0.93


@pytest.mark.full
def test_all_folds_of_movielens():
    ratings, more = movielens("movielens100k")
    found, covered, points = [], [], []
    for fold in range(1, 6):
        train, test = ratings.take(more["fold"] != fold), ratings.take(more["fold"] == fold)
        model = MatrixFactorization(random_state=0).fit(train)
        low, high = model.predict_interval(test)
        found.append(rmse(model, test))
        covered.append(np.mean((test.rating >= low) & (test.rating <= high)))
        points.append(rmse(MatrixFactorization(inference="map", random_state=0).fit(train), test))
    assert np.mean(found) <= 0.900
    assert 0.87 < np.mean(covered) < 0.93
    assert np.mean(points) <= 0.9165


@pytest.mark.full
def test_a_million_ratings_of_movielens():
    ratings, _ = movielens("movielens1m")
    fold = np.random.default_rng(0).permutation(len(ratings)) % 5
    model = MatrixFactorization(random_state=0).fit(ratings.take(fold != 0))
    assert rmse(model, ratings.take(fold == 0)) <= 0.845


def test_events_of_small_tables_are_told_apart():
    gains = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        group, kind = rng.integers(3, size=40), rng.integers(3, size=24)
        event = rng.random((40, 24)) < np.where(group[:, None] == kind, 0.65, 0.1)
        hidden = event & (rng.random(event.shape) < 0.25)
        user, item = np.nonzero(event & ~hidden)
        ratings = Ratings(user, item, np.ones(len(user)), np.arange(40), np.arange(24))
        model = MatrixFactorization(5, response="implicit", random_state=0).fit(ratings)
        scores = model._rows(np.arange(40))
        gains.append(scores[hidden].mean() - scores[~event].mean())
        # Far below 1: with a noise of 1 nothing would be learned.
        assert 0.02 < model.noise_variance_ < 0.5
    assert min(gains) > 0.1


def test_lists_can_be_of_some_items_and_of_less_popular_ones():
    ratings = stars(n=3000)
    model = MatrixFactorization(3, random_state=0).fit(ratings)
    some = [4, 7, 9, 11]
    told = model.recommend(3, 10, items=[*some, "nothing"], exclude_seen=False)
    assert sorted(told.items) == some
    with pytest.raises(
        ValueError, match="none of the 2 items to choose from was seen, such as 'x'; give ids of items_"
    ):
        model.recommend(3, items=["x", "y"])
    counts = model.item_counts_
    plain, rare = (model.recommend(3, 5, popularity=weight).items for weight in (0.0, 5.0))
    assert counts[rare].mean() < counts[plain].mean()
    for settings in ({"items": some}, {"popularity": 5.0}, {"items": some, "popularity": 0.3}):
        lists, ratings = model.recommend_all(6, [3, 7], **settings)
        for row, beside, user in zip(lists, ratings, (3, 7)):
            one = model.recommend(user, 6, **settings)
            np.testing.assert_array_equal(row[np.isfinite(beside)], one.items)
            np.testing.assert_allclose(beside[np.isfinite(beside)], one.ratings, atol=1e-5)
    for recommend in (model.recommend, lambda user, popularity: model.recommend_all(3, [user], popularity=popularity)):
        with pytest.raises(ValueError, match="popularity"):
            recommend(3, popularity=-1.0)
    assert repr(model.recommend(3, 20)).endswith(", … 20 in all)")
    assert len(repr(model.explain(7, 3))) < 250


def test_similar_users_like_the_same():
    rng = np.random.default_rng(0)
    group, kind = np.arange(60) % 2, np.arange(30) % 2
    rating = 3.0 + np.where(group[:, None] == kind, 1.5, -1.5) + 0.2 * rng.standard_normal((60, 30))
    user, item = np.nonzero(rng.random(rating.shape) < 0.5)
    ratings = Ratings(user, item, np.clip(rating[user, item].round(), 1, 5), np.arange(60), np.arange(30))
    types = TwoSidedMixture(2, 2, n_fits=1, random_state=0)
    for model in (MatrixFactorization(3, random_state=0), NeighbourhoodRecommender(), types):
        near, alike = model.fit(ratings).similar_users(0, 10)
        assert (group[near] == 0).mean() > 0.8
        assert (np.diff(alike) <= 0).all()
        with pytest.raises(ValueError, match="user 'x' was not seen; similar_users takes ids of users_"):
            model.similar_users("x")
