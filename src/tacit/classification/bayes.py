"""Bayes classifiers: p(y = k | x) ∝ π_k p(x | θ_k), with the classes known at fit.

A mixture whose labels are given. Missing cells are integrated out, at fit and at prediction.
"""

import numbers
import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..base import LatentClassEstimator, RowsEstimator
from ..base.rows import like
from ..base.settings import KW_ONLY, settings
from ..base.supervised import coded_classes
from ..checks import check_number
from ..declared import Names, Part
from ..families import GAUSSIANS
from ..mixture import GaussianMixture, Mixture, select
from ..mixture.selection import distinct_structures

__all__ = ["BayesClassifier", "GaussianBayes", "NaiveBayes", "structures"]


def structures(asked: Any) -> list[str]:
    """Names of covariance structures: one, several, or all that are distinct."""
    if isinstance(asked, str):
        return distinct_structures(GAUSSIANS) if asked == "all" else [asked]
    if not isinstance(asked, (list, tuple)) or not asked:
        raise ValueError(
            f"covariance_type={asked!r} names no structure; use 'full', ['full', 'tied'] or 'all', for example."
        )
    return list(asked)


@settings
class BayesClassifier(ClassifierMixin, RowsEstimator):
    """What Bayes classifiers share; a subclass says which mixture it is (``_mixture(n_classes)``)."""

    _: KW_ONLY
    priors: Any = None
    reg_covar: float = 1e-6
    n_jobs: int | None = None

    _saved = RowsEstimator._saved | {
        "classes_": Names("K", labels=True),
        "mixture_": Part(LatentClassEstimator, same=("d", "K")),
    }

    def _check_settings(self) -> None:
        self._mixture(1)._check_settings()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or table
            Rows; NaN is missing.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights.

        Returns
        -------
        self
        """
        self.classes_, codes = coded_classes(self, y)
        with warnings.catch_warnings():
            # That all classes are known is the point.
            warnings.filterwarnings("ignore", "y gives every row's class")
            warnings.filterwarnings("ignore", "components? .* collapsed")  # a given class may be as narrow as it is
            self.mixture_ = mixture = self._learned(X, codes, sample_weight)
        if self.priors is not None:
            self.mixture_.weights_ = self._given_priors()
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(mixture, name):
                setattr(self, name, getattr(mixture, name))
        return self

    def _learned(self, X: Any, codes: np.ndarray, sample_weight: Any) -> Any:
        """The mixture of the classes, fitted."""
        return self._mixture(len(self.classes_)).fit(X, codes, sample_weight)

    def _given_priors(self) -> np.ndarray:
        priors = np.asarray(self.priors, dtype=np.float64)
        if priors.shape != self.classes_.shape:
            raise ValueError(f"priors has shape {priors.shape}, but there are {len(self.classes_)} classes.")
        if (priors < 0).any() or abs(priors.sum() - 1.0) > 1e-6:
            raise ValueError(f"priors={priors.tolist()} must not be negative and must sum to 1.")
        return priors

    @property
    def n_iter_(self) -> int:
        """Passes over the rows that were needed to learn from them."""
        return self.mixture_.n_iter_

    @property
    def class_prior_(self) -> np.ndarray:
        """Probability of each class before its row is seen."""
        return self.mixture_.weights_

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class for each row, in the order of ``classes_``."""
        check_is_fitted(self)
        return self.mixture_.predict_proba(X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log probability of each class for each row, however small."""
        check_is_fitted(self)
        mixture, params = self.mixture_, self.mixture_._params()
        model = mixture._model()
        return mixture._apply(X, lambda block: like(block, model.log_posterior(params, block)))

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of each row, whatever its class: a low one has no place among the rows seen at fit."""
        check_is_fitted(self)
        return self.mixture_.score_samples(X)


@settings
class GaussianBayes(BayesClassifier):
    """Discriminant analysis with missing cells: quadratic with ``"full"``, linear with ``"tied"`` covariances.

    Parameters
    ----------
    covariance_type : str or sequence of str, default="full"
        Structure of the classes' covariances, as in :class:`tacit.mixture.GaussianMixture`. Of several, or of ``"all"``, the one
        of the best BIC is taken (eigenvalue decomposition discriminant analysis).
    priors : array-like of shape (n_classes,), optional
        Probabilities of the classes, in sorted order; default their shares of the rows.
    reg_covar : float, default=1e-6
        Smallest variance of a class in any direction, relative to the data's variance.
    tol, max_iter : float and int
        When EM over the missing cells stops; without any, one pass is exact.
    n_jobs : int, optional
        Threads; default all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    covariance_type_ : str
        The structure that was taken.
    means_, covariances_ : ndarray
        As in :class:`tacit.mixture.GaussianMixture`.
    mixture_ : GaussianMixture
        The joint distribution; it imputes, draws and scores rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Bensmail and Celeux (1996), Regularized Gaussian discriminant analysis through eigenvalue decomposition.
    Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, section 4.3.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.classification import GaussianBayes
    >>> X = np.array([[1.0, 2.0], [1.2, np.nan], [0.8, 1.9], [5.0, 6.0], [np.nan, 6.2], [5.1, 5.7]])
    >>> GaussianBayes("tied").fit(X, ["a", "a", "a", "b", "b", "b"]).predict([[np.nan, 2.1]]).tolist()
    ['a']
    """

    covariance_type: Any = "full"
    _: KW_ONLY
    tol: float = 1e-6
    max_iter: int = 200

    def _check_settings(self) -> None:
        for name in structures(self.covariance_type):
            self._mixture(1, name)._check_settings()

    def _learned(self, X: Any, codes: np.ndarray, sample_weight: Any) -> Any:
        names, n_classes = structures(self.covariance_type), len(self.classes_)
        if len(names) == 1:
            return self._mixture(n_classes, names[0]).fit(X, codes, sample_weight)
        mixture = self._mixture(n_classes, names[0])
        return select(
            mixture, X, codes, n_components=n_classes, covariance_type=names, sample_weight=sample_weight
        ).best

    @property
    def covariance_type_(self) -> str:
        """The structure of the covariances."""
        return self.mixture_.covariance_type

    def _mixture(self, n_classes: int, covariance_type: str) -> GaussianMixture:  # type: ignore[override]
        return GaussianMixture(
            n_classes, covariance_type=covariance_type, reg_covar=self.reg_covar, tol=self.tol,
            max_iter=self.max_iter, n_jobs=self.n_jobs, random_state=0,
        )  # fmt: skip

    @property
    def means_(self) -> np.ndarray:
        """Means of the classes."""
        return self.mixture_.means_

    @property
    def covariances_(self) -> np.ndarray:
        """Covariances of the classes."""
        return self.mixture_.covariances_


@settings
class NaiveBayes(BayesClassifier):
    """Naive Bayes over columns of any kind: measurements, counts, categories, yes/no, with missing cells.

    Columns are independent given the class: continuous ones normal, counts Poisson, categories categorical, unless `by_column`
    says otherwise.

    Parameters
    ----------
    family, by_column
        As in :class:`tacit.mixture.Mixture`.
    unknown : {"error", "missing"}, default="error"
        As in :class:`tacit.mixture.Mixture`.
    smoothing : float, default=1.0
        Rows' worth added to every level of a category in every class, so that no level is impossible (Laplace's rule).
    priors : array-like of shape (n_classes,), optional
        Probabilities of the classes, in sorted order; default their shares of the rows.
    reg_covar : float, default=1e-6
        Smallest variance of a column in a class, relative to its variance in the data.
    n_jobs : int, optional
        Threads; default all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    mixture_ : Mixture
        The joint distribution; its `describe` tells each class column by column.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> from tacit.classification import NaiveBayes
    >>> X = [["red", 1.0], ["red", 1.2], [None, 0.9], ["blue", 5.0], ["blue", None], ["blue", 4.7]]
    >>> NaiveBayes().fit(X, [0, 0, 0, 1, 1, 1]).predict([["red", None], [None, 4.9]]).tolist()
    [0, 1]
    """

    family: Any = "auto"
    _: KW_ONLY
    by_column: dict | None = None
    smoothing: float = 1.0
    unknown: str = "error"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _mixture(self, n_classes: int) -> Mixture:
        check_number("smoothing", self.smoothing, numbers.Real, 0)
        return Mixture(
            n_classes, family=self.family, by_column=self.by_column, covariance_type="diag", smoothing=self.smoothing,
            unknown=self.unknown,
            reg_covar=self.reg_covar, n_jobs=self.n_jobs, random_state=0, tol=1e-8,
        )  # fmt: skip
