"""Principal axes of rows with missing cells: those of x = m + W z + ε, ε ~ N(0, σ² I), learned from all observed cells by EM.

S = V Λ Vᵀ + σ² (I − V Vᵀ): PCA is the limit σ² → 0, in which a missing cell stands where the other cells of its row put it
"""

from __future__ import annotations

import warnings
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...arrays import Arrays, record
from ...families.factor import n_parameters
from ...kernels import host
from ...mixture import GaussianMixture
from ...source import Block, Source
from ..moments import cell_moments
from .axes import Axes, Told, deviations
from .ppca import ProbabilisticPCA
from .rank import RankChoice, check_total, degrees_left, least_rank, rank_of
from .routes import oriented

__all__ = ["Cells", "from_cells"]

MOST = 50  # components that are looked for where no number is given


@record
class Residuals(Arrays):
    """Sum of squares of what a fit leaves of observed cells."""

    square: float


class Cells:
    """Rows with missing cells, and the fits of all ranks that were asked for.

    Where `scaled`, columns are divided by their standard deviations; `settings` are those of `ProbabilisticPCA`.
    """

    def __init__(self, source: Source, scaled: bool, told: Told, **settings: Any):
        self.source, self.scaled, self.settings = source, bool(scaled), settings
        known = cell_moments(source)
        self.total, self.weight, self.mean, self.variance = known.rows, known.weight, known.mean, known.variance
        self.pairs = known.pairs
        self.d = source.n_features
        scale = deviations(self.mean, self.variance, scaled, told)
        self.scale = np.ones(self.d) if scale is None else scale
        self.models: dict[int, ProbabilisticPCA] = {}

    def model(self, rank: int) -> ProbabilisticPCA:
        """Probabilistic PCA of a rank below the number of columns, fitted once."""
        if rank not in self.models:
            # A cell is missing: no pass need look for the closed form.
            model = ProbabilisticPCA(rank, scale=self.scaled, solver="em", **self.settings)
            self.models[rank] = model.fit(self.source)
        return self.models[rank]

    @property
    def most(self) -> int:
        """The greatest rank that is tried where none is given."""
        return int(min(self.d - 1, max((self.total - 1) // 2, 1), MOST))

    @property
    def noise(self) -> float:
        """Noise variance without any component, relative to the scale."""
        return float((self.weight * self.variance / self.scale**2).sum() / self.weight.sum())

    @cached_property
    def saturated(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of one Gaussian: probabilistic PCA with a component less than columns, learned in fewer steps."""
        shared: dict[str, Any] = {name: self.settings.get(name) for name in ("n_jobs", "callback")}
        model = GaussianMixture(1, tol=1e-7, max_iter=1000, accelerate="anderson", **shared).fit(self.source)
        return model.means_[0].astype(np.float64), model.covariances_[0].astype(np.float64)

    def axes(self, rank: int) -> Axes:
        """The `Axes` of a rank; the last of all columns has the noise variance itself."""
        if rank == 0 or self.d == 1:
            return self._axes(self.mean, np.eye(self.d)[:rank], np.full(self.d, self.noise))
        if rank >= self.d - 1:
            mean, covariance = self.saturated
            values, axes = np.linalg.eigh(covariance / np.multiply.outer(self.scale, self.scale))
            axes = oriented(np.ascontiguousarray(axes[:, ::-1].T))[:rank]
            return self._axes(mean, axes, np.maximum(values[::-1], 0.0))
        model = self.model(rank)
        axes, values = oriented(model.components_.astype(np.float64)), model.explained_variance_.astype(np.float64)
        values = np.append(values, np.full(self.d - len(values), model.noise_variance_))
        return self._axes(model.mean_.astype(np.float64), axes, values)

    def _axes(self, mean: np.ndarray, axes: np.ndarray, values: np.ndarray) -> Axes:
        """The `Axes` with all eigenvalues, of which the last is the noise variance."""
        scale = self.scale if self.scaled else None
        return Axes(mean, scale, axes, values, self.variance, self.total, float(values[-1]))

    def bic(self, rank: int) -> float:
        """BIC of a rank, of the likelihood of the observed cells."""
        if rank == 0:
            least = np.finfo(np.float64).tiny
            log_noise = np.log(2.0 * np.pi * np.maximum(self.noise * self.scale**2, least))
            loglik = -0.5 * float(self.weight @ (log_noise + 1.0))
        elif self.model(rank).noise_variance_ <= self.settings.get("noise_floor", 1e-6) * self.noise * (1 + 1e-3):
            return np.inf  # there the likelihood tells of the floor
        else:
            loglik = self.total * self.model(rank).lower_bound_
        return -2.0 * loglik + np.log(self.total) * n_parameters(rank, self.d)

    def error(self, rank: int) -> float:
        """Generalised cross-validation error of a rank per observed cell."""
        if rank == 0:
            square = float((self.weight * self.variance / self.scale**2).sum())
        else:
            square = self.source.sum(partial(_residuals, self.model(rank), self.scale)).square
        cells = float(self.weight.sum())
        free = degrees_left(rank, self.total, self.d, self.total * self.d - cells)
        return cells * square / free**2 if free > 0 else np.inf

    def choose(self, method: str | float, **simulations: Any) -> RankChoice:
        """The `RankChoice` of a method of `rank.METHODS` or of a share of the variance."""
        check_total(self.total)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of ranks that are only tried
            if method in ("bic", "cv"):
                return least_rank(self.bic if method == "bic" else self.error, self.most, method)
            # Eigenvalues of incomplete rows spread as those of as many rows as tell of a pair of columns.
            found = self.axes(self.most).unbiased()
            return rank_of(found.spectrum(n_rows=self.pairs if method == "parallel" else None), method, **simulations)


def _residuals(model: ProbabilisticPCA, scale: np.ndarray, block: Block) -> Residuals:
    """Squares of observed cells less their rank-k approximation, which takes missing cells at their expectation."""
    X, weight = host(block.X).astype(np.float64), host(block.weight)
    filled = model._family().filled(model._params().components, block, np.ones((len(block), 1)))
    apart = (filled - model.mean_) / scale
    apart -= (apart @ model.components_.T) @ model.components_
    return Residuals(float(weight @ np.where(np.isnan(X), 0.0, apart**2).sum(axis=1)))


def from_cells(
    source: Source, n_components: Any, scaled: bool, told: Told, simulations: dict, **settings: Any
) -> tuple[Axes, RankChoice | None]:
    """`Axes` of rows with missing cells, and the `RankChoice` where the number of components was to be chosen.

    Without a number of components there are as many as can be told; `simulations` are settings of parallel analysis.
    """
    cells = Cells(source, scaled, told, **settings)
    if n_components is None:
        return cells.axes(cells.d if cells.most == cells.d - 1 else cells.most), None
    if isinstance(n_components, (int, np.integer)):
        return cells.axes(int(n_components)), None
    choice = cells.choose(n_components, random_state=settings.get("random_state"), **simulations)
    return cells.axes(choice.rank), choice
