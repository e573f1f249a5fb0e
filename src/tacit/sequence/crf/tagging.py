"""`Tagging`: what a fitted conditional random field says of sequences, and a table of what it learned."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from ...checks import check_number, check_rows
from ...engine import Trace
from ...source import Block
from ...table import Table
from .layout import Layout
from .model import FieldModel, Weights, field_source
from .reading import Items, encode, is_listed, is_matrix, read_items, read_labels, read_matrices, weights_of

__all__ = ["Tagging"]


class Tagging:
    """Answers of an estimator that has `classes_`, `attributes_`, `state_weights_`, `transition_weights_` and `_chain()`."""

    classes_: np.ndarray
    attributes_: np.ndarray
    state_weights_: Any
    transition_weights_: np.ndarray
    from_matrix_: bool
    n_jobs: int | None
    fit_: Any
    _chain: Callable
    _column_names: Callable
    _ready: tuple | None = None

    def __getstate__(self) -> dict[str, Any]:
        state: dict = super().__getstate__()  # type: ignore[assignment]
        return {name: value for name, value in state.items() if name != "_ready"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required, tags.classifier_tags = True, ClassifierTags()
        return tags

    @property
    def trace_(self) -> Trace:
        """The objective after every step; ``trace_.plot()`` draws it."""
        check_is_fitted(self)
        return self.fit_.trace

    @property
    def log_likelihood_(self) -> float:
        """The objective at the end."""
        return self.trace_.objectives[-1]

    # Reading

    def _read(self, X: Any, lengths: Any = None, *, reset: bool = False) -> tuple[Items, Any]:
        """Steps, and at fit the attributes they have."""
        X = list(X) if hasattr(X, "__next__") else X
        listed = is_listed(X)
        if listed and not (len(X) and is_matrix(X[0])):
            if lengths is not None:
                raise ValueError("X is a list of sequences, whose lengths are its own; leave lengths out.")
            if not reset and self.from_matrix_:
                raise ValueError("X has attributes by name, but columns of a matrix were given at fit; give a matrix.")
            items, attributes = read_items(X, None if reset else self._known[0])
        else:
            if not reset and not self.from_matrix_:
                raise ValueError(
                    "X is a matrix, but attributes by name were given at fit; give dictionaries or lists of them."
                )
            items = read_matrices(X, lengths, self._validated(reset))
            attributes = self._column_names()
        if reset:
            _check_steps(items, len(attributes))
        return items, attributes

    def _validated(self, reset: bool) -> Callable[[Any], Any]:
        """What checks a matrix; the first one at fit tells the columns."""
        first = [reset]

        def validate(part: Any) -> Any:
            return check_rows(self, part, reset=first.pop() if first else False)

        return validate

    @property
    def _known(self) -> tuple[dict, Layout, Weights]:
        """Numbers of attributes, and weights as kernels take them."""
        if self._ready is None or self._ready[0] is not self.state_weights_:
            numbers = {name: number for number, name in enumerate(self.attributes_.tolist())}
            layout = Layout.plain(self.state_weights_)
            weights = Weights(np.concatenate([self.state_weights_.data, self.transition_weights_.ravel()]))
            self._ready = self.state_weights_, (numbers, layout, weights)
        return self._ready[1]

    def _model(self) -> FieldModel:
        return FieldModel(self._known[1], self._chain())

    def _params(self) -> Weights:
        return self._known[2]

    @property
    def _n_columns(self) -> int:
        return len(self.attributes_)

    def _over(
        self, items: Items, function: Callable[[FieldModel, Weights, Block], Any], labels: np.ndarray | None = None
    ) -> list:
        """What a method of the model says of the blocks of steps; sequences without steps are left out."""
        if not items.rows.shape[0]:
            return []
        source = field_source(items.rows, labels, None, np.unique(items.offsets), n_jobs=self.n_jobs)
        model, params = self._model(), self._params()
        return list(source.map(partial(function, model, params)))

    def _asked(self, X: Any, lengths: Any) -> Items:
        check_is_fitted(self)
        return self._read(X, lengths)[0]

    def _check_possible(self, items: Items, scores: list) -> None:
        bad = np.flatnonzero(np.isneginf(np.concatenate([np.zeros(0), *scores])))
        if len(bad):
            u = int(np.flatnonzero(np.diff(items.offsets))[bad[0]])
            n = int(items.offsets[u + 1] - items.offsets[u])
            raise ValueError(
                f"sequence {u} has no labels: scheme, forbidden and required rule out every labelling of its "
                f"{n} step{'s' if n > 1 else ''}; allow more."
            )

    # Answers

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """The likeliest labels of sequences (Viterbi).

        Parameters
        ----------
        X : as at fit
            Attributes that did not occur at fit are ignored.
        lengths : array-like of int, optional
            As at fit.

        Returns
        -------
        list of lists of labels, or ndarray of shape (n_steps,) where X is one matrix
        """
        items = self._asked(X, lengths)
        parts = self._over(items, FieldModel.decode)
        self._check_possible(items, [score for _, score in parts])
        path = np.concatenate([np.zeros(0, dtype=np.int64), *(path for path, _ in parts)])
        labels = self.classes_[path]
        return [part.tolist() for part in items.split(labels)] if items.listed else labels

    def predict_single(self, xseq: Any) -> list:
        """The likeliest labels of one sequence.

        Parameters
        ----------
        xseq : list of dict or list of names
            Its steps.
        """
        return self.predict([xseq])[0]

    def predict_proba(self, X: Any, lengths: Any = None) -> Any:
        """Probabilities of labels of each step, given the whole sequence.

        Parameters
        ----------
        X, lengths
            As in `predict`.

        Returns
        -------
        list of ndarray of shape (n_steps, n_classes), or one ndarray where X is one matrix
        """
        items = self._asked(X, lengths)
        parts = self._over(items, FieldModel.posterior)
        self._check_possible(items, [score for _, score in parts])
        return items.split(np.concatenate([np.zeros((0, len(self.classes_))), *(found for found, _ in parts)]))

    def predict_marginals(self, X: Any, lengths: Any = None) -> list:
        """`predict_proba` as dictionaries of labels to probabilities, one for each step of each sequence.

        Parameters
        ----------
        X, lengths
            As in `predict`.
        """
        found = self.predict_proba(X, lengths)
        names = self.classes_.tolist()
        told = [
            [dict(zip(names, row)) for row in part.tolist()] for part in (found if isinstance(found, list) else [found])
        ]
        return told if isinstance(found, list) else told[0]

    def predict_marginals_single(self, xseq: Any) -> list:
        """`predict_marginals` of one sequence.

        Parameters
        ----------
        xseq : list of dict or list of names
            Its steps.
        """
        return self.predict_marginals([xseq])[0]

    def log_prob(self, X: Any, y: Any, lengths: Any = None) -> np.ndarray:
        """Log-probability of the labels of each sequence, summed over those that are not known.

        Parameters
        ----------
        X, lengths
            As in `predict`.
        y : as at fit
            Labels; None, NaN and −1 are not known.

        Returns
        -------
        ndarray of shape (n_sequences,)
        """
        items = self._asked(X, lengths)
        labels = encode(y, items, self.classes_)
        parts = self._over(items, FieldModel.log_joint, labels)
        found = np.zeros(len(items.offsets) - 1)
        found[np.diff(items.offsets) > 0] = np.concatenate([np.zeros(0), *parts])
        return found

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, lengths: Any = None) -> float:
        """The share of the labels that are right, of those that are known.

        Parameters
        ----------
        X, lengths
            As in `predict`.
        y : as at fit
        sample_weight : array-like of shape (n_sequences,), optional
        """
        items = self._asked(X, lengths)
        names, codes = read_labels(y, items)
        found = self.predict(X, lengths)
        flat = [label for part in found for label in part] if items.listed else found.tolist()
        right = np.array([code >= 0 and names[code] == label for code, label in zip(codes, flat)], dtype=float)
        weight = np.repeat(weights_of(sample_weight, items), np.diff(items.offsets)) * (codes >= 0)
        if not weight.any():
            raise ValueError(f"none of the {len(codes)} steps has a label that counts; give one at least.")
        return float(np.average(right, weights=weight))

    # What was learned

    @property
    def state_features_(self) -> dict[tuple[str, Any], float]:
        """Weights that are not 0, by attribute and label."""
        found, names = self.state_weights_.tocoo(), self.classes_.tolist()
        attributes = self.attributes_.tolist()
        cells = zip(found.row.tolist(), found.col.tolist(), found.data.tolist())
        return {(attributes[a], names[j]): w for a, j, w in cells}

    @property
    def transition_features_(self) -> dict[tuple[Any, Any], float]:
        """Weights that are not 0, by label and next label."""
        names, w = self.classes_.tolist(), self.transition_weights_
        return {(names[i], names[j]): float(w[i, j]) for i, j in zip(*np.nonzero(w))}

    @property
    def num_attributes_(self) -> int:
        """How many attributes have a weight that is not 0."""
        return int(np.count_nonzero(np.diff(self.state_weights_.indptr)))

    def weights_table(self, n: int = 10) -> Table:
        """What speaks for and against each label: its `n` strongest attributes and labels before it.

        Parameters
        ----------
        n : int, default=10
            How many rows a label has at most.

        Returns
        -------
        tacit.table.Table
            Rows by label, the largest weights of either sign first.
        """
        check_is_fitted(self)
        check_number("n", n, int, 1)
        states, names = self.state_weights_.tocsc(), self.classes_.tolist()
        rows: list[dict] = []
        for j, label in enumerate(names):
            own = slice(states.indptr[j], states.indptr[j + 1])
            attributes = self.attributes_[states.indices[own]].tolist()
            before = np.flatnonzero(self.transition_weights_[:, j])
            told = [("attribute", each) for each in attributes] + [("label before", names[i]) for i in before]
            weights = np.concatenate([states.data[own], self.transition_weights_[before, j]])
            strongest = np.argsort(-np.abs(weights), kind="stable")[:n]
            rows += [
                {"label": label, "kind": told[k][0], "what": told[k][1], "weight": float(weights[k])} for k in strongest
            ]
        return Table(rows)


def _check_steps(items: Items, n_attributes: int) -> None:
    """Raise where there is nothing to learn from."""
    lengths = np.diff(items.offsets)
    if not len(lengths):
        raise ValueError("X holds no sequence; give one at least.")
    if (lengths == 0).any():
        raise ValueError(f"sequence {int(np.argmin(lengths))} is empty; every sequence has a step at least.")
    if not n_attributes:
        raise ValueError(f"none of the {items.offsets[-1]} steps has an attribute; give one at least.")
