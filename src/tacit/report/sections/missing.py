"""Where cells are missing: by column, by row, and which go missing together."""

from collections import Counter

import numpy as np

from ...survey.column import ColumnInfo
from ..charts.figure import missing_strip, strip
from ..markup import Markup, amount, breakable, cut, join, note, percent, plural, table, tag
from .common import Findings, Section, missing_share, of_sample, used_columns

__all__ = ["missing_values"]

MOST_COLUMNS = 40
MOST_PATTERNS = 8


def missing_values(findings: Findings) -> Section | None:
    """The missingness map."""
    missing = np.isnan(findings.sample.encoded)
    columns = used_columns(findings)
    incomplete = [j for j, column in enumerate(columns) if column.n_missing or missing[:, j].any()]
    if not incomplete:
        return None
    incomplete.sort(key=lambda j: -missing_share(columns[j]))
    shown, order = incomplete[:MOST_COLUMNS], _by_pattern(missing[:, incomplete])
    rows = [
        [
            breakable(cut(columns[j].name, 40)), missing_strip(missing[order, j], columns[j].name),
            strip(missing_share(columns[j])), amount(columns[j].n_missing), percent(missing_share(columns[j]), 1),
        ]
        for j in shown
    ]  # fmt: skip
    header = ["Column", f"{plural(len(order), 'row')} with missing values", "", "Missing", "Share"]
    made = table(header, rows, numeric=(3, 4), caption="Missing cells by column and row", class_="missing")
    complete, notes = len(columns) - len(incomplete), []
    if complete:
        notes.append(
            f"{plural(complete, 'column')} of the model {'has' if complete == 1 else 'have'} no missing values."
        )
    if len(incomplete) > MOST_COLUMNS:
        notes.append(f"The {MOST_COLUMNS} columns with most missing values of {len(incomplete)} are shown.")
    n_empty = int((missing & ~np.isfinite(findings.sample.filled)).sum())
    if n_empty:
        notes.append(
            f"{plural(n_empty, 'missing cell')} of the rows shown {'was' if n_empty == 1 else 'were'} left empty: not "
            f"applicable, or nothing "
            "in the table tells surely enough what would stand there."
        )
    body = join([_reasons(findings), made, note(" ".join(notes)), _patterns(missing, columns)])
    lead = (
        "Rows with missing values run from left to right, those that miss the same cells side by side, with a mark for "
        "every missing cell. Columns that are dark in the same places go missing together; numbers of missing cells are those "
        f"of the whole table.{of_sample(findings)}"
    )
    return Section("missing", "Where cells are missing", "Missing cells", body, lead)


KINDS = {
    "not applicable": "Not applicable, not filled", "dropout": "Begins or ends", "detection limit": "Detection limit",
    "marked": "Perhaps marked", "related": "Related to other columns", "unrelated": "No relation found", "few": "Too few to say",
}  # fmt: skip


def _reasons(findings: Findings) -> Markup | None:
    """Why cells are missing, as far as the table tells."""
    found = sorted(findings.missingness, key=lambda each: list(KINDS).index(each.kind))
    if not found:
        return None
    told = [each for each in found if each.kind not in ("unrelated", "few")]
    rows = [[cut(each.column, 40), KINDS[each.kind], each.text] for each in told[:MOST_COLUMNS]]
    rest = [each for each in found if each not in told]
    words = "Relations are told where they hold up against the number of comparisons made."
    for kind in ("unrelated", "few"):
        names = [cut(each.column, 40) for each in rest if each.kind == kind]
        more = f" and {len(names) - 12} more" if len(names) > 12 else ""
        words += f" {KINDS[kind]}: {', '.join(names[:12])}{more}." if names else ""
    made = table(["Column", "Kind", "What was found"], rows, caption="Why cells are missing") if rows else None
    return join([tag("h3", "Why they are missing"), made, note(words)])


def _by_pattern(missing: np.ndarray) -> np.ndarray:
    """Rows with missing values, those with the same pattern together, the most frequent pattern first."""
    keys = [bytes(key) for key in np.packbits(missing, axis=1)]
    counted = Counter(keys)
    ranked = sorted(np.flatnonzero(missing.any(axis=1)), key=lambda i: (-counted[keys[i]], keys[i], i))
    return np.array(ranked, dtype=int)


def _patterns(missing: np.ndarray, columns: list[ColumnInfo]) -> Markup:
    """The most frequent combinations of missing cells."""
    counted = Counter(tuple(np.flatnonzero(row).tolist()) for row in missing)
    complete = counted.pop((), 0)
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:MOST_PATTERNS]
    rows = [["No cell", amount(complete), percent(complete / len(missing), 1)]] if complete else []
    for pattern, count in ranked:
        names = ", ".join(cut(columns[j].name, 30) for j in pattern[:6])
        more = f" and {len(pattern) - 6} more" if len(pattern) > 6 else ""
        rows.append([names + more, amount(count), percent(count / len(missing), 1)])
    of_all = f" of {len(counted) + bool(complete)}" if len(counted) > MOST_PATTERNS else ""
    caption = f"The most frequent patterns{of_all}"
    made = table(["Missing together", "Rows", "Share"], rows, numeric=(1, 2), caption=caption)
    return join([tag("h3", caption), made])
