"""Conjugate priors of the families with independent columns: p(θ | x) is of the same kind as p(θ).

    Beta(a, b)           + successes, failures  →  Beta(a + successes, b + failures)
    Gamma(shape, rate)   + events, exposure     →  Gamma(shape + events, rate + exposure)
    Dirichlet(α)         + counts n             →  Dirichlet(α + n)

A prior is a distribution of parameters, with all a distribution has, and `mode`, `predictive` and the family it belongs to.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from ..declared import Listed, Numbers, Part, Spec, Whole
from ..kernels.layout import level_columns
from .distribution import Distribution, shown
from .family import Family
from .positive import Gamma, GammaParams
from .product import Parts, Product
from .proportions import Beta, BetaParams, Dirichlet, DirichletParams

__all__ = ["BetaPrior", "DirichletPrior", "GammaPrior", "Prior"]


def positive(name: str, value: Any, least: float = 0.0) -> np.ndarray:
    """A number or vector as a vector, none of it at or below `least`."""
    value = np.atleast_1d(np.asarray(value, dtype=np.float64))
    if not (value > least).all():
        raise ValueError(f"{name}={value[~(value > least)][0]:g} must be greater than {least:g}.")
    return value


def spread(name: str, value: np.ndarray, n_columns: int) -> Any:
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

    likelihood: Any = None
    names: tuple[str, ...]
    _saved: ClassVar[dict[str, Spec]] = {"likelihood": Part(Family, optional=True)}

    def __repr__(self) -> str:
        return shown(type(self).__name__, self.parameters)

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self.names}

    def check_mode(self) -> None:
        """Raise ValueError where the density is unbounded."""

    def over(self, n_columns: int) -> Any:
        """The prior of each of `n_columns` columns."""
        numbers = {name: spread(name, getattr(self, name), n_columns) for name in self.names}
        return self._with(numbers, self.likelihood)

    def _with(self, numbers: dict[str, np.ndarray], likelihood: Any) -> Any:
        """The same prior with other numbers."""
        kind: Any = type(self)
        return kind(**numbers, likelihood=likelihood)

    def predictive(self) -> Any:
        """Distribution of the next row, with the parameters integrated out."""
        if self.likelihood is None:
            raise ValueError(
                f"this {type(self).__name__} belongs to no family; use family.posterior(x, prior).predictive(), or "
                "family.predictive(prior) before any row is seen."
            )
        return self.likelihood.predictive(self)


class _Cells(Prior, Distribution):
    """A prior that is itself a `Distribution`, of the probabilities or rates."""

    @property
    def interior(self) -> tuple:
        """A value well inside the support, as rows."""
        return (self.mean[None],)

    def observe(self, *evidence: np.ndarray, likelihood: Any = None) -> Any:
        """The posterior."""
        numbers = {name: getattr(self, name) + more for name, more in zip(self.names, evidence)}
        return self._with(numbers, likelihood or self.likelihood)


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
    _saved = Prior._saved | {"a": Numbers("a", above=0), "b": Numbers("a", above=0)}

    def __init__(self, a: Any, b: Any, likelihood: Any = None) -> None:
        self.a, self.b = np.broadcast_arrays(positive("a", a), positive("b", b))
        self.likelihood = likelihood
        super().__init__(Beta(), BetaParams(self.a[None], self.b[None]))

    @property
    def pseudo(self) -> Any:
        """What the log density adds to successes and failures."""
        return self.a - 1.0, self.b - 1.0

    @property
    def mode(self) -> np.ndarray:
        """The most probable value; where the density is flat, the mean."""
        self.check_mode()
        a, b = self.pseudo
        return np.where(a + b > 0, a / np.where(a + b > 0, a + b, 1.0), self.mean)

    def check_mode(self) -> None:
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
    _saved = Prior._saved | {"shape": Numbers("a", above=0), "rate": Numbers("a", above=0)}

    def __init__(self, shape: Any, rate: Any, likelihood: Any = None) -> None:
        self.shape, self.rate = np.broadcast_arrays(positive("shape", shape), positive("rate", rate))
        self.likelihood = likelihood
        super().__init__(Gamma(), GammaParams(self.shape[None], self.rate[None]))

    @property
    def pseudo(self) -> Any:
        """What the log density adds to events and exposure."""
        return self.shape - 1.0, self.rate

    @property
    def mode(self) -> np.ndarray:
        """The most probable value."""
        self.check_mode()
        return (self.shape - 1.0) / self.rate

    def check_mode(self) -> None:
        if self.shape.min() < 1:
            raise ValueError(
                f"a GammaPrior of shape {self.shape.min():g} has an unbounded density and no mode; use a shape of 1 or more."
            )


class DirichletPrior(_Cells):
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

    names = ("alpha",)
    _saved = Prior._saved | {"alpha": Numbers("a", above=0), "n_levels": Listed(Whole(1), kind=tuple, total="a")}

    def __init__(self, alpha: Any, n_levels: Any = None, likelihood: Any = None) -> None:
        self.alpha = positive("alpha", alpha)
        self.n_levels = (self.alpha.size,) if n_levels is None else tuple(n_levels)
        self.likelihood = likelihood
        self.columns = level_columns(self.n_levels)
        if self.alpha.size != sum(self.n_levels):
            self.alpha = spread("alpha", self.alpha, sum(self.n_levels))
        compositions = Product([(Dirichlet(), range(at.start, at.stop)) for at in self.columns])
        super().__init__(compositions, Parts(tuple(DirichletParams(self.alpha[None, at]) for at in self.columns)))

    def over_levels(self, n_levels: Any) -> DirichletPrior:
        """The prior over columns of so many levels."""
        return DirichletPrior(self.alpha, n_levels, self.likelihood) if self.n_levels != n_levels else self

    def _with(self, numbers: dict[str, np.ndarray], likelihood: Any) -> DirichletPrior:
        return DirichletPrior(numbers["alpha"], self.n_levels, likelihood)

    def _total(self, values: np.ndarray) -> np.ndarray:
        """Sums over the levels of a column, for each level."""
        return np.repeat([values[at].sum() for at in self.columns], self.n_levels)

    @cached_property
    def mean(self) -> np.ndarray:
        return self.alpha / self._total(self.alpha)

    @cached_property
    def variance(self) -> np.ndarray:
        return self.mean * (1.0 - self.mean) / (self._total(self.alpha) + 1.0)

    @property
    def pseudo(self) -> Any:
        """What the log density adds to the counts of levels."""
        return self.alpha - 1.0

    @property
    def mode(self) -> np.ndarray:
        """The most probable value; where the density is flat, the mean."""
        self.check_mode()
        total = self._total(self.pseudo)
        return np.where(total > 0, self.pseudo / np.where(total > 0, total, 1.0), self.mean)

    def check_mode(self) -> None:
        if self.alpha.min() < 1:
            raise ValueError(
                f"a DirichletPrior with alpha {self.alpha.min():g} has an unbounded density and no mode; use 1 or more."
            )

    @cached_property
    def _log_unit(self) -> float:
        return sum(gammaln(self.alpha[at].sum()) for at in self.columns) - gammaln(self.alpha).sum()

    def log_density(self, log_x: np.ndarray) -> np.ndarray:
        """Log density of rows of probabilities from their logarithms, (n,), none of it checked."""
        return self._log_unit + log_x @ self.pseudo

    def kl(self, other: Any) -> float:
        """Divergence from another prior over the same levels, in nats."""
        if self.n_levels != other.n_levels:
            raise ValueError(f"levels {self.n_levels} and {other.n_levels} differ.")
        return super().kl(other)
