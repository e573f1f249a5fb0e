"""Options that commands share: which table, how to read it, which columns in which role, where results go."""

import argparse
import os

__all__ = ["add_columns", "add_output", "add_table", "open_asked", "out_folder"]

ASKED = {
    "number": "measurement",
    "yes/no": "yes/no",
    "count": "count",
    "category": "category",
    "date": "date",
    "id": "id",
}


def add_table(parser):
    """Declare which table to read, and how."""
    group = parser.add_argument_group("table")
    group.add_argument(
        "file", nargs="?", help="CSV, TSV, Parquet, Arrow or Excel file; the first line names the columns"
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
    group.add_argument(
        "--missing",
        metavar="TEXT",
        action="append",
        default=[],
        help="a text that stands for a missing cell, such as -999",
    )


def add_columns(parser):
    """Declare which columns are used, and in which role."""
    group = parser.add_argument_group("columns")
    group.add_argument("--columns", type=_names, metavar="A,B", help="columns to use (all that suit)")
    group.add_argument("--ignore", type=_names, metavar="A,B", default=[], help="columns not to use")
    group.add_argument("--id", type=_names, metavar="A,B", default=[], help="columns that say which row it is")
    group.add_argument(
        "--as", dest="roles", type=_role, action="append", default=[], metavar="NAME=ROLE",
        help=f"take a column as {', '.join(ASKED)}",
    )  # fmt: skip


def add_output(parser):
    """Declare where results go."""
    group = parser.add_argument_group("results")
    group.add_argument("--out", metavar="FOLDER", help="where to write (beside the table)")
    group.add_argument(
        "--format", choices=["csv", "parquet"], help="of the tables written (that of the table read, or csv)"
    )
    group.add_argument("--seed", type=int, default=0, help="random seed (0)")
    group.add_argument("--quiet", action="store_true", help="no progress")


def open_asked(arguments):
    """The table that the options ask for, surveyed."""
    from ..tables import open_table

    if arguments.sql and not arguments.database:
        raise ValueError("--sql needs a database; say which with --from, such as --from sqlite:///shop.db.")
    if bool(arguments.file) == bool(arguments.sql):
        raise ValueError("give one table: either a file, or a query with --sql and --from.")
    roles = dict(arguments.roles) | {name: "id" for name in arguments.id}
    return open_table(
        arguments.database if arguments.sql else arguments.file, sql=arguments.sql, sheet=arguments.sheet,
        separator=arguments.sep, decimal=arguments.decimal, encoding=arguments.encoding, missing=arguments.missing,
        roles=roles, columns=arguments.columns, ignore=arguments.ignore,
    )  # fmt: skip


def out_folder(arguments, table):
    """The folder that results go to, which must exist and take files."""
    folder = arguments.out or table.reader.folder
    if not os.path.isdir(folder):
        raise ValueError(f"the folder {folder} does not exist; create it or choose another with --out.")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"the folder {folder} cannot be written to; choose another with --out.")
    return folder


def _names(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def _role(text):
    name, _, role = text.rpartition("=")
    if not name or role not in ASKED:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=ROLE with a role of {', '.join(ASKED)}")
    return name, ASKED[role]
