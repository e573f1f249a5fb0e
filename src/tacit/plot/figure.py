"""matplotlib, imported only when a figure is drawn."""

__all__ = ["pyplot"]


def pyplot():
    """matplotlib.pyplot, or an error that says how to get it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("figures need matplotlib; install it with: pip install tacit[plot]") from error
    return pyplot
