"""scikit-learn's own tests of its imputer by neighbours, run against ours."""

from .borrowed import borrow

COMMON = {"from sklearn.impute import KNNImputer": "from tacit.impute import KNNImputer"}
DIFFERENCES = {}

globals().update(borrow("sklearn.impute.tests.test_knn", COMMON, DIFFERENCES))
