"""What `benchmarks.map` compares: every estimator that has a rival, its rows, its settings, and how good results are."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

__all__ = ["ENTRIES", "Entry", "Task", "make"]


@dataclass(frozen=True)
class Task:
    """Rows to learn from and others of the same kind to be judged on.

    Attributes
    ----------
    X, y, fresh, fresh_y : arrays
    k : int
        Classes, components or factors.
    """

    X: Any
    y: Any
    fresh: Any
    fresh_y: Any
    k: int


@dataclass(frozen=True)
class Entry:
    """One estimator and its rival.

    Attributes
    ----------
    name : str
        As the table names it.
    ours, theirs : str
        Module and class.
    rows : str
        A key of `MAKERS`.
    quality : callable
        ``quality(fitted, task)``, the more the better.
    settings : callable
        ``settings(task, given)``: those that both take; `given` asks for the same start and number of steps.
    shapes : tuple of (int, int)
        Columns and K; the first is also measured in float32.
    most : int
        Rows beyond which it is not asked for.
    modes : tuple of str
        "defaults", and "given" where both take a start.
    tolerance : float
        How much worse than the rival's, relative to it, still counts as equal.
    work : str
        What is timed: "fit", or a method that fits or answers as well.
    theirs_only : dict
        Settings without which the rival is another method.
    """

    name: str
    ours: str
    theirs: str
    rows: str
    quality: Callable
    settings: Callable = field(default=lambda task, given: {})
    shapes: tuple = ((10, 5),)
    most: int = 1_000_000
    modes: tuple = ("defaults",)
    tolerance: float = 1e-3
    work: str = "fit"
    theirs_only: dict = field(default_factory=dict)

    @property
    def supervised(self):
        """Whether targets are given to a fit."""
        return self.quality in (_predicts, _sure) or self.work == "kneighbors"

    def classes(self):
        """Our class and the rival's."""
        for path in (self.ours, self.theirs):
            module, name = path.rsplit(".", 1)
            yield getattr(import_module(module), name)


# Rows


def blobs(n, d, k, rng):
    """Rows around k overlapping centres, and which."""
    centers = np.random.default_rng(0).normal(size=(k, d)) * 2.0
    y = rng.integers(k, size=n)
    return centers[y] + rng.normal(size=(n, d)), y


def line(n, d, k, rng):
    """Columns and what depends on them."""
    X, weight = rng.normal(size=(n, d)), np.random.default_rng(0).normal(size=d)
    return X, X @ weight + 0.3 * np.sin(3 * X[:, 0]) + rng.normal(size=n)


def factors(n, d, k, rng):
    """Rows behind which there are k numbers."""
    return rng.normal(size=(n, k)) @ np.random.default_rng(0).normal(size=(k, d)) + rng.normal(size=(n, d)), None


def parts(n, d, k, rng):
    """Rows that are sums of k parts."""
    share = rng.dirichlet(np.full(k, 0.5), n) @ np.random.default_rng(0).dirichlet(np.full(d, 0.3), k)
    return share + 0.01 * rng.random((n, d)), None


def documents(n, d, k, rng):
    """Counts of words of documents."""
    share = rng.dirichlet(np.full(k, 0.2), n) @ np.random.default_rng(0).dirichlet(np.full(d, 0.1), k)
    return rng.poisson(60 * share).astype(float), None


def holes(n, d, k, rng):
    """Rows with a tenth of their cells missing, and the whole ones."""
    X = factors(n, d, k, rng)[0]
    return np.where(rng.random(X.shape) < 0.1, np.nan, X), X


def steps(n, d, k, rng):
    """Steps of one sequence whose state stays for about ten."""
    state = np.cumsum(rng.random(n) < 0.1) % k
    return 2.0 * np.random.default_rng(0).normal(size=(k, d))[state] + rng.normal(size=(n, d)), None


def counted(n, d, k, rng):
    """As `steps`, counts."""
    state = np.cumsum(rng.random(n) < 0.1) % k
    return rng.poisson(3.0 + 6.0 * state)[:, None], None


MAKERS = {
    "blobs": blobs, "line": line, "factors": factors, "parts": parts, "documents": documents, "holes": holes, "steps": steps,
    "counted": counted,
}  # fmt: skip


def make(entry, n, d, k, dtype):
    """A task of n rows."""
    (X, y), (fresh, fresh_y) = (
        MAKERS[entry.rows](m, d, k, np.random.default_rng(seed)) for seed, m in ((1, n), (2, min(n, 1000)))
    )
    cells = [part if part.dtype.kind == "i" else part.astype(dtype) for part in (X, fresh)]
    return Task(cells[0], y, cells[1], fresh_y, k)


# Quality


def _score(fitted, task):
    return float(fitted.score(task.X))


def _predicts(fitted, task):
    return float(fitted.score(task.fresh, task.fresh_y))


def _sum(name, fitted, task):
    return float(np.sum(getattr(fitted, name)))


def _less(name, fitted, task):
    return -float(getattr(fitted, name))


def _within(fitted, task):
    labels = fitted.labels_
    return -float(sum(((task.X[labels == k] - task.X[labels == k].mean(axis=0)) ** 2).sum() for k in np.unique(labels)))


def _agrees(fitted, task):
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(task.y, fitted.labels_))


def _perplexity(fitted, task):
    return -float(fitted.perplexity(np.asarray(task.fresh[:300])))


def _near(found, task):
    return -float(np.sort(found[0], axis=1).sum())


def _filled(found, task):
    return -float(np.sqrt(np.mean((found - task.y) ** 2)))


def _sure(fitted, task):
    from sklearn.metrics import log_loss

    return -float(log_loss(task.fresh_y, fitted.predict_proba(task.fresh), labels=np.unique(task.y)))


def _outside(fitted, task):
    return -abs(float((fitted.predict(task.X) < 0).mean()) - 0.5)  # of the rows, by default


# Settings


def _components(task, given):
    return {"n_components": task.k}


def _mixture(kind, task, given):
    settings = {"n_components": task.k, "covariance_type": kind}
    if given:
        k, d = task.k, task.X.shape[1]
        start = np.asarray(task.X[np.random.default_rng(0).choice(len(task.X), k, replace=False)], float)
        precision = np.repeat(np.eye(d)[None], k, axis=0) if kind == "full" else np.ones((k, d))
        settings |= {
            "means_init": start,
            "weights_init": np.full(k, 1 / k),
            "precisions_init": precision,
            "tol": 0.0,
            "max_iter": 30,
        }
    return settings


def _centers(task, given):
    if not given:
        return {"n_clusters": task.k}
    start = task.X[np.random.default_rng(0).choice(len(task.X), task.k, replace=False)]
    return {"n_clusters": task.k, "init": start, "n_init": 1, "max_iter": 50}


def _groups(task, given):
    return {"n_clusters": task.k}


def _covariance(task, given):
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    return {"kernel": ConstantKernel() * RBF() + WhiteKernel()}  # by default scikit-learn learns nothing


def _trees(task, given):
    return {"n_estimators": 30}


def _both(ours, theirs, name, *rest, **more):
    return Entry(name, f"tacit.{ours}.{name}", f"{theirs}.{name}", *rest, **more)


_own = partial(_both, theirs="")
FULL, DIAGONAL = partial(_mixture, "full"), partial(_mixture, "diag")
BOTH = ("defaults", "given")


def _entries():
    sk = "sklearn."
    yield Entry("GaussianMixture", "tacit.mixture.GaussianMixture", sk + "mixture.GaussianMixture", "blobs", _score, FULL,
                ((4, 3), (10, 8)), modes=BOTH, tolerance=0.005)  # fmt: skip
    yield Entry("GaussianMixture, rival with 20 starts", "tacit.mixture.GaussianMixture", sk + "mixture.GaussianMixture", "blobs",
                _score, FULL, ((4, 3), (10, 8)), 10_000, theirs_only={"n_init": 20}, tolerance=0.005)  # fmt: skip
    yield Entry("GaussianMixture diagonal", "tacit.mixture.GaussianMixture", sk + "mixture.GaussianMixture", "blobs", _score,
                DIAGONAL, ((10, 5),), modes=BOTH)  # fmt: skip
    yield _both(
        "mixture",
        sk + "mixture",
        "BayesianGaussianMixture",
        "blobs",
        _score,
        _components,
        ((4, 3),),
        100_000,
        tolerance=0.01,
    )
    yield _both(
        "cluster",
        sk + "cluster",
        "KMeans",
        "blobs",
        partial(_less, "inertia_"),
        _centers,
        ((4, 3), (16, 20)),
        modes=BOTH,
        tolerance=0.02,
    )
    yield _both("cluster", sk + "cluster", "MiniBatchKMeans", "blobs", _within, _groups, ((16, 8),), tolerance=0.02)
    yield _both(
        "cluster", sk + "cluster", "SpectralClustering", "blobs", _agrees, _groups, ((10, 5),), 1000, tolerance=0.05
    )
    yield _both("cluster", sk + "cluster", "AgglomerativeClustering", "blobs", _within, _groups, ((10, 5),), 10_000)
    yield _both(
        "factor",
        sk + "decomposition",
        "PCA",
        "factors",
        partial(_sum, "explained_variance_"),
        _components,
        ((10, 3), (100, 10)),
    )
    yield _both("factor", sk + "decomposition", "TruncatedSVD", "factors", partial(_sum, "explained_variance_"), _components,
                ((50, 5),))  # fmt: skip
    yield _both("factor", sk + "decomposition", "FactorAnalysis", "factors", _score, _components, ((10, 3), (50, 5)))
    yield _both("factor", sk + "decomposition", "KernelPCA", "factors", partial(_sum, "eigenvalues_"),
                lambda task, given: {"n_components": task.k, "kernel": "rbf"}, ((10, 3),), 1000)  # fmt: skip
    yield _both("topics", sk + "decomposition", "NMF", "parts", partial(_less, "reconstruction_err_"), _components, ((30, 5),),
                tolerance=0.01)  # fmt: skip
    yield _both("topics", sk + "decomposition", "LatentDirichletAllocation", "documents", _perplexity, _components, ((100, 5),),
                10_000, tolerance=0.02)  # fmt: skip
    for name in ("LinearRegression", "Ridge", "BayesianRidge", "ARDRegression"):
        yield _both("linear_model", sk + "linear_model", name, "line", _predicts, shapes=((10, 1), (50, 1)))
    yield _both(
        "linear_model",
        sk + "linear_model",
        "LogisticRegression",
        "blobs",
        _sure,
        shapes=((10, 2), (10, 5)),
        tolerance=0.01,
    )
    yield _both(
        "linear_model", sk + "linear_model", "Perceptron", "blobs", _predicts, shapes=((10, 2),), tolerance=0.05
    )
    for name, rows in (("SVC", "blobs"), ("SVR", "line"), ("OneClassSVM", "blobs")):
        yield _both("svm", sk + "svm", name, rows, _outside if name == "OneClassSVM" else _predicts,
                    shapes=((10, 2),), most=10_000, tolerance=0.01)  # fmt: skip
    for name, rows in (("DecisionTreeClassifier", "blobs"), ("DecisionTreeRegressor", "line")):
        yield _both("tree", sk + "tree", name, rows, _predicts, shapes=((10, 3),), tolerance=0.05)
    for name, rows in (
        ("RandomForestClassifier", "blobs"), ("RandomForestRegressor", "line"), ("ExtraTreesClassifier", "blobs"),
        ("HistGradientBoostingClassifier", "blobs"), ("HistGradientBoostingRegressor", "line"), ("AdaBoostClassifier", "blobs"),
    ):  # fmt: skip
        settings = (lambda task, given: {"max_iter": 30}) if name.startswith("Hist") else _trees
        yield _both("ensemble", sk + "ensemble", name, rows, _predicts, settings, ((10, 3),), 100_000, tolerance=0.03)
    yield _both("neighbors", sk + "neighbors", "KNeighborsClassifier", "blobs", _near, shapes=((5, 3), (20, 3)), most=100_000,
                work="kneighbors")  # fmt: skip
    yield Entry("NaiveBayes (Gaussian)", "tacit.classification.NaiveBayes", sk + "naive_bayes.GaussianNB", "blobs", _predicts,
                shapes=((10, 3),), tolerance=0.01)  # fmt: skip
    yield Entry("GaussianBayes (quadratic)", "tacit.classification.GaussianBayes",
                sk + "discriminant_analysis.QuadraticDiscriminantAnalysis", "blobs", _predicts, shapes=((10, 3),),
                tolerance=0.01)  # fmt: skip
    yield _both(
        "gaussian_process",
        sk + "gaussian_process",
        "GaussianProcessRegressor",
        "line",
        _predicts,
        shapes=((5, 1),),
        most=1000,
    )
    yield _both(
        "impute", sk + "impute", "KNNImputer", "holes", _filled, shapes=((10, 3),), most=10_000, work="fit_transform"
    )
    hidden = {"shapes": ((2, 3),), "tolerance": 0.01}
    yield _both("sequence", "hmmlearn.hmm", "GaussianHMM", "steps", _score, _components, most=100_000, **hidden)
    yield _both("sequence", "hmmlearn.hmm", "PoissonHMM", "counted", _score, _components, most=100_000, **hidden)


ENTRIES = tuple(_entries())
