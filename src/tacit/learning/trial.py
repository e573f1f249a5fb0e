"""How well candidates predict rows that they were not learned from, and how well the best of them does: nested cross-validation.

Every candidate predicts each fold from the others. What is chosen by these errors is the best of several, and its own error is
therefore too small; the choice is made again within the rows of each fold's rest, and the error of what it leads to is told.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..assess.splits import divide
from ..schema import Schema
from .candidates import Candidate, answered, learned
from .design import origins
from .prepared import Prepared
from .target import Target, starts_at_zero

__all__ = ["LATE", "Attempt", "Fitted", "Task", "Trial", "baseline", "fitted", "losses", "try_all"]

INNER = 3
MOST_JOINT = 20
"""Columns of numbers up to which missing cells are integrated out: a joint distribution of more is slow, and of few rows poor."""
LATE = "did not fit into the time"
LEAST = 1e-6
"""Probabilities are taken as no smaller when they are judged."""


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be predicted, from what.

    Attributes
    ----------
    schema : Schema
    cells : (n, d) array
        Encoded.
    y : (n,) array
        Targets, or numbers of classes.
    n_classes : int
        0 where targets are numbers.
    prepared : dict
        How cells become columns of numbers, by the rows that it was learned from: candidates share it.
    """

    schema: Schema
    cells: np.ndarray
    y: np.ndarray
    n_classes: int
    prepared: dict = field(default_factory=dict)

    def prepare(self, rows: np.ndarray, complete: bool) -> Prepared:
        """How cells become columns of numbers, learned from some rows; imputed where `complete`."""
        key = rows.tobytes(), complete
        if key not in self.prepared:
            self.prepared[key] = Prepared.of(self.schema, self.cells[rows], complete)
        return self.prepared[key]

    @cached_property
    def from_zero(self) -> bool:
        """Whether targets are numbers that reach down to 0 and no further."""
        return not self.n_classes and starts_at_zero(self.y)

    @cached_property
    def has_holes(self) -> bool:
        return bool(np.isnan(self.cells).any())

    def folds(self, rows: np.ndarray, n_splits: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows to learn from and to predict; the classes are spread over the folds."""
        n_splits = max(2, min(n_splits, len(rows)))
        found = divide(
            n_splits, len(rows), y=self.y[rows] if self.n_classes else None, random_state=seed, name="n_splits"
        )
        return [(rows[a], rows[b]) for a, b in found]


@dataclass(eq=False)
class Attempt:
    """A candidate and how it predicted.

    Attributes
    ----------
    candidate : Candidate
    answer : (n, 2) or (n, K) array
        What it predicted of each row from other folds; in the units of the target.
    loss : (n,) array
        Squared errors, or minus log probabilities.
    seconds : float
    failed : str
        Why it was not tried to the end; empty where it was.
    models : list
        The function that answers for the rows of each fold.
    """

    candidate: Candidate
    answer: np.ndarray
    loss: np.ndarray
    seconds: float = 0.0
    failed: str = ""
    models: list = field(default_factory=list)

    @property
    def mean_loss(self) -> float:
        return float(self.loss.mean()) if not self.failed else np.inf


@dataclass(frozen=True, eq=False)
class Trial:
    """Candidates compared.

    Attributes
    ----------
    attempts : list of Attempt
        Best first; those that failed last.
    baseline : (n,) array
        Losses of the mean, or of the classes' shares, of the rows learned from.
    folds : list of (rows learned from, rows predicted)
    nested, nested_answer : arrays or None
        Losses and answers of what was chosen without the row's fold; None where time was too short.
    rows : (n,) array
        Numbers of the rows that they were compared on, among those that were given.
    chosen : list of str
        What was chosen without each fold.
    """

    attempts: list[Attempt]
    baseline: np.ndarray
    folds: list
    nested: np.ndarray | None
    nested_answer: np.ndarray | None
    rows: np.ndarray
    chosen: list[str]

    @property
    def best(self) -> Attempt:
        return self.attempts[0]


def losses(answer: np.ndarray, y: np.ndarray, n_classes: int) -> np.ndarray:
    """Squared error of each row, or minus the log probability of its class."""
    if n_classes:
        return -np.log(np.maximum(answer[np.arange(len(y)), y.astype(int)], LEAST))
    return (answer[:, 0] - y) ** 2


def baseline(task: Task, train: np.ndarray, n: int) -> np.ndarray:
    """What is answered without looking at a row: mean and standard deviation, or shares of the classes."""
    y = task.y[train]
    if task.n_classes:
        share = (np.bincount(y.astype(int), minlength=task.n_classes) + 0.5) / (len(y) + 0.5 * task.n_classes)
        return np.tile(share, (n, 1))
    return np.tile([y.mean(), y.std()], (n, 1))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A candidate learned from some rows: a function of encoded cells that answers in the units of the target.

    Attributes
    ----------
    model : estimator
    numbers : Prepared
        How cells become what it takes.
    n_classes : int
    target : Target or None
        How targets became what it learned; None of classes.
    """

    model: Any
    numbers: Prepared
    n_classes: int
    target: Target | None

    def __call__(self, cells: np.ndarray) -> np.ndarray:
        found = answered(self.model, self.numbers(cells), self.n_classes)
        return found if self.target is None else self.target.back(found)


def fitted(task: Task, candidate: Candidate, train: np.ndarray, seed: int, *, holes: bool = True) -> Fitted:
    """A candidate learned from some rows; for others that may have missing cells where `holes`."""
    if len(train) > candidate.most_rows:
        train = np.sort(np.random.default_rng(seed).choice(train, candidate.most_rows, replace=False))
    joint = candidate.takes_missing and len(origins(task.schema)) <= MOST_JOINT
    numbers = task.prepare(train, holes and not joint)
    y = task.y[train]
    target = None if task.n_classes else Target.of(y, candidate.logs, task.from_zero)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = learned(candidate, numbers(task.cells[train]), y if target is None else target.scores(y), seed)
    return Fitted(model, numbers, task.n_classes, target)


def try_all(
    task: Task, candidates: Sequence[Candidate], *, n_splits: int, seed: int, budget: float | None,
    on_try: Callable[[str], Any] | None = None,
) -> Trial:  # fmt: skip
    """Compare candidates on all rows of a task, and judge the choice between them.

    Parameters
    ----------
    task : Task
    candidates : sequence of Candidate
        Where time runs out, the rest is left out.
    n_splits : int
        Folds.
    seed : int
    budget : float or None
        Seconds.
    on_try : callable, optional
        Told what is tried.
    """
    deadline = np.inf if budget is None else time.monotonic() + 0.8 * budget
    rows = np.arange(len(task.y))
    folds = task.folds(rows, n_splits, seed)
    attempts = [
        _attempt(task, each, rows, folds, seed, deadline, on_try, first=i == 0) for i, each in enumerate(candidates)
    ]
    plain = np.empty(len(rows))
    for train, test in folds:
        plain[test] = losses(baseline(task, train, len(test)), task.y[test], task.n_classes)
    sound = [each for each in attempts if not each.failed]
    if not sound:
        raise ValueError(f"no model could be learned: {attempts[0].candidate.words} {attempts[0].failed}.")
    nested, answer, chosen = _nested(task, sound, folds, seed, deadline, on_try)
    return Trial(sorted(attempts, key=lambda each: each.mean_loss), plain, folds, nested, answer, rows, chosen)


def _attempt(
    task: Task, candidate: Candidate, rows: np.ndarray, folds: list, seed: int, deadline: float, on_try: Any, *,
    first: bool = False,
) -> Attempt:  # fmt: skip
    """A candidate that predicts every fold from the others; places are those in the task."""
    if on_try:
        on_try(f"trying {candidate.words}")
    n, width = len(task.y), task.n_classes or 2
    made = Attempt(candidate, np.full((n, width), np.nan), np.full(n, np.nan))
    started = time.monotonic()
    for train, test in folds:
        if time.monotonic() > deadline and not first:
            made.failed = LATE
            break
        try:
            answer = fitted(task, candidate, train, seed, holes=task.has_holes)
            found = answer(task.cells[test])
        except (ValueError, np.linalg.LinAlgError) as error:
            made.failed = f"failed: {error}"
            break
        if not np.isfinite(found if task.n_classes else found[:, :1]).all():
            made.failed = "gave no finite predictions"
            break
        made.models.append(answer)
        made.answer[test], made.loss[test] = found, losses(found, task.y[test], task.n_classes)
    made.loss = made.loss[rows]
    made.seconds = time.monotonic() - started
    return made


def _nested(
    task: Task, attempts: list[Attempt], folds: list, seed: int, deadline: float, on_try: Any
) -> tuple[np.ndarray | None, np.ndarray | None, list[str]]:  # fmt: skip
    """Losses and answers of what is chosen without each fold, where there is time for it, and what that was."""
    if len(attempts) == 1:
        return attempts[0].loss, attempts[0].answer, [attempts[0].candidate.name] * len(folds)
    if time.monotonic() + (INNER - 1) * sum(each.seconds for each in attempts) > deadline:
        return None, None, []
    nested, answers, chosen = np.empty(len(task.y)), np.empty_like(attempts[0].answer), []
    for number, (train, test) in enumerate(folds, 1):
        if on_try:
            on_try(f"choosing again without fold {number}")
        inner = task.folds(train, INNER, seed + number)
        found = [_attempt(task, each.candidate, train, inner, seed, deadline, None) for each in attempts]
        best = int(np.argmin([each.mean_loss for each in found]))
        if found[best].failed or any(each.failed == LATE for each in found):
            return None, None, []
        nested[test], answers[test] = attempts[best].loss[test], attempts[best].answer[test]
        chosen.append(attempts[best].candidate.name)
    return nested, answers, chosen
