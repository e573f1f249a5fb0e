"""The variational autoencoder of tables: estimator, and in `networks` what is computed by torch."""

from .estimator import VariationalAutoencoder

__all__ = ["VariationalAutoencoder"]
