"""What displays are drawn from: rows in memory as a fitted estimator sees them, their missing cells filled, names of columns."""

from typing import Any

import numpy as np
from sklearn.base import is_clusterer
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from ..base.missing import impute_cells
from ..frames import is_table
from ..source import is_streamed

__all__ = ["check_memory", "column_names", "imputed", "levels_of", "memory_rows"]


def column_names(estimator: Any, n_columns: int, X: Any = None, given: Any = None) -> list[str]:
    """Names of the columns: those given, those seen at fit, those of a frame, or numbers."""
    if given is not None and len(given) != n_columns:
        raise ValueError(f"feature_names holds {len(given)} names, but there are {n_columns} columns; give one each.")
    for names in (given, getattr(estimator, "feature_names_in_", None), getattr(X, "columns", None)):
        if names is not None and len(names) == n_columns:
            return [str(name) for name in names]
    return [f"column {j}" for j in range(n_columns)]


def check_memory(X: Any) -> None:
    """Refuse rows that are not in memory."""
    if is_streamed(X) and not is_table(X):
        raise ValueError("plots show rows in memory; read the rows you want to see first.")


def memory_rows(estimator: Any, X: Any) -> np.ndarray:
    """Rows of X as the fitted estimator sees them."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "_validate") and not is_clusterer(estimator):
        raise TypeError(f"{type(estimator).__name__} has no classes to draw; use a mixture, such as GaussianMixture().")
    check_memory(X)
    if hasattr(estimator, "_validate"):
        rows = estimator._validate(X, reset=False)
        return rows.toarray() if hasattr(rows, "toarray") else rows
    if getattr(estimator, "schema_", None) is not None:
        return estimator.schema_.encode(X)
    return check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")


def imputed(estimator: Any, X: Any, what: str | float = "std") -> Any:
    """The rows of X as numbers with missing cells filled, and how sure each is: its "std", or its interval at a level."""
    return impute_cells(estimator, estimator._validate(X, reset=False), what)


def levels_of(estimator: Any, n_columns: int) -> list[tuple]:
    """For each column, the levels of its codes; none where it holds numbers."""
    schema = getattr(estimator, "schema_", None)
    return [()] * n_columns if schema is None else [column.levels for column in schema.columns]
