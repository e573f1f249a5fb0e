"""Which recommender predicts ratings best: factors behind users and items, votes of neighbours, or types of both.

Ratings held out decide between them, others held out tell how well the chosen one does, and it is then learned from all.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from ..checks import check_choice, check_number
from ..engine import Until
from . import metrics
from .base import described
from .features import features_of
from .ratings import Ratings, as_ratings
from .splits import split_ratings
from .trial import HeldOut, held_out, judged, together, try_recommender

__all__ = ["METHODS", "RecommenderChoice", "choose_recommender", "find_types", "make_recommender"]

METHODS = {"factorization": "MatrixFactorization", "neighbours": "NeighbourhoodRecommender", "types": "TwoSidedMixture"}
"""Recommenders by what the command calls them, in the order in which they are tried."""
FEWEST, FEW_RATINGS = 20, 200_000
"""Ratings below which nothing is held out, and below which types are looked for from more than a few starts."""


@dataclass(frozen=True, eq=False)
class RecommenderChoice:
    """A recommender, and how well it predicts ratings.

    Attributes
    ----------
    model : Recommender
        Learned from all ratings.
    method : {"factorization", "neighbours", "types"}
    check : HeldOut or None
        What it said of ratings held out; None where they are too few to hold any out.
    tried : list of dict
        `method`, `rmse` on ratings that were held out for the choice, and `failed`, why there is none; the best first. Empty
        where the method was given.
    ended : bool
        Whether the time was up before all was tried or learned to the end.
    budget : float or None
    features : dict of str to int
        How many features of `user` and `item` it was learned from, where some were given; 0 where it takes none.
    """

    model: Any
    method: str
    check: HeldOut | None
    tried: list[dict] = field(default_factory=list)
    ended: bool = False
    budget: float | None = None
    features: dict[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"RecommenderChoice({type(self.model).__name__}, {self.check!r})"


def make_recommender(
    method: str, *, n_components: int | None = None, random_state: Any = 0, callback: Any = None, **settings: Any
) -> Any:
    """A recommender that is not fitted, by the name of its method.

    Parameters
    ----------
    method : {"factorization", "neighbours", "types"}
    n_components : int, optional
        Factors, neighbours, or types of users and of items; default the model's own.
    random_state, callback, **settings
        Handed on where the recommender takes them.

    Returns
    -------
    Recommender
    """
    from .. import recommend

    check_choice("method", method, tuple(METHODS))
    cls = getattr(recommend, METHODS[method])
    known = cls().get_params()
    told: dict[str, Any] = {"inference": "vb", "random_state": random_state, "callback": callback} | settings
    if n_components is not None:
        told |= dict.fromkeys(("n_components", "n_neighbours", "n_user_types", "n_item_types"), n_components)
    return cls(**{name: value for name, value in told.items() if name in known})


def find_types(ratings: Ratings, n_types: int, random_state: int = 0) -> Any:
    """Types of users and of items to describe: the best of several fits of a two-sided mixture, more of them of few ratings.

    Parameters
    ----------
    ratings : Ratings
    n_types : int
        How many of each.
    random_state : int, default=0

    Returns
    -------
    TwoSidedMixture or None
        None where ratings have no levels.
    """
    if ratings.levels is None:
        return None
    n_fits = int(np.clip(FEW_RATINGS // max(len(ratings), 1), 3, 10))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_recommender("types", n_components=n_types, random_state=random_state, n_fits=n_fits).fit(ratings)


def choose_recommender(
    X: Any, *, method: str = "auto", n_components: int | None = None, user_features: Any = None, item_features: Any = None,
    n_splits: int = 1, budget: float | None = 60.0, random_state: int = 0, on_try: Callable[[str], Any] | None = None,
) -> RecommenderChoice:  # fmt: skip
    """Choose a recommender by ratings held out, tell how well it does on others, and learn it from all.

    Parameters
    ----------
    X : Ratings, table, path or sparse matrix
        As `fit` of a recommender takes them.
    method : {"auto", "factorization", "neighbours", "types"}, default="auto"
        Which; auto takes the one of the least error.
    n_components : int, optional
        Factors, neighbours, or types of users and of items.
    user_features, item_features : Features or table, optional
        For recommenders that take them, as `tacit.recommend.features_of` does.
    n_splits : int, default=1
        How often ratings are held out to tell how well the recommender does.
    budget : float or None, default=60
        Seconds after which nothing further is tried and fits end, with the best so far; the last fit, to all ratings, has as
        many again. None for no end.
    random_state : int, default=0
    on_try : callable, optional
        Told what is being done.

    Returns
    -------
    RecommenderChoice

    Examples
    --------
    >>> from tacit.datasets import make_ratings
    >>> from tacit.recommend import choose_recommender
    >>> drawn = make_ratings(60, 30, random_state=0)
    >>> found = choose_recommender(drawn.table(), method="factorization", n_components=3)
    >>> found.check.rmse() < found.check.rmse("mean")
    True
    """
    check_choice("method", method, ("auto", *METHODS))
    check_number("n_splits", n_splits, int, 1)
    check_number("budget", budget, (int, float), 0, also=(None,))
    ratings, tell = described(as_ratings(X), user_features, item_features), on_try or (lambda what: None)
    if ratings.scale[0] == ratings.scale[1] and len(ratings) > 1:
        raise ValueError(
            f"all {len(ratings)} ratings are {ratings.scale[0]:g}, so that no recommender can be compared with another; name the "
            "column of ratings, or, for events such as purchases, use MatrixFactorization(response='implicit')."
        )
    along = {
        f"{what}_features": features_of(given, ids, what)
        for what, given, ids in (("user", user_features, ratings.users), ("item", item_features, ratings.items))
        if given is not None
    }
    work = _Work(n_components, along, random_state, budget)
    names = list(METHODS) if method == "auto" else [method]
    tried: list[dict] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check = None
        if len(ratings) >= FEWEST:
            if method == "auto":
                method, check, tried = _chosen(ratings, names, work, tell)
                n_splits -= 1
            more = _checked(ratings, method, work, n_splits, tell, first=check is None)
            check = together([each for each in (check, more) if each is not None])
        elif method == "auto":
            method = names[0]
        work.renew()
        tell(f"learning {METHODS[method]} from all ratings")
        model = work.fitted(method, ratings)
    return RecommenderChoice(model, method, check, tried, work.ended, budget, work.told(model))


class _Work:
    """Makes and fits recommenders, and knows when the time is up."""

    def __init__(self, n_components: int | None, along: dict[str, Any], seed: int, budget: float | None):
        self.n_components, self.seed = n_components, seed
        self.along = along
        self.budget, self.ended = budget, False
        self.renew()

    def renew(self) -> None:
        """Let the time begin anew."""
        self.deadline = None if self.budget is None else time.monotonic() + self.budget

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def made(self, method: str, callback: Any = None) -> Any:
        return make_recommender(method, n_components=self.n_components, random_state=self.seed, callback=callback)

    def taken(self, model: Any) -> dict[str, Any]:
        """Features that a recommender takes."""
        import inspect

        takes = inspect.signature(model.fit).parameters
        return {name: value for name, value in self.along.items() if name in takes}

    def told(self, model: Any) -> dict[str, int]:
        """How many of the features given a recommender takes."""
        taken = self.taken(model)
        return {
            name.removesuffix("_features"): value.shape[1] if name in taken else 0 for name, value in self.along.items()
        }

    def fitted(self, method: str, ratings: Ratings) -> Any:
        """A recommender learned from ratings; a fit that the time ends leaves the best so far."""
        ending = Until(self.deadline)
        model = self.made(method, ending)
        model.fit(ratings, **self.taken(model))
        self.ended = self.ended or ending.ended
        if "callback" in model.get_params():
            model.set_params(callback=None)
        return model


def _parts(ratings: Ratings, seed: int) -> tuple[Ratings, ...]:
    """Ratings to learn from, those that choose between methods, and those that tell how well the chosen one does."""
    known, out = held_out(ratings, 0.2, seed)
    return known, *split_ratings(out, 0.5, random_state=seed)


def check_again(
    model: Any, ratings: Ratings, *, chosen: bool, n_splits: int = 1, seed: int = 0, along: dict[str, Any] | None = None
) -> HeldOut | None:
    """What a recommender says of the ratings that `choose_recommender` held out to tell how well it does.

    Parameters
    ----------
    model : Recommender
        The one that was chosen, or one like it.
    ratings : Ratings
        All of them.
    chosen : bool
        Whether it was chosen among several.
    n_splits, seed
        As in `choose_recommender`.
    along : dict, optional
        What `fit` takes besides.

    Returns
    -------
    HeldOut or None
        None where ratings are too few to hold any out.
    """
    if len(ratings) < FEWEST:
        return None
    found, along = [], along or {}
    if chosen:
        known, _, out = _parts(ratings, seed)
        found.append(judged(clone(model).fit(known, **along), known, out, seed))
    found += [try_recommender(model, ratings, seed=seed + n, along=along) for n in range(len(found), n_splits)]
    return together(found)


def _chosen(ratings: Ratings, names: list[str], work: _Work, tell: Callable) -> tuple[str, HeldOut, list[dict]]:
    """The method of the least error on one part held out, and what it says of another one."""
    known, *parts = _parts(ratings, work.seed)
    tried: list[dict] = []
    best: tuple[float, str, Any] | None = None
    for name in names:
        if best is not None and work.late:
            work.ended = True
            tried.append({"method": name, "rmse": None, "failed": "left out: no time was left for it"})
            continue
        tell(f"trying {METHODS[name]}")
        model, fault = None, None
        try:
            model = work.fitted(name, known)
            error = metrics.rmse(parts[0].rating, model.predict(parts[0]))
        except (ValueError, np.linalg.LinAlgError) as failure:
            error, fault = float("nan"), str(failure)
        tried.append({"method": name, "rmse": None if fault else error, "failed": fault})
        if fault is None and (best is None or error < best[0]):
            best = error, name, model
    if best is None:
        raise ValueError(f"no recommender could be learned: {tried[0]['failed']}")
    tried.sort(key=lambda row: float("inf") if row["rmse"] is None else row["rmse"])
    return best[1], judged(best[2], known, parts[1], work.seed), tried


def _checked(ratings: Ratings, method: str, work: _Work, n_splits: int, tell: Callable, first: bool) -> HeldOut | None:
    """What a recommender says of ratings held out so many times; once in any case where it is the first check."""
    found: list[HeldOut] = []
    for split in range(n_splits):
        if work.late and (found or not first):
            work.ended = True
            break
        tell("checking on ratings held out" + (f", {split + 1} of {n_splits}" if n_splits > 1 else ""))
        ending = Until(work.deadline)
        model = work.made(method, ending)
        shift = work.seed + split + (0 if first else 1)
        found.append(try_recommender(model, ratings, seed=shift, along=work.taken(model)))
        work.ended = work.ended or ending.ended
    return together(found) if found else None
