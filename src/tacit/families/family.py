"""`Family`: what data look like given the hidden state, p(x | θ_k) for classes k = 1…K.

Missing cells are integrated out: a family scores what is observed and its statistics are expectations over what is not.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import fields
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from ..declared import Numbers, Part, Spec
from ..engine.coordinates import Coordinates
from ..kernels import EXPECT, MOMENTS, SCORE, backend, empty, flipped, host, kernel, rows_on_host
from ..source.block import Block
from .distribution import Distribution, learn, posterior_of
from .laws import Law, ScipyLaw

__all__ = [
    "Family", "OnePassFamily", "centred", "draw_classes", "occupied", "recalled", "refuse", "responsibilities",
]  # fmt: skip


Pass = tuple[float, np.ndarray, Any]
"""Log-likelihood, sizes of the classes and statistics."""
WIDE = 200  # columns beyond which sparse rows are projected to seed clusters
PROJECTED = 50


def responsibilities(log_prob: Any, log_weight: np.ndarray, weight: Any, labels: Any) -> tuple[Any, Any, float]:
    """Posterior of the class, times the row's weight, from log densities (rows, classes), which are overwritten.

    Parameters
    ----------
    log_prob : ndarray of shape (rows, classes)
        Log densities of the rows under every class.
    log_weight : ndarray of shape (classes,)
        Logs of the classes' shares.
    weight : ndarray of shape (rows,)
        Weights of the rows.
    labels : ndarray of int of shape (rows,)
        Known classes; −1 is unknown.

    Returns
    -------
    resp : (rows, classes)
    evidence : (rows,)
        Log of the sum over classes; for a labelled row, the log joint of its class.
    loglik : float
        Σ weight · evidence.
    """
    resp = flipped(log_prob, log_prob)
    evidence = empty(len(weight), log_prob)
    loglik = kernel("normalise", backend(log_prob))(resp, log_weight, weight, labels, evidence)
    return resp.T, evidence, loglik


def draw_classes(resp: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
    """A class for every draw and row, (n_draws, rows), in proportion to resp (rows, classes)."""
    cumulated = np.cumsum(resp, axis=1)
    cumulated /= cumulated[:, -1:]
    return (rng.random((n_draws, len(resp), 1)) > cumulated).sum(axis=2)


def occupied(count: np.ndarray) -> np.ndarray:
    """Where there is anything to learn from; relative, because the scale of the weights is arbitrary."""
    return count > 1e-12 * count.max(initial=0.0)


def recalled(block: Block, key: Any, make: Callable[[], Any]) -> Any:
    """What a block remembers by a key; make() where it does not yet."""
    if key not in block.local:
        block.local[key] = make()
    return block.local[key]


def refuse(bad: np.ndarray, message: str) -> None:
    """Raise ValueError with the first of the bad values, if there are any."""
    if bad.size:
        raise ValueError(message.format(bad.flat[0]))


def centred(X: np.ndarray, weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Cells about their columns' means, 0 where missing; means, variances and weights of the columns' observed cells."""
    seen = ~np.isnan(X)
    cells = weight[:, None] * seen
    total = cells.sum(axis=0)
    size = np.maximum(total, np.finfo(float).tiny)
    mean = np.where(seen, X, 0.0).astype(np.float64).T @ weight / size
    X = np.where(seen, X - mean, 0.0)
    return X, mean, (cells * X**2).sum(axis=0) / size, total


def _prior() -> type:
    from .priors import Prior

    return Prior


class Family:
    """A distribution with one set of parameters per class.

    A family needs ``log_prob``, ``stats`` and ``m_step``; ``sample``, ``mean`` and ``variance`` make it complete. Families hold
    settings only: parameters and statistics are `Arrays` that go in and out.
    """

    prior: Any = None
    conjugate: str | None = None  # the class of its conjugate priors, where it has one
    complete_posterior = False  # whether the posterior is conjugate for complete rows only
    exact = True  # whether the M-step maximises; if not, it only improves
    extrapolates = True  # whether leaps along EM's path, in the view of `free`, tend to succeed
    whole = False  # whether cells are whole numbers
    _evened: Any = None  # a function that makes the spread of cells more even, before distances are taken
    _params_type: Any  # the record of its parameters
    _saved: ClassVar[dict[str, Spec]] = {"floor": Numbers(low=0), "prior": Part(_prior, optional=True)}

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Settings such as floors go by name, lest they be taken for the parameters, which are learned and not given."""
        taken = signature(cls.__init__).parameters.values() if args else ()
        order = [each.name for each in taken if each.kind is each.POSITIONAL_OR_KEYWORD]
        if args and len(args) >= len(order) and not any(each.kind is each.VAR_POSITIONAL for each in taken):
            raise TypeError(
                f"{cls.__name__} takes {', '.join(order[1:]) or 'nothing'} by position, but got {', '.join(map(repr, args))}; "
                "parameters are learned by fit, and settings such as floor are given by name."
            )
        return super().__new__(cls)

    def __init__(self) -> None:
        pass

    def moving(self, params: Any, image: Any) -> bool:
        """Whether an M-step still moved parameters that the likelihood hardly shows, so that a fit goes on; by default none."""
        return False

    @property
    def support(self) -> str:
        """What its values are; divergence is between distributions over the same values."""
        return type(self).__name__

    def accepted(self, prior: Any) -> Any:
        """The prior, if it is one that this family can have and that has a mode; None is none."""
        if prior is not None:
            self.check_prior(prior)
            prior.check_mode()
        return prior

    def check_prior(self, prior: Any) -> None:
        """Raise TypeError where a prior is not conjugate to the family."""
        if type(prior).__name__ != self.conjugate:
            known = f"takes a {self.conjugate}" if self.conjugate else "has no conjugate prior"
            raise TypeError(f"{type(self).__name__} {known}, but prior is a {type(prior).__name__}.")

    def check(self, X: np.ndarray) -> None:
        """Raise ValueError, naming the value, where X is not what this family describes."""

    def check_params(self, params: Any, n_classes: int, n_columns: int) -> None:
        """Raise ValueError where parameters are not this family's, of so many classes and columns, as the record declares."""
        if type(params) is not self._params_type:
            raise ValueError(f"parameters of {type(self).__name__} cannot be {type(params).__name__}")
        params.check({"K": n_classes, "d": n_columns} | self.sizes(n_columns))
        if self.prior is not None:
            self.spread(self.prior, n_columns)

    def sizes(self, n_columns: int) -> dict[str, int]:
        """Sizes beyond classes K and columns d that the shapes of its parameters are told in."""
        return {}

    def start(self, block: Block, resp: Any) -> Any:
        """Parameters from (soft) assignments of a sample of rows; also fixes origin and scale for the fit.

        By default one M-step, for families whose statistics do not depend on the parameters.
        """
        return self.m_step(self.stats(None, block, resp * block.weight[:, None]), None)

    def log_prob(self, params: Any, block: Block) -> Any:
        """Log density of the observed cells of each row under each class, (rows, classes)."""
        raise NotImplementedError

    def stats(self, params: Any, block: Block, resp: Any) -> Any:
        """Expected sufficient statistics of rows weighted by resp (rows, classes)."""
        raise NotImplementedError

    def m_step(self, stats: Any, params: Any) -> Any:
        """Parameters that maximise the expected log-likelihood; classes without rows keep theirs."""
        raise NotImplementedError

    def place(self, params: Any, device: Any) -> Any:
        """The parameters, with what is large on a device while a fit runs there; by default all stay in NumPy."""
        return params

    def e_step(self, params: Any, log_weight: np.ndarray, block: Block) -> Pass:
        """Responsibilities under class weights and the statistics they give: (loglik, counts, stats).

        Families that can share work between the two override this.
        """
        log_prob = self.log_prob(params, block)
        resp, _, loglik = responsibilities(log_prob, log_weight, block.weight, block.labels)
        return loglik, host(resp.sum(axis=0)), self.stats(params, block, resp)

    def redraw(self, params: Any, block: Block, resp: Any, rng: np.random.Generator) -> Any:
        """Parameters drawn from what complete rows, whose classes are known, leave uncertain about them.

        By default the estimate from rows with random weights (the Bayesian bootstrap), a step on from `params` where the M-step
        is only one.
        """
        chance = rng.standard_exponential((len(block), 1))
        return self.m_step(self.stats(params, block, resp * (chance / chance.mean())), params)

    def log_prior(self, params: Any) -> float:
        """Log density of all classes' parameters under the family's prior; 0 without one."""
        if self.prior is None:
            return 0.0
        return float(self.spread(self.prior, self.n_columns(params)).log_prob(*self.value(params)).sum())

    def spread(self, prior: Any, n_columns: int) -> Any:
        """A prior as that of all columns."""
        return prior.over(n_columns)

    @property
    def pseudo(self) -> Any:
        """What the prior adds to each number of `evidence` in the M-step; zeros without one."""
        return (0.0, 0.0) if self.prior is None else self.prior.pseudo

    def evidence(self, stats: Any, params: Any) -> tuple:
        """What the conjugate prior is updated with, one row per class; statistics were taken at `params`."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate prior.")

    def value(self, params: Any) -> tuple:
        """The parameters as the variables of the conjugate prior, each with one row per class."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate prior.")

    def at(self, *value: Any, **named: Any) -> Any:
        """The parameters at a value of the conjugate prior's variables."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate prior.")

    def predictive(self, prior: Any) -> Any:
        """A row's distribution with the parameters integrated out over a prior or posterior."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate prior.")

    @classmethod
    def of(cls, **values: Any) -> Distribution:
        """A distribution with known parameters.

        Parameters
        ----------
        **values
            The parameters, by the names that `Distribution.parameters` has them under, for one column or one entry for each;
            and settings of the family, such as the trials of a `Binomial`.

        Returns
        -------
        Distribution

        Examples
        --------
        >>> from tacit.families import FullGaussian, Poisson
        >>> Poisson.of(rate=3.2).quantile(0.5)
        array([3.])
        >>> FullGaussian.of(mean=[0.0, 1.0], covariance=[[2.0, 0.5], [0.5, 1.0]]).log_prob([[0.0, 1.0]]).round(3)
        array([-2.118])
        """
        own = signature(cls.__init__).parameters
        family = cls(**{name: value for name, value in values.items() if name in own})
        try:
            return Distribution(
                family, family.known(**{name: value for name, value in values.items() if name not in own})
            )
        except ValueError as error:
            raise ValueError(f"{cls.__name__}.of: {str(error).rstrip('.')}.") from None

    def known(self, **values: Any) -> Any:
        """The parameters of one class from their values by name, checked."""
        names = [field.name for field in fields(self._params_type)]
        if set(values) != set(names):
            raise TypeError(
                f"{type(self).__name__}.of takes {', '.join(names)}, but got {', '.join(values) or 'nothing'}."
            )
        arrays = np.broadcast_arrays(*(np.atleast_1d(np.asarray(values[name], dtype=np.float64)) for name in names))
        params = self._params_type(*(array[None].copy() for array in arrays))
        self.check_params(params, 1, self.n_columns(params))
        return params

    def fit(self, x: Any, sample_weight: Any = None) -> Distribution:
        """The likeliest distribution of rows; the most probable one where the family has a prior.

        Parameters
        ----------
        x : array-like of shape (n, d) or (n,)
            Rows, or the cells of one column; NaN is missing.
        sample_weight : array-like of shape (n,), optional
            Row weights.

        Returns
        -------
        Distribution
        """
        return learn(self, x, sample_weight)

    def map(self, x: Any, prior: Any, sample_weight: Any = None) -> Distribution:
        """The distribution at the mode of the posterior; see `fit`."""
        return Distribution(self, learn(self.with_prior(prior), x, sample_weight).params)

    def with_prior(self, prior: Any) -> Any:
        """A copy of the family, under a prior."""
        other = copy(self)
        other.prior = self.accepted(prior)
        return other

    def posterior(self, x: Any, prior: Any, sample_weight: Any = None) -> Any:
        """The conjugate prior updated by rows: an object of the same class, which knows this family."""
        return posterior_of(self, x, prior, sample_weight)[0]

    def log_marginal(self, x: Any, prior: Any, sample_weight: Any = None) -> float:
        """Log evidence of rows: their density with the parameters integrated out over the prior.

        By Bayes' rule log p(x) = log p(x | θ) + log p(θ) − log p(θ | x), whatever θ.
        """
        posterior, block = posterior_of(self, x, prior, sample_weight)
        theta, prior = posterior.interior, self.spread(prior, block.X.shape[1])
        loglik = block.weight @ self.log_prob(self.at(*theta), block)[:, 0]
        return float(loglik + prior.log_prob(*theta)[0] - posterior.log_prob(*theta)[0])

    def collapsed(self, params: Any, weight: Any) -> tuple[int, ...]:
        """Classes that have shrunk to where the likelihood has no maximum, and tell of a floor rather than of the rows."""
        return ()

    def permute(self, params: Any, order: Any) -> Any:
        """Parameters with the classes in another order; by default every array has one entry per class."""
        return params.map(lambda value: value[order])

    def mean(self, params: Any) -> np.ndarray:
        """Expectation of each column under each class, (classes, d)."""
        raise NotImplementedError(f"{type(self).__name__} does not define mean.")

    def variance(self, params: Any) -> np.ndarray:
        """Variance of each column under each class, (classes, d)."""
        raise NotImplementedError(f"{type(self).__name__} does not define variance.")

    def n_columns(self, params: Any) -> int:
        """Columns of a row."""
        return params.items()[0][1].shape[1]

    def parameters(self, params: Any) -> dict[str, np.ndarray]:
        """What is worth showing of the parameters: a dictionary of arrays (classes, …)."""
        return dict(params.items())

    def entropy(self, params: Any) -> np.ndarray:
        """−E[log p(x)] under each class, in nats, (classes,)."""
        raise NotImplementedError(f"{type(self).__name__} does not define entropy.")

    def kl(self, params: Any, other: Any) -> np.ndarray:
        """Divergence Σ p log p/q of each class's p from the same class of other parameters, in nats, (classes,)."""
        raise NotImplementedError(f"{type(self).__name__} does not define kl.")

    def cross_entropy(self, params: Any, other: Any) -> np.ndarray:
        """−E[log q(x)] under each class, q being the same class of other parameters."""
        return self.entropy(params) + self.kl(params, other)

    def sample(self, params: Any, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One row for every entry of `classes`."""
        raise NotImplementedError(f"{type(self).__name__} does not define sample.")

    def scipy(self, params: Any) -> Any:
        """Its name in `scipy.stats` and the parameters there, as arrays (classes, d); None where it has none."""

    def law(self, params: Any, block: Block) -> Law:
        """The `Law` of the missing cells of a block given its observed ones, in the order of `block.missing_cells`.

        By default columns are independent given the class.
        """
        columns, known = block.missing_cells[1], self.scipy(params)
        mean, variance = self.mean(params), self.variance(params)
        name, shape = known or ("", {})
        shape = {key: np.broadcast_to(value, mean.shape)[:, columns].T for key, value in shape.items()}
        moments = mean[:, columns].T, variance[:, columns].T
        return ScipyLaw(*moments, name, **shape) if known else Law(*moments)

    def expect(self, params: Any, block: Block, resp: Any) -> tuple[np.ndarray, np.ndarray]:
        """The rows with missing cells at their expectation given the class probabilities, and its standard deviation.

        Both are (rows, d); the deviation is 0 in observed cells.
        """
        filled, cells = host(block.X).astype(np.float64), block.missing_cells
        std = np.zeros_like(filled)
        if len(cells[0]):
            law, weight = self.law(params, block), host(resp)[cells[0]]
            filled[cells], std[cells] = law.mean(weight), law.std(weight)
        return filled, std

    def filled(self, params: Any, block: Block, resp: Any) -> np.ndarray:
        """The rows with missing cells at their expectation."""
        return self.expect(params, block, resp)[0]

    def distance(self, params: Any, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Squared Mahalanobis distances of the rows from the classes, (rows, classes), and how many cells they are over.

        Zero over columns that have none, such as categories and counts.
        """
        return np.zeros((len(block), 1)), np.zeros(len(block))

    def possible(self, cells: np.ndarray) -> np.ndarray:
        """Filled cells (rows, d) as values that a row can have: expectations of counts as whole numbers."""
        return np.round(cells) if self.whole else cells

    def draw(self, params: Any, block: Block, resp: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        """Draws (n_draws, rows, d) of the rows from the posterior of their missing cells."""
        X, classes = host(block.X).astype(np.float64), draw_classes(host(resp), n_draws, rng)
        drawn = [self.sample(params, row_classes, rng) for row_classes in classes]
        return np.where(np.isnan(X), drawn, X)

    def embed(self, block: Block, rng: np.random.Generator) -> np.ndarray:
        """Complete real columns in which Euclidean distance is meaningful, to seed clusters in.

        Of sparse rows in many columns they are random projections, which keep distances nearly.
        """
        X = rows_on_host(block.X if self._evened is None else block.transformed(self._evened).X)
        if backend(X) == "sparse" and X.shape[1] > WIDE:
            project = rng.standard_normal((X.shape[1], PROJECTED)) / np.sqrt(PROJECTED)
            return X.matrix @ project
        X, _, variance, _ = centred(host(X).astype(np.float64), block.weight)
        return X / np.sqrt(np.where(variance > 0, variance, 1.0))

    def free(self, params: Any) -> np.ndarray:
        """Parameters as a vector without constraints, in which accelerators extrapolate; by default as they are."""
        return params.to_vector()

    def bound(self, vector: np.ndarray, params: Any) -> Any:
        """The parameters that `free` made into a vector, valid for any vector; the rest is taken from `params`."""
        return params.from_vector(vector)

    def coordinates(self, params: Any) -> Coordinates:
        """Parameters as a vector that is one to one; see `tacit.engine.coordinates`."""
        raise NotImplementedError(f"{type(self).__name__} has no coordinates that are one to one.")

    def score(self, stats: Any, params: Any) -> Any:
        """Gradient by the parameters of the expected log density that statistics tell, by name of the field."""
        raise NotImplementedError(f"{type(self).__name__} has no gradient from statistics.")

    def prior_score(self, params: Any) -> Any:
        """Gradient of the log prior, by name of the field; None is 0."""
        if self.prior is None:
            return None
        raise NotImplementedError(f"{type(self).__name__} has no gradient of its prior.")

    def n_parameters(self, params: Any) -> int:
        """Free parameters of all classes together."""
        raise NotImplementedError(f"{type(self).__name__} does not define n_parameters.")


class OnePassFamily(Family):
    """A family whose kernel makes one pass in one of three modes; scores, statistics and the E-step are that pass.

    A subclass defines ``one_pass(params, block, mode, log_weight, out)``, which returns the log-likelihood, the size of each
    class and the statistics. The first array of its parameters has one entry per class.
    """

    def one_pass(self, params: Any, block: Block, mode: int, log_weight: np.ndarray, out: Any) -> Pass:
        """SCORE into `out`, MOMENTS for the responsibilities in `out`, or EXPECT both with none written."""
        raise NotImplementedError

    def log_prob(self, params: Any, block: Block) -> Any:
        _, first = params.items()[0]
        out = empty((len(first), len(block)), block.X)
        self.one_pass(params, block, SCORE, np.zeros(0), out)
        return out.T

    def stats(self, params: Any, block: Block, resp: Any) -> Any:
        return self.one_pass(params, block, MOMENTS, np.zeros(0), flipped(resp, block.X))[2]

    def e_step(self, params: Any, log_weight: np.ndarray, block: Block) -> Pass:
        """As `Family.e_step`, with every row read once for both halves."""
        return self.one_pass(params, block, EXPECT, log_weight, np.empty((0, 0)))
