"""`Chains`: draws of several Markov chains, with what their sampler told.

Of a quantity θ with m chains of n draws each, R̂² = (between-chain + within-chain variance) / within-chain variance,
and the effective
sample size is m n / (1 + 2 Σ ρ_t). Both, and the Monte Carlo standard error, are computed by ArviZ from ranks.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..notes import Note

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Chains", "require_arviz"]

R_HAT, DRAWS_PER_CHAIN, FEWEST, MOST = 1.01, 100, 4, 1000
"""Bounds of R-hat and of effective draws per chain (Vehtari et al., 2021); draws of a chain that ArviZ needs; and the
quantities that are checked at most where none are named.
"""
HOW = ("compiled", "not_compiled", "gradient_told", "gradient_torch", "gradient_differences")
"""Codes of notes that tell how draws were made, and nothing against them."""


def require_arviz() -> Any:
    """The module arviz, or an error that names the extra."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # that of its next major version
            return importlib.import_module("arviz")
    except ImportError:
        raise ImportError(
            "Diagnostics of Markov chains need arviz; install it with: pip install 'tacit[sampling]'"
        ) from None


@dataclass(frozen=True, eq=False)
class Chains:
    """Draws of several Markov chains.

    Parameters
    ----------
    draws : dict of str to ndarray of shape (n_chains, n_draws, ...)
        Draws after warm-up, by the name of the variable; a vector that has no name is ``"x"``.
    statistics : dict of str to ndarray of shape (n_chains, n_draws)
        What the sampler told of every draw, by ArviZ's names: ``lp`` (log density), ``acceptance_rate``,
        ``diverging``, ``step_size``,
        ``tree_depth``, ``n_steps``, ``energy``.
    warmup, warmup_statistics : dict
        The same during warm-up; empty where it was not kept.
    acceptance : ndarray of shape (n_chains,)
        Mean acceptance rate after warm-up; of a Gibbs sampler, 1.
    notes : tuple of Note
        What the sampler has to tell, also of how draws were made; `warnings` leaves that out, and adds what the draws tell.
    interrupted : bool
        Whether sampling ended before all draws were made.
    sampler : str
        Which sampler made them.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.sampling import Chains
    >>> chains = Chains({"x": np.random.default_rng(0).normal(size=(4, 500))})
    >>> chains.summary().loc["x", ["r_hat"]].round(2)
    r_hat    1.0
    Name: x, dtype: float64
    """

    draws: dict[str, np.ndarray]
    statistics: dict[str, np.ndarray] = field(default_factory=dict)
    warmup: dict[str, np.ndarray] = field(default_factory=dict)
    warmup_statistics: dict[str, np.ndarray] = field(default_factory=dict)
    acceptance: np.ndarray = field(default_factory=lambda: np.ones(0))
    notes: tuple[Note, ...] = ()
    interrupted: bool = False
    sampler: str = ""

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}{list(value.shape[2:])}" for name, value in self.draws.items())
        return f"Chains({self.n_chains} chains of {self.n_draws} draws of {shapes})"

    def __getitem__(self, name: str) -> np.ndarray:
        return self.draws[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.draws)

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return len(next(iter(self.draws.values())))

    @property
    def n_draws(self) -> int:
        """Draws of every chain after warm-up."""
        return next(iter(self.draws.values())).shape[1]

    def flat(self, name: str | None = None) -> np.ndarray:
        """Draws of a variable, all chains after each other: (n_chains · n_draws, ...).

        Parameters
        ----------
        name : str, optional
            Which variable; by default the first.
        """
        value = self.draws[next(iter(self.draws)) if name is None else name]
        return value.reshape(-1, *value.shape[2:])

    def to_arviz(self) -> Any:
        """The chains as ``arviz.InferenceData``, which draws traces and ranks (``arviz.plot_trace``, ``arviz.plot_rank``)."""
        groups: dict[str, Any] = {"posterior": self.draws}
        if self.statistics:
            groups["sample_stats"] = self.statistics
        if self.warmup and next(iter(self.warmup.values())).shape[1]:
            groups["warmup_posterior"] = self.warmup
            if self.warmup_statistics:
                groups["warmup_sample_stats"] = self.warmup_statistics
        return require_arviz().from_dict(**groups, save_warmup=True)

    def summary(self, names: str | Iterable[str] | None = None, level: float = 0.95) -> pd.DataFrame:
        """A table with a row per scalar quantity.

        Parameters
        ----------
        names : str or iterable of str, optional
            Which variables; by default all.
        level : float
            Probability of the interval, whose ends are quantiles.

        Returns
        -------
        pandas.DataFrame
            ``mean``, ``sd``, the ends of the interval, ``mcse`` (of the mean), ``ess_bulk``, ``ess_tail`` and
            ``r_hat``. What `warnings` tells
            of these variables is in ``.attrs["notes"]``.
        """
        import pandas as pd

        if not 0 < level < 1:
            raise ValueError(f"level={level!r} must be between 0 and 1.")
        labels, values = self._quantities(self._named(names))
        tail = (1 - level) / 2
        low, high = np.quantile(values, [tail, 1 - tail], axis=(0, 1))
        columns = {
            "mean": values.mean(axis=(0, 1)), "sd": _deviation(values),
            f"{100 * tail:.4g}%": low, f"{100 * (1 - tail):.4g}%": high, **diagnostics(values),
        }  # fmt: skip
        table = pd.DataFrame(columns, index=labels)
        table.attrs["notes"] = (*self._against(), *self._told(labels, columns))
        return table

    def warnings(self, names: str | Iterable[str] | None = None) -> tuple[Note, ...]:
        """Everything that speaks against trusting the draws: what the sampler told, and what R-hat and effective
        sample sizes tell.

        Parameters
        ----------
        names : str or iterable of str, optional
            Which variables; by default all, of each at most so many quantities that the check takes a second or so.
        """
        labels, values = self._quantities(self._named(names))
        if names is None and len(labels) > MOST:
            kept = np.unique(np.linspace(0, len(labels) - 1, MOST).astype(int))
            labels, values = [labels[i] for i in kept], values[:, :, kept]
        return (*self._against(), *self._told(labels, diagnostics(values)))

    def _against(self) -> tuple[Note, ...]:
        """The sampler's notes but those on how draws were made."""
        return tuple(note for note in self.notes if note.code not in HOW)

    def _told(self, labels: list[str], found: dict[str, np.ndarray]) -> list[Note]:
        """What the number of chains and draws, and diagnostics, say against the draws."""
        notes = []
        if self.n_chains == 1 and self.sampler != "variational":  # whose draws are independent
            notes.append(Note(
                "one_chain", "There is one chain, and R-hat compares several: whether it has mixed is unknown; draw "
                "n_chains=4 from starts that are apart.",
            ))  # fmt: skip
        if self.n_draws < FEWEST:
            notes.append(Note(
                "few_draws", "n_draws={n} tells nothing of the precision of the draws; draw at least {least}.",
                n=self.n_draws, least=FEWEST,
            ))  # fmt: skip
        return notes + _unmixed(labels, found, self.n_chains)

    def _named(self, names: str | Iterable[str] | None) -> list[str]:
        chosen = list(self.draws) if names is None else [names] if isinstance(names, str) else list(names)
        if unknown := [name for name in chosen if name not in self.draws]:
            raise ValueError(f"There is no variable {unknown[0]!r}; choose from {', '.join(map(repr, self.draws))}.")
        return chosen

    def _quantities(self, names: list[str]) -> tuple[list[str], np.ndarray]:
        """Labels of scalar quantities, and their draws (chain, draw, quantity)."""
        if not self.n_draws:
            raise ValueError("There are no draws after warm-up to summarise; draw more.")
        labels: list[str] = []
        for name in names:
            shape = self.draws[name].shape[2:]
            labels += [f"{name}[{', '.join(map(str, index))}]" if index else name for index in np.ndindex(shape)]
        parts = [self.draws[name].reshape(self.n_chains, self.n_draws, -1) for name in names]
        return labels, np.concatenate(parts, axis=2).astype(np.float64)


def _deviation(values: np.ndarray) -> np.ndarray:
    """Standard deviations of draws (chain, draw, quantity); NaN of a single draw."""
    if values.shape[0] * values.shape[1] == 1:
        return np.full(values.shape[2], np.nan)
    return values.std(axis=(0, 1), ddof=1)


def diagnostics(values: np.ndarray) -> dict[str, np.ndarray]:
    """MCSE, effective sample sizes and R-hat of draws (chain, draw, quantity), by ArviZ; NaN where there are too few draws."""
    arviz, unknown = require_arviz(), np.full(values.shape[2], np.nan)
    if values.shape[1] < FEWEST:
        return dict.fromkeys(("mcse", "ess_bulk", "ess_tail", "r_hat"), unknown)
    data = arviz.convert_to_dataset({"q": values})
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # constant draws are told by a note
        found = {
            "mcse": arviz.mcse(data, method="mean"),
            "ess_bulk": arviz.ess(data, method="bulk"), "ess_tail": arviz.ess(data, method="tail"),
        }  # fmt: skip
        if len(values) > 1:
            found["r_hat"] = arviz.rhat(data)
    told = {name: np.atleast_1d(value["q"].values) for name, value in found.items()}
    return {**told, "r_hat": told.get("r_hat", unknown)}


def _unmixed(labels: list[str], found: dict[str, np.ndarray], n_chains: int) -> list[Note]:
    """What diagnostics say against the draws."""
    notes, r_hat = [], found["r_hat"]
    ess = np.fmin(found["ess_bulk"], found["ess_tail"])
    if np.any(high := r_hat > R_HAT):
        worst = int(np.nanargmax(r_hat))
        notes.append(Note(
            "r_hat", "R-hat of {n} of {of} quantities exceeds {bound} (at most {value:.4g}, {name}): chains have not "
            "mixed; draw more, "
            "reparametrise, or look for separate modes.",
            n=int(high.sum()), of=len(labels), bound=R_HAT, value=float(r_hat[worst]), name=labels[worst],
        ))  # fmt: skip
    bound = DRAWS_PER_CHAIN * n_chains
    if np.any(low := ess < bound):
        worst = int(np.nanargmin(ess))
        notes.append(Note(
            "ess", "The effective sample size of {n} of {of} quantities is below {bound} (at least {value:.0f}, "
            "{name}): means and quantiles are "
            "imprecise; draw more.",
            n=int(low.sum()), of=len(labels), bound=bound, value=float(ess[worst]), name=labels[worst],
        ))  # fmt: skip
    return notes
