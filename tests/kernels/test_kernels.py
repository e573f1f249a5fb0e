"""One equality test for every kernel, and what the compiled kernels stand on: exp, strips and the cache on disk."""

import copy
import importlib.util
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

import tacit.kernels
from tacit.cluster.centers import Centers
from tacit.families import DiagonalGaussian, FullGaussian, StudentT, TiedGaussian
from tacit.families.factor import groups_of
from tacit.graph.pairwise.arcs import Arcs
from tacit.graph.schedule import Factor, compile_schedule, strides
from tacit.kernels import EXPECT, KERNELS, MOMENTS, SCORE, kernel
from tacit.kernels.jit import cache_folder
from tacit.kernels.junction import new_plan
from tacit.kernels.layout import pack_strips, strip_width, unpack_strips
from tacit.kernels.mixture import exp, log1p
from tacit.source import Patterns, SparseRows
from tests.kernels.reference import reference_of

N_ROWS = 240
NO_SCORES = np.empty((0, 0))


def incomplete(X, rng):
    """All kinds of patterns: rows with nothing, little or most missing, many that share a pattern, and complete rows."""
    n, d = X.shape
    missing = np.zeros((n, d), bool)
    missing[20:150] = rng.random(d) < 0.5
    missing[150:185] = rng.random((35, d)) < 0.2
    missing[185:235] = rng.random((50, d)) < 0.85
    missing[235:] = True
    return np.where(missing[rng.permutation(n)], np.nan, X).astype(X.dtype)


def make_world(dtype, d, n_classes):
    """Rows and the parameters of classes to give to kernels."""
    rng = np.random.default_rng([d, n_classes])
    root = np.eye(d) + 0.4 * rng.normal(size=(n_classes, d, d)) / np.sqrt(d)
    covariance = root @ root.transpose(0, 2, 1)
    X = (3.0 + rng.normal(size=(N_ROWS, d))).astype(dtype)
    H = incomplete(X, rng)
    return SimpleNamespace(
        rng=rng, dtype=dtype, d=d, n_classes=n_classes, X=X, H=H, patterns=Patterns.of(H), covariance=covariance,
        rows=rng.permutation(N_ROWS)[:205].astype(np.int32),
        mean=3.0 + rng.normal(size=(n_classes, d)), origin=3.0 + 0.1 * rng.normal(size=d), scale=np.ones(d),
        log_weight=np.log(rng.dirichlet(np.ones(n_classes))),
        weight=np.where(rng.random(N_ROWS) < 0.1, 0.0, rng.uniform(0.2, 3.0, N_ROWS)),
        labels=np.where(rng.random(N_ROWS) < 0.3, rng.integers(n_classes, size=N_ROWS), -1),
    )  # fmt: skip


def form_of(family, world, covariance):
    """The arguments that describe classes to a complete-row kernel."""
    form = family.params(world.mean, covariance, world.origin, world.scale).form
    return [value.astype(world.dtype) if isinstance(value, np.ndarray) else value for value in form]


def passes(world, *shapes):
    """The arguments from `mode` on, for every mode; sums do not start at zero, since kernels add to them."""
    for mode in (SCORE, MOMENTS, EXPECT):
        out = NO_SCORES if mode == EXPECT else world.rng.uniform(0.0, 2.0, (world.n_classes, N_ROWS))
        sums = [np.full((world.n_classes, *shape), 0.5) for shape in shapes]
        yield mode, world.log_weight, world.weight, world.labels, out, *sums


def normalise_cases(world):
    joint = 300.0 * world.rng.normal(size=(world.n_classes, N_ROWS))
    joint[:, ::7] -= 2000.0
    yield joint, world.log_weight, world.weight, world.labels, np.empty(N_ROWS)


def softmax_cases(world):
    q = world.d + 1
    for n_scores in sorted({1, world.n_classes}):
        slope, offset = 0.4 * world.rng.normal(size=(n_scores, world.d)), world.rng.normal(size=n_scores)
        codes = world.rng.integers(max(n_scores, 2), size=N_ROWS)
        for shape in ((0,), (n_scores, q, n_scores, q)):
            yield world.X, slope, offset, codes, world.weight, np.full((n_scores, q), 0.5), np.full(shape, 0.5)


def full_cases(world):
    form = form_of(FullGaussian(), world, world.covariance)
    for rows in (world.rows, world.rows[:0]):
        for rest in passes(world, (), (world.d,), (world.d, world.d)):
            yield world.X, rows, world.origin, *form, *rest


def tied_cases(world):
    form = form_of(TiedGaussian(), world, world.covariance[0])
    for rows in (world.rows, world.rows[:0]):
        for rest in passes(world, (), (world.d,)):
            yield world.X, rows, world.origin, *form, *rest


def diag_cases(world):
    form = form_of(DiagonalGaussian(), world, world.rng.uniform(0.5, 2.0, world.mean.shape))
    for X, rows, complete in ((world.X, world.rows, True), (world.H, world.patterns.rows, False)):
        for rest in passes(world, (), (world.d,), (world.d,), (world.d,)):
            yield X, rows, world.origin, *form, complete, *rest


def holes_of(world):
    """The arguments shared by the kernels that condition on observed cells."""
    params = FullGaussian().params(world.mean, world.covariance, world.origin, world.scale)
    holes = world.patterns.incomplete
    return world.H, holes.rows, holes.starts, holes.missing, *params.posterior


def conditional_cases(world):
    for rest in passes(world, (), (world.d,), (world.d, world.d)):
        yield *holes_of(world), *rest


def student_of(world):
    """Student t parameters, light tails and heavy ones, and the shapes of their sums."""
    df = np.geomspace(0.5, 300.0, world.n_classes)
    params = StudentT().params(world.mean, world.covariance, world.origin, world.scale, df)
    return params, [(), (), (), (world.d,), (world.d, world.d)]


def student_cases(world):
    params, shapes = student_of(world)
    form = [value.astype(world.dtype) if isinstance(value, np.ndarray) else value for value in params.form]
    for rows in (world.rows, world.rows[:0]):
        for rest in passes(world, *shapes):
            yield world.X, rows, world.origin, *form, *params.tables, *rest


def student_conditional_cases(world):
    params, shapes = student_of(world)
    for rest in passes(world, *shapes):
        yield *holes_of(world), *params.tables, *rest


def factor_of(world):
    """Rows with missing values and complete ones, and classes of low rank; some have more factors than columns."""
    k = min(3, world.d + 1)
    loading = world.rng.normal(size=(world.n_classes, world.d, k))
    noise = world.rng.uniform(0.2, 2.0, (world.n_classes, world.d))
    for X in (world.H, world.X):
        groups = Patterns.of(X)
        parts = X, groups.rows, groups.starts, groups.missing, world.origin, world.mean - world.origin, loading, noise
        yield parts, k, len(groups.missing)


def factor_cases(world):
    for parts, k, _ in factor_of(world):
        for rest in passes(world, (world.d + 1, (k + 1) * (k + 2) // 2), (world.d, k + 1), (world.d,)):
            yield *parts, *rest


def factor_scores_cases(world):
    for parts, k, n_groups in factor_of(world):
        yield *parts, np.empty((world.n_classes, N_ROWS, k)), np.empty((world.n_classes, n_groups, k * (k + 1) // 2))


def complete_cases(world):
    resp = np.ascontiguousarray(world.rng.dirichlet(np.ones(world.n_classes), N_ROWS).T)
    for n_covariances in (0, N_ROWS):
        cov = np.zeros((n_covariances, world.d, world.d))
        yield *holes_of(world), resp, world.H.astype(np.float64), cov


def draw_cases(world):
    classes = world.rng.integers(world.n_classes, size=(2, N_ROWS))
    noise = world.rng.normal(size=(2, N_ROWS, world.d))
    yield *holes_of(world), classes, noise, np.repeat(world.H.astype(np.float64)[None], 2, axis=0)


def counts_of(world):
    """Whole numbers with missing values."""
    values = np.where(np.isnan(world.H), np.nan, world.rng.poisson(3.0, world.H.shape))
    return values.astype(world.dtype)


def linear_cases(world):
    X, shape = counts_of(world), (world.n_classes, world.d)
    for base in (np.empty(0), world.rng.normal(size=N_ROWS)):
        for rest in passes(world, (), (world.d,), (world.d,)):
            yield X, world.rng.normal(size=shape), world.rng.normal(size=shape), base, *rest


def levels_cases(world):
    n_levels = tuple(int(n) for n in world.rng.integers(2, 5, world.d))
    X = np.minimum(counts_of(world), np.array(n_levels) - 1).astype(world.dtype)
    log_probability = world.rng.normal(size=(world.n_classes, sum(n_levels)))
    for rest in passes(world, (), (sum(n_levels),)):
        yield X, n_levels, log_probability, *rest


def log_factorial_cases(world):
    yield (counts_of(world),)


def features_cases(world):
    X = 1.0 / (2.0 + counts_of(world))
    for names in (("x",), ("log", "log1m"), ("x", "log")):
        yield X.astype(world.dtype), names


def row_sums_cases(world):
    yield (world.H,)


def log_choose_cases(world):
    for n in (np.array([30.0]), 30.0 + np.arange(world.d)):
        yield counts_of(world), n


def log_rising_cases(world):
    yield counts_of(world), world.rng.uniform(0.1, 20.0, (world.n_classes, world.d))


def rising_slope_cases(world):
    yield *next(log_rising_cases(world)), world.rng.uniform(0.0, 2.0, (world.n_classes, N_ROWS))


def scatter_cases(world):
    for weight in (world.weight, np.ones(N_ROWS)):
        yield world.X, world.rows, world.origin, weight


def medians_cases(world):
    shape = world.d, world.n_classes
    guide = world.mean.astype(world.dtype)
    for X in (world.X, world.H):
        for n_points in (32, 4, 0):
            grid = np.sort(3.0 + 2.0 * world.rng.normal(size=(*shape, n_points)), axis=2)
            if n_points:
                grid[0, 0] = np.sort(X[~np.isnan(X[:, 0]), 0][:n_points])  # cells that lie on points
                grid[-1, -1] = grid[-1, -1, 0]  # points that are all the same
            labels, bins = np.full(N_ROWS, -1, np.int32), np.full((*shape, n_points + 1, 2), 0.5)
            yield X, world.weight, guide, world.mean + 0.1, grid, labels, np.full(world.n_classes, 0.5), bins


def soft_cases(world):
    shape = world.n_classes, world.d
    for X in (world.X, world.H):
        for stiffness in (1e-3, 0.7, 1e4):
            for n in (0, N_ROWS):
                out = np.empty((n, world.n_classes)), np.empty(n)
                sums = [np.full(size, 0.5) for size in (world.n_classes, shape, shape)]
                yield X, world.weight, world.origin, world.mean - world.origin, stiffness, *out, *sums


def lloyd_cases(world):
    """A first pass without bounds, and one that starts from the labels and sums of other centres."""
    origin, weight, rows = world.origin.astype(world.dtype), world.weight, world.rows
    starts, shape = np.array([0, world.n_classes]), (world.n_classes, world.d)
    none = np.zeros(0, np.float32)
    state = [
        np.full(len(rows), -1, np.int32),
        none,
        none[:, None],
        False,
        np.zeros(shape[0]),
        np.zeros(shape),
        np.zeros(3),
    ]
    zero, anchor = np.zeros(world.n_classes, np.float32), world.rng.normal(size=shape)
    for center in (world.rng.normal(size=shape), 1.5 * world.rng.normal(size=shape)):
        center = center.astype(world.dtype)
        yield world.X, rows, weight, origin, center, anchor, zero, zero, starts, *copy.deepcopy(state)
        reference_of("lloyd")(world.X, rows, weight, origin, center, anchor, zero, zero, starts, *state)


def lloyd_cells_cases(world):
    rows, shape = world.patterns.incomplete.rows, (world.n_classes, world.d)
    center = (world.mean - world.origin).astype(world.dtype)
    sums = np.full(shape[0], 0.5), np.full(shape, 0.5), np.full(shape, 0.5)
    yield world.H, rows, world.weight, world.origin.astype(world.dtype), center, np.zeros(len(rows), np.int32), *sums


def distances_cases(world):
    for X in (world.X, world.H):
        for power in (1, 2):
            yield X, world.mean.astype(world.dtype), power, np.empty((N_ROWS, world.n_classes))


def square_gaps_cases(world):
    yield world.X, np.ascontiguousarray(world.mean.T), np.empty((N_ROWS, world.n_classes))


def decay_cases(world):
    yield world.rng.exponential(size=(40, 30)) * 10.0 ** world.rng.integers(-3, 3, (40, 30)), 0.5, np.empty((40, 30))


def weigh_gaps_cases(world):
    weights = world.rng.normal(size=(N_ROWS, world.n_classes))
    yield weights, world.X, np.ascontiguousarray(world.mean.T), np.full(world.d, 0.5)


def misfit_cases(world):
    for X in (world.X, world.H):
        for power in (1, 2):
            labels = world.rng.integers(world.n_classes, size=N_ROWS)
            yield X, world.weight, world.mean, labels, power, np.empty(N_ROWS)


def column_sums_cases(world):
    for X in (world.X, world.H):
        yield X, world.weight, world.origin.astype(world.dtype), *np.full((3, world.d), 0.5)


def row_order_cases(world):
    for digits in (0, 3):
        yield (world.X.round(digits),)


def square_lengths_cases(world):
    yield (world.X,)


def about_means_cases(world):
    for X in (world.X, world.H):
        yield X, world.origin


def means_cases(world):
    """Complete rows and rows with missing cells, at every first pass of every algorithm."""
    centers = Centers(world.mean, world.origin)
    for X in (world.X, world.H):
        for algorithm in ("auto", "lloyd", "hamerly", "elkan"):
            yield X, Patterns.of(X), world.weight, centers, algorithm, {}


def parts_world(world):
    """Rows that are not negative, complete and with missing cells, with scores, parts and weights of columns."""
    rng = np.random.default_rng(0)
    k, d = len(world.mean), world.X.shape[1]
    for X in (np.abs(world.X), np.abs(world.H)):
        scores, parts = rng.random((len(X), k)), rng.random((k, d))
        scores[:, 0] *= (rng.random(len(X)) < 0.5) | (k == 1)
        yield X, Patterns.of(X), world.weight, scores, parts, rng.uniform(0.5, 2.0, d)


def least_squares_cases(world):
    """Sweeps, penalties, multiplicative steps, and none."""
    for penalty, inner in (((0.0, 0.0), (3, 0.0, False)), ((0.1, 0.2), (1, 0.0, True)), ((0.1, 0.2), (0, 0.0, False))):
        for given in parts_world(world):
            yield *given, penalty, inner, {}


def divergence_cases(world):
    """Divergences of every kind, with steps and without."""
    for beta, steps in ((1.0, 2), (0.0, 1), (0.5, 1), (2.0, 0), (3.0, 1)):
        for given in parts_world(world):
            yield *given, beta, (0.1, 0.2), steps, {}


def documents(world):
    """Counts of words, α and topics β."""
    X = np.where(world.rng.random(world.X.shape) < 0.5, 0.0, np.ceil(np.abs(world.X))).astype(world.dtype)
    return (
        X,
        world.rng.uniform(0.1, 1.0, world.n_classes),
        world.rng.dirichlet(np.ones(world.d), world.n_classes).T.copy(),
    )


def variational_cases(world):
    X, alpha, beta = documents(world)
    for counts in (np.zeros_like(beta), np.zeros((0, world.n_classes))):
        yield X, {}, world.weight, np.ones((len(X), world.n_classes)), beta + 1e-3, alpha, 4, 0.0, counts


def collapsed_cases(world):
    X, alpha, beta = documents(world)
    for first in (0.0, 2.0):
        counts = np.full((len(X), world.n_classes), first, np.float32)
        yield X, {}, world.weight, None, counts, 100.0 * beta + 3.0, alpha, np.zeros_like(beta)


def fold_in_cases(world):
    X, alpha, beta = documents(world)
    for out in (np.zeros_like(beta), np.zeros((0, world.n_classes))):
        yield X, {}, world.weight, beta + 1e-3, alpha, 4, 0.0, out


def topic_assignments_cases(world):
    X, _, beta = documents(world)
    yield X, {}, world.rng.dirichlet(np.ones(world.n_classes), len(X)), beta + 1e-3


def chains(world):
    """Sequences of all lengths, one and several matrices, states that cannot be left, and that lose against all others."""
    rng, k = world.rng, world.n_classes
    none = np.zeros(0, np.int64)
    for lengths, spread, sticky, n_moves in (
        ([1, 40, 3, 17, 2], 3.0, 0.0, 1), ([60, 1, 30], 3.0, 0.0, 4), ([80, 20], 300.0, 0.0, 1),
        *(((2300, 5, 1, 900), 2.0, 0.0, 1), ([3000], 0.01, 0.995, 1), ([40] * 60, 200.0, 0.0, 1)) * (world.d == 3),
    ):  # fmt: skip
        offsets, n = np.append(0, np.cumsum(lengths)), sum(lengths)
        start = rng.dirichlet(np.ones(k))
        move = sticky * np.eye(k) + (1 - sticky) * rng.dirichlet(np.ones(k), (n_moves, k))
        which = rng.integers(n_moves, size=n) if n_moves > 1 else none
        labels = np.where(rng.random(n) < 0.1, rng.integers(k, size=n), -1)
        weight = np.repeat(rng.choice([0.0, 0.5, 2.0], len(lengths), p=[0.1, 0.3, 0.6]), lengths)
        for ahead in (move, np.triu(move)):  # states that are never entered again
            ahead = ahead / ahead.sum(axis=2, keepdims=True)
            known = labels if ahead is move else np.full(n, -1)
            yield spread * rng.normal(size=(k, n)) - 5.0, offsets, weight, known, start, ahead, which


def smooth_cases(world):
    for joint, offsets, weight, labels, start, move, which in chains(world):
        sums = np.full(len(start), 0.5), np.full(move.shape, 0.5), np.empty(len(offsets) - 1)
        yield joint, offsets, weight, labels, start, move, which, *sums


def filter_states_cases(world):
    for joint, offsets, _, labels, start, move, which in chains(world):
        yield joint, offsets, labels, start, move, which, np.empty(joint.shape[1])


def weigh_sequences_cases(world):
    for joint, offsets, _, labels, start, move, which in chains(world):
        yield joint, offsets, labels, start, move, which, np.empty(len(offsets) - 1)


def decode_cases(world):
    for joint, offsets, _, labels, start, move, which in chains(world):
        logs = np.log(start), np.log(np.maximum(move, 1e-300))
        yield joint, offsets, labels, *logs, which, np.zeros(joint.shape[1], np.int64), np.empty(len(offsets) - 1)
    if world.d == 3:  # side by side, of any lengths, with many equal paths
        rng, k = world.rng, world.n_classes
        lengths = rng.integers(1, 60, 25)
        n, unknown, none = lengths.sum(), np.full(lengths.sum(), -1), np.zeros(0, np.int64)
        logs = np.zeros(k), -rng.integers(0, 3, (1, k, k)).astype(float)
        joint, offsets = -rng.integers(0, 3, (k, n)).astype(float), np.append(0, np.cumsum(lengths))
        yield joint, offsets, unknown, *logs, none, np.zeros(n, np.int64), np.empty(len(lengths))


def draw_states_cases(world):
    for joint, offsets, _, _, _, move, which in chains(world):
        n = joint.shape[1]
        share = world.rng.dirichlet(np.ones(len(joint)), n).T.copy()
        yield share, offsets, move, which, world.rng.random(n), np.zeros(n, np.int64)


def symbol_sequences(world):
    """Sequences of symbols under chains of orders 0 to 3, some of them with missing symbols in runs and at both ends."""
    rng, k = world.rng, world.n_classes
    for order, n_symbols, lengths, missing in (
        (0, 3, [1, 9], 0.3), (1, 4, [30, 1, 5, 2], 0.0), (1, 3, [40, 1, 6], 0.4), (2, 3, [25, 2, 1, 30], 0.3),
        (3, 2, [30, 4], 0.3),
    ):  # fmt: skip
        offsets = np.append(0, np.cumsum(lengths))
        codes = np.where(rng.random(sum(lengths)) < missing, -1, rng.integers(n_symbols, size=sum(lengths))).astype(
            np.int32
        )
        table = (
            rng.dirichlet(np.ones(n_symbols), ((n_symbols + 1) ** order, k)).transpose(0, 2, 1).reshape(-1, k).copy()
        )
        yield codes, offsets, order, n_symbols, table, rng.choice([0.0, 0.5, 2.0], (len(lengths), k))


def count_moves_cases(world):
    for codes, offsets, order, n_symbols, table, weight in symbol_sequences(world):
        yield codes.astype(np.int64) + 5, 5, offsets, weight, order, n_symbols, np.full_like(table, 0.5)
        yield codes, 0, offsets, weight[:, :1].copy(), order, n_symbols, np.zeros((len(table), 1))


def score_moves_cases(world):
    for codes, offsets, order, n_symbols, table, weight in symbol_sequences(world):
        yield codes, offsets, order, n_symbols, np.log(table), np.full_like(weight, 0.5)


def hidden_moves_cases(world):
    for codes, offsets, order, n_symbols, table, weight in symbol_sequences(world):
        for counts in (np.full_like(table, 0.5), np.zeros((0, table.shape[1]))):
            yield codes, offsets, order, n_symbols, table, weight, counts, np.full_like(weight, 0.5)


def tagged(world, n_many):
    """Steps with attributes in two kinds, labels of some steps, allowed moves."""
    rng, k, lengths = world.rng, world.n_classes, [4, 1, 3, 5]
    offsets, n_few = np.append(0, np.cumsum(lengths)), 6
    n, cells = offsets[-1], []
    for _ in range(n):
        cells.append(np.sort(rng.choice(n_many + n_few, rng.integers(0, 5), replace=False)))
    indptr = np.append(0, np.cumsum([len(each) for each in cells]))
    own = [np.flatnonzero(rng.random(k) < 0.6) for _ in range(n_few)]
    pointer = np.append(0, np.cumsum([len(each) for each in own])).astype(np.uint32)
    data, indices = rng.normal(size=indptr[-1]), np.concatenate(cells).astype(np.uint32)
    return SimpleNamespace(
        steps=(data, indices, indptr), pointer=pointer, label=np.concatenate(own).astype(np.uint32), offsets=offsets,
        table=rng.normal(size=(n_many, k + 1)), labels=np.where(rng.random(n) < 0.3, -1, rng.integers(k, size=n)),
        weight=rng.choice([0.5, 1.0, 2.0], len(lengths)), exists=rng.random(k * k) < 0.8,
        w=rng.normal(size=pointer[-1]), moves=rng.normal(size=k * k),
    )  # fmt: skip


def label_scores_cases(world):
    for n_many in (0, 3):
        given = tagged(world, n_many)
        yield (
            *given.steps,
            given.table,
            given.pointer,
            given.label,
            given.w,
            np.empty((world.n_classes, given.offsets[-1])),
        )


def label_slopes_cases(world):
    for n_many in (0, 3):
        given = tagged(world, n_many)
        residual = world.rng.normal(size=(world.n_classes, given.offsets[-1]))
        yield *given.steps, given.pointer, given.label, residual, given.table, given.w


def passes_over_tags(world):
    """What passes over sequences are told, every label allowed and not."""
    k = world.n_classes
    if k > 4:  # the reference goes through all labellings
        return
    for banned in (False, True):
        given = tagged(world, 0)
        start, allowed, end = np.ones(k), np.ones((k, k)), np.zeros(k)
        if banned and k > 2:
            start[1], allowed[0, 2], end[0] = 0.0, 0.0, -np.inf
            given.labels[:] = -1
            given.labels[given.offsets[:-1]] = 2
        w = np.append(given.w, given.moves * given.exists)
        told = (given.offsets, given.labels, given.weight, given.pointer, given.label, k, given.exists)
        yield np.array([2, 0, 3, 1]), *given.steps, *told, start, allowed, end, w


def gradient_pass_cases(world):
    for *told, w in passes_over_tags(world):
        yield *told, np.array([0.05, 20.0, 0.0]), w


def mistake_pass_cases(world):
    for *told, start, allowed, end, w in passes_over_tags(world):
        with np.errstate(divide="ignore"):
            logs = np.log(start), np.log(allowed), end
        for rule, kind in ((0, 0), (1, 0), (1, 1), (1, 2), (2, 0)):
            yield *told, *logs, rule, np.array([1.0, kind, 0.7, kind != 1]), w.copy(), np.ones_like(w)


def junction_of(world, **how):
    """Seven variables, tables over some of them, and rows that observe others each."""
    cards = world.rng.integers(1, 4, 7)
    scopes = [(0,), (1, 0), (2, 0, 1), (3, 1), (4, 2, 3), (5, 4), (6, 0)]
    factors, base = [], 0
    for scope in scopes:
        factors.append(Factor(scope, strides(cards[list(scope)]), base))
        base += int(np.prod(cards[list(scope)]))
    soft = [Factor((5, 6), strides(cards[[5, 6]]), 0, True)]
    targets = [Factor((v,), (1,), int(cards[:v].sum())) for v in range(7)]
    targets.append(Factor((2, 4), strides(cards[[2, 4]]), int(cards.sum())))
    theta, softs = world.rng.random(base), world.rng.random((30, int(cards[5] * cards[6])))
    codes = np.where(world.rng.random((30, 7)) < 0.4, world.rng.integers(0, cards, (30, 7)), -1).astype(np.int32)
    codes[:, 3] = world.rng.integers(0, cards[3], 30)
    schedule = compile_schedule(cards, [*factors, *soft], targets, observed=[3], **how).schedule
    return schedule, codes, theta, softs, int(cards.sum() + cards[2] * cards[4])


def propagate_cases(world):
    for heuristic in ("best", "min-weight"):
        schedule, codes, theta, softs, cells = junction_of(world, heuristic=heuristic)
        rows, weight = world.rng.permutation(30)[:25], world.weight[:30]
        for marginals, counts in ((np.zeros((30, cells)), np.full(cells, 0.5)), (np.empty((0, 0)), np.empty(0))):
            yield schedule, new_plan(schedule), codes, rows, theta, softs, weight, np.zeros(30), marginals, counts


def tally_cases(world):
    for last in (False, True):
        for weight in (world.weight, np.empty(0)):
            codes, cell = (
                world.rng.integers(0, 4, N_ROWS).astype(np.int16),
                world.rng.integers(0, 3, N_ROWS).astype(np.int32),
            )
            yield codes, 3, cell, last, weight, np.full(12, 0.5)


def maximise_cases(world):
    for late in (range(7), (1, 4, 6)):
        schedule, codes, theta, softs, _ = junction_of(world, maximised=late, merge=False)
        states = np.full((30, 7), -1, np.int32)
        yield schedule, new_plan(schedule), codes, np.arange(30), theta, softs, np.zeros(30), states


def coded_columns(world):
    """Columns of 2 to 4 states with missing cells, and their numbers of states."""
    sizes = world.rng.integers(2, 5, world.d + 2)
    columns = np.minimum(world.rng.integers(5, size=(len(sizes), N_ROWS)), sizes[:, None])
    return np.where(world.rng.random(columns.shape) < 0.6, columns, 0).astype(np.uint16), sizes


def pack_cases(world):
    columns, sizes = coded_columns(world)
    for kind in (np.int64, np.int32):
        yield columns[0].astype(kind), int(sizes[0]), columns[1], int(sizes[1]), np.empty(N_ROWS, kind)


def families_of(world):
    """A child of two parents, one parent and none: base, number of its cells, states, configurations."""
    columns, sizes = coded_columns(world)
    base, n_base = columns[0].astype(np.int32), int(sizes[0])
    yield base, n_base, n_base, 1.0, columns, sizes
    out = np.empty(N_ROWS, np.int32)
    reference_of("pack")(columns[1].astype(np.int32), int(sizes[1]), columns[0], int(sizes[0]), out)
    yield out, int(sizes[1] * sizes[0]), int(sizes[0]), float(sizes[1]), columns, sizes


def family_scores_cases(world):
    for *family, columns, sizes in families_of(world):
        candidates = np.arange(2, len(sizes))
        for rule in ((False, 0.0), (False, 1.0), (False, -1.0), (True, 10.0), (True, -1.0)):
            yield *family, columns, sizes, candidates, *rule, np.empty((len(candidates), 3))


def independence_cases(world):
    for base, n_base, n_states, _, columns, sizes in families_of(world):
        for pearson in (False, True):
            yield base, n_base, n_states, columns[2], int(sizes[2]), pearson, np.empty(2)


def networks(world):
    """Arcs of a grid and of a random graph, costs of labels and distances."""
    n = world.d + 3
    pairs = np.argwhere(np.triu(world.rng.random((n, n)) < 0.4, 1))
    for arcs in (Arcs.grid((world.d + 1, 3), 4), Arcs.grid((2, world.d + 1), 8), Arcs.of(n, pairs)):
        n_labels = world.n_classes + 1
        weight = world.rng.normal(size=len(arcs.edges))
        distance = world.rng.normal(size=(n_labels, n_labels))
        yield arcs, weight, world.rng.normal(size=(arcs.n, n_labels)), distance + distance.T


def shrunken_step_cases(world):
    A = world.X[:30].astype(np.float64) - 3.0
    A = A.T @ A + np.eye(world.d)
    g = 9.0 * world.rng.normal(size=world.d)
    yield A, g, np.zeros(world.d), np.full(world.d, 4.0)
    yield A, g, world.rng.normal(size=world.d), np.zeros(world.d)


def mistakes_of(world):
    """Rows, their signs, and steps, of which some are 0."""
    cells = csr_array(np.where(world.X > 2.5, world.X - 3.0, 0.0)[:60].astype(np.float64))
    sign = np.where(world.rng.random(60) < 0.5, 1.0, -1.0)
    return (
        world.rng.permutation(60),
        cells,
        sign,
        np.where(world.labels[:60] == 0, 0.0, world.rng.uniform(0.5, 2.0, 60)),
    )


def primal_pass_cases(world):
    order, cells, sign, step = mistakes_of(world)
    for shrink, truncate, constant, average in (
        (0.0, 0.0, 1.0, True),
        (0.01, 0.0, 0.0, False),
        (0.0, 0.02, 1.0, False),
    ):
        w, total, spent = 0.1 * world.rng.normal(size=world.d + 1), np.zeros(world.d + 1), np.zeros(world.d + 1)
        parts = cells.data, cells.indices, cells.indptr, sign, step, shrink, truncate, constant, average
        yield order, *parts, w, total, spent, np.array([1.0, 0.0])


def dual_pass_cases(world):
    order, cells, sign, step = mistakes_of(world)
    K = (cells @ cells.T).toarray()
    for constant, average in ((1.0, True), (0.0, False)):
        score = 0.1 * world.rng.normal(size=60)
        yield order, K, sign, step, constant, average, np.zeros(61), np.zeros(61), score, np.array([1.0, 0.0])


def flipped_of(world, n):
    """Features of n rows in a multiple of four, and their squared lengths."""
    padded = np.zeros((-(-world.d // 4) * 4, n), world.dtype)
    padded[: world.d] = (world.X[:n].T - 3.0) / np.sqrt(world.d)
    return padded, (padded.astype(np.float64) ** 2).sum(axis=0)


SETTINGS = ((0, (0.0, 0.0, 0.0)), (1, (0.5, 1.0, 3.0)), (2, (0.7, 0.0, 0.0)), (3, (0.2, 0.1, 0.0)))


def all_rows_cases(world):
    flipped, squares = flipped_of(world, 37)
    for kind, settings in SETTINGS:
        yield flipped, squares.astype(world.dtype), kind, settings, np.zeros((37, 37), world.dtype)


def expansion_cases(world):
    flipped, squares = flipped_of(world, 41)
    centers = np.ascontiguousarray(flipped.T[:6])
    for kind, settings in SETTINGS:
        weights = world.rng.normal(size=6)
        yield (
            flipped, squares.astype(world.dtype), centers, squares[:6].astype(world.dtype), weights, kind, settings,
            np.zeros(41),
        )  # fmt: skip


def max_flow_cases(world):
    for arcs, weight, unary, _ in networks(world):
        graph, there, back, places, n = arcs._flow
        size = n << graph[4] if arcs.shape is not None else 2 * len(arcs.edges)
        for whole in (False, True):
            capacity, terminal = np.zeros(size), np.zeros(n)
            scale = np.round if whole else np.asarray
            capacity[there], capacity[back] = scale(3 * np.abs(weight)), scale(2 * np.maximum(weight, 0.0))
            terminal[places] = scale(4 * unary[:, 0])
            yield *graph, capacity, terminal, np.zeros(n, np.int8)


def passes_of(world):
    for arcs, weight, unary, distance in networks(world):
        first, heads, sisters, edge = arcs.rows
        labels = world.rng.integers(unary.shape[1], size=arcs.n).astype(np.int32)
        yield (first, heads, weight[edge], unary, distance), sisters, labels


def conditional_modes_cases(world):
    for network, _, labels in passes_of(world):
        yield *network, labels


def gibbs_sweep_cases(world):
    for network, _, labels in passes_of(world):
        yield *network, 1.5, world.rng.random(len(labels)), labels


def mean_field_sweep_cases(world):
    for network, _, labels in passes_of(world):
        yield *network, world.rng.dirichlet(np.ones(network[3].shape[1]), len(labels))


def max_product_sweep_cases(world):
    for (first, heads, *rest), sisters, _ in passes_of(world):
        messages = world.rng.random((len(heads), rest[1].shape[1]))
        for backward in (False, True):
            yield first, heads, sisters, *rest, 0.3, backward, messages.copy()


def bin_cells_cases(world):
    n_levels = np.where(np.arange(world.d) % 3 == 2, 4, 0)
    cuts = [np.empty(0) if n else np.unique(world.rng.normal(3.0, 1.0, world.rng.integers(0, 40))) for n in n_levels]
    starts = np.concatenate([[0], np.cumsum([len(each) for each in cuts])])
    H = np.where(n_levels, np.floor(world.H), world.H).astype(world.dtype)
    H[:20] = np.round(H[:20], 1)
    room = np.zeros((N_ROWS, 8 * -(-world.d // 8)), np.uint8), np.zeros((world.d, N_ROWS), np.uint8)
    yield H, np.concatenate([*cuts, np.round(world.X[:5, 0], 1)]), starts, n_levels, 50, *room


def slopes_cases(world):
    y, raw = world.X[:, 0].astype(float), world.X[:, -1] - 0.5
    y[:9] = raw[:9]
    for kind in range(7):
        for weight in (np.empty(0), world.weight):
            yield kind, 0.3, y, raw, weight, np.empty(N_ROWS), np.empty(N_ROWS)


def histogram_cases(world):
    codes = world.rng.integers(0, 30, (N_ROWS, 8 * -(-world.d // 8))).astype(np.uint8)
    codes[:, world.d :] = 0
    g, h = world.rng.integers(-(2**28), 2**28, N_ROWS), world.rng.integers(0, 2**28, N_ROWS)
    told = (2**17 * g + 1)[:, None], np.stack([g, 2**17 * h + 1], axis=1), np.stack([g, h, np.ones_like(g)], axis=1)
    for gradients in told:
        rows = world.rng.permutation(N_ROWS).astype(np.uint32)
        packed = np.zeros((codes.shape[1] // 8, 8, 256, gradients.shape[1]), np.int64)
        yield codes.view(np.uint64), gradients, rows, 3, N_ROWS - 4, packed, np.ones((world.d, 31, 3), np.int64)


CASES = {
    "bin_cells": bin_cells_cases,
    "slopes": slopes_cases,
    "histogram": histogram_cases,
    "label_scores": label_scores_cases,
    "label_slopes": label_slopes_cases,
    "gradient_pass": gradient_pass_cases,
    "mistake_pass": mistake_pass_cases,
    "max_flow": max_flow_cases,
    "conditional_modes": conditional_modes_cases,
    "gibbs_sweep": gibbs_sweep_cases,
    "mean_field_sweep": mean_field_sweep_cases,
    "max_product_sweep": max_product_sweep_cases,
    "pack": pack_cases,
    "family_scores": family_scores_cases,
    "independence": independence_cases,
    "count_moves": count_moves_cases,
    "score_moves": score_moves_cases,
    "hidden_moves": hidden_moves_cases,
    "smooth": smooth_cases,
    "filter_states": filter_states_cases,
    "weigh_sequences": weigh_sequences_cases,
    "decode": decode_cases,
    "draw_states": draw_states_cases,
    "least_squares": least_squares_cases,
    "divergence": divergence_cases,
    "variational": variational_cases,
    "collapsed": collapsed_cases,
    "fold_in": fold_in_cases,
    "topic_assignments": topic_assignments_cases,
    "row_order": row_order_cases,
    "square_lengths": square_lengths_cases,
    "about_means": about_means_cases,
    "means": means_cases,
    "nearest": means_cases,
    "lloyd": lloyd_cases,
    "lloyd_cells": lloyd_cells_cases,
    "distances": distances_cases,
    "square_gaps": square_gaps_cases,
    "decay": decay_cases,
    "weigh_gaps": weigh_gaps_cases,
    "misfit": misfit_cases,
    "column_sums": column_sums_cases,
    "medians": medians_cases,
    "soft": soft_cases,
    "linear": linear_cases,
    "levels": levels_cases,
    "log_factorial": log_factorial_cases,
    "features": features_cases,
    "row_sums": row_sums_cases,
    "log_choose": log_choose_cases,
    "log_rising": log_rising_cases,
    "rising_slope": rising_slope_cases,
    "scatter": scatter_cases,
    "normalise": normalise_cases,
    "softmax": softmax_cases,
    "full": full_cases,
    "tied": tied_cases,
    "diag": diag_cases,
    "conditional": conditional_cases,
    "complete": complete_cases,
    "maximise": maximise_cases,
    "propagate": propagate_cases,
    "draw": draw_cases,
    "factor": factor_cases,
    "factor_scores": factor_scores_cases,
    "student": student_cases,
    "tally": tally_cases,
    "shrunken_step": shrunken_step_cases,
    "primal_pass": primal_pass_cases,
    "dual_pass": dual_pass_cases,
    "all_rows": all_rows_cases,
    "expansion": expansion_cases,
    "student_conditional": student_conditional_cases,
}


def agree(actual, expected, rtol, what):
    scale = max(1.0, np.nanmax(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=rtol * scale, err_msg=what)


SHAPES = {
    "float64": [(d, n_classes) for d in (1, 3, 8, 20, 33, 50) for n_classes in (1, 2, 5)],
    "float32": [(1, 2), (3, 5), (8, 1), (20, 2), (33, 5), (50, 1)],
}


@pytest.mark.parametrize(
    ("dtype", "d", "n_classes"),
    [
        pytest.param(dtype, *shape, marks=() if shape in SHAPES["float32"] else pytest.mark.full)
        for dtype in SHAPES
        for shape in SHAPES[dtype]
    ],
)
@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_equals_its_reference(name, dtype, d, n_classes):
    exact = (
        dtype == "float64" or KERNELS[name] in ("conditional", "imputation", "factor") or name == "student_conditional"
    )
    rtol = 1e-10 if exact and name != "collapsed" else 5e-5  # which is in single precision for all rows
    for number, arguments in enumerate(CASES[name](make_world(dtype, d, n_classes))):
        copies = copy.deepcopy(arguments)
        result, expected = kernel(name)(*arguments), reference_of(name)(*copies)
        assert (result is None) == (expected is None)
        if result is not None:
            pairs = zip(result, expected, strict=True) if isinstance(result, tuple) else [(result, expected)]
            for actual, wanted in pairs:
                agree(actual, wanted, rtol, f"case {number}: what {name} returns")
        for place, (array, other) in enumerate(zip(arguments, copies)):
            if isinstance(array, np.ndarray):
                agree(array, other, rtol, f"case {number}: argument {place} of {name}")


def sparse_rows(world, absent):
    """Rows of which half the cells are not stored, and of some none, and the same as an array."""
    stored = (world.X > 3.0) & (np.arange(N_ROWS) > 4)[:, None]
    matrix = csr_array(np.where(stored, world.X, 0.0).astype(world.dtype))
    return SparseRows.of(matrix, absent), np.where(stored, world.X, 0.0 if absent == "zero" else np.nan)


def sparse_cases(name, world):
    """Arguments after X of the kernels that sparse rows have, for the same rows as an array, and what absent cells are."""
    counts = np.zeros(world.n_classes), *np.zeros((2, world.n_classes, world.d))
    params = world.mean / 9.0, -world.mean, np.empty(0)
    centers = Centers(world.mean, np.zeros(world.d))
    if name in ("row_order", "square_lengths", "log_factorial"):
        yield "zero", ()
    elif name in ("means", "nearest"):
        yield "zero", (Patterns.whole(N_ROWS, world.d), world.weight, centers, "lloyd", {})
    elif name == "column_sums":
        yield "zero", (world.weight, world.origin.astype(world.dtype), *np.zeros((3, world.d)))
    elif name == "distances":
        for power in (1, 2):
            yield "zero", (world.mean, power, np.empty((N_ROWS, world.n_classes)))
    elif name == "misfit":
        yield "zero", (world.weight, world.mean, np.arange(N_ROWS) % world.n_classes, 2, np.empty(N_ROWS))
    elif name == "linear":
        for absent in ("zero", "missing"):
            for mode in (SCORE, MOMENTS, EXPECT):
                out = world.rng.random((world.n_classes, N_ROWS))
                yield absent, (*params, mode, world.log_weight, world.weight, world.labels, out, *counts)
    elif name in ("factor", "factor_scores"):
        for arguments in CASES[name](world):
            yield "missing", arguments[4:]
    elif name == "softmax":
        for arguments in CASES[name](world):
            yield "zero", arguments[1:]


SPARSE = ("row_order", "square_lengths", "log_factorial", "means", "nearest", "column_sums", "distances", "misfit", "linear",
          "factor", "factor_scores", "softmax")  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", SPARSE)
def test_every_kernel_of_sparse_rows_equals_that_of_the_array(name, dtype):
    world = make_world(dtype, 8, 3)
    n_cases = 0
    for absent, arguments in sparse_cases(name, world):
        rows, X = sparse_rows(world, absent)
        patterns = Patterns.of(X)
        groups, own = (), ()
        if name.startswith("factor"):
            groups, own = (patterns.rows, patterns.starts, patterns.missing), (None, None, None)
        there, here = copy.deepcopy(arguments), copy.deepcopy(arguments)
        if name == "factor_scores":  # the inverse of every row instead of every pattern
            there = (*there[:-1], np.empty((*there[-2].shape[:2], there[-1].shape[2])))
            here = (*here[:-1], np.empty((there[-1].shape[0], len(patterns.missing), there[-1].shape[2])))
        found, expected = kernel(name, "sparse")(rows, *own, *there), kernel(name)(X, *groups, *here)
        pairs = zip(found, expected) if isinstance(found, tuple) else [] if found is None else [(found, expected)]
        for actual, wanted in pairs:
            agree(np.broadcast_to(actual, np.shape(wanted)), wanted, 1e-10 if dtype == "float64" else 5e-5, name)
        for place, (actual, wanted) in enumerate(zip(there, here)):
            if name == "factor_scores" and place == len(there) - 1:
                wanted = wanted[:, groups_of(patterns)]
            if isinstance(actual, np.ndarray):
                agree(actual, wanted, 1e-10 if dtype == "float64" else 5e-5, f"argument {place} of {name}")
        n_cases += 1
    assert n_cases


def test_a_kernel_that_sparse_rows_have_not_is_refused_with_a_remedy():
    with pytest.raises(TypeError, match="there is no full of sparse rows; give X as an ordinary array"):
        kernel("full", "sparse")


def test_exp_is_numpys_where_it_matters_and_zero_far_below():
    x = np.concatenate([np.linspace(-700.0, 0.0, 5001), -np.geomspace(1e-12, 1.0, 200)])
    np.testing.assert_allclose([exp(value) for value in x], np.exp(x), rtol=1e-15, atol=0.0)
    assert [exp(value) for value in (-708.0001, -745.0, -1e5, -1e300, -np.inf)] == [0.0] * 5


def test_log1p_is_numpys_to_the_last_digits():
    x = np.concatenate([[0.0, 1e300], np.geomspace(1e-300, 1e18, 5001), np.linspace(0.0, 10.0, 5001)])
    np.testing.assert_allclose([log1p(value) for value in x], np.log1p(x), rtol=1e-15, atol=0.0)


@pytest.mark.parametrize("on", ["cpu", "torch"])
def test_rising_factorials_and_their_slopes_keep_their_digits_at_every_size(on):
    """Γ(x + a) / Γ(a) of whole x is a product of x terms, and the slope of its log a sum of their inverses."""
    library = np if on == "cpu" else pytest.importorskip("torch")
    for a in 10.0 ** np.linspace(-3, 12, 61):
        for x in (0, 1, 2, 3, 7, 30, 1000):
            terms, cell = [a + i for i in range(x)], library.asarray([[float(x)]], dtype=library.float64)
            log_rise = float(kernel("log_rising", on)(cell, np.array([[a]]))[0, 0])
            slope = float(kernel("rising_slope", on)(cell, np.array([[a]]), np.ones((1, 1)))[0, 0])
            size = math.fsum(abs(math.log(each)) for each in terms)  # terms below 1 may cancel those above
            assert abs(log_rise - math.fsum(map(math.log, terms))) <= 1e-14 * size
            assert abs(slope - math.fsum(1 / each for each in terms)) <= 2e-14 * abs(slope)


@pytest.mark.parametrize("n_classes", [1, 4])
@pytest.mark.parametrize("d", [1, 7, 8, 9, 33, 50])
def test_strips_hold_the_triangles_and_little_else(d, n_classes):
    triangles = np.triu(np.random.default_rng(0).normal(size=(n_classes, d, d)))
    width = strip_width(d)
    flat = pack_strips(triangles, width)
    np.testing.assert_array_equal(unpack_strips(flat, n_classes, d, width), triangles)
    assert flat.size <= n_classes * d * (d + width) / 2


def test_an_unknown_kernel_is_named_with_those_there_are():
    with pytest.raises(
        KeyError, match=r"no kernel is called 'fulll'; there are .*complete, conditional, .*tied, .*variational, .*\."
    ):
        kernel("fulll")


USE_A_KERNEL = """
import logging
logging.basicConfig(level=logging.INFO)
import numpy as np
from tacit.kernels import kernel
from tacit.kernels.jit import cache_folder
joint, evidence = np.zeros((2, 3)), np.empty(3)
print(cache_folder("mixture"), kernel("normalise")(joint, np.log([0.5, 0.5]), np.ones(3), np.full(3, -1), evidence), joint.sum())
"""


def test_kernels_work_where_no_cache_can_be_written():
    nowhere = {"HOME": "/proc/nowhere", "XDG_CACHE_HOME": "/proc/nowhere/cache"}
    env = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"} | nowhere
    done = subprocess.run([sys.executable, "-c", USE_A_KERNEL], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["None", "0.0", "3.0"]
    assert done.stderr.count("compiling kernels, once per machine: some seconds each; kept in memory") == 1


def test_a_user_without_a_home_has_no_cache_but_no_error(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    cache_folder.cache_clear()
    assert cache_folder("mixture") is None
    cache_folder.cache_clear()


def test_compiled_kernels_are_kept_apart_whenever_a_source_changes_that_they_use(tmp_path, monkeypatch):
    sources = tmp_path / "kernels"
    shutil.copytree(Path(tacit.kernels.__file__).parent, sources, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))

    def folder(name):
        spec = importlib.util.spec_from_file_location("copied_jit", sources / "jit.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.cache_folder(name)

    assert Path(folder("runs")).is_dir()
    for changed, used in [("runs", True), ("mixture", True), ("jit", True), ("__init__", True), ("growth", False)]:
        before = folder("runs")
        assert folder("runs") == before
        path = sources / f"{changed}.py"
        path.write_text(path.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
        assert (folder("runs") != before) is used, changed
    for path in sources.glob("*.py"):  # every way to import a helper is seen
        text = path.read_text(encoding="utf-8")
        assert "import tacit.kernels" not in text
        assert "from tacit.kernels" not in text
