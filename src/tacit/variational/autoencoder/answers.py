"""`RowAnswers`: what a trained autoencoder says of rows.

Draws of z have weights p(x_O | z) p(z) / q(z): their mean is the density of the observed cells, and a missing cell has the
mixture of its laws under them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from ...base.missing import N_ANSWERS, MissingCells, _answers
from ...base.rows import like
from ...checks import check_number, check_weight
from ...factor.estimator import RowScores
from ...families import Product
from ...families.laws import JoinedLaw, Law, LevelLaw, QuantileLaw
from ...kernels import host
from ...mixture.table_rows import TableRows
from ...source import Block
from .calibration import Widening

__all__ = ["RowAnswers"]


class RowAnswers(TableRows, RowScores, MissingCells):
    """Base of the autoencoder: the vector behind rows, rows behind vectors, densities, and missing cells."""

    n_draws: int
    refine: int
    family_: Product
    widening_: Widening
    parameter_draws = 0

    # Rows behind vectors, and vectors behind rows

    def _network(self, device: str | None = None) -> Any:
        """The trained network in double precision."""
        from .networks.fitting import restored

        check_is_fitted(self)
        return restored(self, device)

    def _asked(self, block: Block, n_draws: int) -> Iterator[tuple[np.ndarray, Any, Any, Any]]:
        """Rows of a block, as many as are asked about at a time, as arrays and as tensors; and the network."""
        from .networks.fitting import tensors, threads
        from .networks.posterior import chunks

        network, X = self._network(), host(block.X).astype(np.float64)
        with threads(1):  # blocks run side by side
            for rows in chunks(network, n_draws, len(X)):
                yield X[rows], network, *tensors(network, X[rows])

    def _weighed(self, block: Block) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Some rows of a block, outputs (draws, rows, n_out) and log weights (draws, rows)."""
        from .networks.posterior import weigh

        for X, network, x, seen in self._asked(block, self.n_draws):
            eta, log_w = weigh(network, x, seen, self.n_draws, self.refine)
            yield X, host(eta), host(log_w)

    def transform(self, X: Any, return_std: bool = False, out: Any = None) -> Any:
        """Mean of the posterior of z given the observed cells of each row: of the Gaussian that z is drawn from.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), table, path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        return_std : bool, default=False
            Also return the standard deviations.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_components)
        std : ndarray of shape (n_samples, n_components)
            Only if `return_std`.
        """
        if return_std and out is not None:
            raise ValueError("return_std=True gives arrays, so it does not go with out; call transform once for each.")

        def posterior(block: Block) -> np.ndarray:
            from .networks.posterior import moments

            parts = [moments(network, x, seen, self.refine) for _, network, x, seen in self._asked(block, 1)]
            mean, std = (np.concatenate(each) for each in zip(*parts))
            return like(block, np.stack([mean, std], axis=1) if return_std else mean)

        check_is_fitted(self)
        found = self._apply(X, posterior, out, list(self.get_feature_names_out()))
        return (found[:, 0], found[:, 1]) if return_std else found

    def inverse_transform(self, Z: Any) -> Any:
        """Rows that vectors expect: expectations of numbers and the most probable levels of categories.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Vectors.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or table of the kind seen at fit where it has categories
        """
        Z = self._check_scores(Z, "Z")
        cells = np.empty((len(Z), self.n_features_in_))
        for law, places in self._laws_at(Z):
            cells[places] = law.mean(np.ones((len(places[0]), 1)))
        return self._as_seen(cells.astype(Z.dtype, copy=False))

    def reconstruct(self, X: Any) -> Any:
        """What the vector behind each row expects of all its cells, the observed ones too.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or table
            Rows; NaN is missing.

        Returns
        -------
        as `inverse_transform`
        """
        return self.inverse_transform(self.transform(X))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """Draw rows.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, RandomState instance or None, default=None
            Seeds the draws; by default the estimator's own does.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or table of the kind seen at fit
        """
        check_is_fitted(self)
        check_number("n_samples", n_samples, int, 1)
        rng = self._rng(random_state)
        cells = np.empty((n_samples, self.n_features_in_))
        for law, places in self._laws_at(rng.normal(size=(n_samples, self.n_components_))):
            cells[places] = _drawn(law, rng)
        return self._as_seen(cells)

    def _as_seen(self, cells: np.ndarray) -> Any:
        """Cells as a table of the kind seen at fit."""
        return self.schema_.decode(cells) if self._coded() or self.schema_.container != "numpy" else cells

    def _laws_at(self, Z: np.ndarray) -> Iterator[tuple[Law, tuple[np.ndarray, np.ndarray]]]:
        """Laws of all cells of the rows behind vectors, and their places, by family."""
        from .networks.fitting import outputs

        network = self._network("cpu")
        eta = outputs(network, np.asarray(Z, dtype=np.float64))[None]
        for head, out in zip(network.heads, network.outputs):
            rows, own = (each.ravel() for each in np.indices((len(Z), len(head.columns))))
            yield head.law(eta[..., out], rows, own), (rows, np.array(head.columns)[own])

    # Densities

    def score_samples(self, X: Any, out: Any = None) -> Any:
        """Log density of the observed cells of each row, by importance sampling.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), table, path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        out : path, optional
            A Parquet file to write to, in a stream, instead of returning an array.

        Returns
        -------
        ndarray of shape (n_samples,)
            Of levels and counts probabilities.
        """
        check_is_fitted(self)
        code = self._network("cpu")

        def density(block: Block) -> np.ndarray:
            each = [
                logsumexp(log_w, axis=0) - np.log(len(log_w)) + code.jacobian(X) for X, _, log_w in self._weighed(block)
            ]
            return like(block, np.concatenate(each))

        return self._apply(X, density, out, ["log_density"])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Average log density per row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows; NaN is missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights.

        Returns
        -------
        float
        """
        values = self.score_samples(X)
        return float(np.average(values, weights=check_weight(sample_weight, len(values))))

    # Missing cells

    def _possible(self, cells: np.ndarray) -> np.ndarray:
        return self.family_.possible(cells)

    def _laws(self, network: Any, eta: np.ndarray, cells: tuple[np.ndarray, ...]) -> JoinedLaw:
        """The laws of cells under every draw, by a network on the CPU."""
        parts = []
        for head, out in zip(network.heads, network.outputs):
            at = np.flatnonzero(np.isin(cells[1], head.columns))
            if len(at):
                place = np.searchsorted(np.sort(head.columns), cells[1][at])
                own = np.argsort(head.columns)[place]
                parts.append((at, head.law(eta[..., out], cells[0][at], own)))
        return JoinedLaw(parts)

    def _filler(self, what: Any, lowest: Any = None) -> Callable[[Block], np.ndarray]:
        least = self._lowest() if lowest is None else np.broadcast_to(np.asarray(lowest, float), self.n_features_in_)
        level = what if what in N_ANSWERS else self.widening_.level(what)
        network = self._network("cpu")

        def fill(block: Block) -> np.ndarray:
            given = host(block.X)
            out = np.full((len(given), N_ANSWERS.get(what, 4), given.shape[1]), 0.0 if what == "std" else np.nan)
            out[:, 0] = given
            rows = np.flatnonzero(np.isnan(given).any(axis=1))
            first = 0
            for X, eta, log_w in self._weighed(Block.of(given[rows])) if len(rows) else ():
                cells = np.nonzero(np.isnan(X))
                weight = np.exp(log_w - logsumexp(log_w, axis=0)).T[cells[0]]
                told = np.array(list(_answers(level, self._laws(network, eta, cells), weight)))
                if what == "std":
                    told[1] *= self.widening_.factor
                bounded = told[: 1 if what in N_ANSWERS else 3]
                np.maximum(bounded, least[cells[1]], out=bounded)
                out[rows[first + cells[0]], :, cells[1]] = told.T
                first += len(X)
            return like(block, out)

        return fill

    def _completed_rows(self, X: Any, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        """Draws of z for whole rows, and of their missing cells given it."""
        network, rows, first = self._network("cpu"), self._validate(X, reset=False), 0
        drawn = np.repeat(np.asarray(rows, dtype=np.float64)[None], n_draws, axis=0)
        for part, eta, log_w in self._weighed(Block.of(np.ascontiguousarray(rows))):
            cells = np.nonzero(np.isnan(part))
            total = np.cumsum(np.exp(log_w - logsumexp(log_w, axis=0)), axis=0)
            for t in range(n_draws if len(cells[0]) else 0):
                chosen = np.minimum((rng.random(len(part)) > total).sum(axis=0), len(total) - 1)
                law = self._laws(network, eta[chosen, np.arange(len(part))][None], cells)
                made = np.empty(len(cells[0]))
                for at, own in law.parts:
                    made[at] = _drawn(own, rng)
                drawn[t, first + cells[0], cells[1]] = np.maximum(made, self._lowest()[cells[1]])
            first += len(part)
        return drawn.astype(np.asarray(rows).dtype, copy=False)


def _drawn(law: Law, rng: np.random.Generator) -> np.ndarray:
    """One draw of every cell of a law of a single class."""
    if isinstance(law, QuantileLaw):
        return law.parts(rng.random((law.means.shape[0], 1)))[:, 0]
    if not isinstance(law, LevelLaw):
        raise TypeError(f"cells of a {type(law).__name__} cannot be drawn.")
    return law.drawn(np.ones((len(law.columns), 1)), rng)
