"""``python -m benchmarks.gpu.sequences``: EM steps of hidden Markov models on a GPU and on the cores beside it.

Diagonal Gaussian states; a step is an E-step with its statistics in NumPy. Medians of five after a warm-up. *Step by step* is the
same without Triton, in one small product a step.
"""

import argparse
import time
from functools import partial

import numpy as np
import torch

from tacit.families import DiagonalGaussian
from tacit.kernels import torch_chain
from tacit.sequence.model import ChainModel
from tacit.sequence.structure import ChainParams, Structure
from tacit.source import ArraySource
from tacit.source.torch import TorchSource

SIZES = [(100_000, 200, 32, 16), (1_000_000, 20, 4, 2), (1, 10_000_000, 4, 2), (1_000, 2_000, 64, 8)]
REPEATS = 5


def rows(n, length, k, d, rng):
    """Steps of sequences whose states stay for a while."""
    move = 0.9 * np.eye(k) + 0.1 / k
    mean = rng.normal(0, 2, (k, d))
    new = rng.random(n * length) > 0.9
    new[::length] = True
    state = rng.integers(k, size=int(new.sum()))[np.cumsum(new) - 1]
    X = rng.standard_normal((n * length, d))
    X += mean[state]
    return X, move, mean


def timed(model, params, source, repeats=REPEATS):
    """Median seconds of an E-step, and its statistics."""
    stats = source.sum(partial(model.e_step, params))
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        stats = source.sum(partial(model.e_step, params))
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)), stats


def main():
    """Print one line per size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=range(len(SIZES)), help="which of the sizes")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    print("| sequences | steps | K | d | GPU (ms) | step by step (ms) | CPU (ms) | CPU / GPU | relative error |")
    print("|---|---|---|---|---|---|---|---|---|")
    for n, length, k, d in (SIZES[at] for at in parser.parse_args().sizes):
        rng = np.random.default_rng(0)
        X, move, mean = rows(n, length, k, d, rng)
        unit = np.repeat(np.arange(n), length)
        model = ChainModel(DiagonalGaussian(), Structure(k))
        host = ArraySource(X, unit=unit, block_rows=max((1 << 18) // k, 1))
        sample = host.sample(20_000, rng)
        nearest = ((sample.X[:, None] - mean) ** 2).sum(axis=2).argmin(axis=1)
        start = model.follow(sample, np.eye(k)[nearest])
        params = ChainParams(np.full(k, 1 / k), move, start.dwell, start.components)
        device = TorchSource(torch.as_tensor(X).cuda(), unit=unit)
        gpu, found = timed(model, params, device)
        quick, torch_chain._quick = torch_chain._quick, lambda joint: None
        plain, _ = timed(model, params, device, 1)
        torch_chain._quick = quick
        cpu, expected = timed(model, params, host, 2)
        vectors = found.to_vector(), expected.to_vector()
        error = np.abs(vectors[0] - vectors[1]).max() / np.abs(vectors[1]).max()
        assert error < 1e-9, error
        size = f"| {n:,} | {length:,} | {k} | {d} |"
        print(
            f"{size} {1e3 * gpu:.1f} | {1e3 * plain:.0f} | {1e3 * cpu:.0f} | {cpu / gpu:.0f} × | {error:.0e} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
