"""Losses of boosting: functions of a target y and a prediction f, by their derivatives.

squared_error ½(f − y)², absolute_error |f − y|, huber (½ within δ, δ|·| − ½δ² beyond), quantile (τ or 1 − τ) |f − y|;
poisson eᶠ − y f and gamma f + y e⁻ᶠ, where f is the logarithm of the mean; log_loss log(1 + eᶠ) − y f and log Σ eᶠ − f_y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, log_softmax, logit, softmax

from ..kernels import lazy

__all__ = ["CLASSES", "NUMBERS", "Loss", "SoftmaxLoss", "loss_of", "middle"]

compiled = lazy("boosting")
NUMBERS = ("squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma")
CLASSES = ("log_loss",)
KINDS = {
    "squared_error": 0, "absolute_error": 1, "huber": 2, "quantile": 3, "poisson": 4, "gamma": 5, "log_loss": 6,
}  # fmt: skip
LEAST = np.finfo(float).eps


@dataclass(eq=False)
class Loss:
    """A loss of one prediction.

    Attributes
    ----------
    name : str
    setting : float
        The quantile; of Huber's loss the share of residuals that are taken as squares.
    delta : float
        δ of Huber's loss, which follows the residuals.
    """

    name: str
    setting: float = 0.5
    delta: float = 1.0
    n_outputs = 1

    @property
    def even(self) -> bool:
        """Whether the second derivative is 1 everywhere."""
        return self.name in NUMBERS[:4]

    @property
    def renews(self) -> bool:
        """Whether a leaf's value is looked for by its residuals, since two derivatives tell too little."""
        return self.name in NUMBERS[1:4]

    def start(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """The constant that fits best."""
        if self.renews:
            return np.array([middle(y, weight, self.setting if self.name == "quantile" else 0.5)])
        mean = np.average(y, weights=weight)
        if self.name == "log_loss":
            return np.array([logit(np.clip(mean, LEAST, 1 - LEAST))])
        return np.array([mean if self.name == "squared_error" else np.log(max(mean, LEAST))])

    def look(self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None, over: Any) -> Any:
        """What derivatives of a round need beside a row's own prediction; `over` runs a function of rows on threads."""
        if self.name == "huber":
            self.delta = max(middle(np.abs(y - raw[:, 0]), weight, self.setting), np.finfo(float).tiny)

    def slopes(self, k: int, seen: Any, y: Any, raw: Any, weight: Any, rows: slice, first: Any, second: Any) -> tuple:
        """Derivatives of some rows, written; the greatest of each."""
        setting = self.delta if self.name == "huber" else self.setting
        return compiled.slopes(
            KINDS[self.name], setting, y[rows], raw[rows, 0], weight[rows], first[rows], second[rows]
        )

    def renewed(self, residual: np.ndarray, weight: np.ndarray | None) -> float:
        """The step that suits residuals y − f of a leaf best."""
        if self.name != "huber":
            return middle(residual, weight, self.setting if self.name == "quantile" else 0.5)
        half = middle(residual, weight, 0.5)
        apart = residual - half
        return half + float(np.average(np.sign(apart) * np.minimum(self.delta, np.abs(apart)), weights=weight))

    def value(self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None) -> float:
        """The mean loss."""
        f = raw[:, 0]
        apart = f - y
        if self.name == "squared_error":
            found = 0.5 * apart**2
        elif self.name == "absolute_error":
            found = np.abs(apart)
        elif self.name == "huber":
            far = np.abs(apart) > self.delta
            found = np.where(far, self.delta * (np.abs(apart) - 0.5 * self.delta), 0.5 * apart**2)
        elif self.name == "quantile":
            found = np.where(apart > 0, 1 - self.setting, -self.setting) * apart
        elif self.name == "log_loss":
            found = np.logaddexp(0.0, f) - y * f
        else:
            found = np.exp(f) - y * f if self.name == "poisson" else f + y * np.exp(-f)
        return float(np.average(found, weights=weight))

    def answer(self, raw: np.ndarray) -> np.ndarray:
        """What is predicted: numbers, or probabilities of both classes."""
        f = raw[:, 0]
        if self.name == "log_loss":
            second = expit(f)
            return np.column_stack([1 - second, second])
        return np.exp(f) if self.name in ("poisson", "gamma") else f


@dataclass(eq=False)
class SoftmaxLoss(Loss):
    """The logistic loss of K classes, which have a prediction each."""

    n_outputs: int = 3
    even, renews = False, False  # type: ignore[assignment]

    def start(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        share = np.bincount(y.astype(int), weights=weight, minlength=self.n_outputs)
        log = np.log(np.clip(share / share.sum(), LEAST, 1 - LEAST))
        return log - log.mean()

    def look(self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None, over: Any) -> Any:
        return np.concatenate(over(lambda rows: softmax(raw[rows], axis=1)))

    def slopes(self, k: int, seen: Any, y: Any, raw: Any, weight: Any, rows: slice, first: Any, second: Any) -> tuple:
        return compiled.softmax_slopes(k, y[rows], seen[rows], weight[rows], first[rows], second[rows])

    def value(self, y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None) -> float:
        found = -log_softmax(raw, axis=1)[np.arange(len(y)), y.astype(int)]
        return float(np.average(found, weights=weight))

    def answer(self, raw: np.ndarray) -> np.ndarray:
        return softmax(raw, axis=1)


def loss_of(name: str, n_classes: int, setting: float) -> Loss:
    """The loss of that name; of a number of classes, 0 where targets are numbers."""
    return SoftmaxLoss(name, setting, n_outputs=n_classes) if n_classes > 2 else Loss(name, setting)


def middle(x: np.ndarray, weight: np.ndarray | None, share: float) -> float:
    """A quantile; between two values halfway where the share falls between them, of weights as of rows that occur so often."""
    if weight is None:
        n = len(x)
        if share == 0.5:
            return float(np.median(x))
        return float(np.quantile(x, share, method="averaged_inverted_cdf") if n else 0.0)
    order = np.argsort(x, kind="stable")
    x, below = x[order], np.cumsum(weight[order])
    wanted = share * below[-1]
    at = min(int(np.searchsorted(below, wanted * (1 - 1e-12))), len(x) - 1)
    if abs(below[at] - wanted) <= 1e-12 * wanted and at + 1 < len(x):
        return float(0.5 * (x[at] + x[at + 1]))
    return float(x[at])
