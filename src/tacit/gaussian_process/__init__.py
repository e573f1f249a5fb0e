"""Regression and classification by Gaussian processes, whose hyperparameters are learned by the marginal likelihood."""

from .classifier import GaussianProcessClassifier
from .regressor import GaussianProcessRegressor

__all__ = ["GaussianProcessClassifier", "GaussianProcessRegressor"]
