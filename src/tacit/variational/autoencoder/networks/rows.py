"""`Rows`: coded cells on a device, in minibatches; held there once where they fit, else read from their source every epoch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....checks import machine_memory
from ....kernels import host
from ....source import Block, Source
from . import torch
from .network import Network

__all__ = ["Rows", "StreamedRows", "open_rows"]

SHARE = 0.25
"""Of the memory of a machine, or of the free memory of a device, that coded rows may take."""
BUFFER = 1 << 27
"""Bytes of streamed rows that are shuffled together."""
Batch = tuple[Any, Any, Any]


class Rows:
    """Rows in memory.

    Parameters
    ----------
    x : (n, d) array
        Coded cells; NaN is missing.
    weight : (n,) array or None
    blanks : (d,) tensor
    device : torch.device
    """

    def __init__(self, x: np.ndarray, weight: np.ndarray | None, blanks: Any, device: Any):
        gone = np.isnan(x)
        self.seen = torch.as_tensor(~gone, device=device) if gone.any() else None
        x = np.where(gone, blanks.numpy(), x) if self.seen is not None else x
        self.x = torch.as_tensor(np.ascontiguousarray(x, dtype=np.float32), device=device)
        self.weight = None if weight is None else torch.as_tensor(weight, dtype=torch.float32, device=device)
        self.n, self.device = len(x), device

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.n) if self.weight is None else float(self.weight.sum())

    def part(self, rows: Any) -> Batch:
        """Cells, which are observed, and weights of some rows."""
        seen = None if self.seen is None else self.seen[rows].float()
        return self.x[rows], seen, None if self.weight is None else self.weight[rows]

    def batches(self, size: int, generator: Any) -> Iterator[Batch]:
        """All rows once, in random order; batches are of equal size but for one row."""
        order = torch.randperm(self.n, generator=generator, device=self.device)
        yield from map(self.part, order.chunk(max(round(self.n / size), 1)))


class StreamedRows:
    """Rows of a source that are read every epoch, shuffled among those read together.

    Parameters
    ----------
    source : Source
    kept : (n,) bool
        The rows that count.
    network : Network
    device : torch.device
    weighted : bool
        Whether weights differ.
    """

    def __init__(self, source: Source, kept: np.ndarray, network: Network, device: Any, weighted: bool):
        self.source, self.kept, self.network, self.device, self.weighted = source, kept, network, device, weighted
        self.blanks = network.blanks().cpu()
        self.n = int(kept.sum())
        self.total = source.sum(self._weight) if weighted else float(self.n)

    def _weight(self, block: Block) -> float:
        return float(host(block.weight)[self.kept[block.first : block.first + len(block)]].sum())

    def _coded(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        kept = self.kept[block.first : block.first + len(block)]
        x = self.network.code(host(block.X)[kept].astype(np.float64))
        return x.astype(np.float32), host(block.weight)[kept]

    def batches(self, size: int, generator: Any) -> Iterator[Batch]:
        """All rows once."""
        waiting: list[tuple[np.ndarray, np.ndarray]] = []
        for part in self.source.map(self._coded):
            waiting.append(part)
            if sum(x.nbytes for x, _ in waiting) >= BUFFER:
                yield from self._shuffled(waiting).batches(size, generator)
                waiting = []
        if waiting:
            yield from self._shuffled(waiting).batches(size, generator)

    def _shuffled(self, waiting: list) -> Rows:
        x, weight = (np.concatenate(each) for each in zip(*waiting))
        return Rows(x, weight if self.weighted else None, self.blanks, self.device)


def open_rows(source: Source, held: np.ndarray, network: Network, device: Any) -> tuple[Any, Rows | None, bool]:
    """Rows to train on, those held out, and whether all are in memory."""
    kept = np.ones(source.n_rows, dtype=bool)
    kept[held] = False
    room = machine_memory() if device.type == "cpu" else torch.cuda.mem_get_info(device)[0]
    weighted = _weighted(source)
    if source.n_rows * source.n_features * 5 <= SHARE * room:
        whole = StreamedRows(source, np.ones(source.n_rows, dtype=bool), network, device, weighted)
        x, weight = (np.concatenate(each) for each in zip(*source.map(whole._coded)))
        made = [Rows(x[rows], weight[rows] if weighted else None, whole.blanks, device) for rows in (kept, held)]
        return made[0], made[1] if len(held) else None, True
    block = source.take(np.sort(held))
    x = network.code(host(block.X).astype(np.float64))
    left_out = Rows(x, host(block.weight) if weighted else None, network.blanks().cpu(), device)
    return StreamedRows(source, kept, network, device, weighted), left_out if len(held) else None, False


def _weighted(source: Source) -> bool:
    """Whether rows have weights other than 1."""
    return any(source.map(lambda block: bool((host(block.weight) != 1.0).any())))
