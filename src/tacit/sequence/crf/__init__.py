"""Linear-chain conditional random fields: labels of steps given what is known of the steps."""

from .field import LinearChainCRF
from .schemes import scheme_pairs

__all__ = ["LinearChainCRF", "scheme_pairs"]
