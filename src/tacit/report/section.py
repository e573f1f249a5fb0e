"""`Section`: a part of the page."""

from dataclasses import dataclass

from .markup import Markup

__all__ = ["Section"]


@dataclass(frozen=True)
class Section:
    """A part of the page, with a heading.

    Attributes
    ----------
    name : str
        Its anchor.
    title : str
        Its heading.
    short : str
        What the navigation calls it.
    body : Markup
    lead : str
        One or two sentences that say what it shows and how to read it.
    """

    name: str
    title: str
    short: str
    body: Markup
    lead: str = ""
