"""What is said of a predictor, in words: the summary, the limits and the card of `LearnFindings`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..learning.estimator import limits
from ..learning.trial import LATE
from ..notes import Claim
from ..words import count, joined, number, share

if TYPE_CHECKING:
    from ..learning.choice import LearnChoice
    from .learn import Effect, LearnFindings, Weight

__all__ = ["bear_in_mind", "card", "summary"]

TOLD = 3
FEW = 100
EXACT = 0.999
"""Share of the variance from which predictions are nearly without error."""
LEAST_CHANGE = 0.05
"""Change of the mean prediction, in errors of the mean, from which a direction is told."""
HELD_OUT = "rows whose fold was held out"


def summary(found: LearnFindings, choice: LearnChoice) -> list[str]:
    """The first sentences: how well the target is predicted, by what, resting on what, how surely."""
    told = [_verdict(found), _compared(found), _rests(found), *_directions(found), _covered(found), _unknown(found)]
    return [each for each in told if each]


def _verdict(found: LearnFindings) -> Claim:
    figures = {
        "error": found.error,
        "share": found.share,
        "plain_error": found.plain_error,
        "plain_share": found.plain_share,
    }
    basis = f"{found.n_known:,} {HELD_OUT}" + (", the choice of the model included" if found.nested else "")
    sentence = _classes_told(found) if found.classes else _numbers_told(found)
    return Claim.of("verdict", sentence, basis, figures, _counted(found))


def _classes_told(found: LearnFindings) -> str:
    right = f"right in {share(found.share)} of held-out rows"
    usual = f"the most frequent class is right in {share(found.plain_share)}"
    losses = f"log loss {number(found.error, 3)} instead of {number(found.plain_error, 3)}"
    if found.error >= found.plain_error:
        return (
            f"No model predicts {found.target} better than the shares of its classes do: {found.method}, the best, is {right}; "
            f"{usual}."
        )
    if found.share <= found.plain_share and not found.beaten:
        return (
            f"No model predicts {found.target} better than the shares of its classes do, beyond what chance would explain: "
            f"{found.method}, the best, is {right}; {usual} ({losses})."
        )
    if found.share <= found.plain_share:
        return (
            f"Probabilities of {found.target} by {found.method} are better than the shares of its classes ({losses}), but the "
            f"most probable class is {right}; {usual}."
        )
    unsure = "These rows leave open whether its probabilities are better than shares by more than chance"
    doubt = "" if found.beaten else f" {unsure} ({losses})."
    return f"{found.target} is predicted {right} by {found.method}; {usual}.{doubt}"


def _numbers_told(found: LearnFindings) -> str:
    errs, plain = f"errs by {number(found.error, 3)} on held-out rows (root mean square)", number(found.plain_error, 3)
    if found.error >= found.plain_error:
        best = f"{found.method}, the best, {errs}"
        return f"No model predicts {found.target} better than its mean does: {best}, and the mean by {plain}."
    doubt = "" if found.beaten else "; these rows leave open whether that is more than chance"
    return (
        f"{found.target} is predicted by {found.method}, which {errs}; its mean alone errs by {plain}. "
        f"That explains {share(found.share)} of the variance{doubt}."
    )


def _counted(found: LearnFindings) -> str:
    """Pandas for the share, where it is that of the predictions written."""
    if found.nested and len({each.name for each in found.tried if not each.failed}) > 1:
        return ""  # judged by what was chosen without each fold, which may be another model
    if found.classes:
        return (
            "{'share': float((predictions['held_out'] == predictions['known'])[predictions['known'].notna()].mean())}"
        )
    return ""


def _compared(found: LearnFindings) -> Claim | str:
    sound = [each for each in found.tried if not each.failed]
    if len(sound) < 2 or not found.beaten:
        return ""
    alike = [each.words for each in sound[1:] if each.low is not None and each.low <= 0]
    sentence = f"Of {count(len(sound), 'model')} compared, it predicts held-out rows best"
    sentence += (
        f"; these rows do not tell it apart from {joined(alike)}." if alike else ", by more than chance would explain."
    )
    figures = {each.name: each.error for each in sound}
    return Claim.of(
        "compared", sentence, "95 % intervals of paired differences between losses of held-out rows", figures
    )


def _rests(found: LearnFindings) -> Claim | str:
    told = [weight for weight in found.weights if weight.sure][:TOLD]
    better = found.error < found.plain_error
    if not told or not better:
        return "" if told or not better else "No single column matters by more than chance would explain."
    first, *rest = told
    sentence = f"Predictions rest most on {first.column}: with its cells exchanged between rows, "
    best = found.tried[0]
    if found.classes and best.share is not None and _tell_apart(told, best.share):
        sentence += f"{share(first.after)} of them are predicted right instead of {share(best.share)}"
        others = [f"{each.column} ({share(each.after)})" for each in rest]
    elif found.classes:
        sentence += f"the log loss grows by {number(first.growth, 2)} from {number(best.error, 3)}"
        others = [f"{each.column} ({number(each.growth, 2)})" for each in rest]
    else:
        sentence += f"they err by {number(first.after, 3)} instead of {number(best.error, 3)}"
        others = [f"{each.column} ({number(each.after, 3)})" for each in rest]
    sentence += f". Then come {joined(others)}." if len(others) > 1 else f". Then comes {others[0]}." if others else "."
    basis = "held-out rows, in which the cells of one column at a time were exchanged at random"
    return Claim.of("rests", sentence, basis, {each.column: each.after for each in told})


def _tell_apart(told: list[Weight], right: float) -> bool:
    """Whether shares of rows predicted right show that columns matter, in the order in which they do."""
    after = [*(each.after for each in told), right]
    return after == sorted(after) and share(after[-2]) != share(right)


def _directions(found: LearnFindings) -> list[Claim]:
    """How predictions go with the columns that matter, where they go one way."""
    sure = {weight.column for weight in found.weights if weight.sure}
    if found.classes or found.error >= found.plain_error:
        return []
    return [made for effect in found.effects[:TOLD] if effect.column in sure if (made := _direction(found, effect))]


def _direction(found: LearnFindings, effect: Effect) -> Claim | None:
    means = np.array(effect.means)[:, 0]
    if np.ptp(means) < LEAST_CHANGE * found.plain_error:
        return None
    if effect.levels:
        top, least = int(means.argmax()), int(means.argmin())
        most, fewest = number(float(means[top]), 3), number(float(means[least]), 3)
        sentence = (
            f"{found.target} is expected to be {most} on average with {effect.column} {effect.labels[top]}, and {fewest} with "
            f"{effect.labels[least]}, the other columns being as they are."
        )
    else:
        steps = np.diff(means)
        if not ((steps >= 0).all() or (steps <= 0).all()):
            return None
        verb = "rises" if means[-1] > means[0] else "falls"
        sentence = (
            f"What is expected of {found.target} {verb} with {effect.column}: {number(float(means[0]), 3)} at "
            f"{effect.labels[0]}, {number(float(means[-1]), 3)} at {effect.labels[-1]}, the other columns being as they are."
        )
    return Claim.of("direction", sentence, "mean predictions of rows of the table", {effect.column: means.tolist()})


def _covered(found: LearnFindings) -> Claim | str:
    if found.covered is None:
        return ""
    sentence = f"{share(found.covered)} of the held-out values were inside their {share(found.level, 0)} intervals."
    figures = {"covered": found.covered, "level": found.level}
    return Claim.of("covered", sentence, "intervals from the errors in the other folds", figures)


def _unknown(found: LearnFindings) -> Claim | str:
    n = found.n_rows - found.n_known
    if not n:
        return ""
    sentence = f"{count(n, 'row')} without a known {found.target} {'was' if n == 1 else 'were'} not learned from; "
    sentence += "its prediction is written." if n == 1 else "their predictions are written."
    return Claim.of(
        "unknown", sentence, "counted in all rows", {"n": n}, "{'n': int(predictions['known'].isna().sum())}"
    )


def bear_in_mind(found: LearnFindings, choice: LearnChoice) -> list[str]:
    """What not to conclude."""
    model: Any = choice.model
    trial = model.trial_
    told: list[str] = []
    if not found.nested and len([each for each in found.tried if not each.failed]) > 1:
        told.append(
            "Time did not suffice for choosing the model again without each fold: the error told is that of the best of several, "
            "and a little too small."
        )
    if not found.classes and found.share > EXACT:
        told.append(
            "Predictions are nearly without error: other columns may be computed from the target, and not be known before it is."
        )
    if not found.classes and found.covered is None:
        told.append(_uncovered(found, bool(np.isfinite(limits(model.errors_, found.level)).all())))
    if found.n_known < FEW:
        sentence = (
            f"{count(found.n_known, 'row')} are few: errors and the order of the models would differ in other rows."
        )
        told.append(Claim.of("few", sentence, "rows with a known target", {"n": found.n_known}))
    if len(trial.rows) < found.n_known:
        sentence = f"Models were compared on {count(len(trial.rows), 'row')} drawn at random."
        told.append(Claim.of("drawn", sentence, "rows that were drawn", {"n": len(trial.rows)}))
    skipped = [each.words for each in found.tried if each.failed == LATE]
    if skipped and choice.budget is not None:
        sentence = f"Time ran out before {joined(skipped)} could be compared; the budget was {number(choice.budget)} s."
        figures = {"models": len(skipped), "budget": choice.budget}
        told.append(Claim.of("budget", sentence, "models that were not compared", figures))
    told.append(
        "Predictions hold for rows that come about as these did; that a column predicts another does not say that it causes it."
    )
    if len(found.weights) > 1:
        told.append("Of columns that tell much the same, each matters little by itself.")
    return told


def _uncovered(found: LearnFindings, finite: bool) -> Claim:
    """Why it is not told how many values intervals hold."""
    sentence = (
        f"{count(found.n_known, 'row')} are too few for {share(found.level, 0)} intervals, whose ends are infinite."
    )
    if finite:
        sentence = f"Rows are too few to measure by folds how many values {share(found.level, 0)} intervals hold."
    return Claim.of("uncovered", sentence, "rows with a known target", {"n": found.n_known, "level": found.level})


def card(found: LearnFindings, choice: LearnChoice) -> dict[str, str]:
    """Facts about the model."""
    model: Any = choice.model
    return {
        "Target": found.target, "Model": found.method, "Learned from": count(found.n_known, "row"),
        "Columns": ", ".join(column.name for column in choice.table.used),
        "Missing cells": "numbers are "
        + ("integrated out" if model.imputer_ is None else "imputed by a joint Gaussian before the model sees them")
        + ", levels beyond two are at the mean of their column",
        "Compared by": f"{len(model.trial_.folds)}-fold cross-validation" + (", nested" if found.nested else ""),
        "Made with": f"tacit {__version__}",
    }  # fmt: skip
