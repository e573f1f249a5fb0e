"""Clusters without a distribution: rows near a centre, a medoid, or each other in a graph."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from .centers import KMeansModel
    from .functions import k_means, kmeans_plusplus
    from .hierarchy import AgglomerativeClustering
    from .kmeans import KMeans
    from .kmedians import KMedians
    from .medians import KMediansModel
    from .medoids import KMedoids
    from .minibatch import MiniBatchKMeans
    from .report import ClusterReport, HowMany, cluster_report, how_many, k_curve  # type: ignore[no-redef]
    from .scaling import ColumnScaler
    from .soft import SoftKMeans, SoftKMeansModel
    from .spectral import SpectralClustering, cluster_qr, discretize, spectral_clustering

__all__ = [
    "AgglomerativeClustering", "ClusterReport", "ColumnScaler", "HowMany", "KMeans", "KMeansModel", "KMedians",
    "KMediansModel", "KMedoids", "MiniBatchKMeans", "SoftKMeans", "SoftKMeansModel", "SpectralClustering", "cluster_qr",
    "cluster_report", "discretize", "how_many", "k_curve", "k_means", "kmeans_plusplus", "spectral_clustering",
]  # fmt: skip

__getattr__, __dir__ = lazily(__name__, {
    "centers": "KMeansModel",
    "functions": "k_means kmeans_plusplus",
    "hierarchy": "AgglomerativeClustering",
    "kmeans": "KMeans",
    "kmedians": "KMedians",
    "medians": "KMediansModel",
    "medoids": "KMedoids",
    "minibatch": "MiniBatchKMeans",
    "report": "ClusterReport HowMany cluster_report how_many k_curve",
    "scaling": "ColumnScaler",
    "soft": "SoftKMeans SoftKMeansModel",
    "spectral": "SpectralClustering cluster_qr discretize spectral_clustering",
})  # fmt: skip
