"""Which family describes which columns of a table."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..families import (
    GAUSSIANS,
    NAMED,
    Categorical,
    ChowLiu,
    DirichletPrior,
    Family,
    Ordinal,
    Product,
    StudentT,
    VonMises,
)
from ..schema import Column, Schema

__all__ = ["by_column", "check_columns", "kinds_of", "plain_schema", "product_family"]

CODED = {
    "categorical": "category",
    "chow_liu": "category",
    "ordinal": "ordinal",
    "bernoulli": "binary",
    "vonmises": "cyclic",
}
BY_KIND = {"continuous": "gaussian", "category": "categorical", "ordinal": "ordinal", "count": "poisson",
           "cyclic": "vonmises"}  # fmt: skip
APART = ("diag", "spherical", "EII", "VII", "EEI", "VEI", "EVI", "VVI")
"""Structures whose columns are independent inside a group."""


def _keys(by_column: dict | None) -> Iterator[tuple[tuple, Any]]:
    """Pairs of column names and the family asked for them, which may be by the name of a kind."""
    for key, family in (by_column or {}).items():
        yield (
            (key if isinstance(key, tuple) else (key,)),
            BY_KIND.get(family, family) if isinstance(family, str) else family,
        )


def kinds_of(family: Any, by_column: dict | None) -> tuple[dict[Any, str | None], str | None]:
    """Kinds of columns that follow from the families asked for: name to kind, or one kind for all."""
    kinds = {name: _kind(asked, f"column {name!r}: ") for names, asked in _keys(by_column) for name in names}
    return kinds, None if family == "auto" else _kind(family)


def _kind(family: Any, told: str = "") -> str | None:
    """The kind a column must be of for a family; None leaves it to the column."""
    if isinstance(family, Categorical):
        return None  # the codes are the user's own
    if isinstance(family, Family):
        return "continuous"
    if family not in (every := ["gaussian", "categorical", "chow_liu", "ordinal", "vonmises", *NAMED, *GAUSSIANS]):
        known = ", ".join(map(repr, every))
        raise ValueError(f"{told}family={family!r} is unknown; use a Family, or one of {known}.")
    return CODED.get(family, "continuous")


def product_family(
    schema: Schema, family: Any, by_column: dict | None, covariance_type: str, *, floor: float, smoothing: float
) -> Product:
    """The product of families over the columns of a schema: by column, then of the rest together or, if "auto", by kind."""
    position = {column.name: j for j, column in enumerate(schema.columns)}
    asked_for, left = [], dict(position)
    for names, asked in _keys(by_column):
        for name in names:
            if name not in position:
                raise ValueError(f"by_column names {name!r}, but the columns are {', '.join(map(str, position))}.")
            if name not in left:
                raise ValueError(f"by_column names {name!r} more than once; each column has one family.")
            del left[name]
        asked_for.append((asked, [position[name] for name in names]))
    if family == "auto":
        for kind, name in BY_KIND.items():
            own = [j for j in left.values() if schema.columns[j].kind == kind]
            wide = [j for j in own if schema.columns[j].law == "negative_binomial"]
            # Where columns are independent inside a group, those of places on the map are not of each other.
            places = [j for j in own if schema.columns[j].law == "place" and covariance_type in APART]
            rest = [j for j in own if j not in wide and j not in places]
            asked_for += [(name, rest), ("negative_binomial", wide), ("full", places)]
    else:
        asked_for.append((family, list(left.values())))
    parts = []
    for asked, columns in asked_for:
        if columns:
            described = [schema.columns[j] for j in columns]
            parts.append((_named(asked, described, covariance_type, floor, smoothing), columns))
    return Product(parts)


def _named(family: Any, columns: Sequence[Column], covariance_type: str, floor: float, smoothing: float) -> Family:
    """A family by its name, with what it needs to know about its columns."""
    if isinstance(family, Family):
        return family
    if family == "categorical":
        prior = DirichletPrior(1.0 + smoothing) if smoothing else None
        return Categorical([len(column.levels) for column in columns], prior=prior)
    if family == "chow_liu":
        n_levels = [len(column.levels) for column in columns]
        return ChowLiu(n_levels, smoothing=smoothing * max(n_levels))
    if family == "ordinal":
        return Ordinal([len(column.levels) for column in columns], smoothing=smoothing)
    if family == "vonmises":
        origin, period = zip(*(column.cycle for column in columns))
        return VonMises(period, origin=origin, steps=[column.steps for column in columns], smoothing=smoothing)
    if family == "bernoulli":
        wide = next((column for column in columns if len(column.levels) > 2), None)
        if wide is not None:
            raise ValueError(
                f"column {wide.name!r} has {len(wide.levels)} levels, so it is not binary; use 'categorical'."
            )
    if family == "student":
        return StudentT(covariance_type, floor=floor)
    structure = covariance_type if family == "gaussian" else family
    if structure in GAUSSIANS:
        return GAUSSIANS[structure](floor=floor)
    return NAMED[family]()


def check_columns(family: Product, X: Any, schema: Schema) -> None:
    """Raise, naming the column, where a family does not describe its cells."""
    for part, columns in family.parts:
        try:
            part.check(X.data[:, None] if hasattr(X, "tocsr") else X[:, columns])
        except ValueError as error:
            fault = _at_fault(part, X, columns)
            names = ", ".join(repr(schema.columns[j].name) for j in fault[:5]) + ", …" * (len(fault) > 5)
            raise ValueError(f"column {names}: {error}") from None


def _at_fault(part: Family, X: Any, columns: Sequence[int]) -> Sequence[int]:
    """The first column that a family refuses by itself, or all."""
    for j in () if hasattr(X, "tocsr") else columns:
        try:
            part.check(X[:, [j]])
        except ValueError:
            return [j] if len(columns) == 1 or not isinstance(part, Categorical) else columns
    return columns


def plain_schema(n_features: int, names: Any = None) -> Schema:
    """The schema of rows that are numbers only."""
    names = range(n_features) if names is None else names
    return Schema(tuple(Column(name, "continuous") for name in names))


def by_column(name: str, value: np.ndarray, columns: Sequence[Column], levels: bool = False) -> dict[str, np.ndarray]:
    """A parameter (classes, …) of some columns, cut into arrays (classes,) that are named after what they describe."""
    labels = [str(column.name) for column in columns]
    if levels and value.shape[1] > len(labels):  # a parameter of each level
        labels = [f"{column.name} = {level}" for column in columns for level in column.levels]
    if value.ndim == 3:
        pairs = [(i, j) for i in range(len(labels)) for j in range(i, len(labels))]
        return {f"{name} of {labels[i]} and {labels[j]}": value[:, i, j] for i, j in pairs}
    if value.ndim == 2 and value.shape[1] == len(labels):
        return {f"{name} of {label}": part for label, part in zip(labels, value.T)}
    return {f"{name} of {', '.join(labels)}": value}
