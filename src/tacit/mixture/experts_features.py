"""Features of experts: categories as indicators of their levels, and missing features as draws given the observed ones.

A category with levels 0 … L − 1 becomes L − 1 columns that are 1 at their level; the first level is the baseline. Where
features are missing, a `Mixture` of the features alone is learned, and the likelihood of a row is its mean over draws of them,

    p(y | x_observed) ≈ (1 / M) Σ_m p(y | x⁽ᵐ⁾),        x⁽ᵐ⁾ ~ p(x_missing | x_observed)

so that EM weighs the draws by how well they explain y. It is sound where features are missing at random given the observed ones.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _check_feature_names, _check_n_features

from ..base import DensityEstimator
from ..base.missing import draw_cells
from ..checks import check_columns, check_range, check_weight
from ..declared import Listed, Part, Text
from ..frames import is_table, read_columns
from ..schema import Schema, level_text
from ..source import ArraySource, Block, Source, is_streamed
from .generic import Mixture
from .selection import select

__all__ = ["FeaturesEstimator", "Opened"]

LARGEST_MIXTURE = 3
"""Most classes of the mixture that describes features with missing cells."""


class Opened(NamedTuple):
    """What opening rows found out: fitted attributes, and whether units are draws of one row's features."""

    learned: dict[str, Any]
    draws: bool


class FeaturesEstimator(DensityEstimator):
    """Base of estimators of y given x that read features of any kind.

    A subclass has the settings `gate_columns`, `expert_columns` and `n_draws`, and defines ``_targets(y, reset)``.
    """

    schema_: Schema | None = None
    features_: Mixture | None = None

    _saved = DensityEstimator._saved | {
        "schema_": Part(Schema, optional=True),
        "features_": Part(Mixture, optional=True),
        "terms_": Listed(Text()),
    }
    _dtypes = (np.float64,)

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() | {"p": len(self.terms_)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    # Cells

    def _validate(self, X: Any, *, reset: bool) -> np.ndarray:
        """Features as numbers, categories as codes, NaN where missing."""
        if is_streamed(X):
            raise ValueError(
                f"X is a {type(X).__name__}, read in a stream; {type(self).__name__} takes rows in memory."
            )
        kinds = self._kinds(X) if reset and is_table(X) else {}
        if reset:
            self.schema_ = self.features_ = None
        if not (self.schema_ or "category" in kinds.values()):
            cells = super()._validate(X, reset=reset)
        else:
            _check_feature_names(self, X, reset=reset)
            _check_n_features(self, X, reset=reset)
            schema = self.schema_ = self.schema_ or Schema.of(X, kinds)
            cells = schema.encode(X)
            check_range(cells, told=self._told)
        if reset:
            self._check_columns(cells)
            self.terms_ = [term for j in range(cells.shape[1]) for term in self._terms_of(j)]
        return cells

    def _kinds(self, X: Any) -> dict[Any, str]:
        """Columns of numbers are quantities; texts, and types that declare levels, are categories."""
        return {
            name: "continuous" if cells.numeric and not cells.levels else "category"
            for name, cells in read_columns(X).items()
        }

    def _levels(self, column: int) -> tuple:
        return self.schema_.columns[column].levels if self.schema_ else ()

    def _terms_of(self, column: int) -> list[str]:
        """Names of the columns that a feature becomes."""
        name = self.schema_.names[column] if self.schema_ else self._column_names()[column]
        levels = self._levels(column)
        return [f"{name} = {level_text(level)}" for level in levels[1:]] if levels else [str(name)]

    def _expanded(self, cells: np.ndarray) -> np.ndarray:
        """Cells, all observed, with categories as indicators."""
        if not self.schema_:
            return cells
        parts = [
            np.eye(len(levels))[column.astype(int)][:, 1:] if (levels := self._levels(j)) else column[:, None]
            for j, column in enumerate(cells.T)
        ]
        return np.hstack(parts)

    def _seen_by(self, setting: str) -> np.ndarray | None:
        """The entries of z = [1, x] that a setting names, by feature; None is all."""
        named = getattr(self, setting)
        if named is None:
            return None
        names = self.schema_.names if self.schema_ else self._known_names()
        chosen = set(check_columns(setting, named, self.n_features_in_, names).tolist()) if len(named) else set()
        owner = np.repeat(np.arange(self.n_features_in_), [len(self._terms_of(j)) for j in range(self.n_features_in_)])
        return np.append(0, 1 + np.flatnonzero(np.isin(owner, list(chosen))))

    # Missing features

    def _draw_features(self, cells: np.ndarray) -> np.ndarray:
        """Draws (n_draws, rows, d) of incomplete rows; always the same ones."""
        if self.features_ is None:
            row, column = np.argwhere(np.isnan(cells))[0]
            raise ValueError(
                f"X has a missing value (row {row}, column {self._told(int(column))}), but none was missing at fit, so that "
                "nothing was learned about how features depend on each other; fill it first."
            )
        return draw_cells(self.features_, Block.of(cells), self.n_draws, np.random.default_rng(0))

    def _learn_features(self, cells: np.ndarray) -> None:
        """Learn the mixture of the features that draws come from."""
        codes = [j for j in range(cells.shape[1]) if self._levels(j)]
        families = {tuple(set(range(cells.shape[1])) - set(codes)): "gaussian", tuple(codes): "categorical"}
        mixture = Mixture(
            by_column={columns: family for columns, family in families.items() if columns}, random_state=0,
            parameter_draws=0, smoothing=0.1, n_jobs=self.n_jobs,
        )  # fmt: skip
        sizes = range(1, min(LARGEST_MIXTURE, len(cells)) + 1)
        self.features_ = select(mixture, cells, n_components=sizes).best

    def _feature_draws(self, X: Any) -> list[np.ndarray]:
        """Features of rows as the experts see them: one array, or one for each draw where cells are missing."""
        cells = self._validate(X, reset=False)
        drawn = self._draw_features(cells) if np.isnan(cells).any() else cells[None]
        return [self._expanded(each) for each in drawn]

    # Rows with targets

    def _targets(self, y: Any, *, reset: bool = False) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} does not define _targets.")

    def _open(
        self,
        X: Any,
        weight: Any = None,
        labels: Any = None,
        targets: Any = None,
        *,
        reset: bool = False,
        unit: Any = None,
    ) -> Source:
        """The source of rows and targets; `labels` are the targets y as the user gives them."""
        if isinstance(X, Source) and isinstance(X.schema, Opened):
            if reset:
                self.__dict__.update(X.schema.learned)
            return X
        if labels is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        cells, Y = self._validate(X, reset=reset), self._targets(labels, reset=reset)
        if len(cells) != len(Y):
            raise ValueError(f"X has {len(cells)} rows and y has {len(Y)}; give one target per row.")
        rows, missing = np.arange(len(cells)), np.isnan(cells).any(axis=1)
        draws = bool(missing.any())
        if draws:
            if unit is not None:
                raise ValueError(
                    "X has missing values, which are not taken together with unit; fill them first, for example with "
                    "tacit.impute.MixtureImputer().fit_transform(X)."
                )
            if reset:
                self._learn_features(cells)
            rows = unit = np.repeat(rows, np.where(missing, self.n_draws, 1))
            drawn = self._draw_features(cells[missing]).swapaxes(0, 1).reshape(-1, cells.shape[1])
            cells = cells[rows]
            cells[missing[rows]] = drawn
        X, weight = self._expanded(cells), check_weight(weight, len(Y))
        weight = weight if weight is None else weight[rows]
        source = ArraySource(X, weight, None, Y[rows], unit=unit, n_jobs=self.n_jobs)
        names = {
            "n_features_in_",
            "feature_names_in_",
            "schema_",
            "features_",
            "terms_",
            "classes_",
            "_one_target",
            "responses_",
        }
        learned = {name: self.__dict__[name] for name in names & set(self.__dict__)} if reset else {}
        source.schema = Opened(learned, draws)
        if source.offsets is not None and not draws:
            self._check_units(source)
        return source

    def _check_units(self, source: ArraySource) -> None:
        """Raise where rows of a unit differ in what they must share: their weight, and what the gate sees."""
        offsets = np.arange(source.n_rows + 1) if source.offsets is None else source.offsets
        first = np.repeat(offsets[:-1], np.diff(offsets))
        if source.weight is not None and (source.weight != source.weight[first]).any():
            raise ValueError(
                "the rows of a unit differ in sample_weight; a unit counts as a whole, so give its rows one weight."
            )
        seen = self._seen_by("gate_columns")
        columns = np.arange(source.n_features) if seen is None else seen[1:] - 1
        differ = (source.X[first] != source.X)[:, columns].any(axis=0)
        if self.gate == "softmax" and differ.any():
            term = self.terms_[columns[differ.argmax()]]
            raise ValueError(
                f"{term!r} differs between rows of a unit, but the gate decides for a unit as a whole; name the columns that "
                "do not in gate_columns, or use gate='constant'."
            )
