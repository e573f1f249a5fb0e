"""`compare`: what differs between two tables, two parts of one table, or two models, beyond what chance explains.

Rows of both tables are pooled and one mixture is learned from them that does not know which row is whose. Where the tables do not
differ, which rows are the first table's is then as good as drawn at random, so that tests of columns, of missing cells and of the
sizes of groups keep their level. They are corrected together by Holm's method; intervals hold together (Bonferroni). A row of the
second table is of a new kind by how few rows of the first are as improbable under the pooled model, with the share of false ones
among them controlled by Benjamini and Hochberg's method.

References
----------
Brunner and Munzel (2000), The nonparametric Behrens-Fisher problem, Biometrical Journal 42(1).
Marandon, Lei, Mary and Roquain (2024), Adaptive novelty detection with false discovery rate guarantee, Ann. Statist. 52(1).
Newcombe (1998), Interval estimation for the difference between independent proportions, Statistics in Medicine 17(8).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

import numpy as np
from scipy import stats

from ..assess.adjusting import CORRECTIONS, adjust
from ..kernels import host
from ..mixture.finding import BUDGET
from ..notes import Claim, having, missing
from ..schema import Column
from ..source import Block
from ..survey.describe import Asked
from ..tables import DataTable
from ..tables.surveying import survey
from ..words import count, joined, number, probability, share, signed
from .differences import column_tests, correct, share_test
from .groups import study_groups
from .pooled import Pooled, pool
from .results import id_name
from .scores import Coder, Scorer

__all__ = ["Comparison", "compare"]

SHOWN, SHUFFLES = 100, 19


@dataclass(frozen=True)
class Comparison:
    """What differs between A and B.

    Attributes
    ----------
    kind : {"tables", "models"}
    names : (str, str)
        What A and B are called.
    n_rows : (int, int)
    looked : list of dict
        Everything that was looked at, the strongest first: `what` ("values", "levels", "missing" or "group"), `column` (or
        `group`), `effect` with `low` and `high`, `measure` (what the effect is: "P(B > A)", "difference of shares"), `a` and `b`
        (medians, or shares), `level` (the level of a category that moved most), `n_a`, `n_b`, `p`, `adjusted` and `moved`.
    groups : list of dict
        Groups of the pooled rows, or matched groups of two models: `number`, `words`, `n_a`, `n_b`, `share_a`, `share_b`,
        `moved`, `new` (none, or next to none, of A's rows are in it); of models also `other`, the group of B that matches it.
    rows : list of dict
        Rows of B of a new kind, the least probable first, at most 100: `row`, the ids, `p` and `adjusted`.
    n_new : int
        How many there are.
    outside : list of dict
        Facts about cells of B that A has nothing like: levels that A lacks (`column`, `level`, `n`), and numbers farther from A's
        than A's are from each other (`column`, `n`, `value`, `row` of the farthest, `low` and `high` of A).
    summary, limits : list of str
        What was found, and what not to conclude.
    correction, level : str, float
        How p-values are corrected, and the probability with which all intervals hold.
    baseline : dict
        What chance does, measured: how many things differ where rows are given to A and B at random, `mean` and `most` over some
        `shuffles`.
    """

    kind: str
    names: tuple[str, str]
    n_rows: tuple[int, int]
    looked: list[dict] = field(default_factory=list)
    groups: list[dict] = field(default_factory=list)
    rows: list[dict] = field(default_factory=list)
    n_new: int = 0
    outside: list[dict] = field(default_factory=list)
    summary: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)
    correction: str = "holm"
    level: float = 0.95
    baseline: dict = field(default_factory=dict)

    @property
    def moved(self) -> list[dict]:
        """What differs beyond chance."""
        return [each for each in self.looked if each["moved"]]

    def __str__(self) -> str:
        return "\n".join(self.summary)


def compare(
    a: Any, b: Any = None, *, by: str | None = None, values: Sequence[str] | None = None, time: str | None = None, at: Any = None,
    groups: Any = None, families: Mapping[str | None, str] | None = None, correction: str = "holm", level: float = 0.95,
    check: int = SHUFFLES, budget: float | None = BUDGET, seed: int = 0, names: tuple[str, str] | None = None,
    roles: dict | None = None, columns: list[str] | None = None, ignore: Sequence[str] = (), **reading: Any,
) -> Comparison:  # fmt: skip
    """Compare two tables, or two parts of one.

    Parameters
    ----------
    a, b : table in memory or path
        As `tacit.tables.open_reader` takes them; without `b`, two parts of `a`.
    by, values : str, pair of str, optional
        The column whose value says which part a row is of, and the two values; without `values` it has two.
    time, at : str, object, optional
        A column of dates or numbers that splits the rows into those before `at` and the others; default in two halves.
    groups : iterable of int, optional
        Numbers of groups to try; default as in `find_groups`.
    families : dict, optional
        What numbers are like inside a group, as in `find_groups`.
    correction : {"holm", "bh"}
        Holm's method keeps the probability of any false finding below 1 − level, Benjamini and Hochberg's the share of them.
    level : float
        Probability with which all intervals hold together.
    check : int
        Times that rows are given to both sides at random, to see what chance does.
    budget : float, optional
        Seconds for choosing the groups, which come after the tests of columns, and for giving rows to sides at random; None sets
        no limit.
    seed : int
        Seeds everything random.
    names : (str, str), optional
        What the two are called.
    roles, columns, ignore, **reading
        As in `tacit.tables.open_table`.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.study import compare
    >>> rng = np.random.default_rng(0)
    >>> before = {"x": rng.normal(size=80), "y": rng.normal(size=80)}
    >>> after = {"x": rng.normal(size=90) + 1.0, "y": rng.normal(size=90)}
    >>> [found["column"] for found in compare(before, after, groups=[1]).moved]
    ['x']
    """
    from ..mixture import find_groups

    if correction not in CORRECTIONS:
        raise ValueError(f"correction={correction!r} is unknown; use one of {', '.join(map(repr, CORRECTIONS))}.")
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} is no probability between 0 and 1; use 0.95, for instance.")
    pooled, called = pool(a, b, by, values, time, at, reading)
    asked = Asked(dict(roles or {}), columns, (*ignore, *(name for name in (by, time) if name)), reading.get("decimal"))
    infos, n_rows = survey(pooled, asked)
    table = DataTable(pooled, infos, n_rows, notes=tuple(pooled.notes))
    side = pooled.side.copy()
    sizes = int((side == 0).sum()), int((side == 1).sum())
    called = names or called
    for n, name in zip(sizes, called):
        if n < 2:
            raise ValueError(f"{name} has {count(n, 'row')}; at least 2 of each are needed to compare.")
    if not table.used:
        raise ValueError(f"{pooled.place}: no column can be compared; see what was read with tacit inspect.")
    started, rng = monotonic(), np.random.default_rng(seed)
    tests = _column_tests(table, side, rng)
    left = None if budget is None else max(0.8 * (budget - (monotonic() - started)), 0.05 * budget)
    found = find_groups(table, groups=groups, families=families, seed=seed, budget=left, calibrated=False)
    member, scores = scored(found.model, table)
    told = _groups(found, member, side)
    tests += _group_tests(member, side, len(told))
    correct(tests, correction, level)
    for group, test in zip(told, (test for test in tests if test["what"] == "group")):
        group["moved"] = test["moved"]
        group["new"] = bool(test["moved"] and group["share_a"] < 0.05 * group["share_b"])
    rows, n_new = _new_rows(table, pooled, scores, side, 1 - level)
    tests.sort(key=lambda test: (test["adjusted"], -abs(test["strength"])))
    outside = [
        fact
        for j, column in enumerate(table.schema.columns)
        for fact in _outside(column, table.cells[:, j], side, pooled)
    ]
    deadline = np.inf if budget is None else started + budget
    chance = _baseline(table, member, side, len(told), check, correction, level, seed, deadline)
    record = Comparison(
        "tables", called, sizes, tests, told, rows, n_new, outside, correction=correction, level=level, baseline=chance
    )
    return _worded(record, table, _sides(b, by, called))


def _sides(b: Any, by: str | None, called: tuple[str, str]) -> tuple[str, str] | None:
    """Pandas for the rows of either side; None where a time divides them, which pandas may read in another way."""
    if b is not None:
        return "table", "other"
    if by is None:
        return None
    one, two = (f"table[{having(by, [name.removeprefix(f'{by} = ')])}]" for name in called)
    return one, two


# Groups and rows of a new kind, under a model that does not know which row is whose


def scored(model: Any, table: DataTable) -> tuple[np.ndarray, np.ndarray]:
    """The group of every row, from 0, and its log density under a mixture."""
    scorer, coder = Scorer(model), Coder(model.schema_, table)
    groups, densities = [], []
    for batch in table.batches():
        cells = coder.encode(batch)
        groups.append(scorer(cells).group - 1)
        densities.append(host(scorer.mixture.posterior(scorer.params, Block.of(cells))[1]))
    return np.concatenate(groups), np.concatenate(densities).astype(np.float64)


def _column_tests(table: DataTable, side: np.ndarray, rng: np.random.Generator) -> list[dict]:
    """Tests of all columns but those that copy another."""
    every = zip(table.used, table.schema.columns, table.cells.T)
    return [test for info, column, cells in every if not info.copied for test in column_tests(column, cells, side, rng)]


def _group_tests(group: np.ndarray, side: np.ndarray, n_groups: int) -> list[dict]:
    """Tests of the sizes of groups."""
    total, tests = np.bincount(side, minlength=2), []
    for k in range(n_groups if n_groups > 1 else 0):
        n = np.bincount(side[group == k], minlength=2)
        tests.append({"what": "group", "group": k + 1, "column": None} | share_test(n, total))
    return tests


def _groups(found: Any, group: np.ndarray, side: np.ndarray) -> list[dict]:
    """The groups with their sizes on both sides."""
    total, told = np.bincount(side, minlength=2), []
    for k, words in enumerate(each.words for each in study_groups(found.model, found.table).groups):
        n = np.bincount(side[group == k], minlength=2)
        told.append({
            "number": k + 1, "words": words, "n_a": int(n[0]), "n_b": int(n[1]), "share_a": float(n[0] / total[0]),
            "share_b": float(n[1] / total[1]), "moved": False, "new": False,
        })  # fmt: skip
    return told


def _baseline(
    table: DataTable, group: np.ndarray, side: np.ndarray, n_groups: int, times: int, correction: str, level: float, seed: int,
    deadline: float,
) -> dict:  # fmt: skip
    """How many things differ where rows are given to the sides at random, as often as time allows, but once at least."""
    rng = np.random.default_rng([seed, 1])
    moved: list[int] = []
    for _ in range(times):
        if moved and monotonic() >= deadline:
            break
        mixed = rng.permutation(side)
        tests = [*_column_tests(table, mixed, rng), *_group_tests(group, mixed, n_groups)]
        correct(tests, correction, level)
        moved.append(sum(test["moved"] for test in tests))
    return {"shuffles": len(moved), "mean": float(np.mean(moved)), "most": int(max(moved))}


def _new_rows(
    table: DataTable, pooled: Pooled, density: np.ndarray, side: np.ndarray, alpha: float
) -> tuple[list[dict], int]:
    """Rows of B that are less probable than rows of A are, at a false discovery rate of alpha."""
    mine = np.sort(density[side == 0])
    places = np.flatnonzero(side == 1)
    p = (1 + np.searchsorted(mine, density[places], side="right")) / (len(mine) + 1)
    adjusted = adjust(p, "bh")
    new = np.flatnonzero(adjusted <= alpha)
    order = new[np.lexsort([density[places[new]], adjusted[new]])]
    chosen, listed, start = {int(places[i]): i for i in order[:SHOWN]}, {}, 0
    for batch in table.batches():
        for place in (place for place in chosen if start <= place < start + batch.n_rows):
            ids = {id_name(name): batch[name].objects[place - start] for name in table.ids}
            i = chosen[place]
            listed[place] = {"row": int(pooled.row[place]), **ids, "p": float(p[i]), "adjusted": float(adjusted[i])}
        start += batch.n_rows
    return [listed[place] for place in chosen], len(new)


def _outside(column: Column, cells: np.ndarray, side: np.ndarray, pooled: Pooled) -> Iterator[dict]:
    """Cells of B that A has nothing like."""
    mine, theirs = cells[side == 0], cells[side == 1]
    mine, name = mine[~np.isnan(mine)], str(column.name)
    if column.coded:
        for code in sorted({*theirs[~np.isnan(theirs)].tolist()} - {*mine.tolist()}):
            yield {"column": name, "level": str(column.levels[int(code)]), "n": int((theirs == code).sum())}
        return
    if not len(mine):
        return
    low, high = float(mine.min()), float(mine.max())
    with np.errstate(invalid="ignore"):
        beyond = np.maximum(low - theirs, theirs - high)
        far = np.flatnonzero(beyond > max(high - low, 0.0)) if high > low else np.empty(0, dtype=int)
    if len(far):
        most = int(far[np.argmax(beyond[far])])
        row = int(pooled.row[side == 1][most])
        yield {
            "column": name,
            "level": None,
            "n": len(far),
            "value": float(theirs[most]),
            "row": row,
            "low": low,
            "high": high,
        }


# In words


def _worded(found: Comparison, table: DataTable, sides: tuple[str, str] | None) -> Comparison:
    a, b = found.names
    moved, m = found.moved, len(found.looked)
    sizes = f"{count(found.n_rows[0], 'row')} of {a} and {count(found.n_rows[1], 'row')} of {b}"
    risk = "Holm" if found.correction == "holm" else "Benjamini-Hochberg"
    looked = f"{count(m, 'thing')} looked at ({risk}, {share(1 - found.level)})"
    if moved:
        verdict = f"{b} differs from {a} in {len(moved)} of {looked}; {sizes}."
    else:
        verdict = f"Nothing differs between {a} and {b} beyond chance among {looked}; {sizes}."
    line = "{'looked': len(looked), 'moved': int(looked['moved'].sum())}"
    figures = {"looked": m, "moved": len(moved)}
    words: list[str] = [Claim.of("verdict", verdict, f"tests of all rows, corrected together ({risk})", figures, line)]
    words.append(_chance(found))
    known = {column.name: column for column in table.columns}
    for test in [test for test in moved if test["what"] != "group"][:8]:
        basis = f"{test['n_a']:,} and {test['n_b']:,} {'rows' if test['what'] == 'missing' else 'known cells'}"
        figures = {"a": test["a"], "b": test["b"]}
        words.append(Claim.of("moved", _change(test, a, b), basis, figures, _line(test, known[test["column"]], sides)))
    basis = "rows whose likeliest group it is, under one model of both"
    for group in (group for group in found.groups if group["moved"]):
        figures = {name: group[name] for name in ("n_a", "n_b", "share_a", "share_b")}
        words.append(Claim.of("group", _grown(group, a, b), basis, figures))
    if found.n_new:
        of = f"of {b} {'is' if found.n_new == 1 else 'are'} of a new kind: as improbable as hardly any row of {a}"
        sentence = f"{count(found.n_new, 'row')} {of}, the first of them row {found.rows[0]['row']}."
    else:
        others = "other " * any(group["new"] for group in found.groups)
        sentence = f"No {others}rows of {b} are found to be of a new kind."
    basis = f"densities of rows under one model of both, at a false discovery rate of {share(1 - found.level)}"
    words.append(Claim.of("new_rows", sentence, basis, {"new": found.n_new}))
    for each in found.outside[:6]:
        figures = {name: each[name] for name in ("n", "value", "low", "high") if name in each}
        words.append(
            Claim.of("outside", _fact(each, a, b), "counted in all rows", figures, _outside_line(each, known, sides))
        )
    return replace(found, summary=words, limits=_limits(found, table))


def _chance(found: Comparison) -> Claim:
    """What chance does, in words."""
    chance, times = found.baseline, count(found.baseline["shuffles"], "random division")
    if chance["most"]:
        told = f"{number(chance['mean'], 2)} differ on average, {chance['most']} at most"
    else:
        told = "none differs"
    sentence = f"Where chance divides the rows, {told} (in {times} of the same rows)."
    return Claim.of("baseline", sentence, "the same tests of rows given to both sides at random", dict(chance))


def _line(test: dict, column: Any, sides: tuple[str, str] | None) -> str:
    """Pandas for the medians or shares of either side; none where it may read the cells in another way."""
    name = test["column"]
    if sides is None or column.reading not in ("number", "text") or column.notes:
        return ""
    if test["what"] == "missing":
        parts = [f"float({missing(name, side)}.mean())" for side in "ab"]
    elif test["what"] == "levels":
        parts = [
            f"float({having(name, [test['level']], side)}.sum() / (~{missing(name, side)}).sum())" for side in "ab"
        ]
    elif column.role in ("measurement", "count"):
        parts = [f"float({side}[{name!r}].median())" for side in "ab"]
    else:
        return ""
    return f"[{{'a': {parts[0]}, 'b': {parts[1]}}} for a, b in [({sides[0]}, {sides[1]})]][0]"


def _outside_line(fact: dict, known: dict, sides: tuple[str, str] | None) -> str:
    column = known[fact["column"]]
    if sides is None or fact["level"] is None or column.reading not in ("number", "text") or column.notes:
        return ""
    return f"[{{'n': int({having(column.name, [fact['level']], 'b')}.sum())}} for b in [{sides[1]}]][0]"


def _change(test: dict, a: str, b: str) -> str:
    """A column that moved, in words."""
    if test["what"] == "missing":
        return f"{test['column']}: missing in {share(test['b'])} of {b}, {share(test['a'])} of {a} (difference {_points(test)})."
    if test["what"] == "levels":
        rows = f"of the known cells of {b}, {share(test['a'])} of {a}"
        return f"{test['column']}, most of all {test['level']}: {share(test['b'])} {rows} (difference {_points(test)})."
    word = "higher" if test["effect"] > 0.5 else "lower"
    chance = max(test["effect"], 1 - test["effect"])
    ends = (test["low"], test["high"]) if test["effect"] > 0.5 else (1 - test["high"], 1 - test["low"])
    there, here = (each if isinstance(each, str) else number(each) for each in (test["b"], test["a"]))
    medians = f"median {there} against {here}"
    return (
        f"{test['column']} tends to be {word} in {b} ({medians}): a cell of {b} is {word} than one of {a} with a probability of "
        f"{probability(chance)} ({probability(ends[0])} to {probability(ends[1])})."
    )


def _fact(fact: dict, a: str, b: str) -> str:
    if fact["level"] is not None:
        return f"{fact['column']} {fact['level']} is in {count(fact['n'], 'row')} of {b} and in none of {a}."
    first = f"{fact['column']} is {number(fact['value'])} in row {fact['row']} of {b}"
    return f"{first}; {a} has {number(fact['low'])} to {number(fact['high'])}."


def _points(test: dict) -> str:
    effect, low, high = (signed(100 * value, 1) for value in (test["effect"], test["low"], test["high"]))
    return f"{effect} points, {low} to {high}"


def _grown(group: dict, a: str, b: str) -> str:
    shares = f"{share(group['share_b'])} of {b}, {share(group['share_a'])} of {a}"
    if group["new"]:
        new = "nearly new" if group["n_a"] else "new"
        return f"Group {group['number']} ({group['words']}) is {new}: {shares}."
    word = "grew" if group["share_b"] > group["share_a"] else "shrank"
    return f"Group {group['number']} ({group['words']}) {word}: {shares}."


def _limits(found: Comparison, table: DataTable) -> list[str]:
    m, n = found.n_rows
    z = stats.norm.ppf(1 - (1 - found.level) / 2 / max(len(found.looked), 1)) + stats.norm.ppf(0.8)
    least = 0.5 + z * math.sqrt((m + n + 1) / (12 * m * n))
    words: list[str] = []
    if least < 1:
        sentence = (
            f"With so many rows and things looked at, a column is found to have moved in 4 of 5 cases only where a cell of one "
            f"side is higher with a probability of {least:.2f} or more; smaller differences may go unnoticed."
        )
        words.append(Claim.of("power", sentence, "power of the rank test at the corrected level", {"least": least}))
    else:
        words.append("With so few rows, hardly any difference can be told from chance.")
    fewest = math.ceil(n / ((1 - found.level) * (m + 1)))
    if fewest > 1:
        sentence = f"Rows of a new kind can be told from chance only where there are {fewest:,} or more of them."
        words.append(Claim.of("fewest", sentence, "the false discovery rate of so few rows", {"fewest": fewest}))
    words.append(
        "Rows are taken to be independent of each other: repeated measures, or the same rows in both, make differences look "
        "surer or less sure than they are. What differs says nothing about why."
    )
    lost = [reader.names for reader in table.reader.readers] if len(table.reader.readers) > 1 else []  # type: ignore[attr-defined]
    for name, own, other in ((found.names[0], *lost), (found.names[1], *lost[::-1])) if lost else ():
        alone = [column for column in own if column not in other]
        if alone:
            verb = "is" if len(alone) == 1 else "are"
            words.append(f"Only {name} has {joined(alone[:8])}{' …' * (len(alone) > 8)}, which {verb} not compared.")
    return words
