"""The bootstrap: how an estimate varies over samples like the one at hand.

    θ*_b = t(x*_b),  x*_b drawn with replacement from x        se = sd(θ*)        bias = mean(θ*) − θ̂

Every replicate has random numbers of its own, so that neither the number of threads nor an interruption changes any.
"""

from __future__ import annotations

import hashlib
import math
import numbers
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..archive import UNSOUND, read_archive, write_archive
from ..checks import as_numpy, check_choice, check_memory, check_n_jobs, check_number
from ..source.threads import in_order, thread_count
from ..table import Table
from ..words import count, number, share
from .drawing import Drawing, drawing_for
from .ends import METHODS, ends_of
from .functions import Function, as_function
from .named import named_statistic
from .refits import RESAMPLES, is_estimator, refits_for
from .samples import check_alpha

__all__ = ["Bootstrap", "bootstrap"]

STEP, REFITS = 256, 8
"""Replicates of a block, of statistics and of refits."""
MANY, FEW = 9999, 999
EVERY = 30.0


@dataclass(frozen=True)
class Bootstrap:
    """Replicates of an estimate, and what follows from them.

    Attributes
    ----------
    estimate, standard_error, bias, low, high : ndarray or float
        In the shape of the statistic; of an estimator, dictionaries of arrays by the name of the fitted attribute.
    replicates : ndarray of shape (n_resamples, ...), or dict of ndarray
    method, resample : str
    level : float
        Of the interval from `low` to `high`.
    n_resamples, n_failed : int
        Replicates, and those of them that could not be computed and are NaN.
    """

    estimate: Any
    standard_error: Any
    bias: Any
    low: Any
    high: Any
    replicates: Any
    method: str
    resample: str
    level: float
    n_resamples: int
    n_failed: int = 0

    @property
    def table(self) -> Table:
        """A row per value."""
        parts = [part if isinstance(part, dict) else {"": np.asarray(part)} for part in
                 (self.estimate, self.standard_error, self.bias, self.low, self.high)]  # fmt: skip
        names = ("estimate", "standard_error", "bias", "low", "high")
        rows = []
        for name, values in parts[0].items():
            for index in np.ndindex(values.shape):
                label = f"{name}[{', '.join(map(str, index))}]" if index else name or "statistic"
                rows.append({"parameter": label} | {part: float(each[name][index]) for part, each in zip(names, parts)})
        return Table(rows)

    @property
    def sentence(self) -> str:
        """What was done, in words; and the interval, of a single number."""
        what = (
            f"{count(self.n_resamples, 'bootstrap sample')} of {self.resample}, {self.method} intervals at the level "
        )
        text = f"{what}{share(self.level)}"
        if self.n_failed:
            were = "was" if self.n_failed == 1 else "were"
            text += f"; {count(self.n_failed, 'sample')} could not be fitted and {were} left out"
        if np.ndim(self.estimate) == 0 and not isinstance(self.estimate, dict):
            told, low, high, error = (
                number(float(v)) for v in (self.estimate, self.low, self.high, self.standard_error)
            )
            return f"{told} (interval {low} to {high}; standard error {error}): {text}."
        return f"{text}."

    def __repr__(self) -> str:
        return f"{self.table}\n{self.sentence}"


def bootstrap(
    statistic: Any, data: Any, y: Any = None, *, method: str = "bca", n_resamples: int | None = None, level: float = 0.95,
    resample: str = "cases", clusters: Any = None, block_length: int | None = None, of: Callable | None = None,
    standard_error: Callable | None = None, random_state: Any = None, n_jobs: int | None = None, checkpoint: Any = None,
    missing: str = "raise",
) -> Bootstrap:  # fmt: skip
    """Intervals and standard errors of any statistic, or of what any estimator learned.

    Parameters
    ----------
    statistic : str, float, callable or estimator
        "mean", "median", "variance", "sd", "skewness", "kurtosis" and quantiles (0.9) of one sample are compiled. A function
        takes the rows (and `y`, or one argument per sample) and returns a number or an array. An estimator is fitted already,
        to these rows; it is refitted from there, with components matched.
    data : array-like of shape (n_rows,) or (n_rows, n_columns), or tuple of them
        A tuple holds samples that are drawn independently.
    y : array-like of shape (n_rows,), optional
        Targets, drawn with their rows.
    method : {"bca", "percentile", "basic", "studentised"}
        How intervals are made; BCa and studentised ones hold the level better where the statistic is biased or its spread varies.
    n_resamples : int, optional
        Default 9,999, and 999 for estimators.
    level : float
    resample : {"cases", "blocks", "residuals", "parametric"}
        Draw rows; stretches of a series; residuals of a regressor; or rows from what an estimator learned.
    clusters : array-like of shape (n_rows,), optional
        Labels of rows that belong together, which are drawn as wholes.
    block_length : int, optional
        Rows of a stretch; default the cube root of their number.
    of : callable, optional
        What is wanted of a fitted estimator, a number or an array; default its parameters.
    standard_error : callable, optional
        Of the studentised method, the statistic's standard error from the same arguments; default by 25 samples of each sample.
    random_state : int, RandomState instance or None
    n_jobs : int, optional
        Threads; default all cores, and one for functions. Results are the same for any number.
    checkpoint : path, optional
        A file of the replicates so far, written every 30 seconds and when interrupted; the same call goes on from it.
    missing : {"raise", "drop"}
        What to do with rows that hold NaN; estimators take them as they do in `fit`.

    Returns
    -------
    Bootstrap

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals, Journal of the American Statistical Association 82.
    Davison and Hinkley (1997), Bootstrap methods and their application, Cambridge University Press.
    Politis and Romano (1992), A circular block-resampling procedure for stationary data, in: Exploring the limits of bootstrap.

    Examples
    --------
    >>> from tacit.assess import bootstrap
    >>> waiting = [79, 54, 74, 62, 85, 55, 88, 85, 51, 85, 54, 84, 78, 47, 83, 52]
    >>> found = bootstrap("median", waiting, random_state=0)
    >>> float(found.estimate), found.low <= 76 <= found.high
    (76.0, True)
    """
    check_choice("method", method, METHODS)
    check_choice("resample", resample, RESAMPLES)
    level = check_alpha(level, "level")
    check_n_jobs(n_jobs)
    learns = is_estimator(statistic)
    n_resamples = (FEW if learns else MANY) if n_resamples is None else n_resamples
    check_number("n_resamples", n_resamples, numbers.Integral, 2)
    if checkpoint is not None and not isinstance(random_state, numbers.Integral):
        raise ValueError(
            f"a checkpoint needs the same samples again, but random_state={random_state!r}; give a whole number."
        )
    if method == "studentised" and learns:
        raise ValueError("method='studentised' needs a standard error of every refit; use 'bca' for estimators.")
    seed = int(check_random_state(random_state).randint(2**31))
    samples = _samples(data, y, missing, learns)
    task = _task(statistic, samples, y is not None, seed, resample, clusters, block_length, of, standard_error, learns)
    estimate = task.estimate()
    if not np.isfinite(estimate).all():
        raise ValueError("the statistic of the data is not finite; bootstrap one that is.")
    spreads = method == "studentised"
    check_memory("n_resamples", n_resamples, 8.0 * len(estimate) * (4 if spreads else 3))
    if n_jobs is None and isinstance(task, Function):
        n_jobs = 1
    kept = _Kept(
        checkpoint, _identity(statistic, samples, seed, n_resamples, resample, spreads, clusters, block_length)
    )
    replicates, errors = _replicates(task, n_resamples, len(estimate), spreads, thread_count(n_jobs), kept)
    failed = np.isnan(replicates).any(axis=1)
    if failed.sum() > n_resamples - 2:
        raise ValueError("fewer than two bootstrap samples could be computed; the statistic fails where rows repeat.")
    good = ~failed
    jackknife = task.jackknife() if method == "bca" else None
    if jackknife is not None:
        jackknife = jackknife[~np.isnan(jackknife).any(axis=1)]
    low, high = ends_of(
        method, estimate, replicates[good], level, jackknife, task.spread() if spreads else None,
        errors[good] if errors is not None else None,
    )  # fmt: skip
    shape = _shaper(task)
    parts = (estimate, replicates[good].std(axis=0, ddof=1), replicates[good].mean(axis=0) - estimate, low, high)
    value, error, bias, low, high = map(shape, parts)
    return Bootstrap(
        value, error, bias, low, high, shape(replicates), method, resample if clusters is None else "clusters", level,
        int(n_resamples), int(failed.sum()),
    )  # fmt: skip


def _samples(data: Any, y: Any, missing: str, learns: bool) -> list[np.ndarray]:
    """Samples as arrays; rows with missing values are refused, or left out on request."""
    check_choice("missing", missing, ("raise", "drop"))
    several = isinstance(data, tuple)
    if several and y is not None:
        raise ValueError(
            "data is a tuple of samples that are drawn independently; leave y out, or give one array with y."
        )
    found = []
    for i, part in enumerate(data if several else [data]):
        name = f"sample {i + 1}" if several else "data"
        try:
            rows = np.asarray(as_numpy(part), dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"{name} holds what is no number; give numbers, NaN where they are missing.") from None
        if rows.ndim not in (1, 2):
            raise ValueError(f"{name} has shape {rows.shape}; give rows, or rows of columns.")
        found.append(rows)
    if y is not None:
        found.append(np.asarray(as_numpy(y)))
        if len(found[1]) != len(found[0]):
            raise ValueError(f"data has {len(found[0])} rows and y {len(found[1])}; give a target for each.")
    lost = [_missing(rows) for rows in found]
    if y is not None:
        lost = [lost[0] | lost[1]] * 2
    if not learns and any(each.any() for each in lost):
        if missing == "raise":
            n = max(int(each.sum()) for each in lost)
            raise ValueError(f"{count(n, 'row')} of the data {'holds' if n == 1 else 'hold'} a missing value; leave them "
                             f"out with "
                             "missing='drop'.")  # fmt: skip
        found = [rows[~each] for rows, each in zip(found, lost)]
    for rows in found:
        if len(rows) < 2:
            raise ValueError(
                f"there {'is' if len(rows) == 1 else 'are'} {count(len(rows), 'row')} to draw from; give at least 2."
            )
    return found


def _missing(rows: np.ndarray) -> np.ndarray:
    if rows.dtype.kind != "f":
        return np.zeros(len(rows), bool)
    lost = np.isnan(rows)
    return lost if rows.ndim == 1 else lost.any(axis=1)


def _task(
    statistic: Any, samples: list, paired: bool, seed: int, resample: str, clusters: Any, length: int | None, of: Any, error: Any,
    learns: bool,
) -> Any:  # fmt: skip
    """What replicates are computed by."""
    drawing = drawing_for(len(samples[0]), seed, resample, clusters, length)
    if learns:
        if len(samples) > 1 and not paired:
            raise ValueError("data is a tuple of samples, but an estimator is refitted to one; give an array.")
        return refits_for(statistic, samples[0], samples[1] if paired else None, drawing, resample, of)
    if of is not None:
        raise ValueError("of is for estimators; a function returns what is wanted itself.")
    if resample in ("residuals", "parametric"):
        raise ValueError(f"resample={resample!r} is for estimators; use 'cases' or 'blocks' for a statistic.")
    plain = type(drawing) is Drawing and len(samples) == 1 and samples[0].ndim == 1 and error is None
    if plain and (named := named_statistic(statistic, samples[0], seed)) is not None:
        return named
    return Function(as_function(statistic), samples, drawing, paired, error)


# The loop


class _Kept:
    """The file of replicates so far."""

    def __init__(self, path: Any, identity: str):
        self.path, self.identity, self.written = None if path is None else os.fspath(path), identity, time.monotonic()

    def resume(self, values: np.ndarray, errors: np.ndarray | None) -> int:
        """Fill in what the file holds; returns how many replicates that is."""
        if self.path is None or not os.path.exists(self.path):
            return 0
        try:
            manifest, array = read_archive(self.path)
            if manifest["identity"] != self.identity:
                raise ValueError(
                    "it belongs to a bootstrap of other data or settings; remove it or choose another path"
                )
            done = int(manifest["done"])
            values[:done] = array("values")
            if errors is not None:
                errors[:done] = array("errors")
        except UNSOUND as error:
            raise ValueError(f"the checkpoint {self.path!r} cannot be continued: {error}.") from None
        return done

    def write(self, values: np.ndarray, errors: np.ndarray | None, done: int, now: bool = False) -> None:
        """Write what is done, if it is time to."""
        if self.path is None or (not now and time.monotonic() - self.written < EVERY):
            return
        arrays = {"values": values[:done]} | ({} if errors is None else {"errors": errors[:done]})
        write_archive(self.path, {"identity": self.identity, "done": done}, arrays, temporary=f"{self.path}.part")
        self.written = time.monotonic()

    def remove(self) -> None:
        """Delete the file: all is done."""
        if self.path is not None and os.path.exists(self.path):
            os.unlink(self.path)


def _replicates(
    task: Any, n: int, k: int, spreads: bool, threads: int, kept: _Kept
) -> tuple[np.ndarray, np.ndarray | None]:
    """All replicates in order, and their standard errors if asked for."""
    values, errors = np.empty((n, k)), np.empty((n, k)) if spreads else None
    step = STEP if not hasattr(task, "replicate") else REFITS
    done = kept.resume(values, errors)
    starts = range(done, n, step)
    try:
        blocks = in_order(
            lambda first: task.block(first, min(step, n - first), spreads), starts, threads, serial_blas=True
        )
        for found, spread in blocks:
            values[done : done + len(found)] = found
            if errors is not None:
                errors[done : done + len(found)] = spread
            done += len(found)
            kept.write(values, errors, done)
    except BaseException:
        kept.write(values, errors, done, now=True)
        raise
    kept.remove()
    return values, errors


def _identity(
    statistic: Any, samples: list, seed: int, n: int, resample: str, spreads: bool, clusters: Any, length: Any
) -> str:
    """What a checkpoint belongs to."""
    if is_estimator(statistic):
        name = repr(sorted((k, repr(v)) for k, v in statistic.get_params().items()))
    else:
        name = getattr(statistic, "__qualname__", repr(statistic))
    digest = hashlib.sha256(f"{name} {seed} {n} {resample} {spreads} {length}".encode())
    for part in (*samples, *([] if clusters is None else [np.unique(np.asarray(clusters), return_inverse=True)[1]])):
        digest.update(np.ascontiguousarray(part).data if part.dtype.kind != "O" else repr(part.tolist()).encode())
    return digest.hexdigest()


def _shaper(task: Any) -> Callable[[np.ndarray], Any]:
    """Vectors in the shape of what was asked for."""
    if hasattr(task, "reference"):
        shapes = {name: value.shape for name, value in task.reference.items()}
    else:
        shapes = {"": getattr(task, "shape", ())}

    def shaped(values: np.ndarray) -> Any:
        parts, start = {}, 0
        for name, shape in shapes.items():
            size = math.prod(shape)
            parts[name] = values[..., start : start + size].reshape(values.shape[:-1] + shape)
            start += size
        if list(parts) == [""]:
            value = parts[""]
            return value.item() if value.ndim == 0 else value
        return parts

    return shaped
