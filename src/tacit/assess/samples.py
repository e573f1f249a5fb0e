"""Samples as tests take them: checked, with missing values named, counted and left out only on request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..checks import as_numpy, check_choice
from ..words import count

__all__ = ["check_alpha", "cleaned", "counts_of", "paired", "spread_of"]


def check_alpha(alpha: Any, name: str = "alpha") -> float:
    """A level, checked."""
    if not isinstance(alpha, (float, int, np.number)) or isinstance(alpha, bool) or not 0 < alpha < 1:
        raise ValueError(
            f"{name}={alpha!r} is not between 0 and 1; use {'0.95' if name == 'level' else '0.05'}, for instance."
        )
    return float(alpha)


def cleaned(
    samples: Sequence[Any], names: Sequence[str], missing: str = "raise", least: int = 1
) -> tuple[list[np.ndarray], int]:
    """Samples as vectors of finite numbers, and how many missing values were left out.

    Parameters
    ----------
    samples, names : sequences
        What they are and what errors call them.
    missing : {"raise", "drop"}
        What to do where there are missing values.
    least : int
        Values that each must have.
    """
    check_choice("missing", missing, ("raise", "drop"))
    found, dropped = [], 0
    for sample, name in zip(samples, names):
        values = _vector(sample, name)
        lost = np.isnan(values)
        if lost.any() and missing == "raise":
            raise ValueError(
                f"{name} holds {count(int(lost.sum()), 'missing value')} among {len(values)}, the first at {int(lost.argmax())}; "
                "leave them out with missing='drop'."
            )
        values, dropped = values[~lost], dropped + int(lost.sum())
        _check_size(values, name, least)
        found.append(values)
    return found, dropped


def _check_size(values: np.ndarray, name: str, least: int) -> None:
    if len(values) < least:
        has = count(len(values), "known value") if len(values) else "no values"
        raise ValueError(f"{name} has {has}; give at least {least}.")


def paired(
    samples: Sequence[Any], names: Sequence[str], missing: str = "raise", least: int = 1
) -> tuple[list[np.ndarray], int]:
    """Samples of equal length, row by row: a row with a missing value in any of them is left out as a whole."""
    check_choice("missing", missing, ("raise", "drop"))
    vectors = [_vector(sample, name) for sample, name in zip(samples, names)]
    for values, name in zip(vectors[1:], names[1:]):
        if len(values) != len(vectors[0]):
            raise ValueError(
                f"{names[0]} has {len(vectors[0])} values and {name} {len(values)}; rows of both must belong together."
            )
    lost = np.isnan(np.array(vectors)).any(axis=0)
    if lost.any() and missing == "raise":
        raise ValueError(
            f"{count(int(lost.sum()), 'row')} of {len(lost)} {'holds' if lost.sum() == 1 else 'hold'} a missing value, "
            f"the first at "
            f"{int(lost.argmax())}; leave them out with missing='drop'."
        )
    vectors = [values[~lost] for values in vectors]
    _check_size(vectors[0], names[0], least)
    return vectors, int(lost.sum())


def _vector(sample: Any, name: str) -> np.ndarray:
    try:
        values = np.asarray(as_numpy(sample), dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} holds what is no number; give numbers, NaN where they are missing.") from None
    if values.ndim != 1:
        raise ValueError(f"{name} has shape {values.shape}; give one value per row.")
    if np.isinf(values).any():
        raise ValueError(f"{name} holds {values[np.isinf(values)][0]:g}; replace what is not finite.")
    return values


def counts_of(table: Any, name: str, dimensions: int | None = None) -> np.ndarray:
    """Counts: whole numbers that are not negative, not all 0."""
    try:
        values = np.asarray(as_numpy(table), dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} holds what is no number; give counts.") from None
    if dimensions is not None and values.ndim != dimensions:
        raise ValueError(
            f"{name} has shape {values.shape}; give {'rows and columns' if dimensions == 2 else 'a list'} of counts."
        )
    bad = values[~((values >= 0) & (values == np.round(values)) & np.isfinite(values))]
    if bad.size:
        raise ValueError(f"{name} holds {bad[0]:g}, which is no count; give whole numbers of at least 0.")
    if not values.sum() > 0:
        raise ValueError(f"{name} counts nothing; give at least one observation.")
    return values


def spread_of(values: np.ndarray, name: str) -> float:
    """The standard deviation of a sample; refused where all values are equal."""
    spread = float(values.std(ddof=1))
    if not spread > 1e-14 * max(float(np.abs(values).max()), 1e-300):
        raise ValueError(
            f"all {len(values)} values of {name} are {values[0]:g}; a test of means needs values that differ."
        )
    return spread
