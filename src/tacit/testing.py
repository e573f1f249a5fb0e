"""Properties that every family and every model must have, for the library's own and for yours.

    from tacit.testing import check_family, check_model

Each function raises AssertionError, naming the property, at the first that does not hold.
"""

from __future__ import annotations

import pickle
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from .arrays import Arrays
from .engine import Fit, Model, Trace, fit
from .engine.checkpoint import Resumed
from .families import Family, responsibilities
from .source import ArraySource, Block, DaskSource, ParquetSource, Source

__all__ = ["check_family", "check_model", "check_sources", "close"]


def close(a: Arrays, b: Arrays, rtol: float = 1e-9, what: str = "values") -> None:
    """Assert that two records of arrays agree, relative to the largest number of each array.

    Parameters
    ----------
    a, b : Arrays
        The records.
    rtol : float
        How far apart they may be.
    what : str
        What they are, for the message.
    """
    other = b.to_dict()
    for name, value in a.to_dict().items():
        scale = max(np.abs(value).max(initial=0.0), 1e-12)
        error = np.abs(value - other[name]).max(initial=0.0) / scale
        assert error <= rtol, f"{what}: {name} differs by {error:.3g} of its scale, more than {rtol:.3g}"


def _with_holes(X: np.ndarray, rng: np.random.Generator, share: float = 0.2) -> np.ndarray:
    missing = rng.random(X.shape) < share
    missing[np.arange(len(X)), rng.integers(X.shape[1], size=len(X))] = False
    return np.where(missing, np.nan, X)


def _soft(n_rows: int, n_classes: int, rng: np.random.Generator) -> np.ndarray:
    return rng.dirichlet(np.ones(n_classes), n_rows)


def check_family(family: Family, X: Any, n_classes: int = 3, random_state: int = 0) -> None:
    """Check a family on rows it can describe.

    M-steps must maximise the expected log-likelihood plus the log prior; where the family says that its M-step is not
    ``exact`` (it maximises a bound, or takes one step), it must only be no worse than where it started.

    Parameters
    ----------
    family : Family
        The family.
    X : ndarray of shape (n, d)
        At least fifty complete rows.
    n_classes : int
        Number of classes to try.
    random_state : int
        Seed.
    """
    rng = np.random.default_rng(random_state)
    X = np.asarray(X, dtype=np.float64)
    family.check(X)
    for rows in (X, _with_holes(X, rng)):
        block, resp = Block.of(rows), _soft(len(rows), n_classes, rng)
        params = family.start(block, resp)
        _check_record(params)
        _check_scores(family, params, block)
        _check_additive(family, params, rows, resp)
        _check_e_step(family, params, block, rng)
    _check_maximum(family, X, n_classes, rng)
    _check_sampling(family, params, rng)


def _check_record(params: Arrays) -> None:
    close(params.from_vector(params.to_vector()), params, 0.0, "vector round trip")
    close(pickle.loads(pickle.dumps(params)), params, 0.0, "pickle round trip")
    close(0.5 * params + 0.5 * params, params, 1e-15, "arithmetic")


def _check_scores(family: Family, params: Any, block: Block) -> None:
    scores = family.log_prob(params, block)
    n_classes = scores.shape[1]
    assert scores.shape == (len(block), n_classes), "log_prob has shape (rows, classes)"
    assert np.isfinite(scores).all(), "log_prob is finite"
    nothing = np.full((2, block.X.shape[1]), np.nan)
    empty = family.log_prob(params, Block.of(np.vstack([block.X, nothing])))
    assert np.allclose(empty[-2:], 0.0, atol=1e-10), "a row without any observed cell has density 1"
    assert np.allclose(empty[:-2], scores, rtol=1e-9, atol=1e-9), "a row's density does not depend on other rows"


def _check_additive(family: Family, params: Any, X: np.ndarray, resp: np.ndarray) -> None:
    whole = family.stats(params, Block.of(X), resp)
    cut = len(X) // 3
    parts = family.stats(params, Block.of(X[:cut]), resp[:cut]) + family.stats(params, Block.of(X[cut:]), resp[cut:])
    close(whole, parts, 1e-9, "statistics add over blocks")
    twice = family.stats(params, Block.of(np.vstack([X, X])), np.vstack([resp, resp]))
    close(2.0 * whole, twice, 1e-9, "responsibility 2 equals the row given twice")


def _check_e_step(family: Family, params: Any, block: Block, rng: np.random.Generator) -> None:
    log_weight = np.log(rng.dirichlet(np.ones(family.log_prob(params, block).shape[1])))
    loglik, counts, stats = family.e_step(params, log_weight, block)
    resp, _, expected = responsibilities(family.log_prob(params, block), log_weight, block.weight, block.labels)
    assert np.isclose(loglik, expected, rtol=1e-10), "e_step's log-likelihood is that of log_prob"
    assert np.allclose(counts, resp.sum(axis=0), rtol=1e-9, atol=1e-9), "e_step's counts are those of log_prob"
    close(stats, family.stats(params, block, resp), 1e-8, "e_step's statistics are those of stats")


def _check_maximum(family: Family, X: np.ndarray, n_classes: int, rng: np.random.Generator) -> None:
    block, resp = Block.of(X), _soft(len(X), n_classes, rng)
    start = family.start(block, resp)
    best = family.m_step(family.stats(start, block, resp), start)

    def expected(params: Any) -> float:
        return float((resp * family.log_prob(params, block)).sum()) + family.log_prior(params)

    top = expected(best)
    assert top >= expected(start) - 1e-8 * abs(top), "m_step is no worse than where it started"
    for _ in range(5 if family.exact else 0):
        other = _soft(len(X), n_classes, rng)
        near = family.m_step(family.stats(best, block, 0.95 * resp + 0.05 * other), best)
        assert expected(near) <= top + 1e-8 * abs(top), "m_step maximises the expected log-likelihood"


def _check_sampling(family: Family, params: Any, rng: np.random.Generator, n_rows: int = 4000) -> None:
    n_classes = family.log_prob(params, Block.of(family.sample(params, np.zeros(1, int), rng))).shape[1]
    classes = np.repeat(np.arange(n_classes), n_rows)
    X = family.sample(params, classes, rng)
    block, resp = Block.of(X), np.eye(n_classes)[classes]
    learned = family.m_step(family.stats(params, block, resp), params)
    gain = (resp * (family.log_prob(learned, block) - family.log_prob(params, block))).sum()
    gain = (gain + family.log_prior(learned) - family.log_prior(params)) / len(X)
    allowed = 5.0 * params.to_vector().size / len(X)
    assert -1e-9 <= gain <= allowed, f"samples recover the parameters (gain {gain:.3g} per row, at most {allowed:.3g})"


def check_model(
    model: Model,
    X: Any,
    *,
    weight: Any = None,
    labels: Any = None,
    targets: Any = None,
    unit: Any = None,
    random_state: int = 0,
    max_iter: int = 30,
    rtol: float = 1e-8,
) -> Fit:
    """Check a model on rows it can describe.

    Parameters
    ----------
    model : Model
        What to check.
    X : ndarray of shape (n, d)
        Rows; may have missing cells.
    weight, labels : ndarray of shape (n,), optional
        Row weights and known classes.
    targets : ndarray of shape (n, m), optional
        What is to be predicted.
    unit : ndarray of shape (n,), optional
        The unit of each row, where rows belong together.
    random_state : int
        Seed.
    max_iter : int
        Steps of each fit.
    rtol : float
        How closely parameters must agree.
    """
    rng, rows, settings_before = (
        np.random.default_rng(random_state),
        Rows.of(X, weight, labels, targets, unit),
        _state(model),
    )
    sample = rows.source().sample(len(rows.X), rng)
    start = model.init(sample, rng)
    _check_types(model, start, sample)

    def learn(rows: Rows, **settings: Any) -> Fit:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            return fit(model, rows.source(**settings), start, max_iter=max_iter, tol=0.0)

    base = learn(rows)
    gains = np.diff(base.trace.objectives)
    slack = 1e-9 * (1.0 + np.abs(base.trace.objectives).max())
    assert gains.min(initial=0.0) >= -slack, f"the objective never decreases (it fell by {-gains.min():.3g})"
    assert gains.max(initial=0.0) > 0.0, "the objective increases at least once"

    one = learn(rows, block_rows=17, n_jobs=1)
    close(one.params, learn(rows, block_rows=17, n_jobs=3).params, 0.0, "threads do not matter")
    close(base.params, one.params, rtol, "block size does not matter")
    close(base.params, learn(replace(rows, X=np.asfortranarray(rows.X))).params, rtol, "memory layout does not matter")

    double = learn(replace(rows, weight=2.0 * rows.weight))
    close(double.params, learn(rows.twice()).params, rtol, "weight 2 equals the row, or unit, given twice")
    if model.log_prior(start) == 0.0:
        close(double.params, base.params, rtol, "without a prior, the scale of the weights does not matter")
    ghost = "a row of weight 0 does not matter, even with missing cells"
    close(learn(rows.with_ghost()).params, base.params, rtol, ghost)

    close(pickle.loads(pickle.dumps(base)).params, base.params, 0.0, "a fit survives pickling")
    source = rows.source()
    if model.remembers:
        _check_memory(model, rows, start, base, rtol)
    stats = source.sum(partial(model.e_step, base.params)) if not model.remembers else base.stats
    _check_record(stats)
    _check_posterior(model, rows, base, stats)
    written = sorted(name for name, value in _state(model).items() if settings_before.get(name) != value)
    assert not written, f"a model reads its settings and writes nothing, but these have changed: {', '.join(written)}"
    return base


def _state(value: Any) -> Any:
    """What an object holds, to be compared with what it holds later; not what a cached property computed from it."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, (list, tuple)):
        return [_state(each) for each in value]
    held = value if isinstance(value, dict) else getattr(value, "__dict__", None)
    if held is None or callable(value):
        return repr(value)
    kind = type(value)
    return {
        name: _state(each) for name, each in held.items() if not isinstance(getattr(kind, name, None), cached_property)
    }


def _check_types(model: Model, start: Any, sample: Block) -> None:
    assert isinstance(start, Arrays), (
        f"init returns a record of arrays (tacit.arrays.record), not a {type(start).__name__}"
    )
    if model.remembers:
        return  # blocks of a source have the memory that its E-step needs
    stats = model.e_step(start, sample)
    assert isinstance(stats, Arrays), f"e_step returns a record of arrays, not a {type(stats).__name__}"
    for name in ("loglik", "weight"):
        assert hasattr(stats, name), f"statistics carry {name}, so that the objective is one more sum"
    params = model.m_step(stats, start)
    assert isinstance(params, type(start)), (
        f"m_step returns a {type(start).__name__} as init does, not a {type(params).__name__}"
    )


@dataclass(frozen=True)
class Rows:
    """Rows and what belongs to them, as arrays."""

    X: np.ndarray
    weight: np.ndarray
    labels: np.ndarray
    targets: np.ndarray | None
    unit: np.ndarray | None

    @classmethod
    def of(cls, X: Any, weight: Any, labels: Any, targets: Any, unit: Any) -> Rows:
        X = np.asarray(X)
        if X.ndim != 2 or len(X) < 2 or not X.shape[1]:
            raise ValueError(f"X has shape {X.shape}; models are checked on a table of at least 2 rows and 1 column.")
        weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
        labels = np.full(len(X), -1) if labels is None else np.asarray(labels)
        targets = None if targets is None else np.asarray(targets, dtype=np.float64)
        return cls(X, weight, labels, targets, None if unit is None else np.asarray(unit))

    def source(self, **settings: Any) -> ArraySource:
        """The rows as a source."""
        return ArraySource(self.X, self.weight, self.labels, self.targets, unit=self.unit, **settings)

    def twice(self) -> Rows:
        """All rows and, once more, all rows."""
        unit = self.unit
        if unit is not None:
            _, number = np.unique(unit, return_inverse=True)
            unit = np.append(number, number + len(unit))
        targets = None if self.targets is None else np.vstack([self.targets, self.targets])
        return Rows(np.vstack([self.X, self.X]), np.tile(self.weight, 2), np.tile(self.labels, 2), targets, unit)

    def with_ghost(self) -> Rows:
        """The rows and one more of weight 0, with a single cell observed."""
        ghost = np.full((1, self.X.shape[1]), np.nan, dtype=self.X.dtype)
        ghost[0, 0] = self.X[~np.isnan(self.X[:, 0]), 0][0]
        targets, unit = self.targets, self.unit
        if targets is not None:
            targets = np.vstack([targets, targets[:1]])
        if unit is not None:
            unit = np.append(np.unique(unit, return_inverse=True)[1], len(unit))
        return Rows(np.vstack([self.X, ghost]), np.append(self.weight, 0.0), np.append(self.labels, -1), targets, unit)


def _check_memory(model: Model, rows: Rows, start: Any, base: Fit, rtol: float) -> None:
    """What units remember may be read out and given back, and may be lost."""
    n_steps, source = len(base.trace), rows.source(block_rows=17)
    first = fit(model, source, start, max_iter=n_steps // 2, tol=0.0)
    kept = source.recall()
    assert kept is not None, "a model that remembers has a memory after a fit"
    assert all(len(array) == source.n_units for array in kept.to_dict().values()), "memory has one row per unit"
    trace = Trace()
    resumed = Resumed(first.params, trace, {}, kept)
    rest = fit(model, rows.source(), first.params, resumed=resumed, max_iter=n_steps - n_steps // 2, tol=0.0)
    close(rest.params, base.params, rtol, "a fit goes on from what units remembered")
    lost = fit(model, rows.source(), base.params, max_iter=n_steps, tol=0.0)
    slack = 1e-3 * (1.0 + abs(base.trace.objectives[-1]))
    assert lost.trace.objectives[-1] >= base.trace.objectives[-1] - slack, "losing the memory costs passes only"


def _check_posterior(model: Model, rows: Rows, base: Fit, stats: Any) -> None:
    """What is hidden sums to 1, and the densities to the likelihood, of units where rows belong together."""
    block = next(iter(rows.source(block_rows=len(rows.X))))
    resp, evidence = model.posterior(base.params, block)
    assert np.allclose(resp.sum(axis=1), 1.0), "posterior probabilities sum to 1"
    if (rows.labels < 0).all() and not model.remembers:
        weight = rows.weight[block.offsets[:-1]] if len(evidence) == block.n_units else rows.weight
        assert np.isclose(weight @ evidence, stats.loglik, rtol=1e-9), "the posterior's evidence is the likelihood"


SOURCES = ("parquet", "table", "dask", "tensor", "memmap")


def check_sources(
    model: Model,
    X: Any,
    *,
    weight: Any = None,
    labels: Any = None,
    targets: Any = None,
    unit: Any = None,
    sources: Sequence[str] = SOURCES,
    random_state: int = 0,
    max_iter: int = 12,
    rtol: float = 1e-10,
) -> None:
    """Check that a model learns the same from every kind of source, its statistics, units and memory included.

    Parameters
    ----------
    model, X, weight, labels, targets, unit, random_state, max_iter, rtol
        As in `check_model`.
    sources : sequence of {"parquet", "table", "dask", "tensor", "memmap"}
        Kinds to try; a table in a stream has neither weights nor labels, and is passed over where there are any.
    """
    rng, rows = np.random.default_rng(random_state), Rows.of(X, weight, labels, targets, unit)
    start = model.init(rows.source().sample(len(rows.X), rng), rng)
    expected = fit(model, rows.source(), start, max_iter=max_iter, tol=0.0)
    for kind in sources:
        if kind == "table" and (weight is not None or labels is not None):
            continue
        with tempfile.TemporaryDirectory() as folder:
            found = fit(model, _from(kind, rows, folder), start, max_iter=max_iter, tol=0.0)
        close(found.params, expected.params, rtol, f"fit from {kind}")
        gap = np.abs(np.subtract(found.trace.objectives, expected.trace.objectives)).max()
        assert gap <= 1e-11 * (1.0 + np.abs(expected.trace.objectives).max()), f"objectives from {kind}"


def _from(kind: str, rows: Rows, folder: str) -> Source:
    """The rows as another kind of source, in blocks and partitions that cut them elsewhere."""
    along: dict[str, Any] = {
        "weight": rows.weight, "labels": rows.labels, "targets": rows.targets, "unit": rows.unit
    }  # fmt: skip
    if kind == "memmap":
        np.save(f"{folder}/rows.npy", rows.X)
        return replace(rows, X=np.load(f"{folder}/rows.npy", mmap_mode="r")).source(block_rows=33)
    if kind == "tensor":
        from .source.torch import TorchSource

        return TorchSource(rows.X, **along, block_rows=70)
    if kind == "dask":
        import dask.array

        return DaskSource(dask.array.from_array(rows.X, chunks=(90, -1)), **along)
    import pyarrow as pa
    import pyarrow.parquet

    names = [f"x{j}" for j in range(rows.X.shape[1])]
    wanted = [] if rows.targets is None else [f"t{j}" for j in range(rows.targets.shape[1])]
    columns = dict(zip(names, rows.X.T)) | dict(zip(wanted, () if rows.targets is None else rows.targets.T))
    columns |= {name: values for name, values in along.items() if name != "targets" and values is not None}
    path = f"{folder}/rows.parquet"
    pa.parquet.write_table(
        pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()}),
        path,
        row_group_size=50,
    )
    named = None if rows.unit is None else "unit"
    if kind == "parquet":
        return ParquetSource(path, names, weight="weight", labels="labels", targets=wanted, unit=named, block_rows=64)
    from .tables import open_table
    from .tables.source import TableSource

    roles = dict.fromkeys([*names, *wanted], "measurement")
    return TableSource(open_table(path, roles=roles, columns=[*names, *wanted]), wanted, named, block_rows=64)
