"""Sizes of junction trees, told before any table is made."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .schedule import Compiled

__all__ = ["check_cells", "memory"]

SHARE = 0.7  # of the machine's memory that tables may take


def memory() -> float:
    """Bytes of memory of this machine."""
    if not hasattr(os, "sysconf"):
        return 8e9
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def check_cells(compiled: Compiled, nodes: Any, limit: float | None = None) -> None:
    """Raise where the tables of a junction tree take more memory than there is.

    Parameters
    ----------
    compiled : Compiled
    nodes : object with names
    limit : float, optional
        Bytes at most; default a share of the machine's memory.
    """
    limit = SHARE * memory() if limit is None else limit
    if 8.0 * compiled.total <= limit:
        return
    widest = compiled.cliques[int(compiled.cells.argmax())]
    some = ", ".join(str(nodes.names[v]) for v in widest[:6]) + (", …" if len(widest) > 6 else "")
    raise ValueError(
        f"the junction tree takes {8.0 * compiled.total:.3g} bytes, of which {8.0 * compiled.largest:.3g} are the table of "
        f"{some} ({len(widest)} variables), but at most {limit:.3g} may be used; observe more variables, ask for fewer, or "
        "use an approximate method: FactorGraph's loopy sum-product, or sampling."
    )
