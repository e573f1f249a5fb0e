"""The page of the `tacit` command, written from its own parser: it cannot tell of an option that is not there."""

import argparse
import os
from pathlib import Path

from pages import write_page

OPENING = """# The command

`tacit COMMAND --help` says in the terminal what this page says. Exit codes: 0 all is well; 2 bad usage or input, with one line
that names the fault and the remedy; 130 stopped with Ctrl-C, nothing written. The same seed gives the same files, byte for byte.

"""


def commands(parser):
    """Commands and their parsers."""
    return next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction)).choices


def _cell(text):
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def _called(action):
    """An option with its value, as it is typed."""
    value = action.metavar or (
        "{" + ",".join(map(str, action.choices)) + "}" if action.choices else action.dest.upper()
    )
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    takes = action.nargs != 0
    return ", ".join(f"`{option} {value}`" if takes else f"`{option}`" for option in action.option_strings)


def section(name, parser):
    """What a command does, how it is called, and its options."""
    text = f"## {name}\n\n{_plain(parser.description)}\n\n```text\n{parser.format_usage().strip()}\n```\n\n"
    for group in parser._action_groups:
        rows = [action for action in group._group_actions if action.help != argparse.SUPPRESS]
        if rows:
            text += f"| {_cell(group.title)} | |\n|---|---|\n"
            text += "".join(f"| {_called(action)} | {_cell(_help(parser, action))} |\n" for action in rows) + "\n"
    return text + (f"{_plain(parser.epilog)}\n\n" if parser.epilog else "")


def _help(parser, action):
    return parser._get_formatter()._expand_help(action) if action.help else ""


def _plain(text):
    """Words of a parser as a paragraph; an example becomes code."""
    text = (text or "").strip()
    if text.startswith("example: "):
        return "".join(f"```sh\n{line.removeprefix('example: ').strip()}\n```\n" for line in text.splitlines())
    return text


def page(parser):
    """The whole page."""
    subparsers = commands(parser)
    return OPENING + "".join(section(name, own) for name, own in subparsers.items())


def write(app):
    os.environ["COLUMNS"] = "84"  # argparse wraps its usage by the width of the terminal
    from tacit.cli.main import build_parser

    write_page(Path(app.srcdir) / "command.md", page(build_parser()))


def setup(app):
    app.connect("builder-inited", write, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
