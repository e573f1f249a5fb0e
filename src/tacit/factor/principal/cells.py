"""Principal axes of rows with missing cells: those of x = m + W z + ε, ε ~ N(0, σ² I), learned from all observed cells by EM.

S = V Λ Vᵀ + σ² (I − V Vᵀ): PCA is the limit σ² → 0, in which a missing cell stands where the other cells of its row put it
"""

import warnings
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...arrays import Arrays, record
from ...families.factor import n_parameters
from ...kernels import host
from ...mixture import GaussianMixture
from ..moments import cell_moments
from .axes import Axes, deviations
from .ppca import ProbabilisticPCA
from .rank import RankChoice, Spectrum, check_total, degrees_left, rank_of
from .routes import oriented

__all__ = ["Cells", "from_cells"]

MOST = 50  # components that are looked for where no number is given
PATIENCE = 3  # ranks without improvement after which a search ends


@record
class Residuals(Arrays):
    """Sum of squares of what a fit leaves of observed cells."""

    square: float


class Cells:
    """Rows with missing cells, and the fits of all ranks that were asked for.

    Parameters
    ----------
    source : Source
        Rows.
    scaled : bool
        Whether columns are divided by their standard deviations.
    names : sequence of str, optional
        Names of columns, for messages.
    settings : dict
        Of `ProbabilisticPCA`.
    """

    def __init__(self, source, scaled, names=None, **settings):
        self.source, self.scaled, self.settings = source, bool(scaled), settings
        known = cell_moments(source)
        self.total, self.weight, self.mean, self.variance = known.rows, known.weight, known.mean, known.variance
        self.pairs = known.pairs
        self.d = source.n_features
        scale = deviations(self.mean, self.variance, scaled, names)
        self.scale = np.ones(self.d) if scale is None else scale
        self.models: dict = {}

    def model(self, rank):
        """Probabilistic PCA of a rank below the number of columns, fitted once."""
        if rank not in self.models:
            # A cell is missing: no pass need look for the closed form.
            model = ProbabilisticPCA(rank, scale=self.scaled, solver="em", **self.settings)
            self.models[rank] = model.fit(self.source)
        return self.models[rank]

    @property
    def most(self):
        """The greatest rank that is tried where none is given."""
        return int(min(self.d - 1, max((self.total - 1) // 2, 1), MOST))

    @property
    def noise(self):
        """Noise variance without any component, relative to the scale."""
        return float((self.weight * self.variance / self.scale**2).sum() / self.weight.sum())

    @cached_property
    def saturated(self):
        """Mean and covariance of one Gaussian: probabilistic PCA with a component less than columns, learned in fewer steps."""
        model = GaussianMixture(1, tol=1e-7, max_iter=1000, accelerate="anderson", n_jobs=self.settings.get("n_jobs"))
        model.fit(self.source)
        return model.means_[0].astype(np.float64), model.covariances_[0].astype(np.float64)

    def _whole(self):
        """The `Axes` of all columns."""
        mean, covariance = self.saturated
        values, axes = np.linalg.eigh(covariance / np.multiply.outer(self.scale, self.scale))
        values = np.maximum(values[::-1], 0.0)
        scale = self.scale if self.scaled else None
        return Axes(
            mean, scale, oriented(np.ascontiguousarray(axes[:, ::-1].T)), values, self.variance, float(values[-1])
        )

    def axes(self, rank):
        """The `Axes` of a rank; the last of all columns has the noise variance itself."""
        scale, spread = self.scale if self.scaled else None, self.variance
        if rank == 0 or self.d == 1:
            return Axes(self.mean, scale, np.eye(self.d)[:rank], np.full(self.d, self.noise), spread, self.noise)
        if rank >= self.d - 1:
            whole = self._whole()
            return replace(whole, axes=whole.axes[:rank])
        model = self.model(rank)
        noise = model.noise_variance_
        axes, values = model.components_.astype(np.float64), model.explained_variance_.astype(np.float64)
        values = np.append(values, np.full(self.d - len(values), noise))
        return Axes(model.mean_.astype(np.float64), scale, oriented(axes), values, spread, noise)

    def spectrum(self, n_rows):
        """Eigenvalues of the fit of the greatest rank, as those of so many complete rows."""
        found = self.axes(self.most).unbiased(self.total)
        return Spectrum(found.variances, n_rows, self.d, None if self.scaled else found.spread)

    def bic(self, rank):
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

    def error(self, rank):
        """Generalised cross-validation error of a rank per observed cell."""
        if rank == 0:
            square = float((self.weight * self.variance / self.scale**2).sum())
        else:
            square = self.source.sum(partial(_residuals, self.model(rank), self.scale)).square
        cells = float(self.weight.sum())
        free = degrees_left(rank, self.total, self.d, self.total * self.d - cells)
        return cells * square / free**2 if free > 0 else np.inf

    def choose(self, method, **simulations):
        """The `RankChoice` of a method of `rank.METHODS` or of a share of the variance."""
        check_total(self.total)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of ranks that are only tried
            if method in ("bic", "cv"):
                return _search(self.bic if method == "bic" else self.error, self.most, method)
            # Eigenvalues of incomplete rows spread as those of as many rows as tell of a pair of columns.
            return rank_of(self.spectrum(self.pairs if method == "parallel" else self.total), method, **simulations)


def _residuals(model, scale, block):
    """Squares of observed cells less their rank-k approximation, which takes missing cells at their expectation."""
    X, weight = host(block.X).astype(np.float64), host(block.weight)
    apart = (_filled(model, block) - model.mean_) / scale
    apart -= (apart @ model.components_.T) @ model.components_
    return Residuals(float(weight @ np.where(np.isnan(X), 0.0, apart**2).sum(axis=1)))


def _filled(model, block):
    return model._family().filled(model._params().components, block, np.ones((len(block), 1)))


def _search(criterion, most, method):
    """The rank with the least criterion, from 0 on, until none has improved on it for a while."""
    values: list = []
    for rank in range(most + 1):
        values.append(criterion(rank))
        if rank - int(np.argmin(values)) >= PATIENCE:
            break
    return RankChoice(int(np.argmin(values)), method, np.arange(len(values)), np.array(values))


def from_cells(source, n_components, scaled, names=None, simulations=None, **settings):
    """`Axes` of rows with missing cells, the `RankChoice` where the number of components was to be chosen, and the rows' weight.

    Parameters
    ----------
    source : Source
        Rows.
    n_components : int, float, str or None
        Number of components, a share of the variance, a method of `rank.METHODS`, or None for as many as can be told.
    scaled, names, settings
        As in `Cells`.
    simulations : dict, optional
        Settings of parallel analysis.
    """
    cells = Cells(source, scaled, names, **settings)
    if n_components is None:
        return cells.axes(cells.d if cells.most == cells.d - 1 else cells.most), None, cells.total
    if isinstance(n_components, (int, np.integer)):
        return cells.axes(int(n_components)), None, cells.total
    choice = cells.choose(n_components, random_state=settings.get("random_state"), **simulations or {})
    return cells.axes(choice.rank), choice, cells.total
