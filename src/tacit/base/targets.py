"""What regressors say of targets that are classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import as_numpy
from ..kernels import backend

__all__ = ["refuse_text"]


def refuse_text(model: Any, y: Any, classifier: str) -> None:
    """Raise where a target is a text that is no number, naming it and the classifier that takes it."""
    y = as_numpy(y)
    if backend(y) == "torch":
        return
    cells = np.asarray(y)
    if cells.dtype.kind not in "OU":
        return
    for place, cell in enumerate(cells.ravel().tolist()):
        if isinstance(cell, str) and not _is_number(cell):
            row = place // (cells.shape[1] if cells.ndim == 2 else 1)
            raise ValueError(
                f"y holds {cell!r} (row {row}), but {type(model).__name__} predicts numbers; use {classifier} for classes, "
                "or give numbers."
            )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
