"""`render_dependencies`: a belief network of a table as one page: the network that a reader asks, its edges, its columns."""

from __future__ import annotations

from ..study.network import Dependency, NetworkFindings, Variable
from .charts.figure import strip
from .markup import amount, cut, join, note, number, percent, plural, table
from .network_explorer import explorer_section
from .page import MADE, page_of
from .sections.card import card
from .sections.common import Section
from .sections.summary import header

__all__ = ["render_dependencies"]

FOOT = f"{MADE} This page holds counts of levels but no rows of the table."
MOST_LEVELS = 12


def render_dependencies(found: NetworkFindings) -> str:
    """The whole page as HTML; the same findings give the same text.

    Parameters
    ----------
    found : NetworkFindings
        As `tacit.study.network.study_network` makes them.
    """
    made = (
        explorer_section(found.model, title="Ask the network"), _edges(found), _columns(found),
        card(found),  # type: ignore[arg-type]
    )  # fmt: skip
    sections = [section for section in made if section is not None]
    top = header("Dependencies in a table", found.title, found.summary, _figures(found))
    return page_of(found.title, top, sections, "network", FOOT)


def _figures(found: NetworkFindings) -> list[tuple[str, str, str | None]]:
    told: list[tuple[str, str, str | None]] = [
        ("Rows", amount(found.n_rows), None), ("Columns", amount(len(found.variables)), None),
        ("Edges", amount(len(found.dependencies)), None),
    ]  # fmt: skip
    if found.guessed is not None:
        usual = f"{percent(found.guessed.usual)} by the most frequent level"
        told.append(("Cells guessed right", percent(found.guessed.right), usual))
    if found.n_missing:
        told.append(("Missing cells", amount(found.n_missing), None))
    return told


def _edges(found: NetworkFindings) -> Section | None:
    if not found.dependencies:
        return None
    checked = found.n_resamples > 0
    heads = ["From", "To", "Bits", "", *(["Found again"] if checked else []), "What goes with what"]
    most = max(max(each.information for each in found.dependencies), 1e-12)
    rows = [_edge(each, most, checked) for each in found.dependencies]
    body = table(
        heads, rows, numeric={2, 4} if checked else {2}, caption="Edges, the strongest first", class_="edges-table"
    )
    lead = "Bits are what one of the two columns tells of the other by itself, less what chance would give."
    if checked:
        lead += f" Found again is the share of {plural(found.n_resamples, 'resample')} of the rows in which the two were joined."
    return Section("dependencies", "What depends on what", "Dependencies", body, lead)


def _edge(each: Dependency, most: float, checked: bool) -> list:
    again = [percent(each.found or 0.0)] if checked else []
    bar = strip(each.information / most)
    return [cut(each.parent, 40), cut(each.child, 40), number(each.information, 2), bar, *again, cut(each.words, 300)]


def _columns(found: NetworkFindings) -> Section:
    checked = found.guessed is not None
    heads = [
        "Column",
        "Taken as",
        "Levels and their rows",
        "Missing",
        *(["Guessed right", "Most frequent"] if checked else []),
    ]
    rows = [_column(each, checked) for each in found.variables]
    body = table(heads, rows, numeric={3, 4, 5}, caption="Columns of the network")
    lead = "Numbers are cut into levels, each with about as many rows, unless they are few different ones."
    if checked:
        lead += " Cells of rows that were left out were guessed from the other cells of their rows; beside it, how often the " \
            "most frequent level is right."  # fmt: skip
    left = [column.name for column in found.columns if not column.used]
    told = note(f"Left out: {cut(', '.join(left), 300)}.") if left else None
    return Section("columns", "The columns", "Columns", join([body, told]), lead)


def _column(each: Variable, checked: bool) -> list:
    some = [f"{cut(level, 30)} ({amount(n)})" for level, n in zip(each.levels, each.counts)][:MOST_LEVELS]
    more = [f"and {len(each.levels) - MOST_LEVELS} more"] if len(each.levels) > MOST_LEVELS else []
    shares = ["–" if value is None else percent(value) for value in (each.right, each.usual)] if checked else []
    return [cut(each.name, 40), each.role, ", ".join([*some, *more]), amount(each.n_missing), *shares]
