"""`Network`: encoder, decoder and heads.

    z | x ~ N(A f(x) + encoder MLP(f(x), missing), diag),    η = B z + b + decoder MLP(z),    x_j | z ~ p_j(η_j)

Linear maps run beside the hidden layers, which begin as nothing: training starts at the linear model.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ....families import Product
from . import torch
from .head import Head
from .levels import BinaryHead, CyclicHead, LevelHead, OrderedHead
from .numbers import CountHead, GammaHead, GaussianHead, StudentHead

__all__ = ["HEADS", "Network", "frames_of", "heads_of"]

HEADS: dict[str, type[Head]] = {
    "DiagonalGaussian": GaussianHead, "LogNormal": GaussianHead, "StudentT": StudentHead, "Poisson": CountHead,
    "NegativeBinomial": CountHead, "Gamma": GammaHead, "Exponential": GammaHead, "Bernoulli": BinaryHead,
    "Categorical": LevelHead, "Ordinal": OrderedHead, "VonMises": CyclicHead,
}  # fmt: skip
"""The head of every family that a decoder may have."""
NARROWEST, WIDEST = -7.0, 2.0
"""Logarithms of the deviations of z that an encoder may tell."""


def head_of(family: Any) -> type[Head]:
    """The kind of head of a family."""
    if type(family).__name__ == "Categorical" and set(family.n_levels) == {2}:
        return BinaryHead
    return HEADS[type(family).__name__]


def frames_of(product: Product, X: np.ndarray, whole: bool, scale: bool) -> list[dict[str, np.ndarray]]:
    """What heads measure cells from, learned of rows."""
    frames = [head_of(family).learn(family, X[:, columns], whole) for family, columns in product.parts]
    if not scale:
        for (family, _), frame in zip(product.parts, frames):
            if head_of(family) in (GaussianHead, StudentHead):
                free = frame["unit"] > 0
                frame["unit"] = np.full(len(free), np.sqrt(np.mean(frame["unit"] ** 2)) if free.any() else 0.0)
    return frames


def heads_of(product: Product, frames: Sequence[dict[str, np.ndarray]], noise: str) -> list[Head]:
    """The heads of a product of families."""
    made = []
    for (family, columns), frame in zip(product.parts, frames):
        kind = head_of(family)
        settings: dict[str, Any] = {"noise": noise} if issubclass(kind, GaussianHead) else {}
        made.append(kind(family, columns, frame, **settings))
    return made


def layers(widths: Sequence[int], n_out: int) -> Any:
    """Hidden layers, of which the last map begins at 0."""
    parts: list[Any] = []
    for n_in, n_next in pairwise(widths):
        parts += [torch.nn.Linear(n_in, n_next), torch.nn.SiLU()]
    last = torch.nn.Linear(widths[-1], n_out, bias=False)
    torch.nn.init.zeros_(last.weight)
    return torch.nn.Sequential(*parts, last)


class Network(torch.nn.Module):
    """Encoder, decoder and heads; cells come coded, with the columns of heads side by side.

    Parameters
    ----------
    heads : list of Head
    n_components : int
        Length of z.
    encoder, decoder : sequence of int
        Widths of hidden layers; none for linear maps.
    """

    def __init__(self, heads: list[Head], n_components: int, encoder: Sequence[int], decoder: Sequence[int]):
        super().__init__()
        self.k = k = n_components
        self.heads = torch.nn.ModuleList(heads)
        sizes = [len(head.columns) for head in heads]
        self.d, self.n_features, self.n_out = (
            sum(sizes),
            *(sum(getattr(h, name) for h in heads) for name in ("n_features", "n_out")),
        )
        ends = np.cumsum(sizes)
        self.slices = [slice(int(end - size), int(end)) for end, size in zip(ends, sizes)]
        out = np.cumsum([head.n_out for head in heads])
        self.outputs = [slice(int(end - head.n_out), int(end)) for end, head in zip(out, heads)]
        self.order = np.concatenate([np.array(head.columns, dtype=np.intp) for head in heads])
        self.place = np.argsort(self.order)
        self.into = torch.nn.Linear(self.n_features, 2 * k)
        self.holes = torch.nn.Linear(self.d, 2 * k, bias=False)
        torch.nn.init.zeros_(self.holes.weight)
        self.deep_into: Any = None
        self.deep_holes: Any = None
        self.deep_out: Any = None
        if encoder:
            self.first = torch.nn.Linear(self.n_features, encoder[0])
            self.deep_holes = torch.nn.Linear(self.d, encoder[0], bias=False)
            torch.nn.init.zeros_(self.deep_holes.weight)
            self.deep_into = torch.nn.Sequential(torch.nn.SiLU(), layers(encoder, 2 * k))
        self.out = torch.nn.Linear(k, self.n_out)
        torch.nn.init.zeros_(self.out.bias)
        if decoder:
            self.deep_out = layers([k, *decoder], self.n_out)

    # Cells, as arrays

    def code(self, X: np.ndarray) -> np.ndarray:
        """Cells of a table as heads take them, NaN where missing, with the columns of heads side by side."""
        return np.hstack([head.code(X[:, head.columns]) for head in self.heads])

    def jacobian(self, X: np.ndarray) -> np.ndarray:
        """What the log density of the observed cells of rows is more than that of coded ones."""
        each = [
            np.nansum(head.jacobian(X[:, h]) * ~np.isnan(X[:, h]), axis=1)
            for head in self.heads
            for h in [list(head.columns)]
        ]
        return np.sum(each, axis=0)

    def blanks(self) -> Any:
        """What stands in missing cells."""
        return torch.cat([torch.full((len(head.columns),), head.blank) for head in self.heads])

    # What is computed

    def _each(self, x: Any) -> list[tuple]:
        return [(head, x[..., part]) for head, part in zip(self.heads, self.slices)]

    def encode(self, x: Any, seen: Any) -> tuple[Any, Any]:
        """Means and log deviations of z given the observed cells."""
        parts = [head.features(own) for head, own in self._each(x)]
        f = parts[0] if len(parts) == 1 else torch.cat(parts, -1)
        if seen is not None:
            known = [head.seen_features(own) for head, own in self._each(seen)]
            f, gone = f * torch.cat(known, -1), 1.0 - seen
        found = self.into(f)
        if self.deep_into is not None:
            hidden = self.first(f)
            found = found + self.deep_into(hidden if seen is None else hidden + self.deep_holes(gone))
        if seen is not None:
            found = found + self.holes(gone)
        mean, log_std = found.float().chunk(2, -1) if found.dtype == torch.bfloat16 else found.chunk(2, -1)
        return mean, log_std.clamp(NARROWEST, WIDEST)

    def decode(self, z: Any) -> Any:
        """Outputs of the decoder."""
        eta = self.out(z)
        eta = eta if self.deep_out is None else eta + self.deep_out(z)
        return eta.float() if eta.dtype == torch.bfloat16 else eta

    def slopes(self, z: Any) -> Any:
        """Derivatives of the outputs in z, (rows, n_out, k)."""
        found = self.out.weight.expand(len(z), -1, -1)
        if self.deep_out is None:
            return found
        along, hidden = torch.eye(self.k, dtype=z.dtype, device=z.device).expand(len(z), -1, -1), z
        for layer in self.deep_out:
            if isinstance(layer, torch.nn.Linear):
                along, hidden = along @ layer.weight.T, layer(hidden)
            else:
                rise = torch.sigmoid(hidden)
                along = along * (rise * (1.0 + hidden * (1.0 - rise)))[:, None]
                hidden = layer(hidden)
        return found + along.mT

    def log_prob(self, eta: Any, x: Any, seen: Any) -> Any:
        """Log probability of the observed coded cells of every row given outputs."""
        total = None
        for head, own, out in zip(self.heads, self.slices, self.outputs):
            found = head.log_prob(eta[..., out], x[..., own], None if seen is None else seen[..., own])
            total = found if total is None else total + found
        return total

    def bound(self, x: Any, seen: Any, noise: Any, beta: float = 1.0) -> Any:
        """The bound of every row's log density from noise (draws, rows, k); importance weighted where draws are several."""
        mean, log_std = self.encode(x, seen)
        std = torch.exp(log_std)
        if len(noise) == 1:
            z = mean + std * noise[0]
            apart = 0.5 * (mean.square() + std.square() - 1.0) - log_std
            return self.log_prob(self.decode(z), x, seen) - beta * apart.sum(-1)
        z = mean + std * noise
        ratio = (0.5 * (noise.square() - z.square()) + log_std).sum(-1)
        return torch.logsumexp(self.log_prob(self.decode(z), x, seen) + beta * ratio, 0) - math.log(len(noise))

    def decayed(self) -> tuple[list, list]:
        """Matrices of hidden layers, which are drawn to 0, and all other parameters."""
        deep = {
            id(p)
            for part in (getattr(self, "first", None), self.deep_into, self.deep_holes, self.deep_out)
            if part is not None
            for p in part.parameters()
            if p.ndim == 2
        }
        every = list(self.parameters())
        return [p for p in every if id(p) in deep], [p for p in every if id(p) not in deep]
