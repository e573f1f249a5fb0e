"""`study_groups`: what a mixture says of a table, found in two passes over its rows, none of which need fit in memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import __version__
from ..base.classes import outlier_threshold
from ..frames import Batch
from ..tables import DataTable
from ..words import count, joined, number, share
from .findings import Findings, Group
from .phrases import CRITERIA, group_phrase, left_out_words, model_words
from .results import id_name
from .sample import TopRows, take_sample
from .scores import SURE, Coder, Scorer, Scores
from .sentences import empty_words, groups_limits, groups_summary
from .tallies import Tallies, defining, profile_of

__all__ = ["study_groups"]

MOST_LISTED = 100
"""Uncertain rows and outliers that are listed."""


def study_groups(model: Any, table: DataTable, *, selection: Sequence[dict] = (), seed: int = 0) -> Findings:
    """Study the groups that a mixture finds in a table.

    A row counts in its likeliest group; groups are numbered from 1 by their weight in the mixture, the largest first. Rows are
    uncertain where the likeliest group has a probability below 90 %, and outliers where a row of the group lies farther out
    with a probability below 0.05 divided by the number of rows: in a table that follows the model, one in twenty has any.

    The table has the columns of the model, a fitted Mixture; `selection` and `seed` are as in `study`.
    """
    scorer, coder = Scorer(model), Coder(model.schema_, table)
    tallies = Tallies(model.schema_.columns, len(scorer.order))
    uncertain, outliers = TopRows(MOST_LISTED), TopRows(MOST_LISTED)
    threshold, start = outlier_threshold(table.n_rows), 0
    n_empty = np.zeros(len(model.schema_.columns), dtype=int)
    for batch in table.batches():
        cells = coder.encode(batch)
        scores = scorer(cells)
        tallies.add(cells, scores.group - 1)
        n_empty += scorer.empty(cells, scores).sum(axis=0)
        told = _Rows(scorer, cells, scores, start, _ids(table, batch))
        uncertain.add(scores.sure, scores.sure < SURE, told.uncertain)
        if scores.outlier is not None:
            outliers.add(scores.outlier, scores.outlier < threshold, told.outlier)
        start += batch.n_rows
    sample = take_sample(model, table, seed=seed, encode=coder.encode)
    shown, empty = scorer(sample.encoded), {str(name): int(n) for name, n in zip(model.schema_.names, n_empty) if n}
    filled = {name: n - empty.get(name, 0) for name, n in tallies.n_missing.items()}
    findings = Findings(
        kind="groups", title=table.reader.name, n_rows=start, columns=table.columns,
        used=[str(name) for name in model.schema_.names],
        sample=sample, trace=np.asarray(model.fit_.trace.per_weight, dtype=float), selection=list(selection),
        groups=_groups(model, scorer.order, tallies), memberships=shown.memberships, group=shown.group,
        outlier=shown.outlier, uncertain=uncertain.rows, outliers=outliers.rows, n_uncertain=uncertain.n_rows,
        n_outliers=outliers.n_rows, n_filled=filled, n_empty=empty,
    )  # fmt: skip
    summary, card = [*groups_summary(findings), *empty_words(empty)], _card(model, table, findings, seed)
    return replace(findings, summary=summary, card=card, limits=groups_limits(findings, model))


def _ids(table: DataTable, batch: Batch) -> dict[str, list]:
    """The columns that say which row it is, as lists of texts, under names that no result has."""
    return {id_name(name): batch[name].objects.tolist() for name in table.ids}


class _Rows:
    """What lists say of the rows of a batch."""

    def __init__(self, scorer: Scorer, cells: np.ndarray, scores: Scores, start: int, ids: dict[str, list]):
        self.scorer, self.cells, self.scores, self.start, self.ids = scorer, cells, scores, start, ids

    def _which(self, i: int) -> dict:
        ids = {name: values[i] for name, values in self.ids.items()}
        return {"row": self.start + int(i) + 1, **ids, "group": int(self.scores.group[i])}

    def uncertain(self, i: int) -> dict:
        second = int(np.argsort(-self.scores.memberships[i], kind="stable")[1])
        return self._which(i) | {
            "probability": float(self.scores.sure[i]),
            "other": second + 1,
            "other_probability": float(self.scores.memberships[i, second]),
        }

    def outlier(self, i: int) -> dict:
        assert self.scores.outlier is not None
        reason = self.scorer.reason(self.cells[i], int(self.scores.group[i]))
        return self._which(i) | {"probability": float(self.scores.outlier[i]), "reason": reason}


def _groups(model: Any, order: np.ndarray, tallies: Tallies) -> tuple[Group, ...]:
    found, groups = tallies.profiles(), []
    for k, component in enumerate(order):
        profile = profile_of(found, k)
        n_rows = int(tallies.n_rows[k])
        words = "all rows" if len(order) == 1 else "no row is likelier in it than elsewhere"
        if len(order) > 1 and n_rows:
            words = group_phrase(defining(profile), tallies.spreads(k))
        groups.append(Group(k + 1, n_rows, float(model.weights_[component]), words, profile))
    return tuple(groups)


def _card(model: Any, table: DataTable, findings: Findings, seed: int) -> dict[str, str]:
    place = table.reader.place
    if os.path.dirname(os.path.abspath(place)) == os.path.abspath(table.reader.folder):
        place = os.path.basename(place)
    left_out = [column for column in table.columns if column.name not in findings.used]
    n_cells = findings.n_rows * len(findings.used)
    n_missing = sum([*findings.n_filled.values(), *findings.n_empty.values()])
    trace, fit = findings.trace, model.fit_
    card = {
        "Table": place,
        "Rows": f"{findings.n_rows:,}",
        "Columns used": f"{len(findings.used)}: {', '.join(map(str, findings.used))}",
        "Columns left out": "; ".join(left_out_words(left_out, brief=True)) or "none",
        "Missing cells": f"{n_missing:,} of {n_cells:,} ({share(n_missing / max(n_cells, 1))}), in the columns used",
        "Model": _model_words(model),
        "Chosen": _chosen(findings.selection),
        "Fit": f"{count(len(trace), 'step')}; {fit.reason}" + ("" if fit.converged else "; not converged"),
        "Log-likelihood per row": number(trace[-1] if len(trace) else None, 6),
        "Seed": str(seed),
        "Software": f"tacit {__version__}",
    }
    return {key: value for key, value in card.items() if value}


def _model_words(model: Any) -> str:
    """The model in words: how many groups, and what describes the columns."""
    told = {
        "Categorical": "categories by their shares", "Ordinal": "ordered levels by cut points", "Poisson": "counts as Poisson",
        "NegativeBinomial": "counts as negative binomial",
        "StudentT": "measurements as Student t (heavy tails)",
    }  # fmt: skip
    kinds = [type(part).__name__ for part, _ in model.family_.parts]
    families = dict.fromkeys(told.get(kind, "measurements as Gaussian") for kind in kinds)
    n = Scorer(model).n_measurements
    shape = model.covariance_type if n else None
    noise = f" and noise ({share(model.weights_[-1])})" if model.noise else ""
    return f"mixture of {model_words(model.n_components, shape, n_measurements=n)}{noise}; {joined(families)}"


def _chosen(selection: list[dict]) -> str:
    if not selection:
        return ""
    sizes = sorted({row["n_components"] for row in selection})
    criterion = selection[0].get("criterion", "bic")
    by = CRITERIA.get(criterion, criterion)
    told = f"{sizes[0]} to {sizes[-1]} groups" if len(sizes) > 1 else count(sizes[0], "group")
    sampled = f", on {selection[0]['n_rows']:,} rows" if "n_rows" in selection[0] else ""
    return f"best of {count(len(selection), 'model')} with {told} by {by}{sampled}"
