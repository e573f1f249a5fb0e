"""Random tables, small and odd, for every estimator: a fit that is sound, or an error that names the fault."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.utils import get_tags

from tacit.cluster import KMeans, KMedoids, SpectralClustering
from tacit.factor import CCA, PCA
from tacit.families import STRUCTURES, Dirichlet, FactorGaussian
from tacit.mixture import GaussianMixture, Mixture, StudentTMixture
from tacit.sequence.drop_ins import GMMHMM, GaussianHMM
from tacit.sequence.drop_ins.penalised import LEAST
from tacit.topics import LatentDirichletAllocation

from .test_estimators import ESTIMATORS, MORE
from .zoo import some

MORE_MIXTURES = [
    *(GaussianMixture(2, covariance_type=name, random_state=0) for name in STRUCTURES),
    *(StudentTMixture(2, covariance_type=name, random_state=0) for name in STRUCTURES),
    StudentTMixture(2, df=3.0, random_state=0),
]
COLUMNS = {
    "poisson": "counts", "geometric": "counts", "negative_binomial": "counts", "bernoulli": "booleans", "categorical": "levels",
    "exponential": "positive", "gamma": "positive", "lognormal": "positive", "beta": "shares", "student": "any",
    "multinomial": "counts", Dirichlet(): "compositions", FactorGaussian(1): "any", FactorGaussian(1, "diagonal"): "any",
}  # fmt: skip
"""Families of columns, and the values they describe."""

UNBOUNDED = {
    StudentTMixture: ("covariances_",),
    LatentDirichletAllocation: ("bound_",),
    KMedoids: ("cluster_centers_",),
    SpectralClustering: ("embedding_centers_", "gap_scores_"),
}
"""What may be infinite, with two degrees of freedom or next to no word, or missing, as cells of medoids, centres
of isolated rows and scores of numbers of clusters that no eigenvalue follows are."""

UNRESOLVED = {GaussianHMM: LEAST, GMMHMM: LEAST}
"""Smallest variances that classes may have as shares of the data's, where these are far below a millionth."""

KINDS = {" ".join(repr(each).split()): (each, "any") for each in [*ESTIMATORS, *MORE, *MORE_MIXTURES]}
KINDS |= {
    f"mixture of {family if isinstance(family, str) else f'{type(family).__name__} {n}'}": (
        Mixture(2, family=family, random_state=0), values
    )
    for n, (family, values) in enumerate(COLUMNS.items())
}  # fmt: skip
QUICK = [
    "GaussianMixture(covariance_type='VEV', n_components=2, random_state=0)", "BayesianGaussianMixture()", "PCA()",
    "StudentTMixture(covariance_type='VVE', n_components=2, random_state=0)", "KMeans()", "ProbabilisticPCA(n_components=1)",
    "ProbabilisticCCA(n_components=1)", "mixture of negative_binomial", "mixture of gamma", "GaussianBayes()", "FactorAnalysis()",
    "KMedians(n_clusters=2, random_state=0)", "KernelPCA()",
]  # fmt: skip


def cells(rng, n, d):
    """Cells of one sort: measurements, groups, heavy tails, small integers, booleans, or few values."""
    sort = rng.integers(6)
    if sort == 0:
        return rng.normal(size=(n, d))
    if sort == 1:
        return rng.normal(size=(n, d)) + 8.0 * rng.integers(3, size=(n, 1))
    if sort == 2:
        return rng.standard_t(1.0, size=(n, d))
    if sort == 3:
        return rng.integers(-3, 9, size=(n, d)).astype(float)
    if sort == 4:
        return (rng.random((n, d)) < rng.random(d)).astype(float)
    return rng.choice([0.0, 0.5, 1.0 / 3.0, 7.0], size=(n, d))


def spoil(rng, X):
    """Odd columns and rows: constant, repeated, collinear, far from 0, huge or tiny."""
    n, d = X.shape
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, -0.1, 1e8])
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = X[:, rng.integers(d)]
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = X @ rng.normal(size=d)
    if rng.random() < 0.3:
        X[rng.integers(n, size=n // 2 + 1)] = X[rng.integers(n)]
    if rng.random() < 0.3:
        X[:, rng.integers(d)] += 10.0 ** rng.uniform(0, 12)
    if rng.random() < 0.2:
        X[:, rng.integers(d)] *= 10.0 ** rng.uniform(-20, 20)
    if rng.random() < 0.1:
        X *= 10.0 ** rng.uniform(-300, 300)
    elif rng.random() < 0.1:
        X *= 10.0 ** rng.uniform(-300, 300, size=d)
    elif rng.random() < 0.1:
        X[rng.integers(n), rng.integers(d)] = rng.choice([1e300, -1e200, 1e-300, 1e150])
    return X


def punch(rng, X):
    """Missing cells: none, some, a block, whole rows or a whole column."""
    n, d = X.shape
    way = rng.integers(8)
    if way == 1:
        X[rng.random((n, d)) < rng.choice([0.1, 0.5])] = np.nan
    elif way == 2:
        X[: n // 2, : d // 2 + 1] = np.nan
    elif way == 3:
        X[rng.random(n) < 0.3] = np.nan
    elif way == 4:
        X[:, rng.integers(d)] = np.nan
    return X


def row_weights(rng, n):
    """Weights: none, random, with zeros, huge or tiny, or of all sizes."""
    way = rng.integers(10)
    if way == 0:
        return rng.random(n)
    if way == 1:
        return rng.integers(2, size=n).astype(float)
    if way == 2:
        return np.full(n, rng.choice([1e300, 1e-300, 1e15, 1e-15]))
    if way == 3:
        return 10.0 ** rng.uniform(-12, 12, size=n)
    return None


def described(X, values):
    """The table as values that a family of columns describes."""
    with np.errstate(over="ignore"):
        size = np.abs(X)
    if values == "counts":
        return np.floor(np.minimum(size, 1e6))
    if values == "booleans":
        return np.where(np.isnan(X), X, X > 0.4)
    if values == "levels":
        return np.floor(np.minimum(size, 1e6)) % 4
    if values == "positive":
        return np.maximum(size, 1e-300)
    if values == "shares":
        return np.clip(1.0 / (1.0 + size), 1e-12, 1.0 - 1e-12)
    if values == "compositions":
        share = np.clip(size, 1e-9, 1e9)
        return share / share.sum(axis=1, keepdims=True)
    return X


def make(seed, values="any"):
    """The table and weights of a seed."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 41)), int(rng.integers(1, 6))
    with np.errstate(all="ignore"):
        X = spoil(rng, cells(rng, n, d))
        X = np.clip(np.nan_to_num(X), -1e300, 1e300)
    X = punch(rng, described(X, values))
    weight = row_weights(rng, n)
    whole = not np.isnan(X).any()
    if whole and (np.abs(X) < 1e9).all() and (np.floor(X) == X).all() and rng.random() < 0.5:
        X = X.astype(bool) if (X >= 0).all() and (X <= 1).all() else X.astype(np.int64)
    elif rng.random() < 0.1 and not (np.abs(X) > 1e30).any():
        X = X.astype(np.float32)
    return X, weight


def arguments(estimator, X, weight):
    """What `fit` is given: rows or pairs of them, a target where it takes one, weights where it takes them."""
    tags, given = get_tags(estimator), {}
    if tags.input_tags.pairwise:
        with np.errstate(all="ignore"):
            X = np.clip(pairwise_distances(np.nan_to_num(X.astype(np.float64))), 0.0, 1e300)
            X = np.maximum(X, X.T) * (1.0 - np.eye(len(X)))
    if tags.target_tags.required:
        given["y"] = (
            np.arange(len(X)) % 2 if tags.classifier_tags is not None else np.nan_to_num(X[:, -1]).astype(float)
        )
    if weight is not None and "sample_weight" in estimator.fit.__code__.co_varnames:
        given["sample_weight"] = weight
    return X, given


def numbers(value, name=""):
    """Every float array among fitted attributes, by name."""
    if isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        yield name, np.asarray(value)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from numbers(part, name)


def check(name, seed):
    """Fit to the table of a seed; anything but a sound fit or a `ValueError` in words is raised."""
    estimator, values = KINDS[name]
    X, weight = make(seed, values)
    X, given = arguments(estimator, X, weight)
    estimator = clone(estimator)
    with warnings.catch_warnings(), np.errstate(divide="raise", over="raise", invalid="raise"):
        warnings.simplefilter("ignore", UserWarning)  # the library's own, with ConvergenceWarning
        warnings.simplefilter("error", RuntimeWarning)
        if isinstance(estimator, SpectralClustering):
            # Graphs whose degrees are 1e60 apart have embeddings that k-means rounds to nothing.
            warnings.filterwarnings("ignore", "the objective of KMeansModel fell")
        try:
            estimator.fit(X, **given)
        except np.linalg.LinAlgError:
            raise
        except ValueError as error:
            return str(error)
    fitted = {key: value for key, value in vars(estimator).items() if key.endswith("_")}
    found = fitted | ({"params": [v for _, v in flat(estimator.fit_.params)]} if hasattr(estimator, "fit_") else {})
    for attribute in UNBOUNDED.get(type(estimator), ()):
        found.pop(attribute)
    for attribute, value in found.items():
        for _, array in numbers(value):
            assert np.isfinite(array).all(), f"{attribute} holds {array[~np.isfinite(array)][0]}"
    if hasattr(estimator, "fit_") and estimator._model().monotone:
        objectives = np.array(estimator.fit_.trace.objectives)
        rounding = 1e-6 if X.dtype == np.float32 else 1e-9
        # Moments about the data's mean are rounded by ε of its variance s², an M-step's scatter S by as much, and so where the
        # least variance is f s² its objective, −½ Σ_i tr Σ⁻¹ S, by up to ½ ε / f for every row and column.
        least = UNRESOLVED.get(type(estimator), np.inf)
        slack = 0.5 * np.finfo(float).eps / least * X.shape[1] * estimator.fit_.trace.weight
        fall = np.diff(objectives) + rounding * (1.0 + np.abs(objectives[1:])) + slack
        assert (fall >= 0).all(), f"the objective fell: {objectives[max(np.argmin(fall) - 1, 0) : np.argmin(fall) + 3]}"
    return None


def flat(params):
    """Arrays of parameters, however deep."""
    for name, value in params.items():
        if hasattr(value, "items"):
            yield from flat(value)
        elif isinstance(value, tuple):
            for part in value:
                yield from flat(part)
        else:
            yield name, value


FOUND = [
    (
        "GaussianMixture(covariance_type='EVE', n_components=2, random_state=0)",
        40,
    ),  # columns whose scales are 1e15 apart
    ("GaussianMixture(covariance_type='EVV', n_components=2, random_state=0)", 40),
    ("StudentTMixture(covariance_type='EVV', n_components=2, random_state=0)", 40),
    ("StudentTMixture(covariance_type='EEI', n_components=2, random_state=0)", 16),  # rows of next to no weight far out
    ("GaussianMixture(covariance_type='tied', n_components=2, random_state=0)", 28),  # a column far from 0
    ("StudentTMixture(covariance_type='VII', n_components=2, random_state=0)", 130),  # heavy tails in single precision
    ("BayesianGaussianMixture(covariance_type='tied', n_components=3, random_state=0)", 102),  # weights of 1e-15
    ("BayesianGaussianMixture()", 206),  # a leap that overflows
    ("mixture of negative_binomial", 7),  # counts of 1e6
    ("mixture of gamma", 12),
    ("KMeans()", 36),
    (
        "StudentTMixture(covariance_type='VVV', n_components=2, random_state=0)",
        20,
    ),  # tails like a Gaussian's in float32
    (
        "GaussianMixture(covariance_type='spherical', n_components=2, random_state=0)",
        4,
    ),  # every run falls onto the floor
    (
        "GMMHMM(covariance_type='full', n_components=2, n_mix=2, random_state=0)",
        20,
    ),  # narrow classes in single precision
    ("GMMHMM(covariance_type='full', n_components=2, n_mix=2, random_state=0)", 33),  # classes on a floor of 1e-10
    ("ProbabilisticCCA(n_components='bic', n_jobs=1, reg_covar=0.1)", 76),  # columns whose scales are 1e149 apart
    ("StudentTMixture()", 76),  # a leap of scales that overflows
    ("LatentDirichletAllocation()", 98),  # less than 1e-280 words
    ("LinearChainCRF(algorithm='arow', random_state=0)", 4),  # steps by sequence
    ("NaiveBayes()", 12),  # counts of 1e18
    ("LatentClassRegression(n_components=1)", 26),  # weights of all sizes
    (
        "LatentDirichletAllocation(doc_topic_prior='learn', inference='vb', learning_method='online', n_components=3, "
        "random_state=0)",
        4,
    ),
    ("MiniBatchNMF()", 7),  # squares of 1e18 that cancel
    ("NMFTopics()", 7),  # counts of 1e9, all but fitted
    ("NMFTopics()", 36),
    ("MiniBatchNMF()", 112),  # no noise at all
    (
        "NMF(alpha_W=0.01, beta_loss='kullback-leibler', init='random', n_components=2, n_init=2, random_state=0, solver='mu')",
        50,
    ),  # a squared penalty
]
"""Tables for which a fit was once wrong."""


@pytest.mark.parametrize(("name", "seed"), FOUND)
def test_tables_that_were_fitted_wrongly(name, seed):
    check(name, seed)


@pytest.mark.parametrize(
    "fit",
    [
        lambda X: GaussianMixture(2).fit(X),
        lambda X: Mixture(2).fit(pd.DataFrame(X, columns=["a", "b"])),
        lambda X: KMeans(2).fit(csr_array(X)),
        lambda X: CCA(1).fit(np.arange(6.0)[:, None], X),
        lambda X: PCA().fit(np.arange(12.0).reshape(6, 2)).transform(X),
    ],
)
def test_cells_whose_squares_overflow_are_named(fit):
    X = np.arange(12.0).reshape(6, 2)
    X[4, 1] = -1e160
    with pytest.raises(
        ValueError, match=r"column (1|b).* holds -1e\+160, and sums of squares of cells beyond 1e\+151 overflow; div"
    ):
        fit(X)


def test_weights_that_products_cannot_hold_are_named():
    with pytest.raises(
        ValueError, match=r"sample_weight holds 1e\+60; weights other than 0 must lie between 1e-50 and 1e\+50"
    ):
        GaussianMixture().fit(np.arange(6.0)[:, None], sample_weight=[1.0, 1e60, 0.0, 0.0, 1.0, 1.0])


@pytest.mark.parametrize("name", some(list(KINDS), QUICK))
def test_random_tables(name):
    for seed in range(4):
        check(name, seed)


@pytest.mark.full
@pytest.mark.parametrize("name", KINDS)
def test_many_random_tables(name):
    for seed in range(4, 40):
        check(name, seed)
