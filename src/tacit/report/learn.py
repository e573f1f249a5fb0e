"""`render_learned`: a predictor of a column as one page: how well, by what, resting on what, with the rows it missed most."""

from __future__ import annotations

import numpy as np

from ..study.learn import LearnFindings, Tried, Weight
from .charts.figure import strip
from .charts.predictions import calibration_line, effect_chart, found_against_predicted, legend
from .charts.scale import spanning
from .markup import amount, cut, join, note, number, percent, table, tag
from .page import page_of
from .sections.card import card
from .sections.common import Section
from .sections.summary import header

__all__ = ["render_learned"]

MOST_MISSED, MOST_CLASSES = 15, 20


def render_learned(found: LearnFindings) -> str:
    """The whole page as HTML; the same findings give the same text.

    Parameters
    ----------
    found : LearnFindings
        As `tacit.study.learn.study_learned` makes them.
    """
    made = (_accuracy(found), _models(found), _weights(found), _effects(found), _missed(found), card(found))  # type: ignore[arg-type]
    sections = [section for section in made if section is not None]
    top = header(f"{cut(found.target, 60)} predicted", found.title, found.summary, _figures(found))
    return page_of(found.title, top, sections)


def _figures(found: LearnFindings) -> list[tuple[str, str, str | None]]:
    told: list[tuple[str, str, str | None]] = [
        ("Rows learned from", amount(found.n_known), f"of {amount(found.n_rows)}")
    ]
    if found.classes:
        told.append(("Predicted right", percent(found.share), f"{percent(found.plain_share)} by the most frequent"))
    else:
        told += [
            ("Error", number(found.error, 3), f"{number(found.plain_error, 3)} by the mean"),
            ("Variance explained", percent(max(found.share, 0.0)), None),
        ]
    if found.covered is not None:
        told.append((f"Inside {percent(found.level, 0)} intervals", percent(found.covered), "of held-out values"))
    if found.n_missing:
        told.append(("Missing cells", amount(found.n_missing), None))
    return told


def _accuracy(found: LearnFindings) -> Section:
    lead = "Every row was predicted by a model that was learned without its fold."
    if not found.classes:
        return Section(
            "accuracy", "How well it is predicted", "Accuracy",
            found_against_predicted(found.known, found.predicted, found.target), lead + " On the line, both are the same.",
        )  # fmt: skip
    names = found.classes[:MOST_CLASSES]
    rows = [[cut(name, 40), *(amount(n) for n in found.right[name][: len(names)])] for name in names]
    heads = ["Found", *(f"as {cut(name, 30)}" for name in names)]
    body = [
        table(heads, rows, numeric=range(1, len(heads)), caption="Classes found, and what they were predicted to be")
    ]
    if len(found.classes) > len(names):
        body.append(note(f"The first {len(names)} of {len(found.classes)} classes.") or tag("p"))
    if len(found.calibration) > 1:
        body.append(tag("div", calibration_line(found.calibration), class_="multiples"))
    return Section("accuracy", "How well it is predicted", "Accuracy", join(body), lead)


def _models(found: LearnFindings) -> Section | None:
    if len(found.tried) < 2:
        return None
    error, good = ("Log loss", "Right") if found.classes else ("Error", "Explained")
    rows = [_model(each) for each in found.tried]
    plain = [
        "The shares of the classes" if found.classes else "The mean",
        number(found.plain_error, 3),
        percent(found.plain_share),
        "",
        "",
    ]
    heads = ["Model", error, good, "Worse than the best by (95 % interval)", ""]
    lead = (
        f"Errors on held-out rows: {'mean of minus the log probability of the class' if found.classes else 'root mean squares'}. "
        "Differences are of mean losses, taken row by row; where the interval holds 0, these rows do not tell the models apart."
    )
    return Section(
        "models",
        "Models compared",
        "Models",
        table(heads, [*rows, plain], numeric=(1, 2), caption="Models compared"),
        lead,
    )


def _model(each: Tried) -> list:
    name = cut(each.words[:1].upper() + each.words[1:], 60)
    if each.failed:
        return [name, "–", "–", "", cut(each.failed, 120)]
    gap = "" if each.worse is None else f"{number(each.worse, 3)} ({number(each.low, 3)} to {number(each.high, 3)})"
    share = percent(each.share) if each.share is not None and each.share > 0 else "none"
    return [name, number(each.error, 3), share, gap, "chosen" if each.worse is None else ""]


def _weights(found: LearnFindings) -> Section | None:
    if not found.weights:
        return None
    most = max(max(each.growth for each in found.weights), 1e-12)
    rows = [_weight(each, strip(max(each.growth, 0.0) / most), bool(found.classes)) for each in found.weights]
    after = "Right without it" if found.classes else "Error without it"
    body = table(
        ["Column", "", after, "Loss of a row grows by", ""], rows, numeric=(2, 3), caption="What predictions rest on"
    )
    lead = (
        "What becomes of held-out rows when the cells of a column are exchanged between them, so that it tells nothing; growth "
        "of the mean loss with twice its standard error."
    )
    return Section("weights", "What predictions rest on", "Columns", body, lead)


def _weight(each: Weight, bar: object, classes: bool) -> list:
    after = percent(each.after) if classes else number(each.after, 3)
    growth = f"{number(each.growth, 3)} ± {number(2 * each.error, 2)}"
    return [cut(each.column, 40), bar, after, growth, "" if each.sure else "may be chance"]


def _effects(found: LearnFindings) -> Section | None:
    if not found.effects:
        return None
    names = found.drawn or [found.target]
    every = np.concatenate([np.ravel(effect.means) for effect in found.effects])
    upward = spanning(every, 186.0, 34.0, 0.05)
    charts = [
        effect_chart(
            k, effect.column, effect.values, effect.labels, effect.levels, np.array(effect.means), names, upward
        )
        for k, effect in enumerate(found.effects)
    ]
    what = "Mean probabilities of the classes" if found.classes else f"Mean predictions of {cut(found.target, 60)}"
    lead = f"{what} when a column is set to each value in all rows, the other cells being as they are."
    if len(found.classes) > len(names):
        lead += f" The {len(names)} most frequent of {len(found.classes)} classes are drawn."
    return Section(
        "effects",
        "How predictions change",
        "Effects",
        join([legend(names), tag("div", charts, class_="multiples")]),
        lead,
    )


def _missed(found: LearnFindings) -> Section | None:
    if found.classes:
        order = np.argsort(found.predicted, kind="stable")[:MOST_MISSED]
        heads = ["Row", found.target, "Probability told"]
        rows = [
            [amount(found.rows[i] + 1), cut(found.classes[int(found.known[i])], 40), percent(float(found.predicted[i]))]
            for i in order
        ]
        lead = "Held-out rows whose class was said to be least probable: look at them for wrong labels or cells."
    else:
        order = np.argsort(-np.abs(found.known - found.predicted), kind="stable")[:MOST_MISSED]
        heads = ["Row", found.target, "Predicted", f"{percent(found.level, 0)} interval"]
        rows = [
            [amount(found.rows[i] + 1), number(float(found.known[i])), number(float(found.predicted[i])),
             f"{number(float(found.low[i]))} to {number(float(found.high[i]))}" if np.isfinite(found.low[i]) else "–"]
            for i in order
        ]  # fmt: skip
        lead = "Held-out rows that were missed most: look at them for wrong cells."
    heads[1] = cut(heads[1], 40)
    return Section(
        "missed", "Rows missed most", "Rows", table(heads, rows, numeric=(0, 1, 2), caption="Rows missed most"), lead
    )
