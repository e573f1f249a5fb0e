"""Small tables that ship with the library.

``penguins.csv``: 344 penguins of three species, with holes. Data by Gorman, Williams and Fraser (2014), Palmer Station LTER,
released under CC0; collected by Horst, Hill and Gorman as *palmerpenguins*.

``giss.csv``: global temperature anomalies of 136 years, as NASA's Goddard Institute for Space Studies (GISTEMP) published them
in 2016; a work of the government of the United States, in the public domain. Later editions revise the numbers.
"""

import csv
from pathlib import Path

import numpy as np

__all__ = ["load_giss", "load_penguins", "penguins_path"]


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
    table = np.loadtxt(Path(__file__).with_name("giss.csv"), delimiter=",", skiprows=1)
    return table[:, 0], table[:, 1:], columns
