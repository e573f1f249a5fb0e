"""`Progress`: a bar on standard error with the time that is left; nothing at all where that is no terminal."""

import sys
import time
from collections.abc import Sequence
from typing import Any, Self, TextIO

from .common import DataTable

__all__ = ["Progress", "is_prepared", "told_time"]

WIDTH = 24
PREPARING = "preparing (once per machine; about half a minute)"


def is_prepared() -> bool:
    """Whether compiled code is there from an earlier run, so that the first step will not take its time."""
    from ..kernels.jit import is_compiled

    return is_compiled("mixture")


def told_time(seconds: float) -> str:
    """A duration as people say it."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Progress:
    """A bar.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    stream : file, optional
        Default standard error.

    Examples
    --------
    >>> from tacit.cli.progress import Progress
    >>> with Progress(quiet=True) as progress:
    ...     progress.show(0.5, "trying 3 groups")
    """

    def __init__(self, quiet: bool = False, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.silent = quiet or not self.stream.isatty()
        self.started, self.last, self.shown = time.monotonic(), 0.0, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.clear()

    def line(self, share: float | None, text: str) -> str:
        """The bar as text; `share` of the work is done, None where that is not known."""
        if share is None:
            return f"{text} …"
        share = min(max(share, 0.0), 1.0)
        full = round(share * WIDTH)
        seconds = time.monotonic() - self.started
        left = f"  about {told_time(seconds * (1 - share) / share)} left" if 0.02 < share < 1 and seconds > 1 else ""
        return f"{'█' * full}{'░' * (WIDTH - full)} {share:4.0%}  {text}{left}"

    def show(self, share: float | None, text: str) -> None:
        """Draw the bar, at most ten times a second."""
        now = time.monotonic()
        if self.silent or now - self.last < 0.1:
            return
        self.last = now
        line = self.line(share, text)
        self.stream.write("\r" + line.ljust(self.shown))
        self.stream.flush()
        self.shown = len(line)

    def follow(self, table: DataTable, text: str) -> None:
        """Show how far the passes over a table have come."""
        self.started = time.monotonic()
        table.reader.on_batch = lambda n_rows: self.show(n_rows / max(table.n_rows, 1), text)

    def clear(self) -> None:
        """Take the bar away."""
        if self.shown:
            self.stream.write("\r" + " " * self.shown + "\r")
            self.stream.flush()
            self.shown = 0


class SweepProgress:
    """Progress of `tacit.mixture.select`: its callback, and that of the estimator.

    A fit of K groups counts K times one of a single group. Where rows are few, every model is tried once more when all are
    there, and cross-validation does all of it again for each fold: `rounds` in all, each taken to last as long as the first.

    Parameters
    ----------
    progress : Progress
    sizes : list of int
        Numbers of groups of the models to try, in the order they are tried.
    rounds : int
    """

    def __init__(self, progress: Progress, sizes: Sequence[int], rounds: int = 1) -> None:
        self.progress, self.sizes, self.rounds = progress, sizes, rounds
        self.told, self.fits, self.first_round = 0, 0, 0
        progress.last = 0.0
        progress.show(None, PREPARING) if not is_prepared() else self._show()

    @property
    def share(self) -> float:
        """The share of the work that is done."""
        if self.told < len(self.sizes):
            return sum(self.sizes[: self.told]) / sum(self.sizes) / self.rounds
        # Rounds after the first do not say where they are; their fits are counted instead.
        later = (self.fits - self.first_round) / max(self.first_round, 1) / max(self.rounds - 1, 1)
        return 1 / self.rounds + (1 - 1 / self.rounds) * min(later, 0.99)

    def row(self, row: Any) -> None:
        """One model was tried."""
        self.told += 1
        self.first_round = self.fits
        self._show()

    def step(self, progress: Any) -> None:
        """One step of a fit was taken, or its last."""
        self.fits += bool(progress.done)
        self._show()

    def last(self, progress: Any) -> None:
        """One step of the fit to all rows was taken."""
        left = "" if progress.seconds_left is None else f", about {told_time(progress.seconds_left)} left"
        self.progress.show(None, f"learning from all {progress.n_rows:,} rows: step {progress.step}{left}")

    def _show(self) -> None:
        tried = f"{min(self.told + 1, len(self.sizes))} of {len(self.sizes)}"
        text = f"trying model {tried}" if self.told < len(self.sizes) else "trying again from what was learned"
        self.progress.show(self.share, text)
