"""`VariationalAutoencoder`: z ~ N(0, I), p(x | z) = Π_j p_j(x_j | η_j(z)), η a network; cells are of the library's families.

A second network, the encoder, gives q(z | x_O) of a row's observed cells O. Both are trained by the bound of the log density,

    log p(x_O) ≥ E_q [log p(x_O | z)] − β KL(q(z | x_O) ‖ N(0, I)),

and answers about rows weigh draws of z by p(x_O | z) p(z) / q(z).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from ...base.settings import KW_ONLY, settings
from ...checks import check_choice
from ...declared import Listed, Mapped, Part, Whole
from ...engine import ProgressLines
from ...families import NAMED, Product
from ...kernels import host
from ...mixture.columns import product_family
from ...mixture.table_rows import TableRows
from ...schema import UNKNOWN, Schema
from .answers import RowAnswers
from .calibration import Widening
from .record import Training
from .settings import check_autoencoder, held_out, positive_columns, sizes, widths

__all__ = ["VariationalAutoencoder"]

SAMPLE = 20_000
"""Rows that cells are measured by."""


@settings
class VariationalAutoencoder(RowAnswers):
    """A vector behind every row of any table, by networks.

    Measurements, counts, yes/no columns, categories, ordinal and cyclic columns are each described by their family; missing cells
    are left out of the bound, and told to the encoder. Pictures are rows of pixels. Needs torch, which is the extra ``gpu``.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Length of z; "auto" takes as many as :class:`tacit.factor.ProbabilisticPCA` chooses for the linear model that training
        starts from: by hidden cells, or by parallel analysis where columns have levels.
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

    # Files

    def _check_loaded(self) -> None:
        TableRows._check_loaded(self)
        from .networks.fitting import check_weights

        check_weights(self)
