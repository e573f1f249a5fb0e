"""What may predict: a model each, how it is learned from columns of numbers and a target, and what it answers.

Targets of regressions are standardised, those of classifiers numbered; every answer is an array: (n, 2) of expectation and
standard deviation (NaN where a model tells none), or (n, K) of probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from ..checks import check_choice

__all__ = ["CLASSIFIERS", "REGRESSORS", "Candidate", "answered", "candidates", "learned", "suited"]

MOST_GROUPS = 5


@dataclass(frozen=True)
class Candidate:
    """A model that may predict.

    Attributes
    ----------
    name : str
        What it is called among settings.
    words : str
        What it is called in sentences.
    make : callable
        ``make(seed, size)`` gives the estimator, `size` being the sum of the columns' variances; ``fit(X, y)`` learns it.
    takes_missing : bool
        Whether it integrates missing cells out; for others they are imputed.
    most_rows : int
        Rows beyond which it takes too long: it is then learned from some of them.
    logs : bool
        Whether it is a model of the target's logarithm.
    """

    name: str
    words: str
    make: Callable[[int, float], Any]
    takes_missing: bool = False
    most_rows: int = 10**9
    logs: bool = False


def _linear(seed: int, size: float) -> Any:
    from ..linear_model import BayesianRidge

    return BayesianRidge(n_jobs=1)


def _sparse(seed: int, size: float) -> Any:
    from ..linear_model import ARDRegression

    return ARDRegression()


def _process(seed: int, size: float) -> Any:
    from ..gaussian_process import GaussianProcessRegressor
    from ..gaussian_process.kernels import RBF, ConstantKernel, DotProduct, WhiteKernel

    # Lengths grow with the distance between standardised rows; a straight line is within reach.
    kernel = ConstantKernel(1.0) * RBF(np.sqrt(size), (1e-2 * np.sqrt(size), 1e3 * np.sqrt(size)))
    kernel = kernel + ConstantKernel(0.1) * DotProduct(1.0, "fixed") + WhiteKernel(0.3, (1e-6, 1e2))
    return GaussianProcessRegressor(kernel, random_state=seed)


def _vectors(seed: int, size: float) -> Any:
    from ..svm import SVR

    return SVR(gamma=0.5 / size)


def _mixture(seed: int, size: float) -> Any:
    from ..mixture import GaussianMixture

    # Intervals come from errors of held-out rows, so that draws of the parameters would tell nothing more.
    return GaussianMixture(random_state=seed, n_jobs=1, reg_covar=1e-4, parameter_draws=0)


def _logistic(seed: int, size: float) -> Any:
    from ..linear_model import BayesianLogisticRegression

    return BayesianLogisticRegression()


def _discriminant(seed: int, size: float) -> Any:
    from ..classification import GaussianBayes

    return GaussianBayes("tied", reg_covar=1e-4, n_jobs=1)


def _densities(seed: int, size: float) -> Any:
    from ..classification import MixtureDiscriminant

    return MixtureDiscriminant(random_state=seed, reg_covar=1e-3, n_jobs=1)


def _class_process(seed: int, size: float) -> Any:
    from ..gaussian_process import GaussianProcessClassifier
    from ..gaussian_process.kernels import RBF, ConstantKernel

    kernel = ConstantKernel(4.0, (1e-2, 1e4)) * RBF(np.sqrt(size), (1e-2 * np.sqrt(size), 1e3 * np.sqrt(size)))
    return GaussianProcessClassifier(kernel, random_state=seed)


def _class_vectors(seed: int, size: float) -> Any:
    from ..svm import SVC

    return SVC(gamma=0.5 / size, probability=True, random_state=seed)


def _trees(seed: int, size: float) -> Any:
    from ..ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(**TREES, random_state=seed)


def _class_trees(seed: int, size: float) -> Any:
    from ..ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(**TREES, random_state=seed)


def _forest(seed: int, size: float) -> Any:
    from ..ensemble import RandomForestRegressor

    return RandomForestRegressor(200, min_samples_leaf=2, max_features=0.5, random_state=seed, n_jobs=1)


def _class_forest(seed: int, size: float) -> Any:
    from ..ensemble import RandomForestClassifier

    return RandomForestClassifier(200, min_samples_leaf=2, random_state=seed, n_jobs=1)


TREES: dict[str, Any] = {
    "learning_rate": 0.05, "max_iter": 150, "max_leaf_nodes": 8, "min_samples_leaf": 5, "l2_regularization": 1.0,
    "subsample": 0.7, "early_stopping": False, "n_jobs": 1,
}  # fmt: skip
"""Settings of boosted trees that do well on tables of a few dozen to some thousand rows."""

REGRESSORS = (
    Candidate("linear", "Bayesian linear regression", _linear, True),
    Candidate("support_vectors", "support vector regression", _vectors, False, 10_000),
    Candidate("boosted_trees", "boosted trees", _trees, True, 100_000),
    Candidate("forest", "a random forest", _forest, True, 50_000),
    Candidate("gaussian_process", "a Gaussian process", _process, False, 1000),
    Candidate("log_linear", "Bayesian regression of its logarithm", _linear, True, logs=True),
    Candidate("mixture", "a mixture of Gaussians over all columns", _mixture, True, 20_000),
    Candidate("sparse_linear", "sparse Bayesian linear regression", _sparse, True),
)
CLASSIFIERS = (
    Candidate("discriminant", "linear discriminant analysis", _discriminant, True),
    Candidate("logistic", "Bayesian logistic regression", _logistic, False, 200_000),
    Candidate("support_vectors", "support vectors", _class_vectors, False, 10_000),
    Candidate("boosted_trees", "boosted trees", _class_trees, True, 100_000),
    Candidate("forest", "a random forest", _class_forest, True, 50_000),
    Candidate("gaussian_process", "a Gaussian process classifier", _class_process, False, 600),
    Candidate("densities", "a mixture of Gaussians for each class", _densities, True, 20_000),
)
"""Models by task, in the order in which they are tried while there is time."""


def candidates(asked: str | Sequence[str], known: tuple[Candidate, ...]) -> list[Candidate]:
    """The candidates of those names; all with "auto"."""
    if isinstance(asked, str) and asked == "auto":
        return list(known)
    names = [asked] if isinstance(asked, str) else list(asked)
    if not names:
        raise ValueError(f"models={asked!r} names no model; there are {', '.join(each.name for each in known)}.")
    for name in names:
        check_choice("models", name, [each.name for each in known])
    return [each for each in known if each.name in names]


def suited(asked: list[Candidate], y: np.ndarray) -> list[Candidate]:
    """Those that can learn the targets: logarithms are of numbers above 0."""
    found = [each for each in asked if not each.logs or y.min() > 0]
    if not found:
        raise ValueError(
            f"models={asked[0].name!r} is for targets above 0, but the least is {y.min():g}; name another model."
        )
    return found


def learned(candidate: Candidate, Z: np.ndarray, y: np.ndarray, seed: int) -> Any:
    """The model, learned from columns of numbers and standardised or numbered targets."""
    # Squared distances between rows grow with the sum of the variances.
    size = max(1.0, float(np.nanvar(Z, axis=0).sum()))
    model = candidate.make(seed, size)
    if candidate.name != "mixture":
        return model.fit(Z, y)
    from ..mixture import select

    most = max(1, min(MOST_GROUPS, len(Z) // (5 * (Z.shape[1] + 1))))
    together = np.column_stack([Z, y])
    return select(model, together, n_components=range(1, most + 1), covariance_type="full", n_jobs=1).best


def answered(model: Any, Z: np.ndarray, n_classes: int) -> np.ndarray:
    """What a model answers for columns of numbers: expectation and standard deviation, or probabilities of classes."""
    if n_classes:
        found = np.zeros((len(Z), n_classes))
        found[:, np.asarray(model.classes_, dtype=int)] = model.predict_proba(Z)
        return found
    if hasattr(model, "condition"):
        law = model.condition(Z, target=[Z.shape[1]])
        return np.column_stack([law.mean[:, 0], law.std[:, 0]])
    if "return_std" not in signature(model.predict).parameters:  # it tells no spread
        return np.column_stack([model.predict(Z), np.full(len(Z), np.nan)])
    mean, std = model.predict(Z, return_std=True)
    return np.column_stack([mean, std])
