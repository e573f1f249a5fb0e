"""What a predictor of a column says: `LearnFindings`, which the console, JSON and the page show and add nothing to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from ..learning.estimator import interval, limits, scores, units
from ..learning.trial import losses
from ..schema import Column, level_text
from ..words import count, number
from .learn_sentences import bear_in_mind, card, summary

if TYPE_CHECKING:
    from ..learning.choice import LearnChoice

__all__ = ["Effect", "LearnFindings", "Tried", "Weight", "study_learned"]

MOST_ROWS, MOST_EFFECTS, GRID, SAMPLE = 2000, 6, 9, 300
MOST_CLASSES, MOST_LEVELS = 5, 12
SIDES = 2.0
"""Standard errors by which a column must matter to be told."""


@dataclass(frozen=True)
class Tried:
    """A model that was compared.

    Attributes
    ----------
    name, words : str
    error : float or None
        Root mean square error, or mean of minus the log probability of the class, on held-out rows.
    share : float or None
        Share of the variance explained, or of the classes predicted right.
    worse, low, high : float or None
        Mean loss of a row above that of the best model, with a 95 % interval; None of the best.
    seconds : float
    failed : str
    """

    name: str
    words: str
    error: float | None
    share: float | None
    worse: float | None
    low: float | None
    high: float | None
    seconds: float
    failed: str


@dataclass(frozen=True)
class Weight:
    """How much predictions rest on a column.

    Attributes
    ----------
    column : str
    after : float
        Root mean square error of held-out rows, or share of their classes predicted right, once the column's cells are exchanged
        between rows.
    growth, error : float
        By how much the mean loss of a held-out row grows then, and its standard error.
    sure : bool
        Whether that is more than two standard errors from none.
    """

    column: str
    after: float
    growth: float
    error: float
    sure: bool


@dataclass(frozen=True)
class Effect:
    """How the mean prediction goes with a column, all other cells being as they are.

    Attributes
    ----------
    column : str
    values : list of float
        Where it was set; numbers of levels where it has levels.
    labels : list of str
    levels : bool
    means : list of list of float
        Mean prediction at each value, or mean probabilities of the classes drawn.
    """

    column: str
    values: list[float]
    labels: list[str]
    levels: bool
    means: list[list[float]]


@dataclass(frozen=True, eq=False)
class LearnFindings:
    """Everything that was found about predicting a column.

    Attributes
    ----------
    title, target : str
    classes : list of str
        Empty where the target is numbers.
    n_rows, n_known, n_missing : int
        Rows; those whose target is known; missing cells of the columns that predict.
    method : str
        What the chosen model is called.
    tried : list of Tried
        Best first.
    error, share : float
        Of what is chosen so, on held-out rows: as in `Tried`.
    plain_error, plain_share : float
        The same of the mean, or of the classes' shares.
    beaten : bool
        Whether the loss is smaller than theirs by more than two standard errors.
    nested : bool
        Whether the choice was made again without the rows it is judged by.
    level : float
        Of the intervals.
    covered : float or None
        Share of held-out targets inside intervals that were made without their fold.
    weights : list of Weight
        Columns, those that matter most first.
    drawn : list of str
        The most frequent classes, whose probabilities `effects` hold.
    effects : list of Effect
    rows : array
        Numbers of the known rows, from 0.
    known, predicted, low, high : arrays
        Of these rows: targets (numbers of classes), what was predicted without them (or the probability of their class), and
        intervals.
    right : dict of str to list of int
        Of each class, how many of its rows were predicted to be of which.
    calibration : list of dict
        `predicted`, `found` and `n`: mean probability of the predicted class, share of them right, in parts of equal size.
    columns, notes : tuple
    summary, limits : list of str
    card : dict of str to str
    """

    title: str
    target: str
    classes: list[str]
    n_rows: int
    n_known: int
    n_missing: int
    method: str
    tried: list[Tried]
    error: float
    share: float
    plain_error: float
    plain_share: float
    beaten: bool
    nested: bool
    level: float
    covered: float | None
    weights: list[Weight]
    drawn: list[str]
    effects: list[Effect]
    rows: np.ndarray
    known: np.ndarray
    predicted: np.ndarray
    low: np.ndarray
    high: np.ndarray
    right: dict[str, list[int]]
    calibration: list[dict]
    columns: tuple = ()
    notes: tuple = ()
    summary: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    card: dict[str, str] = field(default_factory=dict)
    kind: str = "predictions"

    def __repr__(self) -> str:
        return f"LearnFindings({self.target!r} by {self.method}, {count(self.n_known, 'row')})"


def study_learned(choice: LearnChoice, *, seed: int = 0) -> LearnFindings:
    """Findings about a model that predicts a column.

    Parameters
    ----------
    choice : LearnChoice
    seed : int
        Of the cells that are exchanged.

    Returns
    -------
    LearnFindings
    """
    model, trial = choice.model, choice.model.trial_
    best, rows = trial.best, choice.known[trial.rows]
    y, n_classes = choice.y[rows], model._n_targets
    judged = trial.nested if trial.nested is not None else best.loss
    low, high, covered = (np.full(len(y), np.nan), np.full(len(y), np.nan), None) if n_classes else _held(choice, y)
    predicted = best.answer[np.arange(len(y)), y.astype(int)] if n_classes else best.answer[:, 0]
    answer = best.answer if trial.nested_answer is None else trial.nested_answer
    classes = [str(label) for label in model.classes_] if n_classes else []
    drawn: Any = np.sort(np.argsort(-np.bincount(y.astype(int)), kind="stable")[:MOST_CLASSES]) if n_classes else []
    found = LearnFindings(
        choice.table.reader.name, choice.target.name, classes, choice.table.n_rows, len(choice.known),
        int(np.isnan(choice.cells).sum()), model.words_, _tried(trial, y, n_classes),
        _error(judged, n_classes), _share(trial, judged, answer, y, n_classes),
        _error(trial.baseline, n_classes), _plain_share(y, n_classes), _beats(trial.baseline - judged),
        trial.nested is not None and len(trial.attempts) > 1, choice.level, covered, _weights(choice, rows, y, seed),
        [classes[k] for k in drawn], _effects(choice, drawn, seed), rows, y, predicted, low, high,
        _right(best.answer, y, model) if n_classes else {},
        _calibration(best.answer, y) if n_classes else [], choice.table.columns, choice.notes,
    )  # fmt: skip
    shown = {weight.column: i for i, weight in enumerate(found.weights)}
    found.effects.sort(key=lambda effect: shown[effect.column])
    found.summary.extend(summary(found, choice))
    found.limits.extend(bear_in_mind(found, choice))
    found.card.update(card(found, choice))
    return found


def _error(loss: np.ndarray, n_classes: int) -> float:
    return float(loss.mean()) if n_classes else float(np.sqrt(loss.mean()))


def _beats(gain: np.ndarray) -> bool:
    """Whether losses are smaller by more than chance would explain."""
    return bool(gain.mean() > SIDES * gain.std(ddof=1) / np.sqrt(len(gain)))


def _share(trial: Any, loss: np.ndarray, answer: np.ndarray, y: np.ndarray, n_classes: int) -> float:
    if n_classes:
        return float((answer.argmax(axis=1) == y).mean())
    return float(1.0 - loss.mean() / trial.baseline.mean())


def _plain_share(y: np.ndarray, n_classes: int) -> float:
    return float(np.bincount(y.astype(int)).max() / len(y)) if n_classes else 0.0


def _tried(trial: Any, y: np.ndarray, n_classes: int) -> list[Tried]:
    made = []
    for attempt in trial.attempts:
        name, words = attempt.candidate.name, attempt.candidate.words
        if attempt.failed:
            made.append(Tried(name, words, None, None, None, None, None, attempt.seconds, attempt.failed))
            continue
        worse: tuple[Any, Any, Any] = (None, None, None)
        if attempt is not trial.best:
            gap = attempt.loss - trial.best.loss
            reach = float(ndtri(0.975) * gap.std(ddof=1) / np.sqrt(len(gap)))
            worse = float(gap.mean()), float(gap.mean()) - reach, float(gap.mean()) + reach
        share = _share(trial, attempt.loss, attempt.answer, y, n_classes)
        made.append(Tried(name, words, _error(attempt.loss, n_classes), share, *worse, attempt.seconds, ""))
    return made


def _held(choice: LearnChoice, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float | None]:
    """Intervals of the rows whose fold was held out, from the errors in all other folds, and the share inside."""
    trial = choice.model.trial_
    answer = trial.best.answer
    errors, unit = scores(answer, y), units(answer)
    low, high = np.full(len(y), np.nan), np.full(len(y), np.nan)
    for train, test in trial.folds:
        ends = limits(np.sort(errors[train]), choice.level)
        low[test], high[test] = interval(answer[test, 0], unit[test], ends, choice.model.from_zero_)
    inside = (low <= y) & (y <= high)
    return low, high, float(inside.mean()) if np.isfinite(high).all() else None


def _weights(choice: LearnChoice, rows: np.ndarray, y: np.ndarray, seed: int) -> list[Weight]:
    """What becomes of the loss of held-out rows when cells of a column are exchanged between them."""
    trial, table = choice.model.trial_, choice.table
    rng, d = np.random.default_rng(seed), len(table.used)
    drawn = np.zeros(len(y), bool)
    drawn[rng.permutation(len(y))[:MOST_ROWS]] = True
    n_classes = choice.model._n_targets
    growth: list[list[np.ndarray]] = [[] for _ in range(d)]
    after: list[list[np.ndarray]] = [[] for _ in range(d)]
    cells = choice.cells[rows]
    for (_, test), answer in zip(trial.folds, trial.best.models):
        own = test[drawn[test]]
        if not len(own):
            continue
        before = trial.best.loss[own]
        for j in range(d):
            mixed = cells[own]
            mixed[:, j] = cells[rng.permutation(test)[: len(own)], j]
            found = answer(mixed)
            loss = losses(found, y[own], n_classes)
            growth[j].append(loss - before)
            after[j].append(found.argmax(axis=1) == y[own] if n_classes else loss)
    made = []
    for column, parts, left in zip(table.used, growth, after):
        each, end = np.concatenate(parts), float(np.concatenate(left).mean())
        mean, error = float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each)))
        made.append(Weight(column.name, end if n_classes else float(np.sqrt(end)), mean, error, mean > SIDES * error))
    return sorted(made, key=lambda weight: -weight.growth)


def _effects(choice: LearnChoice, drawn: Any, seed: int) -> list[Effect]:
    """Mean predictions along the columns that matter most."""
    model, table = choice.model, choice.table
    cells = choice.cells[choice.known]
    rng = np.random.default_rng(seed)
    some = cells[np.sort(rng.permutation(len(cells))[:SAMPLE])]
    spread = []
    for j, info in enumerate(table.used):
        values, labels = _grid(Column.of(info), cells[:, j], info)
        if len(values) < 2:
            continue
        means = []
        for value in values:
            changed = some.copy()
            changed[:, j] = value
            means.append(_mean_answer(model, changed, drawn))
        means_ = np.array(means)
        effect = Effect(info.name, [float(v) for v in values], labels, bool(info.levels), means_.tolist())
        spread.append((float(np.ptp(means_, axis=0).max()), effect))
    return [effect for _, effect in sorted(spread, key=lambda pair: -pair[0])[:MOST_EFFECTS]]


def _mean_answer(model: Any, cells: np.ndarray, drawn: Any) -> np.ndarray:
    if model._n_targets:
        return model._answers_of(cells).mean(axis=0)[drawn]
    return np.array([model._expected_of(cells)[0].mean()])


def _grid(column: Column, x: np.ndarray, info: Any) -> tuple[np.ndarray, list[str]]:
    """Where a column is set, and what these values are called."""
    seen = x[~np.isnan(x)]
    if info.levels:
        codes, n = np.unique(seen, return_counts=True)
        codes = np.sort(codes[np.argsort(-n, kind="stable")[:MOST_LEVELS]])
        return codes, [level_text(info.levels[int(code)]) for code in codes]
    values = np.unique(np.quantile(seen, np.linspace(0.05, 0.95, GRID))) if len(seen) else seen
    return values, [number(float(value)) for value in values]


def _right(answer: np.ndarray, y: np.ndarray, model: Any) -> dict[str, list[int]]:
    K = len(model.classes_)
    table = np.bincount(y.astype(int) * K + answer.argmax(axis=1), minlength=K * K).reshape(K, K)
    return {str(label): row.tolist() for label, row in zip(model.classes_, table)}


def _calibration(answer: np.ndarray, y: np.ndarray) -> list[dict]:
    sure, hit = answer.max(axis=1), answer.argmax(axis=1) == y
    order = np.argsort(sure, kind="stable")
    parts = [part for part in np.array_split(order, max(1, min(8, len(order) // 20))) if len(part)]
    return [{"predicted": float(sure[part].mean()), "found": float(hit[part].mean()), "n": len(part)} for part in parts]
