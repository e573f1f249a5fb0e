"""`CenterEstimator`: the scikit-learn face of clusters around centres, written once."""

import numbers
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..base import EMEstimator, Task, like
from ..base.settings import KW_ONLY, settings
from ..checks import check_choice, check_number
from ..declared import SQUARES, Numbers
from ..engine import InertiaLines, Trace
from ..kernels import backend, host
from ..source import Source, SparseSource
from .model import CenterModel
from .seeds import column_sums, oversampled, seed_rows

__all__ = ["CenterEstimator", "Spread", "check_enough"]

INITS = ("k-means++", "k-means||", "random")


@dataclass(frozen=True)
class Spread:
    """What a fit knows of its rows: their mean, about which sums are taken, the columns' mean variance, and given centres."""

    origin: np.ndarray
    variance: float
    given: np.ndarray | None


@settings
class CenterEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, EMEstimator):
    """Base of estimators whose clusters have centres.

    A subclass defines ``_model()`` and `_power`, of the distance: Σ_j |x_j − c_j|^power.
    """

    n_clusters: int = 8
    _: KW_ONLY
    init: Any = "k-means++"
    n_init: Any = "auto"
    max_iter: int = 300
    tol: float = 1e-4
    verbose: int = 0
    random_state: Any = None
    n_jobs: int | None = None
    callback: Callable | None = None

    _saved = EMEstimator._saved | {
        "cluster_centers_": Numbers("K d"),
        "labels_": Numbers("n", low=0, below="K", kind="i"),
        "inertia_": Numbers(low=0, high=SQUARES),
    }
    _needs = ("init",)
    _power = 2
    _min_rows = 1

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() | {"K": self.n_clusters}

    @property
    def _n_classes(self) -> int:  # type: ignore[override]
        return self.n_clusters

    @property
    def _n_init(self) -> int:
        return self._n_starts(None)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_settings(self) -> None:
        self._check_engine(fewest_steps=1)
        if not isinstance(self.n_clusters, numbers.Number):
            raise ValueError(
                f"n_clusters={self.n_clusters!r} is not a whole number of at least 1; tacit.cluster.k_curve tries several."
            )
        check_number("n_clusters", self.n_clusters, numbers.Integral, 1)
        check_number("n_init", self.n_init, numbers.Integral, 1, also=("auto",))
        if self.callback is not None and not callable(self.callback):
            raise ValueError(f"callback={self.callback!r} is not callable; give a function of one argument, or None.")
        if isinstance(self.init, str):
            check_choice("init", str(self.init), INITS)

    # Learning

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
    ) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), sparse matrix, path, Arrow data, Dask collection or source
            Rows; NaN is missing. A path names a Parquet file or a folder of them, which is read in a stream. Sparse rows are
            for `KMeans` and `MiniBatchKMeans`, and have no missing cells.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: weight 2 counts as the row given twice. For a path, the name of a column.
        checkpoint : path, optional
            A file that keeps the state of the fit. If it exists, the fit goes on from there; it is removed at the end.
        checkpoint_every : float, default=60
            Seconds between writes of the checkpoint.

        Returns
        -------
        self
        """
        self._check_settings()
        source = self._open(X, sample_weight, reset=True)
        check_enough(source.n_rows, self.n_clusters)
        with warnings.catch_warnings():
            # As in scikit-learn; where a fit is stopped before it ends by itself, `fit_.reason` says so.
            warnings.simplefilter("ignore", ConvergenceWarning)
            task = self._learn(source, checkpoint=checkpoint, checkpoint_every=checkpoint_every)
        self._label(task.source)
        self._check_distinct()
        return self

    def _prepare(self, source: Source) -> Spread:
        """Find the spread of the columns, which `tol` is relative to."""
        origin = host(source.take(source.eligible()[:1]).X)[0].astype(np.float64)
        origin = np.where(np.isnan(origin), 0.0, origin)
        sums = source.sum(partial(column_sums, origin))
        weight = np.where(sums.weight > 0, sums.weight, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            variance = float(np.maximum(sums.square / weight - (sums.total / weight) ** 2, 0.0).mean())
        _check_scale(variance, source)
        return Spread(_origin(origin + sums.total / weight, variance, source), variance, self._given(source))

    def _given(self, source: Source) -> np.ndarray | None:
        """Centres that were given to start from, or None."""
        if isinstance(self.init, str) or callable(self.init):
            return None
        if self.n_init not in ("auto", 1):
            warnings.warn(
                "Explicit initial center position passed: performing only one init in "
                f"{type(self).__name__} instead of n_init={self.n_init}.",
                RuntimeWarning,
                stacklevel=5,
            )
        return self._check_centers(self.init, source)

    def _check_centers(self, center: Any, source: Source) -> np.ndarray:
        center = center.toarray() if hasattr(center, "toarray") else center
        center = np.asarray(center, dtype=np.float64)
        for axis, (size, noun) in enumerate(
            [(self.n_clusters, "number of clusters"), (source.n_features, "number of features of the data")]
        ):
            if center.ndim != 2 or center.shape[axis] != size:
                raise ValueError(
                    f"The shape of the initial centers {center.shape} does not match the {noun} {size}; init must have "
                    f"the shape ({self.n_clusters}, {source.n_features})."
                )
        if not np.isfinite(center).all():
            raise ValueError("init holds NaN or infinity; give centres of finite numbers.")
        return center.copy()

    def _tol(self, task: Task) -> float:
        return self.tol * task.known.variance

    def _n_starts(self, model: Any) -> int:
        if not isinstance(self.init, str) and not callable(self.init):
            return 1
        if self.n_init == "auto":
            return 1 if self.init in ("k-means++", "k-means||") else 10
        return self.n_init

    def _sample_rows(self) -> int:
        return max(10_000, 25 * self.n_clusters)

    def _start(self, model: Any, task: Task) -> Any:
        """Parameters to start from."""
        source: Any = task.source
        rng, center = task.rng, task.known.given
        if callable(self.init):
            state = check_random_state(int(rng.integers(2**31)))
            rows = source.X if source.in_memory else task.sample.X
            rows = host(rows) if backend(rows) == "torch" else rows
            center = self._check_centers(self.init(rows, self.n_clusters, random_state=state), source)
        elif center is None and self.init == "k-means||":
            center = oversampled(source, self.n_clusters, rng, power=self._power)
        elif center is None:
            uniform = self.init == "random"
            center, _ = seed_rows(task.sample, self.n_clusters, rng, uniform=uniform, power=self._power)
        return model.at(center, task.known.origin)

    def _callback(self) -> Callable | None:
        return InertiaLines() if self.callback is None and self.verbose else self.callback

    def _bounds(self, trace: Trace) -> list[float]:
        return list(trace.objectives)

    def _publish(self, params: Any, dtype: np.dtype) -> None:
        self.cluster_centers_ = params.center.astype(dtype)

    def _params(self) -> Any:
        check_is_fitted(self)
        center = self.cluster_centers_.astype(np.float64)
        return self._model().at(center, center.mean(axis=0))

    def _searcher(self) -> CenterModel:
        """The model for a single pass."""
        return self._model()

    def _label(self, source: Source) -> None:
        """Set the labels and the loss at the centres that were found."""
        labels, losses = zip(*source.map(partial(self._model().assign, self.fit_.params)))
        self.labels_, self.inertia_ = np.concatenate(labels).astype(np.int32), float(sum(losses))

    def _why_fewer(self) -> str:
        """Why fewer clusters were found than were asked for, as a sentence."""
        return "Possibly due to duplicate points in X."

    def _check_distinct(self) -> None:
        n_found = len(np.unique(self.labels_))
        if n_found < self.n_clusters:
            warnings.warn(
                f"Number of distinct clusters ({n_found}) found smaller than n_clusters ({self.n_clusters}). "
                f"{self._why_fewer()}",
                ConvergenceWarning,
                stacklevel=3,
            )

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Find the clusters and return the one of each row."""
        return self.fit(X, y, sample_weight).labels_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Find the clusters and return the distance of each row to every centre."""
        return self.fit(X, y, sample_weight).transform(X)

    # What follows from the centres

    def predict(self, X: Any, out: Any = None) -> Any:
        """Nearest centre of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        params, model = self._params(), self._searcher()
        return self._apply(X, lambda block: model.assign(params, block)[0].astype(np.int32), out, ["cluster"])

    def transform(self, X: Any, out: Any = None) -> Any:
        """Distance of each row to every centre; over observed cells, scaled up to all, where cells are missing.

        Parameters
        ----------
        X, out
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        params, model = self._params(), self._searcher()
        names = [f"distance_{k}" for k in range(len(self.cluster_centers_))]
        return self._apply(X, lambda block: like(block, model.apart(params, block) ** (1.0 / self._power)), out, names)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the loss of rows: the weighted sum of distances, squared but for medians, to the nearest centre.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        float
        """
        params, model = self._params(), self._searcher()
        source = self._placed(self._open(X, sample_weight))
        return -float(sum(loss for _, loss in source.map(partial(model.assign, params))))


def check_enough(n_rows: int, n_clusters: int) -> None:
    """Raise where there are fewer rows than clusters."""
    if n_rows < n_clusters:
        raise ValueError(f"n_samples={n_rows} should be >= n_clusters={n_clusters}; use at most {n_rows} clusters.")


def _origin(mean: np.ndarray, variance: float, source: Source) -> np.ndarray:
    """The point that sums are taken about: the mean or, of sparse rows, zero, where the mean is within their spread of it."""
    if not isinstance(source, SparseSource):
        return mean
    offset, spread = float((mean**2).sum()), variance * len(mean)
    if 0.0 < 1e12 * spread < offset:
        warnings.warn(
            f"X is sparse, and its mean is {(offset / spread) ** 0.5:.1g} times as long as its rows are spread, so that "
            "distances round badly; subtract the mean from the large columns, or give X as an ordinary array.",
            UserWarning,
            stacklevel=5,
        )
    return mean if offset > spread else np.zeros_like(mean)


def _check_scale(variance: float, source: Source) -> None:
    """Refuse rows whose squares cannot be added up, or whose distances single precision cannot hold, as bounds of them are."""
    spread = np.sqrt(variance)
    if source.dtype != np.float32 and not (spread == 0.0 or 1e-20 < spread < 1e35):
        raise ValueError(
            f"X has a standard deviation of about {spread:.1g}, and distances must lie between 1e-20 and 1e35; divide its "
            "columns by their scale."
        )
    squares = variance * source.n_rows * source.n_features
    if not squares < (1e37 if source.dtype == np.float32 else 1e307):
        remedy = " or give it in float64" if source.dtype == np.float32 else ""
        raise ValueError(
            f"X has a standard deviation of about {np.sqrt(variance):.1g}, so that sums of squares overflow "
            f"{source.dtype}; divide its columns by their scale{remedy}."
        )
