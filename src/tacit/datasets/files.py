"""Where path loaders look: a file, or a folder that holds one of several."""

from pathlib import Path

import numpy as np

__all__ = ["archive_at", "find", "lines_of", "missing_file"]


def missing_file(path, names, where):
    """The error of a loader that does not find what it reads."""
    listed = " or ".join(names)
    return FileNotFoundError(f"there is no {listed} in {path}; the set is published at {where}.")


def find(path, names, where):
    """The first of these files that is there: `path` itself, or in the folder `path`.

    Parameters
    ----------
    path : path-like
        A file of one of these names, or the folder that holds it.
    names : sequence of str
        Names of files, the most wanted first.
    where : str
        Where the set is published, for the error that says that none is there.
    """
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


def archive_at(path, arrays):
    """The arrays of an npz file, which must hold these."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            lost = [name for name in arrays if name not in archive.files]
            if not lost:
                return {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as an npz file: {error}") from None
    raise ValueError(f"{path} holds no array {lost[0]!r}; it should hold {', '.join(arrays)}.")


def lines_of(path, encoding="utf-8"):
    """The lines of a text file."""
    return Path(path).read_text(encoding=encoding).splitlines()
