"""The posterior density of a model's parameters, in coordinates without constraints that are centred and of unit spread.

    log p(z) = log p(X | θ) + log p(θ) + log |∂θ/∂φ|,    θ = g(φ),   φ = φ̂ + L z,   L Lᵀ = (−∇² log p(φ̂))⁻¹

The gradient costs one E-step: by Fisher's identity ∇ log p(X | θ) is that of the expected log density of rows and what is hidden.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..engine import Model, SingularError
from ..engine.coordinates import Chart, Coordinates
from ..source import Source

__all__ = ["WEAK", "PosteriorDensity"]

WEAK = 5.0
"""Standard deviation of the weak prior, in coordinates whose unit is that of the data."""
MOST_DIFFERENCED = 15
"""Coordinates up to which the gradient is taken by differences where statistics do not give it."""
MOST_WHITENED = 200
STEP = 1e-4
BAD = (SingularError, np.linalg.LinAlgError, ValueError, FloatingPointError, ZeroDivisionError)


class PosteriorDensity:
    """Log density of parameters given rows, up to the evidence, of vectors z.

    Parameters
    ----------
    model : Model
    source : Source
        Rows.
    params : Arrays
        Where to start from; what has no coordinates is taken from it.
    weak : bool
        Whether what has no prior gets N(0, 5²) on its coordinates; else it has none.
    """

    def __init__(self, model: Model, source: Source, params: Any, weak: bool = False) -> None:
        self.model, self.source, self.weak = model, source, weak
        self.fitted = params
        self.view: Coordinates = model.coordinates(params)
        self.vague = ~self.view.proper
        self.size, self.n_passes = self.view.size, 0
        self.center, self.root = self.view.free(params), np.eye(self.size)

    # The density of coordinates φ

    def _told(self, vector: np.ndarray, slope: bool) -> tuple[float, Any]:
        """Log-likelihood and log prior of the parameters, and their gradient, which statistics and the prior tell."""
        params = self.view.bound(vector)
        self.n_passes += 1
        if isinstance(self.view, Chart):
            found = self.source.sum(partial(self.model.slope, params))
            return float(found.loglik + self.model.log_prior(params)), found.gradient + self.model.prior_slope(params)[
                0
            ]
        stats = self.source.sum(partial(self.model.e_step, params))
        value = float(stats.loglik + self.model.log_prior(params))
        if not slope:
            return value, None
        likely = self.model.score(stats, params)
        try:
            return value, self.view.pull(vector, added(likely, self.model.prior_score(params)))
        except NotImplementedError:
            rise = self.view.pull(vector, likely)
            return value, rise + _differences(lambda v: float(self.model.log_prior(self.view.bound(v))), vector)

    def _volume(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """What coordinates add to the log density, and its gradient: the volume, or the weak prior where there is no other."""
        value, rise = self.view.log_volume_of_prior(vector)
        if self.weak:
            weak = np.where(self.vague, vector / WEAK, 0.0)
            value -= 0.5 * float(weak @ weak) + self.vague.sum() * np.log(WEAK * np.sqrt(2 * np.pi))
            rise = rise - weak / WEAK
        return value, rise

    @cached_property
    def how(self) -> str:
        """How the gradient is found: "statistics", "differences" or "none"."""
        try:
            self._told(self.center, True)
            return "statistics"
        except NotImplementedError:
            return "differences" if self.size <= MOST_DIFFERENCED else "none"

    def at(self, vector: np.ndarray, slope: bool = True) -> tuple[float, np.ndarray]:
        """Log density and gradient of coordinates φ; −∞ where the model has none."""
        nothing = -np.inf, np.zeros(self.size)
        with np.errstate(all="ignore"):
            try:
                told = slope and self.how == "statistics"
                value, rise = self._told(vector, told)
                if slope and not told:
                    rise = _differences(lambda v: self._told(v, False)[0], vector)
            except BAD:
                return nothing
        volume, more = self._volume(vector)
        value += volume
        if not slope:
            return (value, nothing[1]) if np.isfinite(value) else nothing
        rise = rise + more
        return (value, rise) if np.isfinite(value) and np.isfinite(rise).all() else nothing

    # The density of z

    def centre(self) -> None:
        """Climb to the maximum, and measure lengths by the curvature there."""
        if not self.size:
            return
        if self.how == "none":
            self.root = self.root * 0.1
            return

        def fall(z: np.ndarray) -> tuple[float, np.ndarray]:
            value, rise = self.at(z)
            return (-value, -rise) if np.isfinite(value) else (1e300, rise)

        found = minimize(fall, self.center, jac=True, method="L-BFGS-B", options={"maxiter": 200})
        if np.isfinite(found.fun) and found.fun < 1e299:
            self.center = found.x
        if self.size > MOST_WHITENED:
            self.root = self.root / np.sqrt(max(float(np.mean(np.abs(np.diag(self._curvature(8))))), 0.04))
            return
        curvature = self._curvature(self.size)
        value, axes = np.linalg.eigh(0.5 * (curvature + curvature.T))
        self.root = axes / np.sqrt(np.clip(value, 1.0 / WEAK**2, 1e12))

    def _curvature(self, n: int) -> np.ndarray:
        """−∇² of the log density at the centre, of its first coordinates."""
        steps = STEP * np.eye(self.size)[:n]
        found = [self.at(self.center - step)[1] - self.at(self.center + step)[1] for step in steps]
        return np.array(found)[:, :n] / (2 * STEP)

    def vector(self, z: np.ndarray) -> np.ndarray:
        """Coordinates φ of z, for one or several."""
        return self.center + np.asarray(z) @ self.root.T

    def params(self, z: np.ndarray) -> Any:
        """Parameters of z."""
        return self.view.bound(self.vector(z))

    def __call__(self, z: np.ndarray) -> float:
        return self.at(self.vector(z), slope=False)[0]

    def value_and_gradient(self, z: np.ndarray) -> tuple[float, np.ndarray]:
        """Log density and gradient."""
        value, rise = self.at(self.vector(z))
        return value, rise @ self.root

    @property
    def log_stretch(self) -> float:
        """Log |∂φ/∂z|."""
        return float(np.linalg.slogdet(self.root)[1])

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """A z about the centre, where there is a density."""
        for spread in 1.0 / np.arange(1, 20):
            z = spread * rng.standard_normal(self.size)
            if np.isfinite(self(z)):
                return z
        return np.zeros(self.size)


def added(slope: Any, more: Any) -> Any:
    """The sum of two gradients by field, of which None is 0."""
    if slope is None or more is None:
        return more if slope is None else slope
    if isinstance(slope, dict):
        return {name: added(value, more.get(name)) for name, value in slope.items()}
    if isinstance(slope, list):
        return [added(*pair) for pair in zip(slope, more)]
    return slope + more


def _differences(function: Any, vector: np.ndarray) -> np.ndarray:
    """The gradient of a function by central differences."""
    steps = 1e-5 * np.eye(len(vector))
    return np.array([(function(vector + step) - function(vector - step)) / 2e-5 for step in steps])
