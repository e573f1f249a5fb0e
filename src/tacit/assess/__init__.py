"""Tests with power, intervals, the bootstrap, and what else tells how sure a finding is."""

from importlib import import_module
from typing import Any

_HOMES = {
    "result": ("Region", "TestResult"),
    "adjusting": ("adjust",),
    "blocks": ("Nemenyi", "friedman", "nemenyi"),
    "means": ("corrected_resampled_t", "t_test", "z_test"),
    # Held-out rows, models compared, conformal prediction
    "cells": ("HiddenCells", "hidden_cells"),
    "comparison": ("ModelComparison", "compare"),
    "conformal": ("ConformalRegressor",),
    "conformal_sets": ("ConformalClassifier",),
    "curves": ("Curve", "learning_curve", "validation_curve"),
    "estimates": ("Estimate",),
    "scoring": (
        "Coverage", "Reliability", "brier_score", "crps", "interval_coverage", "interval_score", "log_score", "pit",
        "reliability",
    ),
    "selecting": ("one_standard_error",),
    "splits": ("BlockedKFold",),
    "stability": ("Stability", "cluster_stability"),
    "validation": ("CrossValidation", "cross_validate"),
}  # fmt: skip
_NAMES = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    # Loaded when asked for: tests need SciPy, and estimators more.
    if name in _NAMES:
        return getattr(import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'tacit.assess' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
