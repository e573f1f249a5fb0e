"""Options with one meaning for all commands, refused where a command has no use for them.

Roles of columns follow one grammar: a command says which it takes in ``TAKES``. What else is shared, a command declares itself.
"""

from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Iterable, Mapping
from typing import Any

from ..words import joined

__all__ = ["ROLES", "SHARED", "add_roles", "taken"]

ROLES = {
    "target": "the column to predict",
    "user": "the column that says who rated",
    "item": "the column that says what was rated",
    "rating": "the column of ratings",
    "sequence": "the column that says which series a row belongs to",
    "time": "the column that says when a row was",
    "by": "the column whose values divide the rows; NAME=A,B takes those of two values",
    "text": "the column of texts",
    "weight": "the column that says how many rows a row stands for",
}
"""Roles by the name of their option, and what each is."""
SHARED = {
    "family": "what numbers are like inside a group",
    "check": "how often what is claimed is checked",
    "budget": "the time for choosing a model",
}
"""Other options that mean the same wherever they mean something."""


class Refuse(Action):
    """Refuse an option that a command has no use for, saying which command has."""

    def __call__(self, parser: Any, *given: Any) -> None:
        name = self.dest
        users = [verb for verb, takes in self.const.items() if name in takes]
        where = f"{joined(f'tacit {verb}' for verb in users)} can" if users else "no command of this version does"
        parser.error(f"{parser.prog} does not use --{name} ({(ROLES | SHARED)[name]}); {where}")


def taken(parser: ArgumentParser) -> tuple[str, ...]:
    """The shared options that a command has declared."""
    return tuple(name for name in SHARED if f"--{name}" in parser._option_string_actions)


def add_roles(parser: ArgumentParser, takes: Iterable[str], verbs: Mapping[str, tuple[str, ...]]) -> None:
    """Declare the roles that a command takes, and refuse what it does not take; `verbs` has what all commands take."""
    roles, own = [name for name in ROLES if name in takes], taken(parser)
    if roles:
        group = parser.add_argument_group("roles")
        for name in roles:
            group.add_argument(f"--{name}", metavar="NAME", help=ROLES[name])
    for name in (*ROLES, *SHARED):
        if name not in roles and name not in own:
            parser.add_argument(f"--{name}", nargs="?", action=Refuse, const=dict(verbs), help=SUPPRESS)
