"""`Training`: how a network was trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...declared import OBJECTIVE, Numbers, Part, Whole, declare, savable
from ...notes import Note

__all__ = ["Training"]


@savable
@dataclass(frozen=True, eq=False)
class Training:
    """How a network was trained.

    Attributes
    ----------
    bounds : ndarray
        The bound per row of every epoch, on the way through it.
    held_out : ndarray
        The bound of the rows held out after every epoch; of few rows, of which none are, the same as `bounds`.
    n_held_out : int
        How many rows were held out.
    best_epoch : int
        After how many epochs the parameters were best, 0 for those that training started from.
    best : float
        The bound of the rows held out then.
    reason : Note
        Why training ended.
    """

    bounds: np.ndarray
    held_out: np.ndarray
    n_held_out: int
    best_epoch: int
    best: float
    reason: Any
    _saved = declare(
        bounds=Numbers("e", high=1e300), held_out=Numbers("e", high=1e300), n_held_out=Whole(0), best_epoch=Whole(0),
        best=OBJECTIVE, reason=Part(Note),
    )  # fmt: skip
