"""`tacit topics`: what it writes, what it refuses, and what saved models say of new texts."""

import csv
import gzip
import io
import json
import os

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.tables import opening

SUBJECTS = {
    "food": "soup bread cheese kitchen waiter menu dessert coffee plate dinner",
    "travel": "train airport ticket luggage hotel beach passport flight delay station",
    "sport": "goal match referee stadium striker league season coach trophy penalty",
}
EVERYWHERE = [
    "the",
    "and",
    "was",
    "very",
    "is",
    "of",
    "to",
    "in",
    "that",
    "it",
    "we",
    "were",
    "for",
    "but",
    "this",
    "with",
]


def written(n, seed=0):
    """Reviews of which each has mostly one subject, with their dates."""
    rng = np.random.default_rng(seed)
    names, rows = list(SUBJECTS), []
    for i in range(n):
        # Sport comes late.
        main = names[rng.choice(3, p=[0.45, 0.45, 0.1] if i < n / 2 else [0.2, 0.2, 0.6])]
        words = [
            rng.choice(EVERYWHERE) if rng.random() < 0.4 else rng.choice(SUBJECTS[main].split())
            for _ in range(rng.integers(15, 40))
        ]
        rows.append([f"review {i}", " ".join(words).capitalize() + ".", str(np.datetime64("2023-01-01") + 2 * i), main])
    return rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("topics")
    rows = written(150)
    rows[7][1] = ""
    with open(folder / "reviews.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["name", "comment", "date", "subject"], *rows])
    with gzip.open(folder / "lines.txt.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(row[1] for row in rows) + "\n")
    assert run(folder, "reviews.csv", "--text", "comment", "--time", "date", "--id", "name", "--topics", "auto") == 0
    return folder


def run(folder, file, *options):
    return main(["topics", str(folder / file), "--method", "anchors", "--quiet", *options])


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_everything_is_written(folder):
    assert {path.name for path in folder.glob("reviews.topics.*")} == {
        "reviews.topics.topics.csv", "reviews.topics.proportions.csv", "reviews.topics.tacit", "reviews.topics.html",
    }  # fmt: skip
    topics = read(folder / "reviews.topics.topics.csv")
    assert len(topics) == 3
    found = {frozenset(row["words"].split(", ")[:10]) for row in topics}
    assert found == {frozenset(words.split()) for words in SUBJECTS.values()}
    rows = read(folder / "reviews.topics.proportions.csv")
    assert [row["title"] for row in rows] == [f"review {i}" for i in range(150)]
    shares = np.array([[float(row[f"topic_{k}"]) for k in (1, 2, 3)] for row in rows])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-6)
    # Documents of one subject have one main topic.
    subjects = [row["subject"] for row in read(folder / "reviews.csv")]
    main_topic = {}
    for subject, row, i in zip(subjects, rows, range(150)):
        if i != 7:
            assert main_topic.setdefault(subject, row["topic"]) == row["topic"]


def test_json_tells_time_and_choice(folder, tmp_path, capsys):
    options = ["--text", "comment", "--time", "date", "--topics", "auto", "--json", "--out", str(tmp_path)]
    assert run(folder, "reviews.csv", *options) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["topics"]) == 3
    assert told["empty"] == 1
    assert told["completion"]["perplexity"] < 0.5 * told["completion"]["baseline"]
    assert told["over_time"]["periods"][0] == "2023-01"
    assert sum(told["over_time"]["documents"]) == 149
    assert [row["n_topics"] for row in told["selection"]][:4] == [2, 3, 4, 5]
    claims = {claim["code"]: claim for claim in told["claims"]}
    sport = next(t["number"] for t in told["topics"] if "goal" in t["words"][:10])
    assert claims["over_time"]["text"].startswith(f"Topic {sport} (")
    assert " grew most over time" in claims["over_time"]["text"]
    assert "1 document has none of the words" in claims["empty"]["text"]


def test_lines_give_the_same_topics_as_a_column(folder, tmp_path):
    assert run(folder, "lines.txt.gz", "--topics", "3", "--out", str(tmp_path)) == 0
    ours, column = read(tmp_path / "lines.topics.topics.csv"), read(folder / "reviews.topics.topics.csv")
    assert ours == column


def test_new_texts_of_a_saved_model(folder, tmp_path, monkeypatch):
    model = str(folder / "reviews.topics.tacit")
    assert main(["predict", model, str(folder / "reviews.csv"), "--out", str(tmp_path), "--quiet"]) == 0
    again = read(tmp_path / "reviews.predict.proportions.csv")
    assert again == read(folder / "reviews.topics.proportions.csv")

    class Given:
        buffer = io.BytesIO(b"The referee's goal: a match!\n\n")

    opening._standard_input.cache_clear()
    monkeypatch.setattr("sys.stdin", Given)
    assert main(["predict", model, "-", "--out", str(tmp_path)]) == 0
    opening._standard_input.cache_clear()
    rows = read(tmp_path / "stdin.predict.proportions.csv")
    sport = next(
        row["topic"] for row in read(folder / "reviews.topics.topics.csv") if "goal" in row["words"].split(", ")[:10]
    )
    assert [row["topic"] for row in rows][:1] == [sport]
    assert len(rows) == 2
    loaded = tacit.load(model)
    assert loaded.transform(["match goal"]).argmax() == int(sport) - 1


def test_the_page_is_written_again(folder, tmp_path, capsys):
    model = str(folder / "reviews.topics.tacit")
    assert main(["report", model, "--out", str(tmp_path), "--title", "What guests write"]) == 0
    page = (tmp_path / "reviews.report.html").read_text(encoding="utf-8")
    assert "What guests write" in page
    assert 'id="topic-3"' in page
    assert main(["report", model, "--out", str(tmp_path), "--force", "--merge", "1+2"]) == 2
    assert "--merge is for groups, and this is a model of topics" in capsys.readouterr().err


def test_phrases_and_stop_words(folder, tmp_path, capsys):
    texts = ["we saw new york and its harbour"] * 20 + ["the soup was too salty in the kitchen"] * 20
    (tmp_path / "t.txt").write_text("\n".join(texts), encoding="utf-8")
    (tmp_path / "stop.txt").write_text("Salty\nsaw\n", encoding="utf-8")
    options = ["--phrases", "--stop-words", str(tmp_path / "stop.txt"), "--topics", "2"]
    assert run(tmp_path, "t.txt", *options) == 0
    words = " ".join(row["words"] for row in read(tmp_path / "t.topics.topics.csv"))
    assert "new york" in words
    assert "salty" not in words
    assert run(tmp_path, "t.txt", "--stop-words", "none", "--max-df", "1.0", "--topics", "2", "--force") == 0
    assert {"the", "was", "its"} <= set(
        ", ".join(row["words"] for row in read(tmp_path / "t.topics.topics.csv")).split(", ")
    )
    assert run(tmp_path, "t.txt", "--stop-words", "english", "--topics", "2", "--min-df", "30", "--force") == 2
    assert "min_df=30" in capsys.readouterr().err


def test_documents_without_words_have_no_topic(folder, tmp_path):
    assert run(folder, "reviews.csv", "--text", "comment", "--topics", "3", "--out", str(tmp_path)) == 0
    topics = read(tmp_path / "reviews.topics.topics.csv")
    proportions = read(tmp_path / "reviews.topics.proportions.csv")
    main = [row["topic"] for row in proportions]
    assert main[7] == ""
    assert [main.count(row["topic"]) for row in topics] == [int(row["documents"]) for row in topics]
    assert main.count("") == 1


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["reviews.csv"], "is a table; say which column holds the texts with --text NAME"),
        (["reviews.csv", "--text", "comments"], "has no column 'comments'; it has name, comment, date, subject"),
        (["numbers.csv", "--text", "a"], "column 'a' holds '1' and the like, which are no texts; name the column of texts."),
        (["one.txt"], "has 1 document; topics are what tells documents apart: give at least 2."),
        (["none.txt"], "none.txt is empty; give a file with one document per line."),
        (["bytes.txt"], "say which encoding it has (--encoding, or encoding= in Python)"),
        (["same.txt"], "words of 12 document(s) is left"),
        (["lines.txt.gz", "--time", "date"], "--time names a column of a table"),
        (["lines.txt.gz", "--topics", "400"], "--topics 400 is too many for 30 words; ask for at most 30."),
        (["five.txt", "--topics", "8"], "--topics 8 is too many for 5 documents; ask for at most 5."),
        (["lines.txt.gz", "--stop-words", "nofile.txt"], "--stop-words: nofile.txt is neither a file with one word per line nor"),
        (["lines.txt.gz", "--seed-words", "goal"], "--seed-words guide topics of --method lda"),
        (["reviews.csv", "--text", "comment", "--time", "subject"], "which is neither a date nor a number"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(options, fault, folder, tmp_path, capsys):
    (folder / "numbers.csv").write_text("a,b\n1,2\n3,4\n")
    (folder / "one.txt").write_text("just one text\n")
    (folder / "five.txt").write_text("sun moon star\nfish sea ship\noak elm fir\nrain snow hail\nbread cheese soup\n")
    (folder / "none.txt").write_text("\n\n")
    (folder / "bytes.txt").write_bytes(b"\x80\x81\xff\x00" * 30)
    (folder / "same.txt").write_text("all are alike\n" * 12)
    assert run(folder, *options, "--out", str(tmp_path)) == 2
    err = capsys.readouterr().err
    assert fault in err
    assert err.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_allocation_is_the_default_and_takes_seed_words(folder, tmp_path, capsys):
    place = str(folder / "reviews.csv")
    asked = ["topics", place, "--text", "comment", "--topics", "3", "--seed-words", "menu,soup", "--out", str(tmp_path)]
    assert main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["method"] == "LatentDirichletAllocation"
    assert {"menu", "soup"} <= set(told["topics"][0]["words"][:10])
    assert told["completion"]["perplexity"] < 0.5 * told["completion"]["baseline"]
    model = str(tmp_path / "reviews.topics.tacit")
    assert main(["predict", model, place, "--out", str(tmp_path), "--quiet"]) == 0
    again, first = (read(tmp_path / f"reviews.{verb}.proportions.csv") for verb in ("predict", "topics"))
    assert [row["topic"] for row in again] == [row["topic"] for row in first]
    assert main([*asked, "--force", "--seed-words", "zebra"]) == 2
    assert "--seed-words: 'zebra' is no counted word of the texts" in capsys.readouterr().err


def test_a_budget_ends_the_search_and_is_told(folder, tmp_path, capsys):
    options = ["--text", "comment", "--topics", "auto", "--budget", "0.001s", "--out", str(tmp_path), "--json"]
    assert run(folder, "reviews.csv", *options) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["selection"]) == 1
    assert told["summary"][0] == (
        "The search for the number of topics was ended at its budget of 0.001 s; more topics may predict better."
    )
    assert not any("as well as the best" in sentence or "settled" in sentence for sentence in told["summary"])
