"""Compare two tables, two parts of one table, or two models: what moved, which groups grew, which rows are of a new kind.

Every column, its missing cells and every group of the pooled rows is tested, and all tests are corrected together for how many
there are; effects have intervals that hold together. Parts of one table are told by --by NAME (of two values; NAME=A,B chooses)
or --time NAME with --at. Two models are compared on the table of the first, or on a third argument. Writes beside the first
table: NAME.compare.looked.csv (everything that was looked at), NAME.compare.groups.csv, NAME.compare.rows.csv (rows of a new
kind) and NAME.compare.html (a page about it all); of two models, the groups and the page only.
"""

from argparse import ArgumentParser, Namespace
from typing import Any

from ..common import (
    add_budget,
    add_check,
    add_columns,
    add_family,
    add_output,
    add_table,
    check_free,
    families_asked,
    opened_outputs,
    page_asked,
    reading_asked,
    result_path,
    roles_asked,
    whole_range,
)
from ..outcome import Outcome

HELP = "what differs between two tables, periods or models"
EXAMPLE = "tacit compare penguins.csv --by year=2007,2009"
TAKES = ("by", "time")
LOOKED = ("what", "column", "group", "level", "a", "b", "measure", "effect", "low", "high", "n_a", "n_b", "p", "adjusted",
          "moved")  # fmt: skip
FILES = {"looked": "everything that was looked at", "groups": "the groups of both", "rows": "rows of a new kind"}


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("first", metavar="A", help="a table, or a model of tacit fit")
    parser.add_argument("second", metavar="B", nargs="?", help="another of the same")
    add_table(parser)
    add_columns(parser)
    group = parser.add_argument_group("comparison")
    group.add_argument("--at", metavar="TIME", help="where --time divides the rows: a date or a number (in two halves)")
    group.add_argument("--groups", type=whole_range, metavar="A-B", help="numbers of groups to try (as tacit fit does)")
    group.add_argument(
        "--correct", choices=["holm", "bh"], default="holm",
        help="holm: the chance of any false finding is at most 5 %% (default); bh: the share of false findings is",
    )  # fmt: skip
    add_family(parser)
    add_check(parser, 19, "random divisions of the rows")
    add_budget(parser)
    add_output(parser, page=True)


def run(arguments: Namespace) -> Outcome:
    """Compare, write, tell."""
    from ...report.page import render_comparison
    from ..console import grid, heading, paragraph
    from ..telling import wrote

    models = [path for path in (arguments.first, arguments.second) if path and path.endswith(".tacit")]
    found, reader = _models(arguments) if models else _tables(arguments)
    tables = _files(found)
    folder = check_free(arguments, reader, tables)
    files = {result_path(arguments, reader, folder, name): FILES[name] for name in tables}
    with opened_outputs(arguments, folder, getattr(reader, "separator", ",")) as outputs:
        for path, columns in zip(files, tables.values()):
            outputs.table(path).write(columns)
        if not arguments.no_report:
            page = result_path(arguments, reader, folder, "html")
            with open(outputs.file(page), "w", encoding="utf-8", newline="\n") as file:
                file.write(render_comparison(found, " and ".join(found.names)))
            files[page] = "the report; open it in a browser"
    text = [heading("In short"), *(paragraph(sentence, "  ") for sentence in found.summary), ""]
    text += [heading("Groups"), *grid(_groups(found), right=(2, 3)), ""] if len(found.groups) > 1 else []
    text += [
        heading("Bear in mind"),
        *(paragraph(f"- {sentence}", "  ") for sentence in found.limits),
        "",
        *wrote(files),
    ]
    data = {
        "table": reader.name, "rows": sum(found.n_rows), "names": found.names, "n_rows": found.n_rows, "kind": found.kind,
        "correction": found.correction, "level": found.level, "looked": found.looked, "groups": found.groups,
        "new_rows": {"count": found.n_new, "rows": found.rows}, "outside": found.outside, "summary": found.summary,
        "limits": found.limits, "baseline": found.baseline, "files": list(files),
    }  # fmt: skip
    return Outcome("\n".join(text), data)


def _tables(arguments: Namespace) -> tuple[Any, Any]:
    """The comparison of two tables or two parts of one, and the reader that results are named after."""
    from ...study.comparison import compare
    from ...tables import open_reader
    from ..progress import Progress

    arguments.file, given = None, arguments.file
    if given:
        raise ValueError(f"{given!r} is one table too many; two are compared, or two models on a table.")
    reading = reading_asked(arguments)[1]
    reader = open_reader(arguments.first, **reading)
    check_free(arguments, reader, [*FILES, *page_asked(arguments)])
    by, _, values = (arguments.by or "").partition("=")
    if by and by not in reader.names and arguments.by in reader.names:  # a name with = in it
        by, values = arguments.by, ""
    if arguments.at is not None and arguments.time is None:
        raise ValueError("--at says where --time divides the rows; name the column with --time.")
    roles = roles_asked(arguments, arguments.first, reading)
    with Progress(arguments.quiet) as progress:
        progress.show(None, "learning the groups of all rows")
        found = compare(
            arguments.first, arguments.second, by=by or None, values=[v.strip() for v in values.split(",")] if values else None,
            time=arguments.time, at=arguments.at, groups=arguments.groups, correction=arguments.correct, seed=arguments.seed,
            families=families_asked(arguments), check=arguments.check, budget=arguments.budget,
            roles=roles, columns=arguments.columns, ignore=arguments.ignore, **reading,
        )  # fmt: skip
    return found, reader


def _models(arguments: Namespace) -> tuple[Any, Any]:
    """The comparison of two models on a table, and the table's reader."""
    import os

    from ...study.matching import compare_models
    from ...tables import open_reader
    from ..saved import beside, open_model

    if arguments.by or arguments.time:
        raise ValueError("--by and --time divide the rows of a table; leave them out to compare models.")
    if arguments.family:
        raise ValueError(
            "--family is for groups that are to be found; leave it out to compare models, which have theirs."
        )
    paths = [path for path in (arguments.first, arguments.second) if path]
    if len(paths) < 2 or not all(path.endswith(".tacit") for path in paths):
        raise ValueError("a model is compared with a model: give two that tacit fit wrote, and the table after them.")
    (first, noted), (second, _) = map(open_model, paths)
    place, reading = reading_asked(arguments)
    place = place or beside(arguments.first, noted, f"compare {' '.join(paths)}")
    names = tuple(os.path.basename(path).removesuffix(".tacit") for path in paths)
    names = ("A", "B") if names[0] == names[1] else names
    reader = open_reader(place, **reading)
    check_free(arguments, reader, ["groups", *page_asked(arguments)])
    return compare_models(first, second, place, names=names, **reading), reader  # type: ignore[arg-type]


def _files(found: Any) -> dict[str, dict]:
    """The tables that are written, by name, as columns."""
    sources = {"groups": found.groups}
    if found.kind == "tables":
        looked = [{key: test.get(key) for key in LOOKED} for test in found.looked]
        sources = {"looked": looked, "groups": found.groups, "rows": found.rows}
    made = {}
    for name, rows in sources.items():
        keys = list(rows[0]) if rows else ["row", "p", "adjusted"]
        made[name] = {key: [row.get(key) for row in rows] for key in keys}
    return made


def _groups(found: Any) -> list[list[str]]:
    """Lines about the groups."""
    from ...words import share

    a, b = found.names
    if found.kind == "models":
        lines = [["group", f"matches of {b}", f"rows of {a}", f"rows of {b}", "in both"]]
        return lines + [
            [
                str(group["number"]),
                str(group["other"] or "-"),
                f"{group['n_a']:,}",
                f"{group['n_b']:,}",
                f"{group['shared']:,}",
            ]
            for group in found.groups
        ]
    lines = [["group", "what sets it apart", a, b, ""]]
    for group in found.groups:
        grew = "grew" if group["share_b"] > group["share_a"] else "shrank"
        word = "new" if group["new"] else grew if group["moved"] else ""
        lines.append([str(group["number"]), group["words"], share(group["share_a"]), share(group["share_b"]), word])
    return lines
