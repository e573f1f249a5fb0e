"""`MarkovChain`: symbols that depend on those before them, p(x) = Π_t P(x_t | x_{t−L}, …, x_{t−1}).

P(x | c) is estimated as `tacit.sequence.contexts` says: by counting, or as the mean of a Dirichlet distribution about the shorter
context.
"""

from __future__ import annotations

import numbers
import warnings
from typing import Any, Self

import numpy as np
from scipy.stats import beta
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..base import RowsEstimator
from ..base.settings import KW_ONLY, settings
from ..checks import check_number
from ..declared import Names, Numbers, Part
from ..engine import fit as fit_model
from ..kernels import kernel
from ..mixture.model import MixtureModel
from ..table import Table
from .clock import Clock
from .contexts import Contexts, digits, long_run
from .markov_family import MOST_CELLS, MarkovFamily, sequence_source
from .symbols import SymbolReader, Symbols, window

__all__ = ["MarkovChain"]

JEFFREYS = 0.5


@settings
class MarkovChain(SymbolReader, RowsEstimator):
    """Markov chain of any order over symbols of any type.

    X is a list of sequences, an array of symbols (with `lengths` where it holds several sequences), or a table with a column of
    symbols whose columns `sequence` and `time` say which row belongs where. First symbols have probabilities of their own.

    Probabilities are shares of counts, or with pseudo-counts the mean of a Dirichlet distribution,

        P(x | c) = (n(c x) + prior + backoff · P(x | c')) / (n(c) + S · prior + backoff),

    c' being the context c without its oldest symbol and S the number of symbols. With ``prior=0`` and ``backoff=0`` this is
    maximum likelihood, and a context that never occurred gives way to its longest part that did. With ``backoff=0`` it is also
    the mode under a Dirichlet(1 + prior) distribution. Only contexts that occur are kept.

    Missing symbols are integrated out exactly: counts are expected ones, found by EM from those of steps that see their whole
    context. This goes over all contexts, of which (S + 1) ** order times S may be at most 4 million.

    Parameters
    ----------
    order : int, default=1
        Symbols that the next one depends on.
    prior : float, default=0.0
        Pseudo-count of every symbol after every context.
    backoff : float, sequence of float, or "auto", default=0.0
        Pseudo-count that is spread as the shorter context says; one for contexts of 1, 2, … symbols each where several are
        given. "auto" learns them by maximum evidence. Orders above 1 need it where contexts are many.
    symbol, sequence, time : name of a column, optional
        Which column of a table holds the symbols (it may be left out where there is one only), which sequence a row belongs to,
        and when it was.
    gaps : {"missing", "ignore"}, default="missing"
        Whether steps that times leave out are missing symbols, or rows follow each other as they are.
    unknown : {"error", "missing"}, default="error"
        What to do about symbols that did not occur at fit.
    tol : float, default=1e-8
        With missing symbols, stop when a step of EM gains less than this per sequence.
    max_iter : int, default=1000
        Most steps of EM.
    random_state : int, RandomState instance or None
        Seeds `sample`.
    n_jobs : int, optional
        Threads of EM; results do not depend on it.

    Attributes
    ----------
    symbols_ : ndarray of shape (n_symbols,)
        The symbols, sorted where they can be.
    contexts_ : tacit.sequence.contexts.Contexts
        Counts of all contexts that occur.
    backoff_ : ndarray of shape (order,)
    startprob_ : ndarray of shape (n_symbols,)
        Probabilities of first symbols, of order 1.
    transmat_ : ndarray of shape (n_symbols, n_symbols)
        Probabilities of the next symbol in rows of the one before, of order 1.
    n_steps_ : float
        Weight of the symbols learned from.
    clock_ : tacit.sequence.Clock or None
        In which steps times go on.
    n_iter_ : int
        Steps of EM; 0 where no symbol is missing.

    References
    ----------
    MacKay and Peto (1995), A hierarchical Dirichlet language model.
    Katz (1981), On some criteria for estimating the order of a Markov chain.

    Examples
    --------
    >>> from tacit.sequence import MarkovChain
    >>> chain = MarkovChain().fit([["sun", "sun", "rain"], ["rain", "rain", "sun", "sun"]])
    >>> chain.symbols_.tolist(), chain.transmat_.round(3).tolist()
    (['rain', 'sun'], [[0.5, 0.5], [0.333, 0.667]])
    >>> chain.predict([["rain", "sun"]]).tolist()
    ['sun']
    """

    order: int = 1
    _: KW_ONLY
    prior: float = 0.0
    backoff: Any = 0.0
    symbol: Any = None
    sequence: Any = None
    time: Any = None
    gaps: str = "missing"
    unknown: str = "error"
    tol: float = 1e-8
    max_iter: int = 1000
    random_state: Any = None
    n_jobs: int | None = None

    _saved = RowsEstimator._saved | {
        "symbols_": Names("S", labels=True),
        "contexts_": Part(Contexts),
        "backoff_": Numbers("L", low=0),
        "n_steps_": Numbers(low=0),
        "clock_": Part(Clock, optional=True),
        "n_iter_": Numbers(low=0, kind="i"),
    }

    def _sizes(self) -> dict[str, int]:
        return super()._sizes() | {"L": self.order}

    def _check_settings(self) -> None:
        check_number("order", self.order, numbers.Integral, 0)
        check_number("prior", self.prior, numbers.Real, 0)
        check_number("tol", self.tol, numbers.Real, 0)
        check_number("max_iter", self.max_iter, numbers.Integral, 1)
        self._check_reading()
        if isinstance(self.backoff, str) and self.backoff == "auto":
            return
        given = np.asarray(self.backoff)
        fits = given.dtype.kind in "iuf" and given.shape in ((), (self.order,))
        if not fits or not ((given >= 0) & (given < np.inf)).all():
            raise ValueError(
                f"backoff={self.backoff!r} must be a number from 0, or {self.order} of them for order={self.order}, or 'auto'."
            )

    def _check_loaded(self) -> None:
        self.contexts_.check()
        if self.contexts_.order != self.order or self.contexts_.n_symbols != len(self.symbols_):
            raise ValueError(
                f"its contexts are of {self.contexts_.order} among {self.contexts_.n_symbols} symbols, not of {self.order} "
                f"among {len(self.symbols_)}"
            )

    # Learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, lengths: Any = None) -> Self:
        """Count what follows what.

        Parameters
        ----------
        X : list of sequences, array-like of shape (n_steps,) or (n_steps, 1), or table
            Symbols; None and NaN are missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_sequences,) or (n_steps,), optional
            Weights of sequences: weight 2 counts as the sequence given twice.
        lengths : array-like of int, optional
            How many symbols of an array each sequence has; default all are one sequence.

        Returns
        -------
        self
        """
        self._check_settings()
        given, weight = self._first_read(X, lengths, sample_weight)
        self.n_features_in_, self.n_iter_ = 1, 0
        if not self._counted(given, weight):
            self._learn(given, weight)
        level = self.contexts_.levels[0]
        self.n_steps_ = float(level.counts.sum())
        return self

    def _counted(self, given: Symbols, weight: np.ndarray) -> bool:
        """Count whole numbers as they are, where they are few: nothing is missing, and encoding would cost more than counting."""
        cells = given.cells
        if cells.dtype.kind not in "iu" or not (weight > 0).all():
            return False
        low, high = int(cells.min()), int(cells.max())
        span = high - low + 1
        if (span + 1) ** self.order * span > min(MOST_CELLS, 4 * len(cells) + 1000):
            return False
        counts = np.zeros(((span + 1) ** self.order * span, 1))
        kernel("count_moves")(
            np.ascontiguousarray(cells), low, given.offsets, weight[:, None], self.order, span, counts
        )
        table = counts.reshape((span + 1,) * self.order + (span,))
        seen = table.reshape(-1, span).sum(axis=0) > 0
        for axis in range(self.order):
            table = table.compress(np.append(seen, True), axis=axis)
        self.symbols_ = np.flatnonzero(seen) + low
        self._keep(Contexts.of_table(table.compress(seen, axis=-1).reshape(-1, int(seen.sum())), self.order))
        return True

    def _learn(self, given: Symbols, weight: np.ndarray) -> None:
        """Count symbols of any type, by EM where some are missing."""
        self.symbols_, codes = given.distinct()
        if not len(self.symbols_):
            raise ValueError(f"all of the {len(codes)} symbols are missing; give one at least.")
        columns, each = (
            window(codes, given.offsets, self.order, len(self.symbols_)),
            np.repeat(weight, np.diff(given.offsets)),
        )
        seen = np.all([column >= 0 for column in columns], axis=0) & (each > 0)
        if (codes >= 0).all() or (self.order == 0 and seen.any()):
            self._keep(Contexts.of([column[seen] for column in columns], each[seen], len(self.symbols_)))
            return
        self._check_dense()
        if seen.any():
            self._keep(Contexts.of([column[seen] for column in columns], each[seen], len(self.symbols_)))
        backoff = tuple(self.backoff_) if seen.any() else (0.0,) * self.order
        model = MixtureModel(MarkovFamily(len(self.symbols_), self.order, self.prior, backoff), 1)
        model.monotone = not any(backoff)  # interpolation is no maximum
        source = sequence_source(codes, given.offsets, weight, n_jobs=self.n_jobs)
        start = model.init(source.take(np.arange(source.n_units)), np.random.default_rng(0))
        found = fit_model(model, source, start, max_iter=self.max_iter, tol=self.tol)
        if not found.converged:
            told = f"EM did not converge in max_iter={self.max_iter} steps; increase it or tol."
            warnings.warn(told, ConvergenceWarning, stacklevel=3)
        self.n_iter_ = len(found.trace)
        self._keep(Contexts.of_table(found.stats.components.moves[0], self.order), np.array(backoff))

    def _keep(self, contexts: Contexts, backoff: np.ndarray | None = None) -> None:
        """Publish counts, and pseudo-counts of shorter contexts."""
        self.contexts_ = contexts
        if backoff is None and isinstance(self.backoff, str):
            backoff = contexts.learn_backoff(self.prior)
        given = self.backoff if backoff is None else backoff
        self.backoff_ = np.broadcast_to(np.asarray(given, dtype=float), self.order).copy()

    # What was learned

    @property
    def startprob_(self) -> np.ndarray:
        """Probabilities of first symbols, (n_symbols,)."""
        return self._of_order_one()[-1]

    @property
    def transmat_(self) -> np.ndarray:
        """Probabilities of the next symbol in rows of the one before, (n_symbols, n_symbols)."""
        return self._of_order_one()[:-1]

    def _of_order_one(self) -> np.ndarray:
        check_is_fitted(self)
        if self.order != 1:
            raise AttributeError(f"a chain of order={self.order} has no matrix of transitions; contexts() lists them.")
        return self._table()

    def _check_dense(self) -> None:
        cells = (self.n_symbols + 1) ** self.order * self.n_symbols
        if cells > MOST_CELLS:
            raise ValueError(
                f"symbols are missing, and order={self.order} over {self.n_symbols} symbols has {cells:,} cells to integrate "
                f"over, more than {MOST_CELLS:,}; use a smaller order or leave incomplete sequences out."
            )

    def _table(self) -> np.ndarray:
        """Probabilities after all contexts, (contexts, symbols), the newest symbol of a context as its last digit."""
        base = self.n_symbols + 1
        return self.contexts_.rows(digits(np.arange(base**self.order), base, self.order), self.prior, self.backoff_)

    def contexts(self, level: float = 0.95) -> Table:
        """What follows each context, with intervals: a table of contexts, symbols, counts and probabilities.

        Parameters
        ----------
        level : float, default=0.95
            Probability of the intervals, which are quantiles of the Dirichlet posterior under `prior`, or of Jeffreys', which
            is Beta(½, ½) for every probability, where that is 0. There are none with `backoff`, whose shorter contexts are
            uncertain too.

        Returns
        -------
        tacit.table.Table
            Rows are moves that occur, the most frequent contexts first. A context begins with None before the first symbol.
        """
        check_is_fitted(self)
        check_number("level", level, numbers.Real, 0, 1)
        contexts, s = self.contexts_, self.n_symbols
        counts, total = contexts.levels[-1].counts, contexts.totals[-1]
        node, x = np.divmod(contexts.levels[-1].cells, s)
        older = contexts.columns(self.order)
        p = contexts.probability([x, *(each[node] for each in older)], self.prior, self.backoff_)
        prior, others = (self.prior, (s - 1) * self.prior) if self.prior else (JEFFREYS, JEFFREYS)
        after = beta(counts + prior, np.maximum(total[node] - counts, 0.0) + max(others, 1e-12))
        low, high = (after.ppf(0.5 + side * level / 2) for side in (-1, 1))
        if self.backoff_.any():
            low = high = np.full(len(x), None)
        names = [*self.symbols_.tolist(), None]
        told = [tuple(names[each[c]] for each in older[::-1]) for c in range(len(total))]
        order = np.lexsort((-counts, node, -total[node]))
        return Table(
            {"context": told[node[i]], "symbol": names[x[i]], "count": float(counts[i]), "probability": float(p[i]),
             "low": low[i], "high": high[i]} for i in order
        )  # fmt: skip

    def describe(self) -> Table:
        """What follows each context, as `contexts` says."""
        return self.contexts()

    def stationary(self) -> np.ndarray:
        """Shares of the symbols in the long run, (n_symbols,); where that depends on the beginning, from what was seen on."""
        check_is_fitted(self)
        s, n_contexts = self.n_symbols, self.n_symbols**self.order
        if n_contexts * s > MOST_CELLS:
            raise ValueError(
                f"order={self.order} over {s} symbols has {n_contexts:,} contexts, too many to solve for; use a smaller order."
            )
        move = self.contexts_.rows(digits(np.arange(n_contexts), s, self.order), self.prior, self.backoff_)
        return long_run(self.contexts_, move) @ move if self.order else move[0]

    # Sequences

    def score_samples(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Log probability of each sequence, of what is observed of it.

        Parameters
        ----------
        X, lengths
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_sequences,)
            −inf where a sequence is impossible.
        """
        given = self._encoded(X, lengths)
        if (given.cells < 0).any():
            return self._integrated(given.cells, given.offsets)
        columns = window(given.cells, given.offsets, self.order, self.n_symbols)
        with np.errstate(divide="ignore"):
            logs = np.log(self.contexts_.probability(columns, self.prior, self.backoff_))
        return np.add.reduceat(logs, given.offsets[:-1])

    def _integrated(self, codes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Log probabilities of sequences with missing symbols."""
        self._check_dense()
        cells, sequences = self._table().reshape(-1, 1), (codes, offsets, self.order, self.n_symbols)
        out = np.zeros((len(offsets) - 1, 1))
        with np.errstate(divide="ignore"):
            kernel("score_moves")(*sequences, np.log(cells), out)
        kernel("hidden_moves")(*sequences, cells, np.zeros_like(out), np.zeros((0, 1)), out)
        return out[:, 0]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, lengths: Any = None) -> float:
        """Average log probability of an observed symbol given those before it.

        Parameters
        ----------
        X, lengths, sample_weight
            As in `fit`.
        y : None
            Ignored.

        Returns
        -------
        float
        """
        given = self._read(X, lengths)
        loglik, n = self._totals(given, sample_weight)
        return loglik / n

    def _totals(self, given: Symbols, sample_weight: Any) -> tuple[float, float]:
        """Log-likelihood and number of observed symbols, both weighted."""
        weight = given.weights(sample_weight)
        weight = np.ones(len(given.offsets) - 1) if weight is None else weight
        seen = np.add.reduceat(self._encoded(given).cells >= 0, given.offsets[:-1])
        values, counts = self.score_samples(given), weight > 0
        return float(weight[counts] @ values[counts]), float(weight @ seen)

    def bic(self, X: Any, sample_weight: Any = None, *, lengths: Any = None) -> float:
        """Bayesian information criterion, lower is better: parameters are those of contexts that occurred, rows are symbols."""
        loglik, n = self._totals(self._read(X, lengths), sample_weight)
        return -2.0 * loglik + self.contexts_.n_parameters * np.log(n)

    def aic(self, X: Any, sample_weight: Any = None, *, lengths: Any = None) -> float:
        """Akaike information criterion, lower is better."""
        loglik, _ = self._totals(self._read(X, lengths), sample_weight)
        return -2.0 * loglik + 2 * self.contexts_.n_parameters

    def predict_proba(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Probabilities of the symbol that comes after each sequence.

        Parameters
        ----------
        X, lengths
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_sequences, n_symbols)
        """
        given, s = self._encoded(X, lengths), self.n_symbols
        ends, starts = given.offsets[1:], given.offsets[:-1]
        older = [
            np.where(ends - back >= starts, given.cells[np.maximum(ends - back, 0)], s)
            for back in range(1, self.order + 1)
        ]
        found = self.contexts_.rows([np.maximum(each, 0) for each in older], self.prior, self.backoff_)
        found = np.broadcast_to(found, (len(starts), s)).copy()
        for u in np.flatnonzero(np.any([each < 0 for each in older], axis=0)) if older else ():
            part = given.cells[starts[u] : ends[u]]
            longer = np.append(np.tile(part, (s, 1)), np.arange(s, dtype=part.dtype)[:, None], axis=1)
            logs = self._integrated(longer.ravel(), np.arange(s + 1) * (len(part) + 1))
            if np.isfinite(logs).any():
                found[u] = np.exp(logs - np.logaddexp.reduce(logs))
            else:  # of what cannot be, nothing is known but how often symbols are
                found[u] = self.contexts_.rows([], self.prior, self.backoff_)
        return found

    def predict(self, X: Any, lengths: Any = None) -> np.ndarray:
        """The symbol that most probably comes after each sequence, (n_sequences,)."""
        return self.symbols_[self.predict_proba(X, lengths).argmax(axis=1)]

    def sample(self, n_samples: int = 1) -> np.ndarray:
        """Draw one sequence.

        Parameters
        ----------
        n_samples : int, default=1
            Number of symbols.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        check_number("n_samples", n_samples, numbers.Integral, 1)
        known: dict[tuple, np.ndarray] = {}
        codes, context = np.empty(n_samples, dtype=np.int64), (self.n_symbols,) * self.order
        for step, u in enumerate(self._rng().random(n_samples)):
            if context not in known:
                older = [np.array([symbol]) for symbol in context]
                known[context] = np.cumsum(self.contexts_.rows(older, self.prior, self.backoff_)[0])
            row = known[context]
            codes[step] = min(int(np.searchsorted(row, u * row[-1], side="right")), self.n_symbols - 1)
            context = (int(codes[step]), *context)[: self.order]
        return self.symbols_[codes]
