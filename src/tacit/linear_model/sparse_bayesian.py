"""`ARDRegression` and `SparseBayesianRegression`: a prior precision for every coefficient, most of which grow without bound.

w_j ~ N(0, 1/λ_j),   y | x, w ~ N(b + wᵀx, α⁻¹);    λ_j = γ_j / w_j²,   γ_j = 1 − λ_j Σ_jj,   α = (n − Σ_j γ_j) / RSS
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import pinvh
from scipy.linalg.lapack import dpotrf, dpotri

from ..base.settings import KW_ONLY, settings
from ..checks import check_number
from ..declared import SQUARES, Numbers
from .bayesian import EvidenceModel, _traces
from .design import Design
from .evidence import Hyper
from .known import OwnPriors
from .spread import Estimate, Spread

__all__ = ["ARDRegression", "SparseBayesianRegression"]

UNNOTICED = 0.9  # share of a coefficient's prior variance that is left beyond which its column tells next to nothing
EM_STEPS = 3  # of precisions in each step of EM over missing features


@dataclass
class Relevance:
    """Precisions of one target, as they are learned."""

    design: Design
    target: int
    hyper: Hyper
    threshold: float
    alpha: float
    lambda_: np.ndarray
    tol: float

    def __post_init__(self) -> None:
        self.varies = self.design.variances > 0  # of a column that is constant there is nothing to learn
        self.keep()
        self.sigma, self.coef = np.zeros((0, 0)), np.zeros(self.design.shape[1])

    def keep(self) -> None:
        """Keep the columns whose precision is below the threshold."""
        self.kept = self.varies & (self.lambda_ < self.threshold)

    def solve(self) -> None:
        """The posterior of the kept coefficients at the precisions as they are."""
        kept, lambda_ = self.kept, self.lambda_[self.kept]
        self.coef = np.zeros(len(self.kept))
        if self.design.wide and len(lambda_) > self.design.shape[0]:
            self.sigma = self._dual(lambda_)
        else:
            gram = self._gram(kept)
            self.sigma = _inverse(self.alpha * gram + np.diag(lambda_))
        self.coef[kept] = self.alpha * (self.sigma @ self.design.cross[kept, self.target])

    def _gram(self, kept: np.ndarray) -> np.ndarray:
        """Sums of products of the kept columns."""
        if self.design.wide:
            X = self.design.X[:, kept]
            return X.T @ X
        return self.design.gram if kept.all() else self.design.gram[np.ix_(kept, kept)]

    def _dual(self, lambda_: np.ndarray) -> np.ndarray:
        """The posterior covariance from a matrix of the size of the rows: Λ⁻¹ − Λ⁻¹ Xᵀ (α⁻¹ I + X Λ⁻¹ Xᵀ)⁻¹ X Λ⁻¹."""
        X = self.design.X[:, self.kept]
        weighted = X / lambda_
        inner = _inverse(np.eye(len(X)) / self.alpha + weighted @ X.T)
        return np.diag(1.0 / lambda_) - weighted.T @ inner @ weighted

    @property
    def squares(self) -> float:
        """Residual sum of squares."""
        return float(self.design.squares(self.coef[None], self.target)[0])

    def update(self, how: str) -> None:
        """One step of the precisions, by MacKay's fixed point or by EM, and what is then irrelevant."""
        h, kept = self.hyper, self.kept
        variance, squares = np.diagonal(self.sigma), self.squares
        gamma = 1.0 - self.lambda_[kept] * variance
        length = self.coef[kept] ** 2
        if how == "fixed_point":
            count, rows = gamma, self.design.weight - gamma.sum()
        else:
            count, rows = np.ones(len(gamma)), self.design.weight
            length, squares = length + variance, squares + gamma.sum() / self.alpha
        self.lambda_[kept] = (count + 2.0 * h.lambda_1) / np.maximum(length + 2.0 * h.lambda_2, 1e-300)
        self.alpha = float((rows + 2.0 * h.alpha_1) / max(squares + 2.0 * h.alpha_2, 1e-300))
        self.keep()
        self.coef[~self.kept] = 0.0

    def drop(self) -> bool:
        """Drop columns whose precision would grow without bound, and say whether there were any.

        So the evidence as a function of λ_j alone says where q² ≤ s, with s = 1/Σ_jj − λ_j and q = w_j/Σ_jj (Faul and Tipping).
        """
        kept, variance = np.flatnonzero(self.kept), np.diagonal(self.sigma)
        share = self.lambda_[kept] * variance
        gone = kept[(self.coef[kept] ** 2 / variance <= 1.0 - share) & (share > UNNOTICED)]
        self.varies[gone] = False
        self.keep()
        return len(gone) > 0

    def score(self) -> float:
        """The log evidence of the kept columns at the posterior as it is, as scikit-learn has it but for constants."""
        h, lambda_ = self.hyper, self.lambda_
        prior = (h.lambda_1 * np.log(lambda_) - h.lambda_2 * lambda_).sum() + h.alpha_1 * np.log(self.alpha)
        kept = lambda_[self.kept]
        length = float((kept * self.coef[self.kept] ** 2).sum())
        log_det = np.linalg.slogdet(self.sigma)[1] if len(self.sigma) else 0.0
        n = self.design.weight
        fit = log_det + n * np.log(self.alpha) + np.log(kept).sum() - n * np.log(2 * np.pi)
        return float(prior - h.alpha_2 * self.alpha + 0.5 * (fit - self.alpha * self.squares - length))

    @property
    def freedom(self) -> float:
        """Effective number of coefficients."""
        return float(self.kept.sum() - (self.lambda_[self.kept] * np.diagonal(self.sigma)).sum())

    def information(self) -> float:
        """Minus the information that the posterior of the kept coefficients has on their prior."""
        lambda_, length = self.lambda_[self.kept], self.coef[self.kept] ** 2 + np.diagonal(self.sigma)
        log_det = np.linalg.slogdet(self.sigma)[1] if len(lambda_) else 0.0
        return 0.5 * float(np.log(lambda_).sum() + log_det + len(lambda_) - lambda_ @ length)


def _inverse(matrix: np.ndarray) -> np.ndarray:
    """Inverse of a positive definite matrix; of one that rounding made singular the pseudo-inverse."""
    if not len(matrix):
        return matrix
    upper, failed = dpotrf(matrix, clean=True)
    if failed:
        return pinvh(matrix)
    found = dpotri(upper)[0]
    return np.triu(found) + np.triu(found, 1).T


@settings
class ARDRegression(EvidenceModel):
    """Sparse Bayesian regression; a drop-in for scikit-learn's, which also takes weights, missing features and several targets.

    Parameters
    ----------
    max_iter : int, default=300
        Steps at most.
    tol : float, default=1e-3
        Stop when the coefficients together move by less.
    alpha_1, alpha_2, lambda_1, lambda_2 : float, default=1e-6
        Shapes and rates of the gamma priors of the precisions of the noise (alpha) and the coefficients (lambda).
    compute_score : bool, default=False
        Whether the log evidence is computed at every step.
    threshold_lambda : float, default=1e4
        Columns whose precision grows beyond are dropped.
    fit_intercept : bool, default=True
        Whether there is an intercept, whose prior is flat.
    copy_X : bool, default=True
        Accepted for compatibility; X is never written to.
    verbose : bool, default=False
        Whether the end of the steps is printed.
    updates : {"fixed_point", "em"}, default="fixed_point"
        How precisions are learned: MacKay's fixed point or EM, which is much slower.
    scale : bool, default=False
        Whether precisions are those of columns divided by their standard deviations, so that units do not decide what is dropped.
    n_jobs : int or None, default=None
        Threads; None is all cores. Results do not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Posterior means, 0 of dropped columns.
    intercept_ : float or ndarray of shape (n_targets,)
    alpha_ : float or ndarray of shape (n_targets,)
        Precision of the noise.
    lambda_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Precisions of the coefficients.
    sigma_ : ndarray of shape (n_kept, n_kept) or (n_targets, n_features, n_features)
        Posterior covariance of the kept coefficients of one target; of all of several.
    scores_ : ndarray of shape (n_iter_,)
        Log evidence, if `compute_score`.
    n_iter_ : int

    References
    ----------
    Tipping (2001), Sparse Bayesian learning and the relevance vector machine. JMLR 1, 211–244.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.linear_model import ARDRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> model = ARDRegression().fit(X, 2 * X[:, 1] + rng.normal(size=100))
    >>> print(model.coef_[1].round(2))
    2.08
    """

    _: KW_ONLY
    max_iter: int = 300
    tol: float = 1e-3
    alpha_1: float = 1e-6
    alpha_2: float = 1e-6
    lambda_1: float = 1e-6
    lambda_2: float = 1e-6
    compute_score: bool = False
    threshold_lambda: float = 1e4
    fit_intercept: bool = True
    copy_X: bool = True
    verbose: bool = False
    updates: str = "fixed_point"
    scale: bool = False
    n_jobs: int | None = None
    _min_rows = 2
    _draws_by: ClassVar = OwnPriors
    _monotone = False  # a column that is dropped costs some evidence
    _saved: ClassVar = EvidenceModel._saved | {"lambda_": Numbers("d | m d", low=0, high=SQUARES)}

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("threshold_lambda", self.threshold_lambda, numbers.Real, 0)
        if self.updates == "given":
            raise ValueError(
                "updates='given' keeps precisions as they are, of which none are given; use 'fixed_point' or 'em'."
            )

    def _learn(self, design: Design, before: Any = None, exact: bool = True) -> Estimate:
        scale, (m, d) = self._scale(design, before), (len(design.total), design.shape[1])
        if design.wide and design.root_weight is not None:
            raise ValueError(
                f"X has {design.shape[0]} sparse rows and {d} columns, more than rows; give an ordinary array, or use Ridge."
            )
        scaled = design if (scale == 1.0).all() else design.scaled(scale)
        found, traces, steps = [], [], []
        for t in range(m):
            unit = self._unit(design.y_variance[t])
            start, lambda_ = self._start_alpha(design.y_variance[t]), np.full(d, 1.0 / unit)
            if before is not None:
                start, lambda_ = before[t], before[m + t * d : m + (t + 1) * d].copy()
            state = Relevance(
                scaled, t, self._hyper.of(unit), self.threshold_lambda / unit, start, lambda_, self.tol * unit**0.5
            )
            # A step of EM over missing features is followed by others, and precisions need not rest in each of them.
            scores, n_steps = self._maximise(state, self.max_iter if exact else EM_STEPS, exact)
            found.append(state)
            traces.append(scores)
            steps.append(n_steps)
        alpha, lambdas = np.array([state.alpha for state in found]), np.array([state.lambda_ for state in found])
        freedom = np.array([state.freedom for state in found])
        penalty = np.where([state.kept for state in found], lambdas / alpha[:, None] * scale**2, np.inf)
        covariance = None if exact else np.array([_whole(state, d) for state in found]) / np.outer(scale, scale)
        more = {
            "alpha_": self._one(alpha), "lambda_": self._one(lambdas), "n_iter_": max(steps),
            "scores_": _traces(traces, self._one_target),
        }  # fmt: skip
        return Estimate(
            np.array([state.coef for state in found]) / scale,
            self._noise(design, alpha, freedom) if exact else 1.0 / alpha,
            covariance, sum(state.information() for state in found), _spread(found, scale), freedom, penalty,
            np.concatenate([alpha, lambdas.ravel(), scale]), more,
        )  # fmt: skip

    def _maximise(self, state: Relevance, max_iter: int, exact: bool) -> tuple[list[float], int]:
        """Learn precisions until the coefficients rest; the evidence of every step, and the number of steps."""
        scores, before, step = [], None, 0
        for step in range(1, max_iter + 1):
            state.solve()
            state.update(self.updates)
            if exact and self.compute_score:
                scores.append(state.score())
            moved = np.inf if before is None else np.abs(before - state.coef).sum()
            before = state.coef
            if moved < state.tol or not state.kept.any():
                if self.verbose:
                    print(f"Converged after {step} iterations")
                break
        state.solve()
        return scores, step

    @property
    def relevant_(self) -> np.ndarray:
        """Which columns are kept, of the shape of `lambda_`."""
        return np.isfinite(self.penalty_).reshape(np.shape(self.lambda_))

    @property
    def sigma_(self) -> np.ndarray:
        """Posterior covariance of the kept coefficients; of several targets, that of all coefficients of each."""
        found = (self._check_spread().dense() / np.atleast_1d(self.alpha_)[:, None, None]).astype(self.coef_.dtype)
        return found[0][np.ix_(self.relevant_, self.relevant_)] if self.one_target_ else found


@settings
class SparseBayesianRegression(ARDRegression):
    """Sparse Bayesian regression whose precisions are those of standardised columns, learned until they rest.

    `ARDRegression` with other defaults, so that units of columns do not decide which are dropped; in the end columns are dropped
    whose precision would grow without bound, however slowly.

    Parameters
    ----------
    max_iter : int, default=1000
        Steps at most.
    tol : float, default=1e-5
        Stop when the coefficients together move by less.
    scale : bool, default=True
        Whether precisions are those of columns divided by their standard deviations, so that units do not decide what is dropped.
    alpha_1, alpha_2, lambda_1, lambda_2, compute_score, threshold_lambda, fit_intercept, copy_X, verbose, updates, n_jobs
        As in `ARDRegression`.

    Attributes
    ----------
    coef_, lambda_, sigma_
        As of `ARDRegression`; `relevant_` says which columns are kept.

    References
    ----------
    Tipping (2001), Sparse Bayesian learning and the relevance vector machine. JMLR 1, 211–244.
    Faul and Tipping (2002), Analysis of sparse Bayesian learning. NIPS 14.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.linear_model import SparseBayesianRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5)) * [1, 1e-6, 1, 1, 1]
    >>> SparseBayesianRegression().fit(X, 2e6 * X[:, 1] + rng.normal(size=100)).relevant_
    array([False,  True, False, False, False])
    """

    _: KW_ONLY
    max_iter: int = 1000
    tol: float = 1e-5
    scale: bool = True

    def _maximise(self, state: Relevance, max_iter: int, exact: bool) -> tuple[list[float], int]:
        scores, steps = super()._maximise(state, max_iter, exact)
        while exact and state.drop():
            more, further = super()._maximise(state, max_iter, exact)
            scores, steps = scores + more, steps + further
        return scores, steps


def _whole(state: Relevance, d: int) -> np.ndarray:
    """Posterior covariance of all coefficients, 0 of dropped ones."""
    found = np.zeros((d, d))
    found[np.ix_(state.kept, state.kept)] = state.sigma
    return found


def _spread(found: list[Relevance], scale: np.ndarray) -> Spread:
    """The spread of the coefficients, in units of the noise variance."""
    widest = max(int(state.kept.sum()) for state in found)
    root = np.zeros((len(found), len(scale), widest))
    for t, state in enumerate(found):
        value, axes = np.linalg.eigh(state.sigma * state.alpha) if len(state.sigma) else (np.zeros(0), np.zeros((0, 0)))
        root[t, state.kept, : len(value)] = axes * np.sqrt(np.maximum(value, 0.0))
    return Spread(np.zeros(len(found)), root, scale)
