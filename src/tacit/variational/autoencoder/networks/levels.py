"""Heads of levels and of cycles.

Binary:    P(x = 1) = σ(η + base)
Levels:    P(x = l) ∝ exp(η_l + base_l)
Ordered:   P(x ≤ l) = σ(c_l − η), cut points c by column
Cyclic:    log p(x) = η_1 cos θ + η_2 sin θ − log A(η),    θ = 2π x / period
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....families.cyclic import CyclicLaw, placed
from ....families.laws import CellLaw, Law, OrderedLaw
from . import torch
from .head import Head, spread

__all__ = ["BinaryHead", "CyclicHead", "LevelHead", "OrderedHead"]

LEAST_SHARE = 0.01
"""Of a level, where outputs begin."""
FAR = 1e4
"""A cut point beyond all others."""
MOST = 500.0
"""Largest concentration of a cycle."""


class OrderedCellLaw(OrderedLaw, CellLaw):
    """Levels in an order whose probabilities differ from cell to cell."""


class CyclicCellLaw(CyclicLaw):
    """Places on cycles whose probabilities differ from cell to cell."""

    def __init__(self, share: list, columns: np.ndarray, cycles: list, between: np.ndarray) -> None:
        super().__init__(share, columns, cycles)
        self.between = between  # whether cells may lie between the points

    def levels(self, column: int, weight: np.ndarray) -> np.ndarray:
        here = self.columns == column
        return np.einsum("mk,mkl->ml", weight[here], self.shares[column])

    def drawn(self, weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Places, drawn for every cell."""
        codes, out = super().drawn(weight, rng), np.empty(len(weight))
        for j in np.unique(self.columns):
            here, (period, origin, points) = self.columns == j, self.cycles[j]
            between = (rng.random(here.sum()) - 0.5) * period / len(points) * self.between[j]
            out[here] = placed(points[codes[here].astype(int)] + between, origin, period)
        return out


def shares(X: np.ndarray, n_levels: Sequence[int]) -> np.ndarray:
    """Shares of the levels of columns, side by side."""
    counts = [np.bincount(x[~np.isnan(x)].astype(int), minlength=n)[:n] + 0.5 for x, n in zip(X.T, n_levels)]
    return np.concatenate([count / count.sum() for count in counts])


class BinaryHead(Head):
    """Cells of two levels, coded 0 and 1."""

    frames = {"share": "d"}  # noqa: RUF012

    def __init__(self, family: Any, columns: Sequence[int], frame: dict[str, np.ndarray]):
        super().__init__(family, columns, frame)
        p = np.clip(frame["share"], LEAST_SHARE, 1.0 - LEAST_SHARE)
        self.base, self.spread = np.log(p / (1.0 - p)), np.sqrt(p * (1.0 - p))
        for name in ("base", "spread"):
            value = torch.as_tensor(getattr(self, name), dtype=torch.get_default_dtype())
            self.register_buffer(f"_{name}", value, persistent=False)
        self.slope = 1.0 / self.spread

    @classmethod
    def learn(cls, family: Any, X: np.ndarray, whole: bool) -> dict[str, np.ndarray]:
        return {"share": (np.nansum(X, axis=0) + 0.5) / ((~np.isnan(X)).sum(axis=0) + 1.0)}

    def features(self, x: Any) -> Any:
        return (x - self._share) / self._spread

    def cells(self, eta: Any, x: Any) -> Any:
        logit = eta + self._base
        return x * logit - torch.nn.functional.softplus(logit)

    def information(self, eta: Any) -> Any:
        p = torch.sigmoid(eta + self._base)
        return p * (1.0 - p)

    def law(self, eta: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Law:
        p = 1.0 / (1.0 + np.exp(-(eta[:, rows, columns].T + self._at(self.base, columns))))
        return CellLaw(np.stack([1.0 - p, p], axis=2), columns, (2,) * len(self.columns))


class LevelHead(Head):
    """Cells of any number of levels."""

    frames = {"share": "l"}  # noqa: RUF012

    def __init__(self, family: Any, columns: Sequence[int], frame: dict[str, np.ndarray]):
        super().__init__(family, columns, frame)
        self.n_levels = n = np.array(family.n_levels)
        self.n_out = self.n_features = int(n.sum())
        p = np.clip(frame["share"], LEAST_SHARE, 1.0 - LEAST_SHARE)
        first = np.cumsum(n) - n
        self.place = np.minimum(first[:, None] + np.arange(n.max()), self.n_out - 1)
        self.past = np.arange(n.max()) >= n[:, None]
        made = {"base": np.log(p), "spread": np.sqrt(p * (1.0 - p))}
        for name, value in made.items():
            self.register_buffer(f"_{name}", torch.as_tensor(value, dtype=torch.get_default_dtype()), persistent=False)
        whole = {"column": np.repeat(np.arange(len(n)), n), "level": np.arange(self.n_out) - np.repeat(first, n)}
        for name, value in (whole | {"places": self.place, "beyond": self.past}).items():
            self.register_buffer(f"_{name}", torch.as_tensor(value), persistent=False)
        self.slope = made["spread"] / p

    @classmethod
    def learn(cls, family: Any, X: np.ndarray, whole: bool) -> dict[str, np.ndarray]:
        return {"share": shares(X, family.n_levels)}

    def features(self, x: Any) -> Any:
        return ((x[..., self._column] == self._level).to(x.dtype) - self._share) / self._spread

    def seen_features(self, seen: Any) -> Any:
        return seen[..., self._column]

    seen_outputs = seen_features

    def log_shares(self, eta: Any) -> Any:
        """Log probabilities of levels, (…, rows, columns, most levels)."""
        logits = (eta + self._base)[..., self._places].masked_fill(self._beyond, -FAR)
        return torch.log_softmax(logits, -1)

    def cells(self, eta: Any, x: Any) -> Any:
        log_share = self.log_shares(eta)
        code = x.long().expand(log_share.shape[:-1])
        return log_share.gather(-1, code[..., None])[..., 0]

    def information(self, eta: Any) -> Any:
        return self.log_shares(eta)[..., self._column, self._level].exp()

    def centred(self, slopes: Any, eta: Any) -> Any:
        p = self.information(eta)[..., None]
        mean = slopes.new_zeros((*slopes.shape[:-2], len(self.columns), slopes.shape[-1]))
        mean.index_add_(-2, self._column, p * slopes)
        return slopes - mean[..., self._column, :]

    def law(self, eta: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Law:
        logits = (torch.as_tensor(eta) + self._base.double().cpu()).numpy()[:, rows[:, None], self.place[columns]]
        logits = np.where(self.past[columns], -FAR, logits)
        share = np.exp(logits - logits.max(axis=2, keepdims=True))
        share = np.moveaxis(share / share.sum(axis=2, keepdims=True), 0, 1)
        return CellLaw(share, columns, tuple(self.n_levels.tolist()))


class OrderedHead(Head):
    """Cells of levels in an order."""

    frames = Head.frames | {"share": "l"}

    def __init__(self, family: Any, columns: Sequence[int], frame: dict[str, np.ndarray]):
        super().__init__(family, columns, frame)
        self.n_levels = n = np.array(family.n_levels)
        self.slope = np.full(len(self.columns), math.pi / math.sqrt(3.0))
        most = max(int(n.max()) - 1, 1)
        cuts = np.tile(np.arange(most, dtype=float), (len(n), 1))
        for j, share in enumerate(np.split(frame["share"], np.cumsum(n)[:-1])):
            below = np.clip(np.cumsum(share)[:-1], 1e-3, 1.0 - 1e-3)
            cuts[j, : len(below)] = np.log(below / (1.0 - below))
        gaps = np.maximum(np.diff(cuts, axis=1), 1e-2)
        self.first = torch.nn.Parameter(torch.as_tensor(cuts[:, :1], dtype=torch.get_default_dtype()))
        self.log_gaps = torch.nn.Parameter(torch.as_tensor(np.log(gaps), dtype=torch.get_default_dtype()))
        self.register_buffer("_none", torch.as_tensor(np.arange(most) >= n[:, None] - 1), persistent=False)

    @classmethod
    def learn(cls, family: Any, X: np.ndarray, whole: bool) -> dict[str, np.ndarray]:
        found = spread(X, whole)
        found["unit"] = np.where(found["unit"] > 0, found["unit"], 1.0)
        return found | {"share": shares(X, family.n_levels)}

    def features(self, x: Any) -> Any:
        return (x - self._centre) / self._unit

    def log_shares(self, eta: Any) -> Any:
        """Log probabilities of levels, (…, rows, columns, most levels)."""
        gaps = torch.exp(self.log_gaps.clamp(-10.0, 4.0))
        cuts = torch.cat([self.first, self.first + gaps.cumsum(1)], 1).masked_fill(self._none, FAR)
        end = torch.full_like(self.first, FAR)
        above, below = (torch.cat(part, 1) - eta[..., None] for part in ((cuts, end), (-end, cuts)))
        between = torch.log(-torch.expm1((below - above).clamp(max=-1e-6)))
        log_sigmoid = torch.nn.functional.logsigmoid
        return (log_sigmoid(above) + log_sigmoid(-below) + between).clamp(min=-100.0)

    def cells(self, eta: Any, x: Any) -> Any:
        log_share = self.log_shares(eta)
        code = x.long().expand(log_share.shape[:-1])
        return log_share.gather(-1, code[..., None])[..., 0]

    def information(self, eta: Any) -> Any:
        p = self.log_shares(eta).exp()
        below = p.cumsum(-1).clamp(0.0, 1.0)
        slope = below * (1.0 - below)
        change = torch.diff(slope, dim=-1, prepend=torch.zeros_like(slope[..., :1]))
        return (change.square() / p.clamp(min=1e-6)).sum(-1)

    def law(self, eta: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Law:
        log_share = self.log_shares(torch.as_tensor(eta)).detach().numpy()
        share = np.moveaxis(np.exp(log_share[:, rows, columns]), 0, 1)
        return OrderedCellLaw(share / share.sum(axis=2, keepdims=True), columns, tuple(self.n_levels.tolist()))


class CyclicHead(Head):
    """Cells that go around a cycle."""

    frames = {"mean": "2d"}  # noqa: RUF012

    def __init__(self, family: Any, columns: Sequence[int], frame: dict[str, np.ndarray]):
        super().__init__(family, columns, frame)
        d = len(self.columns)
        self.n_out = self.n_features = 2 * d
        self.cycles = family._cycles(d)
        self.slope = np.full(2 * d, 2.0)
        self.register_buffer(
            "_period",
            torch.as_tensor([c[0] for c in self.cycles], dtype=torch.get_default_dtype()),
            persistent=False,
        )

    @classmethod
    def learn(cls, family: Any, X: np.ndarray, whole: bool) -> dict[str, np.ndarray]:
        turn = 2.0 * np.pi * X / family.period
        count = np.maximum((~np.isnan(X)).sum(axis=0), 1)
        return {"mean": np.concatenate([np.nansum(f(turn), axis=0) / count for f in (np.cos, np.sin)])}

    def _circle(self, x: Any) -> Any:
        turn = x * (2.0 * math.pi / self._period)
        return torch.cat([torch.cos(turn), torch.sin(turn)], -1)

    def features(self, x: Any) -> Any:
        return math.sqrt(2.0) * (self._circle(x) - self._mean)

    def seen_features(self, seen: Any) -> Any:
        return torch.cat([seen, seen], -1)

    seen_outputs = seen_features

    def _kappa(self, eta: Any) -> tuple[Any, Any]:
        cos, sin = (eta + 2.0 * self._mean).chunk(2, -1)
        least = (MOST / (cos.square() + sin.square() + 1e-12).sqrt()).clamp(max=1.0)
        return cos * least, sin * least

    def _grid(self, eta: Any, j: int) -> Any:
        """Log densities, but for a constant, on the grid of a column."""
        cos, sin = self._kappa(eta)
        turn = 2.0 * math.pi * torch.arange(len(self.cycles[j][2]), dtype=eta.dtype, device=eta.device)
        turn = turn / len(self.cycles[j][2])
        return cos[..., j, None] * torch.cos(turn) + sin[..., j, None] * torch.sin(turn)

    def cells(self, eta: Any, x: Any) -> Any:
        cos, sin = self._kappa(eta)
        total = torch.stack(
            [
                torch.logsumexp(self._grid(eta, j), -1) + math.log(period / len(points))
                for j, (period, _, points) in enumerate(self.cycles)
            ],
            -1,
        )
        turn = x * (2.0 * math.pi / self._period)
        return cos * torch.cos(turn) + sin * torch.sin(turn) - total

    def information(self, eta: Any) -> Any:
        found = []
        for j, (_, _, points) in enumerate(self.cycles):
            p = torch.softmax(self._grid(eta, j), -1)
            turn = 2.0 * math.pi * torch.arange(len(points), dtype=eta.dtype, device=eta.device) / len(points)
            each = [((p * f.square()).sum(-1) - (p * f).sum(-1).square()) for f in (torch.cos(turn), torch.sin(turn))]
            found.append(torch.stack(each, -1))
        return torch.cat(torch.stack(found, -2).unbind(-1), -1)

    def law(self, eta: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Law:
        share = []
        for j in range(len(self.columns)):
            here = torch.as_tensor(eta[:, rows[columns == j]])
            share.append(np.moveaxis(torch.softmax(self._grid(here, j), -1).detach().numpy(), 0, 1))
        steps = np.broadcast_to(self.family.steps, len(self.columns))
        return CyclicCellLaw(share, columns, self.cycles, steps == 0)
