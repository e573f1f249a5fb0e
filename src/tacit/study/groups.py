"""`study_groups`: what a mixture says of a table, found in two passes over its rows, none of which need fit in memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import __version__
from ..base.classes import outlier_threshold
from ..frames import Batch
from ..tables import DataTable
from ..words import count, joined, number, share
from .fills import Fills
from .findings import Alternative, Findings, Group
from .imputation import checked, fill_words
from .missingness import diagnose_missing
from .phrases import CLAUSE, CRITERIA, alikeness, clauses, distinct, left_out_words, model_words
from .results import id_name
from .sample import TopRows, take_sample
from .scores import SURE, Coder, Scorer, Scores
from .sentences import empty_words, groups_limits, groups_summary, merged_words
from .tallies import Tallies, defining, profile_of

__all__ = ["learned_of", "study_groups"]

MOST_COUNTED = 50_000
"""Rows that groups of other models are counted on; where there are more, so many are drawn at random."""
MOST_LISTED = 100
"""Uncertain rows and outliers that are listed."""
MOST_KEPT = 30
"""Entries of a group's profile that a model's file keeps."""


def study_groups(
    model: Any, table: DataTable, *, selection: Sequence[dict] = (), seed: int = 0, verdict: Any = None,
    others: Mapping[int, Any] | None = None, learned: dict | None = None, merge: Sequence[Iterable[int]] = (),
    scorer: Scorer | None = None, aside: Sequence[dict] = (), missingness: Sequence[Any] | None = None,
) -> Findings:  # fmt: skip
    """Study the groups that a mixture finds in a table.

    A row counts in its likeliest group; groups are numbered from 1 by their weight in the mixture, the largest first. Rows are
    uncertain where the likeliest group has a probability below 90 %, and outliers where a row of the group lies farther out
    with a probability below 0.05 divided by the number of rows: in a table that follows the model, one in twenty has any.

    The table has the columns of the model, a fitted Mixture; `selection` and `seed` are as in `study`. `others` are models with
    other numbers of groups, to become `Findings.alternatives`; `learned` is what `learned_of` said of the table that the model
    was learned from: where its cells are not those of this table, groups keep the words they have from there. `merge`
    names groups that are to be one: they keep the order of the first number in each, and nothing is said of how many there are.
    A `scorer` of the model learns the scores of the rows; `missingness` is why cells are missing, where that is known already.
    """
    scorer, coder = scorer or Scorer(model, merge), Coder(model.schema_, table)
    tallies = Tallies(model.schema_.columns, scorer.n_groups)
    beside = [_Counted(other) for other in (others or {}).values() if other is not model]
    digest, rng, drawn = hashlib.sha256(), np.random.default_rng(seed), min(1.0, MOST_COUNTED / max(table.n_rows, 1))
    uncertain = TopRows(MOST_LISTED)
    outliers = [TopRows(MOST_LISTED) for _ in range(scorer.n_groups)]
    # A row that is unusual by itself is so among few new ones as well.
    threshold, start = outlier_threshold(max(table.n_rows, (learned or {}).get("n_rows", 0))), 0
    fills = Fills(model, table, model.schema_.names, [column.levels for column in model.schema_.columns])
    for batch in table.batches():
        cells = coder.encode(batch)
        scores = scorer.rows(cells, start)
        tallies.add(cells, scores.group - 1)
        digest.update(np.ascontiguousarray(cells, dtype=np.float64).data)
        some = cells[rng.random(len(cells)) < drawn] if beside else cells
        for counted in beside:
            counted.add(some)
        fills.add(cells)
        told = _Rows(scorer, cells, scores, start, _ids(table, batch))
        uncertain.add(scores.sure, scores.sure < SURE, told.uncertain)
        if scores.outlier is not None:
            for k, own in enumerate(outliers, 1):
                own.add(scores.outlier, (scores.group == k) & (scores.outlier < threshold), told.outlier)
        start += batch.n_rows
    sample = take_sample(model, table, seed=seed, encode=coder.encode)
    if missingness is None or not any(fills.n_missing.values()):
        missingness = diagnose_missing(table, seed=seed) if any(fills.n_missing.values()) else ()
    same = learned is None or learned.get("digest") in (None, digest.hexdigest())
    if not same:  # what does not apply was settled when the model was learned
        absent = fills.why_empty.get("not applicable", {})
        missingness = [each for each in missingness if each.kind != "not applicable" or each.column in absent]
    scorer.loose = _loose(outliers, tallies.n_rows) if same else set((learned or {}).get("loose", ()))
    kept = TopRows.merged([own for k, own in enumerate(outliers, 1) if k not in scorer.loose], MOST_LISTED)
    shown = scorer(sample.encoded)
    if shown.outlier is not None:
        shown = replace(shown, outlier=np.where(np.isin(shown.group, list(scorer.loose)), 1.0, shown.outlier))
    alike = alikeness(sample.encoded, model.schema_.columns)
    groups = _groups(scorer.weights, tallies, alike)
    if learned is not None and not same:
        groups = tuple(_as_learned(group, learned["groups"], scorer.into) for group in groups)
    findings = Findings(
        kind="groups", title=table.reader.name, n_rows=start, columns=table.columns,
        used=[str(name) for name in model.schema_.names],
        sample=sample, trace=np.asarray(model.fit_.trace.per_weight, dtype=float), selection=[] if merge else list(selection),
        groups=groups, memberships=shown.memberships, group=shown.group,
        outlier=shown.outlier, uncertain=uncertain.rows, outliers=kept.rows, n_uncertain=uncertain.n_rows,
        n_outliers=kept.n_rows, loose=tuple(sorted(scorer.loose)), n_filled=fills.n_filled, n_empty=fills.n_empty,
        shares=fills.shares,
        check=checked(model), missingness=list(missingness), verdict=verdict, digest=digest.hexdigest(), aside=list(aside),
        learned=None if same else {name: learned[name] for name in ("title", "n_rows")},  # type: ignore[index]
    )  # fmt: skip
    # Other groupings of rows that were not learned from would be described by these few.
    findings = replace(findings, alternatives=_alternatives(findings, model, beside, alike) if same else ())
    summary = [*groups_summary(findings), *empty_words(fills.why_empty), *fill_words(findings)]
    if merge:  # checks read the groups of the model's own files
        summary = [*map(str, summary), merged_words(merge, len(scorer.order))]
    card = _card(model, table, findings, seed)
    return replace(findings, summary=summary, card=card, limits=groups_limits(findings, model))


def _loose(outliers: list[TopRows], n_rows: np.ndarray) -> set[int]:
    """Groups of which most rows lie far out: these are wider than the model says, and their rows not unusual for them."""
    return {k for k, (own, n) in enumerate(zip(outliers, n_rows), 1) if 2 * own.n_rows > n}


class _Counted:
    """Another model, and what it makes of the rows that it is given."""

    def __init__(self, model: Any):
        self.model, self.scorer, self.n_uncertain, self.n_rows = model, Scorer(model), 0, 0
        self.tallies = Tallies(model.schema_.columns, len(self.scorer.order))

    def add(self, cells: np.ndarray) -> None:
        """Take rows in."""
        scores = self.scorer(cells)
        self.n_rows += len(cells)
        self.tallies.add(cells, scores.group - 1)
        self.n_uncertain += int((scores.sure < SURE).sum()) if self.model.n_components > 1 else 0

    def told(self, findings: Findings, alike: Any) -> Alternative:
        """The record of it."""
        value, behind = _criterion(findings.selection, self.model)
        groups, shown = _groups(self.scorer.weights, self.tallies, alike), findings.sample.encoded
        return Alternative(
            len(groups), self.model.covariance_type, value, behind, groups, self.scorer(shown).group, self.n_uncertain,
            self.n_rows if self.n_rows < findings.n_rows else None,
        )  # fmt: skip


def _alternatives(findings: Findings, model: Any, beside: list[_Counted], alike: Any) -> tuple[Alternative, ...]:
    if not beside or findings.group is None:
        return ()
    value, behind = _criterion(findings.selection, model)
    own = Alternative(
        len(findings.groups), model.covariance_type, value, behind, findings.groups, findings.group,
        findings.n_uncertain if len(findings.groups) > 1 else 0,
    )  # fmt: skip
    return tuple(sorted([own, *(counted.told(findings, alike) for counted in beside)], key=lambda each: each.n_groups))


def _criterion(selection: Sequence[dict], model: Any) -> tuple[float | None, float | None]:
    """The criterion of a model, and by how much it is worse than the best one."""
    key = selection[0].get("criterion", "bic") if selection else "bic"
    wanted = model.n_components, model.covariance_type
    found = [row.get(key) for row in selection if (row["n_components"], row["covariance_type"]) == wanted]
    known = [row[key] for row in selection if row.get(key) is not None]
    if not found or found[0] is None:
        return None, None
    return found[0], (max(known) - found[0] if key == "cv" else found[0] - min(known))


def learned_of(findings: Findings) -> dict:
    """What a model's file keeps of the table it was learned from, for reports on other rows: plain values."""
    kept = (*CLAUSE, "text", "value_text", "rest_text", "overall_text")
    return {
        "title": findings.title, "n_rows": findings.n_rows, "digest": findings.digest, "loose": list(findings.loose),
        "groups": [
            {"words": group.words, "profile": [{k: e[k] for k in kept if k in e} for e in group.profile[:MOST_KEPT]]}
            for group in findings.groups
        ],
    }  # fmt: skip


def _as_learned(group: Group, groups: list[dict], into: np.ndarray) -> Group:
    told = [groups[k] for k in np.flatnonzero(into == group.number - 1) if k < len(groups)]
    if len(told) != 1:  # merged: what each part is like
        return replace(
            group, words="; or ".join(str(part["words"]) for part in told) or group.words, profile=[], clauses=[]
        )
    return replace(group, words=str(told[0]["words"]), profile=list(told[0].get("profile", [])), clauses=[])


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
        reason = self.scorer.reason(self.cells[i], int(self.scores.group[i]), self.scores.components[i])
        return self._which(i) | {"probability": float(self.scores.outlier[i]), "reason": reason}


def _groups(weights: np.ndarray, tallies: Tallies, alike: Any = None) -> tuple[Group, ...]:
    found = tallies.profiles()
    profiles = [profile_of(found, k) for k in range(len(weights))]
    sizes = tallies.n_rows.astype(int).tolist()
    if len(weights) == 1:
        described: list = [[]]
        words = ["all rows"]
    else:
        described = [clauses(defining(profile), tallies.spreads(k), alike) for k, profile in enumerate(profiles)]
        words = distinct(described, profiles, sizes)
    groups = []
    for k, weight in enumerate(weights):
        told = words[k] if sizes[k] or len(weights) == 1 else "no row is likelier in it than elsewhere"
        groups.append(Group(k + 1, sizes[k], float(weight), told, profiles[k], described[k]))
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
