"""Find groups of rows in a table of any columns, with missing cells, and fill the cells.

Writes beside the table: NAME.fit.groups.csv (the group of each row, how probable each group is, which rows are unusual;
farther_out is the chance that a row of the same group lies farther out, small for unusual rows), NAME.fit.filled.csv (the table,
imputed), NAME.fit.cells.csv (one line for each filled cell with its interval or probability), NAME.fit.tacit (the model, for
`tacit predict`) and NAME.fit.html (a page that explains it all).
"""

import os
import shlex
from argparse import ArgumentParser, ArgumentTypeError, Namespace

from ..common import (
    DataTable,
    add_budget,
    add_check,
    add_columns,
    add_family,
    add_output,
    add_table,
    families_asked,
    open_usable,
    page_asked,
    whole_range,
)
from ..outcome import Outcome
from ..parser import whole_number

HELP = "find groups of rows, describe them, fill missing cells"
EXAMPLE = "tacit fit penguins.csv --groups 1-6"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_table(parser)
    add_columns(parser)
    group = parser.add_argument_group("model")
    group.add_argument(
        "--groups", type=whole_range, metavar="A-B",
        help="numbers of groups to try (from 1 on while the criterion improves, with at least five rows to each)",
    )  # fmt: skip
    group.add_argument(
        "--covariance", type=_structures, metavar="A,B",
        help="shapes of groups to try: full,tied,diag,spherical (the default), structures of three letters such as VEV, or all",
    )  # fmt: skip
    group.add_argument("--student", action="store_true", help="heavy tails, so that outliers do not pull groups")
    group.add_argument(
        "--criterion", choices=["bic", "icl", "aic", "cv"], default="bic",
        help="what to choose by (bic); icl prefers groups apart, cv predicts rows left out",
    )  # fmt: skip
    starts = whole_number("--restarts", 1, 1)
    group.add_argument("--restarts", type=starts, default=1, metavar="N", help="N times as many random starts (1)")
    group.add_argument(
        "--sample", type=whole_number("--sample", 10_000, 1), default=10_000, metavar="N",
        help="compare models on N random rows where there are more, then fit the best to all (10000)",
    )  # fmt: skip
    add_family(parser)
    add_check(parser, 10, "refits to resamples")
    add_budget(parser)
    add_output(parser, page=True)


def _structures(text: str) -> str | list[str]:
    from ...families import GAUSSIANS

    if text == "all":
        return "all"
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names or [text]:
        if name not in GAUSSIANS:
            raise ArgumentTypeError(f"{name!r} is not one of {', '.join(GAUSSIANS)} or all")
    return names


def run(arguments: Namespace) -> Outcome:
    """Choose and fit a model, write what it says, tell."""
    from ...mixture import find_groups
    from ...study.groups import learned_of
    from ...study.results import GroupResults
    from ...study.scores import Scorer
    from ..progress import Progress, SweepProgress
    from ..telling import groups_data, groups_text
    from ._results import FILES, write_learned

    table, folder = open_usable(arguments, [*FILES, "tacit", *page_asked(arguments)])
    with Progress(arguments.quiet) as progress:
        grouping = find_groups(
            table, groups=arguments.groups, covariance=arguments.covariance, criterion=arguments.criterion,
            restarts=arguments.restarts, student=arguments.student, sample=arguments.sample, seed=arguments.seed,
            budget=arguments.budget, check=arguments.check, families=families_asked(arguments),
            watch=lambda sizes, rounds: SweepProgress(progress, sizes, rounds),
        )  # fmt: skip
        progress.follow(table, "describing the groups")
        scorer = Scorer(grouping.model)  # rows are scored once, to be described and to be written
        findings = grouping.study(arguments.seed, scorer)
        progress.follow(table, "writing")
        typed = arguments.format == "parquet"
        results = GroupResults(grouping.model, table, n_rows=table.n_rows, typed=typed, scorer=scorer)
        tables = {name: (what, getattr(results, name)) for name, what in FILES.items()}
        settings = {
            name: getattr(arguments, name) for name in ("covariance", "criterion", "restarts", "student", "check")
        }
        settings |= {"groups": sorted(grouping.by_size), "n_rows": table.n_rows, "budget": arguments.budget}
        grouping.keep_others()  # for the slider of pages that are made again
        notes = {"verdict": grouping.verdict.told(), "learned": learned_of(findings)}
        files = write_learned(arguments, folder, results, findings, tables, grouping.selection, settings, notes)
    text = groups_text(findings, grouping.model, table, files, _next(table, files))
    return Outcome(text, groups_data(findings, files))


def _next(table: DataTable, files: dict[str, str]) -> list[str]:
    """Commands to go on with."""
    model = shlex.quote(next(path for path in files if path.endswith(".tacit")))
    new = f"NEW{os.path.splitext(getattr(table.reader, 'path', ''))[1] or '.csv'}"
    return [
        f"tacit predict {model} {new}   the groups of new rows",
        f"tacit report {model} {new}    a report on new rows",
    ]
