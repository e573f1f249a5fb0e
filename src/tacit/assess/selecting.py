"""`one_standard_error`: the simplest of several models that is about as good as the best.

the simplest k with  mean(k) ≤ min_j mean(j) + SE(argmin)    (errors; of scores, the other way around)
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["one_standard_error"]


def one_standard_error(scores: Any, error: Any = None, *, complexity: Any = None, larger: bool = False) -> int:
    """The place of the simplest model whose error is within one standard error of the least.

    Parameters
    ----------
    scores : array-like of shape (n_models,) or (n_models, n_folds)
        Mean errors, or those of each fold; NaN where a model could not be learned.
    error : array-like of shape (n_models,), optional
        Standard errors of the means; default those over folds.
    complexity : array-like of shape (n_models,), optional
        What makes a model less simple; default models are in order, the simplest first.
    larger : bool, default=False
        Whether larger scores are better.

    Returns
    -------
    int

    References
    ----------
    Breiman, Friedman, Olshen and Stone (1984), Classification and regression trees, section 3.4.3.

    Examples
    --------
    >>> from tacit.assess import one_standard_error
    >>> one_standard_error([0.50, 0.32, 0.30, 0.31], [0.05, 0.03, 0.03, 0.03])
    1
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim == 2:
        n = values.shape[1]
        if error is None and n < 2:
            raise ValueError(f"scores has {n} fold for each model, which tells no standard error; give two or more.")
        error = values.std(axis=1, ddof=1) / np.sqrt(n) if error is None else error
        values = values.mean(axis=1)
    if values.ndim != 1 or error is None:
        raise ValueError(f"scores has shape {values.shape}; give a row of folds for each model, or means and error.")
    spread = np.asarray(error, dtype=np.float64)
    if spread.shape != values.shape:
        raise ValueError(f"error has shape {spread.shape}, but there are {len(values)} models; give one each.")
    if np.isnan(values).all():
        raise ValueError("scores is NaN for every model; none can be chosen.")
    losses = -values if larger else values
    best = int(np.nanargmin(losses))
    order = np.arange(len(losses)) if complexity is None else np.argsort(np.asarray(complexity), kind="stable")
    limit = losses[best] + np.nan_to_num(spread[best])
    return int(next(k for k in order if losses[k] <= limit))
