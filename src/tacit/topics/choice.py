"""How many topics: by how well models of each number predict half of the words of documents that they have not seen."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from ..assess.splits import number_folds
from ..table import Table
from .completion import Completion, completion
from .corpus import Corpus, part_of

__all__ = ["TopicChoice", "choose_topics"]

MOST_BETWEEN = 4
LADDER = (2, 3, 5, 7, 10, 14, 20, 28, 40, 57, 80, 113, 160)
NEAR = 0.01
WORSE = 2


@dataclass(frozen=True, repr=False)
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
    budget : float or None
        Seconds that the search had.
    """

    n_topics: tuple[int, ...]
    perplexity: np.ndarray
    checks: tuple[Completion | None, ...]
    best: int
    simplest: int
    failures: dict[int, str] = field(default_factory=dict)
    ended: bool = False
    budget: float | None = None

    def __repr__(self) -> str:
        told = f"TopicChoice: best {self.best}, simplest {self.simplest}{', ended early' if self.ended else ''}"
        return f"{told}\n{self.table}"

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
        Numbers to try, in this order. By default 2, 3, 5, 7, 10 … while more topics predict better, until two in a row did
        not; then at most four numbers between the best and its neighbours.
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
    _check_model(model)
    began, X = time.monotonic(), _documents(X)
    numbers, n_documents = _numbers(n_topics, X), _count(X)
    rng = model._rng(random_state)
    fold = number_folds(n_folds, n_documents, rng, name="n_folds", what="documents")
    seed = int(rng.integers(2**31))
    tried: dict[int, list[Completion]] = {}
    failures: dict[int, str] = {}
    ended = False
    for number in _in_turn(numbers, tried, search=n_topics is None):
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
    # A callback that ended the last fit at the same deadline has ended the search as well.
    ended = ended or bool(getattr(getattr(model, "callback", None), "ended", False))
    tried = dict(sorted(tried.items())) if n_topics is None else tried
    return _chosen(tried, failures, n_folds, ended, budget)


def _check_model(model: Any) -> None:
    if not hasattr(model, "get_params") or not hasattr(model, "topic_table"):
        raise TypeError(
            f"model is a {type(model).__name__}, which is no model of topics; the order is choose_topics(model, X, n_topics)."
        )


def _in_turn(numbers: list[int], tried: dict[int, list[Completion]], search: bool) -> Iterator[int]:
    """Numbers to try, each by what was found before: in a search, up to two past the best, and then those around it."""
    for number in numbers:
        found = [np.inf if check is None else check.perplexity for check in map(_pooled, tried.values())]
        worse = len(found) - 1 - int(np.argmin(found)) if np.isfinite(found).any() else len(found)
        if search and worse >= WORSE:
            break
        yield number
    if search:
        yield from _between(tried)


def _between(tried: dict[int, list[Completion]]) -> list[int]:
    """Numbers between the best one and its neighbours, evenly, at most two on each side where there are many."""
    sound = {number: check.perplexity for number, parts in tried.items() if (check := _pooled(parts)) is not None}
    if not sound:
        return []
    best, order = min(sound, key=sound.__getitem__), sorted(sound)
    place = order.index(best)
    sides = [range(a + 1, b) for a, b in itertools.pairwise(order[max(place - 1, 0) : place + 2])]
    each = MOST_BETWEEN // 2
    chosen = [side if len(side) <= each else np.linspace(side[0], side[-1], each + 2).round()[1:-1] for side in sides]
    return [int(number) for side in chosen for number in side]


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


def _chosen(
    tried: dict[int, list[Completion]], failures: dict[int, str], n_folds: int, ended: bool, budget: float | None
) -> TopicChoice:
    checks = {number: _pooled(parts) for number, parts in tried.items()}
    sound = {number: check.perplexity for number, check in checks.items() if check is not None}
    if not sound:
        raise ValueError(f"no number of topics could be fitted: {next(iter(failures.values()))}")
    best = min(sound, key=sound.__getitem__)
    simplest = min(number for number, value in sound.items() if value <= (1 + NEAR) * sound[best])
    folds = np.array([[part.perplexity for part in parts] or [np.nan] * n_folds for parts in tried.values()])
    return TopicChoice(tuple(tried), folds, tuple(checks.values()), best, simplest, failures, ended, budget)


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
