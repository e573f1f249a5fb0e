"""Networks learned from rows: trees, search by score, tests of independence."""

from .climbing import hill_climb
from .constraint import independence_test, pc_stable
from .learn import find_structure, learn_structure
from .scores import score_structure
from .structure import Structure
from .tree import chow_liu, mutual_information

__all__ = [
    "Structure", "chow_liu", "find_structure", "hill_climb", "independence_test", "learn_structure", "mutual_information",
    "pc_stable", "score_structure",
]  # fmt: skip
