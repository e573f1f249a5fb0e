"""Finite mixtures: p(x) = Σ_k π_k p(x | θ_k), for any family.

E-step: r_ik ∝ π_k p(x_i | θ_k)        M-step: π_k = Σ_i r_ik / n,  θ_k from the family

With a Dirichlet(α, …, α) prior on π and the family's own prior on θ, the M-step maximises the posterior density instead.
"""

from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp, softmax

from ..arrays import Arrays, record
from ..declared import Numbers, Part, declare
from ..engine import Model, Trace
from ..engine.coordinates import Record, Simplex
from ..families import Family, responsibilities
from ..families.family import draw_classes
from ..kernels import host
from ..notes import Note
from ..source import Block
from .seeds import seed_responsibilities

__all__ = ["MixtureModel", "MixtureParams", "MixtureStats"]


@record
class MixtureParams(Arrays):
    """Class weights and the family's parameters."""

    weight: np.ndarray
    components: Any
    _saved = declare(weight=Numbers("K", low=0, high=1, total=1), components=Part(Arrays))

    @property
    def log_weight(self) -> np.ndarray:
        """Log weights; an empty class is as good as impossible, not an infinity."""
        return np.log(np.maximum(self.weight, np.finfo(float).tiny))


@record
class MixtureStats(Arrays):
    """Log-likelihood, total weight, class sizes and the family's statistics."""

    loglik: float
    weight: float
    counts: np.ndarray
    components: Arrays
    _summed = declare(weight=Numbers(low=0), counts=Numbers("K", low=0))


class MixtureModel(Model):
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

    shares_starts = True

    def __init__(self, family: Family, n_components: int, init: str = "kmeans", weight_prior: float | None = None):
        self.family, self.n_components, self.init_method = family, n_components, init
        self.n_classes = n_components
        self.weight_prior = 1.0 if weight_prior is None else float(weight_prior)
        self.one_start = n_components == 1
        # Where every class is known, one M-step is the maximum if that of the family is.
        self.labels_suffice = family.exact
        self.extrapolates = family.extrapolates

    def init(self, sample: Block, rng: np.random.Generator) -> Any:
        return self.start(sample, np.ones((len(sample), 1)) if self.one_start else self.seed(sample, rng))

    def seed(self, sample: Block, rng: np.random.Generator) -> np.ndarray:
        """Random assignments of a sample of rows to the classes, (rows, classes)."""
        return seed_responsibilities(self.family.embed(sample, rng), sample, self.n_components, rng, self.init_method)

    def start(self, sample: Block, resp: np.ndarray) -> Any:
        """Cautious parameters from assignments of a sample of rows: classes that few rows define borrow from the others."""
        return MixtureParams(block_weights(resp, sample), self.family.start(sample, resp))

    def follow(self, sample: Block, resp: np.ndarray) -> Any:
        """The M-step at given assignments of a sample of rows."""
        params = self.start(sample, resp)
        stats = self.family.stats(params.components, sample, resp * sample.weight[:, None])
        return MixtureParams(params.weight, self.family.m_step(stats, params.components))

    def e_step(self, params: Any, block: Block) -> MixtureStats:
        loglik, counts, components = self.family.e_step(params.components, params.log_weight, block)
        return MixtureStats(loglik, float(block.weight.sum()), counts, components)

    def m_step(self, stats: Any, params: Any) -> Any:
        """Weights from class sizes, the rest from the family."""
        counts = stats.counts + (self.weight_prior - 1.0)
        return MixtureParams(counts / counts.sum(), self.family.m_step(stats.components, params.components))

    def place(self, params: Any, device: Any) -> Any:
        if type(params) is not MixtureParams:  # beliefs
            return params
        return MixtureParams(params.weight, self.family.place(params.components, device))

    def redraw(self, params: Any, block: Block, resp: np.ndarray, rng: np.random.Generator) -> MixtureParams:
        """A draw of the parameters given complete rows and their classes."""
        weight = rng.dirichlet(self.weight_prior + resp.sum(axis=0))
        return MixtureParams(weight, self.family.redraw(params.components, block, resp, rng))

    def draw_classes(self, params: Any, block: Block, rng: np.random.Generator) -> np.ndarray:
        """A class of each row, drawn from their posterior."""
        resp = host(self.posterior(params, block)[0]) if self.n_classes > 1 else np.ones((len(block), 1))
        return draw_classes(resp, 1, rng)[0]

    def draw_cells(self, params: Any, block: Block, resp: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        """The rows with missing cells drawn, (n_draws, rows, d), whose classes have the probabilities `resp`."""
        return self.family.draw(params.components, block, resp, n_draws, rng)

    def check_drawn(self, params: Any, n_columns: int) -> None:
        """Raise where these cannot be drawn parameters."""
        if type(params) is not MixtureParams:
            raise ValueError(f"draws of parameters cannot be {type(params).__name__}")
        MixtureModel.check_params(self, params, n_columns)

    def settled(self, trace: Trace, params: Any, image: Any, tol: float) -> Note | None:
        """By default where the objective gains less than `tol`, but not while a parameter is still on its way."""
        found = super().settled(trace, params, image, tol)
        return None if found and self.family.moving(params.components, image.components) else found

    def check_params(self, params: Any, n_columns: int) -> None:
        params.check({"K": self.n_classes})
        self.family.check_params(params.components, self.n_components, n_columns)

    def log_prior(self, params: Any) -> float:
        value = self.family.log_prior(params.components)
        alpha, k = self.weight_prior, self.n_classes
        if alpha == 1.0:
            return value
        constant = gammaln(k * alpha) - k * gammaln(alpha)
        return value + float(constant + (alpha - 1.0) * params.log_weight.sum())

    def collapsed(self, params: Any) -> tuple[int, ...]:
        """Classes that have shrunk to where the likelihood has no maximum; see `Family.collapsed`."""
        return self.family.collapsed(params.components, params.weight)

    def permute(self, params: Any, order: np.ndarray) -> Any:
        return MixtureParams(params.weight[order], self.family.permute(params.components, order))

    def free(self, params: Any) -> np.ndarray:
        """Parameters as a vector without constraints: log weights, then what the family makes of its own."""
        return np.concatenate([params.log_weight, self.family.free(params.components)])

    def bound(self, vector: np.ndarray, params: Any) -> Any:
        log_weight, rest = np.split(vector, [self.n_classes])
        return MixtureParams(softmax(log_weight), self.family.bound(rest, params.components))

    def coordinates(self, params: Any) -> Record:
        """Contrasts of the log weights, then what the family makes of its own."""
        flat = 1.0 if self.weight_prior == 1.0 else None
        return Record(
            params, weight=Simplex(params.weight, alpha=flat), components=self.family.coordinates(params.components)
        )

    def score(self, stats: Any, params: Any) -> dict[str, Any]:
        components = self.family.score(stats.components, params.components)
        return {"weight": stats.counts / np.exp(params.log_weight), "components": components}

    def prior_score(self, params: Any) -> dict[str, Any]:
        weight = (self.weight_prior - 1.0) / np.exp(params.log_weight)
        return {"weight": weight, "components": self.family.prior_score(params.components)}

    def posterior(self, params: Any, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Probabilities of the classes of each row, (rows, classes), and the log density of the row."""
        return _posterior(params, self.family.log_prob(params.components, block))

    def log_posterior(self, params: Any, block: Block) -> np.ndarray:
        """Logs of the probabilities that `posterior` gives, finite also where those underflow."""
        log_prob = self.family.log_prob(params.components, block)
        joint = host(log_prob).astype(np.float64) + params.log_weight
        resp = _posterior(params, log_prob)[0].astype(block.dtype)  # in the precision that probabilities are given in
        lost = resp < np.finfo(block.dtype).tiny
        return np.where(lost, joint - logsumexp(joint, axis=1, keepdims=True), np.log(np.where(lost, 1.0, resp)))

    def sample(self, params: Any, n_rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Rows and their classes, ordered by class."""
        counts = rng.multinomial(n_rows, params.weight / params.weight.sum())
        classes = np.repeat(np.arange(self.n_components), counts)
        return self.family.sample(params.components, classes, rng), classes

    def n_parameters(self, params: Any) -> int:
        return self.n_classes - 1 + self.family.n_parameters(params.components)


def _posterior(params: MixtureParams, log_prob: Any) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of the classes and evidence from log densities (rows, classes), which are overwritten."""
    n = len(log_prob)
    resp, evidence, _ = responsibilities(log_prob, params.log_weight, np.ones(n), np.full(n, -1))
    return host(resp), host(evidence)


def block_weights(resp: np.ndarray, block: Block) -> np.ndarray:
    """Class weights of soft assignments, none of them zero."""
    counts = block.weight @ resp
    counts = np.maximum(counts, 0.1 * counts.sum() / len(counts) ** 2)
    return counts / counts.sum()
