"""`study`: what a fitted model says of the rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..tables import open_table
from .findings import Findings

__all__ = ["study", "study_table"]


def study(model: Any, X: Any, *, selection: Any = (), seed: int = 0, **reading: Any) -> Findings:
    """Findings about the rows of X under a model.

    Parameters
    ----------
    model : estimator
        Fitted: Mixture, GaussianMixture, StudentTMixture, ProbabilisticPCA or FactorAnalysis; or what `find_groups` or
        `choose_imputer` returned.
    X : table in memory or path
        As `tacit.tables.open_table` takes it, or rows as lists.
    selection : sequence of dict
        Models that were tried, best first, as in `Findings.selection`.
    seed : int
        Seeds the draw of the rows to show.
    **reading
        As in `tacit.tables.open_table`; levels that the model does not know are missing unless ``unknown="error"``.

    Returns
    -------
    Findings

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import GaussianMixture
    >>> from tacit.study import study
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0.0], [6.0]], 30, axis=0)
    >>> study(GaussianMixture(2, random_state=0).fit(X), X).summary[0]
    '60 rows fall into 2 groups.'
    """
    told: dict[str, Any] = {}
    if not selection and hasattr(model, "by_size"):
        told = {"verdict": model.verdict, "others": model.by_size, "aside": model.aside}
    selection = selection or getattr(model, "selection", ())  # of a Grouping or a Choice
    model, table = opened_for(model, X, **reading)
    others = {size: other._for_study() for size, other in told.pop("others", {}).items() if size != model.n_components}
    return study_table(model, table, selection=selection, seed=seed, others=others, **told)


def opened_for(model: Any, X: Any, **reading: Any) -> tuple[Any, Any]:
    """A fitted model as studies take it, and a table with its columns; `reading` is as in `study`."""
    model = getattr(model, "model", model)
    check_is_fitted(model)
    if getattr(model, "_study", None) not in ("groups", "axes"):
        raise TypeError(
            f"{type(model).__name__} cannot be reported on; use Mixture, GaussianMixture, StudentTMixture, ProbabilisticPCA or "
            "FactorAnalysis."
        )
    model = model._for_study()
    columns = model._columns_told()
    if isinstance(X, (list, tuple)):
        X = np.array(X, dtype=object)
    if isinstance(X, np.ndarray) and X.ndim == 2:
        if X.shape[1] != len(columns):
            raise ValueError(
                f"X has {X.shape[1]} columns, but the model was fitted to {len(columns)}; give the rows it was fitted to."
            )
        X = dict(zip((column["name"] for column in columns), X.T))
    return model, open_table(X, like=columns, **reading)


def study_table(model: Any, table: Any, *, selection: Any = (), seed: int = 0, **told: Any) -> Findings:
    """The same of a table that is open, with the columns of the model; `told` is what else `study_groups` takes."""
    if model._study == "groups":
        from .groups import study_groups

        return study_groups(model, table, selection=selection, seed=seed, **told)
    from .axes import study_axes

    return study_axes(model, table, seed=seed)
