"""Sentences about groups: what was found, and what not to conclude from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..base.classes import FALSE_ALARMS, outlier_threshold
from ..families import StudentT
from ..families.gaussian import Gaussian
from ..notes import Check, Claim, Note, Option, having
from ..words import count, joined, number, probability, share
from .findings import Findings, Group
from .phrases import CRITERIA, left_out_words

__all__ = ["FILLED", "applied_words", "empty_words", "groups_limits", "groups_summary", "merged_words"]

CLOSE = 10.0
"""A difference of BIC below this leaves a choice open."""


def groups_summary(findings: Findings) -> list[str]:
    """What was found, in sentences, the verdict first; figures are in the check behind each."""
    return [
        *_scored(findings), _how_many(findings), *_unsettled(findings), *_sizes(findings), *_uncertain(findings),
        *_outliers(findings), *_aside(findings), _filled(findings),
    ]  # fmt: skip


def _scored(findings: Findings) -> Iterator[str]:
    """That an earlier model scored other rows than it was learned from."""
    if findings.learned is not None:
        title, n = findings.learned["title"], findings.learned["n_rows"]
        sentence = (
            f"{count(findings.n_rows, 'new row')} {'were' if findings.n_rows != 1 else 'was'} scored by a model that was learned "
            f"from {count(n, 'other row')} ({title}); groups are described as they were there."
        )
        yield Claim.of("scored", sentence, "rows counted", {"n_rows": findings.n_rows}, N_ROWS)


def _by_column(counts: dict[str, int]) -> Iterator[tuple[str, int]]:
    return ((name, n) for name, n in counts.items() if n)


FILLED = "cells[cells['value'].notna()]['column'].value_counts().to_dict()"
N_ROWS = "{'n_rows': len(rows)}"
SIZES = "{f'group {g}': int(n) for g, n in rows['group'].value_counts().items()}"
UNSURE = "{'unsure': int((rows.filter(regex='^probability_').max(axis=1) < 0.9).sum())}"
UNUSUAL = "{'unusual': int((rows['outlier'] == 'yes').sum())}"


@dataclass(frozen=True)
class _Evidence:
    """By how much the chosen number of groups is better than one, and than the best other number; None if not compared."""

    criterion: str
    over_one: float | None
    other: int | None
    lead: float

    @classmethod
    def of(cls, findings: Findings) -> _Evidence:
        rows, chosen = findings.selection, len(findings.groups)
        key = rows[0].get("criterion", "bic")
        sign, best = 1.0 if key == "cv" else -1.0, rows[0].get(key)
        known = [row for row in rows if row.get(key) is not None] if best is not None else []
        leads = [(row["n_components"], sign * (best - row[key])) for row in known]
        over_one = next((lead for size, lead in leads if size == 1), None)
        others = [each for each in leads[1:] if each[0] != chosen and key != "cv"]
        return cls(CRITERIA[key], over_one, *(others[0] if others else (None, 0.0)))


def _how_many(findings: Findings) -> str:
    verdict = getattr(findings, "verdict", None)
    if verdict is not None and findings.learned is None:
        criterion = CRITERIA[findings.selection[0].get("criterion", "bic")] if findings.selection else "BIC"
        note = verdict.note(findings.n_rows, criterion)
        told = {name: value for name, value in verdict.told().items() if name not in ("gaps", "budget")}
        basis = f"{count(verdict.n_resamples, 'refit')} to bootstrap samples of {count(verdict.n_rows, 'row')}"
        check = Check(basis if verdict.n_resamples else "models compared by their criterion", told)
        return Claim("verdict", note.text, check=check, **note.values)
    figures = {"n_rows": findings.n_rows, "n_groups": len(findings.groups)}
    line = "{'n_rows': len(rows), 'n_groups': rows.filter(regex=r'^probability_\\d+$').shape[1]}"
    return Claim.of("n_groups", _number(findings), "groups of the model, and rows counted", figures, line)


def _number(findings: Findings) -> str:
    groups, sizes = findings.groups, {row["n_components"] for row in findings.selection}
    rows = count(findings.n_rows, "row")
    if findings.learned is not None:
        return _told_apart(findings, rows)
    doubt = _doubt(findings) if len(sizes) > 1 else None
    if doubt is not None:
        return doubt
    if len(groups) > 1:
        asked = ", as asked" if len(sizes) == 1 else ""
        return f"{rows} {'fall' if findings.n_rows != 1 else 'falls'} into {count(len(groups), 'group')}{asked}."
    if len(sizes) > 1:
        criterion = _Evidence.of(findings).criterion
        return f"{rows} form a single group: by {criterion}, no division into more describes them better."
    return f"{rows} {'are' if findings.n_rows != 1 else 'is'} described as a single group."


def _told_apart(findings: Findings, rows: str) -> str:
    """The groups that new rows fall into: how many groups there are was chosen by other rows."""
    k, used = len(findings.groups), sum(group.n_rows > 0 for group in findings.groups)
    if k == 1:
        return f"{rows} {'are' if findings.n_rows != 1 else 'is'} in the only group of the model."
    which = f"{used} of the {k} groups" if used < k else count(k, "group")
    return f"{rows} {'fall' if findings.n_rows != 1 else 'falls'} into {which}."


def _unsettled(findings: Findings) -> Iterator[str]:
    """That another number of groups would do nearly as well, beside a verdict."""
    if (
        findings.verdict is None
        or findings.learned is not None
        or len({row["n_components"] for row in findings.selection}) < 2
    ):
        return
    found = _Evidence.of(findings)
    if found.other is None or found.lead >= CLOSE:
        return
    other = f"{count(found.other, 'group')} {'describes' if found.other == 1 else 'describe'}"
    sentence = f"{other} the rows nearly as well ({found.criterion} lead {number(found.lead, 2)}): weak evidence for the number."
    yield Claim.of("unsettled", sentence, COMPARED, {"other": found.other, "lead": found.lead})


def _doubt(findings: Findings) -> str | None:
    """What is said of the number of groups where the evidence for it is weak; None where it is not."""
    found, chosen = _Evidence.of(findings), len(findings.groups)
    if found.other is None:
        return None
    name, told = found.criterion, count(findings.n_rows, "row")
    if chosen > 1 and found.over_one is not None and found.over_one < CLOSE:
        gap = number(found.over_one, 2)
        return f"{chosen} groups describe {told} slightly better than one ({name} lead {gap}): weak evidence of any groups."
    if found.lead >= CLOSE:
        return None
    first = f"{told} fall into {chosen} groups" if chosen > 1 else f"{told} form a single group"
    other = f"{count(found.other, 'group')} {'describes' if found.other == 1 else 'describe'}"
    return (
        f"{first}, but {other} them nearly as well ({name} lead {number(found.lead, 2)}): weak evidence for the number."
    )


def _sizes(findings: Findings) -> Iterator[str]:
    groups = [group for group in findings.groups if group.n_rows]
    if len(findings.groups) < 2:
        return
    basis, figures = _counted(findings), {f"group {group.number}": group.n_rows for group in groups}
    new = " of the new rows" if findings.learned is not None else ""
    sizes = [group.n_rows for group in groups]
    for word, size in (("largest", max(sizes)), ("smallest", min(sizes))):
        which = [group for group in groups if group.n_rows == size]
        if len(which) == 1:
            yield Claim.of(word, f"The {word}{new} is {_named(which[0], findings.n_rows)}.", basis, figures, SIZES)
        elif word == "largest" or size < max(sizes):
            names = joined(str(group.number) for group in which)
            sentence = f"The {word}{new} are groups {names} ({count(size, 'row')} each)."
            yield Claim.of(word, sentence, basis, figures, SIZES)
    empty = [group for group in findings.groups if not group.n_rows]
    if empty:
        names = joined((f"group {group.number}" for group in empty), "or")
        of = "new row" if findings.learned is not None else "row"
        yield Claim.of("empty", f"No {of} is likeliest in {names}.", basis, figures, SIZES)


def _counted(findings: Findings) -> str:
    return f"counted in all {count(findings.n_rows, 'row')}"


def _named(group: Group, n_rows: int) -> str:
    size = f"{count(group.n_rows, 'row')}, {share(group.n_rows / max(n_rows, 1))}"
    return f"group {group.number} ({size}): {group.words}"


def _of_rows(n: int, what: str) -> str:
    """A sentence about some rows and the groups they are in."""
    verb, whose = ("are", "their") if n > 1 else ("is", "its")
    return f"{count(n, 'row')} {verb} {what} {whose} group."


def _uncertain(findings: Findings) -> Iterator[str]:
    n, verdict = findings.n_uncertain, findings.verdict
    if len(findings.groups) == 1:
        if verdict is None or verdict.kind != "untried":
            yield "With one group there is nothing to be unsure of."
        return
    sentence = _of_rows(n, "less than 90 % sure of") if n else "Every row is at least 90 % sure of its group."
    yield Claim.of("unsure", sentence, _counted(findings), {"unsure": n}, UNSURE)


def _outliers(findings: Findings) -> Iterator[str]:
    if findings.outlier is not None:
        n = findings.n_outliers
        sentence = _of_rows(n, "unusual for") if n else "No row is unusual for its group."
        yield Claim.of("unusual", sentence, _counted(findings), {"unusual": n}, UNUSUAL)


def _aside(findings: Findings) -> Iterator[str]:
    """That rows with gross errors were not learned from."""
    cells = findings.aside
    if cells:
        n = len({cell["row"] for cell in cells})
        told = joined(f"{cell['column']} {number(cell['value'])} in row {cell['row']:,}" for cell in cells[:3])
        more = f" and {count(len(cells) - 3, 'more cell')}" if len(cells) > 3 else ""
        rows = f"{count(n, 'row')} {'were' if n > 1 else 'was'}"
        sentence = f"{rows} not learned from, for a number far beyond all others: {told}{more}."
        beyond = " | ".join(f"({having(cell['column'], [cell['value']])})" for cell in cells)
        yield Claim.of("aside", sentence, _counted(findings), {"aside": n}, f"{{'aside': int(({beyond}).sum())}}")


def _filled(findings: Findings) -> str:
    n = sum(findings.n_filled.values())
    if not n:
        if findings.n_empty:
            return "No cell was filled in."
        elsewhere = any(column.n_missing for column in findings.columns)
        return "No cell of the columns used is missing." if elsewhere else "No cell is missing."
    filled = sorted(((m, name) for name, m in findings.n_filled.items() if m), key=lambda each: -each[0])
    cells = findings.n_rows * len(findings.used)
    most = f", most of them in {filled[0][1]} ({filled[0][0]:,})" if len(filled) > 1 and filled[0][0] > n / 2 else ""
    only = f", {'all ' if n > 1 else ''}in {filled[0][1]}" if len(filled) == 1 else ""
    verb = "were" if n > 1 else "was"
    sentence = f"{count(n, 'missing cell')} ({share(n / cells)} of the cells used) {verb} filled in{most}{only}."
    return Claim.of(
        "filled", sentence, f"counted in all {cells:,} cells used", dict(_by_column(findings.n_filled)), FILLED
    )


def merged_words(merge: Sequence[Iterable[int]], n_groups: int) -> str:
    """That groups were merged as asked."""
    told = [f"groups {joined(sorted(set(each)))}" for each in merge]
    return f"Merged as asked: {'; '.join(told)} of the {n_groups} that the model has."


def empty_words(why_empty: dict[str, dict[str, int]]) -> list[str]:
    """Sentences about cells that were left empty, by reason and column."""
    told: list[str] = []
    for reason, columns in why_empty.items():
        shared = {
            "unsure": "no level is probable enough there",
            "not applicable": "they are taken as not applicable there",
        }
        if len(columns) > 2 and reason in shared:
            (first, n), *rest = columns.items()
            cells = joined([f"{count(n, 'cell')} of {first}", *(f"{n:,} of {name}" for name, n in rest)])
            sentence = f"{cells} were left empty: {shared[reason]}."
            told.append(Claim.of("left_empty", sentence, "counted in all missing cells of these columns", columns))
            continue
        for name, n in columns.items():
            words = {
                "unknown": f"{'their' if n > 1 else 'its'} group has no row, or hardly any, in which {name} is known",
                "unsure": "no level is probable enough there",
                "not applicable": f"{name} is taken as not applicable there",
            }
            sentence = f"{count(n, 'cell')} of {name} {'were' if n > 1 else 'was'} left empty: {words[reason]}."
            # Lines of cells do not say why one has no value.
            alone = sum(name in each for each in why_empty.values()) == 1
            line = f"{{'empty': int((cells['value'].isna() & (cells['column'] == {name!r})).sum())}}" if alone else ""
            told.append(Claim.of("left_empty", sentence, f"counted in all missing cells of {name}", {"empty": n}, line))
    return told


def applied_words(results: Any, filled: bool) -> list[str]:
    """What a model says of the rows that it was applied to: sizes of groups, unsure and unusual rows, missing cells."""
    n, basis = results.n_rows, f"counted in all {count(results.n_rows, 'row')}"
    sizes = {f"group {k}": int(m) for k, m in enumerate(results.counts, 1) if m}
    told: list[str] = [
        Claim.of(
            "sizes",
            f"{count(n, 'row')}: {joined(f'{m:,} in {name}' for name, m in sizes.items())}.",
            basis,
            sizes,
            SIZES,
        )
    ]
    sentence, figures, line = (
        f"{count(results.n_uncertain, 'row')} under 90 % sure",
        {"unsure": results.n_uncertain},
        UNSURE,
    )
    if results.scorer.measured:
        sentence += f", {count(results.n_outliers, 'row')} unusual"
        figures, line = figures | {"unusual": results.n_outliers}, f"{UNSURE[:-1]}, {UNUSUAL[1:]}"
    told.append(Claim.of("unsure", f"{sentence}.", basis, figures, line))
    m, text = results.n_filled, "{cells} " + ("filled in." if filled else "({option} fills them in).")
    line = "{'filled': int(cells['value'].notna().sum())}" if filled and m else ""
    check = Check("counted in all missing cells of the table's own columns", {"filled": m}, line)
    told.append(Claim("filled", text, check=check, cells=count(m, "missing cell"), option=Option("fill")))
    return told + (empty_words(results.why_empty) if filled else [])


# What not to conclude


def groups_limits(findings: Findings, model: Any) -> list[str]:
    """What not to conclude, in sentences, the weightiest first."""
    return [
        *_of_the_fit(model), *_of_the_choice(findings), *_of_the_shape(model), *_of_small_groups(findings),
        *_of_outliers(findings, model), *_of_loose_groups(findings), *_of_missing(findings), *_of_columns(findings),
    ]  # fmt: skip


def _of_the_fit(model: Any) -> Iterator[str]:
    if model._model().collapsed(model._params()):
        yield (
            "A group collapsed: it has too few distinct rows for its columns, so that the likelihood has no maximum; ask for "
            "fewer groups or a simpler covariance."
        )
    if not model.converged_:
        n = len(model.fit_.trace)
        sentence = f"The fit was stopped after {count(n, 'step')} before it had settled."
        yield Claim.of("stopped", sentence, "steps of the fit", {"steps": n})


COMPARED = "models fitted to the rows and compared"


def _of_the_choice(findings: Findings) -> Iterator[str]:
    rows, chosen = findings.selection, len(findings.groups)
    if not rows:
        return
    sizes, found = {row["n_components"] for row in rows}, _Evidence.of(findings)
    if len(sizes) > 1 and chosen == max(sizes):
        sentence = f"{count(chosen, 'group')} is the most that was tried; more may describe the rows better."
        yield Claim.of("most_tried", sentence, COMPARED, {"n_groups": chosen, "most_tried": max(sizes)})
    if "n_rows" in rows[0]:
        sentence = (
            f"The model was chosen on {rows[0]['n_rows']:,} of {findings.n_rows:,} rows, drawn at random, and then fitted to "
            "all; groups of very few rows may have been overlooked."
        )
        yield Claim.of("sampled", sentence, COMPARED, {"chosen_on": rows[0]["n_rows"], "n_rows": findings.n_rows})
    if chosen > 1 and found.over_one is None:
        yield (
            "A mixture finds as many groups as it is asked for, even where the rows form a continuum; a single group was "
            "not compared."
        )
    elif chosen > 1:
        sentence = (
            "Groups are also found where rows form a continuum, as a way to describe its shape; here "
            f"{count(chosen, 'group')} describe the rows better than one by {number(found.over_one, 3)} of {found.criterion}."
        )
        yield Claim.of("over_one", sentence, COMPARED, {"n_groups": chosen, "lead": found.over_one})
    if found.other is not None and found.lead < CLOSE:
        sentence = (
            f"{count(found.other, 'group')} would do nearly as well ({found.criterion} differs by {number(found.lead, 2)}): the "
            "number of groups is not settled by these rows."
        )
        yield Claim.of("not_settled", sentence, COMPARED, {"other": found.other, "lead": found.lead})


def _of_the_shape(model: Any) -> Iterator[str]:
    parts = [part for part, _ in model.family_.parts]
    if any(isinstance(part, StudentT) for part in parts):
        yield "Measurements are taken to be symmetric with heavy tails inside a group; a skewed group may appear as several."
    elif any(isinstance(part, Gaussian) for part in parts):
        text = (
            "Measurements are taken to be bell-shaped (Gaussian) inside a group: a skewed or bent group may appear as several, "
            "and outliers may pull a group; heavier tails ({option}) are less easily pulled."
        )
        yield Note("gaussian", text, option=Option("student"))
    if len(model.family_.parts) > 1 or not any(isinstance(part, Gaussian) for part in parts):
        yield "Categories and counts are taken to be independent of all other columns inside a group."


def _of_small_groups(findings: Findings) -> Iterator[str]:
    few = [group for group in findings.groups if group.n_rows <= len(findings.used)]
    if few and len(findings.groups) > 1 and findings.learned is None:
        names = joined(f"group {group.number} ({count(group.n_rows, 'row')})" for group in few)
        sentence = f"Little can be said about {names}: no more rows than columns."
        figures = {f"group {group.number}": group.n_rows for group in findings.groups if group.n_rows}
        yield Claim.of("few_rows", sentence, _counted(findings), figures, SIZES)


def _of_outliers(findings: Findings, model: Any) -> Iterator[str]:
    if findings.outlier is None:
        yield "Unusual rows were not looked for, as no column is a measurement."
        return
    core = " of the core" if any(isinstance(part, StudentT) for part, _ in model.family_.parts) else ""
    most = max(findings.n_rows, (findings.learned or {}).get("n_rows", 0))
    threshold, rows = outlier_threshold(most), "the number of rows"
    rows = rows if most == findings.n_rows else f"the {count(most, 'row')} learned from"
    sentence = (
        f"A row is called unusual where a row{core} of its group would lie farther out with a probability below "
        f"{probability(threshold)} ({FALSE_ALARMS:g} divided by {rows}), judged by measurements alone: in one of "
        f"{1 / FALSE_ALARMS:.0f} tables that follow the model, a row is called so by chance."
    )
    line = f"{{'threshold': {FALSE_ALARMS:g} / {'len(rows)' if most == findings.n_rows else most}}}"
    yield Claim.of("threshold", sentence, "the rule by which rows are called unusual", {"threshold": threshold}, line)


def _of_loose_groups(findings: Findings) -> Iterator[str]:
    """That groups are wider than the model says, so that none of their rows is called unusual."""
    if findings.loose:
        one, names = len(findings.loose) == 1, joined(findings.loose)
        sentence = (
            f"{'Group' if one else 'Groups'} {names} {'spreads' if one else 'spread'} wider than the model can say: most of "
            f"{'its' if one else 'their'} rows lie far out, so that none of them is called unusual."
        )
        figures = {f"group {group.number}": group.n_rows for group in findings.groups if group.number in findings.loose}
        line = f"{{f'group {{k}}': int((rows['group'] == k).sum()) for k in {list(findings.loose)}}}"
        yield Claim.of("loose", sentence, _counted(findings), figures, line)


def _of_missing(findings: Findings) -> Iterator[str]:
    if sum(findings.n_filled.values()):
        yield (
            "Filled cells are right on average if cells are missing by chance, or for reasons that the other columns tell; "
            "not if, say, high values are left out because they are high."
        )


def _of_columns(findings: Findings) -> Iterator[str]:
    left_out = left_out_words((column for column in findings.columns if column.name not in findings.used), brief=True)
    if left_out:
        yield f"Not used: {'; '.join(left_out[:8])}{' …' if len(left_out) > 8 else ''}."
    yield "How each column is taken was inferred from its cells unless you said so; a code taken for a measurement misleads."
