"""A recommender that is the mean and two biases, shrunk: quick, and easy to work out by hand."""

import numpy as np

from tacit.base.settings import settings
from tacit.recommend import Recommender


@settings
class Biases(Recommender):
    """Mean plus a bias of the item and one of the user, each shrunk by so many ratings; None leaves one out."""

    by_item: float | None = 5.0
    by_user: float | None = 5.0
    spread: float | None = 1.0

    def _check_settings(self):
        pass

    def _learn_ratings(self, ratings):
        left = ratings.rating - self.mean_
        self.items_bias_ = self._shrunk(ratings.item, left, ratings.n_items, self.by_item)
        self.users_bias_ = self._shrunk(
            ratings.user, left - self.items_bias_[ratings.item], ratings.n_users, self.by_user
        )

    @staticmethod
    def _shrunk(code, left, n, by):
        bias = np.zeros(n + 1)  # the last is that of −1
        if by is not None:
            bias[:-1] = np.bincount(code, left, n) / (np.bincount(code, minlength=n) + by)
        return bias

    def _expect(self, user, item):
        return self.mean_ + self.users_bias_[user] + self.items_bias_[item]

    def _spread(self, user, item):
        if self.spread is None:
            raise NotImplementedError
        return np.full(len(user), self.spread**2)


def some_ratings(rng, n=40, d=30, noise=0.9, share=0.4):
    """A table of ratings with biases of users and items."""
    user, item = np.nonzero(rng.random((n, d)) < share)
    told = 3.5 + rng.normal(0, 0.5, n)[user] + rng.normal(0, 0.5, d)[item] + rng.normal(0, noise, len(user))
    return {
        "user": user + 1,
        "item": item + 100,
        "rating": np.clip(np.round(told), 1, 5),
        "time": rng.permutation(len(user)),
    }
