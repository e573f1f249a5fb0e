"""What is said of ratings, in words: the summary, the limits and the card of `RatingFindings`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..notes import Claim
from ..recommend.choice import METHODS, RecommenderChoice
from ..recommend.ratings import Ratings
from ..recommend.trial import HeldOut
from ..words import count, number, share

if TYPE_CHECKING:
    from .recommend import RatingFindings

__all__ = ["card", "limits", "summary"]

SURE, SMALL = 2.0, 0.01
"""Standard errors, and share of the error, by which a forecast must be better to be told as better."""
FEW, FEW_RATINGS, FEW_PAIRS = 5, 500, 100
MEANT, SLACK = 0.9, 0.03
CALLED = {method: name for name, method in METHODS.items()}
KINDS = {"factorization": "factors behind users and items", "neighbours": "votes of similar users or items",
         "types": "types of users and items"}  # fmt: skip
ERRORS = (
    "{'error': ((check['rating'] - check['predicted']) ** 2).mean() ** 0.5, "
    "'averages': ((check['rating'] - check['averages']) ** 2).mean() ** 0.5, "
    "'mean': ((check['rating'] - check['mean']) ** 2).mean() ** 0.5}"
)
INSIDE = (
    "{'inside': float(((check['rating'] >= check['low'] - 1e-9) & (check['rating'] <= check['high'] + 1e-9)).mean())}"
)


def summary(found: RatingFindings, choice: RecommenderChoice) -> list[str]:
    """The first sentences: whether ratings can be predicted, how sure one can be, who has how many ratings, types, time."""
    told: list[str] = [_size(found)]
    if found.check is not None:
        told = [_verdict(found.check), *_intervals(found.check), *_order(found.check), *told]
    told += [*_cold(found), *_types(found)]
    if choice.ended and choice.budget is not None:
        sentence = f"The time of {number(choice.budget)} s was up before all was tried or learned to the end; more time may help."
        told.insert(1, Claim.of("budget", sentence, "time of the command", {"budget": choice.budget}))
    return told


def _size(found: RatingFindings) -> str:
    cells = found.n_users * found.n_items
    sentence = (
        f"{count(found.n_users, 'user')} gave {count(found.n_ratings, 'rating')} to {count(found.n_items, 'item')}: "
        f"{share(found.n_ratings / cells)} of all pairs of a user and an item are rated."
    )
    figures = {
        "users": found.n_users,
        "items": found.n_items,
        "ratings": found.n_ratings,
        "share": found.n_ratings / cells,
    }
    pandas = (
        "{'users': len(users), 'items': len(items), 'ratings': int(users['ratings'].sum()), "
        "'share': users['ratings'].sum() / (len(users) * len(items))}"
    )
    return Claim.of("size", sentence, "all ratings", figures, pandas)


# How well ratings are predicted


def _basis(check: HeldOut) -> str:
    times = "" if check.n_splits == 1 else f", of {check.n_splits} splits together"
    return f"{len(check):,} ratings that were held out at random and predicted from the others{times}"


def _better(check: HeldOut, over: str, of: str = "predicted") -> bool:
    gain, error = check.gain(over, of)
    return gain > SURE * error and check.rmse(of) < (1.0 - SMALL) * check.rmse(over)


def _verdict(check: HeldOut) -> str:
    error, plain, mean = (check.rmse(name) for name in ("predicted", "averages", "mean"))
    texts = _told_apart(error, plain, mean)
    against = f"{texts[0]}, against {texts[1]} by averages of users and items and {texts[2]} by the overall mean"
    if _better(check, "averages"):
        sentence = f"Ratings can be predicted: on ratings held out the error is {against}."
    elif _better(check, "mean", "averages"):
        sentence = (
            f"The ratings tell little beyond averages of users and items: on ratings held out the error is {against}. "
            "Recommendations are mostly what is liked in general."
        )
    elif _better(check, "mean"):
        sentence = f"Ratings can be predicted a little: on ratings held out the error is {against}."
    else:
        sentence = f"Ratings can hardly be predicted: on ratings held out the error is {against}."
    figures = {"error": error, "averages": plain, "mean": mean}
    return Claim.of("verdict", sentence, f"root mean squared error on {_basis(check)}", figures, ERRORS)


def _told_apart(*values: float) -> list[str]:
    """Errors with as many decimals as tell them apart, two at least and four at most."""
    for decimals in (2, 3, 4):
        texts = [f"{value:.{decimals}f}" for value in values]
        if len(set(texts)) == len(set(values)):
            break
    return texts


def _intervals(check: HeldOut) -> list[str]:
    inside = check.coverage
    if inside is None:
        return []
    judged = (
        "as they should"
        if abs(inside - MEANT) <= SLACK
        else "fewer than they should"
        if inside < MEANT
        else "more than they should"
    )
    sentence = (
        f"Intervals of {share(MEANT)} hold {share(inside)} of the {count(len(check), 'held-out rating')}, {judged}."
    )
    return [Claim.of("coverage", sentence, _basis(check), {"inside": inside}, INSIDE)]


def _order(check: HeldOut) -> list[str]:
    ranked = check.ranked
    if ranked is None:
        return []
    told: list[str] = []
    if ranked.n_pairs >= FEW_PAIRS:
        sentence = (
            f"Of two held-out items that a user rated differently, the one liked more is predicted in {share(ranked.pairs)} of "
            f"{count(ranked.n_pairs, 'pair')} ({share(ranked.average_pairs)} by means of items)."
        )
        figures = {"pairs": ranked.pairs, "by_means": ranked.average_pairs, "n": ranked.n_pairs}
        told.append(
            Claim.of("pairs", sentence, f"pairs of held-out ratings of one user, drawn of {_basis(check)}", figures)
        )
    gap = ranked.recall - ranked.popular_recall
    than = "more than" if gap > 0 else "fewer than" if gap < 0 else "as many as"
    sentence = (
        f"The ten first items of a list hold {share(ranked.recall)} of the held-out items that a user rated above the own mean, "
        f"{than} the ten most rated items ({share(ranked.popular_recall)})."
    )
    figures = {"recall": ranked.recall, "popular": ranked.popular_recall, "users": ranked.n_users}
    told.append(Claim.of("lists", sentence, f"mean over {ranked.n_users:,} users with such held-out ratings", figures))
    return told


# Who has how many ratings


def _cold(found: RatingFindings) -> list[str]:
    told: list[str] = []
    for noun, tail in (("user", found.users), ("item", found.items)):
        n = int((tail.counts > 0).sum())
        few, one = tail.cold / n, tail.cold == 1
        sentence = f"Every one of {n:,} {noun}s has at least {FEW} ratings." if not tail.cold else (
            f"{tail.cold:,} of {count(n, noun)} ({share(few)}) {'has' if one else 'have'} fewer than {FEW} ratings; "
            f"{share(tail.cold_ratings / found.n_ratings)} of all ratings are {'its' if one else 'theirs'}."
        )  # fmt: skip
        sentence += f" The tenth of the {noun}s with the most ratings has {share(tail.top)} of all ratings."
        figures = {"few": tail.cold, "share": few, "ratings": tail.cold_ratings / found.n_ratings, "top": tail.top}
        told.append(Claim.of(f"{noun}s", sentence, f"ratings of each {noun}", figures, _counted(f"{noun}s")))
    return told


def _counted(table: str) -> str:
    return (
        f"(lambda n: {{'few': int((n < {FEW}).sum()), 'share': float((n < {FEW}).mean()), "
        f"'ratings': n[n < {FEW}].sum() / n.sum(), "
        f"'top': n.sort_values(ascending=False).head(max(len(n) // 10, 1)).sum() / n.sum()}})({table}['ratings'])"
    )


def _types(found: RatingFindings) -> list[str]:
    """The largest contrast between types of users."""
    if found.tastes is None:
        return []
    claims = [
        (taste, words)
        for taste in found.tastes.users
        for words in taste.words
        if isinstance(words, Claim) and words.code == "taste"
    ]
    if not claims:
        return []
    taste, words = max(claims, key=lambda each: abs(each[1].check.figures["mean"] - each[1].check.figures["others"]))
    n, check = len(found.tastes.users), words.check
    rest = str(words)[:1].lower() + str(words)[1:]
    sentence = f"The largest difference in taste: users of type {taste.number} of {n} ({share(taste.share)} of all users) {rest}"
    figures = check.figures
    return [Claim.of("tastes", sentence, check.basis, figures, check.pandas)]


# Limits and card


def limits(found: RatingFindings, model: Any) -> list[str]:
    """What a reader must bear in mind."""
    told: list[str] = [
        "People rate what they chose to see, and mostly what they expected to like: predictions for all other items are likely "
        "too high.",
        "A list by expected ratings holds what a user would like, not what the user would come across by themselves.",
    ]
    check = found.check
    if check is None:
        told.append("Ratings are too few to hold any out: nothing here was checked.")
    elif check.n_new_users or check.n_new_items:
        sentence = (
            f"Of {count(len(check), 'held-out rating')}, {check.n_new_users:,} are of users and {check.n_new_items:,} of items "
            "without any other rating: those are predicted by what is known in general."
        )
        told.append(Claim.of("new", sentence, _basis(check), {"users": check.n_new_users, "items": check.n_new_items}))
    if check is not None and check.low is None:
        told.append("This recommender tells no uncertainty of its predictions.")
    if found.n_ratings < FEW_RATINGS:
        sentence = (
            f"{count(found.n_ratings, 'rating')} are few: other ratings of the same kind may show something else."
        )
        told.append(
            Claim.of(
                "few", sentence, "all ratings", {"ratings": found.n_ratings}, "{'ratings': int(users['ratings'].sum())}"
            )
        )
    if found.tastes is not None:
        told.append(
            "A type is the most probable of a few: a user may be between two, and another number of types is as true."
        )
    if found.mapped and found.kept < 0.5:
        sentence = (
            f"The map keeps {share(found.kept, 0)} of how users differ in expected ratings; neighbours may differ."
        )
        told.append(Claim.of("map", sentence, f"{len(found.mapped)} items with the most ratings", {"kept": found.kept}))
    return told


def card(choice: RecommenderChoice, ratings: Ratings, title: str, seed: int) -> dict[str, str]:
    """What the model is."""
    model = choice.model
    low, high = ratings.scale
    levels = "" if ratings.levels is None else f", {count(len(ratings.levels), 'level')}"
    told = {
        "Data": f"{title}: {len(ratings):,} ratings from {number(low)} to {number(high)}{levels}",
        "Model": f"{type(model).__name__}: {KINDS.get(CALLED.get(type(model).__name__, ''), 'a recommender')}",
    }
    for name, what in (
        ("n_components", "Factors"),
        ("n_neighbours", "Neighbours"),
        ("n_user_types", "Types of users"),
        ("n_item_types", "Types of items"),
    ):
        if getattr(model, name, None) is not None:
            told[what] = f"{getattr(model, name)}"
    if choice.features:
        words = [
            f"{n:,} of {what}s" if n else f"those of {what}s are not used by this model"
            for what, n in choice.features.items()
        ]
        told["Features"] = ", ".join(words)
    fitted = getattr(model, "fit_", None)
    if fitted is not None:
        told["Fitted"] = f"{fitted.reason} ({int(np.max(model.n_iter_))} steps)"
    if ratings.time is not None and np.isfinite(np.asarray(ratings.time, dtype=float)).any():
        told["Times"] = _span(np.asarray(ratings.time, dtype=float))
    return told | {"Seed": str(seed), "Version": f"tacit {__version__}"}


def _span(times: np.ndarray) -> str:
    """From when to when; seconds since 1970 as dates."""
    first, last = float(np.nanmin(times)), float(np.nanmax(times))
    if first > 1e8:
        return " to ".join(str(np.datetime64(int(each), "s").astype("datetime64[D]")) for each in (first, last))
    return f"{number(first)} to {number(last)}"
