"""The likelihood ratio test of nested models of this library.

    −2 log λ = 2 (l₁ − l₀)  ~  χ² with as many degrees of freedom as parameters more

where the null model lies inside the other; where it lies on its edge, as K components do in K + 1, its distribution is that of
samples drawn from the null model (the parametric bootstrap).
"""

from __future__ import annotations

import copy
import numbers
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..checks import check_choice, check_number
from ..words import count
from .design import Design
from .laws import Law, Simulated
from .noncentral import ChiSquared, chi_squared, rising_interval
from .result import TestResult
from .samples import check_alpha

__all__ = ["likelihood_ratio"]


def likelihood_ratio(
    null: Any, alternative: Any, X: Any, y: Any = None, *, method: str = "auto", n_bootstrap: int = 99, random_state: Any = None,
    alpha: float = 0.05,
) -> TestResult:  # fmt: skip
    """Test a model against a larger one that contains it, both fitted to the same rows by maximum likelihood.

    Parameters
    ----------
    null, alternative : estimator, or Distribution
        Fitted, by maximum likelihood: families, mixtures and other densities; linear and logistic regressions of `y`.
    X, y : array-like
        The rows that both were fitted to; a pair where regressions take other columns of the same rows.
    method : {"auto", "chi2", "bootstrap"}
        χ² is right where the smaller model lies inside the larger one, and samples are large; auto takes the bootstrap for
        mixtures with different numbers of components, where χ² is wrong.
    n_bootstrap : int
        Samples that are drawn from the null model, to which both models are fitted.
    random_state : int, RandomState instance or None
        Seeds the samples.
    alpha : float
        Level of the test.

    Returns
    -------
    TestResult
        The effect is −2 log λ per row. With the bootstrap, power is told for the alternative as it was fitted, by samples from
        it.

    References
    ----------
    Wilks (1938), The large-sample distribution of the likelihood ratio, Annals of Mathematical Statistics 9.
    McLachlan (1987), On bootstrapping the likelihood ratio test statistic for the number of components, Applied Statistics 36.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.assess import likelihood_ratio
    >>> from tacit.mixture import GaussianMixture
    >>> X = np.random.default_rng(0).normal(size=(100, 2)) @ [[1.0, 0.8], [0.0, 0.6]]
    >>> round_, oval = (GaussianMixture(covariance_type=kind).fit(X) for kind in ("diag", "full"))
    >>> likelihood_ratio(round_, oval, X).rejected
    True
    """
    alpha = check_alpha(alpha)
    check_choice("method", method, ("auto", "chi2", "bootstrap"))
    check_number("n_bootstrap", n_bootstrap, numbers.Integral, 1)
    parts = X if isinstance(X, tuple) else (X, X)
    (l0, p0), (l1, p1) = (_fitted(model, rows, y) for model, rows in zip((null, alternative), parts))
    X = parts[1]
    if p1 <= p0:
        raise ValueError(
            f"the alternative has {p1} parameters and the null model {p0}; the null model must be the smaller, and lie in "
            f"the other."
        )
    n, df = len(X), p1 - p0
    components = [getattr(model, "n_components", None) for model in (null, alternative)]
    mixtures = hasattr(null, "weights_") and hasattr(alternative, "weights_") and components[0] != components[1]
    if method == "bootstrap" or (method == "auto" and mixtures):
        return _bootstrapped(null, alternative, X, y, mixtures, n_bootstrap, random_state, alpha)
    statistic = 2 * (l1 - l0)
    if statistic < -1e-3 * n:
        raise ValueError(
            f"the null model is likelier, by {-statistic / 2:.4g}; it is not nested, or the other was not fitted well."
        )
    statistic = max(statistic, 0.0)
    design = ChiSquared((n,), "greater", freedom=float(df), squared=True)
    ends = rising_interval(lambda nc: chi_squared(df, nc), statistic, statistic - df, alpha)
    notes = ("The number of components lies on the edge of the larger model, where χ² is not the distribution.",)
    return TestResult(
        "The likelihood ratio test", "the smaller model holds", "−2 log λ", float(statistic), design.p_value(statistic), alpha,
        "−2 log λ per row", float(statistic / n), (ends[0] / n, ends[1] / n), (n,), (float(df),), notes=notes if mixtures else (),
        details={"log_likelihoods": (l0, l1), "n_parameters": (p0, p1)}, design=design,
    )  # fmt: skip


def _fitted(model: Any, X: Any, y: Any) -> tuple[float, int]:
    """The log-likelihood of the rows, and the number of parameters."""
    if hasattr(model, "log_prob"):
        return float(model.log_prob(X).sum()), int(model.family.n_parameters(model.params))
    check_is_fitted(model)
    if y is not None and hasattr(model, "coef_"):
        return _conditional(model, X, y)
    if not hasattr(model, "score_samples") or not hasattr(model, "_n_parameters"):
        raise TypeError(
            f"{type(model).__name__} has no likelihood of rows with a number of parameters; compare models held out instead."
        )
    values = model.score_samples(X) if y is None else model.score_samples(X, y)
    return float(np.sum(values)), int(model._n_parameters())


def _conditional(model: Any, X: Any, y: Any) -> tuple[float, int]:
    """The log-likelihood of targets given the rows, under a linear or a logistic regression without a penalty."""
    name, settings = type(model).__name__, model.get_params(deep=False)
    logistic = hasattr(model, "predict_proba")
    free = (
        settings.get("penalty", "l2") is None or settings.get("C", 1.0) == np.inf
        if logistic
        else name == "LinearRegression"
    )
    if not free:
        remedy = "C=float('inf')" if logistic else "LinearRegression"
        raise ValueError(f"{name} is not fitted by maximum likelihood; use {remedy}.")
    terms = np.size(model.coef_) + np.count_nonzero(settings.get("fit_intercept", True)) * np.size(model.intercept_)
    y = np.asarray(y)
    if logistic:
        codes = np.searchsorted(model.classes_, y)
        return float(model.predict_log_proba(X)[np.arange(len(y)), codes].sum()), int(terms)
    variance = float(((y - model.predict(X)) ** 2).mean())
    return -0.5 * len(y) * (np.log(2 * np.pi * variance) + 1), int(terms) + 1


@dataclass(frozen=True)
class Replicated(Design):
    """−2 log λ of samples from the null model; under the alternative, of samples from that as it was fitted.

    Parameters
    ----------
    replicates : tuple of float
    drawn : callable
        Returns replicates under the alternative.
    """

    replicates: tuple[float, ...] = ()
    drawn: Any = None
    fitted: float = 0.0
    effects = (0.0, np.inf)

    def null(self, sizes: tuple[int, ...]) -> Law:
        self._at_hand(sizes)
        return Simulated(np.array(self.replicates), observed=1)

    def alternative(self, effect: float, sizes: tuple[int, ...]) -> Law:
        self._at_hand(sizes)
        if abs(effect - self.fitted) > 1e-9 * max(abs(effect), 1.0):
            raise ValueError(
                f"alternative={effect:g} cannot be told: power is for the alternative as it was fitted; leave it out."
            )
        return self.drawn()

    def _at_hand(self, sizes: tuple[int, ...]) -> None:
        if sizes != self.sizes:
            raise ValueError(
                f"n={sum(sizes)} needs models fitted to as many rows; only the {sum(self.sizes)} at hand are known."
            )


def _bootstrapped(
    null: Any, alternative: Any, X: Any, y: Any, mixtures: bool, n_bootstrap: int, random_state: Any, alpha: float
) -> TestResult:
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    if mixtures and alternative.n_components == null.n_components + 1 and type(null) is type(alternative):
        statistic, replicates, drawn = _components(null, X, n_bootstrap, rng)
        null_text = (
            f"there {'is' if null.n_components == 1 else 'are'} {count(null.n_components, 'component')}, not one more"
        )
    else:
        statistic = max(2 * (_fitted(alternative, X, y)[0] - _fitted(null, X, y)[0]), 0.0)
        replicates = np.array([_again(null, null, alternative, X, y, rng) for _ in range(n_bootstrap)])
        null_text = "the smaller model holds"

        @lru_cache(maxsize=1)
        def drawn() -> Law:
            again = np.random.default_rng([1, n_bootstrap])
            return Simulated(
                np.array([_again(alternative, null, alternative, X, y, again) for _ in range(n_bootstrap)])
            )

    n = len(X)
    effect = float(statistic / n)
    design = Replicated((n,), "greater", replicates=tuple(replicates.tolist()), drawn=drawn, fitted=effect)
    return TestResult(
        "The bootstrap likelihood ratio test", null_text, "−2 log λ", float(statistic), design.p_value(statistic), alpha,
        "−2 log λ per row", effect, (np.nan, np.nan), (n,), notes=(f"The p-value is by {count(n_bootstrap, 'sample')} "
                                                                   f"from the null model.",),
        details={"replicates": replicates}, design=design,
    )  # fmt: skip


def _components(null: Any, X: Any, n_bootstrap: int, rng: np.random.Generator) -> tuple[float, np.ndarray, Any]:
    """K components against K + 1, both searched for in the data and in every sample."""
    from ..mixture.bootstrap import ratio, simulated, tightened

    base = tightened(null, rng)
    source = clone(base)._open(X, reset=True)
    k = null.n_components
    statistic, fitted, other = ratio(base, source, k)
    replicates = np.array([ratio(base, simulated(fitted, source, rng), k)[0] for _ in range(n_bootstrap)])

    @lru_cache(maxsize=1)
    def drawn() -> Law:
        again = np.random.default_rng([1, n_bootstrap])
        return Simulated(np.array([ratio(base, simulated(other, source, again), k)[0] for _ in range(n_bootstrap)]))

    return statistic, replicates, drawn


def _again(truth: Any, null: Any, alternative: Any, X: Any, y: Any, rng: np.random.Generator) -> float:
    """−2 log λ of a sample as large as the data, drawn from a fitted model."""
    if y is not None or not hasattr(truth, "sample"):
        raise ValueError(f"{type(truth).__name__} has no method sample for such rows; use method='chi2'.")
    drawn = copy.copy(truth)
    if hasattr(truth, "log_prob"):
        rows = truth.sample(len(X), int(rng.integers(2**31)))
        found = [model.family.fit(rows).log_prob(rows).sum() for model in (null, alternative)]
        return max(2 * float(found[1] - found[0]), 0.0)
    if "random_state" in drawn.get_params(deep=False):
        drawn.set_params(random_state=int(rng.integers(2**31)))
    rows = drawn.sample(len(X))
    rows = rows[0] if isinstance(rows, tuple) else rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [float(clone(model).fit(rows).score_samples(rows).sum()) for model in (null, alternative)]
    return max(2 * (found[1] - found[0]), 0.0)
