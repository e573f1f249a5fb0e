"""What clusters are: sizes, silhouettes, scores, and the columns that set each apart."""

from .curve import k_curve
from .how_many import HowMany, how_many
from .report import ClusterReport, cluster_report

__all__ = ["ClusterReport", "HowMany", "cluster_report", "how_many", "k_curve"]
