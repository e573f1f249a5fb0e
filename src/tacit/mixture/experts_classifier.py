"""Mixture of logistic experts: p(y = c | x) = Σ_k g_k(x) softmax_c(B_k·[1, x]), a gate handing regions of x to experts."""

from typing import Any

import numpy as np
from scipy.special import log_softmax, logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d

from ..base.settings import KW_ONLY, settings
from ..checks import as_numpy
from ..declared import Names, Numbers
from ..families.family import draw_classes
from .expert_families import LogisticExperts, LogisticParams
from .experts_estimator import ExpertsEstimator

__all__ = ["MixtureOfExpertsClassifier"]


@settings
class MixtureOfExpertsClassifier(ClassifierMixin, ExpertsEstimator):
    """Logistic regressions, each responsible where a gate says so: p(y = c | x) = Σ_k g_k(x) softmax_c(B_k·[1, x]).

    With one expert, (multinomial) logistic regression.

    Parameters
    ----------
    n_components : int, default=2
        Number of experts.
    gate : {"softmax", "constant", "equal"}, default="softmax"
        Whether the probabilities of the experts depend on x, are the same everywhere, or are all equal.
    gate_columns, expert_columns, n_draws
        As in :class:`MixtureOfExperts`, and so are features that are categories or missing.
    alpha : float, default=1e-2
        Precision of a Gaussian prior on the coefficients of gate and experts, for features of mean 0 and variance 1. It
        is part of the objective and keeps them finite where classes or regions do not overlap.
    tol, max_iter, n_init, random_state, warm_start, verbose, verbose_interval, convergence, accelerate, n_jobs, device, callback
        As in :class:`MixtureOfExperts`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_components, n_classes, n_terms)
    intercept_ : ndarray of shape (n_components, n_classes)
    gate_coef_, gate_intercept_, weights_, terms_, features_, schema_, converged_, n_iter_, lower_bound_, lower_bounds_, fit_
        As in :class:`MixtureOfExperts`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Jordan and Jacobs (1994), Hierarchical mixtures of experts and the EM algorithm.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import MixtureOfExpertsClassifier
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = X[:, 0] * X[:, 1] > 0  # no single line separates these
    >>> MixtureOfExpertsClassifier(2, random_state=0).fit(X, y).score(X, y) > 0.95
    True
    """

    _: KW_ONLY
    alpha: float = 1e-2

    _saved = ExpertsEstimator._saved | {
        "classes_": Names("C", labels=True),
        "coef_": Numbers("K C p"),
        "intercept_": Numbers("K C"),
    }

    _n_targets = 1

    def _experts(self) -> LogisticExperts:
        return LogisticExperts(len(self.classes_), self.alpha)

    def _targets(self, y: Any, *, reset: bool = False) -> np.ndarray:
        y = column_or_1d(as_numpy(y), warn=True)
        if reset:
            check_array(y, dtype=None, ensure_2d=False, input_name="y")
            check_classification_targets(y)
            self.classes_ = np.unique(y)
            if len(self.classes_) < 2:
                raise ValueError(f"y holds one class, {self.classes_[0]!r}; a classifier needs at least two classes.")
        known = np.isin(y, self.classes_)
        if not known.all():
            raise ValueError(
                f"y holds {y[~known][0]!r}, which is none of the classes seen at fit, "
                f"{', '.join(map(repr, self.classes_.tolist()))}."
            )
        return np.searchsorted(self.classes_, y)[:, None].astype(np.float64)

    def _publish_experts(self, params: LogisticParams) -> None:
        self.intercept_, self.coef_ = params.coef[:, :, 0], params.coef[:, :, 1:]

    def _expert_params(self) -> LogisticParams:
        return LogisticParams(np.concatenate([self.intercept_[:, :, None], self.coef_], axis=2))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class given the features of each row, (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log probability of each class, however small."""
        check_is_fitted(self)
        every = [self._log_proba(features) for features in self._feature_draws(X)]
        return logsumexp(every, axis=0) - np.log(len(every))

    def _log_proba(self, X: np.ndarray) -> np.ndarray:
        experts = log_softmax(np.einsum("nj,kcj->nkc", X, self.coef_) + self.intercept_, axis=2)
        gate = np.log(np.maximum(self._gate_of(X), np.finfo(float).tiny))
        return logsumexp(gate[:, :, None] + experts, axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def sample(self, X: Any, random_state: Any = None) -> np.ndarray:
        """Draw a class for every row of X."""
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        return self.classes_[draw_classes(self.predict_proba(X), 1, rng)[0]]
