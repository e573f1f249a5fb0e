"""Clusters without a distribution: rows near a centre, a medoid, or each other in a graph."""

from .assign import cluster_qr, discretize
from .centers import KMeansModel
from .kmeans import KMeans
from .medoids import KMedoids
from .spectral import SpectralClustering, spectral_clustering

__all__ = [
    "KMeans",
    "KMeansModel",
    "KMedoids",
    "SpectralClustering",
    "cluster_qr",
    "discretize",
    "spectral_clustering",
]
