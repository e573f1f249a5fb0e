"""Find out who likes what, and recommend items.

Reads a long table of users, items and ratings, whose columns are found by their names or named. Writes beside it:
NAME.recommend.recommendations.csv (items for users), NAME.recommend.users.csv and NAME.recommend.items.csv (how many ratings each
has, their mean and the type), NAME.recommend.check.csv (ratings that were held out, and what was predicted), NAME.recommend.tacit
(the model, for new pairs) and NAME.recommend.html (a page: how well ratings are predicted, types of users and items, a map of the
items with search, examples).
"""

from argparse import ArgumentParser, Namespace
from typing import Any

from ..common import add_budget, add_check, add_output, add_table, check_free, page_asked, result_path
from ..outcome import Outcome
from ..parser import whole_number
from ..ratings import EVENTS, N_TYPES, ROLES, item_names, ratings_asked, read_features, read_ratings, types_told

HELP = "recommend items to users by ratings"
EXAMPLE = "tacit recommend ratings.csv --for u001 --items ratings.items.csv"
TAKES = ROLES
RESULTS = {
    "recommendations": "items for users, the best first", "users": "each user's ratings, mean and type",
    "items": "each item's ratings, mean and type", "check": "ratings that were held out, and what was predicted",
}  # fmt: skip
METHODS = ("auto", "factorization", "neighbours", "types")
TOP, USERS_AT_A_TIME = 10, 20_000


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_table(parser)
    group = parser.add_argument_group("recommendations")
    group.add_argument(
        "--for", dest="users_asked", metavar="USER", action="append", default=[],
        help="a user to recommend items to, once for each; only their lists are written, and shown",
    )  # fmt: skip
    group.add_argument(
        "--all", type=whole_number("--all", 10, 1), metavar="N", help="write N items for every user (10 without --for)"
    )
    group.add_argument(
        "--top", type=whole_number("--top", TOP, 1), default=TOP, metavar="N", help=f"items for a user of --for ({TOP})"
    )
    group = parser.add_argument_group("what is known besides")
    group.add_argument(
        "--items", metavar="TABLE", help="a table of items: their names, and features to predict new ones by"
    )
    group.add_argument("--users", metavar="TABLE", help="a table of users: features to predict new ones by")
    group.add_argument(
        "--label", metavar="NAME", help="the column that says what an item is called, of --items or of the ratings"
    )
    group = parser.add_argument_group("model")
    group.add_argument(
        "--method", choices=METHODS, default="auto", metavar="NAME",
        help="factorization: factors behind users and items; neighbours: votes of similar items; types: types of both; or what "
        "predicts held-out ratings best (auto)",
    )  # fmt: skip
    group.add_argument(
        "--components",
        type=whole_number("--components", 20, 1),
        metavar="K",
        help="how many factors, neighbours or types (the model's own)",
    )
    group.add_argument(
        "--types", type=whole_number("--types", N_TYPES, 0), metavar="K",
        help=f"types of users and of items to describe, or 0 for none ({N_TYPES}); with --method types those of the model",
    )  # fmt: skip
    add_check(parser, 1, "splits of the ratings")
    add_budget(parser)
    add_output(parser, page=True)


def run(arguments: Namespace) -> Outcome:
    """Read the ratings, choose and learn a recommender, write."""
    from ...recommend import choose_recommender
    from ...study.recommend import study_ratings
    from ..progress import Progress

    table = ratings_asked(arguments)
    folder = check_free(arguments, table, [*RESULTS, "tacit", *page_asked(arguments)])
    with Progress(arguments.quiet) as progress:
        progress.show(None, "reading the ratings")
        ratings = read_ratings(table, {role: getattr(arguments, role) for role in ROLES})
        _check(ratings, table.place)
        names, label = item_names(table, arguments.items, arguments.label, ratings.columns["item"], ratings.items)
        features = {
            what: read_features(getattr(arguments, f"{what}s"), getattr(ratings, f"{what}s"), what)
            for what in ("user", "item")
        }
        choice = choose_recommender(
            ratings, method=arguments.method, n_components=_components(arguments), user_features=features["user"],
            item_features=features["item"], n_splits=arguments.check, budget=arguments.budget, random_state=arguments.seed,
            on_try=lambda what: progress.show(None, what),
        )  # fmt: skip
        progress.show(None, "looking for types")
        types = types_told(choice.model, ratings, arguments.types, arguments.seed)
        progress.show(None, "looking at the ratings")
        columns = {role: str(ratings.columns[role]) for role in ("user", "item", "rating")}
        users = [_known(each, ratings) for each in arguments.users_asked]
        findings = study_ratings(
            choice, ratings, types=types, names=names, title=table.name, users=users, n=arguments.top if users else 5,
            columns=columns, seed=arguments.seed,
        )  # fmt: skip
        progress.show(None, "writing")
        files = _write(arguments, table, folder, choice, ratings, findings, label)
    return Outcome(_text(findings, ratings, files, bool(users)), _data(findings, ratings, choice, files, bool(users)))


def _check(ratings: Any, place: str) -> None:
    """Refuse ratings that nothing can be learned from."""
    if len(ratings) < 2 or ratings.n_items < 2:
        raise ValueError(
            f"{place} has {len(ratings)} ratings of {ratings.n_items} items; at least 2 of each are needed to tell what is liked."
        )
    if ratings.scale[0] == ratings.scale[1]:
        raise ValueError(f"all ratings of {place} are {ratings.scale[0]:g}: {EVENTS}.")


def _known(user: str, ratings: Any) -> Any:
    """A user as the ratings know them, where they do."""
    from ...recommend.ratings import codes_of

    code = int(codes_of([user], ratings.users)[0])
    return ratings.users[code] if code >= 0 else user


def _components(arguments: Namespace) -> int | None:
    """Size of the recommender: where it is asked to be one of types, as many as are to be described."""
    return arguments.components or (arguments.types if arguments.method == "types" else None) or None


# What is written


def _write(
    arguments: Namespace, table: Any, folder: str, choice: Any, ratings: Any, findings: Any, label: str | None
) -> dict[str, str]:
    """Write the tables, the model and the page: everything or nothing. Returns what each file is, by path."""
    import os
    from dataclasses import replace

    from ... import save
    from ...report.recommend import render_ratings
    from ..common import opened_outputs
    from ..voice import said
    from ._rated import check_columns, items_columns, users_columns
    from ._results import write_text

    made = {name: what for name, what in RESULTS.items() if name != "check" or findings.check is not None}
    paths = {each: result_path(arguments, table, folder, each) for each in (*made, "tacit", "html")}
    files = {paths[name]: what for name, what in made.items()} | {paths["tacit"]: "the model, for new pairs"}
    file = os.path.basename(table.path) if table.name != "stdin" else ""
    beside = {f"{what}s": getattr(arguments, f"{what}s") for what in ("user", "item")}
    splits = 1 if findings.check is None else findings.check.n_splits
    notes = {
        "command": "recommend", "seed": arguments.seed, "table": {"name": table.name, "file": file, "columns": []},
        "settings": {role: _text_of(ratings.columns.get(role)) for role in ROLES}
        | {name: os.path.basename(path) if path else None for name, path in beside.items()}
        | {"label": label, "types": arguments.types, "splits": splits},
        "selection": choice.tried,
    }  # fmt: skip
    separator = getattr(table.reader, "separator", ",") if not arguments.format else ","
    with opened_outputs(arguments, folder, separator or ",") as outputs:
        _write_lists(arguments, outputs.table(paths["recommendations"]), choice.model, ratings, findings)
        outputs.table(paths["users"]).write(users_columns(ratings, findings))
        outputs.table(paths["items"]).write(items_columns(ratings, findings))
        if findings.check is not None:
            outputs.table(paths["check"]).write(check_columns(ratings, findings.check))
        save(choice.model, outputs.file(paths["tacit"]), notes=notes)
        if not arguments.no_report:
            write_text(
                outputs,
                paths["html"],
                lambda: render_ratings(replace(findings, notes=tuple(map(said, findings.notes)))),
            )
            files[paths["html"]] = "the page; open it in a browser"
    return files


def _text_of(name: Any) -> str | None:
    return None if name is None or name is False else str(name)


def _write_lists(arguments: Namespace, writer: Any, model: Any, ratings: Any, findings: Any) -> None:
    """Write the items of those asked for, or of every user, some users at a time."""
    if arguments.users_asked and arguments.all is None:
        for each in findings.examples:
            rows = {
                "user": [each.user] * len(each.items), "rank": list(range(1, len(each.items) + 1)),
                "item": [item.item for item in each.items], "name": [item.name for item in each.items],
                "expected": _floats(item.rating for item in each.items), "low": _floats(item.low for item in each.items),
                "high": _floats(item.high for item in each.items),
            }  # fmt: skip
            writer.write(rows)
        return
    from ._rated import lists_columns

    n = arguments.all or TOP
    for start in range(0, ratings.n_users, USERS_AT_A_TIME):
        writer.write(lists_columns(model, ratings.users[start : start + USERS_AT_A_TIME], n, findings.names))


def _floats(values: Any) -> Any:
    import numpy as np

    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


# What is told


def _text(findings: Any, ratings: Any, files: dict[str, str], asked: bool) -> str:
    from ...words import count
    from ..console import heading, paragraph
    from ..telling import wrote
    from ..voice import said

    columns = ", ".join(
        f"{name} ({role})" for role, name in ratings.columns.items() if name is not None and name is not False
    )
    opening = [f"columns: {columns}", *(f"note: {said(each)}" for each in ratings.notes)]
    items, users = count(findings.n_items, "item"), count(findings.n_users, "user")
    head = f"{findings.title}: {count(findings.n_ratings, 'rating')} of {items} by {users}"
    parts = [
        [heading(head), *(paragraph(line, "  ") for line in opening)],
        [heading("In short"), *(paragraph(said(sentence), "  ") for sentence in findings.summary)],
        *([_list(each) for each in findings.examples] if asked else []),
        _errors(findings),
        _tastes(findings),
        [heading("Bear in mind"), *(paragraph(f"- {said(sentence)}", "  ") for sentence in findings.limits)],
        wrote(files),
    ]  # fmt: skip
    return "\n\n".join("\n".join(part) for part in parts if part)


def _errors(findings: Any) -> list[str]:
    from ..console import grid, heading

    check = findings.check
    if check is None:
        return []
    rows = [["prediction by", "root mean squared error", "mean absolute error"]]
    for name, which in (
        (findings.method, "predicted"),
        ("averages of users and items", "averages"),
        ("the overall mean", "mean"),
    ):
        rows.append([name, f"{check.rmse(which):.4f}", f"{check.mae(which):.4f}"])
    return [heading(f"Errors on {len(check):,} ratings held out"), *grid(rows, right=(1, 2))]


def _tastes(findings: Any) -> list[str]:
    from ...words import share
    from ..console import heading, paragraph

    if findings.tastes is None:
        return []
    lines = [heading("Types")]
    for noun, tastes in (("users", findings.tastes.users), ("items", findings.tastes.items)):
        for taste in tastes:
            told = [f"such as {'; '.join(taste.names[:5])}."] if taste.names else []
            told += [str(words) for words in taste.words] or ([] if told else ["Rate much as others do."])
            lines.append(
                paragraph(
                    f"{noun} {taste.number}: {taste.n:,}, {share(taste.share)} of all {noun}: {' '.join(told)}", "  "
                )
            )
    return lines


def _list(each: Any) -> list[str]:
    from ...words import count
    from ..console import grid, heading, paragraph

    title = f"For user {each.user} ({count(each.n_ratings, 'rating')})"
    lines = [heading(title)]
    if each.cold:
        lines.append(paragraph("note: nothing is known of this user; these are items that users like in general", "  "))
    rows = [["", "item", "name", "expected", "90 % interval", "why"]]
    for rank, item in enumerate(each.items, 1):
        ends = "" if item.low is None else f"{item.low:.2f} to {item.high:.2f}"
        rows.append(
            [
                str(rank),
                str(item.item),
                item.name,
                f"{item.rating:.2f}",
                ends,
                item.reason.partition("; ")[2] or item.reason,
            ]
        )
    if all(row[1] == row[2] for row in rows[1:]):
        rows = [row[:2] + row[3:] for row in rows]
    return [*lines, *grid(rows, right=(0,), widest=70)]


def _data(findings: Any, ratings: Any, choice: Any, files: dict[str, str], asked: bool) -> dict:
    from dataclasses import asdict

    check, tastes = findings.check, findings.tastes
    return {
        "table": findings.title, "rows": findings.n_ratings, "method": findings.method, "columns": ratings.columns,
        "users": findings.n_users, "items": findings.n_items, "ratings": dict(zip(findings.labels, findings.counts)),
        "cold": {
            side: {"few": tail.cold, "share": tail.cold / n, "median": tail.median, "top": tail.top}
            for side, tail, n in (("users", findings.users, findings.n_users), ("items", findings.items, findings.n_items))
        },
        "check": None if check is None else {
            "n": len(check), "splits": check.n_splits,
            "rmse": {which: check.rmse(which) for which in ("predicted", "averages", "mean")},
            "mae": {which: check.mae(which) for which in ("predicted", "averages", "mean")},
            "coverage": check.coverage, "inside": check.inside, "curve": check.curve(),
            "ranked": None if check.ranked is None else asdict(check.ranked),
        },
        "types": None if tastes is None else {
            "users": [asdict(each) for each in tastes.users], "items": [asdict(each) for each in tastes.items],
            "means": tastes.means, "counts": tastes.counts,
        },
        "selection": findings.selection,
        "recommended": [asdict(each) for each in findings.examples] if asked else [],
        "summary": findings.summary, "limits": findings.limits, "notes": list(ratings.notes), "files": list(files),
    }  # fmt: skip
