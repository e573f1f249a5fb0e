"""What the autoencoder computes by torch, which is loaded here and nowhere else."""

from importlib import import_module
from typing import Any

__all__ = ["torch"]

try:
    torch: Any = import_module("torch")
except ImportError as error:
    raise ImportError("VariationalAutoencoder needs torch; install it with: pip install 'tacit[gpu]'") from error
