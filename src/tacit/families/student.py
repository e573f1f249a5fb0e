"""Multivariate Student t classes: x | k, u ~ N(μ_k, Σ_k / u),  u ~ Gamma(ν_k/2, ν_k/2).

E-step: E[u] and E[log u] of every row. M-step, with S_k = Σ r E[u (x − μ_k)(x − μ_k)ᵀ], n_k = Σ r and α_k = Σ r E[u] / n_k:

    μ_k = Σ r E[u x] / Σ r E[u],    Σ_k = S_k / (n_k α_k),    log(ν/2) − ψ(ν/2) = log α_k − Σ r E[log u] / n_k

where classes have volumes of their own; dividing by α_k takes fewer steps than the plain M-step α_k = 1, which is taken where
volumes are shared. One heavy-tailed u per row makes columns dependent: for independent columns use one family per column,
each with d = 1.

References
----------
Peel and McLachlan (2000), Robust mixture modelling using the t distribution.
Liu, Rubin and Wu (1998), Parameter expansion to accelerate EM: the PX-EM algorithm.
Hasannasab, Hertrich, Laus and Steidl (2021), Alternatives to the EM algorithm for ML estimation of location, scatter matrix, and
degree of freedom of the Student t distribution.
"""

from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betaln, digamma, gammaln, polygamma

from ..arrays import Arrays, record
from ..declared import SQUARES, Either, Numbers, Text, declare
from ..engine.coordinates import Positive, Record
from ..kernels import backend, cast, kernel
from ..source.block import Block
from .dense import DenseStats, FullGaussian, FullParams, about_origin
from .family import Family, occupied
from .gaussian import Pair, incomplete_rows, n_observed
from .laws import Law, StudentLaw
from .roots import increasing_root
from .scores import dense_score, gaussian_coordinates
from .structured import StructuredDense, without_empty
from .structures import covariances, n_covariance_parameters

__all__ = ["LEAST_DF", "StudentT", "n_observed"]

LEAST_DF = 0.1
LARGE = 20.0
SEPARATE = ("EII", "VII", "EEI", "VVI", "EEE", "VVV")
MOST_DF = 1e9
NUMBERS = Numbers(low=LEAST_DF, high=MOST_DF)
LETTERS = {"full": "VVV", "tied": "EEE", "diag": "VVI", "spherical": "VII"}


def _phi(x: np.ndarray) -> np.ndarray:
    """ψ(x) − log x."""
    return digamma(x) - np.log(x)


def _log_gamma_ratio(a: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Log Γ(a + h) − log Γ(a) − h log a: for large a by Stirling's series, since differences of logarithms lose digits."""
    large = np.maximum(a, LARGE)
    series = (large + h - 0.5) * np.log1p(h / large) - h + _stirling(large + h) - _stirling(large)
    return np.where(a >= LARGE, series, gammaln(a + h) - gammaln(a) - h * np.log(a))


def _stirling(a: np.ndarray) -> np.ndarray:
    """Log Γ(a) less its leading terms, to 1e-16 from 20 up."""
    square = 1.0 / (a * a)
    return (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0))) / a


def _sums(params: Any) -> tuple[np.ndarray, ...]:
    """Zeros for the statistics of the kernels."""
    k, d = params.mean.shape
    return np.zeros(k), np.zeros(k), np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))


@record
class StudentParams(FullParams):
    """Scale matrices (classes, d, d) in the place of covariances, and degrees of freedom (classes,)."""

    df: np.ndarray
    _saved = FullParams._saved | {"df": Numbers("K", low=LEAST_DF, high=MOST_DF)}

    @cached_property
    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """ν, c(ν, o) and ψ((ν + o)/2) − log(ν/2), the last two for o = 0 … d observed cells."""
        df, half = self.df[:, None], 0.5 * np.arange(self.mean.shape[1] + 1)
        return (
            self.df,
            _log_gamma_ratio(0.5 * df, half) - half * np.log(2.0 * np.pi),
            digamma(0.5 * df + half) - np.log(0.5 * df),
        )

    @cached_property
    def form(self) -> tuple:
        """Arguments of the complete-row kernel: strips of P, (μ − o)P, log|P|, strip width."""
        return self.strips(0.0)


@record
class StudentStats(Arrays):
    """Σ r, Σ r E[log u], Σ r E[u], Σ r E[u(x − o)] and Σ r E[u(x − o)(x − o)ᵀ] of each class, and Σ r of complete rows."""

    count: np.ndarray
    log_u: np.ndarray
    pull: np.ndarray
    first: np.ndarray
    second: np.ndarray
    whole: np.ndarray
    _summed = declare(
        count=Numbers("K", low=0), pull=Numbers("K", low=0), second=Numbers("K d d", form="scatter", high=SQUARES),
        whole=Numbers("K", low=0),
    )  # fmt: skip


class StudentT(StructuredDense):
    """Student t classes over joint columns.

    Parameters
    ----------
    structure : str
        Structure of the scale matrices: one of `tacit.families.STRUCTURES`, or full, tied, diag or spherical.
    floor : float
        Smallest scale in any direction, relative to the data's variance.
    df : {"free", "shared"} or float
        Degrees of freedom: learned for each class, learned for all together, or given.
    df_init, max_df : float
        Where learned ones start, and the most they may become.
    """

    conjugate = None  # the weights of rows are hidden
    exact = False  # a step improves: the weights of rows are hidden

    _params_type = StudentParams
    _saved = StructuredDense._saved | {
        "df": Either(Text(("free", "shared")), NUMBERS),
        "df_init": NUMBERS,
        "max_df": NUMBERS,
    }

    def __init__(
        self,
        structure: str = "full",
        *,
        floor: float = 1e-6,
        df: Any = "free",
        df_init: float = 10.0,
        max_df: float = 1e6,
    ) -> None:
        super().__init__(LETTERS.get(structure, structure), floor=floor)
        self.df, self.df_init, self.max_df = df, df_init, max_df

    @property
    def learns_df(self) -> bool:
        """Whether degrees of freedom are learned."""
        return isinstance(self.df, str)

    support = "StudentT"

    def variance(self, params: Any) -> np.ndarray:
        """Infinite, or where even the mean does not exist NaN, for few degrees of freedom."""
        df, square = params.df[:, None], np.diagonal(params.covariance, axis1=1, axis2=2)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(df > 2, square * df / (df - 2), np.where(df > 1, np.inf, np.nan))

    def parameters(self, params: Any) -> dict[str, np.ndarray]:
        return {"mean": params.mean, "scale": params.covariance, "df": params.df}

    def known(self, *, mean: Any, scale: Any) -> Any:  # type: ignore[override]
        if self.learns_df:
            raise TypeError("StudentT.of takes mean, scale and df, a number, but df is not given.")
        return super().known(mean=mean, covariance=scale)

    def entropy(self, params: Any) -> np.ndarray:
        half, d = 0.5 * params.df, params.mean.shape[1]
        constant = 0.5 * d * np.log(np.pi * params.df) - gammaln(0.5 * d) + betaln(0.5 * d, half)
        return 0.5 * params.posterior[3] + constant + (half + 0.5 * d) * (digamma(half + 0.5 * d) - digamma(half))

    def kl(self, params: Any, other: Any) -> np.ndarray:
        raise NotImplementedError(
            "the divergence of Student t distributions has no closed form; average log_prob differences over samples."
        )

    def permute(self, params: Any, order: Any) -> StudentParams:
        return self.params(params.mean[order], params.covariance[order], params.origin, params.scale, params.df[order])

    def params(self, *arrays: np.ndarray) -> StudentParams:
        """Mean, scale matrices, origin and scale as parameters; degrees of freedom may come last."""
        if len(arrays) == 4:
            arrays = *arrays, np.full(len(arrays[0]), float(self.df_init if self.learns_df else self.df))
        return StudentParams(*arrays)

    def pool(self, covariance: np.ndarray, n_classes: int) -> np.ndarray:
        d = len(covariance)
        if self.structure[2] == "I":
            covariance = np.diag(np.diag(covariance))
        if self.structure[1] == "I":
            covariance = np.eye(d) * np.trace(covariance) / d
        return super().pool(covariance, n_classes)

    def _complete(self, params: Any, block: Block, rest: tuple) -> tuple[float, Any]:
        X, rows, out = block.X, block.patterns.complete, _sums(params)
        # Tails may widen the data to where single precision knows little of a class: about the common origin it is far away.
        if block.dtype == np.float32 and (np.diagonal(params.covariance, axis1=1, axis2=2) < 1e-4 * params.scale).any():
            X = X.astype(np.float64) if backend(X) == "cpu" else X
        form = cast(params.form, X)
        loglik = kernel("student", backend(X))(X, rows, params.origin, *form, *params.tables, *rest, *out)
        sums: Any = (*out, out[0])
        return loglik, StudentStats(*sums)

    def _incomplete(self, params: Any, block: Block, rest: tuple) -> tuple[float, Any]:
        count, log_u, *moments = out = _sums(params)
        loglik = kernel("student_conditional", backend(block.X))(
            *incomplete_rows(block), *params.posterior, *params.tables, *rest, *out
        )
        sums: Any = (count, log_u, *about_origin(params.shift, *moments), np.zeros_like(count))
        return loglik, StudentStats(*sums)

    def m_step(self, stats: Any, params: Any) -> StudentParams:
        alive = occupied(stats.count)
        count, pull = (np.where(alive, value, 1.0) for value in (stats.count, stats.pull))
        shift = np.where(alive[:, None], stats.first / pull[:, None], params.shift)
        W = stats.second - pull[:, None, None] * shift[:, :, None] * shift[:, None, :]
        covariance = self._learn(W, np.where(alive, count, 0.0), params.covariance, params.scale)
        expansion = self._expansion(alive, pull / count, covariance, params.scale)
        covariance = covariance / expansion[:, None, None]
        excess = pull / count / expansion - (stats.log_u / count - np.log(expansion)) - 1.0
        df = self._df(alive, count, excess, stats.whole / count, params)
        return self.params(params.origin + shift, covariance, params.origin, params.scale, df)

    def _learn(
        self, W: np.ndarray, count: np.ndarray, previous: np.ndarray, scale: np.ndarray, structured: bool = True
    ) -> np.ndarray:
        if self.structure not in SEPARATE:
            return super()._learn(W, count, previous, scale, structured)
        # Directions do not bear on each other, so that clipping is the maximum above the floor.
        W, count = without_empty(W, count, previous)
        covariance = covariances(self.structure, W, count, previous)
        return self.clip(covariance, scale if self.structure[1] != "I" else np.full(len(scale), scale.mean()))

    def _expansion(self, alive: np.ndarray, mean: np.ndarray, covariance: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """α_k: the mean weight where a class has a volume of its own and stays above the floor, else 1."""
        if self.structure[0] == "E":
            return np.ones(len(mean))
        unit = np.multiply.outer(np.sqrt(scale), np.sqrt(scale))
        least = np.linalg.eigvalsh(covariance / unit)[:, 0]
        return np.where(alive & (least / mean >= max(self.floor, 1e-13)), mean, 1.0)

    def _df(
        self, alive: np.ndarray, count: np.ndarray, excess: np.ndarray, whole: np.ndarray, params: Any
    ) -> np.ndarray:
        """Degrees of freedom from the excess of E[u] over E[log u], less 1; an empty class keeps its own.

        Of a share `whole` of the rows, all that is complete, E[log u] follows ν: far fewer steps than where it is held.
        """
        if not self.learns_df:
            return params.df
        d = params.mean.shape[1]
        excess = excess + whole * _phi(0.5 * (params.df + d))
        if self.df == "shared":
            excess, whole = (
                np.full(len(count), part[alive] @ count[alive] / count[alive].sum()) for part in (excess, whole)
            )
            alive = np.ones(len(count), bool)

        def gap(log_df: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            half, more = 0.5 * np.exp(log_df), 0.5 * (np.exp(log_df) + d)
            slope = polygamma(1, half) - 1.0 / half - whole * (polygamma(1, more) - 1.0 / more)
            return excess + _phi(half) - whole * _phi(more), half * slope

        top = np.log(self.max_df)
        found = increasing_root(gap, np.log(LEAST_DF), top, np.log(params.df))
        return np.where(alive, np.exp(np.minimum(found, top)), params.df)

    def moving(self, params: Any, image: Any) -> bool:
        """Whether degrees of freedom are still on their way, which the likelihood of many rows hardly shows."""
        return bool((np.abs(1.0 / params.df - 1.0 / image.df) > 3e-4).any())

    # Hidden weights

    def redraw(self, params: Any, block: Block, resp: Any, rng: np.random.Generator) -> StudentParams:
        """Given weights u of the rows, drawn too, classes are Gaussian; degrees of freedom by the bootstrap."""
        square, n_cells = self.distance(params, block)
        df = params.df[resp.argmax(axis=1)]
        u = rng.chisquare(df + n_cells) / (df + square[np.arange(len(block)), resp.argmax(axis=1)])
        core = FullParams(params.mean, params.covariance, params.origin, params.scale)
        drawn = FullGaussian(floor=self.floor).redraw(core, block, resp * u[:, None], rng)
        df = Family.redraw(self, params, block, resp, rng).df
        found = self.params(drawn.mean, drawn.covariance, params.origin, params.scale, df)
        return self.inside(found, params)

    @property
    def core(self) -> Any:
        return FullGaussian()

    def complete(self, params: Any, block: Block, resp: Any, *, return_cov: bool = False) -> Pair:
        filled, cov = super().complete(params, block, resp)
        if return_cov:
            parts = (self._spread(params, block, resp, filled, k) for k in range(len(params.mean)))
            cov = sum(parts, np.zeros(()))
        return filled, cov

    def _spread(self, params: Any, block: Block, resp: Any, filled: np.ndarray, k: int) -> np.ndarray:
        """What class k adds to the covariances of rows; infinite where two or fewer degrees of freedom are left."""
        mean, spread = super().complete(
            params, block, np.eye(len(params.mean))[[k]].repeat(len(filled), 0), return_cov=True
        )
        left = params.df[k] + n_observed(block)[:, 0] - 2.0
        with np.errstate(divide="ignore", invalid="ignore"):
            wider = np.where(left > 0, (params.df[k] + self.distance(params, block)[0][:, k]) / left, np.inf)
            spread = np.where(spread != 0, spread * wider[:, None, None], 0.0)
        apart = mean - filled
        return resp[:, k, None, None] * (spread + apart[:, :, None] * apart[:, None, :])

    def law(self, params: Any, block: Block) -> Law:
        """x_M | x_O is a Student t again, with ν + o degrees of freedom and wider where the observed cells lie far out."""
        mean, variance, square = self._given_others(params, block)
        rows = block.missing_cells[0]
        df = params.df + n_observed(block)[rows]
        return StudentLaw(mean, np.sqrt(variance * (params.df + np.maximum(square.T[rows], 0.0)) / df), df)

    def noise(self, params: Any, block: Block, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        noise = super().noise(params, block, classes, rng)
        rows = np.arange(len(block))
        df = params.df[classes]
        u = rng.chisquare(df + n_observed(block)[:, 0]) / (df + self.distance(params, block)[0][rows, classes])
        return noise / np.sqrt(u)[:, :, None]

    def sample(self, params: Any, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        X = super().sample(params, classes, rng)
        u = rng.chisquare(params.df[classes]) / params.df[classes]
        return params.mean[classes] + (X - params.mean[classes]) / np.sqrt(u)[:, None]

    # Accelerators and counts

    def coordinates(self, params: Any) -> Record:
        if self.structure != "VVV" or self.df == "shared":
            raise NotImplementedError(
                f"StudentT of structure {self.structure} with df={self.df!r} has no coordinates that are one to one; "
                "use full ones with df='free' or a number."
            )
        found = gaussian_coordinates(self, params)
        df = {"df": Positive(params.df, 10.0, False)} if self.learns_df else {}
        return Record(params, **found.fields, **df)

    def score(self, stats: Any, params: Any) -> dict[str, np.ndarray]:
        found = dense_score(DenseStats(stats.pull, stats.first, stats.second), params)
        precision = np.linalg.inv(params.covariance)
        found["covariance"] += 0.5 * (stats.pull - stats.count)[:, None, None] * precision
        half = 0.5 * params.df
        found["df"] = 0.5 * (stats.count * (1.0 - _phi(half)) + stats.log_u - stats.pull)
        return found

    def free(self, params: Any) -> np.ndarray:
        """Means, log-Cholesky factors and 1/ν, in which the Gaussian is not far away."""
        learned = 1.0 / params.df if self.learns_df else np.empty(0)
        return np.concatenate([super().free(params), learned])

    def bound(self, vector: np.ndarray, params: Any) -> StudentParams:
        if not self.learns_df:
            return super().bound(vector, params)
        vector, inverse = np.split(vector, [-len(params.df)])
        if self.df == "shared":
            inverse = np.full(len(inverse), inverse.mean())
        found = super().bound(vector, params)
        df = 1.0 / np.clip(inverse, 1.0 / self.max_df, 1.0 / LEAST_DF)
        return self.params(found.mean, found.covariance, found.origin, found.scale, df)

    def inside(self, params: Any, fallback: Any = None) -> StudentParams:
        found = super().inside(params, fallback)
        return self.params(found.mean, found.covariance, found.origin, found.scale, params.df)

    def n_parameters(self, params: Any) -> int:
        k, d = params.mean.shape
        learned = {"free": k, "shared": 1}.get(self.df, 0) if self.learns_df else 0
        return k * d + n_covariance_parameters(self.structure, k, d) + learned
