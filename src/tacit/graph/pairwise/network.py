"""`PairNetwork`: what networks of binary units share, how they are learned, scored and drawn from."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ...base import RowsEstimator
from ...base.settings import KW_ONLY, settings
from ...checks import check_choice, check_n_jobs, check_number
from ...declared import Flag, Whole
from ...engine import climb
from ...kernels import host
from ...source import Source
from ..structure.codes import check_edges
from .model import PairModel, PairParams, gibbs
from .states import all_states, check_units

__all__ = ["FEW_UNITS", "PairNetwork"]

LEARNING = ("auto", "exact", "pseudo", "contrastive")
FEW_UNITS = 12


@settings
class PairNetwork(RowsEstimator):
    """What networks of binary units share; a subclass names the two values that a unit may have."""

    _: KW_ONLY
    edges: Any = None
    learning: str = "auto"
    alpha: float = 1.0
    tol: float = 1e-5
    max_iter: int = 500
    n_steps: int = 1
    n_epochs: int = 50
    batch_size: int = 10
    learning_rate: float = 0.1
    random_state: Any = None
    n_jobs: int | None = None

    _values: ClassVar[tuple[float, float]]
    _takes_missing = False
    _dtypes = (np.float64,)
    _min_rows = 1
    _saved = RowsEstimator._saved | {"n_iter_": Whole(0), "converged_": Flag()}

    @property
    def _missing_remedy(self) -> str:  # type: ignore[override]
        return f"which {type(self).__name__} does not take; fill it in or drop the row"

    def _check_settings(self) -> None:
        check_choice("learning", self.learning, LEARNING)
        for name in ("alpha", "tol"):
            check_number(name, getattr(self, name), numbers.Real, 0)
        check_number("learning_rate", self.learning_rate, numbers.Real, 0)
        for name in ("max_iter", "n_steps", "n_epochs", "batch_size"):
            check_number(name, getattr(self, name), numbers.Integral, 1)
        check_n_jobs(self.n_jobs)

    def _validate(self, X: Any, *, reset: bool) -> Any:
        X = super()._validate(X, reset=reset)
        self._check_cells(X)
        return X

    def _check_source(self, source: Source, reset: bool) -> None:
        super()._check_source(source, reset)
        for _ in source.map(lambda block: self._check_cells(host(block.X))):
            pass

    def _check_cells(self, X: np.ndarray) -> None:
        """Raise where a cell is none of the two values."""
        bad = ~np.isin(X, self._values)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            low, high = map(int, self._values)
            raise ValueError(
                f"column {self._told(int(column))} holds {X[row, column]:g}; units of {type(self).__name__} are {low} or {high}."
            )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn fields and couplings.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of units.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows.

        Returns
        -------
        self
        """
        self._check_settings()
        source = self._open(X, sample_weight, reset=True)
        model, rng = self._model(), self._rng()
        start = model.init(source.sample(min(source.n_rows, 10_000), rng), rng)
        if self._rule() == "contrastive":
            self.n_iter_, self.converged_ = self.n_epochs, True
            self._publish(self._descend(model, source, start, rng))
            return self
        found = climb(model, source, start, max_iter=self.max_iter, tol=self.tol)
        self.n_iter_, self.converged_ = len(found.trace) - 1, found.converged
        if not found.converged:
            warnings.warn(f"{found.reason}; increase it, or tol or alpha.", ConvergenceWarning, stacklevel=2)
        self._publish(found.params)
        return self

    def _descend(self, model: Any, source: Any, params: Any, rng: np.random.Generator) -> Any:
        """Contrastive divergence over batches of rows drawn by weight; the mean of the second half of the epochs."""
        block = source.take(np.arange(source.n_rows))
        X, share = np.asarray(block.X), block.weight / block.weight.sum()
        n, total = len(X), block.weight.sum()
        theta, mean, kept = model.free(params), 0.0, 0
        for epoch in range(self.n_epochs):
            rate = self.learning_rate / (1.0 + 4.0 * epoch / self.n_epochs)
            rows = rng.choice(n, n, p=share) if np.ptp(share) else rng.permutation(n)
            for start in range(0, n, self.batch_size):
                params = model.bound(theta, params)
                step = model.ascent(params, X[rows[start : start + self.batch_size]], self.n_steps, rng)
                theta = theta + rate * (step - self.alpha / total * theta)
            if 2 * epoch >= self.n_epochs - 1:
                mean, kept = mean + theta, kept + 1
        return model.bound(mean / kept, params)

    def _linked(self) -> np.ndarray:
        """Which pairs have couplings."""
        d = self.n_features_in_
        if self.edges is None:
            return ~np.eye(d, dtype=bool)
        return check_edges("edges", [self._numbered(edge) for edge in self.edges], d)

    def _numbered(self, edge: Any) -> Any:
        names = self._known_names() or []
        return tuple(names.index(end) if end in names else end for end in edge)

    # What a subclass says

    def _rule(self) -> str:
        """How it learns."""
        if self.learning != "auto":
            return self.learning
        return "exact" if self.n_features_in_ <= FEW_UNITS else "pseudo"

    def _model(self) -> Any:
        """What the settings describe."""
        exact = self._rule() == "exact"
        if exact:
            check_units(self.n_features_in_, "learning='exact'", "use learning='pseudo'")
        return PairModel(self._values, self._linked(), exact, self.alpha)

    def _publish(self, params: Any) -> None:
        self.field_, self.coupling_ = params.field, params.coupling

    def _params(self) -> Any:
        check_is_fitted(self)
        return PairParams(self.field_, self.coupling_, np.array(self._values))

    # What it says of rows

    @property
    def log_partition_(self) -> float:
        """Log Z, the log of the sum over all states."""
        params = self._params()
        check_units(self._n_summed, "log Z", "use pseudo_score_samples, which needs no sum over states")
        return params.sums[0]

    @property
    def _n_summed(self) -> int:
        return self.n_features_in_

    def score_samples(self, X: Any) -> np.ndarray:
        """Log probabilities of rows, (n_samples,); exact, so that units must be few.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        """
        params, log_z = self._params(), self.log_partition_
        return self._apply(X, lambda block: params.score(block.X) - log_z)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log probability of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : None
            Ignored.
        """
        return float(self.score_samples(X).mean())

    def _drawn(self, n_samples: int, n_passes: int, rng: np.random.Generator) -> np.ndarray:
        params = self._params()
        X = np.array(self._values)[rng.integers(2, size=(n_samples, self.n_features_in_))]
        for _ in range(n_passes):
            gibbs(params, X, rng)
        return X

    def sample(self, n_samples: int = 1, *, n_passes: int = 200, random_state: Any = None) -> np.ndarray:
        """Draw rows: exactly where units are few, else by Gibbs sampling, each row of a chain of its own.

        Parameters
        ----------
        n_samples : int, default=1
        n_passes : int, default=200
            Passes over all units.
        random_state : int, RandomState instance or None
            By default the estimator's own.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        params, rng = self._params(), self._rng(random_state)
        check_number("n_samples", n_samples, numbers.Integral, 1)
        check_number("n_passes", n_passes, numbers.Integral, 1)
        if self.n_features_in_ > FEW_UNITS:
            return self._drawn(n_samples, n_passes, rng)
        states = np.concatenate(list(all_states(self.n_features_in_, self._values)))
        score = params.score(states)
        p = np.exp(score - score.max())
        return states[rng.choice(len(states), n_samples, p=p / p.sum())]
