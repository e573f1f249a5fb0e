"""Settings of estimators, told once: as fields of their classes, from which constructors are made."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeVar, dataclass_transform

__all__ = ["KW_ONLY", "DeviceSetting", "LoopSettings", "settings"]

T = TypeVar("T")


@dataclass_transform(eq_default=False)
def settings(cls: type[T]) -> type[T]:
    """Make the constructor of an estimator from its annotated fields, which it does nothing but keep, as scikit-learn asks.

    A setting of a base class that a subclass does not have is named there as a ``ClassVar``.
    """
    return dataclass(eq=False, repr=False)(cls)


@settings
class DeviceSetting:
    """The setting of every estimator of the engine that says where it computes.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda", "cuda:0", …}, optional
        Where to compute; by default where the rows are. "auto" is a GPU where there is one and the rows are many.
    """

    _: KW_ONLY
    device: str | None = None


@settings
class LoopSettings:
    """Settings of every estimator that the engine's loop learns.

    Parameters
    ----------
    tol : float
        Stop when a step improves the objective by less than this, per row or relatively, as `convergence` says.
    max_iter : int
        Most steps from one start.
    random_state : int, RandomState instance or None
        Seeds everything random.
    verbose, verbose_interval : int
        How much to print, and after how many steps.
    convergence : str
        How improvements are measured; see `tacit.engine.trace`.
    accelerate : str or None
        How steps are extrapolated; see `tacit.engine.accelerate`.
    n_jobs : int or None
        Threads; None is all cores.
    callback : callable, optional
        Called with the progress after every step.
    """

    _: KW_ONLY
    tol: float = 1e-3
    max_iter: int = 100
    random_state: Any = None
    verbose: int = 0
    verbose_interval: int = 10
    convergence: str = "relative"
    accelerate: str | None = "auto"
    n_jobs: int | None = None
    callback: Callable | None = None
