"""Measures: hand-worked examples, their definitions as integrals, and scikit-learn's."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.metrics import average_precision_score, ndcg_score

from tacit.recommend import metrics


def test_lists_worked_by_hand():
    # a, b and d are relevant of a list of a, x, b; the second user's only item is missed; the third has a short list.
    hits, n = metrics.hits_of([["a", "x", "b"], ["y", "z", "x"], ["q"]], [{"a", "b", "d", "e"}, ["w"], ["q", "r"]])
    assert hits.tolist() == [[True, False, True], [False] * 3, [True, False, False]]
    assert n.tolist() == [4, 1, 2]
    np.testing.assert_allclose(metrics.precision(hits), [2 / 3, 0, 1 / 3])
    np.testing.assert_allclose(metrics.recall(hits, n), [2 / 4, 0, 1 / 2])
    np.testing.assert_allclose(metrics.average_precision(hits, n), [(1 + 2 / 3) / 3, 0, 1 / 2])
    worth = 1 / np.log2([2, 3, 4])
    np.testing.assert_allclose(
        metrics.ndcg(hits, n), [(worth[0] + worth[2]) / worth.sum(), 0, worth[0] / worth[:2].sum()]
    )
    np.testing.assert_allclose(metrics.reciprocal_rank(hits), [1, 0, 1])
    np.testing.assert_allclose(metrics.hit_rate(hits), [1, 0, 1])
    assert np.isnan(metrics.recall(hits[:1], np.array([0]))).all()
    perfect = np.array([[True, True, False]])
    assert metrics.average_precision(perfect, np.array([2])) == metrics.ndcg(perfect, np.array([2])) == 1


def test_lists_as_scikit_learn_has_them(rng):
    for _ in range(30):
        truth, score = rng.random(25) < 0.3, rng.random(25)
        truth[0] = True
        order = np.argsort(-score)
        for k in (1, 5, 25):
            hits, n = truth[order][None, :k], np.array([truth.sum()])
            assert metrics.ndcg(hits, n)[0] == pytest.approx(ndcg_score(truth[None].astype(int), score[None], k=k))
        # Over the whole list, nothing is cut, and the convention is the same.
        assert metrics.average_precision(truth[order][None], n)[0] == pytest.approx(
            average_precision_score(truth, score)
        )


def test_scores_are_their_integrals(rng):
    for mean, std, rating in rng.normal(3, 1, (5, 3)):
        law = norm(mean, abs(std))
        below, _ = quad(lambda x, law=law: law.cdf(x) ** 2, mean - 12 * abs(std) - 5, rating, limit=200)
        above, _ = quad(lambda x, law=law: law.sf(x) ** 2, rating, mean + 12 * abs(std) + 5, limit=200)
        assert metrics.crps([rating], [mean], [abs(std)]) == pytest.approx(below + above, rel=1e-6)
    assert metrics.crps([3.0], [2.5], [0.0]) == 0.5
    levels, chances = np.array([1.0, 2.0, 4.0]), np.array([[0.2, 0.5, 0.3]])
    # F is .2 on [1, 2), .7 on [2, 4): against a step at 2, and at 3.
    assert metrics.discrete_crps([2.0], chances, levels) == pytest.approx(0.2**2 + 2 * 0.3**2)
    assert metrics.discrete_crps([3.0], chances, levels) == pytest.approx(0.2**2 + 0.7**2 + 0.3**2)
    assert metrics.log_score([2.0, 4.0], np.repeat(chances, 2, 0), levels) == pytest.approx(np.log([0.5, 0.3]).mean())
    assert metrics.gaussian_log_score([1.0], [0.5], [2.0]) == pytest.approx(norm.logpdf(1, 0.5, 2))


def test_errors_and_intervals():
    assert metrics.rmse([1, 2, 3], [1, 2, 5]) == pytest.approx(np.sqrt(4 / 3))
    assert metrics.mae([1, 2, 3], [1, 2, 5]) == pytest.approx(2 / 3)
    assert metrics.interval_coverage([1, 2, 3], [1, 2.5, 0], [2, 3, 3]) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match=r"differ in length: \[2, 1\]"):
        metrics.rmse([1, 2], [1])
    with pytest.raises(ValueError, match="no ratings to judge by"):
        metrics.mae([], [])
    with pytest.raises(ValueError, match=r"the rating 3 is none of the levels \[1.0, 2.0\]"):
        metrics.log_score([3.0], [[0.5, 0.5]], [1, 2])
    with pytest.raises(ValueError, match="1 lists of recommendations for 2 users"):
        metrics.hits_of([[1]], [[1], [2]])


def test_what_is_recommended_worked_by_hand():
    from scipy.sparse import csr_matrix

    items, popularity = np.array([[0, 1], [0, -1]]), np.array([8, 2, 0, 4])
    assert metrics.catalogue_coverage(items, 4) == 0.5
    assert metrics.novelty(items, popularity, 8) == pytest.approx((0 + 2 + 0) / 3)
    assert metrics.novelty(np.array([[2]]), popularity, 8) == 3  # as if one had rated it
    rated = csr_matrix([[0, 1, 0, 1], [0, 0, 0, 1]])
    assert metrics.popularity_lift(items, popularity, rated) == pytest.approx((5 + 8) / (3 + 4) - 1)
    assert metrics.gini(items, 4) == pytest.approx((0 * -3 + 0 * -1 + 1 * 1 + 2 * 3) / (4 * 3))
    assert metrics.gini(np.array([[0, 1, 2, 3]]), 4) == 0
    assert np.isnan(metrics.gini(np.array([[-1]]), 4))
