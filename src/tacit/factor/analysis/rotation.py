"""Rotation of factors towards simple structure: loadings that are large or nil.

Λ* = Λ M,    f* = M⁻¹ f,    Φ = M⁻¹ M⁻ᵀ: the covariance ΛΛᵀ = Λ* Φ Λ*ᵀ stays, whatever M is.

Orthogonal rotations (Φ = I) maximise Σ_jr λ⁴ − γ/d Σ_r (Σ_j λ²)²: γ = 1 is varimax, γ = 0 quartimax. Oblique ones let factors
correlate. Factors come in the order of their sums of squares, with loadings of positive sum.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import signature
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state

from ...checks import check_choice, check_number

__all__ = [
    "ROTATIONS", "Rotation", "bifactor", "geomin", "oblimin", "promax", "quartimax", "rotate", "target", "varimax",
]  # fmt: skip

Criterion = Callable[[np.ndarray], tuple[float, np.ndarray]]

COLLAPSED = 1e4  # condition of the axes at which factors have become one


@dataclass(frozen=True)
class Rotation:
    """Rotated factors.

    Attributes
    ----------
    loadings : ndarray of shape (n_features, n_factors)
        The pattern Λ*: what a unit of a factor adds to each column.
    matrix : ndarray of shape (n_factors, n_factors)
        M, by which the loadings were multiplied.
    correlation : ndarray of shape (n_factors, n_factors)
        Φ, of the factors.
    """

    loadings: np.ndarray
    matrix: np.ndarray
    correlation: np.ndarray

    @property
    def structure(self) -> np.ndarray:
        """Λ*Φ: covariances of columns with factors."""
        return self.loadings @ self.correlation


def varimax(loadings: Any, *, normalize: bool = False, max_iter: int = 1000, tol: float = 1e-8) -> Rotation:
    """Rotate so that the squared loadings of each factor vary the most.

    Parameters
    ----------
    loadings : array-like of shape (n_features, n_factors)
    normalize : bool, default=False
        Give every column the same weight while rotating (Kaiser), however little of it the factors explain.
    max_iter : int, default=1000
        Most sweeps over pairs of factors.
    tol : float, default=1e-8
        Angle, in radians, below which a sweep changes nothing.

    Returns
    -------
    Rotation

    References
    ----------
    Kaiser (1958), The varimax criterion for analytic rotation in factor analysis.

    Examples
    --------
    >>> from tacit.factor import varimax
    >>> varimax([[0.8, 0.5], [0.7, 0.4], [0.5, -0.7], [0.4, -0.8]]).loadings.round(2)
    array([[ 0.94, -0.02],
           [ 0.81,  0.02],
           [ 0.07,  0.86],
           [-0.07,  0.89]])
    """
    return _rotated(loadings, partial(_orthomax, gamma=1.0), normalize, max_iter, tol)


def quartimax(loadings: Any, *, normalize: bool = False, max_iter: int = 1000, tol: float = 1e-8) -> Rotation:
    """Rotate so that the squared loadings of each column vary the most, which favours one general factor.

    Parameters
    ----------
    loadings, normalize, max_iter, tol
        As in :func:`varimax`.

    Returns
    -------
    Rotation
    """
    return _rotated(loadings, partial(_orthomax, gamma=0.0), normalize, max_iter, tol)


def promax(
    loadings: Any, *, power: float = 4, normalize: bool | str = False, max_iter: int = 1000, tol: float = 1e-8
) -> Rotation:
    """Let the factors of varimax correlate, drawn towards the powers of their loadings.

    Parameters
    ----------
    loadings, max_iter, tol
        As in :func:`varimax`.
    power : float, default=4
        The higher, the simpler the pattern and the more correlated the factors.
    normalize : bool or "varimax", default=False
        As in :func:`varimax`, of both steps, as psych does in R; "varimax" normalises that step only, as R's ``factanal`` does.

    Returns
    -------
    Rotation

    References
    ----------
    Hendrickson and White (1964), Promax: a quick method for rotation to oblique simple structure.
    """
    if isinstance(normalize, str):
        check_choice("normalize", normalize, ("varimax",))
    turn = partial(_promax, power=power, normalize=normalize == "varimax")
    return _rotated(loadings, turn, bool(normalize) and normalize != "varimax", max_iter, tol)


def oblimin(
    loadings: Any,
    *,
    gamma: float = 0.0,
    normalize: bool = False,
    n_starts: int = 8,
    random_state: Any = 0,
    max_iter: int = 1000,
    tol: float = 1e-9,
) -> Rotation:
    """Let factors correlate so that the squared loadings of different factors covary the least.

    Minimises Σ_{r<s} (Σ_j λ²_jr λ²_js − γ/d Σ_j λ²_jr Σ_j λ²_js) by gradient projection, from several starts.

    Parameters
    ----------
    loadings, normalize
        As in :func:`varimax`.
    gamma : float, default=0
        0 is quartimin; below, factors correlate less. Above 0 the criterion may have no minimum.
    n_starts : int, default=8
        The factors as they are, those of varimax, and random ones; the best is kept.
    random_state : int, RandomState instance or None, default=0
        Draws the random starts.
    max_iter : int, default=1000
        Most steps of a start.
    tol : float, default=1e-9
        Length of the projected gradient, for loadings of mean square 1, at which a start has settled.

    Returns
    -------
    Rotation

    References
    ----------
    Jennrich (2002), A simple general method for oblique rotation.
    Bernaards and Jennrich (2005), Gradient projection algorithms and software for arbitrary rotation criteria.
    """
    turn = partial(_oblimin, gamma=gamma, n_starts=n_starts, random_state=random_state)
    return _rotated(loadings, turn, normalize, max_iter, tol)


def geomin(
    loadings: Any, *, epsilon: float = 0.01, normalize: bool = False, n_starts: int = 8, random_state: Any = 0,
    max_iter: int = 1000, tol: float = 1e-7,
) -> Rotation:  # fmt: skip
    """Let factors correlate so that the geometric means of each column's squared loadings are small.

    Minimises Σ_j (Π_r (λ²_jr + ε))^(1/k), which bears columns of several factors better than oblimin.

    Parameters
    ----------
    loadings, normalize, n_starts, random_state, max_iter, tol
        As in :func:`oblimin`, with `tol` for the loadings as they are.
    epsilon : float, default=0.01
        Keeps the criterion smooth where loadings vanish.

    Returns
    -------
    Rotation

    References
    ----------
    Yates (1987), Multivariate Exploratory Data Analysis. Browne (2001), An overview of analytic rotation.
    """
    check_number("epsilon", epsilon, numbers.Real, 1e-12)
    criterion, told = partial(_geomin, epsilon=epsilon), "geomin makes factors coincide; use a greater epsilon."
    options = {"n_starts": n_starts, "random_state": random_state, "scaled": False}
    turn = partial(_projected, criterion=criterion, name="geomin", oblique=True, told=told, **options)
    return _rotated(loadings, turn, normalize, max_iter, tol)


def bifactor(
    loadings: Any, *, oblique: bool = False, normalize: bool = False, n_starts: int = 8, random_state: Any = 0,
    max_iter: int = 1000, tol: float = 1e-9,
) -> Rotation:  # fmt: skip
    """One general factor, which comes first, and factors of groups of columns.

    Minimises the criterion of quartimin over all factors but the first.

    Parameters
    ----------
    loadings, normalize, n_starts, random_state, max_iter, tol
        As in :func:`oblimin`.
    oblique : bool, default=False
        Whether factors may correlate.

    Returns
    -------
    Rotation

    References
    ----------
    Jennrich and Bentler (2011), Exploratory bi-factor analysis; (2012), the oblique case.
    """
    if np.shape(loadings)[1] == 2:
        raise ValueError("bifactor of 2 factors is not determined; give 3 or more, or use another rotation.")
    told = "bifactor makes factors coincide; use oblique=False."
    options = {"oblique": oblique, "n_starts": n_starts, "random_state": random_state}
    turn = partial(_projected, criterion=_bifactor, name="bifactor", told=told, **options)
    return _rotated(loadings, turn, normalize, max_iter, tol, n_placed=1)


def target(
    loadings: Any, *, target: Any, oblique: bool = True, normalize: bool = False, n_starts: int = 8, random_state: Any = 0,
    max_iter: int = 1000, tol: float = 1e-7,
) -> Rotation:  # fmt: skip
    """Turn factors as near as can be to loadings that are expected; their order and signs are those of the target.

    Parameters
    ----------
    loadings, normalize, n_starts, random_state, max_iter, tol
        As in :func:`oblimin`, with `tol` for the loadings as they are.
    target : array-like of shape (n_features, n_factors)
        Expected loadings, most often 0; NaN where none is expected.
    oblique : bool, default=True
        Whether factors may correlate.

    Returns
    -------
    Rotation

    References
    ----------
    Browne (1972), Oblique rotation to a partially specified target.
    """
    wanted = np.asarray(target, dtype=np.float64)
    if wanted.shape != np.shape(loadings):
        raise ValueError(f"target has shape {wanted.shape}, but loadings have {np.shape(loadings)}; give one each.")
    _check_rank(np.asarray(loadings, dtype=np.float64), "target")
    told = "target makes factors coincide; use oblique=False."
    # The orthogonal matrix that brings them nearest to what is expected (Procrustes).
    left, _, right = np.linalg.svd(np.asarray(loadings, dtype=np.float64).T @ np.nan_to_num(wanted))
    options = {"n_starts": n_starts, "random_state": random_state, "scaled": False, "first": left @ right}
    options |= {"oblique": oblique}
    turn = partial(_projected, criterion=partial(_target, target=wanted), name="target", told=told, **options)
    return _rotated(loadings, turn, normalize, max_iter, tol, n_placed=wanted.shape[1])


def rotate(loadings: Any, method: str, *, normalize: bool | str = False, **options: Any) -> Rotation:
    """Rotate loadings by the name of a method.

    Parameters
    ----------
    loadings : array-like of shape (n_features, n_factors)
    method : {"varimax", "quartimax", "promax", "oblimin", "geomin", "bifactor", "target"}
    normalize : bool, default=False
        As in the function of that name.
    **options
        Those of the method.

    Returns
    -------
    Rotation
    """
    check_choice("method", method, tuple(ROTATIONS))
    known = list(signature(ROTATIONS[method]).parameters)[1:]
    if method == "target" and "target" not in options:
        raise ValueError("target has no loadings to aim at; give them as target=…, of an estimator in rotation_params.")
    if unknown := set(options) - set(known):
        raise ValueError(f"{method} has no option {min(unknown)!r}; there are {', '.join(known)}.")
    return ROTATIONS[method](loadings, normalize=normalize, **options)


def _rotated(
    loadings: Any, turn: Callable[..., np.ndarray], normalize: bool, max_iter: int, tol: float, n_placed: int = 0
) -> Rotation:
    """Loadings multiplied by the M that `turn` makes of them, in order but for the first `n_placed`."""
    check_number("max_iter", max_iter, numbers.Integral, 1)
    check_number("tol", tol, numbers.Real, 0)
    loadings = check_array(loadings, dtype=np.float64, ensure_min_features=0)
    n_factors = loadings.shape[1]
    used = np.flatnonzero((loadings != 0.0).any(axis=0))  # a factor without loadings has no direction
    matrix = np.eye(n_factors)
    if len(used) > 1:
        weighted = _normalized(loadings[:, used]) if normalize else loadings[:, used]
        matrix[np.ix_(used, used)] = turn(weighted, max_iter=max_iter, tol=tol)
    return _ordered(loadings, matrix, n_placed)


def _normalized(loadings: np.ndarray) -> np.ndarray:
    """Rows of length 1, or of zeros."""
    length = np.linalg.norm(loadings, axis=1, keepdims=True)
    return loadings / np.where(length > 0.0, length, 1.0)


def _ordered(loadings: np.ndarray, matrix: np.ndarray, n_placed: int = 0) -> Rotation:
    """The rotation with factors in order, but for the first ones that have their place, and loadings of positive sum."""
    rotated = loadings @ matrix
    sizes = (rotated**2).sum(axis=0)
    sizes[:n_placed] = np.inf
    order = np.argsort(-sizes, kind="stable")
    # A factor that has a place by its loadings also has its sign; the general factor is one of none.
    sign = np.where((rotated[:, order].sum(axis=0) < 0.0) & (n_placed < 2), -1.0, 1.0)
    matrix = matrix[:, order] * sign
    inverse = np.linalg.inv(matrix)
    return Rotation(loadings @ matrix, matrix, inverse @ inverse.T)


def _orthomax(loadings: np.ndarray, gamma: float, max_iter: int = 1000, tol: float = 1e-8) -> np.ndarray:
    """The orthogonal M; pairs of factors are turned by the best angle until none moves."""
    d, n_factors = loadings.shape
    rotated, matrix = loadings.copy(), np.eye(n_factors)
    for _ in range(max_iter):
        largest = 0.0
        for pair in combinations(range(n_factors), 2):
            angle = _angle(rotated[:, pair[0]], rotated[:, pair[1]], gamma / d)
            largest = max(largest, abs(angle))
            turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
            rotated[:, pair] = rotated[:, pair] @ turn
            matrix[:, pair] = matrix[:, pair] @ turn
        if largest <= tol:
            break
    return matrix


def _angle(x: np.ndarray, y: np.ndarray, share: float) -> float:
    """The angle between two factors that maximises the criterion; 0 where it is the same at any."""
    u, v = x**2 - y**2, 2.0 * x * y
    across, along = u.sum(), v.sum()
    sine = 2.0 * (u @ v) - 2.0 * share * across * along
    cosine = u @ u - v @ v - share * (across**2 - along**2)
    if np.hypot(sine, cosine) <= 1e-14 * (u @ u + v @ v):
        return 0.0
    return 0.25 * float(np.arctan2(sine, cosine))


def _promax(loadings: np.ndarray, power: float, normalize: bool, max_iter: int, tol: float) -> np.ndarray:
    check_number("power", power, numbers.Real, 1)
    _check_rank(loadings, "promax")
    orthogonal = _orthomax(_normalized(loadings) if normalize else loadings, 1.0, max_iter, tol)
    rotated = loadings @ orthogonal
    target = rotated * np.abs(rotated) ** (power - 1.0)
    turn = np.linalg.lstsq(rotated, target, rcond=None)[0]
    # Of unit variance: the diagonal of (UᵀU)⁻¹ is the factors' variance.
    return orthogonal @ (turn * np.sqrt(np.diagonal(np.linalg.inv(turn.T @ turn))))


def _check_rank(loadings: np.ndarray, method: str) -> None:
    rank = np.linalg.matrix_rank(loadings)
    if rank < loadings.shape[1]:
        raise ValueError(
            f"loadings of {loadings.shape[1]} factors have rank {rank}, so {method} has no solution; use at most {rank} factors."
        )


def _oblimin(
    loadings: np.ndarray, gamma: float, n_starts: int, random_state: Any, max_iter: int, tol: float
) -> np.ndarray:
    check_number("gamma", gamma, numbers.Real, -float("inf"), 0.8)
    criterion = partial(_quartimin, gamma=gamma)
    told = f"oblimin with gamma={gamma:g} makes factors coincide; use a gamma of 0 or below."
    return _projected(loadings, criterion, "oblimin", True, told, n_starts, random_state, max_iter, tol)


def _projected(
    loadings: np.ndarray, criterion: Criterion, name: str, oblique: bool, told: str, n_starts: int, random_state: Any,
    max_iter: int, tol: float, scaled: bool = True, first: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """M of the least criterion that gradient projection finds from several starts; `told` says why there may be none."""
    check_number("n_starts", n_starts, numbers.Integral, 1)
    _check_rank(loadings, name)
    loadings = loadings / np.sqrt((loadings**2).mean()) if scaled else loadings
    rng, n_factors = check_random_state(random_state), loadings.shape[1]
    starts = [np.eye(n_factors) if first is None else first, _orthomax(loadings, 1.0)][:n_starts]
    starts += [np.linalg.qr(rng.normal(size=(n_factors, n_factors)))[0] for _ in range(n_starts - len(starts))]
    found = [_gradient_projection(loadings, start, criterion, oblique, max_iter, tol) for start in starts]
    found = [(value, axes) for value, axes in found if np.linalg.cond(axes) < COLLAPSED]
    if not found:
        raise ValueError(told)
    axes = min(found, key=lambda pair: pair[0])[1]
    return np.linalg.inv(axes).T if oblique else axes


# Criteria: what is minimised, and its slope in the loadings


def _quartimin(loadings: np.ndarray, gamma: float = 0.0) -> tuple[float, np.ndarray]:
    """Of oblimin."""
    squares = loadings**2
    others = squares.sum(axis=1, keepdims=True) - squares
    others -= gamma * others.mean(axis=0)
    return 0.25 * float((squares * others).sum()), loadings * others


def _geomin(loadings: np.ndarray, epsilon: float) -> tuple[float, np.ndarray]:
    squares = loadings**2 + epsilon
    means = np.exp(np.log(squares).mean(axis=1, keepdims=True))
    return float(means.sum()), (2.0 / loadings.shape[1]) * means * loadings / squares


def _bifactor(loadings: np.ndarray) -> tuple[float, np.ndarray]:
    """Quartimin of all factors but the first."""
    value, slope = _quartimin(loadings[:, 1:])
    return value, np.column_stack([np.zeros(len(loadings)), slope])


def _target(loadings: np.ndarray, target: np.ndarray) -> tuple[float, np.ndarray]:
    apart = np.where(np.isnan(target), 0.0, loadings - target)
    return float((apart**2).sum()), 2.0 * apart


def _gradient_projection(
    loadings: np.ndarray, axes: np.ndarray, criterion: Criterion, oblique: bool, max_iter: int, tol: float
) -> tuple[float, np.ndarray]:
    """The least criterion over axes T from a start, and the axes.

    Λ* = Λ T⁻ᵀ with columns of T of length 1, or Λ* = Λ T with T orthogonal.
    """
    value, gradient = _slope(loadings, axes, criterion, oblique)
    length = 1.0
    for _ in range(max_iter):
        if np.linalg.norm(gradient) <= tol:
            break
        found = _downhill(loadings, axes, gradient, criterion, oblique, value, length)
        if found is None:
            break
        before, (axes, (height, slope)) = (axes, gradient), found
        if np.linalg.cond(axes) >= COLLAPSED:
            break
        value, gradient = height, slope
        # As long as the last two gradients say that the criterion curves (Barzilai and Borwein): far fewer steps.
        move, change = axes - before[0], gradient - before[1]
        length = float((move**2).sum() / max(abs((move * change).sum()), 1e-300))
    return value, axes


def _slope(loadings: np.ndarray, axes: np.ndarray, criterion: Criterion, oblique: bool) -> tuple[float, np.ndarray]:
    """The criterion at axes, and its gradient along what axes may be; infinite where they coincide."""
    if not oblique:
        value, slope = criterion(loadings @ axes)
        gradient = loadings.T @ slope
        inside = axes.T @ gradient
        return value, gradient - 0.5 * axes @ (inside + inside.T)
    try:
        inverse = np.linalg.inv(axes)
    except np.linalg.LinAlgError:
        return np.inf, np.zeros_like(axes)
    value, slope = criterion(loadings @ inverse.T)
    gradient = -(inverse @ loadings.T @ slope @ inverse).T
    return value, gradient - axes * (axes * gradient).sum(axis=0)


def _downhill(
    loadings: np.ndarray, axes: np.ndarray, gradient: np.ndarray, criterion: Criterion, oblique: bool, value: float,
    length: float,
) -> tuple[np.ndarray, tuple[float, np.ndarray]] | None:  # fmt: skip
    """A step against the gradient that gains enough, halved as often as needed, and `_slope` there; None where there is none."""
    size = float((gradient**2).sum())
    length = min(length, 10.0 / np.sqrt(size))  # columns have length 1
    for _ in range(60):
        moved = axes - length * gradient
        if oblique:
            moved /= np.linalg.norm(moved, axis=0)
        else:
            left, _, right = np.linalg.svd(moved)
            moved = left @ right
        trial = _slope(loadings, moved, criterion, oblique)
        enough = trial[0] <= value - 1e-4 * length * size
        # Near the minimum the criterion is all rounding, and only the gradient still tells better from worse.
        if enough or (trial[0] <= value + 1e-13 * abs(value) and (trial[1] ** 2).sum() < 0.5 * size):
            return moved, trial
        length *= 0.5
    return None


ROTATIONS: dict[str, Callable[..., Rotation]] = {
    function.__name__: function for function in (varimax, quartimax, promax, oblimin, geomin, bifactor, target)
}
