"""`TorchSource`: rows of a tensor, on whatever device it lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError("TorchSource needs torch; install it with: pip install 'tacit[gpu]'") from error

from .block import Block, Patterns
from .source import Source, default_block_rows
from .units import block_bounds, eligible_units, rows_of_units, unit_offsets

__all__ = ["TorchSource"]

T = TypeVar("T")


def _gpu_block_rows(n_features: int, device: Any) -> int:
    """Rows whose cells take an eighth of the device's memory: of all of it, so that results do not depend on what else runs."""
    total = torch.cuda.get_device_properties(device).total_memory
    return max(total // (64 * max(n_features, 1)), 1 << 16)


class TorchSource(Source):
    """Rows of a tensor, cut into blocks that stay on its device; statistics come back as float64 NumPy arrays.

    Where a block does not fit the device's memory together with what is computed from it, it is cut in two, for good.

    Parameters
    ----------
    X : (n, d) tensor of float32 or float64, or array
        Cells; NaN is missing.
    weight, labels : (n,) tensors or arrays, optional
        Row weights (default 1) and known classes (−1 unknown, the default).
    targets : (n, m) tensor or array, optional
        What is to be predicted.
    unit : (n,) array, optional
        The unit of each row, as in `ArraySource`.
    device : str or torch.device, optional
        Where to compute; default where X lies.
    block_rows : int, optional
        Rows per block; default small enough for a core's cache, and on a GPU an eighth of its memory.
    """

    in_memory = True

    def __init__(
        self,
        X: Any,
        weight: Any = None,
        labels: Any = None,
        targets: Any = None,
        *,
        unit: Any = None,
        device: Any = None,
        block_rows: int | None = None,
    ):
        self.X = torch.as_tensor(X, device=device)
        if self.X.dtype not in (torch.float32, torch.float64):
            self.X = self.X.double()
        self.X = self.X.contiguous()
        device = self.device = self.X.device
        self.n_rows, self.n_features = self.X.shape
        self.offsets = unit_offsets(unit, self.n_rows)
        self.dtype = np.dtype(str(self.X.dtype).removeprefix("torch."))
        # A single number seen as often as there are rows takes no memory.
        one, unknown = torch.ones(1, dtype=torch.float64, device=device), torch.full((1,), -1, device=device)
        self.weight = one.expand(self.n_rows) if weight is None else torch.as_tensor(weight, device=device).double()
        self.labels = unknown.expand(self.n_rows) if labels is None else torch.as_tensor(labels, device=device).long()
        if labels is not None and int(self.labels.max()) >= 0:
            self.label_range = int(self.labels.min()), int(self.labels.max())
            self.labelled = self.label_range[0] >= 0 and not bool(self.X.isnan().any())
        self.targets = None if targets is None else torch.as_tensor(targets, device=device).double()
        self.n_targets = 0 if self.targets is None else self.targets.shape[1]
        if block_rows is None and device.type == "cuda":
            block_rows = _gpu_block_rows(self.n_features, device)
        block_rows = block_rows or default_block_rows(self.n_features, self.X.element_size())
        self._whole: dict = {}
        _, units = block_bounds(self.n_rows, block_rows, self.offsets)
        self._blocks = [self._ingest(int(first), int(stop)) for first, stop in pairwise(units)]
        self.n_blocks = len(self._blocks)

    @classmethod
    def of(cls, source: Any, device: Any) -> TorchSource:
        """The rows of a source of an array or a tensor on a device, with what whoever opened them told of them."""
        unit = None if source.offsets is None else np.repeat(np.arange(source.n_units), np.diff(source.offsets))
        found = cls(source.X, source.weight, source.labels, source.targets, unit=unit, device=device)
        for name, value in vars(source).items():
            if not name.startswith("_") and name not in vars(found):
                setattr(found, name, value)
        return found

    def _ingest(self, first: int, stop: int) -> Block:
        """The block of the units from `first` to before `stop`."""
        rows, units = slice(first, stop), None
        if self.offsets is not None:
            rows = slice(int(self.offsets[first]), int(self.offsets[stop]))
            units = self.offsets[first : stop + 1] - self.offsets[first]
        X, targets = self.X[rows], None if self.targets is None else self.targets[rows]
        return Block(X, self.weight[rows], self.labels[rows], self._patterns(X), targets, units, first=first)

    def _patterns(self, X: Any) -> Patterns:
        """The patterns of a block; complete blocks of one size share theirs."""
        if bool(torch.isfinite(X.sum())) or not bool(torch.isnan(X).any()):
            if len(X) not in self._whole:
                self._whole[len(X)] = Patterns.whole(*X.shape)
            return self._whole[len(X)]
        return Patterns.of(X.cpu().numpy())

    def __len__(self) -> int:
        return len(self._blocks)

    def parts(self) -> Iterator[Block]:
        return iter(self._blocks)

    def block(self, part: Block) -> Block:
        return part

    def map(self, function: Callable[[Block], T]) -> Iterator[T]:
        """Yield function(block) for every block, in order; a block the device has no memory for is cut in two, at a unit."""
        index = 0
        while index < len(self._blocks):
            block, fits = self._made(self._blocks[index]), True
            try:
                result = function(block)
            except torch.cuda.OutOfMemoryError:
                if block.n_units < 2:
                    raise
                fits = False
            if not fits:
                # Outside of the handler, where the failed step's tensors are still alive.
                self._halve(index)
                continue
            yield result
            index += 1

    def _halve(self, index: int) -> None:
        block = self._blocks[index]
        rows = int(np.searchsorted(block.offsets, len(block) // 2))
        middle, stop = block.first + min(max(rows, 1), block.n_units - 1), block.first + block.n_units
        torch.cuda.empty_cache()
        if self._memory is not None:
            self._memory.split(block.first, middle)
        self._blocks[index : index + 1] = [self._ingest(block.first, middle), self._ingest(middle, stop)]
        self.n_blocks = len(self._blocks)

    def eligible(self) -> np.ndarray:
        return eligible_units(self.weight.cpu().numpy(), self.n_rows, self.offsets)

    def _taken(self, units: np.ndarray) -> tuple:
        """Cells, weights, labels and targets of units, on the device, and their offsets."""
        rows, offsets = rows_of_units(units, self.offsets)
        at = torch.as_tensor(rows, device=self.X.device)
        values = self.X, self.weight, self.labels, self.targets
        return *(None if each is None else each[at] for each in values), offsets

    def subset(self, units: np.ndarray) -> TorchSource:
        """The units with these sorted numbers as a source on the same device."""
        *values, offsets = self._taken(units)
        unit = None if offsets is None else np.repeat(np.arange(len(units)), np.diff(offsets))
        return TorchSource(*values, unit=unit)

    def take(self, units: np.ndarray) -> Block:
        """One block of the units with these sorted numbers, in NumPy: starts are made on the CPU."""
        *values, offsets = self._taken(units)
        return Block.of(*(None if each is None else each.cpu().numpy() for each in values), units=offsets)
