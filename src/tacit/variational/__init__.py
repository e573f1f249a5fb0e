"""Variational inference: distributions of a simple form that are near a posterior, and the bound on the evidence they give."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from .autoencoder import VariationalAutoencoder
    from .black_box import VariationalPosterior, variational_posterior
    from .conjugate import MessagePassing, variational_gaussian, variational_probit, variational_regression
    from .factorised import MeanField, mean_field

__all__ = [
    "MeanField", "MessagePassing", "VariationalAutoencoder", "VariationalPosterior", "mean_field", "variational_gaussian",
    "variational_posterior", "variational_probit", "variational_regression",
]  # fmt: skip

__getattr__, __dir__ = lazily(__name__, {
    "autoencoder": "VariationalAutoencoder",
    "black_box": "VariationalPosterior variational_posterior",
    "conjugate": "MessagePassing variational_gaussian variational_probit variational_regression",
    "factorised": "MeanField mean_field",
})  # fmt: skip
