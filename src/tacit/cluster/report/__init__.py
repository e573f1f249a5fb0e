"""What clusters are: sizes, silhouettes, scores, and the columns that set each apart."""

from .curve import k_curve
from .report import ClusterReport, cluster_report

__all__ = ["ClusterReport", "cluster_report", "k_curve"]
