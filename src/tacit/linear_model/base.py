"""`LinearModel`: what linear models of a target share, from rows of any kind to distributions of targets.

y = b + wᵀx + ε,    ε ~ N(0, σ²);    missing features are integrated out under x ~ N(μ, Σ)
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ..base.supervised import Supervised
from ..checks import check_n_jobs, check_out, check_weight, warn_of_light_rows
from ..declared import SQUARES, Numbers, Part
from ..families.laws import NormalLaw, StudentLaw
from ..kernels import host, rows_on_host
from ..source import Block, Source, is_streamed
from ..source.dask import is_dask
from ..source.threads import few_blas_threads
from ..source.writer import ParquetWriter
from .design import HELD, Design, design_of, of_rows
from .joint import EXACT, Joints, draw_joints, drawn_around, few, joints_around, learn_joint, noise_levels, predicted
from .known import Known, drawn
from .predictive import Predictive
from .spread import Estimate, Features, Spread, features_of

__all__ = ["LinearModel"]


class LinearModel(MultiOutputMixin, RegressorMixin, Supervised):
    """Base of linear models.

    A subclass has `fit_intercept` and defines ``_learn(design, before, exact)``, which makes an `Estimate` of complete rows;
    `before` is the one of the step before where missing features are learned by EM, and `exact` says whether the rest of the
    attributes is wanted.
    """

    _takes_sparse = True
    _monotone = True  # whether what it learns of complete rows never lowers the objective
    _min_rows = 1
    _prior: Any = None  # what draws coefficients where it is uncertain, of few rows
    fit_intercept: bool = True
    coef_: np.ndarray
    intercept_: Any
    noise_variance_: np.ndarray
    dof_: np.ndarray
    penalty_: np.ndarray
    X_offset_: np.ndarray
    n_weight_: float
    spread_: Spread | None
    features_: Features | None
    draws_: Joints | None
    known_: Known | None
    _saved: ClassVar = Supervised._saved | {
        "coef_": Numbers("d | m d", high=SQUARES),
        "intercept_": Numbers(" | m", high=SQUARES),
        "noise_variance_": Numbers("m", low=0, high=SQUARES),
        "dof_": Numbers("m", high=SQUARES),
        "penalty_": Numbers("m d", low=0, beside=(np.inf,), high=SQUARES),
        "X_offset_": Numbers("d"),
        "n_weight_": Numbers(low=0, high=SQUARES),
        "spread_": Part(Spread, optional=True),
        "features_": Part(Features, optional=True),
        "draws_": Part(Joints, optional=True),
        "known_": Part(Known, optional=True, needed=False),
        "one_target_": Numbers("", kind="b"),
    }

    # Learning

    def _learn(self, design: Design, before: Any = None, exact: bool = True) -> Estimate:
        raise NotImplementedError(f"{type(self).__name__} does not define _learn.")

    def _check_settings(self) -> None:
        check_n_jobs(self.n_jobs)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows and their targets.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing, and integrated out.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), or name of a column
            What is to be predicted.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights, which are numbers of rows: weight 2 is as good as the row given twice. Weights of which only ratios
            mean anything are divided by their mean first.

        Returns
        -------
        self
        """
        self._check_settings()
        self.draws_ = self.fit_ = None
        design = self._of_array(X, y, sample_weight)
        if design is not None:
            warn_of_light_rows(sample_weight, stacklevel=2)
            with few_blas_threads(X.size):
                self._publish(self._learn(design), design, X.dtype)
            return self
        source = self._open_targets(X, y, sample_weight)
        if not is_dask(X):
            warn_of_light_rows(sample_weight, stacklevel=2)
        design = design_of(source, self.fit_intercept)
        if design is None:
            self._fit_incomplete(source)
        else:
            self._publish(self._learn(design), design, source.dtype)
        return self

    def _of_array(self, X: Any, y: Any, sample_weight: Any) -> Design | None:
        """The design of a complete array that is held as it is: making a source of few rows would take longer than learning."""
        if (
            type(X) is not np.ndarray
            or X.dtype not in self._dtypes
            or not 0 < X.size <= HELD
            or type(y) is not np.ndarray
        ):
            return None
        X = self._validate(X, reset=True)
        targets = self._checked_targets(y)
        if len(targets) != len(X):
            return None
        return of_rows(X, targets, check_weight(sample_weight, len(X)), self.fit_intercept)

    def _fit_incomplete(self, source: Source) -> None:
        """Learn where cells are missing, by EM with the features' Gaussian."""
        fit, design, estimate, features = learn_joint(self, source)
        self.fit_ = fit
        self._publish(estimate, design, source.dtype, features)
        if fit.reason.code == EXACT:
            warnings.warn(
                f"{fit.reason}: estimates and intervals are not to be trusted; use more rows, fewer columns, or "
                "BayesianLinearRegression.",
                UserWarning,
                stacklevel=3,
            )
        if few(source.n_rows, source.n_features) and self.spread_ is not None:
            self.draws_ = draw_joints(self, source, fit.params)

    def _publish(self, found: Estimate, design: Design, dtype: Any, features: Any = None) -> None:
        """Set the fitted attributes."""
        coef = found.coef
        intercept = design.y_mean - coef @ design.x_mean
        self.one_target_ = bool(self._one_target)
        self.coef_ = self._columns_like_targets(coef.T).T.astype(dtype)
        self.intercept_ = self._intercept(intercept, dtype)
        self.X_offset_, self.n_weight_ = design.x_mean, design.weight
        self.noise_variance_, self.spread_ = found.noise, found.spread
        freedom = np.zeros(1) if found.freedom is None else found.freedom
        left = design.weight - freedom - float(self.fit_intercept)
        self.dof_ = np.broadcast_to(left, found.noise.shape).copy()
        self.penalty_ = np.broadcast_to(np.asarray(found.penalty, dtype=np.float64), coef.shape)
        self.features_ = features or features_of(design)
        averaged = self._prior is not None and features is None and few(design.weight, coef.shape[1])
        self.known_ = Known.of(design, self.fit_intercept) if averaged else None
        for name in ("_joints", "_draws"):
            self.__dict__.pop(name, None)
        for name, value in (found.more or {}).items():
            setattr(self, name, value)

    def _intercept(self, intercept: np.ndarray, dtype: Any) -> Any:
        if not self.fit_intercept:
            return 0.0
        return np.float64(intercept[0]) if self._one_target else intercept.astype(dtype)

    # Predictions

    @property
    def _coef(self) -> np.ndarray:
        return np.atleast_2d(self.coef_)

    def _expected(self, block: Any) -> np.ndarray:
        """Expectations of the targets of a block's rows, (n, m)."""
        X = rows_on_host(block.X)
        X = X.matrix if hasattr(X, "matrix") else X
        found = np.asarray(X @ self._coef.T) + self.intercept_
        gone = np.isnan(found[:, 0])
        if gone.any():
            found[gone] = self._given_seen(X[gone])[0]
        return found

    def _given_seen(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Expectations, variances that the missing features add, and filled rows, at the estimate."""
        mean, variance, filled = predicted(self._joint(), np.asarray(X, dtype=np.float64))
        return mean[0], variance[0], filled

    def _joint(self) -> Joints:
        """The distribution of features and targets at the estimate."""
        if self.features_ is None:
            raise ValueError(
                f"X has missing values, but {type(self).__name__} was fitted on {len(self.X_offset_)} columns and fewer rows, so "
                "that nothing is known of how features go together; fill them first, as tacit.impute.GaussianImputer does."
            )
        coef, features = self._coef.astype(np.float64), self.features_
        intercept = np.broadcast_to(np.atleast_1d(self.intercept_), len(coef)).astype(np.float64)
        return Joints(
            *(each[None] for each in (features.mean, features.covariance, coef, intercept, self.noise_variance_))
        )

    def predict(self, X: Any, return_std: bool = False, out: Any = None) -> Any:
        """Expectations of the targets; of rows with missing features, given those that are observed.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        return_std : bool, default=False
            Also return standard deviations of the targets.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning arrays.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        std : ndarray of the same shape
            Only if `return_std`: of the noise, the coefficients and the missing features together, at the estimated noise
            variance. `predictive` also allows for what is not known of that.
        """
        check_is_fitted(self)
        if out is not None:
            return self._written(X, return_std, out)
        if not return_std and self._needs_no_check(X):
            found = X @ self.coef_.T + self.intercept_
            if np.isfinite(found).all():  # so were the cells: checks would find out nothing else
                return found
        if not is_streamed(X) and type(X).__name__ != "DataTable":
            X = self._validate(X, reset=False)
            parts = [self._told_of(Block.of(X) if return_std else _Rows(X), return_std)]
            dtype = X.dtype
        else:
            source = self._open(X)
            parts, dtype = list(source.map(lambda block: self._told_of(block, return_std))), source.dtype
        mean, *std = (self._columns_like_targets(np.concatenate(each).astype(dtype)) for each in zip(*parts))
        return (mean, *std) if return_std else mean

    def _needs_no_check(self, X: Any) -> bool:
        """Whether these are rows as they were fitted, but for what shows in predictions."""
        plain = type(X) is np.ndarray and X.dtype == np.float64 and not hasattr(self, "feature_names_in_")
        return plain and X.ndim == 2 and len(X) > 0 and X.shape[1] == self.n_features_in_

    def _told_of(self, block: Any, return_std: bool) -> tuple[np.ndarray, ...]:
        mean = self._expected(block)
        return (mean, np.sqrt(self._variance(block))) if return_std else (mean,)

    def _written(self, X: Any, return_std: bool, out: Any) -> Any:
        check_out(X, out)
        names = ["y"] if self.one_target_ else [f"y{t}" for t in range(len(self._coef))]
        with ParquetWriter(out) as writer:
            for parts in self._open(X).map(lambda block: self._told_of(block, return_std)):
                columns = dict(zip(names, parts[0].T))
                columns |= {f"{name}_std": column for name, column in zip(names, parts[1].T)} if return_std else {}
                writer.write(columns)
        return out

    # Distributions

    def _check_spread(self) -> Spread:
        """The spread of the coefficients, where it is known."""
        if self.spread_ is None:
            raise ValueError(f"standard deviations are not known: {self._no_spread()}.")
        return self.spread_

    def _no_spread(self) -> str:
        """Why there are no standard deviations."""
        rows = f"{self.n_weight_:g} rows and {len(self.X_offset_)} columns leave nothing to estimate the noise from"
        return f"{rows}; use tacit.linear_model.BayesianLinearRegression"

    def _variance(self, block: Block) -> np.ndarray:
        """Variances (n, m) of the targets of rows at the estimated noise variance."""
        self._check_spread()
        X = _dense(block)
        gone = np.isnan(X).any(axis=1)
        joints = self._drawn() if gone.any() or self.draws_ is not None else None
        if joints is not None:
            means, variances = self._over_draws(joints, X)
            return variances.mean(axis=-1) + means.var(axis=-1)
        more = np.zeros((len(X), len(self._coef)))
        if gone.any():
            _, more[gone], X[gone] = self._given_seen(X[gone])
        return more + self.noise_variance_ * self._shares(X)

    def _shares(self, X: np.ndarray) -> np.ndarray:
        """Variances of targets in units of the noise variance, (n, k)."""
        mean, spread = 1.0 / self.n_weight_ if self.fit_intercept else 0.0, self._check_spread()
        return 1.0 + mean + spread.of(X - self.X_offset_)

    def _drawn(self) -> Joints | None:
        """Draws of the parameters, where rows were few; None where the estimate will do."""
        if self.draws_ is not None:
            return self.draws_
        features = self.features_
        if features is None or not few(self.n_weight_, len(features.mean)):
            return None
        return self._joints

    @cached_property
    def _joints(self) -> Joints:
        known = self._draws
        at = self._joint()
        coef, noise = drawn_around(at, self.spread_, self._noise_dof()) if known is None else known
        return joints_around(at, coef, noise, self.n_weight_, self._n_level, self.X_offset_)

    @cached_property
    def _draws(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Draws of coefficients and of the noise's variance, where the prior is averaged over."""
        known = getattr(self, "known_", None)
        if known is not None and not known.dof >= 1.0:
            raise ValueError(
                f"an interval is not known: rows of total weight {self.n_weight_:g} leave nothing to tell the noise from; give "
                "at least 2 rows, or known precisions with updates='given'."
            )
        return None if known is None else drawn(known, self._prior)

    def _averaged(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Means and variances (n, m, draws) where targets are averaged over draws of what few rows leave open."""
        gone = np.isnan(X).any()
        if self.draws_ is None and not gone and self._draws is not None:
            coef, noise = self._draws
            level = self._level - np.einsum("kmd,d->km", coef, self.X_offset_) + noise_levels(noise, self._n_level)
            means = np.einsum("nd,kmd->nmk", X, coef) + level.T
            return means, np.broadcast_to(noise.T, means.shape)
        joints = self._drawn() if gone or self.draws_ is not None else None
        return None if joints is None else self._over_draws(joints, X)

    @property
    def _level(self) -> np.ndarray:
        """Expectations of the targets where the intercept is independent of the coefficients, (m,)."""
        return np.atleast_1d(self.intercept_) + self._coef @ self.X_offset_

    @property
    def _n_level(self) -> float:
        """Rows that tell of the level; infinitely many where there is no intercept."""
        return self.n_weight_ if self.fit_intercept else np.inf

    def _noise_dof(self) -> np.ndarray:
        """Degrees of freedom of the noise variance, of which there must be some."""
        if (self.dof_ < 1.0).any():
            raise ValueError(f"an interval is not known: {self._no_dof()}.")
        return self.dof_

    def _no_dof(self) -> str:
        rows, left = f"{self.n_weight_:g} rows and {len(self.X_offset_)} columns", max(self.dof_.min(), 0.0)
        told = f"{rows} leave {left:.2g} degrees of freedom for the noise"
        return f"{told}; use tacit.linear_model.BayesianLinearRegression, or more rows"

    def _over_draws(self, joints: Joints, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the targets under every draw, (n, m, draws)."""
        means, variances, _ = predicted(joints, X)
        return np.moveaxis(means, 0, -1), np.moveaxis(variances + joints.noise[:, None], 0, -1)

    def predictive(self, X: Any) -> Predictive:
        """The distribution of the targets of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows in memory; NaN is missing, and integrated out.

        Returns
        -------
        Predictive
            With `mean`, `std`, `quantile`, `interval`, `cdf` and `log_density`.
        """
        check_is_fitted(self)
        self._check_spread()
        if is_streamed(X):
            raise ValueError(
                "predictive takes rows in memory; read the part you need first, or use predict with return_std."
            )
        X = _dense(Block.of(self._validate(X, reset=False)))
        mean = self._expected(_Rows(X))
        shape = mean.shape if not self.one_target_ else mean.shape[:1]
        moments = self._averaged(X)
        if moments is None:
            width = np.sqrt(self._variance(Block.of(X)))
            dof = np.broadcast_to(self._noise_dof(), mean.shape)
            law: Any = StudentLaw(*(each.reshape(-1, 1) for each in (mean, width, dof)))
        else:
            law = NormalLaw(*(each.reshape(-1, each.shape[-1]) for each in moments))
        return Predictive(law, shape, mean)

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Central intervals that hold the targets of rows with probability `level`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows in memory; NaN is missing.
        level : float, default=0.95
            Probability of the interval.

        Returns
        -------
        low, high : ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        return self.predictive(X).interval(level)

    def _check_loaded(self) -> None:
        self._one_target = bool(self.one_target_)

    def _results(self, X: np.ndarray) -> dict[str, np.ndarray]:
        mean, *std = (
            self.predict(X, return_std=self.spread_ is not None) if self.spread_ is not None else (self.predict(X),)
        )
        found = {"predicted": mean} if self.one_target_ else {f"predicted_{t}": part for t, part in enumerate(mean.T)}
        if std:
            found |= {"std": std[0]} if self.one_target_ else {f"std_{t}": part for t, part in enumerate(std[0].T)}
        return found


@dataclass(frozen=True)
class _Rows:
    """Rows that are asked for their expectation alone."""

    X: Any


def _dense(block: Block) -> np.ndarray:
    """The rows of a block as an array of their own."""
    X = rows_on_host(block.X)
    X = X.matrix.toarray() if hasattr(X, "matrix") else host(X)
    return X.astype(np.float64)
