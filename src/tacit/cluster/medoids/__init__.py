"""Medoids: clusters around rows of the data, for any dissimilarity."""

from .kmedoids import KMedoids

__all__ = ["KMedoids"]
