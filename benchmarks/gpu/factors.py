"""``python -m benchmarks.gpu.factors``: passes of low-rank Gaussians with missing cells, on a GPU and on the CPU beside it."""

import time
from functools import partial

import numpy as np
import torch

from tacit.families import FactorGaussian
from tacit.mixture.model import MixtureModel
from tacit.source import ArraySource
from tacit.source.torch import TorchSource

SIZES = [
    (1_000_000, 64, 10, 1, 0.0),
    (1_000_000, 64, 10, 1, 0.2),
    (200_000, 64, 10, 8, 0.2),
    (20_000, 2000, 20, 1, 0.2),
]
REPEATS = 5


def rows(n, d, k, share):
    """Rows of low rank with a share of the cells missing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, k)) @ rng.normal(size=(k, d))
    X += rng.normal(size=X.shape)
    if share:
        X[rng.random(X.shape) < share] = np.nan
    return X


def timed(model, params, source):
    """Median seconds of a pass, and its statistics."""
    stats = source.sum(partial(model.e_step, params))
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        stats = source.sum(partial(model.e_step, params))
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)), stats


def main():
    """Print one line per size."""
    print("| n | d | k | classes | missing | GPU (ms) | CPU (ms) | ratio | relative error |")
    print("|---|---|---|---|---|---|---|---|---|")
    for n, d, k, n_classes, share in SIZES:
        X = rows(n, d, k, share)
        model, rng = MixtureModel(FactorGaussian(k), n_classes), np.random.default_rng(0)
        host = ArraySource(X)
        params = model.init(host.sample(2000, rng), rng)
        gpu, found = timed(model, params, TorchSource(torch.as_tensor(X).cuda()))
        cpu, expected = timed(model, params, host)
        vectors = found.components.to_vector(), expected.components.to_vector()
        error = np.abs(vectors[0] - vectors[1]).max() / np.abs(vectors[1]).max()
        assert error < 1e-9
        size = f"| {n:,} | {d} | {k} | {n_classes} | {share:.0%} |"
        print(f"{size} {1e3 * gpu:.1f} | {1e3 * cpu:.0f} | {cpu / gpu:.1f} × | {error:.0e} |")


if __name__ == "__main__":
    main()
