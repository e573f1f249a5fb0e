"""Mixtures: one hidden class per row."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from .bayesian import BayesianGaussianMixture
    from .bootstrap import BootstrapTest, SequentialTest, bootstrap_lrt
    from .class_regression import LatentClassRegression
    from .conditional import ConditionalMixture
    from .directions import Directions, discriminant_directions
    from .experts import MixtureOfExperts
    from .experts_classifier import MixtureOfExpertsClassifier
    from .finding import Grouping, find_groups
    from .gaussian import GaussianMixture
    from .generic import Mixture
    from .merging import MergeTree, merge_components
    from .model import MixtureModel
    from .selection import Selection, select
    from .steps import ThreeStep, three_step
    from .student import StudentTMixture
    from .uncertainty import StandardErrors, standard_errors
    from .variational import VariationalMixture, VariationalPrior

__all__ = [
    "BayesianGaussianMixture", "BootstrapTest", "ConditionalMixture", "Directions", "GaussianMixture", "Grouping",
    "LatentClassRegression", "MergeTree", "Mixture", "MixtureModel", "MixtureOfExperts", "MixtureOfExpertsClassifier",
    "Selection", "SequentialTest", "StandardErrors", "StudentTMixture", "ThreeStep", "VariationalMixture", "VariationalPrior",
    "bootstrap_lrt", "discriminant_directions", "find_groups", "merge_components", "select", "standard_errors", "three_step",
]  # fmt: skip

__getattr__, __dir__ = lazily(__name__, {
    "bayesian": "BayesianGaussianMixture",
    "bootstrap": "BootstrapTest SequentialTest bootstrap_lrt",
    "class_regression": "LatentClassRegression",
    "conditional": "ConditionalMixture",
    "directions": "Directions discriminant_directions",
    "experts": "MixtureOfExperts",
    "experts_classifier": "MixtureOfExpertsClassifier",
    "finding": "Grouping find_groups",
    "gaussian": "GaussianMixture",
    "generic": "Mixture",
    "merging": "MergeTree merge_components",
    "model": "MixtureModel",
    "selection": "Selection select",
    "steps": "ThreeStep three_step",
    "student": "StudentTMixture",
    "uncertainty": "StandardErrors standard_errors",
    "variational": "VariationalMixture VariationalPrior",
})  # fmt: skip
