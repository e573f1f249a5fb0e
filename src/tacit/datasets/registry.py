"""All data sets by name: what each is, where it comes from, under which licence, and how to load it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any

from ..table import Table
from .dataset import Dataset

__all__ = ["DATASETS", "Entry", "catalogue", "load"]


@dataclass(frozen=True)
class Entry:
    """What is known of a data set before it is loaded.

    Attributes
    ----------
    name : str
    rows, columns : int or None
        Its size; None where that is for the user to say.
    what : str
        What it is.
    source : str
        Who made it, and where it is published.
    licence : str
        The terms.
    kind : {"shipped", "scikit-learn", "path", "generator"}
        Whether it comes with this library, with scikit-learn, is read from a path, or is drawn.
    module, function : str
        Where it is loaded.
    """

    name: str
    rows: int | None
    columns: int | None
    what: str
    source: str
    licence: str
    kind: str
    module: str
    function: str

    @property
    def loader(self) -> Callable[..., Dataset]:
        """The function that loads it."""
        found = getattr(import_module(f".{self.module}", __package__), self.function)
        return partial(found, self.name) if self.kind == "scikit-learn" else found


SHIPPED = [
    ("penguins", 344, 8, "penguins of three species on three islands, with missing values",
     "Gorman, Williams and Fraser 2014; palmerpenguins", "CC0"),
    ("giss", 136, 3, "global temperature anomalies 1880–2015", "NASA GISS, GISTEMP 2016", "public domain (US government)"),
    ("earthquakes", 107, 2, "earthquakes of magnitude 7 or more, 1900–2006, by year", "US Geological Survey",
     "public domain (US government)"),
]  # fmt: skip
BUNDLED = [
    ("iris", 150, 4, "iris flowers of three species", "Fisher 1936"),
    ("wine", 178, 13, "wines of three cultivars", "Forina 1991, UCI"),
    ("digits", 1797, 64, "handwritten digits, 8 × 8 pixels", "Alpaydin and Kaynak 1998, UCI"),
    ("breast_cancer", 569, 30, "cell nuclei of breast masses, benign or malignant", "Wolberg et al. 1995, UCI"),
    ("diabetes", 442, 10, "diabetes patients and how the disease went on", "Efron et al. 2004"),
]
ON_DISK = [
    ("movielens", None, 2, "ratings of films by people", "https://grouplens.org/datasets/movielens",
     "research only, not to be passed on", "ratings", "load_movielens"),
    ("newsgroups", 11269, 61188, "posts in 20 newsgroups as counts of words", "http://qwone.com/~jason/20Newsgroups",
     "none stated", "texts", "load_newsgroups"),
    ("ap", 2246, 10473, "articles of the Associated Press as counts of words", "https://github.com/blei-lab/lda-c", "none stated",
     "texts", "load_ap"),
    ("usps", 7291, 256, "handwritten digits, 16 × 16 pixels", "https://hastie.su.domains/ElemStatLearn/data.html", "none stated",
     "pictures", "load_usps"),
    ("faces", 400, 4096, "pictures of faces (Olivetti, Frey, CBCL)", "https://cs.nyu.edu/~roweis/data.html",
     "none stated; credit AT&T Laboratories Cambridge", "pictures", "load_faces"),
    ("california", 20640, 8, "prices of houses in California, 1990", "https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.html",
     "none stated", "csvfiles", "load_california"),
    ("spambase", 4601, 57, "mails as shares of words and signs", "https://archive.ics.uci.edu/dataset/94/spambase", "UCI's terms",
     "csvfiles", "load_spambase"),
    ("table", None, None, "any text file with a line of names", "yours", "yours", "csvfiles", "load_table"),
]  # fmt: skip
DRAWN = [
    ("mixed", "groups of rows with measurements, counts, categories and missing values", "make_mixed_table"),
    ("factors", "columns behind which a few factors are", "make_factors"),
    ("outliers", "groups of rows, and rows that belong to none", "make_outliers"),
    ("ratings", "ratings of films by types of users, in a long table", "make_ratings"),
]

DATASETS: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        *(Entry(*known, "shipped", "shipped", known[0]) for known in SHIPPED),
        *(Entry(*known, "BSD, with scikit-learn", "scikit-learn", "shipped", "from_sklearn") for known in BUNDLED),
        *(Entry(*known[:6], "path", *known[6:]) for known in ON_DISK),
        *(
            Entry(name, None, None, what, "drawn at random", "none needed", "generator", "generated", function)
            for name, what, function in DRAWN
        ),
    )
}
"""Everything that `load` knows, by name."""


def catalogue() -> Table:
    """All data sets, one a row.

    Returns
    -------
    tacit.table.Table
        With `name`, `rows`, `columns`, `kind`, `what`, `source` and `licence`.

    Examples
    --------
    >>> from tacit.datasets import catalogue
    >>> [row["name"] for row in catalogue() if row["kind"] == "shipped"]
    ['penguins', 'giss', 'earthquakes']
    """
    names = ("name", "rows", "columns", "kind", "what", "source", "licence")
    return Table([{name: getattr(entry, name) for name in names} for entry in DATASETS.values()])


def load(name: str, path: Any = None, **settings: Any) -> Dataset:
    """Load a data set by its name.

    Parameters
    ----------
    name : str
        See :func:`catalogue`.
    path : path-like, optional
        The file or folder of sets that are read from one.
    **settings
        Arguments of the loader or generator, such as ``subset="test"`` or ``n_rows=1000``.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from tacit.datasets import load
    >>> load("iris")
    Dataset iris: 150 rows, 4 columns, with a target
    >>> load("mixed", n_rows=50, random_state=0).X.shape
    (50, 5)
    """
    if name not in DATASETS:
        raise ValueError(f"there is no data set {name!r}; there are {', '.join(DATASETS)}.")
    entry = DATASETS[name]
    if entry.kind == "path" and path is None:
        raise ValueError(f"{name} is not part of this library: get it from {entry.source} and give its path.")
    if entry.kind != "path" and path is not None:
        raise ValueError(f"{name} is not read from a path ({entry.kind}); leave path out.")
    found = entry.loader(*([path] if entry.kind == "path" else []), **settings)
    told = f"{entry.what[0].upper()}{entry.what[1:]}. {entry.source}; licence: {entry.licence}."
    return found if found.description else replace(found, description=told)
