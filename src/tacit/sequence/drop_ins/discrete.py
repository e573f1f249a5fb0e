"""`CategoricalHMM`, `MultinomialHMM` and `PoissonHMM`, as in hmmlearn."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ...declared import Numbers
from ...families import Categorical, DirichletPrior, GammaPrior, Multinomial, Poisson
from ...families.linear import ProbabilityParams, RateParams
from ...source import Source
from ..model import ChainModel
from .base import DropIn, keep

__all__ = ["CategoricalHMM", "MultinomialHMM", "PoissonHMM"]


class _Held(DropIn):
    """Emissions that are learned or held as a whole; a subclass has one letter."""

    def _model(self) -> ChainModel:
        (letter,) = self._letters
        return ChainModel(self._family(), self._structure(), "kmeans", held=letter not in self.params)

    def _replaced(self, components: Any, kept: dict[str, Any]) -> Any:
        return components


class _Emissions(_Held):
    """Probabilities of symbols."""

    _letters: ClassVar[dict[str, str]] = {"e": "emissionprob_"}
    _saved = DropIn._saved | {"emissionprob_": Numbers("K S", low=0, high=1, total=1)}
    emissionprob_: np.ndarray
    n_features: Any

    def _check(self) -> None:
        super()._check()
        self.emissionprob_ = np.atleast_2d(np.asarray(self.emissionprob_, dtype=np.float64))
        n = self._n_symbols(self.emissionprob_.shape[1])
        if self.emissionprob_.shape != (self.n_components, n) or not n:
            raise ValueError(
                f"emissionprob_ has shape {self.emissionprob_.shape}, but must have ({self.n_components}, {n})."
            )
        self._check_sum_1("emissionprob_")

    def _n_symbols(self, seen: int) -> int:
        """Number of symbols, where so many are known."""
        return seen

    def _components(self) -> ProbabilityParams:
        return ProbabilityParams(np.atleast_2d(np.asarray(self.emissionprob_, dtype=np.float64)))

    def _publish_components(self, components: Any, dtype: np.dtype) -> None:
        self.emissionprob_ = components.probability.copy()

    def _get_n_fit_scalars_per_param(self) -> dict[str, int]:
        return super()._get_n_fit_scalars_per_param() | {"e": self.n_components * (int(self.n_features) - 1)}


class CategoricalHMM(_Emissions):
    """Hidden Markov model of symbols: a drop-in for hmmlearn's that takes missing steps and known states.

    Parameters
    ----------
    n_components : int, default=1
        Number of states.
    startprob_prior, transmat_prior : float or array, default=1.0
        α of Dirichlet priors.
    emissionprob_prior : float or array, default=1.0
        α of Dirichlet priors of the symbols of a state.
    n_features : int, optional
        Number of symbols; default those seen.
    algorithm, random_state, n_iter, tol, verbose, implementation
        As in :class:`GaussianHMM`.
    params, init_params : str, default="ste"
        As in :class:`GaussianHMM`, with "e" for emissionprob_.
    n_init, n_jobs, callback, sequence, time
        As in :class:`GaussianHMM`.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
    transmat_ : ndarray of shape (n_components, n_components)
    emissionprob_ : ndarray of shape (n_components, n_features)
    n_features : int
        Number of symbols.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.sequence import CategoricalHMM
    >>> X = np.array([[0, 1, 0, 0, 1, 2, 2, 1, 2, 2]]).T
    >>> CategoricalHMM(2, random_state=0).fit(X).emissionprob_.shape
    (2, 3)
    """

    def __init__(
        self, n_components: int = 1, startprob_prior: Any = 1.0, transmat_prior: Any = 1.0, *,
        emissionprob_prior: Any = 1.0, n_features: int | None = None, algorithm: str = "viterbi", random_state: Any = None,
        n_iter: int = 10, tol: float = 1e-2, verbose: bool = False, params: str = "ste", init_params: str = "ste",
        implementation: str = "log", n_init: int = 1, n_jobs: int | None = None, callback: Any = None, sequence: Any = None,
        time: Any = None,
    ):  # fmt: skip
        keep(self, locals())

    def _validate(self, X: Any, *, reset: bool) -> Any:
        if not reset:
            self.n_features_in_ = 1
        X = np.asarray(X)
        if X.ndim == 2 and X.shape[0] == 1 and X.shape[1] > 1:
            X = X.T  # hmmlearn once took one row of symbols
        X = super()._validate(X, reset=reset)
        if X.shape[1] != 1:
            raise ValueError(f"X has {X.shape[1]} columns; CategoricalHMM takes one column of symbols.")
        seen = X[~np.isnan(X)]
        bad = seen[(seen < 0) | (seen != np.floor(seen))]
        if bad.size:
            raise ValueError(f"X holds {bad[0]:g}; symbols must be whole numbers from 0.")
        most = int(seen.max(initial=-1)) + 1
        if self.n_features is not None and most > self.n_features:
            raise ValueError(
                f"X holds the symbol {most - 1}, but there are {self.n_features}, numbered from 0; fit with n_features={most}."
            )
        if reset and self.n_features is None:
            self.n_features = most
        return X

    def _check_and_set_n_features(self, X: Any) -> None:
        X = np.asarray(X)
        if X.dtype.kind not in "iu":
            raise ValueError("symbols must be whole numbers.")
        self._validate(X if X.ndim == 2 and X.shape[1] == 1 else X.reshape(-1, 1), reset=True)

    def _n_symbols(self, seen: int) -> int:
        if self.n_features is None:
            self.n_features = seen
        return int(self.n_features)

    def _family(self) -> Categorical:
        alpha = np.asarray(self.emissionprob_prior, dtype=float)
        if (alpha == 1.0).all():
            return Categorical((int(self.n_features),))
        prior = DirichletPrior(alpha if alpha.ndim == 0 else alpha.reshape(-1)[: self.n_features])
        return Categorical((int(self.n_features),), prior=prior)

    def _drawn_rows(self, model: Any, params: Any, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return super()._drawn_rows(model, params, states, rng).astype(int)


class MultinomialHMM(_Emissions):
    """Hidden Markov model of counts of symbols: a drop-in for hmmlearn's.

    Parameters
    ----------
    n_components : int, default=1
        Number of states.
    n_trials : int or array of int, optional
        Counts of a row; default those seen, which may differ.
    startprob_prior, transmat_prior, algorithm, random_state, n_iter, tol, verbose, implementation
        As in :class:`GaussianHMM`.
    params, init_params : str, default="ste"
        As in :class:`CategoricalHMM`.
    n_init, n_jobs, callback, sequence, time
        As in :class:`GaussianHMM`.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
    transmat_ : ndarray of shape (n_components, n_components)
    emissionprob_ : ndarray of shape (n_components, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.sequence import MultinomialHMM
    >>> X = np.array([[4, 1], [3, 2], [0, 5], [1, 4]])
    >>> MultinomialHMM(2, random_state=0).fit(X).emissionprob_.shape
    (2, 2)
    """

    n_trials: Any

    def __init__(
        self, n_components: int = 1, n_trials: Any = None, startprob_prior: Any = 1.0, transmat_prior: Any = 1.0,
        algorithm: str = "viterbi", random_state: Any = None, n_iter: int = 10, tol: float = 1e-2, verbose: bool = False,
        params: str = "ste", init_params: str = "ste", implementation: str = "log", *, n_init: int = 1,
        n_jobs: int | None = None, callback: Any = None, sequence: Any = None, time: Any = None,
    ):  # fmt: skip
        keep(self, locals())

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of symbols."""
        return self.n_features_in_

    def _validate(self, X: Any, *, reset: bool) -> Any:
        if not reset and "n_features_in_" not in self.__dict__:
            self._check()
        X = super()._validate(X, reset=reset)
        Multinomial().check(X)
        total = X.sum(axis=1)
        if reset and self.n_trials is None:
            self.n_trials = total.astype(int) if not np.isnan(total).any() else int(np.nanmax(total))
        elif reset and np.ndim(self.n_trials) == 0 and (total[~np.isnan(total)] != self.n_trials).any():
            other = total[total != self.n_trials][0]
            raise ValueError(
                f"a row of X counts {other:g}, but n_trials={self.n_trials}; leave n_trials out where rows differ."
            )
        return X

    def _check_and_set_n_features(self, X: Any) -> None:
        X = np.asarray(X)
        if X.dtype.kind not in "iu":
            raise ValueError("counts must be whole numbers.")
        if "n_features_in_" in self.__dict__ and X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} columns, but {self.n_features_in_} are expected.")
        if np.ndim(self.n_trials) and (X.sum(axis=1) != np.asarray(self.n_trials)[: len(X)]).any():
            raise ValueError("rows do not add up to n_trials.")
        self._validate(X, reset=True)

    def _n_symbols(self, seen: int) -> int:
        self.n_features_in_ = seen
        return seen

    def _family(self) -> Multinomial:
        return Multinomial(int(np.max(self.n_trials)) if self.n_trials is not None else 100)

    def _drawn_rows(self, model: Any, params: Any, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        trials: Any = np.unique(self.n_trials) if self.n_trials is not None else []
        if len(trials) != 1:
            raise ValueError(
                f"n_trials={self.n_trials!r} is not one number; set it to the counts of a row to draw rows."
            )
        return np.array([rng.multinomial(int(trials[0]), p) for p in params.components.probability[states]])

    def _check(self) -> None:
        super()._check()
        if self.n_trials is None:
            raise ValueError("n_trials is not set; set it to the counts of a row, or fit.")

    def _prepare(self, source: Source) -> Any:
        return None


class PoissonHMM(_Held):
    """Hidden Markov model of counts: a drop-in for hmmlearn's that takes missing values and known states.

    Parameters
    ----------
    n_components : int, default=1
        Number of states.
    startprob_prior, transmat_prior, algorithm, random_state, n_iter, tol, verbose, implementation
        As in :class:`GaussianHMM`.
    lambdas_prior, lambdas_weight : float or array, default=0.0
        Shape and rate of gamma priors of the rates; 0 is none.
    params, init_params : str, default="stl"
        As in :class:`GaussianHMM`, with "l" for lambdas_.
    n_init, n_jobs, callback, sequence, time
        As in :class:`GaussianHMM`.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
    transmat_ : ndarray of shape (n_components, n_components)
    lambdas_ : ndarray of shape (n_components, n_features)
        Rates.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.sequence import PoissonHMM
    >>> X = np.array([[1, 0, 2, 1, 9, 11, 8, 10, 1, 0]]).T
    >>> np.sort(PoissonHMM(2, random_state=0, n_iter=50).fit(X).lambdas_.ravel()).round(1)
    array([0.8, 9.5])
    """

    _letters: ClassVar[dict[str, str]] = {"l": "lambdas_"}
    _saved = DropIn._saved | {"lambdas_": Numbers("K d", above=0)}
    lambdas_: np.ndarray

    def __init__(
        self, n_components: int = 1, startprob_prior: Any = 1.0, transmat_prior: Any = 1.0, lambdas_prior: Any = 0.0,
        lambdas_weight: Any = 0.0, algorithm: str = "viterbi", random_state: Any = None, n_iter: int = 10,
        tol: float = 1e-2, verbose: bool = False, params: str = "stl", init_params: str = "stl",
        implementation: str = "log", *, n_init: int = 1, n_jobs: int | None = None, callback: Any = None,
        sequence: Any = None, time: Any = None,
    ):  # fmt: skip
        keep(self, locals())

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.n_features_in_

    def _validate(self, X: Any, *, reset: bool) -> Any:
        X = super()._validate(X, reset=reset)
        Poisson().check(X)
        return X

    def _family(self) -> Poisson:
        shape, rate = (np.asarray(v, float) for v in (self.lambdas_prior, self.lambdas_weight))
        if not shape.any() and not rate.any():
            return Poisson()
        return Poisson(prior=GammaPrior(np.max(shape) + 1.0, np.max(rate)))

    def _check(self) -> None:
        super()._check()
        self.lambdas_ = np.atleast_2d(np.asarray(self.lambdas_, dtype=np.float64))
        if len(self.lambdas_) != self.n_components or not self.lambdas_.size:
            raise ValueError(f"lambdas_ has shape {self.lambdas_.shape}, but there are {self.n_components} states.")
        self.n_features_in_ = self.lambdas_.shape[1]

    def _components(self) -> RateParams:
        return RateParams(np.maximum(np.atleast_2d(np.asarray(self.lambdas_, dtype=np.float64)), 1e-10))

    def _publish_components(self, components: Any, dtype: np.dtype) -> None:
        self.lambdas_ = components.rate.copy()

    def _get_n_fit_scalars_per_param(self) -> dict[str, int]:
        return super()._get_n_fit_scalars_per_param() | {"l": self.n_components * self.n_features}

    def _drawn_rows(self, model: Any, params: Any, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return super()._drawn_rows(model, params, states, rng).astype(int)
