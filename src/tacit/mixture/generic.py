"""`Mixture`: groups of rows in a table of any columns, p(x) = Σ_k π_k Π_f p_f(x_f | θ_kf).

Continuous columns share one Gaussian block, with whatever covariance structure, beside categories and counts; a missing cell
of any kind is integrated out.
"""

import numbers
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from ..base.missing import impute_cells
from ..base.settings import KW_ONLY, settings
from ..checks import check_choice, check_number
from ..declared import Listed, Part
from ..families import Categorical
from ..frames import aligned
from ..schema import UNKNOWN, Schema, container_of
from ..source import Block
from .columns import kinds_of
from .model import MixtureParams
from .tabular import TableEstimator

__all__ = ["Mixture"]


@settings
class Mixture(TableEstimator):
    """Mixture over tables of measurements, counts, categories and yes/no columns, with missing cells.

    Parameters
    ----------
    n_components : int, default=1
        Number of groups.
    family : str or Family, default="auto"
        What describes the columns that `by_column` does not name. ``"auto"`` goes by kind: continuous columns are jointly
        Gaussian, categories categorical, ordinal columns ordinal, cyclic ones von Mises, counts Poisson or negative binomial, whichever ``schema_``
        found better. A name or a :class:`tacit.families.Family` describes them all,
        and may be your own: three methods make one (``log_prob``, ``stats``, ``m_step``).
    by_column : dict, optional
        Families of columns, by name or by tuple of names that are described together:
        ``{"visits": "negative_binomial", ("height", "weight"): "gaussian"}``. Columns of arrays are named 0, 1, …
    covariance_type : str, default="full"
        Structure of Gaussian and Student t blocks, as in :class:`tacit.mixture.GaussianMixture`.
    smoothing : float, default=0.0
        Rows' worth added to every level of a category in every group (a Dirichlet prior), so that no level is impossible.
    weight_prior : float, optional
        α ≥ 1 of a Dirichlet prior on the weights of the groups.
    noise : bool, default=False
        Add a class of noise after the groups, as in :class:`tacit.mixture.GaussianMixture`: cells spread evenly over the range of
        their column, or over its levels.
    unknown : {"error", "missing"}, default="error"
        What to do about levels of a category that did not occur at fit, when they come up in rows given later: refuse the
        rows, naming levels and column, or take such cells as missing.
    tol, reg_covar, max_iter, n_init, init_params, random_state, warm_start, parameter_draws, verbose, verbose_interval, convergence, accelerate, n_jobs, device, callback
        As in :class:`tacit.mixture.GaussianMixture`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Sizes of the groups, as shares; with noise one more, the last, which is its share.
    schema_ : tacit.schema.Schema
        Names, kinds and levels of the columns.
    family_ : tacit.families.Product
        The families and the columns each describes.
    params_ : tacit.mixture.model.MixtureParams
        All parameters; `describe` tells them by column.
    left_out_ : tuple of str
        Columns of the table that `tacit.mixture.find_groups` left out, which tables given later may have.
    observed_ : ndarray of shape (n_components, n_features_in_) or None
        Observed cells of every column in every group, where cells were missing at fit: a cell that is likely in a group which
        has seen fewer than two of its column stays missing in `impute`.
    converged_, n_iter_, lower_bound_, lower_bounds_, fit_
        As in :class:`tacit.mixture.GaussianMixture`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Hunt and Jorgensen (2003), Mixture model clustering for mixed data with missing information.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import Mixture
    >>> X = [["red", 1.0], ["red", 1.2], ["red", None], ["blue", 5.0], [None, 5.1], ["blue", 4.7]]
    >>> mixture = Mixture(2, random_state=0).fit(X)
    >>> mixture.impute(X)[4, 0]
    'blue'
    """  # noqa: E501

    _: KW_ONLY
    family: Any = "auto"
    by_column: Any = None
    smoothing: float = 0.0
    weight_prior: Any = None
    unknown: str = "error"
    noise: bool = False

    _saved = TableEstimator._saved | {
        "params_": Part(MixtureParams),
        "others_": Listed(Part(lambda: Mixture, same=("d",)), needed=False),
    }
    _study = "groups"

    def _check_settings(self) -> None:
        super()._check_settings()
        check_number("smoothing", self.smoothing, numbers.Real, 0)
        if not isinstance(self.by_column, (dict, type(None))):
            raise ValueError(f"by_column={self.by_column!r} is not a dictionary of columns and their families.")
        kinds_of(self.family, self.by_column)
        check_choice("unknown", self.unknown, UNKNOWN)

    def _publish(self, params: MixtureParams, dtype: np.dtype) -> None:
        self.params_ = params
        self.weights_ = params.weight

    def _order_by_weight(self) -> None:
        """Number the components by their weights, the largest first."""
        order = np.argsort(-self.weights_[: self.n_components], kind="stable")
        params = self._model().permute(self._params(), order)
        self._publish_fit(replace(self.fit_, params=params, stats=None), params.weight.dtype)
        if self.observed_ is not None:
            self.observed_[: len(order)] = self.observed_[order]
        self._online = None  # sums in the former order

    def _params(self) -> MixtureParams:
        return MixtureParams(np.asarray(self.weights_, dtype=np.float64), self.params_.components)

    def _for_study(self) -> Self:
        """The same with texts for the names of columns."""
        names = [
            f"column_{name + 1}" if isinstance(name, numbers.Integral) else str(name) for name in self.schema_.names
        ]
        columns = [replace(column, name=name) for name, column in zip(names, self.schema_.columns)]
        mixture = copy(self)
        mixture.schema_ = replace(self.schema_, columns=tuple(columns))
        return mixture

    def predict_given(self, X: Any, given: Any = None, target: Any = None, return_std: bool = False) -> Any:
        """Expectation of some columns given others; a category's most probable level.

        Parameters
        ----------
        X : DataFrame, Arrow table or array-like
            A table with the given columns, or an array of all columns or of all but the target. None and NaN are missing.
        given, target : name or list of names, optional
            What is known and what is asked for; columns of arrays are named 0, 1, … One of the two may be left out and is
            then all other columns; a column in neither is integrated out.
        return_std : bool, default=False
            As in `impute`.

        Returns
        -------
        predicted : table of the target columns, of the kind of X
            Categories have the type that they had at fit; expectations of whole numbers have decimals.
        std : ndarray of shape (n_samples, n_targets)
            Only if `return_std`.
        """
        given, target = self._given_and_target(given, target)
        cells, spread = impute_cells(self, self._only(X, given), "std")
        columns = [self.schema_.columns[j] for j in target]
        chosen = [column if column.levels else replace(column, type="") for column in columns]
        predicted = aligned(Schema(tuple(chosen), container_of(X)).decode(cells[:, target]), X)
        return (predicted, spread[:, target]) if return_std else predicted

    def predict_level(self, X: Any, target: Any, given: Any = None) -> np.ndarray:
        """Probability of every level of a category or an ordinal column given other columns.

        Parameters
        ----------
        X, given
            As in `predict_given`.
        target : name
            The category or ordinal column.

        Returns
        -------
        ndarray of shape (n_samples, n_levels)
            The levels are in the order of ``schema_``.
        """
        given, (j,) = self._given_and_target(given, [target])
        model, uncertain, block = self._model(), self._uncertain(), Block.of(self._only(X, given))
        for number, (part, columns) in enumerate(self.family_.parts):
            if j in columns and isinstance(part, Categorical):
                own, (family, _) = block.select(columns), getattr(model.family, "parts")[number]  # noqa: B009
                laws = [family.law(params.components.parts[number], own) for params in uncertain]
                weights = [model.posterior(params, block)[0][own.missing_cells[0]] for params in uncertain]
                each = [law.levels(columns.index(j), weight) for law, weight in zip(laws, weights)]
                return sum(each, np.zeros(())) / len(uncertain)
        kind = self.schema_.columns[j].kind
        raise ValueError(f"column {target!r} is {kind}, not described by a family of levels; use predict_given.")

    def sample(self, n_samples: int = 1) -> tuple[Any, np.ndarray]:
        """Draw rows from the fitted distribution, as a table of the kind seen at fit, and the group of each."""
        cells, classes = super().sample(n_samples)
        return (self.schema_.decode(cells) if self._coded() or self.schema_.container != "numpy" else cells), classes
