"""`non_negative_factorization`: X ≈ W H in one call."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .estimator import check_factor
from .nmf import NMF

__all__ = ["non_negative_factorization"]


def non_negative_factorization(
    X: Any, W: Any = None, H: Any = None, n_components: Any = "auto", *, init: str | None = None, update_H: bool = True,
    solver: str = "cd", beta_loss: Any = "frobenius", tol: float = 1e-4, max_iter: int = 200, alpha_W: float = 0.0,
    alpha_H: Any = "same", l1_ratio: float = 0.0, random_state: Any = None, verbose: int = 0, shuffle: bool = False,
) -> tuple[np.ndarray, np.ndarray, int]:  # fmt: skip
    """Factor X into non-negative W and H.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows without negative cells; NaN is missing.
    W, H : array-like, optional
        Where to start, with ``init="custom"``; H is held where `update_H` is False.
    update_H : bool, default=True
        Whether to learn H, or W alone for the H given.
    n_components, init, solver, beta_loss, tol, max_iter, alpha_W, alpha_H, l1_ratio, random_state, verbose, shuffle
        As in :class:`NMF`.

    Returns
    -------
    W : ndarray of shape (n_samples, n_components)
    H : ndarray of shape (n_components, n_features)
    n_iter : int
        Passes.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.topics import non_negative_factorization
    >>> X = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    >>> W, H, n_iter = non_negative_factorization(X, n_components=1)
    >>> np.allclose(W @ H, X)
    True
    """
    estimator = NMF(
        n_components, init=init, solver=solver, beta_loss=beta_loss, tol=tol, max_iter=max_iter, alpha_W=alpha_W, alpha_H=alpha_H,
        l1_ratio=l1_ratio, random_state=random_state, verbose=verbose, shuffle=shuffle,
    )  # fmt: skip
    if update_H:
        W = estimator.fit_transform(X, W=W, H=H)
        return W, estimator.components_, estimator.n_iter_
    if W is not None:
        warnings.warn("When update_H=False, the provided initial W is not used.", RuntimeWarning, stacklevel=2)
    return *_scores_alone(estimator, X, H), max_iter


def _scores_alone(estimator: NMF, X: Any, H: Any) -> tuple[np.ndarray, np.ndarray]:
    """W for a given H."""
    estimator._check_settings()
    source = estimator._open(X, reset=True)
    k = estimator.n_components
    check_factor("H", H, (k if isinstance(k, int) else None, source.n_features))
    H = np.asarray(H)
    if H.dtype != source.dtype:
        raise TypeError(f"H should have the same dtype as X. Got H.dtype = {H.dtype}.")
    facts = estimator._check_rows(source)
    estimator.n_components_, estimator.components_ = len(H), H
    estimator.level_ = float(np.sqrt(facts.mean / len(H)))
    return estimator.transform(X), H
