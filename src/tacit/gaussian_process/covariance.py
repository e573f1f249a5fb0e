"""Covariances as expressions over two sets of rows, each of which gives its values and how they pass slopes back.

    k = Σ, Π and powers of  c,  σ² [same row],  a·b + σ₀²,  φ(Σ_f (a_f − b_f)² / ℓ_f²),  exp(−2 sin²(π |a − b| / p) / ℓ²)

The hyperparameters θ are logarithms, in the order of scikit-learn's ``kernel.theta``. A slope ∂F/∂k of any function F is passed
back through a tile of values at once: nothing of the size of all pairs times all hyperparameters exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.gaussian_process import kernels as theirs

from ..kernels import backend, empty, flipped, kernel

__all__ = ["Expression", "expression"]

Pull = Callable[[Any, np.ndarray], None]
"""Adds to slopes with respect to θ what slopes with respect to values make of them."""
DiagonalPull = Callable[[Any, Any, np.ndarray], None]


@dataclass(frozen=True)
class Place:
    """Where a hyperparameter is among θ, or its value where it is fixed."""

    start: int
    size: int
    value: Any
    fixed: bool

    def read(self, theta: np.ndarray) -> Any:
        """Its value; a number where it has one element."""
        if self.fixed:
            return self.value
        return np.exp(theta[self.start : self.start + self.size]) if self.size > 1 else float(np.exp(theta[self.start]))

    def add(self, slopes: np.ndarray, slope: Any) -> None:
        """Add a slope with respect to its logarithm."""
        if not self.fixed:
            slopes[self.start : self.start + self.size] += slope


def total(slope: Any, values: Any) -> float:
    """Σ slope · values."""
    return float((slope * values).sum()) if backend(slope) == "torch" else float(np.vdot(slope, values))


def over(rows: Any, scale: Any) -> Any:
    """Rows divided by one scale, or one each column."""
    if isinstance(scale, np.ndarray) and backend(rows) == "torch":
        scale = rows.new_tensor(scale)
    return rows / scale


class Expression:
    """A covariance. Called with θ and two sets of rows, it gives values, or one number where all are the same, and a `Pull`.

    Noise that only a row and itself share counts where the two sets are the same object.
    """

    def __call__(self, theta: np.ndarray, A: Any, B: Any) -> tuple[Any, Pull]:
        raise NotImplementedError

    def diagonal(self, theta: np.ndarray, A: Any) -> tuple[Any, Any, DiagonalPull]:
        """k(a, a) without noise, the noise, and what passes slopes with respect to both back."""
        raise NotImplementedError


@dataclass(frozen=True)
class Constant(Expression):
    constant: Place

    def __call__(self, theta: np.ndarray, A: Any, B: Any) -> tuple[Any, Pull]:
        c = self.constant.read(theta)
        return c, lambda G, slopes: self.constant.add(slopes, c * float(G.sum()))

    def diagonal(self, theta: np.ndarray, A: Any) -> tuple[Any, Any, DiagonalPull]:
        c = self.constant.read(theta)
        return c, 0.0, lambda g, noise, slopes: self.constant.add(slopes, c * float(g.sum()))


@dataclass(frozen=True)
class Noise(Expression):
    level: Place

    def __call__(self, theta: np.ndarray, A: Any, B: Any) -> tuple[Any, Pull]:
        if A is not B:
            return 0.0, lambda G, slopes: None
        level = self.level.read(theta)
        return np.diag(np.full(len(A), level)), lambda G, slopes: self.level.add(slopes, level * np.trace(G))

    def diagonal(self, theta: np.ndarray, A: Any) -> tuple[Any, Any, DiagonalPull]:
        level = self.level.read(theta)
        return 0.0, level, lambda g, noise, slopes: self.level.add(slopes, level * float(noise.sum()))


@dataclass(frozen=True)
class Linear(Expression):
    sigma: Place

    def __call__(self, theta: np.ndarray, A: Any, B: Any) -> tuple[Any, Pull]:
        variance = self.sigma.read(theta) ** 2
        return A @ B.T + variance, lambda G, slopes: self.sigma.add(slopes, 2 * variance * float(G.sum()))

    def diagonal(self, theta: np.ndarray, A: Any) -> tuple[Any, Any, DiagonalPull]:
        variance = self.sigma.read(theta) ** 2

        def pull(g: Any, noise: Any, slopes: np.ndarray) -> None:
            self.sigma.add(slopes, 2 * variance * float(g.sum()))

        return (A * A).sum(-1) + variance, 0.0, pull


@dataclass(frozen=True)
class Stationary(Expression):
    """φ(D); subclasses tell φ and −2 φ'."""

    length: Place

    def profile(self, theta: np.ndarray, D: Any) -> tuple[Any, Callable[[], Any]]:
        """φ(D) and a function that gives −2 φ'(D)."""
        raise NotImplementedError

    def pull_shape(self, theta: np.ndarray, G: Any, D: Any, values: Any, slopes: np.ndarray) -> None:
        """Pass slopes back to hyperparameters other than the length scale."""

    def __call__(self, theta: np.ndarray, A: Any, B: Any) -> tuple[Any, Pull]:
        length = self.length.read(theta)
        if isinstance(length, np.ndarray) and len(length) not in (1, A.shape[1]):
            raise ValueError(
                f"Anisotropic kernel must have the same number of dimensions as data ({len(length)}!={A.shape[1]})"
            )
        scaled = over(A, length)
        other = flipped(over(B, length), A)
        D = empty((len(A), len(B)), A)
        kernel("square_gaps", backend(A))(scaled, other, D)
        values, slope = self.profile(theta, D)

        def pull(G: Any, slopes: np.ndarray) -> None:
            if not self.length.fixed:
                W = G * slope()
                found: Any = np.zeros(self.length.size)
                if self.length.size > 1:
                    kernel("weigh_gaps", backend(A))(W, scaled, other, found)
                else:
                    found = total(W, D)
                self.length.add(slopes, found)
            self.pull_shape(theta, G, D, values, slopes)

        return values, pull

    def diagonal(self, theta: np.ndarray, A: Any) -> tuple[Any, Any, DiagonalPull]:
        return 1.0, 0.0, lambda g, noise, slopes: None


def decayed(values: Any, factor: float) -> Any:
    """exp(−factor · values)."""
    out = empty(values.shape, values)
    kernel("decay", backend(values))(values, factor, out)
    return out


@dataclass(frozen=True)
class Gaussian(Stationary):
    def profile(self, theta: np.ndarray, D: Any) -> tuple[Any, Callable[[], Any]]:
        values = decayed(D, 0.5)
        return values, lambda: values


@dataclass(frozen=True)
class Matern(Stationary):
    nu: float = 1.5

    def profile(self, theta: np.ndarray, D: Any) -> tuple[Any, Callable[[], Any]]:
        t = (2 * self.nu * D) ** 0.5
        E = decayed(t, 1.0)
        if self.nu == 0.5:
            # The slope of exp(−√D) is infinite at D = 0, where it is multiplied by gaps of 0.
            return E, lambda: E / (t + (t == 0.0))
        if self.nu == 1.5:
            return (1.0 + t) * E, lambda: 3.0 * E
        return (1.0 + t + t * t / 3.0) * E, lambda: (5.0 / 3.0) * (1.0 + t) * E


@dataclass(frozen=True)
class Quadratic(Stationary):
    """(1 + D / 2α)^−α, a mixture of Gaussians of all length scales."""

    alpha: Place = Place(0, 1, 1.0, True)

    def profile(self, theta: np.ndarray, D: Any) -> tuple[Any, Callable[[], Any]]:
        alpha = self.alpha.read(theta)
        base = 1.0 + D / (2 * alpha)
        values = base**-alpha
        return values, lambda: values / base

    def pull_shape(self, theta: np.ndarray, G: Any, D: Any, values: Any, slopes: np.ndarray) -> None:
        if self.alpha.fixed:
            return
        alpha = self.alpha.read(theta)
        base = 1.0 + D / (2 * alpha)
        log = base.log() if backend(base) == "torch" else np.log(base)
        self.alpha.add(slopes, total(G * values, D / (2 * base) - alpha * log))


@dataclass(frozen=True)
class Periodic(Expression):
    length: Place
    period: Place

    def __call__(self, theta: np.ndarray, A: Any, B: Any) -> tuple[Any, Pull]:
        length, period = self.length.read(theta), self.period.read(theta)
        D = empty((len(A), len(B)), A)
        kernel("square_gaps", backend(A))(A, flipped(B, A), D)
        angle = D**0.5 * (np.pi / period)
        sine = angle.sin() if backend(A) == "torch" else np.sin(angle)
        values = decayed(sine * sine, 2.0 / length**2)

        def pull(G: Any, slopes: np.ndarray) -> None:
            W = G * values * sine * (4.0 / length**2)
            self.length.add(slopes, total(W, sine))
            if not self.period.fixed:
                self.period.add(slopes, total(W, angle * (angle.cos() if backend(A) == "torch" else np.cos(angle))))

        return values, pull

    def diagonal(self, theta: np.ndarray, A: Any) -> tuple[Any, Any, DiagonalPull]:
        return 1.0, 0.0, lambda g, noise, slopes: None


@dataclass(frozen=True)
class Sum(Expression):
    left: Expression
    right: Expression

    def __call__(self, theta: np.ndarray, A: Any, B: Any) -> tuple[Any, Pull]:
        (u, pull_u), (v, pull_v) = self.left(theta, A, B), self.right(theta, A, B)

        def pull(G: Any, slopes: np.ndarray) -> None:
            pull_u(G, slopes)
            pull_v(G, slopes)

        return u + v, pull

    def diagonal(self, theta: np.ndarray, A: Any) -> tuple[Any, Any, DiagonalPull]:
        (u, noise_u, pull_u), (v, noise_v, pull_v) = self.left.diagonal(theta, A), self.right.diagonal(theta, A)

        def pull(g: Any, noise: Any, slopes: np.ndarray) -> None:
            pull_u(g, noise, slopes)
            pull_v(g, noise, slopes)

        return u + v, noise_u + noise_v, pull


def pull_by(u: Any, v: Any, pull_u: Pull, G: Any, slopes: np.ndarray) -> None:
    """Pass G · v, slopes with respect to u, back, without a product of matrices by a number."""
    if not np.ndim(u):
        pull_u(np.float64(total(G, v) if np.ndim(v) else v * G.sum()), slopes)
    elif not np.ndim(v):
        part = np.zeros(len(slopes))
        pull_u(G, part)
        slopes += v * part
    else:
        pull_u(G * v, slopes)


@dataclass(frozen=True)
class Product(Expression):
    left: Expression
    right: Expression

    def __call__(self, theta: np.ndarray, A: Any, B: Any) -> tuple[Any, Pull]:
        (u, pull_u), (v, pull_v) = self.left(theta, A, B), self.right(theta, A, B)

        def pull(G: Any, slopes: np.ndarray) -> None:
            pull_by(u, v, pull_u, G, slopes)
            pull_by(v, u, pull_v, G, slopes)

        return u * v, pull

    def diagonal(self, theta: np.ndarray, A: Any) -> tuple[Any, Any, DiagonalPull]:
        (u, noise_u, pull_u), (v, noise_v, pull_v) = self.left.diagonal(theta, A), self.right.diagonal(theta, A)

        def pull(g: Any, noise: Any, slopes: np.ndarray) -> None:
            pull_u(g * v + noise * noise_v, noise * (v + noise_v), slopes)
            pull_v(g * u + noise * noise_u, noise * (u + noise_u), slopes)

        return u * v, noise_u * v + u * noise_v + noise_u * noise_v, pull


@dataclass(frozen=True)
class Power(Expression):
    base: Expression
    exponent: float

    def __call__(self, theta: np.ndarray, A: Any, B: Any) -> tuple[Any, Pull]:
        u, pull_u = self.base(theta, A, B)
        p = self.exponent
        return u**p, lambda G, slopes: pull_u(G * (p * u ** (p - 1)), slopes)

    def diagonal(self, theta: np.ndarray, A: Any) -> tuple[Any, Any, DiagonalPull]:
        u, noise, pull_u = self.base.diagonal(theta, A)
        p, whole = self.exponent, u + noise

        def pull(g: Any, noise: Any, slopes: np.ndarray) -> None:
            steep = p * whole ** (p - 1)
            pull_u(g * p * u ** (p - 1) + noise * (steep - p * u ** (p - 1)), noise * steep, slopes)

        return u**p, whole**p - u**p, pull


def _places(kernel: Any, at: int) -> Iterator[Place]:
    """Places of a simple kernel's hyperparameters, in the order of their names."""
    for found in kernel.hyperparameters:
        value = getattr(kernel, found.name)
        value = (
            np.asarray(value, dtype=np.float64) if np.ndim(value) and np.size(value) > 1 else float(np.ravel(value)[0])
        )
        yield Place(at, found.n_elements, value, bool(found.fixed))
        at += 0 if found.fixed else found.n_elements


def expression(kernel: Any, at: int = 0) -> Expression | None:
    """A kernel of scikit-learn's as an `Expression` whose θ begin at a place; None where it is of a kind not known here."""
    kind: Any = type(kernel)
    if kind in (theirs.Sum, theirs.Product):
        left = expression(kernel.k1, at)
        right = left and expression(kernel.k2, at + kernel.k1.n_dims)
        joined: Any = Sum if kind is theirs.Sum else Product
        return joined(left, right) if left and right else None
    if kind is theirs.Exponentiation:
        base = expression(kernel.kernel, at)
        return base and Power(base, float(kernel.exponent))
    if kind is theirs.Matern:
        if kernel.nu == np.inf:
            return Gaussian(*_places(kernel, at))
        (length,) = _places(kernel, at)
        return Matern(length, kernel.nu) if kernel.nu in (0.5, 1.5, 2.5) else None
    if kind is theirs.RationalQuadratic:
        alpha, length = _places(kernel, at)
        return Quadratic(length, alpha)
    made: Any = SIMPLE.get(kind)
    return made and made(*_places(kernel, at))


SIMPLE = {
    theirs.ConstantKernel: Constant, theirs.WhiteKernel: Noise, theirs.DotProduct: Linear, theirs.RBF: Gaussian,
    theirs.ExpSineSquared: Periodic,
}  # fmt: skip
