"""What is said of the axes behind the columns of a table.

loading l_ja = v_ja √λ_a = correlation of column j with axis a;    Σ_a l_ja² = share of the column that the axes explain

with v the directions and λ the variances of the axes; the mean share over the columns is the variance explained.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..assess.cells import hide_alike
from ..engine import Until
from ..factor.analysis.correlation import variance_spectrum
from ..factor.principal.ppca import ProbabilisticPCA
from ..factor.principal.rank import Spectrum, parallel
from ..notes import Check, Claim
from ..tables import DataTable
from ..words import count, joined, number, probability, share
from .findings import Axes, Findings, Sample, card_of, findings_of
from .missingness import missing_claim
from .sample import take_sample

__all__ = ["study_axes", "words_of"]

STRONG = 0.4
"""Loadings from which a column is said to belong to an axis, if they are at least half of the greatest."""
MOST_NAMED, HALVES = 6, 3
MOST_CHECKED = 40
"""Columns beyond which no line of pandas lists them all."""
SPARSE = 0.1
"""Share of missing cells from which the variance explained is measured on hidden cells."""
MOST_COLUMNS = 2000
"""Columns beyond which no matrix of all pairs of them is made for the scree plot."""


def words_of(loadings: np.ndarray, names: Sequence[str]) -> list[str]:
    """What each axis opposes: the columns that load on it most, and those that load the other way."""
    told = []
    for column in loadings.T:
        strong = np.abs(column) >= max(STRONG, 0.5 * np.abs(column).max())
        if not strong.any():
            strong = np.abs(column) >= np.abs(column).max()
        order = [j for j in np.argsort(-np.abs(column), kind="stable") if strong[j]][:MOST_NAMED]
        high, low = ([names[j] for j in order if sign * column[j] > 0] for sign in (1, -1))
        high, low = (high, low) if high else (low, high)
        told.append(joined(high) + (f" against {joined(low)}" if low else ""))
    return told


def study_axes(
    model: Any,
    table: DataTable,
    *,
    seed: int = 0,
    check: int = HALVES,
    deadline: float | None = None,
    spent: float | None = None,
) -> Findings:
    """Findings about the axes behind the columns of a table, which are those of a fitted ProbabilisticPCA or FactorAnalysis.

    What they explain is checked `check` times, on halves of the rows or on hidden cells, by `time.monotonic` until a `deadline`;
    `spent` are the seconds after which the fit was ended, if it was.
    """
    sample = take_sample(model, table, seed=seed)
    names, loadings, explained = table.schema.names, model.column_correlations(), model.variance_shares()
    few = len(names) <= MOST_COLUMNS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # arrays without the names that the source had
        scores, std = model._scored(sample.encoded)
    spectrum = variance_spectrum(table.source()) if few else explained
    k, missing = len(explained), {column.name: column.n_missing for column in table.used}
    if any(missing.values()) and isinstance(model, ProbabilisticPCA) and few:
        # Pairs of columns start a fit; the axes learned from all known cells are the better estimate, and the one that is told.
        rest = spectrum[k:] * (1.0 - explained.sum()) / max(spectrum[k:].sum(), 1e-300)
        spectrum = np.concatenate([explained, rest])
    axis_names = [f"{model._axis[0]} {place}" for place in range(1, model.n_components_ + 1)]
    noise = _noise(model, spectrum, table.n_rows) if few else None
    axes = Axes(axis_names, explained, loadings, scores, std, spectrum, words_of(loadings, names), noise)
    rotated = f", rotated by {model.rotation}" if getattr(model, "rotation", None) else ""
    kind = f"{type(model).__name__} of standardised columns, {model.n_components_} {model._axis[1]}{rotated}"
    findings = findings_of("axes", model, table, sample=sample, axes=axes, n_filled=missing)
    summary, limits = _summary(model, table, axes, sample, seed, check, deadline), _limits(model, table)
    if spent is not None:
        sentence = f"The fit was ended at its budget of {number(spent)} s before it had settled: the axes are those found so far."
        summary.insert(
            0, Claim.of("budget", sentence, "steps of the fit", {"budget": spent, "steps": int(model.n_iter_)})
        )
    return replace(findings, summary=summary, limits=limits, card=card_of(model, table, seed, Model=kind))


def _noise(model: Any, spectrum: np.ndarray, n_rows: int) -> np.ndarray:
    """What parallel analysis compares the spectrum with, as shares of the variance."""
    choice, d = getattr(model, "rank_choice_", None), len(spectrum)
    if choice is None or choice.method != "parallel":
        choice = parallel(Spectrum(spectrum * d, n_rows, d), random_state=0)
    return np.asarray(choice.threshold) / d


def _hidden_share(model: Any, cells: np.ndarray, seed: int, times: int, deadline: float | None) -> dict | None:
    """The share of the variance of hidden cells that the axes explain, where many cells are missing; else None.

    Cells are hidden on purpose, and axes learned anew without them tell them: what the axes only seem to explain, because few
    cells are known for each of their numbers, they do not tell. `explained` is None where too few cells are known to hide any.
    """
    if np.isnan(cells).mean() < SPARSE:
        return None
    told: list[tuple] = []
    for k in range(times):
        hidden = hide_alike(cells, seed=seed + k)
        if not hidden.any() or (told and deadline is not None and time.monotonic() >= deadline):
            break
        told.append(_errors(model, cells, hidden, deadline))
    errors = [each for each in told if each[0] is not None]
    n = sum(each[2] for each in told)
    if not errors:
        return {"explained": None, "n_hidden": n}
    missed, about, n = (float(sum(each[j] for each in errors)) for j in range(3))
    return {"explained": max(1.0 - missed / about, 0.0), "n_hidden": int(n)}


def _errors(model: Any, cells: np.ndarray, hidden: np.ndarray, deadline: float | None) -> tuple:
    """Sums of squared errors of hidden cells as axes tell them and as means do, None where no axes are found; how many."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            trial = clone(model).set_params(n_components=model.n_components_, callback=Until(deadline))
            filled = np.asarray(trial.fit(np.where(hidden, np.nan, cells)).impute(np.where(hidden, np.nan, cells)))
        except (ValueError, np.linalg.LinAlgError):
            return None, None, int(hidden.sum())
        mean, spread = np.nanmean(np.where(hidden, np.nan, cells), axis=0), np.nanstd(cells, axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    missed, about = (((each - cells) / scale)[hidden] ** 2 for each in (filled, np.broadcast_to(mean, cells.shape)))
    return missed.sum(), about.sum(), int(hidden.sum())


def _by_hidden(sentence: str, hidden: dict, own: float) -> str:
    """The sentence on the variance explained, in the figures of hidden cells."""
    if hidden["explained"] is None:
        return "Too few cells are known to check how much of the variance the axes explain, so that it is not told."
    part = f"{share(hidden['explained'], 0)} of the variance of {hidden['n_hidden']:,} known cells"
    told = f"{part}, hidden on purpose and told by the others ({share(own, 0)} in the fit itself),"
    return sentence.replace(f"{share(own, 0)} of the variance", told, 1)


def _summary(
    model: Any, table: DataTable, axes: Axes, sample: Sample, seed: int, times: int, deadline: float | None
) -> list[str]:
    k, d, missing = len(axes.names), len(table.used), sum(column.n_missing for column in table.used)
    word, how_many = model._axis[k > 1], str(k) if k > 1 else "One"
    names = [column.name for column in table.used]
    # Of complete rows, loadings of principal axes are correlations with the scores that were written.
    plain = all(
        column.role in ("measurement", "count") and column.reading in ("number", "text") for column in table.used
    )
    exact = isinstance(model, ProbabilisticPCA) and plain and not missing and d <= MOST_CHECKED
    columns = [f"{model._axis[0]}_{place}" for place in range(1, k + 1)]
    halves = _held_out(sample.encoded, k, times) if exact else ""
    if halves and len(sample.rows) < table.n_rows:
        halves += f", of {len(sample.rows):,} rows drawn at random"
    basis = f"correlations of {len(names)} columns in {count(table.n_rows, 'row')}{halves}"
    shares = {name: float(part) for name, part in zip(columns, axes.explained)}
    pandas = (
        f"{{axis: float((table[{names}].corrwith(rows[axis]) ** 2).mean()) for axis in {columns}}}" if exact else ""
    )
    sentence = (
        f"{how_many} {word} {'explain' if k > 1 else 'explains'} {share(axes.explained.sum(), 0)} of the variance of {d} "
        f"columns{_how(model)}."
    )
    check, hidden = Check(basis, shares, pandas), _hidden_share(model, sample.encoded, seed, times, deadline)
    if hidden is not None:
        sentence = _by_hidden(sentence, hidden, float(axes.explained.sum()))
        figures = {"explained": hidden["explained"], "in_the_fit": float(axes.explained.sum())}
        check = Check(
            f"{hidden['n_hidden']:,} known cells, hidden and told again by axes learned without them", figures
        )
    told: list[str] = [Claim("explained", "{sentence}", sentence=sentence, check=check)]
    for j, (name, part, words) in enumerate(zip(axes.names, axes.explained, axes.words)):
        strong = [names[i] for i in np.argsort(-np.abs(axes.loadings[:, j]), kind="stable")[:MOST_NAMED]]
        found = {each: float(axes.loadings[names.index(each), j]) for each in strong}
        pandas = f"{{column: float(table[column].corr(rows['{columns[j]}'])) for column in {strong}}}" if exact else ""
        sentence = f"{name[0].upper()}{name[1:]} ({share(part, 0)}): {words}."
        told.append(Claim.of("axis", sentence, "loadings, the largest first", found, pandas))
    test = getattr(model, "test_", None)
    if test is not None:
        says = "are not enough" if test.p_value < 0.05 else "are enough"
        sentence = (
            f"A test of fit says that {count(k, 'factor')} {says} to explain how the columns correlate "
            f"(p = {probability(test.p_value)})."
        )
        told.append(
            Claim.of("test_of_fit", sentence, "likelihood-ratio test of the factors", {"p": float(test.p_value)})
        )
    if missing:
        sentence = (
            f"{missing:,} of {table.n_rows * d:,} cells {'is' if missing == 1 else 'are'} missing; rows are placed by the cells "
            "they have, and the standard errors of their scores say how surely."
        )
        told.append(missing_claim("missing", sentence, table, table.used))
    return told


def _held_out(cells: np.ndarray, k: int, times: int) -> str:
    """What axes of one half of complete rows explain of the other, in words; nothing where rows are few."""
    n, d = cells.shape
    if n < 8 * d:
        return ""
    rng, found = np.random.default_rng(0), []
    for _ in range(times):
        rows = rng.permutation(n)
        for own, other in ((rows[: n // 2], rows[n // 2 :]), (rows[n // 2 :], rows[: n // 2])):
            if not (cells[own].std(axis=0).all() and cells[other].std(axis=0).all()):
                return ""
            axes = np.linalg.eigh(np.corrcoef(cells[own].T))[1][:, -k:]
            found.append(np.trace(axes.T @ np.corrcoef(cells[other].T) @ axes) / d)
    return f"; axes found in one half of the rows explain {share(float(np.mean(found)), 0)} of the other half"


def _how(model: Any) -> str:
    choice = getattr(model, "rank_choice_", None)
    if choice is None:
        return ""
    if choice.rank < 1:
        return ", though none stands out from what independent columns would show"
    ways = {
        "parallel": "as many as stand out from noise (parallel analysis)",
        "parallel_factors": "as many as stand out from noise in what columns share (parallel analysis)",
        "bic": "as many as BIC supports",
    }
    return f": {ways.get(choice.method, choice.method)}"


def _scored(table: DataTable) -> list[str]:
    """How levels in order were taken."""
    names = [column.name for column in table.used if column.scores]
    if not names:
        return []
    few = joined([*names[:5], f"{len(names) - 5} more"] if len(names) > 6 else names)
    return [
        f"Levels in order ({few}) were taken as normal scores: slices of a normal scale, each as wide as the level's share of "
        "the known cells, so that correlations are near those of what the answers stand for, a little weaker."
    ]


def _limits(model: Any, table: DataTable) -> list[str]:
    axis = model._axis[0]
    oblique = getattr(model, "rotation", None) in ("promax", "oblimin")
    meaning = (
        f"A loading says by how many of its standard deviations a column changes with one of the {axis}, all others fixed."
        if oblique
        else f"A loading is the correlation of a column with the {axis}; its square is the share of the column's variance that "
        f"the {axis} explains."
    )
    told = [
        meaning,
        "An axis is a direction in which rows differ, not a cause; its sign is arbitrary.",
        *_scored(table),
        "Columns were standardised: each counts the same, whatever its unit. Relations that are not straight lines are not seen.",
    ]
    heywood = np.flatnonzero(getattr(model, "heywood_", np.zeros(0)))
    if len(heywood):
        names = joined([table.schema.names[j] for j in heywood])
        told.append(
            f"The factors explain {names} entirely, up to a floor (a Heywood case): fewer factors may be sounder."
        )
    if getattr(model, "dof_", 0) < 0:
        told.append(f"{len(table.used)} columns cannot tell {model.n_components_} factors apart; ask for fewer.")
    if table.n_rows < 5 * len(table.used):
        told.append(f"{table.n_rows} rows are few for {len(table.used)} columns: another sample may show other axes.")
    return told
