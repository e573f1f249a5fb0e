"""The top of the page: what was found, in a sentence, in figures and in plain words."""

from ..markup import Markup, amount, cut, percent, plural, tag
from .common import Findings, claim

__all__ = ["header", "summary"]

KINDS = {"groups": "Groups in a table", "fill": "Missing cells filled in", "axes": "Hidden axes behind a table"}


def summary(findings: Findings) -> Markup:
    """The header."""
    return header(KINDS[findings.kind], findings.title, findings.summary or [_answer(findings)], _key_figures(findings))


def header(kind: str, title: str, sentences: list[str], figures: list[tuple[str, str, str | None]]) -> Markup:
    """The top of a page: its kind and title, the verdict, names, values and notes of figures, further sentences."""
    answer, *rest = sentences
    words = tag("ul", [tag("li", claim(words)) for words in rest], class_="words") if rest else None
    told = [
        tag("div", tag("dt", name), tag("dd", value, tag("small", note) if note else None))
        for name, value, note in figures
    ]
    return tag(
        "header",
        tag("p", kind, class_="kind"),
        tag("h1", cut(title, 120)),
        claim(answer, "answer"),
        tag("dl", told, class_="figures"),
        words,
    )


def _answer(findings: Findings) -> str:
    rows = plural(findings.n_rows, "row")
    if findings.kind == "groups":
        return f"{rows} in {plural(len(findings.groups), 'group')}."
    if findings.kind == "fill":
        return f"{plural(sum(findings.n_filled.values()), 'missing cell')} of {rows} filled in."
    n_axes = len(findings.axes.names) if findings.axes is not None else 0
    return f"{rows} on {plural(n_axes, 'axis', 'axes')}."


def _key_figures(findings: Findings) -> list[tuple[str, str, str | None]]:
    """Names, values and notes of the figures at the top."""
    unused = len(findings.columns) - len(findings.used)
    found: list[tuple[str, str, str | None]] = [
        ("Rows", amount(findings.n_rows), None),
        ("Columns used", amount(len(findings.used)), f"of {amount(len(findings.columns))}" if unused else None),
    ]
    if findings.groups:
        found.append(("Groups", amount(len(findings.groups)), None))
    if findings.axes is not None:
        explained = float(sum(findings.axes.explained))
        found.append(("Axes", amount(len(findings.axes.names)), f"explain {percent(explained)}"))
    if findings.n_filled:
        n_filled, cells = sum(findings.n_filled.values()), findings.n_rows * len(findings.used)
        of_all = f"{percent(n_filled / cells, 1)} of all" if n_filled else None
        found.append(("Missing cells" if findings.axes is not None else "Cells filled in", amount(n_filled), of_all))
    if len(findings.groups) > 1:
        share = percent(findings.n_uncertain / findings.n_rows, 1) if findings.n_uncertain else None
        found.append(("Uncertain rows", amount(findings.n_uncertain), share))
    if findings.outlier is not None:
        found.append(("Outliers", amount(findings.n_outliers), None))
    return found
