"""Nearest neighbours by any dissimilarity, and what they predict."""

from .classes import KNeighborsClassifier, RadiusNeighborsClassifier
from .means import KNeighborsRegressor, RadiusNeighborsRegressor
from .unsupervised import NearestNeighbors

__all__ = [
    "KNeighborsClassifier", "KNeighborsRegressor", "NearestNeighbors", "RadiusNeighborsClassifier", "RadiusNeighborsRegressor",
]  # fmt: skip
