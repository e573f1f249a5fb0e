"""How many topics: by how well models of each number foretell half of the words of documents that they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ...table import Table

__all__ = ["TopicChoice", "choose_topics"]


@dataclass(frozen=True)
class TopicChoice:
    """Numbers of topics that were tried; made by `choose_topics`.

    Attributes
    ----------
    n_topics : tuple of int
        Numbers tried.
    perplexity : ndarray of shape (n_numbers, n_folds)
        Document-completion perplexity of each, on each fold of held-out documents.
    best : int
        The number of the least mean perplexity.
    simplest : int
        The least number whose mean perplexity is within a standard error of the best one's.
    """

    n_topics: tuple[int, ...]
    perplexity: np.ndarray
    best: int
    simplest: int

    @property
    def table(self) -> Table:
        """The curve: mean perplexity and its standard error by number of topics."""
        mean, error = _curve(self.perplexity)
        columns = zip(self.n_topics, mean.tolist(), error.tolist())
        return Table({"n_topics": number, "perplexity": value, "error": slack} for number, value, slack in columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve, and return the axes; needs matplotlib."""
        from ...plot.topics import TopicChoiceDisplay

        return TopicChoiceDisplay(self).plot(ax).ax_


def _curve(perplexity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means over folds, and their standard errors."""
    return perplexity.mean(axis=1), perplexity.std(axis=1, ddof=1) / np.sqrt(perplexity.shape[1])


def choose_topics(
    model: Any, X: Any, n_topics: Sequence[int], *, n_folds: int = 3, random_state: Any = 0
) -> TopicChoice:
    """Try numbers of topics on folds of documents.

    Parameters
    ----------
    model : LatentDirichletAllocation
        Its settings, apart from `n_components`, are those of all models.
    X : sparse matrix or array of shape (n_documents, n_words)
        Counts of words.
    n_topics : sequence of int
        Numbers to try.
    n_folds : int, default=3
        Folds; every document is held out once.
    random_state : int, RandomState instance or None, default=0
        Draws folds, and halves documents.

    Returns
    -------
    TopicChoice

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.topics import LatentDirichletAllocation, choose_topics
    >>> rng = np.random.default_rng(0)
    >>> X = rng.poisson(5 * rng.dirichlet(np.full(2, 0.1), 60) @ np.kron(np.eye(2), np.ones((1, 6))))
    >>> choose_topics(LatentDirichletAllocation(random_state=0), X, [1, 2]).best
    2
    """
    from scipy.sparse import csr_matrix

    X = csr_matrix(X.counts if hasattr(X, "counts") else X)
    numbers = tuple(int(number) for number in n_topics)
    if not numbers:
        raise ValueError("n_topics names no number of topics; give at least one.")
    if not 2 <= n_folds <= X.shape[0]:
        raise ValueError(f"n_folds={n_folds!r} must be from 2 to the {X.shape[0]} documents.")
    rng = model._rng(random_state)
    fold, seed = rng.permutation(np.arange(X.shape[0]) % n_folds), int(rng.integers(2**31))
    found = np.empty((len(numbers), n_folds))
    for at, number in enumerate(numbers):
        for held in range(n_folds):
            fitted = clone(model).set_params(n_components=number).fit(X[fold != held])
            found[at, held] = fitted.completion_perplexity(X[fold == held], random_state=seed)
    mean, error = _curve(found)
    top = int(mean.argmin())
    near = [number for number, value in zip(numbers, mean) if value <= mean[top] + error[top]]
    return TopicChoice(numbers, found, numbers[top], min(near))
