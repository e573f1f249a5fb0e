"""`Family`: what data look like given the hidden state, p(x | θ_k) for classes k = 1…K.

Missing cells are integrated out: a family scores what is observed and its statistics are expectations over what is not.
"""

from typing import Any

import numpy as np

from ..kernels import EXPECT, MOMENTS, SCORE, backend, empty, flipped, host, kernel

__all__ = ["Family", "OnePassFamily", "occupied", "responsibilities"]


def responsibilities(log_prob, log_weight, weight, labels):
    """Posterior of the class, times the row's weight, from log densities (rows, classes), which are overwritten.

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


def occupied(count):
    """Where there is anything to learn from; relative, because the scale of the weights is arbitrary."""
    return count > 1e-12 * count.max(initial=0.0)


class Family:
    """A distribution with one set of parameters per class.

    A family needs ``log_prob``, ``stats`` and ``m_step``; ``sample``, ``mean`` and ``variance`` make it complete. Families hold
    settings only: parameters and statistics are `Arrays` that go in and out.
    """

    prior: Any = None
    maximises = True  # whether m_step is the maximum given the classes, or a step towards it that never loses

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
        return 0.0

    def mean(self, params):
        """Expectation of each column under each class, (classes, d)."""
        raise NotImplementedError(f"{type(self).__name__} does not define mean.")

    def variance(self, params):
        """Variance of each column under each class, (classes, d)."""
        raise NotImplementedError(f"{type(self).__name__} does not define variance.")

    def sample(self, params, classes, rng):
        """One row for every entry of `classes`."""
        raise NotImplementedError(f"{type(self).__name__} does not define sample.")

    def embed(self, block, rng):
        """Complete real columns in which Euclidean distance is meaningful, to seed clusters in."""
        X = block.X.astype(np.float64)
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
