"""`Layout`: sequences side by side on a device, long ones cut into stretches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from .chain_lanes import WARM
from .torch_pass import kept

__all__ = ["Layout", "Stretches", "layout_of"]


@dataclass(frozen=True)
class Stretches:
    """Steps that go side by side: `begin` and `length` (stretches,), the longest first, and the device they go on."""

    begin: np.ndarray
    length: np.ndarray
    device: torch.device

    @cached_property
    def first(self):
        """Rows of the first steps."""
        return torch.as_tensor(self.begin, device=self.device)

    @cached_property
    def last(self):
        """Rows of the last steps."""
        return torch.as_tensor(self.begin + self.length - 1, device=self.device)

    @cached_property
    def wide(self):
        """How many stretches have a first, second, … step."""
        longest = int(self.length[0]) if len(self.length) else 0
        return np.searchsorted(-self.length, -np.arange(longest), side="left").tolist()

    def only(self, places):
        """Some of the stretches, by their sorted places."""
        return Stretches(self.begin[places], self.length[places], self.device)


@dataclass(frozen=True)
class Layout(Stretches):
    """Whole sequences, or sequences cut into stretches.

    Attributes
    ----------
    sequence : (stretches,) int
        Which one each stretch is of.
    later, prior : (joints,) int tensors
        Stretches that continue another, and the ones they continue.
    """

    sequence: np.ndarray
    later: torch.Tensor
    prior: torch.Tensor

    @classmethod
    def of(cls, offsets, device, size):
        """Sequences cut into stretches of `size` steps, the last of a sequence shorter; not cut where `size` is 0."""
        length = np.diff(offsets)
        parts = np.maximum(-(-length // size), 1) if size else np.ones(len(length), np.int64)
        sequence = np.repeat(np.arange(len(length)), parts)
        number = np.arange(len(sequence)) - np.repeat(np.cumsum(parts) - parts, parts)
        begin = offsets[:-1][sequence] + number * size
        length = np.minimum(offsets[1:][sequence] - begin, size or np.iinfo(np.int64).max)
        order = np.argsort(-length, kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        later = np.flatnonzero(number > 0)
        joints = (torch.as_tensor(place[rows], device=device) for rows in (later, later - 1))
        return cls(begin[order], length[order], device, sequence[order], *joints)

    @cached_property
    def tails(self):
        """The last few steps of stretches that others continue."""
        prior = self.prior.cpu().numpy()
        few = np.full(len(prior), WARM)
        return Stretches((self.begin + self.length)[prior] - WARM, few, self.device)

    @cached_property
    def heads(self):
        """The first few steps of stretches that continue others, the longest first, and which of them they are."""
        later = self.later.cpu().numpy()
        length = np.minimum(self.length[later], WARM)
        order = np.argsort(-length, kind="stable")
        return Stretches(self.begin[later][order], length[order], self.device), torch.as_tensor(order).to(self.device)

    def added(self, values):
        """Σ over the stretches of each sequence of `values` (stretches,), as an array."""
        order = np.argsort(self.sequence, kind="stable")
        starts = np.flatnonzero(np.diff(self.sequence[order], prepend=-1))
        return np.add.reduceat(values.cpu().numpy()[order], starts) if len(order) else np.zeros(0)


def layout_of(offsets, device, cut, size):
    """The layout of sequences, cut into stretches of `size` steps or not; made once and kept."""
    found = kept(offsets, device, dict)
    if cut not in found:
        found[cut] = Layout.of(offsets, device, size if cut else 0)
    return found[cut]
