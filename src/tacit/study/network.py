"""What is said of a network of a table: `NetworkFindings`, which the console, JSON and the page show and add nothing to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..graph.choice import NetworkChoice
from ..graph.structure import mutual_information
from ..graph.structure.codes import Codes
from ..graph.structure.scores import Gains
from ..graph.trial import Guessed
from ..schema import level_text
from ..words import count
from .network_sentences import card, contrast, limits, summary

__all__ = ["Contrast", "Dependency", "NetworkFindings", "Variable", "study_network"]

FEWEST, LEAST_SHARE = 5, 0.02
"""Rows of a level, and its share of all rows, from which what goes with it is told."""


@dataclass(frozen=True)
class Contrast:
    """A level of one column, in the rows of two levels of another: the pair that differs most.

    Attributes
    ----------
    column, given : int
        Numbers of the columns.
    level, high, low : int
        The level that is counted, and those of `given` with the most and the fewest of it.
    share_high, share_low : float
        Its shares of the rows of either that know both columns.
    """

    column: int
    given: int
    level: int
    high: int
    low: int
    share_high: float
    share_low: float


@dataclass(frozen=True)
class Dependency:
    """An edge.

    Attributes
    ----------
    parent, child : str
    information : float
        Bits that one column tells of the other, by itself, less what chance would give.
    gain : float
        By how much BIC (in units of log-likelihood) the edge improves the network.
    found : float or None
        Share of the resamples in which the two were joined, in either direction; None where there are none.
    forward : float or None
        Share of these in which the edge had this direction.
    directed : bool
        Whether all networks that say the same have this direction.
    contrast : Contrast or None
    words : str
        What goes with what.
    """

    parent: str
    child: str
    information: float
    gain: float
    found: float | None
    forward: float | None
    directed: bool
    contrast: Contrast | None
    words: str


@dataclass(frozen=True)
class Variable:
    """A column of the network.

    Attributes
    ----------
    name, role : str
    levels : list of str
    counts : list of int
        Rows of each level.
    probabilities : list of float
        What the network says of each.
    n_missing : int
    right, usual : float or None
        Shares of cells left out that were guessed right, and that have the most frequent level.
    """

    name: str
    role: str
    levels: list[str]
    counts: list[int]
    probabilities: list[float]
    n_missing: int
    right: float | None = None
    usual: float | None = None


@dataclass(frozen=True, eq=False)
class NetworkFindings:
    """Everything that was found about the dependencies of columns.

    Attributes
    ----------
    title : str
    n_rows, n_missing : int
    model : BeliefNetwork
    variables : tuple of Variable
    dependencies : tuple of Dependency
        Edges, those of most information first.
    alone : list of str
        Columns without an edge.
    guessed : Guessed or None
    n_resamples : int
    method : str
    notes, columns : tuple
    summary, limits : list of str
    card : dict of str to str
    trace : array
    """

    title: str
    n_rows: int
    n_missing: int
    model: Any
    variables: tuple[Variable, ...]
    dependencies: tuple[Dependency, ...]
    alone: list[str]
    guessed: Guessed | None
    n_resamples: int
    method: str
    notes: tuple = ()
    columns: tuple = ()
    summary: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    card: dict[str, str] = field(default_factory=dict)
    trace: np.ndarray = field(default_factory=lambda: np.empty(0))
    kind: str = "network"

    def __repr__(self) -> str:
        return f"NetworkFindings({self.title!r}: {count(len(self.dependencies), 'edge')})"


def study_network(choice: NetworkChoice) -> NetworkFindings:
    """Findings about the network of a table.

    Parameters
    ----------
    choice : NetworkChoice

    Returns
    -------
    NetworkFindings
    """
    model, table = choice.model, choice.table
    found = NetworkFindings(
        table.reader.name, table.n_rows, int((choice.codes < 0).sum()), model, _variables(choice), _dependencies(choice),
        _alone(choice), choice.guessed, choice.n_resamples, choice.method, choice.notes, table.columns,
        trace=np.asarray(model.lower_bounds_, dtype=float), card=card(choice),
    )  # fmt: skip
    found.summary.extend(summary(found, choice))
    found.limits.extend(limits(found, choice))
    return found


def _variables(choice: NetworkChoice) -> tuple[Variable, ...]:
    schema, marginals = choice.model.schema_, choice.model.marginals()
    checked = {row["column"]: row for row in (choice.guessed.columns if choice.guessed else ())}
    roles = {column.name: column.role for column in choice.table.columns}
    made = []
    for j, column in enumerate(schema.columns):
        own = choice.codes[:, j]
        counts = np.bincount(own[own >= 0], minlength=len(column.levels)).tolist()
        row = checked.get(column.name, {})
        made.append(Variable(
            str(column.name), roles[column.name], [level_text(level) for level in column.levels], counts,
            marginals[column.name].values.tolist(), int((own < 0).sum()), row.get("right"), row.get("usual"),
        ))  # fmt: skip
    return tuple(made)


def _alone(choice: NetworkChoice) -> list[str]:
    names, nodes = choice.model.schema_.names, choice.model.nodes_
    return [name for i, name in enumerate(names) if not nodes.parents[i] and not nodes.children[i]]


def _dependencies(choice: NetworkChoice) -> tuple[Dependency, ...]:
    columns = choice.model.schema_.columns
    sizes = [len(column.levels) for column in columns]
    codes = Codes.of(choice.codes, sizes)
    information, gains = mutual_information(choice.codes, sizes), Gains(codes, "bic")
    compelled, joined = set(choice.structure.directed), choice.joined
    made = []
    for a, b in choice.structure.edges:
        others = [parent for parent, child in choice.structure.edges if child == b and parent != a]
        both = int(((choice.codes[:, a] >= 0) & (choice.codes[:, b] >= 0)).sum())
        bias = (sizes[a] - 1) * (sizes[b] - 1) / (2 * max(both, 1))  # of what independent columns have
        either = float(joined[a, b] + joined[b, a])
        told = contrasted(choice.codes, a, b, sizes)
        made.append(Dependency(
            str(columns[a].name), str(columns[b].name), max(float(information[a, b]) - bias, 0.0) / np.log(2),
            float(gains.of(b, others, np.array([a]))[0]), either if choice.n_resamples else None,
            float(joined[a, b]) / either if either else None, (a, b) in compelled, told,
            "" if told is None else contrast(told, columns),
        ))  # fmt: skip
    return tuple(sorted(made, key=lambda each: -each.information))


def contrasted(codes: np.ndarray, a: int, b: int, sizes: list[int]) -> Contrast | None:
    """The level of one of two columns whose share differs most between two levels of the other; None where rows are too few."""
    known = (codes[:, a] >= 0) & (codes[:, b] >= 0)
    counts = np.bincount(codes[known, a] * sizes[b] + codes[known, b], minlength=sizes[a] * sizes[b])
    counts = counts.reshape(sizes[a], sizes[b])
    best: Contrast | None = None
    for given, column, own in ((a, b, counts), (b, a, counts.T)):
        rows = own.sum(axis=1)
        enough = np.flatnonzero(rows >= max(FEWEST, LEAST_SHARE * rows.sum()))
        if len(enough) < 2:
            continue
        share = own[enough] / rows[enough, None]
        level = int((share.max(axis=0) - share.min(axis=0)).argmax())
        high, low = int(share[:, level].argmax()), int(share[:, level].argmin())
        each = Contrast(column, given, level, int(enough[high]), int(enough[low]), float(share[high, level]),
                        float(share[low, level]))  # fmt: skip
        if best is None or each.share_high - each.share_low > best.share_high - best.share_low + 0.05:
            best = each
    return best
