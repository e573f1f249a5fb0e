"""`tacit.toml`: what a user has said of the tables of a folder, kept beside them.

[roles]                          columns, or patterns of them, and the roles they are taken in
"Q*" = "ordinal"
[labels]                         titles of columns
bill_length_mm = "Bill length"
[units]
bill_length_mm = "mm"
[tables.penguins.roles]          the same of one table, named as its file is, before what holds for all
year = "category"
[groups."penguins.fit"]          names of the groups of a model; `of` says of which, so that another keeps none of them
of = "5c0dd5f2b3a1e877"
1 = "Adelie"
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from hashlib import blake2b
from typing import Any

from ..survey.column import ROLES

__all__ = ["FILE", "Kept", "keep", "model_digest", "read_kept"]

FILE = "tacit.toml"
SECTIONS = ("roles", "labels", "units")


@dataclass(frozen=True)
class Kept:
    """What `tacit.toml` says of a table.

    Attributes
    ----------
    path : str
    roles, labels, units : dict of str to str
        By the name of the column; names of `roles` may be patterns.
    own : frozenset of str
        Names that are said of this table itself, and must be there.
    groups : dict of str to dict
        Names of groups by the name of their model, as the file has them.
    """

    path: str
    roles: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    own: frozenset[str] = frozenset()
    groups: dict[str, dict] = field(default_factory=dict)

    def roles_of(self, names: Iterable[str]) -> dict[str, str]:
        """Roles of the columns that a table has; what is said of this very table must be there."""
        names = list(names)
        lost = next((each for each in self.own if not any(fnmatchcase(name, each) for name in names)), None)
        if lost is not None:
            near = get_close_matches(lost, names, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(names[:20])}."
            raise ValueError(f"{_place(self.path, lost)}: the table has no column {lost!r}; {hint}")
        patterns = {name: role for each, role in self.roles.items() for name in names if fnmatchcase(name, each)}
        return patterns | {name: role for name, role in self.roles.items() if name in names}

    def names_of(self, model: str) -> tuple[dict[int, str], str]:
        """Names of the groups of a model file, and a note where those that are kept are of another model."""
        told = self.groups.get(os.path.basename(model).removesuffix(".tacit"), {})
        names = {int(key): value for key, value in told.items() if key != "of"}
        if names and told.get("of") != model_digest(model):
            return (
                {},
                f"the names of groups in {self.path} are of an earlier {os.path.basename(model)} and are left out",
            )
        return names, ""


def model_digest(path: str) -> str:
    """What tells a model file from others."""
    with open(path, "rb") as file:
        return blake2b(file.read(), digest_size=8).hexdigest()


def read_kept(folder: str, name: str) -> Kept:
    """What the `tacit.toml` of a folder says of a table; nothing where there is none."""
    path = os.path.join(folder, FILE)
    told = _parsed(path)
    own = told.get("tables", {}).get(name, {})
    merged = {section: {**told.get(section, {}), **own.get(section, {})} for section in SECTIONS}
    roles = {key: {"number": "measurement"}.get(role, role) for key, role in merged.pop("roles").items()}
    named = frozenset(key for section in SECTIONS for key in own.get(section, {}))
    return Kept(path, roles, **merged, own=named, groups=told.get("groups", {}))


def _parsed(path: str) -> dict[str, Any]:
    """The file, checked."""
    try:
        with open(path, "rb") as file:
            told = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no TOML: {error}; mend it or take it away.") from None
    for key in told:
        if key not in (*SECTIONS, "tables", "groups"):
            near = get_close_matches(key, (*SECTIONS, "tables", "groups"), 1)
            hint = f"did you mean {near[0]!r}?" if near else "it has roles, labels, units, tables and groups."
            raise ValueError(f"{_place(path, key)}: the key {key!r} is unknown; {hint}")
        if not isinstance(told[key], dict):
            raise ValueError(
                f'{_place(path, key)}: {key} is no section; write [{key}] and lines of NAME = "TEXT" below.'
            )
    for section in SECTIONS:
        _check_texts(path, section, told.get(section, {}))
    for key, own in told.get("tables", {}).items():
        for section in own if isinstance(own, dict) else {key: own}:
            if not isinstance(own, dict) or section not in SECTIONS:
                raise ValueError(
                    f"{_place(path, section)}: tables.{key} has sections roles, labels and units, not {section!r}."
                )
            _check_texts(path, f"tables.{key}.{section}", own[section])
    for key, own in told.get("groups", {}).items():
        _check_texts(path, f"groups.{key}", own)
        strange = next((number for number in own if number != "of" and not number.isdigit()), None)
        if strange is not None:
            raise ValueError(f"{_place(path, strange)}: groups.{key} has numbers of groups, not {strange!r}.")
    return told


def _check_texts(path: str, section: str, told: Any) -> None:
    if not isinstance(told, dict):
        raise ValueError(
            f'{_place(path, section)}: {section} is no section; write [{section}] and lines of NAME = "TEXT" below.'
        )
    for key, value in told.items():
        if not isinstance(value, str):
            raise ValueError(f"{_place(path, key)}: {section}.{key} is {value!r}; write a text between quotes.")
        if section.endswith("roles") and value not in (*ROLES, "number"):
            near = get_close_matches(value, (*ROLES, "number"), 1)
            hint = f"did you mean {near[0]!r}?" if near else f"roles are {', '.join(ROLES)}."
            raise ValueError(f"{_place(path, key)}: {section}.{key} is {value!r}, which is no role; {hint}")


def _place(path: str, key: str) -> str:
    """The file, and the line that a key is in."""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if key in line:
                return f"{path}, line {number}"
    return path


def keep(folder: str, said: Mapping[Any, Mapping[str, str]], *, replace: bool = False) -> str:
    """Write what is said into the `tacit.toml` of a folder, beside what is there; returns its path.

    Parameters
    ----------
    folder : str
    said : dict of str to dict
        Keys by section, as the file names them: ``{"roles": {"Q*": "ordinal"}}``; sections of a table are told by tuples,
        ``("tables", "penguins", "roles")``.
    replace : bool
        Whether comments of the file may be lost.
    """
    path = os.path.join(folder, FILE)
    told = _parsed(path)
    if os.path.exists(path) and not replace:
        with open(path, encoding="utf-8") as file:
            if any(line.lstrip().startswith("#") for line in file):
                raise ValueError(f"{path} has comments, which would be lost; add the lines by hand, or say --force.")
    for section, entries in said.items():
        place = told
        for key in (section,) if isinstance(section, str) else section:
            place = place.setdefault(key, {})
        place.update(entries)
    lines = "\n".join(_lines(told, ()))
    from .outputs import Outputs

    with Outputs() as outputs, open(outputs.file(path), "w", encoding="utf-8", newline="\n") as file:
        file.write(lines.lstrip("\n") + "\n")
    _parsed(path)
    return path


def _lines(told: dict, place: tuple[str, ...]) -> Iterable[str]:
    """A dictionary as TOML."""
    plain = {key: value for key, value in told.items() if not isinstance(value, dict)}
    if plain and place:
        yield f"\n[{'.'.join(map(_key, place))}]"
    yield from (f"{_key(key)} = {_quoted(value)}" for key, value in plain.items())
    for key, value in told.items():
        if isinstance(value, dict):
            yield from _lines(value, (*place, key))


def _key(text: str) -> str:
    return text if text.replace("_", "").replace("-", "").isalnum() and text.isascii() else _quoted(text)


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
