"""Files of arrays and JSON: npy members and a manifest in an uncompressed zip, written whole or not at all.

Reading never runs code: only numbers are read into arrays, and a header's claim is checked before any memory is set aside.
"""

import contextlib
import errno
import io
import json
import math
import os
import tempfile
import tokenize
import zipfile
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np

__all__ = ["UNSOUND", "read_archive", "replacing", "settle", "unwritten", "write_archive"]

MANIFEST = "manifest.json"
UNSOUND = (
    ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, ArithmeticError, MemoryError,
    NotImplementedError, RecursionError, RuntimeError, SyntaxError, tokenize.TokenError, zipfile.BadZipFile,
)  # fmt: skip
"""What reading a damaged or hostile file may raise."""
TEMPORARY = ".tacit-"
"""How the names of files begin that are not whole yet."""
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
CLOSED = {errno.EACCES, errno.EPERM, errno.EROFS}


def write_archive(path: Any, manifest: dict, arrays: dict[str, np.ndarray], temporary: str | None = None) -> None:
    """Write beside `path` and rename, so that the file is never seen half-written.

    Parameters
    ----------
    path : str or path-like
        Where to write.
    manifest : dict
        Anything JSON can hold.
    arrays : dict of str to ndarray
        Arrays by name.
    temporary : str, optional
        Name of the file to write first, for files written so often that a killed process should leave one at most.
    """
    with replacing(path, temporary) as place, zipfile.ZipFile(place, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(MANIFEST), json.dumps(manifest, indent=1))
        for name, array in arrays.items():
            # An entry that is made by hand has no time of the day: the same content is the same bytes.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


@contextlib.contextmanager
def replacing(path: Any, temporary: str | None = None) -> Iterator[str]:
    """Path of a temporary file beside `path` that takes its place at the end, or vanishes if anything goes wrong."""
    place = temporary
    try:
        if place is None:
            handle, place = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)), prefix=TEMPORARY)
            os.close(handle)
        yield place
        settle(place)
        os.replace(place, path)
    except BaseException as error:
        if place is not None:
            with contextlib.suppress(OSError):
                os.unlink(place)
        if isinstance(error, OSError) and (found := unwritten(error, path)) is not error:
            raise found from error
        raise


def settle(path: str) -> None:
    """Bring a temporary file to the disk, with the mode that new files have."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(path, 0o666 & ~mask)


def unwritten(error: OSError, path: Any) -> OSError:
    """An error of the file system as one that names the file that was to be written, and the remedy; others as they are."""
    if isinstance(error.__cause__, OSError):  # a file that is written under a temporary name has been named already
        error = error.__cause__
    path, name = os.fspath(path), error.filename
    if name is not None and os.path.abspath(name) != os.path.abspath(path) and not _is_temporary(name, path):
        return error
    if error.errno in FULL or "errno 28" in str(error).lower():
        told = f"there is no space left for {path}; free some, or choose another folder. Nothing was written."
    elif error.errno in CLOSED:
        told = f"the folder {os.path.dirname(os.path.abspath(path))} cannot be written to; choose another."
    elif name is None and error.errno == errno.ENOENT:
        return error
    else:
        told = f"{path} could not be written ({error.strerror or error}). Nothing was written."
    found = type(error)(told)
    found.errno = error.errno
    return found


def _is_temporary(name: Any, path: str) -> bool:
    return os.path.basename(name).startswith(TEMPORARY) or os.path.abspath(name) == f"{os.path.abspath(path)}.part"


def read_archive(path: Any) -> tuple[dict, Callable[[Any], np.ndarray]]:
    """The manifest of a file written by `write_archive`, and a function that reads an array by name.

    Raises one of `UNSOUND` where the file is damaged.
    """
    if os.path.isdir(path):
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder; give the path of a file.")
    with open(path, "rb") as file:
        content = io.BytesIO(file.read())
    archive = zipfile.ZipFile(content)
    if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
        raise ValueError("it holds compressed members, which tacit never writes")
    left = set(archive.namelist())
    if len(left) < len(archive.namelist()):
        raise ValueError("it holds two members of one name")
    if MANIFEST not in left:
        raise ValueError(f"it holds no {MANIFEST}")
    manifest = json.loads(archive.read(MANIFEST))
    if not isinstance(manifest, dict):
        raise ValueError(f"its {MANIFEST} holds a {type(manifest).__name__}, not an object with names")

    def array(name: Any) -> np.ndarray:
        # Once each: a small file must not become a large object.
        if f"{name}.npy" not in left:
            raise ValueError(f"the array '{name}.npy' is missing, or named twice; write the file again")
        left.remove(f"{name}.npy")
        with archive.open(f"{name}.npy") as file:
            return _read_array(file, name)

    return manifest, array


def _read_array(file: IO[bytes], name: str) -> np.ndarray:
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, fortran, dtype = headers[np.lib.format.read_magic(file)](file)
    if dtype.kind not in "biuf" or dtype.itemsize > 8 or dtype == np.float16:
        raise ValueError(f"array {name} has type {dtype}; only numbers are read")
    size = math.prod(shape) * dtype.itemsize
    data = file.read()
    if min(shape, default=0) < 0 or len(data) != size:
        raise ValueError(f"array {name} should have {size} bytes but has {len(data)}")
    # As compiled code takes it: it is compiled once more for another order of cells, and knows no other order of bytes.
    array = np.frombuffer(data, dtype).astype(dtype.newbyteorder("="))
    return np.array(array.reshape(shape, order="F" if fortran else "C"), order="C")
