"""`tacit`: entry point. Every command is a module with ``add(subparsers)`` and a function to run."""

import argparse
import sys

from .. import __version__
from . import fit

__all__ = ["main"]

COMMANDS = (fit,)


def main(argv=None):
    """Run the command line; return the exit code: 0 good, 2 bad usage or input."""
    parser = argparse.ArgumentParser(prog="tacit", description="Learn what a table does not state.")
    parser.add_argument("--version", action="version", version=f"tacit {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(subparsers)
    arguments = parser.parse_args(argv)
    try:
        return arguments.run(arguments) or 0
    except (OSError, ValueError) as error:
        print(f"tacit: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("tacit: stopped; nothing was written.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
