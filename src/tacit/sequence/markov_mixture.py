"""`MarkovMixture`: types of sequences, p(x) = Σ_k π_k Π_t P_k(x_t | x_{t−L}, …, x_{t−1}), such as visitors by their clicks.

This is an ordinary mixture whose rows are sequences: every sequence belongs to one group, and a group is a Markov chain.
"""

from __future__ import annotations

import numbers
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base.settings import KW_ONLY, settings
from ..checks import check_number
from ..declared import Names, Part
from ..mixture.estimator import MixtureEstimator
from ..mixture.model import MixtureParams
from ..source import Source
from ..table import Table
from .clock import Clock
from .markov_family import DUST, MOST_CELLS, ChainTables, MarkovFamily, sequence_source
from .symbols import SymbolReader

__all__ = ["MarkovMixture"]


class Absent:
    """A method of mixtures of rows with columns that mixtures of sequences do not have."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        raise AttributeError(
            f"{owner.__name__} has no {self.name}: its rows are sequences of symbols, without columns."
        )


@settings
class MarkovMixture(SymbolReader, MixtureEstimator):
    """Mixture of Markov chains: groups of sequences of symbols.

    X is as in :class:`tacit.sequence.MarkovChain`. Missing symbols are integrated out. The number of groups can be chosen by
    :func:`tacit.mixture.select`, where criteria count sequences.

    Parameters
    ----------
    n_components : int, default=2
        Number of groups.
    order : int, default=1
        Symbols that the next one depends on.
    prior : float, default=0.0
        Pseudo-count of every symbol after every context in every group, so that no move is impossible.
    symbol, sequence, time, gaps, unknown
        As in :class:`tacit.sequence.MarkovChain`.
    weight_prior, n_init, init_params, warm_start, tol, max_iter, random_state, verbose, verbose_interval, convergence, \
accelerate, n_jobs, device, callback
        As in :class:`tacit.mixture.Mixture`.

    Attributes
    ----------
    symbols_ : ndarray of shape (n_symbols,)
        The symbols, sorted where they can be.
    weights_ : ndarray of shape (n_components,)
        Shares of the sequences.
    startprob_ : ndarray of shape (n_components, n_symbols)
        Probabilities of first symbols, of order 1.
    transmat_ : ndarray of shape (n_components, n_symbols, n_symbols)
        Probabilities of the next symbol, of order 1.
    params_ : tacit.sequence.markov_family.ChainTables
        Probabilities after contexts of any order.
    clock_ : tacit.sequence.Clock or None
        In which steps times go on.
    converged_, n_iter_, lower_bound_, lower_bounds_, fit_
        As in :class:`tacit.mixture.GaussianMixture`.

    References
    ----------
    Cadez, Heckerman, Meek, Smyth and White (2003), Model-based clustering and visualization of navigation patterns on a web site.

    Examples
    --------
    >>> from tacit.sequence import MarkovMixture
    >>> visits = [["home", "news", "news", "news"], ["home", "shop", "basket"], ["home", "news", "news"]] * 10
    >>> mixture = MarkovMixture(2, random_state=0).fit(visits)
    >>> groups = mixture.predict(visits)
    >>> bool(groups[0] == groups[2] != groups[1])
    True
    """

    n_components: int = 2
    _: KW_ONLY
    order: int = 1
    prior: float = 0.0
    symbol: Any = None
    sequence: Any = None
    time: Any = None
    gaps: str = "missing"
    unknown: str = "error"
    weight_prior: Any = None
    covariance_type: ClassVar = "full"  # type: ignore[misc]
    reg_covar: ClassVar = 0.0  # type: ignore[misc]
    parameter_draws: ClassVar = 0  # type: ignore[misc]

    _saved = MixtureEstimator._saved | {
        "symbols_": Names("S", labels=True),
        "params_": Part(ChainTables),
        "clock_": Part(Clock, optional=True),
    }
    _takes_sparse, _min_rows = True, 1
    impute, draw_missing, outliers, outlier_scores = Absent(), Absent(), Absent(), Absent()  # type: ignore[assignment]

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("order", self.order, numbers.Integral, 0)
        check_number("prior", self.prior, numbers.Real, 0)
        self._check_reading()

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self._model().check_params(self._params(), 1)

    # Opening sequences

    def _open(
        self, X: Any, weight: Any = None, labels: Any = None, targets: Any = None, *, reset: bool = False
    ) -> Source:
        if isinstance(X, Source):
            return super()._open(X, weight, labels, targets, reset=reset)
        if reset:
            given, weight = self._first_read(X, None, weight)
            self.symbols_, codes = given.distinct()
            if not len(self.symbols_):
                raise ValueError(f"all of the {len(codes)} symbols are missing; give one at least.")
        else:
            given = self._read(X).encoded(self.symbols_, self.unknown)
            codes, weight = given.cells, given.weights(weight)
        labels = self._check_labels(labels, len(given.offsets) - 1)
        source = sequence_source(codes, given.offsets, weight, labels, self.n_jobs)
        source.n_features, source.schema = 1, self.symbols_
        self._check_source(source, reset)
        return source

    def _check_source(self, source: Source, reset: bool) -> None:
        if not isinstance(source.schema, np.ndarray):
            raise TypeError(f"{type(self).__name__} takes sequences of symbols, not {type(source).__name__}.")
        super()._check_source(source, reset)
        if reset:
            self.symbols_ = source.schema
            cells = (self.n_symbols + 1) ** self.order * self.n_symbols
            if cells > MOST_CELLS:
                raise ValueError(
                    f"order={self.order} over {self.n_symbols} symbols has {cells:,} cells for each group, more than "
                    f"{MOST_CELLS:,}; use a smaller order or fewer symbols."
                )

    def _check_enough(self, source: Source) -> None:
        if source.n_rows < self.n_components:
            raise ValueError(
                f"n_components={self.n_components} exceeds the {source.n_rows} sequences; use at most {source.n_rows}."
            )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, lengths: Any = None, **how: Any) -> Self:  # type: ignore[override]
        """Learn the groups.

        Parameters
        ----------
        X, lengths
            As in :meth:`tacit.sequence.MarkovChain.fit`.
        y : array-like of shape (n_sequences,), optional
            Known groups of sequences, −1 where unknown, as in :meth:`tacit.mixture.Mixture.fit`.
        sample_weight : array-like of shape (n_sequences,), optional
            Weights of sequences.
        **how
            As in :meth:`tacit.mixture.Mixture.fit`: `online`, `checkpoint`, `checkpoint_every`.

        Returns
        -------
        self
        """
        self.clock_ = None
        return super().fit(self._sequences(X, lengths), y, sample_weight, **how)

    def _sequences(self, X: Any, lengths: Any) -> Any:
        return X if isinstance(X, Source) else self._read(X, lengths)

    # Parameters

    def _family(self) -> MarkovFamily:
        return MarkovFamily(self.n_symbols, self.order, self.prior)

    def _publish(self, params: MixtureParams, dtype: np.dtype) -> None:
        self.weights_, self.params_ = params.weight, params.components

    def _params(self) -> MixtureParams:
        return MixtureParams(np.asarray(self.weights_, dtype=np.float64), self.params_)

    @property
    def startprob_(self) -> np.ndarray:
        """Probabilities of first symbols in each group, (n_components, n_symbols)."""
        return self._of_order_one()[:, -1]

    @property
    def transmat_(self) -> np.ndarray:
        """Probabilities of the next symbol in each group, (n_components, n_symbols, n_symbols)."""
        return self._of_order_one()[:, :-1]

    def _of_order_one(self) -> np.ndarray:
        check_is_fitted(self)
        if self.order != 1:
            raise AttributeError(
                f"chains of order={self.order} have no matrices of transitions; describe() lists them."
            )
        return self.params_.table

    # Answers for sequences

    def predict(self, X: Any, lengths: Any = None) -> np.ndarray:  # type: ignore[override]
        """Most probable group of each sequence, (n_sequences,)."""
        return super().predict(self._known(X, lengths))

    def predict_proba(self, X: Any, lengths: Any = None) -> np.ndarray:  # type: ignore[override]
        """Probability of each group for each sequence, (n_sequences, n_components)."""
        return super().predict_proba(self._known(X, lengths))

    def score_samples(self, X: Any, lengths: Any = None) -> np.ndarray:  # type: ignore[override]
        """Log probability of each sequence, (n_sequences,); moves that no group makes count as 1e-300."""
        return super().score_samples(self._known(X, lengths))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, lengths: Any = None) -> float:
        """Average log probability per sequence."""
        return super().score(self._known(X, lengths), y, sample_weight)

    def bic(self, X: Any, sample_weight: Any = None, *, lengths: Any = None) -> float:
        """Bayesian information criterion of sequences, lower is better."""
        return super().bic(self._known(X, lengths), sample_weight)

    def aic(self, X: Any, sample_weight: Any = None, *, lengths: Any = None) -> float:
        """Akaike information criterion, lower is better."""
        return super().aic(self._known(X, lengths), sample_weight)

    def icl(self, X: Any, sample_weight: Any = None, *, lengths: Any = None) -> float:
        """Integrated completed likelihood, lower is better: BIC, plus what it costs to name each sequence's group."""
        return super().icl(self._known(X, lengths), sample_weight)

    def _known(self, X: Any, lengths: Any) -> Any:
        check_is_fitted(self)
        return self._sequences(X, lengths)

    def sample(self, n_samples: int = 1, length: int = 10) -> tuple[list[np.ndarray], np.ndarray]:  # type: ignore[override]
        """Draw sequences.

        Parameters
        ----------
        n_samples : int, default=1
            Number of sequences.
        length : int, default=10
            Symbols of each.

        Returns
        -------
        X : list of ndarray of shape (length,)
        y : ndarray of shape (n_samples,)
            The group each was drawn from.
        """
        check_is_fitted(self)
        for name, value in (("n_samples", n_samples), ("length", length)):
            check_number(name, value, numbers.Integral, 1)
        rng, family = self._rng(), self._family()
        groups = rng.choice(self.n_components, n_samples, p=self.weights_ / self.weights_.sum())
        return [self.symbols_[family.walk(self.params_.table[k], length, rng)] for k in groups], groups

    def describe(self, least: float = 0.01) -> Table:
        """How each group goes on: probabilities of symbols after contexts that occur, in a column for each group.

        Parameters
        ----------
        least : float, default=0.01
            Moves that no group makes with this probability are left out.

        Returns
        -------
        tacit.table.Table
            A context begins with None before the first symbol.
        """
        check_is_fitted(self)
        names = [*self.symbols_.tolist(), None]
        rows = []
        for code in np.argsort(-self.params_.visits, kind="stable"):
            if self.params_.visits[code] <= DUST:
                break
            context = tuple(
                names[(code // (self.n_symbols + 1) ** back) % (self.n_symbols + 1)] for back in range(self.order)
            )
            table = self.params_.table[:, code]
            for x in np.argsort(-(self.weights_ @ table), kind="stable"):
                if table[:, x].max() >= least:
                    groups = {f"group {k}": float(p) for k, p in enumerate(table[:, x])}
                    rows.append({"context": context[::-1], "symbol": names[x], **groups})
        return Table(rows)
