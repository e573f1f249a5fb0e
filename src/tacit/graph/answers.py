"""`NetworkAnswers`: what a network says of the rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..base import like
from ..base.missing import Imputed
from ..schema import labels_of
from ..source import Block
from .levels import centres, drawn, interval
from .mixed import Part
from .model import codes_of, values_of
from .nodes import closest
from .queries import NetworkQueries

__all__ = ["NetworkAnswers"]


def _has_states(network: Any) -> bool:
    """Whether a network has a discrete variable, of whose states there are probabilities."""
    nodes = getattr(network, "nodes_", None)
    if nodes is not None and nodes.continuous.all():
        raise AttributeError("every variable is continuous; predict tells expectations.")
    return True


class NetworkAnswers(NetworkQueries):
    """Answers for rows, each by the name that scikit-learn has for it."""

    def _row_parts(self, block: Block, targets: Sequence[Sequence[int]], asked: Iterable[int] = ()) -> list[Part]:
        codes, values = codes_of(block, self.nodes_), values_of(block, self.nodes_)
        return list(self._mixed.parts(self.params_, codes, values, targets, asked))

    def _scores(self, block: Block) -> np.ndarray:
        found = np.empty(len(block))
        for part in self._row_parts(block, []):
            found[part.rows] = part.loglik
        return found

    def score_samples(self, X: Any, out: Any = None) -> Any:
        """Log probability of the observed cells of rows; log density where some are continuous, −∞ where impossible.

        Parameters
        ----------
        X : table, array-like, path or source
            Rows; missing cells, and columns that a table lacks, are summed over.
        out : path, optional
            A Parquet file to write to.
        """
        return self._apply(
            X, lambda block: self._scores(block)[:, None] if out is not None else self._scores(block), out, ["score"]
        )

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of `score_samples`."""
        return float(np.mean(self.score_samples(X)))

    @available_if(_has_states)
    def predict_proba(self, X: Any, target: Any = None) -> np.ndarray:
        """Probability of every state of a column given the other cells of rows.

        Parameters
        ----------
        X : table or array-like
            Rows; the target's cells are not looked at, and a table need not have its column.
        target : name or number of a column, optional
            Default is that of the settings.

        Returns
        -------
        ndarray of shape (n_samples, n_states)
            States in the order of ``states_of(target)``.
        """
        check_is_fitted(self)
        j = self._target(self._default_target(target))
        if self.nodes_.continuous[j]:
            raise ValueError(f"target={self.nodes_.names[j]!r} is continuous; predict tells its expectation.")

        def posterior(block: Block) -> np.ndarray:
            found = np.empty((len(block), int(self.nodes_.cards[j])))
            for part in self._row_parts(self._without(block, j), [(j,)]):
                self._refuse_impossible(part, block)
                found[part.rows] = part.marginals
            return like(block, found)

        return self._apply(X, posterior)

    def predict_marginals(self, X: Any) -> dict:
        """Probabilities of the states of every discrete variable, hidden ones included, given the observed cells of rows.

        Parameters
        ----------
        X : table or array-like
            Rows; an observed cell has probability 1.

        Returns
        -------
        dict of variable to ndarray of shape (n_samples, n_states)
        """
        check_is_fitted(self)
        discrete = np.flatnonzero(~self.nodes_.continuous).tolist()
        ends = np.cumsum(self.nodes_.cards[discrete])

        def posterior(block: Block) -> np.ndarray:
            found = np.empty((len(block), int(ends[-1])))
            for part in self._row_parts(block, [(i,) for i in discrete]):
                self._refuse_impossible(part, block)
                found[part.rows] = part.marginals
            return found

        return dict(
            zip([self.nodes_.names[i] for i in discrete], np.split(self._apply(X, posterior), ends[:-1], axis=1))
        )

    def _default_target(self, target: Any) -> Any:
        """The column to predict where none is named: that of the settings, or the last."""
        asked = self.target if target is None else target
        return self.schema_.names[-1] if asked is None else asked

    def _target(self, target: Any) -> int:
        """The position of a variable, given by name or, where none is called so, by number."""
        names = self.nodes_.names
        if target in names:
            return names.index(target)
        if isinstance(target, (int, np.integer)) and 0 <= target < len(names):
            return int(target)
        raise ValueError(f"target={target!r} is no variable of the network; {closest(target, names)}")

    @staticmethod
    def _without(block: Block, j: int) -> Block:
        """A block whose cells of a column are missing; those of a hidden variable always are."""
        if j >= block.X.shape[1]:
            return block
        X = np.array(block.X)
        X[:, j] = np.nan
        return Block.of(X, block.weight, first=block.first)

    def _refuse_impossible(self, part: Part, block: Block) -> None:
        if np.isneginf(part.loglik).any():
            row = block.first + int(part.rows[int(np.argmax(np.isneginf(part.loglik)))])
            raise ValueError(
                f"row {row} of X is impossible under the network (probability 0); correct it, or learn with prior above 0."
            )

    def states_of(self, variable: Any) -> tuple:
        """The states of a variable, in the order of `predict_proba`; none of a continuous one."""
        check_is_fitted(self)
        return self.nodes_.states[self.nodes_.at(variable)]

    def predict(self, X: Any, target: Any = None) -> np.ndarray:
        """The most probable state of a column given the other cells of rows; the expectation of a column of numbers.

        Parameters
        ----------
        X, target
            As in `predict_proba`.
        """
        check_is_fitted(self)
        j = self._target(self._default_target(target))
        if self._cut(j):
            return self.predict_proba(X, target) @ centres(self.schema_.columns[j])
        if not self.nodes_.continuous[j]:
            states = np.array([*self.nodes_.states[j], None], dtype=object)[:-1]
            best = states[self.predict_proba(X, target).argmax(axis=1)]
            return best if any(isinstance(s, str) for s in states) else np.array(best.tolist())

        def mean(block: Block) -> np.ndarray:
            found = np.empty(len(block))
            for part in self._row_parts(self._without(block, j), [], [j]):
                self._refuse_impossible(part, block)
                found[part.rows] = part.moments(j)[0]
            return like(block, found)

        return self._apply(X, mean)

    def impute(self, X: Any, method: str = "marginal") -> Any:
        """Fill missing cells.

        Parameters
        ----------
        X : table or array-like
            Rows.
        method : {"marginal", "joint"}, default="marginal"
            Each cell by its own most probable state, or expectation, or all cells of a row by what is most probable together.

        Returns
        -------
        table of the kind of X
        """
        check_is_fitted(self)
        if method not in ("marginal", "joint"):
            raise ValueError(f"method={method!r} is unknown; use one of 'marginal', 'joint'.")
        fill = self._marginal_fill if method == "marginal" else self._joint_fill
        cells = self._collected(self._open(X), fill)
        if not hasattr(X, "columns") and isinstance(X, np.ndarray) and X.dtype.kind in "fiu":
            columns = [labels_of(column, each) for column, each in zip(self.schema_.columns, cells.T)]
            made = np.column_stack([column.astype(np.float64) for column in columns])
            return np.where(np.isnan(X), made, X).astype(X.dtype if X.dtype.kind == "f" else float)
        return self.schema_.decode(cells, self._filled_out(X))

    def _filled_out(self, X: Any) -> Any:
        """X for `decode`: columns that a table lacks are not taken from it."""
        return X if not isinstance(X, (list, tuple)) else np.array(X, dtype=object)

    def _cut(self, j: int) -> bool:
        """Whether a variable is a column of numbers that is cut into levels."""
        return j < len(self.schema_.columns) and bool(self.schema_.columns[j].cuts)

    def _marginal_fill(self, block: Block) -> np.ndarray:
        return self._imputed(block).filled

    def _imputed(self, block: Block, level: float | None = None) -> Imputed:
        """Missing cells filled in, each by itself, and, where a level is given, with intervals and probabilities.

        Cells of columns that are cut into levels are filled with numbers; what is observed of them stays a code.
        """
        cells, missing = np.array(block.X, dtype=np.float64), np.isnan(block.X)
        low, high, sure = (np.full(cells.shape, np.nan) for _ in range(3))
        columns = np.flatnonzero(missing.any(axis=0)).tolist()
        discrete = [j for j in columns if not self.nodes_.continuous[j]]
        ends = dict(zip(discrete, np.cumsum([0, *(int(self.nodes_.cards[j]) for j in discrete)]).tolist()))
        for part in self._row_parts(block, [(j,) for j in discrete], [j for j in columns if self.nodes_.continuous[j]]):
            self._refuse_impossible(part, block)
            for j in columns:
                own, column = missing[part.rows, j], self.schema_.columns[j]
                rows = part.rows[own]
                if not len(rows):
                    continue
                if self.nodes_.continuous[j]:
                    cells[rows, j] = part.moments(j)[0][own]
                    if level:
                        low[rows, j], high[rows, j] = part.interval(j, level)[own].T
                    continue
                p = part.marginals[own, ends[j] : ends[j] + int(self.nodes_.cards[j])]
                if not column.cuts:
                    cells[rows, j], sure[rows, j] = p.argmax(axis=1), p.max(axis=1)
                    continue
                cells[rows, j] = p @ centres(column)
                if level:
                    low[rows, j], high[rows, j] = interval(column, p, level).T
        return Imputed(cells, low, high, sure)

    def _joint_fill(self, block: Block) -> np.ndarray:
        codes, values = codes_of(block, self.nodes_), values_of(block, self.nodes_)
        everything = np.flatnonzero(~self.nodes_.continuous).tolist()
        logs, filled = self._mixed.most_probable(self.params_, codes, values, everything)
        if np.isneginf(logs).any():
            row = block.first + int(np.argmax(np.isneginf(logs)))
            raise ValueError(
                f"row {row} of X is impossible under the network (probability 0); correct it, or learn with prior above 0."
            )
        cells = np.array(block.X, dtype=np.float64)
        missing = np.isnan(cells)
        for j, column in enumerate(self.schema_.columns):
            if column.cuts:
                filled[:, j] = centres(column)[filled[:, j].astype(int)]
        cells[missing] = filled[:, : cells.shape[1]][missing]
        return cells

    def sample(self, n_samples: int = 1, given: Any = None, *, likelihood: Any = None, random_state: Any = None) -> Any:
        """Draw rows, of the columns of the table that was learned from or of all variables.

        Parameters
        ----------
        n_samples : int, default=1
        given, likelihood
            As in `query`: rows are drawn from the posterior, exactly.
        random_state : int, RandomState or None
            Default is the estimator's own.
        """
        evidence, rng = self._evidence(given, likelihood), self._rng(random_state)
        if evidence.observed or evidence.likelihood:
            log, rows = self._mixed.draw(self.params_, evidence.codes, evidence.values, n_samples, rng, evidence.soft)
            if np.isneginf(log):
                raise ValueError(self._conflict(evidence))
        else:
            rows = self._mixed.draw_rows(self.params_, n_samples, rng)
        for j, column in enumerate(self.schema_.columns):
            if column.cuts:
                rows[:, j] = drawn(column, rows[:, j], rng)
        return self.schema_.decode(rows[:, : self.n_features_in_])
