"""`LinearRegression`: least squares.

w = argmin_w Σ w_i (y_i − b − wᵀx_i)²,    s² = RSS / (n − d − 1),    Cov w = s² (XᵀX)⁻¹
"""

from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import cho_solve
from scipy.optimize import nnls

from ..base.settings import KW_ONLY, settings
from ..checks import check_number
from ..declared import SQUARES, Numbers, Whole
from .base import LinearModel
from .design import SIDE, Design, Spectrum, factored, inverse_root, iterated
from .spread import Estimate, Spread

__all__ = ["LinearRegression", "non_negative"]


@settings
class LinearRegression(LinearModel):
    """Least squares; a drop-in for scikit-learn's, which also takes missing features and gives intervals.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there is an intercept.
    copy_X : bool, default=True
        Accepted for compatibility; X is never written to.
    tol : float, default=1e-6
        Columns that are collinear have the coefficients of least length; singular values below `tol` times the largest then count
        as 0. Units of columns do not matter where columns are not collinear.
    n_jobs : int or None, default=None
        Threads; None is all cores. Results do not depend on it.
    positive : bool, default=False
        Whether coefficients must not be negative.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    rank_ : int
        Rank of the rows about their mean.
    singular_ : ndarray
        Their singular values; empty for sparse rows too large for a square matrix.
    noise_variance_ : ndarray of shape (n_targets,)
        Unbiased estimate of the noise variance, RSS / `dof_`.
    dof_ : ndarray of shape (n_targets,)
        Degrees of freedom of the noise variance.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.linear_model import LinearRegression
    >>> X = np.array([[0.0, 1.0], [1.0, np.nan], [2.0, 1.0], [3.0, 3.0], [4.0, 2.0], [5.0, 5.0]])
    >>> model = LinearRegression().fit(X, [1.0, 2.9, 5.2, 6.8, 9.1, 11.2])
    >>> model.predict([[2.0, np.nan]]).round(1)
    array([5.])
    """

    _: KW_ONLY
    fit_intercept: bool = True
    copy_X: bool = True
    tol: float = 1e-6
    n_jobs: int | None = None
    positive: bool = False
    rank_: ClassVar[int]
    singular_: ClassVar[np.ndarray]
    _saved: ClassVar = LinearModel._saved | {"rank_": Whole(0), "singular_": Numbers("s", low=0, high=SQUARES)}

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("tol", self.tol, numbers.Real, 0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.positive
        return tags

    def _no_spread(self) -> str:
        if self.positive:
            return "coefficients that must not be negative have no distribution here; fit with positive=False"
        return super()._no_spread()

    def _learn(self, design: Design, before: Any = None, exact: bool = True) -> Estimate:
        if self.positive:
            return non_negative(design, np.zeros(1))
        if design.root_weight is not None and min(design.shape) > SIDE:
            coef = iterated(design, np.zeros(1), self.tol, None)
            return self._estimate(design, coef, None, design.squares(coef), min(design.shape), np.zeros(0), exact)
        upper = None if design.wide else factored(design.gram)
        if upper is not None:
            coef = cho_solve((upper, False), design.cross).T
            squares = design.squares(coef)
            singular = np.sqrt(np.maximum(np.linalg.eigvalsh(design.gram)[::-1], 0.0)) if exact else np.zeros(0)
            spread = Spread.primal(inverse_root(upper)) if exact else None
            return self._estimate(design, coef, spread, squares, design.shape[1], singular, exact)
        spectrum, scale = self._resolved(design)
        coef = spectrum.coef(0.0) / scale
        spread = Spread.along(spectrum, np.zeros(1), scale)
        singular = np.sqrt(np.sort(spectrum.values)[::-1])
        return self._estimate(design, coef, spread, design.squares(coef), len(singular), singular, exact)

    def _resolved(self, design: Design) -> tuple[Spectrum, Any]:
        """The design along its axes: of scaled columns where none is collinear, so that units do not matter."""
        scale = np.sqrt(np.where(design.variances > 0, design.variances, 1.0))
        spectrum = design.scaled(scale).spectrum
        values = spectrum.values
        if len(values) == design.shape[1] and values.min() > self.tol**2 * values.max():
            return spectrum, scale
        found = design.spectrum
        kept = found.values > self.tol**2 * found.values.max(initial=0.0)
        cut = Spectrum(found.values[kept], found.axes[:, kept], found.scores[kept], found.residual)
        return cut, np.ones(design.shape[1])

    def _estimate(
        self, design: Design, coef: np.ndarray, spread: Any, squares: np.ndarray, rank: int, singular: np.ndarray, exact: bool
    ) -> Estimate:  # fmt: skip
        left = design.weight - rank - float(self.fit_intercept)
        noise = squares / (left if exact and left > 0 else design.weight)
        freedom = np.full(len(squares), float(rank))
        more = {"rank_": int(rank), "singular_": singular}
        return Estimate(coef, noise, spread=spread if left > 0 else None, freedom=freedom, more=more)


def non_negative(design: Design, penalty: np.ndarray) -> Estimate:
    """Coefficients of which none is negative, exactly, by the algorithm of Lawson and Hanson."""
    spectrum, m = design.spectrum, len(design.total)
    root = np.sqrt(spectrum.values)
    rows, targets = root[:, None] * spectrum.axes.T, spectrum.scores / root[:, None]
    coef = []
    for t, alpha in enumerate(np.broadcast_to(penalty, m)):
        more = np.sqrt(alpha) * np.eye(rows.shape[1]) if alpha > 0 else rows[:0]
        coef.append(
            np.zeros(rows.shape[1])
            if not len(rows)
            else nnls(np.vstack([rows, more]), np.append(targets[:, t], np.zeros(len(more))))[0]
        )
    found = np.array(coef)
    more = {"rank_": len(root), "singular_": np.sort(root)[::-1]}
    return Estimate(found, design.squares(found) / design.weight, freedom=(found > 0).sum(axis=1), more=more)
