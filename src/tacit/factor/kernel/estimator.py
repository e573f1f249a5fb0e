"""`KernelPCA`: principal components of φ(x), known through k(x, y) = φ(x)·φ(y) alone.

K̃ = (I − 11ᵀ/n) K (I − 11ᵀ/n) = V Λ Vᵀ,    score_j(x) = Σ_i k̃(x, x_i) v_ij / √λ_j
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ...base import RowsEstimator
from ...base.settings import KW_ONLY, settings
from ...declared import SQUARES, Numbers, Text
from ...signs import signs
from ..estimator import RowScores
from .checks import check_callable, check_settings, checked_rows, n_wanted
from .exact import exact
from .function import KERNELS, SHIFTABLE, Kernel
from .nystrom import choose_landmarks, nystrom, takes_landmarks, warn_landmarks
from .preimage import fixed_points, learn_inverse
from .spectrum import Spectrum

__all__ = ["KernelPCA"]


@settings
class KernelPCA(RowScores):
    """Principal components in the space of a kernel.

    Works where scikit-learn's does, with the same settings and attributes. Beyond it: every named kernel, Nyström's method for
    many rows in bounded memory with its error measured, pre-images by fixed points, shares of variance, kernels that are no
    inner products reported, and new rows projected in blocks.

    Missing cells are refused: a kernel needs every cell. Impute them first with `tacit.impute.GaussianImputer`, or use
    `tacit.factor.ProbabilisticPCA`. Fitting takes no weights.

    Parameters
    ----------
    n_components : int, optional
        Number of components; default all whose eigenvalue is not 0.
    kernel : str or callable, default="linear"
        "linear", "poly" ("polynomial"), "rbf", "sigmoid", "cosine", "laplacian", "chi2", "additive_chi2"; "precomputed": X
        holds kernel values; a function of two rows that returns a number, or a kernel of `sklearn.gaussian_process`. The
        matrix is always centred. A given matrix that is not symmetric is averaged with its transpose, with a warning.
    gamma : float, optional
        γ of "rbf", "poly", "sigmoid", "laplacian" and "chi2"; default 1 / n_features.
    degree, coef0 : float, default=3, 1
        Of "poly"; `coef0` also of "sigmoid".
    kernel_params : dict, optional
        Keyword arguments of a callable.
    alpha : float, default=1.0
        Ridge of the regression behind preimage="ridge".
    fit_inverse_transform : bool, default=False
        Make `inverse_transform` available.
    eigen_solver : {"auto", "dense", "arpack", "randomized", "nystrom"}, default="auto"
        "dense": LAPACK. "arpack": Lanczos. "randomized": block Krylov, for the eigenvalues largest in size. "nystrom":
        the kernel restricted to the span of `n_landmarks` random rows, in memory for landmarks² and a few blocks of rows.
        "auto": Nyström's method where `n_landmarks` is given or X has more than 16,384 rows (their matrix takes over 2 GB), the
        latter with a warning; else LAPACK up to 300 rows or for more than a twentieth of all components; else ARPACK.
    tol : float, default=0
        Of ARPACK; 0 is machine precision.
    max_iter : int, optional
        Of ARPACK. Where it does not suffice, LAPACK is used, with a warning.
    iterated_power : int or "auto", default="auto"
        Products with the matrix after the first, for "randomized"; "auto" goes on until residuals are small.
    remove_zero_eig : bool, default=False
        Leave out components with eigenvalue 0; always so with n_components=None.
    random_state : int, RandomState or None
        For starting vectors and landmarks.
    copy_X : bool, default=True
        Copy X; with False, `X_fit_` may be X itself, and a precomputed kernel is overwritten.
    n_jobs : int, optional
        Threads of kernel values; None is all cores. Results do not depend on it.
    n_landmarks : int, optional
        Landmarks of Nyström's method, at most all rows; default 1000, or twice `n_components` where that is more.
    preimage : {"ridge", "fixed_point"}, default="ridge"
        How `inverse_transform` finds rows. "ridge": learned by kernel ridge regression, as scikit-learn does. "fixed_point":
        for kernel="rbf", the row nearest to the given point of the kernel's space, a weighted mean of the fitted rows.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Of the centred kernel matrix, decreasing; those up to 1e-12 of the largest (2e-6 in single precision) are set to 0.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Of length 1. Scores of the fitted rows are ``eigenvectors_ * sqrt(eigenvalues_)``.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Eigenvalues as shares of the trace of the centred kernel matrix.
    approximation_error_ : float
        Share of that trace outside the span of the landmarks; 0 where no landmarks are used. No eigenvalue of Nyström's method
        is above the exact one, and together they fall short by this share of the trace at most.
    eigen_solver_ : str
        The route taken: "exact" or "nystrom".
    X_fit_ : ndarray or CSR of shape (n_samples, n_features)
        Fitted rows; absent with Nyström's method and with a precomputed kernel, which need them no more.
    K_fit_rows_ : ndarray
        Means of the columns of the kernel matrix, by which kernel values of new rows are centred. "linear", "rbf" and
        "laplacian" are computed about `origin_`.
    origin_ : ndarray of shape (n_features,), or None
        Mean of the fitted rows.
    landmarks_, landmark_indices_ : ndarray of shape (n_landmarks, n_features), (n_landmarks,)
        Rows that serve as landmarks; with Nyström's method.
    landmark_coef_, mean_coef_ : ndarray of shape (n_landmarks, n_components), (n_landmarks,)
        Components and mean in terms of landmarks; with Nyström's method.
    dual_coef_, X_transformed_fit_ : ndarray
        Of the regression of rows on scores; with fit_inverse_transform=True and preimage="ridge". With Nyström's method
        they belong to the landmarks.
    gamma_ : float
        The γ used.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Schölkopf, Smola and Müller (1998), Nonlinear component analysis as a kernel eigenvalue problem. Neural Computation 10.
    Mika et al. (1999), Kernel PCA and de-noising in feature spaces. NIPS 11.
    Bakır, Weston and Schölkopf (2004), Learning to find pre-images. NIPS 16.
    Williams and Seeger (2001), Using the Nyström method to speed up kernel machines. NIPS 13.
    Musco and Musco (2015), Randomized block Krylov methods for stronger and faster approximate SVD. NIPS 28.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from tacit.factor import KernelPCA
    >>> X, ring = make_circles(400, factor=0.3, noise=0.05, random_state=0)
    >>> scores = KernelPCA(2, kernel="rbf", gamma=2.0).fit_transform(X)
    >>> inner, outer = scores[ring == 1, 0], scores[ring == 0, 0]
    >>> bool(inner.min() > outer.max() or inner.max() < outer.min())
    True
    """

    n_components: Any = None
    _: KW_ONLY
    kernel: Any = "linear"
    gamma: Any = None
    degree: int = 3
    coef0: int = 1
    kernel_params: Any = None
    alpha: float = 1.0
    fit_inverse_transform: bool = False
    eigen_solver: str = "auto"
    tol: float = 0
    max_iter: int | None = None
    iterated_power: Any = "auto"
    remove_zero_eig: bool = False
    random_state: Any = None
    copy_X: bool = True
    n_jobs: int | None = None
    n_landmarks: Any = None
    preimage: str = "ridge"

    _saved = RowsEstimator._saved | {
        "eigen_solver_": Text(("exact", "nystrom")),
        "eigenvalues_": Numbers("k", low=0, high=SQUARES),
        "eigenvectors_": Numbers("n k"),
        "explained_variance_ratio_": Numbers("k", low=0),
        "approximation_error_": Numbers(low=-1e-6, high=1),
        "X_fit_": Numbers(
            "n d", sparse=True, needed=lambda self: not self._by_landmarks and self.kernel != "precomputed"
        ),
        "K_fit_rows_": Numbers(lambda self: "r" if self._by_landmarks else "n", high=SQUARES),
        "origin_": Numbers("d", optional=True),
        "landmarks_": Numbers("r d", sparse=True, needed=lambda self: self._by_landmarks),
        "landmark_indices_": Numbers("r", low=0, below="n", kind="i", needed=lambda self: self._by_landmarks),
        "landmark_coef_": Numbers("r k", needed=lambda self: self._by_landmarks),
        "mean_coef_": Numbers("r", needed=lambda self: self._by_landmarks),
        "dual_coef_": Numbers("t d", needed=lambda self: self._learns_inverse),
        "X_transformed_fit_": Numbers("t k", needed=lambda self: self._learns_inverse),
        "gamma_": Numbers(low=0, high=SQUARES),
    }
    _needs = ("kernel",)
    _takes_missing = False
    _min_rows = 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return not self.fit_inverse_transform

    @property
    def _missing_remedy(self) -> str:  # type: ignore[override]
        if self.kernel == "precomputed":
            return "and a kernel matrix needs every pair: compute the kernel on imputed rows"
        return (
            "and a kernel needs every cell: impute them first with tacit.impute.GaussianImputer, or use "
            "tacit.factor.ProbabilisticPCA, which takes missing cells"
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    @property
    def _by_landmarks(self) -> bool:
        return self.eigen_solver_ == "nystrom"

    @property
    def _learns_inverse(self) -> bool:
        return self.fit_inverse_transform and self.preimage == "ridge"

    def _check_settings(self) -> None:
        check_settings(self, KERNELS)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Rows; kernel values with kernel="precomputed".
        y : None
            Ignored.

        Returns
        -------
        self
        """
        self._check_settings()
        X = checked_rows(self, X, reset=True, copy=self.copy_X)
        for name in self._saved.keys() - RowsEstimator._saved.keys():  # some are of one route alone
            self.__dict__.pop(name, None)
        self.gamma_ = 1 / X.shape[1] if self.gamma is None else self.gamma
        shift = not sparse.issparse(X) and isinstance(self.kernel, str) and self.kernel in SHIFTABLE
        self.origin_ = X.mean(axis=0, dtype=np.float64) if shift else None
        if callable(self.kernel):
            check_callable(self._rule(), X)
        if takes_landmarks(self, X.shape[0]):
            self._fit_landmarks(X)
        else:
            self._fit_exactly(X)
        if self._learns_inverse:
            self._learn_inverse(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Find the components and give the scores of the rows.

        Parameters
        ----------
        X, y
            As in `fit`.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
        """
        self.fit(X)
        return self._fitted_scores()

    def transform(self, X: Any) -> np.ndarray:
        """Scores of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features) or (n_rows, n_samples)
            Rows; with kernel="precomputed", their kernel values with the fitted rows.

        Returns
        -------
        scores : ndarray of shape (n_rows, n_components)
        """
        check_is_fitted(self)
        X = checked_rows(self, X, reset=False)
        if self.kernel == "precomputed":
            X = X.toarray() if sparse.issparse(X) else X
            return ((X - self.K_fit_rows_) @ self._coefficients()).astype(X.dtype, copy=False)
        rows, coefficients = self._expansion()
        return self._rule().project(X, rows, self.K_fit_rows_, coefficients)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows that have these scores, nearly.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_components)
            Scores.

        Returns
        -------
        rows : ndarray of shape (n_rows, n_features)
        """
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "The fit_inverse_transform parameter was not set to True when instantiating and hence the inverse transform is "
                "not available."
            )
        X = self._check_scores(X)
        if self.preimage == "ridge":
            center = np.zeros(len(self.dual_coef_), dtype=self.dual_coef_.dtype)
            return self._latent_rule().project(X, self.X_transformed_fit_, center, self.dual_coef_)
        return self._fixed_points(X).astype(X.dtype, copy=False)

    def _rule(self) -> Kernel:
        params = dict(self.kernel_params or {})
        return Kernel(
            self.kernel, float(self.gamma_), self.degree, float(self.coef0), params, self.origin_, self.n_jobs
        )

    def _latent_rule(self) -> Kernel:
        """The kernel between scores, of which none is the origin but 0."""
        return replace(self._rule(), origin=None)

    def _fit_exactly(self, X: Any) -> None:
        """By the matrix of all pairs of rows."""
        found, means, floor, total = exact(self, X, n_wanted(self, X.shape[0]))
        self.eigen_solver_, self.approximation_error_, self.K_fit_rows_ = "exact", 0.0, means
        self._publish(found, floor, total)
        if self.kernel != "precomputed":
            self.X_fit_ = X

    def _fit_landmarks(self, X: Any) -> None:
        """By the kernel values of rows with landmarks."""
        kernel, n, wanted = self._rule(), X.shape[0], n_wanted(self, X.shape[0])
        self.landmark_indices_ = chosen = choose_landmarks(n, wanted, self.n_landmarks, self.random_state)
        self.landmarks_ = X[chosen]
        found = nystrom(kernel, X, self.landmarks_.astype(np.float64), wanted)
        self.K_fit_rows_, self.mean_coef_ = found.center, found.mean_coefficients
        self.eigen_solver_, self.approximation_error_ = "nystrom", found.missed
        sign = self._publish(found.spectrum(kernel, X, self.landmarks_), found.floor, found.total)
        self.landmark_coef_ = found.coefficients[:, : len(sign)] * sign * (self.eigenvalues_ > 0)
        if self.eigen_solver == "auto" and self.n_landmarks is None:
            warn_landmarks(n, len(chosen), found.missed)

    def _publish(self, found: Spectrum, floor: float, total: float) -> np.ndarray:
        """Set eigenvalues and eigenvectors; return the signs that make the largest entry of each eigenvector positive."""
        values, vectors, n_positive = found.values.copy(), found.vectors, found.positive(floor)
        values[n_positive:] = 0.0
        if self.remove_zero_eig or self.n_components is None:
            values, vectors = values[:n_positive], vectors[:, :n_positive]
        sign = signs(vectors)
        self.eigenvalues_, self.eigenvectors_ = values.astype(vectors.dtype), np.multiply(vectors, sign, order="C")
        self.explained_variance_ratio_ = self.eigenvalues_ / total if total > 0 else np.zeros_like(self.eigenvalues_)
        return sign

    def _fitted_scores(self) -> np.ndarray:
        return self.eigenvectors_ * np.sqrt(self.eigenvalues_)

    def _coefficients(self) -> np.ndarray:
        """What centred kernel values are multiplied by; columns sum to 0, which centres the rows of new values too."""
        scale = np.where(self.eigenvalues_ > 0, np.sqrt(self.eigenvalues_), np.inf)
        scaled = self.eigenvectors_ / scale.astype(self.eigenvectors_.dtype)
        return scaled - scaled.mean(axis=0)

    def _learn_inverse(self, X: np.ndarray) -> None:
        scores, marks = self._fitted_scores(), getattr(self, "landmark_indices_", None)
        self.X_transformed_fit_ = scores if marks is None else scores[marks]
        self.dual_coef_ = learn_inverse(self._latent_rule(), scores, X, self.alpha, marks)

    def _expansion(self) -> tuple[Any, np.ndarray]:
        """Rows whose φ(x) components are made of, which are landmarks or all fitted rows, and their coefficients."""
        if hasattr(self, "landmarks_"):
            return self.landmarks_, self.landmark_coef_
        return self.X_fit_, self._coefficients()

    def _fixed_points(self, scores: np.ndarray) -> np.ndarray:
        rows, coefficients = self._expansion()
        known, mean = self._fitted_scores(), np.full(len(rows), 1 / len(rows))
        if hasattr(self, "landmarks_"):
            known, mean = known[self.landmark_indices_], self.mean_coef_
        return fixed_points(self._rule(), scores, rows, known, coefficients, mean)
