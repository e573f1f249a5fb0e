"""A saved model and what its file says about the table it was learned from, which may be anything and is believed in nothing."""

import os
import zipfile
from typing import Any

__all__ = ["beside", "open_like", "open_model"]

ENDINGS = ("csv", "tsv", "txt", "parquet", "arrow", "feather", "xlsx", "xls", "ods", "csv.gz", "tsv.gz")

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
    verbs = "fit, impute, reduce, topics, recommend, segment, network or learn"
    remedy = f"give a .tacit file that tacit {verbs} wrote, or tacit.save"
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
        cycle = column.get("cycle", [])
        numbers = isinstance(cycle, list) and all(isinstance(each, (int, float)) and abs(each) < 1e12 for each in cycle)
        if not numbers or len(cycle) != 2 * (column["role"] == "cyclic") or (cycle and not cycle[1] > 0):
            return f"column {column['name']!r} has no cycle that can be"
        scores = column.get("scores", [])
        if not isinstance(scores, list) or not all(map(_is_score, scores)) or (scores and column["role"] != "ordinal"):
            return f"column {column['name']!r} has scores of no levels"
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
            "moved",
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
        loose = learned.get("loose", [])
        if not isinstance(loose, list) or not all(isinstance(each, int) for each in loose):
            return "the groups that spread widely are no list"
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


def _is_score(pair: Any) -> bool:
    if not isinstance(pair, list) or len(pair) != 2:
        return False
    return isinstance(pair[0], str) and isinstance(pair[1], float) and abs(pair[1]) < 100


def _is_row(row: dict) -> bool:
    numbers = ("bic", "aic", "icl", "cv", "log_likelihood", "rmse")
    told = isinstance(row.get("failed"), (str, type(None))) if isinstance(row.get("method"), str) else False
    return (told or isinstance(row.get("n_components"), int)) and all(
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
    if not all(isinstance(settings.get(key), (str, type(None))) for key in ("text", "time", "id")):
        return "a column of texts has no name"
    if not all(
        isinstance(settings.get(key), (str, type(None))) for key in ("user", "item", "rating", "weight", "label")
    ):
        return "a column of ratings has no name"
    if not isinstance(settings.get("sequence"), (str, type(None))):
        return "the column of sequences has no name"
    if settings.get("structure", "pc") not in ("hill-climbing", "chow-liu", "pc"):
        return "the way edges were found is unknown"
    check, most = settings.get("check") or 0, settings.get("max_parents") or 1
    if not all(isinstance(each, int) and 0 <= each <= 10**6 for each in (check, most)):
        return "the number of resamples or of parents is none"
    for name in ("required", "forbidden"):
        edges = settings.get(name, [])
        named = isinstance(edges, list) and all(isinstance(edge, list) and len(edge) == 2 for edge in edges)
        if not named or not all(isinstance(each, str) for edge in edges for each in edge):
            return f"the edges that are {name} are none"
    if not isinstance(settings.get("target", ""), str):
        return "the column that is predicted has no name"
    ahead = settings.get("forecast", 0)
    if not isinstance(ahead, int) or not 0 <= ahead <= 10**6:
        return "the number of steps to forecast is none"
    for what in ("items", "users"):
        file = settings.get(what) or ""
        if not isinstance(file, str) or file != os.path.basename(file):
            return f"the name of the table of {what} is a path"
    for what in ("types", "splits"):
        number = settings.get(what) or 0
        if not isinstance(number, int) or not 0 <= number < 10**6:
            return f"the number of {what} is none"
    return None


# Tables, read as that of the model was


def open_like(
    model: Any, told: dict, place: Any, reading: dict, *, columns: list[str] | None = None, allow_missing: bool = False,
    unknown: str = "missing", spared: list[str] | None = None,
) -> Any:  # fmt: skip
    """A table with the columns of a model, found by name or, where the model knows none, those named in their order.

    Columns that are `spared` need not be there.
    """
    from ..tables import open_reader, open_table

    like, reader = _like(model, told), open_reader(place, **reading)
    if like is None or columns:
        number = {"role": "measurement", "reading": "number", "levels": []}
        like = [{"name": str(name)} | number for name in _unnamed(model, reader, columns)]
    elif allow_missing:
        like = [column for column in like if column["name"] in reader.names]
        if not like:
            raise ValueError(f"{place} has none of the columns of the model; it has {', '.join(reader.names[:20])}.")
    else:
        like = [column for column in like if column["name"] not in (spared or ()) or column["name"] in reader.names]
        _check_there(like, reader)
    return open_table(place, like=like, unknown=unknown, **reading)


def beside(model: str, noted: dict, command: str) -> str:
    """The table that a model was learned from, where it lies beside it or in the working folder."""
    name = noted.get("table", {}).get("name")
    if not name:
        raise ValueError(
            f"{model} does not say which table it was learned from; give the table: tacit {command} TABLE.csv"
        )
    files = (noted["table"].get("file") or name, *(f"{name}.{ending}" for ending in ENDINGS))
    for path in (os.path.join(folder, file) for folder in (os.path.dirname(model), "") for file in files):
        if os.path.isfile(path):
            return path
    raise ValueError(
        f"{model} was learned from a table named {name!r}, which is not beside it; give the table: tacit {command} "
        "TABLE.csv, or run the command in the folder of the table."
    )


def _check_there(like: list[dict], reader: Any) -> None:
    """Refuse a table that lacks columns of the model, naming all of them."""
    used = [column["name"] for column in like]
    absent = [name for name in used if name not in reader.names]
    if not absent:
        return
    listed = ", ".join(map(repr, absent[:20])) + (f" and {len(absent) - 20} more" if len(absent) > 20 else "")
    what, has = "columns" if len(absent) > 1 else "column", "it has no others"
    others = [name for name in reader.names if name not in used]
    if others:
        has = f"its other columns are {', '.join(others[:20])}{', …' * (len(others) > 20)}"
    raise ValueError(
        f"{reader.place} has no {what} {listed}, which the model uses; {has}. Rename columns, or say --allow-missing to take "
        "those it lacks as missing in every row."
    )


def _like(model: Any, told: dict) -> list[dict] | None:
    """The columns of a model as `open_table` takes them, in the model's order; None where they have no names."""
    names = model.schema_.names if model._reads_tables else model._known_names() or [0]
    if all(isinstance(name, int) for name in names):
        return None
    # Texts are read as they were when the model was fitted; to the model, yes/no is a category as any other.
    readings = {
        (column["name"], column["role"].replace("yes/no", "category")): column["reading"]
        for column in told.get("table", {}).get("columns", [])
    }
    return [
        {**each, "reading": readings.get((each["name"], each["role"]), each["reading"])}
        for each in model._columns_told()
    ]


def _unnamed(model: Any, reader: Any, asked: list[str] | None) -> list[str]:
    """Names of the table's columns that stand for those of a model without names."""
    names, n = asked or reader.names, model.n_features_in_
    unknown = [name for name in names if name not in reader.names]
    if unknown:
        raise ValueError(f"{reader.place} has no column {unknown[0]!r}; it has {', '.join(reader.names[:20])}.")
    if len(names) != n:
        raise ValueError(
            f"the model takes {n} columns, which have no names, but {'--columns names' if asked else 'the table has'} "
            f"{len(names)}; name {n} with --columns, in their order."
        )
    return names
