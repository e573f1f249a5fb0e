"""A saved model and what its file says about the table it was learned from, which may be anything and is believed in nothing."""

import os

from .common import check_model

__all__ = ["open_model", "reading_asked"]

KINDS = {"command": str, "table": dict, "seed": int, "selection": list, "settings": dict}
COLUMN = {"name": str, "role": str, "reading": str, "levels": list}


def open_model(path):
    """The model in a file and its notes, checked.

    Returns
    -------
    model : estimator
    notes : dict
        `command`, `table` (with `name` and `columns`), `seed`, `selection` and `settings`, each where the file has it.
    """
    from .. import load
    from ..persistence import notes

    check_model(path)
    model, told = load(path), notes(path)
    fault = _fault(told)
    if fault:
        raise ValueError(f"the notes in {path} are damaged ({fault}); fit the model again.")
    return model, told


def _fault(told):
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
    return _settings_fault(told.get("settings", {}))


def _is_row(row):
    numbers = ("bic", "aic", "icl", "cv", "log_likelihood")
    return isinstance(row.get("n_components"), int) and all(
        row.get(key) is None or (isinstance(row[key], (int, float)) and abs(row[key]) < 1e300) for key in numbers
    )


def _settings_fault(settings):
    level, n_rows = settings.get("level", 0.9), settings.get("n_rows", 1)
    if not isinstance(level, float) or not 0 < level < 1:
        return "the level of the intervals is no probability"
    if not isinstance(n_rows, int) or not 0 <= n_rows < 2**63:
        return "the number of rows is none"
    if not all(isinstance(settings.get(key, ""), str) for key in ("why", "said")):
        return "the choice is not told in words"
    return None


def reading_asked(arguments):
    """What the options say of a table for a model: its place and how to read it; the place is None where none is given."""
    if bool(arguments.sql) != bool(arguments.database):
        missing = (
            "--from, such as --from sqlite:///shop.db" if arguments.sql else '--sql, such as --sql "select * from t"'
        )
        raise ValueError(f"{'--sql' if arguments.sql else '--from'} alone does not say which rows; add {missing}.")
    if arguments.sql and arguments.file:
        raise ValueError("give one table: either a file, or a query with --sql and --from.")
    return arguments.database if arguments.sql else arguments.file, dict(
        sql=arguments.sql, sheet=arguments.sheet, separator=arguments.sep, decimal=arguments.decimal,
        encoding=arguments.encoding, missing=arguments.missing,
    )  # fmt: skip
