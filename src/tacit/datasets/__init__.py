"""Data to try things on: small tables that come along, generators that know the truth, and loaders of larger sets from a path."""

from .csvfiles import load_california, load_spambase, load_table
from .dataset import Dataset
from .generated import make_factors, make_mixed_table, make_outliers, make_ratings
from .missingness import make_missing
from .pictures import load_faces, load_usps
from .ratings import load_movielens
from .registry import DATASETS, Entry, catalogue, load
from .shipped import load_giss, load_penguins, penguins_path
from .texts import load_ap, load_newsgroups

__all__ = [
    "DATASETS", "Dataset", "Entry", "catalogue", "load", "load_ap", "load_california", "load_faces", "load_giss",
    "load_movielens", "load_newsgroups", "load_penguins", "load_spambase", "load_table", "load_usps", "make_factors",
    "make_missing", "make_mixed_table", "make_outliers", "make_ratings", "penguins_path",
]  # fmt: skip
