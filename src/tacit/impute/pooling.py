"""Rubin's rules: one estimate, and how sure it is, from the estimates of several completed tables.

    Q̄ = mean Q_i,    Ū = mean U_i,    B = var Q_i,    T = Ū + (1 + 1/m) B

Intervals are Student's, with the degrees of freedom of Barnard and Rubin, which never exceed those of a complete table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

__all__ = ["Pooled", "pool"]


@dataclass(frozen=True)
class Pooled:
    """Estimates pooled over completed tables; all have the shape of one estimate, and its index where that is a pandas Series.

    Attributes
    ----------
    estimate, std : ndarray or Series
        The pooled estimate and its standard error.
    within, between : ndarray or Series
        Mean variance of the estimates, and the variance between tables.
    df : ndarray or Series
        Degrees of freedom of the t distribution that the estimate follows.
    missing_information : ndarray or Series
        Share of the information about each estimate that missing values have cost.
    names : list of str or None
        Names of the estimates, where the results have any.
    """

    estimate: np.ndarray
    std: np.ndarray
    within: np.ndarray
    between: np.ndarray
    df: np.ndarray
    missing_information: np.ndarray
    names: list[str] | None = None

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Intervals that hold the true values with probability `level`.

        Parameters
        ----------
        level : float, default=0.95

        Returns
        -------
        low, high : ndarray
        """
        if not 0 < level < 1:
            raise ValueError(f"level={level!r} must be a probability between 0 and 1, both excluded.")
        half = stdtrit(self.df, 0.5 * (1.0 + level)) * self.std
        return self.estimate - half, self.estimate + half

    def p_value(self, null: Any = 0.0) -> np.ndarray:
        """Two-sided p-values of the hypotheses that the true values are `null`."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 2.0 * stdtr(self.df, -np.abs((self.estimate - null) / self.std))


def pool(results: Sequence[Any], variances: Any = None, *, df: Any = None) -> Pooled:
    """Pool what was computed on each of several completed tables.

    Parameters
    ----------
    results : sequence of numbers, arrays, Series, or fitted results; or a data frame
        Estimates of each table; or objects with `params` and `bse`, such as those of statsmodels. Series are brought in the
        order of the first by their index; of a data frame each row is a table.
    variances : sequence of numbers, arrays or Series, or a data frame; optional
        Squared standard errors of the estimates; needed unless the results have `bse`.
    df : float or array-like, optional
        Degrees of freedom of an estimate from a complete table, such as n − 1 for a mean; default infinite, or `df_resid` of
        the results.

    Returns
    -------
    Pooled

    References
    ----------
    Rubin (1987), Multiple Imputation for Nonresponse in Surveys.
    Barnard and Rubin (1999), Small-sample degrees of freedom with multiple imputation.

    Examples
    --------
    >>> from tacit.impute import pool
    >>> pooled = pool([10.0, 12.0, 11.0], [1.0, 1.0, 1.0], df=30)
    >>> float(pooled.estimate), round(float(pooled.std), 3)
    (11.0, 1.528)
    """
    results = _tables("results", results)
    if len(results) < 2:
        raise ValueError(
            f"results of {len(results)} tables cannot be pooled; give those of at least 2 completed tables."
        )
    if all(hasattr(each, "params") and hasattr(each, "bse") for each in results):
        variances = [np.square(each.bse) for each in results] if variances is None else variances
        df = getattr(results[0], "df_resid", None) if df is None else df
        results = [each.params for each in results]
    if variances is None:
        raise ValueError("variances are missing; give the squared standard error of every estimate.")
    index = getattr(results[0], "index", None) if hasattr(results[0], "reindex") else None
    estimates, squares = (
        _numbers(name, part, index)
        for name, part in (("results", results), ("variances", _tables("variances", variances)))
    )
    if estimates.shape != squares.shape:
        raise ValueError(f"results have shape {estimates.shape} and variances {squares.shape}; give one for each.")
    if not (np.isfinite(estimates).all() and np.isfinite(squares).all() and (squares >= 0).all()):
        raise ValueError("results and variances must be finite, and variances not negative.")
    m = len(estimates)
    within, between = squares.mean(axis=0), estimates.var(axis=0, ddof=1)
    total = within + (1.0 + 1.0 / m) * between
    share = np.divide((1.0 + 1.0 / m) * between, total, out=np.zeros_like(total), where=total > 0)
    freedom = _degrees(m, share, _complete(df, share.shape))
    ratio = np.divide(share, 1.0 - share, out=np.full_like(share, np.inf), where=share < 1)
    lost = np.where(np.isfinite(ratio), (ratio + 2.0 / (freedom + 3.0)) / (ratio + 1.0), 1.0)
    found = estimates.mean(axis=0), np.sqrt(total), within, between, freedom, np.where(between > 0, lost, 0.0)
    if index is None:
        return Pooled(*found)
    series = (type(results[0])(each, index=index) for each in found)
    return replace(Pooled(*series), names=[str(name) for name in index])


def _tables(name: str, values: Any) -> list:
    """One entry for each completed table; of a data frame, its rows."""
    if hasattr(values, "iterrows"):
        return [row for _, row in values.iterrows()]
    if isinstance(values, str) or not np.iterable(values):
        raise ValueError(f"{name}={values!r} is not a sequence; give one entry for each completed table.")
    return list(values)


def _numbers(name: str, values: list, index: Any) -> np.ndarray:
    """The estimates of all tables as an array, tables along the first axis; Series in the order of the index."""
    rows = []
    for each in values:
        if index is not None and hasattr(each, "reindex") and list(each.index) != list(index):
            if odd := set(each.index) ^ set(index):
                raise ValueError(
                    f"{name} differ in their index: not all hold {min(odd, key=str)!r}; give the same estimates."
                )
            each = each.reindex(index)
        rows.append(each)
    try:
        return np.array([np.asarray(each, dtype=np.float64) for each in rows])
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} are not numbers of one shape; give numbers or arrays, alike for every table."
        ) from None


def _complete(df: Any, shape: tuple[int, ...]) -> Any:
    """Degrees of freedom of a complete table, checked."""
    if df is None:
        return np.inf
    try:
        given = np.broadcast_to(np.asarray(df, dtype=np.float64), shape)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    if not (given > 0).all():  # NaN is not
        raise ValueError(f"df={df!r} must be above 0: one number, or one for each estimate; None where rows are many.")
    return given


def _degrees(m: int, share: np.ndarray, complete: Any) -> np.ndarray:
    """Degrees of freedom, given the share of the variance that is due to missing values."""
    old = np.divide(m - 1.0, share**2, out=np.full_like(share, np.inf), where=share > 0)
    complete = np.broadcast_to(complete, share.shape)
    finite = np.where(np.isfinite(complete), complete, 1.0)
    observed = np.where(np.isfinite(complete), (finite + 1.0) / (finite + 3.0) * finite * (1.0 - share), np.inf)
    with np.errstate(divide="ignore"):
        return np.maximum(1.0 / (1.0 / old + 1.0 / np.maximum(observed, 1e-12)), 1e-12)
