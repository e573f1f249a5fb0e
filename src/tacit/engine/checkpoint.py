"""`Checkpoint`: what a killed fit continues from, to the last bit.

The file holds all that the rest of a fit depends on: parameters, trace, accelerator, what units remember, the best start so far
and the state of the random generator. It is written atomically, and removed when the fit ends.
"""

from __future__ import annotations

import logging
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..archive import UNSOUND, read_archive, write_archive
from ..arrays import Arrays
from ..notes import Note
from .trace import Trace

if TYPE_CHECKING:
    from ..source.source import Source

__all__ = ["Checkpoint", "Resumed"]

log = logging.getLogger("tacit")


@dataclass(frozen=True)
class Resumed:
    """Where a fit goes on."""

    params: Any
    trace: Trace
    step: dict
    memory: Arrays | None = None


def _trace_to(trace: Trace, name: str, scalars: dict, arrays: dict) -> None:
    scalars[name] = [trace.criterion, trace.previous, trace.weight, trace.passes, trace.led, trace.leapt]
    arrays[f"{name}.objectives"] = np.array(trace.objectives)


def _trace_from(name: str, scalars: dict, array: Callable) -> Trace:
    criterion, previous, weight, passes, led, leapt = scalars[name]
    trace = Trace(criterion, previous, int(led))
    trace.weight, trace.passes, trace.leapt = weight, passes, int(leapt)
    trace.objectives = array(f"{name}.objectives").tolist()
    return trace


def _note_to(note: Note) -> list:
    return [note.code, str(note), note.values]


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
    memory : Arrays, optional
        Records of units of the right kind, to read saved ones into.
    """

    def __init__(
        self,
        path: Any,
        template: Arrays,
        identity: str = "",
        *,
        every: float = 60.0,
        rng: np.random.Generator | None = None,
        memory: Arrays | None = None,
    ):
        self.path, self.template, self.identity, self.memory = os.fspath(path), template, identity, memory
        self.every, self.rng = every, rng
        self.run = 1
        self.best: Any = None
        self.failures: list[Note] = []
        self.ends: list[list] = []
        self.pending: Any = None
        self.written = time.monotonic()

    def offer(self, params: Any, trace: Trace, step: Any, source: Source) -> None:
        """Take note of the state of a running fit, and write it if it is time to."""
        scalars: dict[str, Any] = {
            "identity": self.identity,
            "run": self.run,
            "failures": [_note_to(note) for note in self.failures],
            "ends": self.ends,
        }
        arrays: dict[str, np.ndarray] = {}
        _trace_to(trace, "trace", scalars, arrays)
        _records("params", params, arrays)
        scalars["step"] = step.state(arrays)
        if self.rng is not None:
            scalars["rng"] = self.rng.bit_generator.state
        if self.best is not None:
            _trace_to(self.best.trace, "best", scalars, arrays)
            _records("best_params", self.best.params, arrays)
            scalars["best_end"] = [*_note_to(self.best.reason), self.best.converged]
        self.pending = scalars, arrays, source
        if time.monotonic() - self.written >= self.every:
            self.flush()

    def flush(self) -> None:
        """Write the last state there was, and what units remember now."""
        if self.pending is None:
            return
        try:
            scalars, arrays, source = self.pending
            memory = source.recall() if self.memory is not None else None
            if memory is not None:
                _records("memory", memory, arrays)
            scalars["memory"] = memory is not None
            write_archive(self.path, scalars, arrays, temporary=f"{self.path}.part")
        except OSError as error:
            # The fit is worth more than its checkpoint; the last one is still there.
            warnings.warn(
                f"the checkpoint {self.path!r} could not be written ({error.__cause__ or error}); the fit goes on.",
                stacklevel=3,
            )
        self.written, self.pending = time.monotonic(), None

    def resume(self) -> Resumed | None:
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
                *reason, converged = scalars["best_end"]
                self.best = Fit(best, _trace_from("best", scalars, array), Note.told(*reason), converged)
            if self.rng is not None and "rng" in scalars:
                self.rng.bit_generator.state = scalars["rng"]
            self.run, self.failures = int(scalars["run"]), [Note.told(*note) for note in scalars["failures"]]
            self.ends = [[float(value), *map(int, lead)] for value, *lead in scalars["ends"]]
            memory = None
            if self.memory is not None and scalars["memory"]:
                memory = self.memory.from_dict(_arrays("memory", self.memory, array))
            return Resumed(params, _trace_from("trace", scalars, array), step, memory)
        except FileNotFoundError:
            return None
        except UNSOUND as error:
            raise ValueError(f"the checkpoint {self.path!r} cannot be continued: {error}.") from None

    def remove(self) -> None:
        """Delete the file: the fit is done."""
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            pass
        except OSError as error:
            warnings.warn(
                f"the checkpoint {self.path!r} could not be removed ({error}); the fit is done.", stacklevel=3
            )


def _records(prefix: str, record: Arrays, arrays: dict) -> None:
    arrays.update({f"{prefix}.{name}": value for name, value in record.to_dict().items()})


def _arrays(prefix: str, template: Arrays, array: Callable) -> dict:
    return {name: array(f"{prefix}.{name}") for name in template.to_dict()}
