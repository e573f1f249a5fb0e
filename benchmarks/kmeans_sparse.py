"""k-means of sparse rows against scikit-learn, from the same start: texts that share most of their words."""

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans as Rival
from sklearn.cluster import MiniBatchKMeans as RivalOfBatches
from sklearn.feature_extraction.text import TfidfTransformer

from tacit.cluster import KMeans, MiniBatchKMeans

from .harness import Job
from .kmeans import equal

TOPICS = 80


def texts(n, d, words, dtype=np.float64):
    """TF-IDF of random texts: half of the words are common ones, half those of a topic; both by Zipf's law."""
    rng = np.random.default_rng(0)
    often = np.cumsum(1.0 / np.arange(10, d + 10))
    word = np.searchsorted(often, rng.random((n, words)) * often[-1])
    names = np.array([rng.permutation(d) for _ in range(TOPICS)])
    topical = names[rng.integers(TOPICS, size=n)[:, None], word]
    word = np.where(rng.random(word.shape) < 0.5, topical, word)
    starts = np.arange(0, n * words + 1, words, dtype=np.int32)
    counts = sparse.csr_matrix((np.ones(n * words), word.ravel().astype(np.int32), starts), shape=(n, d))
    counts.sum_duplicates()
    return TfidfTransformer().fit_transform(counts).astype(dtype)


def run(make, k, max_iter, X, **settings):
    """Fit from random rows, the same for everyone."""
    k = min(k, X.shape[0])
    start = X[np.random.default_rng(1).choice(X.shape[0], k, replace=False)].toarray()
    return make(k, init=start, n_init=1, max_iter=max_iter, **settings).fit(X)


def similar(ours, theirs):
    """Losses of random batches differ a little."""
    ratio = ours.inertia_ / theirs.inertia_
    assert ratio < 1.01, f"our loss is {ratio:.3f} of theirs"
    return f"loss {ratio:.3f} of theirs after {ours.n_steps_} and {theirs.n_steps_} batches"


def in_double(k, max_iter, X):
    """Ours on the same rows in double precision."""
    return run(KMeans, k, max_iter, X.astype(np.float64))


SIZES = 50_000, 20_000, 60
BATCHES = {"batch_size": 2000, "random_state": 0, "max_no_improvement": None}

JOBS = [
    Job(
        "sparse k-means n=50k d=20k K=50, 60 words", "scikit-learn lloyd", partial(texts, *SIZES),
        partial(run, KMeans, 50, 300), partial(run, Rival, 50, 300), equal, 1.5, 5,
    ),
    Job(
        "sparse k-means n=50k d=20k K=300, 60 words", "scikit-learn lloyd", partial(texts, *SIZES),
        partial(run, KMeans, 300, 5), partial(run, Rival, 300, 5), equal, 1.5, 3,
    ),
    Job(
        "sparse k-means n=50k d=20k K=50 float32, 60 words", "ours in float64", partial(texts, *SIZES, np.float32),
        partial(run, KMeans, 50, 300), partial(in_double, 50, 300), partial(equal, rtol=1e-5), 1.0, 5,
    ),
    Job(
        "sparse mini-batch k-means n=50k d=20k K=50", "scikit-learn", partial(texts, *SIZES),
        partial(run, MiniBatchKMeans, 50, 2, **BATCHES), partial(run, RivalOfBatches, 50, 2, **BATCHES), similar, 1.0, 3,
    ),
]  # fmt: skip
