"""Finite mixtures: p(x) = Σ_k π_k p(x | θ_k), for any family.

E-step: r_ik ∝ π_k p(x_i | θ_k)        M-step: π_k = Σ_i r_ik / n,  θ_k from the family

With a Dirichlet(α, …, α) prior on π and the family's own prior on θ, the M-step maximises the posterior density instead.
"""

import numpy as np
from scipy.special import gammaln, softmax

from ..arrays import Arrays, record
from ..families import responsibilities
from ..kernels import host
from .seeds import seed_responsibilities

__all__ = ["MixtureModel", "MixtureParams", "MixtureStats"]


@record
class MixtureParams(Arrays):
    """Class weights and the family's parameters."""

    weight: np.ndarray
    components: Arrays

    @property
    def log_weight(self):
        """Log weights; an empty class is as good as impossible, not an infinity."""
        return np.log(np.maximum(self.weight, np.finfo(float).tiny))


@record
class MixtureStats(Arrays):
    """Log-likelihood, total weight, class sizes and the family's statistics."""

    loglik: float
    weight: float
    counts: np.ndarray
    components: Arrays


class MixtureModel:
    """A mixture of `n_components` classes of one family.

    Parameters
    ----------
    family : Family
        The distribution of a row given its class.
    n_components : int
        Number of classes.
    init : {"kmeans", "k-means++", "random", "random_from_data"}
        How starts are seeded; see `seed_responsibilities`.
    weight_prior : float, optional
        α ≥ 1 of a Dirichlet prior on the class weights; none, or 1, is maximum likelihood.
    """

    def __init__(self, family, n_components, init="kmeans", weight_prior=None):
        self.family, self.n_components, self.init_method = family, n_components, init
        self.weight_prior = 1.0 if weight_prior is None else float(weight_prior)

    shares_starts = True  # whether assignments of rows to classes that one model found can start another

    @property
    def one_start(self):
        """Whether every start is the same."""
        return self.n_components == 1

    def init(self, sample, rng):
        """A random start from a sample of rows."""
        if self.one_start:
            return MixtureParams(np.ones(1), self.family.start(sample, np.ones((len(sample), 1))))
        return self.start(sample, self.seed(sample, rng))

    def seed(self, sample, rng):
        """Random assignments of a sample of rows to the classes, (rows, classes)."""
        return seed_responsibilities(self.family, sample, self.n_components, rng, self.init_method)

    def start(self, sample, resp):
        """Cautious parameters from assignments of a sample of rows: classes that few rows define borrow from the others."""
        return MixtureParams(block_weights(resp, sample), self.family.start(sample, resp))

    def follow(self, sample, resp):
        """The M-step at given assignments of a sample of rows."""
        params = self.start(sample, resp)
        stats = self.family.stats(params.components, sample, resp * sample.weight[:, None])
        return MixtureParams(params.weight, self.family.m_step(stats, params.components))

    def e_step(self, params, block):
        """Statistics of a block at the posterior of its classes."""
        loglik, counts, components = self.family.e_step(params.components, params.log_weight, block)
        return MixtureStats(loglik, float(block.weight.sum()), counts, components)

    def m_step(self, stats, params):
        """Weights from class sizes, the rest from the family."""
        counts = stats.counts + (self.weight_prior - 1.0)
        return MixtureParams(counts / counts.sum(), self.family.m_step(stats.components, params.components))

    def log_prior(self, params):
        """Log density of the parameters under their priors, 0 where there are none."""
        value = self.family.log_prior(params.components)
        alpha, k = self.weight_prior, self.n_components
        if alpha == 1.0:
            return value
        constant = gammaln(k * alpha) - k * gammaln(alpha)
        return value + float(constant + (alpha - 1.0) * params.log_weight.sum())

    def collapsed(self, params):
        """Whether a class has shrunk to where the likelihood has no maximum; see `Family.collapsed`."""
        return self.family.collapsed(params.components, params.weight)

    def permute(self, params, order):
        """The same mixture with its classes in another order."""
        return MixtureParams(params.weight[order], self.family.permute(params.components, order))

    def free(self, params):
        """Parameters as a vector without constraints: log weights, then what the family makes of its own."""
        return np.concatenate([params.log_weight, self.family.free(params.components)])

    def bound(self, vector, params):
        """The parameters that `free` made into a vector, valid for any vector."""
        log_weight, rest = np.split(vector, [self.n_components])
        return MixtureParams(softmax(log_weight), self.family.bound(rest, params.components))

    def posterior(self, params, block):
        """Probabilities of the classes of each row, (rows, classes), and the log density of the row."""
        log_prob = self.family.log_prob(params.components, block)
        unknown = np.full(len(block), -1)
        resp, evidence, _ = responsibilities(log_prob, params.log_weight, np.ones(len(block)), unknown)
        return host(resp), host(evidence)

    def sample(self, params, n_rows, rng):
        """Rows and their classes, ordered by class."""
        counts = rng.multinomial(n_rows, params.weight / params.weight.sum())
        classes = np.repeat(np.arange(self.n_components), counts)
        return self.family.sample(params.components, classes, rng), classes

    def n_parameters(self, params):
        """Free parameters."""
        return self.n_components - 1 + self.family.n_parameters(params.components)


def block_weights(resp, block):
    """Class weights of soft assignments, none of them zero."""
    counts = block.weight @ resp
    counts = np.maximum(counts, 0.1 * counts.sum() / len(counts) ** 2)
    return counts / counts.sum()
