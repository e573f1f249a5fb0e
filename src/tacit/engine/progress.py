"""Callbacks that show a fit's progress: a bar for terminals, lines for logs."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

__all__ = ["InertiaLines", "Progress", "ProgressBar", "ProgressLines", "Until"]


@dataclass(frozen=True)
class Progress:
    """What a callback is told after every step.

    Parameters
    ----------
    run, n_runs : int
        Which start it is, of how many.
    step, max_iter : int
        Which step of it, of at most how many.
    objective, gain : float
        Log-likelihood plus log prior per unit of weight, and what the step added.
    done, converged : bool
        Whether this is the start's last step, and whether it settled.
    reason : Note or str
        Why it stopped, where it has.
    n_rows : int
        Rows that a step reads.
    weight : float
        Their total weight.
    seconds : float
        Time since the start began.
    steps_left : int, optional
        A guess at how many steps remain.
    """

    run: int
    n_runs: int
    step: int
    max_iter: int
    objective: float
    gain: float
    done: bool = False
    reason: str = ""
    converged: bool = False
    n_rows: int = 0
    weight: float = 1.0
    seconds: float = 0.0
    steps_left: int | None = None

    @property
    def rate(self) -> float:
        """Rows per second."""
        return self.step * self.n_rows / self.seconds if self.seconds > 0 else 0.0

    @property
    def figures(self) -> list[str]:
        """What a bar tells of the step."""
        return [f"{self.objective:.6g} per row"]

    @property
    def seconds_left(self) -> float | None:
        """A guess at the seconds that remain, or None."""
        if self.steps_left is None or not self.step:
            return None
        return min(self.steps_left, self.max_iter - self.step) * self.seconds / self.step


def peak_memory() -> int:
    """The most memory this process has held, in bytes; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _short(number: float) -> str:
    """A large number in a few characters."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.3g}"


class ProgressBar:
    """A bar on standard error; silent where that is not a terminal.

    Parameters
    ----------
    label : str
        What is shown before the bar.
    width : int
        Characters of the bar.
    stream : file, optional
        Where to draw, instead of standard error.

    Examples
    --------
    >>> from tacit.engine import Progress, ProgressBar
    >>> ProgressBar(label="fit")(Progress(1, 1, 3, 10, -12.5, 0.1))
    """

    def __init__(self, label: str = "", width: int = 24, stream: Any = None):
        self.label, self.width, self.stream = label, width, stream
        self.shown = 0
        self.last = 0.0

    def line(self, progress: Progress) -> str:
        """The bar as text."""
        share = 1.0 if progress.done else progress.step / max(progress.max_iter, 1)
        full = round(share * self.width)
        run = f" start {progress.run}/{progress.n_runs}" if progress.n_runs > 1 else ""
        bar = "█" * full + "░" * (self.width - full)
        parts = [f"{self.label}{run} {bar} step {progress.step}", *progress.figures]
        if progress.rate:
            parts += [f"{_short(progress.rate)} rows/s", f"{_short(peak_memory())}B"]
        if progress.seconds_left is not None and not progress.done:
            parts.append(f"about {progress.seconds_left:.0f} s left")
        return "  ".join(parts)

    def __call__(self, progress: Progress) -> None:
        stream = self.stream or sys.stderr
        if not stream.isatty() or (time.monotonic() - self.last < 0.05 and not progress.done):
            return
        self.last = time.monotonic()
        line = self.line(progress)
        stream.write("\r" + line.ljust(self.shown))
        self.shown = len(line)
        stream.flush()

    def close(self) -> None:
        """Clear the line."""
        if self.shown:
            stream = self.stream or sys.stderr
            stream.write("\r" + " " * self.shown + "\r")
            stream.flush()
            self.shown = 0


class ProgressLines:
    """Lines on standard output every `interval` steps, as scikit-learn's ``verbose`` prints them.

    Parameters
    ----------
    verbose : int
        1 for steps, 2 also for times and gains.
    interval : int
        Steps between lines.
    """

    def __init__(self, verbose: int = 1, interval: int = 10):
        self.verbose, self.interval = verbose, interval
        self.started: float | None = None

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if progress.step <= 1 and not progress.done:
            self.started = now
            print(f"Initialization {progress.run - 1}")
        detail = ""
        if self.verbose > 1 and self.started is not None:
            detail = f"\t time lapse {now - self.started:.5f}s\t ll change {progress.gain:.5f}"
        if progress.done:
            ended = "converged" if progress.converged else "stopped"
            print(f"Initialization {ended}: {progress.reason}{detail}")
        elif progress.step % self.interval == 0:
            print(f"  Iteration {progress.step}{detail}")


class InertiaLines:
    """Lines on standard output after every pass, as ``verbose`` of scikit-learn's k-means prints them."""

    def __call__(self, progress: Progress) -> None:
        if not progress.done:
            if progress.step <= 1:
                print("Initialization complete")
            print(f"Iteration {progress.step - 1}, inertia {-progress.objective * progress.weight:.8g}.")
        elif progress.converged:
            values = getattr(progress.reason, "values", {})
            moved = (
                "center shift {moved:.3g} within tolerance {tol:.3g}".format(**values) if "moved" in values else None
            )
            print(f"Converged at iteration {progress.step - 1}: {moved or 'strict convergence'}.")


class Until:
    """A callback that ends a fit at a time, with the best so far, and tells another one of every step before.

    Parameters
    ----------
    deadline : float or None
        By ``time.monotonic``; None for no end.
    step : callable, optional
        The other one.
    """

    def __init__(self, deadline: float | None, step: Any = None):
        self.deadline, self.step, self.ended = deadline, step, False

    def __call__(self, progress: Progress) -> None:
        if self.step is not None:
            self.step(progress)
        if self.deadline is not None and time.monotonic() >= self.deadline:
            self.ended = True
            raise KeyboardInterrupt

    def __deepcopy__(self, memo: dict) -> Until:
        return self  # what is cloned with an estimator ends with it

    def check(self, model: Any) -> Any:
        """A model that was fitted; an interrupt by anyone else goes on."""
        if model.fit_.interrupted and not self.ended:
            raise KeyboardInterrupt
        return model
