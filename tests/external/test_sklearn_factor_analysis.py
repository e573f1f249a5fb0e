"""scikit-learn's own tests of FactorAnalysis, run against ours."""

from .borrowed import borrow

DIFFERENCES: dict[str, str] = {}

globals().update(
    borrow(
        "sklearn.decomposition.tests.test_factor_analysis",
        {
            "from sklearn.decomposition import FactorAnalysis\n": "from tacit.factor import FactorAnalysis\n",
            # A private function there, public here.
            "from sklearn.decomposition._factor_analysis import _ortho_rotation\n": "from tacit.factor import rotate\n",
            'rotated = _ortho_rotation(factors[:, :n_components], method="varimax").T\n': "rotated = rotate("
            'factors[:, :n_components], "varimax").loadings\n',
        },
        DIFFERENCES,
    )
)
