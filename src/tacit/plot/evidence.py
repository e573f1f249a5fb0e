"""`EvidenceDisplay`: how the log marginal likelihood of a Gaussian process goes with one of its hyperparameters."""

from typing import Any, Self

import numpy as np

from .display import Display
from .style import MUTED, Axes, colours

__all__ = ["EvidenceDisplay"]

NATS = 1.920729
"""Below the maximum by which a likelihood ratio test at 5 % refuses a value: half the quantile .95 of χ² of one degree."""


class EvidenceDisplay(Display, figsize=(5.0, 3.6)):
    """Log marginal likelihood against a hyperparameter, the others being as they were learned.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values of the hyperparameter.
    evidence : ndarray of shape (n,)
        Log marginal likelihood at each.
    learned, highest : float
        The value that was learned, and the log marginal likelihood there.
    name : str
        What the hyperparameter is called.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    line_ : artist
    low, high : float
        Ends of the values drawn that are within 1.92 of the highest, which is a 95 % interval where rows are many.

    Examples
    --------
    >>> from tacit.plot import EvidenceDisplay
    >>> display = EvidenceDisplay.from_estimator(fitted, 1)  # doctest: +SKIP
    """

    def __init__(self, values: np.ndarray, evidence: np.ndarray, learned: float, highest: float, name: str) -> None:
        self.values, self.evidence, self.learned, self.highest, self.name = values, evidence, learned, highest, name
        inside = values[evidence >= highest - NATS]
        self.low, self.high = (float(inside.min()), float(inside.max())) if len(inside) else (learned, learned)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        hyperparameter: int = 0,
        *,
        span: float = 10.0,
        resolution: int = 41,
        ax: Axes | None = None,
    ) -> Self:
        """Compute the log marginal likelihood along a hyperparameter, and draw it.

        Parameters
        ----------
        estimator : object
            A fitted Gaussian process, with ``kernel_`` and `log_marginal_likelihood`.
        hyperparameter : int, default=0
            Its place in ``kernel_.theta``.
        span : float, default=10
            The picture reaches from the learned value divided by this to the value times it, within its bounds.
        resolution : int, default=41
            Values that are tried.
        ax : matplotlib axes, optional

        Returns
        -------
        EvidenceDisplay
        """
        kernel = estimator.kernel_
        theta, bounds = np.array(kernel.theta, dtype=np.float64), np.asarray(kernel.bounds, dtype=np.float64)
        if not -len(theta) <= hyperparameter < len(theta):
            raise ValueError(
                f"hyperparameter={hyperparameter} is none of the {len(theta)} of the kernel; use 0 to {len(theta) - 1}."
            )
        if not span > 1:
            raise ValueError(f"span={span} must be greater than 1.")
        own, reach = theta[hyperparameter], np.log(span)
        places = np.linspace(
            max(own - reach, bounds[hyperparameter, 0]), min(own + reach, bounds[hyperparameter, 1]), resolution
        )
        evidence = []
        for place in places:
            theta[hyperparameter] = place
            evidence.append(float(estimator.log_marginal_likelihood(theta)))
        theta[hyperparameter] = own
        names = [
            f"{part.name}[{k}]" if part.n_elements > 1 else part.name
            for part in kernel.hyperparameters if not part.fixed for k in range(part.n_elements)
        ]  # fmt: skip
        highest = float(estimator.log_marginal_likelihood(theta))
        return cls(np.exp(places), np.array(evidence), float(np.exp(own)), highest, names[hyperparameter]).plot(ax)

    def _draw(self, ax: Axes) -> None:
        colour = colours(1)[0]
        (self.line_,) = ax.plot(self.values, self.evidence, color=colour, linewidth=1.6)
        ax.axvline(self.learned, color=MUTED, linewidth=1, linestyle="--")
        ax.axvspan(self.low, self.high, color=colour, alpha=0.12, linewidth=0)
        ax.set(xscale="log", xlabel=self.name, ylabel="log marginal likelihood")
        self._title(f"learned: {self.learned:.3g}; within 1.92 of the highest: {self.low:.3g} to {self.high:.3g}", ax)
