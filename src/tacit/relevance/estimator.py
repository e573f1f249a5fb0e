"""`RelevanceVectors`: what relevance vector machines for numbers and for classes share."""

import numbers
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..base.rows import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..base.supervised import Supervised
from ..checks import check_choice, check_n_jobs, check_number, check_weight, warn_of_light_rows
from ..declared import OBJECTIVE, Listed, Numbers, Text
from ..factor.kernel.basis import Basis, check_kernel, kernel_of
from ..kernels import backend, host
from ..notes import Note
from .learning import learn_fast, learn_fixed_point
from .likelihoods import Weights

__all__ = ["RelevanceVectors"]

UNEVEN = 100.0  # times the middle column's standard deviation
METHODS = {"fast": learn_fast, "fixed_point": learn_fixed_point}


class _Learned(Supervised):
    """What relevance vector machines learn; annotated fields of the next class are settings."""

    gamma_: float
    relevance_: np.ndarray
    relevance_vectors_: np.ndarray
    coef_: np.ndarray
    intercept_: Any
    alpha_: np.ndarray
    sigma_: np.ndarray
    places_: np.ndarray
    log_marginal_likelihood_: float
    log_marginal_likelihoods_: list
    reason_: str


@settings
class RelevanceVectors(_Learned):
    """Base of relevance vector machines."""

    kernel: Any = "rbf"
    _: KW_ONLY
    gamma: Any = "scale"
    degree: float = 3
    coef0: float = 1
    kernel_params: dict | None = None
    fit_intercept: bool = True
    method: str = "fast"
    max_iter: int = 3000
    tol: float = 1e-3
    n_jobs: int | None = None

    _takes_missing = False
    _min_rows = 1
    _dtypes = (np.float64,)
    _saved = RowsEstimator._saved | {
        "relevance_": Numbers("v", low=0, kind="i"),
        "relevance_vectors_": Numbers("v d", needed=False),
        "coef_": Numbers(lambda owner: "v" if owner._n_scores() is None else f"{owner._n_scores()} v"),
        "intercept_": Numbers(lambda owner: "" if owner._n_scores() is None else f"{owner._n_scores()}"),
        "alpha_": Numbers("m", low=0),
        "sigma_": Numbers("m m", form="scatter"),
        "places_": Numbers("m 2", low=0, kind="i"),
        "gamma_": Numbers(low=0),
        "log_marginal_likelihood_": OBJECTIVE,
        "log_marginal_likelihoods_": Listed(OBJECTIVE),
        "reason_": Text(),
    }

    @property
    def _missing_remedy(self) -> str:  # type: ignore[override]
        return (
            f"and the kernels of {type(self).__name__} take no missing values; fill them before it, for example with "
            f"make_pipeline(tacit.impute.GaussianImputer(), {type(self).__name__}())"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    @property
    def n_iter_(self) -> int:
        """Steps."""
        check_is_fitted(self)
        return len(self.log_marginal_likelihoods_) - 1

    def _check_settings(self) -> None:
        check_kernel(self)
        check_choice("method", self.method, tuple(METHODS))
        check_number("max_iter", self.max_iter, numbers.Integral, 1)
        check_number("tol", self.tol, numbers.Real, 0)
        check_n_jobs(self.n_jobs)

    def _n_scores(self) -> int | None:
        """How many rows coefficients have; None where they have one dimension."""
        return None

    def _rows(self, X: Any, *, reset: bool) -> np.ndarray:
        """Rows in memory."""
        return self._validate(host(X) if backend(X) == "torch" else X, reset=reset)

    def _counting(self, X: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """Weights of the rows, and numbers of those that count."""
        weight = check_weight(sample_weight, len(X))
        warn_of_light_rows(weight, stacklevel=3)
        weight = np.ones(len(X)) if weight is None else weight
        if self.__sklearn_tags__().input_tags.pairwise and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"a precomputed kernel must be square, but X has shape {X.shape}; for rows of features use kernel='rbf'."
            )
        return weight, np.flatnonzero(weight > 0)

    def _learn(self, X: np.ndarray, taken: np.ndarray, targets: Any, learns_noise: bool) -> Any:
        """Learn the weights of these rows as vectors; returns the targets with their noise."""
        kernel, self.gamma_ = kernel_of(self, X[taken], targets.weight)
        if kernel is not None and not callable(self.kernel):
            self._tell_of_units(X[taken])
        vectors = taken
        if kernel is not None:  # rows that are given twice are one vector
            vectors = taken[np.sort(np.unique(X[taken], axis=0, return_index=True)[1])]
        rows = X[taken] if kernel is not None else X[np.ix_(taken, taken)]
        values = Basis(kernel, X[vectors], self.fit_intercept).values(rows)
        learn = METHODS[self.method]
        targets, weights, found, trace, reason = learn(values, targets, self.max_iter, self.tol, learns_noise)
        if reason.code == "max_iter":
            warnings.warn(
                f"the fit did not settle: {reason}; increase max_iter, or tol.", ConvergenceWarning, stacklevel=3
            )
        self._publish(X, vectors, weights, found)
        self.log_marginal_likelihood_, self.log_marginal_likelihoods_ = trace[-1], trace
        self.reason_ = str(reason)
        return targets

    def _tell_of_units(self, X: np.ndarray) -> None:
        """Warn where kernels see little but one column."""
        deviation = X.std(axis=0)
        column, middle = (
            int(np.argmax(deviation)),
            float(np.median(deviation[deviation > 0])) if deviation.any() else 0.0,
        )
        if deviation[column] > UNEVEN * middle:
            told = Note(
                "uneven_columns",
                "column {column} varies {ratio:.3g} times as much as the middle one, so that kernels see little but it; scale "
                "the columns, for example with make_pipeline(StandardScaler(), {model}())",
                column=self._told(column), ratio=deviation[column] / middle, model=type(self).__name__,
            )  # fmt: skip
            warnings.warn(f"{told}.", UserWarning, stacklevel=4)

    def _publish(self, X: np.ndarray, vectors: np.ndarray, weights: Weights, found: Any) -> None:
        """Set what is told of the weights, in the order of the vectors' rows, the constant last."""
        order = np.lexsort((weights.column, weights.score))
        column, score, mean = weights.column[order], weights.score[order], found.mean[order]
        used = np.unique(column[column < len(vectors)])
        place = np.searchsorted(used, column)  # that of the constant is behind the last vector
        coef = np.zeros((self._n_scores() or 1, len(used) + 1))
        coef[score, place] = mean
        self.relevance_ = vectors[used]
        if not self.__sklearn_tags__().input_tags.pairwise:
            self.relevance_vectors_ = X[self.relevance_]
        single = self._n_scores() is None
        self.coef_, self.intercept_ = (coef[0, :-1], float(coef[0, -1])) if single else (coef[:, :-1], coef[:, -1])
        self.alpha_, self.sigma_ = weights.alpha[order], found.covariance[np.ix_(order, order)]
        self.places_ = np.column_stack([score, place])

    def _values(self, X: Any) -> np.ndarray:
        """Φ of rows, the constant last."""
        check_is_fitted(self)
        X = self._rows(X, reset=False)
        if self.__sklearn_tags__().input_tags.pairwise:
            return np.column_stack([X[:, self.relevance_], np.ones(len(X))])
        kernel, _ = kernel_of(self, self.relevance_vectors_, gamma=self.gamma_) if len(self.relevance_) else (None, 0.0)
        found = Basis(kernel, self.relevance_vectors_, True)
        return found.values(X if kernel is not None else X[:, :0])

    def _spread(self, values: np.ndarray) -> np.ndarray:
        """Covariance of the scores of rows, (n, scores, scores)."""
        score, place = self.places_.T
        K = self._n_scores() or 1
        lifted = np.zeros((len(values), K, len(score)))
        lifted[:, score, np.arange(len(score))] = values[:, place]
        return lifted @ self.sigma_ @ np.swapaxes(lifted, 1, 2)
