"""`Description`: what each group of a mixture looks like, column by column."""

from collections.abc import Iterator
from typing import Any

import numpy as np

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

    noun = "group"

    def over(self, order: Any, noun: str = "group") -> "Description":
        """The same of these groups, which may be called something else."""
        found = Description(
            {column: {key: _taken(value, order) for key, value in told.items()} for column, told in self.items()}
        )
        found.noun = noun
        return found

    def table(self) -> Table:
        """The description as a `tacit.table.Table`: a row for each mean, deviation and level."""
        return Table([row for column, told in self.items() for row in _rows(column, told, self.noun)])

    def __str__(self) -> str:
        return str(self.table())


def _taken(value: Any, order: Any) -> Any:
    if isinstance(value, dict):
        return {level: share[order] for level, share in value.items()}
    return value[order] if isinstance(value, np.ndarray) else value


def _rows(column: Any, told: dict[str, Any], noun: str) -> Iterator[dict[str, Any]]:
    if "probability" in told:
        parts = {"location": told["location"].round(4)} if "location" in told else {}
        parts |= {f"= {level}": share.round(4) for level, share in told["probability"].items()}
    elif "period" in told:
        parts = {"around": told["mean"], "spread": told["std"]}
    else:
        parts = {"mean": told["mean"], "std": told["std"]}
    for what, values in parts.items():
        groups = {f"{noun} {k}": float(value) for k, value in enumerate(values)}
        yield {"column": str(column), "what": what, **groups}
