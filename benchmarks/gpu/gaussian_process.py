"""``python -m benchmarks.gpu.gaussian_process [ROWS POINTS]``: seconds of the bound of inducing points with its slopes on a GPU.

Ours takes rows as tensors in blocks; plain torch does so in chunks, in float64, by automatic differentiation. Values and slopes
are compared. Where GPyTorch is installed, its SGPR is timed as well. Medians of five after a warm-up.
"""

import statistics
import sys
import time

import numpy as np
import torch

from tacit.gaussian_process.covariance import expression
from tacit.gaussian_process.inducing import JITTER, Inducing
from tacit.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from tacit.source.torch import TorchSource

CHUNK = 1 << 16


def make_rows(n, d=5):
    """Rows and a smooth target on the device."""
    generator = torch.Generator("cuda").manual_seed(0)
    X = torch.randn((n, d), generator=generator, device="cuda", dtype=torch.float64)
    y = torch.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * torch.randn(n, generator=generator, device="cuda", dtype=torch.float64)
    return X, y


def plain(theta, X, y, Z):
    """The bound and its slopes: statistics and their slopes by chunk, what is between by automatic differentiation."""
    theta = torch.tensor(theta, device="cuda", requires_grad=True)

    def covariance(A, B):
        gaps = (A * A).sum(1)[:, None] + (B * B).sum(1) - 2 * A @ B.T
        return torch.exp(theta[0] - 0.5 * gaps.clamp(min=0.0) * torch.exp(-2 * theta[1]))

    with torch.no_grad():
        square, cross = 0.0, 0.0
        for a, b in zip(X.split(CHUNK), y.split(CHUNK)):
            K = covariance(a, Z)
            square, cross = square + K.T @ K, cross + K.T @ b
    square.requires_grad_()
    cross.requires_grad_()
    n, m, noise = len(X), len(Z), torch.exp(theta[2])
    own = covariance(Z, Z)
    L = torch.linalg.cholesky(own + JITTER * torch.diag(own.diagonal()))
    half = torch.linalg.solve_triangular(L, square, upper=False)
    A = torch.linalg.solve_triangular(L, half.T, upper=False) / noise
    M = torch.linalg.cholesky(A + torch.eye(m, device="cuda"))
    c = (
        torch.linalg.solve_triangular(M, torch.linalg.solve_triangular(L, cross[:, None], upper=False), upper=False)
        / noise
    )
    value = -0.5 * n * (torch.log(2 * np.pi * noise) + torch.exp(theta[0]) / noise) - M.diagonal().log().sum()
    value = value + 0.5 * A.trace() - 0.5 * (y @ y) / noise + 0.5 * (c * c).sum()
    slopes, by_square, by_cross = torch.autograd.grad(value, (theta, square, cross))
    for a, b in zip(X.split(CHUNK), y.split(CHUNK)):
        K = covariance(a, Z)
        with torch.no_grad():
            steep = K @ (by_square + by_square.T) + b[:, None] * by_cross
        slopes = slopes + torch.autograd.grad(K, theta, steep)[0]
    return float(value.detach()), slopes.cpu().numpy()


def timed(function):
    """Seconds, a median, and the result."""
    function()
    taken = []
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        found = function()
        torch.cuda.synchronize()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken), found


def gpytorch_seconds(X, y, Z):
    """Seconds of one value and slopes of GPyTorch's SGPR."""
    import gpytorch

    likelihood = gpytorch.likelihoods.GaussianLikelihood().cuda().double()

    class Process(gpytorch.models.ExactGP):
        def __init__(self):
            super().__init__(X, y, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            base = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())
            self.covar_module = gpytorch.kernels.InducingPointKernel(base, inducing_points=Z, likelihood=likelihood)

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    model = Process().cuda().double().train()
    bound = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

    def once():
        model.zero_grad()
        bound(model(X), y).backward()

    return timed(once)[0]


def main(n_rows=1_000_000, n_points=500):
    X, y = make_rows(n_rows)
    Z = X[:n_points].clone()
    kernel = ConstantKernel(2.0) * RBF(1.5) + WhiteKernel(0.1)
    source = TorchSource(X, None, None, y[:, None])
    learner = Inducing(expression(kernel), Z.cpu().numpy(), source, 0.0, np.zeros(1), np.ones(1))
    ours, (value, slopes) = timed(lambda: learner.evidence(kernel.theta))
    theirs, (other, others) = timed(lambda: plain(kernel.theta, X, y, Z))
    apart = abs(value - other) / abs(other), np.abs(slopes - others).max() / np.abs(others).max()
    print(f"{n_rows:,} rows, {n_points} points, float64, one value with slopes")
    print(f"ours        {ours:.3f} s")
    print(f"plain torch {theirs:.3f} s; values differ by {apart[0]:.1e}, slopes by {apart[1]:.1e}")
    try:
        print(f"GPyTorch    {gpytorch_seconds(X, y, Z):.3f} s")
    except ImportError:
        print("GPyTorch is not installed")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
