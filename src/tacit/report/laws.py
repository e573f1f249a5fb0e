"""The law of a missing cell given the observed ones: a mixture over groups, p(y) = Σ_k w_k p_k(y), and its quantiles.

Every family says what p_k is: a Gaussian or Student t whose place and width depend on the row's other cells, or a distribution
of the column alone. A quantile of the mixture lies between the least and the greatest of its parts', where the root of
F(y) = Σ_k w_k F_k(y) = q is found: exactly, whatever the number of modes.
"""

import numpy as np
from scipy import stats
from scipy.special import ndtr, ndtri, pdtr, stdtr, stdtrit

from .. import families
from ..families.factor import FactorGaussian, groups_of
from ..kernels import lazy

__all__ = ["Normal", "PoissonLaw", "Scipy", "Spread", "Student", "law_of"]

completion = lazy("completion")
NEGLIGIBLE = 1e-12


class Law:
    """Distributions of m cells under each of K groups: arrays are (m, K).

    A subclass defines ``parts(q)``, the quantiles of the groups, ``cdf(y, rows)`` and, where it is continuous,
    ``density(y, rows)`` for the cells `rows`; ``means`` are the groups' expectations.
    """

    discrete = False
    means: np.ndarray

    def parts(self, q):
        """The q-quantile of every cell under every group."""
        raise NotImplementedError

    def cdf(self, y, rows):
        """Probability of at most y under every group, of these cells."""
        raise NotImplementedError

    def density(self, y, rows):
        """Density at y under every group, of these cells."""
        raise NotImplementedError

    def mean(self, weight):
        """Expectations of the cells under class probabilities (m, K)."""
        return (weight * self.means).sum(axis=1)

    def quantile(self, q, weight):
        """The q-quantile of every cell's mixture."""
        parts = self.parts(q)
        # A group that is next to impossible would only widen the bracket.
        alive = weight > NEGLIGIBLE
        low, high = np.where(alive, parts, np.inf).min(axis=1), np.where(alive, parts, -np.inf).max(axis=1)
        return self._count(q, weight, low, high) if self.discrete else self._root(q, weight, low, high)

    def _root(self, q, weight, low, high):
        """Newton's steps, with bisection where they leave the bracket; cells that have settled are left alone."""
        y, rows = 0.5 * (low + high), np.flatnonzero(high > low)
        small = 1e-10 * np.maximum(high - low, 1e-300)
        for step in range(200):
            if not len(rows):
                break
            w, at = weight[rows], y[rows]
            excess = (w * self.cdf(at, rows)).sum(axis=1) - q
            slope = (w * self.density(at, rows)).sum(axis=1)
            low[rows], high[rows] = np.where(excess < 0, at, low[rows]), np.where(excess < 0, high[rows], at)
            ahead = at - excess / np.maximum(slope, np.finfo(float).tiny)
            inside = (ahead >= low[rows]) & (ahead <= high[rows]) & (step % 3 < 2)
            y[rows] = np.where(inside, ahead, 0.5 * (low[rows] + high[rows]))
            rows = rows[np.abs(y[rows] - at) > small[rows]]
        return y

    def _count(self, q, weight, low, high):
        """The least whole number y with F(y) ≥ q, by bisection."""
        rows = np.flatnonzero(high > low)
        while len(rows):
            middle = np.floor(0.5 * (low[rows] + high[rows]))
            enough = (weight[rows] * self.cdf(middle, rows)).sum(axis=1) >= q
            low[rows], high[rows] = np.where(enough, low[rows], middle + 1), np.where(enough, middle, high[rows])
            rows = rows[high[rows] > low[rows]]
        return high


class Normal(Law):
    """Gaussian in every group, with these means and standard deviations; of log y where `log`."""

    def __init__(self, means, std, log=False):
        self.place, self.std, self.log = means, std, log
        self.means = np.exp(means + 0.5 * std**2) if log else means

    def parts(self, q):
        return self.place + ndtri(q) * self.std

    def cdf(self, y, rows):
        return ndtr((y[:, None] - self.place[rows]) / self.std[rows])

    def density(self, y, rows):
        z = (y[:, None] - self.place[rows]) / self.std[rows]
        return np.exp(-0.5 * z**2) / (np.sqrt(2 * np.pi) * self.std[rows])

    def quantile(self, q, weight):
        found = super().quantile(q, weight)
        return np.exp(found) if self.log else found


class Student(Law):
    """Student t in every group, with these places, widths and degrees of freedom."""

    def __init__(self, place, width, df):
        self.means, self.width, self.df = place, width, df

    def parts(self, q):
        return self.means + stdtrit(self.df, q) * self.width

    def cdf(self, y, rows):
        return stdtr(self.df[rows], (y[:, None] - self.means[rows]) / self.width[rows])

    def density(self, y, rows):
        return stats.t._pdf((y[:, None] - self.means[rows]) / self.width[rows], self.df[rows]) / self.width[rows]


class PoissonLaw(Law):
    """Poisson in every group."""

    discrete = True

    def __init__(self, rate):
        self.means = rate

    def parts(self, q):
        return stats.poisson.ppf(q, self.means)

    def cdf(self, y, rows):
        return pdtr(y[:, None], self.means[rows])


class Scipy(Law):
    """A distribution of `scipy.stats` in every group; its parameters are arrays (m, K)."""

    def __init__(self, distribution, *shape, scale=None, loc=0.0):
        self.distribution, self.shape, self.loc = distribution, shape, loc
        self.scale = {} if scale is None else {"scale": scale}
        self.discrete = hasattr(distribution, "pmf")
        self.means = distribution.mean(*shape, loc=loc, **self.scale)

    def _at(self, rows):
        return [value[rows] for value in self.shape], {name: value[rows] for name, value in self.scale.items()}

    def parts(self, q):
        return self.distribution.ppf(q, *self.shape, loc=self.loc, **self.scale)

    def cdf(self, y, rows):
        shape, scale = self._at(rows)
        return self.distribution.cdf(y[:, None], *shape, loc=self.loc, **scale)

    def density(self, y, rows):
        shape, scale = self._at(rows)
        return self.distribution.pdf(y[:, None], *shape, loc=self.loc, **scale)


class Spread(Law):
    """Only the cells' own expectations and standard deviations are known: quantiles are those of one Gaussian.

    What is left to families that say no more, such as a user's own or Dirichlet.
    """

    def __init__(self, mean, std):
        self.own, self.std = mean, std

    def mean(self, weight):
        return self.own

    def quantile(self, q, weight):
        return self.own + ndtri(q) * self.std


# What each family says


def law_of(family, params, block, resp, rows, columns):
    """The law of the missing cells (rows, columns) of a block, which are all it has, row by row."""
    if isinstance(family, FactorGaussian):
        return _low_rank(family, params, block, rows, columns)
    if isinstance(family, families.StudentT):
        return _student(params, block, rows)
    if isinstance(family, families.LogNormal):
        return Normal(params.mean[:, columns].T, np.sqrt(params.covariance[:, columns].T), log=True)
    if isinstance(family, families.Gaussian):
        return Normal(*_gaussian(family, params, block, rows, columns)[:2])
    if type(family) in ALONE:
        return ALONE[type(family)](family, _Columns(params, columns))
    filled, std = family.expect(params, block, resp)
    return Spread(filled[rows, columns], std[rows, columns])


class _Columns:
    """Parameters (classes, d) as arrays (cells, classes) of the column that each cell is in."""

    def __init__(self, params, columns):
        self.params, self.columns = params, columns

    def __getattr__(self, name):
        return getattr(self.params, name)[:, self.columns].T


ALONE = {
    families.Poisson: lambda family, at: PoissonLaw(at.rate),
    families.Geometric: lambda family, at: Scipy(stats.geom, at.probability, loc=-1.0),
    families.NegativeBinomial: lambda family, at: Scipy(stats.nbinom, at.size, at.size / (at.size + at.mean)),
    families.Bernoulli: lambda family, at: Scipy(stats.bernoulli, at.probability),
    families.Binomial: lambda family, at: Scipy(stats.binom, _trials(family, at), at.probability),
    families.Exponential: lambda family, at: Scipy(stats.expon, scale=1.0 / at.rate),
    families.Gamma: lambda family, at: Scipy(stats.gamma, at.shape, scale=1.0 / at.rate),
    families.Beta: lambda family, at: Scipy(stats.beta, at.a, at.b),
}
"""Families whose columns are independent given the group, and the law of a cell under each."""


def _trials(family, at):
    trials = np.broadcast_to(family.n_trials, at.params.probability.shape[1:])[at.columns]
    return np.broadcast_to(trials[:, None], (len(trials), len(at.params.probability)))


def _gaussian(family, params, block, rows, columns):
    """Conditional means and deviations of the cells, (cells, classes), and distances (classes, rows) of the observed ones."""
    if not family.matrices:
        variance = family.variance(params)
        return params.mean[:, columns].T, np.sqrt(variance[:, columns].T), None
    n_classes, holes = len(params.mean), block.patterns.incomplete
    first = np.searchsorted(rows, np.arange(len(block)))
    mean, variance = np.empty((n_classes, len(rows))), np.empty((n_classes, len(rows)))
    square = np.zeros((n_classes, len(block)))
    completion.parts(
        np.ascontiguousarray(block.X, dtype=np.float64), holes.rows, holes.starts, holes.missing, *params.posterior,
        first, mean, variance, square,
    )  # fmt: skip
    return mean.T, np.sqrt(np.maximum(variance.T, np.finfo(float).tiny)), square


def _student(params, block, rows):
    """x_M | x_O is a Student t again, with ν + o degrees of freedom and wider where the observed cells lie far out."""
    mean, std, square = _gaussian(families.StudentT, params, block, rows, None)
    n_seen = (~np.isnan(block.X)).sum(axis=1)[rows][:, None]
    df = params.df + n_seen
    return Student(mean, std * np.sqrt((params.df + np.maximum(square.T[rows], 0.0)) / df), df)


def _low_rank(family, params, block, rows, columns):
    score, inverse = family.scores(params, block)
    group = groups_of(block.patterns)[rows]
    means, variances = [], []
    for c, loading in enumerate(params.loading):
        i, j = np.tril_indices(loading.shape[1])
        products = loading[:, i] * loading[:, j] * np.where(i == j, 1.0, 2.0)
        means.append((score[c][rows] * loading[columns]).sum(axis=1) + params.mean[c, columns])
        variances.append((inverse[c][group] * products[columns]).sum(axis=1) + params.noise[c, columns])
    return Normal(np.array(means).T, np.sqrt(np.array(variances).T))
