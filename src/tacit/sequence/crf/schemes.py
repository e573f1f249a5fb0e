"""Which labels may follow each other: schemes of tags such as BIO, pairs that are forbidden, labels that must follow."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["SCHEMES", "Chain", "check_limits", "scheme_pairs"]

SCHEMES = {"BIO": "BI", "IOB1": "BI", "BIOES": "BIES", "BILOU": "BILU"}
"""Letters of schemes: the beginning of a phrase, what is inside, its end, and phrases of one step."""


def scheme_pairs(labels: Iterable[Any], scheme: str = "BIO") -> list[tuple[Any, Any]]:
    """Pairs of labels that a scheme of tags forbids to follow each other.

    Parameters
    ----------
    labels : iterable of str
        Tags such as ``"B-NP"``, ``"I-NP"`` and ``"O"``.
    scheme : {"BIO", "IOB1", "BIOES", "BILOU"}, default="BIO"
        BIO (also called IOB2) begins every phrase with B; IOB1 only those that follow a phrase of their type.

    Returns
    -------
    list of (before, after)
        None before stands for the start of a sequence, None after for its end.

    Examples
    --------
    >>> from tacit.sequence import scheme_pairs
    >>> scheme_pairs(["B-NP", "I-NP", "O"])
    [('O', 'I-NP'), (None, 'I-NP')]
    """
    known: list = list(labels)
    parts = [_parsed(label, scheme) for label in known]
    befores, afters = [*zip(known, parts), (None, None)], [*zip(known, parts), (None, None)]
    return [(a, b) for a, before in befores for b, after in afters if not _allowed(before, after, scheme)]


def _parsed(label: Any, scheme: str) -> tuple[str, str] | None:
    """Letter of the scheme and type of a tag; None of a tag outside phrases."""
    letter, _, kind = str(label).partition("-")
    if str(label) == "O":
        return None
    if letter not in SCHEMES[scheme]:
        letters = ", ".join(f"{each}-…" for each in SCHEMES[scheme])
        raise ValueError(f"the label {label!r} is no tag of scheme={scheme!r}; tags are O, {letters}.")
    return letter, kind


def _allowed(before: tuple[str, str] | None, after: tuple[str, str] | None, scheme: str) -> bool:
    same = before is not None and after is not None and before[1] == after[1]
    if scheme == "BIO":
        return after is None or after[0] == "B" or same
    if scheme == "IOB1":
        return after is None or after[0] == "I" or same
    begin, inside, end, _ = tuple(SCHEMES[scheme])
    within = before is not None and before[0] in (begin, inside)
    goes_on = after is not None and after[0] in (inside, end)
    return within == goes_on and (same or not within)


def check_limits(forbidden: Any, required: Any) -> None:
    """Raise where what is forbidden are no pairs of labels, or what is required is no dictionary of them."""
    if not isinstance(forbidden, (list, tuple, set, type(None))):
        raise ValueError(f"forbidden={forbidden!r} is no list; give pairs of labels, one before the other.")
    for pair in forbidden or ():
        if (
            not isinstance(pair, (tuple, list))
            or len(pair) != 2
            or not all(isinstance(each, Hashable) for each in pair)
        ):
            raise ValueError(f"forbidden holds {pair!r}; give pairs of labels, one before the other.")
    if not isinstance(required, (dict, type(None))):
        raise ValueError(f"required={required!r} is no dictionary; give what must follow, by label.")
    for before, after in (required or {}).items():
        if not all(isinstance(each, Hashable) for each in _followers(after)):
            raise ValueError(f"required[{before!r}]={after!r} is no list of labels; give those that may follow.")


def _followers(after: Any) -> Iterable[Any]:
    return [after] if isinstance(after, (str, type(None))) or not isinstance(after, Iterable) else after


@dataclass(frozen=True)
class Chain:
    """Moves between labels that are allowed.

    Attributes
    ----------
    start, end : (labels,) bool arrays
        Which labels may come first and last.
    moves : (labels, labels) bool array
        Which labels may follow each other.
    """

    start: np.ndarray
    moves: np.ndarray
    end: np.ndarray

    @classmethod
    def of(
        cls, classes: Sequence[Any], scheme: str | None, forbidden: Iterable | None, required: Mapping | None
    ) -> Chain:
        """What a scheme, forbidden pairs and labels that must follow leave; see `tacit.sequence.LinearChainCRF`."""
        n = len(classes)
        number = {label: code for code, label in enumerate(classes)} | {None: n}
        allowed = np.ones((n + 1, n + 1), dtype=bool)  # the last row is the start, the last column the end
        pairs = [*(scheme_pairs(classes, scheme) if scheme else ()), *(forbidden or ())]
        for pair in pairs:
            if all(label in number for label in pair):  # labels that do not occur need no ban
                allowed[number[pair[0]], number[pair[1]]] = False
        for before, after in (required or {}).items():
            if before in number:
                may = np.isin(np.arange(n + 1), [number[label] for label in _followers(after) if label in number])
                allowed[number[before]] &= may
        return cls(allowed[n, :n].copy(), allowed[:n, :n].copy(), allowed[:n, n].copy())

    @property
    def is_free(self) -> bool:
        """Whether everything is allowed."""
        return bool(self.start.all() and self.moves.all() and self.end.all())

    def logs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Start, moves and end as 0 where they are allowed, and −∞."""
        return tuple(np.where(part, 0.0, -np.inf) for part in (self.start, self.moves, self.end))  # type: ignore[return-value]

    def refused(self, labels: np.ndarray, offsets: np.ndarray) -> tuple[int, int, int] | None:
        """The first step whose known label is not allowed there, with the labels before and after (−1: start or end)."""
        first, last = offsets[:-1], offsets[1:] - 1
        inside = np.ones(len(labels), dtype=bool)
        inside[first] = False
        at = np.flatnonzero(inside)
        at = at[(labels[at] >= 0) & (labels[at - 1] >= 0)]
        bad = [(int(t), int(labels[t - 1]), int(labels[t])) for t in at[~self.moves[labels[at - 1], labels[at]]][:1]]
        known = first[labels[first] >= 0]
        bad += [(int(t), -1, int(labels[t])) for t in known[~self.start[labels[known]]][:1]]
        known = last[labels[last] >= 0]
        bad += [(int(t), int(labels[t]), -1) for t in known[~self.end[labels[known]]][:1]]
        return min(bad, default=None)
