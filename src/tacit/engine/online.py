"""Stepwise EM: parameters from statistics that are blended, batch by batch, with a decaying step.

s ← (1 − η) s + η s(batch) / weight(batch),    η = (t + 2)^−decay,    θ ← M-step(s · weight seen)

The weight seen so far matters only where there is a prior, which it is weighed against.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from .loop import objective
from .model import Model

if TYPE_CHECKING:
    from ..source.source import Source

__all__ = ["Online", "online_pass", "online_step"]


@dataclass(frozen=True)
class Online:
    """What an online fit remembers between batches.

    Attributes
    ----------
    params : Arrays
        The parameters.
    stats : Arrays or None
        Blended statistics, per unit of weight.
    steps : int
        Batches seen.
    score : float
        Objective per unit of weight of the last batch, before learning from it.
    weight : float
        Total weight of the batches seen.
    """

    params: Any
    stats: Any = None
    steps: int = 0
    score: float = float("nan")
    weight: float = 0.0


def online_step(model: Model, source: Source, state: Online, *, decay: float = 0.6, least: float = 0.0) -> Online:
    """Learn from one batch.

    Parameters
    ----------
    model : Model
        What is learned.
    source : Source
        The batch.
    state : Online
        What was learned before.
    decay : float
        How quickly steps shrink, between 0.5 (new batches count most) and 1 (all count the same).
    least : float
        Smallest step; above 0, old batches are forgotten, which follows a drift.
    """
    stats = source.sum(partial(model.e_step, state.params))
    weight = state.weight + stats.weight
    stats = (1.0 / stats.weight) * stats
    score = objective(model, weight * stats, state.params) / weight
    if state.stats is not None:
        size = max((state.steps + 2.0) ** -decay, least)
        stats = (1.0 - size) * state.stats + size * stats
    return Online(model.m_step(weight * stats, state.params), stats, state.steps + 1, score, weight)


def online_pass(model: Model, source: Source, params: Any, **settings: Any) -> Online:
    """One pass over a source, learning after every block: a quick way into the neighbourhood of a maximum.

    Parameters
    ----------
    model : Model
    source : Source
        Rows.
    params : Arrays
        Where to start.
    **settings
        Passed to `online_step`.
    """
    from ..source import OneBlock

    state = Online(params)
    source.remember(model.memory if model.remembers else None)
    for block in source:
        if block.weight.any():
            state = online_step(model, OneBlock(block), state, **settings)
    return state
