"""The map of items: a mark each, names that do not collide, and a table that search and choice read."""

from __future__ import annotations

import numpy as np

from ..study.recommend import MappedItem, RatingFindings
from .charts.colours import colour
from .charts.figure import chart, figure, text
from .charts.scale import spanning
from .markup import Markup, amount, cut, framed, number, percent, plural, tag

__all__ = ["item_map"]

WIDTH, HEIGHT, EDGE = 680, 480, 16
LETTER, LINE = 6.3, 14.0
"""Width and height of a letter of a name, in units of the map."""
NARROW = 2.0
"""How much larger letters are on a narrow screen."""
LONGEST, MOST_NAMES, MOST_NARROW, MOST_COVERED = 24, 60, 12, 1
"""Letters of a name, names on the map and on that of a narrow screen, and marks that a name may cover."""


def item_map(found: RatingFindings) -> Markup:
    """The map with its search box, the panel of the chosen item and the table of all items."""
    items = found.mapped
    at, radius = _marks(found)
    names = _names(items, at, radius)
    order = np.argsort(-radius, kind="stable")  # small marks stay in reach above large ones
    marks = [
        tag(
            "circle", tag("title", _told(items[k])),
            cx=float(at[k, 0]), cy=float(at[k, 1]), r=float(radius[k]), data_item=items[k].code,
            class_=f"item {colour(items[k].kind or 1)}",
        )
        for k in order
    ]  # fmt: skip
    svg = chart(
        "item-map", "Map of the items", f"{plural(len(items), 'item')}; near ones are liked by the same users.", WIDTH, HEIGHT,
        tag("rect", x=1, y=1, width=WIDTH - 2, height=HEIGHT - 2, class_="frame"),
        tag("g", marks, id="item-map", class_="item-map"), tag("g", names, class_="item-names"), tag("g", class_="chosen"),
    )  # fmt: skip
    kept = f"The plane keeps {percent(found.kept, 0)} of how users differ in the ratings expected of them. "
    kept += "Larger marks have more ratings"
    kept += ", colours are types of items." if any(item.kind for item in items) else "."
    left = tag("div", figure(svg, kept, _table(found)), class_="map-side")
    return tag("div", _search(), tag("div", left, _panel(), class_="explorer"))


def _told(item: MappedItem) -> str:
    return f"{cut(item.name, 60)}: {plural(item.n_ratings, 'rating')}, mean {number(item.mean, 3)}"


def _search() -> Markup:
    label = tag("label", "Search ", for_="item-search")
    box = tag(
        "input", type="search", id="item-search", placeholder="name of an item", autocomplete="off", spellcheck="false"
    )
    status = tag("output", "", for_="item-search", id="item-count")
    return tag(
        "div",
        label,
        box,
        status,
        tag("div", id="item-matches", class_="matches"),
        class_="finder control",
        role="search",
    )


def _panel() -> Markup:
    return tag(
        "div",
        tag("p", "Choose an item on the map, or search for one.", class_="note"),
        id="item-panel",
        class_="control",
        aria_live="polite",
    )


def _marks(found: RatingFindings) -> tuple[np.ndarray, np.ndarray]:
    """Places and radii of marks."""
    places = np.array([item.place for item in found.mapped])
    across, upward = spanning(places[:, 0], EDGE, WIDTH - EDGE, 0.02), spanning(places[:, 1], HEIGHT - EDGE, EDGE, 0.02)
    n = np.array([item.n_ratings for item in found.mapped], dtype=float)
    radius = 2.4 + 5.6 * np.sqrt(n / n.max())
    return np.column_stack([across(places[:, 0]), upward(places[:, 1])]), radius


def _names(items: tuple[MappedItem, ...], at: np.ndarray, radius: np.ndarray) -> list[Markup]:
    """Names of the most rated items, each where it covers no other name; fewer, in larger letters, for narrow screens."""
    made = []
    for size, kind, most in ((1.0, "place", MOST_NAMES), (NARROW, "place narrow", MOST_NARROW)):
        taken: list[tuple[float, float, float, float]] = []
        for k, item in enumerate(items):
            if len(taken) >= most:
                break
            name = cut(item.name, LONGEST)
            spot = _spot(at[k], radius[k], name, size, taken, np.delete(at, k, axis=0) if size == 1.0 else at[:0])
            if spot is not None:
                x, y, anchor = spot
                made.append(text(x, y, name, anchor, class_=kind, data_item=item.code))
    return made


def _spot(
    at: np.ndarray,
    radius: float,
    name: str,
    size: float,
    taken: list[tuple[float, float, float, float]],
    others: np.ndarray,
) -> tuple[float, float, str] | None:
    """Where a name stands beside its mark: right, left, above or below, inside the frame and clear of other names; or nowhere.

    Of the places that are free, it is the one that covers fewest of the other marks.
    """
    wide, high = LETTER * size * len(name), LINE * size
    x, y = float(at[0]), float(at[1])
    gap = radius + 3.0
    spots = [
        (x + gap, y + 0.3 * high, "start", x + gap, y - 0.5 * high),
        (x - gap, y + 0.3 * high, "end", x - gap - wide, y - 0.5 * high),
        (x, y - gap, "middle", x - 0.5 * wide, y - gap - 0.8 * high),
        (x, y + gap + 0.7 * high, "middle", x - 0.5 * wide, y + gap),
    ]
    free = []
    for k, (a, b, anchor, left, top) in enumerate(spots):
        inside = left >= 2 and left + wide <= WIDTH - 2 and top >= 2 and top + high <= HEIGHT - 2
        clear = all(left + wide < l or r < left or top + high < t or u < top for l, t, r, u in taken)
        within = (others > [left - 2, top]).all(axis=1) & (others < [left + wide + 2, top + high]).all(axis=1)
        if inside and clear and within.sum() <= MOST_COVERED:
            free.append((int(within.sum()), k, (a, b, anchor), (left, top, left + wide, top + high)))
    if not free:
        return None
    _, _, spot, box = min(free)
    taken.append(box)
    return spot


def _table(found: RatingFindings) -> Markup:
    """All items of the map, which the script reads."""
    names = ["Item", "Ratings", "Mean", *(["Type"] if found.tastes is not None else []), "Most like it"]
    numeric = {1, 2, *([3] if found.tastes is not None else [])}
    heads = [tag("th", name, scope="col", class_="n" if j in numeric else None) for j, name in enumerate(names)]
    body = [_row(found, item) for item in found.mapped]
    return framed(heads, body, "Items of the map", "items", id="items-table", data_labels="\t".join(found.labels))


def _row(found: RatingFindings, item: MappedItem) -> Markup:
    alike = "; ".join(cut(found.names[j], 60) for j, _ in item.similar)
    cells = [
        tag("td", cut(item.name, 80), dir="auto"), tag("td", amount(item.n_ratings), class_="n"),
        tag("td", number(item.mean, 3), class_="n"),
        tag("td", item.kind, class_="n") if item.kind is not None else None, tag("td", alike or "–", dir="auto"),
    ]  # fmt: skip
    similar = "\t".join(f"{j}:{value:.2f}:{cut(found.names[j], 60)}" for j, value in item.similar)
    return tag(
        "tr", cells, data_item=item.code, data_id=cut(item.id, 60), data_similar=similar or None,
        data_bars=" ".join(f"{part:.3f}" for part in item.bars), class_=colour(item.kind or 1),
    )  # fmt: skip
