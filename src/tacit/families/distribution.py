"""`Distribution`: a family with one set of parameters, p(x | θ).

    self-information −log p(x),   entropy H(p) = −E[log p],   KL(p ‖ q) = E[log p/q],   cross-entropy = H(p) + KL(p ‖ q)

All in nats. Learning is the engine's, on one class: an M-step in closed form settles at once.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..source.array import ArraySource
from ..source.block import Block

if TYPE_CHECKING:
    from .family import Family

__all__ = ["Distribution", "as_rows", "learn", "posterior_of", "shown"]


def as_rows(x: Any, n_columns: int | None = None) -> np.ndarray:
    """Rows (n, d) in float64; a vector is one column, a number one cell."""
    x = np.asarray(x, dtype=np.float64)
    x = x.reshape(-1, 1) if x.ndim < 2 else x
    if x.ndim > 2:
        raise ValueError(f"x has {x.ndim} dimensions; give rows of columns, or a vector for one column.")
    if n_columns is not None and x.shape[1] != n_columns:
        raise ValueError(f"x has {x.shape[1]} columns, but the distribution has {n_columns}.")
    return np.ascontiguousarray(x)


def possible(family: Family, rows: np.ndarray) -> np.ndarray:
    """Which rows a family describes; halves are looked into only where the whole is refused."""
    if not len(rows):
        return np.ones(0, bool)
    try:
        family.check(rows)
    except ValueError:
        middle = len(rows) // 2
        if middle:
            return np.concatenate([possible(family, rows[:middle]), possible(family, rows[middle:])])
        return np.zeros(1, bool)
    return np.ones(len(rows), bool)


def as_source(family: Family, x: Any, sample_weight: Any) -> ArraySource:
    """Rows that the family describes, in one block."""
    x = as_rows(x)
    if not len(x):
        raise ValueError("x has no rows; a distribution is learned from at least one.")
    family.check(x)
    weight = np.ones(len(x)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (len(x),):
        raise ValueError(f"sample_weight has shape {weight.shape}, but x has {len(x)} rows.")
    if (weight < 0).any() or not weight.sum() > 0:
        raise ValueError("sample_weight must not be negative, and some of it must be positive.")
    return ArraySource(x, weight, block_rows=max(len(x), 1), n_jobs=1)


def learn(family: Family, x: Any, sample_weight: Any = None) -> Distribution:
    """The distribution of a family that makes rows likeliest, or most probable under the family's prior."""
    # Here, because mixtures are made of families.
    from ..engine import fit
    from ..mixture.model import MixtureModel

    source, model = as_source(family, x, sample_weight), MixtureModel(family, 1)
    start = model.init(next(iter(source)), np.random.default_rng(0))
    learned = fit(model, source, start, max_iter=10_000, tol=1e-13, accelerate="auto")
    return Distribution(family, learned.params.components)


def posterior_of(family: Family, x: Any, prior: Any, sample_weight: Any = None) -> tuple[Any, Block]:
    """The conjugate prior updated by rows, and the block of these rows."""
    family.check_prior(prior)
    block = next(iter(as_source(family, x, sample_weight)))
    if family.complete_posterior and not block.patterns.is_complete:
        raise ValueError(
            f"the posterior of a {type(family).__name__} is conjugate for complete rows only; drop the others."
        )
    params = family.start(block, np.ones((len(block), 1)))
    evidence = family.evidence(family.stats(params, block, block.weight[:, None]), params)
    prior = family.spread(prior, block.X.shape[1])
    return prior.observe(*(part[0] for part in evidence), likelihood=family), block


def shown(name: str, parameters: dict[str, np.ndarray]) -> str:
    """A name, and parameters in brackets."""
    return f"{name}({', '.join(f'{key}={np.array2string(value, precision=4)}' for key, value in parameters.items())})"


class Distribution:
    """A family with one set of parameters.

    Parameters
    ----------
    family : Family
        What rows look like.
    params : Arrays
        Its parameters, of one class.

    Attributes
    ----------
    parameters : dict of ndarray
        The parameters by name.
    mean, variance : ndarray of shape (d,)
        Moments of each column; for `Categorical`, of the indicator of each level.

    References
    ----------
    T. M. Cover and J. A. Thomas, *Elements of Information Theory*, 2nd ed., Wiley, 2006, chapters 2 and 8.

    Examples
    --------
    >>> from tacit.families import Poisson
    >>> p, q = Poisson().fit([0, 1, 2, 5]), Poisson().fit([0, 1, 2, 1])
    >>> p.mean
    array([2.])
    >>> round(p.kl(q), 4)
    0.3863
    """

    def __init__(self, family: Family, params: Any) -> None:
        self.family, self.params = family, params

    def __repr__(self) -> str:
        return shown(type(self.family).__name__, self.parameters)

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        return {name: value[0] for name, value in self.family.parameters(self.params).items()}

    @cached_property
    def mean(self) -> np.ndarray:
        return self.family.mean(self.params)[0]

    @cached_property
    def variance(self) -> np.ndarray:
        return self.family.variance(self.params)[0]

    @property
    def n_columns(self) -> int:
        """Columns of a row."""
        return self.family.n_columns(self.params)

    def log_prob(self, x: Any) -> Any:
        """Log density of the observed cells of each row, (n,); −inf where a row is not what the family describes."""
        rows = as_rows(x, self.n_columns)
        inside, out = possible(self.family, rows), np.full(len(rows), -np.inf)
        if inside.any():
            out[inside] = self.family.log_prob(self.params, Block.of(rows[inside]))[:, 0]
        return out

    def self_information(self, x: Any) -> np.ndarray:
        """−log p(x) of each row, in nats: what seeing it tells."""
        return -self.log_prob(x)

    def quantile(self, q: float) -> np.ndarray:
        """The q-quantile of each column by itself, (d,); NaN for `Categorical`, and that of a normal for `Multinomial`."""
        if not 0 < q < 1:
            raise ValueError(f"q={q!r} must be a probability between 0 and 1, both excluded.")
        law = self.family.law(self.params, Block.of(np.full((1, self.n_columns), np.nan)))
        return law.quantile(q, np.ones((self.n_columns, 1)))

    def sample(self, n: int = 1, random_state: Any = None) -> np.ndarray:
        """Rows, (n, d)."""
        return self.family.sample(self.params, np.zeros(n, dtype=int), np.random.default_rng(random_state))

    def entropy(self) -> float:
        """−E[log p(x)], in nats."""
        return float(self.family.entropy(self.params)[0])

    def kl(self, other: Distribution) -> float:
        """Divergence of this distribution from another over the same values, E[log p(x)/q(x)], in nats."""
        self._check_values(other)
        return float(self.family.kl(self.params, other.params)[0])

    def cross_entropy(self, other: Distribution) -> float:
        """−E[log q(x)] with q the other distribution, in nats: H(p) + KL(p ‖ q)."""
        self._check_values(other)
        return float(self.family.cross_entropy(self.params, other.params)[0])

    def _check_values(self, other: Distribution) -> None:
        mine, theirs = ((d.family.support, d.n_columns) for d in (self, other))
        if mine != theirs:
            raise ValueError(
                f"divergence is between distributions over the same values, but one is over {mine[0]} in {mine[1]} "
                f"columns and the other over {theirs[0]} in {theirs[1]}."
            )
