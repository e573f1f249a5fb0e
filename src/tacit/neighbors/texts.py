"""Texts as rows of codes, which the edit distance compares."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import as_numpy
from ..frames import is_missing

__all__ = ["read_texts"]


def read_texts(X: Any) -> np.ndarray:
    """Codes of the characters of texts, (n, longest), −1 where a text has ended."""
    cells = np.asarray(as_numpy(X), dtype=object)
    cells = cells[:, 0] if cells.ndim == 2 and cells.shape[1] == 1 else cells
    if cells.ndim != 1:
        raise ValueError(f"metric='edit' takes one text a row, but X has shape {cells.shape}; give a list of texts.")
    if not len(cells):
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    for i, text in enumerate(cells.tolist()):
        if not isinstance(text, str):
            told = "is missing" if is_missing(text) else f"is {text!r}"
            raise ValueError(
                f"metric='edit' compares texts, but row {i} of X {told}; leave it out, or write it as text."
            )
    codes = np.full((len(cells), max(1, *map(len, cells))), -1, np.int32)
    for i, text in enumerate(cells):
        codes[i, : len(text)] = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.int32)
    return codes
