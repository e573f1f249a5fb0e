"""`Store`: record batches of a table that was read once, in memory and, beyond a budget, in a file mapped into memory."""

from __future__ import annotations

import contextlib
import os
import tempfile
import weakref
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyarrow import ipc

__all__ = ["KEPT_BYTES", "Store"]

KEPT_BYTES = 1 << 30
"""Bytes of a table that are kept in memory; those beyond go to a temporary file."""


class Store:
    """Record batches in the order they were added; their types may differ."""

    def __init__(self) -> None:
        self.batches: list[pa.RecordBatch] = []
        self.n_bytes = 0
        self.path = ""
        self._sink: Any = None
        self._writer: Any = None
        self._writer_schema: Any = None

    def add(self, batch: pa.RecordBatch, mapped: bool = False) -> None:
        """Keep a batch; one that is mapped from a file takes no memory."""
        self.n_bytes += batch.nbytes
        if mapped or self.n_bytes <= KEPT_BYTES:
            self.batches.append(batch)
        else:
            try:
                self._spool(batch)
            except OSError as error:
                raise OSError(
                    error.errno, f"the table does not fit into memory, and {tempfile.gettempdir()} does not take it either "
                    f"({error.strerror or error}); set TMPDIR to a folder with more room",
                ) from None  # fmt: skip

    def _spool(self, batch: pa.RecordBatch) -> None:
        if self._sink is None:
            handle, self.path = tempfile.mkstemp(prefix="tacit-", suffix=".arrows")
            os.close(handle)
            weakref.finalize(self, _remove, self.path)
            self._sink = pa.OSFile(self.path, "wb")
        if self._writer is None or self._writer_schema != batch.schema:  # a stream has one schema: begin another
            self._end_stream()
            self._writer, self._writer_schema = ipc.new_stream(self._sink, batch.schema), batch.schema
        self._writer.write_batch(batch)

    def _end_stream(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def close(self) -> None:
        """Nothing more is added."""
        self._end_stream()
        if self._sink is not None:
            self._sink.close()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        yield from self.batches
        if self.path:
            with pa.memory_map(self.path) as file:
                while file.tell() < file.size():
                    yield from ipc.open_stream(file)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
