"""Fewer steps: extrapolate the path of EM, and step back where that goes too far.

EM is a fixed-point iteration θ ← G(θ). With f(θ) = G(θ) − θ on an unconstrained view of the parameters,

    Anderson:  θ' = G(θ) − (ΔΘ + ΔF) γ,    γ = argmin ‖f(θ) − ΔF γ‖²    over the last few steps
    SQUAREM:   θ' = θ₀ − 2αr + α²v,         r = f(θ₀), v = f(θ₁) − r, α = −‖r‖/‖v‖

An extrapolated point with a lower objective is dropped, and plain EM goes on from the last good one: the objective never
decreases. Each rejection costs one pass, so attempts are rationed by how often they failed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .model import Model

__all__ = ["ACCELERATORS", "Anderson", "Plain", "Squarem", "accelerator"]


class Plain:
    """EM as it is."""

    extrapolated = False
    image: Any = None

    def advance(self, params: Any, image: Any, gain: float) -> Any:
        """Where to go from `params`, whose M-step led to `image`, after a step that gained `gain`."""
        return image

    def retreat(self) -> Any:
        """Where to go instead of the last extrapolation."""
        raise AssertionError("plain EM never retreats")

    def accept(self) -> None:
        """The last extrapolation was measured and is good."""
        self.extrapolated = False

    def safe(self, params: Any) -> Any:
        """`params`, or what stands in for them if they are an extrapolation not yet measured."""
        return self.image if self.extrapolated else params

    def state(self, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        """What must be remembered to go on after a restart, as JSON; arrays are added to `arrays`."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a remembered state."""


class Accelerator(Plain):
    """What accelerators share: when to try, and what to do when a try fails.

    Parameters
    ----------
    model : Model
        Has ``free(params)`` and ``bound(vector, params)``.
    patient : bool
        Wait until gains shrink slowly, so that fits that converge by themselves in a few steps are left alone.
    """

    def __init__(self, model: Model, *, patient: bool = True):
        self.model = model
        self.extrapolated = False
        self.waiting = patient
        self.gains: list[float] = []
        self.tries = self.failures = 0
        self.clear()

    def clear(self) -> None:
        """Forget the path."""
        raise NotImplementedError

    def propose(self, x: np.ndarray, image_x: np.ndarray) -> np.ndarray | None:
        """An extrapolated vector from a point and its image, or None to take the plain step."""
        raise NotImplementedError

    def advance(self, params: Any, image: Any, gain: float) -> Any:
        self.gains = [*self.gains[-2:], gain]
        self.extrapolated = False
        if self.waiting and not self._slow():
            return image
        self.waiting = False
        # A failed try costs a pass: at most about one in eight may fail before tries are made more rarely.
        if self.failures > 3 + self.tries / 8:
            self.tries += 1
            return image
        vector = self.propose(self.model.free(params.on_host()), self.model.free(image.on_host()))
        if vector is None:
            return image
        self.tries += 1
        self.image = image
        try:
            with np.errstate(all="ignore"):  # a leap that overflows is one that is dropped
                params = self.model.bound(vector, image.on_host())
        except ValueError:  # singular, or no number at all
            return self.retreat()
        if _overflowed(params, image):
            return self.retreat()
        self.extrapolated = True
        return params

    scalars: tuple[str, ...] = ("extrapolated", "waiting", "gains", "tries", "failures")
    vectors: tuple[str, ...] = ()

    def state(self, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
        names = [name for name in self.vectors if len(getattr(self, name))]
        arrays.update({f"step.{name}": np.array(getattr(self, name)) for name in names})
        if self.extrapolated:
            arrays.update({f"image.{name}": value for name, value in self.image.to_dict().items()})
        return {"names": names, "image": self.extrapolated, **{name: getattr(self, name) for name in self.scalars}}

    def restore(self, state: dict[str, Any]) -> None:
        if not state:
            return
        for name in self.scalars:
            setattr(self, name, state[name])
        for name, value in state["arrays"].items():
            setattr(self, name, list(value))
        if state["image"]:
            self.image = state["image"]

    def _slow(self) -> bool:
        if len(self.gains) < 3 or not np.isfinite(self.gains).all():
            return False
        a, b, c = self.gains
        return a > 0 and b > 0.7 * a and c > 0.7 * b

    def retreat(self) -> Any:
        self.failures += 1
        self.extrapolated = False
        self.clear()
        return self.image


def _overflowed(params: Any, image: Any) -> bool:
    """Whether parameters are no numbers where those of the image are."""
    before = image.to_dict()
    return any((~np.isfinite(value) & np.isfinite(before[name])).any() for name, value in params.to_dict().items())


class Anderson(Accelerator):
    """Anderson acceleration with a ridge that grows after a failure.

    References
    ----------
    Henderson and Varadhan (2019), Damped Anderson acceleration with restarts and monotonicity control for accelerating EM.
    """

    order = 10
    scalars = (*Accelerator.scalars, "ridge")
    vectors = ("path", "steps")

    def clear(self) -> None:
        self.path: list[np.ndarray] = []
        self.steps: list[np.ndarray] = []

    def __init__(self, model: Model, **settings: Any):
        self.ridge = 1e-6
        super().__init__(model, **settings)

    def propose(self, x: np.ndarray, image_x: np.ndarray) -> np.ndarray | None:
        if self.path:
            self.ridge = max(self.ridge / 4, 1e-10)
        self.path = [*self.path[-self.order :], x]
        self.steps = [*self.steps[-self.order :], image_x - x]
        if len(self.path) < 2:
            return None
        moved = np.diff(self.path, axis=0).T
        turned = np.diff(self.steps, axis=0).T
        size = np.sqrt((turned**2).sum(axis=0))
        size[size == 0] = 1.0
        gram = (turned / size).T @ (turned / size) + self.ridge * np.eye(len(size))
        weight = np.linalg.solve(gram, (turned / size).T @ self.steps[-1]) / size
        return image_x - (moved + turned) @ weight

    def retreat(self) -> Any:
        self.ridge = min(self.ridge * 100, 1.0)
        return super().retreat()


class Squarem(Accelerator):
    """Squared extrapolation, two plain steps and a jump.

    References
    ----------
    Varadhan and Roland (2008), Simple and globally convergent methods for accelerating the convergence of any EM algorithm.
    """

    scalars = (*Accelerator.scalars, "longest")
    vectors = ("start",)

    def clear(self) -> None:
        self.start: Any = []
        self.longest = 4.0

    def propose(self, x: np.ndarray, image_x: np.ndarray) -> np.ndarray | None:
        if not len(self.start):
            self.start = x
            return None
        start, self.start = np.asarray(self.start), []
        first, second = x - start, image_x - x
        curve = second - first
        length = float(np.linalg.norm(first)) / max(float(np.linalg.norm(curve)), 1e-300)
        length = float(np.clip(length, 1.0, self.longest))
        self.longest = 4.0 * self.longest if length == self.longest else self.longest
        return start + 2.0 * length * first + length**2 * curve


ACCELERATORS: dict[str, type[Accelerator]] = {"anderson": Anderson, "squarem": Squarem}


def accelerator(name: str | None, model: Model) -> Plain:
    """The accelerator of that name: "auto" waits until it pays, None and "off" are plain EM."""
    if name not in (None, "off", "auto", *ACCELERATORS):
        raise ValueError(f"accelerate={name!r} is unknown; use 'auto', {', '.join(map(repr, ACCELERATORS))} or None.")
    if name in (None, "off") or not model.extrapolates:
        return Plain()
    return ACCELERATORS["anderson" if name == "auto" else str(name)](model, patient=name == "auto")
