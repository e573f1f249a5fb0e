"""What is said of regimes, in words: the summary, the limits and the card of `RegimeFindings`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binomtest

from .. import __version__
from ..notes import Claim
from ..words import count, joined, number, share
from .regime_words import MOST_TOLD

if TYPE_CHECKING:
    from ..sequence.choice import RegimeChoice
    from ..sequence.segmentation import Segmentation
    from ..sequence.trial import Trial
    from .segment import Regime, RegimeFindings

__all__ = ["card", "limits", "summary"]

BETTER, CLOSE, FEW, SIGNIFICANT, OFF, CARRIED, EQUAL = 0.95, 2.0, 50, 0.01, 0.03, 0.5, 0.1


def _regime(regime: Regime, n_regimes: int, unit: str) -> Claim:
    lasts = f"lasts {regime.lasts} on average" if regime.lasts else "was never left"
    once = count(regime.n_segments, "time") if regime.n_segments != 1 else "once"
    stay = f"entered {once}, {lasts}" if regime.n_segments else "never entered"
    sentence = f"Regime {regime.number}: {regime.words}; {share(regime.share)} of the steps, {stay}."
    figures = {"share": regime.share, "steps": regime.n_steps, "segments": regime.n_segments}
    pandas = (
        f"{{'share': float((steps['regime'] == {regime.number}).mean()), "
        f"'steps': int((steps['regime'] == {regime.number}).sum()), "
        f"'segments': int((segments['regime'] == {regime.number}).sum())}}"
    )
    basis = "the likeliest path of regimes; how long a regime lasts once it is entered is the model's expectation"
    return Claim.of("regime", sentence, basis, figures, pandas)


# The summary


def summary(found: RegimeFindings, choice: RegimeChoice) -> list[str]:
    """The first sentences: what was found, each regime, how sure it is, what it predicts."""
    told: list[str] = [_verdict(found, choice)]
    k = len(found.regimes)
    if k > 1:
        told += [_regime(regime, k, found.unit) for regime in found.regimes[:6]]
        told.append(_sure(found))
    else:
        told.append(_one(found))
    told += [_now(found), _ahead(found), _missing(found), _next(found)]
    if choice.reached == "budget" and choice.budget is not None:
        sentence = (
            f"The search was ended at its budget of {number(choice.budget)} s: more regimes or better ones may be found with "
            "more time."
        )
        told.insert(
            1, Claim.of("budget", sentence, "models tried", {"budget": choice.budget, "tried": len(found.selection)})
        )
    return [each for each in told if each]


def _one(found: RegimeFindings) -> str:
    regime = found.regimes[0]
    if not regime.words:
        return ""
    figures = {
        f"{entry['column']}{f'={level}' if (level := entry['level']) else ''}": entry["mean"]
        for entry in regime.profile[:MOST_TOLD]
    }
    return Claim.of("regime", f"Its values: {regime.words}.", "known values of all steps", figures)


def _series(found: RegimeFindings) -> str:
    segments = found.segmentation
    n, steps = segments.n_sequences, count(len(segments), "step")
    if n > 1:
        return f"{n:,} series of {steps} together"
    first, last = segments.when([0, len(segments) - 1])
    span = (
        f" ({first:g} to {last:g})"
        if isinstance(first, float)
        else f" ({first} to {last})"
        if segments.time is not None
        else ""
    )
    return f"The series of {steps}{span}"


def _verdict(found: RegimeFindings, choice: RegimeChoice) -> Claim:
    k, segments = len(found.regimes), len(found.segmentation.segment_states)
    sizes = sorted({row["n_components"] for row in found.selection if not row["failed"]})
    many = found.segmentation.n_sequences > 1
    how = f", the number with the least BIC of {sizes[0]} to {sizes[-1]} tried" if len(sizes) > 1 else ""
    how = ", as asked for" if choice.asked and not how else how
    if k == 1 and len(sizes) > 1:
        verb = "show" if many else "shows"
        rest = f"{verb} one regime: {sizes[0]} to {sizes[-1]} were tried, and the data support no more (BIC)."
    elif k == 1 and (collapsed := _collapsed(found)):
        verb = "are" if many else "is"
        rest = (
            f"{verb} described by one regime: of {collapsed} each had a regime that collapsed onto equal "
            f"values{_equal(found, choice)}."
        )
    elif k == 1:
        short = not choice.asked and not choice.reached and bool(found.selection)
        rest = f"{'are' if many else 'is'} {'too short to tell regimes apart' if short else 'described by one regime'}{how}."
    else:
        verb = "move" if many else "moves"
        rest = f"{verb} between {k} regimes in {count(segments, 'segment')}{how}."
    figures: dict[str, Any] = {"regimes": k, "steps": len(found.segmentation), "segments": segments}
    pandas = (
        "{'regimes': int(steps.columns.str.startswith('probability_').sum()), 'steps': len(steps), "
        "'segments': len(segments)}"
    )
    return Claim.of(
        "verdict", f"{_series(found)} {rest}", "all steps, those that times leave out included", figures, pandas
    )


def _collapsed(found: RegimeFindings) -> str:
    """The numbers of regimes of which no fit was usable, in words; empty where there are none."""
    usable = {row["n_components"] for row in found.selection if not row["failed"]}
    failed = sorted({row["n_components"] for row in found.selection if row["failed"]} - usable)
    if not failed:
        return ""
    span = f"{failed[0]} to {failed[-1]}" if len(failed) > 1 else f"{failed[0]}"
    return f"the models with {span} regimes"


def _equal(found: RegimeFindings, choice: RegimeChoice) -> str:
    """The column with the most equal values, where these are many, and what to do."""
    segments = found.segmentation
    shares, measured = {}, {column.name for column in choice.table.columns if column.role == "measurement"}
    for name, cells in zip(segments.columns, segments.cells.T):
        known = cells[~np.isnan(cells)]
        values, times = np.unique(known, return_counts=True)
        if name in measured and len(known) and times.max() >= EQUAL * len(known):
            shares[name] = times.max() / len(known), values[times.argmax()]
    if not shares:
        return ""
    name, (rest, value) = max(shares.items(), key=lambda each: each[1][0])
    return f" ({share(rest)} of {name} are {number(value)}); leave that column out, or name its family"


def _sure(found: RegimeFindings) -> Claim:
    sentence = f"{share(found.sure)} of the steps have a regime that is at least 90 % probable."
    pandas = "{'sure': float((steps['probability'] >= 0.9).mean())}"
    return Claim.of("sure", sentence, "probabilities given all steps of a series", {"sure": found.sure}, pandas)


def _now(found: RegimeFindings) -> str:
    segments = found.segmentation
    if len(found.regimes) < 2 or segments.n_sequences > 1:
        return ""
    state = int(segments.states[-1])
    p = float(segments.probability[-1, state])
    since = segments.when([segments.bounds[-2]])[0]
    since = f"{since:g}" if isinstance(since, float) else str(since)
    at = f"since {since}" if segments.time is not None else f"since step {since}"
    sentence = f"At its end it is in regime {state + 1} ({share(p)} probable), {at}."
    return Claim.of("now", sentence, "the last step", {"regime": state + 1, "probability": p},
                    "steps.iloc[-1][['regime', 'probability']].astype(float).to_dict()")  # fmt: skip


def _ahead(found: RegimeFindings) -> str:
    trial = found.ahead
    if trial is None:
        return ""
    if not trial.n:
        sentence = (
            f"Of {count(trial.n_levels, 'later value')} that were held out, the level predicted one step ahead was right in "
            f"{share(trial.right)}; the most frequent level is in {share(trial.usual)}."
        )
        return Claim.of("ahead", sentence, _held_out(trial), {"right": trial.right, "usual": trial.usual})
    own, mean, last = (number(each, 2) for each in (trial.error, trial.mean_error, trial.last_error))
    errors = f"error {own}, {mean} by the mean, {last} by the last value"
    best = min(trial.mean_error, trial.last_error if np.isfinite(trial.last_error) else np.inf)
    if trial.last_error < BETTER * trial.error:
        verdict = "The last value predicts the next one better than regimes do"
    elif trial.error < BETTER * best:
        verdict = "Regimes help to predict the next value"
    else:
        verdict = "Regimes do not predict the next value clearly better than the mean or the last value does"
    if len(found.regimes) == 1 and trial.last_error < BETTER * trial.error:
        verdict = "The last value predicts the next one better than what all steps have in common"
    elif len(found.regimes) == 1:
        verdict = "The next value is predicted by what all have in common"
    sentence = (
        f"{verdict} ({errors}, in standard deviations); {share(trial.level, 0)} intervals one step ahead held "
        f"{share(trial.covered)} of {count(trial.n, 'value')} held out."
    )
    figures = {
        "error": trial.error,
        "by_mean": trial.mean_error,
        "by_last": trial.last_error,
        "covered": trial.covered,
        "n": trial.n,
    }
    return Claim.of("ahead", sentence, _held_out(trial), figures)


def _held_out(trial: Trial) -> str:
    return (
        f"{trial.n + trial.n_levels:,} cells at the end of the series, predicted one step ahead by a model that was learned from "
        "the steps before; the number of regimes was chosen with all steps"
    )


def _missing(found: RegimeFindings) -> str:
    if not found.n_missing and not found.n_left_out:
        return ""
    parts = [count(found.n_missing, "missing cell")] if found.n_missing else []
    parts += [f"{count(found.n_left_out, 'step')} that times leave out"] if found.n_left_out else []
    one = (found.n_missing or 0) + (found.n_left_out or 0) == 1
    trial = found.hidden
    checked = ""
    if trial is not None and trial.n:
        hidden = count(trial.n, "known value")
        checked = f"; of {hidden} hidden on purpose, {share(trial.level, 0)} intervals held {share(trial.covered)}"
    sentence = f"{joined(parts)} {'is' if one else 'are'} filled in{checked}."
    figures: dict[str, float] = {"missing": found.n_missing, "left_out": found.n_left_out}
    if trial is not None and trial.n:
        figures |= {"covered": trial.covered, "n": trial.n}
    return Claim.of(
        "filled",
        sentence[0].upper() + sentence[1:],
        "cells of the columns used, and times on the series' own grid",
        figures,
    )


def _next(found: RegimeFindings) -> str:
    ahead = found.forecast
    if ahead is None:
        return ""
    n_steps, n = ahead.mean.shape[1], found.segmentation.n_sequences
    if n > 1:
        sentence = f"{count(n_steps, 'step')} ahead of each of {n:,} series {'is' if n_steps == 1 else 'are'} forecast."
        return Claim.of("forecast", sentence, f"intervals of {share(found.level, 0)}", {"steps": n_steps, "series": n})
    when = found.times_ahead(0)
    when = [f"{each:g}" if isinstance(each, float) else each for each in (when[0], when[-1])]
    j = next((j for j, column in enumerate(found.columns) if not column.levels and not column.cycle), None)
    k = int(ahead.states[0, -1].argmax())
    p = float(ahead.states[0, -1, k])
    value, figures = "", {"regime": k + 1, "probability": p}
    if j is not None:
        mean, low, high = (float(part[0, -1, j]) for part in (ahead.mean, ahead.low, ahead.high))
        value = f", {found.columns[j].name} {number(mean, 3)} ({number(low, 3)} to {number(high, 3)})"
        figures |= {"mean": mean, "low": low, "high": high}
    regime = f"regime {k + 1} is the most probable ({share(p)}){value}" if len(found.regimes) > 1 else value[2:]
    step = "step " if ahead.time is None else ""
    sentence = f"Forecast for {step}{when[-1]}, {count(n_steps, 'step')} ahead: {regime}."
    return Claim.of("forecast", sentence, f"intervals of {share(found.level, 0)}", figures) if regime else ""


# The limits


def limits(found: RegimeFindings, choice: RegimeChoice) -> list[str]:
    """What a reader must bear in mind."""
    k, told = len(found.regimes), []
    if k > 1:
        told.append("A regime is a stretch in which values look alike; what brought it about is not in the model.")
    sizes = sorted({row["n_components"] for row in found.selection})
    if len(sizes) > 1 and k == sizes[-1]:
        sentence = f"{k} regimes are the most that were tried: more may describe the series better."
        told.append(Claim.of("most", sentence, "numbers of regimes tried", {"tried": sizes[-1]}))
    told += [*_gradual(found), *_miscovered(found), *_tied(found)]
    once = [regime.number for regime in found.regimes if regime.n_segments == 1 and regime.n_left] if k > 1 else []
    if once:
        which = f"Regime {once[0]} was" if len(once) == 1 else f"Regimes {joined(once)} were"
        rests = "it lasts rests on that stay" if len(once) == 1 else "they last rests on one stay each"
        sentence = f"{which} entered once only: how long {rests}."
        told.append(Claim.of("once", sentence, "segments of the likeliest path", {"regimes": len(once)}))
    empty = [regime.number for regime in found.regimes if not regime.n_steps]
    if empty:
        sentence = (
            f"Regime {joined(empty)} {'is' if len(empty) == 1 else 'are'} on no likeliest path: fewer regimes may do."
        )
        told.append(Claim.of("empty", sentence, "the likeliest path", {"regimes": len(empty)}))
    if len(found.segmentation) < FEW:
        sentence = f"{count(len(found.segmentation), 'step')} are few: regimes of so short a series are rough."
        told.append(Claim.of("few", sentence, "all steps", {"steps": len(found.segmentation)}, "{'steps': len(steps)}"))
    return told


def _gradual(found: RegimeFindings) -> list[str]:
    """Whether values follow the one before them within regimes, which the model takes as independent."""
    if found.carried is None or found.carried[1] < CARRIED:
        return []
    name, value = found.carried
    several = len(found.regimes) > 1
    told = f"{value:.2f}" if value < 0.995 else "> 0.99"
    sentence = (
        f"{'Within regimes, neighbouring' if several else 'Neighbouring'} values of {name} are correlated ({told}), "
        "which the model does not know: "
        f"{'regimes may be levels of a series that moves gradually' if several else 'the series may move gradually'}; "
        "changes from step to step may tell more than values."
    )
    return [
        Claim.of(
            "gradual",
            sentence,
            "each step and the one before it in its segment, less the regime's mean",
            {"correlation": value},
        )
    ]


def _miscovered(found: RegimeFindings) -> list[str]:
    """Whether intervals held fewer or more values than they promise, by more than chance."""
    trial = found.ahead
    if trial is None or not trial.n:
        return []
    inside = round(trial.covered * trial.n)
    if abs(trial.covered - trial.level) < OFF or binomtest(inside, trial.n, trial.level).pvalue >= SIGNIFICANT:
        return []
    less = trial.covered < trial.level
    sentence = (
        f"Intervals held {share(trial.covered)} of the later values instead of {share(trial.level, 0)}: they are too "
        f"{'narrow' if less else 'wide'} for the end of the series, and forecasts may be too."
    )
    return [
        Claim.of("coverage", sentence, _held_out(trial), {"covered": trial.covered, "level": trial.level, "n": trial.n})
    ]


def _tied(found: RegimeFindings) -> list[str]:
    """Another number of regimes that does about as well."""
    sound = [row for row in found.selection if row["bic"] is not None and not row["failed"]]
    others = [row for row in sound if row["n_components"] != len(found.regimes)]
    own = next((row for row in sound if row["n_components"] == len(found.regimes)), None)
    if own is None or not others:
        return []
    gap = others[0]["bic"] - own["bic"]
    if not 0 <= gap < CLOSE:
        return []
    n = others[0]["n_components"]
    sentence = f"{count(n, 'regime')} {'does' if n == 1 else 'do'} about as well (BIC {number(gap, 2)} more)."
    return [Claim.of("tied", sentence, "BIC of the models tried", {"gap": gap, "regimes": n})]


def card(choice: RegimeChoice, found: Segmentation, seed: int) -> dict[str, str]:
    """What the model is."""
    model, table = choice.model, choice.table
    lengths = np.diff(found.offsets)
    span = f"{lengths.min():,} to {lengths.max():,}" if lengths.min() < lengths.max() else f"{lengths.max():,}"
    series = "one series" if len(lengths) == 1 else f"{len(lengths):,} series of {span} steps"
    clock = model.clock_
    if model.continuous_time:
        steps = "any: rates of change in continuous time"
    elif clock is None:
        steps = "rows in the order of the table"
    else:
        steps = f"every {clock.told(1)}" if clock.told(1)[:2] != "1 " else f"every {clock.told(1)[2:]}"
    last = "geometric" if model.duration is None else str(model.duration)
    used = [column.name for column in table.used]
    told = {
        "Data": f"{table.reader.place}: {table.n_rows:,} rows, {series}",
        "Columns": f"{joined(used[:12])}{f' and {len(used) - 12} more' if len(used) > 12 else ''}",
        "Model": f"hidden Markov model, {count(model.n_components, 'regime')}, {model.covariance_type} covariances",
        "Steps": steps,
        "Lengths of stay": "exponential" if model.continuous_time else last,
    }
    fitted = getattr(model, "fit_", None)
    if fitted is not None:
        told["Fitted"] = f"{fitted.reason} ({model.n_iter_} steps)"
    return told | {"Seed": str(seed), "Version": f"tacit {__version__}"}
