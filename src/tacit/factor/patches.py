"""Patches of an image as rows of a table, and the image back from them.

image(p) = Σ w x / Σ w    over the cells x of all patches that lie on pixel p

A patch is a row like any other: models of rows denoise it, and fill its lost pixels.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..checks import check_number
from ..kernels import lazy

__all__ = ["average_patches", "extract_patches", "patch_blocks"]

compiled = lazy("patches")


def extract_patches(image: Any, size: Any = 8, step: Any = 1) -> np.ndarray:
    """The patches of an image, one a row.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
        Pixels; NaN (or masked) ones are lost, and stay so.
    size : int or (int, int), default=8
        Height and width of a patch.
    step : int or (int, int), default=1
        Pixels from one patch to the next, down and across. The last patch of a line ends at the border whatever the step, so
        that every pixel is in a patch.

    Returns
    -------
    (n_patches, height × width × channels) array
        Of the image's dtype; patches and their pixels are in the order of reading, channels innermost.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.factor import average_patches, extract_patches
    >>> image = np.arange(30.0).reshape(5, 6)
    >>> rows = extract_patches(image, size=2)
    >>> rows.shape
    (20, 4)
    >>> np.allclose(average_patches(rows, image.shape, size=2), image)
    True
    """
    image = _pixels(image)
    grid = Grid(image.shape, size, step)
    return grid.cut(image, grid.tops)


def patch_blocks(image: Any, size: Any = 8, step: Any = 1, block_rows: int = 16384) -> Iterator[np.ndarray]:
    """The patches of an image in blocks, for images whose patches would not fit in memory.

    Parameters
    ----------
    image, size, step
        As in `extract_patches`.
    block_rows : int, default=16384
        Patches to a block, about: blocks are whole lines of patches, and at least one.

    Yields
    ------
    (rows, cells) array
        What `extract_patches` returns, piece by piece.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.factor import average_patches, patch_blocks
    >>> image = np.arange(600.0).reshape(20, 30)
    >>> blocks = (rows + 1.0 for rows in patch_blocks(image, size=4, block_rows=100))
    >>> np.allclose(average_patches(blocks, image.shape, size=4), image + 1.0)
    True
    """
    check_number("block_rows", block_rows, numbers.Integral, 1)
    image = _pixels(image)
    grid = Grid(image.shape, size, step)
    n_lines = max(block_rows // len(grid.lefts), 1)
    return (grid.cut(image, grid.tops[i : i + n_lines]) for i in range(0, len(grid.tops), n_lines))


def average_patches(rows: Any, shape: Any, size: Any = 8, step: Any = 1, weight: Any = None) -> np.ndarray:
    """The image whose patches are the given rows, averaged where they overlap.

    Parameters
    ----------
    rows : (n_patches, cells) array, or an iterator of blocks of them
        Patches in the order of `extract_patches`. Missing cells (NaN) count for nothing. The blocks of an iterator are rows, or
        pairs of rows and their weights; see `patch_blocks`.
    shape : (height, width) or (height, width, channels)
        Of the image.
    size, step : int or (int, int)
        As the patches were extracted.
    weight : (n_patches,) or (n_patches, cells) array, optional
        Of each patch, or of each of its cells, such as the inverse of its variance: estimates that are surer then count for more.

    Returns
    -------
    array of that shape
        float32 where the rows are, else float64; NaN where no cell with a weight lies.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.factor import average_patches
    >>> rows = np.array([[0.0, 1.0], [5.0, 2.0]])  # of an image of 1 × 3 pixels
    >>> average_patches(rows, (1, 3), size=(1, 2), weight=[3.0, 1.0])
    array([[0., 2., 2.]])
    """
    grid, streamed = Grid(_shape(shape), size, step), hasattr(rows, "__next__")
    if streamed and weight is not None:
        raise ValueError(
            "weight is given beside an iterator of blocks; let it yield pairs of rows and weights instead."
        )
    total, mass = np.zeros((2, grid.shape[0], grid.shape[1] * grid.channels))
    done, dtype = 0, None
    for item in rows if streamed else [(rows, weight)]:
        block, share = item if isinstance(item, tuple) else (item, None)
        block, share = _weighted(block, share, grid.n_cells)
        grid.check_count(done + len(block), more=streamed)
        compiled.add_patches(
            block, share, done, grid.tops, grid.lefts * grid.channels, grid.size[1] * grid.channels, total, mass
        )
        done += len(block)
        dtype = block.dtype if dtype is None else np.result_type(dtype, block.dtype)
    grid.check_count(done, more=False)
    image = np.divide(total, mass, out=np.full_like(total, np.nan), where=mass > 0)
    return image.reshape(grid.shape).astype(dtype, copy=False)


class Grid:
    """Where the patches of an image lie: `tops` and `lefts` are their first lines and first columns."""

    def __init__(self, shape: tuple[int, ...], size: Any, step: Any):
        self.shape, self.size, self.step = shape, _pair("size", size), _pair("step", step)
        if self.size[0] > shape[0] or self.size[1] > shape[1]:
            raise ValueError(
                f"size={size!r} exceeds the image of {shape[0]} × {shape[1]} pixels; use at most {tuple(shape[:2])}."
            )
        if self.step[0] > self.size[0] or self.step[1] > self.size[1]:
            raise ValueError(
                f"step={step!r} exceeds size={size!r}, so that pixels would lie in no patch; use a step of at most the size."
            )
        ends = [n - length for n, length in zip(shape, self.size)]
        self.tops, self.lefts = (np.append(np.arange(0, end, stride), end) for end, stride in zip(ends, self.step))
        self.channels = shape[2] if len(shape) == 3 else 1
        self.n_patches = len(self.tops) * len(self.lefts)
        self.n_cells = self.size[0] * self.size[1] * self.channels

    def cut(self, image: np.ndarray, tops: np.ndarray) -> np.ndarray:
        """The patches of some lines, one a row."""
        band = image[tops[0] : tops[-1] + self.size[0]]
        windows = np.lib.stride_tricks.sliding_window_view(band, self.size, axis=(0, 1))
        if image.ndim == 3:
            windows = np.moveaxis(windows, 2, -1)
        return windows[(tops - tops[0])[:, None], self.lefts].reshape(len(tops) * len(self.lefts), self.n_cells)

    def check_count(self, n_rows: int, *, more: bool) -> None:
        """Raise where there are more patches than there should be or, unless `more` may come, fewer."""
        if n_rows > self.n_patches or (not more and n_rows < self.n_patches):
            raise ValueError(
                f"there are {n_rows} rows, but an image of shape {self.shape} has {self.n_patches} patches of size {self.size} "
                f"and step {self.step}; give the rows of extract_patches, in their order."
            )


def _unmasked(values: Any) -> np.ndarray:
    """An array with NaN where it is masked."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(values.dtype if values.dtype.kind == "f" else np.float64), np.nan)
    return np.asarray(values)


def _pixels(image: Any) -> np.ndarray:
    """An image as an array of numbers, lost pixels as NaN."""
    image = _unmasked(image)
    if image.dtype.kind not in "fiub":
        raise TypeError(f"image holds {image.dtype}; give pixels as numbers.")
    if image.ndim not in (2, 3) or not image.size:
        raise ValueError(f"image has shape {image.shape}; give (height, width) or (height, width, channels).")
    return image


def _shape(shape: Any) -> tuple[int, ...]:
    """The shape of an image, checked."""
    if not _whole(shape) or len(shape) not in (2, 3):
        raise ValueError(
            f"shape={shape!r} is not the shape of an image; give (height, width) or (height, width, channels)."
        )
    return tuple(int(n) for n in shape)


def _pair(name: str, value: Any) -> tuple[int, int]:
    """A number for both directions, or one for each."""
    pair = tuple(value) if np.iterable(value) else (value, value)
    if not _whole(pair) or len(pair) != 2:
        raise ValueError(f"{name}={value!r} is not a whole number of at least 1, nor a pair of them.")
    return int(pair[0]), int(pair[1])


def _whole(values: Any) -> bool:
    """Whether these are whole numbers of at least 1."""
    return np.iterable(values) and all(
        isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 1 for n in values
    )


def _weighted(rows: Any, weight: Any, n_cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and weights as the kernel takes them: a column of weights per cell, one, or none."""
    rows = _unmasked(rows)
    rows = np.ascontiguousarray(rows, dtype=np.float32 if rows.dtype == np.float32 else np.float64)
    if rows.ndim != 2 or rows.shape[1] != n_cells:
        raise ValueError(f"rows have shape {rows.shape}, but a patch has {n_cells} cells; give one patch a row.")
    if weight is None:
        return rows, np.empty((len(rows), 0))
    weight = np.ascontiguousarray(weight, dtype=np.float64)
    if weight.shape not in ((len(rows),), rows.shape):
        raise ValueError(
            f"weight has shape {weight.shape}, but rows have {rows.shape}; give a weight per patch or per cell."
        )
    least, most = weight.min(initial=0.0), weight.max(initial=0.0)
    if not (least >= 0.0 and most < np.inf):  # NaN is neither
        raise ValueError(f"weight holds {least if least < 0 else most:g}; weights must be finite and not negative.")
    return rows, weight.reshape(len(rows), -1)
