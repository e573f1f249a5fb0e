"""Find the few axes behind the number columns of a table.

Writes beside the table: NAME.reduce.scores.csv (each row's place on the axes, with standard errors), NAME.reduce.loadings.csv
(how much each column has to do with each axis), NAME.reduce.tacit (the model) and NAME.reduce.html (a page about it). Columns are
standardised; rows with missing values are placed by the cells they have.
"""

import time
import warnings
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Any

from ..common import (
    DataTable,
    Findings,
    add_budget,
    add_check,
    add_columns,
    add_output,
    add_table,
    open_usable,
    page_asked,
)
from ..outcome import Outcome
from ._results import Tables, write_learned

HELP = "find the axes behind the columns of a table"
EXAMPLE = "tacit reduce penguins.csv --method factors --axes 1"
FEWEST_KNOWN = 20
CHOICES = ("auto", "parallel", "bic")


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_table(parser)
    add_columns(parser)
    group = parser.add_argument_group("model")
    group.add_argument(
        "--method", choices=["pca", "factors"], default="pca",
        help="principal axes, which explain most variance (pca, the default), or factors, which explain how columns correlate",
    )  # fmt: skip
    group.add_argument(
        "--axes", type=_axes, default="auto", metavar="K",
        help="how many, or how to choose: parallel (as many as stand out from noise; the same as auto, the default) or bic",
    )  # fmt: skip
    group.add_argument(
        "--rotation", choices=["varimax", "quartimax", "promax", "oblimin"],
        help="turn factors so that each column belongs to few; with the last two, factors correlate",
    )  # fmt: skip
    add_check(parser, 3, "halves of the rows, or rounds of hidden cells")
    add_budget(parser)
    add_output(parser, page=True)


def _axes(text: str) -> int | str:
    if text in CHOICES:
        return text
    if not text.isdigit() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is neither a number from 1 nor one of {', '.join(CHOICES)}")
    return int(text)


def run(arguments: Namespace) -> Outcome:
    """Learn the axes, place the rows, write."""
    from ...engine import Until
    from ...impute.choice import only
    from ...study.axes import study_axes
    from ..progress import Progress, SweepProgress
    from ..telling import findings_data, findings_text

    if arguments.rotation and arguments.method != "factors":
        raise ValueError(f"--rotation {arguments.rotation} turns factors; add --method factors.")
    table, folder = open_usable(arguments, ["scores", "loadings", "tacit", *page_asked(arguments)])
    table = only(table, ("measurement", "count", "ordinal"), "axes take numbers and levels in order only").scored()
    table = _well_known(table)
    _check(table, arguments.axes)
    with Progress(arguments.quiet) as progress:
        deadline = None if arguments.budget is None else time.monotonic() + arguments.budget
        ending = Until(deadline, SweepProgress(progress, [1]).step)
        model = _learned(table, arguments, ending)
        progress.show(None, "placing the rows")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spent = arguments.budget if ending.ended else None
            told = {"check": arguments.check, "deadline": deadline, "spent": spent}
            findings = study_axes(model, table, seed=arguments.seed, **told)
            files = _write(arguments, model, table, findings, folder)
    axes: Any = findings.axes
    named = [
        {"name": name, "explained": share, "words": words}
        for name, share, words in zip(axes.names, axes.explained, axes.words)
    ]
    told = {"method": type(model).__name__, "axes": named, "loadings": axes.loadings, "spectrum": axes.spectrum}
    text = findings_text(table, findings, "Loadings", _rows(axes, findings.used), files)
    return Outcome(text, findings_data(findings, files, **told))


def _well_known(table: DataTable) -> DataTable:
    """The table without columns of which hardly a cell is known: they correlate with anything by chance."""
    from dataclasses import replace

    def kept(column: Any) -> Any:
        n = column.n_rows - column.n_missing
        if not column.used or n >= min(FEWEST_KNOWN, table.n_rows / 2):
            return column
        return replace(column, left_out=f"known in {n:,} of {column.n_rows:,} rows only")

    return replace(table, columns=tuple(map(kept, table.columns)))


def _check(table: DataTable, axes: int | str) -> None:
    d = len(table.used)
    if d < 2:
        raise ValueError(
            f"axes need at least 2 columns of numbers, and the table has {d}; see what was read with tacit inspect."
        )
    if table.n_rows < 3:
        raise ValueError(f"the table has {table.n_rows} row(s); at least 3 are needed to see axes.")
    if isinstance(axes, int) and axes >= d:
        raise ValueError(f"--axes {axes} is too many for {d} columns of numbers; ask for at most {d - 1}.")


def _learned(table: DataTable, arguments: Namespace, ending: Any) -> Any:
    """The fitted model, as far as its time allows: a cheap rank and a first step at least."""
    from ...factor import FactorAnalysis, ProbabilisticPCA

    rank = "parallel" if arguments.axes == "auto" else arguments.axes
    settings = {"scale": True, "random_state": arguments.seed, "callback": ending}
    if arguments.method == "factors":
        model = FactorAnalysis(rank, rotation=arguments.rotation, **settings)
    else:
        model = ProbabilisticPCA(rank, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(table.source())
        except KeyboardInterrupt:
            if not ending.ended:
                raise
            model.set_params(n_components="parallel").fit(table.source())  # numbers of axes were not all compared
    return ending.check(model).set_params(callback=None)


def _write(arguments: Namespace, model: Any, table: DataTable, findings: Findings, folder: str) -> dict[str, str]:
    """Write all results; return what each file is, by path."""
    from ...study.results import Results

    results = Results(model, table)
    tables: Tables = {
        "scores": ("each row's place on the axes", results.said),
        "loadings": ("what each column has to do with each axis", _loadings(model, findings.used, findings.axes)),
    }
    settings = {name: getattr(arguments, name) for name in ("method", "axes", "rotation")}
    return write_learned(arguments, folder, results, findings, tables, [], settings)


def _loadings(model: Any, columns: list[str], axes: Any) -> dict:
    """The table of loadings: column, one loading for each axis, and the share of the column that the axes explain."""
    import numpy as np

    loadings, shares = axes.loadings, getattr(model, "uniqueness_", None)
    explained = (loadings**2).sum(axis=1) if shares is None else 1.0 - np.asarray(shares)
    names = (name.replace(" ", "_") for name in axes.names)
    return {"column": columns} | dict(zip(names, loadings.T)) | {"explained": explained}


def _rows(axes: Any, columns: list[str]) -> list[tuple]:
    """The loadings of the first axes."""
    from ...words import signed

    shown = min(len(axes.names), 6)
    lines = [("column", *axes.names[:shown])]
    lines += [(name, *(signed(value) for value in row[:shown])) for name, row in zip(columns[:40], axes.loadings)]
    cut = len(columns) > 40 or len(axes.names) > shown
    return [*lines, ("… more in the file", *[""] * shown)] if cut else lines
