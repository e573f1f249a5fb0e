"""The perceptron: w ← w + η y x wherever y (w·x + b) ≤ 0, in the space of the columns or of a kernel.

If some w* of length 1 has y w*·x ≥ γ for all rows, of length at most R, there are at most (R / γ)² changes in all (Novikoff).
"""

import numbers
import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..base.supervised import coded_classes
from ..checks import check_choice, check_n_jobs, check_number, check_weight
from ..declared import Numbers
from ..factor.kernel.basis import Basis, check_kernel, kernel_of
from ..kernels import backend, host
from .classifier import LinearClassifier, class_factors
from .perceptron_forms import KernelForm, LinearForm

__all__ = ["Perceptron"]


class _Learned(LinearClassifier):
    """What a perceptron learns; annotated fields of its own class are settings."""

    mistakes_: Any
    mistake_bound_: np.ndarray
    support_vectors_: np.ndarray
    gamma_: float
    n_iter_: int
    t_: int


@settings
class Perceptron(_Learned):
    """The perceptron of Rosenblatt, a drop-in for scikit-learn's; also with a kernel, and averaged; it tells its mistake bound.

    Several classes are learned each against all others.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"}, optional
        What weights are shrunk by at every row; by default nothing.
    alpha : float, default=0.0001
        Strength of the penalty.
    l1_ratio : float, default=0.15
        Share of L1 in "elasticnet".
    fit_intercept : bool, default=True
        Whether there is a constant.
    max_iter : int, default=1000
        Most passes over the rows.
    tol : float or None, default=1e-3
        A pass must lower the mean loss by this; None always takes `max_iter` passes, or stops where none made a mistake.
    shuffle : bool, default=True
        Whether rows come in another order in every pass.
    verbose : int, default=0
        Ignored.
    eta0 : float, default=1
        η.
    n_jobs : int, optional
        Ignored: a perceptron goes row by row.
    random_state : int, default=0
        Seeds the order of the rows.
    early_stopping : bool, default=False
        Whether passes are judged by the accuracy for rows held out instead.
    validation_fraction : float, default=0.1
        Share of rows held out.
    n_iter_no_change : int, default=5
        After how many passes without improvement to stop.
    class_weight : dict or "balanced", optional
        Factors of the rows' weights, by class.
    warm_start : bool, default=False
        Whether a fit goes on from the last one.
    kernel : str or callable, optional
        A kernel, as in :class:`tacit.relevance.RelevanceVectorRegressor`; by default weights are those of the columns.
    gamma, degree, coef0, kernel_params
        As there.
    average : bool, default=False
        Whether the weights are the mean over all rows that came, which is steadier where classes overlap.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        With a kernel, weights of the rows that changed anything.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    support_vectors_ : ndarray of shape (n_support, n_features)
        With a kernel, those rows.
    mistakes_ : ndarray like intercept_
        How often weights were changed.
    mistake_bound_ : ndarray like intercept_
        (R / γ)² with the margin γ of the weights that were found, before averaging; infinite where rows are on the wrong side.
        Where all rows weigh the same, no order of them makes more changes than this.
    n_iter_ : int
    t_ : int
        Rows that came, plus 1.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Rosenblatt (1958), The perceptron. Novikoff (1962), On convergence proofs on perceptrons.
    Freund and Schapire (1999), Large margin classification using the perceptron algorithm.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.linear_model import Perceptron
    >>> X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), [0, 1, 1, 0]
    >>> Perceptron().fit(X, y).score(X, y) < 1, Perceptron(kernel="rbf", gamma=1.0).fit(X, y).score(X, y)
    (True, 1.0)
    """

    _: KW_ONLY
    penalty: str | None = None
    alpha: float = 0.0001
    l1_ratio: float = 0.15
    fit_intercept: bool = True
    max_iter: int = 1000
    tol: float | None = 1e-3
    shuffle: bool = True
    verbose: int = 0
    eta0: float = 1.0
    n_jobs: int | None = None
    random_state: Any = 0
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    class_weight: Any = None
    warm_start: bool = False
    kernel: Any = None
    gamma: Any = "scale"
    degree: float = 3
    coef0: float = 1
    kernel_params: dict | None = None
    average: bool = False

    _saved: ClassVar[dict] = LinearClassifier._saved | {
        "coef_": Numbers(lambda owner: f"{owner._n_scores()} {'d' if owner.kernel is None else 'v'}", sparse=True),
        "support_vectors_": Numbers("v d", needed=False),
        "gamma_": Numbers(low=0, needed=False),
        "mistakes_": Numbers(lambda owner: f"{owner._n_scores()}", low=0, kind="i"),
        "mistake_bound_": Numbers(lambda owner: f"{owner._n_scores()}", low=0, beside=(np.inf,)),
        "n_iter_": Numbers(low=0, kind="i"),
        "t_": Numbers(low=0),
    }

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return self.kernel is None

    def _check_settings(self) -> None:
        check_choice("penalty", self.penalty, ("l2", "l1", "elasticnet", None))
        check_number("alpha", self.alpha, numbers.Real, 0)
        check_number("l1_ratio", self.l1_ratio, numbers.Real, 0, 1)
        check_number("max_iter", self.max_iter, numbers.Integral, 1)
        check_number("tol", self.tol, numbers.Real, 0, also=(None,))
        check_number("eta0", self.eta0, numbers.Real, np.finfo(float).tiny)
        check_number("n_iter_no_change", self.n_iter_no_change, numbers.Integral, 1)
        check_number("validation_fraction", self.validation_fraction, numbers.Real, 1e-9, 1.0 - 1e-9)
        check_n_jobs(self.n_jobs)
        if self.kernel is not None:
            check_kernel(self)
            if self.kernel == "precomputed":
                raise ValueError("kernel='precomputed' is not taken; give the kernel's name or a function of two rows.")
            if self.penalty is not None or self.warm_start:
                raise ValueError("a perceptron with a kernel has neither penalty nor warm_start; leave them out.")
        if self.average and self.penalty is not None:
            raise ValueError(f"average=True and penalty={self.penalty!r} do not go together; leave one of them out.")

    # Learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Go over the rows until no mistake is left or passes no longer improve.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of η.
        """
        self._check_settings()
        warm = self.warm_start and hasattr(self, "coef_")
        known = self.classes_ if warm else None
        self.classes_, codes = coded_classes(self, y)
        rows = self._rows(X, codes, reset=True)
        self._check_classes()
        same = known is not None and np.array_equal(known, self.classes_)
        start = self._params().joined if same else None
        if start is not None and start.shape[1] != rows.shape[1] + 1:
            start = None
        self._learn(rows, codes, sample_weight, start, self.max_iter)
        if self.n_iter_ == self.max_iter and self.tol is not None:
            warnings.warn(
                f"Maximum number of iteration reached before convergence: max_iter={self.max_iter} passes were taken; "
                "increase it.", ConvergenceWarning, stacklevel=2,
            )  # fmt: skip
        return self

    @available_if(lambda model: model.kernel is None)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go once over some more rows, for example of a stream.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like of shape (n_classes,), optional
            All classes there may be; needed at the first call.
        """
        self._check_settings()
        if self.early_stopping or self.average or self.class_weight == "balanced":
            raise ValueError(
                "partial_fit is for perceptrons without average, early_stopping and class_weight='balanced'; call fit."
            )
        first = not hasattr(self, "coef_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if classes is not None and not first and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes={list(classes)!r} are not those of the first call, {self.classes_.tolist()}.")
        self.classes_ = np.unique(classes) if first else self.classes_
        found, codes = coded_classes(self, y)
        if not np.isin(found, self.classes_).all():
            odd = found[~np.isin(found, self.classes_)][0].item()
            raise ValueError(f"y holds {odd!r}, which is none of the classes {self.classes_.tolist()}.")
        rows = self._rows(X, codes, reset=first)
        self._check_classes()
        codes = np.searchsorted(self.classes_, found)[codes]
        before = (0, 1, 0) if first else (self.n_iter_, self.t_, self.mistakes_)
        self._learn(rows, codes, sample_weight, None if first else self._params().joined, 1)
        self.t_ += before[1] - 1
        self.mistakes_ = self.mistakes_ + before[2]
        return self

    def _rows(self, X: Any, codes: np.ndarray, *, reset: bool) -> Any:
        """Rows in memory, as many as there are classes told."""
        rows = self._validate(host(X) if backend(X) == "torch" else X, reset=reset)
        if rows.shape[0] != len(codes):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has {rows.shape[0]} rows and y {len(codes)}."
            )
        return rows

    def _learn(self, rows: Any, codes: np.ndarray, sample_weight: Any, start: Any, n_passes: int) -> None:
        """Learn all scores and publish them."""
        weight = check_weight(sample_weight, len(codes))
        weight = np.ones(len(codes)) if weight is None else weight
        totals = np.bincount(codes, weight, minlength=len(self.classes_))
        step = self.eta0 * weight * class_factors(self.class_weight, self.classes_, totals)[codes]
        taken = np.arange(len(codes))
        held = np.zeros(0, int)
        if self.early_stopping:
            taken, held = train_test_split(
                taken, test_size=self.validation_fraction, random_state=self.random_state, stratify=codes
            )
        task = KernelForm(self, rows) if self.kernel is not None else LinearForm(self, rows)
        found = []
        for k in range(self._n_scores()):
            sign = np.where(codes == (1 if self._n_scores() == 1 else k), 1.0, -1.0)
            begin = None if start is None else start[k]
            found.append(self._one(task, sign, step, np.sort(taken), held, begin, n_passes))
        weights, self.mistakes_, bounds, n_iter = (np.array(part) for part in zip(*found))
        self.mistake_bound_, self.n_iter_ = bounds.astype(float), int(n_iter.max())
        self.t_ = int(self.n_iter_ * len(taken) + 1)
        task.publish(self, weights)

    def _one(
        self, task: Any, sign: np.ndarray, step: np.ndarray, taken: np.ndarray, held: np.ndarray, start: Any, n_passes: int
    ) -> tuple[np.ndarray, int, float, int]:  # fmt: skip
        """Weights of one score, how many mistakes were made on the way, their bound, and passes."""
        state, rng, best, idle, mistakes, n_iter = task.state(start), self._rng(), np.inf, 0, 0, 0
        while n_iter < n_passes:
            n_iter += 1
            order = rng.permutation(taken) if self.shuffle else taken
            loss, wrong = task.go_over(order, sign, step, state)
            mistakes += wrong
            if len(held):
                loss = -float(np.mean(np.sign(task.scores(state)[held]) == sign[held]))
            else:
                loss /= len(taken)
            if self.tol is not None:
                idle = idle + 1 if loss > best - self.tol else 0
                best = min(best, loss)
            if idle >= self.n_iter_no_change or (not wrong and self.penalty is None):
                break
        bound = task.bound(sign, step, taken, state)
        return task.final(state), mistakes, bound, n_iter

    # Predictions

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of the classes, (n_samples, n_classes), or of the second of two, (n_samples,)."""
        if self.kernel is None:
            return super().decision_function(X)
        check_is_fitted(self)
        X = self._validate(host(X) if backend(X) == "torch" else X, reset=False)
        if not len(self.support_vectors_):
            score = np.tile(self.intercept_, (len(X), 1))
        else:
            kernel, _ = kernel_of(self, self.support_vectors_, gamma=self.gamma_)
            score = Basis(kernel, self.support_vectors_, False).values(X) @ self.coef_.T + self.intercept_
        return score[:, 0] if score.shape[1] == 1 else score
