"""`Display`: what all displays share, the axes they are drawn on."""

from typing import Any, Self

from .style import MUTED, Axes, pyplot

__all__ = ["Display"]


class Display:
    """Something that is drawn on axes. Subclasses have `_draw`, and may name the size of figures of their own."""

    ax_: Axes
    figure_: Any
    _figsize: tuple[float, float] | None = None

    def __init_subclass__(cls, figsize: tuple[float, float] | None = None) -> None:
        if figsize is not None:
            cls._figsize = figsize

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw; returns self."""
        self._place(ax)
        self._draw(self.ax_)
        return self

    def _place(self, ax: Axes | None) -> None:
        """Take the axes given, or those of a new figure."""
        plt = pyplot()
        self.ax_ = plt.subplots(layout="constrained", figsize=self._figsize)[1] if ax is None else ax
        self.figure_ = self.ax_.figure

    def _draw(self, ax: Axes) -> None:
        raise NotImplementedError

    def _title(self, text: str, ax: Axes | None = None) -> None:
        """Say what the picture shows, in small grey letters above it."""
        (ax or self.ax_).set_title(text, fontsize="small", color=MUTED)
