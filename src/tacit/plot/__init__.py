"""Displays in scikit-learn's style: made ``from_…`` something, drawn by ``plot(ax)``; they need matplotlib."""

from .biplot import BiplotDisplay
from .calibration import CalibrationDisplay
from .clusters import ClustersDisplay
from .dendrogram import DendrogramDisplay
from .density import DensityDisplay
from .document_topics import DocumentTopicsDisplay
from .gate import GateDisplay
from .how_many import HowManyDisplay
from .imputation import ImputationDisplay
from .item_map import ItemMapDisplay
from .k_selection import KSelectionDisplay
from .loadings import LoadingsDisplay
from .merging import MergesDisplay
from .missingness import MissingnessDisplay
from .profiles import ProfilesDisplay
from .ratings import RatingsDisplay
from .responsibilities import ResponsibilitiesDisplay
from .scores import ScoresDisplay
from .scree import ScreeDisplay
from .selection import SelectionDisplay
from .silhouette import SilhouetteDisplay
from .spectrum import SpectrumDisplay
from .topic_choice import TopicChoiceDisplay
from .topic_map import TopicMapDisplay
from .topic_time import TopicTimeDisplay
from .topic_words import TopicWordsDisplay
from .trace import TraceDisplay

__all__ = [
    "BiplotDisplay", "CalibrationDisplay", "ClustersDisplay", "DendrogramDisplay", "DensityDisplay", "DocumentTopicsDisplay",
    "GateDisplay", "HowManyDisplay", "ImputationDisplay", "ItemMapDisplay", "KSelectionDisplay", "LoadingsDisplay",
    "MergesDisplay", "MissingnessDisplay", "ProfilesDisplay", "RatingsDisplay", "ResponsibilitiesDisplay", "ScoresDisplay",
    "ScreeDisplay", "SelectionDisplay", "SilhouetteDisplay", "SpectrumDisplay", "TopicChoiceDisplay", "TopicMapDisplay",
    "TopicTimeDisplay", "TopicWordsDisplay", "TraceDisplay",
]  # fmt: skip
