"""The parser of the command line: help that fits the terminal, and one line with the remedy for whatever is mistyped."""

import argparse
import re
import sys
import textwrap
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NoReturn

__all__ = ["Help", "Parser", "whole_number"]

ABOVE = 2**32 - 1


class Help(argparse.HelpFormatter):
    """Paragraphs are broken to the terminal's width; lines that are indented stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        told = []
        for paragraph in textwrap.dedent(text).strip().split("\n\n"):
            kept = any(line.startswith("  ") for line in paragraph.splitlines())
            told.append(
                paragraph if kept else textwrap.fill(" ".join(paragraph.split()), width, break_on_hyphens=False)
            )
        return "\n\n".join(textwrap.indent(each, indent) for each in told)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **{"formatter_class": Help} | settings)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; what no command knows is told with the name that comes nearest."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self._of(getattr(found, "command", None)).refuse(unknown[0])
        return found

    def _of(self, command: str | None) -> Any:
        """The parser of a command; this one for none."""
        choices = (action.choices for action in self._actions if isinstance(action, argparse._SubParsersAction))
        return next(choices, {}).get(command or "", self)

    def refuse(self, word: str) -> NoReturn:
        """End because of a word that means nothing here."""
        if not word.startswith("-"):
            self.error(f"{word!r} is one word too many; put a name with spaces in quotes")
        option = word.partition("=")[0]
        near = get_close_matches(option, self._option_string_actions, 1)
        self.error(f"there is no option {option}" + (f"; did you mean {near[0]}?" if near else ""))

    def error(self, message: str) -> NoReturn:
        """End with one line."""
        print(f"tacit: {' '.join(_plain(message).split())} (see {self.prog} --help)", file=sys.stderr)
        sys.exit(2)


def _plain(message: str) -> str:
    """What argparse says, as this command says it."""
    option, _, fault = message.removeprefix("argument ").partition(": ")
    chosen = re.match(r"invalid choice: (.+?) \(choose from (.+)\)", fault)
    if chosen:
        given, choices = chosen[1].strip("'"), [word.strip("'") for word in chosen[2].split(", ")]
        near = get_close_matches(given, choices, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(choices)}"
        what = "command" if option == "COMMAND" else f"{option} value"
        return f"there is no {what} {given!r}; {hint}"
    if fault.startswith("expected"):
        return f"{option} needs a value"
    if message.startswith("the following arguments are required: "):
        return f"{fault} is missing"
    if message.startswith("ambiguous option: "):
        return message.removeprefix("ambiguous option: ").replace("could match", "is short for several options:")
    return f"{option}: {fault}" if fault else message


def whole_number(option: str, example: int, least: int = 0) -> Callable[[str], int]:
    """The type of an option that takes whole numbers from the least; errors advise the example."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number; say {option} {example}") from None
        if not least <= value <= ABOVE:
            raise argparse.ArgumentTypeError(f"{text!r} is not from {least} to {ABOVE:,}; say {option} {example}")
        return value

    return read
