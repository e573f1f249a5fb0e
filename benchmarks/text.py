"""Words of texts counted, against scikit-learn's CountVectorizer: the same words, the same counts."""

from functools import partial

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from tacit.topics import TextVectorizer

from .harness import Job


def texts(n, length):
    """Texts of words of Zipf's law, with sentences."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = np.unique(["".join(word) for word in rng.choice(letters, (20_000, 6))])
    often = np.cumsum(1.0 / np.arange(10, len(words) + 10))
    drawn = words[np.searchsorted(often, rng.random((n, length)) * often[-1])]
    return [". ".join(" ".join(part).capitalize() for part in np.array_split(row, 10)) for row in drawn]


def counted(make, X):
    """Counts and words."""
    vectorizer = make(min_df=2, max_df=1.0)
    return vectorizer.fit_transform(X), list(vectorizer.get_feature_names_out())


def equal(ours, theirs):
    """The same columns, cell by cell."""
    assert ours[1] == theirs[1]
    assert (ours[0] != theirs[0]).nnz == 0
    return f"{len(ours[1]):,} words, all counts equal"


JOBS = [
    Job(
        "count words of 10k texts of 200", "scikit-learn CountVectorizer", partial(texts, 10_000, 200),
        partial(counted, TextVectorizer), partial(counted, CountVectorizer), equal, 1.5, 5,
    ),
]  # fmt: skip
