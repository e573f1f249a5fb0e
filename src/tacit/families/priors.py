"""Conjugate priors of the families with independent columns: p(θ | x) is of the same kind as p(θ).

    Beta(a, b)           + successes, failures  →  Beta(a + successes, b + failures)
    Gamma(shape, rate)   + events, exposure     →  Gamma(shape + events, rate + exposure)
    Dirichlet(α)         + counts n             →  Dirichlet(α + n)

A prior is a distribution of parameters, with all a distribution has, and `mode`, `predictive` and the family it belongs to.
"""

from functools import cached_property
from typing import Any

import numpy as np

from ..kernels.layout import level_columns
from .distribution import Distribution, as_rows
from .positive import Gamma, GammaParams
from .proportions import Beta, BetaParams, Dirichlet, DirichletParams

__all__ = ["BetaPrior", "DirichletPrior", "GammaPrior", "Prior"]


def positive(name, value, least=0.0):
    """A number or vector as a vector, none of it at or below `least`."""
    value = np.atleast_1d(np.asarray(value, dtype=np.float64))
    if not (value > least).all():
        raise ValueError(f"{name}={value[~(value > least)][0]:g} must be greater than {least:g}.")
    return value


def spread(name, value, n_columns):
    """A vector over all columns."""
    if value.shape[-1] not in (1, n_columns):
        raise ValueError(f"{name} has {value.shape[-1]} entries, but there are {n_columns} columns.")
    return np.broadcast_to(value, (*value.shape[:-1], n_columns))


class Prior:
    """What all conjugate priors share.

    Attributes
    ----------
    likelihood : Family or None
        The family whose parameters it is a posterior of.
    """

    likelihood = None

    def predictive(self):
        """Distribution of the next row, with the parameters integrated out."""
        if self.likelihood is None:
            raise ValueError(
                f"this {type(self).__name__} belongs to no family; use family.posterior(x, prior).predictive(), or "
                "family.predictive(prior) before any row is seen."
            )
        return self.likelihood.predictive(self)


class _Cells(Prior, Distribution):
    """A prior whose variable has one entry per column, each with the same two numbers."""

    names: tuple

    @classmethod
    def _make(cls: Any, numbers, likelihood):
        return cls(*numbers, likelihood=likelihood)

    @property
    def _name(self):
        return type(self).__name__

    def over(self, n_columns):
        """The prior of each of `n_columns` columns."""
        return self._make((spread(name, getattr(self, name), n_columns) for name in self.names), self.likelihood)

    def observe(self, *evidence, likelihood=None):
        """The posterior."""
        numbers = (getattr(self, name) + more for name, more in zip(self.names, evidence))
        return self._make(numbers, likelihood or self.likelihood)

    @property
    def interior(self):
        """A value well inside the support, as rows."""
        return (self.mean[None],)


class BetaPrior(_Cells):
    """Beta prior of probabilities, p ~ Beta(a, b).

    Parameters
    ----------
    a, b : float or sequence of float
        One more than the successes and failures the prior is worth when its mode is taken; of all columns or of each.

    Examples
    --------
    >>> from tacit.families import BetaPrior, Binomial
    >>> posterior = Binomial(10).posterior([7], BetaPrior(2, 2))
    >>> posterior.mode, posterior.mean
    (array([0.66666667]), array([0.64285714]))
    """

    names = ("a", "b")

    def __init__(self, a, b, likelihood=None):
        self.a, self.b = np.broadcast_arrays(positive("a", a), positive("b", b))
        self.likelihood = likelihood
        super().__init__(Beta(), BetaParams(self.a[None], self.b[None]))

    @property
    def pseudo(self):
        """What the log density adds to successes and failures."""
        return self.a - 1.0, self.b - 1.0

    @property
    def mode(self):
        """The most probable value; where the density is flat, the mean."""
        self.check_mode()
        a, b = self.pseudo
        return np.where(a + b > 0, a / np.where(a + b > 0, a + b, 1.0), self.mean)

    def check_mode(self):
        """Raise ValueError where the density is unbounded."""
        least = min(self.a.min(), self.b.min())
        if least < 1:
            raise ValueError(f"a BetaPrior with {least:g} has an unbounded density and no mode; use a, b of 1 or more.")


class GammaPrior(_Cells):
    """Gamma prior of rates, λ ~ Gamma(shape, rate).

    Parameters
    ----------
    shape, rate : float or sequence of float
        Shape and rate (one over scale), of all columns or of each.
    likelihood : Family, optional
        The family it is a prior of, which a posterior knows by itself.

    Examples
    --------
    >>> from tacit.families import GammaPrior, Poisson
    >>> Poisson().posterior([3, 1, 2], GammaPrior(2, 1)).mean
    array([2.])
    """

    names = ("shape", "rate")

    def __init__(self, shape, rate, likelihood=None):
        self.shape, self.rate = np.broadcast_arrays(positive("shape", shape), positive("rate", rate))
        self.likelihood = likelihood
        super().__init__(Gamma(), GammaParams(self.shape[None], self.rate[None]))

    @property
    def pseudo(self):
        """What the log density adds to events and exposure."""
        return self.shape - 1.0, self.rate

    @property
    def mode(self):
        """The most probable value."""
        self.check_mode()
        return (self.shape - 1.0) / self.rate

    def check_mode(self):
        """Raise ValueError where the density is unbounded."""
        if self.shape.min() < 1:
            raise ValueError(
                f"a GammaPrior of shape {self.shape.min():g} has an unbounded density and no mode; use a shape of 1 or more."
            )


class DirichletPrior(Prior):
    """Dirichlet prior of the probabilities of levels, p ~ Dirichlet(α), independent between columns.

    Parameters
    ----------
    alpha : float or sequence of float
        α of every level, or of each; the levels of several columns lie side by side.
    n_levels : sequence of int, optional
        Number of levels of each column; default one column with as many as alpha has.
    likelihood : Family, optional
        The family it is a prior of, which a posterior knows by itself.

    Attributes
    ----------
    mean, mode, variance : ndarray of shape (Σ levels,)
        Of the probability of each level.

    Examples
    --------
    >>> from tacit.families import Categorical, DirichletPrior
    >>> Categorical([3]).posterior([0, 2, 2], DirichletPrior(1.0)).mean.round(3)
    array([0.333, 0.167, 0.5  ])
    """

    def __init__(self, alpha, n_levels=None, likelihood=None):
        self.alpha = positive("alpha", alpha)
        self.n_levels = (self.alpha.size,) if n_levels is None else tuple(n_levels)
        self.likelihood = likelihood
        self.columns = level_columns(self.n_levels)
        if self.alpha.size != sum(self.n_levels):
            self.alpha = spread("alpha", self.alpha, sum(self.n_levels))

    @cached_property
    def _laws(self):
        return [Distribution(Dirichlet(), DirichletParams(self.alpha[None, at])) for at in self.columns]

    def __repr__(self):
        return f"DirichletPrior(alpha={np.array2string(self.alpha, precision=4)})"

    def over_levels(self, n_levels):
        """The prior over columns of so many levels."""
        return DirichletPrior(self.alpha, n_levels, self.likelihood) if self.n_levels != n_levels else self

    def observe(self, counts, likelihood=None):
        """The posterior."""
        return DirichletPrior(self.alpha + counts, self.n_levels, likelihood or self.likelihood)

    def _joined(self, name):
        return np.concatenate([getattr(law, name) for law in self._laws])

    @property
    def parameters(self):
        """The parameters by name."""
        return {"alpha": self.alpha}

    @property
    def mean(self):
        return self._joined("mean")

    @property
    def variance(self):
        return self._joined("variance")

    @property
    def pseudo(self):
        """What the log density adds to the counts of levels."""
        return self.alpha - 1.0

    @property
    def mode(self):
        """The most probable value; where the density is flat, the mean."""
        self.check_mode()
        parts = [(law.params.alpha[0] - 1.0, law.mean) for law in self._laws]
        return np.concatenate([a / a.sum() if a.sum() > 0 else mean for a, mean in parts])

    def check_mode(self):
        """Raise ValueError where the density is unbounded."""
        if self.alpha.min() < 1:
            raise ValueError(
                f"a DirichletPrior with alpha {self.alpha.min():g} has an unbounded density and no mode; use 1 or more."
            )

    @property
    def interior(self):
        """A value well inside the support, as rows."""
        return (self.mean[None],)

    def log_prob(self, x):
        """Log density of each row of probabilities, (n,)."""
        x = as_rows(np.atleast_2d(x), self.alpha.size)
        return sum(law.log_prob(x[:, at]) for law, at in zip(self._laws, self.columns))

    def sample(self, n=1, random_state=None):
        """Rows of probabilities, (n, Σ levels)."""
        rng = np.random.default_rng(random_state)
        return np.concatenate([law.sample(n, rng) for law in self._laws], axis=1)

    def entropy(self):
        """−E[log p], in nats."""
        return sum(law.entropy() for law in self._laws)

    def kl(self, other):
        """Divergence from another prior over the same levels, in nats."""
        if self.n_levels != other.n_levels:
            raise ValueError(f"levels {self.n_levels} and {other.n_levels} differ.")
        return sum(mine.kl(theirs) for mine, theirs in zip(self._laws, other._laws))
