"""`ParquetSource`: rows of Parquet files, Arrow datasets and streams, read in blocks and never held at once."""

from __future__ import annotations

import logging
import os
import queue
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import check_range
from .block import Block, Patterns
from .source import Source, default_block_rows
from .threads import thread_count
from .units import UnitScan, block_bounds, eligible_units, recut, rows_of_units, unit_offsets

__all__ = ["ParquetSource", "arrow", "is_arrow"]

log = logging.getLogger("tacit")
READ_AHEAD = 4
STRIPE = 2048


def arrow() -> Any:
    """The pyarrow library, with what it takes to read Parquet; it takes a while to load."""
    import pyarrow
    import pyarrow.dataset
    import pyarrow.parquet

    return pyarrow


def is_arrow(data: Any) -> bool:
    """Whether data is a path, or an Arrow dataset, table or stream."""
    if isinstance(data, (str, Path)):
        return True
    return type(data).__module__.split(".")[0] == "pyarrow"


def _numeric(kind: Any) -> bool:
    types = arrow().types
    return types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind)


def _dated(kind: Any) -> bool:
    return arrow().types.is_timestamp(kind) or arrow().types.is_date(kind)


class ParquetSource(Source):
    """Rows of a Parquet file, a folder of them, or anything Arrow can scan.

    Blocks are decoded by a thread that reads ahead while others compute; memory is bounded by `memory`, not by the number
    of rows. A record-batch reader can be read only once, so it is first written to a temporary file.

    Parameters
    ----------
    data : str, path, list of paths, pyarrow Dataset, Table or RecordBatchReader
        What to read.
    columns : list of str, optional
        Columns to use; default all numeric ones.
    weight, labels : str, optional
        Columns of row weights and of known classes (−1 or null where unknown).
    targets : sequence of str, optional
        Columns to be predicted; dates are days since 1970.
    unit : str or (n,) array, optional
        The column that says which rows belong together, by numbers or texts, or the unit of each row; they must lie together.
    levels : dict of str to sequence, or "learn", optional
        Levels of columns that are categories, which become the codes 0, 1, …; such columns may hold text. With ``"learn"``
        every column is taken, and `levels` must be set, from what `record_batches` shows, before rows are read.
    unknown : {"error", "missing"}
        What to do about cells of categories that are none of the levels: refuse them, or take them as missing.
    memory : int, default=256 MB
        Bytes that blocks in flight may take.
    block_rows : int, optional
        Rows per block.
    n_jobs : int, optional
        Threads; default all cores.

    Examples
    --------
    >>> from tacit.source import ParquetSource  # doctest: +SKIP
    >>> GaussianMixture(8).fit(ParquetSource("visits/", columns=["age", "cost"]))  # doctest: +SKIP
    """

    def __init__(
        self,
        data: Any,
        columns: Sequence[str] | None = None,
        *,
        weight: str | None = None,
        labels: str | None = None,
        targets: Sequence[str] = (),
        unit: Any = None,
        levels: Any = None,
        unknown: str = "error",
        memory: int = 1 << 28,
        block_rows: int | None = None,
        n_jobs: int | None = None,
    ):
        self._spool: Any = None
        self._files: list = []
        self.levels, self.unknown = {} if levels is None else levels, unknown
        self.name = os.fspath(data) if isinstance(data, (str, Path)) else type(data).__name__
        self.dataset = self._open(data)
        self.weight, self.labels, self.unit = weight, labels, unit if isinstance(unit, str) else None
        self.targets = [targets] if isinstance(targets, str) else list(targets)
        self.columns: list = self._check_columns(columns)
        self.n_features, self.n_targets = len(self.columns), len(self.targets)
        self.n_rows = self._count()
        self.n_jobs = thread_count(n_jobs)
        row_bytes = self.dtype.itemsize * self.n_features
        most = max(memory // (row_bytes * 4 * (READ_AHEAD + 2 * self.n_jobs)), 64)
        self.block_rows = block_rows or int(min(default_block_rows(self.n_features, self.dtype.itemsize), most))
        self.offsets = self._scan_units(unit) if isinstance(unit, str) else unit_offsets(unit, self.n_rows)
        self._rows, self._units = block_bounds(self.n_rows, self.block_rows, self.offsets)
        # Shared by all blocks of complete rows with default weights, as in memory.
        self._longest = int(np.diff(self._rows).max(initial=self.block_rows))
        self._one, self._unknown = np.ones(self._longest), np.full(self._longest, -1)
        self._whole = Patterns.whole(self._longest, self.n_features)

    # Opening

    def _open(self, data: Any) -> Any:
        pa = arrow()
        if isinstance(data, pa.dataset.Dataset):
            return data
        if isinstance(data, pa.RecordBatchReader):
            return self._spooled(data)
        if isinstance(data, (pa.Table, pa.RecordBatch)):
            return pa.dataset.dataset(data)
        for path in [data] if isinstance(data, (str, Path)) else data:
            if not os.path.exists(path):
                raise FileNotFoundError(f"there is no file or folder {os.fspath(path)!r}.")
        try:
            dataset = pa.dataset.dataset(data, format="parquet")
            self._files = [(file.path, file.physical_schema) for file in dataset.get_fragments()]
        except (pa.ArrowInvalid, OSError) as error:
            raise ValueError(f"{self.name!r} cannot be read as Parquet: {error}") from None
        return dataset

    def _agree(self, names: Sequence[str]) -> dict[str, set]:
        """Types of the columns over all files, each of which must have them as numbers."""
        types: dict[str, set] = {name: set() for name in names}
        for path, schema in self._files:
            for name in names:
                if name not in schema.names:
                    raise ValueError(f"the file {path!r} has no column {name!r}, which others have.")
                kind = schema.field(name).type
                if not self._usable(schema.field(name)):
                    other = next(s.field(name).type for _, s in self._files if s.field(name).type != kind)
                    raise ValueError(
                        f"column {name!r} is {kind} in the file {path!r} but {other} in others; rewrite that file."
                    )
                types[name].add(kind)
        return types

    def _columns_where(self, suits: Callable[[Any], bool]) -> list[str]:
        """Columns whose field suits in at least one file, in the order they are met."""
        schemas = [schema for _, schema in self._files] or [self.dataset.schema]
        return list(dict.fromkeys(field.name for schema in schemas for field in schema if suits(field)))

    def _usable(self, field: Any) -> bool:
        """Whether a column is made of numbers, or of categories that are expected."""
        return _numeric(field.type) or self.levels == "learn" or field.name in self.levels

    def _spooled(self, reader: Any) -> Any:
        pa = arrow()
        self._spool = tempfile.TemporaryDirectory(prefix="tacit-")
        path = os.path.join(self._spool.name, "rows.arrow")
        with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
        return pa.dataset.dataset(path, format="ipc")

    def _check_columns(self, columns: Sequence[str] | None) -> list:
        present, numeric = self.dataset.schema.names, self._columns_where(self._usable)
        numbers = self._columns_where(lambda field: _numeric(field.type))
        special = [name for name in (self.weight, self.labels, *self.targets) if name is not None]
        named = [*(columns or []), *special]
        dated = [name for name in self.targets if name in present and _dated(self.dataset.schema.field(name).type)]
        for name in [*named, *([] if self.unit is None else [self.unit])]:
            if name not in present and name not in numeric:
                raise ValueError(f"{self.name!r} has no column {name!r}; it has {', '.join(present)}.")
            if name in dated:
                continue
            if name in named and name not in (numbers if name in special else numeric):
                kind = self.dataset.schema.field(name).type
                remedy = "; classes in files are numbers from 0, and −1 or empty where unknown" * (name == self.labels)
                raise ValueError(f"column {name!r} holds {kind}, which is not a number{remedy}.")
        found = list(columns or [name for name in numeric if name not in (*special, self.unit)])
        left_out = [name for name in present if name not in numeric]
        if columns is None and left_out:
            log.info("%s: columns that are no numbers are left out: %s", self.name, ", ".join(left_out))
        if not found:
            raise ValueError(f"{self.name!r} has no numeric column; it has {', '.join(present)}.")
        types = self._agree([name for name in [*found, *special] if name not in dated])
        for name in found:
            types[name] |= set() if self._files else {self.dataset.schema.field(name).type}
        floating = arrow().types.is_floating
        small = all(floating(kind) and kind.bit_width <= 32 for name in found for kind in types[name])
        self.dtype = np.dtype(np.float32 if small else np.float64)
        return found

    def _count(self) -> int:
        n_rows = self.dataset.count_rows()
        if not n_rows:
            raise ValueError(f"Found array with 0 sample(s): {self.name!r} has no rows.")
        return n_rows

    # Reading

    def _decoded(self, wanted: Sequence[str] | None = None) -> Iterator[Any]:
        """Record batches of the columns in use, or of those wanted, as they are decoded."""
        pa = arrow()
        if wanted is None:
            wanted = [*self.columns, *self.targets, *(name for name in (self.weight, self.labels) if name is not None)]
        if not self._files:
            options = pa.dataset.ParquetFragmentScanOptions(pre_buffer=False)
            kind = {"fragment_scan_options": options} if "Parquet" in str(getattr(self.dataset, "format", "")) else {}
            yield from self.dataset.to_batches(
                columns=wanted,
                batch_size=self.block_rows,
                batch_readahead=2,
                fragment_readahead=1,
                use_threads=False,
                **kind,
            )
        for path, _ in self._files:
            # A dataset's scanner reads far ahead of its consumer; one file after the other, a megabyte at a time, does not.
            with pa.parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20) as file:
                yield from file.iter_batches(batch_size=self.block_rows, columns=wanted, use_threads=False)

    def record_batches(self) -> Iterator[Any]:
        """The columns in use as Arrow record batches, one after the other."""
        for batch in self._decoded():
            yield batch.select(self.columns)

    def _scan_units(self, unit: str) -> np.ndarray | None:
        """Where units begin, found in one pass over their column."""
        scan = UnitScan()
        for batch in self._decoded([unit]):
            column = batch.column(0)
            decoded = column.dictionary_decode() if arrow().types.is_dictionary(column.type) else column
            scan.add(decoded.to_numpy(zero_copy_only=False))
        return scan.offsets()

    def _batches(self) -> Iterator[list]:
        """Lists of record batches that hold the rows of a block together."""
        try:
            yield from recut(self._decoded(), self._rows, lambda batch, start, stop: batch.slice(start, stop - start))
        except (arrow().ArrowInvalid, OSError) as error:
            raise ValueError(f"{self.name!r} could not be read to its end: {error}") from None

    def _read_ahead(self) -> Iterator[list]:
        """Batches from a thread that stays a few ahead."""
        ready: queue.Queue = queue.Queue(READ_AHEAD)
        stop = threading.Event()

        def read() -> None:
            try:
                for batch in self._batches():
                    if not _put(ready, batch, stop):
                        return
                _put(ready, None, stop)
            except BaseException as error:
                _put(ready, error, stop)

        thread = threading.Thread(target=read, name="tacit-read", daemon=True)
        thread.start()
        try:
            while (batch := ready.get()) is not None:
                if isinstance(batch, BaseException):
                    raise batch
                yield batch
        finally:
            stop.set()
            thread.join()

    def parts(self) -> Iterator[tuple[int, list]]:
        return enumerate(self._read_ahead())

    def block(self, part: tuple[int, list]) -> Block:
        number, batches = part
        first, units = int(self._units[number]), None
        if self.offsets is not None:
            units = self.offsets[first : self._units[number + 1] + 1] - self._rows[number]
        return self._block(batches, units=units, first=first)

    def _block(self, batches: list, **known: Any) -> Block:
        X = self._table(batches, self.columns)
        targets = self._table(batches, self.targets, np.float64) if self.targets else None
        weight, labels = self._weights(batches, len(X)), self._classes(batches, len(X))
        return Block.of(X, weight, labels, targets, patterns=self._patterns(X), **known)

    def _table(self, batches: list, names: Sequence[str], dtype: Any = None) -> np.ndarray:
        """Columns of record batches side by side."""
        X = np.empty((sum(batch.num_rows for batch in batches), len(names)), dtype or self.dtype)
        at = 0
        for batch in batches:
            columns = [self._cells(batch, name) for name in names]
            for start in range(0, batch.num_rows, STRIPE):  # few enough to stay in cache while columns are laid in
                stripe = X[at + start : at + min(start + STRIPE, batch.num_rows)]
                for j, column in enumerate(columns):
                    stripe[:, j] = column[start : start + STRIPE]
            at += batch.num_rows
        return X

    def _cells(self, batch: Any, name: str) -> np.ndarray:
        return _codes(batch, name, self.levels[name], self.unknown) if name in self.levels else _column(batch, name)

    def _patterns(self, X: np.ndarray) -> Patterns | None:
        with np.errstate(all="ignore"):
            total = np.vdot(X, X)  # finite where no cell is missing, infinite, or too large to be squared
        if np.isfinite(total):
            return self._whole if len(X) == self._longest else None
        if np.isinf(X).any():
            name = self.columns[int(np.argmax(np.isinf(X).any(axis=0)))]
            raise ValueError(f"{self.name!r} contains infinity in column {name!r}; replace it or leave the cell empty.")
        check_range(X, told=lambda column: f"{self.columns[column]!r} of {self.name!r}")
        return Patterns.of(X)

    def _weights(self, batches: list, n: int) -> Any:
        if self.weight is None:
            return self._one[:n] if n <= self._longest else None
        weight = np.concatenate([_column(batch, self.weight) for batch in batches]).astype(np.float64)
        bad = weight[~(np.isfinite(weight) & (weight >= 0))]
        if bad.size:
            raise ValueError(f"sample_weight holds {bad[0]:g}; weights must be finite and not negative.")
        return weight

    def _classes(self, batches: list, n: int) -> np.ndarray | None:
        if self.labels is None:
            return self._unknown[:n] if n <= self._longest else None
        values = np.concatenate([_column(batch, self.labels) for batch in batches])
        labels = np.where(np.isnan(values), -1, values)
        most = np.inf if self.n_classes is None else self.n_classes
        bad = labels[(labels < -1) | (labels >= most) | (labels != np.floor(labels))]
        if bad.size:
            raise ValueError(
                f"y holds {bad[0]:g}, which is no class; known classes are 0 to {most - 1:g}, and −1 stands for unknown."
            )
        return labels.astype(np.int64)

    def eligible(self) -> np.ndarray:
        if self.weight is None:
            return super().eligible()
        weight = np.concatenate([self._weights(batches, 0) for batches in self._read_ahead()])
        return eligible_units(weight, self.n_rows, self.offsets)

    def take(self, units: np.ndarray) -> Block:
        rows, offsets = rows_of_units(units, self.offsets)
        start, found = 0, []
        for batches in self._read_ahead():
            for batch in batches:
                end = start + batch.num_rows
                inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, end)] - start
                if len(inside):
                    found.append(batch.take(arrow().array(inside)))
                start = end
        return self._block(found, units=offsets)


def _put(ready: queue.Queue, item: Any, stop: threading.Event) -> bool:
    """Queue an item unless nobody will fetch it any more."""
    while not stop.is_set():
        try:
            ready.put(item, timeout=0.1)
            return True
        except queue.Full:
            continue
    return False


def _column(batch: Any, name: str) -> np.ndarray:
    """A column as floats, NaN where null."""
    column = batch.column(batch.schema.get_field_index(name))
    if _dated(column.type):
        known = column.is_valid().to_numpy(zero_copy_only=False)
        micro = column.cast(arrow().timestamp("us"), safe=False).cast(arrow().int64()).fill_null(0)
        return np.where(known, micro.to_numpy(zero_copy_only=False) / (86400.0 * 1e6), np.nan)
    values = column.to_numpy(zero_copy_only=False)
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def _codes(batch: Any, name: str, levels: Sequence, unknown: str) -> np.ndarray:
    """A column of categories as the places of its cells among the levels, NaN where null; as `tacit.schema.encode_column`."""
    pa = arrow()
    import pyarrow.compute as pc

    column = batch.column(batch.schema.get_field_index(name))
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    codes = pc.index_in(column, value_set=pa.array(levels, type=column.type))
    strange = pc.and_(pc.is_null(codes), pc.is_valid(column))
    if unknown == "error" and pc.any(strange).as_py():
        from ..schema import unknown_levels

        raise unknown_levels(name, column.filter(strange).to_pylist(), levels)
    return codes.to_numpy(zero_copy_only=False).astype(np.float64)
