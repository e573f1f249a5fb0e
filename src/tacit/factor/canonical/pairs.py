"""The canonical pairs of two views of the same rows: directions a, b whose scores X a and Y b correlate most.

X = U₁ S₁ V₁ᵀ, Y = U₂ S₂ V₂ᵀ (centred),   U₁ᵀ U₂ = A diag(ρ) Bᵀ,   a_i = V₁ S₁⁻¹ A_i,   b_i = V₂ S₂⁻¹ B_i

With a ridge λ, S⁻¹ becomes (S² + λ)^(−½), and the middle matrix (S₁² + λ₁)^(−½) S₁ U₁ᵀU₂ S₂ (S₂² + λ₂)^(−½).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ...signs import signs
from ...table import Table

__all__ = ["Canonical", "View", "canonical_pairs", "correlation_tests", "views_of_covariance", "views_of_rows"]

RANK = 1e6 * np.finfo(float).eps  # singular values below this share of the largest are rounding, as in scikit-learn's
WORST = 1e6  # condition of a covariance up to which its inverse root still has ten digits
TIED = 1e-9  # correlations closer than this have no directions of their own


@dataclass(frozen=True)
class View:
    """One view through its covariance V S² Vᵀ."""

    singular: np.ndarray  # S (rank,), of the centred rows divided by √(n − 1)
    vectors: np.ndarray  # V (columns, rank)

    @property
    def rank(self) -> int:
        """Dimensions in which the view varies."""
        return len(self.singular)

    @property
    def variance(self) -> float:
        """Mean variance of the columns, which ridges are in units of."""
        return float((self.singular**2).sum() / len(self.vectors))


@dataclass(frozen=True)
class Canonical:
    """Canonical pairs in the conventions of scikit-learn's NIPALS; but for correlations, an array (columns, pairs) per view."""

    correlations: np.ndarray  # all of them, in falling order
    weights: tuple  # orthonormal
    loadings: tuple  # turn scores into centred rows
    rotations: tuple  # turn centred rows into scores


def views_of_rows(rows: np.ndarray, n_first: int) -> tuple[View, View, np.ndarray]:
    """Both views and U₁ᵀU₂ from centred rows [x, y], by QR and SVD: rounding is that of the rows, not of their squares."""
    n, d = rows.shape
    if n > d:
        # The triangle has the same inner products as the rows, and as few rows as there are columns.
        rows = np.asarray(np.linalg.qr(rows, mode="r"))
    (left, first), (right, second) = (_svd(view, n) for view in (rows[:, :n_first], rows[:, n_first:]))
    return first, second, left.T @ right


def _svd(rows: np.ndarray, n: int) -> tuple[np.ndarray, View]:
    left, singular, right = np.linalg.svd(rows, full_matrices=False)
    kept = singular > RANK * singular.max(initial=0.0)
    return left[:, kept], View(singular[kept] / np.sqrt(n - 1.0), right[kept].T)


def views_of_covariance(
    covariance: np.ndarray, n_first: int, ridge: tuple[float, float]
) -> tuple[View, View, np.ndarray] | None:
    """Both views and U₁ᵀU₂ from the covariance of [x, y]; None where rounding would show and rows must be asked.

    Squares double the digits that a condition number costs: with `WORST` there are ten left.
    """
    blocks = covariance[:n_first, :n_first], covariance[n_first:, n_first:]
    views = []
    for block, share in zip(blocks, ridge):
        value, vector = np.linalg.eigh(block)
        if not value[-1] > 0.0 or value[0] + share * value.mean() < value[-1] / WORST:
            return None
        views.append(View(np.sqrt(np.maximum(value[::-1], 0.0)), vector[:, ::-1]))
    first, second = views
    cross = first.vectors.T @ covariance[:n_first, n_first:] @ second.vectors
    return first, second, _over(_over(cross.T, second.singular).T, first.singular)


def _over(matrix: np.ndarray, divisor: np.ndarray) -> np.ndarray:
    """Rows over a divisor; where that is 0, so are they."""
    return matrix / np.where(divisor > 0.0, divisor, 1.0)[:, None]


def canonical_pairs(
    first: View, second: View, overlap: np.ndarray, n_pairs: int, ridge: tuple[float, float]
) -> Canonical:
    """The first `n_pairs` canonical pairs from U₁ᵀU₂; those beyond the views' ranks are zero. Ridges are in units of variances.

    Lengths follow from scikit-learn's weights, which have length 1: NIPALS makes the weights of a pair orthogonal to those
    before, so that they are the orthogonal factor of all directions a, and its scores are X a over the factor's diagonal.
    """
    metrics = [np.sqrt(view.singular**2 + share * view.variance) for view, share in zip((first, second), ridge)]
    middle = (first.singular / metrics[0])[:, None] * overlap * (second.singular / metrics[1])
    left, correlations, right = np.linalg.svd(middle, full_matrices=False)
    correlations = np.minimum(correlations, 1.0)
    turn = _settle_ties(correlations, right @ (metrics[1][:, None] * second.vectors.T))
    found = [
        _directions(view, metric, basis[:, :n_pairs], n_pairs)
        for view, metric, basis in zip((first, second), metrics, (left @ turn, right.T @ turn))
    ]
    weights, loadings, rotations = zip(*found)
    sign = signs(weights[0])
    return Canonical(correlations, *(tuple(each * sign for each in part) for part in (weights, loadings, rotations)))


def _settle_ties(correlations: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """A rotation among pairs of equal correlation to where NIPALS goes: along the second view's columns, in their order.

    Any rotation is as good, but only a rule makes scores independent of rounding. `columns` are those of the second view in
    the coordinates of its variates.
    """
    turn = np.eye(len(correlations))
    ends = np.flatnonzero(np.append(correlations[:-1] - correlations[1:] > TIED, True)) + 1
    for start, end in zip(np.append(0, ends[:-1]), ends):
        if end - start > 1:
            turn[start:end, start:end] = np.linalg.qr(columns[start:end], mode="complete")[0]
    return turn


def _directions(
    view: View, metric: np.ndarray, basis: np.ndarray, n_pairs: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, loadings and rotations of one view for an orthonormal basis of its variates."""
    directions = view.vectors @ (basis / metric[:, None])
    weights, triangle = np.linalg.qr(directions)
    diagonal = np.diag(triangle)
    length = np.abs(diagonal)
    missing = (0, 0), (0, n_pairs - basis.shape[1])
    loadings = view.vectors @ (basis * metric[:, None]) * length
    return np.pad(weights * np.sign(diagonal), missing), np.pad(loadings, missing), np.pad(directions / length, missing)


def correlation_tests(correlations: np.ndarray, n_rows: int, ranks: tuple[int, int], method: str) -> Table:
    """Tests that all correlations from the i-th on are zero, for every i, as a `Table`.

    Wilks' Λ = Π (1 − ρ²) over those correlations. Bartlett: −(n − 1 − (p + q + 1)/2) log Λ is about χ² with
    (p − i + 1)(q − i + 1) degrees of freedom. Rao: a root of Λ makes a variable that is about F, closer for few rows.
    """
    test = _rao if method == "rao" else _bartlett
    with np.errstate(divide="ignore"):  # of a correlation of 1: Λ is 0, and the statistic infinite
        wilks = np.exp(np.cumsum(np.log1p(-np.square(correlations))[::-1])[::-1])
        rows = [
            {"from pair": i + 1, "correlation": float(value), "wilks": float(wilks[i])}
            | test(wilks[i], n_rows, ranks[0] - i, ranks[1] - i, i)
            for i, value in enumerate(correlations)
        ]
    return Table(rows)


def _bartlett(wilks: float, n_rows: int, p: int, q: int, i: int) -> dict[str, float]:
    statistic = -(n_rows - 1.0 - i - (p + q + 1.0) / 2.0) * np.log(wilks)
    return {"chi_square": float(statistic), "df": p * q, "p_value": float(stats.chi2.sf(statistic, p * q))}


def _rao(wilks: float, n_rows: int, p: int, q: int, i: int) -> dict[str, float]:
    squares = p**2 + q**2 - 5
    power = np.sqrt((p**2 * q**2 - 4.0) / squares) if squares > 0 else 1.0
    df = p * q
    df_error = power * (n_rows - 1.0 - i - (p + q + 1.0) / 2.0) - (df - 2.0) / 2.0
    root = wilks ** (1.0 / power)
    statistic = (1.0 - root) / root * df_error / df
    p_value = float(stats.f.sf(statistic, df, df_error))
    return {"f": float(statistic), "df": df, "df_error": float(df_error), "p_value": p_value}
