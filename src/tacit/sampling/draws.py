"""`PosteriorSample`: draws of a model's parameters, and what they say of any quantity f(θ): E f, its interval, rows to come."""

from __future__ import annotations

import copy
import numbers
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..checks import check_number
from ..engine.coordinates import Coordinates
from ..engine.model import Model
from ..notes import Note
from .chains import Chains

__all__ = ["Interval", "PosteriorSample", "variables", "with_params"]


class Interval(NamedTuple):
    """What draws say of a quantity.

    Attributes
    ----------
    mean, sd : ndarray
        Expectation and standard deviation.
    low, high : ndarray
        Ends of the central interval.
    """

    mean: np.ndarray
    sd: np.ndarray
    low: np.ndarray
    high: np.ndarray


def with_params(estimator: Any, params: Any) -> Any:
    """A copy of a fitted estimator with other parameters, which it takes as known."""
    other = copy.copy(estimator)
    other.__dict__.pop("_seen", None)
    if "fit_" in vars(other):
        other.fit_ = replace(other.fit_, params=params, stats=None)
    if hasattr(type(estimator), "draws_"):
        other.__dict__["draws_"] = []
    other._publish(params, np.dtype(np.float64))
    return other


def variables(estimator: Any, params: Any) -> dict[str, np.ndarray]:
    """The fitted attributes that parameters set, and what else the estimator tells of them, by name."""
    other = with_params(estimator, params)
    found = {
        name: np.asarray(value)
        for name, value in vars(other).items()
        if value is not vars(estimator).get(name) and not name.startswith(("precisions", "_", "draws_"))
        and isinstance(value, (np.ndarray, float)) and np.asarray(value).dtype.kind == "f" and np.size(value)
    }  # fmt: skip
    more = estimator._parameters(params) if hasattr(estimator, "_parameters") else {}
    return found | {name: np.asarray(value) for name, value in more.items() if name not in found}


class PosteriorSample:
    """Draws of the parameters of a fitted estimator; made by `sample_posterior`.

    Attributes
    ----------
    estimator : estimator
        As it was fitted.
    chains : Chains
        Draws of the fitted attributes by name, with the sampler's diagnostics.
    n_switched : int
        Draws whose classes were put back into the order of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import GaussianMixture
    >>> from tacit.sampling import sample_posterior
    >>> X = np.random.default_rng(0).normal(5.0, 2.0, size=(50, 1))
    >>> mixture = GaussianMixture(component_prior="default").fit(X)
    >>> posterior = sample_posterior(mixture, X, n_draws=200, n_warmup=200, random_state=0)
    >>> posterior.interval(lambda m: m.score_samples([[5.0]])).mean.shape
    (1,)
    """

    def __init__(
        self, estimator: Any, chains: Chains, view: Coordinates, vectors: np.ndarray, n_switched: int = 0
    ) -> None:
        self.estimator, self.chains, self.n_switched = estimator, chains, n_switched
        self._view, self._vectors = view, vectors
        self._diagnosed: tuple[Note, ...] | None = None

    def __repr__(self) -> str:
        chains, draws = self._vectors.shape[:2]
        return f"{type(self).__name__}({type(self.estimator).__name__}, {chains} chains of {draws} draws)"

    def __len__(self) -> int:
        return int(np.prod(self._vectors.shape[:2]))

    @property
    def notes(self) -> tuple:
        """How draws were made, and what speaks against trusting them; R-hat and effective sizes too if ArviZ is installed."""
        if self._diagnosed is None:
            try:
                told = self.chains.warnings()
            except ImportError:  # draws can be had without it
                return self.chains.notes
            self._diagnosed = tuple(note for note in told if note not in self.chains.notes)
        return (*self.chains.notes, *self._diagnosed)

    def summary(self, names: Any = None, **how: Any) -> Any:
        """A table of the parameters with intervals and diagnostics; see `Chains.summary`."""
        return self.chains.summary(names, **how)

    def to_arviz(self) -> Any:
        """The draws as ``arviz.InferenceData``."""
        return self.chains.to_arviz()

    def each(self, n: int | None = None) -> Iterator[Any]:
        """Estimators with the parameters of a draw each.

        Parameters
        ----------
        n : int, optional
            How many, evenly among the draws; default all.
        """
        vectors = self._vectors.reshape(len(self), -1)
        for at in self._places(n):
            yield with_params(self.estimator, self._view.bound(vectors[at]))

    def _places(self, n: int | None) -> np.ndarray:
        """Numbers of draws that are far from each other."""
        if n is None:
            return np.arange(len(self))
        check_number("n", n, numbers.Integral, 1)
        return np.linspace(0, len(self) - 1, min(n, len(self))).round().astype(int)

    def draws(self, quantity: str | Callable, n: int | None = None) -> np.ndarray:
        """The quantity at every draw, one along the first axis.

        Parameters
        ----------
        quantity : str or callable
            A name of the chains' variables, or a function of an estimator that gives a number or an array.
        n : int, optional
            How many draws, evenly among all.
        """
        if isinstance(quantity, str):
            if quantity not in self.chains.draws:
                raise ValueError(
                    f"quantity={quantity!r} is unknown; use a function, or one of {', '.join(map(repr, self.chains))}."
                )
            return self.chains.flat(quantity)[self._places(n)]
        return np.array([np.asarray(quantity(estimator), dtype=np.float64) for estimator in self.each(n)])

    def interval(self, quantity: str | Callable, level: float = 0.95, n: int | None = None) -> Interval:
        """Expectation, deviation and central interval of a quantity.

        Parameters
        ----------
        quantity : str or callable
            A name of the chains' variables, or a function of an estimator, such as ``lambda m: m.predict_proba(rows)``.
        level : float, default=0.95
        n : int, optional
            How many draws to compute it at; default all.

        Returns
        -------
        Interval
        """
        if not isinstance(level, (float, int)) or not 0 < level < 1:
            raise ValueError(f"level={level!r} is not a number between 0 and 1, such as 0.95.")
        values = self.draws(quantity, n)
        low, high = np.quantile(values, [0.5 * (1.0 - level), 0.5 * (1.0 + level)], axis=0)
        return Interval(values.mean(axis=0), values.std(axis=0), low, high)

    def predictive(self, n: int = 1000, n_rows: int = 1, random_state: Any = None) -> np.ndarray:
        """Rows to come: sets of rows, each drawn under other parameters.

        Parameters
        ----------
        n : int, default=1000
            Sets.
        n_rows : int, default=1
            Rows of each; of a hidden Markov model they are steps of one sequence.
        random_state : int, Generator or None

        Returns
        -------
        ndarray of shape (n, n_rows, n_features)
            Categories as codes.
        """
        check_number("n", n, numbers.Integral, 1)
        check_number("n_rows", n_rows, numbers.Integral, 1)
        rng = np.random.default_rng(random_state)
        vectors, model = self._vectors.reshape(len(self), -1), self.estimator._model()
        if type(model).sample is Model.sample:
            name = type(self.estimator).__name__
            raise TypeError(f"{name} tells of targets and draws no rows; use interval(lambda m: m.predict_proba(X)).")
        places = self._places(n) if n <= len(self) else rng.integers(len(self), size=n)
        rows = [model.sample(self._view.bound(vectors[at]), n_rows, rng)[0] for at in places]
        return np.array([each[rng.permutation(n_rows)] for each in rows] if not self._ordered else rows)

    @property
    def _ordered(self) -> bool:
        """Whether rows follow each other."""
        return hasattr(self.estimator, "predict_pairs")
