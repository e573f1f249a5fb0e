"""Where path loaders look: a file, or a folder that holds one of several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["archive_at", "find", "lines_beside", "missing_file"]


def missing_file(path: Path, names: Sequence[str], where: str) -> FileNotFoundError:
    """The error of a loader that does not find what it reads."""
    listed = " or ".join(names)
    return FileNotFoundError(f"there is no {listed} in {path}; the set is published at {where}.")


def find(path: Any, names: Sequence[str], where: str) -> Path:
    """The first of these files that is there: `path` itself, or in the folder `path`; `where` says who publishes them."""
    path = Path(path)
    if path.is_file():
        if path.name not in names:
            raise ValueError(
                f"{path.name} is none of {', '.join(names)}; give one of these, or the folder that holds it."
            )
        return path
    for name in names:
        if (path / name).is_file():
            return path / name
    raise missing_file(path, names, where)


def archive_at(path: Path, arrays: Sequence[str]) -> dict[str, np.ndarray]:
    """The arrays of an npz file, which must hold these."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            lost = [name for name in arrays if name not in archive.files]
            if not lost:
                return {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as an npz file: {error}") from None
    raise ValueError(f"{path} holds no array {lost[0]!r}; it should hold {', '.join(arrays)}.")


def lines_beside(place: Path, name: str, where: str = "", encoding: str = "utf-8") -> list[str]:
    """The lines of a file in the folder of another; none where it is not there, unless `where` says who publishes it."""
    path = place.with_name(name)
    if path.is_file():
        return path.read_text(encoding=encoding).splitlines()
    if where:
        raise missing_file(place.parent, [name], where)
    return []
