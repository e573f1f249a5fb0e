"""Patches of images: add them up where they lie.

total(p) = Σ w x,    mass(p) = Σ w    over the cells of all patches that lie on pixel p
"""

from .jit import jit


@jit
def add_patches(rows, weight, first, tops, lefts, width, total, mass):
    """Add `rows`, the patches from number `first` on, to `total` and `mass`; missing cells add nothing.

    `weight` has a column per cell, one for all cells, or none. Channels lie side by side: `width` cells make a line of a patch.
    """
    n_lines, n_weights = rows.shape[1] // width, weight.shape[1]
    for r in range(rows.shape[0]):
        top, left = tops[(first + r) // lefts.size], lefts[(first + r) % lefts.size]
        share = weight[r, 0] if n_weights == 1 else 1.0
        for i in range(n_lines):
            for j in range(width):
                value = rows[r, i * width + j]
                if value == value:
                    if n_weights > 1:
                        share = weight[r, i * width + j]
                    total[top + i, left + j] += share * value
                    mass[top + i, left + j] += share
