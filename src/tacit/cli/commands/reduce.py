"""Find the few axes behind the number columns of a table.

Writes beside the table: NAME.scores.csv (each row's place on the axes, with standard errors), NAME.loadings.csv (how much each
column has to do with each axis), NAME.reduce.tacit (the model) and NAME.reduce.html (a page about it). Columns are
standardised; rows with missing values are placed by the cells they have.
"""

import argparse
import os
import warnings

from ..common import add_columns, add_output, add_table, check_usable, open_asked, out_folder
from ..outcome import Outcome
from ._results import name_of, notes_of, outputs_of, told, write_page

HELP = "find the axes behind the columns of a table"
EXAMPLE = "tacit reduce penguins.csv --method factors --axes 1"
CHOICES = ("auto", "parallel", "bic")


def add_arguments(parser):
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
    add_output(parser)
    parser.add_argument("--no-report", action="store_true", help="write no page")


def _axes(text):
    if text in CHOICES:
        return text
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number from 1 nor one of {', '.join(CHOICES)}")
    return int(text)


def run(arguments):
    """Learn the axes, place the rows, write."""
    from ...impute.choice import only
    from ...study.axes import study_axes
    from ..progress import Progress, SweepProgress

    if arguments.rotation and arguments.method != "factors":
        raise ValueError(f"--rotation {arguments.rotation} turns factors; add --method factors.")
    table = open_asked(arguments)
    folder = out_folder(arguments, table)
    check_usable(table)
    table = only(table, ("measurement", "count"), "axes take numbers only")
    _check(table, arguments.axes)
    with Progress(arguments.quiet) as progress:
        watch = SweepProgress(progress, [1])
        model = _learned(table, arguments, watch.step)
        progress.show(None, "placing the rows")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            findings = study_axes(model, table, seed=arguments.seed)
        files = _write(arguments, model, table, findings, folder)
    rows = _rows(findings.axes, findings.used)
    return Outcome(told(table, findings, "Loadings", rows, files), _data(model, findings, files))


def _check(table, axes):
    d = len(table.used)
    if d < 2:
        raise ValueError(
            f"axes need at least 2 columns of numbers, and the table has {d}; see what was read with tacit inspect."
        )
    if table.n_rows < 3:
        raise ValueError(f"the table has {table.n_rows} row(s); at least 3 are needed to see axes.")
    if isinstance(axes, int) and axes >= d:
        raise ValueError(f"--axes {axes} is too many for {d} columns of numbers; ask for at most {d - 1}.")


def _learned(table, arguments, callback):
    """The fitted model."""
    from ...factor import FactorAnalysis, ProbabilisticPCA

    rank = "parallel" if arguments.axes == "auto" else arguments.axes
    if arguments.method == "factors":
        model = FactorAnalysis(
            rank, scale=True, rotation=arguments.rotation, random_state=arguments.seed, callback=callback
        )
    else:
        model = ProbabilisticPCA(rank, scale=True, random_state=arguments.seed, callback=callback)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(table.source())
    if model.fit_.interrupted:
        raise KeyboardInterrupt
    return model.set_params(callback=None)


def _write(arguments, model, table, findings, folder):
    """Write all results; return what each file is, by path."""
    from ... import save
    from ...study.results import Results

    stem = os.path.join(folder, table.reader.name)
    names = [name.replace(" ", "_") for name in findings.axes.names]
    settings = {"method": arguments.method, "axes": arguments.axes, "rotation": arguments.rotation}
    notes = notes_of("reduce", table, arguments, [], settings)
    scores, loadings = (name_of(arguments, table, folder, what) for what in ("scores", "loadings"))
    files = {scores: "each row's place on the axes", loadings: "what each column has to do with each axis"}
    with outputs_of(arguments, table) as outputs:
        results = Results(model, table)
        results.add(outputs.table(scores), results.said)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # arrays without the names that the source had
            results.write()
        outputs.table(loadings).write(_loadings(model, findings, names))
        save(model, outputs.file(f"{stem}.reduce.tacit"), notes=notes)
        files[f"{stem}.reduce.tacit"] = "the model"
        if not arguments.no_report:
            write_page(outputs, f"{stem}.reduce.html", findings)
            files[f"{stem}.reduce.html"] = "the report; open it in a browser"
    return files


def _loadings(model, findings, names):
    """The table of loadings: column, one loading for each axis, and the share of the column that the axes explain."""
    import numpy as np

    loadings, shares = findings.axes.loadings, getattr(model, "uniqueness_", None)
    explained = (loadings**2).sum(axis=1) if shares is None else 1.0 - np.asarray(shares)
    return {"column": findings.used} | dict(zip(names, loadings.T)) | {"explained": explained}


def _rows(axes, columns):
    """The loadings of the first axes."""
    shown = min(len(axes.names), 6)
    lines = [("column", *axes.names[:shown])]
    lines += [(name, *(f"{value:+.2f}" for value in row[:shown])) for name, row in zip(columns[:40], axes.loadings)]
    cut = len(columns) > 40 or len(axes.names) > shown
    return [*lines, ("… more in the file", *[""] * shown)] if cut else lines


def _data(model, findings, files):
    """The same for programs."""
    from ..telling import plain

    axes = findings.axes
    told = [
        {"name": name, "explained": float(share), "words": words}
        for name, share, words in zip(axes.names, axes.explained, axes.words)
    ]
    return plain({
        "table": findings.title, "rows": findings.n_rows, "columns": findings.used, "method": type(model).__name__,
        "axes": told, "loadings": axes.loadings.tolist(), "spectrum": axes.spectrum.tolist(), "summary": findings.summary,
        "limits": findings.limits, "files": list(files),
    })  # fmt: skip
