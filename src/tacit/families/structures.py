"""The fourteen covariance structures of the eigenvalue family: Σ_k = λ_k D_k A_k D_kᵀ with |A_k| = 1.

The letters of a name say how volume λ, shape A and orientation D go over the classes: E equal, V varying, I the identity. From
scatter matrices W_k and counts n_k, the M-step minimises

    Σ_k n_k log|Σ_k| + tr(Σ_k⁻¹ W_k) = Σ_kj n_k log v_kj + w_kj / v_kj,    w_kj = (D_kᵀ W_k D_k)_jj,  v_kj = λ_k a_kj.

Given axes D_k, the variances v are those of independent columns (`variances`). Axes are the identity, the eigenvectors of W_k,
or common ones, which are searched for by Newton's method on the rotations, from the axes of the previous covariances.

References
----------
Celeux and Govaert (1995), Gaussian parsimonious clustering models.
Browne and McNicholas (2014), Estimating common principal components in high dimensions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["STRUCTURES", "covariances", "deviance", "n_covariance_parameters", "variances"]

STRUCTURES = (
    "EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV"
)  # fmt: skip

SETTLED = 1e-12  # a gradient this small, relative to the counts, is rounding
MOST_STEPS = 50
HALVINGS = 0.5 ** np.arange(12)
ROUNDING = 1e-13


def n_covariance_parameters(structure: str, n_classes: int, d: int) -> int:
    """Free parameters of the covariances of all classes."""
    times = {"I": 0, "E": 1, "V": n_classes}
    volume, shape, orientation = (times[letter] for letter in structure)
    return volume + shape * (d - 1) + orientation * d * (d - 1) // 2


def deviance(W: np.ndarray, count: np.ndarray, covariance: np.ndarray) -> float:
    """Σ_k n_k log|Σ_k| + tr(Σ_k⁻¹ W_k), which an M-step makes small."""
    log_det = np.linalg.slogdet(covariance)[1]
    return float(count @ log_det + np.einsum("kii->", np.linalg.solve(covariance, W)))


def covariances(structure: str, W: np.ndarray, count: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """The likeliest covariances (classes, d, d) of a structure.

    Parameters
    ----------
    structure : str
        One of `STRUCTURES`.
    W : (classes, d, d)
        Scatter matrices Σ r (x − μ)(x − μ)ᵀ.
    count : (classes,)
        Σ r, none of them zero.
    previous : (classes, d, d)
        Covariances to begin from, where there is no closed form; the result is no worse than they are.
    """
    orientation = structure[2]
    if structure == "VVV":
        return W / count[:, None, None]
    if structure == "EEE":
        return np.repeat(W.sum(axis=0)[None] / count.sum(), len(W), axis=0)
    if structure == "VEE":
        return _common_matrix(W, count, previous)
    if orientation == "I":
        axes = np.broadcast_to(np.eye(W.shape[1]), W.shape)
    elif orientation == "V":
        axes, start_axes = np.linalg.eigh(W)[1], np.linalg.eigh(previous)[1]
        return _assemble(axes, _along(structure, axes, W, count, _diagonals(start_axes, previous)))
    else:
        axes = np.broadcast_to(_common_axes(structure, W, count, previous), W.shape)
    return _assemble(axes, _along(structure, axes, W, count, _diagonals(axes, previous)))


def _diagonals(axes: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Diagonals of Dᵀ M D, none of them negative."""
    return np.maximum((axes * (matrices @ axes)).sum(axis=1), 0.0)


def _along(structure: str, axes: np.ndarray, W: np.ndarray, count: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The likeliest variances along given axes."""
    w = _diagonals(axes, W)
    return variances(structure, w, np.broadcast_to(count[:, None], w.shape), start)


def _assemble(axes: np.ndarray, variance: np.ndarray) -> np.ndarray:
    return (axes * variance[:, None, :]) @ axes.transpose(0, 2, 1)


# Volumes and shapes


def variances(structure: str, w: np.ndarray, count: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The likeliest variances (classes, d) with the volume and the shape of a structure, of independent columns.

    Parameters
    ----------
    structure : str
        One of `STRUCTURES`; its third letter plays no part.
    w, count : (classes, d)
        Sums of squared deviations and counts of cells, none of the counts zero.
    start : (classes, d)
        Variances to begin from. With unequal counts within a class, shapes that vary under an equal volume are no
        maximum but better than `start`.
    """
    volume, shape = structure[0], structure[1]
    if shape == "I":
        over = (0, 1) if volume == "E" else 1
        pooled = w.sum(axis=over, keepdims=True) / count.sum(axis=over, keepdims=True)
        return np.broadcast_to(pooled, w.shape).copy()
    if volume + shape == "EE":
        return np.repeat((w.sum(axis=0) / count.sum(axis=0))[None], len(w), axis=0)
    if volume + shape == "VV":
        return w / count
    if volume + shape == "VE":
        return _common_shape(w, count, start)
    # Cells that are not there count as if their squares were as expected: a bound that touches at `start`.
    most = count.max(axis=1, keepdims=True)
    return _common_volume(w + (most - count) * start, most)


def _common_volume(w: np.ndarray, count: np.ndarray) -> np.ndarray:
    mean = np.exp(np.log(w).mean(axis=1, keepdims=True))
    return w * (mean.sum() / count.sum() / mean)


def _common_shape(w: np.ndarray, count: np.ndarray, start: np.ndarray) -> np.ndarray:
    """With τ = log λ and the shape at its best, minimises Σ_k n_k τ_k + Σ_j n_j log Σ_k exp(−τ_k) w_kj."""
    per_column = count.sum(axis=0)

    def parts(log_volume: np.ndarray) -> tuple:
        share = w * np.exp(-log_volume)[:, None]
        total = share.sum(axis=0)
        share = share / total
        return per_column @ np.log(total), share @ per_column, (share * per_column) @ share.T

    log_volume = _volumes(count.sum(axis=1), parts, np.log(start).mean(axis=1))
    shape = (w * np.exp(-log_volume)[:, None]).sum(axis=0) / per_column
    return np.exp(log_volume)[:, None] * shape


def _common_matrix(W: np.ndarray, count: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """As `_common_shape`, with Σ_k = λ_k C: minimises d Σ_k n_k τ_k + n log|Σ_k exp(−τ_k) W_k|."""
    n_classes, d, _ = W.shape
    n = count.sum()

    def parts(log_volume: np.ndarray) -> tuple:
        share = W * np.exp(-log_volume)[:, None, None]
        lower = np.linalg.cholesky(share.sum(axis=0))
        white = np.linalg.solve(lower, np.linalg.solve(lower, share).transpose(0, 2, 1)).reshape(n_classes, -1)
        return 2.0 * n * np.log(np.diag(lower)).sum(), n * white[:, :: d + 1].sum(axis=1), n * (white @ white.T)

    log_volume = _volumes(d * count, parts, np.linalg.slogdet(previous)[1] / d)
    volume = np.exp(log_volume)[:, None, None]
    return volume * ((W / volume).sum(axis=0) / n)


def _volumes(total: np.ndarray, parts: Any, log_volume: np.ndarray) -> np.ndarray:
    """Minimise total·τ + f(τ), convex, by Newton's method; `parts` gives f, −f′ and what the Hessian lacks of diag(−f′)."""
    # One step of alternation first: it finds the size of a volume from any distance, where Newton's steps would overshoot.
    log_volume = log_volume + np.log(parts(log_volume)[1] / total)
    log_volume = log_volume - total @ log_volume / total.sum()
    value, slope, cross = parts(log_volume)
    value += total @ log_volume
    for _ in range(MOST_STEPS):
        gradient = total - slope
        if (np.abs(gradient) <= SETTLED * total).all():
            break
        # Moving all volumes together changes nothing; the last term settles that direction.
        hessian = np.diag(slope) - cross + np.multiply.outer(slope, slope) / slope.sum()
        step = -np.linalg.solve(hessian, gradient)
        if -(gradient @ step) <= ROUNDING * total.sum():
            # What is left to gain is rounding; the last step still gives half of the digits.
            near = log_volume + step
            return near if total @ near + parts(near)[0] <= value + ROUNDING * total.sum() else log_volume
        for shrink in HALVINGS:
            near = log_volume + shrink * step
            found, near_slope, near_cross = parts(near)
            found += total @ near
            if found <= value + 1e-4 * shrink * (gradient @ step) + ROUNDING * total.sum():
                break
        else:
            break
        log_volume, value, slope, cross = near, found, near_slope, near_cross
    return log_volume


# Common axes


def _common_axes(structure: str, W: np.ndarray, count: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """Axes D that minimise Σ_kj n_k log v_kj(D), where v are the likeliest variances along them."""
    axes = _shared_axes(previous)
    value, slope = _slope(structure, W, count, axes)
    for _ in range(MOST_STEPS):
        if np.abs(slope.gradient).max(initial=0.0) <= SETTLED * count.sum():
            break
        turn = slope.newton()
        for shrink in HALVINGS:
            near = axes @ _rotation(shrink * turn)
            found, near_slope = _slope(structure, W, count, near)
            gain = 0.5 * shrink * float((slope.gradient * turn).sum())
            if found <= value + 1e-4 * gain + ROUNDING * count.sum():
                break
        else:
            break
        if found >= value and np.abs(near_slope.gradient).max() >= np.abs(slope.gradient).max():
            break
        axes, value, slope = near, found, near_slope
    return axes


def _shared_axes(matrices: np.ndarray) -> np.ndarray:
    """Axes of matrices that have common ones: those of a sum whose weights are unlikely to make eigenvalues meet."""
    size = np.einsum("kii->k", matrices)
    weight = (1.0 + np.modf(np.arange(len(matrices)) * 0.6180339887498949)[0]) / size
    return np.linalg.eigh(np.einsum("k,kij->ij", weight, matrices))[1]


def _rotation(turn: np.ndarray) -> np.ndarray:
    """Cayley's map of a skew matrix, equal to its exponential up to third order."""
    unit = np.eye(len(turn))
    return np.linalg.solve(unit - 0.5 * turn, unit + 0.5 * turn)


def _slope(structure: str, W: np.ndarray, count: np.ndarray, axes: np.ndarray) -> tuple[float, Slope]:
    """The deviance at some axes, less a constant, and its derivatives with respect to a rotation of them."""
    B = axes.T @ W @ axes
    b = np.einsum("kii->ki", B)
    variance = variances(structure, b, np.broadcast_to(count[:, None], b.shape), b)
    return float(count @ np.log(variance).sum(axis=1)), Slope(B, b, variance, structure[0] == "E")


def _skew(matrix: np.ndarray) -> np.ndarray:
    """The skew part: what rounding leaves beside it would grow where the curvature is small."""
    return 0.5 * (matrix - matrix.T)


class Slope:
    """Derivatives of F(D) = Σ_kj n_k log v_kj under D → D exp(Ω), Ω skew, with B_k = Dᵀ W_k D and c = 1 / v:

    G_ij = 2 Σ_k B_kij (c_kj − c_ki),    H(Ω)_ij = 2 Σ_k [B_k, Ω]_ij (c_kj − c_ki) + B_kij (ċ_kj − ċ_ki) − ½ [G, Ω]_ij.
    """

    def __init__(self, B: np.ndarray, b: Any, variance: np.ndarray, equal_volume: bool) -> None:
        self.B, self.b, self.c, self.equal_volume = B, b, 1.0 / variance, equal_volume
        self.apart = self.c[:, None, :] - self.c[:, :, None]
        self.gradient = _skew(2.0 * (B * self.apart).sum(axis=0))

    def hessian(self, turn: np.ndarray) -> np.ndarray:
        """H(Ω)."""
        moved = self.B @ turn - turn @ self.B
        rate = np.einsum("kii->ki", moved) / self.b
        slower = -rate
        if self.equal_volume:
            mean = rate.mean(axis=1, keepdims=True)
            size = self.c[:, :1] * self.b[:, :1]  # proportional to the volume of W along the axes
            slower = slower + mean - (size * mean).sum() / size.sum()
        change = self.c * slower
        second = moved * self.apart + self.B * (change[:, None, :] - change[:, :, None])
        return _skew(2.0 * second.sum(axis=0) - 0.5 * (self.gradient @ turn - turn @ self.gradient))

    def newton(self) -> np.ndarray:
        """−H⁻¹G by conjugate gradients, ended early where the curvature is not positive."""
        spread = self.b[:, :, None] - self.b[:, None, :]
        curvature = 2.0 * (spread * self.apart).sum(axis=0)
        curvature += 1e-8 * curvature.max() + np.finfo(float).tiny
        turn, residual = np.zeros_like(self.gradient), -self.gradient
        z = residual / curvature
        direction, product = z, float((residual * z).sum())
        # A slope of the deviance is measured by the total count.
        enough = product * min(1e-2, product / float((self.c * self.b).sum())) ** 2
        for _ in range(2 * len(turn) ** 2):
            image = self.hessian(direction)
            bend = float((direction * image).sum())
            if bend <= 0.0:
                return turn if turn.any() else z
            step = product / bend
            turn = turn + step * direction
            residual = residual - step * image
            z = residual / curvature
            before, product = product, float((residual * z).sum())
            if product <= enough:
                break
            direction = z + product / before * direction
        return turn
