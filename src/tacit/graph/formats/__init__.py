"""Files of networks: BIF, XMLBIF and UAI, read and written by the ending of their name."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ...archive import replacing
from ..nodes import Nodes
from .bif import read_bif, write_bif
from .uai import read_uai, read_uai_factors, write_uai
from .xmlbif import read_xmlbif, write_xmlbif

__all__ = ["FORMATS", "read_bif", "read_network", "read_uai", "read_uai_factors", "read_xmlbif", "write_network"]

FORMATS: dict[str, tuple[Callable, Callable]] = {
    ".bif": (read_bif, write_bif), ".xmlbif": (read_xmlbif, write_xmlbif), ".xml": (read_xmlbif, write_xmlbif),
    ".bifxml": (read_xmlbif, write_xmlbif), ".uai": (read_uai, write_uai),
}  # fmt: skip


def _format(path: Any) -> tuple[Callable, Callable]:
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in FORMATS:
        raise ValueError(
            f"{os.fspath(path)!r} ends in {ending!r}, which is no format of networks; there are {', '.join(FORMATS)}."
        )
    return FORMATS[ending]


def read_network(path: Any) -> tuple[Nodes, np.ndarray]:
    """Nodes and tables of a file; its name says which format it is of, and errors name it."""
    reader = _format(path)[0]
    try:
        return reader(path)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)!r} cannot be read: {error}") from None


def write_network(path: Any, nodes: Nodes, theta: np.ndarray) -> None:
    """Write nodes and tables to a file, which appears whole or not at all."""
    if nodes.continuous.any():
        name = nodes.names[int(np.argmax(nodes.continuous))]
        raise ValueError(f"{name!r} is continuous, which no such file can hold; save the network with tacit.save.")
    text = _format(path)[1](nodes, theta)
    with replacing(path) as place, open(place, "w", encoding="utf-8") as file:
        file.write(text)
