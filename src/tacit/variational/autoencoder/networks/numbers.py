"""Heads of numbers.

Gaussian:  x = centre + unit (η + σ ε), of measurements or of the logarithms of positive cells
Student:   the same with ε of a Student t, for measurements with wild cells
Poisson:   x ~ Poisson(exp(η + base));    NegativeBinomial: with this mean and size r
Gamma:     x ~ Gamma with mean unit · exp(η) and shape a
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....families import LogNormal
from ....families.laws import Law, LogNormalLaw, NormalLaw, ScipyLaw, StudentLaw
from . import torch
from .head import Head, spread

__all__ = ["CountHead", "GammaHead", "GaussianHead", "StudentHead"]

LEAST_NOISE = 1e-3
"""Of a column's deviation: smaller noise would be a density without limit."""
MOST_RATE = 30.0
"""Largest logarithm of a mean."""
STILL = 1e-6
"""Noise of constant columns, relative to their value."""


class GaussianHead(Head):
    """Measurements, or positive cells by their logarithms.

    Parameters
    ----------
    family, columns, frame
        As in `Head`.
    noise : {"column", "shared", "cell"}
        Whether σ is a column's own, the same of all columns, or an output.
    """

    def __init__(self, family: Any, columns: Sequence[int], frame: dict[str, np.ndarray], noise: str = "column"):
        # Nothing is learned of a constant column: its noise is fixed.
        fixed = frame["unit"] == 0
        unit = np.where(fixed, STILL * np.maximum(np.abs(frame["centre"]), 1.0), frame["unit"])
        super().__init__(family, columns, {"centre": frame["centre"], "unit": frame["unit"]})
        self.unit, self.logged, self.by_cell = unit, isinstance(family, LogNormal), noise == "cell"
        d = len(self.columns)
        self.register_buffer("fixed", torch.as_tensor(fixed) if fixed.any() else None, persistent=False)
        if self.by_cell:
            self.n_out = 2 * d
        else:
            self.log_noise = torch.nn.Parameter(torch.zeros(1 if noise == "shared" else d))

    @classmethod
    def learn(cls, family: Any, X: np.ndarray, whole: bool) -> dict[str, np.ndarray]:
        return spread(np.log(X) if isinstance(family, LogNormal) else X, whole)

    def code(self, X: np.ndarray) -> np.ndarray:
        return ((np.log(X) if self.logged else X) - self.frame["centre"]) / self.unit

    def jacobian(self, X: np.ndarray) -> np.ndarray:
        flat = np.broadcast_to(-np.log(self.unit), X.shape)
        return flat - np.log(X) if self.logged else flat

    def features(self, x: Any) -> Any:
        return x

    def split(self, eta: Any) -> tuple[Any, Any]:
        """Means and log σ."""
        mean, log_noise = eta.chunk(2, -1) if self.by_cell else (eta, self.log_noise)
        if self.fixed is not None:
            log_noise = torch.where(self.fixed, torch.zeros_like(log_noise), log_noise)
        return mean, log_noise.clamp(min=math.log(LEAST_NOISE))

    def cells(self, eta: Any, x: Any) -> Any:
        mean, log_noise = self.split(eta)
        return -0.5 * ((x - mean) * torch.exp(-log_noise)).square() - (log_noise + 0.5 * math.log(2.0 * math.pi))

    def information(self, eta: Any) -> Any:
        mean, log_noise = self.split(eta)
        own = torch.exp(-2.0 * log_noise).expand(mean.shape)
        return torch.cat([own, torch.full_like(own, 2.0)], -1) if self.by_cell else own

    def seen_outputs(self, seen: Any) -> Any:
        return torch.cat([seen, seen], -1) if self.by_cell else seen

    def law(self, eta: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Law:
        mean, log_noise = self.split(torch.as_tensor(eta))
        noise = torch.exp(log_noise).detach().expand(mean.shape).numpy()
        unit, centre = self._at(self.unit, columns), self._at(self.frame["centre"], columns)
        place, width = (value[:, rows, columns].T * unit for value in (mean.numpy(), noise))
        return self.made(place + centre, width, columns)

    def made(self, place: np.ndarray, width: np.ndarray, columns: np.ndarray) -> Law:
        """The law with these places and widths."""
        return (LogNormalLaw if self.logged else NormalLaw)(place, width**2)

    def begin(self, left: np.ndarray) -> None:
        if self.by_cell:
            return
        value = np.log(np.clip(left, 0.01, 1.0)) / 2.0
        with torch.no_grad():
            self.log_noise.copy_(torch.as_tensor(value if len(self.log_noise) == len(value) else [value.mean()]))


class StudentHead(GaussianHead):
    """Measurements with wild cells; degrees of freedom are learned by column."""

    def __init__(self, *given: Any, **settings: Any):
        super().__init__(*given, **settings)
        self.log_df = torch.nn.Parameter(torch.full((len(self.columns),), math.log(8.0)))

    @property
    def df(self) -> Any:
        """Degrees of freedom."""
        return torch.exp(self.log_df.clamp(0.0, 6.0))

    def cells(self, eta: Any, x: Any) -> Any:
        mean, log_noise = self.split(eta)
        df = self.df
        unit = torch.lgamma(0.5 * (df + 1.0)) - torch.lgamma(0.5 * df) - 0.5 * torch.log(math.pi * df)
        return unit - log_noise - 0.5 * (df + 1.0) * torch.log1p(((x - mean) * torch.exp(-log_noise)).square() / df)

    def information(self, eta: Any) -> Any:
        own = super().information(eta)
        share = (self.df + 1.0) / (self.df + 3.0)
        return own * (torch.cat([share, share]) if self.by_cell else share)

    def made(self, place: np.ndarray, width: np.ndarray, columns: np.ndarray) -> Law:
        return StudentLaw(place, width, np.broadcast_to(self._at(self.df, columns), place.shape))


class CountHead(Head):
    """Counts: Poisson, or negative binomial with a size of each column."""

    frames = Head.frames | {"base": "d"}

    def __init__(self, family: Any, columns: Sequence[int], frame: dict[str, np.ndarray]):
        super().__init__(family, columns, frame)
        self.slope = frame["unit"]
        if type(family).__name__ == "NegativeBinomial":
            self.log_size = torch.nn.Parameter(torch.ones(len(self.columns)))

    @classmethod
    def learn(cls, family: Any, X: np.ndarray, whole: bool) -> dict[str, np.ndarray]:
        found = spread(np.log1p(X), whole)
        found["unit"] = np.where(found["unit"] > 0, found["unit"], 1.0)
        mean = np.nansum(X, axis=0) / np.maximum((~np.isnan(X)).sum(axis=0), 1)
        return found | {"base": np.log(np.maximum(mean, 1e-3))}

    def features(self, x: Any) -> Any:
        return (torch.log1p(x) - self._centre) / self._unit

    def rate(self, eta: Any) -> Any:
        """Logarithms of the means."""
        return (eta + self._base).clamp(max=MOST_RATE)

    def _size(self) -> Any:
        return self.log_size.clamp(-5.0, 10.0)

    def cells(self, eta: Any, x: Any) -> Any:
        log_mean = self.rate(eta)
        if not hasattr(self, "log_size"):
            return x * log_mean - torch.exp(log_mean) - torch.lgamma(x + 1.0)
        log_size = self._size()
        size, both = torch.exp(log_size), torch.logaddexp(log_size.expand(log_mean.shape), log_mean)
        return (
            torch.lgamma(x + size) - torch.lgamma(size) - torch.lgamma(x + 1.0)
            + size * (log_size - both) + x * (log_mean - both)
        )  # fmt: skip

    def information(self, eta: Any) -> Any:
        mean = torch.exp(self.rate(eta))
        return mean if not hasattr(self, "log_size") else mean / (1.0 + mean / torch.exp(self._size()))

    def law(self, eta: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Law:
        base = self._at(self.frame["base"], columns)
        mean = np.exp(np.minimum(eta[:, rows, columns].T + base, MOST_RATE))
        if not hasattr(self, "log_size"):
            return ScipyLaw(mean, mean, "poisson", mu=mean)
        size = np.broadcast_to(self._at(torch.exp(self._size()), columns), mean.shape)
        return ScipyLaw(mean, mean + mean**2 / size, "nbinom", n=size, p=size / (size + mean))


class GammaHead(Head):
    """Positive cells with a shape of each column, which is 1 of exponential ones."""

    frames = Head.frames | {"mean": "d"}
    blank = 1.0

    def __init__(self, family: Any, columns: Sequence[int], frame: dict[str, np.ndarray]):
        super().__init__(family, columns, frame)
        self.slope = frame["unit"]
        if type(family).__name__ == "Gamma":
            self.log_shape = torch.nn.Parameter(torch.ones(len(self.columns)))

    @classmethod
    def learn(cls, family: Any, X: np.ndarray, whole: bool) -> dict[str, np.ndarray]:
        mean = np.nansum(X, axis=0) / np.maximum((~np.isnan(X)).sum(axis=0), 1)
        found = spread(np.log(np.maximum(X, np.finfo(float).tiny) / mean), whole)
        found["unit"] = np.where(found["unit"] > 0, found["unit"], 1.0)
        return found | {"mean": mean}

    def code(self, X: np.ndarray) -> np.ndarray:
        return np.maximum(X, np.finfo(np.float32).tiny) / self.frame["mean"]

    def jacobian(self, X: np.ndarray) -> np.ndarray:
        return np.broadcast_to(-np.log(self.frame["mean"]), X.shape)

    def features(self, x: Any) -> Any:
        return (torch.log(x) - self._centre) / self._unit

    def _shape(self) -> Any:
        return self.log_shape.clamp(-5.0, 10.0).exp() if hasattr(self, "log_shape") else torch.ones_like(self._unit)

    def cells(self, eta: Any, x: Any) -> Any:
        shape, eta = self._shape(), eta.clamp(-MOST_RATE, MOST_RATE)
        unit = shape * torch.log(shape) - torch.lgamma(shape)
        return unit + (shape - 1.0) * torch.log(x) - shape * (eta + x * torch.exp(-eta))

    def information(self, eta: Any) -> Any:
        return self._shape().expand(eta.shape)

    def law(self, eta: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Law:
        mean = np.exp(np.clip(eta[:, rows, columns].T, -MOST_RATE, MOST_RATE)) * self._at(self.frame["mean"], columns)
        shape = np.broadcast_to(self._at(self._shape(), columns), mean.shape)
        return ScipyLaw(mean, mean**2 / shape, "gamma", a=shape, scale=mean / shape)
