"""Standard errors of all fitted parameters.

By refits to reweighted rows, from the fitted parameters on: the bootstrap draws counts, the weighted likelihood bootstrap draws
weights n · Dirichlet(1, …, 1), the jackknife leaves each row out once. Or by the observed information, with scores
s_i = ∂ log p(x_i) / ∂θ taken numerically in unconstrained coordinates θ and carried to parameters g(θ) by the delta method:

    Var g = J (Σ_i w_i s_i s_iᵀ)⁻¹ Jᵀ,        J = ∂g / ∂θ
"""

import copy
import numbers
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import norm
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..checks import check_choice, check_number
from ..engine import Model, SingularError, fit
from ..kernels import host
from ..source import ArraySource, Block, Source
from ..table import Table
from .estimator import check_mixture

__all__ = ["StandardErrors", "standard_errors"]

METHODS = ("bootstrap", "weighted", "jackknife", "information")
STEP = 1e-5
Named = dict[str, np.ndarray]


class StandardErrors:
    """Standard errors and confidence intervals of fitted parameters; made by `standard_errors`.

    Attributes
    ----------
    table : tacit.table.Table
        Rows of ``parameter``, ``estimate``, ``standard_error``, ``lower`` and ``upper``; of symmetric matrices one half.
    estimate, standard_error, lower, upper : dict of ndarray
        By the name of the fitted attribute, in its shape.
    replicates : dict of ndarray or None
        The parameters of all refits, labels aligned, one refit along the first axis.
    method : str
    level : float
        Of the intervals.
    """

    def __init__(self, parts: tuple[Named, ...], replicates: Named | None, method: str, level: float, columns: list):
        self.estimate, self.standard_error, self.lower, self.upper = parts
        self.replicates, self.method, self.level = replicates, method, level
        self.table = Table([row for name in self.estimate for row in self._rows(name, columns)])

    def _rows(self, name: str, columns: list) -> Iterator[dict[str, Any]]:
        values = self.estimate[name]
        shape = values.shape
        square = values.ndim > 1 and shape[-1] == shape[-2] and np.allclose(values, values.swapaxes(-1, -2))
        for index in np.ndindex(shape):
            if square and name.startswith("cov") and index[-2] > index[-1]:
                continue
            parts = ("estimate", "standard_error", "lower", "upper")
            numbers = {part: float(getattr(self, part)[name][index]) for part in parts}
            yield {"parameter": f"{name}[{', '.join(_labels(index, shape, columns))}]", **numbers}

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        return self.table.to_pandas()

    def __repr__(self) -> str:
        return f"{self.table}\nby {self.method}, intervals at the level {self.level:g}"


def standard_errors(
    estimator: Any,
    X: Any,
    *,
    method: str = "bootstrap",
    n_bootstrap: int = 200,
    level: float = 0.95,
    sample_weight: Any = None,
    random_state: Any = None,
) -> StandardErrors:
    """Standard errors of the parameters of a fitted estimator.

    Parameters
    ----------
    estimator : EMEstimator
        Fitted to X.
    X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
        The rows it was fitted to; in memory, but for ``method="information"``.
    method : {"bootstrap", "weighted", "jackknife", "information"}, default="bootstrap"
        Refits to resampled rows, to rows with random weights, without each row in turn, or the observed information.
        The first three refit from the fitted parameters and bring the classes of each refit into the order of the fit's,
        by their overlap on the rows of X. Intervals are percentiles of the refits for the first two, and else normal.
    n_bootstrap : int, default=200
        Refits, for the first two methods.
    level : float, default=0.95
        Of the confidence intervals.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights as in `fit`.
    random_state : int, RandomState instance or None, default=None
        Seeds the resampling.

    Returns
    -------
    StandardErrors

    References
    ----------
    Basford, Greenway, McLachlan and Peel (1997), Standard errors of fitted component means of normal mixtures.
    O'Hagan, Murphy, Scrucca and Gormley (2019), Investigation of parameter uncertainty in clustering using a Gaussian mixture
    model via jackknife, bootstrap and weighted likelihood bootstrap.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import GaussianMixture, standard_errors
    >>> X = np.random.default_rng(0).normal(size=(100, 1))
    >>> found = standard_errors(GaussianMixture().fit(X), X, method="information")
    >>> found.standard_error["means_"].round(2)
    array([[0.1]])
    """
    check_mixture("standard_errors", estimator, "a mixture learned by likelihood", by_likelihood=True)
    check_is_fitted(estimator)
    check_choice("method", method, METHODS)
    check_number("n_bootstrap", n_bootstrap, numbers.Integral, 2)
    if not isinstance(level, (float, int)) or not 0 < level < 1:
        raise ValueError(f"level={level!r} is not a number between 0 and 1, such as 0.95.")
    source, estimate = estimator._open(X, sample_weight), _published(estimator, estimator._params())
    replicates: Named = {}
    if method == "information":
        spread = _information(estimator, source)
    else:
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        replicates = _replicates(estimator, source, _weights(method, source, n_bootstrap, rng))
        n = len(replicates["weights_"])
        factor = (n - 1) ** 2 / n if method == "jackknife" else 1.0
        spread = {name: np.sqrt(factor * values.var(axis=0, ddof=1)) for name, values in replicates.items()}

    def end(name: str, q: float) -> np.ndarray:
        if method in ("bootstrap", "weighted"):
            return np.quantile(replicates[name], q, axis=0)
        return estimate[name] + norm.ppf(q) * spread[name]

    lower, upper = ({name: end(name, q) for name in estimate} for q in (0.5 * (1 - level), 0.5 * (1 + level)))
    columns = [] if hasattr(estimator, "_parameters") else estimator._known_names() or []
    return StandardErrors((estimate, spread, lower, upper), replicates or None, method, level, columns)


def _published(estimator: Any, params: Any) -> Named:
    """The arrays that an estimator shows for parameters; precisions say nothing that covariances do not."""
    if hasattr(estimator, "_parameters"):
        return estimator._parameters(params)
    shadow = copy.copy(estimator)
    before = {name: id(value) for name, value in vars(shadow).items()}
    shadow._publish(params, np.dtype(np.float64))
    return {
        name: value
        for name, value in vars(shadow).items()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size
        and id(value) != before.get(name) and not name.startswith("precisions")
    }  # fmt: skip


def _stacked(parts: Sequence[Named]) -> Named:
    """Parameters of several fits, one along the first axis."""
    return {name: np.array([part[name] for part in parts]) for name in parts[0]}


# Refits


def _weights(method: str, source: Source, n_bootstrap: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """The row weights of each refit."""
    if not isinstance(source, ArraySource):
        raise ValueError(f"method={method!r} takes rows in memory; use method='information' for rows in a stream.")
    weight = np.ones(source.n_rows) if source.weight is None else source.weight
    if method == "jackknife":
        if not np.isin(weight, (0.0, 1.0)).all():
            raise ValueError(
                "method='jackknife' leaves out rows one by one, so weights must be 0 or 1; use 'weighted'."
            )
        for row in np.flatnonzero(weight):
            yield np.where(np.arange(len(weight)) == row, 0.0, weight)
        return
    for _ in range(n_bootstrap):
        if method == "bootstrap":
            # A row of weight 2 is two rows, and may be drawn as often as two are.
            yield rng.multinomial(round(weight.sum()), weight / weight.sum()).astype(float)
        else:
            share = rng.standard_gamma(weight)
            yield weight.sum() * share / share.sum()


def _replicates(estimator: Any, source: Any, weights: Iterable[np.ndarray]) -> Named:
    """Published parameters of refits, one along the first axis; refits that turn out singular are left out."""
    model, start = estimator._model(), estimator._params()
    how = {"max_iter": max(estimator.max_iter, 1000), "tol": min(estimator.tol, 1e-6), "accelerate": "auto"}
    reference, found = _memberships(model, start, source), []
    for weight in weights:
        rows = ArraySource(source.X, weight, source.labels, n_jobs=source.n_jobs)
        try:
            params = fit(model, rows, start, **how).params
        except (SingularError, np.linalg.LinAlgError):
            continue
        found.append(_published(estimator, align(model, params, source, reference)))
    if len(found) < 2:
        raise ValueError("fewer than two refits succeeded; use fewer components or method='information'.")
    return _stacked(found)


def _memberships(model: Model, params: Any, source: Source) -> np.ndarray:
    """Probabilities of the classes of all rows."""
    parts = source.map(lambda block: model.posterior(params, block)[0] * host(block.weight)[:, None])
    return np.concatenate(list(parts))


def align(model: Model, params: Any, source: Source, reference: np.ndarray) -> Any:
    """Parameters with the classes in the order of reference memberships: the pairing that shares most rows."""
    if reference.shape[1] == 1:
        return params
    overlap = reference.T @ _memberships(model, params, source)
    return model.permute(params, linear_sum_assignment(-overlap)[1])


# Information


def _outer(model: Model, pairs: list, block: Block) -> np.ndarray:
    """Σ w s sᵀ over a block, from parameters a step above and below along each coordinate."""
    above, below = ([model.posterior(params, block)[1] for params in side] for side in zip(*pairs))
    scores = (np.array(above) - np.array(below)) / (2 * STEP)
    return (scores * host(block.weight)) @ scores.T


def _information(estimator: Any, source: Source) -> Named:
    """Standard errors of the published parameters by the observed information."""
    model, params = estimator._model(), estimator._params()
    vector = model.free(params)
    pairs = [[model.bound(vector + sign * step, params) for sign in (1, -1)] for step in STEP * np.eye(len(vector))]
    matrix = source.sum(partial(_outer, model, pairs))
    # Log weights have one direction too many, in which nothing changes: the pseudo-inverse leaves it out.
    covariance = np.linalg.pinv(matrix, rcond=1e-10, hermitian=True)
    # A coordinate on which no row depends, as of a column that a class never observed, could be anything.
    blind = np.diag(matrix) <= 1e-14 * np.diag(matrix).max()
    above, below = (_stacked([_published(estimator, params) for params in side]) for side in zip(*pairs))
    spread = {}
    for name in above:
        jacobian = (above[name] - below[name]) / (2 * STEP)
        variance = (jacobian * np.tensordot(covariance, jacobian, axes=1)).sum(axis=0)
        told = np.sqrt(np.maximum(variance, 0.0))
        spread[name] = np.where((jacobian[blind] != 0).any(axis=0), np.inf, told)
    return spread


def _labels(index: tuple[int, ...], shape: tuple[int, ...], columns: list) -> list[str]:
    """Indices as text; those along columns by name, where there are names."""
    last = len(shape) - (2 if len(shape) > 1 and shape[-1] == shape[-2] and len(shape) != 2 else 1)
    named = len(columns) == shape[-1] and len(shape) > 1
    return [str(columns[i]) if named and axis >= last else str(i) for axis, i in enumerate(index)]
