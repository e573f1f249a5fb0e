"""Decision trees: a column and a threshold, or a set of levels, at every node."""

from .grown import Forest, Tree
from .shap import Explanation, shap_values

__all__ = ["Explanation", "Forest", "Tree", "shap_values"]
