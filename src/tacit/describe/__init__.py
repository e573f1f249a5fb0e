"""What sets groups of rows apart from all rows: sums over columns, differences, and phrases for them."""

from .phrases import CLEAR, LEAST, STRONG, group_phrase, in_words, phrase
from .tallies import Tallies, defining, profile_of

__all__ = [
    "CLEAR", "LEAST", "STRONG", "Tallies", "defining", "group_phrase", "in_words", "phrase", "profile_of",
]  # fmt: skip
