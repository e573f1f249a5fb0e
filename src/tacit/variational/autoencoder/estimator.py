"""`VariationalAutoencoder`: z ~ N(0, I), p(x | z) = Π_j p_j(x_j | η_j(z)), η a network; cells are of the library's families.

A second network, the encoder, gives q(z | x_O) of a row's observed cells O. Both are trained by the bound of the log density,

    log p(x_O) ≥ E_q [log p(x_O | z)] − β KL(q(z | x_O) ‖ N(0, I)),

and answers about rows weigh draws of z by p(x_O | z) p(z) / q(z).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from ...base.missing import N_ANSWERS, MissingCells, _answers
from ...base.rows import like
from ...base.settings import KW_ONLY, settings
from ...checks import check_choice, check_number, check_weight
from ...declared import Listed, Mapped, Part, Whole
from ...engine import ProgressLines
from ...factor.estimator import RowScores
from ...families import NAMED, Product
from ...families.laws import JoinedLaw, Law, LevelLaw, QuantileLaw
from ...kernels import host
from ...mixture.columns import product_family
from ...mixture.table_rows import TableRows
from ...schema import UNKNOWN, Schema
from ...source import Block
from .calibration import Widening
from .record import Training
from .settings import check_autoencoder, held_out, positive_columns, sizes, widths

__all__ = ["VariationalAutoencoder"]

SAMPLE = 20_000
"""Rows that cells are measured by."""


@settings
class VariationalAutoencoder(TableRows, RowScores, MissingCells):
    """A vector behind every row of any table, by networks.

    Measurements, counts, yes/no columns, categories, ordinal and cyclic columns are each described by their family; missing cells
    are left out of the bound, and told to the encoder. Pictures are rows of pixels. Needs torch, which is the extra ``gpu``.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of z; "auto" takes as many as :class:`tacit.factor.ProbabilisticPCA` chooses for the linear model that training
        starts from.
    encoder_widths, decoder_widths : tuple of int or "auto", default="auto"
        Widths of hidden layers, beside which linear maps run; () has none. "auto" goes by the number of rows: none below 60,
        one of 32 below 1,000, two of 64 below 10,000, of 128 below 100,000 and of 256 beyond.
    family : str, default="auto"
        What describes the columns that `by_column` does not name. "auto" goes by kind: measurements are Gaussian, or log-normal
        where they are positive and clearly more like it, counts Poisson or negative binomial.
    by_column : dict, optional
        Families of columns by name, as in :class:`tacit.mixture.Mixture`: "student", "gamma", "lognormal", "bernoulli", …
    noise : {"column", "shared", "cell"}, default="column"
        Whether the deviation of measurements about what z expects is a column's own, the same of all columns as ProbabilisticPCA
        has it, or told by the decoder for every cell.
    scale : bool, default=True
        Learn of standardised measurements, each by its own deviation; if not, by one deviation for all.
    beta : float, default=1.0
        Weight of the divergence in the bound.
    warm_up : int, default=0
        Epochs in which this weight rises to `beta`.
    n_importance : int or "auto", default="auto"
        Draws of z by which the bound is taken; of several it is importance weighted, and tighter. "auto" is 8 up to 10,000 rows
        and 1 beyond.
    init : {"linear", "random"}, default="linear"
        Where training starts: at probabilistic principal components of the columns, or at random.
    learning_rate, weight_decay : float
        Of AdamW; weights are drawn to 0 in hidden layers only.
    batch_size, max_epochs, patience : int or "auto", default="auto"
        Rows of a batch, epochs at most, and epochs without a gain on the rows held out after which the learning rate falls;
        the third time training ends.
    validation_fraction : float, default=0.1
        Share of the rows that are held out, 5,000 at most; of fewer than ten rows none are. Up to 3,000 rows, training is then
        repeated on all rows, for as many epochs as were best.
    n_draws : int, default=256
        Draws of z for each row by which log densities are taken and cells filled.
    refine : int, default=10
        Steps at most from the encoder's mean to the mode of a row's own posterior, about which z is drawn; 0 trusts the encoder.
    unknown : {"error", "missing"}, default="error"
        What to do about levels of a category that did not occur at fit, in rows given later.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to compute; "auto" is a GPU where there is one.
    mixed_precision : bool, default=False
        Whether layers are computed in bfloat16 while training.
    random_state : int, RandomState instance or None, default=None
        Seeds starts, held-out rows, batches and draws; on a CPU the same seed gives the same network to the last bit.
    verbose : int, default=0
        How much to print.
    callback : callable, optional
        Called with a :class:`tacit.engine.Progress` after every epoch.
    n_jobs : int or None, default=None
        Threads; None lets torch have all cores for large networks and one for small ones.

    Attributes
    ----------
    n_components_ : int
    schema_ : tacit.schema.Schema
        Names, kinds and levels of the columns.
    family_ : tacit.families.Product
        The families and the columns each describes.
    weights_ : dict of str to ndarray
        All parameters of both networks.
    frames_ : list of dict of str to ndarray
        What the cells of each family are measured from.
    widths_ : list of tuple of int
        Widths of the hidden layers of encoder and decoder.
    training_ : Training
        Bounds by epoch, and why training ended.
    widening_ : Widening
        How much wider intervals are than the network says, as cells of the rows held out asked for.
    n_iter_ : int
        Epochs taken.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Kingma and Welling (2014), Auto-encoding variational Bayes.
    Burda, Grosse and Salakhutdinov (2016), Importance weighted autoencoders.
    Mattei and Frellsen (2019), MIWAE: deep generative modelling and imputation of incomplete data sets.
    Nazábal, Olmos, Ghahramani and Valera (2020), Handling incomplete heterogeneous data using VAEs.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.variational import VariationalAutoencoder
    >>> t = np.random.default_rng(0).uniform(-2, 2, 300)
    >>> X = np.column_stack([t, t**2, np.sin(t)])
    >>> X[0, 1] = np.nan
    >>> model = VariationalAutoencoder(1, random_state=0).fit(X)
    >>> bool(abs(model.impute(X)[0, 1] - t[0] ** 2) < 0.5)
    True
    """

    n_components: Any = "auto"
    _: KW_ONLY
    encoder_widths: Any = "auto"
    decoder_widths: Any = "auto"
    family: Any = "auto"
    by_column: Any = None
    noise: str = "column"
    scale: bool = True
    beta: float = 1.0
    warm_up: int = 0
    n_importance: Any = "auto"
    init: str = "linear"
    learning_rate: float = 5e-3
    weight_decay: float = 1e-2
    batch_size: Any = "auto"
    max_epochs: Any = "auto"
    patience: Any = "auto"
    validation_fraction: float = 0.1
    n_draws: int = 256
    refine: int = 10
    unknown: str = "error"
    device: str = "auto"
    mixed_precision: bool = False
    random_state: Any = None
    verbose: int = 0
    callback: Any = None
    n_jobs: int | None = None

    _saved = TableRows._saved | {
        "n_components_": Whole(1, high=10_000, size="k"),
        "frames_": Listed(Mapped()),
        "widths_": Listed(Listed(Whole(1, high=100_000), kind=tuple)),
        "weights_": Mapped(),
        "training_": Part(Training),
        "widening_": Part(Widening),
        "n_iter_": Whole(0),
    }
    parameter_draws = 0

    def _check_settings(self) -> None:
        check_autoencoder(self)
        check_choice("unknown", self.unknown, UNKNOWN)

    def _product(self, schema: Schema) -> Product:
        return self._described(schema, self.by_column)

    def _described(self, schema: Schema, named: Any) -> Product:
        from .networks.network import HEADS

        found = product_family(schema, self.family, named, "diag", floor=1e-6, smoothing=0.0)
        for family, columns in found.parts:
            if type(family).__name__ not in HEADS:
                known = sorted(name for name, kind in NAMED.items() if kind.__name__ in HEADS)
                raise ValueError(
                    f"column {schema.columns[columns[0]].name!r} is to be {type(family).__name__}, which a decoder does not "
                    f"give; use one of {', '.join(known)}, categorical, ordinal, vonmises."
                )
        return found

    def _validate(self, X: Any, *, reset: bool) -> Any:
        cells = super()._validate(X, reset=reset)
        single = getattr(X, "dtype", None) == np.float32
        return cells.astype(np.float32) if single and cells.dtype != np.float32 else cells

    # Learning

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, checkpoint: Any = None, checkpoint_every: float = 60
    ) -> Self:
        """Train the networks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), table, path, Arrow data, Dask collection or source
            Rows; NaN is missing.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights, of which only proportions matter.
        checkpoint : path, optional
            A file that keeps the state of training. If it exists, training goes on from there; it is removed at the end.
        checkpoint_every : float, default=60
            Seconds between writes of the checkpoint.

        Returns
        -------
        self
        """
        self._check_settings()
        from .networks.fitting import fitted

        source = self._open(X, sample_weight, reset=True)
        rng = self._rng()
        sample = host(source.sample(SAMPLE, np.random.default_rng(0)).X).astype(np.float64)
        positive = positive_columns(self.schema_, self.family_, sample, source) if self.family == "auto" else []
        taken = {name for key in self.by_column or () for name in (key if isinstance(key, tuple) else (key,))}
        if named := {name: "lognormal" for name in positive if name not in taken}:
            self.family_ = self._described(self.schema_, (self.by_column or {}) | named)
        n = len(source.eligible())
        self.widths_ = [widths(asked, n) for asked in (self.encoder_widths, self.decoder_widths)]
        fitted(self, source, sample, held_out(source, self.validation_fraction, rng), rng, checkpoint, checkpoint_every)
        return self

    def _sizes_for(self, n: int) -> tuple[int, int, int]:
        """Rows of a batch, patience and most epochs for so many rows."""
        return sizes(n, self.batch_size, self.patience, self.max_epochs)

    def _told_of(self) -> Callable | None:
        return ProgressLines(self.verbose, 10) if self.callback is None and self.verbose else self.callback

    # Rows behind vectors, and vectors behind rows

    def _network(self, device: str | None = None) -> Any:
        """The trained network in double precision."""
        from .networks.fitting import restored

        check_is_fitted(self)
        return restored(self, device)

    def _asked(self, block: Block, n_draws: int) -> Iterator[tuple[np.ndarray, tuple]]:
        """Rows of a block, as many as are asked about at a time, as arrays and as tensors; and the network."""
        from .networks.fitting import tensors, threads
        from .networks.posterior import chunks

        network, X = self._network(), host(block.X).astype(np.float64)
        with threads(1):  # blocks run side by side
            for rows in chunks(network, n_draws, len(X)):
                yield X[rows], (network, *tensors(network, X[rows]))

    def _weighed(self, block: Block) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Some rows of a block, outputs (draws, rows, n_out) and log weights (draws, rows)."""
        from .networks.posterior import weigh

        for X, given in self._asked(block, self.n_draws):
            eta, log_w = weigh(*given, self.n_draws, self.refine)
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

            parts = [moments(*given, self.refine) for _, given in self._asked(block, 1)]
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

    def _laws(self, network: Any, eta: np.ndarray, cells: tuple[np.ndarray, np.ndarray]) -> JoinedLaw:
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

    # Files

    def _check_loaded(self) -> None:
        TableRows._check_loaded(self)
        from .networks.fitting import check_weights

        check_weights(self)


def _drawn(law: Law, rng: np.random.Generator) -> np.ndarray:
    """One draw of every cell of a law of a single class."""
    if isinstance(law, QuantileLaw):
        return law.parts(rng.random((law.means.shape[0], 1)))[:, 0]
    if not isinstance(law, LevelLaw):
        raise TypeError(f"cells of a {type(law).__name__} cannot be drawn.")
    return law.drawn(np.ones((len(law.columns), 1)), rng)
