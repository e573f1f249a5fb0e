"""Tables of numbers in files: California's houses, spam, and any other with a line of names."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .dataset import Dataset
from .files import archive_at, find

__all__ = ["load_california", "load_spambase", "load_table"]

CALIFORNIA = "https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.html"
HOUSES = ["MedInc", "HouseAge", "AveRooms", "AveBedrms", "Population", "AveOccup", "Latitude", "Longitude"]
SPAM = "https://archive.ics.uci.edu/dataset/94/spambase"
MISSING = ("", "NA", "nan", "NaN", "?")


def load_california(path: Any) -> Dataset:
    """Prices and circumstances of houses in 20,640 blocks of California, census of 1990.

    Parameters
    ----------
    path : path-like
        A folder with ``california.npz`` (arrays `X`, `y`, `columns`) or ``cal_housing.data``, as published.

    Returns
    -------
    Dataset
        The columns of scikit-learn's ``fetch_california_housing``; the target is the median price in 100,000 dollars.
    """
    place = find(path, ("california.npz", "cal_housing.data"), CALIFORNIA)
    if place.suffix == ".npz":
        arrays = archive_at(place, ("X", "y"))
        X, target = arrays["X"], arrays["y"]
    else:
        longitude, latitude, age, rooms, bedrooms, people, homes, income, price = np.loadtxt(place, delimiter=",").T
        X = np.column_stack([income, age, rooms / homes, bedrooms / homes, people, people / homes, latitude, longitude])
        target = price / 1e5
    told = f"Houses in California 1990 (Pace and Barry 1997), StatLib; no licence stated. {CALIFORNIA}"
    return Dataset("california", X, list(HOUSES), target, told, {"target_column": "MedHouseVal"})


def load_spambase(path: Any) -> Dataset:
    """4601 mails as shares of words and signs, and whether each is spam.

    Parameters
    ----------
    path : path-like
        A folder with ``spambase.csv`` (with a line of names, `type` last) or ``spambase.data``, as published.

    Returns
    -------
    Dataset
        The target is True for spam.
    """
    place = find(path, ("spambase.csv", "spambase.data"), SPAM)
    told = f"Spambase (Hopkins, Reeber, Forman and Suermondt 1999), UCI. {SPAM}"
    if place.suffix == ".csv":
        table = load_table(place, target="type")
        X, columns, target = table.X, table.columns, table.target == "spam"
    else:
        cells = np.loadtxt(place, delimiter=",")
        X, target = cells[:, :-1], cells[:, -1] == 1
        columns = [f"x{j + 1}" for j in range(X.shape[1])]
    return Dataset("spambase", X, columns, target, told, {"target_column": "spam"})


def load_table(path: Any, target: str | None = None) -> Dataset:
    """Any table of a text file with a line of names: columns of numbers as numbers, the others as text.

    Parameters
    ----------
    path : path-like
        The file, with commas between cells; empty cells, NA, NaN and ? are missing.
    target : str, optional
        The column that is the target.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from tacit.datasets import load_table, penguins_path
    >>> load_table(penguins_path(), target="species")
    Dataset penguins: 344 rows, 7 columns, with a target
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    with path.open(newline="", encoding="utf-8-sig") as file:
        header, *rows = [row for row in csv.reader(file) if row] or [[]]
    odd = next((number for number, row in enumerate(rows, 2) if len(row) != len(header)), None)
    if odd is not None:
        raise ValueError(
            f"line {odd} of {path} has {len(rows[odd - 2])} cells, but the first names {len(header)} columns."
        )
    if target is not None and target not in header:
        raise ValueError(f"{path} has no column {target!r}; it has {', '.join(header)}.")
    if not rows:
        raise ValueError(f"{path} has no rows{' but a line of names' if header else ''}; at least one is needed.")
    columns = {name: _typed(cells) for name, cells in zip(header, zip(*rows))}
    known = columns.pop(target) if target is not None else None
    X = np.column_stack(list(columns.values())) if columns else np.empty((len(rows), 0))
    if X.dtype == object:
        X[X != X] = None
    return Dataset(path.stem, X, list(columns), known, f"Read from {path.name}.", {"target_column": target or "target"})


def _typed(cells: Sequence[str]) -> np.ndarray:
    """Cells as floats where all are numbers or missing, else as text with None where missing."""
    known = [None if cell.strip() in MISSING else cell for cell in cells]
    try:
        return np.array(known, dtype=np.float64)
    except ValueError:
        return np.array(known, dtype=object)
