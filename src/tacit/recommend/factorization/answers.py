"""What a factorisation answers: expected ratings and their variances, rankings, likeness of items, reasons."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import lazy
from ..base import Recommender
from .drift import periods_of
from .priors import Users, packed, unpacked
from .responses import level_chances
from .source import RatedRows

__all__ = ["FactorAnswers"]

compiled = lazy("factorization")
MOST_REASONS = 10


class FactorAnswers(Recommender):
    """Answers of `MatrixFactorization`, from its fitted attributes."""

    response: str
    user_bias_: np.ndarray
    item_bias_: np.ndarray
    user_factors_: np.ndarray
    item_factors_: np.ndarray
    user_spread_: np.ndarray
    item_spread_: np.ndarray
    user_features_: np.ndarray
    user_precision_: np.ndarray
    user_consistency_: np.ndarray
    noise_variance_: float
    freedom_: float
    thresholds_: np.ndarray
    item_drift_: np.ndarray
    item_drift_variance_: np.ndarray
    drift_variance_: float
    period_edges_: np.ndarray

    @property
    def _scaled(self) -> bool:
        """Whether λ is given, so that errors and squares are charged in units of σ², which is estimated at the end."""
        raise NotImplementedError

    def _side(self, side: str) -> tuple[np.ndarray, np.ndarray]:
        """Means and covariances of one side, with one more at the end for those that are not known."""
        link, precision = getattr(self, f"{side}_link_"), getattr(self, f"{side}_precision_")
        prior = packed(np.linalg.inv(precision)) * (self.noise_variance_ if self._scaled else 1.0)
        mean = np.column_stack([getattr(self, f"{side}_bias_"), getattr(self, f"{side}_factors_")])
        mean, spread = np.vstack([mean, link[:1]]), np.vstack([getattr(self, f"{side}_spread_"), prior])
        seen = np.diff(self.seen_.indptr) if side == "user" else self.item_counts_
        mean[np.append(seen, 0) == 0] += getattr(self, f"{side}_selection_")
        if side == "item":
            drift, around = self._last_drift()
            mean[:, 0] += drift
            spread[:, 0] += around
        return mean, spread

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Expected ratings, within the scale.

        Parameters
        ----------
        X : Ratings, table with columns for user and item, (n, 2) array or (users, items)
            Pairs. Of users and items that were not seen, what is known in general is told. Where biases drift, `Ratings` with
            times are predicted for these, all others for the last period.
        return_std : bool, default=False
            Whether to return the standard deviations of ratings as well.

        Returns
        -------
        rating : ndarray of shape (n,)
        std : ndarray of shape (n,)
            Where `return_std`.
        """
        if not self.item_drift_.shape[1] or getattr(X, "time", None) is None:
            return super().predict(X, return_std)
        user, item = self._codes(X)
        period = periods_of(X.time, self.period_edges_)
        moved = np.vstack([self.item_drift_ - self.item_drift_[:, -1:], np.zeros(self.item_drift_.shape[1])])
        rating = np.clip(self._expect(user, item) + moved[item, period], *self.scale_)
        return (rating, np.sqrt(self._spread(user, item))) if return_std else rating

    def _last_drift(self) -> tuple[np.ndarray, np.ndarray]:
        """What items, and one that is not known, gain in the last period, and its variances."""
        if not self.item_drift_.shape[1]:
            return np.zeros(len(self.items_) + 1), np.zeros(len(self.items_) + 1)
        return np.append(self.item_drift_[:, -1], 0.0), np.append(
            self.item_drift_variance_[:, -1], self.drift_variance_
        )

    def _sums(self, users: np.ndarray, user: np.ndarray, items: np.ndarray, item: np.ndarray) -> np.ndarray:
        """η of pairs."""
        return self.mean_ + compiled.pair_sums(users, user, items, item)

    def _eta(self, user: np.ndarray, item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """η of pairs and its variances."""
        (x, S), (y, T) = self._side("user"), self._side("item")
        user, item, found = user % len(x), item % len(y), np.empty(len(user))  # −1 is the last
        compiled.pair_spread(user, item, x, S, y, T, found)
        return self._sums(x, user, y, item), found

    def _expect(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        if self.response == "ordinal":
            return self._levels(*self._eta(user, item)) @ np.asarray(self.levels_)
        (x, _), (y, _) = self._side("user"), self._side("item")
        return self._sums(x, user % len(x), y, item % len(y))

    def _spread(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        eta, around = self._eta(user, item)
        if self.response == "ordinal":
            chances, levels = self._levels(eta, around), np.asarray(self.levels_)
            return np.maximum(chances @ levels**2 - (chances @ levels) ** 2, 0.0)
        return around + self.noise_variance_ / self._consistency()[user]

    def _consistency(self) -> np.ndarray:
        """τ of users, and at the end that of one who is not known: one over the mean of 1 / τ."""
        unknown = (self.freedom_ - 2.0) / self.freedom_ if self.freedom_ > 4.0 else 0.5
        uneven = not np.all(self.user_consistency_ == 1.0)
        return np.append(self.user_consistency_, unknown if uneven else 1.0)

    def _levels(self, eta: np.ndarray, around: np.ndarray) -> np.ndarray:
        return level_chances(self.thresholds_, eta, around)

    def _chances(self, user: np.ndarray, item: np.ndarray) -> np.ndarray | None:
        return self._levels(*self._eta(user, item)) if self.response == "ordinal" else None

    def _rows(self, users: np.ndarray) -> np.ndarray:
        x = self._side("user")[0][users].astype(np.float32)
        y = self._side("item")[0][:-1].astype(np.float32)
        found = x[:, 1:] @ y[:, 1:].T
        found += (np.float32(self.mean_) + x[:, :1]) + y[:, 0]
        if self.response != "ordinal":
            return found
        grid = np.linspace(found.min(), found.max(), 512)
        return np.interp(found, grid, self._levels(grid, np.zeros(len(grid))) @ np.asarray(self.levels_))

    def _vectors(self, side: str = "item") -> np.ndarray:
        # How factors vary over the other side is part of how alike vectors are: neither is fixed alone.
        around = self._around(side)
        return getattr(self, f"{side}_factors_") @ np.linalg.cholesky((around + around.T) / 2)

    def _lengths(self, vectors: np.ndarray, side: str = "item") -> np.ndarray:
        # Of items with few ratings, the direction of the mean says little.
        around = self._around(side)
        own = unpacked(getattr(self, f"{side}_spread_").astype(float), len(around) + 1)[:, 1:, 1:]
        return np.sqrt((vectors**2).sum(axis=1) + np.einsum("nkl,kl->n", own, around))

    def _around(self, side: str) -> np.ndarray:
        """How factors of the other side vary."""
        return np.linalg.inv(self.user_precision_ if side == "item" else self.item_precision_)[1:, 1:]

    def _folded(self, item: np.ndarray, rating: np.ndarray) -> Users:
        """A user who is known by some ratings alone, given the items."""
        estimator: Any = self
        model, params = estimator._model(), estimator._params()
        indptr, shape = np.array([0, len(item)]), (1, len(self.items_))
        rows = RatedRows(rating.astype(model.kind), item.astype(np.int32), indptr, shape, "missing")
        users = Users(np.zeros((1, model.size)), model.isotropic(1, True), np.ones((1, 1)))
        average = np.eye(1, self.user_features_.shape[1])
        for _ in range(20 if self.response == "ordinal" else 1):  # whose targets depend on where the vector is
            model.solve(params, rows, users, params.vectors, params.user_prior, average, users.steady[:, 0])
        return users

    def _newcomer(self, item: np.ndarray, rating: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        users, (y, T) = self._folded(item, rating), self._side("item")
        who, every, around = np.zeros(len(self.items_), int), np.arange(len(self.items_)), np.empty(len(self.items_))
        spread = users.spread * (self.noise_variance_ if self._scaled else 1.0)
        compiled.pair_spread(who, every, users.mean, spread, y, T, around)
        eta = self._sums(users.mean, who, y, every)
        if self.response == "ordinal":
            chances, levels = self._levels(eta, around), np.asarray(self.levels_)
            return chances @ levels, np.maximum(chances @ levels**2 - (chances @ levels) ** 2, 0.0)
        return eta, around + self.noise_variance_ / self._consistency()[-1]

    def _reasons(self, user: int, item: int) -> tuple[dict[str, float], list[tuple[int, float, float]]]:
        (x, S), (y, _) = self._side("user"), self._side("item")
        own, other = x[user], y[item]
        parts = {
            "mean": self.mean_,
            "user": float(own[0]),
            "item": float(other[0]),
            "factors": float(own[1:] @ other[1:]),
        }
        if user < 0 or self.response != "gaussian":
            return parts, []
        cells = slice(*self.seen_.indptr[user : user + 2])
        items, ratings = self.seen_.indices[cells], self.seen_.data[cells]
        z = np.column_stack([np.ones(len(items)), self.item_factors_[items]])
        offset = self.item_bias_[items][:, None] * z
        if not self._scaled:
            offset[:, 1:] += self.item_spread_[items][:, [r * (r + 1) // 2 for r in range(1, len(own))]]
        tells = (ratings - self.mean_)[:, None] * z - offset
        towards = unpacked(S[user], len(own)) @ np.append(1.0, other[1:])
        adds = tells @ towards * self.user_consistency_[user] / self.noise_variance_
        order = np.argsort(-np.abs(adds), kind="stable")[:MOST_REASONS]
        return parts, [(int(items[k]), float(ratings[k]), float(adds[k])) for k in order]
