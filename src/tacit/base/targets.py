"""What regressors say of targets that are classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import as_numpy
from ..frames import is_numeral
from ..kernels import backend

__all__ = ["refuse_text"]


def refuse_text(model: Any, y: Any) -> None:
    """Raise where a target of a regressor is a text that is no number, naming it and the classifier that takes it."""
    y = as_numpy(y)
    if backend(y) == "torch":
        return
    cells = np.asarray(y)
    if cells.dtype.kind not in "OU":
        return
    for place, cell in enumerate(cells.ravel().tolist()):
        if isinstance(cell, str) and not is_numeral(cell):
            row = place // (cells.shape[1] if cells.ndim == 2 else 1)
            name = type(model).__name__
            raise ValueError(
                f"y holds {cell!r} (row {row}), but {name} predicts numbers; use {name.replace('Regressor', 'Classifier')} for "
                "classes, or give numbers."
            )
