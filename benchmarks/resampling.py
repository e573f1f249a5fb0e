"""Cross-validation against scikit-learn's, and conformal intervals against MAPIE's: the same folds, the same figures.

MAPIE is compared where it is installed (pip install mapie).
"""

import numpy as np
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.model_selection import cross_validate as their_cross_validate

from tacit.assess import ConformalClassifier, ConformalRegressor, cross_validate

from .harness import Job

FOLDS = KFold(10, shuffle=True, random_state=0)


def small():
    return make_regression(200, 5, noise=10.0, random_state=0)


def large():
    return make_regression(100_000, 20, noise=10.0, random_state=0)


def split():
    X, y = make_regression(6000, 10, noise=30.0, random_state=0)
    return X[:3000], y[:3000], X[3000:]


def classes():
    X, y = make_classification(4000, 10, n_informative=6, n_classes=3, random_state=0)
    return X[:2000], y[:2000], X[2000:]


def judged(data):
    return cross_validate(Ridge(), *data, cv=FOLDS, measures="squared_error")


def judged_by_scikit_learn(data):
    return their_cross_validate(Ridge(), *data, cv=FOLDS, scoring="neg_mean_squared_error")


def same_scores(ours, theirs):
    np.testing.assert_allclose(ours.scores(), -theirs["test_score"], rtol=1e-10)
    return "the same scores to 1e-10"


def crossed(data):
    X, y, new = data
    return ConformalRegressor(LinearRegression(), cv=KFold(10), level=0.9).fit(X, y).predict_interval(new)


def crossed_by_mapie(data):
    from mapie.regression import CrossConformalRegressor

    X, y, new = data
    model = CrossConformalRegressor(LinearRegression(), confidence_level=0.9, method="plus", cv=KFold(10))
    return model.fit_conformalize(X, y).predict_interval(new)[1][:, :, 0].T


def same_ends(ours, theirs):
    apart = np.abs(np.array(ours) - np.array(theirs)).max() / np.ptp(ours[0])
    assert apart < 0.01, apart
    return f"ends differ by {apart:.1e} of their range at most"


def sets(data):
    X, y, new = data
    return ConformalClassifier(LogisticRegression(), method="split", level=0.9).fit(X, y).predict_set(new)


def sets_by_mapie(data):
    from mapie.classification import SplitConformalClassifier

    X, y, new = data
    half = len(X) // 2
    model = SplitConformalClassifier(LogisticRegression(), confidence_level=0.9, prefit=False)
    model.fit(X[:half], y[:half]).conformalize(X[half:], y[half:])
    return model.predict_set(new)[1][:, :, 0]


def same_sizes(ours, theirs):
    sizes = ours.sum(axis=1).mean(), theirs.sum(axis=1).mean()
    assert abs(sizes[0] - sizes[1]) < 0.15, sizes
    return f"{sizes[0]:.2f} and {sizes[1]:.2f} classes a set"


JOBS = [
    Job("cross-validation, 10 folds, 200 × 5", "scikit-learn", small, judged, judged_by_scikit_learn, same_scores, 1.0),
    Job("cross-validation, 10 folds, 100,000 × 20", "scikit-learn", large, judged, judged_by_scikit_learn, same_scores, 1.0),
]  # fmt: skip
try:
    import mapie  # noqa: F401
except ImportError:
    pass
else:
    JOBS += [
        Job("conformal intervals, CV+, 3,000 × 10, 3,000 new rows", "MAPIE", split, crossed, crossed_by_mapie, same_ends, 1.0),
        Job("conformal sets, split, 2,000 × 10, 2,000 new rows", "MAPIE", classes, sets, sets_by_mapie, same_sizes, 1.0),
    ]  # fmt: skip
