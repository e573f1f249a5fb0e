"""Saved models of every class, and files like theirs that nobody saved: what loading must refuse or survive."""

import contextlib
import copy
import io
import json
import os
import random
import re
import tempfile
import warnings
import zipfile
from functools import cache

import numpy as np

import tacit
from tacit import cluster, factor, families, gaussian_process, mixture, sequence
from tacit.base.calibration import Absence
from tacit.classification import GaussianBayes, MixtureDiscriminant, NaiveBayes
from tacit.graph import BeliefNetwork
from tacit.impute import Calibration, GaussianImputer, MixtureImputer

from .zoo import (
    binary_rows,
    category_rows,
    composition_rows,
    cyclic_rows,
    document_rows,
    failure_rows,
    gaussian_rows,
    mixed_rows,
    positive_rows,
    proportion_rows,
    symbol_rows,
    with_missing,
)

MODELS = {
    **{f"GaussianMixture {kind}": mixture.GaussianMixture(2, covariance_type=kind, random_state=0)
       for kind in ("full", "tied", "diag", "spherical", "VEV")},
    "GaussianMixture with a prior": mixture.GaussianMixture(
        2, component_prior=families.NormalInverseWishart(np.zeros(3), 0.1, 5.0, np.eye(3)), random_state=0
    ),
    **{f"BayesianGaussianMixture {kind}": mixture.BayesianGaussianMixture(2, covariance_type=kind, random_state=0)
       for kind in ("full", "tied", "diag", "spherical")},
    "BayesianGaussianMixture finite": mixture.BayesianGaussianMixture(
        2, weight_concentration_prior_type="dirichlet_distribution", random_state=0
    ),
    "StudentTMixture": mixture.StudentTMixture(2, random_state=0),
    "BeliefNetwork of a table": BeliefNetwork([("yes", "kind"), ("kind", "size"), ("yes", "size")], prior=0.5),
    "Mixture": mixture.Mixture(2, random_state=0),
    "Mixture of factors": mixture.Mixture(2, family=families.FactorGaussian(1), random_state=0),
    "Mixture of a product": mixture.Mixture(
        2,
        family=families.Product([
            (families.FullGaussian(), (1, 3)),
            (families.Categorical((2, 3), prior=families.DirichletPrior(2.0)), (2, 4)),
            (families.Poisson(prior=families.GammaPrior(2.0, 1.0)), (0,)),
        ]),
        random_state=0,
    ),
    "Mixture of counts": mixture.Mixture(
        2, family=families.Product([(families.NegativeBinomial(), (0,)), (families.StudentT(), (1, 3)),
                                    (families.Binomial(3), (2, 4))]), random_state=0,
    ),
    "Mixture of trees": mixture.Mixture(2, family=families.ChowLiu((2, 3, 4)), random_state=0),
    "Mixture of a table": mixture.Mixture(2, random_state=0),
    "GaussianMixture and noise": mixture.GaussianMixture(2, noise=True, random_state=0),
    "Mixture of amounts": mixture.Mixture(2, family=families.Product([
        (families.Gamma(), (0,)), (families.LogNormal(), (1,)), (families.Exponential(), (2,)),
    ]), random_state=0),
    "Mixture of shares": mixture.Mixture(2, family=families.Dirichlet(), random_state=0),
    "Mixture of proportions": mixture.Mixture(2, family=families.Beta(), random_state=0),
    "Mixture of documents": mixture.Mixture(2, family=families.Multinomial(20), random_state=0),
    "Mixture of failures": mixture.Mixture(2, family=families.Product([
        (families.Geometric(), (0,)), (families.NegativeBinomial(2.0, prior=families.BetaPrior(2.0, 2.0)), (1, 2, 3)),
    ]), random_state=0),
    "Mixture of yes and no": mixture.Mixture(2, family=families.Bernoulli(), random_state=0),
    "Mixture of cycles": mixture.Mixture(2, family=families.VonMises([24, 360, 7], steps=[24, 0, 7]), random_state=0),
    "Mixture of orders": mixture.Mixture(2, family=families.Ordinal((2, 3, 4)), random_state=0),
    "Mixture calibrated": mixture.Mixture(2, random_state=0),
    "MarkovChain": sequence.MarkovChain(2, backoff="auto"),
    "MarkovMixture": sequence.MarkovMixture(1, prior=0.5),
    "LinearChainCRF": sequence.LinearChainCRF(c1=0.1),
    "CRF": sequence.CRF("ap", max_iterations=5, random_state=0),
    "LatentClassRegression": mixture.LatentClassRegression(2, random_state=0),
    "MixtureImputer": MixtureImputer(2, random_state=0),
    "GaussianBayes": GaussianBayes(),
    "NaiveBayes": NaiveBayes(),
    "MixtureDiscriminant": MixtureDiscriminant((1, 2), covariance_type="diag", random_state=0),
    "GaussianImputer": GaussianImputer(2, add_indicator=True, random_state=0),
    "MixtureOfExperts": mixture.MixtureOfExperts(2, random_state=0),
    "MixtureOfExpertsClassifier": mixture.MixtureOfExpertsClassifier(2, random_state=0),
    "KMeans": cluster.KMeans(2, random_state=0),
    "MiniBatchKMeans": cluster.MiniBatchKMeans(2, random_state=0),
    "KMedians": cluster.KMedians(2, random_state=0),
    "SoftKMeans": cluster.SoftKMeans(2, random_state=0),
    "KMedoids": cluster.KMedoids(2),
    "KMedoids of one cluster": cluster.KMedoids(1),
    "AgglomerativeClustering": cluster.AgglomerativeClustering(2, metric="nan_euclidean", linkage="average"),
    "KMedoids mahalanobis": cluster.KMedoids(2, metric="mahalanobis"),
    "KMedoids gower": cluster.KMedoids([2, 3], metric="gower", method="alternate"),
    "ColumnScaler": cluster.ColumnScaler("whiten"),
    "SpectralClustering": cluster.SpectralClustering(2, random_state=0),
    "SpectralClustering of neighbours": cluster.SpectralClustering(
        2, affinity="nearest_neighbors", n_neighbors=5, random_state=0
    ),
    "PCA": factor.PCA(2),
    "PCA ranked": factor.PCA("bic", scale=True, whiten=True),
    "ProbabilisticPCA": factor.ProbabilisticPCA(1),
    "FactorAnalysis": factor.FactorAnalysis(1, rotation="varimax"),
    "TruncatedSVD": factor.TruncatedSVD(2, random_state=0),
    "KernelPCA": factor.KernelPCA(2, kernel="rbf", fit_inverse_transform=True),
    "KernelPCA by landmarks": factor.KernelPCA(
        2, kernel="rbf", n_landmarks=8, fit_inverse_transform=True, preimage="fixed_point", random_state=0
    ),
    "GaussianProcessRegressor": gaussian_process.GaussianProcessRegressor(
        gaussian_process.kernels.RBF() * gaussian_process.kernels.DotProduct() + gaussian_process.kernels.WhiteKernel()
    ),
    "GaussianProcessClassifier": gaussian_process.GaussianProcessClassifier(optimizer=None),
    "CCA": factor.CCA(1),
    "ProbabilisticCCA": factor.ProbabilisticCCA(1),
}  # fmt: skip
"""Every class that can be saved, and every shape that what it saves can have."""

ROWS = {
    **dict.fromkeys(("MarkovChain", "MarkovMixture"), lambda n: symbol_rows(n, 1).astype("U1")),
    "Mixture of amounts": lambda n: positive_rows(n, 3), "Mixture of shares": composition_rows,
    "Mixture of documents": document_rows, "Mixture of proportions": proportion_rows,
    "Mixture of trees": category_rows, "Mixture of orders": category_rows, "Mixture of cycles": cyclic_rows,
    "Mixture of failures": failure_rows, "Mixture of yes and no": binary_rows,
}  # fmt: skip
ALONE = (
    "get_covariance", "get_precision", "get_feature_names_out", "describe", "variance_shares", "column_correlations", "test",
)  # fmt: skip
OF_ROWS = (
    "predict", "predict_proba", "predict_log_proba", "transform", "score_samples", "score", "impute", "outlier_scores",
    "outliers", "predict_experts", "predict_gate", "predict_variance", "row_weights", "reconstruct", "draw_missing",
    "conditional", "bic", "icl",
)  # fmt: skip
OF_BOTH = ("score", "log_density", "responsibilities", "impute", "draw_missing", "score_samples", "bic")
METHODS = {
    **{name: lambda method, X, y: method() for name in ALONE},
    **{name: lambda method, X, y: method(X) for name in OF_ROWS},
    "sample": lambda method, X, y: method(5),
    "inverse_transform": lambda method, X, y: method(method.__self__.transform(X)),
    "predict_given": lambda method, X, y: method(X, target=[0]),
    "partial_fit": lambda method, X, y: method(X)._params().to_vector(),
}  # fmt: skip
"""Public methods, and how they are called."""
EXPERTS = {"sample": METHODS["predict"]} | {name: lambda method, X, y: method(X, y) for name in OF_BOTH}
CLASSIFIERS = {"score": EXPERTS["score"]}
TAGGERS = CLASSIFIERS | {"log_prob": EXPERTS["score"], "weights_table": lambda method, X, y: len(method())}
PAIRS = EXPERTS | {"sample": METHODS["sample"]}
"""Where those of models of y, of both views, differ."""
EMPTY = (
    "impute",
    "draw_missing",
    "predict_given",
    "score_samples",
    "predict_log_proba",
    "log_density",
    "log_prob",
    "predict_variance",
    "score",
    "bic",
    "icl",
)
"""Methods that may give missing values or infinities: of cells that no group has seen, and of rows that cannot be."""


def rows_for(name):
    """Rows, and targets or None, that suit a model."""
    import pandas

    model = MODELS[name]
    if isinstance(model, mixture.Mixture) and ("product" in name or "counts" in name):
        return with_missing(mixed_rows(40), 0.1), None
    if name in ROWS:
        return ROWS[name](40), None
    if name in ("BeliefNetwork of a table", "Mixture of a table", "KMedoids gower"):
        X = mixed_rows(40)
        kinds = pandas.Categorical.from_codes(X[:, 4].astype(int), ["a", "b", "c"])
        return pandas.DataFrame({"count": X[:, 0], "size": X[:, 1], "yes": X[:, 2] > 0, "kind": kinds}), None
    X = gaussian_rows(40, 3)
    y = (X[:, 0] > X[:, 1]).astype(int)
    if isinstance(model, mixture.LatentClassRegression):
        return X, binary_rows(40)
    if isinstance(model, (factor.CCA, factor.ProbabilisticCCA, mixture.MixtureOfExperts)):
        return X, np.column_stack([X[:, 0] + 0.1, X[:, 1] - X[:, 2]])
    if isinstance(model, sequence.LinearChainCRF):
        return X, np.array(["no", "yes"])[y]
    if isinstance(model, gaussian_process.GaussianProcessRegressor):
        return X, X[:, 0] + 0.1 * X[:, 1] ** 2
    own = gaussian_process.GaussianProcessClassifier, mixture.MixtureOfExpertsClassifier
    if isinstance(model, (GaussianBayes, MixtureDiscriminant, NaiveBayes, *own)):
        return X, np.array(["no", "yes"])[y]
    return (with_missing(X, 0.1) if model.__sklearn_tags__().input_tags.allow_nan else X), None


def calibration(d):
    """What hidden cells might have taught about the fills of d columns, one of which does not apply to all rows."""
    ones, no = np.ones(d), np.zeros(d, bool)
    tried = {name: np.where(np.arange(d) < 2, 0.5, np.nan) for name in ("error", "naive", "covered", "right")}
    return Calibration(
        np.array([0.5, 0.9]), np.ones((2, d)), 0.9 * ones, 0.0 * ones, 0.1 * ones, -np.inf * ones, np.inf * ones, 0.0 * ones,
        no, no, -ones, 0.0 * ones, absent=(Absence(0, 1, np.array([1.0])),), hidden=np.full(d, 5), **tried,
    )  # fmt: skip


@cache
def saved(name):
    """The file of a fitted model, as its members."""
    X, y = rows_for(name)
    model = copy.deepcopy(MODELS[name])
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        model = model.fit(X) if y is None else model.fit(X, y)
        if name == "Mixture calibrated":
            model.calibration_ = calibration(X.shape[1])
        path = os.path.join(folder, "model.tacit")
        tacit.save(model, path)
        with zipfile.ZipFile(path) as archive:
            return [(member, archive.read(member)) for member in archive.namelist()]


def packed(members, compression=zipfile.ZIP_STORED):
    """The bytes of a file with these members."""
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", compression) as archive:
        warnings.simplefilter("ignore")  # of repeated names
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


# Values that stand where others should

SCALARS = [
    0, 1, -1, 2, 3, 7, 20000, 2**31, 2**63, 10**30, -(2**40), 0.5, -0.5, 1e-9, 1e9, 1e300, -1e300, True, False, None, "",
    "full", "nan", "x" * 1000, [1], [], {}, {"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, {"float": "x"}, {"list": []},
    {"list": [1, 2]}, {"list": ["a"]}, {"tuple": []}, {"tuple": [1, 2, 3]}, {"dict": []}, {"dict": [["a", 1]]},
    {"strings": ["a"]}, {"strings": []}, {"array": "0"}, {"array": "1"}, {"array": "-1"}, {"array": 10**9},
    {"part": "FullGaussian", "fields": {}}, {"part": "Categorical", "fields": {"n_levels": {"tuple": [10**9]}}},
    {"part": "Table", "fields": {}}, {"part": "Multinomial", "fields": {"n_trials": 10**12}}, {"part": "Arrays", "fields": {}},
    {"part": "DirichletPrior", "fields": {"alpha": 1.0, "n_levels": {"tuple": [10**8]}}},
    {"class": "GaussianMixture", "settings": {}, "fitted": {"n_features_in_": 3}}, {"class": "MissingIndicator", "settings": {},
    "fitted": {}}, {"csr": [{"array": "0"}, {"array": "0"}, {"array": "0"}, 10**12, 10**12]}, {"note": ["a", "b", {"dict": []}]},
]  # fmt: skip


def places(value, path=()):
    """Paths of all values in a tree of lists and dictionaries."""
    found = [path] if path else []
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        found += places(each, (*path, key))
    return found


def at(tree, path):
    """What lies at a path, as its holder and key."""
    for key in path[:-1]:
        tree = tree[key]
    return tree, path[-1]


def change_value(manifest, rng):
    """Another value in place of one."""
    holder, key = at(manifest["estimator"], rng.choice(places(manifest["estimator"])))
    holder[key] = copy.deepcopy(rng.choice(SCALARS))


def change_number(manifest, rng):
    """Another number in place of one."""
    paths = [
        path
        for path in places(manifest["estimator"])
        if type(at(manifest["estimator"], path)[0][path[-1]]) in (int, float)
    ]
    holder, key = at(manifest["estimator"], rng.choice(paths))
    holder[key] = rng.choice(
        [each for each in SCALARS if type(each) in (int, float)] + [holder[key] + 1, holder[key] - 1]
    )


def change_size(manifest, rng):
    """Another number of columns, classes or axes."""
    fitted, settings = manifest["estimator"]["fitted"], manifest["estimator"]["settings"]
    key = rng.choice([key for key in (*fitted, *settings) if key.strip("_") in (
        "n_features_in", "n_components", "n_clusters", "n_samples", "n_iter", "n_steps", "n_features_out")])  # fmt: skip
    (fitted if key in fitted else settings)[key] = rng.choice([0, 1, 2, 3, 4, 5, 20000, 10**6, 10**9, 2**62, -3])


def drop(manifest, rng):
    """An entry less."""
    paths = [path for path in places(manifest["estimator"]) if isinstance(path[-1], str)]
    holder, key = at(manifest["estimator"], rng.choice(paths))
    del holder[key]


def swap(manifest, rng):
    """Two entries in each other's place."""
    estimator = manifest["estimator"]
    holder = rng.choice([estimator["fitted"], estimator["settings"], estimator["fitted"]])
    one, other = rng.choice(list(holder)), rng.choice(list(holder))
    holder[one], holder[other] = holder[other], holder[one]


def rename(manifest, rng):
    """An entry under another name."""
    estimator = manifest["estimator"]
    holder = rng.choice([estimator, estimator["fitted"], estimator["settings"]])
    key = rng.choice(list(holder))
    holder[rng.choice([*estimator["fitted"], "n_features_in_", "_saved", "__dict__", "fit", "class", "x"])] = (
        holder.pop(key)
    )


def change_class(manifest, rng):
    """The attributes of one class under the name of another."""
    name = rng.choice(sorted({type(model).__name__ for model in MODELS.values()}))
    manifest["estimator"]["class"] = name
    manifest["estimator"].pop("home", None)
    if rng.random() < 0.5:
        manifest["estimator"]["settings"] = {}


def change_setting(manifest, rng):
    """A setting replaced by a value that another one has, or by text of settings."""
    settings = manifest["estimator"]["settings"]
    words = [
        "full",
        "tied",
        "diag",
        "spherical",
        "VEV",
        "precomputed",
        "gower",
        "rbf",
        "poly",
        "free",
        "shared",
        "constant",
        "euclidean",
    ]
    if settings:
        settings[rng.choice(list(settings))] = rng.choice([*words, *SCALARS])


def nest(manifest, rng):
    """A value within lists within lists."""
    holder, key = at(manifest["estimator"], rng.choice(places(manifest["estimator"])))
    for _ in range(rng.choice([1, 3, 50, 150])):
        holder[key] = rng.choice([{"list": [holder[key]]}, {"tuple": [holder[key]]}, [holder[key]]])


MANIFEST = (
    [change_value] * 4
    + [change_number] * 3
    + [change_size] * 2
    + [drop] * 2
    + [swap, rename, change_class, nest]
    + [change_setting] * 2
)


def array_bytes(array):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=(1, 0))
    return out.getvalue()


def change_shape(array, rng):
    """The numbers of an array, fewer, more, or otherwise arranged."""
    whole = np.atleast_1d(array)
    return rng.choice([
        lambda: array.T, lambda: array.ravel(), lambda: array[None], lambda: array[..., None], lambda: whole[:-1],
        lambda: np.concatenate([whole, whole]), lambda: whole[:0], lambda: whole[..., :-1], lambda: whole[..., :0],
        lambda: np.concatenate([whole, whole[..., :1]], axis=-1), lambda: np.asfortranarray(array), lambda: np.zeros(()),
        lambda: np.zeros((0,) * 3), lambda: np.resize(array, (200, *array.shape[1:])), lambda: np.resize(array, (5, 5)),
    ])()  # fmt: skip


def change_type(array, rng):
    """The numbers of an array in another type."""
    kind = rng.choice(["f4", ">f8", "f2", "g", "i8", "i4", "u1", "?", "u8", "c16", "U4", "M8[s]"])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return array.astype(kind)


def change_cells(array, rng):
    """Other numbers in an array."""
    array = np.array(array)
    if array.dtype.kind in "bu":
        return ~array
    with np.errstate(all="ignore"):
        if array.dtype.kind == "f":
            value = rng.choice([np.nan, np.inf, -np.inf, 0.0, -1.0, 1.0, 1e300, -1e300, 1e-300, 1e9, -1e-3, 2.0, 1e30])
            scale = rng.choice([-1.0, 0.0, 2.0, 1e-30, 1e30, 1e200])
        else:
            value, scale = rng.choice([-1, 0, 1, 5, 10**6, 2**31 - 1, -(2**31)]), rng.choice([-1, 0, 2, 1000])
        how = rng.randrange(3)
        if how == 0 and array.size:
            array.reshape(-1)[rng.randrange(array.size)] = value
        elif how == 1:
            array[...] = value
        else:
            array = array * scale
    return array


def change_order(array, rng):
    """The numbers of an array, shuffled."""
    cells = array.ravel().tolist()
    rng.shuffle(cells)
    return np.array(cells, dtype=array.dtype).reshape(array.shape)


ARRAYS = [change_shape] * 4 + [change_type] * 2 + [change_cells] * 5 + [change_order]


def change_members(members, rng):
    """Members repeated, swapped, renamed, foreign, cut, or with headers that promise more than there is."""
    arrays = [k for k, (name, _) in enumerate(members) if name.endswith(".npy")]
    k = rng.choice(arrays)
    name, data = members[k]
    huge = rng.choice(
        ["(2000000000000,)", "(1000000, 1000000)", "(0, 1000000000000)", "(1,) * 10**9", "(1000000000, 0, 0)"]
    )
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {huge}, }}".ljust(117) + "\n"
    bomb = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    members[rng.choice(arrays)] = rng.choice([
        (members[rng.choice(arrays)][0], data), ("../" + name, data), ("manifest.json", b"{}"), (name, data[:-1]), (name, b""),
        (name, data + b"0"), (name, bomb), (name, members[rng.choice(arrays)][1]), ("/etc/passwd", data), (name, b"\x80\x04."),
    ])  # fmt: skip
    return members


def change_bytes(content, rng):
    """Bytes of a file, or of the manifest alone."""
    damaged = bytearray(content)
    if rng.random() < 0.3:
        return bytes(damaged[: rng.randrange(len(damaged))])
    for _ in range(rng.choice([1, 2, 8])):
        damaged[rng.randrange(len(damaged))] = rng.choice([rng.randrange(256), *b'0129[]{}(),:"-.eE'])
    return bytes(damaged)


def mutant(name, seed):
    """The bytes of a file like that of a model, and how it differs."""
    rng = random.Random(f"{name} {seed}")
    members, chance = list(saved(name)), rng.random()
    if chance < 0.06:
        return change_bytes(packed(members), rng), "bytes"
    if chance < 0.10:
        return packed([("manifest.json", change_bytes(members[0][1], rng)), *members[1:]]), "bytes of the manifest"
    if chance < 0.12:
        return packed(members, zipfile.ZIP_DEFLATED), "compressed"
    if chance < 0.20:
        return packed(change_members(members, rng)), "members"
    if chance < 0.60:
        manifest, before = json.loads(members[0][1]), json.loads(members[0][1])
        change = rng.choice(MANIFEST)
        for _ in range(rng.choice([1, 1, 1, 2])):
            try:
                change(manifest, rng)
            except (KeyError, IndexError, TypeError, AttributeError, ValueError):  # of what a first change left
                break
        return packed([("manifest.json", json.dumps(manifest)), *members[1:]]), difference(change, before, manifest)
    k = rng.randrange(1, len(members))
    change = rng.choice(ARRAYS)
    array = np.load(io.BytesIO(members[k][1]))
    other = change(array, rng)
    members[k] = members[k][0], array_bytes(other)
    return (
        packed(members),
        f"{change.__name__} of {_user(members, k)}: {array.dtype}{array.shape} to {other.dtype}{other.shape} {other.ravel()[:3]}",
    )


def _user(members, k):
    manifest, number = json.loads(members[0][1]), members[k][0].removesuffix(".npy")
    for path in places(manifest):
        holder, key = at(manifest, path)
        if holder[key] == {"array": number}:
            return ".".join(map(str, path[1:]))
    return number


def difference(change, before, after):
    """How two manifests differ, in words."""
    changed = [path for path in places(after) if _there(before, path) != _there(after, path)]
    gone = [path for path in places(before) if _there(after, path) is _there]
    deepest = max(changed, key=len, default=None)
    told = (
        f"{'.'.join(map(str, deepest))} = {str(_there(after, deepest))[:80]}, was {str(_there(before, deepest))[:80]}"
        if deepest
        else ""
    )
    return f"{change.__name__}: {told} {gone[:1]}"


def _there(tree, path):
    try:
        holder, key = at(tree, path)
        return holder[key]
    except (KeyError, IndexError, TypeError):
        return _there


def fault(path, name):
    """What is wrong with loading a file and using what was loaded: an exception, or None where all is as it should be."""
    where, (X, y) = "load", rows_for(name)
    X, y = X[:12], None if y is None else y[:12]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                model = tacit.load(path)
            except ValueError as error:
                message = str(error)
                if not message.startswith(f"{path!r} is not a sound tacit model file: ") or not message.isprintable():
                    raise
                if isinstance(error.__context__, MemoryError):
                    raise error.__context__ from None
                return None
            warnings.filterwarnings("default", category=UserWarning)
            for where, call in (METHODS | _others(model)).items():
                if hasattr(model, where):
                    with contextlib.suppress(ValueError, NotImplementedError):
                        _check_numbers(where, call(getattr(model, where), X, y))
    except Exception as error:
        error.add_note(f"in {where}")
        return error
    return None


def _others(model):
    """Methods that a model calls otherwise."""
    if isinstance(model, sequence.LinearChainCRF):
        return TAGGERS
    processes = gaussian_process.GaussianProcessClassifier, gaussian_process.GaussianProcessRegressor
    if isinstance(model, (GaussianBayes, MixtureDiscriminant, NaiveBayes, *processes)):
        return CLASSIFIERS
    if isinstance(model, (mixture.MixtureOfExperts, mixture.MixtureOfExpertsClassifier, mixture.LatentClassRegression)):
        return EXPERTS
    return PAIRS if isinstance(model, (factor.CCA, factor.ProbabilisticCCA)) else {}


def _check_numbers(method, found):
    """Raise where a result holds what is no number."""
    for part in found if isinstance(found, (tuple, list)) else [found]:
        cells = np.asarray(part)
        if cells.dtype.kind == "f" and not np.isfinite(cells).all() and method not in EMPTY:
            raise ArithmeticError(f"{method} gives {cells[~np.isfinite(cells)].flat[0]}")


# Numbers that cannot be

ODD = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"), "negative": None}
SIGNED = {
    "center", "center_", "centre", "cluster_centers_", "cos", "sin", "coef_", "components_", "cross", "cuts", "dual_coef_",
    "eigenvectors_", "embedding_", "embedding_centers_", "first", "gate_coef_", "gate_intercept_", "grid", "guide", "high",
    "intercept_", "K_fit_rows_", "landmark_coef_", "landmarks_", "loading", "loadings_", "location", "log_u", "loglik",
    "loglike_", "low", "lower_bound_", "lower_bounds_", "mean", "mean_", "mean_coef_", "mean_prior_", "means_",
    "medoid_silhouette_", "note", "noise_box_", "origin", "origin_", "previous", "rotation_", "scores_", "structure_", "sums",
    "total", "trace", "coefficients",
    "rows", "values", "whitening_", "x_loadings_", "x_mean_", "_x_mean", "x_rotations_", "x_weights_", "X_fit_",
    "X_transformed_fit_", "y_loadings_", "y_mean_", "_y_mean", "y_rotations_", "y_weights_", "bins", "gram", "parent", "usual",
    "least", "most", "above", "below", "alpha_", "factor", "L_", "log_marginal_likelihood_value_", "state_weights_",
    "transition_weights_", "value", "X_train_", "y_train_", "_y_train_mean",
}  # fmt: skip
"""What may be negative: places, directions, log densities, and sums of such."""
UNDEFINED = {
    "cluster_centers_", "embedding_centers_", "error", "naive", "covered", "right", "gap_scores_", "medoid_silhouette_",
    "metric_params_", "rows", "note",
}  # fmt: skip
"""What may be NaN: cells that are missing or were not tried, clusters without rows, and what notes and tables tell."""
BOUNDS = {"above", "below", "highest", "least", "lowest", "most"}
UNLIMITED = {
    "inf": BOUNDS
    | {"values", "covariances_", "rows", "note", "tol", "smoothing"}
    | {f"{name}_bounds" for name in ("constant_value", "length_scale", "noise_level", "sigma_0")},
    "-inf": BOUNDS
    | {"values", "rows", "note", "lower_bound_", "lower_bounds_", "trace", "previous", "value"}
    | {"log_marginal_likelihood_value_"},
}
"""What may be infinite: variances of heavy tails, bounds that are none, evidence of a rank, and objectives not yet reached."""


def impossible(name, where=(0,), odd=tuple(ODD)):
    """Files of a model with one number replaced by one that it cannot be, and which that is; one of every list of like parts."""
    members, seen = saved(name), set()
    for k in range(1, len(members)):
        array, user = np.load(io.BytesIO(members[k][1])), _user(members, k)
        if not array.size or array.dtype.kind not in "fi" or not _is_first(user, seen):
            continue
        for kind in odd if array.dtype.kind == "f" else {"negative"} & set(odd):
            for place in sorted({int(share * (array.size - 1)) for share in where}):
                other = array.copy()
                other.ravel()[place] = -1 - abs(np.nan_to_num(other.flat[place])) if kind == "negative" else ODD[kind]
                if not _may_be(user, kind):
                    yield (
                        f"{user}[{place}] {kind}",
                        packed([*members[:k], (members[k][0], array_bytes(other)), *members[k + 1 :]]),
                    )
    manifest = json.loads(members[0][1])
    for path in places(manifest["estimator"]):
        holder, key = at(manifest["estimator"], path)
        number, user = holder[key], ".".join(map(str, path))
        if type(number) is not float or path[0] == "settings" or not _is_first(user, seen):
            continue
        for kind in odd:
            holder[key] = (
                -abs(number) - 1 if kind == "negative" else {"float": kind} if "trace" not in path else ODD[kind]
            )
            if not _may_be(user, kind):
                yield f"{user} {kind}", packed([("manifest.json", json.dumps(manifest)), *members[1:]])
        holder[key] = number


def _is_first(user, seen):
    like = re.sub(r"\b(list|trace)\.\d+", r"\1", user)
    return not (like in seen or seen.add(like))


def _may_be(user, kind):
    """Whether what is called so may be negative, NaN or infinite; the innermost name counts."""
    words = {
        "fitted",
        "fields",
        "fit",
        "list",
        "tuple",
        "dict",
        "array",
        "parts",
        "components",
        "stats",
        "params",
        "online",
        "csr",
    }
    named = [part for part in user.split(".") if not part.isdigit() and part not in words]
    free = {"negative": SIGNED, "nan": UNDEFINED}.get(kind) or UNLIMITED[kind]
    return (bool(named) and named[-1] in free) or "note" in named
