"""`render_topics`: topics as one page: a map of them, words that follow the chosen topic and λ, their documents, their time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..study.topics import RELEVANCE, SHOWN_WORDS, Topic, TopicFindings
from .charts.colours import colour
from .charts.figure import chart, figure, line_path, stretched, text
from .charts.scale import Scale, spanning
from .markup import Markup, amount, cut, join, note, number, percent, plural, signed, table, tag
from .page import page_of
from .sections.card import card, convergence
from .sections.common import Section, choices
from .sections.summary import header

__all__ = ["render_topics"]

WIDTH, HEIGHT, LARGEST = 520, 440, 52
COVERED, TOUCH = 0.3, 0.85
"""Share of the map that circles cover at most, and how near two may come, in sums of their radii."""
MOST_BUTTONS = 200


def render_topics(found: TopicFindings) -> str:
    """The whole page as HTML; the same findings give the same text.

    Parameters
    ----------
    found : TopicFindings
        As `tacit.study.topics.study_topics` makes them.
    """
    made = (_topics(found), _over_time(found), _selection(found), convergence(found), card(found))  # type: ignore[arg-type]
    sections = [section for section in made if section is not None]
    return page_of(
        found.title, header("What texts are about", found.title, found.summary, _figures(found)), sections, "topics"
    )


def _figures(found: TopicFindings) -> list[tuple[str, str, str | None]]:
    told: list[tuple[str, str, str | None]] = [
        ("Documents", amount(found.n_documents), f"{amount(found.n_empty)} without words" if found.n_empty else None),
        ("Topics", amount(len(found.topics)), None),
        ("Words", amount(found.n_words), f"different, of {amount(found.n_tokens)}"),
    ]
    if found.completion is not None:
        told.append(
            (
                "Perplexity",
                number(found.completion.perplexity, 4),
                f"{number(found.completion.baseline, 4)} without topics",
            )
        )
    known = [topic.coherence for topic in found.topics if topic.coherence is not None]
    if known:
        told.append(("Coherence", signed(float(np.mean(known))), "NPMI, from −1 to +1"))
    return [*told, ("Diversity", percent(found.diversity, 0), "of top words are different")]


# The map, and a panel for each topic


def _topics(found: TopicFindings) -> Section:
    labels = [join([tag("b", topic.number), " ", cut(topic.name, 34)]) for topic in found.topics[:MOST_BUTTONS]]
    slider = tag("input", type="range", id="relevance", min="0", max="1", step="0.05", value=str(RELEVANCE))
    words = "At 1, words that are frequent in the topic; towards 0, words that are more frequent in it than elsewhere."
    control = tag(
        "div", tag("label", "Relevance λ ", for_="relevance"), slider, tag("output", f"{RELEVANCE:.2f}", for_="relevance"),
        tag("small", words), class_="relevance control",
    )  # fmt: skip
    panels = [_panel(topic) for topic in found.topics]
    chosen = choices("topic", labels, "Topic to show")
    body = [chosen, tag("div", tag("div", _map(found)), tag("div", control, panels), class_="explorer")]
    lead = (
        "Topics whose words are alike lie close together; a circle is as large as the topic. Choose a topic on the "
        "map or by its button. "
        "Bars show how often a word is in the topic, within how often it is in all documents; point at a word to see "
        "which topics have it."
    )
    return Section("topics", "The topics", "Topics", join(body), lead)


def _map(found: TopicFindings) -> Markup:
    shares = np.array([topic.share for topic in found.topics])
    across, upward = (
        spanning(found.places[:, axis], start, end, 0.02)
        for axis, start, end in ((0, LARGEST + 8, WIDTH - LARGEST - 8), (1, HEIGHT - LARGEST - 8, LARGEST + 8))
    )
    if np.ptp(found.places[:, 1]) < 0.25 * np.ptp(
        found.places[:, 0]
    ):  # two topics lie on a line: do not blow up the other axis
        middle, half = float(found.places[:, 1].mean()), 0.5 * float(np.ptp(found.places[:, 0])) or 1.0
        upward = Scale(middle - half, middle + half, HEIGHT - LARGEST - 8, LARGEST + 8)
    room = np.sqrt(COVERED * WIDTH * HEIGHT / (np.pi * (shares / max(shares.max(), 1e-300)).sum()))
    radius = np.maximum(min(LARGEST, room) * np.sqrt(shares / max(shares.max(), 1e-300)), 5.0)
    at = _apart(np.column_stack([across(found.places[:, 0]), upward(found.places[:, 1])]), radius)
    # The largest first: smaller ones stay in reach above them.
    order = np.argsort(-shares, kind="stable")
    bubbles = [_bubble(found.topics[k], at[k, 0], at[k, 1], radius[k]) for k in order]
    numbers = [text(at[k, 0], at[k, 1] + 5, str(found.topics[k].number), class_="topic-number") for k in order]
    svg = chart(
        "topic-map", "Map of the topics", f"{plural(len(shares), 'topic')}; those whose words are alike lie close together.",
        WIDTH, HEIGHT, tag("rect", x=1, y=1, width=WIDTH - 2, height=HEIGHT - 2, class_="frame"),
        tag("g", bubbles, id="topic-map", class_="topic-map"), numbers,
    )  # fmt: skip
    kept = (
        f"Distances are roots of Jensen–Shannon divergences; the plane keeps {percent(found.kept, 0)} of the squared "
    )
    kept += "distances. Circles that would cover each other are moved apart."
    rows = [
        [topic.number, cut(topic.name, 60), percent(topic.share), amount(topic.n_documents),
         "–" if topic.coherence is None else signed(topic.coherence), _nearest(found, k)]
        for k, topic in enumerate(found.topics)
    ]  # fmt: skip
    heads = ["Topic", "First words", "Share of words", "Documents", "Coherence", "Nearest topic (distance)"]
    return figure(svg, kept, table(heads, rows, numeric=(0, 2, 3, 4), caption="All topics"))


def _apart(places: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Places moved, each pair as little as need be, until circles hardly cover each other; all stay within the frame."""
    at, angle = (
        places.astype(np.float64),
        2.399963 * np.arange(len(places)),
    )  # those at one place part in different directions
    at = at + 0.01 * np.column_stack([np.cos(angle), np.sin(angle)])
    for _ in range(300):
        step = at[:, None] - at[None]
        far = np.sqrt((step**2).sum(axis=2)) + np.eye(len(at))
        lack = np.maximum(TOUCH * (radius[:, None] + radius[None]) - far, 0.0) * (1.0 - np.eye(len(at)))
        if lack.max() < 0.5:
            break
        at = at + 0.25 * (step / far[..., None] * lack[..., None]).sum(axis=1)
        at = np.clip(at, radius[:, None] + 3, np.array([WIDTH, HEIGHT]) - radius[:, None] - 3)
    return at


def _nearest(found: TopicFindings, k: int) -> str:
    if len(found.topics) < 2:
        return "–"
    others = found.distances[k] + 2.0 * (np.arange(len(found.topics)) == k)
    nearest = int(np.argmin(others))
    return f"{found.topics[nearest].number} ({number(float(others[nearest]), 2)})"


def _bubble(topic: Topic, x: float, y: float, radius: float) -> Markup:
    told = f"Topic {topic.number}, {percent(topic.share)} of all words: {cut(topic.name, 80)}"
    circle = tag("circle", cx=float(x), cy=float(y), r=float(radius), class_="bubble")
    return tag(
        "a", tag("title", told), circle, href=f"#topic-{topic.number}", data_topic=topic.number - 1, aria_label=told,
        class_=colour(topic.number),
    )  # fmt: skip


def _panel(topic: Topic) -> Markup:
    told = [f"{percent(topic.share)} of all words", f"main topic of {plural(topic.n_documents, 'document')}"]
    if topic.coherence is not None:
        told.append(f"coherence {signed(topic.coherence)}")
    documents = [tag("li", _document(entry)) for entry in topic.documents if entry["share"] > 0]
    body = [
        tag("h3", f"Topic {topic.number}: {cut(topic.name, 80)}"),
        tag("p", ", ".join(told), class_="what"),
        _bars(topic),
        tag("h3", "Documents that are most about it") if documents else None,
        tag("ol", documents, class_="documents") if documents else None,
    ]
    return tag(
        "div", body, class_=f"panel topic {colour(topic.number)}", data_set="topic", data_panel=topic.number - 1,
        id=f"topic-{topic.number}",
    )  # fmt: skip


def _document(entry: dict) -> Markup:
    title = entry["title"] or f"Document {entry['document']:,}"
    words = tag("p", cut(entry["text"], 200), dir="auto") if entry["text"] else None
    return join([tag("b", cut(title, 100), dir="auto"), f" · {percent(entry['share'], 0)}", words])


def _bars(topic: Topic) -> Markup:
    """A row for each word that some λ may show; those beyond the first thirty are hidden until the script ranks them."""
    own = np.array([entry["probability"] * topic.share for entry in topic.entries])
    overall = np.array([entry["overall"] for entry in topic.entries])
    first = np.maximum(own, overall)[:SHOWN_WORDS]
    most = float(first.max(initial=0.0)) or 1.0
    rows = []
    for place, entry in enumerate(topic.entries):
        whole, part = (100.0 * min(value / most, 1.0) for value in (max(overall[place], own[place]), own[place]))
        bars = [tag("rect", width=whole, height=12.0, class_="all"), tag("rect", width=part, height=12.0, class_="own")]
        cells = [
            tag("td", tag("button", cut(entry["word"], 40), type="button", aria_pressed="false")),
            tag("td", stretched(bars, "0 0 100 12", "word-bar", aria_hidden="true", focusable="false")),
            tag("td", percent(entry["probability"]), class_="n"),
        ]
        data: dict[str, Any] = {
            "data_word": cut(entry["word"], 40),
            "data_p": f"{entry['probability']:.4g}",
            "data_q": f"{entry['overall']:.4g}",
        }
        belongs = " ".join(f"{number}:{share:.3g}" for number, share in entry["topics"].items())
        rows.append(tag("tr", cells, hidden=place >= SHOWN_WORDS, data_topics=belongs, **data))
    caption = tag("caption", f"Words of topic {topic.number}, and how often each is in it", class_="hidden-text")
    heads = tag(
        "thead",
        tag("tr", [tag("th", name, scope="col") for name in ("Word", "In the topic, of all", "Of the topic")]),
        class_="hidden-text",
    )
    return tag("table", caption, heads, tag("tbody", rows), class_="word-bars", data_share=f"{topic.share:.4g}")


# Time and choice


def _over_time(found: TopicFindings) -> Section | None:
    span = found.span
    if span is None:
        return None
    most = float(np.nanmax(span.shares))
    figures = [_curve(topic, span.labels, span.shares[:, k], most) for k, topic in enumerate(found.topics)]
    rows = [[label, amount(n), *(("–" if np.isnan(value) else percent(float(value))) for value in row)]
            for label, n, row in zip(span.labels, span.n_documents, span.shares)]  # fmt: skip
    heads = ["Period", "Documents", *(f"Topic {topic.number}" for topic in found.topics)]
    data = tag(
        "details", tag("summary", "Numbers of these charts"),
        table(heads, rows, numeric=range(1, len(heads)), caption="Mean proportions by period"), class_="numbers",
    )  # fmt: skip
    lead = f"The mean share of a document about each topic, {span.labels[0]} to {span.labels[-1]}; all charts share a scale."
    return Section(
        "time", "Topics over time", "Time", join([tag("div", figures, class_="multiples over-time"), data]), lead
    )


def _curve(topic: Topic, labels: list[str], shares: np.ndarray, most: float) -> Markup:
    across, upward = Scale(0, max(len(labels) - 1, 1), 4, 316), Scale(0.0, most or 1.0, 92, 8)
    known = np.flatnonzero(~np.isnan(shares))
    points = [(float(across(at)), float(upward(shares[at]))) for at in known]
    area = Markup(f"{line_path([(points[0][0], 92.0), *points, (points[-1][0], 92.0)])}Z")
    high = int(known[np.argmax(shares[known])])
    words = f"Highest in {labels[high]}: {percent(float(shares[high]))}."
    svg = chart(
        f"time-{topic.number}", f"Topic {topic.number} over time", words, 320, 116,
        tag("path", d=area, class_="area"), tag("path", d=line_path(points), class_="line"),
        tag("line", x1=4, x2=316, y1=92, y2=92, class_="axis"),
        text(4, 110, labels[0], "start"), text(316, 110, labels[-1], "end"),
    )  # fmt: skip
    return tag(
        "figure",
        tag("h3", f"{topic.number}: {cut(topic.name, 44)}"),
        svg,
        tag("figcaption", words),
        class_=colour(topic.number),
    )


def _selection(found: TopicFindings) -> Section | None:
    if len(found.selection) < 2:
        return None
    best = min(row["perplexity"] for row in found.selection if row["perplexity"] is not None)
    rows = []
    for row in found.selection:
        value = row["perplexity"]
        told = (row["failed"] or "–") if value is None else "chosen" if row["n_topics"] == len(found.topics) else ""
        gap = "–" if value is None else percent(value / best - 1.0, 1)
        rows.append([amount(row["n_topics"]), "–" if value is None else number(value, 5), gap, cut(told, 80)])
    made = table(
        ["Topics", "Perplexity", "Above the best by", ""],
        rows,
        numeric=(0, 1, 2),
        caption="Numbers of topics that were tried",
    )
    lead = (
        "Perplexity of one half of the words of a document given the other half, in documents that were left out: "
        "less is better. The fewest topics within 1 % of the best were chosen."
    )
    return Section("selection", "How many topics", "Number", join([made, note("")]), lead)
