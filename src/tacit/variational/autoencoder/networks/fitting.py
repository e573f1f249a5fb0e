"""From an estimator's settings to a trained network, and from its attributes back to one."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ....base.learning import identity_of
from ....kernels import host
from ....source import Block, Source
from ..calibration import normal_scores, widened
from ..record import Training
from ..settings import SMALL, draws
from . import torch
from .levels import LevelHead
from .network import Network, frames_of, head_of, heads_of
from .rows import Rows, open_rows
from .start import begin_linear, begin_random, features_of, linear_model
from .training import Keeper, Plan, train

__all__ = ["check_weights", "fitted", "outputs", "restored", "tensors", "threads"]

MOST_SAMPLE = 5000
"""Rows that a linear start is learned of."""
MOST_TRIED = 100
"""Held-out rows whose cells are hidden one after the other to see how far intervals reach."""
LARGE = 1 << 27
"""Products of a step from which more than one thread pays."""


def device_of(asked: str) -> Any:
    """The device to compute on."""
    if asked == "auto":
        asked = "cuda" if torch.cuda.is_available() else "cpu"
    if asked.startswith("cuda") and not torch.cuda.is_available():
        raise ValueError(f"device={asked!r} asks for a GPU, but torch finds none; use device='cpu'.")
    return torch.device(asked)


@contextlib.contextmanager
def threads(n: int) -> Iterator[None]:
    """So many threads of torch."""
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def built(estimator: Any) -> Network:
    """A network of the estimator's attributes."""
    heads = heads_of(estimator.family_, estimator.frames_, estimator.noise)
    return Network(heads, estimator.n_components_, *estimator.widths_)


class Fitting:
    """A fit under way: what its phases share."""

    def __init__(self, estimator: Any, source: Source, sample: np.ndarray, seed: int, keeper: Keeper):
        self.estimator, self.source, self.sample, self.seed, self.keeper = estimator, source, sample, seed, keeper
        self.device = device_of(estimator.device)
        whole = len(sample) == source.n_rows
        estimator.frames_ = frames_of(estimator.family_, sample, whole, estimator.scale)

    def begun(self, rows: np.ndarray, asked: Any) -> Network:
        """A network with as many components as asked for at its start, learned of these rows of the table, on the device."""
        estimator = self.estimator
        automatic = isinstance(asked, str)
        estimator.n_components_ = 1 if automatic else int(asked)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            network = built(estimator)
            model = None
            if estimator.init == "linear" or automatic:
                # A hidden feature of a level is told by those of the other levels, so that hidden cells ask for all components.
                how = "parallel" if automatic and any(isinstance(head, LevelHead) for head in network.heads) else asked
                model = linear_model(features_of(network, network.code(rows), self.seed), how, self.seed)
            if automatic and model is not None and model.n_components_ > 1:
                estimator.n_components_ = model.n_components_
                network = built(estimator)
            if estimator.init == "linear" and model is not None:
                begin_linear(network, model)
            else:
                begin_random(network)
        return network.to(self.device)

    def run(self, network: Network, rows: Any, held: Rows | None, phase: str, path: Any = None) -> tuple:
        """Train from a start."""
        estimator = self.estimator
        batch, rest, most = estimator._sizes_for(rows.n)
        plan = Plan(
            most, batch, estimator.learning_rate, estimator.weight_decay, estimator.beta, estimator.warm_up,
            draws(estimator.n_importance, rows.n), rest, bool(estimator.mixed_precision), path,
        )  # fmt: skip
        generator = torch.Generator(self.device).manual_seed(self.seed)
        told = estimator._told_of() if path is None else None
        large = batch * sum(p.numel() for p in network.parameters()) >= LARGE
        asked = estimator.n_jobs if (estimator.n_jobs or 0) > 0 else None
        with threads(asked or (torch.get_num_threads() if large else 1)):
            return train(network, rows, held, plan, generator, told, self.keeper, phase)


def fitted(
    estimator: Any, source: Source, sample: np.ndarray, held: np.ndarray, rng: Any, checkpoint: Any, every: float
) -> None:
    """Train an estimator's network and publish it."""
    keeper = Keeper(checkpoint, identity_of(estimator, source) if checkpoint is not None else "", every)
    fitting = Fitting(estimator, source, sample, int(rng.integers(2**31)), keeper)
    small = source.n_rows <= SMALL and len(held) > 0
    kept = np.setdiff1d(np.arange(source.n_rows), held) if small else None
    whole = host(source.take(np.arange(source.n_rows)).X).astype(np.float64) if small else sample
    network = fitting.begun(whole[kept] if small else sample[:MOST_SAMPLE], estimator.n_components)
    rows, left_out, _ = open_rows(source, held, network, fitting.device)
    state, reason = fitting.run(network, rows, left_out, "held out")
    publish(estimator, network)
    tried = host(source.take(held).X).astype(np.float64) if len(held) else sample[:0]
    estimator.widening_ = _widening(estimator, tried[:MOST_TRIED])
    if small and reason.code not in ("not_finite", "interrupted"):
        network = fitting.begun(whole, estimator.n_components_)
        every_row, _, _ = open_rows(source, held[:0], network, fitting.device)
        _, ended = fitting.run(network, every_row, None, "all rows", state.best_path)
        if ended.code not in ("not_finite", "interrupted"):
            publish(estimator, network)
    estimator.n_iter_ = max(state.epoch, 1)
    estimator.training_ = Training(
        np.array(state.bounds, dtype=float), np.array(state.held, dtype=float), len(held), state.best_epoch, state.best, reason
    )  # fmt: skip
    if reason.code == "interrupted":
        warnings.warn(f"{reason}; what was learned so far is kept.", UserWarning, stacklevel=3)
    else:
        keeper.remove()


def publish(estimator: Any, network: Network) -> None:
    """Keep the parameters of a network as arrays."""
    estimator.weights_ = {name: value.detach().cpu().numpy() for name, value in network.state_dict().items()}


def _widening(estimator: Any, X: np.ndarray) -> Any:
    """How much wider intervals must be, told by hiding a quarter of the cells of rows after the other."""
    d = estimator.n_features_in_
    if not len(X):
        return widened(np.zeros(0), 0)
    rng, parts, network = np.random.default_rng(0), min(4, d), estimator._network("cpu")
    group = rng.permuted(np.tile(np.arange(d) % parts, (len(X), 1)), axis=1)
    scores = []
    for part in range(parts):
        hidden = np.where(group == part, np.nan, X)
        first = 0
        for rows, eta, log_w in estimator._weighed(Block.of(hidden)):
            truth = X[first : first + len(rows)]
            first += len(rows)
            cells = np.nonzero(np.isnan(rows) & ~np.isnan(truth))
            weight = np.exp(log_w - log_w.max(axis=0))
            weight = (weight / weight.sum(axis=0)).T[cells[0]]
            if len(cells[0]):
                scores.append(normal_scores(estimator._laws(network, eta, cells), weight, truth[cells]))
    return widened(np.concatenate(scores) if scores else np.zeros(0), len(X))


# From attributes back


def restored(estimator: Any, device: str | None = None) -> Network:
    """The network of an estimator's weights, in double precision."""
    place = device_of(device or (estimator.device if torch.cuda.is_available() else "cpu"))
    with torch.random.fork_rng(devices=[]):  # initial values are drawn, and replaced
        network = built(estimator)
    network.load_state_dict({name: torch.as_tensor(value) for name, value in estimator.weights_.items()})
    return network.double().to(place).requires_grad_(False)


def tensors(network: Network, X: np.ndarray) -> tuple[Any, Any]:
    """Rows of a table as the network takes them in double precision: coded cells, and which are observed (None for all)."""
    x = network.code(X)
    seen = ~np.isnan(x)
    place = network.into.weight.device
    x = torch.as_tensor(np.where(seen, x, network.blanks().double().numpy()), device=place)
    return x, None if seen.all() else torch.as_tensor(seen, device=place).double()


def outputs(network: Network, Z: np.ndarray) -> np.ndarray:
    """Outputs of the decoder at vectors."""
    return host(network.decode(torch.as_tensor(Z)))


def check_weights(estimator: Any) -> None:
    """Raise ValueError where frames and weights read from a file are not those of the estimator's network."""
    parts, frames = estimator.family_.parts, estimator.frames_
    if len(frames) != len(parts) or len(estimator.widths_) != 2:
        raise ValueError(
            f"there are {len(frames)} frames and {len(estimator.widths_)} widths, for {len(parts)} families"
        )
    for (family, columns), frame in zip(parts, frames):
        kind = head_of(family)
        if frame.keys() != kind.frames.keys():
            raise ValueError(f"'frames_' holds {sorted(frame)}, not {sorted(kind.frames)}")
        for name, shape in kind.frames.items():
            size = {"d": len(columns), "2d": 2 * len(columns), "l": sum(getattr(family, "n_levels", ()))}[shape]
            if (
                not isinstance(frame[name], np.ndarray)
                or frame[name].shape != (size,)
                or not np.isfinite(frame[name]).all()
            ):
                raise ValueError(f"'frames_' holds {name!r} that are not {size} numbers")
    with torch.device("meta"):
        expected = {name: tuple(value.shape) for name, value in built(estimator).state_dict().items()}
    if expected.keys() != estimator.weights_.keys():
        raise ValueError("'weights_' are not those of the network that the file describes")
    for name, own in expected.items():
        value = estimator.weights_[name]
        if not isinstance(value, np.ndarray) or value.shape != own or not np.isfinite(value).all():
            raise ValueError(f"'weights_' holds {name!r} that is not {' × '.join(map(str, own))} numbers")
