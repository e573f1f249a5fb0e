"""Sums over variables one by one, each within the product of the tables that hold it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from .potential import Potential

__all__ = ["eliminate"]


def eliminate(tables: Iterable[Potential], keep: Iterable[Hashable]) -> Potential:
    """The product of tables, summed over all variables but some; the variable whose table is smallest comes next.

    Parameters
    ----------
    tables : iterable of Potential
    keep : iterable of variable
    """
    left, kept = list(tables), set(keep)
    waiting = {v: len(table.states[v]) for table in left for v in table.variables if v not in kept}
    while waiting:
        v = min(waiting, key=lambda u: (_size(left, u), str(u)))
        del waiting[v]
        own = [table for table in left if v in table.states]
        joint = Potential.product(own)
        left = [table for table in left if v not in table.states]
        summed = joint.marginal([u for u in joint.variables if u != v])
        # Only ratios count, and products of many tables would vanish or overflow.
        left.append(summed * (1.0 / summed.total) if summed.total > 0 else summed)
    return Potential.product(left)


def _size(tables: list[Potential], v: Hashable) -> int:
    """Cells of the product of the tables that hold a variable."""
    cells = 1
    for n in {u: len(table.states[u]) for table in tables if v in table.states for u in table.variables}.values():
        cells *= n
    return cells
