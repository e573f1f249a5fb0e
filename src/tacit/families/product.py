"""Columns of several families, independent given the class: log p(x | k) = Σ_f log p_f(x_f | θ_kf).

Each family has its own columns, which may depend on each other inside it: a table of measurements that share a full covariance
beside categories and counts is one product.
"""

import numpy as np

from ..arrays import Arrays, record
from .family import Family, draw_classes
from .laws import JoinedLaw

__all__ = ["Product", "ProductParams"]


@record
class ProductParams(Arrays):
    """Parameters of every part."""

    parts: tuple


@record
class ProductStats(Arrays):
    """Statistics of every part."""

    parts: tuple


class Product(Family):
    """Families side by side, each over its own columns.

    Parameters
    ----------
    parts : sequence of (family, columns)
        Families and the numbers of the columns each describes; together they name every column once.
    """

    def __init__(self, parts):
        self.parts = [(family, tuple(int(j) for j in columns)) for family, columns in parts]
        named = sorted(j for _, columns in self.parts for j in columns)
        if named != list(range(len(named))):
            raise ValueError(f"the parts of a product name the columns {named}; each column must be named once.")

    def _each(self, block):
        """Every family with its columns of a block."""
        return [(family, block.select(columns)) for family, columns in self.parts]

    def check(self, X):
        for family, columns in self.parts:
            family.check(X[:, columns])

    def start(self, block, resp):
        return ProductParams(tuple(family.start(part, resp) for family, part in self._each(block)))

    def log_prob(self, params, block):
        scores = (family.log_prob(p, part) for (family, part), p in zip(self._each(block), params.parts))
        return sum(scores, 0.0)

    def stats(self, params, block, resp):
        each = zip(self._each(block), params.parts)
        return ProductStats(tuple(family.stats(p, part, resp) for (family, part), p in each))

    def e_step(self, params, log_weight, block):
        if len(self.parts) > 1:
            return super().e_step(params, log_weight, block)
        # A family alone may share work between its scores and its statistics.
        ((family, part),) = self._each(block)
        loglik, counts, stats = family.e_step(params.parts[0], log_weight, part)
        return loglik, counts, ProductStats((stats,))

    def m_step(self, stats, params):
        each = zip(self.parts, stats.parts, params.parts)
        return ProductParams(tuple(family.m_step(s, p) for (family, _), s, p in each))

    def log_prior(self, params):
        return sum(family.log_prior(p) for (family, _), p in zip(self.parts, params.parts))

    def collapsed(self, params, weight):
        return any(family.collapsed(p, weight) for (family, _), p in zip(self.parts, params.parts))

    def permute(self, params, order):
        return ProductParams(tuple(family.permute(p, order) for (family, _), p in zip(self.parts, params.parts)))

    def entropy(self, params):
        return sum(family.entropy(p) for (family, _), p in zip(self.parts, params.parts))

    def kl(self, params, other):
        return sum(family.kl(p, q) for (family, _), p, q in zip(self.parts, params.parts, other.parts))

    def _spread(self, values, out):
        """Lay the columns of the parts, along the last axis, into `out`."""
        for (_, columns), value in zip(self.parts, values):
            out[..., columns] = value
        return out

    def n_columns(self, params):
        return sum(len(columns) for _, columns in self.parts)

    def parameters(self, params):
        return {
            f"{number}.{name}": value
            for number, ((family, _), p) in enumerate(zip(self.parts, params.parts))
            for name, value in family.parameters(p).items()
        }

    def law(self, params, block):
        place, laws = np.zeros(block.X.shape, np.intp), []
        place[block.missing_cells] = np.arange(len(block.missing_cells[0]))
        for (family, part), (_, columns), p in zip(self._each(block), self.parts, params.parts):
            rows, own = part.missing_cells
            if len(rows):
                laws.append((place[rows, np.array(columns)[own]], family.law(p, part)))
        return JoinedLaw(laws)

    def filled(self, params, block, resp):
        each = zip(self._each(block), params.parts)
        return self._spread([family.filled(p, part, resp) for (family, part), p in each], np.empty(block.X.shape))

    def distance(self, params, block):
        found = [family.distance(p, part) for (family, part), p in zip(self._each(block), params.parts)]
        return sum(square for square, _ in found), sum(n for _, n in found)

    def draw(self, params, block, resp, n_draws, rng):
        n_classes = resp.shape[1]
        out = np.empty((n_draws, *block.X.shape))
        for t, classes in enumerate(draw_classes(resp, n_draws, rng)):
            # One class for the whole row, whatever the family of a cell.
            known = np.eye(n_classes)[classes]
            each = zip(self._each(block), params.parts)
            self._spread([family.draw(p, part, known, 1, rng)[0] for (family, part), p in each], out[t])
        return out

    def sample(self, params, classes, rng):
        values = [family.sample(p, classes, rng) for (family, _), p in zip(self.parts, params.parts)]
        return self._spread(values, np.empty((len(classes), self.n_columns(params))))

    def embed(self, block, rng):
        return np.hstack([family.embed(part, rng) for family, part in self._each(block)])

    def free(self, params):
        return np.concatenate([family.free(p) for (family, _), p in zip(self.parts, params.parts)])

    def bound(self, vector, params):
        sizes = [len(family.free(p)) for (family, _), p in zip(self.parts, params.parts)]
        pieces = np.split(vector, np.cumsum(sizes)[:-1])
        each = zip(self.parts, pieces, params.parts)
        return ProductParams(tuple(family.bound(piece, p) for (family, _), piece, p in each))

    def n_parameters(self, params):
        return sum(family.n_parameters(p) for (family, _), p in zip(self.parts, params.parts))
