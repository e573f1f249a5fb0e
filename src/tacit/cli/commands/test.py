"""Test which columns differ between groups of rows: how surely, corrected for their number, and by how much.

--by names the column of the groups (all its values; NAME=A,B takes some of them). Every column has the test that suits what it
holds: measurements Welch's, or one of ranks where a group has few values or an uneven shape; counts and levels in order one of
ranks; categories the test of independence or Fisher's; cycles permutations. What test each column has, and why, is told.
Missing cells are counted, and tested where there are at least five. Writes NAME.test.tests.csv (all tests) and NAME.test.html
(a page).
"""

from argparse import ArgumentParser, Namespace

from ..common import add_columns, add_output, add_table, open_usable, opened_outputs, page_asked, result_path
from ..outcome import Outcome

HELP = "which columns differ between groups, and how surely"
EXAMPLE = "tacit test penguins.csv --by species"
TAKES = ("by",)
WRITTEN = ("column", "what", "level", "test", "why", "symbol", "statistic", "p", "adjusted", "differs", "effect_name", "effect",
           "low", "high", "detectable")  # fmt: skip


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_table(parser)
    add_columns(parser)
    group = parser.add_argument_group("tests")
    group.add_argument(
        "--correct", choices=["holm", "bh"], default="holm",
        help="holm: the chance of any false finding is at most --alpha (default); bh: the share of false findings is",
    )  # fmt: skip
    group.add_argument("--alpha", type=float, default=0.05, metavar="P", help="level of all tests together (0.05)")
    group.add_argument(
        "--numbers", choices=["auto", "means", "ranks"], default="auto",
        help="what of measurements is compared: means, ranks, or which of the two their shape asks for (auto)",
    )  # fmt: skip
    add_output(parser, page=True)


def run(arguments: Namespace) -> Outcome:
    """Test, write, tell."""
    from ...assess.groups import compare_groups
    from ...report.page import render_tests
    from ..console import grid, heading, paragraph
    from ..telling import wrote

    if not arguments.by:
        raise ValueError("--by is missing; name the column that says which group a row is of, such as --by species.")
    table, folder = open_usable(arguments, ["tests", *page_asked(arguments)])
    names = [column.name for column in table.columns]
    by, _, values = arguments.by.partition("=")
    if by not in names and arguments.by in names:  # a name with = in it
        by, values = arguments.by, ""
    found = compare_groups(
        table, by, values=[value.strip() for value in values.split(",")] if values else None, method=arguments.numbers,
        correction=arguments.correct, alpha=arguments.alpha,
    )  # fmt: skip
    path = result_path(arguments, table.reader, folder, "tests")
    files = {path: "all tests"}
    with opened_outputs(arguments, folder, getattr(table.reader, "separator", ",")) as outputs:
        outputs.table(path).write(_columns(found))
        if not arguments.no_report:
            page = result_path(arguments, table.reader, folder, "html")
            with open(outputs.file(page), "w", encoding="utf-8", newline="\n") as file:
                file.write(render_tests(found, f"{found.table} by {found.by}"))
            files[page] = "the report; open it in a browser"
    text = [heading("In short"), *(paragraph(sentence, "  ") for sentence in found.summary), ""]
    text += [heading("Tests"), *grid(_lines(found), right=(3, 4)), ""]
    text += [
        heading("Bear in mind"),
        *(paragraph(f"- {sentence}", "  ") for sentence in found.limits),
        "",
        *wrote(files),
    ]
    data = {
        "table": found.table, "rows": found.n_rows, "by": found.by, "groups": found.groups, "correction": found.correction,
        "alpha": found.alpha, "tests": found.tests, "skipped": found.skipped, "left_out": found.n_left_out,
        "summary": found.summary, "limits": found.limits, "files": list(files),
    }  # fmt: skip
    return Outcome("\n".join(text), data)


def _columns(found) -> dict:  # type: ignore[no-untyped-def]
    """What is written, as columns; values, known and missing cells by group."""
    made = {name: [test[name] for test in found.tests] for name in WRITTEN}
    for i, group in enumerate(found.groups):
        for key in ("values", "known", "missing"):
            cells = [test[key][i] for test in found.tests]
            mixed = any(isinstance(cell, str) for cell in cells)
            made[f"{group['name']}: {key}"] = [str(cell) for cell in cells] if mixed else cells
    return made


def _lines(found) -> list[list[str]]:  # type: ignore[no-untyped-def]
    """Lines about the tests."""
    from ...words import number, probability

    lines = [["column", "", "test", "corrected p", "effect", ""]]
    for test in found.tests[:40]:
        what = (
            ""
            if test["what"] == "values"
            else f"share of {test['level']}"
            if test["what"] == "levels"
            else "missing cells"
        )
        effect = f"{test['effect_name']} {number(test['effect'], 3)}"
        word = "differs" if test["differs"] else ""
        lines.append([test["column"], what, test["test"], probability(test["adjusted"]), effect, word])
    return lines
