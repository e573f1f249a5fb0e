"""`Hunt`: a sweep that spends its time where the criterion says it is worth while, and goes on while that improves.

Every structure is a lane of growing numbers of classes. The lane that has cost least so far, by free parameters, goes on: cheap
models come first, and run ahead of dear ones. A lane ends where more classes have not improved the criterion for a while, or
where several more gains such as its last would leave it behind. The leaders of all lanes are then searched anew from more
starts, until the best one stands.
"""

from __future__ import annotations

import heapq
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..families import Product
from ..families.product import Parts
from ..notes import Note
from ..source import Source
from .model import MixtureModel, MixtureParams
from .search import can_search, search
from .starts import follow, merges, race
from .sweep import Outcome, Sweep, row_of

__all__ = ["Clock", "Hunt"]

PATIENCE = 2
"""Sizes in succession without a better criterion that end a lane."""
REACH = 8.0
"""So many more gains such as the last, and a lane that would still be behind ends."""
CLOSE, LEADERS, NEAR = 50.0, (6, 4), 100.0
"""Models within CLOSE of the best, at most so many first and later, and first the best of lanes within NEAR are searched anew."""
ROUNDS, QUIET = 8, 3
"""So many rounds of that at most, and so many in succession that found nothing better end it."""
SETTLED = 1.0
"""A better maximum by less leaves the choice as it was."""
CELLS_PER_PARAMETER = 2.0
"""A lane ends where fewer known cells come to a parameter: no data decide so many."""


class Clock:
    """Time for a search, which runs from its first step on: what is compiled before that is compiled once per machine."""

    def __init__(self, budget: float | None = None):
        self.budget, self.deadline = budget, None if budget is None else np.inf
        self.since: float | None = None

    def rest(self) -> None:
        """Stand still until the next step, which may have to be compiled first."""
        self.since = time.monotonic()

    def tick(self, progress: Any = None) -> None:
        """A step was taken; raises KeyboardInterrupt where time is over."""
        if self.deadline == np.inf:
            self.deadline = time.monotonic() + (self.budget or 0.0)
        elif self.deadline is not None and self.since is not None:
            self.deadline += time.monotonic() - self.since
        self.since = None
        if self.over:
            raise KeyboardInterrupt

    @property
    def over(self) -> bool:
        """Whether no time is left."""
        return self.deadline is not None and time.monotonic() >= self.deadline


class Lane:
    """Numbers of classes under one combination of other settings: those to come, and what became of those tried."""

    def __init__(self, order: int, settings: dict, sizes: list[int]):
        self.order, self.settings, self.sizes = order, settings, sizes
        self.tried: list[Outcome] = []
        self.cost, self.slope = 0.0, 1.0
        self.ended = ""

    def __lt__(self, other: Lane) -> bool:
        return (self.cost + self.next_cost, self.order) < (other.cost + other.next_cost, other.order)

    @property
    def next_cost(self) -> float:
        """Parameters of the next model, or so."""
        return self.slope * self.sizes[0] if self.sizes else np.inf


class Hunt(Sweep):
    """A sweep in lanes, within a budget of time.

    Parameters
    ----------
    estimator, grid, source, told
        As in `Sweep`.
    by : {"bic", "aic", "icl"}
        The criterion.
    most : int, optional
        Go on to more classes than the grid names while the criterion improves, but not beyond so many.
    clock : Clock, optional
        Says when to end; a fit that is running then is given up, but for the first.
    deepen : bool
        Whether to search the leaders anew.
    fewest : float
        Rows that the smallest class has at least in models without fault.

    Attributes
    ----------
    reached : str
        "budget" where time ran out, "cap" where the best model has as many classes as were allowed, else "".
    """

    def __init__(
        self, estimator: Any, grid: list[dict], source: Source, told: Callable | None = None, *, by: str = "bic",
        most: int | None = None, clock: Clock | None = None, deepen: bool = True,
        fewest: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(estimator, grid, source, told)
        self.by, self.most, self.clock, self.deepen = by, most, clock or Clock(), deepen
        self.values: dict[int, float | None] = {}
        self.fewest = fewest
        self.reached = ""
        self.depth, self.watched = 0, estimator.callback
        self.lanes = self._lanes(grid)
        self.n_cells = float(source.sum(_count_cells))

    def _lanes(self, grid: list[dict]) -> list[Lane]:
        lanes: dict[str, Lane] = {}
        for settings in grid:
            rest = {name: value for name, value in settings.items() if name != "n_components"}
            lane = lanes.setdefault(repr(rest), Lane(len(lanes), rest, []))
            lane.sizes.append(settings["n_components"])
        for lane in lanes.values():
            lane.sizes.sort()
        self.outcomes: list[Outcome] = []
        return list(lanes.values())

    def run(self) -> list[Outcome]:
        """Fit what is worth while; returns the outcomes by size."""
        try:
            self._scout()
            quiet = 0 if self.deepen else QUIET
            for _ in range(ROUNDS):
                if quiet >= QUIET:
                    break
                quiet = 0 if self._deepened() else quiet + 1
                self._scout()
        except KeyboardInterrupt:
            self._stopped()
        best = min(self.outcomes, key=self._known, default=None)
        if not self.reached and best is not None and self.most and best.size >= self.most > 1:
            self.reached = "cap"
        return sorted(self.outcomes, key=lambda outcome: outcome.size)

    def _stopped(self) -> None:
        """Keep what there is, of a user's interrupt as of time that ran out."""
        if not self._any:
            raise KeyboardInterrupt
        if self.clock.over:
            self.reached = "budget"
            for outcome in self.outcomes:
                if outcome.estimator is None and outcome.failed is None:
                    outcome.failed = Note("budget", "the budget of time ran out during this fit")
            return
        warnings.warn("interrupted by the user; what was fitted so far is kept.", UserWarning, stacklevel=4)
        for outcome in self.outcomes:
            if outcome.estimator is None and outcome.failed is None:
                outcome.failed = Note("interrupted", "interrupted by the user before this fit")
        if not any(getattr(outcome.failed, "code", "") == "interrupted" for outcome in self.outcomes):
            self.outcomes[-1].failed = Note("interrupted", "interrupted by the user")

    # The order of work

    def _known(self, outcome: Outcome) -> float:
        value = self.values.get(id(outcome))
        return np.inf if value is None else value

    @property
    def best(self) -> float:
        """The best criterion so far."""
        return min(map(self._known, self.outcomes), default=np.inf)

    def _scout(self) -> None:
        """Go on in every lane that has not ended."""
        for lane in self.lanes:
            if lane.ended in ("worse", "behind"):  # a better maximum found since may open it again
                lane.ended = ""
            if not lane.tried and lane.sizes:
                lane.slope = self._n_parameters(lane)
        waiting = [lane for lane in self.lanes if self._goes_on(lane)]
        heapq.heapify(waiting)
        while waiting:
            lane = heapq.heappop(waiting)
            outcome = self._next(lane)
            if len(lane.tried) <= 2:
                self.clock.rest()
            self._attempt(outcome, self._first)
            self._judge(outcome)
            if self.few and outcome.resp is not None and self.values[id(outcome)] is None:  # collapsed: others may not
                self._attempt(outcome, self._again)
                self._judge(outcome)
            lane.cost += lane.slope * outcome.size
            if self.told:
                self.told(outcome)
            if self._goes_on(lane):
                heapq.heappush(waiting, lane)

    def _next(self, lane: Lane) -> Outcome:
        """The next outcome of a lane, noted; of one class, that of a lane with the same model counts for both."""
        size = lane.sizes.pop(0)
        outcome = Outcome({"n_components": size} | lane.settings)
        self.outcomes.append(outcome)
        lane.tried.append(outcome)
        return outcome

    def _goes_on(self, lane: Lane) -> bool:
        if lane.ended:
            return False
        self._share_one(lane)
        if self.most is None:
            return bool(lane.sizes)
        if not lane.sizes and lane.tried and lane.tried[-1].size < self.most:
            lane.sizes = [lane.tried[-1].size + 1]
        if not lane.sizes:
            return False
        lane.ended = self._reason_to_end(lane)
        return not lane.ended

    def _share_one(self, lane: Lane) -> None:
        """Leave one class to a lane before with as many parameters: structures differ between classes only."""
        if lane.sizes[:1] != [1] or lane.tried or (self.most is None and len(lane.sizes) == 1):
            return
        for other in self.lanes[: lane.order]:
            if other.slope == lane.slope and (other.tried or other.sizes)[:1] and _starts_at_one(other):
                lane.sizes.pop(0)
                if self.most is not None and not lane.sizes:
                    lane.sizes = [2] if self.most >= 2 else []
                return

    def _reason_to_end(self, lane: Lane) -> str:
        if lane.slope * (
            lane.sizes[0] if self._grows(lane) else 1
        ) * CELLS_PER_PARAMETER > self.n_cells and lane.slope > min(each.slope for each in self.lanes):
            return "parameters"
        values = [self._known(outcome) for outcome in lane.tried]
        if not values:
            return ""
        if len(values) - 1 - int(np.argmin(values)) >= PATIENCE:
            return "worse"
        if len(values) > 1 and np.isfinite(values[-1]):
            gain = max(values[-2] - values[-1], 0.0)
            if np.isfinite(gain) and values[-1] - self.best > REACH * gain + CLOSE:
                return "behind"
        return ""

    def _grows(self, lane: Lane) -> bool:
        """Whether every class has parameters of its own for its spread."""
        return str(lane.settings.get("covariance_type", "full")) not in ("tied", "EEE", "EEI", "EII")

    def _n_parameters(self, lane: Lane) -> float:
        """Free parameters of one class, which say what a model costs."""
        try:
            model = self._candidate(Outcome({"n_components": 1} | lane.settings))._model()
            return float(model.n_parameters(model.init(self.sample, np.random.default_rng(0))))
        except Exception:  # told by the fit itself
            return 1.0

    def _judge(self, outcome: Outcome) -> None:
        row = row_of(outcome, self.source, self.fewest)
        self.values[id(outcome)] = row[self.by] if row["failed"] is None else None

    # Fits

    def _candidate(self, outcome: Outcome) -> Any:
        candidate = super()._candidate(outcome)
        candidate.callback = self._watch
        return candidate

    def _watch(self, progress: Any) -> None:
        if self.watched is not None:
            self.watched(progress)
        if self._any:  # what the first fit compiles is compiled once per machine
            self.clock.tick()

    @property
    def _any(self) -> bool:
        return any(outcome.estimator is not None for outcome in self.outcomes)

    def _first(self, outcome: Outcome) -> None:
        self.heats = [(6, 3), (12, 1)] if self.few else [(4, 2), (8, 1)]
        super()._first(outcome)

    def _n_fresh(self) -> int:
        return (6 if self.few else 3) if not self.depth else (24 if self.few else 4)

    def _raced(self, model: Any, starts: list) -> list:
        return race(model, self.sample, starts, self.heats, self.clock.tick if self._any else None)

    def _related(self, outcome: Outcome, step: int) -> np.ndarray | None:
        found = super()._related(outcome, step)
        if found is None and outcome.size + step == 1:
            return next((other.resp for other in self.outcomes if other.size == 1 and other.resp is not None), None)
        return found

    def _deepened(self) -> bool:
        """Search the leaders anew; whether that changed the choice."""
        self.depth += 1
        before = self.best
        leaders = sorted((each for each in self.outcomes if self._known(each) < before + CLOSE), key=self._known)
        leaders = leaders[: LEADERS[self.depth > 1]]
        if self.depth == 1:
            leaders += [min(lane.tried, key=self._known) for lane in self.lanes if lane.tried]
        near = set(map(id, leaders))
        leaders = [each for each in self.outcomes if id(each) in near and each.resp is not None and each.size > 1]
        leaders = [each for each in leaders if self._known(each) < before + NEAR]
        self.fresh.clear()
        for outcome in leaders:
            self._attempt(outcome, self._again)
            self._judge(outcome)
        return self.best < before - SETTLED

    def _again(self, outcome: Outcome) -> None:
        self.heats = [(6, 8), (10, 4), (20, 2)] if self.few else [(4, 2), (8, 1)]
        candidate = outcome.estimator
        model = candidate._model()
        if model.one_start or self.source.labelled:
            return
        found = self._searched(model)
        starts = [found] if found is not None else []
        if found is None:
            starts += [model.start(self.sample, resp) for resp in self._fresh(candidate, model)]
        starts += self._inherited(outcome, model)
        larger = self._related(outcome, +1)
        if larger is not None and not (self.sample.labels >= 0).any():
            starts += [follow(model, self.sample, resp) for resp in merges(larger, self.sample.weight)]
        self._keep_best(outcome, self._raced(model, starts))

    def _searched(self, model: Any) -> Any:
        """Where the compiled search leads, for complete tables of measurements; None for others."""
        family = model.family
        if type(model) is not MixtureModel or not isinstance(family, Product) or len(family.parts) != 1:
            return None
        ((part, columns),) = family.parts
        if list(columns) != list(range(self.sample.X.shape[1])):
            return None
        plain = MixtureModel(part, model.n_components, model.init_method, model.weight_prior)
        if not can_search(plain, self.sample):
            return None
        found = search(plain, self.sample, self.rng)
        return None if found is None else MixtureParams(found.params.weight, Parts((found.params.components,)))


def _starts_at_one(lane: Lane) -> bool:
    return (lane.tried[0].size if lane.tried else lane.sizes[0]) == 1


def _count_cells(block: Any) -> np.ndarray:
    """Known cells of a block."""
    rows = np.diff(block.patterns.starts)
    return np.array(float(rows @ (~block.patterns.missing).sum(axis=1)))
