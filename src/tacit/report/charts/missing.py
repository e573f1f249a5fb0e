"""Missing cells of a column as a strip, a mark for every run of rows."""

import numpy as np

from ..markup import Markup, cut, plural, tag

__all__ = ["missing_strip"]


def missing_strip(missing, name):
    """Rows from left to right, marked where the cell is missing."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], missing.astype(np.int8), [0]])))
    path = "".join(f"M{start} 5H{end}" for start, end in zip(edges[::2], edges[1::2]))
    return tag(
        "svg", tag("path", d=Markup(path)) if path else None, class_="missing-strip", viewBox=f"0 0 {max(len(missing), 1)} 10",
        preserveAspectRatio="none", role="img", aria_label=f"{cut(name, 60)}: {plural(missing.sum(), 'row')} with it missing",
    )  # fmt: skip
