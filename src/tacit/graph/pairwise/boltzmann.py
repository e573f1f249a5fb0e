"""`BoltzmannMachine`: units of 0 and 1, with hidden ones behind them where asked for."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ...base.settings import settings
from ...checks import check_number
from ...declared import Numbers
from .energy import PairwiseEnergy
from .hidden import HiddenModel, HiddenParams
from .ising import IsingModel
from .network import FEW_UNITS, PairNetwork
from .states import check_units

__all__ = ["BoltzmannMachine"]


@settings
class BoltzmannMachine(ClassNamePrefixFeaturesOutMixin, TransformerMixin, IsingModel):
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

    @property
    def _n_features_out(self) -> int:
        return self.n_hidden

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
