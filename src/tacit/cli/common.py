"""Options that commands share: which table, how to read it, which columns in which role, where results go."""

import csv
import os
import re
import shlex
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .parser import whole_number

if TYPE_CHECKING:
    from ..study.findings import Findings
    from ..survey.column import ColumnInfo
    from ..tables import DataTable
else:
    ColumnInfo = DataTable = Findings = Any  # loaded when a table is read: help must be quick

__all__ = [
    "ColumnInfo", "DataTable", "Findings", "add_budget", "add_check", "add_columns", "add_family", "add_force", "add_output",
    "add_table", "add_unknown", "check_folder", "check_free", "check_numbers", "check_paths", "families_asked", "is_tsv",
    "open_asked", "open_usable", "opened_outputs", "page_asked", "reading_asked", "result_path", "roles_asked", "table_options",
    "whole_range",
]  # fmt: skip

ASKED = {"number": "measurement"} | {
    role: role
    for role in (
        "yes/no", "count", "category", "ordinal", "date", "id", "cyclic", "hour", "weekday", "month", "bearing", "season",
        "code",
    )
}  # fmt: skip
"""Roles as they are typed; cyclic:28 is a cycle of any period."""


def add_table(parser: ArgumentParser) -> None:
    """Declare which table to read, and how."""
    group = parser.add_argument_group("table")
    group.add_argument(
        "file",
        nargs="?",
        help="CSV, TSV, Parquet, Arrow or Excel file, or - for the standard input; the first line names the columns",
    )
    group.add_argument("--sql", metavar="QUERY", help="read a query's rows instead of a file")
    group.add_argument(
        "--from", dest="database", metavar="URL",
        help="database of --sql: duckdb://FILE, sqlite:///FILE, postgresql://USER@HOST/NAME",
    )  # fmt: skip
    group.add_argument("--sheet", metavar="NAME", help="sheet of an Excel file (the first)")
    group.add_argument("--sep", metavar="C", help="what separates cells of a text file (found out)")
    group.add_argument("--decimal", metavar="C", choices=[".", ","], help="decimal mark of a text file (found out)")
    group.add_argument("--encoding", metavar="NAME", help="encoding of a text file (utf-8)")
    group.add_argument("--header", choices=["yes", "no"], help="whether a text or Excel file names its columns (yes)")
    lines = whole_number("--skip", 1, 0)
    group.add_argument("--skip", type=lines, metavar="N", help="lines before the names or the first row (found out)")
    help = "a text that stands for a missing cell, such as -999"
    group.add_argument("--missing", metavar="TEXT", action="append", default=[], help=help)


def add_unknown(group: Any) -> None:
    """Declare what becomes of levels that a model does not know."""
    group.add_argument(
        "--unknown", choices=["missing", "error"], default="missing",
        help="levels of a category that the model does not know: take them as missing, with a note, or refuse them (missing)",
    )  # fmt: skip


def add_columns(parser: ArgumentParser) -> None:
    """Declare which columns are used, and in which role."""
    group = parser.add_argument_group("columns")
    group.add_argument("--columns", type=_names, metavar="A,B", help="columns to use (all that suit)")
    group.add_argument("--ignore", type=_names, metavar="A,B", default=[], help="columns not to use")
    group.add_argument("--id", type=_names, metavar="A,B", default=[], help="columns that say which row it is")
    group.add_argument(
        "--as", dest="roles", type=_role, action="append", default=[], metavar="NAME=ROLE",
        help=f"take a column as {', '.join(ASKED)}",
    )  # fmt: skip


def add_budget(parser: ArgumentParser) -> None:
    """Declare how long the choice of a model may take."""
    parser.add_argument(
        "--budget", type=_seconds, default=60.0, metavar="TIME",
        help="time for choosing a model, such as 90s or 5m, or none for no limit; the best so far is taken at its end (60s)",
    )  # fmt: skip


def add_check(parser: ArgumentParser, times: int, what: str) -> None:
    """Declare how often claims are checked: `what` is done so many times."""
    number = whole_number("--check", times, 1)
    parser.add_argument("--check", type=number, default=times, metavar="N", help=f"check claims by N {what} ({times})")


def add_family(parser: ArgumentParser) -> None:
    """Declare what numbers are like inside a group."""
    parser.add_argument(
        "--family", type=_family, action="append", default=[], metavar="[NAME=]FAMILY",
        help=f"what measurements, or the column NAME, are like inside a group: {', '.join(FAMILIES)} (gaussian)",
    )  # fmt: skip


def families_asked(arguments: Namespace) -> dict[str | None, str]:
    """What `--family` says: families by column, of all measurements under None."""
    return dict(arguments.family)


def _family(text: str) -> tuple[str | None, str]:
    name, _, family = text.rpartition("=")
    if family not in FAMILIES:
        raise ArgumentTypeError(f"{text!r} names no family; there are {', '.join(FAMILIES)}")
    return name or None, family


def _seconds(text: str) -> float | None:
    if text == "none":
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|sec|m|min|h|)\s*", text)
    seconds = float(found[1]) * {"m": 60, "h": 3600}.get(found[2][:1], 1) if found else 0.0
    if not seconds:
        raise ArgumentTypeError(f"{text!r} is no time such as 60s, 5m or none")
    return seconds


def add_output(parser: ArgumentParser, page: bool = False) -> None:
    """Declare where results go, a page among them or not."""
    group = parser.add_argument_group("results")
    group.add_argument(
        "--out", metavar="FOLDER", help="folder to write to, made where there is none (beside the table)"
    )
    add_force(group)
    group.add_argument(
        "--format", choices=["csv", "parquet"], help="of the tables written (that of the table read, or csv)"
    )
    group.add_argument("--seed", type=whole_number("--seed", 0), default=0, help="random seed (0)")
    group.add_argument("--quiet", action="store_true", help="no progress")
    if page:
        parser.add_argument("--no-report", action="store_true", help="write no page")


def page_asked(arguments: Namespace) -> list[str]:
    """The page among results, as `check_free` takes them, unless none is wanted."""
    return [] if arguments.no_report else ["html"]


def add_force(group: Any) -> None:
    """Declare whether files that are there may be replaced."""
    group.add_argument("--force", action="store_true", help="replace results that are there already")


def reading_asked(arguments: Namespace) -> tuple[Any, dict]:
    """What the options say of a table: its place and how to read it; the place is None where none is given."""
    if arguments.database and not arguments.sql:
        raise ValueError(
            "--from needs a query; say which rows to read with --sql, such as --sql 'select * from visits'."
        )
    if arguments.sql and not arguments.database:
        raise ValueError("--sql needs a database; say which with --from, such as --from sqlite:///shop.db.")
    if arguments.file and arguments.sql:
        raise ValueError("give one table: either a file, or a query with --sql and --from.")
    reading = {
        name: getattr(arguments, name) for name in ("sql", "sheet", "decimal", "encoding", "header", "skip", "missing")
    }
    return arguments.database or arguments.file, reading | {"separator": arguments.sep}


def open_asked(arguments: Namespace) -> DataTable:
    """The table that the options of `add_table`, and of `add_columns` if the command has it, ask for, surveyed."""
    from ..tables import open_table
    from .progress import Progress

    place, reading = reading_asked(arguments)
    if not place:
        raise ValueError("give one table: either a file, or a query with --sql and --from.")
    roles = roles_asked(arguments, place, reading)
    with Progress(getattr(arguments, "quiet", False)) as progress:
        table = open_table(
            place, roles=roles, columns=getattr(arguments, "columns", None), ignore=getattr(arguments, "ignore", []),
            on_batch=lambda n_rows: progress.show(None, f"reading: {n_rows:,} rows"), **reading,
        )  # fmt: skip
    table.reader.on_batch = None
    return table


def roles_asked(arguments: Namespace, place: Any, reading: dict) -> dict[str, str]:
    """Roles of columns: those that the `tacit.toml` beside the table keeps, and those that options ask for before them."""
    from ..tables import open_reader
    from ..tables.keeping import read_kept

    asked = dict(getattr(arguments, "roles", [])) | dict.fromkeys(getattr(arguments, "id", []), "id")
    reader = open_reader(place, **reading)
    return read_kept(reader.folder, reader.name).roles_of(reader.names) | asked


FAMILIES = ("gaussian", "student", "gamma", "lognormal", "exponential", "beta", "poisson", "negative_binomial")
"""What numbers may be like inside a group."""
HUGE = 1e150
"""Numbers from which squares overflow."""


def open_usable(arguments: Namespace, results: Iterable[str] = ()) -> tuple[DataTable, str]:
    """The table that the options ask for, where a model can learn from it, and the folder that results go to.

    `results` are what the command will write, as `check_free` takes them: refused before the table is read.
    """
    from ..tables import open_reader

    place, reading = reading_asked(arguments)
    folder = check_free(arguments, open_reader(place, **reading), results) if place else ""
    table = open_asked(arguments)
    _check_usable(table)
    return table, folder


def _check_usable(table: DataTable) -> None:
    """Refuse a table that no model can learn from, for a reason that the remedy fits."""
    place, roles = table.reader.place, {column.role for column in table.columns}
    if roles == {"empty"}:
        raise ValueError(
            f"all cells of {place} are missing; see how it was read with tacit inspect, and set --sep or --encoding if it was "
            "read wrongly."
        )
    if table.n_rows < 2:
        raise ValueError(f"{place} has {table.n_rows} row; at least 2 are needed to learn from.")
    if roles <= {"empty", "constant"}:
        raise ValueError(
            f"no column of {place} varies: every one has the same value in all rows, so nothing can be learned."
        )
    check_numbers(table)


def check_numbers(table: DataTable) -> None:
    """Refuse numbers too large to compute with, by column, row and text."""
    for column in table.used:
        ends = [abs(end) for end in (column.low, column.high) if end is not None]
        if not column.levels and max(ends, default=0.0) > HUGE:
            row, text = _huge(table, column)
            raise ValueError(
                f"column {column.name!r} holds {text} in row {row:,}, which is too large to compute with; if it stands for a "
                f"missing cell, say --missing={shlex.quote(text)}, or leave the column out with --ignore "
                f"{shlex.quote(column.name)}."
            )


def _huge(table: DataTable, column: ColumnInfo) -> tuple[int, str]:
    """Number of the first row that holds a huge number in a column, and the number as it is written."""
    import numpy as np

    start = 0
    for read, batch in table.scan([column]):
        found = np.flatnonzero(abs(batch[column.name].values) > HUGE)
        if len(found):
            return start + int(found[0]) + 1, str(read[column.name].values[found[0]])
        start += batch.n_rows
    raise ValueError(f"column {column.name!r} was changed while it was read; start again.")


def table_options(arguments: Namespace, *, missing: Iterable[str] = (), ignore: Iterable[str] = ()) -> str:
    """The options that read the same table again, as they are typed, without any password.

    `missing` are texts that stand for missing, and `ignore` columns not to use, beside those typed.
    """
    from ..tables.sql import without_password

    words = [arguments.file]
    if not arguments.file:
        words = ["--sql", arguments.sql, "--from", without_password(arguments.database)]
    for option in ("sheet", "sep", "decimal", "encoding", "header", "skip"):
        if getattr(arguments, option) is not None:
            words += [f"--{option}", str(getattr(arguments, option))]
    words += [f"--missing={text}" for text in dict.fromkeys([*arguments.missing, *missing])]
    asked = {role: word for word, role in ASKED.items()}
    for name, role in getattr(arguments, "roles", []):
        words += ["--as", f"{name}={asked.get(role, role)}"]
    for option, more in (("columns", ()), ("ignore", ignore), ("id", ())):
        names = dict.fromkeys([*(getattr(arguments, option, None) or ()), *more])
        if names:
            words += [f"--{option}", ",".join(f'"{name}"' if "," in name else name for name in names)]
    return " ".join(map(shlex.quote, words))


# Where results go: NAME.VERB.WHAT, all of them or none, never in place of a file that is there


def check_free(arguments: Namespace, reader: Any, results: Iterable[str]) -> str:
    """The folder that results go to, where none is there already unless --force is given.

    `results` are endings after NAME.VERB, such as "html"; those of tables, which have the table's format, have none: "groups".
    """
    folder = check_folder(arguments.out or reader.folder)
    check_paths(arguments, [result_path(arguments, reader, folder, each) for each in results])
    return folder


def result_path(arguments: Namespace, reader: Any, folder: str, result: str) -> str:
    """The path of a result, as `check_free` takes it: NAME.VERB.html, or NAME.VERB.groups.csv in the table's format."""
    if result not in ("html", "tacit"):
        result += f".{arguments.format or ('tsv' if is_tsv(reader) else reader.format)}"
    return os.path.join(folder, f"{reader.name}.{arguments.command}.{result}")


def is_tsv(reader: Any) -> bool:
    """Whether a table is a file whose name says that tabs separate its cells."""
    return str(getattr(reader, "path", "")).lower().endswith((".tsv", ".tsv.gz", ".tsv.bz2", ".tsv.xz"))


def check_paths(arguments: Namespace, paths: Iterable[str]) -> None:
    """Refuse paths at which there is a file that nobody said to replace."""
    there = [path for path in paths if os.path.exists(path)]
    if there and not arguments.force:
        more = f" and {len(there) - 1} more of the results" if len(there) > 1 else ""
        verb = "are" if more else "is"
        raise ValueError(
            f"{there[0]}{more} {verb} there already; say --force to replace, or choose another folder with --out."
        )


def check_folder(folder: str) -> str:
    """Refuse a folder that cannot be made or takes no files; returns it."""
    if os.path.isfile(folder):
        raise ValueError(f"--out {folder} is a file; give a folder.")
    there = os.path.abspath(folder)
    while not os.path.exists(there):
        there = os.path.dirname(there)
    if not os.path.isdir(there):
        raise ValueError(f"--out {folder} cannot be a folder: {there} is a file; choose another.")
    if not os.access(there, os.W_OK):
        raise ValueError(f"the folder {folder} cannot be written to; choose another with --out.")
    return folder


def opened_outputs(arguments: Namespace, folder: str, separator: str = ",", decimal: str = ".") -> Any:
    """Where results are written: in a folder, which is made, over files that are there only by --force."""
    from ..tables import Outputs

    os.makedirs(folder or ".", exist_ok=True)
    return Outputs(separator, decimal, replace=arguments.force)


def _names(text: str) -> list[str]:
    """Names between commas; one that holds a comma itself is quoted."""
    return [name.strip() for row in csv.reader([text], skipinitialspace=True) for name in row if name.strip()]


def probability(text: str) -> float:
    """A probability, for an option."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise ArgumentTypeError(f"{text!r} is not a probability between 0 and 1, such as 0.9")
    return value


def _role(text: str) -> tuple[str, str]:
    name, _, role = text.rpartition("=")
    if not name or (role not in ASKED and not re.fullmatch(r"cyclic:\d+(\.\d+)?", role)):
        raise ArgumentTypeError(f"{text!r} is not NAME=ROLE with a role of {', '.join(ASKED)}")
    return name, ASKED.get(role, role)


def whole_range(text: str) -> range:
    """Numbers such as 1-9, for an option."""
    found = re.fullmatch(r"\s*(\d+)\s*(?:(?:-|:|to)\s*(\d+))?\s*", text)
    if not found:
        raise ArgumentTypeError(f"{text!r} is not a range such as 1-9")
    first, last = int(found[1]), int(found[2] or found[1])
    if first > last:
        raise ArgumentTypeError(f"{text!r} runs backwards; say {last}-{first}")
    if first < 1:
        raise ArgumentTypeError(f"{text!r} starts below 1, but numbers of groups start at 1")
    return range(first, last + 1)
