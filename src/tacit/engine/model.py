"""`Model`: what the engine learns. Every hook there is, with its default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Arrays
from ..notes import Note

if TYPE_CHECKING:
    from ..source.block import Block
    from ..source.source import Source
    from .coordinates import Coordinates
    from .trace import Trace

__all__ = ["Model", "SingularError"]


class SingularError(ValueError):
    """Parameters became singular, so that a start cannot go on."""


class Model:
    """Where the hidden state of rows lives, and how parameters are learned from it.

    A model defines ``init``, ``e_step``, ``m_step`` and ``posterior``. It holds settings only: parameters, statistics and memory
    are `Arrays` that go in and out, and statistics carry ``loglik`` and ``weight``.

    Attributes
    ----------
    one_start : bool
        Whether every start is the same, so that one is enough.
    shares_starts : bool
        Whether assignments of rows to classes that one model found can start another.
    labels_suffice : bool
        Whether one M-step is the maximum where every class is known and no cell is missing.
    extrapolates : bool
        Whether `free` and `bound` are defined and leaps by them tend to succeed, so that steps may be accelerated.
    remembers : bool
        Whether `memory` is defined, so that a record per unit is kept between passes.
    monotone : bool
        Whether the objective never falls, so that a fall tells of a fault.
    """

    one_start: bool = False
    shares_starts: bool = False
    labels_suffice: bool = False
    extrapolates: bool = False
    remembers: bool = False
    monotone: bool = True

    # Learning

    def init(self, sample: Block, rng: np.random.Generator) -> Any:
        """Parameters to start from, from a sample of rows; other ones at every call unless `one_start`."""
        raise NotImplementedError(f"{type(self).__name__} does not define init.")

    def e_step(self, params: Any, block: Block) -> Any:
        """Statistics of a block at the posterior of what is hidden; summed over blocks by the source."""
        raise NotImplementedError(f"{type(self).__name__} does not define e_step.")

    def m_step(self, stats: Any, params: Any) -> Any:
        """Parameters that maximise, or at least improve, the objective that the statistics tell."""
        raise NotImplementedError(f"{type(self).__name__} does not define m_step.")

    def posterior(self, params: Any, block: Block) -> tuple[Any, Any]:
        """What is hidden of each row, as probabilities (rows, classes) where it is a class, and the row's log density."""
        raise NotImplementedError(f"{type(self).__name__} does not define posterior.")

    def check_params(self, params: Any, n_columns: int) -> None:
        """Raise ValueError where parameters that a file holds cannot be those of so many columns; by default all can."""

    def log_prior(self, params: Any) -> float:
        """Log density of the parameters under their prior; by default there is none."""
        return 0.0

    def memory(self, block: Block) -> Arrays:
        """The records that the units of a block begin with, arrays of one row per unit; `e_step` changes them in place."""
        raise NotImplementedError(f"{type(self).__name__} remembers nothing.")

    def place(self, params: Any, device: Any) -> Any:
        """The parameters, with what is large on a device while a fit runs there; by default all stay in NumPy."""
        return params

    def mend(self, source: Source, stats: Any, params: Any, image: Any) -> Any:
        """The image of an M-step, mended where no sum tells how to, such as a class that no row joined."""
        return image

    def settled(self, trace: Trace, params: Any, image: Any, tol: float) -> Note | None:
        """Why the fit has settled, or None; by default it has when the objective gains less than `tol` per unit of weight."""
        return Note("tol", "improvement fell below tol") if trace.settled(tol) else None

    def collapsed(self, params: Any) -> tuple[int, ...]:
        """Classes that lie where the objective has no maximum and tells of a floor rather than of the rows."""
        return ()

    # The unconstrained view of the parameters

    def free(self, params: Any) -> np.ndarray:
        """Parameters as a vector without constraints, in which accelerators extrapolate."""
        raise NotImplementedError(f"{type(self).__name__} has no unconstrained view.")

    def bound(self, vector: np.ndarray, params: Any) -> Any:
        """The parameters that `free` made into a vector, valid for any vector; the rest is taken from `params`."""
        raise NotImplementedError(f"{type(self).__name__} has no unconstrained view.")

    def slope(self, params: Any, block: Block, order: int = 1) -> Any:
        """What a block adds to the objective, its gradient and, of order 2, its curvature, as a `Slope` of the vector `free`."""
        raise NotImplementedError(f"{type(self).__name__} has no gradient.")

    def prior_slope(self, params: Any) -> tuple[Any, Any]:
        """Gradient and curvature of the log prior; by default there is none."""
        return 0.0, 0.0

    # The view in which parameters have a density

    def coordinates(self, params: Any) -> Coordinates:
        """A view without constraints that is one to one, with the volume that it stretches."""
        raise NotImplementedError(f"{type(self).__name__} has no coordinates that are one to one.")

    def score(self, stats: Any, params: Any) -> Any:
        """Gradient of the log-likelihood by the parameters, from E-step statistics at them, as taken by `Coordinates.pull`.

        By Fisher's identity it is that of the expected log density of rows and what is hidden, which the statistics tell.
        """
        raise NotImplementedError(f"{type(self).__name__} has no gradient from statistics.")

    def prior_score(self, params: Any) -> Any:
        """Gradient of the log prior, in the same form; None is 0."""
        raise NotImplementedError(f"{type(self).__name__} has no gradient of its prior.")

    # What was learned

    def permute(self, params: Any, order: np.ndarray) -> Any:
        """The same parameters with the classes in another order."""
        raise NotImplementedError(f"{type(self).__name__} has no classes to put in order.")

    def n_parameters(self, params: Any) -> int:
        """Free parameters."""
        raise NotImplementedError(f"{type(self).__name__} does not count its parameters.")

    def sample(self, params: Any, n_rows: int, rng: np.random.Generator) -> Any:
        """Rows drawn from the model, and what was hidden of them."""
        raise NotImplementedError(f"{type(self).__name__} draws no rows.")
