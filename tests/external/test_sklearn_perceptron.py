"""scikit-learn's own tests of Perceptron, run against ours."""

from .borrowed import borrow

globals().update(
    borrow(
        "sklearn.linear_model.tests.test_perceptron",
        {"from sklearn.linear_model import Perceptron\n": "from tacit.linear_model import Perceptron\n"},
        {},
    )
)
