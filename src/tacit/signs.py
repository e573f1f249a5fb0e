"""The sign of a vector that is known up to it: s v, s = ±1, such that the largest entry of s v in size is positive."""

import numpy as np

__all__ = ["signs"]


def signs(columns: np.ndarray) -> np.ndarray:
    """±1 by which the largest entry of each column becomes positive."""
    largest = columns[np.abs(columns).argmax(axis=0), np.arange(columns.shape[1])]
    return np.where(largest < 0, -1, 1).astype(columns.dtype)
