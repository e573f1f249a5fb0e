"""Principal axes of rows with missing cells: those of x = m + W z + ε, ε ~ N(0, σ² I), learned from all observed cells by EM.

S = V Λ Vᵀ + σ² (I − V Vᵀ): PCA is the limit σ² → 0, in which a missing cell stands where the other cells of its row put it
"""

import warnings
from functools import partial

import numpy as np
from scipy.linalg import null_space
from sklearn.exceptions import ConvergenceWarning

from ..arrays import Arrays, record
from ..kernels import host
from .axes import Axes, deviations
from .moments import cell_moments
from .ppca import ProbabilisticPCA
from .rank import RankChoice, Spectrum, degrees_left, n_parameters, rank_of
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
        self.d = source.n_features
        # Of observed cells of each column, with divisor n − 1 as everywhere in PCA.
        self.unbiased = self.total / (self.total - 1.0)
        scale = deviations(self.mean, self.variance, scaled, names)
        self.scale = np.ones(self.d) if scale is None else scale
        self.models: dict = {}

    def model(self, rank):
        """Probabilistic PCA of a rank below the number of columns, fitted once."""
        if rank not in self.models:
            self.models[rank] = ProbabilisticPCA(rank, scale=self.scaled, **self.settings).fit(self.source)
        return self.models[rank]

    @property
    def most(self):
        """The greatest rank that is tried where none is given."""
        return int(max(1, min(self.d - 1, (self.total - 1) // 2, MOST)))

    @property
    def noise(self):
        """Noise variance without any component, relative to the scale."""
        return float((self.weight * self.variance / self.scale**2).sum() / self.weight.sum())

    def axes(self, rank):
        """The `Axes` of a rank; the last of all columns has the noise variance itself."""
        scale = self.scale * np.sqrt(self.unbiased) if self.scaled else None
        factor = 1.0 if self.scaled else self.unbiased
        spread = self.variance * self.unbiased
        if rank == 0 or self.d == 1:
            noise = self.noise * factor
            return Axes(self.mean, scale, np.eye(self.d)[:rank], np.full(self.d, noise), spread, noise)
        model = self.model(min(rank, self.d - 1))
        noise = model.noise_variance_ * factor
        axes, values = model.components_.astype(np.float64), model.explained_variance_.astype(np.float64) * factor
        if rank == self.d:
            axes = np.vstack([axes, null_space(axes).T])
        values = np.append(values, np.full(self.d - len(values), noise))
        return Axes(model.mean_.astype(np.float64), scale, oriented(axes), values, spread, noise)

    def spectrum(self, rank):
        """Eigenvalues of the fit of a rank."""
        found = self.axes(rank)
        return Spectrum(found.variances, self.total, self.d, None if self.scaled else found.spread)

    def bic(self, rank):
        """BIC of a rank, of the likelihood of the observed cells."""
        if rank == 0:
            log_noise = np.log(2.0 * np.pi * self.noise * self.scale**2)
            loglik = -0.5 * float(self.weight @ (log_noise + 1.0))
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
        if method in ("bic", "cv"):
            return _search(self.bic if method == "bic" else self.error, self.most, method)
        return rank_of(self.spectrum(self.most), method, **simulations)


def _residuals(model, scale, block):
    """Squares of observed cells less their rank-k approximation, which takes missing cells at their expectation."""
    X, weight = host(block.X).astype(np.float64), host(block.weight)
    apart = (_filled(model, block) - model.mean_) / scale
    apart -= (apart @ model.components_.T) @ model.components_
    return Residuals(float(weight @ np.where(np.isnan(X), 0.0, apart**2).sum(axis=1)))


def _filled(model, block):
    return model._family().expect(model._params().components, block, np.ones((len(block), 1)))[0]


def _search(criterion, most, method):
    """The rank with the least criterion, from 0 on, until none has improved on it for a while."""
    values: list = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of ranks that are only tried
        for rank in range(most + 1):
            values.append(criterion(rank))
            if rank - int(np.argmin(values)) >= PATIENCE:
                break
    return RankChoice(int(np.argmin(values)), method, np.arange(len(values)), np.array(values))


def from_cells(source, n_components, scaled, names=None, simulations=None, **settings):
    """`Axes` of rows with missing cells, and the `RankChoice` where the number of components was to be chosen.

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
        return cells.axes(cells.d if cells.most == cells.d - 1 else cells.most), None
    if isinstance(n_components, (int, np.integer)):
        return cells.axes(int(n_components)), None
    choice = cells.choose(n_components, random_state=settings.get("random_state"), **simulations or {})
    return cells.axes(choice.rank), choice
