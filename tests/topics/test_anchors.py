"""Anchor words and topics: exact where topics are separable, near with noise, clear about what cannot be."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import tacit
from tacit.topics import AnchorTopics
from tacit.topics.cooccurrence import Cooccurrence
from tacit.topics.recovery import recover


def separable(n_topics=4, n_words=60, seed=0):
    """Topics of which each has one word of its own, and how often two topics meet."""
    rng = np.random.default_rng(seed)
    beta = rng.dirichlet(np.full(n_words, 0.3), n_topics)
    beta[:, :n_topics] = np.diag(rng.uniform(0.02, 0.05, n_topics))
    beta /= beta.sum(axis=1, keepdims=True)
    theta = rng.dirichlet(np.full(n_topics, 0.2), 4000)
    return beta, theta


def matched(found, truth):
    """The rows of `found` in the order of those of `truth` that they are nearest to."""
    from scipy.optimize import linear_sum_assignment

    cost = np.abs(found[:, None] - truth[None]).sum(axis=2)
    return found[linear_sum_assignment(cost.T)[1]]


@pytest.mark.parametrize("method", ["greedy", "lp"])
@pytest.mark.parametrize("recovery", ["l2", "kl"])
def test_separable_topics_are_found_exactly(method, recovery):
    beta, theta = separable()
    Q = beta.T @ (theta.T @ theta / len(theta)) @ beta
    model = AnchorTopics(4, method=method, recovery=recovery, tol=1e-12, max_iter=200_000).fit_cooccurrence(Q)
    assert sorted(model.anchors_) == [0, 1, 2, 3]
    assert np.abs(matched(model.topic_word_, beta) - beta).max() < 1e-6
    truth = theta.T @ theta / len(theta)
    order = [int(np.argmax(model.topic_word_[:, k])) for k in range(4)]
    np.testing.assert_allclose(model.topic_correlation_[np.ix_(order, order)], truth, atol=1e-5)
    np.testing.assert_allclose(model.topic_share_[order], theta.mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_many_topics_and_words(seed):
    beta, theta = separable(12, 300, seed)
    model = AnchorTopics(12).fit_cooccurrence(beta.T @ (theta.T @ theta / len(theta)) @ beta)
    assert sorted(model.anchors_) == list(range(12))
    assert np.abs(matched(model.topic_word_, beta) - beta).max() < 1e-6


def test_sampled_documents_come_near_and_nearer():
    beta, theta = separable(3, 40)
    rng = np.random.default_rng(1)
    errors = []
    for n in (400, 4000):
        X = np.array([rng.multinomial(200, row @ beta) for row in theta[:n]])
        errors.append(np.abs(matched(AnchorTopics(3).fit(X).topic_word_, beta) - beta).sum(axis=1).mean())
    assert errors[1] < errors[0]
    assert errors[1] < 0.1


def test_the_estimate_of_pairs_is_unbiased_for_short_documents():
    beta, theta = separable(3, 12)
    rng = np.random.default_rng(2)
    rows = theta[rng.integers(len(theta), size=100_000)]
    X = rng.multinomial(3, rows @ beta)
    pairs = Cooccurrence.of_counts(csr_matrix(X.astype(float)))
    found = pairs.rows(np.arange(12)) * pairs.share[:, None]
    truth = beta.T @ (theta.T @ theta / len(theta)) @ beta
    np.testing.assert_allclose(found, truth, atol=5 * np.sqrt(truth.max() / 100_000))


def test_products_never_make_the_matrix_and_are_those_of_it():
    X = csr_matrix(np.random.default_rng(0).poisson(0.7, size=(50, 20)).astype(float))
    pairs = Cooccurrence.of_counts(X)
    length = np.asarray(X.sum(axis=1)).ravel()
    dense = sum((np.outer(n, n) - np.diag(n)) / (total - 1) for n, total in zip(X.toarray(), length) if total > 1)
    dense /= dense.sum()
    np.testing.assert_allclose(pairs.share, dense.sum(axis=1))
    np.testing.assert_allclose(pairs.share, np.asarray(X[length > 1].sum(axis=0)).ravel() / length[length > 1].sum())
    rows = dense / dense.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(pairs.rows(np.arange(20)), rows)
    v = np.random.default_rng(1).normal(size=(20, 3))
    np.testing.assert_allclose(pairs.dot(v), rows @ v)
    np.testing.assert_allclose(pairs.squares(np.arange(20)), (rows**2).sum(axis=1))


def test_least_squares_on_the_simplex_is_the_optimum():
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    X = csr_matrix(rng.poisson(0.7, size=(60, 15)).astype(float))
    pairs, anchors = Cooccurrence.of_counts(X), np.array([1, 4, 9])
    rows, mixed = pairs.rows(np.arange(15)), recover(pairs, anchors, "l2", 1e-9, 100)

    def loss(c, i):
        return ((rows[i] - c @ rows[anchors]) ** 2).sum()

    for i in (0, 7, 12):
        told = {"bounds": [(0, 1)] * 3, "constraints": {"type": "eq", "fun": lambda c: c.sum() - 1}, "method": "SLSQP"}
        best = minimize(loss, np.full(3, 1 / 3), args=(i,), options={"ftol": 1e-14}, **told)
        assert loss(mixed[i], i) <= best.fun + 1e-9


def test_proportions_of_documents_are_found():
    beta, theta = separable(3, 40)
    model = AnchorTopics(3, doc_topic_prior=0).fit_cooccurrence(beta.T @ (theta.T @ theta / len(theta)) @ beta)
    found = model.transform(1e6 * theta[:50] @ beta)
    order = [int(np.argmax(model.topic_word_[:, k])) for k in range(3)]
    np.testing.assert_allclose(found[:, order], theta[:50], atol=1e-3)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_a_document_without_words_has_the_shares_of_all():
    model = AnchorTopics(2).fit(np.random.default_rng(0).poisson(1.0, size=(30, 8)))
    np.testing.assert_allclose(model.transform(np.zeros((1, 8)))[0], model.topic_share_)


def test_a_word_that_never_occurs_is_in_no_topic():
    X = np.random.default_rng(0).poisson(1.0, size=(30, 8))
    X[:, 3] = 0
    model = AnchorTopics(2).fit(X)
    assert model.topic_word_[:, 3].tolist() == [0.0, 0.0]
    assert model.word_share_[3] == 0.0


def test_rare_words_are_no_anchors():
    beta, theta = separable(3, 40)
    X = np.random.default_rng(0).multinomial(60, theta[:300] @ beta)
    rare = np.zeros((300, 1), dtype=int)
    rare[:2] = 60
    model = AnchorTopics(3).fit(np.hstack([X, rare]))
    assert 40 not in model.anchors_
    assert 40 in AnchorTopics(3, min_documents=1).fit(np.hstack([X, rare])).anchors_


def test_a_model_file_gives_the_same_proportions(tmp_path):
    texts = ["sun moon sun moon star"] * 9 + ["fish sea fish sea ship"] * 9 + ["oak elm oak elm fir"] * 9
    model = AnchorTopics(3).fit(texts)
    tacit.save(model, tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    new = ["The moon's star", "fish", ""]
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    assert again.anchor_words_ == model.anchor_words_


def test_bad_input():
    X = np.random.default_rng(0).poisson(1.0, size=(30, 8)).astype(float)
    with pytest.raises(ValueError, match="n_components=9 exceeds the 8 words that may be anchors; use at most 8"):
        AnchorTopics(9).fit(X)
    with pytest.raises(ValueError, match="X holds -1; give how often"):
        AnchorTopics(2).fit(-X.clip(0, 1))
    with pytest.raises(ValueError, match="no document has two words"):
        AnchorTopics(2).fit(np.eye(5))
    with pytest.raises(ValueError, match="only 1 anchor words stand apart; use n_components=1"):
        AnchorTopics(2).fit_cooccurrence(np.ones((4, 4)))
    with pytest.raises(ValueError, match="method='lp' is for up to 500 words, and 600 may be anchors"):
        AnchorTopics(2, method="lp", min_documents=0).fit(np.ones((5, 600)))
    with pytest.raises(ValueError, match="Q is not symmetric"):
        AnchorTopics(2).fit_cooccurrence(np.triu(np.ones((4, 4))))
    with pytest.raises(ValueError, match="recovery='l1' is unknown"):
        AnchorTopics(2, recovery="l1").fit(X)
