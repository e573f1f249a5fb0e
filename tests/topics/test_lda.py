"""Latent Dirichlet allocation: what it finds, what it says of documents, and that nothing depends on threads."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix, vstack
from sklearn.decomposition import LatentDirichletAllocation as Rival

import tacit
from tacit.engine import fit
from tacit.source import ArraySource, SparseSource
from tacit.topics import LatentDirichletAllocation, choose_topics

WAYS = [
    {"inference": "cvb0"},
    {"inference": "vb", "max_iter": 60},
    {"inference": "scvb0", "max_iter": 40, "batch_size": 50},
    {"inference": "vb", "learning_method": "online", "max_iter": 40, "batch_size": 50},
]


def corpus(n=400, length=80, n_topics=4, n_words=40, alpha=0.2, seed=0):
    """Documents of known topics: counts, β and θ."""
    rng = np.random.default_rng(seed)
    beta, theta = rng.dirichlet(np.full(n_words, 0.1), n_topics), rng.dirichlet(np.full(n_topics, alpha), n)
    return csr_matrix([rng.multinomial(length, p) for p in theta @ beta], dtype=float), beta, theta


def matched(found, truth):
    """Which found topic is which true one, and their largest total variation."""
    apart = 0.5 * np.abs(found[:, None] - truth[None]).sum(axis=2)
    ours, theirs = linear_sum_assignment(apart)
    return ours[np.argsort(theirs)], apart[ours, theirs].max()


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_known_topics_are_found(way):
    X, beta, theta = corpus()
    model = LatentDirichletAllocation(4, doc_topic_prior=0.2, random_state=2, **way).fit(X)
    order, apart = matched(model.topic_word_, beta)
    assert apart < 0.12
    assert np.abs(model.transform(X)[:, order] - theta).mean() < 0.05
    for values, total in ((model.topic_word_, 4.0), (model.topic_share_, 1.0), (model.word_share_, 1.0)):
        np.testing.assert_allclose(values.sum(), total)
    np.testing.assert_allclose(model.word_share_, np.asarray(X.sum(axis=0)).ravel() / X.sum(), atol=1e-2)
    np.testing.assert_allclose(model.topic_share_[order], theta.mean(axis=0), atol=0.05)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_threads_do_not_matter_and_seeds_repeat(way):
    X, *_ = corpus(3000, 60, 5, 60)
    source = [SparseSource(X, n_blocks=5, n_jobs=n_jobs) for n_jobs in (1, 3)]
    way = way | {"max_iter": 4, "batch_size": 1500}
    one, three = (LatentDirichletAllocation(5, random_state=1, **way).fit(each) for each in source)
    np.testing.assert_array_equal(one.components_, three.components_)
    again = LatentDirichletAllocation(5, random_state=1, **way).fit(SparseSource(X, n_blocks=5))
    np.testing.assert_array_equal(one.components_, again.components_)
    other = LatentDirichletAllocation(5, random_state=2, **way).fit(source[0])
    assert np.abs(other.components_ - one.components_).max() > 0.1


def test_blocks_do_not_matter_to_collapsed_passes():
    X, *_ = corpus(500)
    settings = {"max_iter": 8, "random_state": 0, "perp_tol": 0.0}
    one, many = (LatentDirichletAllocation(4, **settings).fit(SparseSource(X, n_blocks=n)) for n in (1, 7))
    np.testing.assert_allclose(one.components_, many.components_, rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(one.fit_.trace.objectives, many.fit_.trace.objectives, rtol=1e-5)


@pytest.mark.parametrize("priors", [{}, {"doc_topic_prior": "learn", "topic_word_prior": "learn"}], ids=str)
def test_the_bound_never_falls(priors):
    X, *_ = corpus(200)
    model = LatentDirichletAllocation(4, inference="vb", max_iter=40, random_state=0, **priors).fit(X)
    objectives = np.array(model.fit_.trace.objectives)
    assert (np.diff(objectives) > -1e-9 * np.abs(objectives[:-1])).all()
    assert np.isclose(np.exp(-objectives[-1] / X.sum()), model.bound_)


def test_the_bound_is_that_of_scikit_learn():
    X, *_ = corpus(60, 50)
    ours = LatentDirichletAllocation(3, mean_change_tol=1e-9, max_doc_update_iter=1000, random_state=0).fit(X)
    theirs = Rival(3, mean_change_tol=1e-9, max_doc_update_iter=1000, max_iter=1, random_state=0).fit(X)
    theirs.components_, theirs.exp_dirichlet_component_ = ours.components_, ours.exp_dirichlet_component_
    assert ours.score(X) == ours.lower_bound(X) == pytest.approx(theirs.score(X), rel=1e-9)
    assert ours.perplexity(X, sub_sampling=True) == pytest.approx(theirs.perplexity(X, sub_sampling=True), rel=1e-9)
    vb = LatentDirichletAllocation(
        3, mean_change_tol=1e-9, max_doc_update_iter=1000, inference="vb", random_state=0
    ).fit(X)
    theirs.components_, theirs.exp_dirichlet_component_ = vb.components_, vb.exp_dirichlet_component_
    np.testing.assert_allclose(vb.transform(X), theirs.transform(X), atol=1e-7)


def test_held_out_words_are_predicted_at_least_as_well_as_by_scikit_learn():
    X, *_ = corpus(600, 60, 6, 80, seed=3)
    train, test = X[:400], X[400:]
    ours = LatentDirichletAllocation(6, random_state=0).fit(train)
    theirs = Rival(6, random_state=0).fit(train)
    rival = LatentDirichletAllocation(6, random_state=0).fit(train)
    rival.components_ = theirs.components_
    assert ours.completion_perplexity(test) <= 1.01 * rival.completion_perplexity(test)
    assert ours.completion_perplexity(test) == ours.completion_perplexity(test)
    assert ours.completion_perplexity(test) != ours.completion_perplexity(test, random_state=1)


def test_priors_are_learned():
    X, _, _ = corpus(1500, 100, 4, 60, alpha=0.475)
    for inference in ("cvb0", "vb"):
        settings = {"inference": inference, "max_iter": 150, "random_state": 0}
        one = LatentDirichletAllocation(4, doc_topic_prior="learn-symmetric", topic_word_prior="learn", **settings).fit(
            X
        )
        assert one.doc_topic_prior_ == pytest.approx(0.475, rel=0.35)
        assert 0.06 < one.topic_word_prior_ < 0.25  # expected counts are smoother than counts, and make it larger
        each = LatentDirichletAllocation(4, doc_topic_prior="learn", **settings).fit(X)
        assert each.doc_topic_prior_.shape == (4,)


def test_an_asymmetric_prior_is_found():
    rng = np.random.default_rng(0)
    beta, alpha = rng.dirichlet(np.full(50, 0.05), 3), np.array([2.0, 0.5, 0.1])
    theta = rng.dirichlet(alpha, 1500)
    X = csr_matrix([rng.multinomial(80, p) for p in theta @ beta], dtype=float)
    model = LatentDirichletAllocation(3, doc_topic_prior="learn", random_state=0, max_iter=200, perp_tol=0.0).fit(X)
    order, _ = matched(model.topic_word_, beta)
    np.testing.assert_allclose(np.log(model.doc_topic_prior_[order] / alpha), 0.0, atol=0.8)
    assert (np.diff(model.doc_topic_prior_[order]) < 0).all()


def test_seeds_guide_topics():
    X, beta, _ = corpus()
    words = [f"word{j}" for j in range(40)]
    import pandas as pd

    table = pd.DataFrame(X.toarray(), columns=words)
    seeds = {topic: [words[j] for j in beta[3 - topic].argsort()[-4:]] for topic in range(4)}
    for inference in ("cvb0", "vb"):
        settings = {"inference": inference, "max_iter": 50, "random_state": 5}
        model = LatentDirichletAllocation(4, seeds=seeds, seed_strength=200.0, **settings).fit(table)
        order, _ = matched(model.topic_word_, beta)
        assert order.tolist() == [3, 2, 1, 0]
        assert model.topic_word_prior_.shape == (4, 40)
    with pytest.raises(ValueError, match=r"seed words that do not occur: 'nosuch', 'neither'; check their spelling\."):
        LatentDirichletAllocation(4, seeds={0: ["nosuch", "word1"], 1: ["neither"]}).fit(table)
    with pytest.raises(ValueError, match="seeds name topic 4; topics are numbered 0 to 3"):
        LatentDirichletAllocation(4, seeds={4: ["word1"]}).fit(table)
    with pytest.raises(ValueError, match="columns have no names, so give their numbers"):
        LatentDirichletAllocation(4, seeds={0: ["word1"]}).fit(X)


@pytest.mark.parametrize("inference", ["cvb0", "vb"])
def test_words_are_assigned_to_topics(inference):
    X, *_ = corpus()
    model = LatentDirichletAllocation(4, inference=inference, max_iter=60, random_state=0).fit(X)
    likely, shares = model.assign(X[:5]), model.assign(X[:5], probabilities=True)
    theta = model.transform(X[:5], normalize=False)
    for d in range(5):
        assert len(likely[d]) == X[d].nnz
        np.testing.assert_allclose(shares[d].sum(axis=1), 1.0)
        np.testing.assert_array_equal(likely[d], shares[d].argmax(axis=1))
        counts = X[d].data @ shares[d]
        np.testing.assert_allclose(counts + 0.25, theta[d], atol=1.0)


@pytest.mark.parametrize("length", [1, 5, 20, 100])
def test_intervals_hold_proportions_as_often_as_they_say(length):
    X, beta, theta = corpus(500, length, 3, 30, alpha=0.5, seed=length)
    model = LatentDirichletAllocation(3, doc_topic_prior=0.5, max_iter=1, random_state=0).fit(X)
    model.components_ = 1e7 * beta + 1e-6  # the topics are known
    for level in (0.5, 0.9):
        lower, upper = model.interval(X, level)
        held = ((lower <= theta) & (theta <= upper)).mean()
        assert abs(held - level) < 0.04
    mean, std = model.transform(X, return_std=True)
    assert np.sqrt(np.mean((mean - theta) ** 2)) == pytest.approx(np.sqrt(np.mean(std**2)), rel=0.12)
    np.testing.assert_array_equal(std, model.transform(X, return_std=True)[1])
    np.testing.assert_array_equal(std[100:120], model._draws(_shifted(X, 100), model._params(), 0.9, None)[0][:20])


def _shifted(X, first):
    """The documents from one on, numbered as among all."""
    source = SparseSource(X[first:])
    blocks = [tacit.source.Block(b.X, b.weight, b.labels, b.patterns, first=b.first + first) for b in source]
    source._blocks = blocks
    return source


def test_partial_fit_goes_on_where_a_saved_model_was(tmp_path):
    X, *_ = corpus(1000)
    model = LatentDirichletAllocation(4, total_samples=1000, random_state=0, inference="scvb0")
    for _ in range(3):
        model.partial_fit(X[:500])
    tacit.save(model.fit(X), tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    assert again.n_batch_iter_ == model.n_batch_iter_
    np.testing.assert_array_equal(again.partial_fit(X[500:]).components_, model.partial_fit(X[500:]).components_)


def test_the_number_of_topics_is_chosen_by_completion():
    X, *_ = corpus(300, 60, 4, 60)
    choice = choose_topics(LatentDirichletAllocation(doc_topic_prior=0.2, random_state=0), X, [1, 2, 4, 12])
    assert choice.best == 4
    assert choice.simplest in (4,)
    assert choice.perplexity.shape == (4, 3)
    assert choice.table["n_topics"] == [1, 2, 4, 12]
    with pytest.raises(ValueError, match="n_folds=400 exceeds the 300 documents; use at most 300"):
        choose_topics(LatentDirichletAllocation(), X, [2], n_folds=400)
    with pytest.raises(ValueError, match="n_topics names no number of topics"):
        choose_topics(LatentDirichletAllocation(), X, [])


def test_the_choice_is_drawn():
    pytest.importorskip("matplotlib")
    X, *_ = corpus(60, 30, 2, 20)
    axes = choose_topics(LatentDirichletAllocation(random_state=0, max_iter=20), X, [3, 2]).plot()
    assert axes.get_xlabel() == "number of topics"


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_progress_and_interruption(way):
    X, *_ = corpus(120)
    told = []

    def stop(progress):
        told.append(progress)
        if progress.step == 3 and not progress.done:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted by the user after 3 steps; what was learned so far is kept"):
        model = LatentDirichletAllocation(4, callback=stop, random_state=0, **way).fit(X)
    assert [progress.step for progress in told] == [1, 2, 3, 3]
    assert model.fit_.interrupted
    assert np.isfinite(model.components_).all()


@pytest.mark.parametrize("inference", ["cvb0", "vb"])
def test_a_killed_fit_goes_on(inference, tmp_path):
    X, *_ = corpus(300)
    settings = {"inference": inference, "max_iter": 30, "random_state": 0, "perp_tol": 0.0}
    whole = LatentDirichletAllocation(4, **settings).fit(X)

    def stop(progress):
        if progress.step == 12 and not progress.done:
            raise KeyboardInterrupt

    path = tmp_path / "fit.checkpoint"
    with pytest.warns(UserWarning, match="interrupted"):
        LatentDirichletAllocation(4, callback=stop, **settings).fit(X, checkpoint=path, checkpoint_every=0.0)
    assert path.exists()
    again = LatentDirichletAllocation(4, **settings).fit(X, checkpoint=path)
    assert not path.exists()
    if inference == "vb":
        np.testing.assert_allclose(again.components_, whole.components_, rtol=1e-9)
    else:  # γ of pairs is made again from the documents' counts
        np.testing.assert_allclose(again.topic_word_, whole.topic_word_, atol=5e-3)
        np.testing.assert_allclose(again.completion_perplexity(X), whole.completion_perplexity(X), rtol=1e-3)


def test_fractional_counts_and_repeated_documents():
    X, *_ = corpus(200)
    rng = np.random.default_rng(0)
    half = X.copy()
    half.data = half.data * rng.uniform(0.2, 1.4, len(half.data))
    model = LatentDirichletAllocation(4, random_state=0).fit(half)
    lower, upper = model.interval(half[:5])
    assert np.isfinite(model.completion_perplexity(half))
    assert (lower <= upper).all()
    twice, double = vstack([X, X]).tocsr(), SparseSource(X, weight=np.full(200, 2.0))
    estimator = LatentDirichletAllocation(4, inference="vb", random_state=0)
    estimator.n_features_in_ = 40
    model, sample = estimator._model(), SparseSource(X).sample(200, np.random.default_rng(0))
    start = model.init(sample, np.random.default_rng(0))
    one, two = (fit(model, source, start, max_iter=5, tol=0.0).params for source in (SparseSource(twice), double))
    np.testing.assert_allclose(one.word, two.word, rtol=1e-6)


def test_dense_rows_and_sparse_ones_are_the_same():
    X, *_ = corpus(100)
    dense = LatentDirichletAllocation(4, random_state=0, max_iter=5).fit(X.toarray())
    sparse = LatentDirichletAllocation(4, random_state=0, max_iter=5).fit(X)
    blocks = LatentDirichletAllocation(4, random_state=0, max_iter=5).fit(ArraySource(X.toarray()))
    np.testing.assert_array_equal(dense.components_, sparse.components_)
    np.testing.assert_allclose(dense.components_, blocks.components_, rtol=1e-5)
    np.testing.assert_allclose(dense.transform(X), blocks.transform(ArraySource(X.toarray())), atol=1e-5)


@pytest.mark.parametrize("inference", ["cvb0", "vb", "scvb0"])
def test_seeded_topics_are_about_their_seeds_whatever_the_start(inference):
    rng = np.random.default_rng(0)
    themes = [np.arange(8 * k, 8 * k + 8) for k in range(4)]
    X = np.zeros((240, 32))
    for row in range(240):
        np.add.at(X[row], rng.choice(themes[row % 4], 8), 1)
    for seed in range(4):
        model = LatentDirichletAllocation(4, seeds={0: [1], 2: [17, 18]}, inference=inference, random_state=seed).fit(X)
        assert set(np.argsort(-model.topic_word_[0])[:8]) == set(themes[0])
        assert set(np.argsort(-model.topic_word_[2])[:8]) == set(themes[2])
    with pytest.raises(TypeError, match="seeds must be a dict of topics to words"):
        LatentDirichletAllocation(4, seeds=[[1]]).fit(X)


def test_checkpoints_keep_batch_fits_only(tmp_path):
    with pytest.raises(ValueError, match="checkpoint keeps fits in batches of all documents"):
        LatentDirichletAllocation(2, learning_method="online").fit(np.eye(4), checkpoint=tmp_path / "state")


def test_topics_that_memory_cannot_hold_are_refused():
    X = csr_matrix((np.ones(20), (np.arange(20), np.arange(20))), shape=(20, 5000))
    with pytest.raises(
        ValueError, match=r"n_components=1000000000 takes 3\.2e\+05 GB, but this machine has .* use at most \d+\."
    ):
        LatentDirichletAllocation(10**9).fit(X)
    with pytest.raises(ValueError, match=r"n_components=1000000000 takes 3\.2e\+05 GB"):
        LatentDirichletAllocation(10**9).partial_fit(X)
