"""Non-negative factorisation and topics: what parts tables are made of, and what documents are about."""

from .vectorizer import TextVectorizer

__all__ = ["TextVectorizer"]
