"""Coordinates without constraints that stand for parameters one to one, with the volume that they stretch.

    θ = g(φ),   log p(φ) = log p(g(φ)) + log |∂g/∂φ|,   ∇_φ = (∂g/∂φ)ᵀ ∇_θ + ∇ log |∂g/∂φ|

`Model.free` is a view to leap in: it may have more numbers than there are parameters, and ends at floors. Densities need a view
that is one to one: reals in units of the data, logs of what is positive, log odds of probabilities, K − 1 contrasts of the
logs of K shares, and Cholesky factors, of which the diagonal is told by its logs. Volumes are those of the numbers that can be
chosen: the first K − 1 shares, and one half of a symmetric matrix.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import expit, gammaln, log_expit, logit

__all__ = [
    "Chart",
    "Coordinates",
    "Definite",
    "Joined",
    "Positive",
    "Probability",
    "Real",
    "Record",
    "Shared",
    "Simplex",
]


class Coordinates:
    """A view of parameters as a vector.

    Attributes
    ----------
    size : int
        Length of the vector.
    proper : (size,) bool array
        Where the model has a prior that integrates.
    """

    size: int
    proper: np.ndarray

    def free(self, value: Any) -> np.ndarray:
        """The vector of parameters."""
        raise NotImplementedError

    def bound(self, vector: np.ndarray) -> Any:
        """The parameters of a vector."""
        raise NotImplementedError

    def log_volume(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """Log |∂ parameters / ∂ vector|, and its gradient."""
        raise NotImplementedError

    def pull(self, vector: np.ndarray, slope: Any) -> np.ndarray:
        """The gradient of the vector, from that of the parameters: an array as they are, or a dictionary of fields."""
        raise NotImplementedError

    def log_volume_of_prior(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """As `log_volume`, of what the model has a prior on."""
        return self.log_volume(vector) if self.proper.all() else (0.0, np.zeros(self.size))


class _Cells(Coordinates):
    """Numbers that are each bound by themselves."""

    def __init__(self, shape: Any, proper: bool = True) -> None:
        self.shape = tuple(np.shape(shape)) if isinstance(shape, np.ndarray) else tuple(shape)
        self.size = int(np.prod(self.shape))
        self.proper = np.full(self.size, proper)


class Real(_Cells):
    """Any numbers: value = centre + unit · φ.

    Parameters
    ----------
    shape : tuple of int
    center, unit : array-like
        Numbers that go with the last axes of the shape.
    proper : bool
        Whether they have a prior.
    """

    def __init__(self, shape: Any, center: Any = 0.0, unit: Any = 1.0, proper: bool = True) -> None:
        super().__init__(shape, proper)
        self.center, self.unit = (np.broadcast_to(np.asarray(each, float), self.shape) for each in (center, unit))

    def free(self, value: np.ndarray) -> np.ndarray:
        return ((value - self.center) / self.unit).ravel()

    def bound(self, vector: np.ndarray) -> np.ndarray:
        return self.center + self.unit * vector.reshape(self.shape)

    def log_volume(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        return float(np.log(self.unit).sum()), np.zeros(self.size)

    def pull(self, vector: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return (slope * self.unit).ravel()


class Positive(_Cells):
    """Positive numbers: value = unit · exp φ.

    Parameters
    ----------
    shape : tuple of int
    unit : array-like
    proper : bool
    """

    def __init__(self, shape: Any, unit: Any = 1.0, proper: bool = True) -> None:
        super().__init__(shape, proper)
        self.unit = np.broadcast_to(np.asarray(unit, float), self.shape)

    def free(self, value: np.ndarray) -> np.ndarray:
        return np.log(value / self.unit).ravel()

    def bound(self, vector: np.ndarray) -> np.ndarray:
        return self.unit * np.exp(np.clip(vector, -600.0, 600.0)).reshape(self.shape)

    def log_volume(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        return float(np.log(self.unit).sum() + vector.sum()), np.ones(self.size)

    def pull(self, vector: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return (slope * self.bound(vector)).ravel()


class Shared(Positive):
    """One positive number for every row of an array, whose entries are in proportion to units: value = unit · exp φ."""

    def __init__(self, unit: np.ndarray, proper: bool = True) -> None:
        super().__init__((len(unit), 1), 1.0, proper)
        self.units = unit

    def free(self, value: np.ndarray) -> np.ndarray:
        return super().free((value / self.units)[:, :1])

    def bound(self, vector: np.ndarray) -> np.ndarray:
        return self.units * super().bound(vector)

    def pull(self, vector: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return (slope * self.bound(vector)).sum(axis=1)


class Probability(_Cells):
    """Probabilities, each by itself: value = 1 / (1 + exp −φ)."""

    def free(self, value: np.ndarray) -> np.ndarray:
        return logit(value).ravel()

    def bound(self, vector: np.ndarray) -> np.ndarray:
        return np.clip(expit(vector), 1e-300, 1.0 - 1e-16).reshape(self.shape)

    def log_volume(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        return float((log_expit(vector) + log_expit(-vector)).sum()), 1.0 - 2.0 * expit(vector)

    def pull(self, vector: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return np.ravel(slope) * expit(vector) * expit(-vector)


def contrasts(n: int) -> np.ndarray:
    """Orthonormal columns (n, n − 1) that sum to 0: what n logs of shares are free to do."""
    basis = np.tril(np.ones((n, n - 1)), -1) * -1.0
    basis[range(n - 1), range(n - 1)] = np.arange(n - 1, 0, -1)
    return basis / np.sqrt((basis**2).sum(axis=0))


class Simplex(Coordinates):
    """Shares that sum to 1 within groups of an array's entries: softmax of contrasts, one fewer than there are shares.

    Parameters
    ----------
    value : ndarray
        Shares; those that are 0 stay 0.
    groups : sequence of slices or index arrays, optional
        Of the last axis; default all of it. Every row of the array has these groups.
    proper : bool
    alpha : float or ndarray, optional
        Of a Dirichlet prior whose normaliser the model's own log prior leaves out; volumes then hold it.

    Notes
    -----
    Of K shares p = softmax(V φ) the volume is √K Π p, V having orthonormal columns that sum to 0.
    """

    def __init__(
        self, value: np.ndarray, groups: Iterable | None = None, proper: bool = True, alpha: Any = None
    ) -> None:
        self.template = np.where(value > 0, 0.0, value)
        place = np.arange(value.size).reshape(-1, value.shape[-1])
        parts = [row[at] for at in ([slice(None)] if groups is None else groups) for row in place]
        parts = [part[value.flat[part] > 0] for part in parts]
        self.template.flat[np.concatenate([part for part in parts if len(part) == 1] or [place[0, :0]])] = 1.0
        sizes = sorted({len(part) for part in parts} - {0, 1})
        self.parts = [(np.array([part for part in parts if len(part) == n]), contrasts(n)) for n in sizes]
        self.size = sum(at.size - len(at) for at, _ in self.parts)
        self.proper, self.constant = np.full(self.size, proper), 0.0
        for at, _ in self.parts:
            self.constant += 0.5 * len(at) * np.log(at.shape[1])
            if alpha is not None:
                worth = np.broadcast_to(alpha, value.shape).ravel()[at]
                self.constant += float(gammaln(worth.sum(axis=1)).sum() - gammaln(worth).sum())

    def _split(self, vector: np.ndarray) -> Iterable:
        start = 0
        for at, basis in self.parts:
            end = start + at.size - len(at)
            logs = vector[start:end].reshape(len(at), -1) @ basis.T
            share = np.exp(logs - logs.max(axis=1, keepdims=True))
            yield at, basis, share / share.sum(axis=1, keepdims=True)
            start = end

    def free(self, value: np.ndarray) -> np.ndarray:
        found = [np.log(np.ravel(value)[at]) @ basis for at, basis in self.parts]
        return np.concatenate([each.ravel() for each in found] or [np.zeros(0)])

    def bound(self, vector: np.ndarray) -> np.ndarray:
        value = self.template.copy()
        for at, _, share in self._split(vector):
            value.flat[at] = np.maximum(share, 1e-300)
        return value

    def log_volume(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        total, slopes = self.constant, [np.zeros(0)]
        for at, basis, share in self._split(vector):
            total += float(np.log(np.maximum(share, 1e-300)).sum())
            slopes.append(((1.0 - at.shape[1] * share) @ basis).ravel())
        return total, np.concatenate(slopes)

    def pull(self, vector: np.ndarray, slope: np.ndarray) -> np.ndarray:
        slopes = [np.zeros(0)]
        for at, basis, share in self._split(vector):
            rise = share * np.ravel(slope)[at]
            slopes.append(((rise - share * rise.sum(axis=1, keepdims=True)) @ basis).ravel())
        return np.concatenate(slopes)


class Definite(Coordinates):
    """Positive definite matrices Σ = D L Lᵀ D: the entries of L below its diagonal, and the logs of those on it.

    Parameters
    ----------
    shape : tuple of int
        (…, d, d).
    unit : (d,) array
        The diagonal of D.
    proper : bool
    """

    def __init__(self, shape: Any, unit: Any, proper: bool = True) -> None:
        self.shape, self.unit = tuple(shape), np.outer(unit, unit)
        d, self.n = self.shape[-1], int(np.prod(self.shape[:-2]))
        self.below = np.tril_indices(d, -1)
        self.size = self.n * d * (d + 1) // 2
        self.proper = np.full(self.size, proper)
        # ∂Σ/∂L has the determinant 2^d Π L_ii^(d − i + 1), and ∂L_ii/∂log L_ii is L_ii.
        self.power = d + 1.0 - np.arange(d)
        self.constant = self.n * (d * np.log(2.0) + (d + 1) * np.log(np.asarray(unit, float)).sum())

    def _lower(self, vector: np.ndarray) -> np.ndarray:
        d, (i, j) = self.shape[-1], self.below
        lower = np.zeros((self.n, d, d))
        lower[:, i, j] = vector[: self.n * len(i)].reshape(self.n, -1)
        lower[:, range(d), range(d)] = np.exp(np.clip(vector[self.n * len(i) :], -300.0, 300.0)).reshape(self.n, d)
        return lower

    def free(self, value: np.ndarray) -> np.ndarray:
        lower = np.linalg.cholesky(value.reshape(self.n, *self.shape[-2:]) / self.unit)
        diagonal = np.log(np.diagonal(lower, axis1=1, axis2=2))
        return np.concatenate([lower[:, *self.below].ravel(), diagonal.ravel()])

    def bound(self, vector: np.ndarray) -> np.ndarray:
        lower = self._lower(vector)
        return ((lower @ lower.transpose(0, 2, 1)) * self.unit).reshape(self.shape)

    def log_volume(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        d, gradient = self.shape[-1], np.zeros(self.size)
        gradient[self.size - self.n * d :] = np.tile(self.power, self.n)
        return float(self.constant + gradient @ vector), gradient

    def pull(self, vector: np.ndarray, slope: np.ndarray) -> np.ndarray:
        lower = self._lower(vector)
        symmetric = slope.reshape(lower.shape) * self.unit
        raised = 2.0 * symmetric @ lower
        diagonal = np.diagonal(raised, axis1=1, axis2=2) * np.diagonal(lower, axis1=1, axis2=2)
        return np.concatenate([raised[:, *self.below].ravel(), diagonal.ravel()])


class Joined(Coordinates):
    """Several coordinates side by side, of a sequence of values; a slope of None is 0.

    Parameters
    ----------
    parts : sequence of Coordinates
    """

    def __init__(self, parts: Sequence[Coordinates]) -> None:
        self.parts = list(parts)
        ends = np.cumsum([0, *(part.size for part in self.parts)]).tolist()
        self.slices = [slice(*pair) for pair in pairwise(ends)]
        self.size = ends[-1]
        self.proper = np.concatenate([np.zeros(0, bool), *(part.proper for part in self.parts)])

    def _each(self, vector: np.ndarray) -> Iterable[tuple[Coordinates, np.ndarray]]:
        return ((part, vector[at]) for part, at in zip(self.parts, self.slices))

    def free(self, value: Any) -> np.ndarray:
        return np.concatenate([np.zeros(0), *(part.free(each) for part, each in zip(self.parts, value))])

    def bound(self, vector: np.ndarray) -> Any:
        return tuple(part.bound(own) for part, own in self._each(vector))

    def log_volume(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        return _summed(part.log_volume(own) for part, own in self._each(vector))

    def log_volume_of_prior(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        return _summed(part.log_volume_of_prior(own) for part, own in self._each(vector))

    def pull(self, vector: np.ndarray, slope: Any) -> np.ndarray:
        each = zip(self._each(vector), slope)
        found = [np.zeros(part.size) if own is None else part.pull(at, own) for (part, at), own in each]
        return np.concatenate([np.zeros(0), *found])


def _summed(found: Iterable[tuple[float, np.ndarray]]) -> tuple[float, np.ndarray]:
    """Volumes of parts multiplied, their gradients side by side."""
    values, slopes = zip(*found)
    return float(sum(values)), np.concatenate([np.zeros(0), *slopes])


class Record(Joined):
    """Coordinates of some fields of a record of parameters; the others are taken from a template.

    Parameters
    ----------
    template : Arrays
    **fields : Coordinates
    """

    def __init__(self, template: Any, **fields: Coordinates) -> None:
        self.template, self.fields = template, fields
        super().__init__(list(fields.values()))

    def free(self, value: Any) -> np.ndarray:
        return super().free([getattr(value, name) for name in self.fields])

    def bound(self, vector: np.ndarray) -> Any:
        return replace(self.template, **dict(zip(self.fields, super().bound(vector))))

    def pull(self, vector: np.ndarray, slope: Any) -> np.ndarray:
        return super().pull(vector, [slope.get(name) for name in self.fields])


class Chart(Coordinates):
    """The view `Model.free` of a model in which it is linear and one to one, as coefficients are.

    Parameters
    ----------
    model : Model
    params : Arrays
        The rest of the parameters.
    proper : array-like of bool
        Where there is a prior.
    constant : float
        What the log prior leaves out.
    """

    def __init__(self, model: Any, params: Any, proper: Any = True, constant: float = 0.0) -> None:
        self.model, self.params, self.constant = model, params, constant
        self.size = len(model.free(params))
        self.proper = np.broadcast_to(np.asarray(proper, bool), self.size)

    def free(self, value: Any) -> np.ndarray:
        return self.model.free(value)

    def bound(self, vector: np.ndarray) -> Any:
        return self.model.bound(vector, self.params)

    def log_volume(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        return self.constant, np.zeros(self.size)

    def pull(self, vector: np.ndarray, slope: np.ndarray) -> np.ndarray:
        return slope
