"""Clusters without a distribution: rows near a centre, a medoid, or each other in a graph."""

from .assign import cluster_qr, discretize
from .centers import KMeansModel
from .functions import k_means, kmeans_plusplus
from .kmeans import KMeans
from .medoids import KMedoids
from .minibatch import MiniBatchKMeans
from .spectral import SpectralClustering, spectral_clustering

__all__ = [
    "KMeans",
    "KMeansModel",
    "KMedoids",
    "MiniBatchKMeans",
    "SpectralClustering",
    "cluster_qr",
    "discretize",
    "k_means",
    "kmeans_plusplus",
    "spectral_clustering",
]
