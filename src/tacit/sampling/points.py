"""Points that cover a space evenly, by SciPy, and what proposes points: x = F⁻¹(u) where a distribution has quantiles."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import check_choice, check_number

__all__ = ["Proposal", "latin_hypercube", "open_proposal", "quasi_random"]


def latin_hypercube(n: int, space: Any = 1, *, optimization: str | None = None, random_state: Any = None) -> np.ndarray:
    """Points of which each lies in a slice of its own along every axis.

    Parameters
    ----------
    n : int
        Number of points.
    space : int, distribution or sequence of distributions
        Number of axes of the unit cube; or a distribution of independent columns, or one of each column, through whose
        quantiles points go: a frozen
        one of SciPy with ``ppf``, or one of `tacit.families` with ``quantile``.
    optimization : {"random-cd", "lloyd"}, optional
        How points are spread further; see ``scipy.stats.qmc.LatinHypercube``.
    random_state : int, Generator or None

    Returns
    -------
    ndarray of shape (n, d)

    Examples
    --------
    >>> from tacit.sampling import latin_hypercube
    >>> sorted((latin_hypercube(4, 2, random_state=0)[:, 0] * 4).astype(int).tolist())
    [0, 1, 2, 3]
    """
    from scipy.stats import qmc

    check_number("n", n, numbers.Integral, 1)
    check_choice("optimization", optimization, (None, "random-cd", "lloyd"))
    d, through = _space(space)
    rng = np.random.default_rng(random_state)
    return through(qmc.LatinHypercube(d, optimization=optimization, rng=rng).random(n))


def quasi_random(n: int, space: Any = 1, *, method: str = "sobol", random_state: Any = None) -> np.ndarray:
    """Points of a scrambled sequence of low discrepancy, whose averages converge faster than those of random points.

    Parameters
    ----------
    n : int
        Number of points; of "sobol" best a power of 2.
    space : int, distribution or sequence of distributions
        As in `latin_hypercube`.
    method : {"sobol", "halton"}
    random_state : int, Generator or None

    Returns
    -------
    ndarray of shape (n, d)

    Examples
    --------
    >>> from scipy.stats import expon
    >>> from tacit.sampling import quasi_random
    >>> round(float(quasi_random(1024, [expon()], random_state=0).mean()), 2)
    1.0
    """
    import warnings

    from scipy.stats import qmc

    check_number("n", n, numbers.Integral, 1)
    check_choice("method", method, ("sobol", "halton"))
    d, through = _space(space)
    made = (qmc.Sobol if method == "sobol" else qmc.Halton)(d, rng=np.random.default_rng(random_state))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The balance properties")  # said of n in the documentation
        points = made.random(n)
    # A quantile at 0 is infinite.
    return through(np.maximum(points, 2.0**-53))


def _space(space: Any) -> tuple[int, Callable[[np.ndarray], np.ndarray]]:
    """Number of axes, and what takes points of the unit cube to the space."""
    if isinstance(space, numbers.Integral):
        check_number("space", space, numbers.Integral, 1)
        return int(space), lambda points: points
    parts = list(space) if isinstance(space, (list, tuple)) else [space]
    sizes = [getattr(part, "n_columns", 1) for part in parts]
    for part in parts:
        if not hasattr(part, "ppf") and not hasattr(part, "quantile"):
            raise TypeError(
                f"{part!r} has no quantiles; give a distribution with ppf or quantile, or a number of axes."
            )
        covariance = getattr(getattr(part, "parameters", None), "get", lambda name: None)("covariance")
        if covariance is not None and np.ndim(covariance) == 2 and np.any(covariance - np.diag(np.diag(covariance))):
            raise ValueError(
                "The columns of the distribution are correlated, so that their quantiles are not independent; give "
                "uncorrelated columns."
            )

    def through(points: np.ndarray) -> np.ndarray:
        columns = np.split(points, np.cumsum(sizes)[:-1], axis=1)
        return np.hstack([_quantiles(part, column) for part, column in zip(parts, columns)])

    return sum(sizes), through


def _quantiles(part: Any, points: np.ndarray) -> np.ndarray:
    if hasattr(part, "ppf"):
        return np.asarray(part.ppf(points), dtype=np.float64)
    return np.array([[part.quantile(u)[j] for j, u in enumerate(row)] for row in points])


@dataclass(frozen=True)
class Proposal:
    """What draws points and knows their log density.

    Parameters
    ----------
    sample : callable
        Of n and a generator, (n, d).
    log_prob : callable
        Of rows, (n,).
    """

    sample: Callable
    log_prob: Callable


def open_proposal(given: Any, size: int | None = None) -> Proposal:
    """What a distribution of any library, a fitted density estimator or a pair of functions draws, and its log density.

    Parameters
    ----------
    given : object
    size : int, optional
        Columns that points must have.
    """
    sample, log_prob = _opened(given)

    def drawn(n: int, rng: np.random.Generator) -> np.ndarray:
        points = np.asarray(sample(n, rng), dtype=np.float64)
        points = points.reshape(n, -1) if points.ndim < 2 and points.size % n == 0 else points
        if points.ndim != 2 or len(points) != n or (size is not None and points.shape[1] != size):
            raise ValueError(
                f"proposal drew an array of shape {points.shape} for {n} points"
                + (f" of {size} numbers." if size is not None else "; one row a point is expected.")
            )
        return points

    def scored(points: np.ndarray) -> np.ndarray:
        values = np.asarray(log_prob(points), dtype=np.float64)
        if values.size != len(points):
            raise ValueError(
                f"the proposal's log density has shape {values.shape} for {len(points)} points; return one number a point."
            )
        return values.reshape(len(points))

    return Proposal(drawn, scored)


def _opened(given: Any) -> tuple[Callable, Callable]:
    from .density import by_rows

    if isinstance(given, (tuple, list)) and len(given) == 2 and all(map(callable, given)):
        return given[0], given[1]
    scored = by_rows(given)
    if scored is None:
        raise TypeError(
            f"{given!r} cannot propose points; give a distribution, a fitted density estimator, or a pair of "
            f"functions sample(n, rng) and "
            "log_prob(X)."
        )
    if hasattr(given, "rvs"):
        return (lambda n, rng: _columns(given.rvs(size=n, random_state=rng), n)), scored
    if hasattr(given, "score_samples"):
        return (lambda n, rng: _estimated(given, n, rng)), scored
    return given.sample, scored


def _columns(points: Any, n: int) -> np.ndarray:
    return np.asarray(points).reshape(n, -1)


def _estimated(given: Any, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draws of a fitted estimator, whose generator is a setting."""
    import copy
    import inspect

    if "random_state" in inspect.signature(given.sample).parameters:
        found = given.sample(n, random_state=int(rng.integers(2**31)))
    else:
        seeded = copy.copy(given)
        seeded.random_state = int(rng.integers(2**31))
        found = seeded.sample(n)
    points = np.asarray(found[0] if isinstance(found, tuple) else found)
    return points[rng.permutation(n)]  # mixtures draw one class after the other
