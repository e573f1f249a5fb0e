"""Clusters without a distribution: rows near a centre, a medoid, or each other in a graph."""

from .centers import KMeansModel
from .functions import k_means, kmeans_plusplus
from .hierarchy import AgglomerativeClustering
from .kmeans import KMeans
from .kmedians import KMedians
from .medians import KMediansModel
from .medoids import KMedoids
from .minibatch import MiniBatchKMeans
from .report import ClusterReport, HowMany, cluster_report, how_many, k_curve
from .scaling import ColumnScaler
from .soft import SoftKMeans, SoftKMeansModel
from .spectral import SpectralClustering, cluster_qr, discretize, spectral_clustering

__all__ = [
    "AgglomerativeClustering", "ClusterReport", "ColumnScaler", "HowMany", "KMeans", "KMeansModel", "KMedians",
    "KMediansModel", "KMedoids", "MiniBatchKMeans", "SoftKMeans", "SoftKMeansModel", "SpectralClustering", "cluster_qr",
    "cluster_report", "discretize", "how_many", "k_curve", "k_means", "kmeans_plusplus", "spectral_clustering",
]  # fmt: skip
