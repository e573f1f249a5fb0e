"""Impute the missing values of a table, and say how sure each filled cell is.

Writes beside the table: NAME.impute.filled.csv (the whole table, imputed, everything else as it was), NAME.impute.cells.csv
(one line for each filled cell with its interval or probability), NAME.impute.tacit (the model) and NAME.impute.html (a page
about it). Numbers of columns that hold whole numbers are rounded in NAME.impute.filled.csv, not in NAME.impute.cells.csv.
"""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from ..common import (
    DataTable,
    Findings,
    add_budget,
    add_check,
    add_columns,
    add_family,
    add_output,
    add_table,
    families_asked,
    open_usable,
    page_asked,
    probability,
    whole_range,
)
from ..outcome import Outcome
from ._results import write_learned

HELP = "impute the missing values of a table"
EXAMPLE = "tacit impute penguins.csv --draws 5"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_table(parser)
    add_columns(parser)
    group = parser.add_argument_group("model")
    group.add_argument(
        "--method", choices=["auto", "mixture", "factors"], default="auto",
        help="groups of rows, for columns of every kind (mixture); axes behind numbers (factors); or whichever fills cells "
        "hidden on purpose better (auto, the default)",
    )  # fmt: skip
    group.add_argument(
        "--groups", type=whole_range, metavar="A-B",
        help="numbers of groups to try (1-6, or fewer where rows are: at least five for each)",
    )  # fmt: skip
    group.add_argument("--level", type=probability, default=0.9, metavar="P", help="probability of the intervals (0.9)")
    group.add_argument(
        "--sure", type=probability, default=0.5, metavar="P",
        help="probability from which a level of a category is filled; less probable ones stay empty (0.5)",
    )  # fmt: skip
    group.add_argument(
        "--draws", type=_draws, default=0, metavar="M",
        help="also write M tables NAME.impute.draw1.csv … with cells drawn at random, for multiple imputation",
    )  # fmt: skip
    add_family(parser)
    add_check(parser, 5, "rounds of hidden cells at most")
    add_budget(parser)
    add_output(parser, page=True)


def _draws(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise ArgumentTypeError(f"{text!r} is not a number of tables from 1 to 1000")
    return int(text)


def run(arguments: Namespace) -> Outcome:
    """Choose a model, fill, write."""
    from ...impute import choose_imputer
    from ..progress import Progress, SweepProgress
    from ..telling import findings_data, findings_text, shares_rows

    drawn = [f"draw{number}" for number in range(1, arguments.draws + 1)]
    table, folder = open_usable(arguments, ["filled", "cells", *drawn, "tacit", *page_asked(arguments)])
    if not any(column.n_missing for column in table.used):
        return _nothing(table)
    with Progress(arguments.quiet) as progress:
        choice = choose_imputer(
            table, arguments.method, groups=arguments.groups, seed=arguments.seed, level=arguments.level, sure=arguments.sure,
            budget=arguments.budget, check=arguments.check, families=families_asked(arguments),
            watch=lambda sizes, rounds: SweepProgress(progress, sizes, rounds),
        )  # fmt: skip
        if not any(column.n_missing for column in choice.table.used):
            return _nothing(choice.table)
        progress.follow(choice.table, "filling")
        findings = choice.study(arguments.seed, arguments.level)
        progress.follow(choice.table, "writing")
        files = _write(arguments, choice, findings, folder)
    title = "How good the fills are" if findings.check else "Filled cells"
    told = {name: getattr(choice, name) for name in ("method", "why", "said", "selection")}
    told |= {"filled": findings.n_filled, "empty": findings.n_empty, "check": findings.check, "shares": findings.shares}
    told |= {"missingness": [asdict(each) for each in findings.missingness]}
    text = findings_text(
        choice.table, findings, title, _rows(findings), files, ("Shares before and after", shares_rows(findings))
    )
    return Outcome(text, findings_data(findings, files, **told))


def _nothing(table: DataTable) -> Outcome:
    """What is said of a table that needs no filling."""
    kept = [column.name for column in table.columns if column.n_missing and not column.used]
    more = f" (missing values in {', '.join(kept)} stay: models do not use these)" if kept else ""
    text = f"{table.n_rows} rows, {len(table.used)} columns used: no cell is missing{more}; nothing was written."
    return Outcome(text, {"table": table.reader.name, "rows": table.n_rows, "filled": {}, "files": []})


def _write(arguments: Namespace, choice: Any, findings: Findings, folder: str) -> dict[str, str]:
    """Write all results; return what each file is, by path."""
    from ...study.results import Results

    results = Results(choice.model, choice.table, level=arguments.level, typed=arguments.format == "parquet")
    tables: dict[str, tuple[str, Callable]] = {
        "filled": ("the table with its missing values imputed", results.filled),
        "cells": ("each filled cell with its interval or probability", results.cells),
    }
    for number in range(1, arguments.draws + 1):
        drawn = results.drawn(arguments.seed, number)
        tables[f"draw{number}"] = ("the table with its missing values drawn at random", drawn)
    settings = {"method": choice.method, "level": arguments.level, "why": choice.why, "said": choice.said}
    return write_learned(arguments, folder, results, findings, tables, choice.selection, settings)


def _rows(findings: Findings) -> list[tuple]:
    """How many cells of each column were filled, and how good that is."""
    from ...words import share

    if findings.check is None:
        return [("column", "filled"), *((name, f"{n:,}") for name, n in findings.n_filled.items() if n)]
    tried = {row["column"]: row for row in findings.check["columns"]}
    lines: list[tuple] = [("column", "filled", "hidden", "error", "of mean", "within", "right", "of most frequent")]
    for name, n in findings.n_filled.items():
        row = tried.get(name, {})
        errors = (f"{row[key]:.2f}" if key in row else "" for key in ("error", "naive"))
        shares = (share(row[key], 0) if key in row else "" for key in ("covered", "right", "usual"))
        if n or row:
            lines.append((name, f"{n:,}", str(row.get("cells", "")), *errors, *shares))
    return lines
