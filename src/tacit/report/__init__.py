"""What was found, told in words and shown in one page that needs nothing but a browser."""

from typing import Any

from ..study.findings import Axes, Findings, Group, Sample

__all__ = ["Axes", "Findings", "Group", "Report", "Sample", "write_network", "write_report"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: the page's parts are not needed to study a table.
    if name in ("Report", "write_report"):
        from . import api

        return getattr(api, name)
    if name == "write_network":
        from .network_explorer import write_network

        return write_network
    raise AttributeError(f"module 'tacit.report' has no attribute {name!r}")
