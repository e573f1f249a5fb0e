"""How many topics, for any model: the fewest that foretell hidden halves of other documents about as well as the best."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .completion import completion
from .corpus import counts_of, part_of

__all__ = ["NumberChoice", "choose_n_topics", "held_out"]

NEAR = 0.01
"""Share of the best perplexity within which fewer topics are preferred."""
HELD_OUT = 0.2
WORSE = 2
"""Numbers in a row that may be worse than the best before the search ends."""


@dataclass(frozen=True)
class NumberChoice:
    """A number of topics, and how the others did; made by `choose_n_topics`.

    Attributes
    ----------
    n_topics : int
    tried : list of dict
        `n_topics` of each that was tried, what `completion` measured, and `failed`, the reason, where a fit failed.
    ended : bool
        Whether time ran out before all were tried.
    """

    n_topics: int
    tried: list[dict]
    ended: bool = False


def held_out(n_documents: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the documents to learn from, and of those to judge by."""
    order = np.random.default_rng(seed).permutation(n_documents)
    n_judged = max(1, round(HELD_OUT * n_documents))
    return np.sort(order[n_judged:]), np.sort(order[:n_judged])


def choose_n_topics(
    make: Callable[[int], Any], X: Any, numbers: Iterable[int], *, seed: int = 0, deadline: float | None = None,
    on_try: Callable[[int], Any] | None = None,
) -> NumberChoice:  # fmt: skip
    """The number of topics by document completion on documents left out.

    Parameters
    ----------
    make : callable
        Given a number, a model of so many topics.
    X : Corpus, or counts of shape (n_documents, n_words)
    numbers : iterable of int
        To try, in growing order; the search ends where more topics are worse twice in a row.
    seed : int, default=0
        Seeds which documents are left out, and their halves.
    deadline : float, optional
        By `time.monotonic`, after which no other number is tried.
    on_try : callable, optional
        Called with each number before it is tried.

    Returns
    -------
    NumberChoice

    Examples
    --------
    >>> from tacit.topics import AnchorTopics, Corpus
    >>> from tacit.topics.choice import choose_n_topics
    >>> texts = ["sun moon sun moon star"] * 9 + ["fish sea fish sea ship"] * 9 + ["oak elm oak elm fir"] * 9
    >>> choose_n_topics(AnchorTopics, Corpus.from_texts(texts), [1, 2, 3]).n_topics
    3
    """
    learned, judged = held_out(counts_of(X).shape[0], seed)
    tried: list[dict] = []
    worse, ended = 0, False
    for n_topics in numbers:
        if tried and deadline is not None and time.monotonic() >= deadline:
            ended = True
            break
        if on_try is not None:
            on_try(n_topics)
        row: dict[str, Any] = {"n_topics": int(n_topics), "perplexity": None, "baseline": None, "failed": ""}
        try:
            found = completion(make(n_topics).fit(part_of(X, learned)), part_of(X, judged), seed=seed)
            row |= asdict(found)
        except ValueError as error:
            row["failed"] = str(error)
        best = min((each["perplexity"] for each in tried if each["perplexity"]), default=np.inf)
        tried.append(row)
        worse = 0 if row["perplexity"] is not None and row["perplexity"] < best else worse + 1
        if worse >= WORSE:
            break
    sound = [row for row in tried if row["perplexity"] is not None]
    if not sound:
        raise ValueError(f"no number of topics could be fitted: {tried[-1]['failed'] if tried else 'none was given'}")
    best = min(row["perplexity"] for row in sound)
    return NumberChoice(next(row["n_topics"] for row in sound if row["perplexity"] <= (1 + NEAR) * best), tried, ended)
