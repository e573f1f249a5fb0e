"""Clusters without a distribution: rows near a centre, a medoid, or each other in a graph."""

from .medoids import KMedoids

__all__ = ["KMedoids"]
