"""`TestResult`: what every test of this package returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..words import count, joined, number, probability, share
from .design import Design, Region

__all__ = ["Region", "TestResult"]


@dataclass(frozen=True)
class TestResult:
    """The result of a test.

    Attributes
    ----------
    name : str
        Of the test: "Welch's t test".
    null : str
        The null hypothesis: "the means are equal".
    symbol, statistic : str, float
        The statistic and what it is called.
    p_value : float
    alpha : float
        The level at which the null hypothesis is rejected or not, and 1 − the level of the intervals.
    effect_name, effect, effect_interval : str, float, (float, float)
        The size of the effect, in the unit in which `power` takes alternatives. The interval is two-sided whatever the test.
    estimate_name, estimate, interval : str, float, (float, float)
        The same in the unit of the data, where that is another; else the effect again.
    sizes : tuple of int
        Rows of every sample.
    df : tuple of float
        Degrees of freedom of the statistic's null distribution, where it has any.
    dropped : int
        Values that were NaN and were left out.
    notes : tuple of str
        What to know of the method, such as that p-values are approximate.
    details : dict
        Further values of the test.
    design : Design or None
        The distributions of the statistic, which power, sample sizes and critical regions come from.

    Examples
    --------
    >>> from tacit.assess import t_test
    >>> found = t_test([5.1, 4.9, 5.6, 5.8, 5.2], mean=5.0)
    >>> round(found.p_value, 4), found.rejected
    (0.1254, False)
    """

    __test__ = False  # not one of pytest's

    name: str
    null: str
    symbol: str
    statistic: float
    p_value: float
    alpha: float
    effect_name: str
    effect: float
    effect_interval: tuple[float, float]
    sizes: tuple[int, ...]
    df: tuple[float, ...] = ()
    estimate_name: str = ""
    estimate: float = math.nan
    interval: tuple[float, float] = (math.nan, math.nan)
    dropped: int = 0
    notes: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
    design: Design | None = None

    def __post_init__(self) -> None:
        if not self.estimate_name:
            for name, value in zip(
                ("estimate_name", "estimate", "interval"), (self.effect_name, self.effect, self.effect_interval)
            ):
                object.__setattr__(self, name, value)

    @property
    def rejected(self) -> bool:
        """Whether the null hypothesis is rejected at `alpha`."""
        return bool(self.p_value <= self.alpha)

    @property
    def n(self) -> int:
        """Rows of all samples."""
        return sum(self.sizes)

    @property
    def critical_region(self) -> Region:
        """The values of the statistic at which the null hypothesis is rejected at `alpha`."""
        return self._design().region(self.alpha)

    @property
    def type_i_error(self) -> float:
        """The probability of rejecting the null hypothesis where it holds: `alpha`, or less where the statistic is discrete."""
        return self._design().size(self.alpha)

    def type_ii_error(self, alternative: float | None = None) -> float:
        """The probability of not rejecting where the effect is `alternative`; default the one found."""
        return 1.0 - self.power(alternative)

    def power(self, alternative: float | None = None, n: int | None = None) -> float:
        """The probability of rejecting where the effect is `alternative`.

        Parameters
        ----------
        alternative : float, optional
            In the unit of `effect`; default the effect found, which tells no more than the p-value does.
        n : int, optional
            Rows in all, in the proportions of the samples at hand; default as many as there are.
        """
        design = self._design()
        return design.power(self._effect(alternative), self.alpha, None if n is None else design.scaled(n))

    def sample_size(self, power: float = 0.8, alternative: float | None = None) -> int:
        """The fewest rows in all, in the proportions of the samples at hand, with which an effect is found with this power."""
        if not 0 < power < 1:
            raise ValueError(f"power={power!r} is no probability between 0 and 1; use 0.8, for instance.")
        effect = self._effect(alternative)
        if effect == self._design().null_effect:
            raise ValueError(
                f"alternative={effect:g} is the null hypothesis, which no number of rows rejects; name another."
            )
        return self._design().sample_size(effect, power, self.alpha)

    def detectable(self, power: float = 0.8, side: int = 1) -> float:
        """The smallest effect above the null one, or below it for side −1, that is found with this power in as many rows."""
        if not self.alpha < power < 1:
            raise ValueError(f"power={power!r} is not between alpha={self.alpha:g} and 1; use 0.8, for instance.")
        return self._design().detectable(power, self.alpha, side)

    def _design(self) -> Design:
        if self.design is None:
            raise ValueError(f"{self.name} has no known distribution under alternatives; power cannot be told.")
        return self.design

    def _effect(self, alternative: float | None) -> float:
        effect = self.effect if alternative is None else float(alternative)
        if not np.isfinite(effect):
            raise ValueError(f"alternative={effect!r} is not a number; name an effect to find.")
        return effect

    @property
    def sentence(self) -> str:
        """The result in words."""
        df = f"({', '.join(number(value, 4) for value in self.df)})" if self.df else ""
        found = f"{self.symbol}{df} = {number(self.statistic)}, p {_equal(self.p_value)}"
        level = number(self.alpha)
        verdict = f"rejects at the level {level} that {self.null}" if self.rejected else (
            f"does not reject at the level {level} that {self.null}, which does not show that it is so"
        )  # fmt: skip
        parts = [f"{self.name} {verdict} ({found}; {joined(map(_sized, self.sizes))} {_noun(self.sizes)})."]
        parts.append(f"{_capital(self.estimate_name)}: {self._told(self.estimate, self.interval)}.")
        if self.estimate_name != self.effect_name:
            parts.append(f"{_capital(self.effect_name)}: {self._told(self.effect, self.effect_interval)}.")
        if self.dropped:
            parts.append(
                f"{_capital(count(self.dropped, 'missing value'))} {'was' if self.dropped == 1 else 'were'} left out."
            )
        return " ".join([*parts, *self.notes])

    def _told(self, value: float, interval: tuple[float, float]) -> str:
        """A value with its interval."""
        text = number(value) if math.isfinite(value) else "unbounded" if math.isinf(value) else "not known"
        if any(math.isnan(end) for end in interval):
            return text
        low, high = interval
        if math.isinf(low) and math.isinf(high):
            return f"{text} ({share(1 - self.alpha)} interval without bounds)"
        ends = f"up to {number(high)}" if math.isinf(low) else f"{number(low)} or more" if math.isinf(high) else (
            f"{number(low)} to {number(high)}"
        )  # fmt: skip
        return f"{text} ({share(1 - self.alpha)} interval {ends})"

    def plot(self, alternative: float | None = None, ax: Any = None) -> Any:
        """Draw the statistic's distributions under the null hypothesis and an alternative, with both errors shaded.

        Returns
        -------
        tacit.plot.PowerDisplay
        """
        from ..plot import PowerDisplay

        return PowerDisplay.from_result(self, alternative, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """What can be written as JSON."""
        names = ("name", "null", "symbol", "statistic", "p_value", "alpha", "effect_name", "effect", "estimate_name", "estimate",
                 "dropped")  # fmt: skip
        told = {name: getattr(self, name) for name in names}
        listed = {name: list(getattr(self, name)) for name in ("effect_interval", "interval", "sizes", "df", "notes")}
        return told | listed | {"rejected": self.rejected, "sentence": self.sentence}

    def __str__(self) -> str:
        return self.sentence


def _equal(p: float) -> str:
    text = f"{p:.3f}" if 0.0095 <= p < 0.9995 else probability(p)
    return text if text.startswith(("below", ">")) else f"= {text}"


def _sized(size: int) -> str:
    return f"{size:,}"


def _noun(sizes: tuple[int, ...]) -> str:
    return "row" if sizes == (1,) else "rows"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
