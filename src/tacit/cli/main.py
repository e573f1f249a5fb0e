"""`tacit`: entry point. Every module of `tacit.cli.commands` is a command.

Exit codes: 0 good; 1 a fault of tacit itself; 2 bad usage or input; 130 interrupted (143 terminated), with nothing written.
"""

import contextlib
import json
import os
import pkgutil
import signal
import sys
import threading
import warnings
from argparse import Namespace
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from .. import __version__
from . import commands
from .outcome import SCHEMA, plain
from .parser import Parser
from .roles import add_roles, taken
from .voice import said

__all__ = ["main"]

ORDER = (
    "fit",
    "impute",
    "reduce",
    "topics",
    "recommend",
    "segment",
    "network",
    "learn",
    "predict",
    "explain",
    "compare",
    "test",
    "report",
    "inspect",
    "datasets",
    "completion",
)
"""Commands in the order of their use; others come after them."""
EPILOG = """\
example:
  tacit datasets penguins                      writes penguins.csv
  tacit fit penguins.csv                       groups, filled cells and a report beside the table
  tacit predict penguins.fit.tacit penguins.csv  the groups of rows, new ones as well

Each command explains itself: tacit COMMAND --help"""


class Interrupted(BaseException):
    """A signal asked to stop; nothing between here and `main` may take it for an ordinary interrupt and go on."""


def build_parser() -> Parser:
    """The parser of the command line, with all commands."""
    what = "Learn what a table does not state: groups, missing cells, hidden axes."
    parser = Parser(prog="tacit", description=what, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"tacit {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    names = [module.name for module in pkgutil.iter_modules(commands.__path__) if not module.name.startswith("_")]
    names.sort(key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    modules = {name: import_module(f"{commands.__name__}.{name}") for name in names}
    parsers = {}
    for name, command in modules.items():
        own = subparsers.add_parser(
            name, help=command.HELP, description=command.__doc__, epilog=_example(command.EXAMPLE)
        )
        own.add_argument("--json", action="store_true", help="print the results as JSON, for programs")
        command.add_arguments(own)
        own.set_defaults(run=command.run)
        parsers[name] = own
    takes = {name: (*getattr(modules[name], "TAKES", ()), *taken(own)) for name, own in parsers.items()}
    for name, own in parsers.items():
        add_roles(own, takes[name], takes)
    return parser


def _example(line: str) -> str:
    """A command that works as it is printed, after those that write what it reads."""
    before = ["tacit datasets penguins"] if "penguins." in line else []
    before += ["tacit datasets earthquakes"] if "earthquakes." in line else []
    before += ["tacit datasets make ratings"] if "ratings." in line else []
    before += ["tacit fit penguins.csv"] if ".tacit" in line else []
    return "\n".join(["example:", *(f"  {each}" for each in [*before, line])])


class _Spared:
    """Says that pandas is not there: no command uses it, and Arrow would load it, which takes half a second of CPU."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    if argv is None and "pandas" not in sys.modules:  # a process of its own
        sys.meta_path.insert(0, _Spared)  # type: ignore[arg-type]
    parser = build_parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help()
        return 0
    with _stoppable(), warnings.catch_warnings():
        warnings.showwarning = _note
        return _run(arguments)


def _run(arguments: Namespace) -> int:
    try:
        outcome = arguments.run(arguments)
        told = {"schema": SCHEMA, "version": __version__, "command": arguments.command} | outcome.told
        print(json.dumps(plain(told), indent=1, allow_nan=False) if arguments.json else outcome.text)
        sys.stdout.flush()
        return 0
    except BrokenPipeError:  # the reader of the output has gone, as in `tacit inspect … | head`
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return 0
    except (KeyboardInterrupt, Interrupted) as stop:
        return _say("stopped; nothing was written.", 128 + (stop.args[0] if stop.args else signal.SIGINT))
    except MemoryError:
        return _say("out of memory; use fewer columns (--columns) or rows.", 2, debug=True)
    except (ImportError, OSError, ValueError) as error:
        return _say(said(getattr(error, "note", str(error))) or type(error).__name__, 2, debug=True)
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        remedy = "this is a fault of tacit; please report it, with the traceback that TACIT_DEBUG=1 shows."
        return _say(f"unexpected {what.rstrip('.')}; {remedy}", 1, debug=True)


def _say(message: str, code: int, debug: bool = False) -> int:
    """Write one line about what went wrong; return the exit code."""
    if debug and os.environ.get("TACIT_DEBUG"):
        import traceback

        traceback.print_exc()
    print(f"tacit: {' '.join(message.split())}", file=sys.stderr)
    return code


def _note(message: Warning | str, *place: Any, **more: Any) -> None:
    """Show a warning as one line."""
    print(f"tacit: note: {' '.join(str(message).split())}", file=sys.stderr)


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """Let signals end the command at once, wherever it is, so that what is half-written is taken away."""

    def stop(number: int, frame: Any) -> None:
        raise Interrupted(number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A second signal during the cleaning up is not needed: it takes no time.
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main())
