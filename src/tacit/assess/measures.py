"""`Measure`: how a fitted model is judged on rows that it has not seen, one number a row where the model allows it.

What is measured follows from what the model answers: classes and their probabilities, numbers and their distributions, log
densities, filled cells, topics, ratings. A measure with a number for each row lets models be compared row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector, is_regressor
from sklearn.metrics import get_scorer

from .data import Data, is_recommender
from .scoring import brier_score, gaussian_crps, gaussian_log_density

__all__ = ["MEASURES", "Measure", "measures_of"]

LEAST = 1e-15
"""Probabilities are taken as no smaller in logarithms, so that one row cannot decide alone."""
SHARE = 0.2
"""Share of the known cells of judged rows that are hidden."""
LEVEL = 0.9


@dataclass(frozen=True)
class Measure:
    """A way to judge.

    Attributes
    ----------
    name, words : str
    larger : bool
        Whether more is better.
    of : callable
        Of a fitted model and `Data`: an array with a number for each row or unit (NaN for none), or a number for all.
    positive : bool
        Whether it is never negative, as losses are.
    share : bool
        Whether rows come to 0 or 1.
    """

    name: str
    words: str
    larger: bool
    of: Callable[[Any, Data], Any]
    positive: bool = False
    share: bool = False

    @property
    def scale(self) -> str:
        """On which scale the interval of its mean is made."""
        return "share" if self.share else "log" if self.positive else "linear"


def _target(part: Data) -> np.ndarray:
    if part.y is None:
        raise ValueError("y is needed to judge predictions; give it.")
    return np.asarray(part.y)


def _predicted(model: Any, part: Data) -> np.ndarray:
    return np.asarray(model.predict(part.X, **part.beside))


def _per_row(values: np.ndarray) -> np.ndarray:
    return values.reshape(len(values), -1).mean(axis=1)


def _squared(model: Any, part: Data) -> np.ndarray:
    return _per_row((_predicted(model, part) - _target(part).astype(float)) ** 2)


def _absolute(model: Any, part: Data) -> np.ndarray:
    return _per_row(np.abs(_predicted(model, part) - _target(part).astype(float)))


def _gaussians(model: Any, part: Data) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    mean, std = (np.asarray(each, dtype=float) for each in model.predict(part.X, return_std=True))
    return _target(part).astype(float), mean, std


def _log_density(model: Any, part: Data) -> np.ndarray:
    if hasattr(model, "log_density"):
        return np.asarray(model.log_density(part.X, part.y), dtype=float)
    return gaussian_log_density(*_gaussians(model, part))


def _crps(model: Any, part: Data) -> np.ndarray:
    return gaussian_crps(*_gaussians(model, part))


def _covered(model: Any, part: Data) -> np.ndarray:
    low, high = model.predict_interval(part.X, LEVEL)
    y = _target(part).astype(float)
    return ((low <= y) & (y <= high)).astype(float)


def _probabilities(model: Any, part: Data) -> tuple[np.ndarray, np.ndarray]:
    """The probability of each row's class: 0 of a class that was not there to be learned."""
    p, classes, y = np.asarray(model.predict_proba(part.X)), np.asarray(model.classes_), _target(part)
    hit = y[:, None] == classes[None, :]
    return (p * hit).sum(axis=1), p


def _log_loss(model: Any, part: Data) -> np.ndarray:
    return -np.log(np.maximum(_probabilities(model, part)[0], LEAST))


def _brier(model: Any, part: Data) -> np.ndarray:
    p = _probabilities(model, part)[1]
    known = np.isin(_target(part), model.classes_)
    code = np.where(known, _target(part), model.classes_[0])
    found = brier_score(code, p, model.classes_, each=True)
    return np.where(known, found, ((p**2).sum(axis=1) + 1.0) / (2.0 if p.shape[1] == 2 else 1.0))


def _wrong(model: Any, part: Data) -> np.ndarray:
    predicted = model.predict(part.X, **part.beside)
    truth = part.y if isinstance(part.y, list) else _target(part)
    if isinstance(predicted, list):  # labels of sequences
        predicted, truth = (
            np.concatenate([np.asarray(each) for each in given]) if np.ndim(given[0]) else np.asarray(given)
            for given in (predicted, truth)
        )
    return (np.asarray(predicted) != np.asarray(truth)).astype(float)


def _log_likelihood(model: Any, part: Data) -> np.ndarray:
    two = part.y is not None and getattr(model, "_two_views", False)
    if hasattr(model, "log_prob") and part.y is not None:
        return np.asarray(model.log_prob(part.X, part.y, **part.beside), dtype=float)
    found = model.score_samples(part.X, part.y) if two else model.score_samples(part.X, **part.beside)
    if isinstance(found, tuple):  # hmmlearn's: the log-likelihood of everything, and posteriors
        return np.asarray(float(found[0]) / part.n_rows)
    return np.asarray(found, dtype=float)


def _hidden(model: Any, part: Data) -> np.ndarray:
    from .cells import hidden_cells_of

    return hidden_cells_of(model, part.X, SHARE).error


def _hidden_covered(model: Any, part: Data) -> np.ndarray:
    from .cells import hidden_cells_of

    return hidden_cells_of(model, part.X, SHARE, level=LEVEL).covered


def _perplexity(model: Any, part: Data) -> float:
    from ..topics.completion import completion

    return completion(model, part.X).perplexity


def _rating(model: Any, part: Data) -> np.ndarray:
    return (model.predict(part.X) - part.X.rating) ** 2


def _own(model: Any, part: Data) -> float:
    return float(model.score(part.X, **part.beside) if part.y is None else model.score(part.X, part.y, **part.beside))


MEASURES = {
    each.name: each for each in (
        Measure("squared_error", "mean squared error", False, _squared, True),
        Measure("absolute_error", "mean absolute error", False, _absolute, True),
        Measure("log_density", "mean log density of y given x", True, _log_density),
        Measure("crps", "continuous ranked probability score", False, _crps, True),
        Measure("coverage", f"share of y inside {LEVEL:.0%} intervals", True, _covered, share=True),
        Measure("log_loss", "mean −log probability of the class", False, _log_loss, True),
        Measure("brier", "Brier score", False, _brier, True),
        Measure("error", "share of wrong classes", False, _wrong, share=True),
        Measure("log_likelihood", "held-out log-likelihood", True, _log_likelihood),
        Measure("hidden_cells", "squared error of hidden cells, in variances of the columns", False, _hidden, True),
        Measure("hidden_coverage", f"share of hidden cells inside {LEVEL:.0%} intervals", True, _hidden_covered),
        Measure("perplexity", "perplexity of hidden words", False, _perplexity, True),
        Measure("rating_error", "mean squared error of ratings", False, _rating, True),
        Measure("score", "the model's own score", True, _own),
    )
}  # fmt: skip


def measures_of(asked: Any, model: Any, data: Data) -> list[Measure]:
    """Measures that were asked for, or those that a model is usually judged by.

    Parameters
    ----------
    asked : None, str, callable, Measure, or several of these, also as a dict by name
        Names are those of `MEASURES` or of scikit-learn's scorers; a callable takes (model, X, y) and returns a number, or one
        for each row, larger being better.
    model : estimator
    data : Data
    """
    if asked is None:
        return [MEASURES[name] for name in _usual(model, data)]
    if isinstance(asked, Mapping):
        return [_measure(each, str(name)) for name, each in asked.items()]
    several = isinstance(asked, Iterable) and not isinstance(asked, str)
    found = [_measure(each) for each in (asked if several else [asked])]
    if not found:
        raise ValueError(f"measures is empty; give at least one of {', '.join(MEASURES)}, or None.")
    return found


def _measure(asked: Any, name: str | None = None) -> Measure:
    if isinstance(asked, Measure):
        return asked
    if isinstance(asked, str) and asked in MEASURES:
        return MEASURES[asked]
    if isinstance(asked, str):
        try:
            scorer = get_scorer(asked)
        except ValueError:
            raise ValueError(
                f"measures={asked!r} is unknown; use one of {', '.join(MEASURES)}, or a scorer of scikit-learn."
            ) from None
        return Measure(name or asked, asked, True, lambda model, part: scorer(model, part.X, part.y))
    if not callable(asked):
        raise ValueError(f"measures={asked!r} is neither a name nor a callable; use one of {', '.join(MEASURES)}.")
    words = name or getattr(asked, "__name__", None) or "score"
    return Measure(words, words, True, lambda model, part: asked(model, part.X, part.y))


def _usual(model: Any, data: Data) -> list[str]:
    """Names of the measures that fit what a model answers."""
    if is_recommender(model):
        return ["rating_error"]
    if hasattr(model, "topic_table"):
        return ["perplexity"]
    if hasattr(model, "log_prob") and data.y is not None:
        return ["log_likelihood", "error"]
    if is_classifier(model):
        return ["log_loss", "error"] if hasattr(model, "predict_proba") else ["error"]
    if is_regressor(model) and not hasattr(model, "score_samples"):
        return ["squared_error", "absolute_error"]
    for method, name in (("score_samples", "log_likelihood"), ("impute", "hidden_cells"), ("score", "score")):
        if hasattr(model, method) and not (is_outlier_detector(model) and method != "impute"):
            return [name]
    if hasattr(model, "transform") and "Imputer" in type(model).__name__:
        return ["hidden_cells"]
    raise ValueError(
        f"{type(model).__name__} has nothing to judge held-out rows by: neither predict_proba, score_samples, impute nor score; "
        "give measures=, a function of (model, X, y), or see how stable its clusters are with tacit.assess.cluster_stability."
    )
