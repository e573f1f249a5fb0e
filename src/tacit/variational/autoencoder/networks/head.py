"""`Head`: what the decoder's outputs say of the columns of one family, log p(x | η) = Σ_j log p_j(x_j | η_j)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ....families.laws import Law
from . import torch

__all__ = ["Head", "spread"]


class Head(torch.nn.Module):
    """Base of heads. Cells are *coded*: measured from `frame`, which is learned of some rows before training and then fixed.

    A subclass defines `learn`, `features`, `cells`, `information` and `law`. Tensors of outputs are (…, rows, n_out), those of
    cells (rows, columns); missing cells hold the `blank`.

    Parameters
    ----------
    family : Family
        The family of the library whose law cells have.
    columns : tuple of int
        Numbers of its columns in the table.
    frame : dict of str to ndarray
        As `learn` gave it.
    """

    frames: ClassVar[dict[str, str]] = {"centre": "d", "unit": "d"}
    blank = 0.0

    def __init__(self, family: Any, columns: Sequence[int], frame: dict[str, np.ndarray]):
        super().__init__()
        self.family, self.columns, self.frame = family, tuple(columns), frame
        self.n_out = self.n_features = len(self.columns)
        for name, value in frame.items():
            self.register_buffer(f"_{name}", torch.as_tensor(value, dtype=torch.get_default_dtype()), persistent=False)
        # Outputs begin as `slope` times what a linear model of the features expects.
        self.slope = np.ones(self.n_features)

    @classmethod
    def learn(cls, family: Any, X: np.ndarray, whole: bool) -> dict[str, np.ndarray]:
        """The frame, from cells (rows, columns) with NaN; `whole` where these are all rows there are."""
        raise NotImplementedError

    def code(self, X: np.ndarray) -> np.ndarray:
        """Cells as the head takes them."""
        return X

    def jacobian(self, X: np.ndarray) -> np.ndarray:
        """Log of the derivative of `code`, by cell."""
        return np.zeros(X.shape)

    def features(self, x: Any) -> Any:
        """What the encoder sees of cells, (rows, n_features), near unit spread."""
        raise NotImplementedError

    def seen_features(self, seen: Any) -> Any:
        """Which features are of observed cells."""
        return seen

    def cells(self, eta: Any, x: Any) -> Any:
        """Log probability of every cell."""
        raise NotImplementedError

    def log_prob(self, eta: Any, x: Any, seen: Any) -> Any:
        """Log probability of the observed cells of every row."""
        cells = self.cells(eta, x)
        return cells.sum(-1) if seen is None else (cells * seen).sum(-1)

    def information(self, eta: Any) -> Any:
        """Expected curvature of −log p in every output."""
        raise NotImplementedError

    def centred(self, slopes: Any, eta: Any) -> Any:
        """Slopes of outputs, (rows, n_out, k), without what does not change the distribution."""
        return slopes

    def seen_outputs(self, seen: Any) -> Any:
        """Which outputs are of observed cells."""
        return seen

    def law(self, eta: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Law:
        """The law of cells, under outputs (classes, rows, n_out)."""
        raise NotImplementedError

    def begin(self, left: np.ndarray) -> None:
        """Start own parameters where a linear model leaves these shares of the variance of the features."""

    def _at(self, value: Any, columns: np.ndarray) -> np.ndarray:
        """A parameter of each column, or of all, at cells: (m, 1)."""
        array = np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value, dtype=np.float64)
        return np.broadcast_to(array, len(self.columns))[columns][:, None]


def spread(X: np.ndarray, whole: bool) -> dict[str, np.ndarray]:
    """Means and deviations of columns; a constant column has a unit next to nothing, 0 where nothing is left to learn of it."""
    with np.errstate(invalid="ignore"):
        count = np.maximum((~np.isnan(X)).sum(axis=0), 1)
        centre = np.nansum(X, axis=0) / count
        unit = np.sqrt(np.nansum((X - centre) ** 2, axis=0) / count)
    still = unit <= 1e-12 * np.maximum(np.abs(centre), 1e-300)
    unit[still] = 0.0 if whole else np.maximum(np.abs(centre[still]), 1.0)
    return {"centre": centre, "unit": unit}
