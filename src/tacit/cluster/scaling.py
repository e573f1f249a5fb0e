"""Columns on one scale: z_j = (x_j − centre_j) / scale_j, or z = Σ^{-1/2} (x − μ).

Clusters by distance depend on the units of the columns: the one that varies most in its own units decides. `ColumnScaler` takes
missing cells and row weights; `dominant_column` tells where units decide.
"""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..base import LatentClassEstimator, RowsEstimator
from ..base.settings import settings
from ..checks import check_choice, check_rows, check_weight
from ..declared import Numbers, Part

__all__ = ["SCALINGS", "ColumnScaler", "column_variances", "dominant_column"]

SCALINGS = ("deviation", "range", "mad", "whiten")
NORMAL_MAD = 1.4826022185056018
"""Standard deviation of a normal distribution over its median absolute deviation."""
DOMINANT = 0.95
FARTHEST = 1e307
"""Half the widest range of cells of which differences are finite numbers for certain."""


@settings
class ColumnScaler(OneToOneFeatureMixin, TransformerMixin, RowsEstimator):
    """Put columns on one scale, with missing cells and row weights.

    Parameters
    ----------
    method : {"deviation", "range", "mad", "whiten"}, default="deviation"
        What a unit is: the standard deviation about the mean; the range, from the least value 0 to the greatest 1; the median
        absolute deviation about the median (times 1.4826, so that it is the standard deviation of normal cells), which
        outliers do not change; or the standard deviation in every direction, after which columns are uncorrelated.

    Attributes
    ----------
    center_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each column, and what it is then divided by.
    whitening_ : ndarray of shape (n_features, n_features) or None
        For ``"whiten"``, the matrix that divided rows are then multiplied by.
    constant_ : ndarray of bool of shape (n_features,)
        Columns that do not vary: they are centred and not scaled.
    mixture_ : GaussianMixture or None
        For ``"whiten"``, the Gaussian that was learned from the divided rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Missing cells stay missing. Only ``"whiten"`` mixes columns, so that a missing cell would leave none: there it enters at its
    expectation given the row's other cells, and no result is missing.

    References
    ----------
    Milligan and Cooper (1988), A study of standardization of variables in cluster analysis. Kessy, Lewin and Strimmer (2018),
    Optimal whitening and decorrelation.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.cluster import ColumnScaler
    >>> X = np.array([[1.0, 1000.0], [2.0, np.nan], [3.0, 3000.0]])
    >>> ColumnScaler("range").fit_transform(X)
    array([[0. , 0. ],
           [0.5, nan],
           [1. , 1. ]])
    """

    method: str = "deviation"

    _saved = RowsEstimator._saved | {
        "center_": Numbers("d"),
        "scale_": Numbers("d", above=0),
        "whitening_": Numbers("d d", optional=True),
        "constant_": Numbers("d", kind="b"),
        "mixture_": Part(LatentClassEstimator, optional=True),
    }
    _largest = np.inf  # it scales whatever ranges there are

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_settings(self) -> None:
        check_choice("method", self.method, SCALINGS)

    def _check_loaded(self) -> None:
        varying = int((~self.constant_).sum())
        if self.mixture_ is not None and (self.mixture_.n_features_in_ != varying or self.whitening_ is None):
            raise ValueError(f"'mixture_' does not describe the {varying} columns that vary, with 'whitening_'")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the scale of every column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; NaN is missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: weight 2 counts as the row given twice.

        Returns
        -------
        self
        """
        self._check_settings()
        X = check_rows(self, X, reset=True)
        weight = check_weight(sample_weight, len(X))
        weight = np.ones(len(X)) if weight is None else weight
        self.center_, self.scale_ = np.zeros(X.shape[1]), np.ones(X.shape[1])
        self.constant_ = np.zeros(X.shape[1], bool)
        for j, column in enumerate(X.T):
            seen = ~np.isnan(column) & (weight > 0)
            if not seen.any():
                raise ValueError(f"column {self._told(j)} has no observed value; drop it before fitting.")
            self._learn(j, column[seen].astype(np.float64), weight[seen])
        self._tell_constant()
        self.whitening_: Any = None
        self.mixture_: Any = None
        if self.method == "whiten":
            self._whiten(X, weight)
        return self

    def _learn(self, j: int, cells: np.ndarray, weight: np.ndarray) -> None:
        """Centre and scale of a column from its observed cells."""
        self.constant_[j] = cells.min() == cells.max()
        if cells.max() / 2.0 - cells.min() / 2.0 > FARTHEST:
            raise ValueError(
                f"column {self._told(j)} ranges from {cells.min():g} to {cells.max():g}, too far to be scaled; take logarithms."
            )
        if self.constant_[j]:
            self.center_[j] = cells[0]
        elif self.method == "range":
            self.center_[j], self.scale_[j] = cells.min(), cells.max() - cells.min()
        elif self.method == "mad":
            self.center_[j] = _median(cells, weight)
            self.scale_[j] = NORMAL_MAD * _median(np.abs(cells - self.center_[j]), weight)
            if self.scale_[j] == 0.0:
                self.scale_[j] = _deviation(cells, weight, self.center_[j])
                warnings.warn(
                    f"more than half of the cells of column {self._told(j)} are equal, so that their median absolute "
                    "deviation is 0; the column is divided by its standard deviation instead.",
                    UserWarning,
                    stacklevel=4,
                )
        else:
            self.center_[j] = _mean(cells, weight)
            self.scale_[j] = _deviation(cells, weight, self.center_[j])

    def _tell_constant(self) -> None:
        if self.constant_.any():
            names = ", ".join(self._told(j) for j in np.flatnonzero(self.constant_)[:5])
            more = f" and {self.constant_.sum() - 5} more" if self.constant_.sum() > 5 else ""
            warnings.warn(
                f"constant columns are centred and not scaled: {names}{more}; they do not tell rows apart and can be dropped.",
                UserWarning,
                stacklevel=3,
            )

    def _whiten(self, X: np.ndarray, weight: np.ndarray) -> None:
        """Learn a Gaussian of the varying columns, already divided, and the symmetric root of its precision."""
        from ..mixture import GaussianMixture

        self.whitening_, varying = np.eye(X.shape[1]), np.flatnonzero(~self.constant_)
        if not len(varying):
            return
        Z = self._divided(X)[:, varying]
        self.mixture_ = GaussianMixture(1, tol=1e-8, max_iter=1000).fit(Z, sample_weight=weight)
        value, vector = np.linalg.eigh(self.mixture_.covariances_[0].astype(np.float64))
        self.whitening_[np.ix_(varying, varying)] = (vector / np.sqrt(value)) @ vector.T

    def _divided(self, X: np.ndarray) -> np.ndarray:
        return (X.astype(np.float64) - self.center_) / self.scale_

    def transform(self, X: Any) -> np.ndarray:
        """Rows on the scale that was learned.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; NaN is missing.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        Z = self._divided(X)
        if self.mixture_ is not None:
            varying = ~self.constant_
            shown = self.mixture_.impute(Z[:, varying]) if np.isnan(Z[:, varying]).any() else Z[:, varying]
            Z[:, varying] = (shown - self.mixture_.means_[0]) @ self.whitening_[np.ix_(varying, varying)]
        return Z.astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows in the units that they had.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Scaled rows; NaN is missing.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        Z = np.asarray(X, dtype=np.float64 if np.asarray(X).dtype != np.float32 else np.float32)
        if Z.ndim != 2 or Z.shape[1] != self.n_features_in_:
            raise ValueError(f"X has shape {Z.shape}, but rows of {self.n_features_in_} columns are needed.")
        dtype, Z = Z.dtype, Z.astype(np.float64)
        if self.mixture_ is not None:
            varying = ~self.constant_
            back = np.linalg.inv(self.whitening_[np.ix_(varying, varying)])
            Z[:, varying] = Z[:, varying] @ back + self.mixture_.means_[0]
        return (Z * self.scale_ + self.center_).astype(dtype, copy=False)


def _mean(cells: np.ndarray, weight: np.ndarray) -> float:
    origin = cells[0]
    return origin + (weight / weight.sum()) @ (cells - origin)


def _deviation(cells: np.ndarray, weight: np.ndarray, center: float) -> float:
    """Root of the mean square about a point."""
    apart = np.abs(cells - center)
    largest = apart.max()  # squares of what remains neither vanish nor overflow
    return float(largest * np.sqrt(weight @ (apart / largest) ** 2 / weight.sum())) if largest > 0 else 0.0


def _median(cells: np.ndarray, weight: np.ndarray) -> float:
    """The weighted median; of two cells in the middle, the point between them."""
    order = np.argsort(cells, kind="stable")
    cells, below = cells[order], np.cumsum(weight[order])
    half = 0.5 * below[-1]
    low = int(np.searchsorted(below, half * (1.0 - 1e-12)))
    high = int(np.searchsorted(below, half * (1.0 + 1e-12)))
    return 0.5 * cells[low] + 0.5 * cells[min(high, len(cells) - 1)]


def column_variances(cells: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted variances of the observed cells of each column; 0 where there are none, infinite where they overflow."""
    variance = np.zeros(cells.shape[1])
    for j, column in enumerate(cells.T.astype(np.float64)):
        seen = ~np.isnan(column) & (weight > 0)
        if seen.any():
            variance[j] = _deviation(column[seen], weight[seen], _mean(column[seen], weight[seen]))
    with np.errstate(over="ignore"):
        return variance**2


def dominant_column(cells: np.ndarray, weight: np.ndarray) -> tuple[int, float] | None:
    """The column that has more than 95 % of the total variance of several, and its share; None where none has."""
    variance = column_variances(cells, weight)
    total = variance.sum()
    if np.count_nonzero(variance) < 2 or not np.isfinite(total):
        return None
    j = int(variance.argmax())
    return (j, float(variance[j] / total)) if variance[j] > DOMINANT * total else None
