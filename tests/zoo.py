"""Every family and every model of the library, with rows for each: the one list that property tests run over."""

import numpy as np
import pytest

from tacit.cluster import KMeansModel, KMediansModel, SoftKMeansModel
from tacit.families import (
    GAUSSIANS,
    Bernoulli,
    Beta,
    BetaPrior,
    Binomial,
    Categorical,
    ChowLiu,
    DiagonalGaussian,
    Dirichlet,
    DirichletPrior,
    Exponential,
    FactorGaussian,
    FullGaussian,
    Gamma,
    GammaPrior,
    Geometric,
    LogNormal,
    Multinomial,
    NegativeBinomial,
    NormalInverseGamma,
    NormalInverseWishart,
    Ordinal,
    Poisson,
    Product,
    SphericalGaussian,
    StudentT,
    TiedGaussian,
    VonMises,
)
from tacit.families.canonical import CanonicalGaussian
from tacit.mixture import MixtureModel, VariationalMixture, VariationalPrior
from tacit.mixture import weights as beliefs
from tacit.mixture.noise import NoiseModel
from tacit.sequence.markov_family import MarkovFamily
from tacit.topics.allocation.model import VariationalModel
from tacit.topics.allocation.priors import PriorRule
from tacit.topics.factorisation.model import PartsModel

N_LEVELS = (2, 3, 4)
STRUCTURED = ("EII", "EEI", "VEI", "EVI", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV")  # the others are aliases


def gaussian_rows(n=240, d=4, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    means = 4.0 * rng.normal(size=(n_classes, d))
    roots = rng.normal(size=(n_classes, d, d)) / 2 + np.eye(d)
    classes = rng.integers(n_classes, size=n)
    return means[classes] + np.einsum("nij,nj->ni", roots[classes], rng.normal(size=(n, d)))


def heavy_rows(n=240, d=4, n_classes=3, seed=0):
    """As `gaussian_rows`, with the tails of Student's t with four degrees of freedom."""
    rng = np.random.default_rng(seed)
    means = 6.0 * rng.normal(size=(n_classes, d))
    roots = rng.normal(size=(n_classes, d, d)) / 2 + np.eye(d)
    classes = rng.integers(n_classes, size=n)
    noise = rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(4.0, size=(n, 1)) / 4.0)
    return means[classes] + np.einsum("nij,nj->ni", roots[classes], noise)


def binary_rows(n=240, d=6, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.1, 0.9, size=(3, d))
    return (rng.random((n, d)) < p[rng.integers(3, size=n)]).astype(float)


def category_rows(n=240, seed=0):
    rng = np.random.default_rng(seed)
    classes = rng.integers(3, size=n)
    columns = [[rng.choice(m, p=p) for p in rng.dirichlet(np.ones(m), 3)[classes]] for m in N_LEVELS]
    return np.array(columns, dtype=float).T


def cyclic_rows(n=240, seed=0):
    """Hours, bearings from -180 to 180 and days of the week from 1 to 7."""
    rng = np.random.default_rng(seed)
    mu, kappa, classes = rng.uniform(-3.0, 3.0, (3, 3)), rng.uniform(0.5, 6.0, (3, 3)), rng.integers(3, size=n)
    turn = rng.vonmises(mu[classes], kappa[classes])
    share = (turn / (2 * np.pi)) % 1.0
    return np.column_stack([np.floor(24 * share[:, 0]), 360 * share[:, 1] - 180, 1 + np.floor(7 * share[:, 2])])


def count_rows(n=240, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(2.0, 3.0, size=(3, d))[rng.integers(3, size=n)]).astype(float)


def mixed_rows(n=240, seed=0):
    """Counts, categories and measurements, their columns interleaved, all driven by one class."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(3, size=n)
    measured = 3.0 * rng.normal(size=(3, 2))[classes] + rng.normal(size=(n, 2)) @ [[1.0, 0.6], [0.0, 0.8]]
    levels = [[rng.choice(m, p=p) for p in rng.dirichlet(np.ones(m), 3)[classes]] for m in (2, 3)]
    counts = rng.poisson(np.array([2.0, 6.0, 11.0])[classes])
    return np.column_stack([counts, measured[:, 0], levels[0], measured[:, 1], levels[1]]).astype(float)


def trial_rows(n=240, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.binomial(10, rng.uniform(0.1, 0.9, size=(3, d))[rng.integers(3, size=n)]).astype(float)


def failure_rows(n=240, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.geometric(rng.uniform(0.05, 0.7, size=(3, d))[rng.integers(3, size=n)]) - 1.0


def overdispersed_rows(n=240, d=4, seed=0):
    rng = np.random.default_rng(seed)
    classes = rng.integers(3, size=n)
    mean, size = rng.gamma(2.0, 6.0, size=(3, d))[classes], rng.uniform(1.0, 4.0, size=(3, d))[classes]
    return rng.poisson(rng.gamma(size, mean / size)).astype(float)


def positive_rows(n=240, d=4, seed=0):
    rng = np.random.default_rng(seed)
    classes = rng.integers(3, size=n)
    return rng.gamma(rng.uniform(1.0, 6.0, size=(3, d))[classes], rng.gamma(2.0, 2.0, size=(3, d))[classes])


def proportion_rows(n=240, d=4, seed=0):
    rng = np.random.default_rng(seed)
    classes = rng.integers(3, size=n)
    a, b = rng.uniform(0.7, 8.0, size=(2, 3, d))
    return rng.beta(a[classes], b[classes])


def composition_rows(n=240, d=4, seed=0):
    rng = np.random.default_rng(seed)
    parts = rng.standard_gamma(rng.uniform(0.7, 8.0, size=(3, d))[rng.integers(3, size=n)])
    return parts / parts.sum(axis=1, keepdims=True)


def document_rows(n=240, d=6, seed=0):
    """Counts of words of documents of different lengths."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.ones(d), 3)[rng.integers(3, size=n)]
    return np.array([rng.multinomial(length, p) for length, p in zip(rng.integers(5, 60, size=n), share)], dtype=float)


def symbol_rows(n=240, d=6, seed=0):
    """Sequences of three symbols, counted from 1, that differ in how they go on."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(3, size=n)
    X = np.empty((n, d))
    X[:, 0] = rng.integers(3, size=n)
    for t in range(1, d):
        X[:, t] = np.where(rng.random(n) < 0.75, (X[:, t - 1] + classes) % 3, rng.integers(3, size=n))
    return X + 1.0


def with_missing(X, share=0.2, seed=1):
    rng = np.random.default_rng(seed)
    holes = rng.random(X.shape) < share
    holes[np.arange(len(X)), rng.integers(X.shape[1], size=len(X))] = False
    return np.where(holes, np.nan, X)


FAMILIES = {
    "full": (FullGaussian(), gaussian_rows),
    "tied": (TiedGaussian(), gaussian_rows),
    "diag": (DiagonalGaussian(), gaussian_rows),
    "spherical": (SphericalGaussian(), gaussian_rows),
    **{name: (GAUSSIANS[name](), gaussian_rows) for name in STRUCTURED},
    "principal axes": (FactorGaussian(2), gaussian_rows),
    "factors": (FactorGaussian(2, "diagonal"), gaussian_rows),
    "student": (StudentT(), heavy_rows),
    "student shared": (StudentT("VEV", df="shared"), heavy_rows),
    "student fixed": (StudentT("EEE", df=4.0), heavy_rows),
    "bernoulli": (Bernoulli(), binary_rows),
    "binomial": (Binomial(10), trial_rows),
    "categorical": (Categorical(N_LEVELS), category_rows),
    "tree of categories": (ChowLiu(N_LEVELS), category_rows),
    "ordinal": (Ordinal(N_LEVELS), category_rows),
    "cycles": (VonMises([24.0, 360.0, 7.0], origin=[0.0, -180.0, 1.0], steps=[24, 0, 7]), cyclic_rows),
    "poisson": (Poisson(), count_rows),
    "product": (Product([(FullGaussian(), (1, 3)), (Categorical((2, 3)), (2, 4)), (Poisson(), (0,))]), mixed_rows),
    "geometric": (Geometric(), failure_rows),
    "negative binomial": (NegativeBinomial(), overdispersed_rows),
    "negative binomial of known size": (NegativeBinomial([1.0, 2.0, 3.0, 0.5]), overdispersed_rows),
    "exponential": (Exponential(), positive_rows),
    "gamma": (Gamma(), positive_rows),
    "log-normal": (LogNormal(), positive_rows),
    "beta": (Beta(), proportion_rows),
    "dirichlet": (Dirichlet(), composition_rows),
    "multinomial": (Multinomial(30), document_rows),
}

WISHART = NormalInverseWishart([1.0, -1.0, 0.0, 2.0], 0.5, 7.0, np.diag([1.0, 2.0, 3.0, 4.0]) + 0.5)
COLUMNS = NormalInverseGamma([1.0, -1.0, 0.0, 2.0], 0.5, 2.5, [1.0, 2.0, 3.0, 4.0])

WITH_PRIORS = {
    "full": (FullGaussian(prior=WISHART), gaussian_rows),
    "tied": (TiedGaussian(prior=WISHART), gaussian_rows),
    "diag": (DiagonalGaussian(prior=COLUMNS), gaussian_rows),
    "spherical": (SphericalGaussian(prior=NormalInverseGamma([1.0, -1.0, 0.0, 2.0], 0.5, 2.5, 3.0)), gaussian_rows),
    "VEV": (GAUSSIANS["VEV"](prior=WISHART), gaussian_rows),
    "EVI": (GAUSSIANS["EVI"](prior=COLUMNS), gaussian_rows),
    "EII": (GAUSSIANS["EII"](prior=NormalInverseGamma([1.0, -1.0, 0.0, 2.0], 0.5, 2.5, 3.0)), gaussian_rows),
    "bernoulli": (Bernoulli(prior=BetaPrior(2.0, 3.0)), binary_rows),
    "binomial": (Binomial(10, prior=BetaPrior(2.0, 3.0)), trial_rows),
    "categorical": (Categorical(N_LEVELS, prior=DirichletPrior(2.0)), category_rows),
    "poisson": (Poisson(prior=GammaPrior(2.0, [0.5, 1.0, 1.0, 2.0])), count_rows),
    "geometric": (Geometric(prior=BetaPrior(2.0, 3.0)), failure_rows),
    "negative binomial": (NegativeBinomial(2.0, prior=BetaPrior(2.0, 3.0)), overdispersed_rows),
    "exponential": (Exponential(prior=GammaPrior(2.0, 3.0)), positive_rows),
    "multinomial": (Multinomial(30, prior=DirichletPrior(1.5)), document_rows),
    "log-normal": (LogNormal(prior=COLUMNS), positive_rows),
}

MODELS = {f"mixture of {name}": (MixtureModel(family, 3), rows) for name, (family, rows) in FAMILIES.items()}


def belief(family, n_classes=3, d=4):
    """A variational mixture for rows of `gaussian_rows`."""
    scatter = {TiedGaussian: 9.0 * np.eye(d), FullGaussian: 9.0 * np.eye(d), DiagonalGaussian: np.full(d, 9.0)}
    weights = (
        beliefs.Dirichlet(np.full(n_classes, 0.5))
        if type(family) in scatter
        else beliefs.Sticks(np.ones(n_classes), np.ones(n_classes))
    )
    prior = VariationalPrior(weights, 0.5, np.ones(d), d + 1.0, scatter.get(type(family), np.array(9.0)))
    return VariationalMixture(family, n_classes, prior)


MODELS["mixture of Markov chains"] = (MixtureModel(MarkovFamily(3, 1), 3), symbol_rows)
MODELS["mixture of smoothed Markov chains"] = (MixtureModel(MarkovFamily(3, 2, 0.5), 3), symbol_rows)
MODELS["one full"] = (MixtureModel(FullGaussian(), 1), lambda: with_missing(gaussian_rows(), 0.1))
BOX = np.array([[-12.0] * 4, [12.0] * 4])
MODELS["mixture of full and noise"] = (NoiseModel(FullGaussian(), 2, BOX, "kmeans", 2.0), gaussian_rows)
MODELS["mixture of smoothed trees"] = (MixtureModel(ChowLiu(N_LEVELS, smoothing=4.0), 3), category_rows)
MODELS["one pair of views"] = (MixtureModel(CanonicalGaussian(2, 1), 1), gaussian_rows)
for name, (family, rows) in WITH_PRIORS.items():
    MODELS[f"mixture of {name} with priors"] = (MixtureModel(family, 3, weight_prior=2.0), rows)
MODELS["mixture of ordinal with smoothing"] = (MixtureModel(Ordinal(N_LEVELS, smoothing=1.0), 3), category_rows)
MODELS |= {
    f"beliefs about {name}": (belief(FAMILIES[name][0]), gaussian_rows)
    for name in ("full", "tied", "diag", "spherical")
}

CENTERS = {
    "k-means": (KMeansModel(3), gaussian_rows),
    "k-medians": (KMediansModel(3), gaussian_rows),
    "soft k-means": (SoftKMeansModel(3, 0.2), gaussian_rows),
}
"""Models that know no labels."""


def allocation(alpha=None, eta=None, n_topics=3, d=6):
    """Topics of `document_rows`; a fixed number of updates of each document, so that rounding does not decide when they end."""
    priors = (
        PriorRule("alpha", alpha, n_topics, n_topics, False), PriorRule("eta", eta, d, n_topics, True)
    )  # fmt: skip
    return VariationalModel(n_topics, *priors, n_updates=3, tol=0.0)


TOPICS = {
    "topics": (allocation(), document_rows),
    "topics with learned priors": (allocation("learn", "learn"), document_rows),
    "topics with given priors": (allocation([0.3, 0.6, 0.1], "learn-asymmetric"), document_rows),
}

PENALTY = {"row_penalty": (0.01, 0.02), "column_penalty": (0.02, 0.01)}
PARTS = {
    "parts by squares": (PartsModel(3), positive_rows),
    "parts by least squares": (PartsModel(3, solver="als", init="nndsvd", **PENALTY), positive_rows),
    "parts by multiplied squares": (PartsModel(3, solver="mu"), positive_rows),
    "parts of counts": (PartsModel(3, 1.0, "mu", init="nndsvdar"), document_rows),
    "parts by a divergence": (
        PartsModel(3, 0.5, "mu", column_weight=np.array([1.0, 2.0, 0.5, 1.5]), **PENALTY),
        positive_rows,
    ),
}
"""Models of non-negative rows, each with a vector per row that it remembers."""

LEARNERS = MODELS | CENTERS | TOPICS | PARTS

PARAMETRISATIONS = [
    "mixture of full", "mixture of diag", "mixture of VEV", "mixture of factors", "mixture of student", "mixture of categorical",
    "mixture of ordinal", "mixture of poisson", "mixture of negative binomial", "mixture of dirichlet", "mixture of product",
    "one pair of views", "beliefs about tied",
]  # fmt: skip
"""A model for each way of writing parameters as a vector."""


KINDS = [
    "mixture of full", "mixture of principal axes", "mixture of student", "mixture of product", "mixture of negative binomial",
    "one pair of views", "mixture of diag with priors", "beliefs about full", *CENTERS, *PARTS, "topics",
]  # fmt: skip
"""A model of each kind."""


def some(values, quick):
    """Parameters of a test: those of `quick` in every run, the others in the full one."""
    assert set(quick) <= set(values)
    return [value if value in quick else pytest.param(value, marks=pytest.mark.full) for value in values]
