"""Sentences about groups: what was found, and what not to conclude from it."""

from ..base.classes import FALSE_ALARMS, outlier_threshold
from ..families import StudentT
from ..families.gaussian import Gaussian
from ..words import count, joined, number, probability, share
from .phrases import CRITERIA, left_out_words

__all__ = ["empty_words", "groups_limits", "groups_summary"]

CLOSE = 10.0
"""A difference of BIC below this leaves a choice open."""


def groups_summary(findings):
    """What was found, in sentences."""
    return [
        _how_many(findings), *_sizes(findings), _uncertain(findings), *_outliers(findings), _filled(findings),
    ]  # fmt: skip


def _how_many(findings):
    groups, sizes = findings.groups, {row["n_components"] for row in findings.selection}
    rows = count(findings.n_rows, "row")
    doubt = _doubt(findings) if len(sizes) > 1 else None
    if doubt is not None:
        return doubt
    if len(groups) > 1:
        asked = ", as asked" if len(sizes) == 1 else ""
        return f"{rows} {'fall' if findings.n_rows != 1 else 'falls'} into {count(len(groups), 'group')}{asked}."
    if len(sizes) > 1:
        criterion = CRITERIA[findings.selection[0].get("criterion", "bic")]
        return f"{rows} form a single group: by {criterion}, no division into more describes them better."
    return f"{rows} {'are' if findings.n_rows != 1 else 'is'} described as a single group."


def _doubt(findings):
    """What is said of the number of groups where the evidence for it is weak; None where it is not."""
    rows, chosen = findings.selection, len(findings.groups)
    criterion = rows[0].get("criterion", "bic")
    others = [row for row in rows[1:] if row.get(criterion) is not None and row["n_components"] != chosen]
    if criterion == "cv" or rows[0].get(criterion) is None or not others:
        return None
    name, told = CRITERIA[criterion], count(findings.n_rows, "row")
    alone = next((row for row in others if row["n_components"] == 1), None)
    if alone is not None and chosen > 1 and _better(rows[0], alone, criterion) < CLOSE:
        gap = number(_better(rows[0], alone, criterion), 2)
        return f"{chosen} groups describe {told} slightly better than one ({name} lead {gap}): weak evidence of any groups."
    lead = _better(rows[0], others[0], criterion)
    if lead >= CLOSE:
        return None
    first = f"{told} fall into {chosen} groups" if chosen > 1 else f"{told} form a single group"
    other = count(others[0]["n_components"], "group")
    verb = "describes" if others[0]["n_components"] == 1 else "describe"
    return f"{first}, but {other} {verb} them nearly as well ({name} lead {number(lead, 2)}): weak evidence for the number."


def _sizes(findings):
    groups = findings.groups
    if len(groups) < 2:
        return
    first, last = groups[0], groups[-1]
    yield f"The largest is {_named(first, findings.n_rows)}."
    yield f"The smallest is {_named(last, findings.n_rows)}."


def _named(group, n_rows):
    size = f"{count(group.n_rows, 'row')}, {share(group.n_rows / max(n_rows, 1))}"
    return f"group {group.number} ({size}): {group.words}"


def _uncertain(findings):
    n = findings.n_uncertain
    if len(findings.groups) == 1:
        return "With one group there is nothing to be unsure of."
    if not n:
        return "Every row is at least 90 % sure of its group."
    return f"{count(n, 'row')} {'are' if n > 1 else 'is'} less than 90 % sure of {'their' if n > 1 else 'its'} group."


def _outliers(findings):
    if findings.outlier is None:
        return
    n = findings.n_outliers
    if not n:
        yield "No row is unusual for its group."
    else:
        yield f"{count(n, 'row')} {'are' if n > 1 else 'is'} unusual for {'their' if n > 1 else 'its'} group."


def _filled(findings):
    n = sum(findings.n_filled.values())
    if not n:
        return "No cell was filled in." if findings.n_empty else "No cell is missing."
    filled = sorted(((m, name) for name, m in findings.n_filled.items() if m), key=lambda each: -each[0])
    cells = findings.n_rows * len(findings.used)
    most = f", most of them in {filled[0][1]} ({filled[0][0]:,})" if len(filled) > 1 and filled[0][0] > n / 2 else ""
    only = f", all in {filled[0][1]}" if len(filled) == 1 else ""
    verb = "were" if n > 1 else "was"
    return f"{count(n, 'missing cell')} ({share(n / cells)} of the cells used) {verb} filled in{most}{only}."


def empty_words(n_empty):
    """Sentences about cells that were left empty, by column."""
    return [
        f"{count(n, 'cell')} of {name} {'were' if n > 1 else 'was'} left empty: {'their' if n > 1 else 'its'} group has no "
        f"row, or hardly any, in which {name} is known."
        for name, n in n_empty.items()
    ]


# What not to conclude


def groups_limits(findings, model):
    """What not to conclude, in sentences, the weightiest first."""
    return [
        *_of_the_fit(model), *_of_the_choice(findings), *_of_the_shape(model), *_of_small_groups(findings, model),
        *_of_outliers(findings, model), *_of_missing(findings), *_of_columns(findings),
    ]  # fmt: skip


def _of_the_fit(model):
    if model._model().collapsed(model._params()):
        yield (
            "A group collapsed onto rows that are all but equal, where the likelihood has no maximum; ask for fewer groups "
            "or a simpler covariance."
        )
    if not model.converged_:
        yield f"The fit was stopped after {count(len(model.fit_.trace), 'step')} before it had settled."


def _of_the_choice(findings):
    rows, chosen = findings.selection, len(findings.groups)
    if not rows:
        return
    criterion = rows[0].get("criterion", "bic")
    name, sizes = CRITERIA[criterion], [row["n_components"] for row in rows]
    if len(set(sizes)) > 1 and chosen == max(sizes):
        yield f"{count(chosen, 'group')} is the most that was tried; more may describe the rows better."
    if "n_rows" in rows[0]:
        yield (
            f"The model was chosen on {rows[0]['n_rows']:,} of {findings.n_rows:,} rows, drawn at random, and then fitted to "
            "all; groups of very few rows may have been overlooked."
        )
    if chosen > 1:
        yield from _against_one(rows, criterion, name, chosen)
    yield from _close_call(rows, criterion, name, chosen)


def _better(row, other, criterion):
    """By how much the first of two rows is better."""
    gap = other[criterion] - row[criterion]
    return -gap if criterion == "cv" else gap


def _against_one(rows, criterion, name, chosen):
    alone = next((row for row in rows if row["n_components"] == 1 and row.get(criterion) is not None), None)
    if alone is None or rows[0].get(criterion) is None:
        yield (
            "A mixture finds as many groups as it is asked for, even where the rows form a continuum; a single group was "
            "not compared."
        )
        return
    gap = number(_better(rows[0], alone, criterion), 3)
    yield (
        "Groups are also found where rows form a continuum, as a way to describe its shape; here "
        f"{count(chosen, 'group')} describe the rows better than one by {gap} of {name}."
    )


def _close_call(rows, criterion, name, chosen):
    if criterion == "cv" or rows[0].get(criterion) is None:
        return
    others = [row for row in rows[1:] if row.get(criterion) is not None and row["n_components"] != chosen]
    if others and _better(rows[0], others[0], criterion) < CLOSE:
        gap = number(_better(rows[0], others[0], criterion), 2)
        yield (
            f"{count(others[0]['n_components'], 'group')} would do nearly as well ({name} differs by {gap}): the number of "
            "groups is not settled by these rows."
        )


def _of_the_shape(model):
    parts = [part for part, _ in model.family_.parts]
    if any(isinstance(part, StudentT) for part in parts):
        yield "Measurements are taken to be symmetric with heavy tails inside a group; a skewed group may appear as several."
    elif any(isinstance(part, Gaussian) for part in parts):
        yield (
            "Measurements are taken to be bell-shaped (Gaussian) inside a group: a skewed or bent group may appear as several, "
            "and outliers may pull a group; the option --student is less easily pulled."
        )
    if len(model.family_.parts) > 1 or not any(isinstance(part, Gaussian) for part in parts):
        yield "Categories and counts are taken to be independent of all other columns inside a group."


def _of_small_groups(findings, model):
    few = [group for group in findings.groups if group.n_rows <= len(findings.used)]
    if few and len(findings.groups) > 1:
        names = joined(f"group {group.number} ({count(group.n_rows, 'row')})" for group in few)
        yield f"Little can be said about {names}: hardly more rows than columns."


def _of_outliers(findings, model):
    if findings.outlier is None:
        yield "Unusual rows were not looked for, as no column is a measurement."
        return
    core = " of the core" if any(isinstance(part, StudentT) for part, _ in model.family_.parts) else ""
    threshold = probability(outlier_threshold(findings.n_rows))
    yield (
        f"A row is called unusual where a row{core} of its group would lie farther out with a probability below {threshold} "
        f"({FALSE_ALARMS:g} divided by the number of rows), judged by measurements alone: in one of {1 / FALSE_ALARMS:.0f} "
        "tables that follow the model, a row is called so by chance."
    )


def _of_missing(findings):
    if sum(findings.n_filled.values()):
        yield (
            "Filled cells are right on average if cells are missing by chance, or for reasons that the other columns tell; "
            "not if, say, high values are left out because they are high."
        )


def _of_columns(findings):
    left_out = left_out_words((column for column in findings.columns if column.name not in findings.used), brief=True)
    if left_out:
        yield f"Not used: {'; '.join(left_out[:8])}{' …' if len(left_out) > 8 else ''}."
    yield "How each column is taken was inferred from its cells unless you said so; a code taken for a measurement misleads."
