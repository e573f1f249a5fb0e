"""Columns of ordered levels, independent given the class: cut points that all classes share, and a location of each class.

    P(x_j ≤ l | k) = σ(c_jl − μ_kj),    c_j1 < … < c_j,L−1,    σ(t) = 1 / (1 + e^−t)

A logistic variable about μ_kj is seen only as the interval between cut points that it falls into (the cumulative logit, or
proportional odds). A class costs one parameter a column, where a categorical column costs L − 1; a single class has the shares of
the levels. Counts of levels by class suffice, and their log-likelihood is concave in cuts and locations.
"""

from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_expit

from ..arrays import Arrays, record
from ..declared import Numbers, Part, declare
from ..kernels import lazy
from ..kernels.layout import level_columns
from ..source.block import Block
from .discrete import Categorical
from .family import Family
from .laws import Law, OrderedLaw
from .linear import CellStats

__all__ = ["Ordinal"]

compiled = lazy("ordinal")
NARROWEST = 1e-8
"""Least distance between cut points."""
STOP = 50, 1e-9
"""Most steps of Newton's method in an M-step, and what one moves at most where the parameters have settled."""


@record
class OrdinalParams(Arrays):
    """Locations (classes, d), and for each column its cut points in order; only differences of the two count."""

    location: np.ndarray
    cuts: tuple
    _saved = declare(location=Numbers("K d", high=1e4), cuts=Part(tuple))

    @cached_property
    def log_probability(self) -> np.ndarray:
        """Of all levels side by side, (classes, Σ levels)."""
        column = np.repeat(np.arange(len(self.cuts)), [len(cuts) + 1 for cuts in self.cuts])
        above = np.concatenate([np.append(cuts, np.inf) for cuts in self.cuts])
        below = np.concatenate([np.append(-np.inf, cuts) for cuts in self.cuts])
        return log_between(below - self.location[:, column], above - self.location[:, column])

    @cached_property
    def probability(self) -> np.ndarray:
        """As `log_probability`."""
        return np.exp(self.log_probability)


def log_between(below: np.ndarray, above: np.ndarray) -> np.ndarray:
    """log(σ(above) − σ(below)), to full precision at either end."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return log_expit(above) + log_expit(-below) + np.log(-np.expm1(below - above))


class Ordinal(Categorical):
    """Columns of codes 0 … L − 1 whose order means something: answers from "never" to "always", grades, stages.

    Parameters
    ----------
    n_levels : int or sequence of int
        Number of levels of each column.
    smoothing : float
        Rows' worth added to every level of every class, so that no level is impossible.
    floor : float
        Smallest probability of the level at either end.

    Notes
    -----
    `mean` and `variance` are those of the indicator of each level, as for `Categorical`. A missing cell is filled with its most
    probable level, and its interval is one of levels.

    References
    ----------
    P. McCullagh, "Regression models for ordinal data", JRSS B 42(2), 1980.

    Examples
    --------
    >>> from tacit.families import Ordinal
    >>> Ordinal([3]).fit([0, 1, 1, 2]).mean.round(3)
    array([0.25, 0.5 , 0.25])
    """

    conjugate: Any = None
    _params_type: Any = OrdinalParams
    _saved = {key: Categorical._saved[key] for key in ("n_levels", "floor")} | {"smoothing": Numbers(low=0)}

    def __init__(self, n_levels: Any, *, smoothing: float = 0.0, floor: float = 1e-10) -> None:
        super().__init__(n_levels, floor=floor)
        self.smoothing = smoothing
        if not smoothing >= 0:
            raise ValueError(f"smoothing={smoothing!r} must be at least 0.")
        # Without it, locations of classes that never show a level run off, and nearly every leap fails.
        self.extrapolates = smoothing > 0

    @property
    def support(self) -> str:
        return f"Categorical({list(self.n_levels)})"

    def sizes(self, n_columns: int) -> dict[str, int]:
        return {}

    def check_params(self, params: Any, n_classes: int, n_columns: int) -> None:
        Family.check_params(self, params, n_classes, n_columns)
        found = [getattr(cuts, "shape", None) for cuts in params.cuts]
        if found != [(n - 1,) for n in self.n_levels] or len(found) != n_columns:
            raise ValueError(f"cut points of shapes {found} are not those of {list(self.n_levels)} levels")
        for cuts in params.cuts:
            Numbers("c", high=1e4).check("cuts", cuts, {}, self)
            if not (np.diff(cuts) > 0).all():
                raise ValueError("'cuts' are not in order")

    def known(self, **values: Any) -> Any:
        """One class with these probabilities of the levels; of a class alone, the location says nothing."""
        values.pop("location", None)
        p = np.maximum(Categorical(self.n_levels).known(**values).probability[0], self.floor)
        return self._placed(p, np.zeros((1, len(self.n_levels))))

    def _placed(self, share: np.ndarray, location: np.ndarray) -> OrdinalParams:
        """Parameters with these locations, and the cuts that give a class at 0 shares in proportion to these."""
        below = [np.cumsum(share[levels]) for levels in level_columns(self.n_levels)]
        return OrdinalParams(location, tuple(np.log(each[:-1] / (each[-1] - each[:-1])) for each in below))

    def start(self, block: Block, resp: Any) -> Any:
        flat = tuple(np.arange(n - 1.0) for n in self.n_levels)
        params = OrdinalParams(np.zeros((resp.shape[1], len(self.n_levels))), flat)
        stats = self.stats(params, block, resp * block.weight[:, None])
        learned = self.m_step(stats, self._placed(stats.total.sum(axis=0) + 0.5, params.location))
        return OrdinalParams(0.9 * learned.location, learned.cuts)

    def m_step(self, stats: CellStats, params: Any) -> Any:
        return self._learned(stats.total + self.smoothing, params)

    def _learned(self, total: np.ndarray, params: Any) -> Any:
        """The likeliest parameters for counts of levels by class, searched for from `params` on."""
        location, cuts = params.location.copy(), np.concatenate(params.cuts)
        levels = np.array(self.n_levels)
        compiled.cut_points(np.ascontiguousarray(total), levels, location, cuts, self.reach, NARROWEST, *STOP)
        return OrdinalParams(location, tuple(np.split(cuts, np.cumsum(levels - 1)[:-1])))

    @property
    def reach(self) -> float:
        """How far a location may be from the nearest cut: beyond, the level at an end is rarer than the floor."""
        return -np.log(max(self.floor, 1e-15))

    def log_prior(self, params: Any) -> float:
        return self.smoothing * float(params.log_probability.sum()) if self.smoothing else 0.0

    def redraw(self, params: Any, block: Block, resp: Any, rng: np.random.Generator) -> Any:
        """The estimate from counts drawn about those seen, with half a row of all classes' shares in each."""
        total = self.stats(params, block, resp).total
        for levels in level_columns(self.n_levels):
            share = total[:, levels].sum(axis=0) + 0.5
            total[:, levels] += (0.5 + self.smoothing) * share / share.sum()
        return self._learned(np.maximum(rng.standard_gamma(total), np.finfo(float).tiny), params)

    def permute(self, params: Any, order: Any) -> Any:
        return OrdinalParams(params.location[order], params.cuts)

    def n_columns(self, params: Any) -> int:
        return len(self.n_levels)

    def parameters(self, params: Any) -> dict[str, np.ndarray]:
        centre = params.location.mean(axis=0)
        return {"location": params.location - centre, "probability": params.probability}

    def law(self, params: Any, block: Block) -> Law:
        return OrderedLaw(self.shares(params), block.missing_cells[1])

    def embed(self, block: Block, rng: np.random.Generator) -> np.ndarray:
        """Codes of unit variance: levels that are next to each other are close."""
        return Family.embed(self, block, rng)

    def coordinates(self, params: Any) -> Any:
        return Family.coordinates(self, params)

    def free(self, params: Any) -> np.ndarray:
        """Locations, the first cut of every column and the logs of the distances to the next."""
        gaps = [part for cuts in params.cuts for part in (cuts[:1], np.log(np.diff(cuts)))]
        return np.concatenate([params.location.ravel(), *gaps])

    def bound(self, vector: np.ndarray, params: Any) -> Any:
        place, rest = np.split(vector, [params.location.size])
        parts = np.split(rest, np.cumsum([n - 1 for n in self.n_levels])[:-1])
        cuts = [np.cumsum(np.append(part[:1], np.exp(np.clip(part[1:], -18.0, 4.0)))) for part in parts]
        return self.within(place.reshape(params.location.shape), cuts)

    def within(self, location: np.ndarray, cuts: Any) -> Any:
        """Parameters within bounds."""
        cuts = [_apart(np.clip(each, -1e3, 1e3)) for each in cuts]
        low, high = ([each[end] if len(each) else 0.0 for each in cuts] for end in (0, -1))
        return OrdinalParams(np.clip(location, np.subtract(low, self.reach), np.add(high, self.reach)), tuple(cuts))

    def n_parameters(self, params: Any) -> int:
        more = len(params.location) - 1
        return sum(n - 1 + more * (n > 1) for n in self.n_levels)


def _apart(cuts: np.ndarray) -> np.ndarray:
    """Cut points moved up where they are too close to the one before."""
    least = NARROWEST * np.arange(len(cuts))
    return np.maximum.accumulate(cuts - least) + least
