"""`tacit`: entry point. Every module of `tacit.cli.commands` is a command."""

import argparse
import json
import os
import pkgutil
import sys
from importlib import import_module

from .. import __version__
from . import commands

__all__ = ["main"]


def build_parser():
    """The parser of the command line, with all commands."""
    parser = argparse.ArgumentParser(prog="tacit", description="Learn what a table does not state.")
    parser.add_argument("--version", action="version", version=f"tacit {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in pkgutil.iter_modules(commands.__path__):
        if not module.name.startswith("_"):
            command = import_module(f"{commands.__name__}.{module.name}")
            own = subparsers.add_parser(
                module.name, help=command.HELP, description=command.__doc__, epilog=f"example: {command.EXAMPLE}",
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )  # fmt: skip
            own.add_argument("--json", action="store_true", help="print the results as JSON, for programs")
            command.add_arguments(own)
            own.set_defaults(run=command.run)
    return parser


def main(argv=None):
    """Run the command line; return the exit code: 0 good, 2 bad usage or input, 130 interrupted."""
    arguments = build_parser().parse_args(argv)
    try:
        outcome = arguments.run(arguments)
        print(json.dumps(outcome.data, indent=1, allow_nan=False) if arguments.json else outcome.text)
        return 0
    except BrokenPipeError:  # the reader of the output has gone, as in `tacit inspect … | head`
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return 0
    except (ImportError, OSError, ValueError) as error:
        print(f"tacit: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except MemoryError:
        print("tacit: out of memory; name fewer columns with --columns.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tacit: stopped; nothing was written.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
