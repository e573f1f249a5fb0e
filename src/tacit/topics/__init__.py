"""Non-negative factorisation and topics: what parts tables are made of, and what documents are about."""

from .factorisation.function import non_negative_factorization
from .factorisation.minibatch import MiniBatchNMF
from .factorisation.nmf import NMF
from .factorisation.topics import NMFTopics

__all__ = ["NMF", "MiniBatchNMF", "NMFTopics", "non_negative_factorization"]
