"""Clusters without a distribution: rows near a centre, a medoid, or each other in a graph."""

from .centers import KMeansModel
from .kmeans import KMeans
from .kmedians import KMedians
from .medians import KMediansModel
from .medoids import KMedoids
from .soft import SoftKMeans, SoftKMeansModel

__all__ = [
    "KMeans",
    "KMeansModel",
    "KMedians",
    "KMediansModel",
    "KMedoids",
    "SoftKMeans",
    "SoftKMeansModel",
]
