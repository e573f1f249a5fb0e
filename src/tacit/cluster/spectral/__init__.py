"""Spectral clustering: graphs of rows, their Laplacians, and what eigenvectors tell."""

from .assign import cluster_qr, discretize
from .estimator import SpectralClustering, spectral_clustering

__all__ = ["SpectralClustering", "cluster_qr", "discretize", "spectral_clustering"]
