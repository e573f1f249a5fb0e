"""Gaussians of low rank: x = μ_k + W_k z + ε, z ~ N(0, I), ε ~ N(0, Ψ_k), with Ψ_k = σ_k² I (PPCA) or diagonal (factor analysis).

E-step: moments of z given the observed cells.    M-step: every column regressed on z, over the rows that observe it.

Nothing of size d × d is made, and a missing cell costs nothing. The M-step also learns the mean a and covariance R of z, and
gives them back to μ ← μ + W a, W ← W R^½ (parameter expansion, Liu, Rubin and Wu 1998), which saves many steps.
"""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.extmath import randomized_svd

from ..arrays import Arrays, record
from ..declared import SQUARES, Numbers, Text, Whole, declare
from ..engine.coordinates import Positive, Real, Record, Shared
from ..kernels import backend, host, kernel
from ..source.block import Block, Patterns
from .family import Family, Pass, draw_classes, occupied
from .gaussian import WEAK, Gaussian, GaussianParams, location_and_scale
from .laws import Law, NormalLaw

__all__ = ["FactorGaussian", "FactorParams", "groups_of", "n_parameters", "unpack"]

NOISES = ("spherical", "diagonal")
PRIOR_NOISE = 0.3  # of a column's variance, in the row that noise is worth before any is seen
SMALL = 300  # columns up to which eigenvectors of a covariance are found in full


def n_parameters(n_factors: Any, d: int, noise_type: str = "spherical") -> Any:
    """Free parameters of one class: mean, loadings up to rotation and noise, which are no more than any covariance has."""
    covariance = d * n_factors - n_factors * (n_factors - 1) / 2 + (d if noise_type == "diagonal" else 1)
    return d + np.minimum(covariance, d * (d + 1) / 2)


def unpack(packed: np.ndarray) -> np.ndarray:
    """Symmetric matrices (…, k, k) from rows of their lower triangles (…, pairs)."""
    k = int(np.sqrt(2 * packed.shape[-1]))
    place = np.empty((k, k), np.intp)
    i, j = np.tril_indices(k)
    place[i, j] = place[j, i] = np.arange(len(i))
    return packed[..., place]


def leading_axes(rows: np.ndarray, n_axes: int) -> tuple[np.ndarray, np.ndarray]:
    """The greatest eigenvalues of rowsᵀ rows, and their vectors as columns."""
    n_axes = min(n_axes, *rows.shape)
    if rows.shape[1] <= SMALL:
        value, vector = np.linalg.eigh(rows.T @ rows)
        return np.maximum(value[::-1][:n_axes], 0.0), vector[:, ::-1][:, :n_axes]
    _, root, axes = randomized_svd(rows, n_axes, n_iter=4, random_state=0)
    return root**2, axes.T


@record
class FactorParams(Arrays):
    """Parameters of Gaussian classes of low rank.

    Attributes
    ----------
    mean : (classes, d)
    loading : (classes, d, k)
    noise : (classes, d)
        Variances of ε; all the same in a class where they are spherical.
    origin, scale : (d,)
        The point moments are taken about, and the variances that the noise floor is relative to.
    """

    mean: np.ndarray
    loading: np.ndarray
    noise: np.ndarray
    origin: np.ndarray
    scale: np.ndarray
    _saved = GaussianParams._saved | {"loading": Numbers("K d k"), "noise": Numbers("K d", above=0, high=SQUARES)}

    posterior = GaussianParams.posterior

    @cached_property
    def dense(self) -> np.ndarray:
        """Covariances as (classes, d, d)."""
        covariance = self.loading @ self.loading.transpose(0, 2, 1)
        covariance[:, range(self.mean.shape[1]), range(self.mean.shape[1])] += self.noise
        return covariance

    @property
    def shift(self) -> np.ndarray:
        """Means about the origin."""
        return self.mean - self.origin

    @property
    def form(self) -> tuple:
        """Arguments of the kernels."""
        return self.origin, self.shift, self.loading, self.noise


@record
class FactorStats(Arrays):
    """Moments of (1, z) over the rows that observe each column, at last over all; their products with x; squares of x."""

    gram: np.ndarray
    cross: np.ndarray
    square: np.ndarray
    _summed = declare(square=Numbers("K d", low=0, high=SQUARES))


class FactorGaussian(Gaussian):
    """Gaussian classes whose columns share a few factors, for mixtures of PPCA and of factor analysers.

    Parameters
    ----------
    n_factors : int, default=1
        Length of z.
    noise_type : {"spherical", "diagonal"}, default="spherical"
        One noise variance for all columns (probabilistic PCA), or one each (factor analysis).
    floor : float, default=1e-6
        Smallest noise variance, relative to the column's variance; relative to the mean variance where it is spherical.
    unit : array-like of shape (d,), optional
        Spherical noise is σ² times these; with the variances of the columns, axes are those of standardised columns.

    References
    ----------
    Tipping and Bishop (1999), Mixtures of probabilistic principal component analysers.
    Ghahramani and Hinton (1996), The EM algorithm for mixtures of factor analyzers.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.families import FactorGaussian
    >>> from tacit.mixture import Mixture
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> mixture = Mixture(2, family=FactorGaussian(n_factors=2), random_state=0).fit(X)
    >>> mixture.predict(X).shape
    (100,)
    """

    exact = False  # parameter expansion improves by more than the M-step it replaces
    _params_type = FactorParams
    _saved = Gaussian._saved | {
        "n_factors": Whole(1), "noise_type": Text(NOISES), "unit": Numbers("d", above=0, optional=True, high=SQUARES)
    }  # fmt: skip

    def __init__(
        self, n_factors: int = 1, noise_type: str = "spherical", *, floor: float = 1e-6, unit: Any = None
    ) -> None:
        if noise_type not in NOISES:
            raise ValueError(f"noise_type={noise_type!r} is unknown; use one of {', '.join(map(repr, NOISES))}.")
        if isinstance(n_factors, bool) or n_factors != int(n_factors) or n_factors < 1:
            raise ValueError(f"n_factors={n_factors!r} is not a whole number of at least 1.")
        super().__init__(floor=floor)
        self.n_factors, self.noise_type = int(n_factors), noise_type
        self.unit = None if unit is None else np.asarray(unit, dtype=np.float64)

    def sizes(self, n_columns: int) -> dict[str, int]:
        return {"k": self.n_factors}

    def units(self, scale: np.ndarray) -> np.ndarray:
        """What noise variances of columns are in proportion to when they start and, if spherical, remain so."""
        if self.noise_type == "diagonal":
            return scale
        unit = np.ones_like(scale) if self.unit is None else self.unit
        return unit * (scale / unit).mean()

    def least(self, scale: np.ndarray) -> Any:
        """Smallest noise variance of each column."""
        return self.floor * self.units(scale)

    def floored(self, mean: np.ndarray, loading: np.ndarray, noise: np.ndarray, *frame: np.ndarray) -> FactorParams:
        """Parameters of this family, above the floor; `frame` is their origin and scale."""
        return FactorParams(mean, loading, np.maximum(noise, self.least(frame[1])), *frame)

    # Learning

    def start(self, block: Block, resp: Any) -> FactorParams:
        """Class means, and the leading axes of what varies within classes, with missing cells at their class's mean."""
        origin, scale = location_and_scale(block)
        X = host(block.X)
        seen = ~np.isnan(X)
        x = np.where(seen, X - origin, 0.0)
        weighted = resp * block.weight[:, None]
        cells = weighted.T @ seen
        mean = (weighted.T @ x) / np.where(cells > 0, cells, 1.0)
        unit = np.sqrt(self.units(scale))
        within = np.where(seen, x - resp @ mean, 0.0) / unit * np.sqrt(block.weight / block.weight.sum())[:, None]
        value, axes = leading_axes(within, self.n_factors)
        rest = np.maximum((within**2).sum(axis=0) - axes**2 @ value, 0.0)
        rest = rest if self.noise_type == "diagonal" else np.full_like(rest, rest.mean())
        rest = np.maximum(rest, max(self.floor, 1e-3))
        loading = np.zeros((len(origin), self.n_factors))
        # An axis that starts at nothing would stay there.
        loading[:, : len(value)] = axes * np.sqrt(np.maximum(value - rest.mean(), 0.1 * value))
        loading, noise = loading * unit[:, None], rest * unit**2
        shared = (np.repeat(value[None], len(mean), axis=0) for value in (loading, noise))
        return self.floored(mean + origin, *shared, origin, scale)

    def one_pass(self, params: FactorParams, block: Block, mode: int, log_weight: np.ndarray, out: Any) -> Pass:
        n_classes, d, k = params.loading.shape
        gram = np.zeros((n_classes, d + 1, (k + 1) * (k + 2) // 2))
        cross, square = np.zeros((n_classes, d, k + 1)), np.zeros((n_classes, d))
        groups = block.patterns
        loglik = kernel("factor", backend(block.X))(
            block.X, groups.rows, groups.starts, groups.missing, *params.form, mode, log_weight, block.weight,
            block.labels, out, gram, cross, square,
        )  # fmt: skip
        return loglik, gram[:, -1, 0], FactorStats(gram, cross, square)

    def m_step(self, stats: FactorStats, params: FactorParams) -> FactorParams:
        cells, size = stats.gram[:, :-1, 0], stats.gram[:, -1, 0]
        learned = occupied(cells)
        gram = unpack(stats.gram)
        before = np.concatenate([params.shift[..., None], params.loading], axis=2)
        system = np.where(learned[..., None, None], gram[:, :-1], np.eye(self.n_factors + 1))
        # Where no row observes a column it keeps what it has.
        slope = np.where(learned[..., None], stats.cross, before)
        slope = np.linalg.solve(system, slope[..., None])[..., 0]
        rest = np.where(learned, stats.square - (slope * stats.cross).sum(axis=2), cells * params.noise)
        if self.noise_type == "spherical":
            unit = self.units(params.scale)
            alive, total = occupied(size), cells.sum(axis=1)
            pooled = (rest / unit).sum(axis=1) / np.where(alive, total, 1.0)
            noise = np.where(alive[:, None], np.multiply.outer(pooled, unit), params.noise)
        else:
            noise = np.where(learned, rest / np.where(learned, cells, 1.0), params.noise)
        shift, loading = slope[..., 0], slope[..., 1:]
        for c in np.flatnonzero(occupied(size)):
            center = gram[c, -1, 1:, 0] / size[c]
            spread = gram[c, -1, 1:, 1:] / size[c] - np.outer(center, center)
            shift[c] += loading[c] @ center
            loading[c] = loading[c] @ np.linalg.cholesky(spread)
        return self.floored(params.origin + shift, loading, noise, params.origin, params.scale)

    def redraw(self, params: Any, block: Block, resp: Any, rng: np.random.Generator) -> FactorParams:
        """Scores z of the rows, then μ, W and Ψ of the regression of every column on (1, z).

        In units of the columns' variances, loadings of a factor are N(0, 1/α), α gamma and drawn first: factors that the rows
        do not need vanish. Noise variances are inverse gamma, worth a row: without, they would stay where they are, near 0.
        """
        X, d, k = host(block.X) - params.origin, len(params.scale), self.n_factors
        score, inverse = self.scores(params, block)
        root, group, unit = np.linalg.cholesky(unpack(inverse)), groups_of(block.patterns), self.units(params.scale)
        drawn = []
        for c, weight in enumerate(resp.T):
            z = score[c] + np.einsum("nij,nj->ni", root[c][group], rng.standard_normal((len(X), k)))
            Z, size = np.column_stack([np.ones(len(X)), z]), weight.sum()
            squares = (params.loading[c] ** 2 / unit[:, None]).sum(axis=0)
            relevance = rng.gamma(0.5 * d + 1.0, 1.0 / (0.5 * squares + 1.0))
            prior = np.append(WEAK, relevance) / unit[:, None]
            weighted = (Z * weight[:, None]).T
            precision = weighted @ Z / params.noise[c][:, None, None] + prior[:, :, None] * np.eye(k + 1)
            triangle = np.linalg.cholesky(precision).swapaxes(1, 2)
            slope = np.linalg.solve(precision, (weighted @ X / params.noise[c]).T[..., None])
            slope = (slope + np.linalg.solve(triangle, rng.standard_normal((d, k + 1, 1))))[..., 0]
            varies = self.spread_within(weight @ (X - weight @ X / max(size, 1.0)) ** 2, size, params)[1]
            slope = np.where(varies[:, None], slope, np.eye(k + 1)[0] * params.shift[c][:, None])
            rest = weight @ (X - Z @ slope.T) ** 2 / unit + PRIOR_NOISE
            if self.noise_type == "spherical":
                noise = unit * (rest.sum() / rng.chisquare(d * (size + 1.0)))
            else:
                noise = np.where(varies, unit * (rest / rng.chisquare(size + 1.0, d)), params.noise[c])
            drawn.append((params.origin + slope[:, 0], slope[:, 1:], noise))
        mean, loading, noise = map(np.array, zip(*drawn))
        return self.floored(mean, loading, noise, params.origin, params.scale)

    def free(self, params: FactorParams) -> np.ndarray:
        """Means and loadings in units of the data, and log noise variances."""
        root = np.sqrt(params.scale)
        noise = params.noise if self.noise_type == "diagonal" else params.noise[:, :1]
        parts = params.shift / root, params.loading / root[:, None], np.log(noise)
        return np.concatenate([part.ravel() for part in parts])

    def bound(self, vector: np.ndarray, params: FactorParams) -> FactorParams:
        root = np.sqrt(params.scale)
        shift, loading, noise = np.split(vector, np.cumsum([params.mean.size, params.loading.size]))
        # A leap may ask for any number; beyond these the likelihood refuses it anyway.
        noise = np.exp(np.clip(noise, -600.0, 600.0)).reshape(len(params.mean), -1)
        noise = noise * (1.0 if self.noise_type == "diagonal" else params.noise / params.noise[:, :1])
        mean, loading = shift.reshape(params.mean.shape) * root, loading.reshape(params.loading.shape) * root[:, None]
        return self.floored(params.origin + mean, loading, noise, params.origin, params.scale)

    def coordinates(self, params: FactorParams) -> Record:
        """As `free`, which is one to one but for rotations of the factors."""
        root, proper = np.sqrt(params.scale), self.prior is not None
        loading = Real(params.loading, unit=root[:, None], proper=proper)
        if self.noise_type == "diagonal":
            noise: Any = Positive(params.noise, params.scale, proper)
        else:
            noise = Shared(params.noise / params.noise[:, :1] * params.scale.mean(), proper)
        return Record(params, mean=Real(params.mean, params.origin, root, proper), loading=loading, noise=noise)

    def score(self, stats: FactorStats, params: FactorParams) -> dict[str, np.ndarray]:
        gram, count = unpack(stats.gram)[:, :-1], stats.gram[:, :-1, 0]
        slope = np.concatenate([params.shift[..., None], params.loading], axis=2)
        fitted = np.einsum("kdij,kdj->kdi", gram, slope)
        rest = stats.square - (slope * (2.0 * stats.cross - fitted)).sum(axis=2)
        rise = (stats.cross - fitted) / params.noise[..., None]
        noise = 0.5 * (rest / params.noise - count) / params.noise
        return {"mean": rise[..., 0], "loading": rise[..., 1:], "noise": noise}

    # What the classes are

    def widened(self, params: FactorParams, size: float) -> FactorParams:
        return replace(params, loading=np.sqrt(size) * params.loading, noise=size * params.noise)

    def variance(self, params: FactorParams) -> np.ndarray:
        return (params.loading**2).sum(axis=2) + params.noise

    def known(self, **values: Any) -> Any:
        raise TypeError(
            "FactorGaussian.of is not defined; use FullGaussian.of with covariance = loading @ loading.T + noise."
        )

    def parameters(self, params: FactorParams) -> dict[str, np.ndarray]:
        return {"mean": params.mean, "loading": params.loading, "noise": params.noise}

    def permute(self, params: FactorParams, order: Any) -> FactorParams:
        return FactorParams(params.mean[order], params.loading[order], params.noise[order], params.origin, params.scale)

    def collapsed(self, params: FactorParams, weight: Any) -> tuple[int, ...]:
        # A floor set by hand far above rounding is a choice: estimates on it are what was asked for.
        share = min(1.0, 1e-6 / self.floor) if self.floor > 0 else 0.0
        low = params.noise <= 2.0 * share * self.least(params.scale)
        return tuple(np.flatnonzero(low.any(axis=1)).tolist())

    def n_parameters(self, params: FactorParams) -> int:
        n_classes, d = params.mean.shape
        return n_classes * int(n_parameters(min(self.n_factors, d), d, self.noise_type))

    def sample(self, params: FactorParams, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        z = rng.standard_normal((len(classes), self.n_factors))
        noise = rng.standard_normal((len(classes), params.mean.shape[1]))
        X = params.mean[classes] + noise * np.sqrt(params.noise[classes])
        for c in np.unique(classes):
            X[classes == c] += z[classes == c] @ params.loading[c].T
        return X

    # What is hidden

    def scores(self, params: FactorParams, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """E[z] of every row under each class, (classes, rows, k), and Var[z] of every pattern, (classes, groups, pairs)."""
        n_classes, _, k = params.loading.shape
        groups = block.patterns
        score = np.empty((n_classes, len(block), k))
        inverse = np.empty((n_classes, len(groups.missing), k * (k + 1) // 2))
        kernel("factor_scores", backend(block.X))(
            block.X, groups.rows, groups.starts, groups.missing, *params.form, score, inverse
        )
        return score, inverse

    filled = Family.filled  # through the scores, not through matrices of all pairs of columns

    def law(self, params: FactorParams, block: Block) -> Law:
        score, inverse = self.scores(params, block)
        rows, columns = block.missing_cells
        group = groups_of(block.patterns)[rows]
        means, variances = [], []
        for c, loading in enumerate(params.loading):
            i, j = np.tril_indices(loading.shape[1])
            products = loading[:, i] * loading[:, j] * np.where(i == j, 1.0, 2.0)
            means.append((score[c][rows] * loading[columns]).sum(axis=1) + params.mean[c, columns])
            variances.append((inverse[c][group] * products[columns]).sum(axis=1) + params.noise[c, columns])
        return NormalLaw(np.array(means).T, np.array(variances).T)

    def draw(self, params: Any, block: Block, resp: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        X, resp = host(block.X).astype(np.float64), host(resp)
        score, inverse = self.scores(params, block)
        group, classes = groups_of(block.patterns), draw_classes(resp, n_draws, rng)
        root = np.linalg.cholesky(unpack(inverse))
        z = rng.standard_normal((n_draws, len(X), self.n_factors))
        drawn = rng.standard_normal((n_draws, *X.shape))
        for c, loading in enumerate(params.loading):
            draws, rows = np.nonzero(classes == c)
            latent = score[c, rows] + np.einsum("nij,nj->ni", root[c, group[rows]], z[draws, rows])
            drawn[draws, rows] = params.mean[c] + latent @ loading.T + drawn[draws, rows] * np.sqrt(params.noise[c])
        return np.where(np.isnan(X), drawn, X)


def groups_of(patterns: Patterns) -> np.ndarray:
    """The pattern that each row has."""
    group = np.empty(len(patterns.rows), np.intp)
    group[patterns.rows] = np.repeat(np.arange(len(patterns.missing)), np.diff(patterns.starts))
    return group
