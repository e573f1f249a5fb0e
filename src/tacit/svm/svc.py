"""`SVC` and `NuSVC`: the widest margin between two classes, f(x) = Σ_i β_i k(x_i, x) + b.

SVC      min ½‖w‖² + Σ C_i ξ_i          y_i f(x_i) ≥ 1 − ξ_i
NuSVC    min ½‖w‖² − νρ + Σ w_i ξ_i / Σ w    y_i f(x_i) ≥ ρ − ξ_i
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.settings import KW_ONLY, settings
from .classifier import MarginClassifier
from .problem import Problem, Solution

__all__ = ["SVC", "NuSVC"]


@settings
class SVC(MarginClassifier):
    """Classification by the widest margin, with a price C for rows inside it.

    Works where scikit-learn's does, with the same settings and attributes; the same optimum is found by the same method several
    times faster on thousands of rows. Beyond it: margins, the dual objective and the optimality gap are told, C=inf says where
    no machine exists, functions of two rows are kernels, and probabilities come from rows held out.

    Missing cells are refused: a kernel needs every cell. Impute them first with `tacit.impute.GaussianImputer`, or use
    `tacit.classification` or `tacit.mixture`, which take them.

    Parameters
    ----------
    C : float, default=1.0
        Price of an error; infinite for a hard margin.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable, default="rbf"
        k(x, y): x·y, (γ x·y + c)^degree, exp(−γ‖x − y‖²), tanh(γ x·y + c); "precomputed": X holds kernel values. A function is
        called with two tables and returns all values, as in scikit-learn, or with two rows and returns a number; the latter is
        compiled where numba can do it.
    degree : int, default=3
        Of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        γ: 1 / (n_features · variance of X), 1 / n_features, or a number.
    coef0 : float, default=0.0
        c of "poly" and "sigmoid".
    tol : float, default=1e-3
        The optimality gap below which the search ends.
    shrinking : bool, default=True
        Leave out coordinates that rest for a while; the end is checked on all.
    cache_size : float, default=200
        Megabytes for rows of the kernel matrix.
    max_iter : int, default=-1
        Most steps; −1 is no limit but 10 million, or 100 a row.
    verbose : bool, default=False
        Print how each search ended.
    probability : bool, default=False
        Make `predict_proba` available: sigmoids of decision values, learned by five-fold cross-validation.
    class_weight : dict or "balanced", optional
        By what rows of a class are multiplied.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        What `decision_function` gives for more than two classes.
    break_ties : bool, default=False
        Whether `predict` looks at decision values where pairs of classes leave a tie.
    random_state : int, RandomState or None
        Draws the folds behind probabilities.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_weight_ : ndarray of shape (n_classes,)
    support_ : ndarray of shape (n_SV,)
        Numbers of the support vectors.
    support_vectors_ : {ndarray, CSR matrix} of shape (n_SV, n_features)
    n_support_ : ndarray
        How many there are, by class where there are classes.
    dual_coef_ : {ndarray, CSR matrix} of shape (n_classes - 1, n_SV)
        β of the machines of each vector's class with each other class, as in scikit-learn.
    intercept_ : ndarray of shape (n_pairs,)
    n_iter_, dual_objective_, kkt_gap_, margin_ : ndarray of shape (n_pairs,)
        Of each pair of classes: steps, the dual objective (which is maximised), the optimality gap, and the distance from the
        boundary to the margin in the kernel's space.
    probA_, probB_ : ndarray of shape (n_pairs,), or empty
        A and B of p(first class) = 1 / (1 + exp(A f + B)), of f above 0 for the first class.
    coef_ : {ndarray, CSR matrix}
        Weights of the features, with kernel="linear".
    gamma_ : float
        The γ used.
    fit_status_ : int
        0 where the search converged.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Cortes and Vapnik (1995), Support-vector networks. Machine Learning 20.
    Platt (1998), Fast training of support vector machines using sequential minimal optimization.
    Fan, Chen and Lin (2005), Working set selection using second order information for training SVM. JMLR 6.
    Chang and Lin (2011), LIBSVM: a library for support vector machines. ACM TIST 2.

    Examples
    --------
    >>> from tacit.svm import SVC
    >>> X, y = [[-2, -1], [-1, -1], [-1, -2], [1, 1], [1, 2], [2, 1]], [1, 1, 1, 2, 2, 2]
    >>> model = SVC(kernel="linear", C=float("inf")).fit(X, y)
    >>> model.support_.tolist(), model.dual_coef_.tolist(), round(float(model.margin_[0]), 4)
    ([1, 3], [[-0.25, 0.25]], 1.4142)
    """

    _: KW_ONLY
    C: float = 1.0

    def _machine(self, gram: Any, first: np.ndarray, weight: np.ndarray, whose: str) -> tuple:
        n, cost = len(first), self.C * weight
        zero = np.zeros(n)
        problem = Problem(
            np.where(first, 1.0, -1.0), np.where(first, cost, 0.0), np.where(first, 0.0, -cost), zero, zero
        )
        found = self._solve(problem, gram, whose)
        return found, found.level, found.beta

    def _unreachable(self, whose: str) -> str:
        return (
            f"C={self.C} allows no row on the wrong side, but {whose} cannot be separated with kernel={self.kernel!r}; give a "
            "finite C, or a kernel that separates them, such as 'rbf'."
        )


@settings
class NuSVC(MarginClassifier):
    """Classification by the widest margin, with a share ν of rows inside it instead of a price.

    Works where scikit-learn's does, with the same settings and attributes, and tells what `SVC` does. ν is at least the share of
    rows inside the margin, and at most that of support vectors. Unlike scikit-learn's, it takes `class_weight` into account.

    Missing cells are refused: a kernel needs every cell. Impute them first with `tacit.impute.GaussianImputer`, or use
    `tacit.classification` or `tacit.mixture`, which take them.

    Parameters
    ----------
    nu : float, default=0.5
        ν, above 0 and at most 1.
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, max_iter, verbose, probability, class_weight, decision_function_shape, break_ties, random_state
        As in `SVC`.

    Attributes
    ----------
    classes_, class_weight_, support_, support_vectors_, n_support_, dual_coef_, intercept_, n_iter_, dual_objective_, kkt_gap_, margin_, probA_, probB_, coef_, gamma_, fit_status_, n_features_in_, feature_names_in_
        As in `SVC`.

    References
    ----------
    Cortes and Vapnik (1995), Support-vector networks. Machine Learning 20.
    Platt (1998), Fast training of support vector machines using sequential minimal optimization.
    Fan, Chen and Lin (2005), Working set selection using second order information for training SVM. JMLR 6.
    Chang and Lin (2011), LIBSVM: a library for support vector machines. ACM TIST 2.
    Schölkopf, Smola, Williamson and Bartlett (2000), New support vector algorithms. Neural Computation 12.

    Examples
    --------
    >>> from tacit.svm import NuSVC
    >>> X, y = [[-2, -1], [-1, -1], [-1, -2], [1, 1], [1, 2], [2, 1]], [1, 1, 1, 2, 2, 2]
    >>> NuSVC(nu=0.4).fit(X, y).predict([[-0.8, -1]]).tolist()
    [1]
    """  # noqa: E501

    _: KW_ONLY
    nu: float = 0.5

    def _check_weights(self, weight: np.ndarray, codes: np.ndarray) -> None:
        totals = np.bincount(codes, weight, minlength=len(self.classes_))
        for a in range(len(totals)):
            for b in range(a + 1, len(totals)):
                least, both = min(totals[a], totals[b]), totals[a] + totals[b]
                if self.nu * both / 2 > least * (1 + 1e-12):
                    raise ValueError(
                        f"specified nu is infeasible: nu={self.nu} asks for more of {self._told_of((a, b))} than the smaller "
                        f"has; use at most {2 * least / both if both else 0:.4g}."
                    )

    def _machine(self, gram: Any, first: np.ndarray, weight: np.ndarray, whose: str) -> tuple:
        sign = np.where(first, 1.0, -1.0)
        near = -sign * gram.product(sign * weight / np.where(first, weight[first].sum(), weight[~first].sum()))
        start = filled(weight * first, near, self.nu * weight.sum() / 2) - filled(
            weight * ~first, near, self.nu * weight.sum() / 2
        )
        problem = Problem(
            np.zeros(len(first)), weight * first, -weight * ~first, np.maximum(start, 0.0), np.minimum(start, 0.0),
            grouped=True,
        )  # fmt: skip
        found = self._solve(problem, gram, whose)
        above, below = found.levels()
        half = (below - above) / 2
        if not half > 1e-10 * max(1.0, float(np.abs(gram.diagonal).max())):
            raise ValueError(
                f"nu={self.nu} leaves {whose} no margin: weighted means of their rows coincide; use a larger nu."
            )
        return found, (above + below) / 2 / half, found.beta / half

    def _margin(self, found: Solution) -> float:
        above, below = found.levels()
        return float((below - above) / 2 / np.sqrt(found.square)) if found.square > 0 else np.inf

    def _unreachable(self, whose: str) -> str:
        raise NotImplementedError


def filled(room: np.ndarray, score: np.ndarray, total: float) -> np.ndarray:
    """`total` given to those of highest score first, to each what it has room for.

    Parameters
    ----------
    room, score : ndarray of shape (n,)
    total : float
    """
    order = np.argsort(-np.where(room > 0, score, -np.inf), kind="stable")
    before = np.cumsum(room[order]) - room[order]
    given = np.empty(len(room))
    given[order] = np.clip(total - before, 0.0, room[order])
    return given
