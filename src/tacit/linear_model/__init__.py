"""Linear models for regression and classification, with scikit-learn's names."""

from .logistic import LogisticRegression

__all__ = ["LogisticRegression"]
