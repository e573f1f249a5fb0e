"""What neighbours count: all the same, by 1 / distance, or as a function says."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import check_choice

__all__ = ["check_weights", "ragged", "weights_of", "weights_within"]


def check_weights(weights: Any) -> None:
    """Raise where `weights` is neither a name, nor None, nor a function."""
    if not callable(weights):
        check_choice("weights", weights, ("uniform", "distance", None))


def weights_of(distances: np.ndarray, weights: Any) -> np.ndarray:
    """Weights of neighbours at these distances, (queries, k); those at distance 0 alone count, where there are any."""
    given = weights(distances) if callable(weights) else None
    if given is not None:
        found = np.asarray(given)
        if found.shape != distances.shape:
            raise ValueError(
                f"weights={weights!r} gives an array of shape {found.shape} for distances of shape {distances.shape}; give one "
                "weight "
                "for each."
            )
        if len(found) and (found == 0).all(axis=1).any():
            raise ValueError(
                "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this case if you are "
                "using a "
                f"user-defined function. The first is row {int(np.argmax((found == 0).all(axis=1)))}."
            )
        return found
    if weights != "distance":
        return np.ones(distances.shape)
    same = distances == 0.0
    with np.errstate(divide="ignore"):
        return np.where(same.any(axis=1, keepdims=True), same, 1.0 / distances)


def weights_within(count: np.ndarray, distances: np.ndarray, weights: Any) -> np.ndarray:
    """As `weights_of`, for as many neighbours of each query as `count` tells, one query after the other."""
    given = weights(ragged(count, distances)) if callable(weights) else None
    if given is not None:
        return np.concatenate([np.empty(0), *given]).astype(np.float64)
    if weights != "distance":
        return np.ones(len(distances))
    owner, same = np.repeat(np.arange(len(count)), count), distances == 0.0
    alone = np.bincount(owner, same, minlength=len(count))[owner] > 0
    with np.errstate(divide="ignore"):
        return np.where(alone, same, 1.0 / distances)


def ragged(count: np.ndarray, values: np.ndarray) -> np.ndarray:
    """An array of arrays, one for each query."""
    out = np.empty(len(count), dtype=object)
    out[:] = np.split(values, np.cumsum(count)[:-1]) if len(count) else []
    return out
