"""`train`: the bound of held-out rows is raised by steps along gradients of minibatches, until it rises no more.

The learning rate falls where the bound rests, from the best parameters so far; they are what is kept, whatever happens.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ....archive import UNSOUND, read_archive, write_archive
from ....engine import Progress
from ....notes import Note
from . import torch
from .network import Network
from .rows import Rows

__all__ = ["Keeper", "Plan", "train"]

CUTS, CUT = 2, 0.25
"""How often the learning rate falls where the bound rests, and to what share."""
REPEATS = 4
"""Draws of z by which held-out rows are judged, the same every time."""
RESTED = Note("rested", "the bound of held-out rows rose no more")
REPLAYED = Note("replayed", "training on all rows took as many epochs as were best for held-out rows")


@dataclass
class Plan:
    """How to train: settings, with nothing left to choose."""

    epochs: int
    batch: int
    rate: float
    decay: float
    beta: float
    warm_up: int
    n_importance: int
    patience: int
    bfloat16: bool
    path: list[float] | None = None  # learning rates of the epochs to take, where they are known


@dataclass
class State:
    """Where training is, between two epochs."""

    epoch: int = 0
    rate: float = 0.0
    cuts: int = 0
    waited: int = 0
    best: float = -math.inf
    best_epoch: int = 0
    path: list[float] = field(default_factory=list)
    best_path: list[float] = field(default_factory=list)
    bounds: list[float] = field(default_factory=list)
    held: list[float] = field(default_factory=list)
    moving: list[float] = field(default_factory=list)  # numbers of the parameters that the optimiser remembers steps of


class Keeper:
    """The checkpoint of a training: a file that it goes on from, bit for bit.

    Parameters
    ----------
    path : path or None
    identity : str
        What is trained; a file of anything else is refused.
    every : float
        Seconds between writes.
    """

    def __init__(self, path: Any, identity: str, every: float):
        self.path, self.identity, self.every, self.written = path, identity, every, time.monotonic()
        self.pending: tuple | None = None

    def offer(self, phase: str, state: State, kept: dict[str, Any], generator: Any) -> None:
        """Take note of a state, and write it if it is time to."""
        if self.path is None:
            return
        arrays = {name: value.detach().cpu().numpy().copy() for name, value in kept.items()}
        self.pending = {"identity": self.identity, "phase": phase, "state": vars(state).copy()}, arrays
        arrays["generator"] = generator.get_state().numpy()
        if time.monotonic() - self.written >= self.every:
            self.flush()

    def flush(self) -> None:
        """Write the last state there was."""
        if self.pending is None:
            return
        scalars, arrays = self.pending
        lists = {name: value for name, value in scalars["state"].items() if isinstance(value, list)}
        single = {name: repr(value) for name, value in scalars["state"].items() if name not in lists}
        arrays |= {f"state.{name}": np.array(value, dtype=np.float64) for name, value in lists.items()}
        try:
            write_archive(self.path, scalars | {"state": single}, arrays, temporary=f"{self.path}.part")
        except OSError as error:
            warnings.warn(
                f"the checkpoint {str(self.path)!r} could not be written ({error}); the fit goes on.", stacklevel=3
            )
        self.written, self.pending = time.monotonic(), None

    def resume(self, phase: str) -> tuple[State, Callable[[str], np.ndarray]] | None:
        """The state of a phase and a reader of its arrays; None where there is no file, or it is of another phase."""
        if self.path is None:
            return None
        try:
            scalars, array = read_archive(self.path)
            if scalars["identity"] != self.identity:
                raise ValueError("it belongs to a fit of other data or settings; remove it or choose another path")
            if scalars["phase"] != phase:
                return None
            found: dict[str, Any] = {
                name: (float if name in ("rate", "best") else int)(value) for name, value in scalars["state"].items()
            }
            lists = ("path", "best_path", "bounds", "held", "moving")
            return State(**found, **{name: array(f"state.{name}").tolist() for name in lists}), array
        except FileNotFoundError:
            return None
        except UNSOUND as error:
            raise ValueError(f"the checkpoint {str(self.path)!r} cannot be continued: {error}.") from None

    def remove(self) -> None:
        """Delete the file: training is done."""
        if self.path is not None:
            with contextlib.suppress(OSError):
                os.unlink(self.path)


def judge(network: Network, held: Rows, noise: Any, plan: Plan) -> float:
    """The bound of held-out rows, per unit of weight."""
    total = torch.zeros((), dtype=torch.float64, device=held.device)
    with torch.no_grad():
        for rows in torch.arange(held.n, device=held.device).split(4096):
            x, seen, weight = held.part(rows)
            each = [network.bound(x, seen, part[:, rows], plan.beta) for part in noise]
            value = sum(each) / len(each)
            total += (value if weight is None else value * weight).sum().double()
    return float(total) / held.total


def train(
    network: Network, rows: Any, held: Rows | None, plan: Plan, generator: Any, told: Callable | None, keeper: Keeper, phase: str,
) -> tuple[State, Note]:  # fmt: skip
    """Train a network; it is left with the best parameters there were."""
    device, parameters = generator.device, list(network.parameters())
    decayed, others = network.decayed()
    groups = [{"params": others, "weight_decay": 0.0}] + ([{"params": decayed}] if decayed else [])
    optimiser = torch.optim.AdamW(groups, lr=plan.rate, weight_decay=plan.decay, fused=True)
    best = [p.detach().clone() for p in parameters]
    noise = _fixed_noise(held, network.k, plan, device)
    state = State(rate=plan.rate)
    found = keeper.resume(phase)
    if found is not None:
        state = _restore(*found, network, best, optimiser, generator)
    elif held is not None:
        state.best = judge(network, held, noise, plan)
        state.best = state.best if math.isfinite(state.best) else -math.inf
    started, reason = time.monotonic(), Note("max_epochs", "max_epochs={epochs} epochs were taken", epochs=plan.epochs)
    try:
        while state.epoch < (plan.epochs if plan.path is None else len(plan.path)):
            rate = state.rate if plan.path is None else plan.path[state.epoch]
            for group in optimiser.param_groups:
                group["lr"] = rate
            beta = plan.beta * min((state.epoch + 1) / (plan.warm_up + 1), 1.0)
            bound = _epoch(network, rows, plan, beta, optimiser, generator)
            state.epoch += 1
            state.path.append(rate)
            value = bound if held is None or not math.isfinite(bound) else judge(network, held, noise, plan)
            if not math.isfinite(bound) or not math.isfinite(value):
                reason = Note(
                    "not_finite", "the bound was {value} in epoch {epoch}, so training stopped with the best parameters before; "
                    "try a smaller learning_rate than {rate:g}", value=bound if not math.isfinite(bound) else value,
                    epoch=state.epoch, rate=plan.rate,
                )  # fmt: skip
                warnings.warn(f"{reason}.", UserWarning, stacklevel=5)
                break
            state.bounds.append(bound)
            state.held.append(value)
            gain = value - state.best
            done = _judged(state, value, plan, parameters, best, optimiser)
            if told is not None:
                told(
                    Progress(
                        1, 1, state.epoch, plan.epochs, value, gain, done, RESTED if done else "", done,
                        n_rows=rows.n, weight=rows.total, seconds=time.monotonic() - started,
                    )
                )  # fmt: skip
            if done:
                reason = RESTED
                break
            state.moving = [float(j) for j, p in enumerate(parameters) if optimiser.state.get(p)]
            keeper.offer(phase, state, _kept(network, best, optimiser), generator)
    except KeyboardInterrupt:
        reason = Note("interrupted", "training was interrupted after {epochs} epochs", epochs=state.epoch)
        keeper.flush()
    if plan.path is not None:  # all of it was to be done
        return state, REPLAYED if reason.code == "max_epochs" else reason
    with torch.no_grad():
        for p, kept in zip(parameters, best):
            p.copy_(kept)
    return state, reason


def _epoch(network: Network, rows: Any, plan: Plan, beta: float, optimiser: Any, generator: Any) -> float:
    """One pass over the rows; their bound on the way, per unit of weight."""
    device = generator.device
    # Summed on the device: to ask for a number after every batch would wait for it.
    total = torch.zeros((), device=device, dtype=torch.float64 if device.type == "cpu" else torch.float32)
    share = rows.n / rows.total
    for x, seen, weight in rows.batches(plan.batch, generator):
        noise = torch.randn((plan.n_importance, len(x), network.k), generator=generator, device=device)
        with torch.autocast(device.type, torch.bfloat16, enabled=plan.bfloat16):
            bound = network.bound(x, seen, noise, beta)
        bound = bound.sum() if weight is None else share * (bound @ weight)
        optimiser.zero_grad(set_to_none=True)
        (bound * (-1.0 / len(x))).backward()
        optimiser.step()
        total += bound.detach()
    return float(total) / rows.n


def _judged(state: State, value: float, plan: Plan, parameters: list, best: list, optimiser: Any) -> bool:
    """Take note of the bound after an epoch; whether training is done."""
    if state.epoch <= plan.warm_up:
        return False
    if value > state.best:
        # A gain that is next to nothing is taken, but does not count as one.
        counts = value > state.best + 1e-4 * max(1.0, abs(state.best)) if math.isfinite(state.best) else True
        state.best, state.best_epoch, state.best_path = value, state.epoch, list(state.path)
        state.waited = 0 if counts else state.waited + 1
        with torch.no_grad():
            torch._foreach_copy_(best, parameters)
    else:
        state.waited += 1
    if plan.path is not None or state.waited <= plan.patience:
        return False
    if state.cuts == CUTS:
        return True
    state.cuts, state.waited, state.rate = state.cuts + 1, 0, CUT * state.rate
    state.path = list(state.best_path)
    with torch.no_grad():
        torch._foreach_copy_(parameters, best)
    optimiser.state.clear()
    return False


def _fixed_noise(held: Rows | None, k: int, plan: Plan, device: Any) -> Any:
    if held is None:
        return None
    shape = REPEATS if plan.n_importance == 1 else 1, plan.n_importance, held.n, k
    return torch.randn(shape, generator=torch.Generator(device).manual_seed(0), device=device)


def _kept(network: Network, best: list, optimiser: Any) -> dict[str, Any]:
    """All tensors that the rest of a training depends on."""
    found = {f"now.{j}": p for j, p in enumerate(network.parameters())} | {f"best.{j}": p for j, p in enumerate(best)}
    for j, p in enumerate(network.parameters()):
        found |= {f"optimiser.{j}.{name}": value for name, value in optimiser.state.get(p, {}).items()}
    return found


def _restore(state: State, array: Callable, network: Network, best: list, optimiser: Any, generator: Any) -> State:
    with torch.no_grad():
        for j, (p, kept) in enumerate(zip(network.parameters(), best)):
            p.copy_(torch.as_tensor(array(f"now.{j}")))
            kept.copy_(torch.as_tensor(array(f"best.{j}")))
            if j in state.moving:
                names = ("step", "exp_avg", "exp_avg_sq")
                moments = {name: torch.as_tensor(array(f"optimiser.{j}.{name}")).to(p.device) for name in names}
                optimiser.state[p] = moments
    generator.set_state(torch.as_tensor(array("generator")))
    return state
