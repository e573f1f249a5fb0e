"""`LatentClassEstimator`: the scikit-learn face of models whose hidden state is one class per row."""

import numbers
import warnings
from typing import Any, Self

import numpy as np
from scipy.special import chdtrc, erfcx, gammaln, logsumexp
from sklearn.utils.validation import check_is_fitted

from ..arrays import Arrays
from ..checks import as_numpy, check_number, check_weight
from ..declared import Listed, Names, Numbers, Part
from ..frames import is_missing
from ..kernels import host
from ..source import Block, Source
from ..source.parquet import ParquetSource, is_arrow
from ..words import joined
from .calibration import Calibration
from .density import DensityEstimator
from .missing import MissingCells
from .rows import like
from .settings import KW_ONLY, LoopSettings, settings

__all__ = ["FALSE_ALARMS", "LatentClassEstimator", "log_tail", "outlier_scores", "outlier_threshold"]

UNKNOWN_TEXTS = ("-1", "nan", "None", "<NA>")
"""What arrays of texts hold of labels that are unknown."""
FALSE_ALARMS = 0.05
"""Expected number of rows called outliers among rows that follow the model."""
MOST_TERMS = 200
"""Degrees of freedom up to which tails are sums."""


@settings
class LatentClassEstimator(LoopSettings, MissingCells, DensityEstimator):
    """Base of estimators whose hidden state is one class per row; made by its subclasses, which describe the settings."""

    n_components: int = 1
    _: KW_ONLY
    covariance_type: str = "full"
    reg_covar: float = 1e-6
    n_init: int = 1
    init_params: str = "kmeans"
    warm_start: bool = False
    parameter_draws: int | str = "auto"

    _saved = DensityEstimator._saved | {
        "weights_": Numbers("W", low=0, high=1),
        "classes_": Names("named", labels=True, needed=False),
        "draws_": Listed(Part(Arrays), needed=False),
        "calibration_": Part(Calibration, needed=False, optional=True),
    }
    noise = False  # whether a class of noise stands after the components
    _by_likelihood = True  # whether parameters are numbers that maximise a likelihood, or distributions

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() | {"K": self.n_components, "W": self.n_components + bool(self.noise)}

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        online: bool = False,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
    ) -> Self:
        """Learn the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing. A path names a Parquet file or a folder of them, which is read in a stream. Partitions
            of Dask collections stay on the workers of the current client.
        y : array-like of shape (n_samples,), optional
            Known classes: numbers 0 … n_components − 1, or names, of which the first components are in sorted order
            (``classes_``). −1, None, NaN and pandas.NA stand for unknown. Targets of another task, recognised by other
            numbers of which none is unknown, are ignored with a warning; so is y where there is only one component.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights: weight 2 counts as the row given twice. For a path or a Dask dataframe, y and sample_weight
            name columns.
        online : bool, default=False
            Begin with a pass that learns after every block, which saves passes where there are many rows.
        checkpoint : path, optional
            A file that keeps the state of the fit. If it exists, the fit goes on from there; it is removed at the end.
        checkpoint_every : float, default=60
            Seconds between writes of the checkpoint.

        Returns
        -------
        self
        """
        self._check_settings()
        self.__dict__.pop("classes_", None)  # those that y names
        source = self._open(X, sample_weight, y, reset=True)
        self._check_enough(source)
        self._learn(source, online=online, checkpoint=checkpoint, checkpoint_every=checkpoint_every)
        self._warn_if_collapsed()
        return self

    def _warn_if_collapsed(self) -> None:
        if shrunk := self._model().collapsed(self.fit_.params):
            warnings.warn(
                f"component{'s' * (len(shrunk) > 1)} {joined(shrunk)} collapsed: too few distinct rows for the columns, so that "
                f"the likelihood has no maximum; use fewer than n_components={self.n_components}, a larger reg_covar than "
                f"{self.reg_covar:g} or a covariance_type with fewer parameters.",
                UserWarning,
                stacklevel=3,
            )

    def _check_enough(self, source: Source) -> None:
        if source.n_rows < self.n_components:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {self.n_components}, "
                f"n_samples = {source.n_rows}; use at most {source.n_rows} components."
            )

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more batch of rows, by stepwise EM.

        The first batch sets the start, so it should be typical. Later ones count less and less, as ``(t + 2) ** -0.6``.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        self
        """
        self._learn_batch(X, sample_weight, y)
        self._keep(None)
        return self

    def _check_first_batch(self, source: Source) -> None:
        if source.n_rows < self.n_components:
            raise ValueError(
                f"the first batch has n_samples = {source.n_rows} rows, fewer than n_components = "
                f"{self.n_components}; begin with a larger one."
            )

    def _check_source(self, source: Source, reset: bool) -> None:
        super()._check_source(source, reset)
        _, high = source.label_range or (-1, -1)
        if high >= self.n_components:
            raise ValueError(
                f"y holds {high}, which is no class; known classes are 0 to {self.n_components - 1}, and −1 stands for "
                "unknown. Leave y out for an unsupervised fit."
            )

    def _check_labels(self, y: Any, n_rows: int) -> np.ndarray | None:
        if y is None or self.n_components == 1:
            return None
        y = np.array(y, dtype=object) if isinstance(y, (list, tuple)) else np.asarray(as_numpy(y))
        if y.shape != (n_rows,):
            raise ValueError(f"y has shape {y.shape}, but X has {n_rows} rows; give one label per row, −1 if unknown.")
        given = [] if y.dtype.kind in "biuf" else y.tolist()
        unknown = np.array([is_missing(label) or label == -1 for label in given]) if given else (y == -1) | (y != y)
        named = any(isinstance(label, str) for label in given)
        labels = self._named_classes(given, unknown) if named else self._numbered_classes(y, unknown)
        if labels is None:
            return None
        if (labels >= 0).all():
            warnings.warn(
                "y gives every row's class, so the classes are estimated from it and not searched for; leave y out for an "
                "unsupervised fit.",
                UserWarning,
                stacklevel=3,
            )
        return None if (labels < 0).all() else labels

    def _named_classes(self, y: list, unknown: np.ndarray) -> np.ndarray:
        """Components of classes that are named: the first ones, in the order of the names, which are published."""
        texts = np.array([str(label) for label in y], dtype=object)
        unknown = unknown | np.isin(texts, UNKNOWN_TEXTS)
        if not hasattr(self, "classes_"):
            self.classes_ = np.unique(texts[~unknown])
        found = np.isin(texts, self.classes_)
        if len(self.classes_) > self.n_components:
            raise ValueError(
                f"y names {len(self.classes_)} classes ({joined(self.classes_[:10])}), but n_components={self.n_components}; "
                f"use n_components={len(self.classes_)} or more, or leave y out for an unsupervised fit."
            )
        if not (found | unknown).all():
            raise ValueError(
                f"y names {texts[~(found | unknown)][0]!r}, which is none of the classes of the first rows, "
                f"{joined(self.classes_)}."
            )
        return np.where(unknown, -1, np.searchsorted(self.classes_, texts))

    def _numbered_classes(self, y: np.ndarray, unknown: np.ndarray) -> np.ndarray | None:
        """Components of classes that are given by their numbers; None where y is something else."""
        try:
            labels = np.where(unknown, -1, y).astype(np.float64)
        except (TypeError, ValueError):
            labels = np.full(len(y), np.nan)
        bad = y[~((labels >= -1) & (labels < self.n_components) & (labels == np.floor(labels)))]
        if not bad.size:
            return labels.astype(np.int64)
        fault = (
            f"y holds {bad[:1].tolist()[0]!r}, which is no class; known classes are 0 to {self.n_components - 1}, "
            "and −1 or a missing value stands for unknown"
        )
        if unknown.any():
            raise ValueError(f"{fault}. Leave y out for an unsupervised fit.")
        # Targets of another task, as a pipeline passes them on: scikit-learn's mixtures ignore them too.
        warnings.warn(f"{fault}. y is ignored.", UserWarning, stacklevel=4)
        return None

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn the classes and return the most probable one of each row."""
        if is_arrow(X):
            X = ParquetSource(X, weight=sample_weight, labels=y, n_jobs=self.n_jobs)
            return self.fit(X).predict(X)
        return self.fit(X, y, sample_weight).predict(X)

    def predict(self, X: Any, out: Any = None) -> Any:
        """Most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        ndarray of shape (n_samples,)
            −1 where noise is most probable.
        """
        check_is_fitted(self)
        model, params, k = self._model(), self._params(), self.n_components

        def best(block: Block) -> np.ndarray:
            found = model.posterior(params, block)[0].argmax(axis=1)
            return np.where(found < k, found, -1)

        return self._apply(X, best, out, ["class"])

    def predict_proba(self, X: Any, out: Any = None) -> Any:
        """Probability of each class for each row.

        Parameters
        ----------
        X, out
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            With noise, its probability is the last of n_components + 1 columns.
        """
        check_is_fitted(self)
        model, params = self._model(), self._params()
        names = [f"probability_{k}" for k in range(self.n_components)] + ["probability_noise"] * bool(self.noise)
        return self._apply(X, lambda block: like(block, model.posterior(params, block)[0]), out, names)

    def icl(self, X: Any, sample_weight: Any = None) -> float:
        """Integrated completed likelihood, lower is better: BIC, plus what it costs to name each row's class."""
        best = self.predict_proba(X).astype(np.float64).max(axis=1)
        weight = check_weight(sample_weight, len(best))
        uncertain = -np.log(best)
        return self.bic(X, sample_weight) + 2.0 * float(uncertain.sum() if weight is None else weight @ uncertain)

    # Rows far from all classes

    def outlier_scores(self, X: Any, out: Any = None) -> Any:
        """How far each row lies from the classes, judged by its measurements: larger is more outlying.

        The score is −log of the probability that a row of its class, N(μ_k, Σ_k) on the measurements that are observed, lies
        farther from μ_k; averaged over the classes with the row's probabilities for them. Σ_k of heavy-tailed classes is the
        scale of their Gaussian core, so that rows in the tails count as far out. Noise is farther out than any row of a class.

        Parameters
        ----------
        X, out
            As in `predict`. A row without any observed measurement has score 0.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        model, params = self._model(), self._params()

        def score(block: Block) -> np.ndarray:
            return like(block, outlier_scores(model, params, block, host(model.posterior(params, block)[0])))

        return self._apply(X, score, out, ["outlier_score"])

    def outliers(self, X: Any, level: float | None = None) -> np.ndarray:
        """Which rows are outliers: those farther out than a share `level` of the rows of their class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; NaN is missing.
        level : float, optional
            Between 0 and 1: of rows that follow the model, about 1 − level are called outliers. By default 1 − 0.05 / n_samples,
            so that one in twenty sets of such rows has any; with noise, the rows that `predict` gives −1.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
        """
        if level is None and self.noise:
            return self.predict(X) == -1
        scores = self.outlier_scores(X)
        if level is not None:
            check_number("level", level, numbers.Real, 0, 1)
        return scores > -np.log(outlier_threshold(len(scores)) if level is None else max(1.0 - level, 1e-16))

    def sample(self, n_samples: int = 1) -> tuple:
        """Draw rows from the fitted distribution.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
            The class each row was drawn from.
        """
        check_is_fitted(self)
        if not isinstance(n_samples, numbers.Integral) or n_samples < 1:
            raise ValueError(f"Invalid value for 'n_samples': {n_samples}. The sampling requires at least one sample.")
        return self._model().sample(self._params(), n_samples, self._rng())


def outlier_threshold(n_rows: int) -> float:
    """The probability of lying farther out below which a row among so many is an outlier."""
    return FALSE_ALARMS / max(n_rows, 1)


def outlier_scores(model: Any, params: Any, block: Block, resp: np.ndarray) -> np.ndarray:
    """As `LatentClassEstimator.outlier_scores`, for rows whose classes have the probabilities `resp`."""
    square, n_seen = model.family.distance(params.components, block)
    tail = log_tail(np.nan_to_num(square, nan=np.inf), np.maximum(n_seen, 1)[:, None])
    tail = np.broadcast_to(tail, resp.shape)
    total = np.einsum("nk,nk->n", np.exp(tail), resp)  # NumPy adds up along short rows slowly
    with np.errstate(divide="ignore"):
        score, lost = -np.log(total), total < 1e-200
        score[lost] = -logsumexp(tail[lost], axis=1, b=resp[lost])
    return np.where(n_seen > 0, np.maximum(score, 0.0), 0.0)


def log_tail(square: np.ndarray, df: Any) -> np.ndarray:
    """Log of the probability that a χ² variable with `df` degrees of freedom, whole numbers, exceeds `square`, however small.

    `df` is a number or one for each row of `square`.
    """
    square = np.asarray(square, dtype=np.float64)
    if np.ndim(df) == 0:
        return _log_tail(square, int(df))
    df = np.ravel(df).astype(int)
    times = np.bincount(df)
    usual = int(times.argmax()) if len(df) else 1
    out = _log_tail(square, usual)
    for each in np.flatnonzero(times):
        if each != usual:
            rows = df == each
            out[rows] = _log_tail(square[rows], int(each))
    return out


def _log_tail(square: np.ndarray, df: int) -> np.ndarray:
    """exp(−z) Σᵢ zⁱ / Γ(i + 1) with z = square / 2, i from 0 or ½ up to df / 2 − 1; halves begin with erfcx(√z), i = −½."""
    half, z, odd = 0.5 * df, 0.5 * square, df % 2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        if df > MOST_TERMS:
            log_p = np.log(chdtrc(df, square))
        else:
            total = erfcx(np.sqrt(z)) if odd else np.ones(z.shape)
            term = 2.0 * np.sqrt(z / np.pi) if odd else z
            for power in np.arange(0.5 if odd else 1.0, half):
                total = total + term
                term = term * (z / (power + 1.0))
            log_p = np.log(total) - z
        lost = ~np.isfinite(log_p)
        if lost.any():
            # Γ(a, z) ≈ zᵃ exp(−z) / (z − a + 1), whose error is nothing where the probability underflows or the sum overflows.
            far = half * np.log(z[lost]) - z[lost] - np.log(z[lost] - half + 1.0) - gammaln(half)
            log_p[lost] = np.where(np.isfinite(square[lost]), far, -np.inf)
    return log_p
