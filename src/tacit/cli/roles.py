"""Roles of columns that options name, by one grammar for all commands: a command says which it takes in ``TAKES``."""

from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["ROLES", "add_roles"]

ROLES = {
    "target": "the column to predict",
    "user": "the column that says who rated",
    "item": "the column that says what was rated",
    "rating": "the column of ratings",
    "time": "the column that says when a row was",
    "by": "the column whose values divide the rows; NAME=A,B takes those of two values",
    "text": "the column of texts",
    "weight": "the column that says how many rows a row stands for",
}
"""Roles by the name of their option, and what each is."""


class Refuse(Action):
    """Refuse an option that a command has no use for, saying which command has."""

    def __call__(self, parser: Any, *given: Any) -> None:
        name = self.dest
        users = [verb for verb, takes in self.const.items() if name in takes]
        where = f"tacit {' and tacit '.join(users)} can" if users else "no command of this version does"
        parser.error(f"{parser.prog} does not use --{name} ({ROLES[name]}); {where}")


def add_roles(parser: ArgumentParser, takes: Iterable[str], verbs: Mapping[str, tuple[str, ...]]) -> None:
    """Declare the roles that a command takes, and refuse the others; `verbs` has those of all commands."""
    taken = [name for name in ROLES if name in takes]
    if taken:
        group = parser.add_argument_group("roles")
        for name in taken:
            group.add_argument(f"--{name}", metavar="NAME", help=ROLES[name])
    for name in ROLES:
        if name not in takes:
            parser.add_argument(f"--{name}", nargs="?", action=Refuse, const=dict(verbs), help=SUPPRESS)
