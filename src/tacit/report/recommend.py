"""`render_ratings`: ratings and a recommender as one page: what there is, types, a map of items with search, accuracy, lists."""

from __future__ import annotations

import re

from ..recommend.choice import METHODS
from ..study.rating_sentences import FEW
from ..study.reasons import Suggestions
from ..study.recommend import RatingFindings
from ..study.tastes import Taste
from .charts.colours import colour
from .charts.figure import strip
from .charts.ratings import calibration, coverage, distribution_bars, tail_bars
from .item_map import item_map
from .markup import Markup, amount, cut, framed, join, note, number, percent, plural, signed, table, tag
from .page import page_of
from .sections.card import card, convergence
from .sections.common import Section, choices, claim
from .sections.summary import header

__all__ = ["render_ratings"]


def render_ratings(found: RatingFindings) -> str:
    """The whole page as HTML; the same findings give the same text.

    Parameters
    ----------
    found : RatingFindings
        As `tacit.study.recommend.study_ratings` makes them.
    """
    made = (
        _ratings(found), _types(found), _map(found), _accuracy(found), _examples(found), _selection(found),
        convergence(found), card(found),  # type: ignore[arg-type]
    )  # fmt: skip
    sections = [section for section in made if section is not None]
    top = header("Who likes what", found.title, found.summary, _figures(found))
    return page_of(found.title, top, sections, "recommend")


def _figures(found: RatingFindings) -> list[tuple[str, str, str | None]]:
    told: list[tuple[str, str, str | None]] = [
        ("Ratings", amount(found.n_ratings), f"mean {number(found.mean, 3)}"),
        ("Users", amount(found.n_users), f"{percent(found.users.cold / found.n_users)} with fewer than {FEW} ratings"),
        ("Items", amount(found.n_items), f"{percent(found.items.cold / found.n_items)} with fewer than {FEW} ratings"),
    ]
    check = found.check
    if check is not None:
        told.append(("Error", f"{check.rmse():.3f}", f"{check.rmse('averages'):.3f} by averages"))
    if check is not None and check.coverage is not None:
        told.append(("Inside 90 % intervals", percent(check.coverage), "of held-out ratings"))
    return told


# What there is


def _ratings(found: RatingFindings) -> Section:
    charts = [
        tag("div", tag("h3", "Ratings"), distribution_bars(found.labels, found.counts, found.mean)),
        tag("div", tag("h3", "Ratings of a user"), tail_bars("user-tail", found.users.counts, "user", FEW)),
        tag("div", tag("h3", "Ratings of an item"), tail_bars("item-tail", found.items.counts, "item", FEW)),
    ]
    lead = (
        "Bins of the second and third chart double in width, as a logarithmic scale has them. Users and items with fewer than "
        f"{FEW} ratings, in red, are predicted mostly by what is known in general."
    )
    words = [note(f"Note: {cut(each, 300)}.") for each in found.notes]
    body = join([tag("div", charts, class_="multiples ratings"), *words])
    return Section("ratings", "The ratings", "Ratings", body, lead)


# Types


def _types(found: RatingFindings) -> Section | None:
    tastes = found.tastes
    if tastes is None or len(tastes.users) * len(tastes.items) < 2:
        return None
    users = [_card(taste, "users", k) for k, taste in enumerate(tastes.users, 1)]
    items = [_card(taste, "items", k) for k, taste in enumerate(tastes.items, 1)]
    body = [
        tag("h3", "Types of users"), tag("ul", users, class_="cards"), tag("h3", "Types of items"),
        tag("ul", items, class_="cards"), tag("h3", "Who rates what how"), _means(found),
    ]  # fmt: skip
    lead = (
        "Users who rate alike and items that are rated alike, found together. Every user and item is counted with its most "
        "probable type; means are of the ratings themselves. Open a sentence to see what it rests on."
    )
    return Section("types", "Types of users and items", "Types", join(body), lead)


def _card(taste: Taste, noun: str, k: int) -> Markup:
    size = [
        tag("b", plural(taste.n, noun[:-1])),
        f" · {percent(taste.share)} of all {noun} · {plural(taste.n_ratings, 'rating')}",
    ]
    size += [f", mean {number(taste.mean, 3)}"] if taste.mean is not None else []
    words = [tag("li", claim(each)) for each in taste.words]
    names = (
        tag("p", "Most rated: ", "; ".join(cut(name, 60) for name in taste.names), class_="what", dir="auto")
        if taste.names
        else None
    )
    plain = None if words or names is not None else tag("p", "Rate much as other users do.", class_="what")
    return tag(
        "li", tag("h3", f"Type {taste.number} of {noun}"), tag("p", size, class_="size"), strip(taste.share), names,
        tag("ul", words, class_="words") if words else plain, class_=f"card {colour(k) if noun == 'items' else 'whole-own'}",
    )  # fmt: skip


def _means(found: RatingFindings) -> Markup:
    """Mean ratings by type of user and type of item, shaded by how far they are from the mean of the item type."""
    tastes = found.tastes
    assert tastes is not None
    head = [tag("th", "Users", scope="col")]
    head += [
        tag(
            "th", f"Items of type {taste.number}", tag("br"), tag("small", cut(taste.name, 42)), scope="col", class_="n"
        )
        for taste in tastes.items
    ]
    rows = [
        tag("tr", tag("th", f"Type {taste.number}", scope="row"),
            [_shade(mean, n, item.mean, found.spread) for mean, n, item in zip(tastes.means[k], tastes.counts[k], tastes.items)])
        for k, taste in enumerate(tastes.users)
    ]  # fmt: skip
    words = (
        "Mean ratings, and how many there are; shaded by how far a mean is from that of all ratings of the item type: blue ▲ "
        "higher, orange ▼ lower. Means of fewer than 20 ratings are left out."
    )
    return tag("div", framed(head, rows, "Mean ratings by types", "glance"), note(words))


def _shade(mean: float, n: int, usual: float | None, spread: float) -> Markup:
    if n < 20 or usual is None:
        return tag("td", "–", tag("small", f" {amount(n)}"), class_="n")
    away = (mean - usual) / max(spread, 1e-12)
    step = 0 if abs(away) < 0.1 else 1 if abs(away) < 0.3 else 2 if abs(away) < 0.6 else 3
    sign = "" if step == 0 else "▲" if away > 0 else "▼"
    return tag(
        "td", f"{mean:.2f}", tag("small", f" of {amount(n)}"), tag("span", sign, class_="lean-sign", aria_hidden="true"),
        class_=f"n {'low' if away < 0 else 'high'}{step}",
        title=f"{signed(away)} standard deviations of ratings from {number(usual, 3)}",
    )  # fmt: skip


# The map


def _map(found: RatingFindings) -> Section | None:
    if len(found.mapped) < 3:
        return None
    some = (
        ""
        if len(found.mapped) == found.n_items
        else f" The {len(found.mapped)} items with the most ratings of {amount(found.n_items)} are shown."
    )
    lead = (
        "Items lie close together where the same users are expected to like them, beyond how well all like them. Search for an "
        f"item, or choose one on the map, to see its ratings and the items most like it.{some}"
    )
    return Section("map", "A map of the items", "Map", item_map(found), lead)


# Accuracy


def _accuracy(found: RatingFindings) -> Section | None:
    check = found.check
    if check is None:
        return None
    rows = [
        [
            name,
            f"{check.rmse(which):.3f}",
            f"{check.mae(which):.3f}",
            percent(check.rmse(which) / check.rmse("mean"), 0),
        ]
        for name, which in (
            (f"{found.method}", "predicted"),
            ("Averages of users and items", "averages"),
            ("The overall mean", "mean"),
        )
    ]
    errors = table(
        ["Prediction by", "Root mean squared error", "Mean absolute error", "Of the mean's error"], rows, numeric=(1, 2, 3),
        caption="Errors on ratings held out",
    )  # fmt: skip
    low, high = float(check.rating.min()), float(check.rating.max())
    charts = [tag("div", tag("h3", "Predicted and rated"), calibration(check.curve(), (low, high)))]
    if check.inside:
        charts.append(tag("div", tag("h3", "Ratings inside intervals"), coverage(check.inside)))
    body = [errors, tag("div", charts, class_="multiples accuracy"), *_lists(found)]
    times = "" if check.n_splits == 1 else f", {check.n_splits} times over"
    lead = (
        f"{plural(len(check), 'rating')} were held out at random{times} and predicted from the others. On the dashed lines, "
        "predictions and intervals hold exactly."
    )
    return Section("accuracy", "How well ratings are predicted", "Accuracy", join(body), lead)


def _lists(found: RatingFindings) -> list[Markup | None]:
    ranked = found.check.ranked if found.check is not None else None
    if ranked is None:
        return []
    rows = [
        [found.method, percent(ranked.precision), percent(ranked.recall), f"{ranked.ndcg:.3f}"],
        [
            "The most rated items",
            percent(ranked.popular_precision),
            percent(ranked.popular_recall),
            f"{ranked.popular_ndcg:.3f}",
        ],
    ]
    made = table(
        ["Ten first items by", "Of the ten, held out and liked", "Of those held out and liked, among the ten", "NDCG"], rows,
        numeric=(1, 2, 3), caption="Lists of ten items",
    )  # fmt: skip
    words = (
        f"Lists of items that a user had not rated in the learning part, means over {plural(ranked.n_users, 'user')}; liked are "
        "held-out items that the user rated above the own mean. An item that was not held out counts as a miss, though the user "
        "may like it: figures tell what people come across as well as what they like."
    )
    return [tag("h3", "Lists of ten items"), made, note(words)]


# Examples


def _examples(found: RatingFindings) -> Section | None:
    if not found.examples:
        return None
    labels = [f"User {cut(each.user, 24)}" for each in found.examples]
    panels = [
        tag("div", _suggestions(each), class_="panel", data_set="user", data_panel=k, id=f"user-{k + 1}")
        for k, each in enumerate(found.examples)
    ]
    lead = "Items that a user has not rated, by the rating that is expected. Reasons add up to it, before it is cut to the scale."
    return Section(
        "examples", "Recommendations", "Examples", join([choices("user", labels, "User to show"), *panels]), lead
    )


def _suggestions(each: Suggestions) -> Markup:
    told = f"{plural(each.n_ratings, 'rating')}" + ("" if each.mean is None else f", mean {number(each.mean, 3)}")
    liked = [f"{cut(name, 60)} ({number(rated, 3)})" for name, rated in each.liked]
    cold = note("Nothing is known of this user: these are items that users like in general.") if each.cold else None
    uncertain = any(item.low is not None for item in each.items)
    heads = ["Item", "Expected", *(["90 % interval"] if uncertain else []), "Why"]
    rows = [
        [cut(item.name, 80), f"{item.rating:.2f}",
         *([tag("span", f"{item.low:.2f} to {item.high:.2f}", class_="whole")] if uncertain else []),
         _minus(cut(item.reason, 300)) or "–"]
        for item in each.items
    ]  # fmt: skip
    made = table(
        heads, rows, numeric=(1,), caption=f"Recommendations for user {cut(each.user, 40)}", class_="suggested"
    )
    return join([
        tag("h3", f"User {cut(each.user, 60)}"), tag("p", told, class_="what"),
        tag("p", tag("b", "Rated highest: "), "; ".join(liked), dir="auto") if liked else None, cold, made,
    ])  # fmt: skip


def _minus(words: str) -> str:
    """Words with the minus of people before numbers."""
    return re.sub(r"(?<= )-(?=\d)", "−", words)


def _selection(found: RatingFindings) -> Section | None:
    if len(found.selection) < 2:
        return None
    rows = [
        [METHODS[row["method"]], "–" if row["rmse"] is None else f"{row['rmse']:.4f}",
         cut(row["failed"], 120) if row["failed"] else "chosen" if METHODS[row["method"]] == found.method else ""]
        for row in found.selection
    ]  # fmt: skip
    made = table(["Recommender", "Error", ""], rows, numeric=(1,), caption="Recommenders that were tried")
    lead = (
        "Root mean squared errors on ratings held out for the choice, other ones than those that the accuracy above is told of: "
        "less is better."
    )
    return Section("selection", "Which recommender", "Choice", made, lead)
