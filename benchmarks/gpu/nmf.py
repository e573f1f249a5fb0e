"""``python -m benchmarks.gpu.nmf``: milliseconds per pass of non-negative factorisation on a GPU.

The two products with the rows alone, which no way of learning goes without, and plain torch with one sweep of coordinates a pass
take turns with ours at the same parts. Losses are compared. Wall clock, medians of ten after a warm-up; a pass includes the
transfer of the sums and the M-step on the host.
"""

import argparse
from functools import partial

import numpy as np
import torch

from benchmarks.gpu.kmeans import interleaved
from benchmarks.harness import table
from tacit.source.torch import TorchSource
from tacit.topics.factorisation.model import Factors, PartsModel


def make_rows(n, d, k):
    """Sums of parts with noise on the device, and parts to start from."""
    generator = torch.Generator("cuda").manual_seed(0)
    W = torch.rand((n, k), generator=generator, device="cuda") ** 4
    H = torch.rand((k, d), generator=generator, device="cuda") ** 4
    X = W @ H + 0.1 * torch.rand((n, d), generator=generator, device="cuda")
    return X, np.random.default_rng(0).random((k, d))


def products(X, H):
    """The two products alone, in the precision of the rows."""
    table = torch.as_tensor(H.T, dtype=X.dtype, device=X.device)
    return X.T @ (X @ table)


def plain(X, W, H):
    """One pass of multiplicative steps by Kullback and Leibler in plain torch; the loss before H moves."""
    h = torch.as_tensor(H, dtype=X.dtype, device=X.device)
    W *= ((X / (W @ h)) @ h.T) / h.sum(1)
    ratio = X / (W @ h)
    loss = (X * torch.log(ratio.clamp(min=1e-30)) - X + W @ h).sum(dtype=torch.float64)
    return h * (W.T @ ratio) / W.sum(0)[:, None], float(loss)


def case(n, d, k, beta):
    """Rows of the table."""
    X, H = make_rows(n, d, k)
    model, source, params = PartsModel(k, beta, "hals" if beta == 2.0 else "mu"), TorchSource(X), Factors(H)
    source.remember(model.memory)
    stats = source.sum(partial(model.e_step, params))
    ways = {
        "the two products alone": lambda: products(X, H),
        "ours": lambda: model.m_step(source.sum(partial(model.e_step, params)), params),
    }
    agreement = ""
    if beta == 1.0:
        W = torch.ones((n, k), dtype=X.dtype, device="cuda")
        loss = plain(X, W, H)[1]
        agreement = f"loss {-stats.loglik / loss:.7f} of plain torch"
        assert abs(-stats.loglik / loss - 1.0) < 1e-3, agreement
        ways["plain torch, float32"] = lambda: plain(X, W, H)
    times = interleaved(ways)
    job = f"n={n / 1e6:g}M d={d} K={k} beta={beta:g} float32"
    return [
        {"job": job, "how": name, "ms per pass": f"{ms:.1f}", "agreement": agreement if name == "ours" else ""}
        for name, ms in times.items()
    ]


def main():
    """Run all cases and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows to run with")
    scale = parser.parse_args().scale
    rows = []
    for n, d, k, beta in ((1_000_000, 500, 20, 2.0), (1_000_000, 500, 50, 2.0), (1_000_000, 500, 20, 1.0)):
        rows += case(int(n * scale), d, k, beta)
        torch.cuda.empty_cache()
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    print(table(rows))


if __name__ == "__main__":
    main()
