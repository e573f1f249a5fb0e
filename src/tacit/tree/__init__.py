"""Decision trees: a column and a threshold, or a set of levels, at every node.

At each node the split is taken that lowers most the weighted impurity: max W I − W_left I_left − W_right I_right.
"""

from .classifier import DecisionTreeClassifier, ExtraTreeClassifier
from .grown import Forest, Tree
from .growth import Ranked, Rules, Targets, grow
from .pruning import Complexity
from .regressor import DecisionTreeRegressor, ExtraTreeRegressor
from .shap import Explanation, shap_values

__all__ = [
    "Complexity", "DecisionTreeClassifier", "DecisionTreeRegressor", "Explanation", "ExtraTreeClassifier",
    "ExtraTreeRegressor", "Forest", "Ranked", "Rules", "Targets", "Tree", "grow", "shap_values",
]  # fmt: skip
