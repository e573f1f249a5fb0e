"""The distribution of missing cells given what is observed: a mixture over classes, p(y) = Σ_k w_k p_k(y), and its quantiles.

Every family says what p_k is: a Gaussian or Student t whose place and width depend on the row's other cells, or a distribution
of the column alone. A quantile of the mixture lies between the least and the greatest of its parts', where the root of
F(y) = Σ_k w_k F_k(y) = q is found: exactly, whatever the number of modes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import betaln, ndtr, ndtri, stdtr, stdtrit

__all__ = [
    "JoinedLaw",
    "Law",
    "LevelLaw",
    "LogNormalLaw",
    "MappedLaw",
    "NormalLaw",
    "OrderedLaw",
    "QuantileLaw",
    "ScipyLaw",
    "StudentLaw",
]

NEGLIGIBLE = 1e-12


class Law:
    """Distributions of m cells of which only the moments under each of K classes are known; weights of classes are (m, K).

    Quantiles are those of a Gaussian with the cell's expectation and standard deviation: what is left to families that say
    no more, such as a user's own.

    Parameters
    ----------
    means, variances : (m, K) arrays
    """

    def __init__(self, means: np.ndarray, variances: np.ndarray) -> None:
        self.means, self.variances = means, variances

    @property
    def given(self) -> tuple:
        """What it was made of, arrays of one column per class."""
        return self.means, self.variances

    @classmethod
    def pooled(cls, laws: Sequence[Any]) -> Any:
        """The classes of several laws of the same cells, side by side."""
        return cls(*(np.hstack(arrays) for arrays in zip(*(law.given for law in laws))))

    def mean(self, weight: np.ndarray) -> np.ndarray:
        """Expectations of the cells."""
        return (weight * self.means).sum(axis=1)

    def std(self, weight: np.ndarray) -> np.ndarray:
        """Standard deviations of the cells; of a category, the probability that another level is the true one."""
        apart = self.means - self.mean(weight)[:, None]
        return np.sqrt((weight * (self.variances + apart**2)).sum(axis=1, where=weight > 0))

    def quantile(self, q: float, weight: np.ndarray) -> np.ndarray:
        """The q-quantile of every cell; of a category NaN."""
        return self.mean(weight) + ndtri(q) * self.std(weight)

    def probability(self, weight: np.ndarray) -> np.ndarray:
        """Probability of the most probable level of a category; of a number NaN."""
        return np.full(len(weight), np.nan)


class QuantileLaw(Law):
    """Distributions whose quantiles are taken exactly.

    A subclass defines ``parts(q)``, the quantiles under every class, ``cdf(y, rows)`` and, unless it is `discrete`,
    ``density(y, rows)`` of the cells `rows`.
    """

    discrete = False

    def parts(self, q: Any) -> np.ndarray:
        """The q-quantile of every cell under every class; q may differ from cell to cell, (m, 1)."""
        raise NotImplementedError

    def cdf(self, y: np.ndarray, rows: Any) -> np.ndarray:
        """Probability of at most y under every class, of these cells."""
        raise NotImplementedError

    def density(self, y: np.ndarray, rows: Any) -> np.ndarray:
        """Density at y under every class, of these cells."""
        raise NotImplementedError

    def quantile(self, q: float, weight: np.ndarray) -> np.ndarray:
        parts = self.parts(q)
        # A class that is next to impossible would only widen the bracket.
        alive = weight > NEGLIGIBLE
        low, high = np.where(alive, parts, np.inf).min(axis=1), np.where(alive, parts, -np.inf).max(axis=1)
        if self.discrete:
            return self._count(q, weight, low, high)
        total = np.where(alive, weight * np.where(alive, parts, 0.0), 0.0).sum(axis=1)
        start = total / np.maximum(weight.sum(axis=1, where=alive), NEGLIGIBLE)
        return self._root(q, weight, low, high, np.clip(start, low, high))

    def _root(self, q: float, weight: np.ndarray, low: np.ndarray, high: np.ndarray, start: np.ndarray) -> np.ndarray:
        """Newton's steps, and bisection where they leave the bracket or do not shrink; cells that have settled are left alone."""
        y, rows = start, np.flatnonzero(high > low)
        # The next of Newton's steps, whose errors square, would be nothing.
        small, before = 1e-9 * np.maximum(high - low, np.abs(y)), high - low
        for _ in range(200):
            if not len(rows):
                break
            w, at, below, above = weight[rows], y[rows], low[rows], high[rows]
            # NumPy adds up along short rows slowly.
            excess = np.einsum("mk,mk->m", w, self.cdf(at, rows)) - q
            slope = np.einsum("mk,mk->m", w, self.density(at, rows))
            below, above = np.where(excess < 0, at, below), np.where(excess < 0, above, at)
            newton = -excess / np.maximum(slope, np.finfo(float).tiny)
            ahead, half = at + newton, 0.5 * (below + above)
            inside = (ahead >= below) & (ahead <= above) & (np.abs(newton) <= 0.5 * before[rows])
            y[rows], low[rows], high[rows] = np.where(inside, ahead, half), below, above
            before[rows] = step = np.abs(y[rows] - at)
            near = inside & (
                np.abs(excess) < 1e-5
            )  # far modes make wide brackets, in which a small step may be a large one
            rows = rows[step > np.where(near, small[rows], 1e-4 * small[rows])]
        return y

    def _count(self, q: float, weight: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """The least whole number y with F(y) ≥ q, by bisection."""
        rows = np.flatnonzero(high > low)
        while len(rows):
            middle = np.floor(0.5 * (low[rows] + high[rows]))
            enough = (weight[rows] * self.cdf(middle, rows)).sum(axis=1) >= q
            low[rows], high[rows] = np.where(enough, low[rows], middle + 1), np.where(enough, middle, high[rows])
            rows = rows[high[rows] > low[rows]]
        return high


class NormalLaw(QuantileLaw):
    """Gaussian in every class."""

    def __init__(self, means: np.ndarray, variances: np.ndarray) -> None:
        super().__init__(means, variances)
        self.width = np.sqrt(variances)

    def parts(self, q: Any) -> np.ndarray:
        return self.means + ndtri(q) * self.width

    def cdf(self, y: np.ndarray, rows: Any) -> np.ndarray:
        return ndtr((y[:, None] - self.means[rows]) / self.width[rows])

    def density(self, y: np.ndarray, rows: Any) -> np.ndarray:
        z = (y[:, None] - self.means[rows]) / self.width[rows]
        return np.exp(-0.5 * z**2) / (np.sqrt(2 * np.pi) * self.width[rows])


class LogNormalLaw(QuantileLaw):
    """The logarithm is Gaussian in every class, with these means and variances."""

    def __init__(self, means: np.ndarray, variances: np.ndarray) -> None:
        expected = np.exp(means + 0.5 * variances)
        super().__init__(expected, np.expm1(variances) * expected**2)
        self.log = NormalLaw(means, variances)

    @property
    def given(self) -> tuple:
        return self.log.given

    def parts(self, q: Any) -> np.ndarray:
        return np.exp(self.log.parts(q))

    def cdf(self, y: np.ndarray, rows: Any) -> np.ndarray:
        return self.log.cdf(np.log(np.maximum(y, np.finfo(float).tiny)), rows)

    def density(self, y: np.ndarray, rows: Any) -> np.ndarray:
        y = np.maximum(y, np.finfo(float).tiny)
        return self.log.density(np.log(y), rows) / y[:, None]

    def quantile(self, q: float, weight: np.ndarray) -> np.ndarray:
        return np.exp(self.log.quantile(q, weight))


class StudentLaw(QuantileLaw):
    """Student t in every class, with these places, widths and degrees of freedom."""

    def __init__(self, place: np.ndarray, width: np.ndarray, df: np.ndarray) -> None:
        spread = np.where(df > 2, df / np.maximum(df - 2.0, np.finfo(float).tiny), np.inf)
        super().__init__(place, width**2 * spread)
        self.width, self.df = width, df

    @property
    def given(self) -> tuple:
        return self.means, self.width, self.df

    def parts(self, q: Any) -> np.ndarray:
        return self.means + stdtrit(self.df, q) * self.width

    def cdf(self, y: np.ndarray, rows: Any) -> np.ndarray:
        return stdtr(self.df[rows], (y[:, None] - self.means[rows]) / self.width[rows])

    def density(self, y: np.ndarray, rows: Any) -> np.ndarray:
        z, df = (y[:, None] - self.means[rows]) / self.width[rows], self.df[rows]
        log_unit = 0.5 * np.log(df) + betaln(0.5, 0.5 * df) + np.log(self.width[rows])
        return np.exp(-0.5 * (df + 1.0) * np.log1p(z**2 / df) - log_unit)


class ScipyLaw(QuantileLaw):
    """A distribution of `scipy.stats`, by name, in every class; its parameters are arrays (m, K)."""

    def __init__(self, means: np.ndarray, variances: np.ndarray, name: str, **shape: np.ndarray) -> None:
        super().__init__(means, variances)
        self.name, self.shape = name, shape

    @classmethod
    def pooled(cls, laws: Sequence[Any]) -> Any:
        means, variances = (np.hstack(arrays) for arrays in zip(*(law.given for law in laws)))
        shape = {key: np.hstack([law.shape[key] for law in laws]) for key in laws[0].shape}
        return cls(means, variances, laws[0].name, **shape)

    def _law(self, rows: Any = slice(None)) -> Any:
        from scipy import stats  # takes a while to load

        return getattr(stats, self.name)(**{key: value[rows] for key, value in self.shape.items()})

    @property
    def discrete(self) -> bool:  # type: ignore[override]
        return hasattr(self._law().dist, "pmf")

    def parts(self, q: Any) -> np.ndarray:
        return self._law().ppf(q)

    def cdf(self, y: np.ndarray, rows: Any) -> np.ndarray:
        return self._law(rows).cdf(y[:, None])

    def density(self, y: np.ndarray, rows: Any) -> np.ndarray:
        return self._law(rows).pdf(y[:, None])


class LevelLaw(Law):
    """Levels of categories: their expectation is the code of the most probable.

    Parameters
    ----------
    shares : list of (K, levels) arrays
        Probabilities of the levels of every column.
    columns : (m,) int array
        The column of each cell.
    """

    def __init__(self, shares: Sequence[np.ndarray], columns: np.ndarray) -> None:
        self.shares, self.columns = shares, columns

    @classmethod
    def pooled(cls, laws: Sequence[Any]) -> Any:
        return cls([np.vstack(shares) for shares in zip(*(law.shares for law in laws))], laws[0].columns)

    def with_uniform(self) -> Any:
        """The same law with one more class, in which all levels are equally probable."""
        return type(self)(
            [np.vstack([part, np.full(part.shape[1], 1.0 / part.shape[1])]) for part in self.shares], self.columns
        )

    def levels(self, column: int, weight: np.ndarray) -> np.ndarray:
        """Probabilities of the levels of the cells of a column, (cells, levels)."""
        return weight[self.columns == column] @ self.shares[column]

    def drawn(self, weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Codes of levels, drawn for every cell."""
        out = np.empty(len(weight))
        for j in np.unique(self.columns):
            reached = np.cumsum(self.levels(j, weight), axis=1)
            place = (rng.random((len(reached), 1)) * reached[:, -1:] >= reached).sum(axis=1)
            out[self.columns == j] = np.minimum(place, reached.shape[1] - 1)
        return out

    def _best(self, weight: np.ndarray, function: str) -> np.ndarray:
        out = np.empty(len(weight))
        for j in np.unique(self.columns):
            out[self.columns == j] = getattr(self.levels(j, weight), function)(axis=1)
        return out

    def mean(self, weight: np.ndarray) -> np.ndarray:
        return self._best(weight, "argmax")

    def std(self, weight: np.ndarray) -> np.ndarray:
        return 1.0 - self.probability(weight)

    def quantile(self, q: float, weight: np.ndarray) -> np.ndarray:
        return np.full(len(weight), np.nan)

    def probability(self, weight: np.ndarray) -> np.ndarray:
        return self._best(weight, "max")


class CellLaw(LevelLaw):
    """Levels of categories whose probabilities differ from cell to cell.

    Parameters
    ----------
    share : (m, K, most levels) array
        Probabilities of the levels of every cell under every class, 0 beyond its own.
    columns : (m,) int array
        The column of each cell.
    n_levels : tuple of int
        Numbers of levels of the columns.
    """

    def __init__(self, share: np.ndarray, columns: np.ndarray, n_levels: Sequence[int]) -> None:
        self.share, self.columns, self.n_levels = share, columns, n_levels

    @classmethod
    def pooled(cls, laws: Sequence[Any]) -> Any:
        return cls(np.concatenate([law.share for law in laws], axis=1), laws[0].columns, laws[0].n_levels)

    def with_uniform(self) -> Any:
        n = np.array(self.n_levels)[self.columns]
        even = (np.arange(self.share.shape[2]) < n[:, None]) / n[:, None]
        return CellLaw(np.concatenate([self.share, even[:, None]], axis=1), self.columns, self.n_levels)

    def levels(self, column: int, weight: np.ndarray) -> np.ndarray:
        here = self.columns == column
        return np.einsum("mk,mkl->ml", weight[here], self.share[here])[:, : self.n_levels[column]]


class OrderedLaw(LevelLaw):
    """Levels in an order, whose quantiles are codes of levels."""

    def quantile(self, q: float, weight: np.ndarray) -> np.ndarray:
        out = np.empty(len(weight))
        for j in np.unique(self.columns):
            here = self.columns == j
            reached = np.cumsum(self.levels(j, weight), axis=1) >= q * (1.0 - 1e-12)
            out[here] = np.where(reached.any(axis=1), reached.argmax(axis=1), reached.shape[1] - 1)
        return out


class JoinedLaw(Law):
    """Cells of several laws.

    Parameters
    ----------
    parts : list of (array, Law)
        Places of the cells of each law among all, and the law.
    """

    def __init__(self, parts: Sequence[tuple[np.ndarray, Law]]) -> None:
        self.parts = parts

    @classmethod
    def pooled(cls, laws: Sequence[Any]) -> Any:
        each = zip(*(law.parts for law in laws))
        return cls([(parts[0][0], type(parts[0][1]).pooled([law for _, law in parts])) for parts in each])

    def _each(self, weight: np.ndarray, function: str, *more: Any) -> np.ndarray:
        out = np.empty(len(weight))
        for places, law in self.parts:
            out[places] = getattr(law, function)(*more, weight[places])
        return out

    def mean(self, weight: np.ndarray) -> np.ndarray:
        return self._each(weight, "mean")

    def std(self, weight: np.ndarray) -> np.ndarray:
        return self._each(weight, "std")

    def quantile(self, q: float, weight: np.ndarray) -> np.ndarray:
        return self._each(weight, "quantile", q)

    def probability(self, weight: np.ndarray) -> np.ndarray:
        return self._each(weight, "probability")


class MappedLaw(Law):
    """Distributions of cells under classes that are made of those of another law.

    Parameters
    ----------
    law : Law
    turn : callable
        Turns weights of classes, (m, K), into weights of the classes of `law`.
    """

    def __init__(self, law: Law, turn: Callable[[np.ndarray], np.ndarray]) -> None:
        self.law, self.turn = law, turn

    @classmethod
    def pooled(cls, laws: Sequence[Any]) -> Any:
        def turn(weight: np.ndarray) -> np.ndarray:
            parts = np.split(weight, len(laws), axis=1)
            return np.hstack([law.turn(part) for law, part in zip(laws, parts)])

        return cls(type(laws[0].law).pooled([law.law for law in laws]), turn)

    def mean(self, weight: np.ndarray) -> np.ndarray:
        return self.law.mean(self.turn(weight))

    def std(self, weight: np.ndarray) -> np.ndarray:
        return self.law.std(self.turn(weight))

    def quantile(self, q: float, weight: np.ndarray) -> np.ndarray:
        return self.law.quantile(q, self.turn(weight))

    def probability(self, weight: np.ndarray) -> np.ndarray:
        return self.law.probability(self.turn(weight))
