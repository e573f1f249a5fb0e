"""``python -m benchmarks.gpu.defaults``: whole fits with default settings, on a GPU and on the CPU's cores beside it.

Kernels are compiled by a fit of few steps first, so that seconds are those of every later fit. Both fits draw the same sample
of rows; objectives are compared.
"""

import argparse
import time
import warnings

import torch

from benchmarks.harness import table
from tacit.cluster import KMeans
from tacit.mixture import GaussianMixture, Mixture


def blobs(n, d, n_classes, *, holes=0.0, n_categories=0, seed=0):
    """Rows around centres, as single precision on the device; the last columns may be categories of four levels."""
    generator = torch.Generator("cuda").manual_seed(seed)
    centers = 2.0 * torch.randn((n_classes, d), generator=generator, device="cuda")
    X = torch.randn((n, d), generator=generator, device="cuda")
    X += centers[torch.randint(n_classes, (n,), generator=generator, device="cuda")]
    if n_categories:
        X[:, d - n_categories :] = (X[:, d - n_categories :] + 2.0).round().clamp(0, 3)
    if holes:
        X[torch.rand(X.shape, generator=generator, device="cuda") < holes] = torch.nan
    return X


def case(name, estimator, X, on_cpu):
    """Seconds of a default fit on tensors, on an array with ``device="cuda"``, and on the CPU."""
    rows = X.cpu().numpy()
    seconds, objectives, steps = {}, {}, {}
    runs = {"tensor": (X, None), "array": (rows, "cuda")} | ({"cpu": (rows, None)} if on_cpu else {})
    for how, (given, device) in runs.items():
        begun: list = []
        few = estimator().set_params(device=device, n_init=1)
        few.fit(given[:200_000])
        estimate = estimator().set_params(
            device=device, callback=lambda _, begun=begun: begun.append(time.perf_counter())
        )
        torch.cuda.synchronize()
        begin = time.perf_counter()
        estimate.fit(given)
        seconds[how] = time.perf_counter() - begin
        trace = estimate.fit_.trace
        objectives[how], steps[how] = trace.per_weight[-1], len(trace)
        seconds[f"{how} start"] = begun[0] - begin
    row = {"fit": name, "tensor (s)": f"{seconds['tensor']:.2f}", "first step after": f"{seconds['tensor start']:.2f}"}
    row |= {"array (s)": f"{seconds['array']:.2f}", "steps": f"{steps['tensor']}"}
    if on_cpu:
        row |= {"CPU (s)": f"{seconds['cpu']:.1f}", "ratio": f"{seconds['cpu'] / seconds['tensor']:.1f}"}
        row |= {"objective": f"{objectives['tensor']:.4f} / {objectives['cpu']:.4f}"}
    return row


def main():
    """Run all cases and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows to run with")
    parser.add_argument("--no-cpu", action="store_true", help="leave the CPU out")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    mixed = {j: "categorical" for j in range(5, 10)}
    cases = [
        ("GaussianMixture(64) n=4M d=32", lambda: GaussianMixture(64, random_state=0), (4_000_000, 32, 64), {}),
        ("GaussianMixture(16) n=1M d=16", lambda: GaussianMixture(16, random_state=0), (1_000_000, 16, 16), {}),
        ("the same, 10% missing", lambda: GaussianMixture(16, random_state=0), (1_000_000, 16, 16), {"holes": 0.1}),
        (
            "Mixture(8) n=1M, 5 numbers, 5 categories",
            lambda: Mixture(8, by_column=mixed, random_state=0), (1_000_000, 10, 8), {"n_categories": 5},
        ),
        ("KMeans(256) n=5M d=32", lambda: KMeans(256, random_state=0, max_iter=20), (5_000_000, 32, 256), {}),
    ]  # fmt: skip
    rows = []
    for name, estimator, (n, d, k), how in cases:
        rows.append(case(name, estimator, blobs(int(n * asked.scale), d, k, **how), not asked.no_cpu))
        print(rows[-1], flush=True)
        torch.cuda.empty_cache()
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    print(table([{**dict.fromkeys(rows[0], ""), **row} for row in rows]))


if __name__ == "__main__":
    main()
