"""`PartsUncertainty`: what parts say of single cells, x_ij ~ Poisson(μ_ij) or N(μ_ij, σ²), μ = w H.

    var μ̂_ij ≈ h_j' (H D_i H')⁻¹ h_j + w_i' (W' D_j W)⁻¹ w_i,    D = diag(1 / φμ) or I / σ², over observed cells

where φ is how many times as much counts spread as Poisson's, at least 1. A cell to come differs from μ̂ by its own noise and by
what the rows leave uncertain about w_i and h_j: a Poisson count whose mean is uncertain is a negative binomial one, a Gaussian
one a Student t. Of a row without any observed cell the scores are those of rows in general.
"""

from __future__ import annotations

import numbers
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ...base import RowsEstimator
from ...base.missing import Imputed
from ...checks import check_number
from ...declared import SQUARES, Numbers, Spec
from ...families.laws import Law, ScipyLaw, StudentLaw
from ...frames import as_given
from ...kernels import backend, host
from ...source import Block, Source

__all__ = ["PartsUncertainty"]

LEAST_NOISE = 1e-150  # by which squares of scores can be divided
MOST = 4_000_000  # numbers that tell what is uncertain about H, at most
RIDGE = 1e-9


def _is_likelihood(estimator: Any) -> bool:
    if isinstance(estimator.beta_loss, str) and estimator.beta_loss != "itakura-saito":
        return True
    if estimator.beta_loss not in (1, 2):
        raise AttributeError(
            f"beta_loss={estimator.beta_loss!r} is no likelihood here; 'kullback-leibler' is Poisson's and 'frobenius' Gauss's."
        )
    return True


class PartsUncertainty(RowsEstimator):
    """Likelihoods of rows, and missing cells with their intervals; a mixin of estimators of non-negative parts."""

    information_: np.ndarray
    noise_: float
    noise_df_: float
    score_moments_: np.ndarray
    _saved: ClassVar[dict[str, Spec]] = {
        "information_": Numbers("d | d K K", high=SQUARES, needed=False),
        "noise_": Numbers(low=0, high=SQUARES, needed=False),
        "noise_df_": Numbers(low=0, high=SQUARES, needed=False),
        "score_moments_": Numbers("L", high=SQUARES, needed=False),
    }

    def _measure(self, source: Source, loss: float, scores: np.ndarray) -> None:
        """Keep what intervals need of the rows of a fit: the noise, and how sure H is where that takes little memory."""
        self.__dict__.pop("information_", None)
        beta = self._beta  # type: ignore[attr-defined]
        k, d = self.components_.shape  # type: ignore[attr-defined]
        cells = self._facts_.cells  # type: ignore[attr-defined]
        free = k * (source.n_rows + d - k)
        self.noise_df_ = float(max(cells - free, 1.0))
        # Counts that spread more than Poisson's have their variance multiplied, as in quasi-likelihood.
        spread = float(2.0 * loss / self.noise_df_)
        self.noise_ = spread if beta == 2.0 else max(spread, 1.0) if beta == 1.0 else 1.0
        self.score_moments_ = source.sum(partial(_moments, scores))
        if beta in (1.0, 2.0) and d * k * k <= MOST and source.in_memory and source.n_rows * d <= MOST:
            self.information_ = source.sum(partial(self._informed, scores))

    def _typical(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of the scores of the rows of the fit: what is known of a row of which nothing is."""
        weight, first, second = np.split(self.score_moments_, [1, 1 + len(self.components_)])  # type: ignore[attr-defined]
        mean = first / weight
        return mean, second.reshape(len(mean), -1) / weight - np.outer(mean, mean)

    def _scores(self, block: Block) -> np.ndarray:
        """Scores of rows to be filled; those of rows without any observed cell are the mean."""
        w = host(self._solve(block))  # type: ignore[attr-defined]
        if block.patterns.is_complete or not hasattr(self, "score_moments_"):
            return w
        empty = np.isnan(host(block.X)).all(axis=1)
        return np.where(empty[:, None], self._typical()[0], w) if empty.any() else w

    def _informed(self, scores: np.ndarray, block: Block) -> np.ndarray:
        """Σ_i w w' / μ_ij over the rows that observe column j, (d, K, K)."""
        w, H = scores[block.first : block.first + block.n_units], self.components_.astype(np.float64)  # type: ignore[attr-defined]
        if self._beta == 2.0 and block.patterns.is_complete:  # type: ignore[attr-defined]
            every = (host(block.weight)[:, None] * w).T @ w / max(self.noise_, LEAST_NOISE)
            return np.repeat(every[None], H.shape[1], axis=0)
        precise = self._precision(w @ H, block) * host(block.weight)[:, None]
        return np.einsum("ij,ia,ib->jab", precise, w, w, optimize=True)

    def _precision(self, mean: np.ndarray, block: Block) -> np.ndarray:
        """1 over the variance of observed cells, 0 of missing ones."""
        poisson = self._beta == 1.0  # type: ignore[attr-defined]
        precise = (1.0 / np.maximum(mean, 1e-8) if poisson else np.ones(mean.shape)) / max(self.noise_, LEAST_NOISE)
        X = block.X
        return precise if block.patterns.is_complete else np.where(np.isnan(host(X)), 0.0, precise)

    def _spread(self, w: np.ndarray, block: Block, cells: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """The variance of the expectation of cells, by what rows and columns leave uncertain."""
        H = self.components_.astype(np.float64)  # type: ignore[attr-defined]
        precise, (rows, columns) = self._precision(w @ H, block), cells
        used, place = np.unique(rows, return_inverse=True)
        of_rows = _inverse(np.einsum("ij,aj,bj->iab", precise[used], H, H, optimize=True), w[used])
        empty = ~precise[used].any(axis=1)
        if empty.any() and hasattr(self, "score_moments_"):
            of_rows[empty] = self._typical()[1]
        h = H.T[columns]
        found = np.einsum("ma,mab,mb->m", h, of_rows[place], h)
        if hasattr(self, "information_"):
            of_columns = _inverse(self.information_, H.T)
            found += np.einsum("ma,mab,mb->m", w[rows], of_columns[columns], w[rows])
        return np.maximum(found, 0.0)

    def _law(self, w: np.ndarray, block: Block, cells: tuple[np.ndarray, np.ndarray]) -> Law:
        """The distribution of missing cells given the observed ones."""
        beta = self._beta  # type: ignore[attr-defined]
        if beta not in (1.0, 2.0):
            raise ValueError(
                f"beta_loss={self.beta_loss!r} has no distribution of cells here; intervals are those of 'kullback-leibler' "  # type: ignore[attr-defined]
                "(Poisson) and 'frobenius' (Gaussian)."
            )
        mean = (w @ self.components_.astype(np.float64))[cells][:, None]  # type: ignore[attr-defined]
        spread = self._spread(w, block, cells)[:, None]
        if beta == 2.0:
            return StudentLaw(mean, np.sqrt(self.noise_ + spread), np.full(mean.shape, self.noise_df_))
        mean = np.maximum(mean, 1e-12)
        spread = np.maximum(spread + (self.noise_ - 1.0) * mean, 1e-12)
        size = np.maximum(mean**2 / spread, 1e-9)
        return ScipyLaw(mean, mean + spread, "nbinom", n=size, p=size / (size + mean))

    @available_if(_is_likelihood)
    def score_samples(self, X: Any) -> np.ndarray:
        """Log-likelihood of rows at their best w: Poisson with "kullback-leibler", Gaussian with "frobenius".

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), sparse matrix, path, Arrow data, Dask collection or source
            Rows; NaN is missing, and missing cells drop out.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._apply(X, self._log_likelihood)

    def _log_likelihood(self, block: Block) -> np.ndarray:
        w, out = host(self._solve(block)), np.empty(len(block))  # type: ignore[attr-defined]
        H = self.components_.astype(np.float64)  # type: ignore[attr-defined]
        size = max(1, (1 << 22) // H.shape[1])
        for start in range(0, len(block), size):
            rows = np.arange(start, min(start + size, len(block)))
            x, mean = np.asarray(host(block.X[rows]), dtype=np.float64), w[rows] @ H
            if self._beta == 1.0:  # type: ignore[attr-defined]
                mean = np.maximum(mean, 1e-12)
                cells = x * np.log(mean) - mean - gammaln(x + 1.0)
            else:
                cells = -0.5 * ((x - mean) ** 2 / self.noise_ + np.log(2.0 * np.pi * self.noise_))
            out[rows] = np.nansum(cells, axis=1)
        return out

    @available_if(_is_likelihood)
    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of rows; see `score_samples`."""
        return float(self.score_samples(X).mean())

    def impute(self, X: Any, *, interval: float | None = None, out: Any = None) -> Any:
        """Fill missing cells with what the parts of their row make of them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), table, path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        interval : float, optional
            Also return the interval that holds each filled cell with this probability: quantiles of a Poisson count
            ("kullback-leibler") or of a Gaussian number ("frobenius", not below 0) whose mean is uncertain.
        out : path, optional
            A Parquet file to write the filled columns to, in a stream, instead of returning them.

        Returns
        -------
        filled : table of the same kind as X, or ndarray of shape (n_samples, n_features)
        low, high, probability : ndarray of shape (n_samples, n_features)
            Only with `interval`: the result is then an `Imputed`; `probability` is NaN, since no cell is a category.
        """
        check_is_fitted(self)
        if interval is not None:
            check_number("interval", interval, numbers.Real, 0, 1)
            if out is not None:
                raise ValueError("interval gives arrays, so it does not go with out; call impute once for each.")
        names = self._column_names()
        if out is not None:
            return self._apply(X, self._fill, out, names)
        found = self._apply(X, lambda block: self._answers(block, interval))
        filled = as_given(found[:, 0], X)
        return filled if interval is None else Imputed(filled, *np.moveaxis(found[:, 1:], 1, 0))

    def _fill(self, block: Block) -> np.ndarray:
        return self._answers(block, None)[:, 0]

    def _answers(self, block: Block, interval: float | None) -> np.ndarray:
        """Filled cells and, for an interval, low, high and probability: (rows, answers, d)."""
        w, cells = self._scores(block), block.missing_cells
        X = host(block.X) if backend(block.X) != "sparse" else block.X.toarray()
        out = np.full((len(block), 1 if interval is None else 4, X.shape[1]), np.nan, dtype=X.dtype)
        out[:, 0] = X
        out[cells[0], 0, cells[1]] = (w @ self.components_.astype(np.float64))[cells]  # type: ignore[attr-defined]
        if interval is not None and len(cells[0]):
            law, one = self._law(w, block, cells), np.ones((len(cells[0]), 1))
            for at, q in ((1, 0.5 * (1.0 - interval)), (2, 0.5 * (1.0 + interval))):
                out[cells[0], at, cells[1]] = np.maximum(law.quantile(q, one), 0.0)
        return out


def _moments(scores: np.ndarray, block: Block) -> np.ndarray:
    """Σ s, Σ s w and Σ s w w' in one vector."""
    w, s = scores[block.first : block.first + block.n_units], host(block.weight)
    return np.concatenate([[s.sum()], s @ w, ((s[:, None] * w).T @ w).ravel()])


def _inverse(matrices: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Inverses of information about vectors; coordinates at their bound of 0 are certain, and a ridge keeps the rest solvable."""
    free = (values > 0)[:, :, None] & (values > 0)[:, None]
    eye = np.eye(matrices.shape[-1])
    scale = np.einsum("...aa->...a", matrices).mean(axis=-1)[:, None, None]
    kept = np.where(free, matrices, 0.0) + eye * np.where(free, RIDGE * scale, np.maximum(scale, 1e-300))
    return np.where(free, np.linalg.pinv(kept, hermitian=True), 0.0)
