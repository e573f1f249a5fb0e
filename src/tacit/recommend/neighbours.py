"""`NeighbourhoodRecommender`: similar items, or similar users, vote on what is left of a rating after biases.

    r̂_ui = b_ui + Σ_j w_ij (r_uj − b_uj) / (λ + Σ_j w_ij),    w_ij = s_ij^p,    b_ui = μ + b_u + b_i

j are those of the items most similar to i that user u has rated.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..checks import check_choice, check_n_jobs, check_number
from ..declared import Numbers, Part
from ..kernels import lazy
from ..source.threads import in_order, over_ranges, thread_count
from .base import Recommender
from .baseline import Baseline, deviations, fit_baseline
from .ratings import Ratings, codes_of

__all__ = ["METRICS", "NeighbourhoodRecommender"]

neighbours = lazy("neighbours")
METRICS = ("pearson-shrunk", "pearson", "cosine")
TRIED = 4000
"""Ratings that are left out to learn how far votes go wrong."""
ROWS_OF_A_BLOCK = 64
SKETCH = 64
LEAST_VARIANCE = 1e-6


@settings
class NeighbourhoodRecommender(Recommender):
    """Ratings from those of similar items by the same user, or of the same item by similar users.

    Biases of users and items come off first; their ridges are learned. Similarities rest on pairs of items that the same users
    rated, row by row: no table of items by items is ever made. Of each item the most similar ones are kept, and of these the
    first ones that a user has rated vote. The variance of a rating is learned from votes on ratings that were left out.

    Parameters
    ----------
    by : {"item", "user"}, default="item"
        Whether similar items or similar users vote.
    metric : {"pearson-shrunk", "pearson", "cosine"}, default="pearson-shrunk"
        ``pearson-shrunk``: correlation of what biases leave of ratings, times n / (n + `shrinkage`), where n is how many rated
        both. ``pearson``: correlation about the means of items (or users). ``cosine``: of ratings as they are.
    n_neighbours : int, default=30
        How many vote at most.
    shrinkage : float, default=100
        How many raters in common make a correlation count half.
    min_support : int, default=2
        Raters in common below which items are not compared.
    amplification : float, default=1.5
        p, the power of the similarity by which votes are weighed.
    prior_vote : float, default=0.1
        λ, the weight of a vote for the baseline.
    n_stored : int, default=1000
        Neighbours that are kept of each item, those with a positive similarity only. Fewer take less memory, and leave fewer to
        vote for users with few ratings.
    n_jobs : int, optional
        Threads; default all cores. Results do not depend on it.

    Attributes
    ----------
    baseline_ : Baseline
        Mean and biases, with variances.
    similarity_ : csr_matrix
        Similarities of items to items, or of users to users; in each row the largest comes first.
    residual_ : ndarray of shape (2,)
        The variance of a rating is residual_[0] + residual_[1] · λ / (λ + Σw), and what is uncertain of the biases.
    users_, items_, mean_, scale_, levels_, seen_
        See `Recommender`.

    Notes
    -----
    Weights of ratings count in the biases; votes count alike.

    References
    ----------
    Sarwar et al. (2001), Item-based collaborative filtering recommendation algorithms. Breese, Heckerman and Kadie (1998),
    Empirical analysis of predictive algorithms for collaborative filtering. Koren (2010), Factor in the neighbors.

    Examples
    --------
    >>> from tacit.recommend import NeighbourhoodRecommender
    >>> table = {"user": [0, 0, 1, 1, 2, 2, 3], "item": ["a", "b", "a", "b", "a", "b", "a"], "rating": [5, 5, 1, 2, 4, 5, 1]}
    >>> model = NeighbourhoodRecommender(shrinkage=1).fit(table)
    >>> bool(model.predict(([3], ["b"]))[0] < model.mean_)
    True
    """

    by: str = "item"
    _: KW_ONLY
    metric: str = "pearson-shrunk"
    n_neighbours: int = 30
    shrinkage: float = 100.0
    min_support: int = 2
    amplification: float = 1.5
    prior_vote: float = 0.1
    n_stored: int = 1000
    n_jobs: int | None = None

    _saved = Recommender._saved | {
        "baseline_": Part(Baseline),
        "similarity_": Numbers("m m", low=0, high=1.001, sparse=True),
        "residual_": Numbers("2", low=0),
    }

    def _check_settings(self) -> None:
        check_choice("by", self.by, ("item", "user"))
        check_choice("metric", self.metric, METRICS)
        for name in ("n_neighbours", "min_support", "n_stored"):
            check_number(name, getattr(self, name), numbers.Integral, 1)
        for name in ("shrinkage", "amplification", "prior_vote"):
            check_number(name, getattr(self, name), numbers.Real, 0)
        check_n_jobs(self.n_jobs)

    def _check_loaded(self) -> None:
        rows = len(self.items_ if self.by == "item" else self.users_)
        biases = len(self.baseline_.user), len(self.baseline_.item)
        if self.similarity_.shape[0] != rows or biases != (len(self.users_), len(self.items_)):
            told = f"{len(self.users_)} users and {len(self.items_)} items"
            raise ValueError(f"its similarities and biases are not those of {told}")

    # Learning

    def _learn_ratings(self, ratings: Ratings) -> None:
        self.baseline_: Baseline = fit_baseline(ratings)
        self._panel: Any = None
        sides = (ratings.by_item, ratings.by_user) if self.by == "item" else (ratings.by_user, ratings.by_item)
        rows, columns = (side.rows for side in sides)
        left = deviations(columns, self.baseline_, self.by == "item")
        own, across = self._compared(rows, columns, left)
        tables = (rows.indptr, rows.indices, own), (columns.indptr, columns.indices, across)
        starts, tried, place = _tried(columns, rows.shape[0])
        found = self._similar(*tables, left, starts, tried)
        counts, index, similarity, shift, mass = (np.concatenate(parts) for parts in zip(*found))
        indptr = np.append(0, np.cumsum(counts))
        self.similarity_ = csr_matrix((similarity, index, indptr), shape=(rows.shape[0],) * 2)
        row = np.repeat(np.arange(rows.shape[0]), np.diff(starts))
        self.residual_ = self._residual(left[place] - shift, mass, tried, row, left[place])

    def _compared(self, rows: Any, columns: Any, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values that similarities are made of, by row and by column."""
        if self.metric == "pearson-shrunk":
            return deviations(rows, self.baseline_, self.by == "user"), left
        if self.metric == "cosine":
            return rows.data.astype(np.float64), columns.data.astype(np.float64)
        number = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        count = np.maximum(np.bincount(number, minlength=rows.shape[0]), 1)
        mean = np.bincount(number, rows.data, minlength=rows.shape[0]) / count
        return rows.data - mean[number], columns.data - mean[columns.indices]

    def _similar(self, by_row: Any, by_column: Any, votes: Any, starts: Any, tried: Any) -> list:
        n_rows, most = len(by_row[0]) - 1, int(self.n_stored)

        def block(first: int) -> Any:
            stop = min(first + ROWS_OF_A_BLOCK, n_rows)
            return neighbours.similar(first, stop, by_row, by_column, votes, self._rule(), most, starts, tried)

        return list(in_order(block, range(0, n_rows, ROWS_OF_A_BLOCK), thread_count(self.n_jobs)))

    def _rule(self) -> tuple[float, float, int, float, float]:
        shrinkage = float(self.shrinkage) if self.metric == "pearson-shrunk" else 0.0
        settings = int(self.n_neighbours), float(self.amplification), float(self.prior_vote)
        return float(self.min_support), shrinkage, *settings

    def _residual(self, wrong: Any, mass: Any, column: Any, row: Any, left: Any) -> np.ndarray:
        """Variance of ratings from what votes leave of those that were left out, by least squares in which none is negative."""
        base = self.baseline_
        user, item = (column, row) if self.by == "item" else (row, column)
        biases = base.variance(user, item)
        # A rating draws its own biases towards itself: without it, this much more would be left.
        wrong = wrong + left * biases / max(base.noise, LEAST_VARIANCE)
        square, doubt = np.maximum(wrong**2 - biases, 0.0), self._doubt(mass)
        scale, found = np.ones(len(doubt)), np.array([base.noise, 0.0])
        for _ in range(5 if len(doubt) > 20 else 0):
            design = np.column_stack([np.ones_like(doubt), doubt]) / scale[:, None]
            found = nnls(design, square / scale)[0]
            scale = np.maximum(found[0] + found[1] * doubt, LEAST_VARIANCE)
        return found

    def _doubt(self, mass: np.ndarray) -> np.ndarray:
        """The share of the vote that is the baseline's."""
        prior = float(self.prior_vote) or 0.1
        return prior / (prior + mass)

    # Predictions

    def _panels(self) -> tuple[Any, Any, Any]:
        """What is left of ratings: by user where items vote, by item where users do."""
        if getattr(self, "_panel", None) is None:
            rows = self.seen_ if self.by == "item" else self.seen_.T.tocsr()
            self._panel = rows.indptr, rows.indices, deviations(rows, self.baseline_, self.by == "item")
        return self._panel

    def _votes(self, column: np.ndarray, row: np.ndarray, panels: Any, similarity: Any = None) -> tuple[Any, Any]:
        """Votes of panels on rows, and their weights."""
        near = self.similarity_ if similarity is None else similarity
        order = np.argsort(column, kind="stable")
        column, row = column[order], row[order]
        shift, mass = np.empty(len(column)), np.empty(len(column))

        def part(first: int, stop: int) -> None:
            here = slice(first, stop)
            neighbours.vote(
                column[here], row[here], panels, near.indptr, near.indices, near.data, near.shape[1], self._rule(),
                shift[here], mass[here],
            )  # fmt: skip

        over_ranges(part, len(column), thread_count(self.n_jobs))
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return shift[back], mass[back]

    def _pair_votes(self, user: np.ndarray, item: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pair = (user, item) if self.by == "item" else (item, user)
        return self._votes(*pair, self._panels())

    def _expect(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        return self.baseline_.expect(user, item) + self._pair_votes(user, item)[0]

    def _spread(self, user: np.ndarray, item: np.ndarray) -> np.ndarray:
        return self._variance(self._pair_votes(user, item)[1], self.baseline_.variance(user, item))

    def _variance(self, mass: np.ndarray, biases: Any) -> np.ndarray:
        return np.maximum(self.residual_[0] + self.residual_[1] * self._doubt(mass) + biases, LEAST_VARIANCE)

    def _newcomer(self, item: np.ndarray, rating: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        base, every = self.baseline_, np.arange(len(self.items_))
        bias, doubt = base.newcomer(item, rating)
        left = rating - base.mean - bias - base.item[item]
        if self.by == "item":
            panels = np.array([0, len(item)]), item.astype(np.int32), left
            shift, mass = self._votes(np.zeros(len(every), np.int64), every, panels)
        else:
            near = self._users_like(item, rating, left)
            shift, mass = self._votes(every, np.zeros(len(every), np.int64), self._panels(), near)
        return base.mean + bias + base.item + shift, self._variance(mass, doubt + base.item_variance)

    def _users_like(self, item: np.ndarray, rating: np.ndarray, left: np.ndarray) -> csr_matrix:
        """Similarities (1, users) of a new user to all, the largest first."""
        about = rating - left if self.metric == "pearson-shrunk" else rating.mean() if self.metric == "pearson" else 0.0
        mine = rating - about
        table = self.seen_[:, item].tocoo()
        theirs = table.data - self._levels_of_users()[table.row]
        if self.metric == "pearson-shrunk":
            theirs -= self.baseline_.item[item][table.col]
        x = mine[table.col]
        products = np.ones(len(x)), x * theirs, x * x, theirs**2
        n, product, xx, yy = (np.bincount(table.row, each, minlength=len(self.users_)) for each in products)
        least, shrinkage, *_ = self._rule()
        kept = np.flatnonzero((n >= least) & (product > 0))
        value = product[kept] / np.sqrt(xx[kept] * yy[kept]) * n[kept] / (n[kept] + shrinkage)
        order = np.argsort(-value, kind="stable")
        return csr_matrix((value[order], kept[order], [0, len(kept)]), shape=(1, len(self.users_)))

    def _levels_of_users(self) -> np.ndarray:
        """What the ratings of each user are compared about, item biases aside."""
        if self.metric == "pearson-shrunk":
            return self.baseline_.mean + self.baseline_.user
        if self.metric == "cosine":
            return np.zeros(len(self.users_))
        count = np.maximum(np.diff(self.seen_.indptr), 1)
        return np.asarray(self.seen_.sum(axis=1)).ravel() / count

    # What is told

    def _vectors(self, side: str = "item") -> np.ndarray:
        """Random projections of what biases leave of the ratings of items, or users, which keep their cosines nearly."""
        left = deviations(self.seen_, self.baseline_, True)
        rows = csr_matrix((left, self.seen_.indices, self.seen_.indptr), shape=self.seen_.shape)
        rows = rows.T if side == "item" else rows
        return rows @ np.random.default_rng(0).standard_normal((rows.shape[1], SKETCH))

    def similar_items(self, item: Any, n: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """Items like one item with their similarities, the most similar first; see `Recommender.similar_items`.

        Parameters
        ----------
        item : id
            One that was seen.
        n : int, default=10
            How many at most; items without a positive similarity are none. Where users vote, likeness is, nearly, the cosine of
            what biases leave of ratings.

        Returns
        -------
        items : ndarray
        similarity : ndarray
        """
        check_is_fitted(self, "users_")
        code = int(codes_of([item], self.items_)[0])
        if self.by == "user" or code < 0:
            return super().similar_items(item, n)
        start, stop = self.similarity_.indptr[code : code + 2]
        first = slice(start, min(start + n, stop))
        return self.items_[self.similarity_.indices[first]], self.similarity_.data[first].astype(np.float64)

    def _reasons(self, user: int, item: int) -> tuple[dict[str, float], list[tuple[int, float, float]]]:
        base, votes = self.baseline_, self._pair_votes(np.array([user]), np.array([item]))[0][0]
        parts = {
            "mean": base.mean, "user": float(base.user[user]) if user >= 0 else 0.0,
            "item": float(base.item[item]) if item >= 0 else 0.0, "votes": float(votes),
        }  # fmt: skip
        return parts, self._voters(user, item) if self.by == "item" and min(user, item) >= 0 else []

    def _voters(self, user: int, item: int) -> list[tuple[int, float, float]]:
        """Items that vote, what the user rated each, and what each adds, the largest first."""
        near = slice(*self.similarity_.indptr[item : item + 2])
        index, weight = self.similarity_.indices[near], self.similarity_.data[near].astype(float) ** self.amplification
        seen = slice(*self.seen_.indptr[user : user + 2])
        rated = dict(zip(self.seen_.indices[seen].tolist(), self.seen_.data[seen].tolist()))
        voting = [(int(j), w) for j, w in zip(index, weight) if int(j) in rated][: self.n_neighbours]
        whole = sum(w for _, w in voting) + self.prior_vote
        level = self.baseline_.mean + self.baseline_.user[user]
        told = [(j, rated[j], w * (rated[j] - level - self.baseline_.item[j]) / whole) for j, w in voting]
        return sorted(((j, rating, float(adds)) for j, rating, adds in told), key=lambda each: -abs(each[2]))


def _tried(columns: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the cells to be left out of each row begin, their columns, and their places among stored cells."""
    n_cells = len(columns.data)
    place = np.sort(np.random.default_rng(0).choice(n_cells, min(TRIED, n_cells), replace=False))
    column = np.searchsorted(columns.indptr, place, side="right") - 1
    row = columns.indices[place]
    order = np.argsort(row, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(row, minlength=n_rows)))
    return starts, column[order], place[order]
