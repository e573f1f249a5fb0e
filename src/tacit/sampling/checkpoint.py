"""`ChainsCheckpoint`: what interrupted chains continue from, to the last bit: states, streams of random numbers, and
draws so far.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..archive import UNSOUND, read_archive, write_archive

if TYPE_CHECKING:
    from .running import Run, Sampler

__all__ = ["ChainsCheckpoint"]

EVERY = 60.0
"""Seconds between writes."""


class ChainsCheckpoint:
    """A file that is written every minute while chains run, and removed when they end.

    Parameters
    ----------
    path : str or path-like
    sampler : Sampler
    states : list of dict
        Where chains start.
    streams : list of numpy.random.Generator
    run : Run
    """

    def __init__(self, path: Any, sampler: Sampler, states: list[dict], streams: list[np.random.Generator], run: Run):
        self.path, self.written = os.fspath(path), time.monotonic()
        self.identity = _identity(sampler, states, streams, run)

    def offer(self, going: Any) -> None:
        """Write where the chains are, if it is time to."""
        if time.monotonic() - self.written >= EVERY:
            self.flush(going)

    def flush(self, going: Any) -> None:
        """Write where the chains are."""
        arrays: dict[str, np.ndarray] = {}
        names: dict[str, list] = {"states": [], "draws0": [], "draws1": [], "statistics0": [], "statistics1": []}
        for i, state in enumerate(going.states):
            arrays |= {f"state{i}.{name}": value for name, value in state.items()}
        names["states"] = list(going.states[0])
        for kept in (0, 1):
            for kind, values in zip(("draws", "statistics"), going.gathered(kept)):
                names[f"{kind}{kept}"] = list(values)
                arrays |= {f"{kind}{kept}.{i}": value for i, value in enumerate(values.values())}
        manifest = {
            "identity": self.identity, "step": going.step, "seconds": going.seconds, "names": names,
            "streams": [rng.bit_generator.state for rng in going.streams],
        }  # fmt: skip
        try:
            write_archive(self.path, manifest, arrays, temporary=f"{self.path}.part")
        except OSError as error:  # chains are worth more than their checkpoint; the last one is still there
            warnings.warn(
                f"the checkpoint {self.path!r} could not be written ({error.__cause__ or error}); the chains go on.",
                stacklevel=3,
            )
        self.written = time.monotonic()

    def resume(self, going: Any) -> None:
        """Set chains to where they were when the file was written, if there is one."""
        try:
            manifest, array = read_archive(self.path)
            if manifest["identity"] != self.identity:
                raise ValueError("it belongs to other chains, settings or starts; remove it or choose another path")
            names = manifest["names"]
            states = [{name: array(f"state{i}.{name}") for name in names["states"]} for i in range(len(going.states))]
            for kept in (0, 1):
                for kind, parts in (("draws", going.draws), ("statistics", going.statistics)):
                    found = {name: array(f"{kind}{kept}.{i}") for i, name in enumerate(names[f"{kind}{kept}"])}
                    parts[kept] = [found] if found else []
            for rng, state in zip(going.streams, manifest["streams"]):
                rng.bit_generator.state = state
            going.states, going.step, going.seconds = states, int(manifest["step"]), float(manifest["seconds"])
        except FileNotFoundError:
            return
        except UNSOUND as error:
            raise ValueError(f"the checkpoint {self.path!r} cannot be continued: {error}.") from None

    def remove(self) -> None:
        """Delete the file: the chains have ended."""
        try:
            os.unlink(self.path)
        except FileNotFoundError:
            pass
        except OSError as error:
            warnings.warn(
                f"the checkpoint {self.path!r} could not be removed ({error}); the chains have ended.", stacklevel=3
            )


def _identity(sampler: Sampler, states: list[dict], streams: list[np.random.Generator], run: Run) -> str:
    """Digest of the sampler, its settings and where chains start; of their random numbers only where these were asked for."""
    told = {"sampler": sampler.name, "chains": run.n_chains, "warmup": run.n_warmup, "kept": run.keep_warmup}
    told |= {"settings": sampler.settings(), "shapes": [{k: v.shape for k, v in state.items()} for state in states]}
    seeded = run.random_state is not None
    if seeded:
        told["streams"] = [rng.bit_generator.state for rng in streams]
    digest = hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode())
    for state in states if seeded else ():
        for name in sorted(state):
            digest.update(np.ascontiguousarray(state[name]).tobytes())
    return digest.hexdigest()
