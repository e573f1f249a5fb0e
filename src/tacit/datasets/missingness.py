"""Cells removed from complete rows by one of three missingness mechanisms.

mcar: P(missing) = share                  completely at random
mar:  P(missing) = σ(a + 2 z_driver)      by the row's first column, which stays observed
mnar: P(missing) = σ(a + 2 z_own)         by the missing value itself, the larger the likelier

with z a standardised column, and a such that the share comes out.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from ..checks import check_choice

__all__ = ["MECHANISMS", "check_share", "make_missing"]

MECHANISMS = ("mcar", "mar", "mnar")
SLOPE = 2.0


def check_share(share: Any) -> None:
    """Raise where a share is not a number from 0 to below 1."""
    if isinstance(share, bool) or not isinstance(share, numbers.Real) or not 0 <= float(share) < 1:
        raise ValueError(f"share={share!r} is not a number from 0 to below 1.")


def make_missing(X: Any, share: float = 0.1, mechanism: str = "mcar", random_state: Any = None) -> Any:
    """Make cells of complete rows missing.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns) or pandas DataFrame
        Rows.
    share : float, default=0.1
        Expected share of the cells that go missing, from 0 to below 1; with "mar" of those in all columns but the first.
    mechanism : {"mcar", "mar", "mnar"}, default="mcar"
        Completely at random; at random given the first column, which stays; or by the missing values themselves.
    random_state : int or Generator, optional
        Seeds the draw.

    Returns
    -------
    A copy of X with missing values: NaN in floats, None in objects

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.datasets import make_missing
    >>> X = make_missing(np.ones((1000, 4)), 0.25, random_state=0)
    >>> round(float(np.isnan(X).mean()), 2)
    0.25
    """
    check_share(share)
    check_choice("mechanism", mechanism, MECHANISMS)
    is_frame = hasattr(X, "columns") and hasattr(X, "mask")
    cells = np.asarray(X)
    if cells.ndim != 2:
        raise ValueError(f"X has {cells.ndim} dimension(s); give rows and columns.")
    if mechanism == "mar" and cells.shape[1] < 2:
        raise ValueError("X has 1 column, by which no other can go missing; use mechanism='mcar' or 'mnar'.")
    lost = np.random.default_rng(random_state).random(cells.shape) < _chances(cells, share, mechanism)
    if is_frame:
        return X.mask(lost)
    if cells.dtype == object or cells.dtype.kind in "US":
        out = cells.astype(object)
        out[lost] = None
        return out
    out = cells.astype(np.float64) if cells.dtype.kind != "f" else cells.copy()
    out[lost] = np.nan
    return out


def _chances(cells: np.ndarray, share: float, mechanism: str) -> np.ndarray:
    """Probability of each cell to go missing."""
    if mechanism == "mcar" or share == 0 or not len(cells):
        return np.full(cells.shape, float(share))
    if mechanism == "mnar":
        return np.column_stack([_slanted(column, share) for column in cells.T])
    chances = np.repeat(_slanted(cells[:, 0], share)[:, None], cells.shape[1], axis=1)
    chances[:, 0] = 0.0
    return chances


def _slanted(column: np.ndarray, share: float) -> np.ndarray:
    """σ(a + 2 z), its mean the share."""
    z = SLOPE * _standard(column)
    reach = 50.0 + np.abs(z).max(initial=0.0)
    return expit(brentq(lambda a: expit(a + z).mean() - share, -reach, reach, xtol=1e-14) + z)


def _standard(column: np.ndarray) -> np.ndarray:
    """Numbers standardised, levels by their order; missing cells at the mean."""
    try:
        values = column.astype(np.float64)
    except (TypeError, ValueError):
        known = np.array([cell is not None and cell == cell for cell in column.tolist()])
        values = np.full(len(column), np.nan)
        values[known] = np.unique(column[known].astype(str), return_inverse=True)[1]
    spread = np.nanstd(values) if np.isfinite(values).any() else 0.0
    return np.nan_to_num((values - np.nanmean(values)) / spread) if spread > 0 else np.zeros(len(values))
