"""`IsingModel` and `BoltzmannMachine`: networks of pairs of binary units, learned from rows, asked and drawn from."""

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
from ...declared import Flag, Numbers, Whole
from ...engine import climb
from ..structure.codes import check_edges
from .energy import PairwiseEnergy
from .hidden import HiddenModel, HiddenParams
from .minimise import Labelling
from .model import PairModel, PairParams, gibbs
from .states import MOST_UNITS, all_states, check_units

__all__ = ["BoltzmannMachine", "IsingModel"]

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
        bad = ~np.isin(X, self._values)
        if bad.any():
            row, column = np.argwhere(bad)[0]
            low, high = map(int, self._values)
            raise ValueError(
                f"column {self._told(int(column))} holds {X[row, column]:g}; units of {type(self).__name__} are {low} or {high}."
            )
        return X

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


@settings
class IsingModel(PairNetwork):
    """Ising model: units of −1 and 1 with fields and pairwise couplings, p(x) ∝ exp(Σ_i b_i x_i + Σ_{i<j} W_ij x_i x_j).

    Missing values are refused.

    Parameters
    ----------
    edges : sequence of pairs, optional
        Columns, by number or name, that have couplings; by default all pairs.
    learning : {"auto", "exact", "pseudo", "contrastive"}, default="auto"
        The likelihood, whose gradient sums over all states of at most 20 units; the pseudo-likelihood Σ_i log p(x_i | rest); or
        contrastive divergence. "auto" is exact for up to 12 units, else the pseudo-likelihood.
    alpha : float, default=1.0
        Precision of a Gaussian prior of fields and couplings, which keeps them finite.
    tol, max_iter : float, int
        Learning ends when no entry of the gradient, per row, is above `tol`, or after so many steps.
    n_steps, n_epochs, batch_size, learning_rate : int, int, int, float
        Of contrastive divergence: passes of Gibbs sampling, passes over the rows, rows of a step, and its length.
    random_state : int, RandomState instance or None
        Seeds contrastive divergence and draws.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    field_ : ndarray of shape (n_features,)
    coupling_ : ndarray of shape (n_features, n_features)
        Symmetric, 0 on the diagonal.
    n_iter_ : int
    converged_ : bool

    References
    ----------
    Besag (1975), Statistical analysis of non-lattice data.
    Hinton (2002), Training products of experts by minimizing contrastive divergence.

    Examples
    --------
    >>> from tacit.graph import IsingModel
    >>> model = IsingModel(alpha=0.0).fit([[1, 1], [1, 1], [1, 1], [-1, 1], [1, -1], [-1, -1], [-1, -1], [-1, -1]])
    >>> round(float(model.coupling_[0, 1]), 4), model.most_probable().labels.tolist()
    (0.5493, [1, 1])
    """

    _values = (-1.0, 1.0)
    _saved = PairNetwork._saved | {"field_": Numbers("d"), "coupling_": Numbers("d d")}

    def _check_loaded(self) -> None:
        if not np.array_equal(self.coupling_, self.coupling_.T) or self.coupling_.diagonal().any():
            raise ValueError("its couplings are not symmetric with 0 on the diagonal")

    def pseudo_score_samples(self, X: Any) -> np.ndarray:
        """Log pseudo-likelihoods Σ_i log p(x_i | rest) of rows, (n_samples,).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        """
        params = self._params()
        return self._apply(X, lambda block: params.pseudo(block.X))

    def to_energy(self) -> PairwiseEnergy:
        """The energy −log p + constant, whose labels 0 and 1 are the lower and the higher value."""
        params = self._params()
        values, edges = params.values, np.argwhere(np.triu(params.coupling, 1))
        return PairwiseEnergy(
            -np.outer(params.field, values), edges, -params.coupling[tuple(edges.T)], np.outer(values, values)
        )

    def most_probable(self, method: str = "auto", **settings: Any) -> Labelling:
        """The most probable state: exactly where no coupling is negative, or where units are few.

        Parameters
        ----------
        method, **settings
            As in `minimise_energy`; "auto" goes over all states of at most 20 units.

        Returns
        -------
        Labelling
            Its labels are values of units.
        """
        from dataclasses import replace

        from ...notes import Note

        energy = self.to_energy()
        found = energy.minimise(method, **settings)
        if method == "auto" and not found.exact and self.n_features_in_ <= MOST_UNITS:
            params = self._params()
            best = max((states[score.argmax()] for states in all_states(self.n_features_in_, self._values)
                        for score in [params.score(states)]), key=lambda x: params.score(x[None])[0])  # fmt: skip
            labels = (best == self._values[1]).astype(np.int32)
            reason = Note("exact", "all states were gone over, so none is more probable")
            return Labelling(best.astype(int), energy(labels), "all states", reason, 1)
        return replace(found, labels=np.array(self._values).astype(int)[found.labels])


@settings
class BoltzmannMachine(IsingModel):
    """Boltzmann machine: units of 0 and 1 with biases and pairwise weights, and hidden units behind them where asked for.

    Without hidden units, p(x) ∝ exp(Σ_i b_i x_i + Σ_{i<j} W_ij x_i x_j). With hidden units (a restricted machine),
    p(x, h) ∝ exp(b·x + c·h + xᵀ W h): visible units are tied to hidden ones only. Missing values are refused.

    Parameters
    ----------
    n_hidden : int, default=0
        Hidden units.
    edges : sequence of pairs, optional
        Columns, by number or name, that have weights; by default all pairs. Not with hidden units.
    learning : {"auto", "exact", "pseudo", "contrastive"}, default="auto"
        The likelihood, where a sum over the states of at most 20 units gives it (with hidden units, of the fewer kind); the
        pseudo-likelihood, without hidden units; or contrastive divergence. "auto" is exact for up to 12 such units, else the
        pseudo-likelihood or, with hidden units, contrastive divergence.
    alpha : float, default=1.0
        Precision of a Gaussian prior of biases and weights, which keeps them finite.
    tol, max_iter : float, int
        Learning ends when no entry of the gradient, per row, is above `tol`, or after so many steps.
    n_steps, n_epochs, batch_size, learning_rate : int, int, int, float
        Of contrastive divergence: passes of Gibbs sampling, passes over the rows, rows of a step, and its length.
    random_state : int, RandomState instance or None
        Seeds the start with hidden units, contrastive divergence and draws.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    field_ : ndarray of shape (n_features,)
        Biases of the visible units.
    coupling_ : ndarray of shape (n_features, n_features)
        Weights of pairs, without hidden units.
    hidden_field_, hidden_weights_ : ndarray of shape (n_hidden,) and (n_features, n_hidden)
        Biases of the hidden units, and weights.
    n_iter_ : int
    converged_ : bool

    References
    ----------
    Ackley, Hinton and Sejnowski (1985), A learning algorithm for Boltzmann machines.
    Hinton (2002), Training products of experts by minimizing contrastive divergence.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.graph import BoltzmannMachine
    >>> rows = np.array([[1, 1, 0, 0], [0, 0, 1, 1]] * 20)
    >>> machine = BoltzmannMachine(1, alpha=0.1, random_state=0).fit(rows)
    >>> machine.transform(rows[:2]).round().ravel().tolist() in ([0.0, 1.0], [1.0, 0.0])
    True
    """

    n_hidden: int = 0

    _values = (0.0, 1.0)
    _saved = PairNetwork._saved | {
        "field_": Numbers("d"),
        "coupling_": Numbers("d d", needed=lambda model: not model.n_hidden),
        "hidden_field_": Numbers("h", needed=lambda model: bool(model.n_hidden)),
        "hidden_weights_": Numbers("d h", needed=lambda model: bool(model.n_hidden)),
    }

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("n_hidden", self.n_hidden, numbers.Integral, 0)
        if self.n_hidden and self.edges is not None:
            raise ValueError(
                f"edges={self.edges!r} are of visible units, which n_hidden={self.n_hidden} leaves without weights of their "
                "own; leave out one of the two."
            )
        if self.n_hidden and self.learning == "pseudo":
            raise ValueError("learning='pseudo' takes no hidden units; use learning='contrastive'.")

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() | {"h": self.n_hidden}

    def _check_loaded(self) -> None:
        if not self.n_hidden:
            super()._check_loaded()

    @property
    def _n_summed(self) -> int:
        return min(self.n_features_in_, self.n_hidden) if self.n_hidden else self.n_features_in_

    def _rule(self) -> str:
        if self.learning == "auto" and self.n_hidden:
            return "exact" if self._n_summed <= FEW_UNITS else "contrastive"
        return super()._rule()

    def _model(self) -> Any:
        if not self.n_hidden:
            return super()._model()
        if self._rule() == "exact":
            check_units(self._n_summed, "learning='exact'", "use learning='contrastive'")
        return HiddenModel(self.n_hidden, self.alpha)

    def _publish(self, params: Any) -> None:
        if not self.n_hidden:
            super()._publish(params)
            return
        self.field_, self.hidden_field_, self.hidden_weights_ = params.field, params.hidden, params.weights

    def _params(self) -> Any:
        check_is_fitted(self)
        if not self.n_hidden:
            return super()._params()
        return HiddenParams(self.field_, self.hidden_field_, self.hidden_weights_)

    def _without_hidden(self, what: str) -> None:
        if self.n_hidden:
            raise ValueError(f"{what} is not defined with n_hidden={self.n_hidden} hidden units.")

    def pseudo_score_samples(self, X: Any) -> np.ndarray:
        """Log pseudo-likelihoods Σ_i log p(x_i | rest) of rows, (n_samples,); without hidden units.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        """
        self._without_hidden("the pseudo-likelihood")
        return super().pseudo_score_samples(X)

    def to_energy(self) -> PairwiseEnergy:
        """The energy −log p + constant, whose labels are the units' values; without hidden units."""
        self._without_hidden("an energy of pairs of visible units")
        return super().to_energy()

    def transform(self, X: Any) -> np.ndarray:
        """Probabilities that hidden units are 1, (n_samples, n_hidden).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        """
        params = self._params()
        if not self.n_hidden:
            raise ValueError("n_hidden=0, so there are no hidden units; set n_hidden to have some.")
        return self._apply(X, lambda block: params.behind(block.X))

    def _drawn(self, n_samples: int, n_passes: int, rng: np.random.Generator) -> np.ndarray:
        if not self.n_hidden:
            return super()._drawn(n_samples, n_passes, rng)
        start = rng.integers(2, size=(n_samples, self.n_features_in_)).astype(float)
        return self._params().draw(start, n_passes, rng)
