"""Gaussian families: x | k ~ N(μ_k, Σ_k), with Σ_k full, shared (tied), diagonal, spherical, or of a structure between.

Moments are taken about a fixed origin (the sample's mean) so that no digits are lost far from zero. A covariance never
falls below `floor` times the data's own variance: the M-step is the maximum under that constraint, so the likelihood
still never decreases, and where the constraint is idle the estimate is exactly the maximum-likelihood one.
"""

from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Arrays, record
from ..declared import SQUARES, Numbers, declare
from ..engine import SingularError
from ..kernels import backend, flipped, host, kernel, lazy
from ..kernels.dense import invert_triangle
from ..source.block import Block
from .family import OnePassFamily, centred, draw_classes, recalled
from .laws import Law, NormalLaw

__all__ = [
    "LOG_2PI",
    "SINGULAR",
    "WEAK",
    "Gaussian",
    "GaussianParams",
    "incomplete_rows",
    "invert_triangle",
    "is_constant",
    "location_and_scale",
    "n_observed",
]

LOG_2PI = np.log(2 * np.pi)
imputation = lazy("imputation")
Pair = tuple[np.ndarray, np.ndarray]
VANISHING = 1e-303  # a variance of which underflow has left few digits
SINGLE = 1e-6
"""Share of the data's variance below which products in single precision tell nothing of a class."""
WIDE = 200
"""Columns beyond which matrices of all pairs of them are avoided where rows are fewer."""
WEAK = 0.1
"""Rows that a mean is worth before any is seen, where parameters are drawn without a prior."""
SINGULAR = (
    "Fitting the mixture model failed because some components have ill-defined empirical covariance (for instance caused "
    "by singleton or collapsed samples). Try to decrease the number of components, increase reg_covar, or scale the "
    "input data."
)


def is_constant(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Which columns do not vary, but for rounding and for variances below the smallest numbers."""
    return variance <= np.maximum((1e-12 * np.abs(mean)) ** 2, VANISHING)


def location_and_scale(block: Block) -> Pair:
    """Weighted mean and variance of the observed cells of each column; a constant column has variance 1.

    Variances are those that floors are relative to, no smaller than what rounding can resolve.
    """

    def make() -> Any:
        X, origin, variance, total = centred(host(block.X), block.weight)
        if not total.all():
            column = int(np.flatnonzero(total == 0)[0])
            raise ValueError(f"column {column} has no observed value; drop it before fitting.")
        constant = is_constant(origin, variance)
        # A floor must be larger than the rounding of means far from 0, and of sums of which rows of next to no weight lie
        # far out; neither happens to rows of which the mean is below 1e8 deviations, and none is heavier than 1e8 others.
        farthest = np.abs(X[block.weight > 0]).max(axis=0, initial=0.0)
        resolved = np.maximum(5e-9 * np.abs(origin), 1e-4 * farthest) ** 2
        return origin, np.maximum(np.where(constant, 1.0, variance), resolved)

    return recalled(block, "location", make)


@record
class GaussianParams(Arrays):
    """Parameters of Gaussian classes.

    Attributes
    ----------
    mean : (classes, d)
    covariance : the shape depends on the family
    origin, scale : (d,)
        The point moments are taken about, and the variances that covariance floors are relative to.
    """

    mean: np.ndarray
    covariance: np.ndarray
    origin: np.ndarray
    scale: np.ndarray
    _saved = declare(mean=Numbers("K d"), origin=Numbers("d"), scale=Numbers("d", above=0, high=SQUARES))

    @cached_property
    def dense(self) -> np.ndarray:
        """Covariances as (classes, d, d)."""
        raise NotImplementedError

    @cached_property
    def posterior(self) -> Any:
        """What the conditional kernels need: means, precisions, covariances and log determinants."""
        triangle, log_root = kernel("roots", backend(self.dense))(self.dense)
        precision = triangle @ triangle.swapaxes(1, 2)
        # A copy: what is read-only (a tied covariance of one class) would have the kernels compiled once more.
        dense = np.array(self.dense, order="C") if backend(self.dense) == "cpu" else self.dense
        return self.mean, precision, dense, -2.0 * log_root

    @property
    def shift(self) -> np.ndarray:
        """Means about the origin."""
        return self.mean - self.origin


def incomplete_rows(block: Block) -> tuple:
    """The cells of a block and its rows with missing ones, grouped, as kernels take them."""
    groups = block.patterns.incomplete
    return block.X, groups.rows, groups.starts, groups.missing


def n_observed(block: Block) -> np.ndarray:
    """How many cells of each row are there, (rows, 1)."""
    return host(block.X == block.X).sum(axis=1)[:, None]


class Gaussian(OnePassFamily):
    """What all Gaussian families share: starts, sampling and the posterior of missing cells.

    Parameters
    ----------
    floor : float
        Smallest variance in any direction, relative to the data's variance.
    prior : NormalInverseWishart or NormalInverseGamma, optional
        The former for full and tied covariances, the latter for diagonal and spherical ones; the M-step then gives the
        posterior mode.
    """

    matrices = True  # whether a covariance is held as a matrix, or as variances
    support = "Gaussian"
    params: Any  # makes its parameters of mean, covariance, origin and scale
    _params_type = property(lambda self: self.params)

    def __init__(self, *, floor: float = 1e-6, prior: Any = None) -> None:
        self.floor, self.prior = floor, self.accepted(prior)

    def mean(self, params: Any) -> np.ndarray:
        return params.mean

    def variance(self, params: Any) -> np.ndarray:
        return np.diagonal(params.dense, axis1=1, axis2=2)

    def parameters(self, params: Any) -> dict[str, np.ndarray]:
        return {"mean": params.mean, "covariance": params.dense}

    def known(self, *, mean: Any, covariance: Any) -> Any:  # type: ignore[override]
        """The parameters at a mean and a covariance: a matrix, the variances of the columns, or one for all."""
        mean = np.atleast_1d(np.asarray(mean, dtype=np.float64))
        given, d = np.asarray(covariance, dtype=np.float64), mean.size
        if given.shape not in ((), (d,), (d, d)):
            raise ValueError(f"covariance has shape {given.shape}, but mean has {d} entries")
        dense = given if given.ndim == 2 else np.diag(np.broadcast_to(given, d))
        shape = self.shape(1, d)
        value = dense if len(shape) >= 2 and shape[-2:] == (d, d) and self.matrices else np.diagonal(dense)
        value = (value if value.size == np.prod(shape) else value[:1]).reshape(shape).copy()
        params = self.params(mean[None], value, mean, np.diagonal(dense).copy())
        self.check_params(params, 1, d)
        if not np.allclose(params.dense[0], dense):
            raise ValueError(
                f"covariance is no {type(self).__name__}'s, whose columns are independent; use FullGaussian"
            )
        return params

    @property
    def core(self) -> Any:
        """The Gaussian family that its parameters are those of."""
        return self

    def distance(self, params: Any, block: Block) -> Pair:
        gaussian, n_seen = self.core, n_observed(block)
        near, far = (host(gaussian.log_prob(gaussian.widened(params, size), block)) for size in (1.0, 4.0))
        # Log determinants cancel in the difference of two Gaussians of different size.
        return np.maximum((n_seen * np.log(4.0) - 2.0 * (near - far)) / 0.75, 0.0), n_seen[:, 0]

    def widened(self, params: Any, size: float) -> Any:
        """Parameters of classes with covariances of so many times the size."""
        return self.params(params.mean, size * params.covariance, params.origin, params.scale)

    def entropy(self, params: Any) -> np.ndarray:
        return 0.5 * (params.posterior[3] + params.mean.shape[1] * (1.0 + LOG_2PI))

    def kl(self, params: Any, other: Any) -> np.ndarray:
        (mean, _, covariance, log_det), (mean_q, precision_q, _, log_det_q) = params.posterior, other.posterior
        apart = mean - mean_q
        squares = np.einsum("kij,kij->k", precision_q, covariance + apart[:, :, None] * apart[:, None, :])
        return 0.5 * (squares - mean.shape[1] + log_det_q - log_det)

    def shape(self, n_classes: int, d: int) -> tuple[int, ...]:
        """Shape of the covariances."""
        return n_classes, d, d

    def inside(self, params: Any, fallback: Any = None) -> Any:
        """The parameters nearest to any given ones, in likelihood, that have the family's structure.

        Where those would be singular, the covariances of `fallback` are taken.
        """
        return params

    def pool(self, covariance: np.ndarray, n_classes: int) -> np.ndarray:
        """One (d, d) covariance as the covariance of every class."""
        raise NotImplementedError

    def start(self, block: Block, resp: Any) -> Any:
        """Class means, and for every class the pooled covariance within classes."""
        origin, scale = location_and_scale(block)
        if resp.shape[1] == 1 and not block.patterns.is_complete:
            # One class has nothing to be told apart from: EM itself fills the cells soon enough.
            return self.params(origin[None], self.pool(np.diag(scale), 1), origin, scale)
        X = self.fill(block) - origin
        resp = resp * block.weight[:, None]
        counts = resp.sum(axis=0)
        mean = (resp.T @ X) / np.where(counts > 0, counts, 1.0)[:, None]
        within = (X * block.weight[:, None]).T @ X - (mean * counts[:, None]).T @ mean
        covariance = within / counts.sum() + np.diag(np.maximum(self.floor, 1e-9) * scale)
        return self.params(mean + origin, self.pool(covariance, len(counts)), origin, scale)

    def fill(self, block: Block) -> np.ndarray:
        """The rows with missing cells at their expectation under one Gaussian, learned from the block."""
        if block.patterns.is_complete:
            return block.X.astype(np.float64)
        if backend(block.X) == "sparse":
            return self.fill(Block.of(host(block.X), block.weight, block.labels))

        def make() -> Any:
            from .dense import FullGaussian

            family, resp = FullGaussian(floor=max(self.floor, 1e-6)), np.ones((len(block), 1))
            origin, scale = location_and_scale(block)
            params = family.params(origin[None], np.diag(scale)[None], origin, scale)
            for _ in range(10):
                params = family.m_step(family.stats(params, block, resp * block.weight[:, None]), params)
            return family.complete(params, block, resp)[0]

        return recalled(block, "filled", make)

    def embed(self, block: Block, rng: np.random.Generator) -> np.ndarray:
        """Standardised or, half of the time, whitened rows: clusters may be round in either."""
        X = self.fill(block)
        weight = block.weight / block.weight.sum()
        X = X - weight @ X
        deviation = np.sqrt(weight @ X**2)
        X = X / np.where(deviation > 0, deviation, 1.0)
        if rng.random() < 0.5:
            return X
        # Few columns take one way whatever the rows: rounding must not tell a row given twice from one of weight 2.
        if len(X) < X.shape[1] > WIDE:
            return _whitened_wide(X, weight)
        value, vector = np.linalg.eigh((X * weight[:, None]).T @ X)
        kept = value > 1e-10 * value[-1]
        return X @ vector[:, kept] / np.sqrt(value[kept]) if kept.any() else X

    def sample(self, params: Any, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        noise = rng.standard_normal((len(classes), params.mean.shape[1]))
        root = np.linalg.cholesky(params.dense)
        X = np.empty_like(noise)
        for k in np.unique(classes):
            X[classes == k] = params.mean[k] + noise[classes == k] @ root[k].T
        return X

    def complete(self, params: Any, block: Block, resp: Any, *, return_cov: bool = False) -> Pair:
        """Posterior mean (rows, d) of every row and, if asked, its covariance (rows, d, d)."""
        filled = host(block.X).astype(np.float64)
        n, d = filled.shape
        cov = np.zeros((n if return_cov else 0, d, d))
        resp = flipped(resp, block.X)
        kernel("complete", backend(block.X))(*incomplete_rows(block), *params.posterior, resp, filled, cov)
        return filled, cov

    def filled(self, params: Any, block: Block, resp: Any) -> np.ndarray:
        return self.complete(params, block, resp)[0]

    def law(self, params: Any, block: Block) -> Law:
        return NormalLaw(*self._given_others(params, block)[:2])

    def _given_others(self, params: Any, block: Block) -> tuple:
        """Conditional means and variances of missing cells, (cells, classes), and distances (classes, rows) of the others."""
        rows, columns = block.missing_cells
        if not self.matrices:
            return params.mean[:, columns].T, self.variance(params)[:, columns].T, None
        n_classes, (X, *groups) = len(params.mean), incomplete_rows(block)
        first = np.searchsorted(rows, np.arange(len(block)))
        mean, variance = np.empty((n_classes, len(rows))), np.empty((n_classes, len(rows)))
        square = np.zeros((n_classes, len(block)))
        X = np.ascontiguousarray(host(X), dtype=np.float64)
        imputation.parts(X, *groups, *params.posterior, first, mean, variance, square)
        return mean.T, np.maximum(variance.T, np.finfo(float).tiny), square

    def draw(self, params: Any, block: Block, resp: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        filled = np.repeat(host(block.X).astype(np.float64)[None], n_draws, axis=0)
        classes = draw_classes(resp, n_draws, rng)
        noise = self.noise(params, block, classes, rng)
        kernel("draw", backend(block.X))(*incomplete_rows(block), *params.posterior, classes, noise, filled)
        return filled

    def permute(self, params: Any, order: Any) -> Any:
        d = params.mean.shape[1]
        shared = self.shape(1, d) == self.shape(2, d)
        covariance = params.covariance if shared else params.covariance[order]
        return self.params(params.mean[order], covariance, params.origin, params.scale)

    def collapsed(self, params: Any, weight: Any) -> tuple[int, ...]:
        """Classes that lie on the floor in a direction in which the mixture as a whole does not."""
        # A floor set by hand far above rounding is a choice: estimates on it are what was asked for.
        least = 2.0 * min(self.floor, 1e-6)
        if self.are_above(params, least) or not self.is_whole_above(params, weight, least):
            return ()
        return tuple(k for k in range(len(weight)) if not self.are_above(self.permute(params, [k]), least))

    def rows(self, params: Any, block: Block) -> Any:
        """The rows of a block, in double precision where a class is narrower than single precision tells about the origin."""
        X = block.X
        if self.floor >= SINGLE or block.dtype != np.float32 or backend(X) != "cpu" or self.are_above(params, SINGLE):
            return X
        return X.astype(np.float64)

    def is_whole_above(self, params: Any, weight: Any, least: float) -> bool:
        """The same of the mixture as a whole."""
        shift = params.mean - weight @ params.mean
        total = np.einsum("k,kij->ij", weight, params.dense) + (shift * weight[:, None]).T @ shift
        return _above(total, params.scale, least)

    def are_above(self, params: Any, least: float) -> bool:
        """Whether the variance of every class in every direction is above a share of the data's."""
        return _above(params.dense, params.scale, least)

    def spread_within(self, squares: np.ndarray, count: float, params: Any) -> tuple[np.ndarray, np.ndarray]:
        """Variances of columns within classes, above a floor, and which columns vary: what does not is known as it is."""
        within, floor = squares / max(count, 1.0), max(self.floor, 1e-9) * params.scale
        return np.maximum(within, floor), within > 10.0 * floor

    def noise(self, params: Any, block: Block, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """What draws of missing cells are made of, given a class per draw and row: (draws, rows, d)."""
        return rng.standard_normal((*classes.shape, params.mean.shape[1]))

    def clip(self, covariance: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """The nearest covariances, in likelihood, with no direction below the floor."""
        found = kernel("clip", backend(covariance))(covariance, scale, self.floor)
        if found is None:
            raise SingularError(SINGULAR)
        return found


def _above(covariance: np.ndarray, scale: np.ndarray, least: float) -> bool:
    """Whether all eigenvalues of covariances, in units of scale, are above a number; costs a tenth of finding them."""
    root = np.sqrt(scale)
    try:
        np.linalg.cholesky(covariance / (root[:, None] * root) - least * np.eye(len(root)))
    except np.linalg.LinAlgError:
        return False
    return True


def _whitened_wide(X: np.ndarray, weight: Any) -> np.ndarray:
    """Centred rows fewer than columns, whitened in the directions that they span."""
    root = np.sqrt(weight)[:, None]
    value, left = np.linalg.eigh((root * X) @ (root * X).T)
    kept = value > 1e-10 * value[-1]
    return X @ (X.T @ (root * left[:, kept])) / value[kept] if kept.any() else X
