"""Classifiers made of the library's families: the case where every row's class is known."""

from .bayes import GaussianBayes, NaiveBayes

__all__ = ["GaussianBayes", "NaiveBayes"]
