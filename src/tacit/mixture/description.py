"""`Description`: what each group of a mixture looks like, column by column."""

from collections.abc import Iterator
from typing import Any

from ..table import Table

__all__ = ["Description"]


class Description(dict):
    """A dictionary by column, which prints as a table with one column per group.

    A column of numbers has ``{"family": name, "mean": array, "std": array}``, a category
    ``{"family": name, "probability": {level: array}}``, an ordinal column also a ``"location"``; arrays have one entry per group.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture.description import Description
    >>> print(Description({"age": {"family": "Normal", "mean": np.array([25.0, 70.0]), "std": np.array([5.0, 8.0])}}))
    column  what  group 0  group 1
    age     mean  25.0000  70.0000
    age     std    5.0000   8.0000
    """

    def table(self) -> Table:
        """The description as a `tacit.table.Table`: a row for each mean, deviation and level."""
        return Table([row for column, told in self.items() for row in _rows(column, told)])

    def __str__(self) -> str:
        return str(self.table())


def _rows(column: Any, told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "probability" in told:
        parts = {"location": told["location"].round(4)} if "location" in told else {}
        parts |= {f"= {level}": share.round(4) for level, share in told["probability"].items()}
    elif "period" in told:
        parts = {"around": told["mean"], "spread": told["std"]}
    else:
        parts = {"mean": told["mean"], "std": told["std"]}
    for what, values in parts.items():
        groups = {f"group {k}": float(value) for k, value in enumerate(values)}
        yield {"column": str(column), "what": what, **groups}
