"""`diagnose_missing`: why cells are missing, column by column, before anything is filled.

A cell is *not applicable* where another column has a value with which it is never observed. Beside that, whether a cell is
missing is compared with the values of every other column, and with what is missing there: Mann and Whitney's test of numbers and
Fisher's of levels, at a level divided by the number of comparisons, so that tables of noise show nothing. How well the
others tell it is measured on rows left out: the area under the ROC curve, 0.5 by chance.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..frames import Batch
from ..notes import Claim, having, missing
from ..survey.cells import Missing
from ..survey.column import ROLES
from ..survey.scores import mean_ranks
from ..tables import DataTable
from ..tables.opening import as_table
from ..words import count, joined, number, share

if TYPE_CHECKING:
    from ..base.calibration import Absence

__all__ = ["Missingness", "diagnose_missing", "missing_claim"]

ROWS = 20_000
"""Rows, drawn at random, that are looked at."""
FEWEST = 5
"""Missing cells, and observed ones, below which nothing is said of a column."""
ALARM = 0.01
"""Probability that a table in which cells are missing by chance shows any relation."""
MOST_LEVELS = 50
NEARLY_ALL = 0.9
"""Share of a column's missing cells that a cut explains where it is a rule."""
MOST_ELSEWHERE = 0.5
"""Share of a column's other cells that are missing from which on no rule is told: it is hardly ever observed anywhere."""
MARKED = re.compile(r"\s*([<>]=?|below|under|above|over)\s*[-+]?[\d.,]+.*", re.IGNORECASE)
NUMERAL = re.compile(r"\s*[-+]?[\d.,]+(?:[eE][-+]?\d+)?\s*")
LIMITS = re.compile(r"(?:<\s*)?(?:lod|loq|mdl|bdl|nd|n\.d\.|not detected|below detection.*)", re.IGNORECASE)
FOLDS, MOST_USED = 5, 10
MOST_COUNTED = 40
"""Columns beyond which no line of pandas names them all."""


@dataclass(frozen=True)
class Missingness:
    """Why cells of a column are missing, as far as the table tells.

    Attributes
    ----------
    column : str
    kind : str
        "not applicable" (never observed where another column has certain values), "dropout" (none before or after a row or date),
        "detection limit" (texts such as <0.5, or values that heap at the least), "marked" (a number that may stand for missing),
        "related" (more often missing where others have certain values), "unrelated" (no relation found), or "few" (too few
        to say).
    text : str
        The same in a sentence; a `Claim` where it states figures.
    n_missing : int
    n_applicable : int
        Missing cells but those that are not applicable, of the rows looked at.
    by : tuple of str
        Columns that tell it, the clearest first.
    values : tuple
        Of "not applicable", the values of ``by[0]``; of others, what was found.
    above, below : float or None
        Bounds of ``by[0]`` beyond which no cell is observed.
    observed : bool
        Whether the cell is missing wherever ``by[0]`` has a value.
    score : float or None
        Area under the ROC curve with which the other columns tell missing cells, on rows left out.
    """

    column: str
    kind: str
    text: str
    n_missing: int = 0
    n_applicable: int = 0
    by: tuple[str, ...] = ()
    values: tuple = ()
    above: float | None = None
    below: float | None = None
    observed: bool = False
    score: float | None = None

    def rules(self, table: DataTable) -> Iterator[Absence]:
        """The rule by which cells are not applicable, where both columns are those that models use."""
        from ..base.calibration import Absence

        places = {column.name: j for j, column in enumerate(table.used)}
        if self.kind != "not applicable" or self.column not in places or self.by[0] not in places:
            return
        info = table.used[places[self.by[0]]]
        values = [info.levels.index(str(value)) if info.levels else float(value) for value in self.values]
        ends = (np.inf if self.above is None else self.above), (-np.inf if self.below is None else self.below)
        yield Absence(
            places[self.column], places[self.by[0]], np.array(values, dtype=np.float64), *ends, seen=self.observed
        )


def diagnose_missing(table: Any, *, seed: int = 0, **reading: Any) -> list[Missingness]:
    """Say why cells are missing, for each column that has missing cells or numbers that may stand for them.

    Parameters
    ----------
    table : DataFrame, Arrow table, array, path or tacit.tables.DataTable
        As in `tacit.tables.open_table`.
    seed : int
        Seeds the draw of rows, where there are more than 20,000.
    **reading
        How to read the table, as in `tacit.tables.open_table`.

    Returns
    -------
    list of Missingness

    Examples
    --------
    >>> from tacit.study import diagnose_missing
    >>> loans = {"kind": ["single", "joint"] * 30, "second": [None, 20.5, None, 31.0, None, 17.0] * 10}
    >>> diagnose_missing(loans)[0].text  # doctest: +NORMALIZE_WHITESPACE
    'second has no value in any of the 30 rows where kind is single, and one in every other row: it is taken as not applicable
    there.'
    """
    table = as_table(table, **reading)
    if not any(column.n_missing or any(note.code == "strangers" for note in column.notes) for column in table.columns):
        return [each for each in map(_marked, table.columns) if each]
    rows, batch = table.sample(ROWS, seed)
    lost = {column.name: batch[column.name].missing for column in table.columns if column.role != "empty"}
    told = {name: gone for name, gone in lost.items() if gone.any()}
    seen = _Seen.of(table, batch, lost, list(told), rows)
    found = []
    for column in table.columns:
        if column.name in told:
            found.append(_limit(column, batch, seen.looked) or seen.diagnosed(column))
        elif each := _marked(column) or _limit(column, batch, seen.looked):
            found.append(each)
    return found


@dataclass(frozen=True)
class _Feature:
    """What may tell whether a cell is missing: ranks of numbers, a level, or whether a cell of another column is missing."""

    column: str
    kind: str
    value: Any
    vector: np.ndarray
    known: np.ndarray


@dataclass(frozen=True)
class _Looked:
    """How many rows were looked at of how many: figures of some say so, and pandas counts again only those of all."""

    n: int
    n_rows: int

    def claim(self, text: str, figures: dict, pandas: str = "", basis: str = "") -> Claim:
        """A sentence about them."""
        some = f"{self.n:,} rows drawn at random of {self.n_rows:,}" if self.n < self.n_rows else ""
        text = f"{text.removesuffix('.')} (of {some})." if some else text
        rows = some or f"all {count(self.n_rows, 'row')}"
        return Claim.of("missing", text, f"{basis or 'counted'} in {rows}", figures, "" if some else pandas)


@dataclass(frozen=True)
class _Seen:
    """Rows of a table, the cells that are missing in them, and what may tell these."""

    table: DataTable
    missing: dict[str, np.ndarray]
    features: list[_Feature]
    cuts: dict[str, np.ndarray]
    targets: list[str]
    rows: np.ndarray
    p_values: np.ndarray = field(repr=False)

    @property
    def looked(self) -> _Looked:
        """The rows looked at."""
        return _Looked(len(self.rows), self.table.n_rows)

    @classmethod
    def of(cls, table: DataTable, batch: Batch, missing: dict, targets: list[str], rows: np.ndarray) -> _Seen:
        features: list[_Feature] = []
        cuts: dict[str, np.ndarray] = {}
        for column in table.columns if targets else ():
            if column.name not in missing:
                continue
            cells, gone = batch[column.name], missing[column.name]
            if column.role in ("measurement", "count", "date") and cells.numeric:
                values = np.where(gone, np.nan, cells.values.astype(np.float64))
                cuts[column.name] = values
                ranks = np.zeros(len(gone))
                ranks[~gone] = mean_ranks(values[~gone]) - 0.5 * ((~gone).sum() + 1)
                features.append(_Feature(column.name, "number", None, ranks, ~gone))
                levels, times = np.unique(values[~gone], return_counts=True)
                chosen = levels[times >= max(FEWEST, 0.02 * len(gone))][:MOST_LEVELS]
            else:
                values = cells.objects
                levels, times = np.unique(values[~gone].astype(str), return_counts=True)
                chosen = levels[times >= FEWEST] if len(levels) <= MOST_LEVELS else levels[:0]
                values = np.where(gone, "", values.astype(str))
            for level in chosen:
                features.append(
                    _Feature(column.name, "level", level.item(), ((values == level) & ~gone).astype(float), ~gone)
                )
            if gone.any() and not gone.all():
                every = np.ones(len(gone), dtype=bool)
                features.append(_Feature(column.name, "missing", None, gone.astype(float), every))
        made = cls(table, missing, features, cuts, targets, rows, np.ones((len(features), len(targets))))
        made.p_values[:] = made._compared() if features and targets else 1.0
        return made

    def _compared(self) -> np.ndarray:
        """The p-value of every feature for every column, (features, columns)."""
        from scipy.special import ndtr

        gone = np.column_stack([self.missing[name] for name in self.targets]).astype(np.float64)
        vector = np.column_stack([feature.vector for feature in self.features])
        known = np.column_stack([feature.known for feature in self.features]).astype(np.float64)
        n, k, score = known.sum(axis=0)[:, None], known.T @ gone, vector.T @ gone
        ranks = np.array([feature.kind == "number" for feature in self.features])
        square = np.where(ranks, (vector**2).sum(axis=0), 1.0)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.abs(score) / np.sqrt(square * k * (n - k) / (n * np.maximum(n - 1, 1)))
        tested = np.nan_to_num(2.0 * ndtr(-z), nan=1.0)
        times = vector.sum(axis=0)[:, None]
        tails = np.minimum(_tail(score - 1, n, k, times), _tail(times - score - 1, n, n - k, times))
        found = np.where(ranks[:, None], tested, np.minimum(2.0 * tails, 1.0))
        same = [[feature.column == name for name in self.targets] for feature in self.features]
        return np.where(np.array(same), 1.0, found)

    def diagnosed(self, column: Any) -> Missingness:
        """What is said of a column with missing cells."""
        gone, name = self.missing[column.name], column.name
        n = int(gone.sum())
        about: dict[str, Any] = dict(n_missing=column.n_missing, n_applicable=n)
        if n < FEWEST or len(gone) - n < FEWEST:
            few = "missing to say why" if n < FEWEST else "observed to say why others are missing"
            return Missingness(name, "few", f"too few cells of {name} are {few}.", **about)
        return self._rule(name, gone) or self._cut(name, gone) or self._related(name, gone, about)

    def _rule(self, name: str, gone: np.ndarray) -> Missingness | None:
        """Values of another column with which none of the cells is observed."""
        best: tuple | None = None
        n, k = len(gone), int(gone.sum())
        by_column: dict[str, list[_Feature]] = {}
        for feature in self.features:
            if feature.column != name and feature.kind == "level":
                by_column.setdefault(feature.column, []).append(feature)
        for by, levels in by_column.items():
            always = [feature for feature in levels if gone[feature.vector > 0].all()]
            rows = np.any([feature.vector > 0 for feature in always], axis=0) if always else np.zeros(n, dtype=bool)
            if not always or len(always) == len(levels) or rows.sum() < FEWEST or gone[~rows].mean() >= MOST_ELSEWHERE:
                continue
            # As likely as any choice of levels is to have no cell, among all choices there are.
            chance = _tail(rows.sum() - 1, n, k, rows.sum()) * 2.0 ** len(levels) * self._n_pairs
            if chance < ALARM and (best is None or rows.sum() > best[0]):
                best = int(rows.sum()), by, tuple(feature.value for feature in always), rows
        for feature in self.features:
            if feature.column == name or feature.kind != "missing" or best is not None:
                continue
            rows = feature.vector == 0
            chance = _tail(rows.sum() - 1, n, k, rows.sum()) * self._n_pairs
            apart = FEWEST <= rows.sum() < n - FEWEST and gone[rows].all() and gone[~rows].mean() < MOST_ELSEWHERE
            if apart and chance < ALARM:
                best = int(rows.sum()), feature.column, (), rows
        if best is None:
            return None
        _, by, values, rows = best
        if values and by in self.cuts and (bound := _end(self.cuts[by], gone, values)):
            return self._beyond(name, gone, by, *bound)
        where = f"{by} is {_listed(values)}" if values else f"{by} has a value"
        line = having(by, values) if values else f"~{missing(by)}"
        return self._not_applicable(name, gone, rows, where, line, by, values=values, observed=not values)

    def _beyond(self, name: str, gone: np.ndarray, by: str, sign: int, end: float) -> Missingness:
        """That no cell is observed where a number is above (sign 1) or below (-1) a bound."""
        word, mark = ("above", ">") if sign > 0 else ("below", "<")
        rows = np.nan_to_num(sign * (self.cuts[by] - end), nan=-1.0) > 0
        line = f"(pd.to_numeric(table[{by!r}], errors='coerce') {mark} {end!r})"
        return self._not_applicable(name, gone, rows, f"{by} is {word} {number(end)}", line, by, **{word: end})

    def _not_applicable(
        self, name: str, gone: np.ndarray, rows: np.ndarray, where: str, line: str, by: str, **rule: Any
    ) -> Missingness:
        rest = int((gone & ~rows).sum())
        others = f"it is missing in {share(rest / (~rows).sum())} of the others" if rest else "one in every other row"
        these = count(int(rows.sum()), "row")
        text = f"{name} has no value in any of the {these} where {where}, and {others}: it is taken as not applicable there."
        figures = {"rows": int(rows.sum()), "known": 0, "missing_elsewhere": rest}
        counts = (
            f"int(({line}).sum())",
            f"int(({line} & ~{missing(name)}).sum())",
            f"int((~({line}) & {missing(name)}).sum())",
        )
        pandas = ", ".join(f"{key!r}: {each}" for key, each in zip(figures, counts))
        text = self.looked.claim(text, figures, f"{{{pandas}}}")
        info = next(column for column in self.table.columns if column.name == name)
        return Missingness(name, "not applicable", text, info.n_missing, rest, (by,), **rule)

    def _cut(self, name: str, gone: np.ndarray) -> Missingness | None:
        """A row, a date or a number beyond which no cell is observed, and before which hardly one is missing."""
        own = self.cuts.get(name)
        info = next(column for column in self.table.columns if column.name == name)
        ordered = own is not None and _monotone(own)
        for by, values in {"": self.rows.astype(float), **self.cuts}.items():
            if by == name or (not by and ordered):  # of a sorted column, missing cells stand at an end
                continue
            seen = ~np.isnan(values)
            if not (seen & ~gone).any():
                continue
            low, high = values[seen & ~gone].min(), values[seen & ~gone].max()
            for sign, rows in ((1, seen & (values > high)), (-1, seen & (values < low))):
                k, n = int(gone[seen].sum()), int(seen.sum())
                chance = _tail(rows.sum() - 1, n, k, rows.sum()) * 2 * self._n_pairs
                if rows.sum() < max(FEWEST, NEARLY_ALL * gone.sum()) or chance >= ALARM:
                    continue
                if gone[~rows].mean() >= MOST_ELSEWHERE:
                    continue
                dated = next((column.role == "date" for column in self.table.columns if column.name == by), True)
                end = high if sign > 0 else low
                if not dated:
                    return self._beyond(name, gone, by, sign, float(end))
                when = f"row {int(end) + 1:,}" if not by else f"{by} {np.datetime64(int(end), 'D')}"
                text = f"{name} has no value {'after' if sign > 0 else 'before'} {when}; fills there go beyond what was seen."
                after = f"{missing(name)}.{f'iloc[{int(end) + 1}:]' if sign > 0 else f'iloc[:{int(end)}]'}"
                line = f"{{'rows': len({after}), 'missing': int({after}.sum())}}" if not by else ""
                figures = {"rows": int(rows.sum()), "missing": int((gone & rows).sum())}
                text = self.looked.claim(text, figures, line)
                return Missingness(name, "dropout", text, info.n_missing, int(gone.sum()), (by,) if by else ())
        return None

    @property
    def _n_pairs(self) -> int:
        return max(len(self.features) * len(self.targets), 1)

    def _related(self, name: str, gone: np.ndarray, about: dict) -> Missingness:
        """Which columns are related to the missing cells, and how well they tell them."""
        p = self.p_values[:, self.targets.index(name)] * self._n_pairs
        order = [i for i in np.argsort(p, kind="stable") if p[i] < ALARM]
        score, low = self._score(name, gone) if order else (None, 0.0)
        if score is None or low <= 0.5:
            return Missingness(
                name, "unrelated", f"no relation of missing cells of {name} to other columns was found.", **about
            )
        by = tuple(dict.fromkeys(self.features[i].column for i in order))
        # What stands elsewhere tells more than that other cells are missing too.
        values, blanks = (
            [i for i in order if (self.features[i].kind == "missing") == blank][:1] for blank in (False, True)
        )
        first = joined([self._worded(self.features[i], gone) for i in values + blanks])
        rest = len(set(by) - {self.features[i].column for i in values + blanks})
        more = f"; {count(rest, 'more column')} {'is' if rest == 1 else 'are'} related" if rest else ""
        text = (
            f"{name} is missing more often {first}{more}; the other columns tell which cells with an area under the ROC curve of "
            f"{score:.2f} on rows left out (0.5 is chance)."
        )
        about["text"] = self.looked.claim(text, {"score": score}, basis=f"{FOLDS}-fold cross-validation")
        return Missingness(name, "related", by=by, score=score, **about)

    def _worded(self, feature: _Feature, gone: np.ndarray) -> str:
        if feature.kind == "number":
            return f"where {feature.column} is {'high' if feature.vector @ gone > 0 else 'low'}"
        here = feature.known & (feature.vector > 0)
        other = feature.known & ~here
        rates = gone[here].mean(), gone[other].mean()
        if feature.kind == "missing":
            verb = "missing" if rates[0] > rates[1] else "known"
            rates = rates if rates[0] > rates[1] else rates[::-1]
            return f"where {feature.column} is {verb} ({share(rates[0])}, otherwise {share(rates[1])})"
        verb = "is" if rates[0] > rates[1] else "is not"
        rates = rates if rates[0] > rates[1] else rates[::-1]
        return f"where {feature.column} {verb} {_listed((feature.value,))} ({share(rates[0])}, otherwise {share(rates[1])})"

    def _score(self, name: str, gone: np.ndarray) -> tuple[float | None, float]:
        """The area under the ROC curve of a logistic regression on rows left out, and its lower bound."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import roc_auc_score
        from sklearn.model_selection import StratifiedKFold

        places = [i for i, feature in enumerate(self.features) if feature.column != name]
        vectors = np.column_stack([self.features[i].vector for i in places])
        vectors = vectors / np.maximum(vectors.std(axis=0), 1e-12)
        n_folds = int(min(FOLDS, gone.sum(), (~gone).sum()))
        told = np.zeros(len(gone))
        for learn, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(vectors, gone):
            centred = gone[learn] - gone[learn].mean()
            best = np.argsort(-np.abs(centred @ vectors[learn]), kind="stable")[:MOST_USED]
            model = LogisticRegression(C=0.1, max_iter=200).fit(vectors[np.ix_(learn, best)], gone[learn])
            told[test] = model.predict_proba(vectors[np.ix_(test, best)])[:, 1]
        area = float(roc_auc_score(gone, told))
        n, m = int(gone.sum()), int((~gone).sum())  # Hanley and McNeil (1982)
        q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
        spread = np.sqrt(max(area * (1 - area) + (n - 1) * (q1 - area**2) + (m - 1) * (q2 - area**2), 0.0) / (n * m))
        return area, area - 2.0 * spread


def missing_claim(code: str, sentence: str, table: DataTable, columns: Any) -> Claim:
    """A sentence about how many cells of some columns are missing."""
    figures = {"cells": table.n_rows * len(columns), "missing": sum(column.n_missing for column in columns)}
    lost = " + ".join(f"int({missing(column.name)}.sum())" for column in columns)
    # pandas takes "None" as missing, and knows nothing of texts that the user named or that stand among numbers.
    plain = all("None" not in column.levels and (column.levels or column.reading == "number") for column in columns)
    alike = (
        plain
        and table.reader.is_text
        and len(table.reader.missing.texts) == len(Missing().texts)
        and len(columns) <= MOST_COUNTED
    )
    line = f"{{'cells': len(table) * {len(columns)}, 'missing': {lost}}}" if alike else ""
    return Claim.of(code, sentence, f"counted in all {count(table.n_rows, 'row')}", figures, line)


def _tail(found: Any, n: Any, k: Any, drawn: Any) -> Any:
    """The probability that more than `found` of the cells drawn are among k of n: the hypergeometric law's.

    Sums go outwards from beyond the mean, where terms only fall. `scipy.stats` takes longer to load than a table to inspect.
    """
    x, n, k, drawn = np.broadcast_arrays(
        *(np.asarray(each, dtype=float) for each in (np.floor(found) + 1, n, k, drawn))
    )
    above = x * n > k * drawn
    total = _outwards(np.where(above, x, drawn - x + 1), n, np.where(above, k, n - k), drawn)
    return np.clip(np.where(above, total, 1.0 - total), 0.0, 1.0)[()]


def _outwards(x: np.ndarray, n: np.ndarray, k: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """The probability that at least x, which is beyond the mean, of the cells drawn are among k of n."""
    from scipy.special import gammaln

    def ways(n: np.ndarray, k: np.ndarray) -> np.ndarray:
        return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)

    with np.errstate(all="ignore"):
        log_term = ways(k, x) + ways(n - k, drawn - x) - ways(n, drawn)
        term = np.where(x <= np.minimum(k, drawn), np.exp(log_term), 0.0)
        total = term.copy()
        while (term > 1e-17 * total).any():
            falls = (k - x) * (drawn - x) / ((x + 1) * (n - k - drawn + x + 1))
            term = np.where(term > 0, term * falls, 0.0)
            total, x = total + term, x + 1
    return total


def _listed(values: tuple) -> str:
    most = 5 if len(values) <= 5 else 4
    shown = [number(value) if isinstance(value, float) else str(value) for value in values[:most]]
    return " or ".join(shown) + (f" or one of {len(values) - most} others" if len(values) > most else "")


def _end(values: np.ndarray, gone: np.ndarray, without: tuple) -> tuple[int, float] | None:
    """The bound beyond which values without an observed cell lie, and on which side: 1 above it, -1 below it; None within."""
    seen = values[~gone & ~np.isnan(values)]
    if not len(seen):
        return None
    if min(without) > seen.max():
        return 1, float(seen.max())
    return (-1, float(seen.min())) if max(without) < seen.min() else None


def _monotone(values: np.ndarray) -> bool:
    seen = values[~np.isnan(values)]
    steps = np.diff(seen)
    return len(np.unique(seen)) > 2 and bool((steps >= 0).all() or (steps <= 0).all())


def _marked(column: Any) -> Missingness | None:
    """A number that may stand for missing cells, as the survey noted it."""
    for note in column.notes:
        if note.code in ("sentinel", "only_negative"):
            value = note.values["value"]
            text = (
                f"{column.name}: {number(value)} may stand for missing cells; it is taken as a value unless you say so."
            )
            text = Claim.of("marked", text, "seen in all rows", {"value": value})
            return Missingness(column.name, "marked", text, column.n_missing, column.n_missing, values=(value,))
    return None


def _limit(column: Any, batch: Batch, looked: _Looked) -> Missingness | None:
    """Texts that tell a detection limit, or least values that heap."""
    cells = batch[column.name]
    seen = ~cells.missing
    if column.role in ("text", "category", "id") and not cells.numeric:
        often = Counter(cells.objects[seen].tolist())  # texts are looked at once each
        texts = [text for text in often if isinstance(text, str)]
        marks = {text for text in texts if MARKED.fullmatch(text) or LIMITS.fullmatch(text.strip())}
        numbers = sum(often[text] for text in texts if NUMERAL.fullmatch(text))
        n = sum(often[text] for text in marks)
        if marks and numbers > n:
            shown = joined([repr(text) for text in sorted(marks)[:3]])
            text = (
                f"{column.name} holds {shown} in {count(n, 'row')} among numbers: values beyond a detection limit, "
                f"neither missing nor "
                "known."
            )
            line = f"{{'rows': int(table[{column.name!r}].astype(str).str.strip().isin({sorted(marks)!r}).sum())}}"
            text = looked.claim(text, {"rows": n}, line)
            return Missingness(
                column.name, "detection limit", text, column.n_missing, column.n_missing, values=tuple(sorted(marks))
            )
    if ROLES[column.role] == "continuous" and cells.numeric and not column.whole and column.low:
        values = cells.values[seen].astype(np.float64)
        least, times = np.unique(values, return_counts=True)
        if len(least) > 20 and times[0] >= max(FEWEST, 0.02 * len(values)) and times[0] > 3 * np.sort(times[1:])[-1]:
            text = (
                f"{column.name}: the least value, {number(float(least[0]))}, stands in {count(int(times[0]), 'row')}, "
                f"far more often than any "
                "other: perhaps a detection limit, below which nothing is measured."
            )
            line = f"{{'rows': int(({having(column.name, [float(least[0])])}).sum())}}"
            text = looked.claim(text, {"rows": int(times[0])}, line)
            return Missingness(
                column.name, "detection limit", text, column.n_missing, column.n_missing, values=(float(least[0]),)
            )
    return None
