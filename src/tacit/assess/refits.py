"""Estimators refitted to bootstrap samples, from what was learned on, with components in the order of the fit's.

A mixture is refitted by EM to the same rows with other weights, how often each was drawn, so that rows are read and sorted by
missing cells once. Other estimators are cloned and start where they can from what was learned.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .drawing import GROUPS, Drawing

__all__ = ["Refits", "is_estimator", "refits_for"]

TIGHT: dict[str, Any] = {"max_iter": 1000, "tol": 1e-6}
RESAMPLES = ("cases", "residuals", "parametric", "blocks")
Named = dict[str, np.ndarray]


def is_estimator(statistic: Any) -> bool:
    """Whether something learns, and is no function of data."""
    return hasattr(statistic, "fit") and hasattr(statistic, "get_params") and not inspect.isclass(statistic)


def refits_for(
    estimator: Any, X: Any, y: Any, drawing: Drawing, resample: str, of: Callable | None, fit_params: dict | None = None
) -> Refits:
    """The refits of a fitted estimator."""
    from ..base import EMEstimator

    check_is_fitted(estimator)
    mixture = isinstance(estimator, EMEstimator) and hasattr(estimator, "predict_proba") and resample != "residuals"
    if mixture and y is None and hasattr(estimator._model(), "permute") and estimator._by_likelihood:
        return Mixtures(estimator, X, y, drawing, resample, of)
    return Refits(estimator, X, y, drawing, resample, of)


class Refits:
    """Refits of any estimator.

    Parameters
    ----------
    estimator : estimator
        Fitted to `X` and `y`.
    X, y : ndarray
    drawing : Drawing
        Which rows a sample has.
    resample : {"cases", "residuals", "parametric", "blocks"}
    of : callable, optional
        What is wanted of a fitted estimator; default its parameters.
    """

    def __init__(
        self, estimator: Any, X: np.ndarray, y: np.ndarray | None, drawing: Drawing, resample: str, of: Callable | None
    ):
        self.estimator, self.X, self.y, self.drawing, self.resample, self.of = estimator, X, y, drawing, resample, of
        self.reference: Named = {}
        self.reference = self._told(estimator)
        self.names = list(self.reference)
        if resample == "residuals":
            self._residuals()
        if resample == "parametric" and not hasattr(estimator, "sample"):
            raise ValueError(f"{type(estimator).__name__} has no method sample; use resample='cases'.")

    def _residuals(self) -> None:
        if self.y is None or not hasattr(self.estimator, "predict") or hasattr(self.estimator, "classes_"):
            raise ValueError("resample='residuals' is for regressors with y; use resample='cases'.")
        self.predicted = self.estimator.predict(self.X)
        gaps = self.y - self.predicted
        free = np.asarray(getattr(self.estimator, "coef_", np.empty(0))).size + 1
        # Residuals are smaller than errors are, by the degrees of freedom that the fit took.
        self.gaps = (gaps - gaps.mean()) * np.sqrt(len(gaps) / max(len(gaps) - free, 1))

    def estimate(self) -> np.ndarray:
        """What was learned, as a vector."""
        return _flat(self.reference)

    def block(self, first: int, count: int, spreads: bool = False) -> tuple[np.ndarray, None]:
        """Refits from number `first` on; NaN where one fails."""
        return np.array([self._safe(partial(self.replicate, b)) for b in range(first, first + count)]), None

    def _safe(self, refit: Callable[[], np.ndarray]) -> np.ndarray:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                found = refit()
        except (ValueError, np.linalg.LinAlgError):
            return np.full(len(self.estimate()), np.nan)
        if found.shape != self.estimate().shape:
            return np.full(len(self.estimate()), np.nan)
        return found

    def replicate(self, b: int) -> np.ndarray:
        """One refit."""
        rows = self.drawing.rows(b)
        if self.resample == "parametric":
            return self._refit(_sampled(self.estimator, len(self.X), b, int(self.drawing.seed)), None)
        if self.resample == "residuals":
            return self._refit(self.X, self.predicted + self.gaps[rows])
        return self._refit(self.X[rows], None if self.y is None else self.y[rows])

    def jackknife(self) -> np.ndarray:
        """Refits without each row, or part of the rows, in turn."""
        kept = []
        for part in self.drawing.parts(GROUPS):
            rows = np.setdiff1d(np.arange(len(self.X)), part)
            kept.append(self._safe(partial(self._refit, self.X[rows], None if self.y is None else self.y[rows])))
        return np.array(kept)

    def _refit(self, X: np.ndarray, y: np.ndarray | None) -> np.ndarray:
        fresh = _warm(self.estimator)
        fresh.fit(X) if y is None else fresh.fit(X, y)
        return _flat(matched(self.reference, self._told(fresh)))

    def _told(self, fitted: Any) -> Named:
        if self.of is not None:
            return {"": np.asarray(self.of(fitted), dtype=float)}
        found = parameters_of(fitted, len(self.X))
        if self.reference:
            return {name: found[name] for name in self.reference}
        if not found:
            raise ValueError(f"{type(fitted).__name__} tells no parameters; name what is wanted with of=.")
        return found


class Mixtures(Refits):
    """Refits of a mixture to the same rows with other weights."""

    def __init__(self, estimator: Any, X: Any, y: Any, drawing: Drawing, resample: str, of: Callable | None):
        from ..mixture.uncertainty import memberships

        self.source = estimator._open(X, None, y, reset=False)
        self.model, self.start = estimator._resumed(self.source)
        self.members = memberships(self.model, self.start, self.source)
        super().__init__(estimator, X, y, drawing, resample, of)

    def replicate(self, b: int) -> np.ndarray:
        if self.resample != "parametric":
            rows = self.drawing.rows(b)
            return self._learned(self.source.reweighted(np.bincount(rows, minlength=len(self.X)).astype(float)))
        rng = np.random.default_rng([int(self.drawing.seed), b])
        rows = self.model.sample(self.start, len(self.X), rng)[0]
        rows = np.where(np.isnan(self.X), np.nan, rng.permutation(rows))
        return self._learned(self.estimator._open(rows, None, None, reset=False))

    def jackknife(self) -> np.ndarray:
        kept = []
        for part in self.drawing.parts(GROUPS):
            weight = np.ones(len(self.X))
            weight[part] = 0.0
            kept.append(self._safe(partial(self._learned, self.source.reweighted(weight))))
        return np.array(kept)

    def _learned(self, source: Any) -> np.ndarray:
        from ..engine import fit
        from ..mixture.uncertainty import align

        params = fit(self.model, source, self.start, accelerate="auto", **TIGHT).params
        params = align(self.model, params, self.source, self.members)
        return _flat(self._told(params))

    def _told(self, fitted: Any) -> Named:
        from ..mixture.uncertainty import published, shadow

        params = self.start if fitted is self.estimator else fitted
        if self.of is not None:
            return {"": np.asarray(self.of(shadow(self.estimator, params)), dtype=float)}
        return published(self.estimator, params)


def _flat(found: Named) -> np.ndarray:
    return np.concatenate([np.ravel(value) for value in found.values()])


def _warm(fitted: Any) -> Any:
    """A copy to be fitted, which begins at what was learned where that is possible."""
    settings = fitted.get_params(deep=False)
    if hasattr(fitted, "cluster_centers_") and "init" in settings and "n_init" in settings:
        return clone(fitted).set_params(init=np.asarray(fitted.cluster_centers_), n_init=1)
    if "warm_start" in settings and hasattr(fitted, "fit_"):
        fresh = copy.copy(fitted)
        return fresh.set_params(warm_start=True)
    return clone(fitted)


def _sampled(estimator: Any, n: int, b: int, seed: int) -> np.ndarray:
    """Rows drawn from what was learned, with a seed of their own."""
    drawn = copy.copy(estimator)
    if "random_state" in drawn.get_params(deep=False):
        drawn.set_params(random_state=int(np.random.default_rng([seed, b]).integers(2**31)))
    rows = drawn.sample(n)
    return rows[0] if isinstance(rows, tuple) else rows


def parameters_of(fitted: Any, n_rows: int) -> Named:
    """Fitted arrays and numbers that are no results for rows."""
    found = {}
    for name, value in vars(fitted).items():
        if not name.endswith("_") or name.startswith("_") or name in ("lower_bound_", "inertia_"):
            continue
        if isinstance(value, (float, np.floating)):
            value = np.asarray(float(value))
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size and value.shape[:1] != (n_rows,):
            found[name] = value
    return found


def matched(reference: Named, found: Named) -> Named:
    """Arrays with clusters or states in the order of the reference's, and components with its signs."""
    anchor = next((name for name in ("cluster_centers_", "means_") if name in reference), None)
    if anchor and found[anchor].shape == reference[anchor].shape and found[anchor].ndim > 1:
        gaps = np.linalg.norm(reference[anchor][:, None] - found[anchor][None], axis=-1)
        order = linear_sum_assignment(gaps.reshape(len(gaps), len(gaps), -1).sum(axis=-1))[1]
        k = len(order)
        found = {name: value[order] if value.shape[:1] == (k,) else value for name, value in found.items()}
        if "transmat_" in found:
            found["transmat_"] = found["transmat_"][:, order]
    if "components_" in reference and found["components_"].shape == reference["components_"].shape:
        sign = np.sign((found["components_"] * reference["components_"]).sum(axis=-1, keepdims=True))
        found = found | {"components_": found["components_"] * np.where(sign == 0, 1.0, sign)}
    return found
