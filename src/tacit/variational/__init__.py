"""Variational inference: distributions of a simple form that are near a posterior, and the bound on the evidence they give."""

from .black_box import VariationalPosterior, variational_posterior
from .conjugate import MessagePassing, variational_gaussian, variational_probit, variational_regression
from .mean_field import MeanField, mean_field

__all__ = [
    "MeanField", "MessagePassing", "VariationalPosterior", "mean_field", "variational_gaussian", "variational_posterior",
    "variational_probit", "variational_regression",
]  # fmt: skip
