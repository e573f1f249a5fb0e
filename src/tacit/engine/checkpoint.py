"""`Checkpoint`: what a killed fit continues from, to the last bit.

The file holds all that the rest of a fit depends on: parameters, trace, accelerator, the best start so far and the
state of the random generator. It is written atomically, and removed when the fit ends.
"""

import contextlib
import logging
import os
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..archive import UNSOUND, read_archive, write_archive
from .trace import Trace

__all__ = ["Checkpoint", "Resumed"]

log = logging.getLogger("tacit")


@dataclass(frozen=True)
class Resumed:
    """Where a fit goes on."""

    params: Any
    trace: Trace
    step: dict


def _trace_to(trace, name, scalars, arrays):
    scalars[name] = [trace.criterion, trace.previous, trace.weight, trace.passes]
    arrays[f"{name}.objectives"] = np.array(trace.objectives)


def _trace_from(name, scalars, array):
    criterion, previous, weight, passes = scalars[name]
    trace = Trace(criterion, previous)
    trace.weight, trace.passes = weight, passes
    trace.objectives = array(f"{name}.objectives").tolist()
    return trace


class Checkpoint:
    """A file that is written every so many seconds during a fit.

    Parameters
    ----------
    path : str or path-like
        The file.
    template : Arrays
        Parameters of the right shape, to read saved ones into.
    identity : str
        What is being fitted; a file of another fit is refused.
    every : float
        Seconds between writes.
    rng : numpy.random.Generator, optional
        The generator later starts draw from.
    """

    def __init__(self, path, template, identity="", *, every=60.0, rng=None):
        self.path, self.template, self.identity = os.fspath(path), template, identity
        self.every, self.rng = every, rng
        self.run, self.best, self.failures = 1, None, []
        self.pending: Any = None
        self.written = time.monotonic()

    def offer(self, params, trace, step):
        """Take note of the state of a running fit, and write it if it is time to."""
        scalars: dict[str, Any] = {"identity": self.identity, "run": self.run, "failures": list(self.failures)}
        arrays: dict[str, np.ndarray] = {}
        _trace_to(trace, "trace", scalars, arrays)
        _records("params", params, arrays)
        scalars["step"] = step.state(arrays)
        if self.rng is not None:
            scalars["rng"] = self.rng.bit_generator.state
        if self.best is not None:
            _trace_to(self.best.trace, "best", scalars, arrays)
            _records("best_params", self.best.params, arrays)
            scalars["best_end"] = [self.best.reason, self.best.converged]
        self.pending = scalars, arrays
        if time.monotonic() - self.written >= self.every:
            self.flush()

    def flush(self):
        """Write the last state there was."""
        if self.pending is None:
            return
        try:
            scalars, arrays = self.pending
            write_archive(self.path, scalars, arrays, temporary=f"{self.path}.part")
        except OSError as error:
            # The fit is worth more than its checkpoint; the last one is still there.
            warnings.warn(
                f"the checkpoint {self.path!r} could not be written ({error}); the fit goes on.", stacklevel=3
            )
        self.written, self.pending = time.monotonic(), None

    def resume(self):
        """The run that was under way when the file was written, or None where there is no file."""
        from .loop import Fit

        try:
            scalars, array = read_archive(self.path)
            if scalars["identity"] != self.identity:
                raise ValueError("it belongs to a fit of other data or settings; remove it or choose another path")
            params = self.template.from_dict(_arrays("params", self.template, array))
            step = dict(scalars["step"])
            step["arrays"] = {name: array(f"step.{name}") for name in step.get("names", ())}
            if step.get("image"):
                step["image"] = self.template.from_dict(_arrays("image", self.template, array))
            if "best" in scalars:
                best = self.template.from_dict(_arrays("best_params", self.template, array))
                self.best = Fit(best, _trace_from("best", scalars, array), *scalars["best_end"])
            if self.rng is not None and "rng" in scalars:
                self.rng.bit_generator.state = scalars["rng"]
            self.run, self.failures = int(scalars["run"]), list(scalars["failures"])
            return Resumed(params, _trace_from("trace", scalars, array), step)
        except FileNotFoundError:
            return None
        except UNSOUND as error:
            raise ValueError(f"the checkpoint {self.path!r} cannot be continued: {error}.") from None

    def remove(self):
        """Delete the file: the fit is done."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)


def _records(prefix, record, arrays):
    arrays.update({f"{prefix}.{name}": value for name, value in record.to_dict().items()})


def _arrays(prefix, template, array):
    return {name: array(f"{prefix}.{name}") for name in template.to_dict()}
