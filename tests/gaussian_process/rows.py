"""Rows, targets and covariances for tests of Gaussian processes."""

import numpy as np
from sklearn.gaussian_process.kernels import ConstantKernel as C

from tacit.gaussian_process.kernels import (
    RBF,
    DotProduct,
    ExpSineSquared,
    Matern,
    PairwiseKernel,
    RationalQuadratic,
    WhiteKernel,
)

NOISE = WhiteKernel(0.3)
QUICK = {
    "gaussian": C(2.0) * RBF(1.3) + NOISE,
    "gaussian of scales": RBF([1.0, 2.0, 0.5]) + NOISE,
    "matern 1": Matern(1.2, nu=0.5) + NOISE,
    "matern 1 of scales": Matern([1.2, 0.7, 2.0], nu=0.5) + NOISE,
    "matern 3": C(0.5) * Matern([1.2, 0.7, 2.0], nu=1.5) + NOISE,
    "matern 5": Matern(0.8, nu=2.5) * RationalQuadratic(0.7, 1.3) + C(0.3) * NOISE,
    "matern of no end": Matern(1.1, nu=np.inf) + NOISE,
    "periodic": ExpSineSquared(1.2, 9.3) * RBF(1.0) + DotProduct(0.7) ** 2 + WhiteKernel(20.0),
    "fixed parts": RBF(1.0, "fixed") * C(0.3) + NOISE * DotProduct(1.0) + C(1.0, "fixed"),
    "power of a sum": (RBF(1.0) + NOISE) ** 2,
}
"""Kernels that are computed in tiles."""
GENERIC = {
    "matern of any order": Matern(1.1, nu=0.8) + NOISE,
    "pairwise": PairwiseKernel(0.4, metric="laplacian") * RBF(2.0) + NOISE,
}
"""Kernels that are asked for all pairs at once."""
KERNELS = QUICK | GENERIC


def table(n=90, d=3, seed=0, noise=0.3):
    """Rows of d features, and a smooth function of two of them with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.sin(2 * X[:, 0]) + 0.5 * X[:, -1] + noise * rng.normal(size=n)


def differences(function, theta, step=1e-5):
    """Slopes of a function by central differences."""
    steps = step * np.eye(len(theta))
    return np.array([(function(theta + e) - function(theta - e)) / (2 * step) for e in steps])
