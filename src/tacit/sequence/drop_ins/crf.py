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

    It is `LinearChainCRF`, whose settings and methods it has, and where it differs follows sklearn-crfsuite: `predict` gives an
    array of lists, and attributes are None before a fit.

    Parameters
    ----------
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
    LinearChainCRF : All other settings and attributes.

    Examples
    --------
    >>> from tacit.sequence import CRF
    >>> crf = CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100)
    >>> crf.fit([[{"w": "a"}, {"w": "b"}]] * 3, [["A", "B"]] * 3).predict([[{"w": "b"}, {"w": "a"}]]).tolist()
    [['B', 'A']]
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
            raise ValueError(f"trainer_cls={self.trainer_cls!r} is CRFsuite's; leave it out, and give a callback instead.")

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
