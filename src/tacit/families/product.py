"""Columns of several families, independent given the class: log p(x | k) = Σ_f log p_f(x_f | θ_kf).

Each family has its own columns, which may depend on each other inside it: a table of measurements that share a full covariance
beside categories and counts is one product.
"""

from typing import Any

import numpy as np

from ..arrays import Arrays, record
from ..declared import Listed, Part, Whole, declare
from ..engine.coordinates import Joined, Record
from ..source.block import Block
from .family import Family, Pass, draw_classes
from .laws import JoinedLaw, Law

__all__ = ["Parts", "Product"]


@record
class Parts(Arrays):
    """Parameters, or statistics, of every part."""

    parts: tuple
    _saved = declare(parts=Listed(Part(Arrays), kind=tuple))


def _flat(family: Any, columns: tuple[int, ...]) -> list[tuple[Any, tuple[int, ...]]]:
    """A family and its columns, as a list; of a product, its parts."""
    if not isinstance(family, Product):
        return [(family, columns)]
    return [(part, tuple(columns[j] for j in own)) for part, own in family.parts]


class Product(Family):
    """Families side by side, each over its own columns.

    Parameters
    ----------
    parts : sequence of (family, columns)
        Families and the numbers of the columns each describes; together they name every column once.
    """

    _params_type = Parts
    _saved = declare(parts=Listed(Listed((Part(Family), Listed(Whole(0), kind=tuple)), kind=tuple)))

    def __init__(self, parts: Any) -> None:
        self.parts = [each for family, columns in parts for each in _flat(family, tuple(int(j) for j in columns))]
        named = sorted(j for _, columns in self.parts for j in columns)
        if named != list(range(len(named))):
            raise ValueError(f"the parts of a product name the columns {named}; each column must be named once.")
        self.exact = all(family.exact for family, _ in self.parts)
        self.extrapolates = any(family.extrapolates for family, _ in self.parts)

    def known(self, **values: Any) -> Any:
        raise TypeError("Product.of is not defined; make a distribution of each part.")

    def _each(self, params: Parts, block: Block) -> list[tuple]:
        """Every family with its parameters and its columns of a block."""
        return [(family, p, block.select(columns)) for (family, columns), p in zip(self.parts, params.parts)]

    def check_params(self, params: Parts, n_classes: int, n_columns: int) -> None:
        super().check_params(params, n_classes, n_columns)
        if len(params.parts) != len(self.parts) or n_columns != self.n_columns(params):
            raise ValueError(
                f"{len(params.parts)} parameters of parts are not those of a product over {n_columns} columns"
            )
        for (family, columns), p in zip(self.parts, params.parts):
            family.check_params(p, n_classes, len(columns))

    def check(self, X: np.ndarray) -> None:
        for family, columns in self.parts:
            family.check(X[:, columns])

    def start(self, block: Block, resp: Any) -> Parts:
        return Parts(tuple(family.start(block.select(columns), resp) for family, columns in self.parts))

    def log_prob(self, params: Parts, block: Block) -> Any:
        return sum((family.log_prob(p, part) for family, p, part in self._each(params, block)), 0.0)

    def stats(self, params: Parts, block: Block, resp: Any) -> Parts:
        return Parts(tuple(family.stats(p, part, resp) for family, p, part in self._each(params, block)))

    def e_step(self, params: Parts, log_weight: np.ndarray, block: Block) -> Pass:
        if len(self.parts) > 1:
            return super().e_step(params, log_weight, block)
        # A family alone may share work between its scores and its statistics.
        ((family, p, part),) = self._each(params, block)
        loglik, counts, stats = family.e_step(p, log_weight, part)
        return loglik, counts, Parts((stats,))

    def m_step(self, stats: Parts, params: Parts) -> Parts:
        each = zip(self.parts, stats.parts, params.parts)
        return Parts(tuple(family.m_step(s, p) for (family, _), s, p in each))

    def place(self, params: Parts, device: Any) -> Parts:
        return Parts(tuple(family.place(p, device) for (family, _), p in zip(self.parts, params.parts)))

    def redraw(self, params: Parts, block: Block, resp: Any, rng: np.random.Generator) -> Parts:
        return Parts(tuple(family.redraw(p, part, resp, rng) for family, p, part in self._each(params, block)))

    def log_prior(self, params: Parts) -> float:
        return sum(family.log_prior(p) for (family, _), p in zip(self.parts, params.parts))

    def moving(self, params: Any, image: Any) -> bool:
        both = zip(params.parts, image.parts)
        return any(family.moving(*pair) for (family, _), pair in zip(self.parts, both))

    def collapsed(self, params: Parts, weight: Any) -> tuple[int, ...]:
        found = (family.collapsed(p, weight) for (family, _), p in zip(self.parts, params.parts))
        return tuple(sorted(set().union(*found)))

    def permute(self, params: Parts, order: Any) -> Parts:
        return Parts(tuple(family.permute(p, order) for (family, _), p in zip(self.parts, params.parts)))

    def entropy(self, params: Parts) -> np.ndarray:
        return sum(family.entropy(p) for (family, _), p in zip(self.parts, params.parts))

    def kl(self, params: Parts, other: Parts) -> np.ndarray:
        return sum(family.kl(p, q) for (family, _), p, q in zip(self.parts, params.parts, other.parts))

    def _spread(self, values: list[np.ndarray], out: np.ndarray) -> np.ndarray:
        """Lay the columns of the parts, along the last axis, into `out`."""
        for (_, columns), value in zip(self.parts, values):
            out[..., columns] = value
        return out

    def n_columns(self, params: Parts) -> int:
        return sum(len(columns) for _, columns in self.parts)

    def parameters(self, params: Parts) -> dict[str, np.ndarray]:
        return {
            f"{number}.{name}": value
            for number, ((family, _), p) in enumerate(zip(self.parts, params.parts))
            for name, value in family.parameters(p).items()
        }

    def law(self, params: Parts, block: Block) -> Law:
        place, laws = np.zeros(block.X.shape, np.intp), []
        place[block.missing_cells] = np.arange(len(block.missing_cells[0]))
        for (family, p, part), (_, columns) in zip(self._each(params, block), self.parts):
            rows, own = part.missing_cells
            if len(rows):
                laws.append((place[rows, np.array(columns)[own]], family.law(p, part)))
        return JoinedLaw(laws)

    def filled(self, params: Parts, block: Block, resp: Any) -> np.ndarray:
        filled = [family.filled(p, part, resp) for family, p, part in self._each(params, block)]
        return self._spread(filled, np.empty(block.X.shape))

    def possible(self, cells: np.ndarray) -> np.ndarray:
        return self._spread(
            [family.possible(cells[:, columns]) for family, columns in self.parts], np.empty_like(cells)
        )

    def distance(self, params: Parts, block: Block) -> tuple[np.ndarray, np.ndarray]:
        found = [family.distance(p, part) for family, p, part in self._each(params, block)]
        return sum(square for square, _ in found), sum(n for _, n in found)

    def draw(self, params: Any, block: Block, resp: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        n_classes = resp.shape[1]
        out = np.empty((n_draws, *block.X.shape))
        for t, classes in enumerate(draw_classes(resp, n_draws, rng)):
            # One class for the whole row, whatever the family of a cell.
            known = np.eye(n_classes)[classes]
            drawn = [family.draw(p, part, known, 1, rng)[0] for family, p, part in self._each(params, block)]
            self._spread(drawn, out[t])
        return out

    def sample(self, params: Parts, classes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        values = [family.sample(p, classes, rng) for (family, _), p in zip(self.parts, params.parts)]
        return self._spread(values, np.empty((len(classes), self.n_columns(params))))

    def embed(self, block: Block, rng: np.random.Generator) -> np.ndarray:
        return np.hstack([family.embed(block.select(columns), rng) for family, columns in self.parts])

    def free(self, params: Parts) -> np.ndarray:
        return np.concatenate([family.free(p) for (family, _), p in zip(self.parts, params.parts)])

    def bound(self, vector: np.ndarray, params: Parts) -> Parts:
        sizes = [len(family.free(p)) for (family, _), p in zip(self.parts, params.parts)]
        pieces = np.split(vector, np.cumsum(sizes)[:-1])
        each = zip(self.parts, pieces, params.parts)
        return Parts(tuple(family.bound(piece, p) for (family, _), piece, p in each))

    def coordinates(self, params: Parts) -> Record:
        return Record(params, parts=Joined([family.coordinates(p) for (family, _), p in zip(self.parts, params.parts)]))

    def score(self, stats: Parts, params: Parts) -> dict[str, Any]:
        each = zip(self.parts, stats.parts, params.parts)
        return {"parts": [family.score(s, p) for (family, _), s, p in each]}

    def prior_score(self, params: Parts) -> dict[str, Any]:
        return {"parts": [family.prior_score(p) for (family, _), p in zip(self.parts, params.parts)]}

    def n_parameters(self, params: Parts) -> int:
        return sum(family.n_parameters(p) for (family, _), p in zip(self.parts, params.parts))
