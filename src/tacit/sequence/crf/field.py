"""`LinearChainCRF`: labels of a sequence given its attributes, p(y | x) ∝ exp(Σ_t Σ_a x_ta w(a, y_t) + Σ_t w(y_{t−1}, y_t))."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

from ...base import RowsEstimator
from ...base.settings import KW_ONLY, settings
from ...checks import check_choice, check_n_jobs, check_number, check_positive
from ...declared import Flag, Names, Numbers, Part, Whole
from ...engine import Fit, Orthant, Progress, climb
from ...source.threads import one_blas_thread
from .layout import Layout, observed_moves, observed_states
from .model import FieldModel, Weights, field_source
from .online import RULES, Passes, descend, mend_mistakes
from .reading import Items, read_labels, weights_of
from .schemes import SCHEMES, Chain, check_limits
from .tagging import Tagging

__all__ = ["ALGORITHMS", "LinearChainCRF"]

ALGORITHMS = ("lbfgs", "l2sgd", *RULES)
LINE_SEARCHES = ("MoreThuente", "Backtracking", "StrongBacktracking")
MOST, MOST_LABELS = 1 << 31, 1 << 16
USUAL: dict[str, Any] = {
    "min_freq": 0.0, "all_possible_states": False, "all_possible_transitions": False, "c1": 0.0, "c2": 1.0, "num_memories": 6,
    "period": 10, "linesearch": "MoreThuente", "max_linesearch": 20, "calibration_eta": 0.1, "calibration_rate": 2.0,
    "calibration_samples": 1000, "calibration_candidates": 10, "calibration_max_trials": 20, "pa_type": 1, "c": 1.0,
    "error_sensitive": True, "averaging": True, "variance": 1.0, "gamma": 1.0, "algorithm": "lbfgs", "epsilon": 0.0,
    "delta": 1e-5, "max_iterations": 100,
}  # fmt: skip
"""What settings that are None mean."""
OF_ALGORITHM = {
    "lbfgs": {"epsilon": 1e-5, "max_iterations": MOST}, "l2sgd": {"delta": 1e-6, "max_iterations": 1000},
}  # fmt: skip
"""The same where it depends on the algorithm."""
WHOLE = {"max_iterations": 0, "num_memories": 1, "period": 0, "max_linesearch": 1, "calibration_samples": 1,
         "calibration_candidates": 1, "calibration_max_trials": 1}  # fmt: skip


@settings
class LinearChainCRF(Tagging, RowsEstimator):
    """Linear-chain conditional random field: tags the steps of sequences, given any attributes of them.

    X is a list of sequences. A step is a dictionary of names to numbers or texts (``{"word": "the", "length": 3}``) or a list of
    names; or a sequence is a matrix with a row a step. One matrix goes with `lengths`. Labels are any; those of some steps, or
    of whole sequences, may be unknown (None, NaN or −1), and are summed over. Attributes that did not occur at fit are ignored.

    Settings have the names, meanings and defaults of CRFsuite; None is the default of the algorithm.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, default="lbfgs"
        How weights are learned: "lbfgs" maximises the penalised likelihood by limited-memory BFGS, orthant-wise where `c1` is
        not 0; "l2sgd" by stochastic gradients; "ap" is the averaged perceptron, "pa" passive-aggressive updates, "arow"
        adaptive regularisation of weights.
    min_freq : float, default=0
        Features that occur less often, by weighted values, are left out.
    all_possible_states, all_possible_transitions : bool, default=False
        Whether also pairs of an attribute and a label, or of two labels, have weights that do not occur together at fit.
    c1, c2 : float, default=0 and 1
        The penalty c₁ ‖w‖₁ + c₂ ‖w‖². `c1` is for "lbfgs", `c2` for it and "l2sgd".
    max_iterations : int, optional
        Most steps; by default as many as it takes for "lbfgs", 1000 passes for "l2sgd" and 100 for the others.
    num_memories : int, default=6
        Changes that "lbfgs" remembers.
    epsilon : float, optional
        "lbfgs" has settled when the gradient is at most this times the larger of 1 and ‖w‖ (1e-5); "ap", "pa" and "arow" when
        the mean loss is less than this (0).
    period, delta : int and float, default=10 and 1e-5
        "lbfgs" and "l2sgd" have also settled when `period` steps improved the objective by less than `delta` of itself (1e-6 for
        "l2sgd").
    linesearch, max_linesearch : str and int, default="MoreThuente" and 20
        "MoreThuente" and "StrongBacktracking" look for a step that meets the strong Wolfe conditions, "Backtracking" the regular
        ones, in at most so many tries.
    calibration_eta, calibration_rate, calibration_samples, calibration_candidates, calibration_max_trials
        How "l2sgd" chooses its first step; see `tacit.sequence.crf.online`.
    pa_type, c, error_sensitive, averaging
        Of "pa": updates without slack (0), or with slack that costs `c`, linearly (1) or squared (2); whether the loss grows with
        the square root of the number of mistakes; whether weights are averaged.
    variance, gamma : float, default=1
        Of "arow": the first variance of weights, and how slowly they are trusted more.
    verbose : bool, default=False
        Print a line for each step.
    scheme : {"BIO", "IOB1", "BIOES", "BILOU"}, optional
        Allow only sequences of tags that the scheme allows, at fit and predict.
    forbidden : list of (before, after), optional
        Labels that never follow each other; None before is the start of a sequence, None after its end.
    required : dict of label to list of labels, optional
        What must follow some labels.
    warm_start : bool, default=False
        Begin with the weights of the last fit, where their features occur again.
    random_state : int, RandomState instance or None
        Puts sequences into order; "lbfgs" draws nothing.
    n_jobs : int, optional
        Threads of "lbfgs" and of answers; results do not depend on it.
    callback : callable, optional
        Called with a `tacit.engine.Progress` after every step.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted where they can be.
    attributes_ : ndarray of shape (n_attributes,)
        Names of attributes; x0, x1, … of columns without names.
    state_weights_ : csr_matrix of shape (n_attributes, n_classes)
    transition_weights_ : ndarray of shape (n_classes, n_classes)
        Weights of a label (row) before another.
    state_features_, transition_features_ : dict
        The weights that are not 0, by (attribute, label) and by (label, next label).
    fit_ : tacit.engine.Fit
        How the fit went: `fit_.reason` says why it ended, ``trace_.plot()`` draws it.
    converged_ : bool
    n_iter_ : int
        Steps or passes.
    dev_score_ : float or None
        The share of the labels of `y_dev` that are right.
    log_likelihood_ : float
        The objective at the end: the log-likelihood less the penalty; minus the loss for "ap", "pa" and "arow".

    References
    ----------
    Lafferty, McCallum and Pereira (2001), Conditional random fields.
    Andrew and Gao (2007), Scalable training of L1-regularized log-linear models.
    Tsuboi, Kashima, Mori, Oda and Matsumoto (2008), Training conditional random fields using incomplete annotations.
    Collins (2002), Discriminative training methods for hidden Markov models. Crammer et al. (2006). Mejer and Crammer (2010).

    Examples
    --------
    >>> from tacit.sequence import LinearChainCRF
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "dog"}, {"word": "barks"}]] * 5
    >>> crf = LinearChainCRF(c2=0.1).fit(X, [["D", "N"], ["N", "V"]] * 5)
    >>> crf.predict([[{"word": "the"}, {"word": "dog"}, {"word": "barks"}]])
    [['D', 'N', 'V']]
    """

    algorithm: str | None = "lbfgs"
    min_freq: float | None = None
    all_possible_states: bool | None = None
    all_possible_transitions: bool | None = None
    c1: float | None = None
    c2: float | None = None
    max_iterations: int | None = None
    num_memories: int | None = None
    epsilon: float | None = None
    period: int | None = None
    delta: float | None = None
    linesearch: str | None = None
    max_linesearch: int | None = None
    calibration_eta: float | None = None
    calibration_rate: float | None = None
    calibration_samples: int | None = None
    calibration_candidates: int | None = None
    calibration_max_trials: int | None = None
    pa_type: int | None = None
    c: float | None = None
    error_sensitive: bool | None = None
    averaging: bool | None = None
    variance: float | None = None
    gamma: float | None = None
    verbose: Any = False
    _: KW_ONLY
    scheme: str | None = None
    forbidden: Any = None
    required: Any = None
    warm_start: bool = False
    random_state: Any = None
    n_jobs: int | None = None
    callback: Callable | None = None

    _takes_missing = False
    _takes_sparse = True
    _min_rows = 1
    _missing_remedy = "and steps must have finite values; leave attributes out where they are missing"
    _saved = RowsEstimator._saved | {
        "classes_": Names("L", labels=True),
        "attributes_": Names("d"),
        "state_weights_": Numbers("d L", sparse=True),
        "transition_weights_": Numbers("L L"),
        "from_matrix_": Flag(),
        "converged_": Flag(),
        "n_iter_": Whole(0),
        "dev_score_": Numbers(low=0, high=1, optional=True),
        "fit_": Part(Fit),
    }

    # Settings

    def _setting(self, name: str) -> Any:
        """A setting, or what None means for the algorithm."""
        value = getattr(self, name)
        if value is not None:
            return value
        return OF_ALGORITHM.get(self.algorithm or "lbfgs", {}).get(name, USUAL[name])

    def _check_settings(self) -> None:
        check_choice("algorithm", self._setting("algorithm"), ALGORITHMS)
        check_choice("linesearch", self._setting("linesearch"), LINE_SEARCHES)
        check_choice("scheme", self.scheme, (*SCHEMES, None))
        for name, least in WHOLE.items():
            check_number(name, self._setting(name), numbers.Integral, least)
        for name in ("min_freq", "c1", "c2", "epsilon"):
            check_number(name, self._setting(name), numbers.Real, 0, 1e100)
        for name in ("calibration_eta", "calibration_rate", "c", "variance", "gamma"):
            check_positive(name, self._setting(name))
        check_number("delta", self._setting("delta"), numbers.Real, -1.0)
        check_number("pa_type", self._setting("pa_type"), numbers.Integral, 0, 2)
        check_n_jobs(self.n_jobs)
        for name in ("all_possible_states", "all_possible_transitions", "error_sensitive", "averaging"):
            if not isinstance(self._setting(name), (bool, int, np.bool_)):
                raise ValueError(f"{name}={getattr(self, name)!r} is neither True nor False.")
        check_limits(self.forbidden, self.required)
        if self._setting("c1") and self.algorithm not in ("lbfgs", None):
            raise ValueError(f"c1={self.c1} is for algorithm='lbfgs', not {self.algorithm!r}; use that or c1=0.")
        if self.algorithm == "l2sgd" and not self._setting("c2"):
            raise ValueError("c2=0 leaves algorithm='l2sgd' without a length of its steps; use c2 above 0, or 'lbfgs'.")

    # Learning

    def fit(
        self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None, sample_weight: Any = None, *, lengths: Any = None
    ) -> Self:
        """Learn weights.

        Parameters
        ----------
        X : list of sequences, or array-like or sparse matrix of shape (n_steps, n_attributes)
        y : list of sequences of labels, or array-like of shape (n_steps,)
            None, NaN and −1 are labels that are not known.
        X_dev, y_dev : like X and y, optional
            Sequences that nothing is learned from; the share of their labels that are right is published as `dev_score_`.
        sample_weight : array-like of shape (n_sequences,), optional
            Weight 2 counts as a sequence given twice.
        lengths : array-like of int, optional
            How many steps of a matrix each sequence has; default all are one sequence.

        Returns
        -------
        self
        """
        self._check_settings()
        if (X_dev is None) != (y_dev is None):
            raise ValueError("X_dev and y_dev go together; give both or neither.")
        before = self._before() if self.warm_start and hasattr(self, "fit_") else None
        items, attributes = self._read(X, lengths, reset=True)
        classes, codes = self._known_labels(y, items)
        weight = weights_of(sample_weight, items)
        kept = (np.add.reduceat(codes >= 0, items.offsets[:-1]) > 0) & (weight > 0)
        if not kept.any():
            raise ValueError("all sequences with known labels have the weight 0; give one of them another.")
        self.attributes_, self.classes_ = _texts(attributes), classes
        self.n_features_in_, self.from_matrix_ = len(attributes), not isinstance(attributes, dict)
        chain = self._chain()
        self._check_allowed(chain, codes, items)
        lengths = np.diff(items.offsets)
        steps, offsets = np.flatnonzero(np.repeat(kept, lengths)), np.append(0, np.cumsum(lengths[kept]))
        self._learn(items.rows[steps], codes[steps], weight[kept], offsets, chain, before)
        _ = self._known  # made now, for answers change nothing
        self.dev_score_ = None if X_dev is None else self.score(X_dev, y_dev)
        return self

    def _known_labels(self, y: Any, items: Items) -> tuple[np.ndarray, np.ndarray]:
        classes, codes = read_labels(y, items)
        if not len(classes):
            raise ValueError(f"none of the {len(codes)} steps has a label; give one at least.")
        if len(classes) > MOST_LABELS:
            raise ValueError(f"y has {len(classes)} labels, more than {MOST_LABELS}; labels are kinds, not numbers.")
        return classes, codes

    def _check_loaded(self) -> None:
        if len(self.classes_) > MOST_LABELS:
            raise ValueError(f"it has {len(self.classes_)} labels, more than {MOST_LABELS}")

    def _chain(self) -> Chain:
        return Chain.of(self.classes_.tolist(), self.scheme, self.forbidden, self.required)

    def _check_allowed(self, chain: Chain, labels: np.ndarray, items: Items) -> None:
        """Raise where known labels follow each other that must not."""
        found = chain.refused(labels, items.offsets)
        if found is None:
            return self._check_between(chain, labels, items)
        step, before, after = found
        names = [*self.classes_.tolist(), None]
        if after < 0:
            told = f"{names[before]!r} at the end"
        else:
            told = f"{names[after]!r} at the start" if before < 0 else f"{names[after]!r} after {names[before]!r}"
        raise ValueError(
            f"{items.place(step)} has the label {told}, which scheme, forbidden and required rule out; correct the label or "
            "allow it."
        )

    def _check_between(self, chain: Chain, labels: np.ndarray, items: Items) -> None:
        """Raise where nothing is allowed for labels that are not known."""
        if chain.is_free or (labels >= 0).all():
            return
        n, source = len(self.classes_), field_source(items.rows, labels, None, items.offsets, n_jobs=self.n_jobs)
        model = FieldModel(Layout.plain(csr_matrix((items.rows.shape[1], n))), chain)
        self._check_possible(items, [model.posterior(Weights(np.zeros(n * n)), block)[1] for block in source])

    def _learn(
        self, rows: Any, labels: np.ndarray, weight: np.ndarray, offsets: np.ndarray, chain: Chain, before: Any
    ) -> None:  # fmt: skip
        """Learn from sequences some labels of which are known."""
        setting, n_labels = self._setting, len(self.classes_)
        each = np.repeat(weight, np.diff(offsets))
        states = observed_states(rows, labels, n_labels, each, setting("min_freq"), setting("all_possible_states"))
        moves = observed_moves(
            labels, offsets, n_labels, each, setting("min_freq"), setting("all_possible_transitions")
        )
        layout = Layout.of(states, moves & chain.moves, table=setting("algorithm") == "lbfgs")
        source = field_source(
            layout.arranged(rows), labels, weight, offsets, n_features=len(layout.exists), n_jobs=self.n_jobs
        )
        start = Weights(np.zeros(len(layout.exists)) if before is None else self._again(before, layout))
        self._published(self._fit(source, layout, chain, start, float(weight.sum())), layout)

    def _fit(self, source: Any, layout: Layout, chain: Chain, start: Weights, weight: float) -> Fit:
        setting, calls = self._setting, self._callbacks()
        if setting("algorithm") == "lbfgs":
            model = FieldModel(layout, chain, setting("c1"), setting("c2"))
            method = Orthant(
                setting("c1") / weight, setting("num_memories"), setting("epsilon"), setting("period"), setting("delta"),
                setting("max_linesearch"), setting("linesearch") != "Backtracking",
            )  # fmt: skip
            with one_blas_thread():  # threads of BLAS would go on spinning between passes
                return climb(model, source, start, method=method, max_iter=setting("max_iterations"), callback=calls)
        passes = Passes(source, layout, chain, start, setting("max_iterations"), self._rng(), calls)
        if setting("algorithm") == "l2sgd":
            names = ("eta", "rate", "samples", "candidates", "max_trials")
            calibration = {name: setting(f"calibration_{name}") for name in names}
            return descend(
                passes, c2=setting("c2"), period=setting("period"), delta=setting("delta"), calibration=calibration
            )
        return mend_mistakes(
            passes, rule=setting("algorithm"), epsilon=setting("epsilon"), kind=setting("pa_type"), c=setting("c"),
            by_errors=setting("error_sensitive"), averaging=setting("averaging"), variance=setting("variance"),
            gamma=setting("gamma"),
        )  # fmt: skip

    def _model(self) -> FieldModel:
        model = super()._model()
        model.monotone = self._setting("algorithm") == "lbfgs"  # others take steps by sequence, whose sum may fall
        return model

    def _callbacks(self) -> Callable | None:
        if self.callback is None and self.verbose:
            return FieldLines()
        return self.callback

    def _published(self, fit: Fit, layout: Layout) -> None:
        """Keep what was learned; attributes given by name that have no weight are forgotten."""
        vector = fit.params.vector
        self.state_weights_ = layout.states(vector)
        self.transition_weights_ = layout.parts(vector)[2].copy()
        used = np.flatnonzero(np.diff(self.state_weights_.indptr))
        if not self.from_matrix_ and 0 < len(used) < len(self.attributes_):
            self.state_weights_, self.attributes_ = self.state_weights_[used], self.attributes_[used]
            self.n_features_in_ = len(used)
        self.fit_, self.converged_, self.n_iter_ = (
            fit,
            fit.converged,
            max(fit.trace.passes and len(fit.trace) - self._began, 0),
        )
        if fit.interrupted:
            warnings.warn(f"{fit.reason}; what was learned so far is kept.", UserWarning, stacklevel=4)
        elif self._setting("algorithm") == "lbfgs" and not fit.converged:
            told = f"{fit.reason} before the fit settled; increase max_iterations, or epsilon or delta."
            warnings.warn(told, ConvergenceWarning, stacklevel=4)

    @property
    def _began(self) -> int:
        """Objectives of the trace that were measured before the first step."""
        return int(self._setting("algorithm") == "lbfgs")

    # Beginning with what was learned before

    def _before(self) -> tuple:
        return self.attributes_, self.classes_, self.state_weights_, self.transition_weights_

    def _again(self, before: tuple, layout: Layout) -> np.ndarray:
        """Weights that were learned before as a vector, by the names of their features."""
        attributes, classes, states, moves = before
        rows, known = _matched(self.attributes_, attributes)
        columns, labels = _matched(self.classes_, classes)
        n = len(self.classes_)
        spread = csr_matrix((np.ones(len(rows)), (rows, known)), (len(self.attributes_), len(attributes)))
        turned = csr_matrix((np.ones(len(columns)), (labels, columns)), (len(classes), n))
        return layout.vector((spread @ states @ turned).tocsr(), turned.T @ moves @ turned)


class FieldLines:
    """A line on standard output for each step, in the form of sklearn-crfsuite's."""

    def __call__(self, progress: Progress) -> None:
        if progress.done:
            print(f"Ended: {progress.reason}")
        else:
            loss = -progress.objective * progress.weight
            print(f"Iter {progress.step:<3} time={progress.seconds:<5.2f} loss={loss:<8.2f}")


def _texts(attributes: Any) -> np.ndarray:
    """Names of attributes as an array."""
    found = np.empty(len(attributes), dtype=object)
    found[:] = list(attributes)
    return found


def _matched(names: np.ndarray, others: np.ndarray) -> tuple[list[int], list[int]]:
    """Places of the names that are also among others, and their places there."""
    place = {name: number for number, name in enumerate(others.tolist())}
    pairs = [(number, place[name]) for number, name in enumerate(names.tolist()) if name in place]
    return [a for a, _ in pairs], [b for _, b in pairs]
