"""Classifiers made of the library's families: the case where every row's class is known."""

from .bayes import GaussianBayes, NaiveBayes
from .discriminant import MixtureDiscriminant

__all__ = ["GaussianBayes", "MixtureDiscriminant", "NaiveBayes"]
