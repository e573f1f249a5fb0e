"""scikit-learn's own tests of Gaussian process regression, run against ours."""

from .borrowed import borrow

DIFFERENCES: dict[str, str] = {}

globals().update(
    borrow(
        "sklearn.gaussian_process.tests.test_gpr",
        {
            "sklearn.gaussian_process import": "tacit.gaussian_process import",
            "sklearn.gaussian_process.kernels import": "tacit.gaussian_process.kernels import",
        },
        DIFFERENCES,
    )
)
