"""Relevance vector classification: p(y | x) = softmax_y(Σ_m w_m k(x, x_m) + b), w_mk ~ N(0, 1/α_mk), each α_mk learned."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from ..base.settings import settings
from ..base.supervised import coded_classes
from ..declared import Names
from ..linear_model.averaging import averaged
from .estimator import RelevanceVectors
from .likelihoods import ClassTargets

__all__ = ["RelevanceVectorClassifier"]


@settings
class RelevanceVectorClassifier(ClassifierMixin, RelevanceVectors):
    """Classification by kernels at a few of the rows, which the marginal likelihood chooses; several classes jointly.

    Two classes have one score, several have one each. The posterior of the weights is Laplace's, and probabilities are
    averaged over it. Named kernels have one width for all columns: scale columns first.

    Parameters
    ----------
    kernel, gamma, degree, coef0, kernel_params, fit_intercept, method, max_iter, tol, n_jobs
        As in :class:`RelevanceVectorRegressor`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    relevance_, relevance_vectors_
        As in :class:`RelevanceVectorRegressor`; a vector counts once, whatever the scores it has weights for.
    coef_ : ndarray of shape (1, n_vectors) or (n_classes, n_vectors)
        Mean weights; 0 where a score has none.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    alpha_, sigma_, log_marginal_likelihood_, log_marginal_likelihoods_, gamma_, n_iter_, reason_
        As in :class:`RelevanceVectorRegressor`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Tipping (2001), Sparse Bayesian learning and the relevance vector machine.
    Tipping and Faul (2003), Fast marginal likelihood maximisation for sparse Bayesian models.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tacit.relevance import RelevanceVectorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RelevanceVectorClassifier().fit(X, y)
    >>> len(model.relevance_) < 10, model.score(X, y) > 0.95
    (True, True)
    """

    _saved = RelevanceVectors._saved | {"classes_": Names("K", labels=True)}

    def _n_scores(self) -> int | None:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the relevance vectors and learn their weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples) kernel values
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 is a row given twice.
        """
        self._check_settings()
        self.classes_, codes = coded_classes(self, y)
        X = self._rows(X, reset=True)
        if len(codes) != len(X):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {len(X)} rows and y {len(codes)}."
            )
        weight, taken = self._counting(X, sample_weight)
        self.classes_, codes = np.unique(self.classes_[codes][taken], return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"y holds one class, {self.classes_[0].item()!r}; {type(self).__name__} needs at least two classes."
            )
        self._learn(X, taken, ClassTargets(codes, weight[taken], len(self.classes_)), False)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Log of averaged chances, (n_samples, n_classes), or log odds of the second of two classes, (n_samples,)."""
        with np.errstate(divide="ignore"):
            log_chance = np.log(self.predict_proba(X))
        return log_chance[:, 1] - log_chance[:, 0] if log_chance.shape[1] == 2 else log_chance

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class for each row, averaged over the posterior of the weights."""
        values = self._values(X)
        return averaged(values[:, :-1] @ self.coef_.T + self.intercept_, self._spread(values))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]
