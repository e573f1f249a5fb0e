"""Columns of ordered levels, independent given the class: cut points that all classes share, and a location of each class.

    P(x_j ≤ l | k) = σ(c_jl − μ_kj),    c_j1 < … < c_j,L−1,    σ(t) = 1 / (1 + e^−t)

A logistic variable about μ_kj is seen only as the interval between cut points that it falls into (the cumulative logit, or
proportional odds). A class costs one parameter a column, where a categorical column costs L − 1; a single class has the shares of
the levels. Counts of levels by class suffice, and their log-likelihood is concave in cuts and locations.
"""

from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit, log_expit

from ..arrays import Arrays, record
from ..declared import Numbers, Part, declare
from ..kernels.layout import level_columns
from ..source.block import Block
from .discrete import Categorical
from .family import Family, occupied
from .laws import Law, OrderedLaw
from .linear import CellStats

__all__ = ["Ordinal"]

NARROWEST = 1e-8
"""Least distance between cut points."""
MOST_STEPS, SETTLED = 50, 1e-10


@record
class OrdinalParams(Arrays):
    """Locations (classes, d), and for each column its cut points in order; locations and cuts may be moved together."""

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

    conjugate = None
    _params_type = OrdinalParams
    _saved = {key: Categorical._saved[key] for key in ("n_levels", "floor")} | {"smoothing": Numbers(low=0)}

    def __init__(self, n_levels: Any, *, smoothing: float = 0.0, floor: float = 1e-10) -> None:
        super().__init__(n_levels, floor=floor)
        self.smoothing = smoothing
        if not smoothing >= 0:
            raise ValueError(f"smoothing={smoothing!r} must be at least 0.")

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

    def start(self, block: Block, resp: Any) -> OrdinalParams:
        flat = tuple(np.arange(n - 1.0) for n in self.n_levels)
        params = OrdinalParams(np.zeros((resp.shape[1], len(self.n_levels))), flat)
        stats = self.stats(params, block, resp * block.weight[:, None])
        pooled = stats.total.sum(axis=0) + 0.5
        cuts = []
        for levels in level_columns(self.n_levels):
            share = np.cumsum(pooled[levels])
            cuts.append(np.log(share[:-1] / (share[-1] - share[:-1])))
        learned = self.m_step(stats, OrdinalParams(params.location, tuple(cuts)))
        return OrdinalParams(0.9 * learned.location, learned.cuts)

    def m_step(self, stats: CellStats, params: OrdinalParams) -> OrdinalParams:
        return _Steps(self, stats.total + self.smoothing, params).climb()

    def log_prior(self, params: OrdinalParams) -> float:
        return self.smoothing * float(params.log_probability.sum()) if self.smoothing else 0.0

    def redraw(self, params: OrdinalParams, block: Block, resp: Any, rng: np.random.Generator) -> OrdinalParams:
        """The estimate from counts drawn about those seen, with half a row of all classes' shares in each."""
        total = self.stats(params, block, resp).total
        for levels in level_columns(self.n_levels):
            share = total[:, levels].sum(axis=0) + 0.5
            total[:, levels] += (0.5 + self.smoothing) * share / share.sum()
        return _Steps(self, np.maximum(rng.standard_gamma(total), np.finfo(float).tiny), params).climb()

    def permute(self, params: OrdinalParams, order: Any) -> OrdinalParams:
        return OrdinalParams(params.location[order], params.cuts)

    def n_columns(self, params: OrdinalParams) -> int:
        return len(self.n_levels)

    def parameters(self, params: OrdinalParams) -> dict[str, np.ndarray]:
        centre = params.location.mean(axis=0)
        return {"location": params.location - centre, "probability": params.probability}

    def law(self, params: OrdinalParams, block: Block) -> Law:
        return OrderedLaw(self.shares(params), block.missing_cells[1])

    def embed(self, block: Block, rng: np.random.Generator) -> np.ndarray:
        """Codes of unit variance: levels that are next to each other are close."""
        return Family.embed(self, block, rng)

    def free(self, params: OrdinalParams) -> np.ndarray:
        """Locations, the first cut of every column and the logs of the distances to the next."""
        gaps = [part for cuts in params.cuts for part in (cuts[:1], np.log(np.diff(cuts)))]
        return np.concatenate([params.location.ravel(), *gaps])

    def bound(self, vector: np.ndarray, params: OrdinalParams) -> OrdinalParams:
        place, rest = np.split(vector, [params.location.size])
        parts = np.split(rest, np.cumsum([n - 1 for n in self.n_levels])[:-1])
        cuts = [np.cumsum(np.append(part[:1], np.exp(np.clip(part[1:], -18.0, 4.0)))) for part in parts]
        return self.within(place.reshape(params.location.shape), cuts)

    def within(self, location: np.ndarray, cuts: Any) -> OrdinalParams:
        """Parameters with no location so far from the cuts that the level at an end is rarer than the floor."""
        reach = -np.log(max(self.floor, 1e-15))
        cuts = [np.clip(each, -1e3, 1e3) for each in cuts]
        cuts = [each[:1].sum() + np.append(0.0, np.cumsum(np.maximum(np.diff(each), NARROWEST)))[: len(each)] for each in cuts]
        low, high = ([each[end] if len(each) else 0.0 for each in cuts] for end in (0, -1))
        return OrdinalParams(np.clip(location, np.subtract(low, reach), np.add(high, reach)), tuple(cuts))

    def n_parameters(self, params: OrdinalParams) -> int:
        more = len(params.location) - 1
        return sum(n - 1 + more * (n > 1) for n in self.n_levels)


class _Steps:
    """Fisher's scoring for the counts of levels by class, all columns at once, with steps halved until they improve.

    For a column, θ = (c, μ) and ∂p_kl/∂θ = D: the score is Σ (N/p) D and the information Σ (n/p) D Dᵀ, to which the direction that
    moves cuts and locations together is added: nothing depends on it, and no step is taken along it.
    """

    def __init__(self, family: Ordinal, total: np.ndarray, params: OrdinalParams) -> None:
        self.family, self.params, widest = family, params, max(family.n_levels)
        self.inside = np.arange(widest) < np.array(family.n_levels)[:, None]
        self.count = np.zeros((len(self.inside), len(total), widest))
        self.count.swapaxes(0, 1)[:, self.inside] = total
        self.size = self.count.sum(axis=2)
        self.alive = occupied(self.size.T).T

    def objective(self, params: OrdinalParams) -> np.ndarray:
        """Expected log-likelihood of every column."""
        logs = np.zeros(self.count.shape)
        logs.swapaxes(0, 1)[:, self.inside] = params.log_probability
        return np.where(self.count > 0, self.count * logs, 0.0).sum(axis=(1, 2))

    def climb(self) -> OrdinalParams:
        """The parameters that maximise."""
        params, value = self.params, self.objective(self.params)
        for _ in range(MOST_STEPS):
            step = self.step(params)
            ahead, better, stuck = self.line(params, value, step)
            settled = np.abs(step).max(axis=1) < SETTLED
            params, value = ahead, better
            if (settled | stuck).all():
                break
        return params

    def line(self, params: OrdinalParams, value: np.ndarray, step: np.ndarray) -> tuple:
        """The parameters after each column's longest step, of 1, ½, ¼ …, that does not make it worse beyond rounding."""
        length, least = np.ones(len(step)), value - 1e-14 * np.abs(value)
        for _ in range(30):
            ahead = self.moved(params, step * length[:, None])
            better = self.objective(ahead)
            worse = ~(better >= least)
            if not worse.any():
                break
            length[worse] *= 0.5
        if worse.any():
            ahead = self.moved(params, step * np.where(worse, 0.0, length)[:, None])
            better = np.where(worse, value, better)
        return ahead, better, worse

    def moved(self, params: OrdinalParams, step: np.ndarray) -> OrdinalParams:
        widest = self.inside.shape[1] - 1
        cuts = [cuts + step[j, : len(cuts)] for j, cuts in enumerate(params.cuts)]
        if any((np.diff(each) < 0).any() for each in cuts):  # no column's cuts may change places
            cuts = [each if (np.diff(each) >= 0).all() else np.full_like(each, np.nan) for each in cuts]
        return self.family.within(params.location + step[:, widest:].T, cuts)

    def step(self, params: OrdinalParams) -> np.ndarray:
        """Fisher's step of every column, (d, cuts and classes)."""
        (d, n_classes, widest), inner = self.count.shape, self.inside[:, 1:]
        cuts = np.full(inner.shape, np.inf)
        cuts[inner] = np.concatenate(params.cuts)
        share = expit(cuts[:, None] - params.location.T[:, :, None])
        density = np.where(inner[:, None], share * (1.0 - share), 0.0)  # at the cuts, (d, classes, widest − 1)
        p = np.ones(self.count.shape)
        p.swapaxes(0, 1)[:, self.inside] = np.maximum(params.probability, 1e-300)
        edge = np.zeros((d, n_classes, widest + 1))
        edge[:, :, 1:-1] = density
        slope = np.zeros((d, n_classes, widest, widest - 1 + n_classes))
        at, each = np.arange(widest - 1), np.arange(n_classes)
        slope[:, :, at, at] = density
        slope[:, :, at + 1, at] = -density
        slope[:, each, :, widest - 1 + each] = -np.diff(edge, axis=2).swapaxes(0, 1)
        slope = slope.reshape(d, n_classes * widest, -1)
        score = ((self.count / p).reshape(d, 1, -1) @ slope)[:, 0]
        weight = np.where(self.inside[:, None], self.size[:, :, None] / p, 0.0).reshape(d, -1, 1)
        information = slope.swapaxes(1, 2) @ (weight * slope)
        used = np.hstack([inner, self.alive])
        scale = np.einsum("dii->d", information) / np.maximum(used.sum(axis=1), 1) + np.finfo(float).tiny
        diagonal = np.einsum("dii->di", information)
        diagonal += np.where(used, 1e-12 * scale[:, None], scale[:, None])
        information += scale[:, None, None] * (used[:, :, None] & used[:, None, :])
        return np.linalg.solve(information, np.where(used, score, 0.0)[:, :, None])[:, :, 0]
