"""`BayesianRidge` and `BayesianLinearRegression`: the posterior of coefficients whose prior and noise variance are learned.

w ~ N(0, λ⁻¹ I),   y | x, w ~ N(b + wᵀx, α⁻¹);    w | y ~ N(α Σ Xᵀy, Σ),   Σ = (λI + α XᵀX)⁻¹,   (α, λ) maximise p(y | α, λ)
"""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..checks import check_choice, check_number
from ..declared import SQUARES, Numbers, Whole
from .base import LinearModel
from .design import Design
from .evidence import UPDATES, Evidence, Hyper
from .known import OnePrior
from .spread import Estimate, Spread

__all__ = ["BayesianLinearRegression", "BayesianRidge", "EvidenceModel"]


class EvidenceModel(LinearModel):
    """Base of models whose noise and prior precisions maximise the evidence; it has the settings that they share."""

    max_iter: int
    tol: float
    alpha_1: float
    alpha_2: float
    lambda_1: float
    lambda_2: float
    compute_score: bool
    scale: bool
    updates: str
    alpha_: Any
    lambda_: Any
    scores_: np.ndarray
    n_iter_: int
    _draws_by: ClassVar[Any] = OnePrior
    _saved: ClassVar = LinearModel._saved | {
        "alpha_": Numbers(" | m", low=0, high=SQUARES),
        "scores_": Numbers("steps | steps m", high=SQUARES),
        "n_iter_": Whole(0),
    }

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("max_iter", self.max_iter, numbers.Integral, 1)
        check_number("tol", self.tol, numbers.Real, 0)
        for name in ("alpha_1", "alpha_2", "lambda_1", "lambda_2"):
            check_number(name, getattr(self, name), numbers.Real, 0)
        check_choice("updates", self.updates, UPDATES)

    @property
    def _hyper(self) -> Hyper:
        return Hyper(self.alpha_1, self.alpha_2, self.lambda_1, self.lambda_2)

    def _scale(self, design: Design, before: Any) -> np.ndarray:
        """What columns are divided by before they share a prior; the same in all steps of EM."""
        d = design.shape[1]
        if before is not None:
            return before[-d:]
        if not self.scale:
            return np.ones(d)
        variance = design.variances
        return np.sqrt(np.where(variance > 1e-26 * (variance + design.center**2), variance, 1.0))

    def _unit(self, variance: float) -> float:
        """Variance of the target that priors, `tol` and starts are relative to; 1 where they are in the target's own units."""
        return float(variance) if self.scale and variance > 0 else 1.0

    def _start_alpha(self, variance: float) -> float:
        """The precision of the noise to start from: one over the variance of the target."""
        unit = self._unit(variance)
        return 1.0 / (variance / unit + np.finfo(float).eps) / unit

    def _one(self, values: Any, dtype: Any = float) -> Any:
        """A number of every target; the number where there was one dimension."""
        return np.asarray(values[0], dtype=dtype)[()] if self._one_target else np.asarray(values, dtype=dtype)

    def _noise(self, design: Design, alpha: np.ndarray, freedom: np.ndarray) -> np.ndarray:
        """Noise variances with a degree of freedom less for the intercept, which the evidence takes as given."""
        if self.updates == "given":
            return 1.0 / alpha
        left = design.weight - freedom
        return left / np.maximum(left - float(self.fit_intercept), 1.0) / alpha

    @property
    def _prior(self) -> Any:  # type: ignore[override]
        return None if self.updates == "given" else self._draws_by

    def _noise_dof(self) -> np.ndarray:
        return np.full(len(self.dof_), 1e12) if self.updates == "given" else super()._noise_dof()

    @property
    def log_evidence_(self) -> Any:
        """Log evidence at the end, with the log density of the hyperparameters; of several targets an array."""
        check_is_fitted(self)
        if not len(self.scores_):
            raise AttributeError("log_evidence_ is known with compute_score=True.")
        return self.scores_[-1]


@settings
class BayesianRidge(EvidenceModel):
    """Bayesian linear regression by evidence; a drop-in for scikit-learn's that takes missing features and several targets.

    Parameters
    ----------
    max_iter : int, default=300
        Steps at most.
    tol : float, default=1e-3
        Stop when the coefficients together move by less.
    alpha_1, alpha_2, lambda_1, lambda_2 : float, default=1e-6
        Shapes and rates of the gamma priors of the precisions of the noise (alpha) and the coefficients (lambda).
    alpha_init, lambda_init : float or None, default=None
        Precisions to start from; default 1 over the variance of the target, and 1.
    compute_score : bool, default=False
        Whether the log evidence is computed at every step.
    fit_intercept : bool, default=True
        Whether there is an intercept, whose prior is flat.
    copy_X : bool, default=True
        Accepted for compatibility; X is never written to.
    verbose : bool, default=False
        Whether the end of the steps is printed.
    updates : {"fixed_point", "em", "given"}, default="fixed_point"
        How precisions are learned: MacKay's fixed point, EM, which is slower and never lowers the evidence, or not at all.
    scale : bool, default=False
        Whether the prior is on coefficients of columns divided by their standard deviations, so that units do not matter.
    n_jobs : int or None, default=None
        Threads; None is all cores. Results do not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Posterior means.
    intercept_ : float or ndarray of shape (n_targets,)
    alpha_, lambda_ : float or ndarray of shape (n_targets,)
        Precisions of the noise and of the coefficients.
    sigma_ : ndarray of shape (n_features, n_features) or (n_targets, n_features, n_features)
        Posterior covariance of the coefficients.
    scores_ : ndarray of shape (n_iter_ + 1,)
        Log evidence, if `compute_score`; `log_evidence_` is the last.
    n_iter_ : int
    noise_variance_, dof_ : ndarray of shape (n_targets,)
        Noise variance that intervals are made with, and its degrees of freedom.

    References
    ----------
    MacKay (1992), Bayesian interpolation. Neural Computation 4, 415–447.

    Examples
    --------
    >>> from tacit.linear_model import BayesianRidge
    >>> model = BayesianRidge().fit([[0, 0], [1, 1], [2, 2]], [0, 1, 2])
    >>> model.predict([[1, 1]])
    array([1.])
    """

    _: KW_ONLY
    max_iter: int = 300
    tol: float = 1e-3
    alpha_1: float = 1e-6
    alpha_2: float = 1e-6
    lambda_1: float = 1e-6
    lambda_2: float = 1e-6
    alpha_init: float | None = None
    lambda_init: float | None = None
    compute_score: bool = False
    fit_intercept: bool = True
    copy_X: bool = True
    verbose: bool = False
    updates: str = "fixed_point"
    scale: bool = False
    n_jobs: int | None = None
    _saved: ClassVar = EvidenceModel._saved | {"lambda_": Numbers(" | m", low=0, high=SQUARES)}

    def _check_settings(self) -> None:
        super()._check_settings()
        for name in ("alpha_init", "lambda_init"):
            check_number(name, getattr(self, name), numbers.Real, 0, also=(None,))

    def _learn(self, design: Design, before: Any = None, exact: bool = True) -> Estimate:
        m, scale = len(design.total), self._scale(design, before)
        spectrum = (design if (scale == 1.0).all() else design.scaled(scale)).spectrum
        coef, precisions, steps, scores, freedom, penalty = [], [], [], [], [], 0.0
        for t in range(m):
            unit = self._unit(design.y_variance[t])
            evidence = Evidence(spectrum, t, design.weight, self._hyper.of(unit))
            start = self._start(design.y_variance[t]) if before is None else before[2 * t : 2 * t + 2]
            alpha, lambda_, trace, n_steps = self._maximum(evidence, start, exact, self.tol * unit**0.5)
            coef.append(spectrum.axes @ evidence.coef(alpha, lambda_) / scale)
            precisions.append((alpha, lambda_))
            freedom.append(evidence.freedom(alpha, lambda_))
            penalty += 0.0 if exact else evidence.information(alpha, lambda_)
            scores.append(trace)
            steps.append(n_steps)
        both, gamma, ratio = np.array(precisions), np.array(freedom), np.array([b / a for a, b in precisions])
        noise = self._noise(design, both[:, 0], gamma) if exact else 1.0 / both[:, 0]
        spread = Spread.along(spectrum, ratio, scale)
        covariance = None if exact else spread.dense() / both[:, 0, None, None]  # type: ignore[union-attr]
        more = {
            "alpha_": self._one(both[:, 0]), "lambda_": self._one(both[:, 1]), "n_iter_": max(steps),
            "scores_": _traces(scores, self._one_target),
        }  # fmt: skip
        if exact and self.verbose:
            print("Convergence after ", str(max(steps)), " iterations")
        return Estimate(
            np.array(coef), noise, covariance, penalty, spread, gamma, ratio[:, None] * scale**2,
            np.concatenate([both.ravel(), scale]), more,
        )  # fmt: skip

    def _maximum(self, evidence: Evidence, start: Any, exact: bool, tol: float) -> tuple:
        """Precisions that maximise the evidence, or at least do not lower it; see `Evidence.maximum`."""
        alpha, lambda_ = map(float, start)
        found = evidence.maximum(alpha, lambda_, self.updates, self.max_iter, tol, exact and self.compute_score)
        if not exact and evidence.value(*found[:2]) < evidence.value(alpha, lambda_):
            return evidence.maximum(alpha, lambda_, "em", self.max_iter, tol, False)
        return found

    def _start(self, variance: float) -> tuple[float, float]:
        alpha = self._start_alpha(variance) if self.alpha_init is None else float(self.alpha_init)
        return alpha, 1.0 / self._unit(variance) if self.lambda_init is None else float(self.lambda_init)

    @property
    def sigma_(self) -> np.ndarray:
        """Posterior covariance of the coefficients; of several targets one each."""
        check_is_fitted(self)
        found = (self._check_spread().dense() / np.atleast_1d(self.alpha_)[:, None, None]).astype(self.coef_.dtype)
        return found[0] if self.one_target_ else found


@settings
class BayesianLinearRegression(BayesianRidge):
    """Bayesian linear regression: posterior, predictive distribution and evidence, whatever the units of the columns.

    `BayesianRidge` with other defaults: columns share a prior in units of their standard deviations, precisions are learned until
    they rest, and the log evidence is kept.

    Parameters
    ----------
    max_iter : int, default=1000
        Steps at most.
    tol : float, default=1e-8
        Stop when the coefficients together move by less.
    compute_score : bool, default=True
        Whether the log evidence is computed at every step.
    scale : bool, default=True
        Whether the prior is on coefficients of columns divided by their standard deviations, so that units do not matter.
    alpha_1, alpha_2, lambda_1, lambda_2, alpha_init, lambda_init, fit_intercept, copy_X, verbose, updates, n_jobs
        As in `BayesianRidge`.

    Attributes
    ----------
    coef_, sigma_
        Posterior mean and covariance of the coefficients.
    log_evidence_ : float
        Log marginal likelihood of the targets.

    References
    ----------
    Bishop (2006), Pattern Recognition and Machine Learning, chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.linear_model import BayesianLinearRegression
    >>> x = np.linspace(0, 1, 30)
    >>> model = BayesianLinearRegression().fit(x[:, None], 3 * x + np.sin(40 * x))
    >>> y, std = model.predict([[0.5], [2.0]], return_std=True)
    >>> std.round(2)
    array([0.74, 0.99])
    """

    _: KW_ONLY
    max_iter: int = 1000
    tol: float = 1e-8
    compute_score: bool = True
    scale: bool = True


def _traces(scores: list[list[float]], one: bool) -> np.ndarray:
    """Scores of every step, the last repeated for targets that settled earlier."""
    if one:
        return np.array(scores[0])
    longest = max(map(len, scores))
    return np.array([each + each[-1:] * (longest - len(each)) for each in scores]).T
