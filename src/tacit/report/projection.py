"""Rows of a table on a plane: the one that separates groups where there are any, principal axes otherwise.

In the space whitened by the spread W within groups, the plane A is that of the least overlap of pairs of groups
(Bhattacharyya's, of Gaussians), Σ_{i<j} π_i π_j exp(−‖Aᵀ(μ_i − μ_j)‖² / 8), searched from Fisher's axes. Fisher's own are
ruled by groups far from all others, and leave close ones on top of each other. W is shrunk towards a multiple of the identity
at least as far as Ledoit and Wolf advise, so that more columns than rows, or columns that repeat others, do no harm.

Planes are of known cells only: columns with more than a few missing cells are left out, and a missing cell of the others stands
at the mean, where it moves no row along the column.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.covariance import ledoit_wolf_shrinkage

from ..study.findings import Findings

__all__ = ["View", "fisher_axes", "golden", "mapped", "principal_axes", "views"]

MOST_FEATURES = 200
LEAST_SHRINKAGE = 0.25
MOST_SEARCHED = 12
MOST_MISSING = 0.05
"""Share of missing cells beyond which a column does not make the map, unless fewer than two would."""
GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class View:
    """Rows on a plane.

    Attributes
    ----------
    name : str
        What a button calls it.
    places : (m, 2) array
    labels : tuple of two str
        What each axis opposes.
    note : str
        How the axes were chosen.
    """

    name: str
    places: np.ndarray
    labels: tuple[str, str]
    note: str


def golden(n: int) -> np.ndarray:
    """Numbers in [0, 1), each far from those before it."""
    return (np.arange(n) * GOLDEN) % 1.0


def mapped(findings: Findings) -> list[int]:
    """Positions of the columns that make the map: those that are known nearly everywhere, or the two that are known most."""
    lost = np.isnan(findings.sample.encoded).mean(axis=0)
    order = [j for j in np.argsort(lost, kind="stable") if lost[j] < 0.5]
    return sorted(int(j) for k, j in enumerate(order) if lost[j] <= MOST_MISSING or k < 2)


def _features(findings: Findings) -> tuple[np.ndarray, list[str]]:
    """Known cells as standardised numbers, a column for each level of a category, and the name of each column."""
    roles = {column.name: column for column in findings.columns}
    parts, names = [], []
    for j in mapped(findings):
        name = findings.used[j]
        column, cells = roles[name], np.asarray(findings.sample.encoded[:, j], dtype=float)
        name = findings.labels.get(name, name)
        if column.coded and column.levels:
            for code, level in enumerate(column.levels):
                parts.append(np.where(np.isnan(cells), np.nan, cells == code))
                names.append(f"{name}: {level}")
        elif column.cycle:
            turn = 2.0 * np.pi * cells / column.cycle[1]
            parts += [np.cos(turn), np.sin(turn)]
            names += [name, name]
        else:
            parts.append(cells)
            names.append(name)
    if not parts:
        return np.zeros((len(findings.sample.rows), 0)), []
    Z = np.column_stack(parts)
    Z = np.where(np.isfinite(Z), Z, np.nan)
    seen = ~np.isnan(Z)
    largest = np.max(np.abs(np.where(seen, Z, 0.0)), axis=0, initial=0.0)
    Z = Z / np.where(largest > 0, largest, 1.0)
    mean = np.where(seen, Z, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    Z = np.where(seen, Z - mean, 0.0)
    std = np.sqrt(np.mean(Z**2, axis=0))
    varies = std > 1e-9
    return Z[:, varies] / std[varies], [name for name, kept in zip(names, varies) if kept]


def principal_axes(Z: np.ndarray) -> np.ndarray:
    """Scores of the rows on the two axes along which they vary most."""
    if Z.shape[1] == 0 or len(Z) < 2:
        return np.zeros((len(Z), 2))
    left, values, _ = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    scores = left[:, :2] * values[:2]
    return np.column_stack([scores, np.zeros((len(Z), 2 - scores.shape[1]))])


def fisher_axes(Z: np.ndarray, memberships: np.ndarray) -> np.ndarray:
    """Scores on the two axes that separate groups best, given the rows' probabilities of them.

    Two groups differ along one axis; the second is then what else the rows vary in most.
    """
    if Z.shape[1] > MOST_FEATURES:
        left, values, _ = np.linalg.svd(Z, full_matrices=False)
        Z = left[:, :MOST_FEATURES] * values[:MOST_FEATURES]
    weight = memberships.sum(axis=0)
    held = weight > 1e-6
    weight, memberships = weight[held], memberships[:, held]
    means = (memberships.T @ Z) / weight[:, None]
    white = _whitening(Z, memberships, weight, means)
    axes = _separating(means @ white, weight / weight.sum())
    if not axes.shape[1]:
        return principal_axes(Z)
    scores = Z @ (white @ axes)
    if axes.shape[1] < 2:
        unit = scores / max(np.linalg.norm(scores), 1e-12)
        scores = np.column_stack([scores, principal_axes(Z - unit @ (unit.T @ Z))[:, :1]])
    return scores


def _whitening(Z: np.ndarray, memberships: np.ndarray, weight: np.ndarray, means: np.ndarray) -> np.ndarray:
    """W^(−1/2) of the shrunk spread within groups."""
    centred = Z - Z.mean(axis=0)
    gaps = means - Z.mean(axis=0)
    within = centred.T @ centred / len(Z) - (gaps.T * weight) @ gaps / weight.sum()
    # A floor: where a category alone tells the groups apart, rows of a group should still not fall on one point.
    shrinkage = max(ledoit_wolf_shrinkage(Z - memberships @ means), LEAST_SHRINKAGE) if len(Z) > 1 else 1.0
    level = max(np.trace(within) / len(within), 1e-6)
    values, vectors = np.linalg.eigh(0.5 * (within + within.T))
    return vectors / np.sqrt((1.0 - shrinkage) * np.maximum(values, 0.0) + shrinkage * level) @ vectors.T


def _separating(means: np.ndarray, share: np.ndarray) -> np.ndarray:
    """At most two orthonormal axes on which the means lie apart; the one along which they differ most comes first."""
    means = means - share @ means
    _, values, rows = np.linalg.svd(np.sqrt(share)[:, None] * means, full_matrices=False)
    basis = rows[: int((values > 1e-9 * max(values[0], 1e-300)).sum())][:MOST_SEARCHED].T
    if basis.shape[1] <= 2:
        return basis
    first, second = np.triu_indices(len(means), 1)
    gaps, weight = (means[first] - means[second]) @ basis, share[first] * share[second]

    def overlap(flat: np.ndarray) -> Any:
        plane = np.linalg.qr(flat.reshape(-1, 2))[0]
        return logsumexp(-0.125 * ((gaps @ plane) ** 2).sum(axis=1), b=weight)

    start = np.eye(basis.shape[1], 2)
    plane = np.linalg.qr(minimize(overlap, start.ravel(), options={"maxiter": 100}).x.reshape(-1, 2))[0]
    _, _, turn = np.linalg.svd(np.sqrt(share)[:, None] * (means @ basis @ plane), full_matrices=False)
    return basis @ plane @ turn.T


def views(findings: Findings) -> list[View]:
    """The planes to show, the best first."""
    Z, names = _features(findings)
    if len(Z) < 2 or not names:
        return []
    found = []
    if len(findings.groups) > 1 and findings.memberships is not None:
        places = fisher_axes(Z, np.asarray(findings.memberships, dtype=float))
        found.append(_view("Best separation", places, Z, names, "The axes are those that separate the groups best."))
    plain = "The axes are those along which rows vary most, whatever their group."
    found.append(_view("Most variation", principal_axes(Z), Z, names, plain))
    return found


def _view(name: str, places: np.ndarray, Z: np.ndarray, names: list[str], note: str) -> View:
    """Signed so that the leading column of each axis rises along it; rows on a line are spread so that all are seen."""
    places = np.array(places, dtype=float)
    flat = places.std(axis=0) < 1e-9 * max(places.std(), 1e-300)
    labels = []
    for j in range(2):
        if flat[j]:
            places[:, j] = golden(len(places))
            labels.append("")
            continue
        correlation = Z.T @ (places[:, j] - places[:, j].mean()) / (len(Z) * places[:, j].std())
        if correlation[np.argmax(np.abs(correlation))] < 0:
            places[:, j], correlation = -places[:, j], -correlation
        labels.append(_opposed(correlation, names))
    if flat.any():
        note += " One axis tells all; across it rows are only spread so that they can be seen."
    if len(np.unique(np.round(places / np.maximum(np.ptp(places, axis=0), 1e-300), 3), axis=0)) < 0.5 * len(places):
        places, note = _scattered(places), note + " Rows at the same place are spread a little."
    return View(name, places, (labels[0], labels[1]), note)


def _scattered(places: np.ndarray) -> np.ndarray:
    """Places moved by up to a fiftieth of their range, on a sunflower's spiral, so that equal rows can be seen."""
    turn = np.arange(len(places)) * 2.0 * np.pi * GOLDEN
    radius = 0.02 * np.sqrt((np.arange(len(places)) * np.sqrt(2.0)) % 1.0)
    return places + np.ptp(places, axis=0) * radius[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])


def _opposed(correlation: np.ndarray, names: list[str], most: int = 2) -> str:
    """The columns that go along with an axis: "more of these; less of those"."""
    first = np.argsort(-np.abs(correlation), kind="stable")[:most]
    order = [j for j in first if abs(correlation[j]) >= 0.6 * abs(correlation[first[0]])]
    more, less = ([names[j] for j in order if (correlation[j] > 0) == up] for up in (True, False))
    return "; ".join(f"{word} {', '.join(part)}" for word, part in (("more", more), ("less", less)) if part)
