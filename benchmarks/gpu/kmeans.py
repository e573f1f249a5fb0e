"""``python -m benchmarks.gpu.kmeans``: milliseconds per iteration of k-means on a GPU.

Plain torch (a product and a minimum per chunk of rows, then ``index_add_``) and ours take turns at the same centres; the
product alone is the floor of what any way without tensor cores can reach. Labels are compared row by row, and sums with those
of plain torch in float64. Wall clock, medians of ten after a warm-up; an iteration includes the transfer of the sums and the
M-step on the host.
"""

import argparse
import statistics
import time
from functools import partial

import numpy as np
import torch

from benchmarks.harness import table
from tacit.cluster import KMeansModel
from tacit.source.torch import TorchSource

CHUNK = 1 << 18
REPEATS = 10


def make_rows(n, d, n_clusters, seed=0):
    """Rows around centres on the device, and where to start."""
    generator = torch.Generator("cuda").manual_seed(seed)
    centers = 3.0 * torch.randn((n_clusters, d), generator=generator, device="cuda")
    X = torch.randn((n, d), generator=generator, device="cuda")
    for x in X.split(CHUNK):
        x += centers[torch.randint(n_clusters, (len(x),), generator=generator, device="cuda")]
    return X, X[torch.randperm(n, generator=generator, device="cuda")[:n_clusters]].double().cpu().numpy()


def plain(X, center):
    """One iteration in plain torch: labels, and new centres from float64 sums."""
    center = torch.as_tensor(center, dtype=X.dtype, device=X.device)
    half = 0.5 * (center**2).sum(1)
    total, count = (
        center.new_zeros(center.shape, dtype=torch.float64),
        center.new_zeros(len(center), dtype=torch.float64),
    )
    labels = []
    for x in X.split(CHUNK):
        k = (half - x @ center.T).argmin(1)
        total.index_add_(0, k, x.double())
        count += torch.bincount(k, minlength=len(center))
        labels.append(k)
    return torch.cat(labels), (total / count.clamp(min=1.0)[:, None]).cpu().numpy()


def quick(X, center):
    """As `plain`, with sums in single precision: quicker, and less exact."""
    center = torch.as_tensor(center, dtype=X.dtype, device=X.device)
    half = 0.5 * (center**2).sum(1)
    total, count = torch.zeros_like(center), center.new_zeros(len(center))
    for x in X.split(CHUNK):
        k = (half - x @ center.T).argmin(1)
        total.index_add_(0, k, x)
        count += torch.bincount(k, minlength=len(center))
    return (total / count.clamp(min=1.0)[:, None]).cpu().numpy()


def floor(X, center):
    """The matrix product alone."""
    center = torch.as_tensor(center, dtype=X.dtype, device=X.device)
    out = X.new_empty((CHUNK, len(center)))
    for x in X.split(CHUNK):
        torch.mm(x, center.T, out=out[: len(x)])


def interleaved(functions):
    """Median milliseconds of each function, taking turns."""
    times = {name: [] for name in functions}
    for _ in range(REPEATS + 2):
        for name, function in functions.items():
            torch.cuda.synchronize()
            begin = time.perf_counter()
            function()
            torch.cuda.synchronize()
            times[name].append(1e3 * (time.perf_counter() - begin))
    return {name: statistics.median(values[2:]) for name, values in times.items()}


def case(n, d, n_clusters):
    """Rows of the table."""
    X, start = make_rows(n, d, n_clusters)
    model, source = KMeansModel(n_clusters), TorchSource(X)
    params = model.at(
        start, X.double().mean(0).cpu().numpy() if n < 2e6 else X[:1000000].double().mean(0).cpu().numpy()
    )
    labels, expected = plain(X, start)
    found = np.concatenate(list(source.map(lambda block: model.assign(params, block)[0])))
    other = float((torch.as_tensor(found, device="cuda") != labels).double().mean())
    image = model.m_step(source.sum(partial(model.e_step, params)), params)
    # A row between two centres may go either way, which a cluster of few rows feels: clusters count by their size.
    size = np.bincount(labels.cpu().numpy(), minlength=n_clusters) / n
    error = np.sqrt(size @ ((image.center - expected) ** 2).sum(axis=1) / (size @ (expected**2).sum(axis=1)))
    assert other < 1e-4, f"{other:.2g} of the rows have other labels"
    assert error < 1e-4, f"centres differ by {error:.2g}"
    times = interleaved(
        {
            "plain torch, float64 sums": lambda: plain(X, start),
            "plain torch, float32 sums": lambda: quick(X, start),
            "the product alone": lambda: floor(X, start),
            "ours": lambda: model.m_step(source.sum(partial(model.e_step, params)), params),
        }
    )
    job = f"n={n / 1e6:g}M d={d} K={n_clusters} float32"
    agreement = f"{other:.1e} of labels differ, centres by {error:.1e}"
    return [
        {"job": job, "how": name, "ms per iteration": f"{ms:.1f}", "agreement": agreement if name == "ours" else ""}
        for name, ms in times.items()
    ]


def main():
    """Run all cases and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows to run with")
    scale = parser.parse_args().scale
    rows = []
    for n, d, k in ((10_000_000, 64, 1024), (10_000_000, 32, 64), (2_000_000, 128, 4096)):
        rows += case(int(n * scale), d, k)
        torch.cuda.empty_cache()
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    print(table(rows))


if __name__ == "__main__":
    main()
