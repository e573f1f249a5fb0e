"""`PowerDisplay`: the distributions of a test's statistic under the null hypothesis and an alternative, with both errors."""

from typing import Any, Self

import numpy as np

from ..assess.design import inside
from ..assess.laws import Frozen, Rounded
from ..words import number, share
from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["PowerDisplay"]


class PowerDisplay(Display, figsize=(6.4, 3.8)):
    """The statistic where the null hypothesis holds, and where there is an effect.

    What is shaded of the null distribution is the error of the first kind, α: it lies where the test rejects. What is shaded of
    the other is the error of the second kind, β: it lies where the test does not.

    Parameters
    ----------
    null, alternative : tacit.assess.laws.Law
        Distributions of the statistic.
    region : tacit.assess.Region
        Where the test rejects.
    statistic : float, optional
        The one found, which is marked.
    symbol : str
        What the statistic is called.
    effect : str
        The alternative in words.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    alpha_, beta_ : float
        Both errors.
    null_, alternative_ : artist
        The two distributions: bars of whole numbers, curves, or steps where a distribution is finite or simulated.
    shaded_ : list of artists
        Both errors, except of bars, which are dark where they are errors.

    Examples
    --------
    >>> from tacit.assess import binomial_test
    >>> display = binomial_test(15, 40, alternative="less").plot(0.3)  # doctest: +SKIP
    """

    def __init__(
        self, null: Any, alternative: Any, region: Any, statistic: float | None = None, symbol: str = "statistic",
        effect: str = "",
    ) -> None:  # fmt: skip
        self.null, self.alternative, self.region = null, alternative, region
        self.statistic, self.symbol, self.effect = statistic, symbol, effect

    @classmethod
    def from_result(cls, result: Any, alternative: float | None = None, *, ax: Axes | None = None) -> Self:
        """Draw a test; the alternative is by default the effect found."""
        design, effect = result._design(), result._effect(alternative)
        laws = design.null(result.sizes), design.alternative(effect, result.sizes)
        name = f"{result.effect_name} {number(effect)}"
        return cls(*laws, result.critical_region, result.statistic, result.symbol, name).plot(ax)

    def _draw(self, ax: Axes) -> None:
        blue, orange = colours(2)
        self.alpha_, self.beta_ = inside(self.null, self.region), 1 - inside(self.alternative, self.region)
        laws = ((self.null, blue, "null hypothesis"), (self.alternative, orange, self.effect or "alternative"))
        counted = all(isinstance(law, Frozen) and law.discrete for law, _, _ in laws)
        smooth = all(isinstance(law, (Frozen, Rounded)) and not law.discrete for law, _, _ in laws)
        self.shaded_: list = []
        drawn = [(self._bars if counted else self._curve if smooth else self._steps)(ax, *each) for each in laws]
        self.null_, self.alternative_ = drawn
        if self.statistic is not None and np.isfinite(self.statistic):
            ax.axvline(
                self.statistic, color=MUTED, linestyle="--", linewidth=1, label=f"found: {number(self.statistic)}"
            )
        ax.set(xlabel=self.symbol, ylabel="probability" if counted else "density")
        ax.set_ylim(0, 1.3 * ax.get_ylim()[1])  # room for the names
        ax.legend(fontsize="small", frameon=False, loc="upper left", ncols=2)
        self._title(f"error of the first kind {share(self.alpha_)}, of the second {share(self.beta_)}")

    def _rejected(self, values: np.ndarray) -> np.ndarray:
        return (values <= self.region.lower) | (values >= self.region.upper)

    def _wrong(self, values: np.ndarray, law: Any) -> np.ndarray:
        """Where a law's values are errors."""
        return self._rejected(values) if law is self.null else ~self._rejected(values)

    def _ends(self) -> tuple[float, float]:
        """Between which values nearly all of both lies."""
        spans = [law.span() for law in (self.null, self.alternative)]
        low, high = min(span[0] for span in spans), max(span[1] for span in spans)
        return (low, high) if high > low else (low - 1, high + 1)

    def _bars(self, ax: Axes, law: Any, colour: Any, label: str) -> Any:
        low, high = self._ends()
        values = np.arange(np.floor(low), np.ceil(high) + 1)
        bars = ax.bar(values, law.density(values), width=0.9, color=colour, alpha=0.25, label=label)
        for bar, dark in zip(bars, self._wrong(values, law)):
            bar.set_alpha(0.85 if dark else 0.25)
        return bars

    def _curve(self, ax: Axes, law: Any, colour: Any, label: str) -> Any:
        edges = [value for value in (self.region.lower, self.region.upper) if np.isfinite(value)]
        grid = np.union1d(np.linspace(*self._ends(), 600), edges)
        heights = law.density(grid)
        (line,) = ax.plot(grid, heights, color=colour, label=label)
        rejected = self._wrong(grid, law)
        self.shaded_.append(ax.fill_between(grid, 0, heights, where=rejected, color=colour, alpha=0.35, linewidth=0))
        return line

    def _steps(self, ax: Axes, law: Any, colour: Any, label: str) -> Any:
        """Shares of values between edges, among them those of the critical region."""
        low, high = self._ends()
        margin = 0.02 * (high - low)
        edges = np.linspace(low - margin, high + margin, 42)
        inner = [value for value in (self.region.lower, self.region.upper) if low < value < high]
        edges = np.unique([*edges[[not np.isclose(edge, inner).any() for edge in edges]], *inner])
        below = np.array([law.at_most(edge) if edge <= self.region.lower else 1 - law.at_least(edge) for edge in edges])
        heights = np.maximum(np.diff(below), 0) / np.diff(edges)
        wrong = self._wrong((edges[1:] + edges[:-1]) / 2, law)
        line = ax.stairs(heights, edges, color=colour, label=label)
        shaded = np.where(wrong, heights, 0.0)
        self.shaded_.append(ax.stairs(shaded, edges, color=colour, alpha=0.35, fill=True))
        return line
