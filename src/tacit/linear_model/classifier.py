"""`LinearClassifier`: how classifiers with one linear score per class take rows and give classes."""

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..base.rows import RowsEstimator, like
from ..base.supervised import Supervised
from ..declared import Names, Numbers
from ..source import Block
from .logistic_model import LogisticParams, scores

__all__ = ["LinearClassifier", "class_factors"]


class LinearClassifier(ClassifierMixin, Supervised):
    """Base of classifiers with ``coef_`` and ``intercept_``: a row for each class, one of the second for two."""

    _takes_missing = False
    _takes_sparse = True
    _min_rows = 1
    _saved = RowsEstimator._saved | {
        "classes_": Names("K", labels=True),
        "coef_": Numbers(lambda owner: f"{owner._n_scores()} d", sparse=True),
        "intercept_": Numbers(lambda owner: f"{owner._n_scores()}"),
    }
    coef_: Any
    intercept_: np.ndarray

    @property
    def _missing_remedy(self) -> str:  # type: ignore[override]
        return (
            f"and {type(self).__name__} takes no missing values; fill them before it, for example with "
            f"make_pipeline(tacit.impute.GaussianImputer(), {type(self).__name__}()), or use "
            "tacit.mixture.MixtureOfExpertsClassifier(1), a logistic regression that draws missing features given the others"
        )

    def _check_classes(self) -> None:
        if len(self.classes_) < 2:
            raise ValueError(
                f"y holds one class, {self.classes_[0].item()!r}; {type(self).__name__} needs at least two classes."
            )

    def _n_scores(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    @property
    def _n_columns(self) -> int:
        return self.n_features_in_

    def _params(self) -> LogisticParams:
        """The coefficients as the engine has them."""
        coef = self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_
        return LogisticParams(np.asarray(coef, dtype=np.float64), np.asarray(self.intercept_, dtype=np.float64))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes, (n_samples, n_classes), or of the second of two, (n_samples,)."""
        check_is_fitted(self)
        params = self._params()

        def of(block: Block) -> np.ndarray:
            found = like(block, scores(params, block))
            return found[:, 0] if found.shape[1] == 1 else found

        return self._apply(X, of)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest score."""
        score = self.decision_function(X)
        return self.classes_[(score > 0).astype(int) if score.ndim == 1 else score.argmax(axis=1)]

    def sparsify(self) -> Self:
        """Keep only the coefficients that are not 0, as a sparse matrix."""
        check_is_fitted(self)
        self.coef_ = sparse.csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Keep all coefficients, as an array."""
        check_is_fitted(self)
        self.coef_ = self.coef_.toarray() if sparse.issparse(self.coef_) else self.coef_
        return self


def class_factors(class_weight: Any, classes: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Factors of the rows' weights, by class.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Factors of some classes; or those with which all classes weigh the same.
    classes : (K,) array
    totals : (K,) array
        Weight of each class.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(f"class_weight={class_weight!r} is unknown; use 'balanced', None or a dict of classes.")
        return totals.sum() / (len(classes) * np.where(totals > 0, totals, np.inf))
    if not isinstance(class_weight, dict):
        raise ValueError(f"class_weight={class_weight!r} is unknown; use 'balanced', None or a dict of classes.")
    known = classes.tolist()
    for name, value in class_weight.items():
        if not isinstance(value, (int, float, np.number)) or not 0 <= value < np.inf:
            raise ValueError(
                f"class_weight gives {name!r} the weight {value!r}; weights must be finite and not negative."
            )
    unknown = [name for name in class_weight if name not in known]
    if unknown and len(class_weight) > len(known):
        raise ValueError(f"class_weight names {unknown[0]!r}, which is no class of y; the classes are {known}.")
    return np.array([float(class_weight.get(name, 1.0)) for name in known])
