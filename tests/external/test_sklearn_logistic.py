"""scikit-learn's own tests of LogisticRegression, run against ours."""

from .borrowed import borrow

DIFFERENCES = {}

globals().update(
    borrow(
        "sklearn.linear_model.tests.test_logistic",
        {
            "from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier\n": "from "
            "sklearn.linear_model import LogisticRegressionCV, SGDClassifier\n"
            "from tacit.linear_model import LogisticRegression\n"
        },
        DIFFERENCES,
    )
)
