"""`MarginClassifier`: what classifiers with support vectors share: a machine for every pair of classes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..base.supervised import coded_classes
from ..declared import SQUARES, Names, Numbers, Spec
from ..source.threads import all_of, thread_count
from .checks import row_weights
from .estimator import SupportVectors
from .one_vs_one import coupled, decisions, laid_out, one_vs_rest, pairs_of, primal, votes
from .platt import fit_sigmoid, held_out, sigmoid
from .problem import Solution

__all__ = ["MarginClassifier"]

LARGE = 2000
"""Rows from which machines of pairs of classes are learned on threads."""


def _tells_probabilities(model: MarginClassifier) -> bool:
    if not model.probability:
        raise AttributeError("predict_proba is not available when probability=False")
    return True


@settings
class MarginClassifier(ClassifierMixin, SupportVectors):
    """Base of `SVC` and `NuSVC`."""

    _: KW_ONLY
    probability: bool = False
    class_weight: Any = None
    decision_function_shape: str = "ovr"
    break_ties: bool = False
    random_state: Any = None

    _saved: ClassVar[dict[str, Spec]] = SupportVectors._saved | {
        "classes_": Names("K", labels=True),
        "class_weight_": Numbers("K", low=0, high=SQUARES),
        "n_iter_": Numbers("p", low=0, kind="i"),
        "dual_objective_": Numbers("p", high=SQUARES),
        "kkt_gap_": Numbers("p", high=SQUARES, beside=(-np.inf,)),
        "margin_": Numbers("p", low=0, beside=(np.inf,)),
        "probA_": Numbers("q", high=SQUARES),
        "probB_": Numbers("q", high=SQUARES),
    }

    def _check_loaded(self) -> None:
        super()._check_loaded()
        n = len(self.classes_)
        told = len(self.n_support_), self.dual_coef_.shape[0] + 1, len(self.probA_) or len(self.intercept_)
        if told != (n, n, n * (n - 1) // 2) or self.n_support_.sum() != len(self.support_):
            raise ValueError(f"its machines are not those of the pairs of {n} classes")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a machine for every pair of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Rows; kernel values with kernel="precomputed".
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights by which C is multiplied; rows with weight 0 or less are left out.

        Returns
        -------
        self
        """
        self._check_settings()
        X, kernel = self._open_fit(X)
        self.classes_, codes = coded_classes(self, y)
        if len(codes) != self.n_samples_fit_:
            raise ValueError(
                f"X and y have incompatible shapes: X has {self.n_samples_fit_} rows, but y has {len(codes)}; give one class "
                "per row."
            )
        if len(self.classes_) < 2:
            raise ValueError(
                f"The number of classes has to be greater than one; got 1 class, {self.classes_[0]!r}. A single class is for "
                "OneClassSVM."
            )
        weight = row_weights(sample_weight, len(codes))
        self.class_weight_ = np.ones(len(self.classes_))
        if self.class_weight is not None:
            self.class_weight_ = compute_class_weight(self.class_weight, classes=self.classes_, y=self.classes_[codes])
        weight = weight * self.class_weight_[codes]
        self._check_weights(weight, codes)
        K = kernel.whole(X)
        learned = self._machines(X, codes, weight, kernel, K)
        self._publish(X, codes, learned)
        self.probA_, self.probB_ = np.empty(0), np.empty(0)
        if self.probability:
            self._calibrate(X, codes, weight, kernel, K)
        return self

    def _check_weights(self, weight: np.ndarray, codes: np.ndarray) -> None:
        """Raise where fewer than two classes have weight."""
        found = np.unique(codes[weight > 0])
        if len(found) < 2:
            raise ValueError(
                "Invalid input - all samples with positive weights belong to the same class, "
                f"{self.classes_[found[0]]!r}; at least two classes must have rows of weight above 0."
            )

    def _rows_of(self, codes: np.ndarray, weight: np.ndarray, pair: tuple[int, int]) -> np.ndarray:
        """The rows of two classes, those of the first before the second; in their order where there are no others."""
        if len(self.classes_) == 2:
            return np.flatnonzero(weight > 0)
        return np.concatenate([np.flatnonzero((codes == k) & (weight > 0)) for k in pair])

    def _machines(
        self, X: Any, codes: np.ndarray, weight: np.ndarray, kernel: Any, K: np.ndarray | None
    ) -> list[tuple[np.ndarray, Solution, float, np.ndarray]]:
        """The rows, solution, intercept and coefficients of each pair."""
        pairs = pairs_of(len(self.classes_))
        several = len(pairs) > 1 and len(codes) > LARGE
        threads = thread_count(self.n_jobs) if several else 1
        kernel = kernel.serial() if threads > 1 else kernel

        def learn(pair: tuple[int, int]) -> tuple:
            chosen = self._rows_of(codes, weight, pair)
            return chosen, *self._learn(
                X, chosen, codes[chosen] == pair[0], weight[chosen], kernel, K, self._told_of(pair)
            )

        return all_of(learn, pairs, threads)

    def _told_of(self, pair: tuple[int, int]) -> str:
        a, b = (self.classes_[k].item() if hasattr(self.classes_[k], "item") else self.classes_[k] for k in pair)
        return f"the classes {a!r} and {b!r}"

    def _learn(
        self, X: Any, chosen: np.ndarray, first: np.ndarray, weight: np.ndarray, kernel: Any, K: Any, whose: str
    ) -> tuple[Solution, float, np.ndarray]:
        """The machine of some rows, its intercept and its coefficients, positive towards the first class."""
        if not len(first) or first.all() or not first.any():
            raise ValueError(
                f"Invalid input - all samples with positive weights belong to the same class of {whose}; give both rows of "
                "weight above 0."
            )
        every = None if len(chosen) == self.n_samples_fit_ else chosen
        gram = kernel.gram(X, every, K, float(self.cache_size), np.isinf(weight * getattr(self, "C", 1.0)).any())
        return self._machine(gram, first, weight, whose)

    def _machine(self, gram: Any, first: np.ndarray, weight: np.ndarray, whose: str) -> tuple:
        raise NotImplementedError

    def _publish(self, X: Any, codes: np.ndarray, learned: list) -> None:
        """Set what is told of the machines; of two classes, values are above 0 for the second."""
        solutions = [found for _, found, _, _ in learned]
        sign = -1.0 if len(self.classes_) == 2 else 1.0
        self.intercept_ = sign * np.array([level for _, _, level, _ in learned])
        coefficients, support, self.n_support_ = laid_out(
            codes, [rows for rows, *_ in learned], [beta for *_, beta in learned]
        )
        self._keep(X, sign * coefficients, support)
        self.n_iter_ = np.array([found.n_iter for found in solutions])
        self.dual_objective_ = np.array([found.objective for found in solutions])
        self.kkt_gap_ = np.array([found.gap for found in solutions])
        self.margin_ = np.array([self._margin(found) for found in solutions])
        self._ended(solutions)

    def _margin(self, found: Solution) -> float:
        """1/‖w‖."""
        return float(1.0 / np.sqrt(found.square)) if found.square > 0 else np.inf

    def _calibrate(self, X: Any, codes: np.ndarray, weight: np.ndarray, kernel: Any, K: np.ndarray | None) -> None:
        """Learn what decision values say of probabilities, from rows that machines did not see."""
        rng, found = check_random_state(self.random_state), []
        for pair in pairs_of(len(self.classes_)):
            chosen = self._rows_of(codes, weight, pair)
            first, whose = codes[chosen] == pair[0], self._told_of(pair)

            def learn(seen: np.ndarray, hidden: np.ndarray) -> np.ndarray:
                rows = chosen[seen]  # noqa: B023
                _, level, beta = self._learn(X, rows, first[seen], weight[rows], kernel, K, whose)  # noqa: B023
                rows, beta, told = rows[beta != 0], beta[beta != 0], chosen[hidden]  # noqa: B023
                if K is not None:
                    return K[told[:, None], rows] @ beta + level
                return kernel.expand(X[told], X[rows], beta) + level

            values, known = held_out(first, learn, rng)
            found.append(fit_sigmoid(values[known], first[known], weight[chosen][known]))
        self.probA_, self.probB_ = (np.array(part) for part in zip(*found))

    # Answers

    def _values(self, X: Any) -> np.ndarray:
        """Values of all pairs, above 0 for the first of a pair; of two classes, for the second."""
        X = self._open_new(X)
        kernel = self._kernel(self.support_vectors_)
        coefficients = self.dual_coef_.toarray() if sparse.issparse(self.dual_coef_) else self.dual_coef_
        if len(self.classes_) == 2:
            return (kernel.expand(X, self._vectors, coefficients[0]) + self.intercept_)[:, None]
        return kernel.apply(X, self._vectors, lambda K: decisions(K, coefficients, self.intercept_, self.n_support_))

    def decision_function(self, X: Any) -> np.ndarray:
        """Values by which classes are told.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features) or (n_rows, n_samples)
            Rows; with kernel="precomputed", their kernel values with the fitted rows.

        Returns
        -------
        values : ndarray of shape (n_rows,), (n_rows, n_classes) or (n_rows, n_classes * (n_classes - 1) / 2)
            Of two classes, above 0 for the second; of more, a column for each class or, with decision_function_shape="ovo", for
            each pair of them, above 0 for the first.
        """
        values = self._values(X)
        if len(self.classes_) == 2:
            return values[:, 0]
        return one_vs_rest(values, len(self.classes_)) if self.decision_function_shape == "ovr" else values

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row: the one that most pairs say, the first of them where several are.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features) or (n_rows, n_samples)
            As in `decision_function`.

        Returns
        -------
        classes : ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        values = self._values(X)
        if len(self.classes_) == 2:
            return self.classes_.take((values[:, 0] > 0).astype(np.intp))
        n = len(self.classes_)
        told = one_vs_rest(values, n) if self.break_ties else votes(values > 0, n)
        return self.classes_.take(told.argmax(axis=1))

    @available_if(_tells_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of classes, calibrated on rows that machines did not see.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features) or (n_rows, n_samples)
            As in `decision_function`.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
        """
        check_is_fitted(self)
        if not len(self.probA_):
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        values = self._values(X)
        values = -values if len(self.classes_) == 2 else values
        return coupled(sigmoid(values, self.probA_, self.probB_), len(self.classes_))

    @available_if(_tells_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def _primal(self) -> Any:
        if len(self.classes_) == 2:
            return self.dual_coef_ @ self.support_vectors_
        found = primal(self.support_vectors_, self.dual_coef_, self.n_support_)
        if sparse.issparse(self.dual_coef_):
            return sparse.hstack(found).T.tocsr()
        return np.ascontiguousarray(np.hstack(found).T)
