"""Variational inference: distributions of a simple form that are near a posterior, and the bound on the evidence they give."""

from .black_box import VariationalPosterior, variational_posterior
from .mean_field import MeanField, mean_field

__all__ = ["MeanField", "VariationalPosterior", "mean_field", "variational_posterior"]
