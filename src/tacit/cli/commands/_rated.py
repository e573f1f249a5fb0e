"""Tables that `tacit recommend` writes: lists of items, users, items and ratings held out."""

from typing import Any

import numpy as np

__all__ = ["check_columns", "items_columns", "lists_columns", "users_columns"]


def lists_columns(model: Any, users: Any, n: int, names: Any) -> dict:
    """The table of the n best items of users, with intervals where the model tells them."""
    from ...recommend.ratings import codes_of

    items, ratings = model.recommend_all(n, users=users)
    kept = np.isfinite(ratings)
    who, what = np.repeat(users, kept.sum(axis=1)), items[kept]
    low, high = ends_of(model, who, what)
    return {
        "user": who, "rank": np.broadcast_to(np.arange(1, ratings.shape[1] + 1), ratings.shape)[kept], "item": what,
        "name": names[codes_of(what, model.items_)], "expected": ratings[kept].astype(np.float64), "low": low, "high": high,
    }  # fmt: skip


def ends_of(model: Any, users: Any, items: Any, coverage: float = 0.9) -> Any:
    """Ends of intervals; NaN where the recommender tells no uncertainty."""
    try:
        return model.predict_interval((users, items), coverage)
    except NotImplementedError:
        return np.full(len(users), np.nan), np.full(len(users), np.nan)


def users_columns(ratings: Any, findings: Any) -> dict:
    """The table of users that have ratings."""
    return _side_columns("user", ratings.users, ratings.user, ratings, findings)


def items_columns(ratings: Any, findings: Any) -> dict:
    """The table of items that have ratings."""
    return _side_columns("item", ratings.items, ratings.item, ratings, findings)


def _side_columns(what: str, ids: Any, codes: Any, ratings: Any, findings: Any) -> dict:
    n = np.bincount(codes, minlength=len(ids))
    there = n > 0
    mean = np.bincount(codes, ratings.rating.astype(np.float64), len(ids))[there] / n[there]
    made: dict[str, Any] = {what: ids[there]}
    if what == "item":
        made["name"] = findings.names[there]
    made |= {"ratings": n[there], "mean": mean}
    if findings.tastes is not None:
        made["type"] = (findings.tastes.user_type if what == "user" else findings.tastes.item_type)[there]
    return made


def check_columns(ratings: Any, check: Any) -> dict:
    """The table of ratings held out."""
    made = {
        "user": ratings.users[check.user], "item": ratings.items[check.item], "rating": check.rating,
        "predicted": check.predicted, "averages": check.averages, "mean": check.mean,
    }  # fmt: skip
    return made if check.low is None else made | {"low": check.low, "high": check.high}
