"""What rows leave uncertain about the parameters of a mixture, as draws of them: data augmentation (Gibbs sampling).

    z_i, x_iM ~ p(z, x_M | x_iO, θ)        π ~ Dirichlet(1 + n_k),   θ_k ~ p(θ | x, z), which families draw

Of one class without missing cells the draws are independent; otherwise they are taken apart by a few sweeps.

References
----------
Tanner and Wong (1987), The calculation of posterior distributions by data augmentation.
Schafer (1997), Analysis of Incomplete Multivariate Data.
"""

from typing import Any

import numpy as np

from ..families.family import centred
from ..families.gaussian import is_constant
from ..source import Block
from ..source.threads import one_blas_thread

__all__ = ["draw_parameters"]

FIRST, APART = 20, 4
"""Sweeps before the first draw, and between draws."""


def draw_parameters(model: Any, params: Any, block: Block, n_draws: int, rng: np.random.Generator) -> list:
    """Draws of the parameters of a mixture given rows, beginning at the estimate."""
    _, mean, variance, _ = centred(block.X, block.weight)
    known = np.isnan(block.X) & is_constant(mean, variance)
    block = _with_cells(block, np.where(known, mean, block.X))
    alone = model.n_classes == 1 and block.patterns.is_complete
    first, apart = (0, 1) if alone else (FIRST, APART)
    draws = []
    with one_blas_thread():  # for matrices as small as these, others would only be waited for
        for sweep in range(first + apart * n_draws):
            params = _sweep(model, params, block, rng)
            if sweep >= first and (sweep - first) % apart == 0:
                draws.append(params)
    return draws


def _sweep(model: Any, params: Any, block: Block, rng: np.random.Generator) -> Any:
    classes = np.where(block.labels >= 0, block.labels, model.draw_classes(params, block, rng))
    known = np.eye(model.n_classes)[classes]
    if not block.patterns.is_complete:
        block = _with_cells(block, model.family.draw(params.components, block, known, 1, rng)[0])
    return model.redraw(params, block, known * block.weight[:, None], rng)


def _with_cells(block: Block, X: np.ndarray) -> Block:
    """The same rows with other cells."""
    return Block.of(X, block.weight, block.labels, block.targets, units=block.units)
