"""`Findings`: what was found in a table, as plain numbers and words.

The console summary, the JSON for programs and the page are three views of the same findings; none of them computes anything
else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__

if TYPE_CHECKING:
    from ..mixture.verdict import Verdict
    from ..tables import DataTable

__all__ = ["Alternative", "Axes", "Findings", "Group", "Sample", "card_of", "findings_of"]


@dataclass(frozen=True)
class Sample:
    """The rows that a page shows: all of a small table, some of a large one. Arrays have a row for each.

    Attributes
    ----------
    rows : (m,) int array
        Numbers of the rows in the table, from 1.
    cells : dict of str to list
        Every column of the table as it was read: float, str or None where missing.
    encoded : (m, d) array
        The cells that the model uses, categories as codes, NaN where missing.
    filled, low, high : (m, d) arrays
        The same with missing cells filled in, and the interval of each filled number (NaN elsewhere; categories have none).
        A cell that is NaN in `filled` too was left empty: its group never has that column.
    sure : (m, d) array
        Probability of a filled category (NaN elsewhere).
    """

    rows: np.ndarray
    cells: dict[str, list]
    encoded: np.ndarray
    filled: np.ndarray
    low: np.ndarray
    high: np.ndarray
    sure: np.ndarray


@dataclass(frozen=True)
class Group:
    """A group of rows.

    Attributes
    ----------
    number : int
        From 1, the largest group first.
    n_rows : int
        Rows more likely in it than in any other, of the whole table.
    share : float
        Its weight in the mixture.
    words : str
        What sets it apart, as a phrase: "bill_length_mm very high, sex mostly male".
    profile : list of dict
        All columns and levels with `column`, `level` (None for numbers), `value` in the group, `rest` in the other rows,
        `overall` in all rows, `difference` of value and overall in standard deviations, and `text`; those that set the group
        apart most come first. `known` of the group's `n_rows` have the cell: values are of these.
    clauses : list of dict
        The clauses of `words`, each with its `phrase` and the figures behind it, as in `profile`; `against` and `other` are the
        number and the value of another group described alike, `spread` how many times more values spread than in other rows.
    """

    number: int
    n_rows: int
    share: float
    words: str
    profile: list[dict]
    clauses: list[dict] = field(default_factory=list)


@dataclass(frozen=True)
class Alternative:
    """The groups of another model that was tried: the best with so many groups, on the same rows.

    Attributes
    ----------
    n_groups : int
    covariance_type : str
    value : float or None
        The criterion by which models were chosen, and `behind`, by how much it is worse than the best; None where there is none.
    behind : float or None
    groups : tuple of Group
        Described as those of the model that was chosen.
    group : (m,) int array
        Number of the likeliest group of the sample's rows.
    n_uncertain : int
        Rows that are less than 90 % sure of their group.
    n_counted : int or None
        How many rows, drawn at random, groups and uncertain rows were counted on; None for all of the table.
    """

    n_groups: int
    covariance_type: str
    value: float | None
    behind: float | None
    groups: tuple[Group, ...]
    group: np.ndarray
    n_uncertain: int
    n_counted: int | None = None


@dataclass(frozen=True)
class Axes:
    """Hidden axes behind the columns.

    Attributes
    ----------
    names : list of str
    explained : (k,) array
        Share of the variance that each explains.
    loadings : (d, k) array
        Weight of each column on each axis.
    scores, std : (m, k) arrays
        Places of the sample's rows, and how uncertain each is.
    spectrum : array
        Shares of the variance along all axes there are, for the scree plot.
    words : list of str
        What each axis opposes, as a phrase.
    noise : array or None
        What independent columns would reach along each axis in 19 of 20 tables of as many rows (parallel analysis).
    """

    names: list[str]
    explained: np.ndarray
    loadings: np.ndarray
    scores: np.ndarray
    std: np.ndarray
    spectrum: np.ndarray
    words: list[str]
    noise: np.ndarray | None = None


@dataclass(frozen=True)
class Findings:
    """Everything that was found.

    Attributes
    ----------
    kind : {"groups", "fill", "axes"}
        What was asked: groups, filled cells or axes.
    title : str
        Name of the table.
    n_rows : int
    columns : tuple of tacit.tables.ColumnInfo
        All columns of the table.
    used : list of str
        Names of the d columns of the model, in the order of the arrays of `sample`.
    sample : Sample
    summary : list of str
        Sentences in plain words, the most important first.
    card : dict of str to str
        The model card: data, model, settings, version, seed, how it was fitted.
    limits : list of str
        What not to conclude, in sentences.
    trace : array
        The objective per row after each step.
    selection : list of dict
        Models tried, best first, with `n_components`, `covariance_type`, `bic` (None where failed), `failed`.
    groups : tuple of Group
    memberships : (m, K) array or None
        Probability of each group for the sample's rows.
    group : (m,) int array or None
        Number of the likeliest group of the sample's rows.
    outlier : (m,) array or None
        For each of the sample's rows, the probability that a row of its group lies farther out.
    uncertain, outliers : list of dict
        The least certain and the most outlying rows of the whole table: `row`, the ids, `group`, `probability` …
    n_uncertain, n_outliers : int
        How many there are in the whole table.
    n_filled : dict of str to int
        Missing cells of the whole table that are filled, by column of the model.
    n_empty : dict of str to int
        Those that are left empty, where there are any.
    shares : list of dict
        What columns with filled cells hold before and after; see `tacit.study.fills.Fills`.
    missingness : list of Missingness
        Why cells are missing; see `tacit.study.diagnose_missing`.
    axes : Axes or None
    check : dict or None
        How good filled cells are, found by hiding some on purpose; see `tacit.impute.trial.judge`.
    level : float
        Probability with which the interval of a filled number holds the true one.
    verdict : tacit.mixture.verdict.Verdict or None
        Whether groups are clear, overlap or cut a continuum; its sentence is the first of `summary`. None where it was not asked.
    alternatives : tuple of Alternative
        The best groupings of every number tried, the chosen one included, by their number; empty where they are not at hand.
    learned : dict or None
        Where an earlier model scored other rows: the `title` and `n_rows` of the table it was learned from, which the words
        and profiles of `groups` describe; their `n_rows` are rows of this table.
    loose : tuple of int
        Groups of which most rows lie farther out than the model says, so that none of these is called unusual.
    aside : list of dict
        Cells with gross errors, with `row`, `column` and `value`, whose rows were not learned from.
    digest : str
        A digest of the cells that the model used, which tells whether another table is the same.
    labels, units : dict of str to str
        What columns are called in words, and what they are measured in, by name, where the user has said so.
    group_names : dict of int to str
        What the user calls groups, by number.
    """

    kind: str
    title: str
    n_rows: int
    columns: tuple
    used: list[str]
    sample: Sample
    summary: list[str] = field(default_factory=list)
    card: dict[str, str] = field(default_factory=dict)
    limits: list[str] = field(default_factory=list)
    trace: np.ndarray = field(default_factory=lambda: np.empty(0))
    selection: list[dict] = field(default_factory=list)
    groups: tuple[Group, ...] = ()
    memberships: np.ndarray | None = None
    group: np.ndarray | None = None
    outlier: np.ndarray | None = None
    uncertain: list[dict] = field(default_factory=list)
    outliers: list[dict] = field(default_factory=list)
    n_uncertain: int = 0
    n_outliers: int = 0
    n_filled: dict[str, int] = field(default_factory=dict)
    n_empty: dict[str, int] = field(default_factory=dict)
    shares: list[dict] = field(default_factory=list)
    missingness: list = field(default_factory=list)
    axes: Axes | None = None
    check: dict | None = None
    level: float = 0.9
    verdict: Verdict | None = None
    alternatives: tuple[Alternative, ...] = ()
    learned: dict | None = None
    loose: tuple[int, ...] = ()
    aside: list[dict] = field(default_factory=list)
    digest: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    group_names: dict[int, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        about = " ".join(self.summary[:1]) or f"{self.n_rows:,} rows"
        return f"Findings({self.kind!r}, {self.title!r}: {about})"


def findings_of(kind: str, model: Any, table: DataTable, **found: Any) -> Findings:
    """Findings about the columns that a table uses, with what is known of every table and of every fit."""
    trace = np.asarray(getattr(model, "lower_bounds_", ()), dtype=np.float64)
    return Findings(
        kind, table.reader.name, table.n_rows, table.columns, list(table.schema.names), trace=trace, **found
    )


def card_of(model: Any, table: DataTable, seed: int, **facts: str) -> dict[str, str]:
    """The model card of such findings."""
    return {
        "Data": f"{table.reader.name}: {table.n_rows:,} rows, {len(table.used)} columns used of {len(table.columns)}",
        **facts,
        "Fitted": f"{model.fit_.reason} ({model.n_iter_} steps)",
        "Seed": str(seed),
        "Version": f"tacit {__version__}",
    }
