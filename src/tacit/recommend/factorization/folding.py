"""More ratings for a factorisation that is learned already: vectors of those concerned are solved for, all else stays."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from ...kernels import lazy
from ..ratings import Ratings, codes_of
from .priors import SidePrior, Vectors, packed
from .source import RatedRows

__all__ = ["fold_in"]

grouping = lazy("grouping")
ROUNDS = 5
"""How often users and items concerned are solved for in turn: new items may be rated by new users only."""


def fold_in(estimator: Any, ratings: Ratings) -> None:
    """Take up ratings in a fitted `MatrixFactorization`: new users and items get vectors, those concerned others."""
    user, user_ids = _extended(ratings.users, estimator.users_)
    item, item_ids = _extended(ratings.items, estimator.items_)
    touched = user[ratings.user], item[ratings.item]
    seen = _merged(estimator.seen_, *touched, ratings.rating, (len(user_ids), len(item_ids)))
    n_users, n_items = len(user_ids) - len(estimator.users_), len(item_ids) - len(estimator.items_)
    estimator.users_, estimator.items_, estimator.n_features_in_ = user_ids, item_ids, len(item_ids)
    estimator.seen_, estimator.item_counts_ = seen, np.bincount(seen.indices, minlength=len(item_ids))
    for side, n in (("user", n_users), ("item", n_items)):
        _enlarge(estimator, side, n)
    _solve(estimator, np.unique(touched[0]), np.unique(touched[1]))


def _extended(ids: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of ids among the known ones and, after them, the new ones; and all ids."""
    code = codes_of(ids, known)
    new = np.flatnonzero(code < 0)
    code[new] = len(known) + np.arange(len(new))
    if not len(new):
        return code, known
    both = [known.tolist(), ids[new].tolist()]
    return code, np.concatenate([known, ids[new]]) if known.dtype.kind == ids.dtype.kind else np.array(
        functools.reduce(operator.iadd, both, []), object
    )


def _merged(seen: Any, user: np.ndarray, item: np.ndarray, rating: np.ndarray, shape: tuple[int, int]) -> Any:
    """Cells that were seen and new ones, which replace them."""
    before = np.repeat(np.arange(seen.shape[0]), np.diff(seen.indptr))
    users, items = np.concatenate([before, user]), np.concatenate([seen.indices, item])
    values = np.concatenate([seen.data, rating])
    order = grouping.grouped(users.astype(np.int32), items.astype(np.int32), values, *shape)[0]
    last = np.append((np.diff(users[order]) != 0) | (np.diff(items[order]) != 0), True)
    kept = order[last]
    lengths = np.bincount(users[kept], minlength=shape[0])
    return csr_matrix((values[kept], items[kept], np.concatenate([[0], np.cumsum(lengths)])), shape=shape)


def _enlarge(estimator: Any, side: str, n: int) -> None:
    """Let n more have what is known in general."""
    if not n:
        return
    link, precision = getattr(estimator, f"{side}_link_"), getattr(estimator, f"{side}_precision_")
    scale = estimator.noise_variance_ if estimator._scaled else 1.0
    more = {
        "bias": np.full(n, link[0, 0]), "factors": np.tile(link[0, 1:], (n, 1)),
        "spread": np.tile(scale * packed(np.linalg.inv(precision)), (n, 1)), "features": np.tile(np.eye(1, len(link)), (n, 1)),
    }  # fmt: skip
    if side == "user":
        more["consistency"] = np.ones(n)
    for name, rows in more.items():
        own = getattr(estimator, f"{side}_{name}_")
        setattr(estimator, f"{side}_{name}_", np.concatenate([own, rows.astype(own.dtype)]))


def _solve(estimator: Any, users: np.ndarray, items: np.ndarray) -> None:
    """Vectors of these users and items, in turn."""
    model, kind = estimator._model(), estimator._model().kind
    seen, columns = estimator.seen_, estimator.seen_.tocsc()
    sides = [_rows(seen, users, kind), _rows(columns, items, kind)]
    for _ in range(ROUNDS):
        _half(estimator, model, "user", users, sides[0])
        _half(estimator, model, "item", items, sides[1])
    _half(estimator, model, "user", users, sides[0])


def _rows(matrix: Any, rows: np.ndarray, kind: Any) -> RatedRows:
    n = len(matrix.indptr) - 1
    whole = RatedRows(
        matrix.data.astype(kind),
        matrix.indices.astype(np.int32),
        matrix.indptr.astype(np.int64),
        (n, sum(matrix.shape) - n),
        "missing",
    )
    return whole[rows]


def _half(estimator: Any, model: Any, side: str, chosen: np.ndarray, rows: RatedRows) -> None:
    """Solve for some vectors of one side, and keep them."""
    params, other = estimator._params(), "item" if side == "user" else "user"
    scale = estimator.noise_variance_ if estimator._scaled else 1.0
    mean = np.column_stack([getattr(estimator, f"{side}_bias_"), getattr(estimator, f"{side}_factors_")])[chosen]
    own = Vectors(mean, model.isotropic(len(chosen), True))
    others = _vectors(estimator, other, model)
    prior: SidePrior = params.user_prior if side == "user" else params.item_prior
    tau = estimator.user_consistency_
    along = prior, getattr(estimator, f"{side}_features_")[chosen], tau[chosen] if side == "user" else tau
    model.solve(params, rows, own, others, *along, side == "user")
    for name, value in (("bias", own.mean[:, 0]), ("factors", own.mean[:, 1:]), ("spread", scale * own.spread)):
        whole = getattr(estimator, f"{side}_{name}_").copy()
        whole[chosen] = value
        setattr(estimator, f"{side}_{name}_", whole)


def _vectors(estimator: Any, side: str, model: Any) -> Vectors:
    mean = np.column_stack([getattr(estimator, f"{side}_bias_"), getattr(estimator, f"{side}_factors_")])
    spread = getattr(estimator, f"{side}_spread_").astype(model.kind)
    return Vectors(mean, spread if model.learns else spread[:, :0])
