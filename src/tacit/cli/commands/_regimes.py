"""Tables of regimes: segments, steps, filled cells and forecasts, as `tacit segment` and `tacit predict` write them."""

from typing import Any

import numpy as np

from ...base.missing import Imputed
from ...schema import labels_of
from ...study.results import Results
from ...study.segment import RegimeFindings

__all__ = ["RegimeResults", "cells_columns", "forecast_columns", "segments_columns", "steps_columns"]

KEYS = ("sequence", "time", "step", "row", "regime", "probability")


class RegimeResults(Results):
    """Results of a hidden Markov model, whose fills of a row rest on all rows of its sequence and are made already."""

    def __init__(self, model: Any, table: Any, found: RegimeFindings, *, typed: bool = False) -> None:
        super().__init__(model, table, level=found.level, typed=typed)
        row = found.segmentation.row
        real = np.flatnonzero(row >= 0)
        place = np.empty(len(real), dtype=int)
        place[row[real]] = real
        self.imputed = Imputed(*(part[place] for part in found.filled))

    def fill(self, part: Any) -> Imputed:
        rows = slice(part.start, part.start + len(part.cells))
        return Imputed(*(answer[rows] for answer in self.imputed))


def segments_columns(found: RegimeFindings) -> dict:
    """The table of segments."""
    segments = found.segmentation
    return _sequences(found, segments.sequence) | {
        "start": segments.when(segments.bounds[:-1]), "end": segments.when(segments.bounds[1:] - 1),
        "length": np.diff(segments.bounds), "regime": segments.segment_states + 1, "probability": segments.segment_probability,
    }  # fmt: skip


def steps_columns(found: RegimeFindings) -> dict:
    """The table of steps, those that times leave out included: regimes, probabilities, and values with missing ones filled in."""
    segments = found.segmentation
    steps = np.arange(len(segments))
    made = _sequences(found, _of_step(segments)) | {_time(segments): segments.when(steps), "row": _rows(segments.row)}
    made |= {"regime": segments.states + 1, "probability": segments.probability[steps, segments.states]}
    made |= {f"probability_{k}": part.round(6) + 0.0 for k, part in enumerate(segments.probability.T, 1)}
    return made | {
        _named(column.name, made): _values(column, cells) for column, cells in zip(found.columns, found.filled.filled.T)
    }


def cells_columns(found: RegimeFindings) -> dict:
    """The table of filled cells, those of steps that times leave out included; these have no row."""
    segments = found.segmentation
    steps, places = np.nonzero(np.isnan(segments.cells))
    values = np.empty(len(steps), dtype=object)
    for j, column in enumerate(found.columns):
        own = places == j
        cells = _values(column, found.filled.filled[steps[own], j])
        values[own] = cells if column.levels else [None if np.isnan(cell) else f"{cell:.10g}" for cell in cells]
    names = np.array([str(column.name) for column in found.columns], dtype=object)
    ends = {name: getattr(found.filled, name)[steps, places] for name in ("low", "high", "probability")}
    return _sequences(found, _of_step(segments)[steps]) | {
        _time(segments): segments.when(steps), "row": _rows(segments.row[steps]), "column": names[places], "value": list(values)
    } | ends  # fmt: skip


def forecast_columns(found: RegimeFindings) -> dict:
    """The table of steps ahead: expectations with intervals, or levels with probabilities, and probabilities of the regimes."""
    ahead, segments = found.forecast, found.segmentation
    assert ahead is not None
    n, n_steps, _ = ahead.mean.shape
    made = _sequences(found, np.repeat(np.arange(n), n_steps))
    made |= {
        _time(segments): [when for s in range(n) for when in found.times_ahead(s)],
        "ahead": np.tile(np.arange(1, n_steps + 1), n),
    }
    for j, column in enumerate(found.columns):
        name = _named(column.name, made)
        made[name] = _values(column, ahead.mean[:, :, j].ravel())
        for ending in ("probability",) if column.levels else ("low", "high"):
            made[f"{name}_{ending}"] = getattr(ahead, ending)[:, :, j].ravel()
    return made | {f"probability_{k}": part.ravel() for k, part in enumerate(np.moveaxis(ahead.states, 2, 0), 1)}


def _time(segments: Any) -> str:
    return "step" if segments.time is None else "time"


def _rows(row: np.ndarray) -> Any:
    """Rows from 1; None of steps that have none."""
    return row + 1 if (row >= 0).all() else [int(each) + 1 if each >= 0 else None for each in row]


def _of_step(segments: Any) -> np.ndarray:
    return np.repeat(np.arange(segments.n_sequences), np.diff(segments.offsets))


def _sequences(found: RegimeFindings, numbers: np.ndarray) -> dict:
    """The column that names sequences, where they have names."""
    names = found.segmentation.names
    return {} if names is None else {"sequence": [names[number] for number in numbers.tolist()]}


def _named(name: Any, made: dict) -> str:
    return f"{name} (column)" if str(name) in made or str(name) in KEYS else str(name)


def _values(column: Any, cells: np.ndarray) -> Any:
    return labels_of(column, cells) if column.levels else cells
