"""`render_regimes`: regimes of sequences as one page: series in their colours, what regimes are like, moves, forecast, checks."""

from __future__ import annotations

from ..sequence.trial import Trial
from ..study.segment import Regime, RegimeFindings
from .charts.colours import colour, glyph
from .charts.figure import figure, strip
from .charts.graph import transition_graph
from .charts.series import MOST_COLUMNS, series_chart
from .markup import Markup, amount, cut, join, note, number, percent, plural, table, tag
from .page import page_of
from .sections.card import card, convergence
from .sections.common import Section
from .sections.summary import header

__all__ = ["render_regimes"]

MOST_SERIES, MOST_SEGMENTS, RECENT = 24, 200, 60


def render_regimes(found: RegimeFindings) -> str:
    """The whole page as HTML; the same findings give the same text.

    Parameters
    ----------
    found : RegimeFindings
        As `tacit.study.segment.study_regimes` makes them.
    """
    made = (
        _series(found), _regimes(found), _moves(found), _forecast(found), _accuracy(found), _selection(found),
        convergence(found), card(found),  # type: ignore[arg-type]
    )  # fmt: skip
    sections = [section for section in made if section is not None]
    kind = "Regimes of a series" if found.segmentation.n_sequences == 1 else "Regimes of series"
    return page_of(found.title, header(kind, found.title, found.summary, _figures(found)), sections, "segment")


def _figures(found: RegimeFindings) -> list[tuple[str, str, str | None]]:
    segments = found.segmentation
    left = f"{amount(found.n_left_out)} without a row" if found.n_left_out else None
    told: list[tuple[str, str, str | None]] = [("Steps", amount(len(segments)), left)]
    if segments.n_sequences > 1:
        told.append(("Series", amount(segments.n_sequences), None))
    told.append(("Regimes", amount(len(found.regimes)), None))
    if len(found.regimes) > 1:
        told += [
            ("Segments", amount(len(segments.segment_states)), None),
            ("Sure steps", percent(found.sure), "at least 90 % probable"),
        ]
    if found.n_missing:
        told.append(("Missing cells", amount(found.n_missing), "filled in"))
    if found.ahead is not None and found.ahead.n:
        told.append((f"Inside {percent(found.level, 0)} intervals", percent(found.ahead.covered), "of values held out"))
    return told


# The series


def _series(found: RegimeFindings) -> Section:
    segments = found.segmentation
    n = min(segments.n_sequences, MOST_SERIES)
    panels = [
        tag("div", tag("h3", cut(segments.name(s), 80)) if segments.names is not None else None, figure(series_chart(found, s)),
            _segments(found, s), class_="panel", data_set="series", data_panel=s)
        for s in range(n)
    ]  # fmt: skip
    chooser = None
    if n > 1:
        options = [tag("option", cut(segments.name(s), 60), value=s) for s in range(n)]
        chooser = tag(
            "p",
            tag("label", "Series ", for_="series-chosen"),
            tag("select", options, id="series-chosen"),
            class_="control",
        )
    several = len(found.regimes) > 1
    lead = (
        "Colours and numbers tell the regime of each step: that of the likeliest path."
        if several
        else "The series as it is."
    )
    if found.n_missing or found.n_left_out:
        lead += " Hollow dots are filled in, with their intervals."
    if found.forecast is not None:
        lead += f" The fan at the end holds later values with {percent(found.level, 0)}."
    shown = sum(not column.levels for column in found.columns)
    more = [] if shown <= MOST_COLUMNS else [note(f"The first {MOST_COLUMNS} of {shown} columns of numbers are drawn.")]
    if segments.n_sequences > n:
        more.append(note(f"The first {n} of {amount(segments.n_sequences)} series are shown; the files have all."))
    return Section(
        "series",
        "The series over time",
        "Series",
        join([chooser, _legend(found) if several else None, *panels, *more]),
        lead,
    )


def _legend(found: RegimeFindings) -> Markup:
    marks = [tag("li", glyph(regime.number), f" Regime {regime.number}") for regime in found.regimes]
    return tag("ul", marks, class_="regime-legend")


def _segments(found: RegimeFindings, s: int) -> Markup | None:
    segments = found.segmentation
    own = [i for i, sequence in enumerate(segments.sequence.tolist()) if sequence == s]
    if len(found.regimes) < 2:
        return None
    starts, ends = segments.when(segments.bounds[own]), segments.when(segments.bounds[[i + 1 for i in own]] - 1)
    rows = [
        [_when(start), _when(end), amount(segments.bounds[i + 1] - segments.bounds[i]),
         f"Regime {segments.segment_states[i] + 1}", percent(float(segments.segment_probability[i]))]
        for i, start, end in zip(own[:MOST_SEGMENTS], starts, ends)
    ]  # fmt: skip
    made = table(["From", "To", "Steps", "Regime", "Mean probability"], rows, numeric=(2, 4), caption="Segments")
    more = note(f"The first {MOST_SEGMENTS} of {amount(len(own))} segments.") if len(own) > MOST_SEGMENTS else None
    return tag("details", tag("summary", f"{plural(len(own), 'segment')}"), made, more, class_="numbers")


def _when(moment: object) -> str:
    return number(moment, 8) if isinstance(moment, float) else str(moment)


# Regimes


def _regimes(found: RegimeFindings) -> Section | None:
    if len(found.regimes) < 2:
        return None
    cards = tag("ul", [_card(regime) for regime in found.regimes], class_="cards")
    rows = [row for number_, _ in enumerate(found.regimes[0].profile) for row in _profile(found, number_)]
    heads = ["Column", "", *(f"Regime {regime.number}" for regime in found.regimes)]
    data = table(heads, rows, numeric=range(2, len(heads)), caption="What regimes are like") if rows else None
    lead = "Means, standard deviations and shares of known values in the steps of each regime."
    return Section(
        "regimes", "What the regimes are like", "Regimes", join([cards, tag("h3", "Column by column"), data]), lead
    )


def _card(regime: Regime) -> Markup:
    size = [tag("b", percent(regime.share)), f" of the steps · {plural(regime.n_segments, 'segment')}"]
    lasts = f"Lasts {regime.lasts} on average." if regime.lasts else "Was never left."
    return tag(
        "li", tag("h3", glyph(regime.number), f" Regime {regime.number}"), tag("p", size, class_="size"), strip(regime.share),
        tag("p", cut(f"{regime.words}.", 400), class_="what"), tag("p", lasts, class_="what"),
        class_=f"card {colour(regime.number)}",
    )  # fmt: skip


def _profile(found: RegimeFindings, place: int) -> list[list]:
    entries = [regime.profile[place] for regime in found.regimes]
    name = cut(entries[0]["column"], 40)
    if entries[0]["level"] is not None:
        shares = ["–" if entry["mean"] is None else percent(entry["mean"]) for entry in entries]
        return [[name, f"= {cut(entries[0]['level'], 30)}", *shares]]
    return [
        [name, what, *(number(entry[key], 4) for entry in entries)]
        for what, key in (("mean", "mean"), ("standard deviation", "std"))
    ]


def _moves(found: RegimeFindings) -> Section | None:
    if len(found.regimes) < 2:
        return None
    lead = "The larger a circle, the more steps are in the regime; the wider an arrow, the more probable is the move."
    return Section("moves", "How regimes follow each other", "Moves", transition_graph(found), lead)


# Ahead


def _forecast(found: RegimeFindings) -> Section | None:
    ahead = found.forecast
    if ahead is None:
        return None
    n = min(found.segmentation.n_sequences, MOST_SERIES)
    panels = [
        tag("div", tag("h3", cut(found.segmentation.name(s), 80)) if found.segmentation.names is not None else None,
            figure(series_chart(found, s, last=RECENT, name="forecast")), _steps_ahead(found, s), class_="panel",
            data_set="series", data_panel=s)
        for s in range(n)
    ]  # fmt: skip
    lead = (
        f"The last steps, and {plural(ahead.mean.shape[1], 'step')} ahead: expectations, and intervals that hold a value with "
        f"{percent(found.level, 0)}. The further ahead, the nearer to what the regimes have in the long run."
    )
    return Section("forecast", "What comes next", "Forecast", join(panels), lead)


def _steps_ahead(found: RegimeFindings, s: int) -> Markup:
    ahead = found.forecast
    assert ahead is not None
    several = len(found.regimes) > 1
    heads = [
        "When",
        *(cut(column.name, 40) for column in found.columns),
        *([f"Regime {r.number}" for r in found.regimes] if several else []),
    ]
    rows = []
    for h, when in enumerate(found.times_ahead(s)[:40]):
        cells = []
        for j, column in enumerate(found.columns):
            if column.levels:
                cells.append(
                    f"{cut(column.levels[int(ahead.mean[s, h, j])], 30)} ({percent(float(ahead.probability[s, h, j]))})"
                )
            else:
                ends = [number(float(part[s, h, j]), 3) for part in (ahead.mean, ahead.low, ahead.high)]
                cells.append(f"{ends[0]} ({ends[1]} to {ends[2]})")
        shares = [percent(float(p)) for p in ahead.states[s, h]] if several else []
        rows.append([_when(when), *cells, *shares])
    made = table(heads, rows, numeric=range(1, len(heads)), caption="Steps ahead")
    return tag("details", tag("summary", "Numbers of this chart"), made, class_="numbers")


# Checks


def _accuracy(found: RegimeFindings) -> Section | None:
    trials = [("One step ahead", found.ahead), ("Hidden cells", found.hidden)]
    rows = [_trial(name, trial) for name, trial in trials if trial is not None and trial.n]
    levels = [
        [name, amount(trial.n_levels), percent(trial.right), percent(trial.usual)] for name, trial in trials
        if trial is not None and trial.n_levels
    ]  # fmt: skip
    body: list[Markup] = []
    if rows:
        heads = [
            "Predicted",
            "Values",
            f"Inside {percent(found.level, 0)} intervals",
            "Error",
            "By the mean",
            "By the last value",
        ]
        body.append(table(heads, rows, numeric=range(1, 6), caption="Values held out"))
    if levels:
        heads = ["Predicted", "Levels", "Right", "Most frequent level"]
        body.append(table(heads, levels, numeric=range(1, 4), caption="Levels held out"))
    if not body:
        return None
    lead = (
        "Models that were learned without them predicted the values at the end of the series, each given all before it"
        f"{', and known cells hidden on purpose' if found.hidden is not None else ''}. Errors are roots of mean squares, in "
        "standard deviations of the column."
    )
    return Section("accuracy", "How well values are predicted", "Accuracy", join(body), lead)


def _trial(name: str, trial: Trial) -> list[str]:
    return [
        name,
        amount(trial.n),
        percent(trial.covered),
        *(number(each, 3) for each in (trial.error, trial.mean_error, trial.last_error)),
    ]


def _selection(found: RegimeFindings) -> Section | None:
    if len(found.selection) < 2:
        return None
    sound = [row["bic"] for row in found.selection if row["bic"] is not None]
    best, several = min(sound, default=None), len({row["covariance_type"] for row in found.selection}) > 1
    rows = []
    for place, row in enumerate(found.selection):
        value = row["bic"]
        told = cut(row["failed"], 80) if row["failed"] else "chosen" if place == 0 else ""
        gap = "–" if value is None or best is None else number(value - best, 4)
        shape = [row["covariance_type"]] if several else []
        rows.append([amount(row["n_components"]), *shape, "–" if value is None else number(value, 7), gap, told])
    heads = ["Regimes", *(["Covariances"] if several else []), "BIC", "More than the least by", ""]
    made = table(heads, rows, numeric=(0, len(heads) - 3, len(heads) - 2), caption="Models that were tried")
    lead = (
        "BIC weighs how well a model fits against how many parameters it has: less is better, and a difference of ten or more "
        "decides."
    )
    return Section("selection", "How many regimes", "Number", made, lead)
