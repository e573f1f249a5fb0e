"""When boosting ends: the scores of each round, on rows held out or on those that are learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring

from ..source import Source
from .losses import Loss

__all__ = ["Judge", "Keeper", "Rows"]


@dataclass(eq=False)
class Rows:
    """What is learned from: cells, or where they are read; targets or numbers of classes; weights."""

    X: Any
    y: np.ndarray
    weight: np.ndarray | None


@dataclass(eq=False)
class Judge:
    """Rows that tell when to end, by their bins."""

    rows: Rows
    codes: np.ndarray
    raw: Any = None


class Keeper:
    """Scores of each round, and whether they say to end."""

    def __init__(self, model: Any, loss: Loss, rows: Rows, raw: np.ndarray, judge: Judge | None, scores: tuple):
        self.model, self.loss, self.rows, self.raw, self.judge = model, loss, rows, raw, judge
        self.train, self.test = scores
        self.scorer: Any = None
        self.small: Any = None
        if model._scores_rows:
            if isinstance(rows.X, Source):
                raise ValueError(f"scoring={model.scoring!r} needs rows in memory; use 'loss' where they are streamed.")
            self.scorer = check_scoring(model, model.scoring)
            self.small = model._get_small_trainset(rows.X, rows.y, rows.weight, model._random_seed)

    def look(self) -> bool:
        """Enter the scores of this round; whether to end."""
        model, judge = self.model, self.judge
        if not model.do_early_stopping_:
            return False
        if self.scorer is None:
            self.train.append(-self.loss.value(self.rows.y, self.raw, self.rows.weight))
            if judge is not None:
                self.test.append(-self.loss.value(judge.rows.y, judge.raw, judge.rows.weight))
        else:
            X, y, weight, chosen = self.small
            self.train.append(self._scored(X, y, weight, self.raw[chosen]))
            if judge is not None:
                self.test.append(self._scored(judge.rows.X, judge.rows.y, judge.rows.weight, judge.raw))
        return model._should_stop(self.test if judge is not None else self.train)

    def _scored(self, X: Any, y: np.ndarray, weight: np.ndarray | None, raw: np.ndarray) -> float:
        """What the scorer says of predictions that are known already."""
        model, more = self.model, {} if weight is None else {"sample_weight": weight}
        model._raw_given = raw
        try:
            return self.scorer(model, X, model._told_targets(y), **more)
        finally:
            del model._raw_given

    def told(self) -> str:
        parts = [
            f", {name} {each[-1]:.5g}" for name, each in (("train", self.train), ("validation", self.test)) if each
        ]
        return "".join(parts)
