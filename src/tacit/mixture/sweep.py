"""`Sweep`: one estimator under many settings, learned from one source with shared starts."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ..engine import Model
from ..kernels import host
from ..notes import Note
from ..source import Block, Source
from .search import PATIENCE, can_search, search
from .starts import follow, merges, merit, pinned, race, splits

__all__ = ["Outcome", "Sweep", "row_of", "totals"]

FEW_ROWS = 1000
COLLAPSED = Note(
    "collapsed",
    "a class collapsed onto the covariance floor, where the likelihood has no maximum; ranked after the others",
)


TINY = Note("tiny", "a group of one or two rows, which are better called unusual; ranked after the others")


@dataclass
class Outcome:
    """What became of one combination of settings: the fitted estimator or why there is none, and the classes of the sample."""

    settings: dict[str, Any]
    estimator: Any = None
    failed: str | Note | None = None
    seconds: float = 0.0
    resp: np.ndarray | None = None

    @property
    def size(self) -> int:
        """The number of classes."""
        return self.settings["n_components"]


class Sweep:
    """Fits of one estimator under many settings.

    For each number of classes, random starts are made once for all settings. Each fit begins where the best of a race on a
    sample of rows ended; what fits under other settings found runs along, and so do the fits with one class less and, where
    rows are few, one class more. Fits in which no class collapsed go before those in which one did.

    Each `Outcome` is `told` when its first fit is made. Where rows are few, a `thorough` sweep follows more starts to the end,
    and tries every fit once more with what others found since.
    """

    reached = ""

    def __init__(
        self, estimator: Any, grid: list[dict], source: Source, told: Callable | None = None, *, thorough: bool = True
    ):
        self.estimator, self.source, self.told = estimator, source, told
        self.outcomes = [Outcome(settings) for settings in grid]
        self.rng = estimator._rng()
        self.fresh: dict[tuple, list[np.ndarray]] = {}
        self.few, self.thorough = source.n_rows <= FEW_ROWS, thorough
        # Enough rows to tell classes apart in all directions.
        most = max((outcome.size for outcome in self.outcomes), default=1)
        n_rows = int(np.clip(20 * most * source.n_features, 2000, 10_000))
        self.sample = estimator._sample(source, self.rng, n_rows)
        # Where rows are few, runs cost next to nothing, and many starts lead to as many maxima.
        few = [(10, 6), (20, 3)] if self.thorough else [(10, 2)]
        self.heats = few if self.few else [(4, 2), (8, 1)]

    def run(self) -> list[Outcome]:
        """Fit everything; returns the outcomes in the order of the grid."""
        by_size = sorted(self.outcomes, key=lambda outcome: outcome.size)
        try:
            for outcome in by_size:
                self._attempt(outcome, self._first)
                if self.told:
                    self.told(outcome)
            for outcome in by_size if self.few and self.thorough else ():
                if outcome.resp is not None:
                    self._attempt(outcome, self._again)
        except KeyboardInterrupt:
            if not any(outcome.estimator is not None for outcome in self.outcomes):
                raise
            warnings.warn("interrupted by the user; what was fitted so far is kept.", UserWarning, stacklevel=4)
            for outcome in self.outcomes:
                if outcome.estimator is None and outcome.failed is None:
                    outcome.failed = Note("interrupted", "interrupted by the user before this fit")
        return self.outcomes

    def _attempt(self, outcome: Outcome, work: Callable[[Outcome], None]) -> None:
        """Do the work for one outcome; an error is its result."""
        started = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                work(outcome)
        except Exception as error:
            if outcome.estimator is None:
                kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
                outcome.failed = kind + " ".join(str(error).split())
        outcome.seconds += time.perf_counter() - started

    def _candidate(self, outcome: Outcome) -> Any:
        """An estimator with the settings, ready to learn from the source."""
        candidate = clone(self.estimator).set_params(**outcome.settings)
        candidate._check_settings()
        candidate._open(self.source, reset=True)
        candidate._check_enough(self.source)
        candidate._prepare(self.source)
        return candidate

    def _first(self, outcome: Outcome) -> None:
        candidate = self._candidate(outcome)
        model = candidate._model()
        if self.source.labelled or candidate._start_is_given() or not model.shares_starts:
            candidate._learn(self.source)
            outcome.estimator = candidate
            return
        if model.one_start:
            starts = [model.init(self.sample, self.rng)]
        else:
            starts = [model.start(self.sample, resp) for resp in self._fresh(candidate, model)]
            starts += self._inherited(outcome, model)
            starts = self._raced(model, starts)
        self._keep_best(outcome, starts)

    def _again(self, outcome: Outcome) -> None:
        """Try what other settings found since, what one class more leads to, and what a search of its own finds."""
        model = outcome.estimator._model()
        if model.one_start:
            return
        starts = self._inherited(outcome, model)
        larger = self._related(outcome, +1)
        if larger is not None and not (self.sample.labels >= 0).any():
            starts += [follow(model, self.sample, resp) for resp in merges(larger, self.sample.weight)]
        starts = self._raced(model, starts) if starts else []
        if can_search(model, self.sample):
            n = outcome.estimator.n_init
            found = [search(model, self.sample, self.rng, patience=n * PATIENCE) for _ in range(n)]
            starts += [each.params for each in found if each is not None]
        self._keep_best(outcome, starts)

    def _keep_best(self, outcome: Outcome, starts: list) -> None:
        """Learn from each start, and keep the best fit, an earlier one included."""
        fits = [] if outcome.estimator is None else [outcome.estimator]
        for start in starts:
            candidate = self._candidate(outcome)
            candidate._learn(self.source, starts=[start])
            fits.append(candidate)
            if candidate.fit_.interrupted:
                break
        model = fits[0]._model()
        best = max(fits, key=lambda candidate: merit(model, candidate.fit_))
        if best is not outcome.estimator:
            resp = model.posterior(best.fit_.params, self.sample)[0][:, : outcome.size]  # without noise
            outcome.estimator, outcome.resp = best, pinned(resp, self.sample.labels)
        if fits[-1].fit_.interrupted:
            raise KeyboardInterrupt

    def _raced(self, model: Any, starts: list) -> list:
        return race(model, self.sample, starts, self.heats)

    def _n_fresh(self) -> int:
        """Random starts of a model."""
        return 20 if self.few else 5

    def _fresh(self, candidate: Any, model: Any) -> list[np.ndarray]:
        """Random assignments, the same for all settings that seed them alike."""
        n_starts = self._n_fresh() * candidate.n_init
        key = model.n_components, model.init_method, n_starts
        if key not in self.fresh:
            self.fresh[key] = [model.seed(self.sample, self.rng) for _ in range(n_starts)]
        return self.fresh[key]

    def _inherited(self, outcome: Outcome, model: Any) -> list:
        """Starts from what other settings found with as many classes, and from splits of what was found with one less."""
        others = [each.resp for each in self.outcomes if each.size == outcome.size and each is not outcome]
        smaller = self._related(outcome, -1)
        if smaller is not None:
            Z = model.family.embed(self.sample, self.rng)
            found = splits(smaller, Z, self.sample.weight, most=None if self.few else 4)
            others += [pinned(resp, self.sample.labels) for resp in found]
        return [follow(model, self.sample, resp) for resp in others if resp is not None]

    def _related(self, outcome: Outcome, step: int) -> np.ndarray | None:
        """The classes that were found with `step` more of them under the same settings, if it was fitted."""
        wanted = repr({**outcome.settings, "n_components": outcome.size + step})
        return next((other.resp for other in self.outcomes if repr(other.settings) == wanted), None)


def totals(model: Model, params: Any, block: Block) -> np.ndarray:
    """Σ w log p(x), Σ w and Σ w log max_k r_k over the rows of a block."""
    resp, log_density = model.posterior(params, block)
    best = np.log(np.maximum(resp.max(axis=1), np.finfo(float).tiny))
    # The states of a sequence are one for each of its rows, while subjects of experts have one for all of theirs.
    rows, units = host(block.weight), host(block.unit_weight)
    weight = rows if len(best) == len(rows) else units
    return np.array([(rows if len(log_density) == len(rows) else units) @ log_density, weight.sum(), weight @ best])


def row_of(outcome: Outcome, source: Source, fewest: float = 0.0) -> dict[str, Any]:
    """What a table of models says of an outcome, from one pass over the source."""
    names = ("log_likelihood", "n_parameters", "bic", "aic", "icl", "cv", "converged", "n_iter")
    row = outcome.settings | dict.fromkeys(names) | {"seconds": outcome.seconds, "failed": outcome.failed}
    fitted = outcome.estimator
    if fitted is None:
        return row
    (model, params), p = fitted._resumed(source), fitted._n_parameters()
    loglik, weight, log_best = source.sum(partial(totals, model, params)).tolist()
    bic = -2.0 * loglik + p * float(np.log(weight))
    row |= {
        "log_likelihood": loglik, "n_parameters": p, "bic": bic, "aic": -2.0 * loglik + 2 * p, "icl": bic - 2.0 * log_best,
        "converged": bool(fitted.converged_), "n_iter": fitted.n_iter_,
    }  # fmt: skip
    if model.collapsed(fitted.fit_.params):
        row["failed"] = COLLAPSED
    elif fewest and outcome.size > 1 and float(np.min(params.weight[: outcome.size])) * weight < fewest:
        row["failed"] = TINY
    return row
