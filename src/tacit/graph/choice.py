"""`find_network`: a belief network of a table of any columns, and how far it can be trusted.

Numbers are cut into levels. A fifth of the rows is left out to see how well a network of the others predicts their cells, and the
search is repeated on rows drawn with replacement to see which edges come back.
"""

from __future__ import annotations

import numbers
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..checks import check_choice, check_number, check_positive
from ..notes import Note, NoteError, Option
from ..schema import Schema
from ..source import Block
from ..survey.dates import DATE_READINGS
from .belief import BeliefNetwork
from .inference import Inference
from .levels import cut_table
from .nodes import Nodes
from .structure import Structure, find_structure
from .structures import METHODS
from .trial import Guessed, guess_left_out, learned, resampled

__all__ = ["NetworkChoice", "find_network", "largest_tables", "study_table"]

BUDGET, CHECKS = 60.0, 20
MOST_CELLS = 4e6
"""Numbers in the tables of exact inference beyond which a tree is taken instead."""
MOST_PARENTS = 4
STARTS = ("pc", "tree", "empty")
"""Where hill climbing begins: the best of the three networks is taken, and resamples begin with trees."""


@dataclass(frozen=True, eq=False)
class NetworkChoice:
    """A belief network of a table, and how it was found; made by `find_network`.

    Attributes
    ----------
    model : BeliefNetwork
    table : tacit.tables.DataTable
    codes : (rows, columns) int array
        Levels of the cells, −1 where missing.
    structure : Structure
        As the search found it, by numbers of columns.
    method : str
        How it was found.
    joined : (columns, columns) array
        Share of the resamples in which there was an edge from one column to another.
    n_resamples : int
    guessed : Guessed or None
        None where rows are too few, or time ran out.
    reached : str
        "budget" where time ran out before all checks were made.
    budget : float or None
    seed : int
    notes : tuple of Note
    """

    model: BeliefNetwork
    table: Any = field(repr=False)
    codes: np.ndarray = field(repr=False)
    structure: Structure = field(repr=False)
    method: str
    joined: np.ndarray = field(repr=False)
    n_resamples: int = 0
    guessed: Guessed | None = None
    reached: str = ""
    budget: float | None = None
    seed: int = 0
    notes: tuple = ()

    def study(self) -> Any:
        """What the network says of the table, as `tacit.study.network.NetworkFindings`."""
        from ..study.network import study_network

        return study_network(self)


def find_network(
    table: Any, *, structure: str = "hill-climbing", levels: int | None = None, required: Iterable = (),
    forbidden: Iterable = (), max_parents: int | None = None, check: int = CHECKS, seed: int = 0,
    budget: float | None = BUDGET, on_try: Callable[[str], Any] | None = None, **reading: Any,
) -> NetworkChoice:  # fmt: skip
    """Learn a belief network from a table of columns of any kind: what ``tacit network`` does.

    Parameters
    ----------
    table : DataFrame, Arrow table, path or tacit.tables.DataTable
        Columns are surveyed; numbers are cut into levels, each with about as many rows, unless they are few different ones.
    structure : {"hill-climbing", "chow-liu", "pc"}, default="hill-climbing"
        How edges are found: by BIC, as the best tree, or by tests of independence.
    levels : int, optional
        How many levels numbers are cut into; default 3 to 5 by the number of rows.
    required, forbidden : iterable of (parent, child)
        Pairs of names of columns.
    max_parents : int, optional
        Most parents of a column; default 4 of hill climbing.
    check : int, default=20
        How often the search is repeated on rows drawn with replacement.
    seed : int
    budget : float, optional
        Seconds after which no further check is begun; None sets no limit.
    on_try : callable, optional
        Told what is done.
    **reading
        How to read the table, as in `tacit.tables.open_table`.

    Returns
    -------
    NetworkChoice

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.graph import find_network
    >>> rng = np.random.default_rng(0)
    >>> age = rng.integers(20, 80, 300)
    >>> found = find_network({"age": age, "retired": np.where(age + rng.normal(0, 5, 300) > 63, "yes", "no")})
    >>> found.model.schema_.columns[0].levels, len(found.model.nodes_.edges)
    (('under 40', '40 to under 65', '65 and over'), 1)
    """
    from ..tables.opening import as_table

    check_choice("structure", structure, METHODS)
    check_number("check", check, numbers.Integral, 0)
    check_number("levels", levels, numbers.Integral, 2, also=(None,))
    if budget is not None:
        check_positive("budget", budget)
    if not hasattr(table, "reader"):
        table = as_table(table, **reading)
    table, notes = _usable(table), list(table.notes)
    deadline = time.monotonic() + (np.inf if budget is None else budget)
    tell = on_try or (lambda what: None)
    schema = cut_table(table, levels)
    codes = _codes(schema, table)
    search = _search(schema, structure, required, forbidden, max_parents)
    tell("looking for edges")
    tried = [search(codes, start=start) for start in STARTS] if structure == "hill-climbing" else [search(codes)]
    method, usable = structure, [each for each in tried if largest_tables(schema, each.edges) <= MOST_CELLS]
    if not usable:
        text = "the network that {structure} found is too large for exact answers, so the best tree was taken instead"
        notes.append(Note("too_large", text, structure=structure))
        method, search = "chow-liu", _search(schema, "chow-liu", required, forbidden, None)
        usable = [search(codes)]
    tell("learning probabilities")
    found, model = _best(schema, codes, usable, levels, seed)
    checked = _checked(schema, codes, search, check, seed, deadline, tell)
    return NetworkChoice(model, table, codes, found, method, **checked, budget=budget, seed=seed, notes=tuple(notes))


def _best(
    schema: Schema, codes: np.ndarray, tried: list[Structure], levels: int | None, seed: int
) -> tuple[Structure, BeliefNetwork]:
    """The structure of the largest BIC of the known cells, and the network of it: unlike scores that searches go by, these are of
    the same cells where some are missing.
    """
    known: dict[frozenset, tuple[float, Structure, BeliefNetwork]] = {}
    rows = Block.of(np.where(codes < 0, np.nan, codes.astype(float)))
    for each in tried:
        if frozenset(each.edges) in known:
            continue
        model = learned(schema, codes, each.edges, levels, seed)
        nodes = model.nodes_
        free = float((nodes.sizes // nodes.cards * (nodes.cards - 1)).sum())
        bic = float(model._scores(rows).sum()) - 0.5 * np.log(len(codes)) * free if len(tried) > 1 else 0.0
        known[frozenset(each.edges)] = bic, each, model
    return max(known.values(), key=lambda one: one[0])[1:]


def study_table(
    model: BeliefNetwork, table: Any, *, structure: str = "hill-climbing", required: Iterable = (), forbidden: Iterable = (),
    max_parents: int | None = None, check: int = CHECKS, seed: int = 0,
) -> NetworkChoice:  # fmt: skip
    """What a network that was learned already has to do with a table: its own, or another with the same columns.

    Parameters
    ----------
    model : BeliefNetwork
        Of discrete variables, all of them columns.
    table : tacit.tables.DataTable
        Read as the model knows its columns.
    structure, required, forbidden, max_parents, check, seed
        As in `find_network`, of the searches that are repeated.

    Returns
    -------
    NetworkChoice
    """
    schema, nodes = model.schema_, model.nodes_
    if nodes.continuous.any() or len(nodes.names) > len(schema.columns):
        raise ValueError(
            "the network has continuous or hidden variables, of which no page about a table can be made; use "
            "tacit.report.write_network in Python."
        )
    codes = _codes(schema, table)
    lost = [column.name for column, own in zip(schema.columns, codes.T) if (own < 0).all()]
    if lost:
        raise ValueError(f"column {lost[0]!r} of {table.reader.place} has no known cell; give a table that has some.")
    edges = np.zeros((len(nodes.names),) * 2, dtype=bool)
    for child, parents in enumerate(nodes.parents):
        edges[list(parents), child] = True
    found = Structure.of(edges, Note("given", "its edges were given"))
    search = _search(schema, structure, required, forbidden, max_parents)
    checked = _checked(schema, codes, search, check, seed)
    return NetworkChoice(model, table, codes, found, structure, **checked, seed=seed, notes=table.notes)


def _codes(schema: Schema, table: Any) -> np.ndarray:
    """Levels of the cells of a table, −1 where missing."""
    cells = np.concatenate([schema.encode(batch, (), "missing") for _, batch in table.scan(table.used)])
    return np.where(np.isnan(cells), -1, cells).astype(np.int32)


def _search(
    schema: Schema, structure: str, required: Iterable, forbidden: Iterable, max_parents: int | None
) -> Callable:
    """What finds the edges in rows of codes."""
    asked = {"required": [tuple(edge) for edge in required], "forbidden": [tuple(edge) for edge in forbidden]}
    told: dict[str, Any] = {name: [_pair(schema, e, name) for e in edges] for name, edges in asked.items() if edges}
    both = [edge for edge in asked["required"] if edge in asked["forbidden"]]
    if both:
        raise ValueError(f"the edge {' → '.join(both[0])} is both required and forbidden; leave out one of the two.")
    Nodes.of_edges(
        dict.fromkeys(asked["required"]), schema.names, {c.name: c.levels for c in schema.columns}
    )  # no cycles
    if max_parents is not None and structure != "hill-climbing":
        raise NoteError("max_parents", "{option} is for hill climbing, and the structure is {structure}; leave it out.",
                        option=Option("max_parents"), structure=structure)  # fmt: skip
    if structure == "hill-climbing":
        told["max_parents"] = MOST_PARENTS if max_parents is None else max_parents
        told["start"] = "tree"  # costs far less than tests of independence, so that resamples can be many
    sizes = [len(column.levels) for column in schema.columns]
    return partial(find_structure, cardinalities=sizes, method=METHODS[structure], **told)


def _checked(
    schema: Schema, codes: np.ndarray, search: Callable, check: int, seed: int, deadline: float = np.inf,
    tell: Callable[[str], Any] = lambda what: None,
) -> dict[str, Any]:  # fmt: skip
    """What `NetworkChoice` holds of checks."""
    tell("predicting rows left out")
    guessed = guess_left_out(schema, codes, search, seed, deadline)
    joined, n_made = resampled(codes, search, check, seed, deadline, tell)
    late = time.monotonic() > deadline and (n_made < check or guessed is None)
    return {"guessed": guessed, "joined": joined, "n_resamples": n_made, "reached": "budget" if late else ""}


def _usable(table: Any) -> Any:
    """The table without columns that networks do not take."""
    dated = [column.name for column in table.used if column.cycle and column.reading in DATE_READINGS]
    if dated:
        why = Note("cycle", "a cycle of dates, which networks do not take")
        columns = tuple(replace(c, left_out=why) if c.name in dated else c for c in table.columns)
        table = replace(table, columns=columns, order=tuple(name for name in table.order if name not in dated))
    if len(table.used) < 2:
        reasons = ", ".join(f"{column.name} ({column.left_out})" for column in table.columns if not column.used)
        raise NoteError(
            "no_columns", "{place} has {n} that a network can be learned from, and at least 2 are needed{reasons}; say what a "
            "column is, such as {option}.", place=table.reader.place,
            n="1 column" if table.used else "no column", reasons=f": left out are {reasons}" if reasons else "",
            option=Option("roles", (table.columns[0].name, "category")),
        )  # fmt: skip
    if table.n_rows < 2:
        raise NoteError("few_rows", "{place} has {n} row; at least 2 are needed to learn from.",
                        place=table.reader.place, n=table.n_rows)  # fmt: skip
    return table


def _pair(schema: Schema, edge: Any, setting: str) -> tuple[int, int]:
    """An edge by numbers of columns."""
    from ..tables.reader import meant

    parent, child = edge
    for name in edge:
        if name not in schema.names:
            raise NoteError("no_column", "{option} names {name!r}, which is no column in use; {hint}",
                            option=Option(setting), name=name, hint=meant(name, schema.names))  # fmt: skip
    return schema.names.index(parent), schema.names.index(child)


def largest_tables(schema: Schema, edges: list[tuple[int, int]]) -> float:
    """Numbers in the largest conditional table of a network or, where that is small, in all tables of exact inference."""
    parents: list[list[int]] = [[] for _ in schema.columns]
    for a, b in edges:
        parents[b].append(a)
    sizes = np.array([len(column.levels) for column in schema.columns], dtype=float)
    conditional = max(float(np.prod(sizes[[*own, child]])) for child, own in enumerate(parents))
    if conditional > MOST_CELLS:
        return conditional
    nodes = Nodes(tuple(schema.names), tuple(c.levels for c in schema.columns), tuple(map(tuple, parents)))
    return Inference(nodes).compiled([(i,) for i in range(len(sizes))], ()).total
