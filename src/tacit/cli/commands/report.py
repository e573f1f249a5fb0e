"""Write the report of a saved model again, of its own table or of another one with the same columns.

Reads a model that `tacit fit`, `tacit impute`, `tacit reduce`, `tacit topics`, `tacit recommend`, `tacit segment` or
`tacit network` has written and its table, which is looked for beside the model and in the working folder where it is not given,
and writes one HTML page that opens in any browser without a connection.
"""

import os
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from typing import Any

from ..common import (
    DataTable,
    Findings,
    add_force,
    add_table,
    add_unknown,
    check_folder,
    check_paths,
    opened_outputs,
    reading_asked,
)
from ..outcome import Outcome
from ..saved import beside, open_model
from ..voice import said
from ._results import with_labels, write_page

__all__ = ["add_arguments", "run"]

HELP = "write the report of a saved model"
TAKES = ("text", "time")
EXAMPLE = "tacit report penguins.fit.tacit --open"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("model", metavar="MODEL", help="the model, such as NAME.fit.tacit")
    add_table(parser)
    group = parser.add_argument_group("report")
    group.add_argument("--out", metavar="FILE", help="the page to write, or a folder for it (beside the model)")
    add_force(group)
    add_unknown(group)
    group.add_argument("--title", metavar="TEXT", help="heading of the page (the table's name)")
    group.add_argument(
        "--merge", metavar="A+B", type=_numbers, action="append", default=[],
        help="take groups as one, such as 1+3; the page's own editor tells the option",
    )  # fmt: skip
    group.add_argument(
        "--name",
        metavar="N=TEXT",
        type=_name,
        action="append",
        default=[],
        help="call a group, numbered after merging, TEXT",
    )
    group.add_argument("--keep", action="store_true", help="keep the names of --name in tacit.toml beside the table")
    group.add_argument("--open", action="store_true", help="open the page in the browser")


def _numbers(text: str) -> tuple[int, ...]:
    parts = text.split("+")
    if len(parts) < 2 or not all(part.strip().isdigit() for part in parts):
        raise ArgumentTypeError(f"{text!r} does not name groups to merge, such as 1+3")
    return tuple(int(part) for part in parts)


def _name(text: str) -> tuple[int, str]:
    number, _, name = text.partition("=")
    if not number.strip().isdigit() or not name.strip():
        raise ArgumentTypeError(f"{text!r} is not N=TEXT, such as 1=Gentoo")
    return int(number), name.strip()


def run(arguments: Namespace) -> Outcome:
    """Read, study, write."""
    from dataclasses import replace

    from ...tables.keeping import keep, model_digest

    model, noted = open_model(arguments.model)
    if model._study == "topics":
        return _topics(arguments, model, noted)
    if model._study == "ratings":
        return _ratings(arguments, model, noted)
    if model._study == "regimes":
        return _regimes(arguments, model, noted)
    if model._study == "predictions":
        return _learned(arguments, model, noted)
    if model._study == "network":
        return _network(arguments, model, noted)
    for name in TAKES:
        if getattr(arguments, name):
            raise ValueError(
                f"--{name} is for models of tacit topics, and this is a {type(model).__name__}; leave it out."
            )
    model = model._for_study()
    table = _open(arguments, model, noted)
    path = _place(arguments, table.reader.name)
    names, note = _kept_names(arguments, table)
    findings = with_labels(_named(_study(model, table, noted, arguments.merge), names), table.reader)
    if arguments.title:
        findings = replace(findings, title=arguments.title)
    with opened_outputs(arguments, os.path.dirname(path)) as outputs:
        write_page(outputs, path, findings)
    _show(arguments, path)
    files, notes = [path], [note] if note else []
    if arguments.keep:
        files.append(keep(table.reader.folder, {("groups", _stem(arguments)): {"of": model_digest(arguments.model)} | {
            str(number): name for number, name in names}}, replace=arguments.force))  # fmt: skip
    told = {
        "table": table.reader.name,
        "rows": findings.n_rows,
        "summary": list(findings.summary),
        "limits": findings.limits,
    }
    text = "\n".join(
        [*map(said, findings.summary), *(f"note: {each}" for each in notes), *(f"wrote {each}" for each in files)]
    )
    return Outcome(text, told | {"notes": notes, "files": files})


def _topics(arguments: Namespace, model: Any, noted: dict) -> Outcome:
    """The page of a model of topics, of the texts it was learned from or of others."""
    from ...report.topics import render_topics
    from ...study.topics import study_topics
    from ..texts import documents_asked, read_corpus, text_asked

    for name in ("merge", "name", "keep"):
        if getattr(arguments, name):
            raise ValueError(f"--{name} is for groups, and this is a model of topics; leave it out.")
    if not arguments.sql:
        arguments.file = arguments.file or beside(arguments.model, noted, f"report {arguments.model}")
    text, settings = text_asked(arguments, noted), noted.get("settings", {})
    documents = documents_asked(arguments, text)
    path = _place(arguments, documents.name)
    names = documents.reader.names if documents.reader is not None else ()
    columns = [name if name in names else None for name in (settings.get("time"), settings.get("id"))]
    corpus = read_corpus(documents, text, arguments.time or columns[0], columns[1], model.vectorizer_)
    findings = study_topics(model, corpus, seed=noted.get("seed", 0))
    return _written(arguments, path, documents.name, findings.n_documents, findings, render_topics)


def _ratings(arguments: Namespace, model: Any, noted: dict) -> Outcome:
    """The page of a recommender, of the ratings it was learned from."""
    from ...report.recommend import render_ratings
    from ..ratings import ratings_asked, restudied

    _refuse(arguments, "a recommender")
    if not arguments.sql:
        arguments.file = arguments.file or beside(arguments.model, noted, f"report {arguments.model}")
    table = ratings_asked(arguments)
    path = _place(arguments, table.name)
    findings = restudied(arguments.model, model, table, noted)
    return _written(arguments, path, table.name, findings.n_ratings, findings, render_ratings)


def _regimes(arguments: Namespace, model: Any, noted: dict) -> Outcome:
    """The page of a model of regimes, of the series it was learned from or of others."""
    from ...report.segment import render_regimes
    from ..series import restudied
    from ._results import worded

    _refuse(arguments, "a model of regimes")
    if not arguments.sql:
        arguments.file = arguments.file or beside(arguments.model, noted, f"report {arguments.model}")
    found, choice, _ = restudied(arguments, model, noted, check=True)
    path = _place(arguments, choice.table.reader.name)
    return _written(
        arguments, path, choice.table.reader.name, found.n_rows, found, lambda each: render_regimes(worded(each))
    )


def _network(arguments: Namespace, model: Any, noted: dict) -> Outcome:
    """The page of a belief network, of the table it was learned from or of another."""
    from ...graph.choice import study_table
    from ...report.network import render_dependencies
    from ._results import worded

    _refuse(arguments, "a belief network")
    table, settings = _open(arguments, model, noted), noted.get("settings", {})
    path = _place(arguments, table.reader.name)
    asked = {
        name: settings[name] for name in ("structure", "required", "forbidden", "max_parents") if settings.get(name)
    }
    choice = study_table(model, table, check=settings.get("check") or 0, seed=noted.get("seed", 0), **asked)
    found = choice.study()
    return _written(
        arguments, path, table.reader.name, found.n_rows, found, lambda each: render_dependencies(worded(each))
    )


def _learned(arguments: Namespace, model: Any, noted: dict) -> Outcome:
    """The page of a predictor of a column, of the table it was learned from; models are compared again."""
    from ...learning import choose_predictor
    from ...report.learn import render_learned
    from ._results import worded

    _refuse(arguments, "a predictor of a column")
    settings = noted.get("settings", {})
    if "target" not in settings:
        raise ValueError(f"{arguments.model} does not say what it predicts; learn it again with tacit learn.")
    table = _open(arguments, model, noted)
    path = _place(arguments, table.reader.name)
    choice = choose_predictor(
        table, settings["target"], models=model.models, n_splits=model.n_splits, level=settings.get("level", 0.9),
        seed=noted.get("seed", 0), budget=model.budget,
    )  # fmt: skip
    found = choice.study(seed=noted.get("seed", 0))
    return _written(arguments, path, table.reader.name, found.n_rows, found, lambda each: render_learned(worded(each)))


def _refuse(arguments: Namespace, what: str) -> None:
    """Refuse options for groups and texts, naming what the model is."""
    for name in ("merge", "name", "keep", "text", "time"):
        if getattr(arguments, name):
            raise ValueError(f"--{name} is not for {what}; leave it out.")


def _written(
    arguments: Namespace, path: str, table: str, n_rows: int, found: Any, render: Callable[[Any], str]
) -> Outcome:
    """Write the page of findings, and tell them."""
    from dataclasses import replace

    from ._results import write_text

    found = replace(found, title=arguments.title or found.title)
    with opened_outputs(arguments, os.path.dirname(path)) as outputs:
        write_text(outputs, path, lambda: render(found))
    _show(arguments, path)
    told = {"table": table, "rows": n_rows, "summary": found.summary, "limits": found.limits, "files": [path]}
    return Outcome("\n".join([*map(said, found.summary), f"wrote {path}"]), told)


def _show(arguments: Namespace, path: str) -> None:
    """Open the page in the browser, where that was asked for."""
    if arguments.open:
        import webbrowser

        webbrowser.open("file://" + os.path.abspath(path))


def _stem(arguments: Namespace) -> str:
    return os.path.basename(arguments.model).removesuffix(".tacit")


def _kept_names(arguments: Namespace, table: DataTable) -> tuple[list[tuple[int, str]], str]:
    """Names of groups: those that `tacit.toml` keeps of this very model, unless groups are merged, and those asked for."""
    from ...tables.keeping import read_kept

    if arguments.keep and arguments.merge:
        raise ValueError("--keep keeps names of the model's own groups; leave out --merge, or --keep.")
    if arguments.keep and not arguments.name:
        raise ValueError("--keep needs names of groups to keep; say --name 1=TEXT.")
    kept, note = read_kept(table.reader.folder, table.reader.name).names_of(arguments.model)
    if arguments.merge:
        kept, note = {}, ""
    return list((kept | dict(arguments.name)).items()), note


def _open(arguments: Namespace, model: Any, noted: dict) -> DataTable:
    """The table, with the columns in the roles they had."""
    from ...tables import open_table

    place, reading = reading_asked(arguments)
    columns = noted.get("table", {}).get("columns") or model._columns_told()
    return open_table(
        place or beside(arguments.model, noted, f"report {arguments.model}"),
        like=columns,
        unknown=arguments.unknown,
        **reading,
    )


def _named(findings: Findings, names: list[tuple[int, str]]) -> Findings:
    """Findings with names of groups."""
    from dataclasses import replace

    unknown = [number for number, _ in names if not 1 <= number <= len(findings.groups)]
    if unknown:
        raise ValueError(f"--name {unknown[0]}=… names no group; their numbers run from 1 to {len(findings.groups)}.")
    return replace(findings, group_names=findings.group_names | dict(names)) if names else findings


def _study(model: Any, table: DataTable, noted: dict, merge: list[tuple[int, ...]]) -> Findings:
    from ...study.subject import study_table

    selection, seed = noted.get("selection") or [], noted.get("seed", 0)
    if merge and (noted.get("command") == "impute" or model._study != "groups"):
        raise ValueError("--merge takes groups, and this model has none; leave it out.")
    if noted.get("command") == "impute":
        from ...study.imputation import study_fill

        settings = noted.get("settings", {})
        told = {name: settings[name] for name in ("level", "why", "said") if name in settings}
        return study_fill(model, table, selection=selection, seed=seed, **told)
    if merge:
        return study_table(model, table, seed=seed, learned=noted.get("learned"), merge=merge)
    if model._study != "groups" or "learned" not in noted:
        return study_table(model, table, selection=selection, seed=seed)
    from ...mixture.verdict import Verdict

    verdict = Verdict(**noted["verdict"]) if "verdict" in noted else None
    others = {other.n_components: other for other in getattr(model, "others_", [])}
    told = {"verdict": verdict, "learned": noted["learned"], "others": others}
    return study_table(model, table, selection=selection, seed=seed, **told)


def _place(arguments: Namespace, name: str) -> str:
    """Where the page goes, which must take files: NAME.report.html beside the model, or what --out says."""
    path = arguments.out or os.path.dirname(arguments.model) or "."
    if os.path.isdir(path) or not os.path.splitext(path)[1]:
        path = os.path.join(path, f"{name}.report.html")
    if not path.lower().endswith((".html", ".htm")):
        raise ValueError(f"--out {path} is no HTML file; name one that ends in .html.")
    check_folder(os.path.dirname(path) or ".")
    check_paths(arguments, [path])
    return path
