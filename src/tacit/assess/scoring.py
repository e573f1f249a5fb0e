r"""Proper scores of what was predicted, and whether probabilities and intervals are borne out.

log score  E log p(y),    Brier  E Σ_k (p_k − 1[y = k])²,    CRPS  E ∫ (F(x) − 1[x ≥ y])² dx = E|X − y| − ½ E|X − X′|

A probability integral transform F(y) is even on [0, 1] where the predicted distributions are right. Logarithms and squares are
averaged over rows; every score is also given for each row, for `compare`.

References
----------
Gneiting and Raftery (2007), Strictly proper scoring rules, prediction, and estimation, JASA 102, 359–378.
Murphy (1973), A new vector partition of the probability score, Journal of Applied Meteorology 12, 595–600.
Gneiting, Balabdaoui and Raftery (2007), Probabilistic forecasts, calibration and sharpness, JRSS B 69, 243–268.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

__all__ = [
    "Coverage", "Reliability", "brier_score", "crps", "crps_of_draws", "gaussian_crps", "gaussian_log_density",
    "interval_coverage", "interval_score", "log_score", "pit", "reliability",
]  # fmt: skip

Z = 1.959963984540054


def _numbers(**given: Any) -> list[np.ndarray]:
    """Arrays of numbers with as many rows as each other, at least one and none missing."""
    found = {name: np.asarray(each, dtype=np.float64) for name, each in given.items()}
    sizes = {name: len(each) if each.ndim else -1 for name, each in found.items()}
    if len(set(sizes.values())) > 1 or -1 in sizes.values():
        raise ValueError(
            f"rows differ: {', '.join(f'{name} has {n}' for name, n in sizes.items())}; give one each per row."
        )
    for name, each in found.items():
        if not len(each):
            raise ValueError(f"{name} is empty; give at least one row.")
        if np.isnan(each).any():
            row = int(np.argmax(np.isnan(each).reshape(len(each), -1).any(axis=1)))
            raise ValueError(f"{name} contains NaN (row {row}); leave these rows out.")
    return list(found.values())


def _coded(y: Any, probability: Any, classes: Any) -> tuple[np.ndarray, np.ndarray]:
    """The place of each row's class, and its probabilities, a column a class."""
    (p,) = _numbers(probability=probability)
    y = np.asarray(y)
    if p.ndim == 1:
        p = np.column_stack([1.0 - p, p])
    known = np.unique(y) if classes is None else np.asarray(classes)
    if len(known) != p.shape[1]:
        raise ValueError(f"there are {len(known)} classes and {p.shape[1]} columns of probabilities; name the classes.")
    if len(y) != len(p):
        raise ValueError(f"y has {len(y)} rows and the probabilities {len(p)}; give one row for each.")
    order = np.argsort(known, kind="stable")
    place = np.searchsorted(known[order], y)
    code = order[np.minimum(place, len(known) - 1)]
    if (wrong := np.flatnonzero(known[code] != y)).size:
        raise ValueError(f"y has class {y[wrong[0]]!r} (row {wrong[0]}), which is none of {known.tolist()}.")
    return code, p


def log_score(y: Any, probability: Any, classes: Any = None, *, each: bool = False) -> Any:
    """Log probability of the class that each row had, on average; larger is better.

    Parameters
    ----------
    y : array-like of shape (n,)
        Classes.
    probability : array-like of shape (n, K), or (n,) of the second of two classes
    classes : array-like of shape (K,), optional
        The class of each column; default the sorted classes of `y`.
    each : bool, default=False
        Whether the score of each row is returned.

    Examples
    --------
    >>> from tacit.assess import log_score
    >>> round(log_score([0, 1, 1], [0.2, 0.9, 0.6]), 4)
    -0.2798
    """
    code, p = _coded(y, probability, classes)
    with np.errstate(divide="ignore"):
        found = np.log(p[np.arange(len(code)), code])
    return found if each else float(found.mean())


def brier_score(y: Any, probability: Any, classes: Any = None, *, each: bool = False) -> Any:
    """Squared distance of probabilities from what was, summed over classes (halved for two); smaller is better.

    Parameters
    ----------
    y, probability, classes, each
        As in `log_score`.
    """
    code, p = _coded(y, probability, classes)
    found = ((p - np.eye(p.shape[1])[code]) ** 2).sum(axis=1) / (2.0 if p.shape[1] == 2 else 1.0)
    return found if each else float(found.mean())


@dataclass(frozen=True, eq=False)
class Reliability:
    """Whether a class is as frequent as was told, in parts of equal size; made by `reliability`.

    Attributes
    ----------
    told, share, low, high : ndarray
        By part: mean probability, share of the class, and Wilson's 95 % interval of that.
    n : ndarray
        Rows of each part.
    brier, reliability, resolution, uncertainty : float
        Murphy's parts: Brier = reliability − resolution + uncertainty, up to what probabilities vary within parts.
    error : float
        Mean distance of shares from what was told (expected calibration error).
    """

    told: np.ndarray
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray
    brier: float
    reliability: float
    resolution: float
    uncertainty: float
    error: float

    def __repr__(self) -> str:
        return (
            f"Reliability(brier={self.brier:.4f}, reliability={self.reliability:.4f}, resolution={self.resolution:.4f}, "
            f"uncertainty={self.uncertainty:.4f}, error={self.error:.4f})"
        )


def reliability(is_class: Any, probability: Any, n_parts: int = 10) -> Reliability:
    """Shares of a class against the probabilities that were told of it.

    Parameters
    ----------
    is_class : array-like of bool of shape (n,)
    probability : array-like of shape (n,)
    n_parts : int, default=10
        Parts of equal size, by probability.
    """
    found, told = _numbers(is_class=is_class, probability=probability)
    parts = [part for part in np.array_split(np.argsort(told, kind="stable"), n_parts) if len(part)]
    mean, share = (np.array([values[part].mean() for part in parts]) for values in (told, found))
    n = np.array([len(part) for part in parts])
    low, high = _wilson(share, n)
    base, weight = found.mean(), n / n.sum()
    return Reliability(
        mean, share, low, high, n, float(((told - found) ** 2).mean()), float(weight @ (mean - share) ** 2),
        float(weight @ (share - base) ** 2), float(base * (1 - base)), float(weight @ np.abs(mean - share)),
    )  # fmt: skip


def _wilson(share: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's interval of a share of n."""
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)


# Predicted distributions of numbers


def gaussian_log_density(y: Any, mean: Any, std: Any) -> np.ndarray:
    """Log density of each number under its own Gaussian.

    Parameters
    ----------
    y, mean, std : array-like of shape (n,)
    """
    y, mean, std = _numbers(y=y, mean=mean, std=std)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = -0.5 * ((y - mean) / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)
    return np.where(std > 0, found, np.where(y == mean, np.inf, -np.inf))


def gaussian_crps(y: Any, mean: Any, std: Any) -> np.ndarray:
    """Continuous ranked probability score of each number under its own Gaussian; in its units, smaller is better.

    Parameters
    ----------
    y, mean, std : array-like of shape (n,)
    """
    y, mean, std = _numbers(y=y, mean=mean, std=std)
    z = (y - mean) / np.where(std > 0, std, 1.0)
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    spread = std * (z * (2 * ndtr(z) - 1) + 2 * density - 1 / np.sqrt(np.pi))
    return np.where(std > 0, spread, np.abs(y - mean))


def crps_of_draws(y: Any, draws: Any) -> np.ndarray:
    """Continuous ranked probability score of each number under draws of its distribution, without bias for few draws.

    Parameters
    ----------
    y : array-like of shape (n,)
    draws : array-like of shape (n, m)
        At least two of each.
    """
    y, draws = _numbers(y=y, draws=draws)
    if draws.ndim != 2 or draws.shape[1] < 2:
        raise ValueError(f"draws has shape {draws.shape}; give at least 2 for each of the {len(y)} rows.")
    m, ordered = draws.shape[1], np.sort(draws, axis=1)
    pairs = ordered @ (2.0 * np.arange(m) - m + 1)  # Σ over i < j of x_j − x_i
    return np.abs(draws - y[:, None]).mean(axis=1) - pairs / (m * (m - 1))


def crps(y: Any, mean: Any = None, std: Any = None, *, draws: Any = None) -> float:
    """Continuous ranked probability score on average: of Gaussians, or of draws.

    Parameters
    ----------
    y, mean, std : array-like of shape (n,)
    draws : array-like of shape (n, m), optional
        Instead of `mean` and `std`.

    Examples
    --------
    >>> from tacit.assess import crps
    >>> round(crps([0.0], [0.0], [1.0]), 4)
    0.2337
    """
    return float((gaussian_crps(y, mean, std) if draws is None else crps_of_draws(y, draws)).mean())


def pit(y: Any, mean: Any = None, std: Any = None, *, draws: Any = None, random_state: int | None = 0) -> np.ndarray:
    """Probability integral transform F(y) of each number; even on [0, 1] where predicted distributions are right.

    Parameters
    ----------
    y, mean, std : array-like of shape (n,)
    draws : array-like of shape (n, m), optional
        Instead of `mean` and `std`; ranks among draws are spread evenly, ties at random.
    random_state : int, optional
        Spreads ranks.
    """
    if draws is None:
        y, mean, std = _numbers(y=y, mean=mean, std=std)
        return ndtr((y - mean) / np.where(std > 0, std, np.finfo(float).tiny))
    y, draws = _numbers(y=y, draws=draws)
    below, upto = (draws < y[:, None]).sum(axis=1), (draws <= y[:, None]).sum(axis=1)
    u = np.random.default_rng(random_state).random(len(y))
    return (below + u * (upto - below + 1)) / (draws.shape[1] + 1)


@dataclass(frozen=True)
class Coverage:
    """How many numbers intervals held; made by `interval_coverage`.

    Attributes
    ----------
    share, low, high : float
        Share inside, and Wilson's 95 % interval of it.
    n : int
    width : float
        Mean width; infinite where an interval is.
    below, above : float
        Shares below and above.
    """

    share: float
    low: float
    high: float
    n: int
    width: float
    below: float
    above: float

    def __str__(self) -> str:
        return f"{self.share:.1%} of {self.n:,} inside ({self.low:.1%} to {self.high:.1%}), mean width {self.width:.4g}"


def interval_coverage(y: Any, low: Any, high: Any) -> Coverage:
    """Share of numbers inside their intervals, ends included.

    Parameters
    ----------
    y, low, high : array-like of shape (n,)

    Examples
    --------
    >>> from tacit.assess import interval_coverage
    >>> print(interval_coverage([1, 2, 3, 9], [0, 0, 0, 0], [4, 4, 4, 4]))
    75.0% of 4 inside (30.1% to 95.4%), mean width 4
    """
    y, low, high = _numbers(y=y, low=low, high=high)
    share = np.array([((low <= y) & (y <= high)).mean()])
    ends = _wilson(share, np.array([len(y)]))
    return Coverage(
        float(share[0]), float(ends[0][0]), float(ends[1][0]), len(y), float((high - low).mean()),
        float((y < low).mean()), float((y > high).mean()),
    )  # fmt: skip


def interval_score(y: Any, low: Any, high: Any, level: float) -> np.ndarray:
    """Width of each interval, and 2 / (1 − level) for every unit that its number lies outside; smaller is better.

    Parameters
    ----------
    y, low, high : array-like of shape (n,)
    level : float
        Probability of the intervals.
    """
    y, low, high = _numbers(y=y, low=low, high=high)
    check_level(level)
    return (high - low) + 2.0 / (1.0 - level) * (np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0))


def check_level(level: Any, name: str = "level") -> float:
    """A probability between 0 and 1, both excluded."""
    if isinstance(level, bool) or not isinstance(level, (int, float, np.number)) or not 0 < level < 1:
        raise ValueError(f"{name}={level!r} is not a probability between 0 and 1, both excluded.")
    return float(level)
