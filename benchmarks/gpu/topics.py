"""``python -m benchmarks.gpu.topics``: passes over documents of topics, on a GPU and on the CPU beside it."""

import time
from functools import partial

import numpy as np
import torch

from tacit.source import SparseSource
from tacit.source.torch import TorchSource
from tacit.topics import LatentDirichletAllocation

from ..kmeans_sparse import texts

SIZES = [(20_000, 10_000, 100, 50), (50_000, 10_000, 100, 200)]
REPEATS = 5


def timed(model, params, source):
    """Median seconds of a pass, and its statistics."""
    source.remember(model.memory)
    stats, seconds = source.sum(partial(model.e_step, params)), []
    for _ in range(REPEATS):
        start = time.perf_counter()
        stats = source.sum(partial(model.e_step, params))
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)), stats


def main():
    """Print one line per size and way to learn."""
    print("| documents | words | K | inference | GPU (ms) | CPU (ms) | ratio | error: counts (vb), loglik (cvb0) |")
    print("|---|---|---|---|---|---|---|---|")
    for n, d, words, n_topics in SIZES:
        X = texts(n, d, words)
        X.data = np.ceil(10 * X.data)
        cpu_source, gpu_source = SparseSource(X), TorchSource(torch.as_tensor(X.toarray()).cuda())
        for inference in ("vb", "cvb0"):
            settings = {"inference": inference, "max_doc_update_iter": 10, "mean_change_tol": 0.0, "random_state": 0}
            estimator = LatentDirichletAllocation(n_topics, **settings)
            estimator.n_features_in_ = d
            model, rng = estimator._model(), np.random.default_rng(0)
            params = model.init(cpu_source.sample(10_000, rng), rng)
            gpu, found = timed(model, params, gpu_source)
            cpu, expected = timed(model, params, cpu_source)
            # Collapsed sweeps update a document's pairs all at once on a GPU, one after the other on a CPU: they lead to
            # other topics of the same likelihood.
            same = (found.counts, expected.counts) if inference == "vb" else (found.loglik, expected.loglik)
            error = np.abs(same[0] - same[1]).max() / np.abs(same[1]).max()
            assert error < (1e-8 if inference == "vb" else 0.03), error
            ratio = f"{1e3 * gpu:.1f} | {1e3 * cpu:.0f} | {cpu / gpu:.1f} × | {error:.0e}"
            print(f"| {n:,} | {d:,} | {n_topics} | {inference} | {ratio} |")


if __name__ == "__main__":
    main()
