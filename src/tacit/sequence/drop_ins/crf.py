"""`CRF`: `LinearChainCRF` with what sklearn-crfsuite's class of that name has besides."""

from __future__ import annotations

import os
import tempfile
from functools import cached_property
from typing import Any, Self

import numpy as np

from ...base.settings import KW_ONLY, settings
from ..crf import LinearChainCRF

__all__ = ["CRF"]

EMPTY = ("attributes_", "classes_", "num_attributes_", "size_", "state_features_", "tagger_", "transition_features_")
"""Attributes that are None before a fit."""


class Tagger:
    """What python-crfsuite's tagger tells of a model.

    Parameters
    ----------
    crf : CRF
        Fitted.
    """

    def __init__(self, crf: CRF):
        self.crf, self._sequence = crf, None

    def labels(self) -> list:
        """All labels."""
        return self.crf.classes_.tolist()

    def set(self, xseq: Any) -> None:
        """Take a sequence, of which the next questions are asked."""
        self._sequence = xseq
        self.__dict__.pop("_proba", None)

    def tag(self, xseq: Any = None) -> list:
        """The likeliest labels of a sequence, or of the one that was set."""
        if xseq is not None:
            self.set(xseq)
        return self.crf.predict_single(self._sequence)

    @cached_property
    def _proba(self) -> np.ndarray:
        return self.crf.predict_proba([self._sequence])[0]

    def marginal(self, y: Any, pos: int) -> float:
        """The probability of a label at a place of the sequence that was set."""
        return float(self._proba[pos, self.labels().index(y)])

    def probability(self, yseq: Any) -> float:
        """The probability of labels of the sequence that was set."""
        return float(np.exp(self.crf.log_prob([self._sequence], [yseq])[0]))


@settings
class CRF(LinearChainCRF):
    """Drop-in for ``sklearn_crfsuite.CRF``: replacing the import is enough.

    It is `LinearChainCRF`, and where it differs follows sklearn-crfsuite: `predict` gives an array of lists, and attributes are
    None before a fit.

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
    model_filename : str, optional
        Where a fit writes the model, as `tacit.save` does, and where a model is read from that was not fitted.
    keep_tempfiles, trainer_cls
        Without a meaning here; `trainer_cls` must be None.

    Attributes
    ----------
    tagger_ : object
        With the methods ``tag``, ``set``, ``marginal``, ``probability`` and ``labels`` of python-crfsuite's.
    size_ : int
        Bytes of the model's file.

    See Also
    --------
    LinearChainCRF : All other attributes.

    Examples
    --------
    >>> from tacit.sequence import CRF
    >>> crf = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100)
    >>> X = [[{"w": "a"}, {"w": "b"}], [{"w": "b"}, {"w": "a"}]]
    >>> crf.fit(X, [["A", "B"], ["B", "A"]]).predict(X).tolist()
    [['A', 'B'], ['B', 'A']]
    """

    algorithm: str | None = None
    _: KW_ONLY
    model_filename: Any = None
    keep_tempfiles: bool | None = False
    trainer_cls: Any = None

    def __getattr__(self, name: str) -> Any:
        if name in EMPTY:
            return None
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.trainer_cls is not None:
            raise ValueError(
                f"trainer_cls={self.trainer_cls!r} is CRFsuite's; leave it out, and give a callback instead."
            )

    def fit(
        self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None, sample_weight: Any = None, *, lengths: Any = None
    ) -> Self:
        """Learn weights; see `LinearChainCRF`.

        Parameters
        ----------
        X, y, X_dev, y_dev, sample_weight, lengths
            As there.
        """
        super().fit(X, y, X_dev, y_dev, sample_weight, lengths=lengths)
        if self.model_filename is not None:
            from ...persistence import save

            save(self, self.model_filename)
        return self

    def _asked(self, X: Any, lengths: Any) -> Any:
        if "fit_" not in vars(self) and self.model_filename is not None and os.path.exists(self.model_filename):
            from ...persistence import load

            found = vars(load(self.model_filename))
            self.__dict__.update({name: value for name, value in found.items() if name not in self.get_params()})
        return super()._asked(X, lengths)

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """The likeliest labels, as an array of lists.

        Parameters
        ----------
        X, lengths
            As in `LinearChainCRF`.
        """
        found = super().predict(X, lengths)
        return np.array(found, dtype=object) if isinstance(found, list) else found

    def predict_single(self, xseq: Any) -> list:
        """The likeliest labels of one sequence.

        Parameters
        ----------
        xseq : list of dict or list of names
            Its steps.
        """
        return list(self.predict([xseq])[0])

    def predict_marginals(self, X: Any, lengths: Any = None) -> Any:
        """Probabilities of labels, as an array of lists of dictionaries.

        Parameters
        ----------
        X, lengths
            As in `LinearChainCRF`.
        """
        return np.array(super().predict_marginals(X, lengths), dtype=object)

    @property
    def tagger_(self) -> Tagger:
        """Answers about one sequence at a time."""
        if "fit_" not in vars(self):
            raise AttributeError("tagger_")
        return Tagger(self)

    @property
    def size_(self) -> int:
        """Bytes of the model's file."""
        if "fit_" not in vars(self):
            raise AttributeError("size_")
        from ...persistence import save

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.tacit")
            save(self, path)
            return os.path.getsize(path)
