"""How arrays are laid out for the kernels; plain NumPy, so that preparing arguments compiles nothing."""

import numpy as np

__all__ = ["center_tables", "level_columns", "pack_strips", "strip_width", "unpack_strips"]

GROUP = 64  # centres in a table: its columns that occur most stay in the cache


def strip_width(n_features):
    """Columns of a triangle taken at once: narrow strips waste little, wide ones multiply faster."""
    return 8 if n_features <= 32 else 16


def _strips(n_features, width):
    return [(start, min(start + width, n_features)) for start in range(0, n_features, width)]


def pack_strips(triangles, width):
    """Lay upper triangles (classes, d, d) out as strips of columns, each without its zero rows."""
    strips = _strips(triangles.shape[1], width)
    return np.concatenate([triangles[:, :e, s:e].transpose(0, 2, 1).ravel() for s, e in strips])


def unpack_strips(flat, n_classes, n_features, width, zeros=np.zeros):
    """The triangles that `pack_strips` laid out; `zeros` makes the array that they are written to."""
    triangles, at = zeros((n_classes, n_features, n_features)), 0
    for s, e in _strips(n_features, width):
        size = n_classes * (e - s) * e
        triangles[:, :e, s:e] = flat[at : at + size].reshape(n_classes, e - s, e).swapaxes(1, 2)
        at += size
    return triangles


def center_tables(center, offset, dtype):
    """Centres in groups, each transposed to (d, size), and a number of each centre; infinite where a group is not full."""
    n_centers, d = center.shape
    n_groups = -(-n_centers // GROUP)
    size = -(-n_centers // n_groups)
    table, half = np.zeros((n_groups, d, size), dtype), np.full((n_groups, size), np.inf, dtype)
    for g in range(n_groups):
        part = center[g * size : (g + 1) * size]
        table[g, :, : len(part)] = part.T
        half[g, : len(part)] = offset[g * size : (g + 1) * size]
    return table, half


def level_columns(n_levels):
    """For each column, the slice of its levels where all levels lie side by side."""
    ends = np.cumsum(n_levels)
    return [slice(int(end - n), int(end)) for end, n in zip(ends, n_levels)]
