"""Clusters without a distribution: rows near a centre, a medoid, or each other in a graph."""

from .centers import KMeansModel
from .functions import k_means, kmeans_plusplus
from .kmeans import KMeans
from .minibatch import MiniBatchKMeans

__all__ = ["KMeans", "KMeansModel", "MiniBatchKMeans", "k_means", "kmeans_plusplus"]
