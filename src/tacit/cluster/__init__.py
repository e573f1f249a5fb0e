"""Clusters without a distribution: rows near a centre, a medoid, or each other in a graph."""

from .centers import KMeansModel
from .kmeans import KMeans
from .medoids import KMedoids

__all__ = ["KMeans", "KMeansModel", "KMedoids"]
