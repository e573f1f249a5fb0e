"""`explain`: why a row is in its group, as evidence that adds up, cell by cell.

    log p(a | x) / p(b | x)  =  log π_a / π_b  +  Σ_j c_j

c_j is what the cell of column j adds to the log-likelihood ratio of the row's group a and the next likeliest one b, on average
over all orders in which the cells can be looked at (Shapley values); cells that are missing or not looked at yet are integrated
out. Columns that are independent inside groups say the same in every order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..kernels import host
from ..notes import Claim
from ..source import Block
from ..tables import DataTable
from ..words import joined, number, probability, share
from .results import id_name
from .sample import TopRows
from .scores import SURE, Coder, Scorer
from .subject import opened_for

__all__ = ["Explanation", "explain", "explain_rows"]

EXACT = 8
"""Columns that depend on each other up to which all sets of them are looked at; beyond, so many orders and their reverses."""
ORDERS = 32
TYPICAL = 0.05
"""A row is typical where a row of its group lies farther out with at least this probability, and it is sure of its group."""
TOLD = 4
CLEAR = math.log(1.5)
"""Evidence below a ratio of 1.5 is not told in words."""
NEARLY = 1 - 1e-9
"""A probability above this, which rounding may call 1, is not told as certain."""


@dataclass(frozen=True)
class Explanation:
    """Why a row is in its group.

    Attributes
    ----------
    row : int
        Number of the row in its table, from 1.
    ids : dict of str to object
        The columns that say which row it is.
    group, other : int
        Numbers of its group and of that it is compared with, the next likeliest; `other` is 0 where there is one group only.
    probability, other_probability : float
        Of either.
    prior : float
        log π_a / π_b, the evidence before any cell is seen.
    cells : list of dict
        One for each observed cell, the strongest evidence first: `column`, `value`, `evidence` (c_j, positive for the group),
        `here` and `there` (the mean of a number in either group, or the probability of the level).
    missing : list of str
        Columns whose cells are missing, or hold a level unknown to the model; they count neither way.
    farther_out : float or None
        Probability that a row of the group lies farther out, judged by measurements; None where no column is one.
    nearest : list of dict
        The typical rows of the group that are nearest to it: `row`, the ids, `distance` (root mean square over the cells known
        in both, in standard deviations of the columns) and `cells`.
    words : str
        All of it in one paragraph.
    """

    row: int
    ids: dict[str, Any]
    group: int
    other: int
    probability: float
    other_probability: float
    prior: float
    cells: list[dict]
    missing: list[str]
    farther_out: float | None
    nearest: list[dict] = field(default_factory=list)
    words: str = ""

    @property
    def evidence(self) -> float:
        """The prior and the evidence of all cells: log p(a | x) / p(b | x)."""
        return self.prior + sum(cell["evidence"] for cell in self.cells)

    def __str__(self) -> str:
        return self.words


def explain(
    model: Any, X: Any, row: int, *, among: Any = None, other: int | None = None, **reading: Any
) -> Explanation:
    """Why a row of X is in its group.

    Parameters
    ----------
    model : estimator
        A fitted Mixture, GaussianMixture or StudentTMixture, or what `find_groups` returned.
    X : table in memory or path
        As in `tacit.study.study`.
    row : int
        Number of the row, from 1.
    among : table, optional
        Where typical rows are looked for; default X.
    other : int, optional
        Number of the group to compare with; default the next likeliest.
    **reading
        As in `tacit.tables.open_table`.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import GaussianMixture
    >>> from tacit.study import explain
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0.0], [3.0]], 30, axis=0)
    >>> found = explain(GaussianMixture(2, random_state=0).fit(X), X, 40)
    >>> bool(np.isclose(found.evidence, np.log(found.probability / found.other_probability)))
    True
    """
    model, table = opened_for(model, X, **reading)
    kept = table if among is None else opened_for(model, among, **reading)[1]
    return explain_rows(model, table, [row], among=kept, other=other)[0]


def explain_rows(
    model: Any, table: DataTable, rows: Iterable[int], *, among: DataTable | None = None, other: int | None = None
) -> list[Explanation]:
    """The same of some rows of a table that is open, as `study_table` takes it; `among` None looks for no typical rows."""
    if model._study != "groups":
        raise ValueError(
            f"a {type(model).__name__} has no groups to explain; use a model that tacit fit wrote, or a mixture."
        )
    wanted = list(rows)
    outside = next((row for row in wanted if not 1 <= row <= table.n_rows), None)
    if outside is not None:
        raise ValueError(f"there is no row {outside}; {table.reader.place} has rows 1 to {table.n_rows:,}.")
    scorer, coder = Scorer(model), Coder(model.schema_, table)
    if other is not None and not 1 <= other <= len(scorer.order):
        raise ValueError(f"there is no group {other} to compare with; the model has groups 1 to {len(scorer.order)}.")
    found = {row: _explained(scorer, each, row, other) for row, each in _rows(table, coder, wanted).items()}
    told = [found[row] for row in wanted]
    near = _nearest(scorer, among, [each[0] for each in told], [each[1] for each in told]) if among is not None else []
    return [_worded(each, near[place] if near else [], other is None) for place, (each, _) in enumerate(told)]


def _rows(table: DataTable, coder: Coder, wanted: list[int]) -> dict[int, tuple[np.ndarray, dict, dict]]:
    """Rows by number: their cells as numbers, their ids, and their cells as they are told."""
    found, start = {}, 0
    for batch in table.batches():
        here = [number for number in wanted if start < number <= start + batch.n_rows]
        if here:
            encoded = coder.encode(batch)
        for each in here:
            i = each - start - 1
            ids = {id_name(name): batch[name].objects[i] for name in table.ids}
            found[each] = encoded[i], ids, {name: batch[name].objects[i] for name in coder.names if name in batch}
        start += batch.n_rows
    return found


def _explained(scorer: Scorer, row: tuple, number: int, other: int | None) -> tuple[Explanation, np.ndarray]:
    cells, ids, told = row
    scores, names = scorer(cells[None]), [str(name) for name in scorer.model.schema_.names]
    memberships = scores.memberships[0]
    a = int(scores.group[0]) - 1
    ranked = [k for k in np.argsort(-memberships, kind="stable").tolist() if k != a]
    b = other - 1 if other is not None and other - 1 != a else (ranked[0] if ranked else None)
    farther = None if scores.outlier is None else float(scores.outlier[0])
    known = ~np.isnan(cells)
    lost = [name for name, there in zip(names, known) if not there]
    if b is None:
        own = Explanation(number, ids, a + 1, 0, 1.0, 0.0, 0.0, [], lost, farther)
        return own, cells
    evidence, typical = _evidence(scorer, cells, scorer.order[[a, b]])
    weight = scorer.params.log_weight[scorer.order[[a, b]]]
    observed = np.flatnonzero(known).tolist()
    listed = [
        {"column": names[j], "value": told[names[j]], "evidence": float(evidence[j]), "here": typical[j][0],
         "there": typical[j][1], "level": bool(scorer.model.schema_.columns[j].coded)}
        for j in observed
    ]  # fmt: skip
    listed.sort(key=lambda cell: -abs(cell["evidence"]))
    sure = float(memberships[a]), float(memberships[b])
    return Explanation(number, ids, a + 1, b + 1, *sure, float(weight[0] - weight[1]), listed, lost, farther), cells


def _evidence(scorer: Scorer, cells: np.ndarray, pair: np.ndarray) -> tuple[np.ndarray, dict[int, list]]:
    """c_j of every column, 0 where missing, and what is typical of either group where it is known."""
    found, typical = np.zeros(len(cells)), {}
    for (part, columns), own in zip(scorer.model.family_.parts, scorer.params.components.parts):
        x = cells[list(columns)]
        seen = np.flatnonzero(~np.isnan(x))

        def ratio(looked: np.ndarray, part: Any = part, own: Any = own, x: np.ndarray = x) -> np.ndarray:
            """Log-likelihoods of either group of the cells that are looked at, (sets, 2)."""
            rows = np.where(looked, x, np.nan)
            return np.asarray(host(part.log_prob(own, Block.of(rows))), dtype=np.float64)[:, pair]

        places = [columns[j] for j in seen]
        alone = ratio(np.eye(len(x), dtype=bool)[seen]) if len(seen) else np.empty((0, 2))
        found[places] = _shapley(lambda looked, ratio=ratio: np.subtract(*ratio(looked).T), seen, len(x))
        for j, place, single in zip(seen, places, alone):
            coded = scorer.model.schema_.columns[place].coded
            typical[place] = np.exp(single).tolist() if coded else part.mean(own)[pair, j].tolist()
    return found, typical


def _shapley(value: Any, seen: np.ndarray, d: int) -> np.ndarray:
    """What each seen column adds to value(set of columns), on average over the orders of looking at them; they add up."""
    m = len(seen)
    if m < 2:
        return value(np.isin(np.arange(d), seen)[None]) if m else np.empty(0)
    if m <= EXACT:
        sets = np.array(np.meshgrid(*[[False, True]] * m, indexing="ij")).reshape(m, -1).T
        looked = np.zeros((len(sets), d), dtype=bool)
        looked[:, seen] = sets
        worth, size = value(looked) * sets.any(axis=1), sets.sum(axis=1)
        weight = np.array([math.factorial(s) * math.factorial(m - s - 1) / math.factorial(m) for s in range(m)])
        number = (sets * (1 << np.arange(m)[::-1])).sum(axis=1)
        out = np.empty(m)
        for j in range(m):
            without = np.flatnonzero(~sets[:, j])
            joined_ = number[without] + (1 << (m - 1 - j))
            out[j] = weight[size[without]] @ (worth[joined_] - worth[without])
        return out
    rng = np.random.default_rng(0)
    orders = [order for _ in range(ORDERS) for order in [rng.permutation(m)] for order in (order, order[::-1])]
    out = np.zeros(m)
    for order in orders:  # sums telescope in every one
        looked = np.zeros((m, d), dtype=bool)
        looked[np.tri(m, dtype=bool).nonzero()[0], seen[order][np.tri(m, dtype=bool).nonzero()[1]]] = True
        out[order] += np.diff(value(looked), prepend=0.0) / len(orders)
    return out


def _nearest(scorer: Scorer, table: DataTable, told: list[Explanation], cells: list[np.ndarray]) -> list[list[dict]]:
    """Typical rows of each row's group that are nearest to it."""
    coder, columns, start = Coder(scorer.model.schema_, table), scorer.model.schema_.columns, 0
    named = {column.name: column for column in table.columns}
    scale = np.array([_scale(column, named.get(str(column.name))) for column in columns])
    kept = [TopRows(4) for _ in told]
    for batch in table.batches():
        encoded = coder.encode(batch)
        scores = scorer(encoded)
        typical = scores.sure >= SURE if len(scorer.order) > 1 else np.ones(len(encoded), dtype=bool)
        if scores.outlier is not None:
            typical &= scores.outlier >= TYPICAL
        for own, row, top in zip(told, cells, kept):
            apart = (encoded - row) / scale
            coded = np.array([column.kind == "category" for column in columns])
            apart[:, coded] = np.where(np.isnan(apart[:, coded]), np.nan, apart[:, coded] != 0)
            both = ~np.isnan(apart)
            n = both.sum(axis=1)
            distance = np.sqrt(np.nansum(apart**2, axis=1) / np.maximum(n, 1))
            chosen = typical & (scores.group == own.group) & (2 * n >= (~np.isnan(row)).sum()) & (n > 0)

            def describe(i: int, distance: np.ndarray = distance, start: int = start, batch: Any = batch) -> dict:
                ids = {id_name(name): batch[name].objects[i] for name in table.ids}
                told = {name: batch[name].objects[i] for name in coder.names if name in batch}
                return {"row": start + int(i) + 1, **ids, "distance": float(distance[i]), "cells": told}

            top.add(distance, chosen, describe)
        start += batch.n_rows
    # The row itself is the nearest to itself.
    return [[row for row in top.rows if row["row"] != own.row or row["distance"]][:3] for own, top in zip(told, kept)]


def _scale(column: Any, info: Any) -> float:
    """What a difference of a column is measured in: its standard deviation, or the number of its ordered steps."""
    if column.coded:
        return 1.0 if column.kind == "category" else max(len(column.levels) - 1, 1)
    return (getattr(info, "std", None) or 0.0) or 1.0


# In words


def _worded(found: Explanation, near: list[dict], is_next: bool) -> Explanation:

    a, b = found.group, found.other
    if not b:
        words = [f"Row {found.row} is in group 1, the only one of the model."]
    else:
        first = f"Row {found.row} is in group {a} with a probability of {share(min(found.probability, NEARLY))}"
        words = [
            f"{first}; group {b} {'is next, with' if is_next else 'has'} {share(max(found.other_probability, 1 - NEARLY))}."
        ]
        words += ["So it is not sure of its group."] if found.probability < SURE else []
        pro = [cell for cell in found.cells if cell["evidence"] >= CLEAR]
        contra = [cell for cell in found.cells if cell["evidence"] <= -CLEAR]
        words += [f"For group {a} against group {b}: {joined(_cell(cell, b) for cell in pro[:TOLD])}."] if pro else []
        words += [f"Against it: {joined(_cell(cell, b) for cell in contra[:TOLD])}."] if contra else []
        if not pro and not contra:
            words.append("No single cell tells the two groups apart by a factor of 1.5 or more.")
        if abs(found.prior) >= CLEAR:
            large, small = (a, b) if found.prior > 0 else (b, a)
            words.append(f"Group {large} is {_times(found.prior)} as large as group {small}, which counts as well.")
    if found.missing:
        lost = f"{joined(found.missing[:6])}{' …' * (len(found.missing) > 6)}"
        words.append(
            f"{lost} {'are missing and count' if len(found.missing) > 1 else 'is missing and counts'} neither way."
        )
    if found.farther_out is not None and found.farther_out < TYPICAL:
        chance = probability(found.farther_out)
        words.append(f"It lies far out: a row of its group lies farther out with a probability of {chance}.")
    if near:
        which = "rows of its group are" if len(near) > 1 else "row of its group is"
        words.append(f"The nearest typical {which} {joined(row['row'] for row in near)}.")
    figures = {"group": a, "probability": round(found.probability, 6)}
    own = f"rows.iloc[{found.row - 1}]"
    line = f"{{'group': int({own}['group']), 'probability': float({own}['probability_{a}'])}}"
    basis = f"how probable the groups are given the {len(found.cells)} known cells of the row, which the file of groups has too"
    return replace(found, nearest=near, words=Claim.of("explained", " ".join(words), basis, figures, line))


def _cell(cell: dict, b: int) -> str:
    value = cell["value"] if cell["level"] or isinstance(cell["value"], str) else number(cell["value"])
    here, there = (share(cell[key]) if cell["level"] else number(cell[key], 3) for key in ("here", "there"))
    here = here if cell["level"] else f"mean {here}"
    where = f" in group {b}" if cell["evidence"] < 0 else ""
    return f"{cell['column']} {value} ({_times(cell['evidence'])} likelier{where}; {here} against {there})"


def _times(evidence: float) -> str:
    """A ratio of likelihoods in words."""
    if abs(evidence) > math.log(1e6):
        return "more than a million times"
    ratio = float(f"{math.exp(abs(evidence)):.2g}")
    return f"{ratio:,.0f} times" if ratio >= 10 else f"{ratio:g} times"
