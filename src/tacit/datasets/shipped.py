"""Small tables that come with the library; each may be passed on freely.

``penguins.csv``: 344 penguins of three species. Data by Gorman, Williams and Fraser (2014), Palmer Station LTER,
released under CC0; collected by Horst, Hill and Gorman as *palmerpenguins*.

``giss.csv``: global temperature anomalies of 136 years, as NASA's Goddard Institute for Space Studies (GISTEMP) published them
in 2016; a work of the government of the United States, in the public domain. Later editions revise the numbers.

``earthquakes.csv``: how many earthquakes of magnitude 7 or more the world had in each of 107 years, counted by the United States
Geological Survey; a work of the government of the United States, in the public domain.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from .csvfiles import load_table
from .dataset import Dataset

__all__ = ["earthquakes", "from_sklearn", "giss", "load_giss", "load_penguins", "penguins", "penguins_path"]


def penguins_path() -> Path:
    """Path of the penguins table as CSV."""
    return Path(__file__).with_name("penguins.csv")


def load_penguins() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Measurements of 344 penguins, 8 cells missing.

    Returns
    -------
    X : ndarray of shape (344, 4)
        Bill length and depth (mm), flipper length (mm), body mass (g); NaN is missing.
    species : ndarray of str of shape (344,)
    columns : list of str

    Examples
    --------
    >>> from tacit.datasets import load_penguins
    >>> X, species, columns = load_penguins()
    >>> X.shape, int((X != X).sum())
    ((344, 4), 8)
    """
    columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    found = penguins()
    X = found.X[:, [found.columns.index(name) for name in columns]].astype(np.float64)
    return X, found.target, columns


def load_giss() -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Global temperature anomalies 1880–2015, in degrees against the mean of 1951–1980.

    Returns
    -------
    year : ndarray of shape (136,)
    anomaly : ndarray of shape (136, 2)
        Land and ocean together, and land alone.
    columns : list of str

    Examples
    --------
    >>> from tacit.datasets import load_giss
    >>> year, anomaly, columns = load_giss()
    >>> float(year[-1]), anomaly[-1].tolist()
    (2015.0, [0.87, 0.98])
    """
    found = giss()
    return found.X[:, 0], found.X[:, 1:], found.columns[1:]


def penguins() -> Dataset:
    """The whole table of penguins: measurements, island, sex and year; the species is the target."""
    found = load_table(penguins_path(), target="species")
    more = found.more | {"path": penguins_path()}
    return replace(found, target=found.target.astype(str), description="", more=more)


def giss() -> Dataset:
    """Temperature anomalies: year, land and ocean, land."""
    return _numbers("giss")


def earthquakes() -> Dataset:
    """Years and their numbers of great earthquakes."""
    return _numbers("earthquakes")


def _numbers(name: str) -> Dataset:
    found = load_table(Path(__file__).with_name(f"{name}.csv"))
    return Dataset(name, found.X, found.columns)


def from_sklearn(name: str) -> Dataset:
    """A table of scikit-learn's ``load_<name>``, in the form of all others."""
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    more = {"target_names": list(map(str, found.target_names))} if hasattr(found, "target_names") else {}
    return Dataset(name, found.data, [str(column) for column in found.feature_names], found.target, more=more)
