"""Print a script that lets a shell complete commands, options and their values.

Bash: tacit completion bash > ~/.local/share/bash-completion/completions/tacit. Zsh: tacit completion zsh > _tacit in a folder of
$fpath. Fish: tacit completion fish > ~/.config/fish/completions/tacit.fish.
"""

import argparse
import shlex
from argparse import ArgumentParser, Namespace
from typing import Any

from ..outcome import Outcome

HELP = "print completions for bash, zsh or fish"
EXAMPLE = "tacit completion bash"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("shell", choices=["bash", "zsh", "fish"], help="the shell")


def run(arguments: Namespace) -> Outcome:
    """Write the script from the parser itself."""
    from ..main import build_parser

    parsers = next(a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    helps = {action.dest: action.help or "" for action in parsers._choices_actions}
    commands = {name: (helps[name], _options(parser)) for name, parser in parsers.choices.items()}
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[arguments.shell](commands)
    return Outcome(script, {"shell": arguments.shell, "script": script})


def _options(parser: Any) -> list[tuple[str, str, list[str], bool]]:
    """Options of a command: name, help, choices, and whether a value follows."""
    shown = [action for action in parser._actions if action.help != argparse.SUPPRESS]
    return [
        (
            name,
            " ".join(str(action.help or "").replace("%%", "%").split()),
            [*map(str, action.choices or ())],
            action.nargs != 0,
        )
        for action in shown
        for name in action.option_strings
        if name.startswith("--")
    ]


def _words(words: Any) -> str:
    return shlex.quote(" ".join(words))


def _bash(commands: dict) -> str:
    cases, values = [], []
    for name, (_, options) in commands.items():
        cases.append(f"    {name}) words={_words(option for option, *_ in options)} ;;")
        values += [f"    '{name} {option}') words={_words(choices)} ;;" for option, _, choices, _ in options if choices]
        closed = "|".join(f"'{name} {option}'" for option, _, choices, takes in options if takes and not choices)
        values += [f"    {closed}) return ;;"] if closed else []
    return "\n".join([
        "# bash completion of tacit", "_tacit() {",
        "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words=",
        "  COMPREPLY=()",
        f"  if [ \"$COMP_CWORD\" -eq 1 ]; then COMPREPLY=($(compgen -W {_words(commands)} -- \"$word\")); return; fi",
        "  case \"$command $before\" in", *values, "  esac",
        "  if [ -n \"$words\" ]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\")); return; fi",
        "  case \"$word\" in -*) ;; *) return ;; esac", "  case \"$command\" in", *cases, "  esac",
        "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))", "}", "complete -o default -F _tacit tacit",
    ])  # fmt: skip


def _told(text: str, marks: str) -> str:
    """A help text without what a shell would read as its own."""
    return "".join(" " if letter in marks else letter for letter in text)


def _zsh(commands: dict) -> str:
    lines = ["#compdef tacit", "local -a commands", "commands=("]
    lines += [f"  '{name}:{_told(help, chr(39) + ':')}'" for name, (help, _) in commands.items()]
    lines += [")", "if (( CURRENT == 2 )); then _describe 'command' commands; return; fi", "case $words[2] in"]
    for name, (_, options) in commands.items():
        lines.append(f"{name}) _arguments \\")
        for option, help, choices, takes in options:
            value = f":value:({' '.join(choices)})" if choices else ":value:_files" if takes else ""
            lines.append(f"  '*{option}[{_told(help, chr(39) + '[]:')}]{value}' \\")
        lines.append("  '*:file:_files' ;;")
    return "\n".join([*lines, "esac"])


def _fish(commands: dict) -> str:
    lines = ["# fish completion of tacit"]
    for name, (help, options) in commands.items():
        lines.append(f"complete -c tacit -n __fish_use_subcommand -f -a {name} -d {shlex.quote(_told(help, chr(39)))}")
        for option, told, choices, takes in options:
            value = f" -x -a {_words(choices)}" if choices else " -r" if takes else ""
            when = f"-n '__fish_seen_subcommand_from {name}'"
            lines.append(f"complete -c tacit {when} -l {option[2:]}{value} -d {shlex.quote(_told(told, chr(39)))}")
    return "\n".join(lines)
