"""`Scorer`: the group of every row, how sure it is, and how far out the row lies.

    outlier = P(χ²_m > (x_O − μ_g)ᵀ Σ_g,OO⁻¹ (x_O − μ_g)),    O the m observed measurements of the row, g its likeliest group

For heavy-tailed groups Σ_g is the scale of their Gaussian core, so that rows in the tails count as far out.
"""

from dataclasses import dataclass

import numpy as np

from ..families.gaussian import Gaussian, n_observed
from ..mixture.student import log_tail
from ..source import ArraySource
from ..words import number

__all__ = ["FALSE_ALARMS", "SURE", "Coder", "Scorer", "Scores", "group_order", "level_text", "outlier_threshold"]

SURE = 0.9
"""Rows whose likeliest group has a smaller probability are called uncertain."""
FALSE_ALARMS = 0.05
"""Expected number of rows called outliers in a table that follows the model."""


def group_order(model):
    """The components of a mixture in the order of the groups' numbers: the largest weight first."""
    return np.argsort(-np.asarray(model.weights_), kind="stable")


def outlier_threshold(n_rows):
    """The probability of lying farther out below which a row of a table is an outlier."""
    return FALSE_ALARMS / max(n_rows, 1)


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
    """

    memberships: np.ndarray
    group: np.ndarray
    sure: np.ndarray
    outlier: np.ndarray | None


class Scorer:
    """Apply a fitted mixture to rows.

    Parameters
    ----------
    model : Mixture
        Fitted.
    """

    def __init__(self, model):
        self.model, self.order = model, group_order(model)
        self.mixture, self.params = model._model(), model._params()
        self.measured = [
            (part, list(columns), own)
            for (part, columns), own in zip(model.family_.parts, self.params.components.parts)
            if isinstance(part, Gaussian)
        ]

    def __call__(self, cells):
        """Score rows that are numbers already, as the model's schema codes them."""
        if not len(cells):
            empty = np.empty(0)
            return Scores(np.empty((0, len(self.order))), empty.astype(int), empty, empty if self.measured else None)
        parts = list(ArraySource(cells, n_jobs=self.model.n_jobs).map(self._block))
        memberships = np.concatenate([memberships for memberships, _ in parts])
        best = memberships.argmax(axis=1)
        outlier = np.concatenate([outlier for _, outlier in parts]) if self.measured else None
        return Scores(memberships, best + 1, memberships[np.arange(len(best)), best], outlier)

    def _block(self, block):
        resp = self.mixture.posterior(self.params, block)[0][:, self.order]
        if not self.measured:
            return resp, None
        square, n_seen = np.zeros(resp.shape), np.zeros(len(resp))
        for part, columns, own in self.measured:
            rows = block.select(columns)
            square, n_seen = square + part.distance(own, rows), n_seen + n_observed(rows)[:, 0]
        own = square[:, self.order][np.arange(len(resp)), resp.argmax(axis=1)]
        with np.errstate(over="ignore", under="ignore"):
            tail = np.exp(log_tail(np.nan_to_num(own, nan=np.inf), np.maximum(n_seen, 1)))
        return resp, np.where(n_seen > 0, np.nan_to_num(tail, nan=0.0), 1.0)

    def reason(self, cells, group):
        """Why a row is far out, in words: the measurement farthest from what its group has, or from what its others say."""
        k, alone, given = self.order[group - 1], _NOTHING, _NOTHING
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
        value, centre, width = number(value), number(centre, 3), number(width, 2)
        if alone[0] >= FAR:
            return f"{name} is {value}; group {group} has {centre} ± {width}"
        return f"{name} is {value}; its other measurements suggest {centre} ± {width}"


FAR = 3.0
_NOTHING = (0.0, "", 0.0, 0.0, 1.0)


def _farthest(x, centre, width, names):
    """The measurement that is most of its widths away: how many, its name, value, centre and width."""
    steps = np.abs(x - centre) / width
    j = int(np.argmax(steps))
    return float(steps[j]), str(names[j]), float(x[j]), float(centre[j]), float(width[j])


class Coder:
    """Rows of a table in the order and the codes of a model's schema; what the table lacks is missing.

    Parameters
    ----------
    schema : Schema
        That of the model.
    table : DataTable

    Attributes
    ----------
    absent : list of str
        Columns that the table lacks.
    """

    def __init__(self, schema, table):
        self.table, self.n_columns = table, len(schema.columns)
        given = {str(column.name): (place, column) for place, column in enumerate(table.schema.columns)}
        self.absent = [str(column.name) for column in schema.columns if str(column.name) not in given]
        self.places = []
        for j, column in enumerate(schema.columns):
            if str(column.name) in given:
                place, own = given[str(column.name)]
                self.places.append((j, place, _recode(column, own)))

    def encode(self, batch):
        """The cells that the model uses as numbers, NaN where missing."""
        cells = self.table.schema.encode(batch)
        out = np.full((len(cells), self.n_columns), np.nan)
        for j, place, codes in self.places:
            out[:, j] = cells[:, place]
            if codes is not None:
                seen = ~np.isnan(out[:, j])
                out[seen, j] = codes[out[seen, j].astype(int)]
        return out


def _recode(column, own):
    """The model's code of every code of a table's category; None for numbers."""
    if (column.kind == "category") != (own.kind == "category"):
        raise ValueError(
            f"column {own.name!r} is {own.kind} in the table, but {column.kind} in the model; read the table as the model was "
            "fitted, with like=…."
        )
    if column.kind != "category":
        return None
    codes = {level_text(level): code for code, level in enumerate(column.levels)}
    return np.array([codes.get(level_text(level), np.nan) for level in own.levels], dtype=np.float64)


def level_text(level):
    """A level as tables write it."""
    if isinstance(level, (bool, np.bool_)) or not isinstance(level, (int, float, np.number)):
        return str(level)
    return f"{level:.15g}"
