"""How many topics: by how well models of each number predict half of the words of documents that they have not seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from ..table import Table
from .completion import Completion, completion
from .corpus import Corpus, part_of

__all__ = ["TopicChoice", "choose_topics"]

LADDER = (2, 3, 5, 7, 10, 14, 20, 28, 40, 57, 80, 113, 160)
NEAR = 0.01
WORSE = 2


@dataclass(frozen=True)
class TopicChoice:
    """Numbers of topics that were tried; made by `choose_topics`.

    Attributes
    ----------
    n_topics : tuple of int
        Numbers tried.
    perplexity : ndarray of shape (n_numbers, n_folds)
        Document-completion perplexity of each, on each fold of held-out documents; NaN where a fit failed.
    checks : tuple of Completion or None
        The same over all folds together, with that of a unigram model.
    best : int
        The number of the least perplexity.
    simplest : int
        The least number whose perplexity is within 1 % of the least.
    failures : dict of int to str
        Why numbers could not be fitted.
    ended : bool
        Whether time ran out before all were tried.
    """

    n_topics: tuple[int, ...]
    perplexity: np.ndarray
    checks: tuple[Completion | None, ...]
    best: int
    simplest: int
    failures: dict[int, str] = field(default_factory=dict)
    ended: bool = False

    @property
    def table(self) -> Table:
        """The curve: perplexity, its standard error over folds, and that of a unigram model, by number of topics."""
        rows = zip(self.n_topics, self.perplexity, self.checks)
        return Table(
            {
                "n_topics": number,
                "perplexity": float("nan") if check is None else check.perplexity,
                "error": float(np.std(folds, ddof=1) / np.sqrt(len(folds))),
                "baseline": float("nan") if check is None else check.baseline,
                "failed": self.failures.get(number, ""),
            }
            for number, folds, check in rows
        )

    def check(self, n_topics: int) -> Completion | None:
        """What was measured of a number, None where it was not tried or failed."""
        return dict(zip(self.n_topics, self.checks)).get(n_topics)

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve, and return the axes; needs matplotlib."""
        from ..plot.topic_choice import TopicChoiceDisplay

        return TopicChoiceDisplay(self).plot(ax).ax_


def choose_topics(
    model: Any, X: Any, n_topics: Sequence[int] | None = None, *, n_folds: int = 3, random_state: Any = 0,
    budget: float | None = None, on_try: Callable[[int], Any] | None = None,
) -> TopicChoice:  # fmt: skip
    """Try numbers of topics on folds of documents.

    Parameters
    ----------
    model : LatentDirichletAllocation, NMFTopics or AnchorTopics
        Its settings, apart from `n_components`, are those of all models.
    X : Corpus, texts, or counts of shape (n_documents, n_words)
    n_topics : sequence of int, optional
        Numbers to try, in this order. By default 2, 3, 5, 7, 10 … while more topics predict better: the search ends where two in
        a row did not.
    n_folds : int, default=3
        Folds; every document is held out once.
    random_state : int, RandomState instance or None, default=0
        Draws folds, and halves documents.
    budget : float, optional
        Seconds after which no other number is tried.
    on_try : callable, optional
        Called with each number before it is tried.

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
    began, X, numbers = time.monotonic(), _documents(X), _numbers(n_topics, X)
    n_documents = _count(X)
    if not 2 <= n_folds <= n_documents:
        raise ValueError(f"n_folds={n_folds!r} must be from 2 to the {n_documents} documents.")
    rng = model._rng(random_state)
    fold, seed = rng.permutation(np.arange(n_documents) % n_folds), int(rng.integers(2**31))
    tried: dict[int, list[Completion]] = {}
    failures: dict[int, str] = {}
    worse, least, ended = 0, np.inf, False
    for number in numbers:
        if tried and budget is not None and time.monotonic() - began >= budget:
            ended = True
            break
        if on_try is not None:
            on_try(number)
        try:
            own = clone(model).set_params(n_components=number)
            tried[number] = [_judged(own, X, fold == held, seed) for held in range(n_folds)]
        except ValueError as error:
            tried[number], failures[number] = [], str(error)
        found = _pooled(tried[number])
        worse = 0 if found is not None and found.perplexity < least else worse + 1
        least = least if found is None else min(least, found.perplexity)
        if n_topics is None and worse >= WORSE:
            break
    return _chosen(tried, failures, n_folds, ended)


def _judged(model: Any, X: Any, held: np.ndarray, seed: int) -> Completion:
    return completion(clone(model).fit(part_of(X, np.flatnonzero(~held))), part_of(X, np.flatnonzero(held)), seed=seed)


def _pooled(parts: list[Completion]) -> Completion | None:
    """What was measured on folds as one."""
    if not parts:
        return None
    words = np.array([part.n_words for part in parts])
    model, unigram = (
        float(np.exp(words @ np.log([getattr(part, name) for part in parts]) / words.sum()))
        for name in ("perplexity", "baseline")
    )
    return Completion(model, unigram, float(words.sum()), sum(part.n_documents for part in parts))


def _chosen(tried: dict[int, list[Completion]], failures: dict[int, str], n_folds: int, ended: bool) -> TopicChoice:
    checks = {number: _pooled(parts) for number, parts in tried.items()}
    sound = {number: check.perplexity for number, check in checks.items() if check is not None}
    if not sound:
        raise ValueError(f"no number of topics could be fitted: {next(iter(failures.values()))}")
    best = min(sound, key=sound.__getitem__)
    simplest = min(number for number, value in sound.items() if value <= (1 + NEAR) * sound[best])
    folds = np.array([[part.perplexity for part in parts] or [np.nan] * n_folds for parts in tried.values()])
    return TopicChoice(tuple(tried), folds, tuple(checks.values()), best, simplest, failures, ended)


def _documents(X: Any) -> Any:
    """Documents of which some can be taken: a corpus as it is, texts as one, counts as a sparse matrix."""
    from scipy.sparse import csr_matrix

    if isinstance(X, Corpus):
        return X
    return Corpus.from_texts(X) if len(X.shape if hasattr(X, "shape") else np.shape(X)) == 1 else csr_matrix(X)


def _count(X: Any) -> int:
    return len(X) if isinstance(X, Corpus) else X.shape[0]


def _numbers(n_topics: Sequence[int] | None, X: Any) -> list[int]:
    if n_topics is None:
        n_words = len(X.words) if isinstance(X, Corpus) else X.shape[1]
        return [number for number in LADDER if number <= max(_count(X) // 4, 2) and number <= n_words] or [1]
    numbers = [int(number) for number in n_topics]
    if not numbers:
        raise ValueError("n_topics names no number of topics; give at least one.")
    return numbers
