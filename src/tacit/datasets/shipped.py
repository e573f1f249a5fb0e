"""Small tables that come with the library; each may be passed on freely.

``penguins.csv``: 344 penguins of three species. Data by Gorman, Williams and Fraser (2014), Palmer Station LTER,
released under CC0; collected by Horst, Hill and Gorman as *palmerpenguins*.

``giss.csv``: global temperature anomalies of 136 years, as NASA's Goddard Institute for Space Studies (GISTEMP) published them
in 2016; a work of the government of the United States, in the public domain. Later editions revise the numbers.

``earthquakes.csv``: how many earthquakes of magnitude 7 or more the world had in each of 107 years, counted by the United States
Geological Survey; a work of the government of the United States, in the public domain.
"""

import csv
from pathlib import Path

import numpy as np

from .dataset import Dataset

__all__ = ["earthquakes", "giss", "load_giss", "load_penguins", "penguins", "penguins_path"]


def penguins_path():
    """Path of the penguins table as CSV."""
    return Path(__file__).with_name("penguins.csv")


def load_penguins():
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
    with penguins_path().open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    X = np.array([[float(row[c]) if row[c] not in ("", "NA") else np.nan for c in columns] for row in rows])
    return X, np.array([row["species"] for row in rows]), columns


def load_giss():
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
    columns = ["land_ocean", "land"]
    table = _numbers("giss.csv")
    return table[:, 0], table[:, 1:], columns


def _numbers(name):
    return np.loadtxt(Path(__file__).with_name(name), delimiter=",", skiprows=1)


def penguins():
    """The whole table of penguins: measurements, island, sex and year; the species is the target."""
    with penguins_path().open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    numbers = {name for name in header if name.endswith(("_mm", "_g")) or name == "year"}
    cells = np.array([[_cell(text, name in numbers) for name, text in zip(header, row)] for row in rows], dtype=object)
    place = header.index("species")
    kept = [j for j in range(len(header)) if j != place]
    more = {"target_column": "species", "path": penguins_path()}
    return Dataset("penguins", cells[:, kept], [header[j] for j in kept], cells[:, place].astype(str), more=more)


def _cell(text, is_number):
    if text in ("", "NA"):
        return None
    return float(text) if is_number else text


def giss():
    """Temperature anomalies: year, land and ocean, land."""
    return Dataset("giss", _numbers("giss.csv"), ["year", "land_ocean", "land"])


def earthquakes():
    """Years and their numbers of great earthquakes."""
    return Dataset("earthquakes", _numbers("earthquakes.csv"), ["year", "count"])
