"""Mixture discriminant analysis: p(y = k | x) ∝ π_k Σ_g w_kg N(x | μ_kg, Σ_kg), several components per known class."""

from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from ..base.rows import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..base.supervised import coded_classes
from ..checks import check_choice, check_weight
from ..declared import Listed, Names, Numbers, Part
from ..mixture import GaussianMixture, select
from ..mixture.selection import CRITERIA
from ..source import Block
from .bayes import BayesClassifier, structures

__all__ = ["MixtureDiscriminant"]


@settings
class MixtureDiscriminant(BayesClassifier):
    """Discriminant analysis with a Gaussian mixture per class, chosen class by class; missing cells are integrated out.

    Parameters
    ----------
    n_components : int or sequence of int, default=(1, 2, 3, 4, 5)
        Numbers of components to try in every class, as far as each can have one row more than there are columns.
    covariance_type : str or sequence of str, default=("spherical", "diag", "tied", "full")
        Structures to try in every class, as in :class:`tacit.mixture.GaussianMixture`; ``"all"`` are all fourteen.
    criterion : {"bic", "aic", "icl", "cv"}, default="bic"
        What decides, as in :func:`tacit.mixture.select`.
    priors : array-like of shape (n_classes,), optional
        Probabilities of the classes, in sorted order; default their shares of the rows.
    reg_covar, tol, max_iter, n_init, random_state
        As in :class:`tacit.mixture.GaussianMixture`.
    n_jobs : int, optional
        Threads; default all cores.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    mixtures_ : list of GaussianMixture
        The mixture of each class.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Hastie and Tibshirani (1996), Discriminant analysis by Gaussian mixtures.
    Fraley and Raftery (2002), Model-based clustering, discriminant analysis, and density estimation.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.classification import MixtureDiscriminant
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) + np.repeat([[-6.0, 0], [0, 0], [6, 0], [0, 0]], 50, axis=0)
    >>> y = np.repeat(["out", "in", "out", "in"], 50)  # two groups of "out", with "in" between
    >>> model = MixtureDiscriminant(random_state=0).fit(X, y)
    >>> [mixture.n_components for mixture in model.mixtures_], model.predict([[-6, np.nan], [0, 0]]).tolist()
    ([1, 2], ['out', 'in'])
    """

    n_components: Any = (1, 2, 3, 4, 5)
    _: KW_ONLY
    covariance_type: Any = ("spherical", "diag", "tied", "full")
    criterion: str = "bic"
    tol: float = 1e-4
    max_iter: int = 200
    n_init: int = 1
    random_state: Any = None

    _saved = RowsEstimator._saved | {
        "classes_": Names("K", labels=True),
        "class_prior_": Numbers("K", low=0, high=1),
        "mixtures_": Listed(Part(GaussianMixture, same=("d",))),
    }

    class_prior_ = np.empty(0)  # type: ignore[assignment]

    def _check_settings(self) -> None:
        check_choice("criterion", self.criterion, CRITERIA)
        for n in self._sizes_asked():
            for name in structures(self.covariance_type):
                self._mixture(n).set_params(covariance_type=name)._check_settings()

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if len(self.mixtures_) != len(self.classes_):
            raise ValueError(f"it has {len(self.mixtures_)} mixtures for {len(self.classes_)} classes")

    def _sizes_asked(self) -> list[int]:
        return list(self.n_components) if hasattr(self.n_components, "__iter__") else [self.n_components]

    def _mixture(self, n_components: int) -> GaussianMixture:
        return GaussianMixture(
            n_components, reg_covar=self.reg_covar, tol=self.tol, max_iter=self.max_iter, n_init=self.n_init,
            random_state=self.random_state, n_jobs=self.n_jobs,
        )  # fmt: skip

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a mixture for every class; see `GaussianBayes.fit`."""
        self._check_settings()
        self.classes_, codes = coded_classes(self, y)
        X = self._validate(X, reset=True)
        if len(X) != len(codes):
            raise ValueError(f"X has {len(X)} rows, but y has {len(codes)}; give one label per row.")
        self._check_columns(X)
        weight = check_weight(sample_weight, len(X))
        weight = np.ones(len(X)) if weight is None else weight
        self.classes_, codes = np.unique(self.classes_[codes][weight > 0], return_inverse=True)
        X, weight = X[weight > 0], weight[weight > 0]
        self.class_prior_ = np.bincount(codes, weight) / weight.sum() if self.priors is None else self._given_priors()
        self.mixtures_ = [self._chosen(X[codes == k], weight[codes == k], k) for k in range(len(self.classes_))]
        return self

    def _chosen(self, X: np.ndarray, weight: np.ndarray, k: int) -> GaussianMixture:
        """The best mixture of the rows of a class."""
        told = repr(self.classes_[k].item() if hasattr(self.classes_[k], "item") else self.classes_[k])
        empty = np.flatnonzero(np.isnan(X).all(axis=0))
        if empty.size or len(np.unique(X, axis=0)) < 2:
            fault = f"no observed value in column {self._told(empty[0])}" if empty.size else "a single distinct row"
            raise ValueError(
                f"class {told} has {fault}, of which no mixture is learned; use GaussianBayes, or drop it."
            )
        sizes = [n for n in self._sizes_asked() if n * (X.shape[1] + 1) <= len(X)] or [1]
        names = structures(self.covariance_type)
        return select(
            self._mixture(1),
            X,
            n_components=sizes,
            covariance_type=names,
            criterion=self.criterion,
            sample_weight=weight,
        ).best

    def _log_joint(self, X: Any) -> np.ndarray:
        """Log π_k p(x | k) of each row and class."""
        check_is_fitted(self)
        parts = [(mixture._model(), mixture._params()) for mixture in self.mixtures_]
        with np.errstate(divide="ignore"):
            log_prior = np.log(self.class_prior_)

        def joint(block: Block) -> np.ndarray:
            return log_prior + np.column_stack([model.posterior(params, block)[1] for model, params in parts])

        return self._apply(X, joint)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        joint = self._log_joint(X)
        return joint - logsumexp(joint, axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class for each row, in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    def score_samples(self, X: Any) -> np.ndarray:
        return logsumexp(self._log_joint(X), axis=1)

    @property
    def n_iter_(self) -> int:
        """Most passes over the rows of a class that were needed."""
        return max(mixture.n_iter_ for mixture in self.mixtures_)
