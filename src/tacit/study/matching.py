"""`compare_models`: how two mixtures group the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..assess.estimates import by_rows
from ..assess.stability import agreement as agreement_of
from ..notes import Claim
from ..words import count, number, share
from .comparison import Comparison, scored
from .subject import opened_for

__all__ = ["compare_models"]


def compare_models(
    first: Any, second: Any, table: Any, names: tuple[str, str] = ("A", "B"), **reading: Any
) -> Comparison:
    """How two mixtures group the same rows: which groups match, how many rows change theirs, and which describes the rows better.

    Parameters
    ----------
    first, second : Mixture
        Fitted models.
    table : DataFrame, Arrow table, array, path or tacit.tables.DataTable
        Rows with the columns of both models.
    names : pair of str
        What the models are called.
    **reading
        How to read the table, as in `tacit.tables.open_table`.

    Returns
    -------
    Comparison
    """
    labels, densities, words = [], [], []
    for model in (first, second):
        model, opened = opened_for(model, table, **reading)
        if model._study != "groups":
            raise ValueError(
                f"a {type(model).__name__} has no groups to compare; use models that tacit fit wrote, or mixtures."
            )
        group, density = scored(model, opened)
        labels.append(group)
        densities.append(density)
        words.append((model.n_components, [str(name) for name in model.schema_.names]))
    (k, used), (m, other) = words
    n = len(labels[0])
    counts = np.zeros((k, m), dtype=int)
    np.add.at(counts, (labels[0], labels[1]), 1)
    matched = dict(zip(*linear_sum_assignment(-counts)))
    groups: list[dict] = []
    for j in range(k):
        match = matched.get(j)
        n_a, n_b = int(counts[j].sum()), int(counts[:, match].sum()) if match is not None else 0
        other_number, both = (int(match) + 1, int(counts[j, match])) if match is not None else (None, 0)
        groups.append({"number": j + 1, "other": other_number, "n_a": n_a, "n_b": n_b, "shared": both, "share_a": n_a / n,
                       "share_b": n_b / n, "words": "", "moved": False, "new": False})  # fmt: skip
    stay = sum(group["shared"] for group in groups)
    agreement, _ = agreement_of(*labels)
    figures: dict = {"agreement": agreement, "n_rows": n, "groups_a": k, "groups_b": m}
    sentences = [
        f"{names[0]} has {count(k, 'group')} and {names[1]} {count(m, 'group')}; on {count(n, 'row')} they agree with an "
        f"adjusted Rand index of {agreement:.2f} (1 is the same groups, 0 no more than chance).",
        f"{count(n - stay, 'row')} ({share((n - stay) / n)}) are in another group than the one that matches theirs.",
    ]  # fmt: skip
    basis = f"the likeliest group of {count(n, 'row')} under either"
    summary: list[str] = [
        Claim.of("verdict", sentences[0], basis, figures),
        Claim.of("changed", sentences[1], basis, {"changed": n - stay}),
    ]
    limits = [
        "Groups are matched so that as many rows as possible stay; a group that was split has the larger part as its match."
    ]
    if set(used) == set(other):
        gap = densities[1] - densities[0]
        found = by_rows(gap, None, None, np.inf, 0.95)
        half = 0.5 * (found.high - found.low) if n > 1 else 0.0
        better, clear = names[1] if found.value > 0 else names[0], abs(found.value) > half
        ends = sorted(abs(v) if found.value > 0 else -v for v in (found.value - half, found.value + half))
        sentence = (
            f"{better} describes the rows better, by {number(abs(found.value), 3)} of log density a row ({number(ends[0], 3)} to "
            f"{number(ends[1], 3)})."
            if clear
            else "Neither describes the rows better beyond chance: the log density a row differs by "
            f"{number(abs(found.value), 3)} ± {number(half, 2)}."
        )
        figures = {"difference": found.value, "half_width": half}
        summary.append(Claim.of("density", sentence, f"mean and t interval over {count(n, 'row')}", figures))
        limits.append("A model that was learned from these rows describes them better than rows it has not seen.")
    return Comparison("models", names, (n, n), groups=groups, summary=summary, limits=limits)
