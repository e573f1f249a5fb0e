"""`LogisticModel`: log p(y | x) = log softmax_y(B x + b), with a prior of independent coefficients, as the engine learns it.

    objective  Σ_i w_i log p(y_i | x_i) − ½ Σ_kj α_j B_kj² − Σ_kj c_j |B_kj|

Two classes have one score, that of the second against the first. The engine climbs in coordinates U with B = U R⁻ᵀ, where RᵀR is
about the curvature at B = 0: gradients alone then lead to the maximum in few passes, whatever the columns' scales.
"""

from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import Arrays, record
from ..engine import Model, Slope
from ..engine.coordinates import Chart
from ..engine.newton import solve_definite
from ..kernels import backend, empty, host, kernel
from ..source import Block, Source, SparseSource

__all__ = ["LogisticModel", "LogisticParams", "ascending", "class_codes", "coordinates", "scores", "squares"]

WHITENED = 400
"""Most columns whose products are summed to whiten them; beyond, they are only scaled."""
SEPARATED = 0.1
"""Change of a score by a Newton step at the end of a fit that tells of a maximum at infinity; at a maximum it is about 0."""
LARGEST_SEPARATED, STEPS = 500, 8
"""Most coefficients for which such steps are taken, and how many."""


@record
class LogisticParams(Arrays):
    """Coefficients B (scores, d) and intercepts b (scores,)."""

    slope: np.ndarray
    offset: np.ndarray

    @property
    def joined(self) -> np.ndarray:
        """[B, b]."""
        return np.column_stack([self.slope, self.offset])


class LogisticModel(Model):
    """A softmax regression, or for two classes a logistic one.

    Parameters
    ----------
    n_scores : int
        1 for two classes, else as many as there are classes.
    ridge, lasso : (d + 1,) arrays
        α and c; the last entry is that of intercepts.
    intercept : bool
        Whether there are intercepts to learn.
    class_weight : (classes,) array
        Factors of the rows' weights.
    frame : (q, q) or (q,) array, optional
        R, or its diagonal; default 1.
    hold : (d + 1,) array, optional
        Curvature that is added, for Newton's method, where all of several classes gain the same, which changes nothing unless
        it is penalised: on the path from 0 such gains sum to 0, so that no step changes, and the curvature becomes definite.
    """

    one_start = True

    def __init__(
        self, n_scores: int, ridge: np.ndarray, lasso: np.ndarray, intercept: bool, class_weight: np.ndarray,
        frame: np.ndarray | None = None, hold: np.ndarray | None = None,
    ):  # fmt: skip
        self.n_scores, self.ridge, self.lasso, self.class_weight = n_scores, ridge, lasso, class_weight
        self.n_terms = len(ridge) - (not intercept)
        self.intercept, self.frame = intercept, frame
        self.hold = None if hold is None else np.where((ridge > 0) | (lasso > 0), 0.0, hold)[: self.n_terms]

    @property
    def start(self) -> LogisticParams:
        """All coefficients 0."""
        return LogisticParams(np.zeros((self.n_scores, len(self.ridge) - 1)), np.zeros(self.n_scores))

    # Coordinates

    def free(self, params: LogisticParams) -> np.ndarray:
        coef = params.joined[:, : self.n_terms]
        if self.frame is None:
            return coef.ravel()
        return (coef * self.frame if self.frame.ndim == 1 else coef @ self.frame.T).ravel()

    def bound(self, vector: np.ndarray, params: Any) -> LogisticParams:
        coef = np.zeros((self.n_scores, len(self.ridge)))
        coef[:, : self.n_terms] = self._down(vector.reshape(self.n_scores, self.n_terms))
        return LogisticParams(np.ascontiguousarray(coef[:, :-1]), coef[:, -1].copy())

    def coordinates(self, params: LogisticParams) -> Chart:
        """The coefficients. Of two classes the prior of the intercept is flat where it is not penalised."""
        if self.lasso.any():
            raise NotImplementedError("absolute values of coefficients have no gradient at 0; use l1_ratio=0.")
        ridge = np.tile(self.ridge[: self.n_terms], self.n_scores)
        proper = ridge > 0
        if self.intercept and self.n_scores == 1:
            proper[-1] = True
        return Chart(self, params, proper, 0.5 * float(np.log(ridge[ridge > 0] / (2.0 * np.pi)).sum()))

    def _down(self, U: np.ndarray) -> np.ndarray:
        """U R⁻ᵀ."""
        if self.frame is None:
            return U
        return U / self.frame if self.frame.ndim == 1 else solve_triangular(self.frame, U.T, check_finite=False).T

    def _pulled(self, gradient: np.ndarray) -> np.ndarray:
        """The gradient G of B as that of U, G R⁻¹."""
        if self.frame is None:
            return gradient.ravel()
        if self.frame.ndim == 1:
            return (gradient / self.frame).ravel()
        return solve_triangular(self.frame, gradient.T, trans=1, check_finite=False).T.ravel()

    # The objective

    def slope(self, params: LogisticParams, block: Block, order: int = 1) -> Slope:
        codes = class_codes(block)
        weight = block.weight * like_rows(self.class_weight, block)[codes]
        shape = (self.n_scores, len(self.ridge))
        gradient, curvature = np.zeros(shape), np.zeros(shape * 2 if order > 1 else 0)
        pass_over = kernel("softmax", backend(block.X))
        loglik = pass_over(block.X, params.slope, params.offset, codes, weight, gradient, curvature)
        if order > 1:
            p = self.n_scores * self.n_terms
            curvature = curvature[:, : self.n_terms, :, : self.n_terms].reshape(p, p)
        else:
            curvature = np.zeros((0, 0))
        return Slope(loglik, float(weight.sum()), self._pulled(gradient[:, : self.n_terms]), curvature)

    def log_prior(self, params: LogisticParams) -> float:
        coef = params.joined
        return -float((0.5 * coef**2 @ self.ridge + np.abs(coef) @ self.lasso).sum())

    def prior_slope(self, params: LogisticParams) -> tuple[np.ndarray, np.ndarray]:
        coef, ridge = params.joined[:, : self.n_terms], self.ridge[: self.n_terms]
        curvature = -np.diag(np.tile(ridge, self.n_scores))
        if self.n_scores > 1 and self.hold is not None:
            curvature -= np.tile(np.diag(self.hold), (self.n_scores, self.n_scores))
        return self._pulled(-coef * ridge), curvature


def class_codes(block: Block) -> Any:
    """Numbers of the classes of a block's rows, kept between passes."""
    if "codes" not in block.local:
        targets = block.targets[:, 0]
        block.local["codes"] = targets.long() if backend(targets) == "torch" else targets.astype(np.int64)
    return block.local["codes"]


def like_rows(values: np.ndarray, block: Block) -> Any:
    """A small array as one of the kind, and on the device, of the rows."""
    if backend(block.weight) != "torch":
        return values
    made = empty(values.shape, block.weight)
    made[...] = made.new_tensor(values)
    return made


def scores(params: LogisticParams, block: Block) -> np.ndarray:
    """B x + b of rows, (rows, scores)."""
    X = block.X
    if backend(X) == "torch":
        return host(X.double() @ X.new_tensor(params.slope.T).double()) + params.offset
    return X @ params.slope.T.astype(np.float64) + params.offset


def squares(source: Source, class_weight: np.ndarray) -> np.ndarray:
    """Σ w x_j² of every column, and Σ w."""

    def of(block: Block) -> np.ndarray:
        X, weight = block.X, host(block.weight) * class_weight[host(class_codes(block))]
        square = X.matrix.power(2) if backend(X) == "sparse" else host(X).astype(np.float64) ** 2
        return np.append(weight @ square, weight.sum())

    return source.sum(of)


def coordinates(
    source: Source, ridge: np.ndarray, class_weight: np.ndarray, intercept: bool, n_scores: int, whole: bool = True
) -> np.ndarray:
    """R of `LogisticModel`, per unit of weight: the Cholesky factor of the curvature at 0, or of its diagonal.

    Parameters
    ----------
    source : Source
    ridge, class_weight, intercept, n_scores
        As in `LogisticModel`.
    whole : bool
        Whether R may be a matrix; it is none where columns are many, or sparse.
    """
    n_terms = len(ridge) - (not intercept)
    chance = 0.25 if n_scores == 1 else (1.0 - 1.0 / n_scores) / n_scores
    if not whole or n_terms > WHITENED or isinstance(source, SparseSource):
        found = squares(source, class_weight)
        size = (chance * found + ridge) / found[-1]
        return np.sqrt(np.where(size > 0, size, 1.0))[:n_terms]

    def products(block: Block) -> np.ndarray:
        X = host(block.X).astype(np.float64, copy=False)
        weight = host(block.weight) * class_weight[host(class_codes(block))]
        Z = np.column_stack([X, np.ones(len(X))]) * np.sqrt(weight)[:, None]
        return Z.T @ Z

    found = source.sum(products)
    found = ((chance * found + np.diag(ridge)) / found[-1, -1])[:n_terms, :n_terms]
    scale = np.sqrt(np.where(found.diagonal() > 0, found.diagonal(), 1.0))
    unit = found / np.outer(scale, scale) + 1e-8 * np.eye(n_terms)  # columns may depend on each other
    return np.linalg.cholesky(unit).T * scale


def ascending(model: LogisticModel, source: Source, params: LogisticParams) -> bool:
    """Whether the likelihood rises for ever along a direction, because no row's own class loses against another one.

    Directions that are tried are the coefficients and then Newton's steps on from them, which come to go along such a direction,
    the rest being settled, or to nothing.

    Parameters
    ----------
    model : LogisticModel
        In coordinates B.
    source : Source
    params : LogisticParams
        Where the fit ended.
    """
    if _margins(model, source, params)[0] > 0.0:
        return True
    if model.n_scores * model.n_terms > LARGEST_SEPARATED:
        return False
    for _ in range(STEPS):
        found = source.sum(partial(model.slope, params, order=2))
        step = solve_definite(-found.curvature - model.prior_slope(params)[1], found.gradient)
        worst, best = _margins(model, source, model.bound(step, params))
        if not best > SEPARATED:
            return False
        if worst > -1e-3 * best:
            return True
        params = model.bound(model.free(params) + step, params)
    return False


def _margins(model: LogisticModel, source: Source, way: LogisticParams) -> tuple[float, float]:
    """The least and the most that the score of a row's own class gains on that of another one along a way."""

    def of(block: Block) -> np.ndarray:
        score, codes = scores(way, block), host(class_codes(block))
        if score.shape[1] == 1:
            score = np.column_stack([np.zeros(len(score)), score])
        rows = np.arange(len(score))
        own, taken = score[rows, codes], host(block.weight) * model.class_weight[codes] > 0
        score[rows, codes] = np.inf
        most = (own - score.min(axis=1))[taken]
        score[rows, codes] = -np.inf
        least = (own - score.max(axis=1))[taken]
        return np.array([least.min(initial=np.inf), -most.max(initial=-np.inf)])

    least, most = np.min(list(source.map(of)), axis=0)
    return float(least), -float(most)
