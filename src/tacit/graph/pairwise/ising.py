"""`IsingModel`: units of −1 and 1 that want to be like their neighbours, or unlike them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...base.settings import settings
from ...declared import Numbers
from ...notes import Note
from .energy import PairwiseEnergy
from .minimise import Labelling
from .network import PairNetwork
from .states import MOST_UNITS, all_states

__all__ = ["IsingModel"]


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
        energy = self.to_energy()
        found = energy.minimise(method, **settings)
        if method == "auto" and not found.exact and self.n_features_in_ <= MOST_UNITS:
            params = self._params()
            parts = all_states(self.n_features_in_, self._values)
            bests = np.stack([states[params.score(states).argmax()] for states in parts])
            best = bests[params.score(bests).argmax()]
            labels = (best == self._values[1]).astype(np.int32)
            reason = Note("exact", "all states were gone over, so none is more probable")
            return Labelling(best.astype(int), energy(labels), "all states", reason, 1)
        return replace(found, labels=np.array(self._values).astype(int)[found.labels])
