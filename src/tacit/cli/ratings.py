"""Ratings for commands: which columns hold users, items and ratings, what items are called, and features of both."""

import math
import os
from argparse import Namespace
from dataclasses import dataclass
from typing import Any

from ..notes import Note
from .common import reading_asked

__all__ = [
    "EVENTS", "N_TYPES", "ROLES", "RatingTable", "item_names", "noted_names", "pairs_columns", "ratings_asked", "read_features",
    "read_pairs", "read_ratings", "restudied", "types_told",
]  # fmt: skip

ROLES = ("user", "item", "rating", "time", "weight")
LABELS = ("title", "name", "label", "itemname", "movietitle", "productname", "booktitle", "itemtitle", "description")
"""Names of columns that say what an item is called, in small letters without marks between."""
LOOKED, FEW_LEVELS, LARGEST_RATING, N_TYPES = 5000, 20, 1000, 4
"""Rows by which columns without telling names are judged, what ratings are like, and types that are described."""


EVENTS = (
    "they tell what was chosen, not how it was liked, and this command takes ratings; in Python, "
    "MatrixFactorization(response='implicit') recommends by events, or name a column with --rating"
)
"""Why tables of events are refused."""


@dataclass(frozen=True)
class RatingTable:
    """Where ratings are, as far as is known before they are read; results are named and placed by it as by a reader.

    Attributes
    ----------
    name, folder, format, place, path : str
        As in `tacit.tables.Reader`.
    reader : Reader
    source : str
        What is read.
    reading : dict
        How it is read.
    notes : tuple of Note
        What was found out when it was opened.
    """

    name: str
    folder: str
    format: str
    place: str
    path: str
    reader: Any
    source: Any
    reading: dict
    notes: tuple = ()


def ratings_asked(
    arguments: Namespace,
    remedy: str = "give the ratings: a table with a row for each, or a query with --sql and --from.",
) -> RatingTable:
    """The table of ratings that the options ask for; where none is given, the error is the remedy."""
    from ..tables import open_reader

    place, reading = reading_asked(arguments)
    if not place:
        raise ValueError(remedy)
    reading = {name: value for name, value in reading.items() if value is not None}
    notes: tuple = ()
    try:
        reader = open_reader(place, **reading)
    except ValueError:  # a first line of numbers may hold one of them twice, which names do not
        reading, reader = reading | {"header": "no"}, _headless(place, reading)
        if reader is None:
            raise
        text = "the first line of {place} holds numbers only and was taken as a rating"
        notes = (Note("no_header", text, place=reader.place),)
    path = str(getattr(reader, "path", ""))
    return RatingTable(reader.name, reader.folder, reader.format, reader.place, path, reader, place, reading, notes)


def _headless(place: Any, reading: dict) -> Any:
    """The reader of a text file without names, where it is one whose first line holds numbers only; else None."""
    from ..tables import open_reader

    if "header" in reading or reading.get("sql") is not None or not os.path.isfile(place):
        return None
    try:
        reader = open_reader(place, **reading, header="no")
        first = next(iter(reader.batches()))
        cells = [first[name].originals()[0] for name in reader.names]
        return reader if len(cells) > 2 and all(math.isfinite(float(cell)) for cell in cells) else None
    except (ValueError, TypeError, StopIteration):
        return None


def read_ratings(table: RatingTable, asked: dict[str, str | None]) -> Any:
    """The ratings, from columns that are asked for, named tellingly, or hold what ratings hold."""
    from ..notes import NoteError
    from ..recommend import Ratings
    from ..recommend.reading import find_columns, parts_of

    parts = parts_of(table.source, **table.reading)
    try:
        columns = find_columns(parts, dict(asked), ("user", "item", "rating"))
    except NoteError as error:
        if error.note.code != "no_role":
            raise
        columns = guessed(parts, asked)
        if not columns:
            _refuse_events(parts, asked)
            raise
    ratings = Ratings.read(table.source, **dict.fromkeys(ROLES, False) | columns, **table.reading)
    ratings.notes = (*table.notes, *ratings.notes)
    return ratings


def _refuse_events(parts: Any, asked: dict[str, str | None]) -> None:
    """Raise where a table has users and items and nothing that could be a rating."""
    from ..notes import NoteError
    from ..recommend.reading import find_columns

    try:
        known = find_columns(parts, {role: name for role, name in asked.items() if role != "rating"})
    except NoteError:
        return
    if asked.get("rating") is None and set(parts.names) <= set(known.values()):
        raise ValueError(f"{parts.place} has users and items without ratings: {EVENTS}.")


def guessed(parts: Any, asked: dict[str, str | None]) -> dict[str, str]:
    """Columns by what they hold: ratings are a few levels, users and items ids that come again, no pair twice; or nothing."""
    import numpy as np

    from ..recommend.cells import numbers, whole

    first = next(iter(parts.read(list(parts.names))), None)
    if first is None:
        return {}
    cells = {name: whole(first[name])[:LOOKED] for name in parts.names}
    ids = {name: parts.ids(column).to_pylist() for name, column in cells.items() if not isinstance(column, np.ndarray)}
    n_levels = {name: len(set(column)) for name, column in ids.items()}
    found = {role: name for role, name in asked.items() if name}
    free = [name for name in ids if name not in found.values() and n_levels[name] > 1]

    def is_rating(name: str) -> bool:
        try:
            values = numbers(cells[name], name, parts.missing)
        except ValueError:
            return False
        known = values[~np.isnan(values)]
        return len(known) > 0 and n_levels[name] <= FEW_LEVELS and bool(np.abs(known).max() <= LARGEST_RATING)

    levels = [name for name in free if is_rating(name)]
    if "rating" not in found and len(levels) == 1:
        found["rating"] = levels[0]
    wanted = [role for role in ("user", "item") if role not in found]
    again = [
        name for name in free if name not in found.values() and FEW_LEVELS < 2 * n_levels[name] < 1.6 * len(ids[name])
    ]
    if "rating" not in found or len(again) != len(wanted):
        return {}
    return found | dict(zip(wanted, again))


# What items are called


def item_names(table: RatingTable, items: str | None, label: str | None, item: Any, ids: Any) -> tuple[Any, str | None]:
    """Names of items, from the table of items or from the ratings themselves, and the column; None where there are none.

    `item` is the column of items of the ratings, and `ids` what is in it.
    """
    from ..recommend.reading import parts_of
    from ..tables.reader import meant

    parts = parts_of(items) if items else parts_of(table.source, **table.reading)
    if label is not None and label not in parts.names:
        raise ValueError(
            f"{parts.place} has no column {label!r}, which --label names; {meant(label, list(map(str, parts.names)))}"
        )
    key = _key(parts, item) if items else item
    plain = {_plain(name): name for name in reversed(parts.names) if name != key}
    label = label or (next((plain[name] for name in LABELS if name in plain), None) if items else None)
    if label is None:
        return None, None
    names: dict[Any, str] = {}
    for part in parts.read([key, label]):
        keys, texts = (parts.ids(part[name]) for name in (key, label))
        names |= {
            each: str(text)
            for each, text in zip(keys.to_pylist(), texts.to_pylist())
            if each is not None and text is not None
        }
    return _by_id(names, ids), label


def _by_id(names: dict[Any, str], items: Any) -> Any:
    """Names in the order of the items; the id where an item has none."""
    import numpy as np

    from ..recommend.ratings import codes_of

    found = np.array([str(each) for each in items.tolist()], dtype=object)
    codes = codes_of(list(names), items)
    for code, name in zip(codes, names.values()):
        if code >= 0:
            found[code] = name
    return found


def _key(parts: Any, item: Any) -> Any:
    """The column of ids of a table of items: as in the ratings, by its name, or the first."""
    from ..recommend.reading import NAMES

    if item in parts.names:
        return item
    plain = {_plain(name): name for name in reversed(parts.names)}
    return next(
        (plain[name] for name in (*NAMES["item"], "id") if name in plain and name not in LABELS), parts.names[0]
    )


def _plain(name: Any) -> str:
    return "".join(letter for letter in str(name).lower() if letter.isalnum())


def read_features(path: str | None, ids: Any, what: str) -> Any:
    """Features of users or items of a table; None where none is given."""
    from ..recommend.features import features_of

    if path is None:
        return None
    if not os.path.exists(path):
        raise ValueError(f"--{what}s {path} does not exist; give a table with a row for each {what}.")
    return features_of(path, ids, what)


# A saved recommender


def restudied(path: str, model: Any, table: RatingTable, noted: dict) -> Any:
    """What is said of a saved recommender, checked anew, and of the ratings it was learned from, which must be the same."""
    import inspect
    import warnings

    from ..recommend import RecommenderChoice
    from ..recommend.choice import check_again
    from ..study.recommend import study_ratings

    settings, seed = noted.get("settings", {}), noted.get("seed", 0)
    names_there = table.reader.names
    ratings = read_ratings(
        table, {role: name if (name := settings.get(role)) in names_there else None for role in ROLES}
    )
    takes, tried = inspect.signature(model.fit).parameters, noted.get("selection", [])
    along = {
        f"{what}_features": read_features(file, getattr(ratings, f"{what}s"), what)
        for what in ("user", "item")
        if f"{what}_features" in takes and (file := _beside(path, settings.get(f"{what}s")))
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        n_splits = settings.get("splits", 1)
        check = check_again(model, ratings, chosen=bool(tried), n_splits=n_splits, seed=seed, along=along)
    columns = {role: str(ratings.columns[role]) for role in ("user", "item", "rating")}
    choice = RecommenderChoice(model, "", check, tried)
    return study_ratings(
        choice, ratings, types=types_told(model, ratings, settings.get("types"), seed), title=table.name, columns=columns,
        names=noted_names(path, table, settings, ratings.items), seed=seed,
    )  # fmt: skip


def types_told(model: Any, ratings: Any, n_types: int | None, seed: int) -> Any:
    """Types to describe, as many as asked for: the recommender's own where it has these; False for none.

    Where nothing is asked for, they are the recommender's own, or a few.
    """
    from ..recommend.choice import find_types

    if n_types == 0:
        return False
    if hasattr(model, "user_membership_") and (n_types is None or model.n_user_types == n_types == model.n_item_types):
        return model
    return find_types(ratings, N_TYPES if n_types is None else n_types, seed)


def noted_names(path: str, table: RatingTable | None, settings: dict, ids: Any) -> Any:
    """What items are called, from where a saved recommender notes it; None where it is not there, or nowhere."""
    items, label = _beside(path, settings.get("items")), settings.get("label")
    if not label or (items is None and (settings.get("items") or table is None)):
        return None
    given: Any = table  # which is not looked at where there is a table of items
    return item_names(given, items, label, settings.get("item"), ids)[0]


def _beside(path: str, file: str | None) -> str | None:
    """A file that a model notes, beside it or in the working folder; None where it is in neither."""
    places = [os.path.join(folder, file) for folder in (os.path.dirname(path), "")] if file else []
    return next((each for each in places if os.path.isfile(each)), None)


# Pairs


def read_pairs(table: RatingTable, asked: dict[str, str | None], noted: dict) -> tuple[Any, Any]:
    """Ids of users and items of a table of pairs, from columns asked for, named as in the ratings, or named tellingly."""
    import numpy as np

    from ..recommend.reading import find_columns, parts_of

    parts = parts_of(table.source, **table.reading)
    roles = {
        role: name or (noted.get(role) if noted.get(role) in parts.names else None) for role, name in asked.items()
    }
    columns = find_columns(parts, roles)
    found: dict[str, list] = {"user": [], "item": []}
    for part in parts.read(list(columns.values())):
        for role, cells in found.items():
            cells += parts.ids(part[columns[role]]).to_pylist()
    if not found["user"]:
        raise ValueError(f"{table.place} has no rows.")
    users, items = (np.fromiter(cells, object, len(cells)) for cells in found.values())
    return users, items


def pairs_columns(model: Any, users: Any, items: Any) -> tuple[dict, dict[str, int]]:
    """The table of expected ratings of pairs, and how many are of users and of items that the model does not know."""
    import numpy as np

    from ..recommend.ratings import codes_of

    who, what = codes_of(users, model.users_) >= 0, codes_of(items, model.items_) >= 0
    made: dict[str, Any] = {"user": users, "item": items}
    try:
        made["rating"], made["std"] = model.predict((users, items), return_std=True)
        made["low"], made["high"] = model.predict_interval((users, items), 0.9)
    except NotImplementedError:  # it tells no uncertainty
        made["rating"] = model.predict((users, items))
    known = np.where(who & what, "both", np.where(who, "user only", np.where(what, "item only", "neither")))
    return made | {"known": known}, {"users": int((~who).sum()), "items": int((~what).sum())}
