"""Tests with power, intervals, the bootstrap, and what else tells how sure a finding is."""

from ..lazy import lazily

_HOMES = {
    # Tests, their power, and several at once
    "adjusting": "adjust",
    "blocks": "Nemenyi friedman nemenyi",
    "contingency": "chi_square_test fisher_test",
    "counts": "binomial_test mcnemar sign_test",
    "distribution": "ks_test",
    "groups": "GroupTests compare_groups",
    "likelihood": "likelihood_ratio",
    "means": "corrected_resampled_t t_test z_test",
    "permutation": "permutation_test",
    "ranks": "kruskal mann_whitney wilcoxon",
    "result": "Region TestResult",
    "variances": "anova variance_test",
    # Intervals and the bootstrap
    "intervals": "Interval mean_interval median_interval proportion_interval variance_interval",
    "profile": "delta_interval profile_interval",
    "replicates": "Bootstrap bootstrap",
    # Rows and cells held out, models compared, conformal prediction
    "cells": "HiddenCells hidden_cells",
    "comparison": "ModelComparison compare",
    "conformal": "ConformalRegressor",
    "conformal_sets": "ConformalClassifier",
    "curves": "Curve learning_curve validation_curve",
    "estimates": "Estimate",
    "scoring": "Coverage Reliability brier_score crps interval_coverage interval_score log_score pit reliability",
    "selecting": "one_standard_error",
    "splits": "BlockedKFold",
    "stability": "Stability cluster_stability",
    "validation": "CrossValidation cross_validate",
}

__all__ = sorted(name for names in _HOMES.values() for name in names.split())

__getattr__, __dir__ = lazily(__name__, _HOMES)
