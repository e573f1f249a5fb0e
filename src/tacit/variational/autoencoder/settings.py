"""What the autoencoder's settings are where they are left to it, and what they may be."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...checks import check_choice, check_number
from ...families import Product
from ...schema import Schema
from ...source import ArraySource, Source

__all__ = ["FEWEST", "SMALL", "check_autoencoder", "draws", "held_out", "positive_columns", "sizes", "widths"]

FEWEST = 10
"""Rows from which some are held out."""
MOST_HELD = 5000
SMALL = 3000
"""Rows up to which training is repeated on all of them."""
WIDTHS = ((60, ()), (1_000, (32,)), (10_000, (64, 64)), (100_000, (128, 128)), (np.inf, (256, 256)))
"""Hidden layers by the number of rows below which they are used."""
MANY = 10_000
"""Rows up to which the bound is taken by `DRAWS` draws by default, beyond by one."""
DRAWS = 8
STEPS = 12_000
"""Most steps by default."""
REST = 150
"""Steps without a gain before the learning rate falls, by default."""
CLEARLY = 0.1
"""Log density per cell by which a column must be more like a log-normal one."""


def widths(asked: Any, n: int) -> tuple[int, ...]:
    """Widths of hidden layers."""
    if not isinstance(asked, str):
        return tuple(int(width) for width in asked)
    return next(found for most, found in WIDTHS if n < most)


def sizes(n: int, batch_size: Any, patience: Any, max_epochs: Any) -> tuple[int, int, int]:
    """Rows of a batch, epochs without a gain, and epochs at most."""
    batch = int(np.clip(2 ** round(np.log2(max(n, 8) / 8)), 16, 1024)) if isinstance(batch_size, str) else batch_size
    steps = max(round(n / batch), 1)
    rest = max(REST // steps, 3) if isinstance(patience, str) else patience
    return batch, rest, max(STEPS // steps, 20) if isinstance(max_epochs, str) else max_epochs


def draws(asked: Any, n: int) -> int:
    """Draws of z by which the bound is taken."""
    return int(asked) if not isinstance(asked, str) else DRAWS if n <= MANY else 1


def held_out(source: Source, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Numbers of the rows that are held out."""
    rows = source.eligible()
    n = 0 if len(rows) < FEWEST or fraction == 0 else int(np.clip(round(fraction * len(rows)), 2, MOST_HELD))
    return np.sort(rng.choice(rows, n, replace=False))


def positive_columns(schema: Schema, product: Product, sample: np.ndarray, source: Source) -> list:
    """Names of measurements that are positive and clearly more like log-normal ones."""
    found = []
    for family, columns in product.parts:
        for j in columns if type(family).__name__ == "DiagonalGaussian" else ():
            column, x = schema.columns[j], sample[:, j][~np.isnan(sample[:, j])]
            low = column.low
            if low is None and isinstance(source, ArraySource) and isinstance(source.X, np.ndarray):
                low = float(np.nanmin(source.X[:, j]))
            # Where cells come near 0, new ones may be 0.
            if column.kind != "continuous" or low is None or len(x) < 20 or low <= 0.01 * np.median(x) or x.min() <= 0:
                continue
            logs = np.log(x)
            if x.std() > 0 and np.log(x.std()) - np.log(logs.std()) - logs.mean() > CLEARLY:
                found.append(column.name)
    return found


def check_autoencoder(estimator: Any) -> None:
    """Raise ValueError where a setting is not what it must be."""
    whole, real = numbers.Integral, numbers.Real
    for name in ("n_components", "n_importance", "patience", "max_epochs", "batch_size"):
        value = getattr(estimator, name)
        if isinstance(value, str):
            check_choice(name, value, ("auto",))
        else:
            check_number(name, value, whole, 0 if name == "max_epochs" else 1)
    for name in ("encoder_widths", "decoder_widths"):
        _check_widths(name, getattr(estimator, name))
    check_choice("noise", estimator.noise, ("column", "shared", "cell"))
    check_choice("init", estimator.init, ("linear", "random"))
    check_choice("device", str(estimator.device).partition(":")[0], ("auto", "cpu", "cuda"))
    for name, low in (("beta", 0), ("weight_decay", 0), ("learning_rate", 0)):
        check_number(name, getattr(estimator, name), real, low)
    check_number("validation_fraction", estimator.validation_fraction, real, 0, 0.9)
    for name, least in (("warm_up", 0), ("n_draws", 2), ("refine", 0)):
        check_number(name, getattr(estimator, name), whole, least)
    if not isinstance(estimator.by_column, (dict, type(None))):
        raise ValueError(f"by_column={estimator.by_column!r} is not a dictionary of columns and their families.")


def _check_widths(name: str, value: Any) -> None:
    if isinstance(value, str):
        return check_choice(name, value, ("auto",))
    if not isinstance(value, Sequence) or not all(isinstance(w, (int, np.integer)) and w > 0 for w in value):
        raise ValueError(
            f"{name}={value!r} must be 'auto' or a tuple of widths, such as (64, 64); () has no hidden layer."
        )
    return None
