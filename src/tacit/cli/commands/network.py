"""Learn which columns depend on which, and ask what follows from what.

Columns of any kind become a belief network; numbers are cut into levels. Writes beside the table: NAME.network.edges.csv (what
depends on what, how strongly, and how surely), NAME.network.levels.csv (the levels of every column and their probabilities),
NAME.network.tacit (the model, for `tacit predict` and `tacit report`) and NAME.network.html (a page: a click on a level of any
column sets it as known, and the probabilities of all others follow).
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
    result_path,
)
from ..outcome import Outcome
from ..parser import whole_number

HELP = "find which columns depend on which, and ask what follows"
EXAMPLE = "tacit network penguins.csv"
TABLES = {
    "edges": "what depends on what, how strongly and how surely",
    "levels": "the levels of every column and their probabilities",
}
STRUCTURES = ("hill-climbing", "chow-liu", "pc")
CHECKS, MOST_EDGES = 20, 20


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_table(parser)
    add_columns(parser)
    group = parser.add_argument_group("model")
    group.add_argument(
        "--structure", choices=STRUCTURES, default="hill-climbing",
        help="how edges are found: by hill climbing on BIC (the default), as the tree that says most (chow-liu), or by tests of "
        "independence (pc)",
    )  # fmt: skip
    group.add_argument(
        "--levels", type=whole_number("--levels", 3, 2), metavar="K",
        help="how many levels numbers are cut into (3 to 5, by the number of rows)",
    )  # fmt: skip
    for name, what in (("required", "that there must be"), ("forbidden", "that there must not be")):
        group.add_argument(
            f"--{name}", type=_edge, action="append", default=[], metavar="A->B", help=f"an edge {what}, by names of columns"
        )  # fmt: skip
    group.add_argument(
        "--max-parents", type=whole_number("--max-parents", 3, 1), metavar="K",
        help="how many columns one may depend on directly (4 of hill climbing)",
    )  # fmt: skip
    add_check(parser, CHECKS, "resamples of the rows")
    add_budget(parser)
    add_output(parser, page=True)


def _edge(text: str) -> tuple[str, str]:
    parent, arrow, child = (part.strip() for part in text.partition("->"))
    if not (parent and arrow and child) or parent == child:
        raise ArgumentTypeError(f"{text!r} is no edge between two columns, such as 'age->income'")
    return parent, child


def run(arguments: Namespace) -> Outcome:
    """Read the table, learn the network, write."""
    from ...graph.choice import find_network
    from ..progress import Progress

    results = [*TABLES, "tacit", *page_asked(arguments)]
    table, folder = open_usable(arguments, results)
    with Progress(arguments.quiet) as progress:
        choice = find_network(
            table, structure=arguments.structure, levels=arguments.levels, required=arguments.required,
            forbidden=arguments.forbidden, max_parents=arguments.max_parents, check=arguments.check, seed=arguments.seed,
            budget=arguments.budget, on_try=lambda what: progress.show(None, what),
        )  # fmt: skip
        progress.show(None, "writing")
        found = choice.study()
        files = _write(arguments, choice, found, folder)
    return Outcome(_text(choice, found, files), _data(choice, found, files))


def _write(arguments: Namespace, choice: Any, found: Any, folder: str) -> dict[str, str]:
    """Write the tables, the model and the page: everything or nothing. Returns what each file is, by path."""
    from ...report.network import render_dependencies
    from ._results import outputs_of, worded, write_model

    table, files = choice.table, {}
    settings = {
        "structure": choice.method, "check": arguments.check, "n_rows": table.n_rows, "max_parents": arguments.max_parents,
        "required": list(map(list, arguments.required)), "forbidden": list(map(list, arguments.forbidden)),
    }  # fmt: skip
    with outputs_of(arguments, folder, table) as outputs:
        for name, make in (("edges", edges_columns), ("levels", levels_columns)):
            path = result_path(arguments, table.reader, folder, name)
            outputs.table(path).write(make(found))
            files[path] = TABLES[name]
        return files | write_model(
            arguments, folder, outputs, table, choice.model, table.used, settings,
            lambda: render_dependencies(worded(found)),
        )  # fmt: skip


def edges_columns(found: Any) -> dict:
    """The table of edges."""
    edges = found.dependencies
    return {
        "from": [each.parent for each in edges], "to": [each.child for each in edges],
        "bits": [each.information for each in edges], "gain": [each.gain for each in edges],
        "found": [each.found for each in edges], "forward": [each.forward for each in edges],
        "directed": ["yes" if each.directed else "no" for each in edges], "words": [each.words for each in edges],
    }  # fmt: skip


def levels_columns(found: Any) -> dict:
    """The table of levels."""
    rows = [
        (each.name, level, n, p, each.n_missing)
        for each in found.variables
        for level, n, p in zip(each.levels, each.counts, each.probabilities)
    ]
    return dict(zip(("column", "level", "rows", "probability", "missing"), map(list, zip(*rows))))


# What is told


def _text(choice: Any, found: Any, files: dict[str, str]) -> str:
    from ...words import count
    from ._results import told_parts

    head = f"{found.title}: {count(found.n_rows, 'row')}, {count(len(found.columns), 'column')}"
    return told_parts(choice, found, head, [], [_edges(found)], files)


def _edges(found: Any) -> list[str]:
    from ...words import count, number, share
    from ..console import grid, heading

    rows = [["from", "to", "bits", *(["found again"] if found.n_resamples else [])]]
    for each in found.dependencies[:MOST_EDGES]:
        again = [share(each.found)] if found.n_resamples else []
        rows.append([each.parent, each.child, number(each.information, 2), *again])
    if len(rows) == 1:
        return []
    more = len(found.dependencies) - MOST_EDGES
    lines = [heading("Edges"), *grid(rows, right=(2, 3))]
    return [*lines, f"  … and {count(more, 'more edge')}"] if more > 0 else lines


MOST_EDGES = 20


def _data(choice: Any, found: Any, files: dict[str, str]) -> dict:
    from dataclasses import asdict

    edges = [
        {"from": each.parent, "to": each.child, "bits": each.information, "gain": each.gain, "found": each.found,
         "forward": each.forward, "directed": each.directed, "words": each.words}
        for each in found.dependencies
    ]  # fmt: skip
    return {
        "table": found.title, "rows": found.n_rows, "structure": found.method, "edges": edges,
        "variables": [asdict(each) for each in found.variables], "alone": found.alone, "missing": found.n_missing,
        "resamples": found.n_resamples, "check": None if found.guessed is None else asdict(found.guessed),
        "summary": found.summary, "limits": found.limits, "notes": list(found.notes), "files": list(files),
    }  # fmt: skip
