"""`Scorer`: the group of every row, how sure it is, and how far out the row lies, groups in the order of their weight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.classes import outlier_scores
from ..families.gaussian import Gaussian
from ..frames import Batch
from ..kernels import host
from ..schema import Column, Schema, level_text
from ..source import ArraySource, Block
from ..survey.typed import Coded
from ..tables import DataTable
from ..words import number

__all__ = ["SURE", "Coder", "Scorer", "Scores", "merged_numbers"]

SURE = 0.9
"""Rows whose likeliest group has a smaller probability are called uncertain."""
MOST_KNOWN = 1 << 26
"""Probabilities of groups that are kept once they are known."""
FAR = 3.0
"""Standard deviations from which a measurement explains why a row is far out."""


@dataclass(frozen=True)
class Scores:
    """What a mixture says of some rows.

    Attributes
    ----------
    memberships : (n, K) array
        Probability of each group, groups in the order of their numbers.
    group : (n,) int array
        Number of the likeliest group, from 1.
    sure : (n,) array
        Its probability.
    outlier : (n,) array or None
        Probability that a row of its group lies farther out; 1 where no measurement is observed, None where no column is one.
    components : (n, K) array
        Probability of each component of the mixture by weight: that of the groups, unless groups were merged.
    """

    memberships: np.ndarray
    group: np.ndarray
    sure: np.ndarray
    outlier: np.ndarray | None
    components: np.ndarray


class Scorer:
    """Apply a fitted mixture to rows.

    `order` has the components in the order of the groups' numbers, the largest weight first; `into` the group of each, which are
    fewer where `merge` names groups that are one; `measured` the parts that describe measurements, with their columns and
    parameters.
    """

    def __init__(self, model: Any, merge: Iterable[Iterable[int]] = ()):
        self.model = model
        self.order = np.argsort(-np.asarray(model.weights_)[: model.n_components], kind="stable")
        self.into = merged_numbers(len(self.order), merge)
        self.n_groups = int(self.into.max(initial=-1)) + 1
        self.mixture, self.params = model._model(), model._params()
        self.known: dict[int, Scores] = {}
        self.loose: set[int] = set()
        self.measured = [
            (part, list(columns), own)
            for (part, columns), own in zip(model.family_.parts, self.params.components.parts)
            if isinstance(part, Gaussian)
        ]

    @property
    def n_measurements(self) -> int:
        """How many columns are measurements."""
        return sum(len(columns) for _, columns, _ in self.measured)

    def __call__(self, cells: np.ndarray) -> Scores:
        """Score rows that are numbers already, as the model's schema codes them."""
        parts = list(ArraySource(cells, n_jobs=self.model.n_jobs).map(self._block)) if len(cells) else []
        every = np.concatenate([np.empty((0, len(self.order) + 1)), *parts])
        components = every[:, :-1]
        memberships = components @ np.eye(self.n_groups)[self.into] if self.n_groups < len(self.into) else components
        best = memberships.argmax(axis=1)
        outlier = np.exp(-every[:, -1]) if self.measured else None
        return Scores(memberships, best + 1, memberships[np.arange(len(best)), best], outlier, components)

    @property
    def weights(self) -> np.ndarray:
        """Weight of every group in the mixture."""
        return np.bincount(self.into, np.asarray(self.model.weights_)[self.order])

    def rows(self, cells: np.ndarray, start: int) -> Scores:
        """Score rows of the one table that this scorer is for, from a number on; once, unless they are too many to remember."""
        known = self.known.get(start)
        if known is None or len(known.group) != len(cells):
            known = self(cells)
            if sum(len(scores.group) for scores in self.known.values()) * self.n_groups < MOST_KNOWN:
                self.known[start] = known
        return known

    def unusual(self, scores: Scores, threshold: float) -> np.ndarray:
        """Which rows are unusual for their group: far out, in a group of which most rows are not."""
        if scores.outlier is None:
            return np.zeros(len(scores.group), dtype=bool)
        return (scores.outlier < threshold) & ~np.isin(scores.group, list(self.loose))

    def _block(self, block: Block) -> np.ndarray:
        resp = host(self.mixture.posterior(self.params, block)[0])
        own = resp[:, self.order] + np.finfo(float).tiny  # a row of noise counts in the group it would be in otherwise
        own /= (own @ np.ones(own.shape[1]))[:, None]
        return np.column_stack([own, outlier_scores(self.mixture, self.params, block, resp)])

    def reason(self, cells: np.ndarray, group: int, components: np.ndarray) -> str:
        """Why a row is far out, in words: the measurement farthest from what its group has, or from what its others say.

        `components` are the row's of `Scores`: of a group that was merged, the likeliest part speaks.
        """
        nothing = (0.0, "", 0.0, 0.0, 1.0)
        own = np.where(self.into == group - 1, components, -1.0)
        k, alone, given = self.order[int(own.argmax())], nothing, nothing
        for part, columns, own in self.measured:
            seen = [place for place, j in enumerate(columns) if not np.isnan(cells[j])]
            if not seen:
                continue
            x, names = cells[columns][seen], [self.model.schema_.columns[columns[place]].name for place in seen]
            mean, cov = part.mean(own)[k][seen], own.dense[k][np.ix_(seen, seen)]
            alone = max(alone, _farthest(x, mean, np.sqrt(np.diagonal(cov)), names))
            precision = np.linalg.inv(cov)
            width = 1.0 / np.sqrt(np.diagonal(precision))
            given = max(given, _farthest(x, x - precision @ (x - mean) * width**2, width, names))
        steps, name, value, centre, width = alone if alone[0] >= FAR else given
        if steps < FAR:
            return "many measurements somewhat far out"
        told = f"{name} is {number(value)}", f"{number(centre, 3)} ± {number(width, 2)}"
        says = f"group {group} has" if alone[0] >= FAR else "its other measurements suggest"
        return f"{told[0]}; {says} {told[1]}"


def merged_numbers(n_groups: int, merge: Iterable[Iterable[int]]) -> np.ndarray:
    """Positions, from 0, of groups after some were merged, which keep the order of the first number in each.

    Examples
    --------
    >>> from tacit.study.scores import merged_numbers
    >>> merged_numbers(4, [(2, 4)])
    array([0, 1, 2, 1])
    """
    first = np.arange(n_groups)
    for sets in merge:
        numbers = sorted({int(number) for number in sets})
        unknown = [number for number in numbers if not 1 <= number <= n_groups]
        if unknown or len(numbers) < 2:
            raise ValueError(
                f"merge={'+'.join(map(str, numbers))!r} does not name two or more of the {n_groups} groups; their numbers run "
                f"from 1 to {n_groups}."
            )
        first[np.isin(first, first[np.array(numbers) - 1])] = first[np.array(numbers) - 1].min()
    return np.unique(first, return_inverse=True)[1].reshape(n_groups)


def _farthest(x: np.ndarray, centre: np.ndarray, width: np.ndarray, names: list) -> tuple:
    """The measurement that is most of its widths away: how many, its name, value, centre and width."""
    steps = np.abs(x - centre) / width
    j = int(np.argmax(steps))
    return float(steps[j]), str(names[j]), float(x[j]), float(centre[j]), float(width[j])


class Coder:
    """Rows of a table in the order and the codes of a model's schema; columns that the table lacks, `absent`, are missing.

    `columns` are the positions, among the model's, of those that the table uses.
    """

    def __init__(self, schema: Schema, table: DataTable):
        self.names = [str(name) for name in schema.names]
        given = {str(column.name): column for column in table.schema.columns}
        self.absent = [name for name in self.names if name not in given]
        self.columns = [self.names.index(column.name) for column in table.used if column.name in self.names]
        named = enumerate(zip(self.names, schema.columns))
        self.codes = {j: _codes(column, given[name]) for j, (name, column) in named if name in given}

    def encode(self, batch: Batch) -> np.ndarray:
        """The cells that the model uses as numbers, NaN where missing."""
        out = np.full((batch.n_rows, len(self.names)), np.nan)
        for j, codes in self.codes.items():
            cells = batch[self.names[j]]
            if codes is None:
                out[:, j] = cells.values
            elif isinstance(cells, Coded):
                out[:, j] = cells.spread([codes.get(level, np.nan) for level in cells.names], np.nan)
            else:
                out[:, j] = [codes.get(level, np.nan) for level in cells.values.tolist()]
        return out


def _codes(column: Column, own: Column) -> dict[str | None, int] | None:
    """The model's code of every level of a category as tables write it; None for numbers."""
    if column.coded != own.coded:
        raise ValueError(
            f"column {own.name!r} is {own.kind} in the table, but {column.kind} in the model; read the table as the model was "
            "fitted, with like=…."
        )
    if not column.coded:
        return None
    return {level_text(level): code for code, level in enumerate(column.levels)}
