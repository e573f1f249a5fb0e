"""List data sets, write one as a CSV file, or draw one at random.

Without a name, all are listed. With one that comes along, its table is written: tacit datasets penguins. With make, a table is
drawn, beside NAME.truth.csv with its true groups and the cells behind its missing values: tacit datasets make mixed --rows 1000.
"""

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Any

from ..common import add_force, check_folder, check_paths, opened_outputs
from ..outcome import Outcome
from ..parser import whole_number

HELP = "list data sets, write one, or draw one"
EXAMPLE = "tacit datasets penguins"
NEXT = {"factors": "reduce", "ratings": "recommend", "giss": "inspect", "earthquakes": "segment"}


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("name", nargs="?", help="the set to write, or make")
    parser.add_argument("kind", nargs="?", metavar="KIND", help="what to make: mixed, factors, outliers or ratings")
    parser.add_argument(
        "--out", metavar="FOLDER", default=".", help="folder to write to, made where there is none (here)"
    )
    add_force(parser)
    group = parser.add_argument_group("make")
    group.add_argument(
        "--rows", type=whole_number("--rows", 500), metavar="N", help="how many rows (500), or users of ratings (300)"
    )
    group.add_argument(
        "--columns",
        type=whole_number("--columns", 8),
        metavar="D",
        help="columns of factors (8) or outliers (3), or items of ratings (80)",
    )
    group.add_argument(
        "--groups",
        type=whole_number("--groups", 3),
        metavar="K",
        help="groups (mixed 3, outliers 2), factors (2) or types (3)",
    )
    group.add_argument("--missing", type=_share, default=0.1, metavar="P", help="share of cells that are missing (0.1)")
    group.add_argument(
        "--mechanism", choices=["mcar", "mar", "mnar"], default="mcar",
        help="cells go missing at random (mcar), by the first column (mar) or by their own value (mnar)",
    )  # fmt: skip
    group.add_argument("--seed", type=whole_number("--seed", 0), default=0, help="random seed (0)")


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no number; say --missing 0.1") from None


def run(arguments: Namespace) -> Outcome:
    """List, write or draw."""
    from ...datasets import DATASETS, load

    if arguments.name is None:
        return _listed()
    if arguments.name == "make":
        return _made(arguments)
    if arguments.kind is not None:
        raise ValueError(
            f"{arguments.kind!r} comes after a set that is not made; say tacit datasets make {arguments.kind}."
        )
    entry = DATASETS.get(arguments.name)
    if entry is None:
        raise ValueError(f"there is no data set {arguments.name!r}; tacit datasets lists those there are.")
    if entry.kind == "generator":
        raise ValueError(f"{entry.name} is drawn at random; say tacit datasets make {entry.name}.")
    if entry.kind == "path":
        raise ValueError(
            f"{entry.name} does not come along ({entry.licence}); get it from {entry.source} and read it with "
            f"tacit.datasets.{entry.function}(path)."
        )
    found = load(entry.name)
    return _written(arguments, entry.name, {f"{entry.name}.csv": found}, found.description)


def _listed() -> Outcome:
    """All sets, in words and as data."""
    from ...datasets import catalogue

    kinds = {
        "shipped": "come along: tacit datasets NAME writes NAME.csv",
        "scikit-learn": "come with scikit-learn: written in the same way",
        "generator": "are drawn: tacit datasets make NAME",
        "path": "are read from a path: tacit.datasets.load(NAME, path)",
    }
    rows = [dict(row) for row in catalogue()]
    lines: list[str] = []
    width = max(len(row["name"]) for row in rows)
    for kind, heading in kinds.items():
        lines += ["", heading] if lines else [heading]
        for row in (row for row in rows if row["kind"] == kind):
            size = f"{row['rows'] or '…':>7} × {row['columns'] or '…':<6}"
            lines.append(f"  {row['name'].ljust(width)} {size} {row['what']} ({row['licence']})")
    return Outcome("\n".join(lines), {"datasets": rows})


def _made(arguments: Namespace) -> Outcome:
    """Draw a table and write it beside its truth."""
    from dataclasses import replace

    import numpy as np

    from ...datasets import DATASETS, load

    drawn = [name for name, entry in DATASETS.items() if entry.kind == "generator"]
    if arguments.kind not in drawn:
        what = "nothing was named" if arguments.kind is None else f"{arguments.kind!r} cannot be made"
        raise ValueError(f"{what}; tacit datasets make takes one of {', '.join(drawn)}.")
    if arguments.kind == "ratings":
        return _ratings(arguments)
    found = load(arguments.kind, **_settings(arguments))
    table, truth = replace(found, target=None), replace(found, X=found.more["complete"])
    if "scores" in found.more:
        names = [f"factor_{k + 1}" for k in range(found.more["scores"].shape[1])]
        truth = replace(truth, X=np.hstack([truth.X, found.more["scores"]]), columns=[*found.columns, *names])
    files = {f"{found.name}.csv": table, f"{found.name}.truth.csv": truth}
    return _written(arguments, found.name, files, found.description)


def _ratings(arguments: Namespace) -> Outcome:
    """Draw ratings and write them beside what is known of the items."""
    from dataclasses import replace

    import numpy as np

    from ...datasets import load

    asked = {"n_users": arguments.rows, "n_items": arguments.columns, "n_types": arguments.groups}
    found = load("ratings", random_state=arguments.seed, **{name: n for name, n in asked.items() if n is not None})
    more, days = found.more, found.more["time"].astype("datetime64[D]").astype(str)
    table = replace(found, X=np.column_stack([found.X, days]), columns=["user", "item", "date"])
    genres = np.array(more["feature_names"], dtype=object)[more["genre"]]
    films = np.column_stack([more["items"], [more["titles"][item] for item in more["items"]], genres])
    items = replace(found, X=films.astype(object), columns=["item", "title", "genre"], target=None)
    files = {"ratings.csv": table, "ratings.items.csv": items}
    return _written(arguments, "ratings", files, found.description)


def _settings(arguments: Namespace) -> dict:
    """Arguments of the generator, from the options given."""
    asked = {
        "n_rows": 500 if arguments.rows is None else arguments.rows, "random_state": arguments.seed, "missing": arguments.missing,
        "mechanism": arguments.mechanism,
    }  # fmt: skip
    if arguments.columns is not None:
        if arguments.kind == "mixed":
            raise ValueError("--columns does not go with mixed, whose columns are five; leave it out.")
        asked["n_columns"] = arguments.columns
    if arguments.groups is not None:
        asked["n_factors" if arguments.kind == "factors" else "n_groups"] = arguments.groups
    return asked


def _written(arguments: Namespace, name: str, files: dict[str, Any], told: str) -> Outcome:
    """Write tables that are not there yet, all or none."""
    folder = check_folder(arguments.out)
    paths = {os.path.join(folder, file): found for file, found in files.items()}
    check_paths(arguments, paths)
    with opened_outputs(arguments, folder) as outputs:
        for path, found in paths.items():
            _write(found, outputs.file(path))
    first = next(iter(paths))
    step = f"tacit {NEXT.get(name, 'fit')} {first}"
    lines = [f"wrote {path} ({len(found.X)} rows)" for path, found in paths.items()]
    data = {"files": list(paths), "next": step, "description": told}
    return Outcome("\n".join([told, *lines, f"next: {step}"]), data)


def _write(found: Any, path: str) -> None:
    """The file as it was published where it comes along, else the table."""
    import shutil

    if "path" in found.more:
        shutil.copyfile(found.more["path"], path)
    else:
        found.write_csv(path)
