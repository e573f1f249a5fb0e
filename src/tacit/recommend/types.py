"""Types of users and items in numbers and words."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..words import joined, share, signed

__all__ = ["describe_types"]

LEAST_RATINGS = 20
"""Ratings that an item should have to stand for a type; where few have, half of the most. Three quarters of items stand for none:
those that few know tell little to who reads."""
NOTABLE = 0.05
"""Deviations in ratings that words tell of."""


def describe_types(mixture: Any, n_items: int) -> dict[str, Any]:
    """What tells types apart, by the first fit of a two-sided mixture.

    Parameters
    ----------
    mixture : TwoSidedMixture
        A fitted one.
    n_items : int
        How many items to name for each type.
    """
    count = np.bincount(mixture.seen_.indices, minlength=len(mixture.items_))
    least = max(min(LEAST_RATINGS, count.max() / 2), float(np.quantile(count, 0.75)))
    common = np.flatnonzero(count >= least)
    means = mixture.rating_table_[0] @ mixture.levels_
    told = _Told(mixture, count, common, means, n_items)
    users = [told.user_type(k) for k in range(means.shape[0])]
    return {"user_types": users, "item_types": [told.item_type(l) for l in range(means.shape[1])], "table": means}


class _Told:
    """What is known of types.

    Parameters
    ----------
    mixture : TwoSidedMixture
    count : (d,)
        Ratings of each item.
    common : (c,)
        Items that may stand for a type.
    means : (K, L)
        Expected ratings by types.
    n_items : int
    """

    def __init__(self, mixture: Any, count: np.ndarray, common: np.ndarray, means: np.ndarray, n_items: int):
        self.mixture, self.count, self.common, self.means, self.n_items = mixture, count, common, means, n_items
        self.user, self.item = mixture.user_membership_[0], mixture.item_membership_[0]
        self.by_user = mixture.user_share_[0]
        self.expected = self.item @ means.T  # (d, K)
        self.weight = count / count.sum()
        self.average = self.expected @ self.by_user
        self.mean = float(self.weight @ self.average)

    def user_type(self, k: int) -> dict[str, Any]:
        """What users of a type are like; items are those that the type rates otherwise than all do, its own mean aside."""
        mean = float(self.weight @ self.expected[:, k])
        taste = self.expected[:, k] - self.average - (mean - self.mean)
        chances = self.weight @ self.item @ self.mixture.rating_table_[0][k]
        order = self.common[np.argsort(-taste[self.common], kind="stable")]
        liked = self._named(order[: self.n_items], taste)
        disliked = self._named(order[::-1][: self.n_items], taste)
        words = f"{share(self.by_user[k])} of users; rate {mean:.1f} on average ({signed(mean - self.mean, 1)})"
        more = [each["item"] for each in liked[:3] if each["value"] > NOTABLE]
        less = [each["item"] for each in disliked[:3] if each["value"] < -NOTABLE]
        words += f"; like {joined(more)} more than others do" if more else ""
        words += f"; like {joined(less)} less" if less else ""
        return {
            "number": k + 1, "share": float(self.by_user[k]), "members": int((self.user.argmax(axis=1) == k).sum()), "mean": mean,
            "deviation": mean - self.mean, "levels": chances, "most_liked": liked, "least_liked": disliked, "words": words,
        }  # fmt: skip

    def item_type(self, l: int) -> dict[str, Any]:
        """What items of a type are like, and which users rate them otherwise than other items."""
        mean = float(self.by_user @ self.means[:, l])
        taste = self.means[:, l] - mean - (self.means @ self.mixture.item_share_[0] - self.mean)
        order = self.common[np.lexsort((-self.count[self.common], -np.round(self.item[self.common, l], 2)))]
        typical = self._named(order[: self.n_items], self.item[:, l])
        most, least = int(taste.argmax()), int(taste.argmin())
        part = float(self.mixture.item_share_[0][l])
        words = f"{share(part)} of items, such as {joined(each['item'] for each in typical[:3])}; rated {mean:.1f} on average"
        if len(taste) > 1:
            words += f", most above other items by users of type {most + 1} and most below by type {least + 1}"
        return {
            "number": l + 1, "share": part, "members": int((self.item.argmax(axis=1) == l).sum()), "mean": mean,
            "deviation": mean - self.mean, "typical": typical, "liked_by": most + 1, "disliked_by": least + 1, "words": words,
        }  # fmt: skip

    def _named(self, items: np.ndarray, value: np.ndarray) -> list[dict[str, Any]]:
        told = zip(self.mixture.items_[items].tolist(), value[items], self.average[items], self.count[items])
        return [{"item": id, "value": float(v), "mean": float(mean), "ratings": int(n)} for id, v, mean, n in told]
