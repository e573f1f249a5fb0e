"""Displays in scikit-learn's style: made ``from_…`` something, drawn by ``plot(ax)``; they need matplotlib."""

from .biplot import BiplotDisplay
from .calibration import CalibrationDisplay
from .clusters import ClustersDisplay
from .comparison import ComparisonDisplay
from .curve import CurveDisplay
from .decision_regions import DecisionRegionsDisplay
from .dendrogram import DendrogramDisplay
from .density import DensityDisplay
from .document_topics import DocumentTopicsDisplay
from .evidence import EvidenceDisplay
from .forecast import ForecastDisplay
from .gate import GateDisplay
from .how_many import HowManyDisplay
from .importances import ImportancesDisplay
from .imputation import ImputationDisplay
from .item_map import ItemMapDisplay
from .k_selection import KSelectionDisplay
from .loadings import LoadingsDisplay
from .merging import MergesDisplay
from .missingness import MissingnessDisplay
from .network import NetworkDisplay
from .partial_dependence import PartialDependenceDisplay
from .power import PowerDisplay
from .predictive_fan import PredictiveFanDisplay
from .profiles import ProfilesDisplay
from .ratings import RatingsDisplay
from .regimes import RegimeDisplay
from .reliability import ReliabilityDisplay
from .responsibilities import ResponsibilitiesDisplay
from .rounds import RoundsDisplay
from .scores import ScoresDisplay
from .scree import ScreeDisplay
from .selection import SelectionDisplay
from .silhouette import SilhouetteDisplay
from .sparsity import SparsityDisplay
from .spectrum import SpectrumDisplay
from .state_posterior import StatePosteriorDisplay
from .topic_choice import TopicChoiceDisplay
from .topic_map import TopicMapDisplay
from .topic_time import TopicTimeDisplay
from .topic_words import TopicWordsDisplay
from .trace import TraceDisplay
from .transition_weights import TransitionWeightsDisplay
from .transitions import TransitionGraphDisplay
from .tree import TreeDisplay

__all__ = [
    "BiplotDisplay", "CalibrationDisplay", "ClustersDisplay", "ComparisonDisplay", "CurveDisplay",
    "DecisionRegionsDisplay", "DendrogramDisplay",
    "DensityDisplay", "DocumentTopicsDisplay", "EvidenceDisplay", "ForecastDisplay", "GateDisplay", "HowManyDisplay",
    "ImportancesDisplay", "ImputationDisplay", "ItemMapDisplay", "KSelectionDisplay", "LoadingsDisplay",
    "MergesDisplay", "MissingnessDisplay", "NetworkDisplay", "PartialDependenceDisplay", "PowerDisplay", "PredictiveFanDisplay",
    "ProfilesDisplay", "RatingsDisplay", "RegimeDisplay", "ReliabilityDisplay", "ResponsibilitiesDisplay",
    "RoundsDisplay", "ScoresDisplay", "ScreeDisplay", "SelectionDisplay", "SilhouetteDisplay", "SparsityDisplay",
    "SpectrumDisplay", "StatePosteriorDisplay", "TopicChoiceDisplay", "TopicMapDisplay", "TopicTimeDisplay",
    "TopicWordsDisplay", "TraceDisplay", "TransitionGraphDisplay", "TransitionWeightsDisplay",
    "TreeDisplay",
]  # fmt: skip
