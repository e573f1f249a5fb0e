"""Ids of users and items, of any type, and their numbers.

Whole numbers are looked up in a table where they lie close together; others, texts and dates by hashing, in compiled code; what
no column of Arrow can hold, such as texts among numbers, in a dictionary. Ids are in order where they have one, else as given.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, types

from ..frames import is_missing

__all__ = ["Ids", "codes_of", "known_as"]

TABLE_SIZE = 1 << 24
"""Whole numbers up to so far apart are looked up in a table."""
FEW = 1000
"""Ids up to which they are searched for one by one."""
WHOLE = (r"^(0|-?[1-9][0-9]{0,17})$", r"^(0|-?[1-9][0-9]{0,14})\.0$")
"""How texts write whole numbers, all of them alike."""


class Ids:
    """Ids as they come, part by part, each with a number in order of appearance.

    Parameters
    ----------
    written : bool
        Whether they come as text of a file, where whole numbers may be meant.
    """

    def __init__(self, written: bool = False):
        self.written = written
        self.n = 0
        self._new: list[Any] = []
        self._type: Any = None
        self._table, self._low = np.empty(0, np.int32), 0
        self._objects: dict[Any, int] | None = None

    # Parts

    def add(self, column: Any) -> np.ndarray:
        """Numbers of the ids of a part, −1 where missing: an Arrow array, or an array of objects."""
        if isinstance(column, np.ndarray):
            return self._add_objects(column.tolist())
        coded, column = isinstance(column, pa.DictionaryArray), _plain(column)
        kind = column.dictionary.type if isinstance(column, pa.DictionaryArray) else column.type
        if self._type is None and not types.is_null(kind):
            self._type = kind
        if self._objects is not None or (self._type is not None and kind != self._type and not types.is_null(kind)):
            return self._add_objects(column.to_pylist())
        if types.is_int64(kind) and not isinstance(column, pa.DictionaryArray):
            found = self._add_whole(column)
            if found is not None:
                return found
        return self._add_coded(column, coded)

    def _add_whole(self, column: pa.Array) -> np.ndarray | None:
        """By a table; None where the numbers lie too far apart for one."""
        if column.null_count == len(column):
            return np.full(len(column), -1, np.int32)
        limits = compute.min_max(column)
        low, high = limits["min"].as_py(), limits["max"].as_py()
        if self.n:
            low, high = min(low, self._low), max(high, self._low + len(self._table) - 1)
        if high - low >= TABLE_SIZE or (self.n and not len(self._table)):
            self._table = np.empty(0, np.int32)
            return None
        table = np.full(high - low + 1, -1, np.int32)
        table[self._low - low : self._low - low + len(self._table)] = self._table
        missing = compute.is_null(column).to_numpy(zero_copy_only=False) if column.null_count else None
        values = compute.fill_null(column, low) if column.null_count else column
        places = values.to_numpy() - low
        seen = np.zeros(len(table), bool)
        seen[places if missing is None else places[~missing]] = True
        new = np.flatnonzero(seen & (table < 0))
        table[new] = np.arange(self.n, self.n + len(new))
        self._table, self._low = table, low
        self._keep(pa.array(new + low))
        codes = table[places]
        if missing is not None:
            codes[missing] = -1
        return codes

    def _add_coded(self, column: Any, coded: bool) -> np.ndarray:
        """By hashing the distinct ones; of a column that came `coded`, some may not occur."""
        column = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
        values, places = column.dictionary, _places(column)
        used = np.bincount(places + 1, minlength=len(values) + 1)[1:] > 0 if coded else np.ones(len(values), bool)
        number = np.full(len(values) + 1, -1, np.int32)
        known = self._known()
        if self.n:
            found = compute.fill_null(compute.index_in(values, value_set=known), -1).to_numpy(zero_copy_only=False)
            number[:-1] = found
        new = np.flatnonzero(used & (number[:-1] < 0))
        number[new] = np.arange(self.n, self.n + len(new))
        self._keep(values.take(pa.array(new)))
        return number[places]

    def _add_objects(self, ids: list) -> np.ndarray:
        """By a dictionary."""
        if self._objects is None:
            self._objects = {each: place for place, each in enumerate(self._known().to_pylist() if self.n else [])}
        known = self._objects
        found = [-1 if is_missing(each) else known.setdefault(each, len(known)) for each in ids]
        self.n = len(known)
        return np.array(found, dtype=np.int32)

    def _keep(self, new: pa.Array) -> None:
        self._new.append(new)
        self.n += len(new)

    def _known(self) -> Any:
        if len(self._new) > 1:
            self._new = [pa.concat_arrays(self._new)]
        return self._new[0] if self._new else pa.nulls(0)

    # The whole

    def settled(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ids that occur, in order where they have one, and the place (n,) of each number among them, −1 of others."""
        kept = np.flatnonzero(counts)
        if self._objects is not None:
            ids, order = _in_order(np.fromiter(self._objects, object, self.n)[kept])
        else:
            ids, order = self._sorted(self._known().take(pa.array(kept)))
        place = np.full(self.n, -1, np.int32)
        place[kept[order]] = np.arange(len(kept))
        return ids, place

    def _sorted(self, known: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        text = types.is_string(known.type)
        if (
            text
            and self.written
            and any(compute.all(compute.match_substring_regex(known, form)).as_py() for form in WHOLE)
        ):
            known, text = compute.replace_substring(known, ".0", "", max_replacements=1).cast(pa.int64()), False
        if types.is_floating(known.type):
            values = known.to_numpy(zero_copy_only=False)
            whole = np.array_equal(values, np.floor(values)) and bool((np.abs(values) < 2**53).all())
            known = pa.array(values.astype(np.int64) if whole else values)
        if not (text or types.is_integer(known.type) or types.is_floating(known.type)):
            return _in_order(np.fromiter(known.to_pylist(), object, len(known)))
        order = compute.sort_indices(known).to_numpy()
        ids = known.take(pa.array(order)).to_numpy(zero_copy_only=False)
        return ids, order


def _plain(column: Any) -> Any:
    """A column of Arrow as one of few types: whole numbers as int64, texts as string."""
    if isinstance(column, pa.DictionaryArray):
        values = column.dictionary
        values = values.cast(pa.string()) if types.is_large_string(values.type) else _plain(values)
        if values.null_count:
            return _plain(column.dictionary_decode())
        return column if values is column.dictionary else pa.DictionaryArray.from_arrays(column.indices, values)
    kind = column.type
    if types.is_integer(kind) and not types.is_int64(kind) and not types.is_uint64(kind):
        return column.cast(pa.int64())
    if types.is_large_string(kind):
        return _plain(column.dictionary_encode())  # and only the different texts are copied
    if str(kind) == "string_view":
        return column.cast(pa.string())
    if types.is_timestamp(kind):
        return column.cast(pa.timestamp("us", kind.tz), safe=False)
    if types.is_floating(kind):
        values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return pa.array(values, mask=np.isnan(values))
    return column


def _places(column: pa.DictionaryArray) -> np.ndarray:
    """Places in the dictionary; −1 where missing."""
    indices = column.indices.cast(pa.int32()) if column.indices.type != pa.int32() else column.indices
    return (compute.fill_null(indices, -1) if column.null_count else indices).to_numpy(zero_copy_only=False)


def _in_order(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ids in order and their places before; as they are where they have no order."""
    try:
        order = np.array(sorted(range(len(ids)), key=ids.tolist().__getitem__), dtype=np.int64)
    except TypeError:
        order = np.arange(len(ids))
    return ids[order], order


# Numbers of ids among known ones


def known_as(ids: Any) -> np.ndarray:
    """Ids as an array: whole numbers, or objects."""
    try:
        found = np.asarray(ids)
    except ValueError:  # lists among them
        return np.fromiter(ids, object, len(ids))
    if found.dtype.kind == "M":
        return found.astype("M8[us]").astype(object)
    if found.dtype.kind in "US" or (found.dtype.kind != "O" and not isinstance(ids, np.ndarray) and _mixed(ids)):
        return np.fromiter(ids, object, len(found))
    return found


def _mixed(ids: Any) -> bool:
    """Whether a list holds texts among other things, which NumPy would turn into texts."""
    return len({isinstance(each, str) for each in ids}) > 1


def codes_of(ids: Any, known: np.ndarray) -> np.ndarray:
    """Numbers of ids among the known ones; −1 where an id is not known.

    An id is first looked for as it is. Where all known ids are whole numbers, a text such as "12" is the number that it writes,
    and where all of them are texts, an id of another type is the text that it is written as.

    Parameters
    ----------
    ids : array-like
        Ids of any type.
    known : ndarray
        The ids that there are, each once.
    """
    asked = known_as(ids)
    if known.dtype.kind in "iu":
        return _whole_codes(_as_whole(asked), known)
    if asked.dtype.kind in "biuf" and known.dtype.kind == "f":
        return _whole_codes((asked.astype(float), np.isfinite(asked)), known)
    known = known.astype(object) if known.dtype.kind in "US" else known
    texts = len(known) > 0 and isinstance(known[0], str)
    if texts and asked.dtype.kind != "O":
        asked = np.fromiter(map(str, asked.tolist()), object, len(asked))
    return _few(asked, known) if len(asked) <= FEW else _many(asked, known)


def _as_whole(asked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ids as whole numbers, and which of them are some."""
    if asked.dtype.kind in "iub":
        return asked, np.ones(len(asked), bool)
    if asked.dtype.kind == "f":
        fine = np.isfinite(asked) & (asked == np.floor(asked)) & (np.abs(asked) < 2**53)
        return np.where(fine, asked, 0).astype(np.int64), fine
    if asked.dtype.kind != "O":
        return np.zeros(len(asked), np.int64), np.zeros(len(asked), bool)
    found = [_number(each) for each in asked.tolist()]
    fine = np.array([each is not None for each in found], dtype=bool)
    return np.array([each or 0 for each in found], dtype=np.int64), fine


def _number(value: Any) -> int | None:
    """The whole number that an id is or writes; None where it is none."""
    if isinstance(value, str):
        text = value.strip()
        plain = text.lstrip("-").isdecimal() and len(text) < 19 and str(int(text)) == text
        return int(text) if plain else None
    try:
        found = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if found == value and -(2**63) <= found < 2**63 else None


def _whole_codes(asked: tuple[np.ndarray, np.ndarray], known: np.ndarray) -> np.ndarray:
    """Numbers of ids that are numbers, by search among known ones in order."""
    values, fine = asked
    if not len(known) or not len(values):
        return np.full(len(values), -1, np.int64)
    order = None if bool((known[1:] > known[:-1]).all()) else np.argsort(known, kind="stable")
    ranked = known if order is None else known[order]
    low, high = int(ranked[0]), int(ranked[-1])
    if known.dtype.kind == "i" and high - low < max(4 * len(known), FEW) and len(values) > FEW:
        table = np.full(high - low + 1, -1, np.int64)
        table[ranked - low] = np.arange(len(known))
        inside = fine & (values >= low) & (values <= high)
        at = np.where(inside, table[np.where(inside, values - low, 0)], -1)
    else:
        at = np.minimum(np.searchsorted(ranked, values), len(ranked) - 1)
        at = np.where(fine & (ranked[at] == values), at, -1)
    return at if order is None else np.where(at >= 0, order[at], -1)


def _few(asked: np.ndarray, known: np.ndarray) -> np.ndarray:
    """One by one: by search, as if known ids were in order, and among all where that does not find an id."""
    codes = np.array([_searched(each, known) for each in asked.tolist()], dtype=np.int64)
    lost = np.flatnonzero(codes < 0)
    if len(lost):
        codes[lost] = _among(asked[lost].tolist(), known)
    return codes


def _searched(each: Any, known: np.ndarray) -> int:
    low, high = 0, len(known)
    try:
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if known[middle] < each else (low, middle)
        return low if low < len(known) and type(known[low]) is type(each) and known[low] == each else -1
    except TypeError:
        return -1


def _many(asked: np.ndarray, known: np.ndarray) -> np.ndarray:
    """All at once, by hashing in compiled code where all are texts."""
    try:
        texts, values = pa.array(asked, pa.string(), from_pandas=True), pa.array(known, pa.string())
    except (pa.ArrowException, TypeError):
        return _among(asked.tolist(), known)
    found = compute.fill_null(compute.index_in(texts, value_set=values, skip_nulls=True), -1)
    return found.to_numpy(zero_copy_only=False).astype(np.int64)


def _among(asked: Iterable, known: np.ndarray) -> np.ndarray:
    """By a dictionary: as they are, else as text where all known ids are texts."""
    number = {each: place for place, each in enumerate(known.tolist())}
    texts = all(isinstance(each, str) for each in number)
    return np.array([_found(each, number, texts) for each in asked], dtype=np.int64)


def _found(each: Any, number: dict, texts: bool) -> int:
    if is_missing(each):
        return -1
    try:
        found = number.get(each, -1)
    except TypeError:  # what cannot be hashed is nobody's id
        return -1
    return number.get(str(each), -1) if found < 0 and texts else found
