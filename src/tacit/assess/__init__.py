"""Tests with power, intervals, the bootstrap, and what else tells how sure a finding is."""

from importlib import import_module
from typing import Any

_HOMES = {
    "adjusting": ("adjust",),
    "blocks": ("Nemenyi", "friedman", "nemenyi"),
    "replicates": ("Bootstrap", "bootstrap"),
    "contingency": ("chi_square_test", "fisher_test"),
    "counts": ("binomial_test", "mcnemar", "sign_test"),
    "distribution": ("ks_test",),
    "groups": ("GroupTests", "compare_groups"),
    "intervals": ("Interval", "mean_interval", "median_interval", "proportion_interval", "variance_interval"),
    "likelihood": ("likelihood_ratio",),
    "means": ("corrected_resampled_t", "t_test", "z_test"),
    "permutation": ("permutation_test",),
    "profile": ("delta_interval", "profile_interval"),
    "ranks": ("kruskal", "mann_whitney", "wilcoxon"),
    "result": ("Region", "TestResult"),
    "variances": ("anova", "variance_test"),
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
