"""``python -m benchmarks.lda [--seeds N] [RIVAL …]``: topics of the 20 newsgroups to equal held-out perplexity, K = 50.

Everyone's topics are measured by the same code: document completion on the test documents. A rival runs as long as it says here;
ours is the first of a few numbers of passes whose perplexity is no higher. Runs are interleaved, seed by seed. The newsgroups are
read from the folder that ``TACIT_DATA`` names; tomotopy and gensim are needed for their rows.
"""

import argparse
import os
import statistics
import time

import numpy as np

from tacit.datasets import load_newsgroups
from tacit.kernels import kernel
from tacit.source import SparseSource
from tacit.topics import LatentDirichletAllocation
from tacit.topics.documents import halves

K, CORES = 50, 2
PASSES = (3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20, 22, 24, 26, 28, 30, 40, 60, 80, 120)


def sklearn_batch(X, seed, passes=10):
    """scikit-learn's batch variational Bayes at its default number of passes."""
    from sklearn.decomposition import LatentDirichletAllocation as Rival

    rival = Rival(K, max_iter=passes, n_jobs=CORES, random_state=seed).fit(X)
    return rival.components_ / rival.components_.sum(axis=1, keepdims=True), 1.0 / K


def tomotopy(X, seed, passes=100):
    """Collapsed Gibbs sampling, the same priors."""
    import tomotopy as tp

    model = tp.LDAModel(k=K, alpha=1.0 / K, eta=1.0 / K, seed=seed)
    model.optim_interval = 0
    for a, b in zip(X.indptr, X.indptr[1:]):
        model.add_doc(np.repeat(X.indices[a:b], X.data[a:b].astype(int)).astype(str).tolist())
    start = time.perf_counter()
    model.train(passes, workers=CORES)  # what is timed: its documents are made of Python objects first
    seconds = time.perf_counter() - start
    known = np.array([int(word) for word in model.used_vocabs])
    # Words that no document holds have the prior's share, as everyone else's do.
    eta, mass = 1.0 / K, np.asarray(model.get_count_by_topics(), dtype=float)
    topics = np.tile((eta / (mass + eta * len(known)))[:, None], (1, X.shape[1]))
    for k in range(K):
        topics[k, known] = model.get_topic_word_dist(k)
    return topics / topics.sum(axis=1, keepdims=True), 1.0 / K, seconds


def gensim(X, seed, passes=2):
    """Online variational Bayes on two workers, the same priors."""
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaMulticore

    corpus = Sparse2Corpus(X, documents_columns=False)
    names = {j: str(j) for j in range(X.shape[1])}
    settings = {"alpha": "symmetric", "eta": 1.0 / K, "passes": passes, "workers": CORES, "random_state": seed}
    return LdaMulticore(corpus, K, names, **settings).get_topics(), 1.0 / K


RIVALS = {"scikit-learn": (sklearn_batch, 20.0), "tomotopy": (tomotopy, 2.0), "gensim": (gensim, 1.0)}


def timed(function, *arguments):
    """Seconds and the result."""
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def perplexity(topics, alpha, source):
    """Document completion, by the same code for everyone."""
    share, alpha = np.ascontiguousarray(np.asarray(topics, dtype=np.float64).T), np.full(K, alpha)
    total, words = np.sum([predicted(share, alpha, block) for block in source], axis=0)
    return float(np.exp(-total / words))


def predicted(share, alpha, block):
    """Log probability, and number, of the words of the second halves of documents; proportions by collapsed updates."""
    first, second = halves(0, block)
    counts, _ = kernel("fold_in", "sparse")(first.X, {}, block.weight, share, alpha, 100, 1e-3, np.zeros((0, K)))
    theta = counts + alpha
    theta /= theta.sum(axis=1, keepdims=True)
    document = np.repeat(np.arange(len(second.X)), np.diff(second.X.indptr))
    told = np.einsum("pk,pk->p", theta[document], share[second.X.indices])
    return second.X.data @ np.log(np.maximum(told, 1e-300)), second.X.data.sum()


def ours(X, seed, passes):
    """Collapsed variational Bayes."""
    model = LatentDirichletAllocation(K, max_iter=passes, perp_tol=0.0, n_jobs=CORES, random_state=seed).fit(X)
    return model.topic_word_, 1.0 / K


def until(X, seed, source, target):
    """Seconds, passes and perplexity of the shortest of our runs that comes to the target."""
    for passes in PASSES:
        seconds, found = timed(ours, X, seed, passes)
        reached = perplexity(*found, source)
        if reached <= target:
            return seconds, passes, reached
    raise AssertionError(f"ours came to {reached:.1f}, not to {target:.1f}")


def main():
    """Print one line per rival and seed, and a summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rivals", nargs="*", default=list(RIVALS))
    parser.add_argument("--seeds", type=int, default=5)
    chosen = parser.parse_args()
    folder = os.path.join(os.environ["TACIT_DATA"], "newsgroups20")
    X, held_out = load_newsgroups(folder).X, SparseSource(load_newsgroups(folder, "test").X)
    ours(X[:200], 0, 2)  # compiles
    ratios = {name: [] for name in chosen.rivals}
    print(
        "| rival | seed | rival (s) | ours (s) | ratio | perplexity, rival / ours | our passes |\n|---|---|---|---|---|---|---|"
    )
    for seed in range(chosen.seeds):
        for name in chosen.rivals:
            theirs, found = timed(RIVALS[name][0], X, seed)
            theirs = found[2] if len(found) > 2 else theirs
            target = perplexity(*found[:2], held_out)
            mine, passes, reached = until(X, seed, held_out, target)
            ratios[name].append(theirs / mine)
            row = f"{theirs:.1f} | {mine:.2f} | {theirs / mine:.1f} × | {target:.0f} / {reached:.0f} | {passes}"
            print(f"| {name} | {seed} | {row} |", flush=True)
    for name, values in ratios.items():
        print(f"{name}: median {statistics.median(values):.1f} ×, target {RIVALS[name][1]:g} ×")


if __name__ == "__main__":
    main()
