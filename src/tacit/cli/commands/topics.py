"""Find what texts are about.

Reads a column of texts of a table, or a file (or the standard input) of one document per line. Writes beside it:
NAME.topics.topics.csv (each topic's share and words), NAME.topics.proportions.csv (how much of each document is
about each topic),
NAME.topics.tacit (the model, for new texts) and NAME.topics.html (a page: a map of the topics, their words and documents).
"""

import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import Any

from ..common import add_budget, add_output, add_table, check_free, page_asked, result_path
from ..outcome import Outcome
from ..texts import documents_asked, read_corpus

HELP = "find what texts are about"
EXAMPLE = "tacit topics reviews.csv --text comment --topics auto"
TAKES = ("text", "time")
MODELS = {"lda": "LatentDirichletAllocation", "nmf": "NMFTopics", "anchors": "AnchorTopics"}
DEFAULT = 10


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    add_table(parser)
    group = parser.add_argument_group("model")
    group.add_argument(
        "--topics", type=_number, default=DEFAULT, metavar="K",
        help=f"how many ({DEFAULT}), or auto: the fewest that predict words of held-out documents about as well as any",
    )  # fmt: skip
    group.add_argument(
        "--method", choices=list(MODELS), default="lda",
        help="latent Dirichlet allocation (lda, the default), non-negative factorisation (nmf) or anchor words (anchors)",
    )  # fmt: skip
    group.add_argument(
        "--seed-words", type=_words, action="append", default=[], metavar="A,B",
        help="words that one topic should have, once for each topic to guide (lda)",
    )  # fmt: skip
    group = parser.add_argument_group("words")
    group.add_argument("--phrases", action="store_true", help='take words that stand together ("new york") as one')
    group.add_argument(
        "--stop-words", metavar="FILE", default="auto",
        help="a file of further words to leave out, one per line; or the language whose function words to leave out (english, "
        "german, …; recognised by default), or none",
    )  # fmt: skip
    group.add_argument("--min-df", type=_frequency, default="auto", metavar="N", help="leave out words in fewer documents: a "
                       "number (3) or a share (0.01)")  # fmt: skip
    group.add_argument("--max-df", type=_frequency, default="auto", metavar="N", help="leave out words in more documents: a "
                       "number (500) or a share (0.5)")  # fmt: skip
    group.add_argument("--id", metavar="NAME", help="the column of titles of documents")
    add_budget(parser)
    add_output(parser, page=True)


def _number(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdigit() or not 1 <= int(text) <= 10_000:
        raise ArgumentTypeError(f"{text!r} is neither a number from 1 to 10,000 nor auto")
    return int(text)


def _frequency(text: str) -> int | float | str:
    """A number of documents, or a share of them where it has a point."""
    if text == "auto":
        return text
    try:
        value = float(text) if "." in text else int(text)
    except ValueError:
        value = -1
    if value < 0 or (isinstance(value, float) and value > 1):
        raise ArgumentTypeError(f"{text!r} is neither a number of documents such as 3 nor a share such as 0.01")
    return value


def _words(text: str) -> list[str]:
    found = [word.strip() for word in text.split(",") if word.strip()]
    if not found:
        raise ArgumentTypeError(f"{text!r} names no words, such as fruit,apple")
    return found


def run(arguments: Namespace) -> Outcome:
    """Read the texts, learn the topics, write."""
    from ...study.topics import study_topics
    from ..progress import Progress

    if arguments.seed_words and arguments.method != "lda":
        raise ValueError(
            f"--seed-words guide topics of --method lda, and the method is {arguments.method}; leave one out."
        )
    documents = documents_asked(arguments, arguments.text)
    folder = check_free(arguments, documents, ["topics", "proportions", "tacit", *page_asked(arguments)])
    with Progress(arguments.quiet) as progress:
        progress.show(None, "reading the texts")
        corpus = read_corpus(documents, arguments.text, arguments.time, arguments.id, _vectorizer(arguments))
        _check(corpus, documents.place, arguments.topics)
        deadline = None if arguments.budget is None else time.monotonic() + arguments.budget
        model, chosen, ended = _learned(arguments, corpus, deadline, progress)
        progress.show(None, "looking at the topics")
        spent = arguments.budget if ended else None
        told: dict[str, Any] = {"seed": arguments.seed, "spent": spent, "choice": chosen}
        if chosen is None:
            told["judged"] = _model(arguments, len(model.topic_word_), corpus, deadline)[0]
        findings = study_topics(model, corpus, **told)
        files = _write(arguments, documents, folder, model, corpus, findings)
    return Outcome(_text(findings, corpus, files), _data(findings, model, files))


def _vectorizer(arguments: Namespace) -> Any:
    from ...topics import TextVectorizer

    return TextVectorizer(
        phrases=arguments.phrases, stop_words=_stop_words(arguments.stop_words), min_df=arguments.min_df, max_df=arguments.max_df
    )  # fmt: skip


def _stop_words(asked: str) -> Any:
    """What `--stop-words` asks for: words of a file, a language, or None."""
    import os

    from ...topics.corpus import read_lines
    from ...topics.stopwords import LANGUAGES

    if asked == "none":
        return None
    if asked.lower() in ("auto", *LANGUAGES) and not os.path.isfile(asked):
        return asked.lower()
    if not os.path.isfile(asked):
        raise ValueError(
            f"--stop-words: {asked} is neither a file with one word per line nor one of {', '.join(LANGUAGES)}, none."
        )
    return [line.strip() for line in read_lines(asked) if line.strip()]


def _check(corpus: Any, place: str, topics: int | str) -> None:
    if len(corpus) < 2:
        raise ValueError(f"{place} has {len(corpus)} document; topics are what tells documents apart: give at least 2.")
    if isinstance(topics, int) and topics > len(corpus.words):
        raise ValueError(
            f"--topics {topics} is too many for {len(corpus.words)} words; ask for at most {len(corpus.words)}."
        )
    if isinstance(topics, int) and topics > len(corpus):
        raise ValueError(f"--topics {topics} is too many for {len(corpus)} documents; ask for at most {len(corpus)}.")


def _model(arguments: Namespace, n_topics: int, corpus: Any, deadline: float | None) -> tuple[Any, Any]:
    """A model that is not fitted yet, and what ends its fit."""
    from ... import topics
    from ...engine import Until

    cls: Any = getattr(topics, MODELS[arguments.method])
    names, ending = cls().get_params(), Until(deadline)
    told: dict[str, Any] = {"random_state": arguments.seed, "callback": ending}
    if arguments.seed_words:
        told["seeds"] = _seeds(arguments.seed_words, corpus, n_topics)
    return cls(n_topics, **{name: value for name, value in told.items() if name in names}), ending


def _seeds(lists: list[list[str]], corpus: Any, n_topics: int) -> dict[int, list[str]]:
    """Seed words of topics, as the corpus writes them."""
    if len(lists) > n_topics:
        raise ValueError(f"--seed-words are given for {len(lists)} topics, and there are {n_topics}; raise --topics.")
    known, made = set(corpus.words), []
    for words in lists:
        own = [" ".join(corpus.reading.words(word)) for word in words]
        strange = [word for word, found in zip(words, own) if found not in known]
        if strange:
            raise ValueError(
                f"--seed-words: {strange[0]!r} is no counted word of the texts; it may be too rare or too frequent."
            )
        made.append(own)
    return dict(enumerate(made))


def _learned(arguments: Namespace, corpus: Any, deadline: float | None, progress: Any) -> tuple[Any, Any, bool]:
    """The fitted model, how the number of topics was chosen (None where it was given), and whether the fit was ended."""
    import warnings

    from ...topics import choose_topics

    found, n_topics, ended = None, arguments.topics, False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if n_topics == "auto":
            fewest = max(len(arguments.seed_words), 1)
            found = choose_topics(
                _model(arguments, fewest, corpus, deadline)[0], corpus, random_state=arguments.seed, budget=arguments.budget,
                on_try=lambda n: progress.show(None, f"trying {n} topics"),
            )  # fmt: skip
            n_topics, ended = max(found.simplest, fewest), found.ended
        progress.show(None, f"learning {n_topics} topics")
        model, ending = _model(arguments, int(n_topics), corpus, None if ended else deadline)
        model.fit(corpus)
    if "callback" in model.get_params():
        model.set_params(callback=None)
    return model, found, ending.ended


# What is written and told


def _write(arguments: Namespace, documents: Any, folder: str, model: Any, corpus: Any, findings: Any) -> dict[str, str]:
    """Write the tables, the model and the page: everything or nothing. Returns what each file is, by path."""
    from ... import save
    from ...report.topics import render_topics
    from ..common import opened_outputs
    from ._results import write_text

    paths = {
        each: result_path(arguments, documents, folder, each) for each in ("topics", "proportions", "tacit", "html")
    }
    notes = {
        "command": "topics", "seed": arguments.seed, "table": {"name": documents.name, "file": _file(documents), "columns": []},
        "settings": {"text": arguments.text, "time": arguments.time, "id": arguments.id},
    }  # fmt: skip
    files = {
        paths["topics"]: "each topic's share and words", paths["proportions"]: "how much of each document is about each topic",
        paths["tacit"]: "the model, for new texts",
    }  # fmt: skip
    separator = getattr(documents.reader, "separator", ",") if not arguments.format else ","
    with opened_outputs(arguments, folder, separator or ",") as outputs:
        outputs.table(paths["topics"]).write(topics_columns(findings))
        outputs.table(paths["proportions"]).write(proportions_columns(findings.proportions, corpus))
        save(model, outputs.file(paths["tacit"]), notes=notes)
        if not arguments.no_report:
            write_text(outputs, paths["html"], lambda: render_topics(findings))
            files[paths["html"]] = "the page; open it in a browser"
    return files


def _file(documents: Any) -> str:
    import os

    return os.path.basename(documents.path) if documents.name != "stdin" else ""


def topics_columns(findings: Any) -> dict:
    """The table of topics."""
    return {
        "topic": [topic.number for topic in findings.topics],
        "share": [topic.share for topic in findings.topics],
        "documents": [topic.n_documents for topic in findings.topics],
        "coherence": [float("nan") if topic.coherence is None else topic.coherence for topic in findings.topics],
        "words": [", ".join(topic.words[:20]) for topic in findings.topics],
    }


def proportions_columns(theta: Any, corpus: Any) -> dict:
    """The table of documents; one without known words has no main topic."""
    import numpy as np

    made: dict[str, Any] = {"document": np.arange(1, len(theta) + 1)}
    if corpus.titles is not None:
        made["title"] = list(corpus.titles)
    main, known = theta.argmax(axis=1) + 1, np.diff(corpus.counts.indptr) > 0
    made["topic"] = main if known.all() else [int(topic) if there else None for topic, there in zip(main, known)]
    return made | {f"topic_{k}": column for k, column in enumerate(theta.T, 1)}


def _text(findings: Any, corpus: Any, files: dict[str, str]) -> str:
    from ...words import count, number, share
    from ..console import grid, heading, paragraph
    from ..telling import wrote
    from ..voice import said

    head = f"{findings.title}: {count(findings.n_documents, 'document')}, {count(findings.n_words, 'different word')}"
    rows = [("topic", "share", "documents", "coherence", "words")]
    for topic in findings.topics:
        told = "–" if topic.coherence is None else number(topic.coherence, 2)
        rows.append((str(topic.number), share(topic.share), f"{topic.n_documents:,}", told, ", ".join(topic.words[:9])))
    parts = [
        [heading(head)],
        [heading("In short"), *(paragraph(said(sentence), "  ") for sentence in findings.summary)],
        [heading("Topics"), *grid(rows, right=range(4), widest=90)],
        [heading("Bear in mind"), *(paragraph(f"- {said(sentence)}", "  ") for sentence in findings.limits)],
        wrote(files),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _data(findings: Any, model: Any, files: dict[str, str]) -> dict:
    from dataclasses import asdict

    topics = [
        {"number": topic.number, "share": topic.share, "documents": topic.n_documents, "coherence": topic.coherence,
         "words": topic.words, "typical": topic.documents}
        for topic in findings.topics
    ]  # fmt: skip
    span = findings.span
    return {
        "table": findings.title, "rows": findings.n_documents, "method": type(model).__name__, "topics": topics,
        "vocabulary": findings.n_words, "empty": findings.n_empty, "diversity": findings.diversity,
        "completion": None if findings.completion is None else asdict(findings.completion), "selection": findings.selection,
        "over_time": None if span is None else {"periods": span.labels, "shares": span.shares, "documents": span.n_documents},
        "summary": findings.summary, "limits": findings.limits, "files": list(files),
    }  # fmt: skip
