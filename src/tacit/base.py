"""`EMEstimator`: the scikit-learn face of every model that the engine learns, written once."""

import hashlib
import numbers
import warnings
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from .checks import check_choice, check_number, check_out, check_rows, check_weight
from .engine import (
    ACCELERATORS,
    Checkpoint,
    Fit,
    Online,
    ProgressLines,
    Trace,
    fit_best,
    objective,
    online_pass,
    short_runs,
)  # fmt: skip
from .engine.restarts import SAMPLE_ROWS
from .engine.trace import CRITERIA
from .kernels import backend
from .source import ArraySource, Source, SparseSource
from .source.dask import DaskSource, is_dask
from .source.parquet import ParquetSource, is_arrow
from .source.writer import ParquetWriter

__all__ = ["EMEstimator", "like"]

NOT_CONVERGED = (
    "Best performing initialization did not converge. Try different init parameters, or increase max_iter, tol, or check "
    "for degenerate data."
)


class EMEstimator(BaseEstimator):
    """Base of estimators whose model the engine learns.

    A subclass defines ``_model()`` (the model its settings describe), ``_publish(params, dtype)`` (set fitted attributes) and
    ``_params()`` (make parameters from fitted attributes), and may override ``_start``.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _validate(self, X, *, reset):
        return check_rows(self, X, reset=reset)

    @property
    def trace_(self):
        """The objective after every step; ``trace_.plot()`` draws it."""
        check_is_fitted(self)
        return self.fit_.trace

    def _check_settings(self):
        self._check_engine()
        check_number("n_init", self.n_init, numbers.Integral, 1)
        check_number("n_components", self.n_components, numbers.Integral, 1)

    def _check_engine(self, fewest_steps=0):
        """Raise where a setting of the engine is not what it must be."""
        if self.n_jobs not in (None, -1):
            check_number("n_jobs", self.n_jobs, numbers.Integral, 1)
        check_number("tol", self.tol, numbers.Real, 0)
        check_number("max_iter", self.max_iter, numbers.Integral, fewest_steps)
        check_number("verbose_interval", self.verbose_interval, numbers.Integral, 1)
        check_choice("convergence", self.convergence, CRITERIA)
        check_choice("accelerate", self.accelerate, ("auto", *ACCELERATORS, "off", None))

    def _open(self, X, weight=None, labels=None, *, reset=False):
        """The source of rows for X, which may be an array, a table, a path, Arrow data, Dask data or a source."""
        if is_arrow(X) or is_dask(X):
            for name, value in (("sample_weight", weight), ("y", labels)):
                if is_arrow(X) and value is not None and not isinstance(value, str):
                    raise ValueError(f"X is read from a file, so {name} must be the name of a column of it.")
            X = self._stream(X, weight, labels, reset=reset)
            weight = labels = None
        if backend(X) == "torch":
            from .source.torch import TorchSource

            if X.isinf().any():
                raise ValueError("X contains infinity; replace it, or set the cell to NaN if it is missing.")
            weight, labels = check_weight(weight, len(X)), self._check_labels(labels, len(X))
            X, weight, labels = TorchSource(X, weight, labels), None, None
        if isinstance(X, Source):
            if weight is not None or labels is not None:
                raise ValueError("a source carries its own weights and labels; give sample_weight and y to the source.")
            self._check_source(X, reset)
            return X
        X = self._validate(X, reset=reset)
        if backend(X) == "sparse":
            return SparseSource(X, check_weight(weight, X.shape[0]), n_jobs=self.n_jobs)
        if reset:
            self._check_columns(X)
        return self._in_memory(X, weight, labels)

    def _in_memory(self, X, weight, labels):
        """The source for rows that were validated."""
        weight, labels = check_weight(weight, len(X)), self._check_labels(labels, len(X))
        source = ArraySource(X, weight, labels, n_jobs=self.n_jobs)
        source.columns = list(getattr(self, "feature_names_in_", [])) or None
        return source

    def _stream(self, X, weight, labels, *, reset):
        """The source for a path, Arrow data or Dask data; the columns are those seen at fit."""
        kind = ParquetSource if is_arrow(X) else DaskSource
        columns = None if reset else list(getattr(self, "feature_names_in_", [])) or None
        return kind(X, columns, weight=weight, labels=labels, n_jobs=self.n_jobs)

    feature_names_in_: np.ndarray
    _min_rows = 2

    def _check_source(self, source, reset):
        if isinstance(source, SparseSource) and not get_tags(self).input_tags.sparse:
            raise TypeError(f"{type(self).__name__} takes no sparse rows; give it the rows as an ordinary array.")
        if reset:
            self.n_features_in_ = source.n_features
            if hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
            if getattr(source, "columns", None):
                self.feature_names_in_ = np.array(source.columns, dtype=object)
            source.n_classes = self._n_classes
            if source.n_rows < self._min_rows:
                raise ValueError(f"Found array with {source.n_rows} sample(s); at least {self._min_rows} are needed.")
            if hasattr(source, "observed"):
                self._check_observed(source.observed)
        elif getattr(source, "columns", None) and hasattr(self, "feature_names_in_"):
            if list(source.columns) != list(self.feature_names_in_):
                raise ValueError(
                    f"the source has the columns {', '.join(source.columns)}, but the feature names seen at fit are "
                    f"{', '.join(map(str, self.feature_names_in_))}; give it these columns in this order."
                )
        elif source.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {source.n_features} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )

    @property
    def _n_classes(self):
        return self.n_components

    def _check_labels(self, y, n_rows):
        return None

    def _check_columns(self, X):
        maybe = np.flatnonzero(np.isnan(X[0]))
        observed = np.ones(X.shape[1], bool)
        observed[maybe] = ~np.isnan(X[:, maybe]).all(axis=0)
        self._check_observed(observed)

    def _check_observed(self, observed):
        if not observed.all():
            j = int(np.argmin(observed))
            name = f" ({self.feature_names_in_[j]!r})" if hasattr(self, "feature_names_in_") else ""
            raise ValueError(f"column {j}{name} has no observed value; drop it before fitting.")

    def _prepare(self, source):
        """Set what the model needs to know of the rows before it is learned."""

    def _tol(self, source):
        """Improvement per unit of weight below which the fit has settled."""
        return self.tol

    def _bounds(self, trace):
        """What is published of the objectives."""
        return [value / trace.weight for value in trace.objectives]

    def _rng(self, random_state=None):
        """A generator seeded by `random_state` or, where it is None, by the estimator's own."""
        seed = self.random_state if random_state is None else random_state
        return np.random.default_rng(check_random_state(seed).randint(2**31))

    def _start_is_given(self):
        """Whether the settings say where to start, so that no other start will do."""
        return False

    def _start(self, model, sample, rng):
        """Parameters to start from; deterministic starts are not repeated."""
        return short_runs(model, sample, partial(model.init, sample, rng))

    def _sample_rows(self):
        """Rows that starts are chosen among."""
        return SAMPLE_ROWS

    def _n_starts(self, model):
        return 1 if getattr(model, "one_start", False) else self.n_init

    def _callback(self):
        if self.callback is None and self.verbose:
            return ProgressLines(self.verbose, self.verbose_interval)
        return self.callback

    def _resume(self, model):
        """Parameters of the last fit, to go on from."""
        return self._params()

    def _learn(self, source, *, model=None, starts=None, online=False, checkpoint=None, checkpoint_every=60.0):
        """Fit the model to rows and publish what was learned; `starts` are parameters to begin with, default its own."""
        self._prepare(source)
        model, rng, previous = model or self._model(), self._rng(), None
        if starts is not None:
            starts = [lambda start=start: start for start in starts]
        elif self.warm_start and hasattr(self, "fit_"):
            params, previous = self._resume(model), next(iter(self.fit_.trace.per_weight[-1:]), None)
            starts = [lambda: params]
        else:
            sample = source.sample(self._sample_rows(), rng)
            starts = [partial(self._start, model, sample, rng)] * self._n_starts(model)
        if online:
            starts = [partial(_online_start, model, source, start) for start in starts]
        if source.labelled:
            fit = _one_pass(model, source, starts[0]())
        else:
            kept = None
            if checkpoint is not None:
                template = model.init(source.sample(100, np.random.default_rng(0)), np.random.default_rng(0))
                kept = Checkpoint(checkpoint, template, self._identity(source), every=checkpoint_every, rng=rng)
            fit = fit_best(
                model, source, starts, max_iter=self.max_iter, tol=self._tol(source), criterion=self.convergence,
                previous=previous, accelerate=self.accelerate, callback=self._callback(), checkpoint=kept,
            )  # fmt: skip
        self._publish_fit(fit, source.dtype)
        self._online = None
        if fit.stats is not None:
            weight = fit.stats.weight
            self._online = Online(fit.params, (1.0 / weight) * fit.stats, steps=1, weight=weight)
        if fit.interrupted:
            warnings.warn(f"{fit.reason}; what was learned so far is kept.", UserWarning, stacklevel=3)
        elif self.max_iter > 0 and not fit.converged:
            warnings.warn(NOT_CONVERGED, ConvergenceWarning, stacklevel=3)

    def _publish_fit(self, fit, dtype):
        self.fit_ = fit
        self.converged_ = fit.converged
        self.n_iter_ = len(fit.trace)
        self.lower_bounds_ = self._bounds(fit.trace)
        self.lower_bound_ = self.lower_bounds_[-1] if self.lower_bounds_ else -np.inf
        self._publish(fit.params, dtype)

    def _identity(self, source):
        """What a checkpoint belongs to: settings that matter, and the rows."""
        digest = hashlib.sha256(f"{type(self).__name__} {source.n_rows} {source.n_features}".encode())
        for name, value in sorted(self.get_params().items()):
            if name not in ("callback", "n_jobs", "verbose", "verbose_interval"):
                digest.update(f"{name}={_settled(value)}".encode())
        for block in source:
            rows = block.X
            cells = (rows.data, rows.indices, rows.indptr) if backend(rows) == "sparse" else (rows,)
            for array in (*cells, block.weight, block.labels):
                digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

    def _apply(self, X, function, out=None, names=None):
        """function(block) over all blocks: one array, or columns of a Parquet file where `out` is given."""
        check_is_fitted(self)
        source = self._open(X)
        if out is not None:
            check_out(X, out)
        if out is None:
            return np.concatenate(list(source.map(function)))
        with ParquetWriter(out) as writer:
            for part in source.map(function):
                writer.write({name: column for name, column in zip(names, np.atleast_2d(part.T))})
        return out


def _settled(value):
    """A setting as text that says all of it."""
    if isinstance(value, np.random.RandomState):
        return [_settled(part) for part in value.get_state()]
    return value.tolist() if isinstance(value, np.ndarray) else repr(value)


def like(block, values):
    """Values in the precision of the block.

    Parameters
    ----------
    block : Block
        Rows of float32 or float64.
    values : ndarray
        What was computed of them.
    """
    return values.astype(block.dtype)


def _online_start(model, source, start):
    """Where a pass that learns after every block leads from a start."""
    return online_pass(model, source, start()).params


def _one_pass(model, source, start):
    """The complete-data estimate: with every class known, one M-step is the maximum."""
    params = model.m_step(source.sum(partial(model.e_step, start)), start)
    stats = source.sum(partial(model.e_step, params))
    trace = Trace()
    trace.record(objective(model, stats, params), stats.weight)
    return Fit(params, trace, "every class was known, so one pass gave the maximum", converged=True, stats=stats)
