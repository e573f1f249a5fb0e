"""What the autoencoder computes by torch, which is loaded here and nowhere else."""

try:
    import torch
except ImportError as error:
    raise ImportError("VariationalAutoencoder needs torch; install it with: pip install 'tacit[gpu]'") from error

__all__ = ["torch"]
