"""Where rows are computed on: sources of arrays and files, put on a device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .array import ArraySource
from .block import Block, Patterns
from .parquet import ParquetSource
from .source import OneBlock, Source
from .sparse import SparseSource

__all__ = ["PlacedSource", "check_device", "placed"]

LEAST_CELLS = 1 << 22
"""Cells from which on `auto` takes a GPU: smaller tables are learned before it has begun."""
ROWS_TOGETHER = 1 << 20
"""Rows of a file that are computed on at once."""
ROOM = 0.5
"""Share of a device's free memory that the rows of a file may take to be kept there."""


def check_device(device: Any) -> None:
    """Raise where a setting names no device, or one that is not there.

    Parameters
    ----------
    device : object
        What was set.
    """
    if device is None:
        return
    kind, _, number = str(device).partition(":")
    if kind not in ("auto", "cpu", "cuda") or (number and not (kind == "cuda" and number.isdigit())):
        raise ValueError(f"device={device!r} is unknown; use 'auto', 'cpu', 'cuda', 'cuda:0' (1, …) or None.")
    if kind == "cuda":
        try:
            import torch
        except ImportError:
            raise ImportError(f"device={device!r} needs torch; install it with: pip install 'tacit[gpu]'") from None
        found = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if int(number or 0) >= found:
            raise ValueError(
                f"device={device!r}, but torch finds {found or 'no'} CUDA device{'s' * (found > 1)}; use device='auto' or "
                "'cpu', or a build of torch with CUDA."
            )


def placed(source: Source, device: Any) -> Source:
    """The rows of a source on a device; itself where they are there, or stay where they are.

    Parameters
    ----------
    source : Source
        Rows of an array, a tensor or a file; those of other sources stay where they are with "auto", and are refused with "cuda".
    device : {"auto", "cpu", "cuda", "cuda:0", …} or None
        "auto" is a GPU where there is one and the rows are many; None leaves rows where they are.
    """
    target = _target(source, device)
    if target is None or (source.device is not None and source.device == target):
        return source
    kept = getattr(source, "_elsewhere", None)
    if kept is None or kept[0] != target:
        kept = target, _moved(source, target)
        source._elsewhere = kept  # type: ignore[attr-defined]
    return kept[1]


def _target(source: Source, device: Any) -> Any:
    """The device that a setting means for the rows of a source; None where they stay."""
    check_device(device)
    if device is None or (device == "cpu" and source.device is None):
        return None
    if device == "auto":
        large = source.n_rows * source.n_features >= LEAST_CELLS
        movable = isinstance(source, (ArraySource, ParquetSource, OneBlock))
        return _gpu() if large and movable and source.device is None else None
    import torch

    target = torch.device(device)
    return torch.device("cuda", torch.cuda.current_device()) if target == torch.device("cuda") else target


def _gpu() -> Any:
    """The current GPU, or None."""
    try:
        import torch
    except ImportError:
        return None
    return torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else None


def _moved(source: Any, device: Any) -> Source:
    from .torch import TorchSource

    if isinstance(source, OneBlock):
        source = ArraySource.of(source.only)
    if isinstance(source, ArraySource) or source.device is not None:
        return TorchSource.of(source, device)
    if isinstance(source, ParquetSource):
        found = _read(source, device) if _fits(source, device) else PlacedSource(source, device)
        return found.described_as(source)
    if isinstance(source, SparseSource) and source.rows.absent == "zero" and _fits(source, device):
        return TorchSource(
            source.X.toarray(), source.weight, source.labels, source.targets, device=device
        ).described_as(source)
    kind = type(source).__name__.removesuffix("Source").lower() or "other"
    raise ValueError(
        f"device={str(device)!r} takes arrays, tensors and files, not {kind} rows; use device='cpu' or None."
    )


def _fits(source: Source, device: Any) -> bool:
    """Whether rows fit the device's memory with all their cells, and room for what is computed from them."""
    import torch

    free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else np.inf
    return source.n_rows * (source.n_features + source.n_targets + 4) * 8 <= ROOM * free


def _read(source: ParquetSource, device: Any) -> Source:
    """All rows of a file on the device."""
    import torch

    from .torch import TorchSource

    n = source.n_rows
    kind = torch.float32 if source.dtype == np.float32 else torch.float64
    X = torch.empty((n, source.n_features), dtype=kind, device=device)
    weight = torch.empty(n, dtype=torch.float64, device=device) if source.weight is not None else None
    labels = torch.empty(n, dtype=torch.int64, device=device) if source.labels is not None else None
    targets = torch.empty((n, source.n_targets), dtype=torch.float64, device=device) if source.n_targets else None
    at = 0
    for block in source:
        rows = slice(at, at + len(block))
        for whole, part in ((X, block.X), (weight, block.weight), (labels, block.labels), (targets, block.targets)):
            if whole is not None:
                whole[rows] = torch.as_tensor(part, device=device)
        at += len(block)
    unit = None if source.offsets is None else np.repeat(np.arange(source.n_units), np.diff(source.offsets))
    return TorchSource(X, weight, labels, targets, unit=unit)


class PlacedSource(Source):
    """Blocks of a file that is too large for a device, put there as they come; many at once, for a device is slow with few rows.

    Parameters
    ----------
    source : ParquetSource
        The rows.
    device : torch.device
        Where to compute.
    rows : int
        Rows that are computed on at once.
    """

    n_jobs = 1

    def __init__(self, source: ParquetSource, device: Any, rows: int = ROWS_TOGETHER):
        self.inner, self.device, self.rows = source, device, rows
        for name in ("n_rows", "n_features", "n_targets", "offsets", "dtype", "label_range", "n_classes", "observed"):
            setattr(self, name, getattr(source, name))

    def parts(self) -> Iterator[list[Block]]:
        waiting: list[Block] = []
        for block in self.inner.map(_same):
            waiting.append(block)
            if sum(map(len, waiting)) >= self.rows:
                yield waiting
                waiting = []
        if waiting:
            yield waiting

    def block(self, part: list[Block]) -> Block:
        import torch

        def joined(name: str) -> Any:
            values = [getattr(block, name) for block in part]
            return (
                None if values[0] is None else torch.cat([torch.as_tensor(each, device=self.device) for each in values])
            )

        units = None
        if part[0].units is not None:
            before = np.cumsum([0, *map(len, part)])
            units = np.concatenate([block.offsets[:-1] + start for block, start in zip(part, before)] + [before[-1:]])
        n = sum(map(len, part))
        complete = all(block.patterns.is_complete for block in part)
        patterns = Patterns.whole(n, self.n_features) if complete else Patterns.of(np.concatenate([b.X for b in part]))
        return Block(
            joined("X"), joined("weight"), joined("labels"), patterns, joined("targets"), units, None, part[0].first
        )

    def eligible(self) -> np.ndarray:
        return self.inner.eligible()

    def take(self, units: np.ndarray) -> Block:
        return self.inner.take(units)


def _same(block: Block) -> Block:
    return block
