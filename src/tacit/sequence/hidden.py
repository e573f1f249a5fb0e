"""`HiddenMarkovModel`: regimes behind sequences of any columns, p(x, z) = π_{z_1} Π_t A_{z_{t−1} z_t} Π_t p(x_t | θ_{z_t})."""

from __future__ import annotations

import numbers
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..checks import check_choice, check_number, check_shaped
from ..declared import Numbers, Part
from ..families import GAUSSIANS, Family
from ..mixture.columns import kinds_of
from ..mixture.description import Description
from ..mixture.tabular import TableEstimator
from ..schema import UNKNOWN
from .durations import AnyDuration, AtLeast, NegativeBinomialDuration
from .forecast import Predictor
from .model import ChainModel
from .shared import Shared
from .stationary import Stationary, stationary
from .structure import ChainParams, Structure
from .timed import Timed

__all__ = ["HiddenMarkovModel"]

SHAPES = ("free", "left-right", "next", "cyclic")
FIXED = ("start", "transitions", "emissions")
LEAST = 1e-12  # of the probability to leave a state: below it, none was seen


@settings
class HiddenMarkovModel(Predictor, TableEstimator):
    """Hidden Markov model of sequences of measurements, counts, categories and yes/no columns, with missing cells and steps.

    Rows are steps. X is an array (with `lengths` where it holds several sequences), a list of arrays, or a table whose columns
    `sequence` and `time` say which row belongs where; steps that the times leave out are steps without observations.

    Parameters
    ----------
    n_components : int, default=2
        Number of states.
    family : str or Family, default="auto"
        What describes the columns given the state, as in :class:`tacit.mixture.Mixture`.
    by_column, covariance_type, reg_covar, smoothing, unknown
        As in :class:`tacit.mixture.Mixture`.
    sequence, time : name of a column, optional
        Which sequence a row of a table belongs to, and when it was: numbers or dates.
    gaps : {"missing", "ignore"}, default="missing"
        Whether steps that times leave out are missing steps, or rows follow each other as they are.
    continuous_time : bool, default=False
        Learn rates of moves in continuous time, P(Δ) = exp(QΔ), for irregular times; ``generator_`` is then Q.
    transitions : {"free", "left-right", "next", "cyclic"}, int or array of bool, default="free"
        Which states may follow which: all; those of no smaller number; the state itself and the next one; the same around a
        circle; states at most so many numbers apart; or where an array (n_components, n_components) says so.
    start : {"free", "stationary"}, int or array of bool, default="free"
        Which states a sequence may begin with. With "left-right" and "next" it is the first by default. "stationary": a
        sequence begins anywhere in a chain that has run for long, so that transitions give the probabilities of first states.
    transition_prior, start_prior : float or array, default=1.0
        α ≥ 1 of Dirichlet priors; 1 is maximum likelihood.
    sticky : float, default=0.0
        Steps' worth added to every move of a state to itself: states that last.
    duration : int, list of int, ("negative_binomial", r) or ("any", longest), optional
        How long states last: at least so many steps; as a sum of r geometric lengths; or any distribution up to a longest
        stay, which is learned. Default: geometric, as moves to the state itself say.
    emissions : list of int, optional
        What each state looks like, by number from 0: states with the same number share their parameters.
    fixed : tuple of {"start", "transitions", "emissions"}, default=()
        What is not learned but stays as it was set: ``startprob_``, ``transmat_`` and ``params_``.
    algorithm : {"viterbi", "map"}, default="viterbi"
        Whether `predict` gives the likeliest path or the most probable state of each step.
    init_params : str
        Not used: starts are seeded by k-means of steps and their surroundings.
    tol, max_iter, n_init, random_state, warm_start, parameter_draws, verbose, verbose_interval, convergence, accelerate, n_jobs, device, callback
        As in :class:`tacit.mixture.GaussianMixture`.

    Attributes
    ----------
    startprob_ : ndarray of shape (n_components,)
        Probabilities of first states.
    transmat_ : ndarray of shape (n_components, n_components)
        Probabilities of moves; in continuous time those of one unit of time.
    generator_ : ndarray of shape (n_components, n_components)
        Rates of moves, in continuous time only.
    durations_ : ndarray of shape (n_components, longest)
        Probabilities of lengths of stay, with ``duration=("any", longest)`` only.
    weights_ : ndarray of shape (n_components,)
        Shares of the steps that are in each state.
    schema_, family_, params_, observed_
        As in :class:`tacit.mixture.Mixture`.
    clock_ : tacit.sequence.Clock or None
        In which steps times go on.
    converged_, n_iter_, lower_bound_, lower_bounds_, fit_
        As in :class:`tacit.mixture.GaussianMixture`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Rabiner (1989), A tutorial on hidden Markov models.
    Zucchini, MacDonald and Langrock (2016), Hidden Markov Models for Time Series.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.sequence import HiddenMarkovModel
    >>> rng = np.random.default_rng(0)
    >>> x = np.concatenate([rng.normal(0, 1, 50), rng.normal(5, 1, 50), [np.nan], rng.normal(0, 1, 50)])[:, None]
    >>> model = HiddenMarkovModel(2, random_state=0).fit(x)
    >>> states = model.predict(x)
    >>> np.flatnonzero(np.diff(states)) + 1
    array([ 50, 100])
    """  # noqa: E501

    n_components: int = 2
    family: Any = "auto"
    _: KW_ONLY
    by_column: Any = None
    smoothing: float = 0.0
    unknown: str = "error"
    sequence: Any = None
    time: Any = None
    gaps: str = "missing"
    continuous_time: bool = False
    transitions: Any = "free"
    start: Any = "free"
    transition_prior: Any = 1.0
    start_prior: Any = 1.0
    sticky: float = 0.0
    duration: Any = None
    emissions: Any = None
    fixed: tuple = ()
    algorithm: str = "viterbi"

    _saved = (TableEstimator._saved | Predictor._saved) | {
        "params_": Part(ChainParams),
        "generator_": Numbers("K K", needed=lambda estimator: estimator.continuous_time),
        "durations_": Numbers("K D", low=0, high=1, needed=False),
    }
    _study = "regimes"
    _n_draws = 60  # paths follow each other slowly: with 20, intervals of short series hold a hundredth less

    # Settings

    def _check_settings(self) -> None:
        self._check_engine()
        check_number("n_init", self.n_init, numbers.Integral, 1)
        check_number("n_components", self.n_components, numbers.Integral, 1)
        check_number("reg_covar", self.reg_covar, numbers.Real, 0, 1e6)
        check_choice("covariance_type", self.covariance_type, GAUSSIANS)
        check_number("smoothing", self.smoothing, numbers.Real, 0)
        check_number("sticky", self.sticky, numbers.Real, 0)
        check_choice("unknown", self.unknown, UNKNOWN)
        self._check_draws()
        self._check_sequences()
        if not isinstance(self.by_column, (dict, type(None))):
            raise ValueError(f"by_column={self.by_column!r} is not a dictionary of columns and their families.")
        kinds_of(self.family, self.by_column)
        bad = (
            [each for each in self.fixed if each not in FIXED]
            if isinstance(self.fixed, (tuple, list))
            else [self.fixed]
        )
        if bad:
            raise ValueError(f"fixed names {bad[0]!r}; use a tuple of {', '.join(map(repr, FIXED))}.")
        self._structure()
        self._groups()

    def _groups(self) -> np.ndarray | None:
        """The class of each state, where states share what they look like."""
        if self.emissions is None:
            return None
        groups = check_shaped("emissions", self.emissions, (self.n_components,)).astype(int)
        if sorted(set(groups.tolist())) != list(range(groups.max() + 1)):
            raise ValueError(
                f"emissions={list(self.emissions)} must number what states look like from 0, without gaps."
            )
        return groups

    def _structure(self) -> Structure:
        k = self.n_components
        told: dict[str, Any] = {
            "allowed": self._allowed(), "starts": self._starts(), "start_prior": self._prior("start_prior", (k,)),
            "move_prior": self._prior("transition_prior", (k, k)) + self.sticky * np.eye(k),
            "fixed": tuple({"transitions": "move"}.get(name, name) for name in self.fixed),
            "start": self._held("start", "startprob_"),
            "move": self._held("transitions", "generator_" if self.continuous_time else "transmat_"),
        }  # fmt: skip
        settled = isinstance(self.start, str) and self.start == "stationary"
        if settled and (self.continuous_time or self.duration is not None):
            other = "continuous_time" if self.continuous_time else "duration"
            raise ValueError(
                f"start='stationary' is of chains in steps without durations; leave {other} at its default."
            )
        if self.continuous_time:
            for name, plain in (("duration", None), ("sticky", 0.0)):
                if getattr(self, name) != plain:
                    raise ValueError(
                        f"{name}={getattr(self, name)!r} is of chains in steps; continuous_time=True has none."
                    )
            return Timed(k, **told)
        if self.duration is None:
            return Stationary(k, **told) if settled else Structure(k, **told)
        kind, amount = self.duration if isinstance(self.duration, tuple) else ("at_least", self.duration)
        kinds: dict[str, Any] = {"at_least": AtLeast, "negative_binomial": NegativeBinomialDuration, "any": AnyDuration}
        amounts = np.asarray(amount)
        if kind not in kinds or amounts.dtype.kind not in "iu" or amounts.min() < 1 or amounts.shape not in ((), (k,)):
            raise ValueError(
                f"duration={self.duration!r} must be a number of steps, one for each of the {k} states, "
                "('negative_binomial', r) or ('any', longest)."
            )
        return kinds[kind](k, amount, **told)

    def _held(self, part: str, name: str) -> np.ndarray | None:
        """What is set, where it is not to be learned."""
        if part not in self.fixed:
            return None
        if not hasattr(self, name):
            raise ValueError(f"fixed={self.fixed!r} keeps {name}, which is not set; set it before fit.")
        shape = (self.n_components,) if part == "start" else (self.n_components,) * 2
        value = check_shaped(name, getattr(self, name), shape)
        total = 0.0 if name == "generator_" else 1.0
        if not np.allclose(value.sum(axis=-1), total, atol=1e-6):
            raise ValueError(f"{name} sums to {value.sum(axis=-1).flat[0]:g}, not to {total:g}.")
        return value

    def _prior(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        value = np.asarray(getattr(self, name), dtype=float)
        if value.shape not in ((), shape) or not (value >= 1.0).all():
            raise ValueError(
                f"{name}={getattr(self, name)!r} must be a number from 1, or an array of shape {shape} of such."
            )
        return np.broadcast_to(value, shape)

    def _allowed(self) -> np.ndarray:
        k, asked = self.n_components, self.transitions
        apart = np.arange(k) - np.arange(k)[:, None]
        if isinstance(asked, str):
            check_choice("transitions", asked, SHAPES)
            known = {"free": apart == apart, "left-right": apart >= 0, "next": (apart == 0) | (apart == 1)}
            return known.get(asked, (apart % k) <= 1)
        if isinstance(asked, numbers.Integral) and not isinstance(asked, bool):
            check_number("transitions", asked, numbers.Integral, 0)
            return np.abs(apart) <= asked
        mask = np.asarray(asked)
        if mask.shape != (k, k) or not ((mask == 0) | (mask == 1)).all():
            raise ValueError(
                f"transitions must be an array of True and False of shape ({k}, {k}), not of {mask.shape}."
            )
        if not mask.any(axis=1).all():
            raise ValueError(
                f"state {int(np.argmin(mask.any(axis=1)))} may not be followed by any; allow it a move at least."
            )
        return mask.astype(bool)

    def _starts(self) -> np.ndarray:
        k, asked = self.n_components, self.start
        if isinstance(asked, str):
            check_choice("start", asked, ("free", "stationary"))
            if asked == "stationary":
                return np.ones(k, bool)
            ordered = isinstance(self.transitions, str) and self.transitions in ("left-right", "next")
            return np.arange(k) == 0 if ordered else np.ones(k, bool)
        if isinstance(asked, numbers.Integral):
            check_number("start", asked, numbers.Integral, 0, k - 1)
            return np.arange(k) == asked
        mask = np.asarray(asked)
        if mask.shape != (k,) or not mask.any():
            raise ValueError(
                f"start must be 'free', 'stationary', a state, or an array of True and False of shape ({k},), one of them True."
            )
        return mask.astype(bool)

    # Learning

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, lengths: Any = None, online: bool = False,
        checkpoint: Any = None, checkpoint_every: float = 60.0,
    ) -> Self:  # fmt: skip
        """Learn the states and how they follow each other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), list of arrays, table, path, Arrow data, Dask collection or source
            Steps; NaN is missing. Rows of files and partitions lie together by sequence, in the order of time.
        y : array-like of shape (n_samples,), optional
            Known states, −1 where unknown, as in :meth:`tacit.mixture.Mixture.fit`.
        sample_weight : array-like of shape (n_sequences,) or (n_samples,), optional
            Weights of sequences.
        lengths : array-like of int, optional
            How many rows of an array each sequence has; default all are one sequence.
        online, checkpoint, checkpoint_every
            As in :meth:`tacit.mixture.Mixture.fit`.

        Returns
        -------
        self
        """
        how: dict[str, Any] = {"online": online, "checkpoint": checkpoint, "checkpoint_every": checkpoint_every}
        self._check_settings()
        self.clock_ = None
        return super().fit(self._steps(X, lengths), y, sample_weight, **how)

    def _family(self) -> Family:  # type: ignore[override]
        groups = self._groups()
        return self.family_ if groups is None else Shared(self.family_, groups)  # type: ignore[return-value]

    def _model(self) -> ChainModel:
        return ChainModel(self._family(), self._structure(), "kmeans", held="emissions" in self.fixed)

    def _publish(self, params: ChainParams, dtype: np.dtype) -> None:
        super()._publish(params, dtype)
        for name in ("generator_", "durations_"):
            self.__dict__.pop(name, None)
        if self.continuous_time:
            from .timed import exponentials

            self.generator_, self.transmat_ = params.move, exponentials(params.move, np.ones(1))[0]
        if params.dwell.size:
            self.durations_ = params.dwell

    def _publish_components(self, components: Any, dtype: np.dtype) -> None:
        self.params_ = self.fit_.params

    def _components(self) -> Any:
        return self.params_.components

    def _params(self) -> ChainParams:
        own = self.params_
        move = self.generator_ if self.continuous_time else self.transmat_
        return ChainParams(np.asarray(self.startprob_, float), np.asarray(move, float), own.dwell, own.components)

    def _order_by_weight(self) -> None:
        """Number the states by their shares of the steps, the largest first."""
        weight = self.weights_
        order = np.argsort(-weight, kind="stable")
        params = self._model().permute(self._params(), order)
        self._publish_fit(replace(self.fit_, params=params, stats=None), weight.dtype)
        self.weights_ = weight[order]
        if self.observed_ is not None:
            self.observed_ = self.observed_[order]

    # What was learned

    def describe(self) -> Description:
        """What each state looks like, column by column, as :meth:`tacit.mixture.Mixture.describe` tells of groups."""
        groups = self._groups()
        return super().describe().over(np.arange(self.n_components) if groups is None else groups, "state")

    def stays(self) -> np.ndarray:
        """Expected steps, or units of time, that each state lasts once it is entered; inf where it is never left."""
        check_is_fitted(self)
        if self.continuous_time:
            with np.errstate(divide="ignore"):
                return -1.0 / np.diag(self.generator_)
        if hasattr(self, "durations_"):
            return self.durations_ @ np.arange(1, self.durations_.shape[1] + 1)
        kind, amount = self.duration if isinstance(self.duration, tuple) else ("at_least", self.duration or 1)
        leave = self.transmat_.sum(axis=1) - np.diag(self.transmat_)  # exact where a state is hardly left
        leave = np.where(leave > LEAST, leave, 0.0)
        amount = np.broadcast_to(np.asarray(amount), self.n_components)
        with np.errstate(divide="ignore"):
            return amount / leave if kind == "negative_binomial" else amount - 1 + 1.0 / leave

    def get_stationary_distribution(self) -> np.ndarray:
        """Shares of the states in the long run, whatever the first state."""
        if self.duration is None or self.n_components == 1:
            return super().get_stationary_distribution()
        check_is_fitted(self)
        leave = self.transmat_ - np.diag(np.diag(self.transmat_))
        jumps = leave / np.maximum(leave.sum(axis=1, keepdims=True), LEAST)
        share = stationary(jumps - np.eye(self.n_components)) * self.stays()
        return share / share.sum()

    def score_samples(self, X: Any, lengths: Any = None) -> np.ndarray:  # type: ignore[override]
        """Log density of each step given the steps before it; their sum is the log-likelihood.

        Parameters
        ----------
        X, lengths
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            That of a missing step in between is 0.
        """
        return self._log_densities(X, lengths)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, lengths: Any = None) -> float:
        """Average log density per step.

        Parameters
        ----------
        X, lengths
            As in `predict`.
        y : None
            Ignored.
        sample_weight : array-like, optional
            Weights of rows.

        Returns
        -------
        float
        """
        values = self.score_samples(X, lengths)
        return float(np.average(values, weights=sample_weight))

    def bic(self, X: Any, sample_weight: Any = None, *, lengths: Any = None) -> float:
        """Bayesian information criterion of steps, lower is better."""
        deviance, n, p = self._criterion(self.score_samples(X, lengths), sample_weight)
        return deviance + p * np.log(n)

    def aic(self, X: Any, sample_weight: Any = None, *, lengths: Any = None) -> float:
        """Akaike information criterion, lower is better."""
        deviance, _, p = self._criterion(self.score_samples(X, lengths), sample_weight)
        return deviance + 2 * p

    def icl(self, X: Any, sample_weight: Any = None, *, lengths: Any = None) -> float:
        """Integrated completed likelihood, lower is better: BIC, plus what it costs to name each step's state."""
        best = self.predict_proba(X, lengths).astype(np.float64).max(axis=1)
        return self.bic(X, sample_weight, lengths=lengths) - 2.0 * float(np.log(np.maximum(best, 1e-300)).sum())

    def sample(self, n_samples: int = 1, *, state: int | None = None) -> tuple[Any, np.ndarray]:
        """Draw one sequence of steps, as a table of the kind seen at fit, and its states.

        Parameters
        ----------
        n_samples : int, default=1
            Number of steps, one unit of time apart where time is continuous.
        state : int, optional
            The first state; default drawn.

        Returns
        -------
        X : table or ndarray of shape (n_samples, n_features)
        states : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        check_number("n_samples", n_samples, numbers.Integral, 1)
        model, params, rng = self._model(), self._params(), self._rng()
        states = model.walk(params, n_samples, rng, state)
        cells = model.family.sample(params.components, states, rng)
        return (self.schema_.decode(cells) if self._coded() or self.schema_.container != "numpy" else cells), states
