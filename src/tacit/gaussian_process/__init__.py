"""Regression and classification by Gaussian processes, whose hyperparameters are learned by the marginal likelihood."""

from . import kernels
from .regressor import GaussianProcessRegressor

__all__ = ["GaussianProcessRegressor", "kernels"]
