"""The commands of `tacit`, one module each: its name is the command's.

A module has ``HELP`` (a line), ``EXAMPLE`` (a line), ``add_arguments(parser)`` and ``run(arguments)``, which returns an `Outcome`
and raises ValueError or OSError where the input is at fault. Nothing heavy is imported at the top. Modules that begin with an
underscore are no commands.
"""
