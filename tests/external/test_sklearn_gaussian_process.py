"""scikit-learn's own tests of Gaussian processes, run against ours."""

from .borrowed import borrow

DIFFERENCES: dict[str, str] = {}
IMPORTS = {
    "sklearn.gaussian_process import": "tacit.gaussian_process import",
    "sklearn.gaussian_process.kernels import": "tacit.gaussian_process.kernels import",
}

for kind in ("gpr", "gpc"):
    found = borrow(f"sklearn.gaussian_process.tests.test_{kind}", IMPORTS, DIFFERENCES)
    globals().update({name.replace("test_", f"test_{kind}_"): value for name, value in found.items()})
