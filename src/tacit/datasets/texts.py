"""Bags of words: how often each document holds each term."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from ..checks import check_choice
from .dataset import Dataset
from .files import archive_at, find, lines_beside

__all__ = ["load_ap", "load_newsgroups"]

NEWSGROUPS = "http://qwone.com/~jason/20Newsgroups (20news-bydate-matlab.tgz)"
AP = "https://github.com/blei-lab/lda-c (ap.tgz)"


def load_newsgroups(path: Any, subset: str = "train") -> Dataset:
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
    check_choice("subset", subset, ("train", "test"))
    place = find(path, ("newsgroups20.npz", f"{subset}.data"), NEWSGROUPS)
    if place.suffix == ".npz":
        parts = ("indptr", "indices", "data", "label")
        arrays = archive_at(place, [f"{subset}_{part}" for part in parts])
        indptr, word, count, target = (arrays[f"{subset}_{part}"] for part in parts)
        document = np.repeat(np.arange(len(target)), np.diff(indptr))
        vocabulary, names = lines_beside(place, "vocab.txt", NEWSGROUPS), lines_beside(place, "labels.txt")
    else:
        document, word, count = np.loadtxt(place, dtype=np.int64).T - [[1], [1], [0]]
        target = np.array(lines_beside(place, f"{subset}.label", NEWSGROUPS), dtype=np.int64) - 1
        vocabulary = lines_beside(place, "vocabulary.txt")
        names = [line.split()[0] for line in lines_beside(place, f"{subset}.map")]
    X = _bags(document, word, count, len(target), max(len(vocabulary), int(word.max()) + 1))
    if len(vocabulary) != X.shape[1]:
        vocabulary = [f"word {j}" for j in range(X.shape[1])]
    told = f"20 newsgroups by date, {subset}: posts of 1993 as counts of words; no licence is stated. {NEWSGROUPS}"
    return Dataset("newsgroups", X, vocabulary, target.astype(int), told, {"target_names": names})


def load_ap(path: Any) -> Dataset:
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
    place = find(path, ("ap.npz", "ap.dat"), AP)
    vocabulary = lines_beside(place, "vocab.txt", AP)
    if place.suffix == ".npz":
        parts = archive_at(place, ("doc", "term", "count"))
        document, term, count = (parts[name].astype(np.int64) for name in ("doc", "term", "count"))
    else:
        lines = enumerate(lines_beside(place, place.name))
        pairs = [(row, *map(int, pair.split(":"))) for row, line in lines for pair in line.split()[1:]]
        document, term, count = np.array(pairs, dtype=np.int64).T
    told = f"Articles of the Associated Press (TREC-1) as counts of words; no right to pass them on is stated. {AP}"
    return Dataset("ap", _bags(document, term, count, int(document.max()) + 1, len(vocabulary)), vocabulary, None, told)


def _bags(document: np.ndarray, word: np.ndarray, count: np.ndarray, n_documents: int, n_words: int) -> csr_matrix:
    return csr_matrix((count.astype(np.float64), (document, word)), shape=(n_documents, n_words))
