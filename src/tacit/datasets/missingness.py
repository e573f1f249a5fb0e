"""Cells removed from complete rows by one of three missingness mechanisms.

mcar: P(missing) = share                  completely at random
mar:  P(missing) = σ(a + 2 z_driver)      by the row's first column, which stays observed
mnar: P(missing) = σ(a + 2 z_own)         by the missing value itself, the larger the likelier

with z a standardised column, and a such that the share comes out.
"""

import numpy as np
from scipy.special import expit

__all__ = ["MECHANISMS", "make_missing"]

MECHANISMS = ("mcar", "mar", "mnar")
SLOPE = 2.0


def make_missing(X, share=0.1, mechanism="mcar", random_state=None):
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
    if isinstance(share, bool) or not isinstance(share, (int, float, np.floating)) or not 0 <= share < 1:
        raise ValueError(f"share={share!r} is not a number from 0 to below 1.")
    if mechanism not in MECHANISMS:
        raise ValueError(f"mechanism={mechanism!r} is unknown; use one of {', '.join(map(repr, MECHANISMS))}.")
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


def _chances(cells, share, mechanism):
    """Probability of each cell to go missing."""
    if mechanism == "mcar" or share == 0:
        return np.full(cells.shape, float(share))
    if mechanism == "mnar":
        return np.column_stack([_slanted(column, share) for column in cells.T])
    chances = np.repeat(_slanted(cells[:, 0], share)[:, None], cells.shape[1], axis=1)
    chances[:, 0] = 0.0
    return chances


def _slanted(column, share):
    """σ(a + 2 z), its mean the share."""
    z = SLOPE * _standard(column)
    low, high = -50.0 - np.abs(z).max(initial=0.0), 50.0 + np.abs(z).max(initial=0.0)
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if expit(middle + z).mean() < share else (low, middle)
    return expit(0.5 * (low + high) + z)


def _standard(column):
    """Numbers standardised, levels by their order; missing cells at the mean."""
    if column.dtype == object or column.dtype.kind in "US":
        known = [cell for cell in column.tolist() if cell is not None and cell == cell]
        try:
            numbers = [float(cell) for cell in known]
            values = np.array([np.nan if cell is None else float(cell) for cell in column.tolist()])
        except (TypeError, ValueError):
            codes = {level: code for code, level in enumerate(sorted(set(map(str, known))))}
            values = np.array([codes.get(str(cell), np.nan) for cell in column.tolist()], dtype=np.float64)
            numbers = known
        if not numbers:
            return np.zeros(len(column))
    else:
        values = column.astype(np.float64)
    spread = np.nanstd(values) if np.isfinite(values).any() else 0.0
    return np.nan_to_num((values - np.nanmean(values)) / spread) if spread > 0 else np.zeros(len(values))
