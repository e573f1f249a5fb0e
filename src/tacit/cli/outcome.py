"""`Outcome`: what a command has to say, to people and to programs."""

from dataclasses import dataclass, field

__all__ = ["Outcome"]


@dataclass(frozen=True)
class Outcome:
    """What came out.

    Attributes
    ----------
    text : str
        For people.
    data : dict
        The same for programs (``--json``): anything JSON can hold.
    """

    text: str
    data: dict = field(default_factory=dict)
