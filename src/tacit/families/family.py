"""`Family`: what data look like given the hidden state, p(x | θ_k) for classes k = 1…K.

Missing cells are integrated out: a family scores what is observed and its statistics are expectations over what is not.
"""

from copy import copy
from typing import Any

import numpy as np

from ..kernels import EXPECT, MOMENTS, SCORE, backend, empty, flipped, host, kernel, rows_on_host
from .distribution import Distribution, learn, posterior_of
from .laws import Law, ScipyLaw

__all__ = ["Family", "OnePassFamily", "draw_classes", "occupied", "responsibilities"]


WIDE = 200  # columns beyond which sparse rows are projected to seed clusters
PROJECTED = 50


def responsibilities(log_prob, log_weight, weight, labels):
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


def draw_classes(resp, n_draws, rng):
    """A class for every draw and row, (n_draws, rows), in proportion to resp (rows, classes)."""
    cumulated = np.cumsum(resp, axis=1)
    cumulated /= cumulated[:, -1:]
    return (rng.random((n_draws, len(resp), 1)) > cumulated).sum(axis=2)


def occupied(count):
    """Where there is anything to learn from; relative, because the scale of the weights is arbitrary."""
    return count > 1e-12 * count.max(initial=0.0)


class Family:
    """A distribution with one set of parameters per class.

    A family needs ``log_prob``, ``stats`` and ``m_step``; ``sample``, ``mean`` and ``variance`` make it complete. Families hold
    settings only: parameters and statistics are `Arrays` that go in and out.
    """

    prior: Any = None
    conjugate: str | None = None  # the class of its conjugate priors, where it has one
    complete_posterior = False  # whether the posterior is conjugate for complete rows only
    exact = True  # whether the M-step maximises; if not, it only improves

    @property
    def support(self):
        """What its values are; divergence is between distributions over the same values."""
        return type(self).__name__

    def accepted(self, prior):
        """The prior, if it is one that this family can have and that has a mode; None is none."""
        if prior is not None:
            self.check_prior(prior)
            prior.check_mode()
        return prior

    def check_prior(self, prior):
        """Raise TypeError where a prior is not conjugate to the family."""
        if type(prior).__name__ != self.conjugate:
            known = f"takes a {self.conjugate}" if self.conjugate else "has no conjugate prior"
            raise TypeError(f"{type(self).__name__} {known}, but prior is a {type(prior).__name__}.")

    def check(self, X):
        """Raise ValueError, naming the value, where X is not what this family describes."""

    def start(self, block, resp):
        """Parameters from (soft) assignments of a sample of rows; also fixes origin and scale for the fit.

        By default one M-step, for families whose statistics do not depend on the parameters.
        """
        return self.m_step(self.stats(None, block, resp * block.weight[:, None]), None)

    def log_prob(self, params, block):
        """Log density of the observed cells of each row under each class, (rows, classes)."""
        raise NotImplementedError

    def stats(self, params, block, resp):
        """Expected sufficient statistics of rows weighted by resp (rows, classes)."""
        raise NotImplementedError

    def m_step(self, stats, params):
        """Parameters that maximise the expected log-likelihood; classes without rows keep theirs."""
        raise NotImplementedError

    def e_step(self, params, log_weight, block):
        """Responsibilities under class weights and the statistics they give: (loglik, counts, stats).

        Families that can share work between the two override this.
        """
        log_prob = self.log_prob(params, block)
        resp, _, loglik = responsibilities(log_prob, log_weight, block.weight, block.labels)
        return loglik, host(resp.sum(axis=0)), self.stats(params, block, resp)

    def log_prior(self, params):
        """Log density of all classes' parameters under the family's prior; 0 without one."""
        if self.prior is None:
            return 0.0
        return float(self.spread(self.prior, self.n_columns(params)).log_prob(*self.value(params)).sum())

    def spread(self, prior, n_columns):
        """A prior as that of all columns."""
        return prior.over(n_columns)

    @property
    def pseudo(self):
        """What the prior adds to each number of `evidence` in the M-step; zeros without one."""
        return (0.0, 0.0) if self.prior is None else self.prior.pseudo

    def evidence(self, stats, params):
        """What the conjugate prior is updated with, one row per class; statistics were taken at `params`."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate prior.")

    def value(self, params):
        """The parameters as the variables of the conjugate prior, each with one row per class."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate prior.")

    def at(self, *value):
        """The parameters at a value of the conjugate prior's variables."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate prior.")

    def predictive(self, prior):
        """A row's distribution with the parameters integrated out over a prior or posterior."""
        raise NotImplementedError(f"{type(self).__name__} has no conjugate prior.")

    def fit(self, x, sample_weight=None):
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

    def map(self, x, prior, sample_weight=None):
        """The distribution at the mode of the posterior; see `fit`."""
        return Distribution(self, learn(self.with_prior(prior), x, sample_weight).params)

    def with_prior(self, prior):
        """A copy of the family, under a prior."""
        other = copy(self)
        other.prior = self.accepted(prior)
        return other

    def posterior(self, x, prior, sample_weight=None):
        """The conjugate prior updated by rows: an object of the same class, which knows this family."""
        return posterior_of(self, x, prior, sample_weight)[0]

    def log_marginal(self, x, prior, sample_weight=None):
        """Log evidence of rows: their density with the parameters integrated out over the prior.

        By Bayes' rule log p(x) = log p(x | θ) + log p(θ) − log p(θ | x), whatever θ.
        """
        posterior, block = posterior_of(self, x, prior, sample_weight)
        theta, prior = posterior.interior, self.spread(prior, block.X.shape[1])
        loglik = block.weight @ self.log_prob(self.at(*theta), block)[:, 0]
        return float(loglik + prior.log_prob(*theta)[0] - posterior.log_prob(*theta)[0])

    def collapsed(self, params, weight):
        """Whether a class has shrunk to where the likelihood has no maximum, and tells of a floor rather than of the rows."""
        return False

    def permute(self, params, order):
        """Parameters with the classes in another order; by default every array has one entry per class."""
        return params.map(lambda value: value[order])

    def mean(self, params):
        """Expectation of each column under each class, (classes, d)."""
        raise NotImplementedError(f"{type(self).__name__} does not define mean.")

    def variance(self, params):
        """Variance of each column under each class, (classes, d)."""
        raise NotImplementedError(f"{type(self).__name__} does not define variance.")

    def n_columns(self, params):
        """Columns of a row."""
        return params.items()[0][1].shape[1]

    def parameters(self, params):
        """What is worth showing of the parameters: a dictionary of arrays (classes, …)."""
        return dict(params.items())

    def entropy(self, params):
        """−E[log p(x)] under each class, in nats, (classes,)."""
        raise NotImplementedError(f"{type(self).__name__} does not define entropy.")

    def kl(self, params, other):
        """Divergence Σ p log p/q of each class's p from the same class of other parameters, in nats, (classes,)."""
        raise NotImplementedError(f"{type(self).__name__} does not define kl.")

    def cross_entropy(self, params, other):
        """−E[log q(x)] under each class, q being the same class of other parameters."""
        return self.entropy(params) + self.kl(params, other)

    def sample(self, params, classes, rng):
        """One row for every entry of `classes`."""
        raise NotImplementedError(f"{type(self).__name__} does not define sample.")

    def scipy(self, params):
        """Its name in `scipy.stats` and the parameters there, as arrays (classes, d); None where it has none."""

    def law(self, params, block):
        """The `Law` of the missing cells of a block given its observed ones, in the order of `block.missing_cells`.

        By default columns are independent given the class.
        """
        columns, known = block.missing_cells[1], self.scipy(params)
        mean, variance = self.mean(params), self.variance(params)
        name, shape = known or ("", {})
        shape = {key: np.broadcast_to(value, mean.shape)[:, columns].T for key, value in shape.items()}
        moments = mean[:, columns].T, variance[:, columns].T
        return ScipyLaw(*moments, name, **shape) if known else Law(*moments)

    def expect(self, params, block, resp):
        """The rows with missing cells at their expectation given the class probabilities, and its standard deviation.

        Both are (rows, d); the deviation is 0 in observed cells.
        """
        filled, cells = host(block.X).astype(np.float64), block.missing_cells
        std = np.zeros_like(filled)
        if len(cells[0]):
            law, weight = self.law(params, block), host(resp)[cells[0]]
            filled[cells], std[cells] = law.mean(weight), law.std(weight)
        return filled, std

    def filled(self, params, block, resp):
        """The rows with missing cells at their expectation."""
        return self.expect(params, block, resp)[0]

    def distance(self, params, block):
        """Squared Mahalanobis distances of the rows from the classes, (rows, classes), and how many cells they are over.

        Zero over columns that have none, such as categories and counts.
        """
        return np.zeros((len(block), 1)), np.zeros(len(block))

    def draw(self, params, block, resp, n_draws, rng):
        """Draws (n_draws, rows, d) of the rows from the posterior of their missing cells."""
        X, classes = host(block.X).astype(np.float64), draw_classes(host(resp), n_draws, rng)
        drawn = [self.sample(params, row_classes, rng) for row_classes in classes]
        return np.where(np.isnan(X), drawn, X)

    def embed(self, block, rng):
        """Complete real columns in which Euclidean distance is meaningful, to seed clusters in.

        Of sparse rows in many columns they are random projections, which keep distances nearly.
        """
        X = rows_on_host(block.X)
        if backend(X) == "sparse" and X.shape[1] > WIDE:
            project = rng.standard_normal((X.shape[1], PROJECTED)) / np.sqrt(PROJECTED)
            return X.matrix @ project
        X = host(X).astype(np.float64)
        seen = ~np.isnan(X)
        weight = block.weight[:, None] * seen
        total = np.maximum(weight.sum(axis=0), np.finfo(float).tiny)
        mean = np.where(seen, X, 0.0).T @ block.weight / total
        X = np.where(seen, X - mean, 0.0)
        deviation = np.sqrt((weight * X**2).sum(axis=0) / total)
        return X / np.where(deviation > 0, deviation, 1.0)

    def free(self, params):
        """Parameters as a vector without constraints, in which accelerators extrapolate; by default as they are."""
        return params.to_vector()

    def bound(self, vector, params):
        """The parameters that `free` made into a vector, valid for any vector; the rest is taken from `params`."""
        return params.from_vector(vector)

    def n_parameters(self, params):
        """Free parameters of all classes together."""
        raise NotImplementedError(f"{type(self).__name__} does not define n_parameters.")


class OnePassFamily(Family):
    """A family whose kernel makes one pass in one of three modes; scores, statistics and the E-step are that pass.

    A subclass defines ``one_pass(params, block, mode, log_weight, out)``, which returns the log-likelihood, the size of each
    class and the statistics. The first array of its parameters has one entry per class.
    """

    def one_pass(self, params, block, mode, log_weight, out):
        """SCORE into `out`, MOMENTS for the responsibilities in `out`, or EXPECT both with none written."""
        raise NotImplementedError

    def log_prob(self, params, block):
        """Log density of the observed cells of each row under each class, (rows, classes)."""
        _, first = params.items()[0]
        out = empty((len(first), len(block)), block.X)
        self.one_pass(params, block, SCORE, np.zeros(0), out)
        return out.T

    def stats(self, params, block, resp):
        """Expected sufficient statistics of rows weighted by resp (rows, classes)."""
        return self.one_pass(params, block, MOMENTS, np.zeros(0), flipped(resp, block.X))[2]

    def e_step(self, params, log_weight, block):
        """As `Family.e_step`, with every row read once for both halves."""
        return self.one_pass(params, block, EXPECT, log_weight, np.empty((0, 0)))
