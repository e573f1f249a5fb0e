"""`TableRegressor` and `TableClassifier`: a column of a table from its others, by the model that predicts held-out rows best.

An interval of level p reaches from the (1 − p)/2 to the (1 + p)/2 quantile of the errors that cross-validation made, in units of
the standard deviation that the model tells of each row.
"""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from ..assess.exchangeable import limits
from ..base.classes import LatentClassEstimator
from ..base.rows import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..base.supervised import Supervised, coded_classes
from ..checks import check_choice, check_number, check_positive, check_range, check_table
from ..declared import Flag, Names, Numbers, Part, Text
from ..frames import is_table
from ..mixture.columns import plain_schema
from ..schema import UNKNOWN, Schema
from .candidates import CLASSIFIERS, REGRESSORS, Candidate, answered, candidates, suited
from .design import moments_of
from .prepared import Prepared
from .target import Target
from .trial import Task, Trial, fitted, try_all

__all__ = ["TableClassifier", "TableRegressor"]

FEWEST = 10
"""Rows from which models can be compared."""
MOST_SCORES, SAMPLE_ROWS = 2000, 20_000
"""Errors that are kept, and rows that models are compared on; the best is then learned from all."""


class Learned(Supervised):
    """What is known of a predictor once it is fitted."""

    schema_: Schema
    trial_: Trial
    method_: str
    model_: Any
    center_: np.ndarray
    reach_: np.ndarray | None
    scale_: np.ndarray
    imputer_: Any = None
    target_center_: float
    target_scale_: float
    from_zero_: bool


@settings
class TablePredictor(Learned):
    """What both share: columns, cross-validation and the model that was chosen."""

    _: KW_ONLY
    models: Any = "auto"
    n_splits: int = 5
    budget: float | None = None
    unknown: str = "missing"
    random_state: Any = None
    callback: Any = None

    _saved = RowsEstimator._saved | {
        "schema_": Part(Schema), "method_": Text(), "model_": Part(RowsEstimator), "center_": Numbers("p"),
        "reach_": Numbers("2 p", optional=True, needed=False),
        "scale_": Numbers("p", above=0), "imputer_": Part(LatentClassEstimator, optional=True),
    }  # fmt: skip
    _study = "predictions"
    _reads_tables = True
    _candidates: ClassVar[tuple[Candidate, ...]] = ()
    _n_targets = 0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        tags.non_deterministic = self.budget is not None
        return tags

    def _check_settings(self) -> None:
        candidates(self.models, self._candidates)
        check_number("n_splits", self.n_splits, numbers.Integral, 2)
        if self.budget is not None:
            check_positive("budget", self.budget)
        check_choice("unknown", self.unknown, UNKNOWN)

    def _check_loaded(self) -> None:
        if len(self.schema_.columns) != self.n_features_in_:
            raise ValueError(f"it names {len(self.schema_.columns)} columns, not {self.n_features_in_}")
        if self.method_ not in {each.name for each in self._candidates}:
            raise ValueError(f"it names the model {self.method_!r}, which this class does not have")
        width = moments_of(self.schema_, np.full((1, self.n_features_in_), np.nan))[0].size
        wanted = width + (self.method_ == "mixture")
        if len(self.center_) != width or self.model_.n_features_in_ != wanted:
            raise ValueError(f"its columns make {width} of numbers, not {self.model_.n_features_in_}")
        if self.imputer_ is not None and self.imputer_.n_features_in_ != width:
            raise ValueError(f"it imputes {self.imputer_.n_features_in_} columns, not {width}")

    # Rows

    def _encoded(self, X: Any, *, reset: bool) -> np.ndarray:
        """The cells of a table, categories as codes; its columns are learned where `reset`."""
        if hasattr(X, "reader"):  # a tacit.tables.DataTable
            X = X if reset else X.like(self._columns_told(), self.unknown)
            if reset:
                self.schema_, self.n_features_in_ = X.schema, len(X.schema.columns)
            return X.cells
        if not is_table(X):
            coded = not reset and bool(self.schema_.levels)
            if not coded:
                cells = self._validate(X, reset=reset).astype(np.float64, copy=False)
                if reset:
                    self.schema_ = plain_schema(cells.shape[1], self._known_names())
                return cells
            X = np.asarray(X, dtype=object)
        given = check_table(self, X, reset=reset)
        if reset:
            self.schema_ = Schema.of(given)
            self.n_features_in_ = len(self.schema_.columns)
        cells = self.schema_.encode(given, unknown=self.unknown)
        if reset:
            check_range(cells, told=self._told)
        return cells

    def _columns_told(self) -> list[dict]:
        return [column.told() for column in self.schema_.columns]

    def _fit(self, X: Any, y: np.ndarray, n_classes: int) -> Self:
        self._check_settings()
        cells = self._encoded(X, reset=True)
        if len(cells) != len(y):
            raise ValueError(f"X has {len(cells)} rows and y {len(y)}; they must have as many.")
        return self._learn_cells(cells, y, n_classes)

    def _learn_cells(self, cells: np.ndarray, y: np.ndarray, n_classes: int) -> Self:
        """Compare the candidates on encoded cells, and learn the best from all rows."""
        seed = int(self._rng().integers(2**31))
        asked = candidates(self.models, self._candidates)
        if not n_classes:
            asked = suited(asked, y)
        if len(y) < FEWEST:
            asked = asked[:1]
        if len(y) < 2:
            raise ValueError(f"Found array with {len(y)} sample(s); at least 2 are needed to learn from.")
        task, compared = Task(self.schema_, cells, y, n_classes), np.arange(len(y))
        if len(y) > SAMPLE_ROWS:
            compared = np.sort(np.random.default_rng(seed).choice(len(y), SAMPLE_ROWS, replace=False))
        some = task if len(compared) == len(y) else Task(self.schema_, cells[compared], y[compared], n_classes)
        trial = try_all(some, asked, n_splits=self.n_splits, seed=seed, budget=self.budget, on_try=self.callback)
        self.trial_ = trial = replace(trial, rows=compared)
        self.method_ = trial.best.candidate.name
        found = fitted(task, trial.best.candidate, np.arange(len(y)), seed)
        self.model_, numbers_of = found.model, found.numbers
        self.center_, self.scale_, self.imputer_ = numbers_of.center, numbers_of.scale, numbers_of.imputer
        self.reach_ = numbers_of.reach
        if found.target is not None:
            self.target_center_, self.target_scale_ = found.target.middle, found.target.spread
            self.from_zero_ = found.target.from_zero
        return self

    def _answers(self, X: Any) -> np.ndarray:
        """What the model answers for rows."""
        check_is_fitted(self)
        return self._answers_of(self._encoded(X, reset=False))

    def _answers_of(self, cells: np.ndarray) -> np.ndarray:
        """The same for encoded cells."""
        Z = Prepared(self.schema_, self.center_, self.scale_, self.imputer_, getattr(self, "reach_", None))(cells)
        return answered(self.model_, Z, self._n_targets)

    @property
    def words_(self) -> str:
        """What the chosen model is called."""
        check_is_fitted(self)
        return self._chosen.words

    @property
    def _chosen(self) -> Candidate:
        return next(each for each in self._candidates if each.name == self.method_)


@settings
class TableRegressor(RegressorMixin, TablePredictor):
    """Predict numbers from a table of any columns, with missing cells, by the model that does it best.

    Parameters
    ----------
    models : "auto", str or list of str, default="auto"
        Models to compare, of ``"linear"``, ``"log_linear"`` (of targets above 0), ``"sparse_linear"``, ``"mixture"``,
        ``"support_vectors"`` and ``"gaussian_process"``.
    n_splits : int, default=5
        Folds of the cross-validation.
    budget : float or None, default=None
        Seconds after which no further model is tried; None sets no limit.
    unknown : {"missing", "error"}, default="missing"
        What to do about levels of a category that did not occur at fit.
    random_state : int, RandomState instance or None, default=None
        Seeds the folds and the models.
    callback : callable, optional
        Told what is tried.

    Attributes
    ----------
    method_ : str
        The model that was chosen, and ``words_`` what it is called.
    model_ : estimator
        It, learned from all rows.
    trial_ : tacit.learning.trial.Trial
        How all models predicted held-out rows; not kept in files.
    errors_ : ndarray of shape (m,)
        Sorted errors of the chosen model on held-out rows, in units of the standard deviation it tells, or of the target.
    from_zero_ : bool
        Whether known targets reach down to 0 and no further, so that nothing below 0 is predicted.
    schema_ : tacit.schema.Schema
        Names, kinds and levels of the columns.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Barber, Candès, Ramdas and Tibshirani (2021), Predictive inference with the jackknife+. Annals of Statistics 49, 486–507.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.learning import TableRegressor
    >>> x = np.linspace(0, 6, 60)
    >>> X = [[a, "up" if k % 2 else "down"] for k, a in enumerate(x)]
    >>> y = np.sin(x) + [2.0 * (k % 2) for k in range(60)]
    >>> model = TableRegressor(models=["linear", "gaussian_process"], random_state=0).fit(X, y)
    >>> model.method_
    'gaussian_process'
    """

    _saved = TablePredictor._saved | {
        "errors_": Numbers("m"), "target_center_": Numbers(), "target_scale_": Numbers(above=0), "from_zero_": Flag(),
    }  # fmt: skip
    _candidates = REGRESSORS

    def fit(self, X: Any, y: Any) -> Self:
        """Compare models and learn the best.

        Parameters
        ----------
        X : DataFrame, Arrow table or array-like of shape (n_samples, n_features)
            Columns of any kind; None and NaN are missing.
        y : array-like of shape (n_samples,)
            Numbers.
        """
        targets = self._checked_targets(y)
        if targets.shape[1] != 1:
            raise ValueError(f"y has {targets.shape[1]} columns; {type(self).__name__} predicts one.")
        return self._fit(X, column_or_1d(targets, warn=not self._one_target), 0)

    def _learn_cells(self, cells: np.ndarray, y: np.ndarray, n_classes: int) -> Self:
        super()._learn_cells(cells, y, n_classes)
        best = self.trial_.best
        errors = np.sort(scores(best.answer, y[self.trial_.rows]))
        keep = np.unique(np.linspace(0, len(errors) - 1, min(len(errors), MOST_SCORES)).round().astype(int))
        self.errors_ = errors[keep]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Expectation of the target of each row."""
        return self._expected(X)[0]

    def _expected(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        return self._expected_of(self._encoded(X, reset=False))

    def _expected_of(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Expectation, and the unit of errors, for encoded cells."""
        target = Target(self.target_center_, self.target_scale_, self._chosen.logs, self.from_zero_)
        found = target.back(self._answers_of(cells))
        return found[:, 0], units(found)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Interval that holds the target of a row with probability `level`, as errors on held-out rows have it.

        Parameters
        ----------
        X : table or array-like
            Rows.
        level : float, default=0.9
            Probability of the interval.

        Returns
        -------
        low, high : ndarray of shape (n_samples,)
            Infinite where held-out rows were too few for the level.
        """
        return self._around(*self._expected(X), level)

    def _around(self, mean: np.ndarray, std: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        return interval(mean, std, limits(self.errors_, level), self.from_zero_)

    def _results(self, X: np.ndarray, level: float = 0.9) -> dict[str, np.ndarray]:
        mean, std = self._expected_of(X)
        low, high = self._around(mean, std, level)
        return {"predicted": mean, "low": low, "high": high}


@settings
class TableClassifier(ClassifierMixin, TablePredictor):
    """Predict classes from a table of any columns, with missing cells, by the model that does it best.

    Parameters
    ----------
    models : "auto", str or list of str, default="auto"
        Models to compare, of ``"logistic"``, ``"discriminant"``, ``"densities"``, ``"support_vectors"`` and
        ``"gaussian_process"``.
    n_splits, budget, unknown, random_state, callback
        As in :class:`tacit.learning.TableRegressor`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    method_, words_, model_, trial_, schema_, n_features_in_, feature_names_in_
        As in :class:`tacit.learning.TableRegressor`.

    References
    ----------
    Varma and Simon (2006), Bias in error estimation when using cross-validation for model selection. BMC Bioinformatics 7, 91.

    Examples
    --------
    >>> from tacit.datasets import load_penguins
    >>> from tacit.learning import TableClassifier
    >>> X, species, _ = load_penguins()
    >>> model = TableClassifier(models=["discriminant", "densities"], random_state=0).fit(X, species)
    >>> bool((model.predict(X) == species).mean() > 0.97)
    True
    """

    _saved = TablePredictor._saved | {"classes_": Names("K", labels=True)}
    _candidates = CLASSIFIERS

    def fit(self, X: Any, y: Any) -> Self:
        """Compare models and learn the best.

        Parameters
        ----------
        X : DataFrame, Arrow table or array-like of shape (n_samples, n_features)
            Columns of any kind; None and NaN are missing.
        y : array-like of shape (n_samples,)
            Classes.
        """
        self.classes_, codes = coded_classes(self, y)
        return self._fit(X, np.asarray(codes, dtype=float), len(self.classes_))

    @property
    def _n_targets(self) -> int:  # type: ignore[override]
        return len(self.classes_)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class for each row, in the order of ``classes_``."""
        return self._answers(X)

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class of each row."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _results(self, X: np.ndarray, level: float = 0.9) -> dict[str, np.ndarray]:
        found = self._answers_of(X)
        names = {f"probability_{label}": part.round(6) + 0.0 for label, part in zip(self.classes_, found.T)}
        return {"predicted": self.classes_[found.argmax(axis=1)]} | names


def units(answer: np.ndarray) -> np.ndarray:
    """What errors are measured in: the standard deviation told, or the target's unit where none is."""
    std = answer[:, 1]
    return np.where(np.isnan(std), 1.0, np.maximum(std, 1e-300))


def scores(answer: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Errors in their units."""
    return (y - answer[:, 0]) / units(answer)


def interval(
    mean: np.ndarray, unit: np.ndarray, ends: tuple[float, float], from_zero: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Intervals about predictions, cut off at 0 where targets are."""
    least = 0.0 if from_zero else -np.inf
    return np.maximum(mean + ends[0] * unit, least), np.maximum(mean + ends[1] * unit, least)
