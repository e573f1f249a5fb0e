"""`TableEstimator`: mixtures over tables of any columns."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..base import Task
from ..declared import Numbers
from ..families import Bernoulli, Categorical, Multinomial, Poisson, Product
from ..frames import is_table
from ..schema import Schema
from ..source import Source, is_streamed
from .columns import by_column, check_columns, product_family
from .description import Description
from .estimator import MixtureEstimator
from .knowledge import Knowledge, count_observed
from .table_rows import TableRows

__all__ = ["TableEstimator"]

SPARSE = {"bernoulli": Bernoulli, "multinomial": Multinomial, "poisson": Poisson}
"""Families of which rows may be sparse."""


class TableEstimator(TableRows, MixtureEstimator):
    """Base of mixtures over the rows of a table.

    A subclass has the settings `family`, `by_column`, `covariance_type`, `reg_covar`, `smoothing` and `unknown`.
    """

    _saved = MixtureEstimator._saved | TableRows._saved | {"observed_": Numbers("W d", low=0, optional=True)}
    observed_ = None

    @property
    def _takes_sparse(self) -> bool:  # type: ignore[override]
        return not self.by_column and (self.family in SPARSE or isinstance(self.family, tuple(SPARSE.values())))

    def _settle(self, schema: Schema) -> None:
        self.__dict__.pop("others_", None)
        super()._settle(schema)

    def _product(self, schema: Schema) -> Product:
        return product_family(
            schema, self.family, self.by_column, self.covariance_type, floor=self.reg_covar, smoothing=self.smoothing
        )

    def _family(self) -> Product:
        return self.family_

    def _learn(self, source: Source, **how: Any) -> Task:
        task = super()._learn(source, **how)
        self.observed_ = count_observed(self._model(), self._params(), source)
        return task

    # What was learned

    def _parameters(self, params: Any) -> dict[str, np.ndarray]:
        """All parameters by what they describe: arrays with one entry per group."""
        found = {"weights_": params.weight}
        for (part, columns), own in zip(self.family_.parts, params.components.parts):
            described = [self.schema_.columns[j] for j in columns]
            for name, value in part.parameters(own).items():
                found |= by_column(name, value, described, isinstance(part, Categorical))
        return found

    def describe(self) -> Description:
        """What each group looks like, column by column.

        Returns
        -------
        Description
            A dictionary that prints as a table. For a column of numbers ``{"family": name, "mean": array, "std": array}``, of a
            cyclic one mean directions and the ``"period"``;
            for a category or an ordinal column ``{"family": name, "probability": {level: array}}``, levels in order, with the
            ``"location"`` of an ordinal one in logits about the groups' mean. Arrays have one entry per group.
        """
        check_is_fitted(self)
        told: dict = {}
        for (part, columns), params in zip(self.family_.parts, self.params_.components.parts):
            family = type(part).__name__
            if isinstance(part, Categorical):
                for j, share in zip(columns, part.shares(params)):
                    levels = self.schema_.columns[j].levels or range(share.shape[1])
                    told[j] = {"family": family, "probability": dict(zip(levels, share.T))}
                place = part.parameters(params).get("location")
                for j, location in zip(columns, () if place is None else place.T):
                    told[j]["location"] = location
            else:
                for j, mean, std in zip(columns, part.mean(params).T, np.sqrt(part.variance(params)).T):
                    told[j] = {"family": family, "mean": mean, "std": std}
                    if self.schema_.columns[j].cycle:
                        told[j]["period"] = self.schema_.columns[j].cycle[1]
        return Description({self.schema_.columns[j].name: told[j] for j in range(len(told))})

    # Missing cells

    def _knowledge(self) -> Knowledge | None:
        known = None if self.observed_ is None else Knowledge(self.observed_)
        return None if known is None or known.is_whole else known

    def _only(self, X: Any, given: np.ndarray) -> np.ndarray:
        """The rows with all but the given cells taken out, whether or not X has the other columns."""
        if is_streamed(X) and not is_table(X):
            raise ValueError("this method takes a table in memory; read the part you need first.")
        others = np.setdiff1d(np.arange(self.n_features_in_), given)
        if is_table(X) and not isinstance(X, (np.ndarray, list, tuple)):
            cells = self.schema_.encode(X, [self.schema_.names[j] for j in others], self.unknown)
            check_columns(self.family_, cells, self.schema_)
            return cells
        X = np.array(X, dtype=None if hasattr(X, "dtype") else object)
        if X.ndim == 2 and X.shape[1] == len(given) < self.n_features_in_:
            whole = np.full((len(X), self.n_features_in_), np.nan, dtype=object)
            whole[:, given] = X
            X = whole
        cells = np.array(self._validate(X if self._coded() else X.astype(float), reset=False))
        cells[:, others] = np.nan
        return cells
