"""Standard errors of all fitted parameters.

By refits to reweighted rows, from the fitted parameters on: the bootstrap draws counts, the weighted likelihood bootstrap draws
weights n · Dirichlet(1, …, 1), the jackknife leaves each row out once. Or by the observed information, with scores
s_i = ∂ log p(x_i) / ∂θ taken numerically in unconstrained coordinates θ and carried to parameters g(θ) by the delta method:

    Var g = J (Σ_i w_i s_i s_iᵀ)⁻¹ Jᵀ,        J = ∂g / ∂θ
"""

import copy
import numbers
from functools import partial

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import norm
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..arrays import Arrays, record
from ..base import LatentClassEstimator
from ..checks import check_choice, check_number
from ..engine import SingularError, fit
from ..kernels import host
from ..source import ArraySource
from ..table import Table

__all__ = ["StandardErrors", "standard_errors"]

METHODS = ("bootstrap", "weighted", "jackknife", "information")
STEP = 1e-5


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

    def __init__(self, estimator, flat, layout, method, level, replicates):
        self.method, self.level = method, level
        self.estimate, self.standard_error, self.lower, self.upper = (_unflatten(values, layout) for values in flat)
        self.replicates = None
        if replicates is not None:
            parts = [_unflatten(row, layout) for row in replicates]
            self.replicates = {name: np.array([part[name] for part in parts]) for name in layout}
        columns = [] if hasattr(estimator, "_parameters") else list(getattr(estimator, "feature_names_in_", []))
        self.table = Table([row for name in layout for row in self._rows(name, columns)])

    def _rows(self, name, columns):
        values = self.estimate[name]
        square = (
            values.ndim > 1 and values.shape[-1] == values.shape[-2] and np.allclose(values, values.swapaxes(-1, -2))
        )
        for index in np.ndindex(values.shape):
            if square and name.startswith("cov") and index[-2] > index[-1]:
                continue
            yield {
                "parameter": f"{name}[{', '.join(_labels(index, values.shape, columns))}]",
                "estimate": float(values[index]), "standard_error": float(self.standard_error[name][index]),
                "lower": float(self.lower[name][index]), "upper": float(self.upper[name][index]),
            }  # fmt: skip

    def to_pandas(self):
        """The table as a pandas DataFrame."""
        return self.table.to_pandas()

    def __repr__(self):
        return f"{self.table}\nby {self.method}, intervals at the level {self.level:g}"


def standard_errors(
    estimator, X, *, method="bootstrap", n_bootstrap=200, level=0.95, sample_weight=None, random_state=None
):
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
    if not isinstance(estimator, LatentClassEstimator) or not estimator._by_likelihood:
        raise TypeError(
            "standard_errors takes a mixture learned by likelihood, such as GaussianMixture() or Mixture(), but got "
            f"{type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    check_choice("method", method, METHODS)
    check_number("n_bootstrap", n_bootstrap, numbers.Integral, 2)
    if not isinstance(level, (float, int)) or not 0 < level < 1:
        raise ValueError(f"level={level!r} is not a number between 0 and 1, such as 0.95.")
    source = estimator._open(X, sample_weight)
    view = _View(estimator)
    if method == "information":
        replicates, spread = None, _information(view, source)
    else:
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        replicates = _replicates(view, source, _weights(method, source, n_bootstrap, rng))
        factor = (len(replicates) - 1) ** 2 / len(replicates) if method == "jackknife" else 1.0
        spread = np.sqrt(factor * replicates.var(axis=0, ddof=1))
    return _result(view, method, level, replicates, spread)


def _result(view, method, level, replicates, spread):
    estimate, tail = view.natural(view.params), (1.0 - level) / 2.0
    if method in ("bootstrap", "weighted"):
        lower, upper = np.quantile(replicates, [tail, 1.0 - tail], axis=0)
    else:
        half = norm.ppf(1.0 - tail) * spread
        lower, upper = estimate - half, estimate + half
    flat = estimate, spread, lower, upper
    return StandardErrors(view.estimator, flat, view.layout, method, level, replicates)


class _View:
    """A fitted estimator as its model, its parameters, and the vector of its published parameters."""

    def __init__(self, estimator):
        self.estimator, self.model, self.params = estimator, estimator._model(), estimator._params()
        self.layout = {name: value.shape for name, value in self._published(self.params).items()}

    def _published(self, params):
        """The arrays that the estimator shows for parameters; precisions say nothing that covariances do not."""
        if hasattr(self.estimator, "_parameters"):
            return self.estimator._parameters(params)
        shadow = copy.copy(self.estimator)
        before = {name: id(value) for name, value in vars(shadow).items()}
        shadow._publish(params, np.dtype(np.float64))
        return {
            name: value
            for name, value in vars(shadow).items()
            if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size
            and id(value) != before.get(name) and not name.startswith("precisions")
        }  # fmt: skip

    def natural(self, params):
        """All published parameters in one vector."""
        return np.concatenate([value.ravel() for value in self._published(params).values()])


# Refits


def _weights(method, source, n_bootstrap, rng):
    """The row weights of each refit."""
    if not isinstance(source, ArraySource):
        raise ValueError(f"method={method!r} takes rows in memory; use method='information' for rows in a stream.")
    weight = np.ones(source.n_rows) if source.weight is None else source.weight
    rows = np.flatnonzero(weight > 0)
    if method == "jackknife":
        if (weight[rows] != 1.0).any():
            raise ValueError(
                "method='jackknife' leaves out rows one by one, so weights must be 0 or 1; use 'weighted'."
            )
        for row in rows:
            yield np.where(np.arange(len(weight)) == row, 0.0, weight)
        return
    for _ in range(n_bootstrap):
        drawn = np.zeros(len(weight))
        if method == "bootstrap":
            # A row of weight 2 is two rows, and may be drawn as often as two are.
            drawn = rng.multinomial(round(weight.sum()), weight / weight.sum()).astype(float)
        else:
            share = rng.standard_gamma(weight[rows])
            drawn[rows] = weight.sum() * share / share.sum()
        yield drawn


def _replicates(view, source, weights):
    """Published parameters of refits, one per row; refits that turn out singular are left out."""
    estimator, model = view.estimator, view.model
    how = {"max_iter": max(estimator.max_iter, 1000), "tol": min(estimator.tol, 1e-6), "accelerate": "auto"}
    reference = _memberships(model, view.params, source)
    found = []
    for weight in weights:
        rows = ArraySource(source.X, weight, source.labels, n_jobs=source.n_jobs)
        try:
            params = fit(model, rows, view.params, **how).params
        except (SingularError, np.linalg.LinAlgError):
            continue
        found.append(view.natural(align(model, params, source, reference)))
    if len(found) < 2:
        raise ValueError("fewer than two refits succeeded; use fewer components or method='information'.")
    return np.array(found)


def _memberships(model, params, source):
    """Probabilities of the classes of all rows; none where the model has no classes."""
    if not hasattr(model, "permute"):
        return None
    return np.concatenate(
        list(source.map(lambda block: model.posterior(params, block)[0] * host(block.weight)[:, None]))
    )


def align(model, params, source, reference):
    """Parameters with the classes in the order of reference memberships: the pairing that shares most rows."""
    if reference is None or reference.shape[1] == 1:
        return params
    overlap = reference.T @ _memberships(model, params, source)
    return model.permute(params, linear_sum_assignment(-overlap)[1])


# Information


@record
class Information(Arrays):
    """Σ w s sᵀ."""

    matrix: np.ndarray


def _outer(model, pairs, block):
    """The information in a block, from parameters a step above and below along each coordinate."""
    above, below = ([model.posterior(params, block)[1] for params in side] for side in zip(*pairs))
    scores = (np.array(above) - np.array(below)) / (2 * STEP)
    return Information((scores * host(block.weight)) @ scores.T)


def _information(view, source):
    """Standard errors of the published parameters by the observed information."""
    model = view.model
    if not hasattr(model, "free"):
        raise ValueError(f"{type(model).__name__} has no unconstrained coordinates; use method='bootstrap'.")
    vector = model.free(view.params)
    steps = STEP * np.eye(len(vector))
    pairs = [(model.bound(vector + step, view.params), model.bound(vector - step, view.params)) for step in steps]
    matrix = source.sum(partial(_outer, model, pairs)).matrix
    jacobian = np.array([view.natural(above) - view.natural(below) for above, below in pairs]).T / (2 * STEP)
    # Log weights have one direction too many, in which nothing changes: the pseudo-inverse leaves it out.
    variance = jacobian @ np.linalg.pinv(matrix, rcond=1e-10, hermitian=True) @ jacobian.T
    spread = np.sqrt(np.maximum(np.diag(variance), 0.0))
    # A coordinate on which no row depends, as of a column that a class never observed, could be anything.
    blind = np.diag(matrix) <= 1e-14 * np.diag(matrix).max()
    return np.where((jacobian[:, blind] != 0).any(axis=1), np.inf, spread)


def _unflatten(vector, layout):
    found, start = {}, 0
    for name, shape in layout.items():
        size = int(np.prod(shape))
        found[name] = vector[start : start + size].reshape(shape)
        start += size
    return found


def _labels(index, shape, columns):
    """Indices as text; those along columns by name, where there are names."""
    last = len(shape) - (2 if len(shape) > 1 and shape[-1] == shape[-2] and len(shape) != 2 else 1)
    named = len(columns) == shape[-1] and len(shape) > 1
    return [str(columns[i]) if named and axis >= last else str(i) for axis, i in enumerate(index)]
