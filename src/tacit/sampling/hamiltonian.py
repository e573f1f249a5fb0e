"""`hamiltonian`: the no-U-turn sampler, H(x, p) = −log π(x) + ½ pᵀ M⁻¹ p, with multinomial weights along the trajectory."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from ..checks import check_choice, check_number
from ..kernels import lazy
from ..notes import Note
from .chains import Chains
from .density import Density, compiled_or_none
from .metropolis import opened
from .positions import starts
from .running import Run, Sampler, run_chains

__all__ = ["hamiltonian"]

trajectories, jit = lazy("trajectories"), lazy("jit")
TOLD = ("lp", "acceptance_rate", "step_size", "n_steps", "tree_depth", "diverging", "energy")


def hamiltonian(
    log_density: Any,
    start: Any,
    *,
    gradient: Callable | None = None,
    n_draws: int = 1000,
    n_warmup: int = 1000,
    n_chains: int = 4,
    metric: str = "diagonal",
    target_acceptance: float = 0.8,
    max_depth: int = 10,
    keep_warmup: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callable | None = None,
    checkpoint: Any = None,
) -> Chains:
    """Draw from a density by Hamiltonian Monte Carlo (no-U-turn).

    Parameters
    ----------
    log_density : callable or object
        The log density up to a constant, of a vector (or of a dict of arrays where `start` is one). An object may have
        ``value_and_gradient(x)``, which returns the value and the gradient (of the same shape as x, or a dict likewise).
    start : array of shape (d,) or (n_chains, d), dict of arrays, list of n_chains of these, or callable
        Where chains start; a callable takes a ``numpy.random.Generator`` and returns one start.
    gradient : callable, optional
        Of the log density, where it is not told by the object.
    n_draws, n_warmup, n_chains : int
        Draws per chain, steps of warm-up, chains.
    metric : {"diagonal", "dense"}
        What of the covariance warm-up adapts to.
    target_acceptance : float
        Mean acceptance that the step size is adapted to.
    max_depth : int
        A trajectory has at most 2 ** max_depth steps.
    keep_warmup : bool
        Whether draws of warm-up are kept in ``Chains.warmup``.
    random_state : int, Generator or None
    n_jobs : int, optional
        Threads; None is all cores.
    callback : callable, optional
        Called with the progress (`tacit.engine.Progress`).
    checkpoint : path, optional
        A file from which an interrupted run goes on to the last bit.

    Returns
    -------
    Chains
        Its statistics are ``lp``, ``acceptance_rate``, ``step_size``, ``n_steps``, ``tree_depth``, ``diverging`` and ``energy``.

    References
    ----------
    Hoffman and Gelman (2014), The no-U-turn sampler. Betancourt (2017), A conceptual introduction to Hamiltonian Monte Carlo.

    Examples
    --------
    >>> from tacit.sampling import hamiltonian
    >>> chains = hamiltonian(lambda x: -0.5 * (x**2).sum(), [0.0, 0.0], gradient=lambda x: -x, random_state=0)
    >>> chains["x"].std(axis=(0, 1)).round(1)
    array([1., 1.])
    """
    run = Run(n_draws, n_warmup, n_chains, keep_warmup, random_state, n_jobs, callback, checkpoint)
    check_choice("metric", metric, ("diagonal", "dense"))
    check_number("max_depth", max_depth, numbers.Integral, 1, 30)
    check_number("target_acceptance", target_acceptance, numbers.Real, 0.01, 0.999)
    streams = run.streams()
    position, vectors = starts(start, n_chains, streams)
    density = Density(log_density, position, vectors)
    values = opened(density, vectors)
    slope = Slope(density, gradient)
    if gradient is not None:
        slope.check(vectors[0])
    sampler = _NoUTurn(slope, window_plan(n_warmup), metric, float(target_acceptance), max_depth)
    states = [sampler.begin(i, vector, value) for i, (vector, value) in enumerate(zip(vectors, values))]
    return run_chains(sampler, states, streams, run)


class Slope:
    """A log density with its gradient: told by the object, by a function, by torch, or by differences.

    Parameters
    ----------
    density : Density
    gradient : callable or None
    """

    def __init__(self, density: Density, gradient: Callable | None):
        self.density, self.gradient, self.compiled, self.note = density, gradient, None, density.note
        value, position = density, density.position
        self.doubt: Note | None = None
        if hasattr(density.given, "value_and_gradient"):
            self.python, self.note = self._told, Note("gradient_told", "The object tells values and gradients.")
        elif gradient is not None:
            self.python = trajectories.stated_slope(value, self._stated)
            self._compile(trajectories.stated_slope, (density.given, gradient))
        elif density.is_torch:
            self.python, self.note = (
                self._torch,
                Note("gradient_torch", "Gradients are by automatic differentiation in torch."),
            )
        else:
            self.python = trajectories.difference_slope(value)
            self._compile(trajectories.difference_slope, (density.given,))
            self.note = Note(
                "gradient_differences", "Gradients are differences of the density, {n} values each ({how}); give "
                "`gradient`, or write the density "
                "in torch, for speed and precision.", n=2 * position.size + 1, how="compiled" if self.compiled else "in Python",
            )  # fmt: skip

    def __call__(self, x: np.ndarray, out: np.ndarray) -> float:
        x = x.view()
        x.flags.writeable = False
        return self.python(x, out)

    def check(self, x: np.ndarray) -> None:
        """Compare the gradient with differences of the density along one direction; a note where they are far apart."""
        g, way = np.empty(len(x)), np.random.default_rng(0).standard_normal(len(x))
        way *= 1e-4 * (1.0 + np.abs(x))
        with np.errstate(all="ignore"):
            value, ahead, behind = self(x, g), self.density(x + way), self.density(x - way)
            told, found = float(g @ way), 0.5 * (ahead - behind)
        if abs(told - found) > 0.1 * (abs(told) + abs(found)) + 1e-7 + 1e-12 * abs(value):
            self.doubt = Note(
                "gradient_differs", "The gradient is not that of the density where chain 0 starts: a small step changes the "
                "density by {found:.4g}, but by {told:.4g} according to the gradient; draws are right, but may be very slow.",
                told=told, found=found,
            )  # fmt: skip

    def _compile(self, make: Callable, of: tuple) -> None:
        if self.density.compiled is None:
            return

        def values(slope: Callable) -> list:
            outs = [np.empty(self.density.position.size) for _ in self.density.points]
            return [np.append(slope(x, out), out) for x, out in zip(self.density.points, outs)]

        self.compiled, self.note = compiled_or_none(
            make, trajectories.SLOPE, values, self.python, "gradient",
            lambda: trajectories_compiled(make, of),
        )  # fmt: skip

    def _stated(self, x: np.ndarray) -> np.ndarray:
        assert self.gradient is not None
        return self._packed(self.gradient(self.density.position.unpack(x)))

    def _told(self, x: np.ndarray, out: np.ndarray) -> float:
        value, gradient = self.density.given.value_and_gradient(self.density.position.unpack(x))
        out[:] = self._packed(gradient)
        return float(value)

    def _packed(self, gradient: Any) -> np.ndarray:
        position = self.density.position
        if position.named and not isinstance(gradient, dict):
            found = np.asarray(gradient, dtype=np.float64).reshape(-1)
            if found.size == position.size:
                return found
        return position.pack(gradient, "the gradient")

    def _torch(self, x: np.ndarray, out: np.ndarray) -> float:
        import torch

        vector = torch.tensor(x, dtype=torch.float64, requires_grad=True)
        value = self.density.given(self.density.position.unpack(vector))
        (found,) = torch.autograd.grad(value.reshape(()), vector, allow_unused=True)
        out[:] = 0.0 if found is None else found.numpy()
        return float(value.detach())


def trajectories_compiled(make: Callable, of: tuple) -> Any:
    """The slope that `make` makes of functions, compiled."""
    return lazy("compiled").compile_as(make, trajectories.SLOPE, of)


def window_plan(n_warmup: int) -> np.ndarray:
    """What every step of warm-up adapts: 0 the step size only, 1 positions are taken into a window, 2 and the window ends.

    As in Stan: 15 % at the beginning and 10 % at the end for the step size alone, windows that double between.
    """
    plan = np.zeros(n_warmup, np.uint8)
    first, last, size = (75, 50, 25) if n_warmup >= 150 else (int(0.15 * n_warmup), int(0.1 * n_warmup), n_warmup)
    at, end = first, n_warmup - last
    if n_warmup < 20:
        return plan
    while at < end:
        size = end - at if at + 3 * size > end else size
        plan[at : at + size] = 1
        plan[at + size - 1] = 2
        at, size = at + size, 2 * size
    return plan


class _NoUTurn(Sampler):
    name = "hamiltonian"

    def __init__(self, slope: Slope, plan: np.ndarray, metric: str, target: float, max_depth: int):
        self.slope, self.plan, self.metric, self.target, self.max_depth = slope, plan, metric, target, max_depth
        self.position, self.threads = slope.density.position, slope.compiled is not None

    def settings(self) -> dict:
        return {"metric": self.metric, "target_acceptance": self.target, "max_depth": self.max_depth}

    def begin(self, chain: int, vector: np.ndarray, value: float) -> dict:
        d, g = len(vector), np.empty(len(vector))
        self.slope(vector, g)
        if not np.isfinite(g).all():
            raise ValueError(
                f"The gradient at the start of chain {chain} holds {g[~np.isfinite(g)][0]}; start where it is finite."
            )
        factor = np.ones((1, d)) if self.metric == "diagonal" else np.eye(d)
        return {
            "x": vector.copy(), "g": g, "factor": factor, "scatter": np.zeros_like(factor), "mean": np.zeros(d),
            "numbers": np.array([value, math.log(0.1), math.log(0.1), 0.0, 0.0, 0.0, 0.0, 0.0]),
        }  # fmt: skip

    def run(self, state: dict, n: int, rng: np.random.Generator) -> tuple:
        compiled = self.slope.compiled
        steps = jit.plain(trajectories.nuts_steps) if compiled is None else trajectories.nuts_steps
        draws, told = np.empty((n, len(state["x"]))), np.empty((n, len(TOLD)))
        with np.errstate(all="ignore"):  # a trajectory that diverges overflows
            steps(
                compiled or self.slope, state["x"], state["g"], state["factor"], state["scatter"],
                state["mean"], state["numbers"], self.plan,
                self.target, self.max_depth, rng, draws, told,
            )  # fmt: skip
        statistics = dict(zip(TOLD, np.ascontiguousarray(told.T)))
        statistics["diverging"] = statistics["diverging"] > 0
        for name in ("n_steps", "tree_depth"):
            statistics[name] = statistics[name].astype(np.int64)
        return draws, statistics

    def notes(self, states: list[dict], statistics: dict[str, np.ndarray]) -> list[Note]:
        notes, diverging = [self.slope.note], int(statistics["diverging"].sum())
        notes += [] if self.slope.doubt is None else [self.slope.doubt]
        if diverging:
            notes.append(Note(
                "divergent", "{n} of {of} trajectories diverged: the density bends faster than the step size follows, "
                "so that draws may miss a part of "
                "it; raise target_acceptance or reparametrise.", n=diverging, of=statistics["diverging"].size,
            ))  # fmt: skip
        deep = int((statistics["tree_depth"] >= self.max_depth).sum())
        if deep:
            notes.append(Note(
                "max_depth", "{n} of {of} trajectories reached max_depth={depth}: draws are right, but slow; "
                "metric='dense' may shorten them.",
                n=deep, of=statistics["tree_depth"].size, depth=self.max_depth,
            ))  # fmt: skip
        return notes
