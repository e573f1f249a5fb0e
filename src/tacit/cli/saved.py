"""A saved model and what its file says about the table it was learned from, which may be anything and is believed in nothing."""

import os
import zipfile
from typing import Any

__all__ = ["open_model"]

KINDS = {
    "command": str,
    "table": dict,
    "seed": int,
    "selection": list,
    "settings": dict,
    "verdict": dict,
    "learned": dict,
}
COLUMN = {"name": str, "role": str, "reading": str, "levels": list}


def open_model(path: str) -> tuple[Any, dict]:
    """The model in a file and its notes, checked.

    Returns
    -------
    model : estimator
    notes : dict
        `command`, `table` (with `name` and `columns`), `seed`, `selection` and `settings`, each where the file has it.
    """
    from .. import load
    from ..persistence import notes

    _check_model(path)
    model, told = load(path), notes(path)
    fault = _fault(told)
    if fault:
        raise ValueError(f"the notes in {path} are damaged ({fault}); fit the model again.")
    return model, told


def _check_model(path: str) -> None:
    """Refuse what is no model file before it is read."""
    remedy = "give a .tacit file that tacit fit, impute or reduce wrote, or tacit.save"
    if not os.path.isfile(path):
        what = "is a folder" if os.path.isdir(path) else "does not exist"
        raise ValueError(f"the model file {path} {what}; {remedy}.")
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is no model file; {remedy}.")


def _fault(told: dict) -> str | None:
    """What is wrong with notes, or nothing."""
    from ..survey.tally import PARSERS
    from ..tables import ROLES

    for key, kind in KINDS.items():
        if key in told and not isinstance(told[key], kind):
            return f"{key} is no {kind.__name__}"
    if abs(told.get("seed", 0)) > 2**63:
        return "the seed is too large"
    if not all(isinstance(row, dict) and _is_row(row) for row in told.get("selection", [])):
        return "a row of the selection is none"
    table = told.get("table", {})
    for name in (table.get("name", ""), table.get("file", "")):
        if not isinstance(name, str) or name != os.path.basename(name):
            return "the name of the table is a path"
    if not isinstance(table.get("columns", []), list):
        return "its columns are no list"
    for column in table.get("columns", []):
        if not isinstance(column, dict) or any(not isinstance(column.get(key), kind) for key, kind in COLUMN.items()):
            return "a column is not described"
        if column["role"] not in ROLES or not all(isinstance(level, str) for level in column["levels"]):
            return f"column {column['name']!r} has an unknown role or level"
        if column["reading"] not in ("text", *PARSERS):
            return f"column {column['name']!r} is read in an unknown way"
    return _groups_fault(told) or _settings_fault(told.get("settings", {}))


def _groups_fault(told: dict) -> str | None:
    """What is wrong with what is noted of groups."""
    from dataclasses import fields

    from ..mixture.verdict import KINDS as VERDICTS
    from ..mixture.verdict import Verdict

    verdict, learned = told.get("verdict"), told.get("learned")
    if verdict is not None:
        numbers = (
            "n_groups",
            "n_apart",
            "n_resamples",
            "n_rows",
            "tried",
            "unsure",
            "error",
            "stability",
            "least",
            "budget",
        )
        known = verdict.get("kind") in VERDICTS and set(verdict) <= {each.name for each in fields(Verdict)}
        if not known or not all(_is_number(verdict.get(name, 0)) for name in numbers):
            return "the verdict is none"
    if learned is not None:
        groups = learned.get("groups")
        words = isinstance(learned.get("title"), str) and isinstance(learned.get("digest"), str)
        if not words or not isinstance(learned.get("n_rows"), int) or not isinstance(groups, list):
            return "the table it was learned from is not described"
        if not all(isinstance(group, dict) and isinstance(group.get("words"), str) for group in groups):
            return "a group is not described"
        if not all(_is_entry(entry) for group in groups for entry in group.get("profile", [])):
            return "a group is not described"
    return None


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300)


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and all(isinstance(entry.get(key), str) for key in ("column", "text", "phrase"))
        and isinstance(entry.get("level"), (str, type(None)))
        and isinstance(entry.get("is_missing"), bool)
        and all(_is_number(entry.get(key)) for key in ("value", "rest", "overall", "known"))
        and isinstance(entry.get("difference"), (int, float))
        and _is_number(entry["difference"])
    )


def _is_row(row: dict) -> bool:
    numbers = ("bic", "aic", "icl", "cv", "log_likelihood")
    return isinstance(row.get("n_components"), int) and all(
        row.get(key) is None or (isinstance(row[key], (int, float)) and abs(row[key]) < 1e300) for key in numbers
    )


def _settings_fault(settings: dict) -> str | None:
    level, n_rows = settings.get("level", 0.9), settings.get("n_rows", 1)
    if not isinstance(level, float) or not 0 < level < 1:
        return "the level of the intervals is no probability"
    if not isinstance(n_rows, int) or not 0 <= n_rows < 2**63:
        return "the number of rows is none"
    if not all(isinstance(settings.get(key, ""), str) for key in ("why", "said")):
        return "the choice is not told in words"
    return None
