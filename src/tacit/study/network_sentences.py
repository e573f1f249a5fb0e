"""What is said of a belief network, in words: the summary, the limits and the card of `NetworkFindings`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import __version__
from ..notes import Claim, having, missing
from ..schema import Column, level_text
from ..words import count, joined, number, share

if TYPE_CHECKING:
    from ..graph.choice import NetworkChoice
    from .network import Contrast, Dependency, NetworkFindings

__all__ = ["card", "contrast", "limits", "summary"]

TOLD, SURE, DOUBTFUL, FEW = 5, 0.9, 0.5, 100
METHODS = {
    "hill-climbing": "hill climbing by BIC",
    "chow-liu": "the tree of most mutual information",
    "pc": "tests of independence (PC)",
}


def contrast(found: Contrast, columns: tuple[Column, ...]) -> str:
    """How often a level occurs in the rows of two others: "sex is male in 92 % of the rows in which …"."""
    column, given = columns[found.column], columns[found.given]
    level, high, low = (
        level_text(own.levels[k]) for own, k in ((column, found.level), (given, found.high), (given, found.low))
    )
    return (
        f"{column.name} is {level} in {share(found.share_high)} of the rows in which {given.name} is {high}, and in "
        f"{share(found.share_low)} of those in which it is {low}"
    )


# The summary


def summary(found: NetworkFindings, choice: NetworkChoice) -> list[str]:
    """The first sentences: how many edges, how well they predict, the strongest dependencies, what stands alone."""
    told = [_verdict(found), _guessed(found), *(_dependency(each, choice) for each in found.dependencies[:TOLD])]
    told += [_alone(found), _sure(found), _missing(found)]
    if choice.reached == "budget" and choice.budget is not None:
        sentence = f"Checks were ended at the budget of {number(choice.budget)} s."
        told.append(
            Claim.of("budget", sentence, "resamples made", {"budget": choice.budget, "resamples": found.n_resamples})
        )
    return [each for each in told if each]


def _verdict(found: NetworkFindings) -> Claim:
    d, n = len(found.variables), len(found.dependencies)
    pairs, rows = d * (d - 1) // 2, f"{count(found.n_rows, 'row')} of {count(d, 'column')}"
    if not n:
        sentence = f"{rows}: no two columns are found to depend on each other."
    elif pairs == 1:
        sentence = f"{rows}, which are found to depend on each other."
    else:
        sentence = f"{rows}: {n:,} of {pairs:,} pairs of columns are found to depend on each other directly."
    pandas = "{'edges': len(edges), 'columns': int(levels['column'].nunique()), 'rows': len(table)}"
    return Claim.of(
        "verdict",
        sentence,
        "edges of the network, found in all rows",
        {"edges": n, "columns": d, "rows": found.n_rows},
        pandas,
    )


def _guessed(found: NetworkFindings) -> Claim | str:
    told = found.guessed
    if told is None or not found.dependencies:
        return ""
    sentence = (
        f"Of {count(told.n_cells, 'cell')} in {count(told.n_rows, 'row')} left out, {share(told.right)} were guessed right "
        f"from the other cells of their rows; the most frequent level of each column is right in {share(told.usual)}."
    )
    basis = "a network that was learned without these rows; a number counts as right where its level is"
    figures = {"right": told.right, "usual": told.usual, "cells": told.n_cells, "rows": told.n_rows, "bits": told.gain}
    return Claim.of("guessed", sentence, basis, figures)


def _dependency(each: Dependency, choice: NetworkChoice) -> Claim | str:
    told = each.contrast
    if told is None:
        return ""
    figures = {"here": told.share_high, "there": told.share_low}
    return Claim.of("dependency", f"{each.words}.", "rows that know both columns", figures, _counted(told, choice))


def _counted(told: Contrast, choice: NetworkChoice) -> str:
    """Pandas for the two shares; empty where the table's own text does not tell the levels."""
    columns = choice.model.schema_.columns
    infos = {column.name: column for column in choice.table.columns}
    pair = [(columns[j], infos[columns[j].name]) for j in (told.column, told.given)]
    odd = any(info.reading != ("number" if column.cuts else "text") for column, info in pair)
    if odd or choice.table.reader.missing.asked:
        return ""
    level = _holds(columns[told.column], told.level)
    parts = []
    for name, k in (("here", told.high), ("there", told.low)):
        rows = f"{_holds(columns[told.given], k)} & {_known(columns[told.column])}"
        parts.append(f"'{name}': float(({level})[{rows}].mean())")
    return f"{{{', '.join(parts)}}}"


def _numbers(column: Column) -> str:
    return f"pd.to_numeric(table[{column.name!r}], errors='coerce')"


def _holds(column: Column, k: int) -> str:
    """Pandas for the rows of a level."""
    if not column.cuts:
        return having(str(column.name), [column.levels[k]])
    parts = [f"({_numbers(column)} >= {column.cuts[k - 1]!r})"] if k else []
    parts += [f"({_numbers(column)} < {column.cuts[k]!r})"] if k < len(column.cuts) else []
    return " & ".join(parts)


def _known(column: Column) -> str:
    return f"{_numbers(column)}.notna()" if column.cuts else f"~{missing(str(column.name))}"


def _alone(found: NetworkFindings) -> Claim | str:
    if not found.alone or not found.dependencies:
        return ""
    n = len(found.alone)
    listed = joined(found.alone[:8]) if n <= 8 else f"{', '.join(found.alone[:8])} and {n - 8} more"
    sentence = f"{listed} {'is' if n == 1 else 'are'} not found to depend on any other column."
    return Claim.of("alone", sentence, "columns without an edge", {"alone": n},
                    "{'alone': len(set(levels['column']) - set(edges['from']) - set(edges['to']))}")  # fmt: skip


def _sure(found: NetworkFindings) -> Claim | str:
    n = len(found.dependencies)
    if not n or not found.n_resamples:
        return ""
    sure = sum(each.found is not None and each.found >= SURE for each in found.dependencies)
    if n == 1:
        which = f"The edge was{'' if sure else ' not'}"
    else:
        some = "None" if not sure else f"{sure:,}"
        every = "Both" if n == 2 else f"All {n:,}"
        which = f"{every} edges were" if sure == n else f"{some} of the {n:,} edges {'was' if sure < 2 else 'were'}"
    sentence = f"{which} found again in at least {share(SURE)} of {count(found.n_resamples, 'resample')} of the rows."
    pandas = f"{{'sure': int((edges['found'] >= {SURE}).sum()), 'edges': len(edges)}}"
    return Claim.of(
        "sure", sentence, "rows drawn with replacement, and a search in each", {"sure": sure, "edges": n}, pandas
    )


def _missing(found: NetworkFindings) -> Claim | str:
    n = found.n_missing
    if not n:
        return ""
    sentence = f"{count(n, 'missing cell')} {'was' if n == 1 else 'were'} averaged over when the probabilities were learned (EM)."
    return Claim.of("missing", sentence, "cells of the columns used", {"missing": n},
                    "{'missing': int(levels.groupby('column')['missing'].first().sum())}")  # fmt: skip


# The limits


def limits(found: NetworkFindings, choice: NetworkChoice) -> list[str]:
    """What a reader must bear in mind."""
    told: list[str] = []
    n = len(found.dependencies)
    either = sum(not each.directed for each in found.dependencies)
    if n:
        told.append("An arrow says how probabilities are written down, not what causes what.")
    if either:
        which = (
            f"{'Both' if n == 2 else f'All {n:,}'} edges could"
            if either == n
            else f"{either:,} of the {n:,} edges could"
        )
        which = which if n > 1 else "The edge could"
        sentence = f"{which} have the other direction in a network that says the same."
        pandas = "{'either': int((edges['directed'] == 'no').sum()), 'edges': len(edges)}"
        told.append(
            Claim.of(
                "either",
                sentence,
                "the networks that the rows cannot tell apart",
                {"either": either, "edges": n},
                pandas,
            )
        )
    doubtful = [each for each in found.dependencies if each.found is not None and each.found < DOUBTFUL]
    if doubtful:
        pairs = [f"{each.parent} – {each.child}" for each in doubtful]
        listed = joined(pairs) if len(pairs) <= 5 else f"{', '.join(pairs[:4])} and {len(pairs) - 4} more"
        sentence = f"Found in less than half of the resamples: {listed}."
        pandas = f"{{'doubtful': int((edges['found'] < {DOUBTFUL}).sum())}}"
        told.append(Claim.of("doubtful", sentence, "rows drawn with replacement", {"doubtful": len(doubtful)}, pandas))
    if any(column.cuts for column in choice.model.schema_.columns):
        told.append("Numbers are cut into levels: what differs within a level is not in the network.")
    if found.n_rows < FEW:
        sentence = f"{count(found.n_rows, 'row')} are few: weak dependencies are not found."
        told.append(Claim.of("few", sentence, "all rows", {"rows": found.n_rows}, "{'rows': len(table)}"))
    if found.n_missing:
        told.append("Cells are taken to be missing for no reason beyond what the other columns tell.")
    return told


def card(choice: NetworkChoice) -> dict[str, str]:
    """What the model is."""
    model, table = choice.model, choice.table
    used = [column.name for column in table.used]
    nodes = model.nodes_
    free = sum(int(size // card) * int(card - 1) for size, card in zip(nodes.sizes, nodes.cards))
    told: dict[str, Any] = {
        "Data": f"{table.reader.place}: {table.n_rows:,} rows",
        "Columns": f"{joined(used[:12])}{f' and {len(used) - 12} more' if len(used) > 12 else ''}",
        "Model": f"belief network, {count(len(nodes.edges), 'edge')}, {count(free, 'free probability', 'free probabilities')}",
        "Edges": f"{METHODS[choice.method]}",
        "Probabilities": f"{number(model.prior)} rows added to every cell of every table",
    }
    fitted = getattr(model, "fit_", None)
    if fitted is not None:
        told["Fitted"] = str(fitted.reason)
    return told | {"Seed": str(choice.seed), "Version": f"tacit {__version__}"}
