"""Pictures without noise: pixels that are mostly as they were seen and mostly like their neighbours.

    E(x) = Σ_i −log p(y_i | x_i) + J Σ_(ij) V(x_i, x_j)

A pixel that is missing has no cost of its own, so that it is filled in from its neighbours.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...checks import check_positive
from ...table import Table
from .energy import PairwiseEnergy, distances
from .minimise import Labelling, minimise_energy

__all__ = ["Denoised", "compare_denoising", "denoise"]

ALL = ("icm", "mean_field", "gibbs", "max_product", "graph_cut")
MOST_LEVELS = 256


@dataclass(frozen=True)
class Denoised:
    """A picture without noise; made by `denoise`.

    Attributes
    ----------
    image : ndarray
        Of the type and shape of the noisy one.
    energy : float
        The less, the more probable the picture.
    labelling : Labelling
        Levels of the pixels, how they were found, and why that ended.
    """

    image: np.ndarray
    energy: float
    labelling: Labelling


def denoise(
    image: Any, method: str = "auto", *, flip: float = 0.1, coupling: float = 1.0, levels: Any = None, noise: float = 0.1,
    distance: str = "linear", truncate: float | None = None, connectivity: int = 4, **settings: Any,
) -> Denoised:  # fmt: skip
    """Take noise out of a picture, and fill in its missing pixels.

    Parameters
    ----------
    image : array-like of shape (height, width)
        Black and white (two values), or grey with `levels`; NaN and masked pixels are missing.
    method : str, default="auto"
        As in `minimise_energy`; "auto" is the exact graph cut for black and white, α-expansion for grey.
    flip : float, default=0.1
        Of black and white: the share of pixels that noise has flipped.
    coupling : float, default=1.0
        What it costs that neighbours differ (for grey by one level, in units of the noise).
    levels : int or array-like, optional
        Levels of grey of the picture without noise: a number of them, evenly from the least to the greatest, or their values.
    noise : float, default=0.1
        Of grey: standard deviation of the noise.
    distance : {"linear", "quadratic", "potts"}, default="linear"
        Of grey: how the difference of neighbours counts.
    truncate : float, optional
        Of grey: the distance from which differences count no more, so that edges stay sharp.
    connectivity : {4, 8}, default=4
        Neighbours of a pixel.
    **settings
        Of `minimise_energy`.

    Returns
    -------
    Denoised

    References
    ----------
    Greig, Porteous and Seheult (1989), Exact maximum a posteriori estimation for binary images.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.graph import denoise
    >>> truth = np.arange(40)[:, None] + np.zeros(40) > 20
    >>> noisy = truth ^ (np.random.default_rng(0).random(truth.shape) < 0.1)
    >>> found = denoise(noisy)
    >>> int((noisy != truth).sum()), int((found.image != truth).sum())
    (164, 13)
    """
    pixels, missing = _pixels(image)
    if levels is None:
        energy, values = _two_levels(pixels, missing, flip, coupling, connectivity)
    else:
        check_positive("noise", noise)
        values = _levels(levels, pixels, missing)
        gap = distances(distance, len(values), truncate)
        unary = 0.5 * ((pixels[:, :, None] - values) / noise) ** 2
        energy = PairwiseEnergy(np.where(missing[:, :, None], 0.0, unary), None, coupling, gap, connectivity)
    found = minimise_energy(energy, method, **settings)
    kind = np.asarray(image).dtype
    return Denoised(values[found.labels].astype(kind), found.energy, found)


def _pixels(image: Any) -> tuple[np.ndarray, np.ndarray]:
    """Pixels as floats, and which are missing."""
    masked = np.ma.getmaskarray(image) if isinstance(image, np.ma.MaskedArray) else None
    given = np.asarray(np.ma.getdata(image))
    if given.ndim != 2 or not given.size or given.dtype.kind not in "biuf":
        raise ValueError(
            f"image has shape {given.shape} and type {given.dtype}; give numbers (height, width), one channel at a time."
        )
    pixels = given.astype(np.float64)
    if masked is not None:
        pixels[masked] = np.nan
    missing = np.isnan(pixels)
    if np.isinf(pixels).any():
        raise ValueError("image holds infinity; set pixels that are missing to NaN.")
    if missing.all():
        raise ValueError(f"all of the {missing.size} pixels are missing; give one at least.")
    return pixels, missing


def _two_levels(
    pixels: np.ndarray, missing: np.ndarray, flip: float, coupling: float, connectivity: int
) -> tuple[PairwiseEnergy, np.ndarray]:
    values = np.array([np.nanmin(pixels), np.nanmax(pixels)])
    if (~missing & (pixels != values[0]) & (pixels != values[1])).any():
        raise ValueError(
            f"image holds {len(np.unique(pixels[~missing]))} values, more than black and white; give levels, the number of its "
            "levels of grey."
        )
    if not 0 < flip < 0.5:
        raise ValueError(f"flip={flip!r} is not between 0 and 0.5.")
    wrong = np.where(missing, 0.0, np.log((1.0 - flip) / flip))
    white = pixels == values[1]
    unary = np.stack([np.where(white, wrong, 0.0), np.where(white, 0.0, wrong)], axis=2)
    return PairwiseEnergy(unary, None, coupling, "potts", connectivity), values


def _levels(levels: Any, pixels: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Values of the levels of grey."""
    given = np.asarray(levels)
    if given.ndim == 0 and given.dtype.kind in "iu" and 2 <= given <= MOST_LEVELS:
        return np.linspace(pixels[~missing].min(), pixels[~missing].max(), int(given))
    if given.ndim == 1 and given.dtype.kind in "iuf" and 2 <= len(given) <= MOST_LEVELS and (np.diff(given) > 0).all():
        return given.astype(np.float64)
    raise ValueError(f"levels={levels!r} is neither a number from 2 to {MOST_LEVELS} nor that many increasing values.")


def compare_denoising(noisy: Any, truth: Any, methods: Iterable[str] = ALL, **settings: Any) -> Table:
    """Denoise a picture by several methods and compare what they leave.

    Parameters
    ----------
    noisy, truth : array-like of shape (height, width)
        The picture with noise and without.
    methods : iterable of str
        As in `minimise_energy`.
    **settings
        Of `denoise`, the same for all.

    Returns
    -------
    tacit.table.Table
        A row a method, and one for the noisy picture: the share of wrong pixels, energy, passes and seconds.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.graph import compare_denoising
    >>> truth = np.arange(40)[:, None] + np.zeros(40) > 20
    >>> noisy = truth ^ (np.random.default_rng(0).random(truth.shape) < 0.1)
    >>> compare_denoising(noisy, truth, ["icm", "graph_cut"])["error"]
    [0.1025, 0.03625, 0.008125]
    """
    expected, rows = np.asarray(truth), []
    if expected.shape != np.shape(noisy):
        raise ValueError(f"truth has shape {expected.shape}, but the noisy picture {np.shape(noisy)}.")
    for method in methods:
        started = time.perf_counter()
        found = denoise(noisy, method, **settings)
        seconds = time.perf_counter() - started
        error = float((found.image != expected).mean())
        row = {"method": found.labelling.method, "error": error, "energy": found.energy}
        rows.append(row | {"passes": found.labelling.n_iter, "seconds": seconds})
    seen = float((np.asarray(noisy) != expected).mean())
    return Table([{"method": "none", "error": seen, "energy": None, "passes": 0, "seconds": 0.0}, *rows])
