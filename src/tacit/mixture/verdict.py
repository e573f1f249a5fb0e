"""`Verdict`: are these groups clear, do they overlap, or are they sections of a continuum?

The model is fitted anew to bootstrap samples of the rows, from where it was and from random starts. Rows that a sample left out
show whether there is a gap between two groups g and h: on Fisher's axis of the two, as the sample has them,

    depth = min f between the medians of g and h / the lower of the two peaks,    f a kernel density of the rows left out

A gap is shown where the depth is smaller than a unimodal density leads to by chance. Groups that no gap separates, directly or by
way of others, are one cloud.

References
----------
Hennig (2010), Methods for merging Gaussian mixture components.
Hubert and Arabie (1985), Comparing partitions.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import adjusted_rand_score

from ..engine import SingularError, fit
from ..notes import Note, Option
from ..source import Block, OneBlock, Source
from ..source.threads import one_blas_thread
from ..words import count, number, share
from .starts import race

__all__ = ["KINDS", "Verdict", "judge"]

KINDS = ("clear", "overlapping", "continuum", "one", "untried", "unchecked")

ROWS, RESAMPLES, FRESH = 2000, 10, 3
"""Rows that are resampled, how often, and random starts of each refit."""
SURE = 0.9
"""Rows whose likeliest group has a smaller probability are unsure."""
ERROR, AGREED = 0.05, 0.8
"""Rows of clear groups are in another group with this probability on average at most, that of refits to put rows they have not
seen into another group included, and refits agree so well at least."""
GAP, CHANCE = 0.75, 1.2
"""A gap is shown where the depth is below GAP − CHANCE / √(rows of the smaller group): one density in twenty without a gap, or
fewer, has one so deep by chance (`benchmarks/verdicts.py`)."""


@dataclass(frozen=True)
class Verdict:
    """What groups are worth, told before anything else is said of them.

    Attributes
    ----------
    kind : {"clear", "overlapping", "continuum", "one", "untried", "unchecked"}
        Clear groups have gaps between all of them, rows are sure of theirs, and refits find the same ones. Of overlapping groups
        some have gaps between them, or rows are unsure. Between neighbouring sections of a continuum no gap is shown. One group:
        no division describes the rows better. Untried where no number of groups but one was. Unchecked where no time was left for
        resamples.
    n_groups, n_apart : int
        Groups, and clouds of groups that gaps keep apart.
    unsure, error, moved : float
        Share of rows less than 90 % sure of their group, the mean probability that a row belongs to another one, and the share of
        rows left out of a resample that its refit puts into another group.
    stability, least : float or None
        Mean and least adjusted Rand index of the groups of refits with those found: 1 where they are the same, 0 where they
        agree as random ones do.
    n_resamples, n_rows : int
        Resamples, and the rows that they were drawn from.
    gaps : list of dict
        Pairs of groups with `groups`, the `depth` of the density between them and whether a gap is `shown`.
    reached : {"", "budget", "cap"}
        What ended the search before the criterion did.
    budget : float or None
        Seconds that it had.
    tried : int
        The largest number of groups tried.
    """

    kind: str
    n_groups: int
    n_apart: int = 1
    unsure: float = 0.0
    error: float = 0.0
    moved: float = 0.0
    stability: float | None = None
    least: float | None = None
    n_resamples: int = 0
    n_rows: int = 0
    gaps: list[dict] = field(default_factory=list)
    reached: str = ""
    budget: float | None = None
    tried: int = 1

    def told(self) -> dict:
        """The record as plain values, which `Verdict(**told)` reads again."""
        return asdict(self)

    def note(self, n_rows: int, criterion: str = "BIC") -> Note:
        """The verdict on so many rows, in a sentence."""
        text = self._untried(n_rows) if self.kind == "untried" else self._sentence(n_rows, criterion)
        return Note("verdict", text, budget=Option("budget"), groups=Option("groups"))

    def _untried(self, n_rows: int) -> str:
        which = f"How many groups {count(n_rows, 'row')} form"
        if self.reached == "budget":
            time = f"within the budget of {number(self.budget)} s"
            return f"{which} is not known: {time} only one was tried; raise {{budget}} to try more."
        return f"{which} was not looked for: only one was tried; {{groups}} says which to try."

    def _sentence(self, n_rows: int, criterion: str) -> str:
        rows, k = count(n_rows, "row"), self.n_groups
        if self.kind == "one":
            most = "2" if self.tried == 2 else f"2 to {self.tried}"
            found = f"{rows} form one group: by {criterion}, no division into {most} describes them better"
        elif self.kind == "continuum":
            between = "neighbouring ones of " if any(gap["shown"] for gap in self.gaps) else ""
            sections = f"{between}the {k} sections that describe it"
            found = f"{rows} form a continuum rather than groups: no gap is shown between {sections}"
        else:
            what = {"clear": "clear groups", "overlapping": "overlapping groups"}.get(self.kind, "groups")
            found = f"{rows} fall into {k} {what}"
            if self.kind == "overlapping" and 1 < self.n_apart < k:
                found += f", in {self.n_apart} clouds with gaps between them"
        return f"{found}{self._checked(n_rows)}{self._ended()}."

    def _checked(self, n_rows: int) -> str:
        if self.n_groups == 1:
            return ""
        if self.stability is None:
            return "; time was too short to check them on resamples"
        again = f"refitted to {self.n_resamples} resamples, they come back with an agreement of {number(self.stability, 2)} of 1"
        unsure = share(self.unsure) if self.unsure else "none"
        rows = "the rows"
        if self.n_rows < n_rows:  # a sample, or all but those with gross errors
            rows = (
                f"{self.n_rows:,} rows drawn at random"
                if self.n_rows >= ROWS
                else f"the {self.n_rows:,} rows learned from"
            )
        return f"; {again} (adjusted Rand index), and {unsure} of {rows} {'are' if self.unsure else 'is'} less than 90 % sure"

    def _ended(self) -> str:
        if self.reached == "budget":
            return f"; the search ended at its budget of {number(self.budget)} s, and more time may find a better model"
        if self.reached == "cap":
            return f"; {self.n_groups} groups is the most that was tried, and more may describe the rows better"
        return ""


def judge(
    model: Any,
    source: Source,
    *,
    seed: int = 0,
    deadline: float | None = None,
    resamples: int = RESAMPLES,
    **search: Any,
) -> Verdict:
    """The verdict on the groups of a mixture fitted to these rows.

    Parameters
    ----------
    model : Mixture
        Fitted.
    source : Source
        Rows, of which at most 2,000 are resampled.
    seed : int
    deadline : float, optional
        When to end, by ``time.monotonic``.
    resamples : int
        How many are drawn.
    **search
        What is known of the search: `reached`, `budget`, `tried`.

    Returns
    -------
    Verdict
    """
    k = model.n_components
    if k == 1:
        return Verdict("one" if search.get("tried", 1) > 1 else "untried", 1, **search)
    rng = np.random.default_rng(seed)
    sample = source.sample(ROWS, rng)
    mixture, params = model._resumed(source)
    resp = mixture.posterior(params, sample)[0][:, :k]
    top = resp.max(axis=1) / np.maximum(resp.sum(axis=1), 1e-300)
    told = {"unsure": float((top < SURE).mean()), "error": float(1.0 - top.mean()), "n_rows": len(sample), **search}
    labels, Z = resp.argmax(axis=1), mixture.family.embed(sample, rng)
    whole = ~np.isnan(sample.X).any(axis=1)
    shown = whole if 2 * whole.sum() >= len(whole) else np.ones(len(whole), dtype=bool)
    agreement, moved, places = [], [], _Places(k)
    with one_blas_thread():
        for _ in range(resamples):
            if deadline is not None and time.monotonic() >= deadline:
                break
            weight = np.bincount(rng.integers(len(sample), size=len(sample)), minlength=len(sample)).astype(float)
            again = _refitted(mixture, params, sample, weight, rng, deadline)
            if again is None:
                agreement.append(0.0)
                continue
            found = mixture.posterior(again, sample)[0][:, :k].argmax(axis=1)
            agreement.append(adjusted_rand_score(labels, found))
            moved.append(places.add(Z, found, labels, weight, shown))
    if not agreement:
        return Verdict("unchecked", k, n_apart=k, **told)
    gaps = places.gaps(labels[shown])
    n_apart, _ = connected_components(_joined(gaps, resp), directed=False)
    stability = float(np.mean(agreement))
    told["moved"] = float(np.mean(moved)) if moved else 1.0
    clear = n_apart == k and told["error"] + told["moved"] <= ERROR and stability >= AGREED
    kind = "clear" if clear else "continuum" if n_apart == 1 else "overlapping"
    return Verdict(
        kind, k, n_apart=int(n_apart), stability=stability, least=float(min(agreement)), n_resamples=len(agreement), gaps=gaps,
        **told,
    )  # fmt: skip


def _joined(gaps: list[dict], resp: np.ndarray) -> np.ndarray:
    """Which groups are one cloud: those with no gap between them, of a small group only the one that it shares most rows with."""
    k = resp.shape[1]
    common = resp.T @ resp
    nearest = (common - np.diag(np.diag(common))).argmax(axis=1)
    joined = np.zeros((k, k), dtype=bool)
    for gap in gaps:
        i, j = (number - 1 for number in gap["groups"])
        beside = nearest[i] == j or nearest[j] == i
        joined[i, j] = not gap["shown"] and (gap["depth"] >= GAP or beside)
    return joined


def _refitted(
    mixture: Any, params: Any, sample: Block, weight: np.ndarray, rng: np.random.Generator, deadline: Any
) -> Any:
    """Parameters at the best maximum of a resample that the old ones and random starts lead to; None where all collapse."""
    there = weight > 0
    own = Block.of(np.ascontiguousarray(sample.X[there]), weight[there], sample.labels[there])
    starts = [params] + [mixture.start(own, mixture.seed(own, rng)) for _ in range(FRESH)]

    def tick(progress: Any) -> None:
        if deadline is not None and time.monotonic() >= deadline:
            raise KeyboardInterrupt

    try:
        first = race(mixture, own, starts, [(8, 1)], tick)[0]
        found = fit(mixture, OneBlock(own), first, max_iter=40, tol=1e-4, accelerate="auto", callback=tick).params
    except KeyboardInterrupt:
        return params if deadline is not None and time.monotonic() >= deadline else _again()
    except (SingularError, np.linalg.LinAlgError):
        return None
    return found


def _again() -> Any:
    raise KeyboardInterrupt


class _Places:
    """Places of left out rows on the axis of each pair of groups, 0 and 1 at the groups' medians."""

    def __init__(self, n_groups: int):
        self.n_groups = n_groups
        self.found: dict[tuple[int, int], list[np.ndarray]] = {}

    def add(self, Z: np.ndarray, found: np.ndarray, labels: np.ndarray, weight: np.ndarray, shown: np.ndarray) -> float:
        """Take in a refit that has rows in the groups `found`; which group is which, the rows of `labels` tell.

        Places are those of the rows `shown`: a missing cell would lie in the gap that it might show.

        Returns the share of the rows left out that it has in another group.
        """
        common = np.zeros((self.n_groups, self.n_groups))
        np.add.at(common, (found, labels), 1.0)
        which = _matched(common)
        found = which[found]
        inside, outside = weight > 0, weight == 0
        for i in range(self.n_groups):
            for j in range(i + 1, self.n_groups):
                here = (found == i) | (found == j)
                place = _on_axis(Z, found == j, here & inside & shown, here & outside & shown, weight)
                if place is not None:
                    self.found.setdefault((i, j), []).append(place)
        return float((found != labels)[outside].mean()) if outside.any() else 0.0

    def gaps(self, labels: np.ndarray) -> list[dict]:
        """How deep the density between each two groups is."""
        size = np.bincount(labels, minlength=self.n_groups)
        gaps = []
        for i in range(self.n_groups):
            for j in range(i + 1, self.n_groups):
                places = self.found.get((i, j), [])
                smaller = max(int(min(size[i], size[j])), 1)
                depth = _depth(np.concatenate(places), smaller) if places else 1.0
                shown = depth < GAP - CHANCE / np.sqrt(smaller)
                gaps.append({"groups": [i + 1, j + 1], "depth": round(depth, 4), "shown": bool(shown)})
        return gaps


def _matched(common: np.ndarray) -> np.ndarray:
    """The old group of each new one, such that most rows stay where they were."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-common)
    which = np.empty(len(common), dtype=int)
    which[rows] = columns
    return which


def _on_axis(Z: np.ndarray, second: np.ndarray, learned: np.ndarray, asked: np.ndarray, weight: np.ndarray) -> Any:
    """Places of the rows asked for on Fisher's axis of two groups, as other rows have it; None where that says nothing."""
    one, two = learned & ~second, learned & second
    if one.sum() < 2 or two.sum() < 2 or not asked.any():
        return None
    means = [np.average(Z[rows], axis=0, weights=weight[rows]) for rows in (one, two)]
    centred = np.concatenate(
        [(Z[rows] - mean) * np.sqrt(weight[rows])[:, None] for rows, mean in zip((one, two), means)]
    )
    within = centred.T @ centred / weight[learned].sum()
    within += (0.05 * np.trace(within) / len(within) + 1e-12) * np.eye(len(within))
    axis = np.linalg.solve(within, means[1] - means[0])
    low, high = (float(np.median(Z[rows] @ axis)) for rows in (one, two))
    if not high > low:
        return None
    return (Z[asked] @ axis - low) / (high - low)


def _depth(place: np.ndarray, smaller: int) -> float:
    """The least density between two medians, as a share of the lower of the peaks on either side."""
    low, high = place[place < 0.5], place[place >= 0.5]
    if not len(low) or not len(high):
        return 1.0
    spread = np.sqrt(0.5 * (low.var() + high.var())) + 1e-9
    width = max(0.9 * spread * smaller**-0.2, 1e-3)
    grid = np.linspace(-0.5, 1.5, 81)
    density = np.exp(-0.5 * ((grid[:, None] - place) / width) ** 2).sum(axis=1)
    between = np.flatnonzero((grid >= 0.0) & (grid <= 1.0))
    valley = between[np.argmin(density[between])]
    peaks = density[: valley + 1].max(), density[valley:].max()
    return float(density[valley] / max(min(peaks), 1e-300))
