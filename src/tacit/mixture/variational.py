"""Variational Bayes for Gaussian mixtures: q(z, x_missing) q(π) q(μ, Λ) closest to the posterior of all of them.

E log p(x | z = k) = log N(x | m_k, Σ_k) + c_k,    c_k = ½ (E log|Λ_k| − log|Σ_k⁻¹| − d / β_k),    Σ_k⁻¹ = E Λ_k

so that the E-step is a mixture's, with log weights E log π_k + c_k. Missing cells are no exception: what is integrated out is the
Gaussian, and c_k stays. The log prior of the engine's objective is −KL(q(π, μ, Λ) ‖ p), which makes the objective the evidence
lower bound.
"""

from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Arrays, record
from ..declared import Numbers, Part, declare
from ..families.gaussian import Gaussian, GaussianParams
from ..source import Block
from .model import MixtureModel, MixtureParams
from .seeds import seed_responsibilities
from .weights import Dirichlet, Sticks
from .wishart import SHAPES, expected_log_det, wishart_divergence

__all__ = ["VariationalMixture", "VariationalParams", "VariationalPrior"]


@record
class VariationalPrior(Arrays):
    """What is believed before seeing rows.

    Attributes
    ----------
    weights : Dirichlet or Sticks
    mean_precision : float
        β₀, the number of rows that the prior mean counts for.
    mean : (d,)
    degrees : float
        ν₀ > d − 1, the number of rows that the prior covariance counts for.
    covariance : the shape depends on the family
        V₀, the sum of squares that these rows would have.
    """

    weights: Dirichlet | Sticks
    mean_precision: float
    mean: np.ndarray
    degrees: float
    covariance: np.ndarray


@record
class VariationalParams(Arrays):
    """What is believed of weights, means and precisions; `components` holds m and E[Λ]⁻¹ as the family's parameters."""

    weights: Dirichlet | Sticks
    mean_precision: np.ndarray
    degrees: np.ndarray
    components: GaussianParams
    _saved = declare(
        weights=Part(Arrays), mean_precision=Numbers("K", above=0), degrees=Numbers("K", above=0),
        components=Part(GaussianParams),
    )  # fmt: skip

    @cached_property
    def weight(self) -> np.ndarray:
        """Expected class weights."""
        return self.weights.expected

    @cached_property
    def log_weight(self) -> np.ndarray:
        """E log π_k + c_k, which the E-step adds to the Gaussian log density."""
        d = self.components.mean.shape[1]
        return self.weights.expected_log + 0.5 * (expected_log_det(self.degrees, d) - d / self.mean_precision)


class VariationalMixture(MixtureModel):
    """A Gaussian mixture learned by variational Bayes.

    Parameters
    ----------
    family : Gaussian
        The shape of the components.
    n_components : int
        Number of classes; those that rows do not speak for fade away.
    prior : VariationalPrior
        What is believed before seeing rows.
    init : {"kmeans", "k-means++", "random", "random_from_data"}
        How starts are seeded.
    drawn : Gaussian, optional
        The family by which parameters are drawn, with a prior of its own; default `family`.
    """

    shares_starts = False  # its starts differ in how many classes they occupy

    def __init__(
        self, family: Gaussian, n_components: int, prior: VariationalPrior, init: str = "kmeans", drawn: Any = None
    ):
        super().__init__(family, n_components, init)
        self.family: Gaussian = family
        self.drawn = family if drawn is None else drawn
        self.prior, self.shape = prior, SHAPES[type(family)]

    def init(self, sample: Block, rng: np.random.Generator, n_occupied: int | None = None) -> VariationalParams:
        """A random start from a sample of rows, with `n_occupied` classes occupied and the others empty."""
        k, labelled = self.n_components, sample.labels.max(initial=-1) + 1
        resp = np.zeros((len(sample), k))
        n_seeds = max(n_occupied or k, labelled)
        found = seed_responsibilities(self.family.embed(sample, rng), sample, n_seeds, rng, self.init_method)
        if not labelled:
            # Sticks expect large classes first.
            found = found[:, np.argsort(-(sample.weight @ found), kind="stable")]
        resp[:, :n_seeds] = found
        return self.believe(sample.weight @ resp, self.family.start(sample, resp))

    def believe(self, counts: np.ndarray, components: Any) -> VariationalParams:
        """Parameters of classes of these sizes, means and covariances."""
        prior = self.prior
        degrees = prior.degrees + self.shape.share(counts)
        return VariationalParams(prior.weights.after(counts), prior.mean_precision + counts, degrees, components)

    def m_step(self, stats: Any, params: VariationalParams) -> VariationalParams:
        """The conjugate update: the prior and the expected statistics, added up about the origin."""
        prior, shape, old = self.prior, self.shape, params.components
        precision = prior.mean_precision + stats.counts
        first, second = shape.moments(stats.components, stats.counts, old)
        before = np.broadcast_to(prior.mean - old.origin, first.shape)
        shift = (prior.mean_precision * before + first) / precision[:, None]
        weight = np.full(len(precision), prior.mean_precision)
        scatter = prior.covariance + second + shape.square(weight, before) - shape.square(precision, shift)
        degrees = prior.degrees + shape.share(stats.counts)
        covariance = shape.covariance(self.family, scatter, degrees, old)
        return self.believe(stats.counts, self.family.params(old.origin + shift, covariance, old.origin, old.scale))

    def redraw(self, params: Any, block: Block, resp: np.ndarray, rng: np.random.Generator) -> MixtureParams:
        weight = self.prior.weights.after(resp.sum(axis=0)).draw(rng)
        return MixtureParams(weight, self.drawn.redraw(params.components, block, resp, rng))

    def check_params(self, params: Any, n_columns: int) -> None:
        super().check_params(params, n_columns)
        params.weights.check({"K": self.n_components})
        if min(params.degrees.min(), self.prior.degrees) <= n_columns - 1:
            raise ValueError(f"degrees of freedom must be greater than {n_columns - 1}")

    def log_prior(self, params: VariationalParams) -> float:
        """−KL(q(π, μ, Λ) ‖ p)."""
        prior, shape, found = self.prior, self.shape, params.components
        d = found.mean.shape[1]
        ratio = prior.mean_precision / params.mean_precision
        distance = prior.mean_precision * shape.distance(found.mean - prior.mean, found)
        means = 0.5 * (d * (ratio - 1.0 - np.log(ratio)) + distance)
        precisions = wishart_divergence(
            params.degrees, shape.log_det(found), shape.trace(prior.covariance, found),
            prior.degrees, shape.prior_log_det(prior.covariance, d), d,
        )  # fmt: skip
        return -float(params.weights.divergence(prior.weights) + (means + precisions).sum())

    def coordinates(self, params: VariationalParams) -> Any:
        raise NotImplementedError(
            "a variational mixture tells of its parameters by distributions, which are the posterior already."
        )

    def free(self, params: VariationalParams) -> np.ndarray:
        """Parameters as a vector without constraints: roots of sizes, then what the family makes of its own."""
        # Unlike logarithms, roots stay calm where a class is emptied.
        sizes = params.mean_precision - self.prior.mean_precision
        return np.concatenate([np.sqrt(sizes / sizes.sum()), self.family.free(params.components)])

    def bound(self, vector: np.ndarray, params: VariationalParams) -> VariationalParams:
        root, rest = np.split(vector, [self.n_components])
        share = (root / max(np.abs(root).max(), np.finfo(float).tiny)) ** 2
        total = (params.mean_precision - self.prior.mean_precision).sum()
        counts = total * share / max(share.sum(), np.finfo(float).tiny)
        return self.believe(counts, self.family.bound(rest, params.components))
