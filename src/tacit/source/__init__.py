"""Where rows come from: blocks of rows, summed or mapped over."""

from typing import Any

from .array import ArraySource
from .block import Block, Patterns
from .dask import DaskSource, is_dask
from .fold import FoldSource
from .parquet import ParquetSource, is_arrow
from .placement import check_device, placed
from .source import OneBlock, Source
from .sparse import SparseRows, SparseSource


def is_streamed(X: Any) -> bool:
    """Whether X is a source, a path, Arrow data or a Dask collection, as opposed to rows in memory.

    Parameters
    ----------
    X : object
        What was given as rows.
    """
    return isinstance(X, Source) or is_arrow(X) or is_dask(X)


def as_source(
    X: Any, weight: Any = None, labels: Any = None, targets: Any = None, *, unit: Any = None, n_jobs: int | None = None,
    device: Any = None,
) -> Source:  # fmt: skip
    """The source of rows for an array, a sparse matrix, a block, a path, Arrow data or a Dask collection; a source is itself.

    Parameters
    ----------
    X : array-like, sparse matrix, block, path, Arrow data, Dask collection or source
        Rows; NaN is missing.
    weight : array-like or str, optional
        Weights of the rows, or the column that holds them.
    labels : array-like or str, optional
        Known classes, −1 where unknown, or their column.
    targets : array-like of shape (n, m) or list of str, optional
        What is to be predicted, or their columns.
    unit : array-like or str, optional
        The unit of each row, or their column: rows that belong together, and must lie together.
    n_jobs : int, optional
        Threads; default all cores.
    device : {"auto", "cpu", "cuda", "cuda:0", …}, optional
        Where to compute; by default where the rows are.
    """
    if device is not None:
        return placed(as_source(X, weight, labels, targets, unit=unit, n_jobs=n_jobs), device)
    if isinstance(X, Source):
        return X
    if isinstance(X, Block):
        return SparseSource.of(X, n_jobs) if isinstance(X.X, SparseRows) else ArraySource.of(X, n_jobs=n_jobs)
    settings: dict[str, Any] = {"weight": weight, "labels": labels, "targets": targets, "unit": unit, "n_jobs": n_jobs}
    if hasattr(X, "tocsr"):
        return SparseSource(X.tocsr(), **settings)
    if is_arrow(X):
        return ParquetSource(X, **settings | {"targets": targets or ()})
    return (DaskSource if is_dask(X) else ArraySource)(X, **settings)


__all__ = [
    "ArraySource", "Block", "DaskSource", "FoldSource", "OneBlock", "ParquetSource", "Patterns", "Source",
    "SparseRows", "SparseSource", "as_source", "check_device", "is_streamed", "placed",
]  # fmt: skip
