"""Apply a saved model to a new table: the groups of its rows, its missing cells, or its places on the axes.

Columns are found by name and taken as they were when the model was fitted. Writes beside the table NAME.predict.groups.csv (or
NAME.predict.scores.csv for a model of `tacit reduce`, NAME.predict.rows.csv for other models), and with --fill
NAME.predict.filled.csv and NAME.predict.cells.csv. A model of `tacit topics` takes texts as that command does, and writes
NAME.predict.proportions.csv; one of `tacit recommend` takes pairs of users and items, and writes NAME.predict.ratings.csv; one of
`tacit segment` takes series, and writes NAME.predict.segments.csv and NAME.predict.steps.csv; one of `tacit network` tells the
probability of each row and, with --target, what a column is given the others.
"""

import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any

from ..common import DataTable, add_output, add_table, add_unknown, check_free, check_numbers, reading_asked
from ..outcome import Outcome
from ..saved import open_like, open_model
from ..voice import said

HELP = "apply a saved model to a new table"
TAKES = ("target", "user", "item", "text")
OTHERS = {
    "scores": "the places of rows on the axes, with standard errors", "rows": "what the model says of each row",
    "predictions": "what is predicted of each row, with intervals or probabilities",
}  # fmt: skip
EXAMPLE = "tacit predict penguins.fit.tacit penguins.csv --fill"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "model",
        help="model file, as tacit fit, impute, reduce, topics, recommend, segment, network and learn write and tacit.save does",
    )
    add_table(parser)
    group = parser.add_argument_group("model")
    group.add_argument(
        "--columns", type=lambda text: [name.strip() for name in text.split(",")], metavar="A,B",
        help="columns for a model that was fitted to columns without names, in their order",
    )  # fmt: skip
    group.add_argument("--fill", action="store_true", help="also write the table with its missing cells filled in")
    help = "take columns of the model that the table lacks as missing in every row"
    group.add_argument("--allow-missing", action="store_true", help=help)
    add_unknown(group)
    add_output(parser)


def run(arguments: Namespace) -> Outcome:
    """Read the model and the table, apply, write."""
    model, told = open_model(arguments.model)
    if arguments.target and model._study != "network":
        raise ValueError(
            f"--target is for models of tacit network, and this is a {type(model).__name__}; leave it out."
        )
    if model._study == "ratings":
        return _ratings(arguments, model, told)
    for role in ("user", "item"):
        if getattr(arguments, role):
            raise ValueError(
                f"--{role} is for models of tacit recommend, and this is a {type(model).__name__}; leave it out."
            )
    if arguments.fill and model._study in (None, "predictions"):
        raise ValueError(f"--fill needs a model of tacit fit or tacit impute; this is a {type(model).__name__}.")
    if model._study == "topics":
        return _proportions(arguments, model, told)
    if arguments.text:
        raise ValueError(f"--text is for models of tacit topics, and this is a {type(model).__name__}; leave it out.")
    if model._study == "regimes":
        return _regimes(arguments, model, told)
    table = _open(arguments, model, told)
    if not table.n_rows:
        raise ValueError(f"{table.reader.place} has no rows.")
    check_numbers(table)
    if model._study == "network":
        return _network(arguments, model, table)
    if model._study == "predictions":
        return _predictions(arguments, model, told, table)
    if model._reads_tables:
        return _groups(arguments, model, told, table)
    return _other(arguments, model, table)


# Texts


def _proportions(arguments: Namespace, model: Any, told: dict) -> Outcome:
    """What new texts are about."""
    from ...words import count
    from ..common import opened_outputs, result_path
    from ..telling import wrote
    from ..texts import documents_asked, read_corpus, text_asked
    from .topics import proportions_columns

    text, title = text_asked(arguments, told), told.get("settings", {}).get("id")
    documents = documents_asked(arguments, text)
    folder = check_free(arguments, documents, ["proportions"])
    names = documents.reader.names if documents.reader is not None else ()
    corpus = read_corpus(documents, text, title=title if title in names else None, vectorizer=model.vectorizer_)
    theta, path = model.transform(corpus), result_path(arguments, documents, folder, "proportions")
    with opened_outputs(arguments, folder) as outputs:
        outputs.table(path).write(proportions_columns(theta, corpus))
    kind, files = type(model).__name__, {path: "how much of each document is about each topic"}
    notes = []
    if corpus.n_empty:
        notes.append(
            f"{count(corpus.n_empty, 'document')} without known words: the topic is left empty, and the proportions tell "
            "nothing"
        )
    lines = [
        f"{documents.name}: {count(len(corpus), 'document')}, by a {kind}",
        *(f"note: {note}" for note in notes),
        "",
        *wrote(files),
    ]
    return Outcome(
        "\n".join(lines),
        {"table": documents.name, "rows": len(corpus), "model": kind, "notes": notes, "files": list(files)},
    )


# Pairs of users and items


def _ratings(arguments: Namespace, model: Any, told: dict) -> Outcome:
    """What users are expected to rate items."""
    from ...words import count
    from ..common import opened_outputs, result_path
    from ..ratings import pairs_columns, ratings_asked, read_pairs
    from ..telling import wrote

    for name in ("text", "fill", "columns", "allow_missing"):
        if getattr(arguments, name):
            raise ValueError(
                f"--{name.replace('_', '-')} is not for a {type(model).__name__}, which takes pairs; leave it out."
            )
    table = ratings_asked(arguments, "give the pairs: a table with a column of users and one of items.")
    folder = check_free(arguments, table, ["ratings"])
    users, items = read_pairs(table, {"user": arguments.user, "item": arguments.item}, told.get("settings", {}))
    made, n_new = pairs_columns(model, users, items)
    path = result_path(arguments, table, folder, "ratings")
    separator = getattr(table.reader, "separator", ",") if not arguments.format else ","
    with opened_outputs(arguments, folder, separator or ",") as outputs:
        outputs.table(path).write(made)
    kind, files = type(model).__name__, {path: "expected ratings of pairs, with intervals of 90 %"}
    notes = [
        f"{count(n, 'pair')} of {what} that the model does not know: their ratings are what is known in general"
        for what, n in n_new.items()
        if n
    ]
    lines = [
        f"{table.name}: {count(len(users), 'pair')}, by a {kind}",
        *(f"note: {each}" for each in notes),
        "",
        *wrote(files),
    ]
    data = {"table": table.name, "rows": len(users), "model": kind, "new": n_new, "notes": notes, "files": list(files)}
    return Outcome("\n".join(lines), data)


# Series


def _regimes(arguments: Namespace, model: Any, told: dict) -> Outcome:
    """The regimes of new series."""
    from ...words import count
    from ..series import restudied
    from ..telling import wrote
    from ._results import outputs_of, write_tables
    from .segment import made_tables

    names = ["segments", "steps", *(("filled", "cells") if arguments.fill else ())]
    found, choice, folder = restudied(arguments, model, told, names)
    with outputs_of(arguments, folder, choice.table) as outputs:
        files = write_tables(arguments, folder, outputs, *made_tables(arguments, model, choice.table, found, names))
    notes, segments = list(map(said, choice.table.notes)), found.segmentation
    counted = f"{count(found.n_rows, 'row')}, {count(len(segments.segment_states), 'segment')}"
    head = f"{found.title}: {counted}, by a {type(model).__name__}"
    lines = [head, *map(said, found.summary[1:]), *(f"note: {each}" for each in notes), "", *wrote(files)]
    data = {
        "table": found.title,
        "rows": found.n_rows,
        "model": type(model).__name__,
        "summary": found.summary,
        "notes": notes,
    }
    return Outcome("\n".join(lines), data | {"files": list(files)})


# The table, read as the model's was


def _open(arguments: Namespace, model: Any, told: dict) -> DataTable:
    from ...tables import open_reader

    place, reading = reading_asked(arguments)
    if place is None:
        raise ValueError("give one table after the model: either a file, or a query with --sql and --from.")
    results = [_kind(model), *(("filled", "cells") if arguments.fill else ())]
    check_free(arguments, open_reader(place, **reading), results)
    asked = {"columns": arguments.columns, "allow_missing": arguments.allow_missing, "unknown": arguments.unknown}
    spared = [arguments.target] if arguments.target else []  # what is to be predicted need not be there
    return open_like(model, told, place, reading, spared=spared, **asked)


def _kind(model: Any) -> str:
    """What is written of rows."""
    if model._study == "network":
        return "rows"
    if model._study == "predictions":
        return "predictions"
    return "groups" if model._reads_tables else "scores" if model._study == "axes" else "rows"


# Groups


def _groups(arguments: Namespace, model: Any, told: dict, table: DataTable) -> Outcome:
    """What a mixture says."""
    from ...study.results import GroupResults
    from ...study.sentences import applied_words

    # A row that is unusual by itself is so in a table of few rows as well.
    judged = max(table.n_rows, told.get("settings", {}).get("n_rows", 0))
    results = GroupResults(model, table, n_rows=judged, typed=arguments.format == "parquet")
    results.scorer.loose = set(told.get("learned", {}).get("loose", ()))
    files = _write(arguments, results, {_kind(model): results.groups})
    summary = applied_words(results, arguments.fill)
    return Outcome(_groups_text(results, files, summary), _groups_data(results, files) | {"summary": summary})


def _write(arguments: Namespace, results: Any, made: dict[str, Callable]) -> dict[str, str]:
    """Write tables of results, and the filled ones where these are asked for; return what each file is, by path."""
    from ..progress import Progress
    from ._results import FILES, outputs_of, write_tables

    table = results.table
    folder = check_free(arguments, table.reader, made)
    made |= {"filled": results.filled, "cells": results.cells} if arguments.fill else {}
    tables = {name: ((FILES | OTHERS)[name], make) for name, make in made.items()}
    with (
        Progress(arguments.quiet) as progress,
        outputs_of(arguments, folder, table) as outputs,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # that rows have no names: they are in the order of the model's
        progress.follow(table, "applying the model")
        return write_tables(arguments, folder, outputs, results, tables)


def _groups_text(results: Any, files: dict[str, str], summary: list[str]) -> str:
    from ...words import count, share
    from ..console import grid, heading, paragraph
    from ..telling import wrote

    table = results.table
    rows = [["group", "rows", "share", "weight in the model"]]
    for number, (n, weight) in enumerate(zip(results.counts, results.weights), 1):
        rows.append([str(number), f"{n:,}", share(n / results.n_rows), share(weight)])
    lines = [heading(f"{table.reader.name}: {count(results.n_rows, 'row')}"), *grid(rows, right=(0, 1, 2, 3)), ""]
    lines += [paragraph(said(sentence)) for sentence in summary[1:]]
    notes = list(map(said, table.notes))
    if results.coder.absent:
        notes.append(f"the table lacks {', '.join(results.coder.absent)}; taken as missing in every row")
    lines += [paragraph(f"note: {note}") for note in notes]
    return "\n".join([*lines, "", *wrote(files)])


def _groups_data(results: Any, files: dict[str, str]) -> dict:
    return {
        "table": results.table.reader.name, "rows": results.n_rows,
        "groups": [
            {"number": number, "rows": n, "share": n / results.n_rows, "fitted_share": weight}
            for number, (n, weight) in enumerate(zip(results.counts, results.weights), 1)
        ],
        "uncertain": results.n_uncertain, "outliers": results.n_outliers, "missing": results.n_missing,
        "filled": results.n_filled, "empty": results.n_empty,
        "absent": results.coder.absent, "notes": results.table.notes, "files": list(files),
    }  # fmt: skip


# Networks


def _network(arguments: Namespace, model: Any, table: DataTable) -> Outcome:
    """How probable rows are, and what a column is given the others."""
    from ...study.network_results import NetworkResults
    from ...words import count
    from ..telling import wrote

    results = NetworkResults(model, table, typed=arguments.format == "parquet", target=arguments.target)
    files = _write(arguments, results, {_kind(model): results.rows})
    summary, notes = results.told(arguments.fill), list(map(said, table.notes))
    absent = [name for name in results.coder.absent if name != arguments.target]
    if absent:
        notes.append(f"the table lacks {', '.join(absent)}; taken as missing in every row")
    kind, name = type(model).__name__, table.reader.name
    lines = [
        f"{name}: {count(results.n_rows, 'row')}, by a {kind}",
        *map(said, summary),
        *(f"note: {n}" for n in notes),
    ]
    data = {"table": name, "rows": results.n_rows, "model": kind, "target": arguments.target, "summary": summary}
    data |= {"missing": results.n_missing, "absent": absent, "notes": notes, "files": list(files)}
    return Outcome("\n".join([*lines, "", *wrote(files)]), data)


# Predictions of a column


def _predictions(arguments: Namespace, model: Any, told: dict, table: DataTable) -> Outcome:
    """What a predictor of a column says of the rows."""
    from ...study.results import Results
    from ...words import count
    from ..telling import wrote

    level = told.get("settings", {}).get("level", 0.9)
    results = Results(model, table, level=level, typed=arguments.format == "parquet")
    made = {"predictions": lambda part: part.rows | model._results(part.cells, level)}
    files = _write(arguments, results, made)
    target, name = told.get("settings", {}).get("target", "the target"), table.reader.name
    notes = list(map(said, table.notes))
    head = f"{name}: {target} of {count(results.n_rows, 'row')}, by {model.words_}"
    text = [head, *(f"note: {note}" for note in notes), "", *wrote(files)]
    data = {"table": name, "rows": results.n_rows, "model": type(model).__name__, "target": target, "notes": notes}
    return Outcome("\n".join(text), data | {"files": list(files)})


# Other models


def _other(arguments: Namespace, model: Any, table: DataTable) -> Outcome:
    """What another estimator predicts or makes of the rows."""
    from ...study.results import Results
    from ..telling import wrote

    results = Results(model, table, typed=arguments.format == "parquet")
    files = _write(arguments, results, {_kind(model): results.said})
    kind, name = type(model).__name__, table.reader.name
    text = [f"{name}: {results.n_rows:,} rows, by a {kind}", *(f"note: {said(note)}" for note in table.notes)]
    data = {"table": name, "rows": results.n_rows, "model": kind, "files": list(files)}
    return Outcome("\n".join([*text, "", *wrote(files)]), data)
