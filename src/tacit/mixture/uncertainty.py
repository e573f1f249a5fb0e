"""Standard errors of all fitted parameters.

By refits to reweighted rows, from the fitted parameters on: the bootstrap draws counts, the weighted likelihood bootstrap draws
weights n · Dirichlet(1, …, 1), the jackknife leaves each row out once. Or by the observed information, with scores
s_i = ∂ log p(x_i) / ∂θ taken numerically in unconstrained coordinates θ and carried to parameters g(θ) by the delta method:

    Var g = J (Σ_i w_i s_i s_iᵀ)⁻¹ Jᵀ,        J = ∂g / ∂θ
"""

import copy
import numbers
import warnings
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..checks import check_choice, check_number
from ..engine import Model, SingularError, fit
from ..kernels import host
from ..source import ArraySource, Block, Source
from ..table import Table
from ..words import joined
from .estimator import check_mixture, opened

__all__ = ["StandardErrors", "standard_errors"]

METHODS = ("bootstrap", "weighted", "jackknife", "information")
STEP = 1e-5
FEW = 10
"""Rows for each parameter below which intervals are too narrow."""
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
    y: Any = None,
    *,
    method: str = "bootstrap",
    n_bootstrap: int = 200,
    level: float = 0.95,
    sample_weight: Any = None,
    unit: Any = None,
    random_state: Any = None,
) -> StandardErrors:
    """Standard errors of the parameters of a fitted estimator.

    Parameters
    ----------
    estimator : EMEstimator
        Fitted to X.
    X : array-like of shape (n_samples, n_features), path, Arrow data, Dask collection or source
        The rows it was fitted to; in memory, but for ``method="information"``.
    y : array-like of shape (n_samples,), optional
        Targets of mixtures of experts.
    method : {"bootstrap", "weighted", "jackknife", "information"}, default="bootstrap"
        Refits to resampled rows, to rows with random weights, without each row in turn, or the observed information.
        The first three refit from the fitted parameters and bring the classes of each refit into the order of the fit's,
        by their overlap on the rows of X. Intervals are percentiles of the refits for the first two, and else normal: of the
        logarithm of a variance, of the logit of a weight, and of other parameters as they are. What the information does not
        tell, where its matrix is singular, has an infinite standard error, with a warning. Fewer than ten rows for each parameter
        give a warning too: there intervals of any method are too narrow.
    n_bootstrap : int, default=200
        Refits, for the first two methods.
    level : float, default=0.95
        Of the confidence intervals.
    sample_weight, unit : array-like of shape (n_samples,), optional
        As in `fit`. Units are resampled, and left out, as wholes.
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
    check_mixture("standard_errors", estimator, "a mixture learned by likelihood", by_likelihood=True, experts=True)
    check_is_fitted(estimator)
    check_choice("method", method, METHODS)
    check_number("n_bootstrap", n_bootstrap, numbers.Integral, 2)
    if not isinstance(level, (float, int)) or not 0 < level < 1:
        raise ValueError(f"level={level!r} is not a number between 0 and 1, such as 0.95.")
    if y is not None and not hasattr(estimator, "predict_gate"):
        raise ValueError(f"y is for mixtures of experts; {type(estimator).__name__} is described by X alone.")
    source = opened(estimator, X, y, sample_weight, unit)
    model, params = estimator._resumed(source)
    estimate = published(estimator, params)
    replicates: Named = {}
    if method == "information":
        spread = _information(estimator, model, params, source)
    else:
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        weights = _weights(method, source, n_bootstrap, rng)
        replicates = _replicates(estimator, model, params, source, weights)
        n = len(next(iter(replicates.values())))
        factor = (n - 1) ** 2 / n if method == "jackknife" else 1.0
        spread = {name: np.sqrt(factor * values.var(axis=0, ddof=1)) for name, values in replicates.items()}

    def end(name: str, q: float) -> np.ndarray:
        if method in ("bootstrap", "weighted"):
            return np.quantile(replicates[name], q, axis=0)
        return normal_end(name, estimate[name], spread[name], norm.ppf(q))

    if source.n_units < FEW * (n_parameters := estimator._n_parameters()):
        warnings.warn(
            f"{source.n_units} rows are few for {n_parameters} parameters: standard errors hold with many rows, and intervals "
            "are too narrow here, by any method; use fewer components or columns.",
            UserWarning,
            stacklevel=2,
        )
    lower, upper = ({name: end(name, q) for name in estimate} for q in (0.5 * (1 - level), 0.5 * (1 + level)))
    named = [] if hasattr(estimator, "_parameters") else estimator._known_names() or []
    columns = getattr(estimator, "terms_", named)
    return StandardErrors((estimate, spread, lower, upper), replicates or None, method, level, columns)


def published(estimator: Any, params: Any) -> Named:
    """The arrays that an estimator shows for parameters; precisions say nothing that covariances do not."""
    if hasattr(estimator, "_parameters"):
        return estimator._parameters(params)
    before = {name: id(value) for name, value in vars(estimator).items()}
    return {
        name: value
        for name, value in vars(shadow(estimator, params)).items()
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size
        and id(value) != before.get(name) and not name.startswith("precisions")
    }  # fmt: skip


def shadow(estimator: Any, params: Any) -> Any:
    """A copy of a fitted estimator that has learned these parameters."""
    made = copy.copy(estimator)
    made._publish(params, np.dtype(np.float64))
    return made


def normal_end(name: str, estimate: np.ndarray, spread: np.ndarray, z: float) -> np.ndarray:
    """The end of a normal interval, of the logarithm of what is a variance and of the logit of what is a share."""
    if name.startswith(("weights", "probability")):
        inside = (estimate > 0) & (estimate < 1)
        share = np.where(inside, estimate, 0.5)
        return np.where(inside, expit(logit(share) + z * spread / (share * (1 - share))), estimate + z * spread)
    positive, (kind, _, columns) = np.zeros(estimate.shape, bool), name.partition(" of ")
    first, _, second = columns.partition(" and ")
    if "variance" in kind and (not second or first == second):
        # Variances lie on the diagonal of covariances that are whole matrices.
        whole = estimate.ndim > 1 and estimate.shape[-1] == estimate.shape[-2] and kind.startswith("cov")
        positive = (
            estimate > 0 if not whole else np.broadcast_to(np.eye(estimate.shape[-1], dtype=bool), estimate.shape)
        )
    safe = np.where(positive, estimate, 1.0)
    with np.errstate(over="ignore"):
        return np.where(positive, safe * np.exp(z * spread / safe), estimate + z * spread)


def _stacked(parts: Sequence[Named]) -> Named:
    """Parameters of several fits, one along the first axis."""
    return {name: np.array([part[name] for part in parts]) for name in parts[0]}


# Refits


def _weights(method: str, source: Source, n_bootstrap: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """The row weights of each refit."""
    if not isinstance(source, ArraySource):
        raise ValueError(f"method={method!r} takes rows in memory; use method='information' for rows in a stream.")
    weight = np.ones(source.n_rows) if source.weight is None else source.weight
    weight, lengths = (weight, 1) if source.offsets is None else (weight[source.offsets[:-1]], np.diff(source.offsets))
    if method == "jackknife":
        if not np.isin(weight, (0.0, 1.0)).all():
            raise ValueError(
                "method='jackknife' leaves out rows one by one, so weights must be 0 or 1; use 'weighted'."
            )
        for row in np.flatnonzero(weight):
            yield np.repeat(np.where(np.arange(len(weight)) == row, 0.0, weight), lengths)
        return
    for _ in range(n_bootstrap):
        if method == "bootstrap":
            # A row of weight 2 is two rows, and may be drawn as often as two are.
            yield np.repeat(rng.multinomial(round(weight.sum()), weight / weight.sum()).astype(float), lengths)
        else:
            share = rng.standard_gamma(weight)
            yield np.repeat(weight.sum() * share / share.sum(), lengths)


def _replicates(estimator: Any, model: Model, start: Any, source: Any, weights: Iterable[np.ndarray]) -> Named:
    """Published parameters of refits, one along the first axis; refits that turn out singular are left out."""
    how = {"max_iter": max(estimator.max_iter, 1000), "tol": min(estimator.tol, 1e-6), "accelerate": "auto"}
    reference, found = memberships(model, start, source), []
    for weight in weights:
        rows = source.reweighted(weight)
        try:
            params = fit(model, rows, start, **how).params
        except (SingularError, np.linalg.LinAlgError):
            continue
        found.append(published(estimator, align(model, params, source, reference)))
    if len(found) < 2:
        raise ValueError("fewer than two refits succeeded; use fewer components or method='information'.")
    return _stacked(found)


def memberships(model: Model, params: Any, source: Source) -> np.ndarray:
    """Probabilities of the classes of all rows."""
    parts = source.map(lambda block: model.posterior(params, block)[0] * host(block.unit_weight)[:, None])
    return np.concatenate(list(parts))


def align(model: Model, params: Any, source: Source, reference: np.ndarray) -> Any:
    """Parameters with the classes in the order of reference memberships: the pairing that shares most rows."""
    if reference.shape[1] == 1:
        return params
    overlap = reference.T @ memberships(model, params, source)
    return model.permute(params, linear_sum_assignment(-overlap)[1])


# Information


def _outer(model: Model, pairs: list, block: Block) -> np.ndarray:
    """Σ w s sᵀ over a block, from parameters a step above and below along each coordinate."""
    above, below = ([model.posterior(params, block)[1] for params in side] for side in zip(*pairs))
    scores = (np.array(above) - np.array(below)) / (2 * STEP)
    return (scores * host(block.unit_weight)) @ scores.T


def _information(estimator: Any, model: Model, params: Any, source: Source) -> Named:
    """Standard errors of the published parameters by the observed information."""
    vector = model.free(params)
    pairs = [[model.bound(vector + sign * step, params) for sign in (1, -1)] for step in STEP * np.eye(len(vector))]
    matrix = source.sum(partial(_outer, model, pairs))
    # In units in which every coordinate tells as much; one on which no row depends could be anything.
    scale = np.sqrt(np.where((size := np.diag(matrix)) > 1e-14 * size.max(), size, np.inf))
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    told = values > 1e-10
    scale = np.where(np.isinf(scale), 1.0, scale)
    root, lost = (vectors[:, told] / np.sqrt(values[told])) / scale[:, None], vectors[:, ~told] / scale[:, None]
    above, below = (_stacked([published(estimator, params) for params in side]) for side in zip(*pairs))
    spread, unknown = {}, []
    for name in above:
        jacobian = (above[name] - below[name]) / (2 * STEP)
        # Log weights have one direction too many, in which no published parameter changes: it does not matter.
        reach, blind = (np.sqrt((np.tensordot(axes.T, jacobian, axes=1) ** 2).sum(axis=0)) for axes in (root, lost))
        length = np.sqrt(((1.0 / scale) ** 2 * np.moveaxis(jacobian, 0, -1) ** 2).sum(axis=-1))
        spread[name] = np.where(blind > 1e-4 * length, np.inf, reach)
        unknown += [name] if (blind > 1e-4 * length).any() else []
    if unknown:
        warnings.warn(
            f"the information matrix is singular, of rank {int(told.sum())} for {estimator._n_parameters()} parameters: the rows "
            f"do not tell all of {joined(unknown)}, whose standard errors are infinite; use fewer components.",
            UserWarning,
            stacklevel=3,
        )
    return spread


def _labels(index: tuple[int, ...], shape: tuple[int, ...], columns: list) -> list[str]:
    """Indices as text; those along columns by name, where there are names."""
    last = len(shape) - (2 if len(shape) > 1 and shape[-1] == shape[-2] and len(shape) != 2 else 1)
    named = len(columns) == shape[-1] and len(shape) > 1
    return [str(columns[i]) if named and axis >= last else str(i) for axis, i in enumerate(index)]
