"""Where hidden Markov models start: states of a sample of steps, by k-means of what steps and their surroundings look like."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import Any

import numpy as np

from ..kernels import host
from ..mixture.seeds import seed_responsibilities
from ..source import Block

__all__ = ["seed_states", "shortened"]

WINDOWS = (1, 5, 15, 45)
"""Steps that are looked at together: states may differ in what only several steps show, such as their spread."""
FEW = 7
"""States up to which every order of them is tried."""
LONGEST = 2000
"""Steps of a piece of a sequence, where sequences are too long for a sample of whole ones."""


def seed_states(model: Any, sample: Block, rng: np.random.Generator) -> np.ndarray:
    """Random states of a sample of steps, (steps, states), that the moves which are allowed can follow."""
    structure, k = model.structure, model.n_components
    ordered = k > 1 and not np.tril(structure.allowed, -1).any()
    if ordered and rng.random() < 0.5 and (host(sample.labels) < 0).all():
        return np.eye(k)[_in_order(sample.offsets, k, rng)]
    places = model.family.embed(sample, rng)
    longest = int(np.diff(sample.offsets).max())
    windows = [window for window in WINDOWS if window == 1 or 4 * window <= longest]
    places = _surroundings(places, sample.offsets, windows[rng.integers(len(windows))])
    groups = getattr(model.family, "groups", None)
    resp = seed_responsibilities(places, sample, k if groups is None else int(groups.max()) + 1, rng, model.init_method)
    if groups is not None:
        resp = _shared(resp, groups, sample.offsets, rng)
    if structure.allowed.all() or (host(sample.labels) >= 0).any():
        return resp
    return resp[:, _order(resp, sample.offsets, structure.allowed, ordered)]


def _surroundings(places: np.ndarray, offsets: np.ndarray, window: int) -> np.ndarray:
    """Means and spreads of the steps around each; the places themselves where the window is one step."""
    if window == 1:
        return places
    lengths = np.diff(offsets)
    first, last = np.repeat(offsets[:-1], lengths), np.repeat(offsets[1:], lengths)
    at, half = np.arange(len(places)), window // 2
    low, high = np.maximum(at - half, first), np.minimum(at + half + 1, last)
    sums = np.vstack([np.zeros((1, places.shape[1])), np.cumsum(places, axis=0)])
    squares = np.vstack([np.zeros((1, places.shape[1])), np.cumsum(places**2, axis=0)])
    n = (high - low)[:, None]
    mean = (sums[high] - sums[low]) / n
    spread = np.sqrt(np.maximum((squares[high] - squares[low]) / n - mean**2, 0.0) + 1e-6)
    found = np.hstack([mean, np.log(spread)])
    return found / np.maximum(found.std(axis=0), 1e-12)


def _in_order(offsets: np.ndarray, n_states: int, rng: np.random.Generator) -> np.ndarray:
    """States that follow each other once along every sequence, after about as many steps each."""
    states = np.empty(offsets[-1], dtype=int)
    for a, z in pairwise(offsets):
        ends = np.cumsum(rng.dirichlet(np.full(n_states, 10.0)))
        states[a:z] = np.minimum(np.searchsorted(ends, (np.arange(z - a) + 0.5) / (z - a)), n_states - 1)
    return states


def _shared(resp: np.ndarray, groups: np.ndarray, offsets: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """States from what they share: every stay is given to one of the states that look alike."""
    label = resp.argmax(axis=1)
    begins = np.diff(label, prepend=-1) != 0
    begins[offsets[:-1]] = True
    stay = np.cumsum(begins) - 1
    chosen = np.array([rng.choice(np.flatnonzero(groups == group)) for group in label[begins]])
    return np.eye(len(groups))[chosen[stay]]


def _order(resp: np.ndarray, offsets: np.ndarray, allowed: np.ndarray, ordered: bool) -> np.ndarray:
    """The order of classes in which most moves are allowed."""
    k, inside = resp.shape[1], np.ones(len(resp), bool)
    inside[offsets[:-1]] = False
    later = np.flatnonzero(inside)
    if ordered:
        lengths = np.diff(offsets)
        when = (np.arange(len(resp)) - np.repeat(offsets[:-1], lengths)) / np.repeat(lengths, lengths)
        return np.argsort(when @ resp / np.maximum(resp.sum(axis=0), 1e-12), kind="stable")
    moves = resp[later - 1].T @ resp[later]
    if k <= FEW:
        return np.array(max(permutations(range(k)), key=lambda order: (moves[np.ix_(order, order)] * allowed).sum()))
    order = np.arange(k)
    best, better = (moves[np.ix_(order, order)] * allowed).sum(), True
    while better:
        better = False
        for i in range(k):
            for j in range(i):
                trial = order.copy()
                trial[[i, j]] = trial[[j, i]]
                value = (moves[np.ix_(trial, trial)] * allowed).sum()
                if value > best + 1e-9:
                    order, best, better = trial, value, True
    return order


def shortened(sample: Block, n_rows: int) -> Block:
    """Pieces of the sequences of a sample that has far more steps than asked for, spread evenly over it."""
    if len(sample) <= 2 * n_rows:
        return sample
    starts, taken = [], 0
    for a, z in pairwise(sample.offsets):
        n_pieces = max(round(n_rows * (z - a) / len(sample) / LONGEST), 1) if z - a > LONGEST else 1
        size = min(z - a, LONGEST)
        starts += [(int(at), size) for at in np.linspace(a, z - size, n_pieces).astype(int)]
        taken += n_pieces * size
    rows = np.concatenate([np.arange(at, at + size) for at, size in starts])
    units = np.append(0, np.cumsum([size for _, size in starts]))
    targets = None if sample.targets is None else host(sample.targets)[rows]
    return Block.of(host(sample.X)[rows], host(sample.weight)[rows], host(sample.labels)[rows], targets, units=units)
