"""Predict a column from the others: compare models, learn the best, and tell how well it predicts and what it rests on.

Reads a table; --target names the column to predict: numbers, or levels, which are classes. Missing cells are taken as they
are, and rows without a known target are predicted. Writes beside the table: NAME.learn.predictions.csv (each row's target, what
is predicted of it, with an interval or the probabilities of the classes, and what was predicted when its fold was held out),
NAME.learn.models.csv (models compared), NAME.learn.columns.csv (how much predictions rest on each column), NAME.learn.tacit
(the model, for `tacit predict`) and NAME.learn.html (a page).
"""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Any

from ..common import (
    add_budget,
    add_check,
    add_columns,
    add_output,
    add_table,
    open_usable,
    page_asked,
    probability,
)
from ..outcome import Outcome

HELP = "predict a column from the others"
EXAMPLE = "tacit learn penguins.csv --target body_mass_g"
TAKES = ("target",)
TABLES = {
    "predictions": "each row's target and what is predicted of it",
    "models": "the models compared", "columns": "how much predictions rest on each column",
}  # fmt: skip
MODELS = (
    "linear", "log_linear", "sparse_linear", "mixture", "support_vectors", "gaussian_process",
    "logistic", "discriminant", "densities",
)  # fmt: skip


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_table(parser)
    add_columns(parser)
    group = parser.add_argument_group("model")
    group.add_argument(
        "--models", type=_models, metavar="A,B",
        help=f"models to compare, of {', '.join(MODELS)} (those for numbers or classes, as the target is)",
    )  # fmt: skip
    group.add_argument(
        "--interval", type=probability, default=0.9, metavar="P", help="probability of the intervals (0.9)"
    )
    add_check(parser, 5, "folds of the rows, 2 at least")
    add_budget(parser)
    add_output(parser, page=True)


def _models(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in MODELS]
    if unknown or not names:
        raise ArgumentTypeError(f"{unknown[0] if unknown else text!r} is no model; there are {', '.join(MODELS)}")
    return names


def run(arguments: Namespace) -> Outcome:
    """Read the table, compare and learn models, write."""
    from ...learning import choose_predictor
    from ..progress import Progress

    if not arguments.target:
        raise ValueError("say which column to predict with --target, such as --target price.")
    if arguments.check < 2:
        raise ValueError(f"--check {arguments.check} is too few folds; say 2 at least.")
    table, folder = open_usable(arguments, [*TABLES, "tacit", *page_asked(arguments)])
    with Progress(arguments.quiet) as progress:
        choice = choose_predictor(
            table, arguments.target, models=arguments.models or "auto", n_splits=arguments.check, level=arguments.interval,
            seed=arguments.seed, budget=arguments.budget, on_try=lambda what: progress.show(None, what),
        )  # fmt: skip
        progress.show(None, "looking at the predictions")
        found = choice.study(seed=arguments.seed)
        progress.show(None, "writing")
        files = _write(arguments, choice, found, folder)
    return Outcome(_text(choice, found, files), _data(choice, found, files))


def _write(arguments: Namespace, choice: Any, found: Any, folder: str) -> dict[str, str]:
    """Write the tables, the model and the page: everything or nothing. Returns what each file is, by path."""
    from ...report.learn import render_learned
    from ...study.results import Results
    from ._results import outputs_of, worded, write_model, write_tables

    table = choice.table
    settings = {
        "target": choice.target.name,
        "level": arguments.interval,
        "n_rows": table.n_rows,
        "splits": arguments.check,
    }
    results = Results(choice.model, table, level=arguments.interval, typed=arguments.format == "parquet")
    made: dict[str, tuple[str, Any]] = {
        "predictions": (TABLES["predictions"], lambda part: predictions_columns(choice, found, part)),
        "models": (TABLES["models"], models_columns(found)), "columns": (TABLES["columns"], weights_columns(found)),
    }  # fmt: skip
    with outputs_of(arguments, folder, table) as outputs:
        files = write_tables(arguments, folder, outputs, results, made)
        return files | write_model(
            arguments, folder, outputs, table, choice.model, [*table.used, choice.target], settings,
            lambda: render_learned(worded(found)),
        )  # fmt: skip


def predictions_columns(choice: Any, found: Any, part: Any) -> dict:
    """The table of predictions, of a part of the rows."""
    import numpy as np

    rows = np.arange(part.start, part.start + len(part.cells))
    y = choice.y[rows]
    own = choice.model._results(part.cells, found.level)
    place = {row: i for i, row in enumerate(found.rows.tolist())}
    held = [place.get(row) for row in rows.tolist()]
    if found.classes:
        answer = choice.model.trial_.best.answer
        known = [None if np.isnan(code) else found.classes[int(code)] for code in y]
        out = [None if i is None else found.classes[int(answer[i].argmax())] for i in held]
        return part.rows | {"known": known} | own | {"held_out": out}
    kept = np.array([np.nan if i is None else found.predicted[i] for i in held])
    return part.rows | {"known": y} | own | {"held_out": kept}


def models_columns(found: Any) -> dict:
    """The table of models."""
    figures = ("error", "share", "worse", "low", "high")
    rows = {name: [getattr(each, name) for each in found.tried] for name in ("name", "words", *figures, "failed")}
    return {"model": rows.pop("name")} | {
        name: _numbers(rows[name]) if name in figures else rows[name] for name in rows
    }


def _numbers(values: list) -> Any:
    import numpy as np

    return np.array([np.nan if value is None else value for value in values], dtype=float)


def weights_columns(found: Any) -> dict:
    """The table of columns."""
    names = {"column": "column", "without": "after", "growth": "growth", "standard_error": "error"}
    return {name: [getattr(each, kept) for each in found.weights] for name, kept in names.items()}


# What is told


def _text(choice: Any, found: Any, files: dict[str, str]) -> str:
    from ...words import count, number, share
    from ..console import grid, heading
    from ._results import told_parts

    head = f"{found.title}: {found.target} of {count(found.n_rows, 'row')}"
    rows = [["model", "log loss" if found.classes else "error", "right" if found.classes else "explained", ""]]
    for each in found.tried:
        cells = ["-", "-"] if each.failed else [number(each.error, 4), share(max(each.share, 0.0))]
        rows.append([each.words, *cells, each.failed[:60] if each.failed else "chosen" if each.worse is None else ""])
    plain = "the shares of the classes" if found.classes else "the mean"
    rows.append([plain, number(found.plain_error, 4), share(found.plain_share), ""])
    models = [heading("Models, on held-out rows"), *grid(rows, right=(1, 2))]
    return told_parts(choice, found, head, [_taken(choice.target)], [models], files)


def _taken(target: Any) -> str:
    """What the target is taken as, and how to say otherwise where its classes are numbers."""
    if not target.levels:
        return f"target: {target.name} ({target.role}), predicted as numbers"
    told = f"target: {target.name} ({target.role}), predicted as {len(target.levels)} classes"
    numbers = target.role not in ("yes/no",) and target.reading != "text"
    return f"{told}; --as {target.name}=number predicts numbers" if numbers else told


def _data(choice: Any, found: Any, files: dict[str, str]) -> dict:
    from dataclasses import asdict

    return {
        "table": found.title, "rows": found.n_rows, "target": found.target, "classes": found.classes, "known": found.n_known,
        "method": choice.model.method_, "error": found.error, "share": found.share, "plain_error": found.plain_error,
        "plain_share": found.plain_share, "nested": found.nested, "covered": found.covered, "level": found.level,
        "models": [{name: value for name, value in asdict(each).items() if name != "seconds"} for each in found.tried],
        "weights": [asdict(each) for each in found.weights], "drawn": found.drawn,
        "effects": [asdict(each) for each in found.effects], "missing": found.n_missing,
        "summary": found.summary, "limits": found.limits, "notes": list(found.notes), "files": list(files),
    }  # fmt: skip
