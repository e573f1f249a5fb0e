"""Texts in: words, phrases, stop words, corpora from everywhere, and what is no text."""

import gzip

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.pipeline import make_pipeline

import tacit
from tacit.topics import AnchorTopics, Corpus, TextVectorizer
from tacit.topics.tokens import Reading


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't stop!", ["don't", "stop"]),
        ("Don’t stop!", ["don't", "stop"]),
        ("the company's o'clock", ["the", "company", "o'clock"]),
        ("L'eau d'ici, qu'elle aime", ["eau", "ici", "elle", "aime"]),
        ("well-known co‑operative", ["well-known", "co-operative"]),
        ("one--two 'quoted' -- end-", ["one", "two", "quoted", "end"]),
        ("B2B in 2024: 3.14 and 4th", ["b2b", "in", "and", "4th"]),
        ("cafe\u0301 CAFÉ", ["café", "café"]),
        ("Straße ÜBER", ["straße", "über"]),
        ("हिन्दी की किताब", ["हिन्दी", "की", "किताब"]),
        ("Москва и Мир", ["москва", "мир"]),
        ("물 좋다", ["물", "좋다"]),
        ("mail me@home.org or https://x.org/a?b=c now", ["mail", "or", "now"]),
        ("snake_case a b", ["snake", "case"]),
        ("hy\u00adphen", ["hyphen"]),
        ("", []),
    ],
)
def test_words_of_texts(text, words):
    assert Reading().words(text) == words


def test_case_and_numbers_where_they_matter():
    assert Reading(lowercase=False).words("May may") == ["May", "may"]
    assert Reading(numbers=True).words("route 66") == ["route", "66"]


def test_counts_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    words = [f"{a}{b}{c}" for a in "abcd" for b in "efgh" for c in "ijkl"]
    texts = [" ".join(rng.choice(words, rng.integers(0, 60))) for _ in range(200)]
    ours, theirs = TextVectorizer(min_df=3, max_df=0.4), CountVectorizer(min_df=3, max_df=0.4)
    np.testing.assert_array_equal(ours.fit_transform(texts).toarray(), theirs.fit_transform(texts).toarray())
    assert ours.words_ == list(theirs.get_feature_names_out())
    assert ours.vocabulary_ == theirs.vocabulary_
    new = ["aei unknown ADI", ""]
    np.testing.assert_array_equal(ours.transform(new).toarray(), theirs.transform(new).toarray())


def test_stop_words_are_found_without_a_list():
    rng = np.random.default_rng(0)
    subjects = [[f"{kind}{a}{b}" for a in "abcde" for b in "xyz"] for kind in ("fo", "tra", "spo")]
    common = ["und", "der", "nicht", "ein"]
    texts = []
    for i in range(300):
        own = rng.choice(subjects[i % 3], 20)
        texts.append(" ".join(rng.permutation([*own, *rng.choice(common, 4)])))
    vectorizer = TextVectorizer().fit(texts)
    assert vectorizer.stop_words_ == sorted(common)
    assert len(vectorizer.words_) == 45


SENTENCES = {
    "english": "the parser reads a file and if there is an error it will be told to the user who has called it",
    "german": "der Leser öffnet eine Datei und wenn es einen Fehler gibt wird er dem Nutzer mit der Zeile gemeldet",
    "french": "le lecteur ouvre un fichier et les erreurs sont dans une liste pour tous ceux qui ne les ont pas vues",
    "spanish": "el lector abre un archivo y los errores se muestran en una lista para que no haya más problemas con la lectura",
    "italian": "il lettore apre un file e gli errori sono in una lista per tutti quelli che non li hanno visti nella pagina",
    "portuguese": "o leitor abre um arquivo e os erros são mostrados em uma lista para que não haja mais problemas com a leitura",
    "dutch": "de lezer opent een bestand en als er een fout is wordt die met de regel aan de gebruiker gemeld",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_function_words_of_a_recognised_language_are_left_out(language):
    from tacit.topics.stopwords import LANGUAGES, stop_words_of

    texts = [SENTENCES[language], "zarkan velto " * 12]  # in half of the texts: no rule of frequency applies
    vectorizer = TextVectorizer(min_df=1).fit(texts)
    assert vectorizer.language_ == language
    assert not set(vectorizer.words_) & stop_words_of(language)
    assert {"zarkan", "velto"} <= set(vectorizer.words_)
    assert all(60 <= len(stop_words_of(each)) <= 120 for each in LANGUAGES)


def test_stop_words_as_they_are_asked_for(tmp_path):
    text = SENTENCES["english"]
    texts = [text, "zarkan velto"]
    assert "the" in TextVectorizer(min_df=1, stop_words=None).fit(texts).words_
    own = TextVectorizer(min_df=1, stop_words=["Parser"]).fit(texts)
    assert {"parser", "the"} <= set(own.stop_words_)
    german = TextVectorizer(min_df=1, stop_words="german").fit(texts)
    assert (german.language_, "the" in german.words_) == ("german", True)
    assert TextVectorizer(min_df=1).fit(["zarkan velto the", "zarkan velto moru"]).language_ is None
    corpus = Corpus.from_texts([text, "zarkan velto"] * 5, stop_words=["parser"])
    model = AnchorTopics(2).fit(corpus)
    tacit.save(model, tmp_path / "m.tacit")
    again = tacit.load(tmp_path / "m.tacit")
    assert again.reading_ == Reading(language="english", stop_words=("parser",))
    assert again.vectorizer_.reading == again.reading_


def test_rare_words_are_left_out_by_the_size_of_the_corpus():
    texts = [f"alpha{'b' * (i % 5)} omega" for i in range(40)]
    texts[0] += " single"
    texts[1] += " double"
    texts[2] += " double"
    assert "single" not in TextVectorizer().fit(texts).words_
    assert "double" in TextVectorizer().fit(texts).words_
    assert "double" not in TextVectorizer(min_df=0.1).fit(texts).words_
    assert "single" in TextVectorizer(min_df=1).fit(texts).words_
    assert len(TextVectorizer(min_df=1, max_features=2, max_df=1.0).fit(texts).words_) == 2


def phrased():
    rng = np.random.default_rng(0)
    filler = [f"w{a}{b}" for a in "abcdef" for b in "abcdef"]
    texts = []
    for i in range(60):
        words = list(rng.choice(filler, 12))
        words[3:3] = ["new", "york", "times"] if i % 3 else ["york"]
        texts.append(" ".join(words))
    return texts


def test_phrases_do_not_overlap_and_are_counted_once():
    texts = phrased()
    vectorizer = TextVectorizer(phrases=0.3, max_df=1.0, min_df=1)
    counts = vectorizer.fit_transform(texts).toarray()
    words = vectorizer.words_
    assert "new york" in words
    # "new york times" is read from left to right: new york, times.
    assert counts[:, words.index("new york")].sum() == 40
    assert counts[:, words.index("times")].sum() == 40
    assert counts[:, words.index("york")].sum() == 20
    assert "new" not in words  # never alone
    np.testing.assert_array_equal(vectorizer.transform(texts).toarray(), counts)
    again = TextVectorizer(vocabulary=words)
    np.testing.assert_array_equal(again.transform(texts).toarray(), counts)
    assert again.transform(["new hope", "times"]).sum() == 1


def test_a_vectoriser_goes_into_a_pipeline():
    texts = ["sun moon sun moon star"] * 9 + ["fish sea fish sea ship"] * 9 + ["oak elm oak elm fir"] * 9
    pipe = make_pipeline(TextVectorizer(), AnchorTopics(3)).fit(texts)
    assert pipe.transform(["star"]).max() > 0.8
    assert list(pipe[0].get_feature_names_out()) == sorted(
        ["sun", "moon", "star", "fish", "sea", "ship", "oak", "elm", "fir"]
    )


# Corpora


TEXTS = ["Cats chase mice", "Mice eat cheese", "Dogs chase cats"]


def test_a_corpus_of_lines(tmp_path):
    (tmp_path / "pets.txt").write_text("\n".join(TEXTS) + "\r\n\n", encoding="utf-8")
    with gzip.open(tmp_path / "pets.txt.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(TEXTS))
    plain, packed = Corpus.from_lines(tmp_path / "pets.txt"), Corpus.from_lines(tmp_path / "pets.txt.gz")
    assert plain.name == packed.name == "pets"
    assert (len(plain), plain.n_empty) == (4, 1)
    np.testing.assert_array_equal(plain.counts[:3].toarray(), packed.counts.toarray())
    assert packed.texts == TEXTS


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet", "dict"])
def test_a_corpus_of_a_column(kind, tmp_path):
    table = pd.DataFrame(
        {"n": [1, 2, 3], "text": TEXTS, "day": ["2024-01-02", "2024-02-03", None], "who": ["a", "b", "c"]}
    )
    if kind == "csv":
        table.to_csv(tmp_path / "t.csv", index=False)
    if kind == "parquet":
        table.to_parquet(tmp_path / "t.parquet")
    place = {
        "frame": table,
        "csv": tmp_path / "t.csv",
        "parquet": tmp_path / "t.parquet",
        "dict": table.to_dict("list"),
    }[kind]
    corpus = Corpus.from_table(place, "text", time="day", title="who")
    assert corpus.words == ["cats", "chase", "cheese", "dogs", "eat", "mice"]
    assert corpus.titles == ["a", "b", "c"]
    assert str(corpus.times[1].astype("datetime64[D]")) == "2024-02-03"
    assert np.isnat(corpus.times[2])


def test_years_are_times_too():
    corpus = Corpus.from_table({"text": TEXTS, "year": [1999, 2000, 2001]}, "text", time="year")
    assert corpus.times.tolist() == [1999.0, 2000.0, 2001.0]


def test_counts_of_scikit_learn_and_its_vectorisers():
    theirs = CountVectorizer()
    counted = Corpus.from_counts(theirs.fit_transform(TEXTS), theirs.get_feature_names_out())
    made = Corpus.from_texts(TEXTS, vectorizer=CountVectorizer())
    np.testing.assert_array_equal(counted.counts.toarray(), made.counts.toarray())
    assert counted.words == made.words
    assert Corpus.from_texts(["mice"], vectorizer=theirs).counts.sum() == 1
    with pytest.raises(TypeError, match="a HashingVectorizer does not know its words"):
        Corpus.from_texts(TEXTS, vectorizer=HashingVectorizer())


def test_some_documents_of_a_corpus():
    corpus = Corpus.from_texts(TEXTS, titles=["a", "b", "c"], times=[2001, 2002, 2003])
    part = corpus.take([2, 0])
    assert part.titles == ["c", "a"]
    assert part.times.tolist() == [2003.0, 2001.0]
    assert corpus.take(np.array([False, True, False])).texts == [TEXTS[1]]


# What is no text


@pytest.mark.parametrize(
    ("texts", "fault"),
    [
        ("one text", r"texts is one text \('one text'\); give a list of texts"),
        (7, "texts is a int; give a list of texts"),
        (["fine", 7], "document 1 is 7, of type int, and no text; give '' for a document without words."),
        (
            pd.DataFrame({"note": ["fine"], "n": [1]}),
            r"texts is a table with the columns note, n; give one column, such as table\['note'\]",
        ),
        ({"note": ["fine"]}, "texts is a table with the columns note; give one column"),
        (np.array([["fine", "text"]]), r"texts is an array of shape \(1, 2\); give one column of texts."),
        (["a b"], r"no word was found in 1 document\(s\): words have at least two letters"),
        (["fine", b"bytes"], "document 1 is b'bytes', of type bytes, and no text; decode it."),
        ([], "there are no texts; give at least one document."),
        (["", " "], r"no word was found in 2 document\(s\)"),
        (["1 2 3", "!"], r"no word was found in 2 document\(s\)"),
    ],
)
def test_what_is_no_text_is_refused(texts, fault):
    with pytest.raises(ValueError, match=fault):
        TextVectorizer().fit(texts)
    with pytest.raises(ValueError, match=fault):
        Corpus.from_texts(texts)


def test_missing_texts_are_documents_without_words():
    texts = ["sun moon sun", None, float("nan"), "fish sea fish", pd.NA, "moon sun", "sea fish"]
    corpus = Corpus.from_texts(texts)
    assert (len(corpus), corpus.n_empty, corpus.texts[1]) == (7, 3, "")
    model = AnchorTopics(2).fit(texts)
    np.testing.assert_array_equal(model.transform([None, "sun"]), model.transform(["", "sun"]))
    assert model.transform([None]).shape == (1, 2)
    assert model.document_table(texts)["topic"][1:3] == [None, None]
    assert None not in model.document_table(["sun", "sea"])["topic"]


def test_documents_as_lists_of_words():
    corpus = Corpus.from_texts([["C++", "Cat", "x"], ["dog", "Cat"], []], stop_words=None)
    assert corpus.words == ["C++", "Cat", "dog", "x"]
    assert (corpus.texts, corpus.n_empty) == (["C++ Cat x", "dog Cat", ""], 1)
    lists = [["sun", "moon"]] * 5 + [["fish", "sea"]] * 5
    model = AnchorTopics(2).fit(lists)
    np.testing.assert_array_equal(model.transform(lists), model.transform([" ".join(words) for words in lists]))


def test_settings_that_cannot_be():
    for settings, fault in (
        ({"min_df": -1}, "min_df=-1 is not a whole number of at least 0"),
        ({"max_df": 1.5}, "max_df=1.5 is not a number of at least 0 and at most 1"),
        (
            {"stop_words": "klingon"},
            "stop_words='klingon' is no language with a list; give one of auto, english, german",
        ),
        ({"vocabulary": ["a", "b", "a"]}, "vocabulary holds 'a' twice"),
        ({"vocabulary": []}, "vocabulary is empty"),
        ({"phrases": 3}, "phrases=3 is not a number"),
        ({"min_df": 3}, "none of the 6 words of 3 document"),
    ):
        with pytest.raises(ValueError, match=fault):
            TextVectorizer(**settings).fit(TEXTS)


def test_corpora_that_cannot_be(tmp_path):
    with pytest.raises(ValueError, match="2 words are given for counts of 3"):
        Corpus.from_counts(np.ones((2, 3)), ["a", "b"])
    with pytest.raises(ValueError, match="counts hold -1"):
        Corpus.from_counts(-np.ones((2, 1)), ["a"])
    with pytest.raises(ValueError, match="2 titles are given for 3 documents"):
        Corpus.from_texts(TEXTS, titles=["a", "b"])
    with pytest.raises(ValueError, match="times cannot be read"):
        Corpus.from_texts(TEXTS, times=["soon", "later", "never"])
    with pytest.raises(ValueError, match="min_df is a setting of the vectorizer that is given"):
        Corpus.from_texts(TEXTS, vectorizer=TextVectorizer(), min_df=2)
    (tmp_path / "latin.txt").write_bytes("café\n".encode("latin-1"))
    with pytest.raises(
        ValueError, match=r"is no text in utf-8 .*; say which encoding it has \(--encoding, or encoding="
    ):
        Corpus.from_lines(tmp_path / "latin.txt")
    assert Corpus.from_lines(tmp_path / "latin.txt", encoding="latin-1").words == ["café"]
    with pytest.raises(ValueError, match="all cells of column 'text' are missing"):
        Corpus.from_table({"text": [None, None], "n": [1, 2]}, "text")


def test_a_model_refuses_other_words():
    corpus = Corpus.from_texts(["sun moon sun moon"] * 5 + ["fish sea fish sea"] * 5)
    model = AnchorTopics(2).fit(corpus)
    other = Corpus.from_texts(["sun comet", "comet sea"])
    with pytest.raises(ValueError, match="has 'comet', which the model does not know; count the words of the model"):
        model.transform(other)
    assert model.transform(Corpus.from_texts(other.texts, vectorizer=model.vectorizer_)).shape == (2, 2)
    assert model.transform(other.texts).shape == (2, 2)
    with pytest.raises(ValueError, match="X has 3 features, but AnchorTopics is expecting 4"):
        model.transform(np.ones((1, 3)))
    with pytest.raises(ValueError, match=r"texts is one text \('sun moon'\); give a list of texts"):
        model.transform("sun moon")
    counted = AnchorTopics(2).fit(corpus.counts)
    with pytest.raises(ValueError, match="fitted to counts and does not know how texts become words"):
        counted.transform(["sun"])
