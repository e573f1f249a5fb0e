"""`PartsEstimator`: what estimators of non-negative parts share, x ≈ w H: settings, and what they say of rows."""

from __future__ import annotations

import numbers
import warnings
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted, check_non_negative

from ...base import EMEstimator, like
from ...checks import check_choice, check_number
from ...declared import SQUARES, Numbers, Part, Whole
from ...factor.principal.rank import RankChoice
from ...kernels import backend, host, rows_on_host
from ...source import Block, Source
from .model import Factors, PartsModel
from .starts import INITS
from .uncertainty import PartsUncertainty

__all__ = ["LOSSES", "Facts", "PartsEstimator"]

LOSSES = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}
LEAST_MEAN = 1e-10  # of cells, in which products are resolved to a millionth
AUTO = ("auto", "cells", None)


class Facts(NamedTuple):
    """What a fit must know of all rows: total weight, weighted sum and number of observed cells, and their least value."""

    weight: float
    total: float
    cells: float
    least: float

    @classmethod
    def of(cls, source: Source, told: str) -> Facts:
        """One pass over the rows, of which none may be negative."""
        parts = list(source.map(partial(_facts, told)))
        weight, total, cells, least = np.array(parts).T
        return cls(float(weight.sum()), float(total.sum()), float(cells.sum()), float(least.min()))

    @property
    def mean(self) -> float:
        """Of all observed cells."""
        return self.total / max(self.cells, 1e-300)


def check_cells(told: str, block: Block) -> float:
    """Raise where a cell is negative, naming it; the least observed cell otherwise."""
    X = rows_on_host(block.X)
    sparse = backend(X) == "sparse"
    cells = X.data if sparse else X
    least = float(np.fmin.reduce(cells, axis=None)) if cells.size else 0.0
    if least < 0.0:
        at = int(np.nanargmin(cells))
        row, column = (
            (int(np.searchsorted(X.indptr, at, side="right")) - 1, int(X.indices[at]))
            if sparse
            else divmod(at, X.shape[1])
        )
        raise ValueError(
            f"Negative values in data passed to {told}: row {block.first + row}, column {column} holds {least:g}; parts add up "
            "to no negative number, so shift or drop the column."
        )
    return min(least, 0.0) if sparse and len(cells) < X.shape[0] * X.shape[1] else least


def _facts(told: str, block: Block) -> tuple[float, float, float, float]:
    least = check_cells(told, block)
    X, weight = rows_on_host(block.X), host(block.weight)
    if backend(X) == "sparse":
        total, cells = float(weight @ X.matrix.sum(axis=1)), float(weight.sum() * X.shape[1])
    else:
        seen = X.shape[1] if block.patterns.is_complete else (~np.isnan(X)).sum(axis=1)
        total, cells = float(weight @ np.nansum(X, axis=1, dtype=np.float64)), float((weight * seen).sum())
    return float(weight.sum()), total, cells, least


class PartsEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PartsUncertainty, EMEstimator):
    """Base of estimators of non-negative parts; a subclass defines ``fit_transform`` and the settings it reads here."""

    n_components: Any
    init: Any
    beta_loss: Any
    alpha_W: float
    alpha_H: Any
    l1_ratio: float
    column_weight: Any = None
    solver: str = "mu"
    warm_start = False
    convergence = "relative"
    accelerate: str | None = None
    components_: np.ndarray
    n_components_: int
    reconstruction_err_: float
    rank_choice_: RankChoice | None
    _saved = (
        EMEstimator._saved
        | PartsUncertainty._saved
        | {
            "components_": Numbers("K d", low=0),
            "n_components_": Whole(1, size="K"),
            "reconstruction_err_": Numbers(low=0, high=SQUARES, needed=False),
            "rank_choice_": Part(RankChoice, optional=True, needed=False),
            "level_": Numbers(low=0),
        }
    )
    _n_classes = None  # type: ignore[assignment]
    _takes_sparse = True
    _min_rows = 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    @property
    def _n_components(self) -> int:
        return self.n_components_

    @property
    def _told_name(self) -> str:
        return f"{type(self).__name__} (input X)"

    # Settings

    def _check_settings(self) -> None:
        self._check_engine(fewest_steps=1)
        check_number("n_components", self.n_components, numbers.Integral, 1, also=AUTO)
        check_choice("init", self.init, (*INITS, "custom", None))
        if isinstance(self.beta_loss, str):
            check_choice("beta_loss", self.beta_loss, LOSSES)
        else:
            check_number("beta_loss", self.beta_loss, numbers.Real, -np.inf)
        check_number("alpha_W", self.alpha_W, numbers.Real, 0)
        check_number("alpha_H", self.alpha_H, numbers.Real, 0, also=("same",))
        check_number("l1_ratio", self.l1_ratio, numbers.Real, 0, 1)
        check_number("n_init", self.n_init, numbers.Integral, 1)

    @property
    def _beta(self) -> float:
        return LOSSES[self.beta_loss] if isinstance(self.beta_loss, str) else float(self.beta_loss)

    def _check_column_weight(self, d: int) -> np.ndarray | None:
        if self.column_weight is None:
            return None
        weight = np.asarray(self.column_weight, dtype=np.float64)
        if weight.shape != (d,):
            raise ValueError(
                f"column_weight has shape {weight.shape}, but X has {d} columns; give one weight per column."
            )
        bad = weight[~(np.isfinite(weight) & (weight > 0))]
        if bad.size:
            raise ValueError(
                f"column_weight holds {bad[0]:g}; weights of columns are finite and above 0: drop the column instead."
            )
        return weight

    def _resolve(self, source: Source, facts: Facts, H: Any = None) -> None:
        """Find how many components there are, and check that the start suits them."""
        d, k = source.n_features, self.n_components
        self.rank_choice_ = None
        if k in ("auto", None) and H is None and d > 1 and facts.cells < (1.0 - 1e-12) * facts.weight * d:
            k = "cells"  # as many parts as columns would fill missing cells with anything
        if isinstance(k, str) and k == "cells":
            from .cells import by_hidden_cells

            self.rank_choice_ = by_hidden_cells(source, self)
            k = max(self.rank_choice_.rank, 1)
        self.n_components_ = int(d if k in ("auto", None) and H is None else len(H) if k == "auto" else k)
        if self.init in ("nndsvd", "nndsvda", "nndsvdar") and self.n_components_ > min(source.n_rows, d):
            raise ValueError(
                f"init = '{self.init}' can only be used when n_components <= min(n_samples, n_features): there are "
                f"{self.n_components_}, of {source.n_rows} rows and {d} columns; use init='random'."
            )
        self.level_ = float(np.sqrt(facts.mean / self.n_components_))

    def _check_rows(self, source: Source) -> Facts:
        facts = Facts.of(source, self._told_name)
        if facts.total <= 0.0:
            raise ValueError("X is full of zeros, which have no parts; give rows with a positive cell.")
        if facts.least <= 0.0 and self._beta <= 0.0:
            raise ValueError(
                "When beta_loss <= 0 and X contains zeros, the solver may diverge. Please add small values to X, or use a "
                "positive beta_loss."
            )
        if self._beta < 2.0 and facts.mean < LEAST_MEAN:
            raise ValueError(
                f"cells of X are {facts.mean:.3g} on average, and divergences take products below 1e-16 as that; multiply X by "
                f"{10.0 ** -np.floor(np.log10(facts.mean)):.0e}, which multiplies the parts alone."
            )
        return facts

    # The model

    def _started(self, n_rows: int) -> str:
        if self.init is not None and self.init != "custom":
            return self.init
        return "nndsvda" if self.n_components_ <= min(n_rows, self.n_features_in_) else "random"

    def _model(self, init: str = "nndsvda", scores: np.ndarray | None = None) -> PartsModel:
        d, alpha = self.n_features_in_, self.alpha_W if self.alpha_H == "same" else self.alpha_H
        rows = d * self.alpha_W * self.l1_ratio, d * self.alpha_W * (1.0 - self.l1_ratio)
        columns = float(alpha) * self.l1_ratio, float(alpha) * (1.0 - self.l1_ratio)
        solver = {"cd": "hals"}.get(self.solver, self.solver) if self._beta == 2.0 else "mu"
        return PartsModel(
            self.n_components_, self._beta, solver, row_penalty=rows, column_penalty=columns, init=init, scores=scores,
            column_weight=self._check_column_weight(d), level=self.level_,
        )  # fmt: skip

    def _publish(self, params: Factors, dtype: np.dtype) -> None:
        self.components_ = params.components.astype(dtype)

    def _params(self) -> Factors:
        check_is_fitted(self)
        return Factors(self.components_.astype(np.float64))

    def _check_given(self, X: Any, W: Any, H: Any) -> tuple[Any, Any]:
        """W and H that a user gave to start from, or nothing."""
        if self.init != "custom":
            if W is not None or H is not None:
                warnings.warn(
                    "When init!='custom', provided W or H are ignored. Set  init='custom' to use them as initialization.",
                    RuntimeWarning,
                    stacklevel=4,
                )
            return None, None
        return check_start(self.n_components, X, W, H)

    def _warn_unfinished(self, finished: bool) -> None:
        if not finished and self.tol > 0:
            warnings.warn(
                f"Maximum number of iterations {self.max_iter} reached. Increase it to improve convergence.",
                ConvergenceWarning,
                stacklevel=4,
            )

    # What is said of rows

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Learn the parts.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit_transform`.
        **params
            W and H, as in `fit_transform`.

        Returns
        -------
        self
        """
        self.fit_transform(X, y, sample_weight=sample_weight, **params)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, W: Any = None, H: Any = None, sample_weight: Any = None
    ) -> np.ndarray:
        """Learn the parts and return how much of each is in every row."""
        raise NotImplementedError

    def _solve(self, block: Block) -> Any:
        """Scores of the rows of a block at the parts that were learned."""
        check_cells(self._told_name, block)
        return self._model().solved(self._params(), block, max(self.tol, 1e-10), self.max_iter)

    def transform(self, X: Any, out: Any = None) -> Any:
        """How much of each part is in every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), sparse matrix, path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        names = list(self.get_feature_names_out())
        return self._apply(X, lambda block: like(block, host(self._solve(block))), out, names)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows from how much of each part is in them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_components)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = check_array(X, accept_sparse=True, dtype=[np.float64, np.float32])
        if X.shape[1] != self.n_components_:
            raise ValueError(f"X has {X.shape[1]} columns, but there are {self.n_components_} parts.")
        return X @ self.components_


def check_start(n_components: Any, X: Any, W: Any, H: Any) -> tuple[np.ndarray, np.ndarray]:
    """W and H to start from, checked as scikit-learn does; X has a shape and a dtype."""
    (n, d), k = X.shape, int(n_components) if isinstance(n_components, numbers.Integral) else None
    for name, value, shape in (("H", H, (k, d)), ("W", W, (n, k))):
        check_factor(name, value, shape)
    H, W = np.asarray(H), np.asarray(W)
    if H.dtype != X.dtype or W.dtype != X.dtype:
        raise TypeError(f"H and W should have the same dtype as X. Got H.dtype = {H.dtype} and W.dtype = {W.dtype}.")
    if W.shape[1] != len(H):
        raise ValueError(f"W has {W.shape[1]} columns, but H has {len(H)} rows; both are the number of parts.")
    return W.astype(np.float64), H.astype(np.float64)


def check_factor(name: str, value: Any, shape: tuple[int | None, int | None]) -> None:
    """Raise where a factor that a user gave is of another shape, negative or zero."""
    whom = f"NMF (input {name})"
    value = check_array(value, input_name=name)
    for axis, (size, noun) in enumerate(zip(shape, ("first", "second"))):
        if size is not None and value.shape[axis] != size:
            raise ValueError(
                f"Array with wrong {noun} dimension passed to {whom}. Expected {size}, but got {value.shape[axis]}."
            )
    check_non_negative(value, whom)
    if not value.max() > 0:
        raise ValueError(f"Array passed to {whom} is full of zeros.")
