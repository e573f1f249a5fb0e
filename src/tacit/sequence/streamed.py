"""Sequences in files and partitions: rows as they follow each other, checked in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..frames import package
from ..kernels import host
from ..source import Block, Source
from .clock import Clock, irregular

__all__ = ["check_stream", "is_held"]


def is_held(X: Any) -> bool:
    """Whether Arrow data is a table in memory, whose rows may be in any order."""
    return package(X) == "pyarrow" and type(X).__name__ in ("Table", "RecordBatch")


def check_stream(source: Source, time: Any, *, gaps: str, continuous: bool, clock: Clock | None) -> Clock | None:
    """Raise where rows of a stream are not steps in order, one after the other; return how times go on.

    Parameters
    ----------
    source : Source
        Rows whose units are sequences and whose target, where `time` names it, is the time.
    time : str or None
        The column of times.
    gaps, continuous, clock
        As in `Steps.of`.
    """
    weighted = getattr(source, "weight", None) is not None or package(source) == "dask"
    if time is None and not weighted:
        return None
    parts = list(source.map(_times_and_weights))
    if time is None:
        return None
    when = np.concatenate(parts)
    offsets = np.arange(len(when) + 1) if source.offsets is None else source.offsets
    _check_order(when, offsets, str(time))
    dated = _is_dated(source, time)
    if continuous or gaps == "ignore":
        return Clock("day" if dated else "", 1.0, dated)
    clock = clock or Clock.of(when, offsets, dated)
    if clock is None:
        raise irregular(f"column {time!r}", when)
    count = clock.count(when)
    inside = np.ones(len(when), dtype=bool)
    inside[offsets[:-1]] = False
    left_out = inside & (np.abs(np.diff(count, prepend=0.0) - 1.0) > 1e-3)
    if left_out.any():
        row = int(np.argmax(left_out))
        raise ValueError(
            f"row {row} is {np.diff(count)[row - 1]:g} steps of {clock.told(1.0)} after the row before it in its sequence; steps "
            "that are left out are filled in for tables in memory only: read the file into a table, write rows with empty "
            "cells for these steps, or use gaps='ignore' to take rows as they follow."
        )
    return clock


def _times_and_weights(block: Block) -> np.ndarray:
    """Times of a block's rows, once its weights were checked."""
    weight = host(block.weight)
    first = block.of_rows(weight[block.offsets[:-1]])
    if (weight != first).any():
        row = int(np.argmax(weight != first))
        raise ValueError(
            f"sample_weight holds {first[row]:g} and {weight[row]:g} in one sequence; a sequence has one weight for all its rows."
        )
    return np.zeros(0) if block.targets is None else host(block.targets)[:, 0]


def _check_order(when: np.ndarray, offsets: np.ndarray, time: str) -> None:
    if not np.isfinite(when).all():
        raise ValueError(f"row {int(np.argmin(np.isfinite(when)))} has no {time!r}; every row needs a time.")
    back = np.flatnonzero(np.diff(when) <= 0.0)
    back = back[~np.isin(back + 1, offsets)]
    if len(back):
        row = int(back[0]) + 1
        raise ValueError(
            f"row {row} has {time} = {when[row]:g} after {when[row - 1]:g} in its sequence; rows of files must be sorted by "
            "sequence and time, and times of a sequence must differ."
        )


def _is_dated(source: Any, time: Any) -> bool:
    """Whether a stream's times are dates."""
    if not hasattr(source, "dataset"):
        return False
    kind = str(source.dataset.schema.field(time).type)
    return kind.startswith(("timestamp", "date"))
