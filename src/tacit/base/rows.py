"""`RowsEstimator`: how estimators take rows, whatever holds them, and give results for them block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from ..checks import LARGEST, check_out, check_range, check_rows, check_weight
from ..declared import Names, Spec, Whole
from ..kernels import backend, host
from ..source import ArraySource, Block, Source, SparseSource, placed
from ..source.dask import DaskSource, is_dask
from ..source.parquet import ParquetSource, is_arrow
from ..source.writer import ParquetWriter

__all__ = ["RowsEstimator", "Saved", "like"]

PIECE = 1 << 20  # rows of a tensor looked at together


class Saved:
    """What model files ask of an estimator.

    - ``_saved``: the fitted attributes that a model file holds (see `tacit.declared`);
    - ``_needs``: settings without which a loaded model cannot work, so that it is not saved where they are functions.
    """

    n_features_in_: int
    feature_names_in_: np.ndarray
    _saved: ClassVar[dict[str, Spec]] = {
        "n_features_in_": Whole(1, size="d"), "feature_names_in_": Names("d", needed=False)
    }  # fmt: skip
    _needs: tuple[str, ...] = ()

    def _sizes(self) -> dict[str, int]:
        """Sizes that the shapes of saved attributes are told in; d is the number of columns."""
        return {"d": self.n_features_in_}

    def _check_settings(self) -> None:
        """Raise ValueError where a setting is not what it must be, before a fit and when a model is read from a file."""

    def _check_savable(self) -> None:
        """Raise TypeError where what was fitted holds what no model file can."""

    def _check_loaded(self) -> None:
        """Raise ValueError where attributes read from a file, each of which is sound, do not go together."""


class RowsEstimator(Saved, BaseEstimator):
    """Base of estimators that take rows: they are validated, their columns named, their source chosen, in one place.

    A subclass may override ``_validate``, ``_check_labels`` and ``_check_source``, and declares what it can do:

    - ``_saved`` and ``_needs``, see `Saved`;
    - ``_takes_missing``, ``_takes_sparse``, ``_missing_remedy``: which rows it takes, and what to do about missing values it does
      not take; ``_largest``: the largest cell it takes;
    - ``_study``: what a report can say of it, "groups", "axes", "topics", "ratings", "regimes" or "network";
      ``_for_study()`` is then what is reported on;
    - ``_reads_tables``: whether it has a schema, by which it reads columns of any kind.
    """

    n_jobs: int | None = None
    device: Any = None
    random_state: Any = None
    _takes_missing = True
    _takes_sparse = False
    _missing_remedy = ""
    _study: str | None = None
    _reads_tables = False
    _dtypes: tuple[type, ...] = (np.float64, np.float32)
    _min_rows = 2
    _largest = LARGEST
    _n_classes: int | None = None

    @property
    def _text_remedy(self) -> str:
        """What to do about text where numbers are taken."""
        return (
            f"{type(self).__name__} takes numbers; tables with text are for tacit.mixture.Mixture, "
            "tacit.classification.NaiveBayes and tacit.cluster.KMedoids(metric='gower')"
        )

    def _for_study(self) -> Any:
        """The estimator as studies take it."""
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_missing
        tags.input_tags.sparse = self._takes_sparse
        return tags

    # Opening rows

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """X as an array of floats, or as sparse rows where they are taken."""
        return check_rows(self, X, reset=reset)

    def _open(
        self, X: Any, weight: Any = None, labels: Any = None, targets: Any = None, *, reset: bool = False
    ) -> Source:
        """The source of rows for X: an array, a table, also one of `tacit.tables`, a path, Arrow or Dask data, or a source."""
        if is_arrow(X) or is_dask(X):
            for name, value in (("sample_weight", weight), ("y", labels)):
                if is_arrow(X) and value is not None and not isinstance(value, str):
                    raise ValueError(f"X is read from a file, so {name} must be the name of a column of it.")
            X = self._stream(X, weight, labels, reset=reset)
            weight = labels = None
        if backend(X) == "torch":
            from torch import finfo as finite

            from ..source.torch import TorchSource

            largest = min(self._largest, finite(X.dtype).max)
            # Piece by piece: a mask of all cells would take a quarter of their memory.
            if any(bool((part.abs() > largest).any()) for part in X.split(PIECE)):
                if any(bool(part.isinf().any()) for part in X.split(PIECE)):
                    raise ValueError("X contains infinity; replace it, or set the cell to NaN if it is missing.")
                if reset:
                    check_range(host(X), self._largest, self._told)
            weight, labels = check_weight(weight, len(X)), self._check_labels(labels, len(X))
            X, weight, labels, targets = TorchSource(X, weight, labels, targets), None, None, None
        if type(X).__name__ == "DataTable":  # of tacit.tables, which is loaded where tables are read
            X = (X if reset else X.like(self._columns_told(), getattr(self, "unknown", "error"))).source(
                n_jobs=self.n_jobs
            )
        if isinstance(X, Source):
            if weight is not None or labels is not None or targets is not None:
                raise ValueError("a source carries its own weights and labels; give sample_weight and y to the source.")
            self._check_source(X, reset)
            return X
        X = self._validate(X, reset=reset)
        if reset and backend(X) == "cpu":
            self._check_columns(X)
        return self._in_memory(X, weight, labels, targets)

    def _in_memory(self, X: Any, weight: Any = None, labels: Any = None, targets: Any = None) -> Source:
        """The source for rows that were validated."""
        kind = SparseSource if hasattr(X, "tocsr") else ArraySource
        n_rows = X.shape[0]
        weight, labels = check_weight(weight, n_rows), self._check_labels(labels, n_rows)
        source = kind(X, weight, labels, targets, n_jobs=self.n_jobs)
        source.columns = self._known_names()
        return source

    def _stream(self, X: Any, weight: Any, labels: Any, *, reset: bool, **more: Any) -> Source:
        """The source for a path, Arrow data or Dask data; the columns are those seen at fit. `more` is told the source."""
        kind = ParquetSource if is_arrow(X) else DaskSource
        columns = None if reset else self._known_names()
        return kind(X, columns, weight=weight, labels=labels, n_jobs=self.n_jobs, **more)

    def _placed(self, source: Source) -> Source:
        """The source of the same rows on the device that the settings name."""
        return placed(source, self.device)

    def _known_names(self) -> list | None:
        """Names of the columns seen at fit, None where they have none."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _column_names(self) -> list[str]:
        """Names of the columns, x0, x1, … where they have none."""
        return self._known_names() or [f"x{j}" for j in range(self.n_features_in_)]

    def _check_source(self, source: Source, reset: bool) -> None:
        """Raise where a source does not suit; at fit, take note of its columns."""
        if isinstance(source, SparseSource) and not get_tags(self).input_tags.sparse:
            raise TypeError(f"{type(self).__name__} takes no sparse rows; give it the rows as an ordinary array.")
        if reset:
            self.n_features_in_ = source.n_features
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            if source.columns:
                self.feature_names_in_ = np.array(source.columns, dtype=object)
            source.n_classes = self._n_classes
            if source.n_rows < self._min_rows:
                raise ValueError(f"Found array with {source.n_rows} sample(s); at least {self._min_rows} are needed.")
            if source.observed is not None:
                self._check_observed(source.observed)
        elif source.columns and self._known_names():
            if list(source.columns) != self._known_names():
                raise ValueError(
                    f"the source has the columns {', '.join(source.columns)}, but the feature names seen at fit are "
                    f"{', '.join(map(str, self.feature_names_in_))}; give it these columns in this order."
                )
        elif source.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {source.n_features} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )

    def _check_labels(self, y: Any, n_rows: int) -> np.ndarray | None:
        """Known classes of rows, checked; by default they are ignored."""
        return None

    def _check_columns(self, X: np.ndarray) -> None:
        maybe = np.flatnonzero(np.isnan(X[0]))
        observed = np.ones(X.shape[1], bool)
        observed[maybe] = ~np.isnan(X[:, maybe]).all(axis=0)
        self._check_observed(observed)

    def _check_observed(self, observed: np.ndarray) -> None:
        if not observed.all():
            column = self._told(int(np.argmin(observed)))
            raise ValueError(f"column {column} has no observed value; drop it before fitting.")

    def _told(self, column: int) -> str:
        """A column as messages name it."""
        names = self._known_names()
        return str(column) if names is None else f"{column} ({names[column]!r})"

    def _columns_told(self) -> list[dict]:
        """The columns as the notes of a model file have them, to open a table by."""
        names = self._known_names() or [f"column_{position + 1}" for position in range(self.n_features_in_)]
        return [{"name": str(name), "role": "measurement", "reading": "number", "levels": []} for name in names]

    # Results for rows

    def _results(self, X: np.ndarray) -> dict[str, np.ndarray]:
        """What a table of results says of rows, by the name of its column."""
        if hasattr(self, "predict"):
            found = {"predicted": np.asarray(self.predict(X))}
            if hasattr(self, "predict_proba"):
                found |= {f"probability_{k}": part for k, part in enumerate(np.asarray(self.predict_proba(X)).T)}
            return found
        if not hasattr(self, "transform"):
            raise ValueError(f"a {type(self).__name__} neither predicts nor transforms new rows.")
        made = np.asarray(self.transform(X))
        made = made[:, None] if made.ndim == 1 else made
        names = [str(name) for name in self.get_feature_names_out()] if hasattr(self, "get_feature_names_out") else []
        names = names if len(names) == made.shape[1] else [f"value_{k}" for k in range(made.shape[1])]
        return dict(zip(names, made.T))

    def _apply(
        self, X: Any, function: Callable[[Block], np.ndarray], out: Any = None, names: Sequence[str] = ()
    ) -> Any:
        """function(block) over all blocks: one array, or columns of a Parquet file where `out` is given."""
        check_is_fitted(self)
        source = self._placed(self._open(X))
        if out is None:
            return self._collected(source, function)
        check_out(X, out)
        with ParquetWriter(out) as writer:
            for part in source.map(function):
                writer.write({name: column for name, column in zip(names, np.atleast_2d(part.T))})
        return out

    def _collected(self, source: Source, function: Callable[[Block], np.ndarray]) -> np.ndarray:
        """function(block) over all blocks, in the order in which rows were given."""
        return np.concatenate(list(source.map(function)))

    def _rng(self, random_state: Any = None) -> np.random.Generator:
        """A generator seeded by `random_state` or, where it is None, by the estimator's own."""
        seed = self.random_state if random_state is None else random_state
        return np.random.default_rng(check_random_state(seed).randint(2**31))


def like(block: Block, values: np.ndarray) -> np.ndarray:
    """Values in the precision of the block.

    Parameters
    ----------
    block : Block
        Rows of float32 or float64.
    values : ndarray
        What was computed of them.
    """
    return values.astype(block.dtype)
