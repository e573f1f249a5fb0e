"""``python -m benchmarks.gpu.full_covariance``: milliseconds per EM iteration of Gaussian mixtures on a GPU.

Three ways to take one full-covariance step: class by class in plain torch, as two matrix products in plain torch, and ours.
Log-likelihood and moments are checked against the plain products in float64. Medians of ten after a warm-up, timed with
CUDA events; the whole iteration, with the M-step on the host, by the wall clock.
"""

import argparse
import statistics
import time
from functools import partial

import numpy as np
import torch

from benchmarks.harness import table
from tacit.families import GAUSSIANS
from tacit.mixture import MixtureModel
from tacit.mixture.model import MixtureParams
from tacit.source.torch import TorchSource

CHUNK = 1 << 17
REPEATS = 10


def milliseconds(function):
    """Median time of a call on the device."""
    for _ in range(2):
        function()
    times = []
    for _ in range(REPEATS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        function()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def wall_milliseconds(model, source, params):
    """Median time of a whole EM iteration: E-step, transfer of the statistics and M-step."""
    times, params = [], model.place(params, source.device)
    for _ in range(REPEATS + 2):
        begin = time.perf_counter()
        params = model.m_step(source.sum(partial(model.e_step, params)), params)
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times[2:])


def make_rows(n, d, n_classes, dtype, seed=0):
    """Rows of a mixture on the device, and parameters near its truth."""
    generator = torch.Generator("cuda").manual_seed(seed)
    random = partial(torch.randn, generator=generator, device="cuda", dtype=torch.float64)
    unit = torch.eye(d, device="cuda", dtype=torch.float64)
    means, roots = 2.0 * random((n_classes, d)), random((n_classes, d, d)) / np.sqrt(d) + unit
    covariance = roots @ roots.mT + 0.1 * unit
    roots = torch.linalg.cholesky(covariance)
    X = random((n, d))
    classes = torch.randint(n_classes, (n,), generator=generator, device="cuda")
    for k in range(n_classes):
        rows = (classes == k).nonzero()[:, 0]
        X[rows] = means[k] + X[rows] @ roots[k].T
    return X.to(dtype), (means + 0.1 * random((n_classes, d))).cpu().numpy(), covariance.cpu().numpy()


def make_params(family, mean, covariance):
    """Parameters of a family from means and full covariances."""
    k, d = mean.shape
    shape = {
        "full": covariance,
        "tied": covariance.mean(axis=0),
        "diag": np.diagonal(covariance, axis1=1, axis2=2).copy(),
        "spherical": np.diagonal(covariance, axis1=1, axis2=2).mean(axis=1),
    }[family]
    components = GAUSSIANS[family]().params(mean, shape, np.zeros(d), np.ones(d))
    return MixtureParams(np.full(k, 1.0 / k), components)


def naive(X, mean, triangle, constant):
    """Class by class: whiten, square, and a product per class for its scatter."""
    n_classes, d = mean.shape
    totals = [0.0, X.new_zeros(n_classes), X.new_zeros((n_classes, d)), X.new_zeros((n_classes, d, d))]
    for x in X.split(CHUNK * 4):
        log_prob = torch.stack(
            [c - 0.5 * ((x - m) @ P).square().sum(1) for m, P, c in zip(mean, triangle, constant)], 1
        )
        evidence = log_prob.logsumexp(1, keepdim=True)
        r = (log_prob - evidence).exp()
        totals[0] = totals[0] + evidence.double().sum()
        totals[1] += r.sum(0)
        totals[2] += r.T @ x
        for k in range(n_classes):
            totals[3][k] += (r[:, k : k + 1] * x).T @ x
    return totals


def products(X, mean, triangle, constant):
    """Two matrix products with all pairs of columns as features, in the precision of X."""
    n_classes, d = mean.shape
    j, h = torch.tril_indices(d, d, device=X.device)
    precision = triangle @ triangle.mT
    square = -precision[:, j, h] * torch.where(j == h, 0.5, 1.0).to(X.dtype)
    first = (precision @ mean[:, :, None])[:, :, 0]
    eta = torch.cat([first, (constant - 0.5 * (first * mean).sum(1))[:, None], square], 1).T.contiguous()
    loglik, total = 0.0, X.new_zeros((len(eta), n_classes))
    for x in X.split(CHUNK):
        phi = torch.cat([x, torch.ones_like(x[:, :1]), x[:, j] * x[:, h]], 1)
        log_prob = phi @ eta
        evidence = log_prob.logsumexp(1, keepdim=True)
        loglik = loglik + evidence.double().sum()
        total += phi.T @ (log_prob - evidence).exp()
    second = X.new_empty((n_classes, d, d))
    second[:, j, h] = second[:, h, j] = total[d + 1 :].T
    return [loglik, total[d], total[:d].T, second]


def largest_error(found, expected):
    """Largest difference relative to the largest number of each statistic."""
    errors = []
    for a, b in zip(found, expected):
        a, b = (torch.as_tensor(value, dtype=torch.float64, device="cpu") for value in (a, b))
        errors.append(float((a - b).abs().max() / b.abs().max()))
    return max(errors)


def full_case(n, d, n_classes, dtype):
    """Rows of the table for full covariances."""
    X, mean, covariance = make_rows(n, d, n_classes, dtype)
    model, params = MixtureModel(GAUSSIANS["full"](), n_classes), make_params("full", mean, covariance)
    components = params.components
    constant = components.form[2] - np.log(n_classes)
    arguments = [torch.as_tensor(value, device="cuda") for value in (mean, components.triangle, constant)]
    expected = products(X.double(), *arguments)
    torch.cuda.empty_cache()
    source = TorchSource(X)
    stats = source.sum(partial(model.e_step, params))
    ours = stats.loglik, stats.components.count, stats.components.first, stats.components.second
    plain = [argument.to(dtype) for argument in arguments]
    runs = {
        "class by class, plain torch": (partial(naive, X, *plain), naive(X, *plain)),
        "two products, plain torch": (partial(products, X, *plain), products(X, *plain)),
        "ours, E-step": (lambda: source.sum(partial(model.e_step, params)), ours),
    }
    job = f"full n={n / 1e6:g}M d={d} K={n_classes} {str(dtype)[6:]}"
    rows = []
    for name, (function, result) in runs.items():
        rows.append({"job": job, "how": name, "ms": milliseconds(function), "error": largest_error(result, expected)})
    rows.append(
        {"job": job, "how": "ours, EM iteration", "ms": wall_milliseconds(model, source, params), "error": None}
    )
    assert rows[2]["error"] < 1e-9, f"{job}: ours differs by {rows[2]['error']:.3g}"
    return rows


def family_case(n, d, n_classes, family, holes):
    """A row of the table for any family, with a share of the cells missing."""
    X, mean, covariance = make_rows(n, d, n_classes, torch.float64)
    if holes:
        X[torch.rand(X.shape, device="cuda") < holes] = torch.nan
    model, params = MixtureModel(GAUSSIANS[family](), n_classes), make_params(family, mean, covariance)
    source = TorchSource(X)
    few = slice(0, 20000)
    part = TorchSource(X[few]).sum(partial(model.e_step, params))
    whole = TorchSource(X[few].cpu()).sum(partial(model.e_step, params))
    error = largest_error([part.to_vector()], [whole.to_vector()])
    job = f"{family} n={n / 1e6:g}M d={d} K={n_classes} float64" + (f", {holes:.0%} missing" if holes else "")
    step = milliseconds(lambda: source.sum(partial(model.e_step, params)))
    return [{"job": job, "how": "ours, E-step", "ms": step, "error": error}]


def main():
    """Run all cases and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows to run with")
    scale = parser.parse_args().scale
    rows = []
    for n, d, k in ((4_000_000, 32, 64), (1_000_000, 64, 128)):
        for dtype in (torch.float64, torch.float32):
            rows += full_case(int(n * scale), d, k, dtype)
            torch.cuda.empty_cache()
    for family in ("full", "tied", "diag", "spherical"):
        for holes in (0.0, 0.1):
            rows += family_case(int(1_000_000 * scale), 16, 16, family, holes)
    for row in rows:
        row["ms"] = f"{row['ms']:.1f}"
        row["error"] = "" if row["error"] is None else f"{row['error']:.1e}"
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    print(table(rows))


if __name__ == "__main__":
    main()
