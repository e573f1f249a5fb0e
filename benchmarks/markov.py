"""MarkovChain against NumPy's counting: whole fits from whole numbers, encoding included, and the same counts."""

from functools import partial

import numpy as np

from .harness import Job


def make(n, n_symbols, low):
    """One sequence of symbols from `low` on, which stay with probability 1/2."""
    rng = np.random.default_rng(0)
    change = np.where(rng.random(n) < 0.5, 0, rng.integers(n_symbols, size=n))
    return np.cumsum(change) % n_symbols + low


def _ours(order, x):
    from tacit.sequence import MarkovChain

    fitted = MarkovChain(order).fit(x)
    level = fitted.contexts_.levels[-1]
    return float(level.counts.sum()), np.sort(level.counts)


def _cells(order, x):
    """The number of the context and symbol of each step, with a symbol before the first."""
    symbols, codes = np.unique(x, return_inverse=True)
    radix = len(symbols) + 1
    padded = np.concatenate([np.full(order, len(symbols)), codes])
    cell = np.zeros(len(x), np.int64)
    for back in range(order, -1, -1):
        cell = cell * radix + padded[order - back : len(padded) - back]
    return cell, radix ** (order + 1)


def _bincount(order, x):
    cell, size = _cells(order, x)
    counts = np.bincount(cell, minlength=size)
    return float(counts.sum()), np.sort(counts[counts > 0])


def _codes(order, x):
    """NumPy where symbols are known to be 0, 1, …, so that nothing is encoded."""
    n_symbols = int(x.max()) + 1
    counts = np.bincount(x[:-1] * n_symbols + x[1:], minlength=n_symbols**2)
    return float(counts.sum() + 1), np.sort(np.append(counts[counts > 0], 1))


def _add_at(order, x):
    cell, size = _cells(order, x)
    counts = np.zeros(size)
    np.add.at(counts, cell, 1.0)
    return float(counts.sum()), np.sort(counts[counts > 0])


def _equal(n, ours, theirs):
    assert ours[0] == theirs[0] == n, "steps are lost"
    np.testing.assert_array_equal(ours[1], theirs[1])
    return f"counts equal, {len(ours[1])} moves"


def _job(rival, theirs, n, order, n_symbols, low):
    return Job(
        name=f"Markov chain n={n:,} order={order} S={n_symbols}", rival=rival, make=partial(make, n, n_symbols, low),
        ours=partial(_ours, order), theirs=partial(theirs, order), equal=partial(_equal, n), target=2.0, repeats=3,
    )  # fmt: skip


JOBS = [
    _job("np.bincount of symbols that need no encoding", _codes, 20_000_000, 1, 20, 0),
    _job("np.unique and np.bincount", _bincount, 20_000_000, 1, 20, 0),
    _job("np.unique and np.add.at", _add_at, 20_000_000, 1, 20, 100),
    _job("np.unique and np.bincount", _bincount, 20_000_000, 3, 20, 0),
]
