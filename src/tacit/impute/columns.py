"""`Completing`: what imputers of numbers share: marked cells, columns without any value, indicators of what was missing."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.impute import MissingIndicator
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ..declared import Numbers, Part, Spec

__all__ = ["Completing"]


class Completing(TransformerMixin):
    """Base of imputers with the settings `missing_values`, `add_indicator` and `keep_empty_features`."""

    missing_values: Any
    add_indicator: bool
    keep_empty_features: bool
    observed_: np.ndarray
    indicator_: Any

    _completes: ClassVar[dict[str, Spec]] = {
        "observed_": Numbers("d", kind="b"),
        "indicator_": Part(MissingIndicator, optional=True),
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_marker(self) -> None:
        if not isinstance(self.missing_values, numbers.Real):
            raise ValueError(f"missing_values={self.missing_values!r} is not a number; use np.nan, or a number for it.")

    def _marked(self, X: np.ndarray) -> np.ndarray:
        """Rows with NaN in missing cells."""
        marker = self.missing_values
        if marker == marker:  # not NaN
            if np.isnan(X).any():
                raise ValueError(f"Input X contains NaN, but missing_values={marker!r}; use missing_values=np.nan.")
            X = np.where(marker == X, X.dtype.type(np.nan), X)
        return X

    def _learn_columns(self, X: np.ndarray) -> None:
        """Take note of the columns with values, and of those with missing cells."""
        self.observed_ = ~np.isnan(X).all(axis=0)
        if not self.observed_.any():
            raise ValueError("X has no observed value in any column; there is nothing to learn from.")
        if not self.observed_.all() and not self.keep_empty_features:
            names = _check_feature_names_in(self)[~self.observed_]
            warnings.warn(
                f"columns without any observed value are dropped: {', '.join(map(str, names))}; "
                "set keep_empty_features=True to fill them with 0.",
                UserWarning,
                stacklevel=3,
            )
        self.indicator_ = MissingIndicator(error_on_new=False).fit(X) if self.add_indicator else None

    def _check_indicator(self, d: int) -> None:
        told = self.indicator_
        if told is not None and (told.n_features_in_ != d or told.features_.max(initial=0) >= d):
            raise ValueError(f"'indicator_' tells of other columns than the {d} there are")

    def _completed(self, filled: np.ndarray, X: np.ndarray) -> np.ndarray:
        """The filled columns that have values, with those that have none where they are kept, and indicators."""
        if self.keep_empty_features and not self.observed_.all():
            whole = np.where(np.isnan(X), X.dtype.type(0), X)
            whole[:, self.observed_] = filled
            filled = whole
        if self.indicator_ is None:
            return filled
        return np.hstack([filled, self.indicator_.transform(X).astype(X.dtype)])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input columns; default those seen at fit.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        kept = names if self.keep_empty_features else names[self.observed_]
        if self.indicator_ is None:
            return kept
        return np.concatenate([kept, self.indicator_.get_feature_names_out(names)])
