"""Apply a saved model to a new table: the groups of its rows, its missing cells, or its places on the axes.

Columns are found by name and taken as they were when the model was fitted. Writes beside the table NAME.groups.csv (or
NAME.scores.csv for a model of `tacit reduce`, NAME.predicted.csv for other models), and with --fill NAME.filled.csv and
NAME.cells.csv.
"""

import warnings

from ..common import add_output, add_table, check_numbers
from ..outcome import Outcome
from ..saved import open_model, reading_asked

HELP = "apply a saved model to a new table"
EXAMPLE = "tacit predict penguins.tacit penguins.csv --fill"


def add_arguments(parser):
    """Declare the options."""
    parser.add_argument("model", help="model file, as tacit fit, impute and reduce write and tacit.save does")
    add_table(parser)
    group = parser.add_argument_group("model")
    group.add_argument(
        "--columns", type=lambda text: [name.strip() for name in text.split(",")], metavar="A,B",
        help="columns for a model that was fitted to columns without names, in their order",
    )  # fmt: skip
    group.add_argument("--fill", action="store_true", help="also write the table with its missing cells filled in")
    group.add_argument(
        "--allow-missing",
        action="store_true",
        help="take columns of the model that the table lacks as missing in every row",
    )
    add_output(parser)


def run(arguments):
    """Read the model and the table, apply, write."""
    from ...report.observed import recall_observed

    model, told = open_model(arguments.model)
    if arguments.fill and not hasattr(model, "schema_") and not hasattr(model, "_loadings"):
        raise ValueError(f"--fill needs a model of tacit fit or tacit impute; this is a {type(model).__name__}.")
    recall_observed(model, told)
    table = _open(arguments, model, told)
    if not table.n_rows:
        raise ValueError(f"{table.reader.place} has no rows.")
    check_numbers(table)
    if hasattr(model, "schema_"):
        return _groups(arguments, model, told, table)
    return _other(arguments, model, table)


# The table, read as the model's was


def _open(arguments, model, told):
    from ...tables import open_reader, open_table

    place, reading = reading_asked(arguments)
    if place is None:
        raise ValueError("give one table after the model: either a file, or a query with --sql and --from.")
    like = _like(model, told)
    if like is None or arguments.columns:
        reader = open_reader(place, **reading)
        like = [_number(name) for name in _unnamed(model, reader, arguments.columns)]
    elif arguments.allow_missing:
        names = open_reader(place, **reading).names
        like = [column for column in like if column["name"] in names]
        if not like:
            raise ValueError(f"{place} has none of the columns of the model; it has {', '.join(names[:20])}.")
    else:
        _check_there(like, open_reader(place, **reading))
    return open_table(place, like=like, **reading)


def _check_there(like, reader):
    """Refuse a table that lacks columns of the model, naming all of them."""
    used = [column["name"] for column in like]
    absent = [name for name in used if name not in reader.names]
    if not absent:
        return
    listed = ", ".join(map(repr, absent[:20])) + (f" and {len(absent) - 20} more" if len(absent) > 20 else "")
    what = "columns" if len(absent) > 1 else "column"
    others = [name for name in reader.names if name not in used]
    has = (
        f"its other columns are {', '.join(others[:20])}{', …' * (len(others) > 20)}" if others else "it has no others"
    )
    raise ValueError(
        f"{reader.place} has no {what} {listed}, which the model uses; {has}. Rename columns, or say --allow-missing to take "
        "those it lacks as missing in every row."
    )


def _number(name):
    return {"name": str(name), "role": "measurement", "reading": "number", "levels": []}


def _like(model, told):
    """The columns of a model as `open_table` takes them, in the model's order; None where they have no names."""
    from ...report.subject import columns_of

    names = model.schema_.names if hasattr(model, "schema_") else getattr(model, "feature_names_in_", [])
    if all(isinstance(name, int) for name in names):
        return None
    readings = {
        (column["name"], column["role"]): column["reading"] for column in told.get("table", {}).get("columns", [])
    }
    return [column | {"reading": _reading(column, readings)} for column in columns_of(model)]


def _reading(column, readings):
    """How the texts of a column were read when the model was fitted."""
    roles = (column["role"], "yes/no") if column["role"] == "category" else (column["role"],)
    return next(
        (readings[column["name"], role] for role in roles if (column["name"], role) in readings), column["reading"]
    )


def _unnamed(model, reader, asked):
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


# Groups


def _groups(arguments, model, told, table):
    """What a mixture says."""
    from ..common import out_folder
    from ..progress import Progress
    from ..rows import FILES, RowWriter
    from ._results import name_of, outputs_of

    folder, files = out_folder(arguments, table), {}
    settings = told.get("settings")
    fitted = settings.get("n_rows") if isinstance(settings, dict) else None
    # A row that is unusual by itself is so in a table of few rows as well.
    judged = max(table.n_rows, fitted if isinstance(fitted, int) else 0)
    writer = RowWriter(model, table, n_rows=judged, typed=arguments.format == "parquet")
    with Progress(arguments.quiet) as progress, outputs_of(arguments, table) as outputs:
        progress.follow(table, "applying the model")
        for name, what in FILES.items():
            if name == "groups" or arguments.fill:
                path = name_of(arguments, table, folder, name)
                writer.add(name, outputs.table(path))
                files[path] = what
        writer.write_all()
    return Outcome(_groups_text(writer, table, files, arguments.fill), _groups_data(writer, table, files))


def _groups_text(writer, table, files, filled):
    from ...report.observed import tell_empty
    from ...words import count, share
    from ..console import grid, heading, paragraph
    from ..telling import wrote

    weights = writer.model.weights_[writer.scorer.order]
    rows = [["group", "rows", "share", "weight in the model"]]
    for number, (n, weight) in enumerate(zip(writer.counts, weights), 1):
        rows.append([str(number), f"{n:,}", share(n / writer.n_rows), share(weight)])
    lines = [heading(f"{table.reader.name}: {count(writer.n_rows, 'row')}"), *grid(rows, right=(0, 1, 2, 3)), ""]
    lines += [f"{count(writer.n_uncertain, 'row')} under 90 % sure, {count(writer.n_outliers, 'row')} unusual."]
    lines += [f"{count(writer.n_filled, 'missing cell')} {'filled in' if filled else '(--fill fills them in)'}."]
    lines += [paragraph(sentence) for sentence in tell_empty(writer.n_empty)] if filled else []
    notes = list(table.notes)
    if writer.coder.absent:
        notes.append(f"the table lacks {', '.join(writer.coder.absent)}; taken as missing in every row")
    lines += [paragraph(f"note: {note}") for note in notes]
    return "\n".join([*lines, "", *wrote(files)])


def _groups_data(writer, table, files):
    from ..telling import plain

    weights = writer.model.weights_[writer.scorer.order]
    return plain({
        "table": table.reader.name, "rows": writer.n_rows,
        "groups": [
            {"number": number, "rows": n, "share": n / writer.n_rows, "fitted_share": weight}
            for number, (n, weight) in enumerate(zip(writer.counts, weights), 1)
        ],
        "uncertain": writer.n_uncertain, "outliers": writer.n_outliers, "missing": writer.n_missing,
        "filled": writer.n_filled, "empty": writer.n_empty,
        "absent": writer.coder.absent, "notes": table.notes, "files": list(files),
    })  # fmt: skip


# Other models


def _other(arguments, model, table):
    """What another estimator predicts or makes of the rows."""
    from ...report.completed import Completion
    from ..common import out_folder
    from ..rows import FILES
    from ..telling import wrote
    from ._results import name_of, outputs_of

    folder, kind = out_folder(arguments, table), "scores" if hasattr(model, "_loadings") else "predicted"
    path = name_of(arguments, table, folder, kind)
    what = (
        "the places of rows on the axes, with standard errors"
        if kind == "scores"
        else "what the model says of each row"
    )
    fills = {name_of(arguments, table, folder, name): FILES[name] for name in ("filled", "cells") if arguments.fill}
    completion = Completion(model, table, typed=arguments.format == "parquet") if fills else None
    start = 0
    with warnings.catch_warnings(), outputs_of(arguments, table) as outputs:
        warnings.simplefilter("ignore")  # that rows have no names: they are in the order of the model's
        writer, *others = [outputs.table(name) for name in (path, *fills)]
        for read, batch in table.scan():
            cells = table.schema.encode(batch)
            writer.write(_applied(model, table, read, cells, start))
            if completion:
                found = completion.fill(cells)
                others[0].write(completion.rows(read, cells, found[0]))
                others[1].write(completion.cells(start, read, cells, found))
            start += batch.n_rows
    files = {path: what} | fills
    text = [
        f"{table.reader.name}: {start:,} rows, by a {type(model).__name__}",
        *(f"note: {note}" for note in table.notes),
    ]
    data = {"table": table.reader.name, "rows": start, "model": type(model).__name__, "files": list(files)}
    return Outcome("\n".join([*text, "", *wrote(files)]), data)


def _applied(model, table, read, cells, start):
    """Columns of results for one batch."""
    import numpy as np

    from ...report.completed import ids_as_read

    columns = ids_as_read(table, read) | {"row": np.arange(start + 1, start + len(cells) + 1)}
    if hasattr(model, "_loadings"):
        from ...report.axes import axis_names, score_rows

        scores, std = score_rows(model, cells)
        names = [name.replace(" ", "_") for name in axis_names(model)]
        return columns | dict(zip(names, scores.T)) | {f"se_{name}": part for name, part in zip(names, std.T)}
    if hasattr(model, "predict"):
        columns["predicted"] = np.asarray(model.predict(cells))
        if hasattr(model, "predict_proba"):
            found = np.asarray(model.predict_proba(cells))
            columns |= {f"probability_{k}": part for k, part in enumerate(found.T)}
        return columns
    if not hasattr(model, "transform"):
        raise ValueError(f"a {type(model).__name__} neither predicts nor transforms new rows.")
    made = np.asarray(model.transform(cells))
    made = made[:, None] if made.ndim == 1 else made
    names = [str(name) for name in model.get_feature_names_out()] if hasattr(model, "get_feature_names_out") else []
    names = names if len(names) == made.shape[1] else [f"value_{k}" for k in range(made.shape[1])]
    return columns | {name if name not in columns else f"{name} (new)": part for name, part in zip(names, made.T)}
