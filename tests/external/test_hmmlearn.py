"""hmmlearn's own tests, run against our drop-ins; test_gmm_hmm.py, which hmmlearn itself expects to fail, is left out."""

import numpy as np
import pytest

from .borrowed import borrow_classes

pytest.importorskip("hmmlearn", reason="hmmlearn is not installed")

AT_MAXIMUM = "our starts are those of short runs, which end at the maximum: the likelihood has nothing left to gain"
UNDERFLOW = "hmmlearn's scaling fails on an outlier, ours does not"

MODULE = {"from hmmlearn import hmm": "from tacit import sequence as hmm"}
MODULES = {
    "test_gaussian_hmm": (
        {"from .. import hmm": "from tacit import sequence as hmm"},
        {"test_fit_with_priors": AT_MAXIMUM, "test_underflow_from_scaling": UNDERFLOW},
    ),
    "test_categorical_hmm": (MODULE, {}),
    "test_poisson_hmm": (MODULE, {"test_fit_with_init": AT_MAXIMUM}),
    "test_multinomial_hmm": (MODULE, {}),
    "test_gmm_hmm_new": ({"from ..hmm import GMMHMM": "from tacit.sequence import GMMHMM"}, {}),
    "test_gmm_hmm_multisequence": (
        MODULE | {"from hmmlearn.base import ConvergenceMonitor": "from tacit.sequence import ConvergenceMonitor"},
        {},
    ),
}
with np.errstate():  # hmmlearn's tests change what NumPy does on underflow, for all tests that follow
    for module, (replacements, differences) in MODULES.items():
        found = borrow_classes(f"hmmlearn.tests.{module}", replacements, differences)
        globals().update({f"{name}_{module.removeprefix('test_')}": test for name, test in found.items()})
