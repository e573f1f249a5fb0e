"""scikit-learn's estimator checks, and what every public estimator must do besides."""

import pickle
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import has_fit_parameter

import tacit
from tacit.classification import GaussianBayes, MixtureDiscriminant, NaiveBayes
from tacit.cluster import (
    AgglomerativeClustering,
    ColumnScaler,
    KMeans,
    KMedians,
    KMedoids,
    MiniBatchKMeans,
    SoftKMeans,
    SpectralClustering,
)
from tacit.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    ForestImputer,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tacit.factor import CCA, PCA, FactorAnalysis, KernelPCA, ProbabilisticCCA, ProbabilisticPCA, TruncatedSVD
from tacit.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from tacit.gaussian_process.kernels import Matern, WhiteKernel
from tacit.graph import BeliefNetwork
from tacit.impute import GaussianImputer, KNNImputer, MixtureImputer
from tacit.learning import TableClassifier, TableRegressor
from tacit.linear_model import (
    ARDRegression,
    BasisExpansion,
    BayesianLinearRegression,
    BayesianLogisticRegression,
    BayesianRidge,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    SparseBayesianRegression,
)
from tacit.mixture import (
    BayesianGaussianMixture,
    GaussianMixture,
    LatentClassRegression,
    Mixture,
    MixtureOfExperts,
    MixtureOfExpertsClassifier,
    StudentTMixture,
)
from tacit.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from tacit.relevance import RelevanceVectorClassifier, RelevanceVectorRegressor
from tacit.sequence import GMMHMM, GaussianHMM, HiddenMarkovModel, LinearChainCRF
from tacit.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from tacit.topics import NMF, AnchorTopics, LatentDirichletAllocation, MiniBatchNMF, NMFTopics
from tacit.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor
from tacit.variational import VariationalAutoencoder

from .zoo import gaussian_rows, with_missing

NETWORKS = [VariationalAutoencoder(1, max_epochs=2, random_state=0)] if find_spec("torch") else []
"""Estimators that need torch, which not every environment has."""
ESTIMATORS = [
    *NETWORKS,
    AdaBoostClassifier(n_estimators=10),
    GradientBoostingClassifier(max_iter=20, min_samples_leaf=1),
    GradientBoostingRegressor(max_iter=20, min_samples_leaf=1, interval_cv=3),
    HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=1, max_depth=2),
    HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=1, loss="huber"),
    AnchorTopics(2),
    GaussianMixture(),
    BayesianGaussianMixture(),
    BayesianGaussianMixture(
        3, covariance_type="diag", weight_concentration_prior_type="dirichlet_distribution", random_state=0
    ),
    GaussianMixture(2, covariance_type="VEV", random_state=0),
    GaussianMixture(2, covariance_type="diag", noise=True, random_state=0),
    StudentTMixture(),
    StudentTMixture(2, covariance_type="VEV", df="shared", random_state=0),
    Mixture(),
    Mixture(2, random_state=0),
    GaussianBayes(),
    GaussianBayes(["tied", "diag"]),
    MixtureDiscriminant((1, 2), covariance_type="diag", random_state=0),
    NaiveBayes(),
    FactorAnalysis(),
    FactorAnalysis("bic", rotation="varimax"),
    GaussianImputer(),
    GaussianImputer(2, add_indicator=True, random_state=0),
    MixtureImputer(2, covariance_type="diag", add_indicator=True, random_state=0),
    KNNImputer(),
    KNNImputer(n_neighbors=2, weights="distance", metric="gower", add_indicator=True, keep_empty_features=True),
    MixtureOfExperts(1),
    MixtureOfExperts(2, gate="constant", random_state=0),
    LatentClassRegression(1),
    LatentClassRegression(1, family="gaussian", covariance_type="diag", alpha=0.1),
    MixtureOfExpertsClassifier(1),
    MixtureOfExpertsClassifier(1, alpha=0.1),
    ProbabilisticPCA(1),
    ProbabilisticPCA(1, scale=True, solver="em"),
    KMeans(),
    KMeans(3, init="random", algorithm="elkan", n_init=2, random_state=0),
    MiniBatchKMeans(),
    MiniBatchKMeans(3, init="random", batch_size=20, tol=1e-3, random_state=0),
    KMedoids(),
    KMedoids(2, metric="precomputed"),
    AgglomerativeClustering(),
    AgglomerativeClustering(3, metric="gower", linkage="single"),
    ColumnScaler(),
    ColumnScaler("whiten"),
    KMedians(),
    KMedians(2, random_state=0),
    SoftKMeans(),
    SoftKMeans(2, stiffness=0.5, random_state=0),
    SpectralClustering(),
    SpectralClustering("auto", gamma="scale", laplacian="unnormalised", assign_labels="cluster_qr", random_state=0),
    PCA(),
    PCA(1, whiten=True, svd_solver="randomized", random_state=0),
    TruncatedSVD(1, random_state=0),
    KernelPCA(),
    KernelPCA(2, kernel="rbf", n_landmarks=15, fit_inverse_transform=True, preimage="fixed_point", random_state=0),
    CCA(1),
    CCA(1, scale=False, ridge=(0.1, 0.0)),
    ProbabilisticCCA(1),
    ProbabilisticCCA("bic", reg_covar=0.1, n_jobs=1),
    LatentDirichletAllocation(),
    LatentDirichletAllocation(3, inference="vb", doc_topic_prior="learn", learning_method="online", random_state=0),
    NMF(),
    NMF(2, beta_loss="kullback-leibler", solver="mu", init="random", n_init=2, alpha_W=0.01, random_state=0),
    MiniBatchNMF(),
    MiniBatchNMF(2, beta_loss=1.5, batch_size=10, fresh_restarts=True, random_state=0),
    NMFTopics(),
    HiddenMarkovModel(),
    HiddenMarkovModel(3, covariance_type="tied", sticky=2.0, start="stationary", algorithm="map", random_state=0),
    GaussianHMM(),
    GMMHMM(2, 2, covariance_type="full", random_state=0),
    LinearChainCRF(),
    LinearChainCRF("arow", random_state=0),
    GaussianProcessClassifier(),
    GaussianProcessRegressor(),
    LinearRegression(),
    Ridge(),
    BayesianRidge(),
    BayesianLinearRegression(updates="em", tol=1e-3),
    ARDRegression(),
    BasisExpansion(),
    BeliefNetwork([]),
    BeliefNetwork(),
    BeliefNetwork([], continuous=[], prior=1.0, unknown="missing", target=0),
    LogisticRegression(),
    DecisionTreeClassifier(),
    DecisionTreeRegressor(missing="surrogate", max_depth=5),
    ExtraTreeClassifier(random_state=0),
    ExtraTreeRegressor(random_state=0),
    RandomForestClassifier(5, random_state=0),
    RandomForestRegressor(5, random_state=0),
    ExtraTreesClassifier(5, random_state=0),
    ExtraTreesRegressor(5, random_state=0),
    ForestImputer(5, random_state=0),
    BayesianLogisticRegression(),
    Perceptron(),
    RelevanceVectorRegressor(),
    RelevanceVectorClassifier(),
    TableClassifier(models="discriminant", n_splits=2),
    TableRegressor(models="linear", n_splits=2),
    NearestNeighbors(),
    NearestNeighbors(metric="precomputed"),
    KNeighborsClassifier(),
    KNeighborsRegressor(weights="distance", algorithm="kd_tree", leaf_size=2),
    RadiusNeighborsClassifier(2.0, outlier_label="most_frequent"),
    RadiusNeighborsRegressor(8.0, metric="manhattan", algorithm="aesa"),
    SVC(),
    NuSVC(nu=0.3),
    SVR(),
    NuSVR(),
    OneClassSVM(),
]
"""Every class as it is by default, and as far from it as one setting goes."""

MORE = [
    NearestNeighbors(metric="nan_euclidean"),
    KNeighborsClassifier(3, weights="distance", algorithm="laesa", n_buoys=2),
    KNeighborsClassifier(3, metric="gower"),
    KNeighborsRegressor(2, metric="nan_euclidean"),
    KNeighborsRegressor(2, algorithm="orchard", p=1),
    SparseBayesianRegression(),
    Perceptron(kernel="rbf", average=True),
    BasisExpansion("rbf", n_centers=3),
    SVC(kernel="linear", C=10.0, class_weight="balanced", decision_function_shape="ovo"),
    NuSVC(nu=0.2, gamma="auto", break_ties=True),
    SVR(gamma="auto", C=10.0, epsilon=0.01),
    NuSVR(nu=0.2, kernel="linear", C=10.0),
    OneClassSVM(nu=0.2, gamma=0.5, shrinking=False),
    GaussianProcessRegressor(Matern(nu=1.5) + WhiteKernel(0.1), normalize_y=True, n_jobs=1),
    GaussianProcessClassifier(Matern(nu=1.5), multi_class="softmax", n_jobs=1),
    LogisticRegression(l1_ratio=0.5, class_weight="balanced", tol=1e-6),
    LinearRegression(positive=True, fit_intercept=False),
    Ridge(0.0, solver="svd"),
    BasisExpansion("spline", n_centers=4),
    BasisExpansion("heaviside", n_centers=3),
    BasisExpansion("arctan", n_centers=3, centers="grid"),
    GaussianProcessRegressor(inducing_points=10, normalize_y=True, random_state=0),
    MixtureDiscriminant(),
    MixtureDiscriminant((1, 2), covariance_type=["diag", "VEI"], criterion="icl", random_state=0),
    GaussianMixture(2, covariance_type="tied", random_state=0),
    GaussianMixture(2, covariance_type="diag", random_state=0),
    GaussianMixture(2, covariance_type="spherical", random_state=0),
    BayesianGaussianMixture(3, covariance_type="tied", random_state=0),
    BayesianGaussianMixture(2, covariance_type="spherical", random_state=0),
    GaussianMixture(2, covariance_type="EVI", random_state=0),
    StudentTMixture(2, covariance_type="diag", df=4.0, random_state=0),
    FactorAnalysis(1, scale=True),
    FactorAnalysis(2, rotation="oblimin", rotation_params={"normalize": True}),
    GaussianImputer(sample_posterior=True, random_state=0),
    MixtureImputer(),
    MixtureOfExperts(2, random_state=0),
    MixtureOfExpertsClassifier(2, random_state=0),
    KMedoids(3, method="pam", init="lab", metric="cityblock", random_state=0),
    KMedoids(2, metric="gower", method="alternate"),
    KMedoids([2, 3, 4], metric="nan_euclidean", init="k-medoids++", random_state=0),
    KMedoids(2, sampling=8, random_state=0),
    AgglomerativeClustering(3, metric="nan_euclidean", linkage="average"),
    AgglomerativeClustering(metric="precomputed", linkage="complete"),
    ColumnScaler("range"),
    ColumnScaler("mad"),
    SpectralClustering(3, affinity="nearest_neighbors", laplacian="symmetric", n_neighbors=5, random_state=0),
    SpectralClustering(3, affinity="mutual_nearest_neighbors", gamma="local", edge_weights="gaussian", random_state=0),
    PCA(0.5, scale=True),
    PCA("bic"),
    KernelPCA(2, kernel="rbf", fit_inverse_transform=True, alpha=0.1),
    KernelPCA(1, kernel="laplacian", eigen_solver="randomized", random_state=0),
    KernelPCA(1, kernel="precomputed"),
    LatentDirichletAllocation(2, inference="vb", topic_word_prior="learn", random_state=0),
    LatentDirichletAllocation(2, inference="scvb0", batch_size=7, random_state=0),
]

ROWS_FOR_PAIRS = "the check gives rows to an estimator of pairs"
FEWER_ROWS = "all components are as many as rows, where fewer than columns, and a row of weight 2 is one row"
LONE_ROWS = "the check has classes of one distinct row, of which no mixture is learned"
LAGGING_ROWS = "scores of batches lag behind the parts, as in scikit-learn, unless they are solved for anew"
CUT_ROWS = "batches are cut by row, so that a row given twice may be in two"
DRAWN_ROWS = "batches are drawn by row, so that a row given twice is drawn twice, and one of weight 2 once"
WHOLE_SEQUENCES = "rows are steps of one sequence, which has one weight"
AT_THE_FLOOR = "the check has 15 rows of 30 columns: covariances are at their floor, where rounding decides"
NEIGHBOURS = "labels of steps depend on those of their neighbours"
OWN_STATES = "states are those of all rows, whatever they weigh, and columns of numbers have no probabilities of states"
TO_TOLERANCE = (
    "solutions are equal to tol alone, and gamma='scale' is that of rows whatever they weigh, as in scikit-learn"
)
UNEVEN = "the check weighs one class by a thousandth, of which nu asks for more than there is; scikit-learn leaves weights out"
NO_STEPS = "minima are found directly: n_iter_ is None, as with scikit-learn's direct solvers"
ONE_BY_ONE = "rows come one after the other, so that a row given twice comes twice, and one of weight 2 once"
HMMLEARN = "fit and score take lengths second, and score_samples gives two things, as in hmmlearn"


def expected_failures(estimator):
    """Checks that cannot hold, with the reason."""
    if isinstance(estimator, LinearChainCRF):
        kinds = [f"weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
        weighted = [f"check_sample_{name}" for name in ("weights_not_overwritten", *kinds)]
        ordered = ("check_methods_sample_order_invariance", "check_methods_subset_invariance")
        return dict.fromkeys(weighted, WHOLE_SEQUENCES) | dict.fromkeys(ordered, NEIGHBOURS)
    if isinstance(estimator, (SVC, SVR, NuSVC, NuSVR, OneClassSVM)):
        found = {f"check_sample_weight_equivalence_on_{kind}_data": TO_TOLERANCE for kind in ("dense", "sparse")}
        return found | ({"check_class_weight_classifiers": UNEVEN} if isinstance(estimator, NuSVC) else {})
    if isinstance(estimator, (HiddenMarkovModel, GaussianHMM, GMMHMM)):
        weighted = "check_sample_weights_not_overwritten", "check_sample_weight_equivalence_on_dense_data"
        found = dict.fromkeys(weighted, WHOLE_SEQUENCES)
        if not isinstance(estimator, HiddenMarkovModel):
            named = (
                "check_fit_score_takes_y",
                "check_n_features_in_after_fitting",
                "check_methods_sample_order_invariance",
            )
            found |= dict.fromkeys((*named, "check_methods_subset_invariance"), HMMLEARN)
        return found
    if isinstance(estimator, VariationalAutoencoder):
        return {"check_sample_weight_equivalence_on_dense_data": DRAWN_ROWS}
    if isinstance(estimator, Perceptron):
        return {f"check_sample_weight_equivalence_on_{kind}_data": ONE_BY_ONE for kind in ("dense", "sparse")}
    if getattr(estimator, "bootstrap", False):
        return {f"check_sample_weight_equivalence_on_{kind}_data": DRAWN_ROWS for kind in ("dense", "sparse")}
    if isinstance(estimator, BeliefNetwork):
        return {"check_sample_weight_equivalence_on_dense_data": OWN_STATES}
    if isinstance(estimator, MiniBatchKMeans) and estimator.batch_size < 100:
        return {f"check_sample_weight_equivalence_on_{kind}_data": DRAWN_ROWS for kind in ("dense", "sparse")}
    if isinstance(estimator, MiniBatchNMF) and estimator.batch_size < 100:
        return {f"check_sample_weight_equivalence_on_{kind}_data": CUT_ROWS for kind in ("dense", "sparse")}
    if isinstance(estimator, MiniBatchNMF):
        return dict.fromkeys(
            ("check_transformer_general", "check_transformer_data_not_an_array", "check_transformer_preserve_dtypes"),
            LAGGING_ROWS,
        )
    if isinstance(estimator, NMFTopics):
        return {f"check_sample_weight_equivalence_on_{kind}_data": FEWER_ROWS for kind in ("dense", "sparse")}
    if getattr(estimator, "covariance_type", "") == "VEV":
        return {"check_sample_weight_equivalence_on_dense_data": AT_THE_FLOOR}
    if isinstance(estimator, Ridge):
        return {"check_non_transformer_estimators_n_iter": NO_STEPS}
    if isinstance(estimator, MixtureDiscriminant):
        return {"check_sample_weight_equivalence_on_dense_data": LONE_ROWS}
    if isinstance(estimator, PCA) and estimator.n_components is None:
        return {f"check_sample_weight_equivalence_on_{kind}_data": FEWER_ROWS for kind in ("dense", "sparse")}
    if get_tags(estimator).input_tags.pairwise:
        return dict.fromkeys(("check_clustering", "check_estimators_nan_inf"), ROWS_FOR_PAIRS)
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.full
@parametrize_with_checks(MORE, expected_failed_checks=expected_failures)
def test_sklearn_checks_of_more_settings(estimator, check):
    check(estimator)


def rows_for(estimator, n=240):
    """Rows that an estimator takes."""
    X = gaussian_rows(n)
    return np.abs(X) if get_tags(estimator).input_tags.positive_only else X


def said(fitted, X):
    """What a fitted estimator says of rows; of those that it has seen, where it knows no others."""
    method = next(
        (name for name in ("predict_proba", "transform", "predict", "kneighbors") if hasattr(fitted, name)), None
    )
    return fitted.labels_ if method is None else getattr(fitted, method)(X)


@pytest.mark.parametrize(
    "estimator", [*ESTIMATORS, *(pytest.param(each, marks=pytest.mark.full) for each in MORE)], ids=repr
)
def test_pickle_clone_and_save(estimator, tmp_path):
    if get_tags(estimator).target_tags.required:
        X = gaussian_rows()
        fitted = clone(estimator).fit(X, (X[:, 0] > X[:, 1]).astype(int))
    else:
        tags = get_tags(estimator).input_tags
        X = with_missing(rows_for(estimator)) if tags.allow_nan else rows_for(estimator)
        X = pairwise_distances(X) if tags.pairwise else X
        fitted = clone(estimator).fit(X)
    path = tmp_path / "model.tacit"
    tacit.save(fitted, path)
    expected = said(fitted, X)
    for again in (pickle.loads(pickle.dumps(fitted)), tacit.load(path)):
        assert again.get_params().keys() == fitted.get_params().keys()
        np.testing.assert_array_equal(said(again, X), expected)
    assert not hasattr(clone(fitted), "n_iter_")


class OtherArray:
    """An array of another library, as far as the array API standard tells, that NumPy reads by DLPack only."""

    def __init__(self, values):
        self.values, self.shape, self.ndim = np.array(values), values.shape, values.ndim
        self.__dlpack__, self.__dlpack_device__ = self.values.__dlpack__, self.values.__dlpack_device__

    def __array_namespace__(self, api_version=None):
        raise NotImplementedError

    def __array__(self, dtype=None, copy=None):
        raise TypeError("this array is read by DLPack only")


@pytest.mark.parametrize("estimator", {type(each): each for each in reversed(ESTIMATORS)}.values(), ids=repr)
def test_arrays_of_other_libraries(estimator):
    X = rows_for(estimator, 80)
    weight = np.ones(len(X))
    given = {"y": (X[:, 0] > X[:, 1]).astype(int)} if get_tags(estimator).target_tags.required else {}
    given |= {"sample_weight": weight} if has_fit_parameter(estimator, "sample_weight") else {}
    seeded = {"random_state": 0} if "random_state" in estimator.get_params() else {}
    ours, theirs = (clone(estimator).set_params(**seeded) for _ in range(2))
    ours.fit(X, **given)
    theirs.fit(OtherArray(X), **{name: OtherArray(value) for name, value in given.items()})
    np.testing.assert_array_equal(said(theirs, OtherArray(X)), said(ours, X))


def test_an_array_that_is_not_in_the_memory_of_the_cpu():
    away = OtherArray(gaussian_rows(20))
    away.__class__ = type("Away", (OtherArray,), {"__dlpack__": None})
    del away.__dlpack__
    with pytest.raises(TypeError, match=r"an array of tests\.Away cannot be read .*; copy it to the memory of the CPU"):
        KMeans(2).fit(away)
