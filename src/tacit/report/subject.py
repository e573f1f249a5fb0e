"""`Subject`: a fitted model and a table, made ready to be studied.

Studies take a mixture over named columns; a `GaussianMixture` or `StudentTMixture` of an array becomes one, with the same
parameters.
"""

import copy
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..factor import FactorAnalysis, ProbabilisticPCA
from ..families import Product
from ..families.product import ProductParams
from ..mixture import BayesianGaussianMixture, GaussianMixture, Mixture, StudentTMixture
from ..mixture.model import MixtureParams
from ..schema import Column, Schema
from ..tables import DataTable, open_table
from .scoring import level_text

__all__ = ["Subject", "columns_of", "named", "subject_of"]

ROLES = {"continuous": "measurement", "count": "count", "category": "category"}


@dataclass(frozen=True)
class Subject:
    """What is studied.

    Attributes
    ----------
    model : Mixture, ProbabilisticPCA or FactorAnalysis
    table : DataTable
        With the columns of the model.
    """

    model: object
    table: DataTable

    def study(self, selection=(), seed=0):
        """The findings."""
        if isinstance(self.model, Mixture):
            from .groups import study_groups

            return study_groups(self.model, self.table, selection=selection, seed=seed)
        from .axes import study_axes

        return study_axes(self.model, self.table, seed=seed)


def subject_of(model, X, **reading):
    """The model and the rows of X as a `Subject`.

    Parameters
    ----------
    model : estimator
        Fitted: Mixture, GaussianMixture, StudentTMixture, ProbabilisticPCA or FactorAnalysis.
    X : table in memory or path
        As `tacit.tables.open_table` takes it, or rows as lists.
    **reading
        As in `tacit.tables.open_reader`.
    """
    check_is_fitted(model)
    model = named(model)
    if isinstance(X, (list, tuple)):
        X = np.array(X, dtype=object)
    if isinstance(X, np.ndarray) and X.ndim == 2:
        _check_width(model, X.shape[1])
    if isinstance(X, np.ndarray):
        X = dict(zip((column["name"] for column in columns_of(model)), X.T))
    return Subject(model, open_table(X, like=columns_of(model), **reading))


def _check_width(model, width):
    expected = len(columns_of(model))
    if width != expected:
        raise ValueError(
            f"X has {width} columns, but the model was fitted to {expected}; give the rows it was fitted to."
        )


def columns_of(model):
    """The columns of a model as the notes of a model file have them, to open a table by."""
    if not hasattr(model, "schema_"):
        names = _names(model)
        return [{"name": name, "role": "measurement", "reading": "number", "levels": []} for name in names]
    return [
        {
            "name": str(column.name), "role": ROLES[column.kind], "reading": "text" if column.levels else "number",
            "levels": [level_text(level) for level in column.levels],
        }
        for column in model.schema_.columns
    ]  # fmt: skip


def _names(model):
    """Names of the columns; those of arrays are called as `open_table` calls them."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return [f"column_{position + 1}" for position in range(model.n_features_in_)]
    return [str(name) for name in names]


def named(model):
    """The model as studies take it."""
    if isinstance(model, Mixture):
        model = copy.copy(model)
        model.schema_ = _renamed(model.schema_)
        return model
    if isinstance(model, (ProbabilisticPCA, FactorAnalysis)):
        return model
    # Groups of a Bayesian mixture are no Gaussians: their parameters are uncertain.
    if not isinstance(model, (GaussianMixture, StudentTMixture)) or isinstance(model, BayesianGaussianMixture):
        raise TypeError(
            f"{type(model).__name__} cannot be reported on; use Mixture, GaussianMixture, StudentTMixture, ProbabilisticPCA or "
            "FactorAnalysis."
        )
    return _as_mixture(model, model._model().family)


def _renamed(schema):
    """A schema whose columns all have texts for names."""
    names = [f"column_{name + 1}" if isinstance(name, (int, np.integer)) else str(name) for name in schema.names]
    columns = [Column(name, column.kind, column.levels) for name, column in zip(names, schema.columns)]
    return Schema(tuple(columns), schema.container)


def _as_mixture(model, family):
    """A mixture of one family as a `Mixture` of one block of columns."""
    params = model._params()
    mixture = Mixture(model.n_components, covariance_type=model.covariance_type, n_jobs=model.n_jobs)
    mixture.schema_ = Schema(tuple(Column(name, "continuous") for name in _names(model)))
    mixture.family_ = Product([(family, range(model.n_features_in_))])
    mixture.n_features_in_ = model.n_features_in_
    for name in ("fit_", "converged_", "n_iter_", "lower_bound_", "lower_bounds_"):
        setattr(mixture, name, getattr(model, name))
    mixture.weights_ = params.weight
    mixture.params_ = MixtureParams(params.weight, ProductParams((params.components,)))
    return mixture
