"""Pictures of digits and faces."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import check_choice
from .dataset import Dataset
from .files import archive_at, find, missing_file

__all__ = ["load_faces", "load_usps"]

USPS = "https://hastie.su.domains/ElemStatLearn/data.html (zip.train.gz and zip.test.gz)"
FACES = {
    "olivetti": (("olivetti.npz", "olivettifaces.mat"), "faces", (64, 64), "https://cs.nyu.edu/~roweis/data.html"),
    "frey": (("frey.npz", "frey_rawface.mat"), "ff", (28, 20), "https://cs.nyu.edu/~roweis/data.html"),
    "cbcl": (("cbcl.npz",), None, (19, 19), "http://cbcl.mit.edu/software-datasets/FaceData2.html"),
}


def load_usps(path: Any, subset: str = "train") -> Dataset:
    """Digits of zip codes, 16 × 16 pixels from −1 to 1.

    Parameters
    ----------
    path : path-like
        A folder with ``usps.npz`` (arrays `X_train`, `y_train`, … in thousandths), or ``zip.train`` and ``zip.test``, compressed
        with gzip or not.
    subset : {"train", "test"}, default="train"

    Returns
    -------
    Dataset
        X is (pictures, 256), the target the digit.
    """
    check_choice("subset", subset, ("train", "test"))
    place = find(path, ("usps.npz", f"zip.{subset}.gz", f"zip.{subset}"), USPS)
    if place.suffix == ".npz":
        arrays = archive_at(place, (f"X_{subset}", f"y_{subset}"))
        X, target = arrays[f"X_{subset}"] / 1000.0, arrays[f"y_{subset}"].astype(int)
    else:
        table = np.loadtxt(place)
        X, target = table[:, 1:], table[:, 0].astype(int)
    told = f"Handwritten digits of the US Postal Service, {subset}; AT&T, no further terms given. {USPS}"
    return Dataset("usps", X, _pixels((16, 16)), target, told, {"shape": (16, 16)})


def load_faces(path: Any, name: str = "olivetti") -> Dataset:
    """Pictures of faces, grey from 0 to 1.

    Parameters
    ----------
    path : path-like
        The folder that holds ``olivetti.npz`` or ``olivettifaces.mat``, ``frey.npz`` or ``frey_rawface.mat``, or ``cbcl.npz``.
    name : {"olivetti", "frey", "cbcl"}, default="olivetti"
        400 pictures of 40 people, 1965 frames of one face, or 2429 small faces.

    Returns
    -------
    Dataset
        X is (pictures, pixels), ``more["shape"]`` the height and width; the target of Olivetti faces is the person.
    """
    check_choice("name", name, tuple(FACES))
    names, variable, shape, where = FACES[name]
    place = find(path, names, where)
    if place.suffix == ".npz":
        arrays = archive_at(place, ("X",))
        pixels, target = arrays["X"].reshape(len(arrays["X"]), -1), arrays.get("y")
    else:
        from scipy.io import loadmat

        content = loadmat(place)
        if variable not in content:
            raise missing_file(place, [f"variable {variable!r}"], where)
        # Matlab keeps pictures in columns, and pixels of a picture column by column for Olivetti, row by row for Frey.
        flat = content[variable].T
        upright = flat.reshape(-1, *shape[::-1]).transpose(0, 2, 1) if name == "olivetti" else flat
        pixels, target = upright.reshape(len(flat), -1), None
    if name == "olivetti":
        target = np.arange(len(pixels)) // 10 if target is None else target
    X = pixels / 255.0 if pixels.max() > 1 else pixels.astype(np.float64)
    target = None if target is None else np.asarray(target).astype(int)
    told = f"Faces ({name}); no right to pass them on is stated. {where}"
    return Dataset(name, X, _pixels(shape), target, told, {"shape": shape})


def _pixels(shape: tuple[int, int]) -> list[str]:
    return [f"pixel {i},{j}" for i in range(shape[0]) for j in range(shape[1])]
