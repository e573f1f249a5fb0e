"""`Data`: what a model learns from and is judged by, of any kind, cut into parts: rows, sequences, documents, ratings."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples, has_fit_parameter

from ..checks import as_numpy, check_weight
from ..frames import is_missing

__all__ = ["Data", "is_recommender", "learned", "named"]


@dataclass(frozen=True, eq=False)
class Data:
    """Rows with what belongs to them; a unit is what is never cut: a row or, with `lengths`, a sequence.

    Attributes
    ----------
    X : array, frame, sparse matrix, list, Corpus or Ratings
    y : array-like or None
    weight : array or None
        Weights of rows.
    lengths : (n_units,) int array or None
        Steps of each sequence, whose rows follow each other.
    groups : (n_units,) array or None
        Units that belong together.
    """

    X: Any
    y: Any = None
    weight: np.ndarray | None = None
    lengths: np.ndarray | None = None
    groups: np.ndarray | None = None

    @classmethod
    def of(
        cls, X: Any, y: Any = None, sample_weight: Any = None, lengths: Any = None, groups: Any = None, *,
        model: Any = None,
    ) -> Self:  # fmt: skip
        """Check what is given; targets with missing values are refused."""
        if isinstance(X, (str, os.PathLike)) or (hasattr(X, "sum") and hasattr(X, "n_units")):
            raise ValueError(
                f"X is a {type(X).__name__}, of which no rows can be taken here; read the rows into memory first, or take a "
                "sample of them."
            )
        X = as_numpy(X)
        if hasattr(X, "tocsr"):
            X = X.tocsr()  # rows can be taken of no other format
        elif hasattr(X, "__array__") and not hasattr(X, "__getitem__"):
            X = np.asarray(X)
        if isinstance(X, np.ma.MaskedArray):
            X = np.ma.filled(X.astype(float), np.nan)
        if isinstance(X, list) and X and lengths is None and all(getattr(each, "ndim", 0) == 2 for each in X):
            X, lengths = np.concatenate(X), [len(each) for each in X]  # sequences of steps
        if lengths is not None:
            lengths = np.asarray(lengths, dtype=int)
            if lengths.sum() != _num_samples(X):
                raise ValueError(f"lengths add up to {lengths.sum()}, but X has {_num_samples(X)} rows.")
        made = cls(X, y, None, lengths, None if groups is None else np.asarray(groups))
        if y is not None:
            _check_targets(y, made.n_rows, model)
        elif model is not None and get_tags(model).target_tags.required and not is_ratings(X):
            raise ValueError(f"{type(model).__name__} predicts a target, but y is None; give it.")
        plain = y is not None and np.ndim(y) == 1 and model is not None and is_regressor(model)
        first = np.asarray(y)[0] if plain else None
        if first is not None and made.n_rows > 1 and (np.asarray(y) == first).all():
            warnings.warn(
                f"y is {first:g} in all {made.n_rows} rows: every model predicts it, and none can be told from another.",
                UserWarning, stacklevel=3,
            )  # fmt: skip
        return replace(made, weight=check_weight(sample_weight, made.n_rows))

    @cached_property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.X) if is_ratings(self.X) or is_corpus(self.X) else int(_num_samples(self.X))

    @property
    def n_units(self) -> int:
        """How many units."""
        return self.n_rows if self.lengths is None else len(self.lengths)

    @property
    def what(self) -> str:
        """What units are called."""
        return "rows" if self.lengths is None else "sequences"

    def rows(self, units: np.ndarray) -> np.ndarray:
        """The rows of some units."""
        if self.lengths is None:
            return units
        starts = np.cumsum(self.lengths) - self.lengths
        return np.concatenate([np.arange(starts[u], starts[u] + self.lengths[u]) for u in units])

    def take(self, units: np.ndarray) -> Self:
        """Some of the units."""
        rows = self.rows(units)
        return replace(
            self, X=_taken(self.X, rows), y=None if self.y is None else _taken(self.y, rows),
            weight=None if self.weight is None else self.weight[rows],
            lengths=None if self.lengths is None else self.lengths[units],
            groups=None if self.groups is None else self.groups[units],
        )  # fmt: skip

    def classes(self, model: Any) -> Any:
        """The classes that folds are to be spread over, or nothing."""
        if self.y is None or self.lengths is not None or not is_classifier(model) or np.ndim(self.y) != 1:
            return None
        return np.asarray(self.y)

    @property
    def beside(self) -> dict[str, Any]:
        """What methods are told besides."""
        return {} if self.lengths is None else {"lengths": self.lengths}


def learned(model: Any, data: Data) -> Any:
    """A copy of a model, learned from data."""
    fitted, beside = clone(model), data.beside
    if data.weight is not None:
        if not has_fit_parameter(fitted, "sample_weight"):
            raise ValueError(f"{type(model).__name__}.fit takes no sample_weight; leave the weights out.")
        beside["sample_weight"] = data.weight
    return fitted.fit(data.X, **beside) if data.y is None else fitted.fit(data.X, data.y, **beside)


def named(models: Any) -> dict[str, Any]:
    """Models by name: their own, numbered where several have the same."""
    if isinstance(models, Mapping):
        return {str(name): model for name, model in models.items()}
    listed = list(models) if isinstance(models, Iterable) and not hasattr(models, "fit") else [models]
    kinds = [type(model).__name__ for model in listed]
    return {
        kind if kinds.count(kind) == 1 else f"{kind} {kinds[: place + 1].count(kind)}": model
        for place, (kind, model) in enumerate(zip(kinds, listed))
    }


def is_ratings(X: Any) -> bool:
    """Whether X is a table of ratings; nothing is imported to find out."""
    return type(X).__name__ == "Ratings" and type(X).__module__.startswith("tacit.")


def is_corpus(X: Any) -> bool:
    """Whether X is a Corpus."""
    return type(X).__name__ == "Corpus" and type(X).__module__.startswith("tacit.")


def is_recommender(model: Any) -> bool:
    """Whether a model is one of `tacit.recommend`."""
    return any(each.__module__ == "tacit.recommend.base" for each in type(model).__mro__)


def _taken(X: Any, rows: np.ndarray) -> Any:
    return X.take(rows) if is_ratings(X) or is_corpus(X) else _safe_indexing(X, rows)


def _check_targets(y: Any, n: int, model: Any) -> None:
    """As many targets as rows, and none missing, unless they are a second view whose cells may be."""
    if (m := _num_samples(y)) != n:
        raise ValueError(f"X has {n} rows and y {m}; give one target for each row.")
    cells = np.asarray(as_numpy(y)) if not isinstance(y, list) or np.ndim(y[0]) == 0 else None
    if cells is None or cells.dtype.kind in "iub" or (cells.ndim > 1 and hasattr(model, "score_samples")):
        return
    rows = cells.reshape(n, -1)
    number = cells.dtype.kind == "f"
    gone = np.isnan(rows).any(axis=1) if number else np.array([any(map(is_missing, row)) for row in rows.tolist()])
    if gone.any():
        raise ValueError(
            f"y contains NaN (row {int(np.argmax(gone))}); a row without a target can neither teach nor be judged: leave out the "
            f"{int(gone.sum())} rows whose target is missing."
        )
