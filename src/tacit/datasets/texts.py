"""Bags of words: how often each document holds each term."""

import numpy as np

from .dataset import Dataset
from .files import archive_at, find, lines_of, missing_file

__all__ = ["load_ap", "load_newsgroups"]

NEWSGROUPS = "http://qwone.com/~jason/20Newsgroups (20news-bydate-matlab.tgz)"
AP = "https://github.com/blei-lab/lda-c (ap.tgz)"


def load_newsgroups(path, subset="train"):
    """The 20 newsgroups by date, as counts of words.

    Parameters
    ----------
    path : path-like
        A folder with ``newsgroups20.npz``, ``vocab.txt`` and ``labels.txt``, or with the files published for Matlab:
        ``train.data``, ``train.label``, ``train.map`` (and ``test.…``), and ``vocabulary.txt`` for the words.
    subset : {"train", "test"}, default="train"

    Returns
    -------
    Dataset
        X is a sparse matrix (documents, words), the target the newsgroup 0 … 19, ``more["target_names"]`` their names.
    """
    if subset not in ("train", "test"):
        raise ValueError(f"subset={subset!r} is unknown; use 'train' or 'test'.")
    place = find(path, ("newsgroups20.npz", f"{subset}.data"), NEWSGROUPS)
    X, target, names = (_archived if place.suffix == ".npz" else _matlab)(place, subset)
    words = [place.with_name(name) for name in ("vocab.txt", "vocabulary.txt")]
    vocabulary = next((lines_of(file) for file in words if file.is_file()), None)
    if vocabulary is None or len(vocabulary) != X.shape[1]:
        vocabulary = [f"word {j}" for j in range(X.shape[1])]
    told = f"20 newsgroups by date, {subset}: posts of 1993 as counts of words; no licence is stated. {NEWSGROUPS}"
    return Dataset("newsgroups", X, vocabulary, target, told, {"target_names": names})


def _archived(place, subset):
    from scipy.sparse import csr_matrix

    parts = archive_at(place, [f"{subset}_{part}" for part in ("indptr", "indices", "data", "label")])
    words = place.with_name("vocab.txt")
    if not words.is_file():
        raise missing_file(place.parent, ["vocab.txt"], NEWSGROUPS)
    indptr, indices, data, label = (parts[f"{subset}_{part}"] for part in ("indptr", "indices", "data", "label"))
    shape = len(indptr) - 1, len(lines_of(words))
    X = csr_matrix((data.astype(np.float64), indices.astype(np.int32), indptr), shape=shape)
    labels = place.with_name("labels.txt")
    return X, label.astype(int), lines_of(labels) if labels.is_file() else []


def _matlab(place, subset):
    from scipy.sparse import csr_matrix

    document, word, count = np.loadtxt(place, dtype=np.int64).T
    labels = place.with_name(f"{subset}.label")
    if not labels.is_file():
        raise missing_file(place.parent, [labels.name], NEWSGROUPS)
    target = np.loadtxt(labels, dtype=np.int64) - 1
    words = place.with_name("vocabulary.txt")
    n_words = max(len(lines_of(words)) if words.is_file() else 0, int(word.max()))
    X = csr_matrix((count.astype(np.float64), (document - 1, word - 1)), shape=(len(target), n_words))
    groups = place.with_name(f"{subset}.map")
    return X, target, [line.split()[0] for line in lines_of(groups)] if groups.is_file() else []


def load_ap(path):
    """2246 articles of the Associated Press, as counts of words.

    Parameters
    ----------
    path : path-like
        A folder with ``ap.npz`` (arrays `doc`, `term`, `count`) or ``ap.dat`` (as published with lda-c), and ``vocab.txt``.

    Returns
    -------
    Dataset
        X is a sparse matrix (documents, words).
    """
    from scipy.sparse import csr_matrix

    place = find(path, ("ap.npz", "ap.dat"), AP)
    words = place.with_name("vocab.txt")
    if not words.is_file():
        raise missing_file(place.parent, ["vocab.txt"], AP)
    vocabulary = lines_of(words)
    if place.suffix == ".npz":
        parts = archive_at(place, ("doc", "term", "count"))
        document, term, count = (parts[name].astype(np.int64) for name in ("doc", "term", "count"))
    else:
        pairs = [
            (row, *map(int, pair.split(":"))) for row, line in enumerate(lines_of(place)) for pair in line.split()[1:]
        ]
        document, term, count = np.array(pairs, dtype=np.int64).T
    X = csr_matrix((count.astype(np.float64), (document, term)), shape=(int(document.max()) + 1, len(vocabulary)))
    told = f"Articles of the Associated Press (TREC-1) as counts of words; no right to pass them on is stated. {AP}"
    return Dataset("ap", X, vocabulary, None, told)
