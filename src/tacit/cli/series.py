"""Series for commands: the table of a saved model of regimes, read as its own was, and what the model says of it."""

from argparse import Namespace
from collections.abc import Iterable
from typing import Any

from .common import check_free, check_numbers, reading_asked
from .saved import open_like

__all__ = ["restudied"]


def restudied(
    arguments: Namespace, model: Any, noted: dict, results: Iterable[str] = (), *, check: bool = False
) -> tuple[Any, Any, str]:
    """What a saved model says of a table, the choice it stands for, and the folder of `results`; with `check`, checked anew."""
    from ..sequence.choice import RegimeChoice, set_aside
    from ..sequence.trial import try_ahead, try_hidden
    from ..tables import open_reader

    place, reading = reading_asked(arguments)
    if not place:
        raise ValueError("give one table after the model: either a file, or a query with --sql and --from.")
    if getattr(arguments, "allow_missing", False) or getattr(arguments, "columns", None):
        raise ValueError("--columns and --allow-missing are not for a model of regimes; leave them out.")
    folder = check_free(arguments, open_reader(place, **reading), results) if results else ""
    table = open_like(model, noted, place, reading, unknown=arguments.unknown)
    if not table.n_rows:
        raise ValueError(f"{table.reader.place} has no rows.")
    check_numbers(table)
    model.set_params(unknown=arguments.unknown)
    settings, seed = noted.get("settings", {}), noted.get("seed", 0)
    level, trials = settings.get("level", 0.9), (None, None)  # type: float, Any
    table = set_aside(table, model.sequence, model.time)
    source = model._open(model._steps(table))
    if check:
        trials = try_ahead(model, source, level, seed), try_hidden(model, source, level, seed)
    choice = RegimeChoice(
        model,
        table,
        noted.get("selection", []),
        trials[0],
        trials[1],
        notes=tuple(table.notes),
        level=level,
        source=source,
    )
    return choice.study(n_ahead=settings.get("forecast", 0) if check else 0, seed=seed), choice, folder
