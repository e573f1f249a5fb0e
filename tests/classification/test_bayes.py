"""Bayes classifiers against scikit-learn's on complete rows, and on rows that scikit-learn's refuse."""

import os
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import CategoricalNB, GaussianNB

import tacit
from tacit.classification import GaussianBayes, MixtureDiscriminant, NaiveBayes
from tacit.families import NegativeBinomial
from tacit.mixture import MixtureOfExpertsClassifier, StudentTMixture

from ..zoo import with_missing


def test_linear_discriminant_analysis():
    X, y = load_iris(return_X_y=True)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    ours = GaussianBayes("tied").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(ours.covariances_, theirs.covariance_, rtol=1e-10)


def test_quadratic_discriminant_analysis():
    X, y = load_iris(return_X_y=True)
    ours = GaussianBayes().fit(X, y)
    for k in range(3):
        np.testing.assert_allclose(ours.means_[k], X[y == k].mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(ours.covariances_[k], np.cov(X[y == k].T, bias=True), rtol=1e-9)
    assert (ours.predict(X) == y).mean() == pytest.approx(0.98, abs=0.001)
    assert ours.mixture_.n_iter_ == 1


def test_naive_bayes_of_measurements():
    X, y = load_wine(return_X_y=True)
    theirs = GaussianNB(var_smoothing=0.0).fit(X, y)
    ours = NaiveBayes().fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


def test_naive_bayes_of_categories():
    rng = np.random.default_rng(0)
    X, y = rng.integers(4, size=(200, 3)), rng.integers(2, size=200)
    X[y == 1] = np.minimum(X[y == 1] + (rng.random((np.sum(y == 1), 3)) < 0.5), 3)
    theirs = CategoricalNB(alpha=0.7).fit(X, y)
    ours = NaiveBayes("categorical", smoothing=0.7).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


def test_naive_bayes_of_mixed_columns_with_holes():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.array(["ill", "well"])[rng.integers(2, size=800)]
    ill = y == "ill"
    table = pd.DataFrame(
        {
            "fever": rng.normal(size=800) + 1.5 * ill,
            "visits": rng.poisson(np.where(ill, 6, 2)),
            "ward": np.where(rng.random(800) < np.where(ill, 0.8, 0.3), "east", "west"),
        }
    )
    table = table.astype(object).mask(rng.random(table.shape) < 0.3).infer_objects()
    model = NaiveBayes().fit(table, y)
    assert model.classes_.tolist() == ["ill", "well"]
    assert model.score(table, y) > 0.8
    nothing = table.head(1).astype(object).mask(np.ones((1, 3), bool))
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.class_prior_)
    told = model.mixture_.describe()
    np.testing.assert_allclose(told["visits"]["mean"], [6, 2], atol=0.5)


@pytest.mark.parametrize("kind", ["full", "tied", "diag"])
def test_missing_cells_cost_little(kind):
    X, y = load_iris(return_X_y=True)
    incomplete = with_missing(X, 0.2)
    assert cross_val_score(GaussianBayes(kind), incomplete, y, cv=5).mean() > 0.9
    model = GaussianBayes(kind).fit(incomplete, y)
    np.testing.assert_allclose(model.class_prior_, 1 / 3)
    assert model.mixture_.n_iter_ > 1


def test_priors_weights_and_names():
    X, y = load_iris(return_X_y=True, as_frame=True)
    plain, tilted = GaussianBayes().fit(X, y), GaussianBayes(priors=[0.0, 0.01, 0.99]).fit(X, y)
    assert (tilted.predict(X) != 0).all()
    assert (tilted.predict(X) == 2).sum() > (plain.predict(X) == 2).sum()
    assert list(plain.feature_names_in_) == list(X.columns)
    weight = np.where(y == 0, 0.0, 1.0)
    np.testing.assert_allclose(GaussianBayes().fit(X, y, weight).class_prior_, [0, 0.5, 0.5], atol=1e-12)
    odd = plain.score_samples(X.to_numpy() * [[1, 1, 1, 10]])
    assert odd.max() < plain.score_samples(X.to_numpy()).min()


@pytest.mark.parametrize("model", [GaussianBayes("tied"), NaiveBayes()])
def test_save_and_load(model, tmp_path):
    X, y = load_iris(return_X_y=True)
    fitted = model.fit(X, np.array(["a", "b", "c"])[y])
    tacit.save(fitted, tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


@pytest.mark.parametrize("make", [lambda: NaiveBayes(by_column={0: "student"}), lambda: StudentTMixture(2)])
def test_families_without_a_closed_form_go_on_to_their_maximum(make):
    rng = np.random.default_rng(0)
    x, y = np.concatenate([rng.standard_t(2, size=400), rng.normal(size=400)])[:, None], np.repeat([0, 1], 400)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "y gives every row's class")
        model = make().fit(x, y)
    components = getattr(model, "mixture_", model).fit_.params.components
    found = getattr(components, "parts", (components,))[0]
    for k in range(2):
        df, mean, scale = stats.t.fit(x[y == k, 0])
        np.testing.assert_allclose(found.mean[k], mean, atol=1e-3)
        np.testing.assert_allclose([found.df[k], found.covariance[k, 0, 0]], [df, scale**2], rtol=2e-3)


def test_sizes_of_labelled_counts_are_the_likeliest():
    rng = np.random.default_rng(0)
    x, y = rng.poisson(rng.gamma(np.repeat([0.5, 4.0], 300), 3.0)), np.repeat([0, 1], 300)
    model = NaiveBayes(by_column={0: "negative_binomial"}).fit(x[:, None], y)
    (found,) = model.mixture_.fit_.params.components.parts
    for k in range(2):
        alone = NegativeBinomial().fit(x[y == k])
        np.testing.assert_allclose(found.size[k], alone.parameters["size"], rtol=1e-3)


def test_bad_settings_are_named():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"priors=\[0.5, 0.5, 0.5\] must not be negative and must sum to 1"):
        GaussianBayes(priors=[0.5, 0.5, 0.5]).fit(X, y)
    with pytest.raises(ValueError, match=r"priors has shape \(2,\), but there are 3 classes"):
        NaiveBayes(priors=[0.5, 0.5]).fit(X, y)
    with pytest.raises(ValueError, match="smoothing=-1 is not a number of at least 0"):
        NaiveBayes(smoothing=-1).fit(X, y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        GaussianBayes().fit(X, None)
    with pytest.raises(ValueError, match="y has no label in row 2, but a missing value such as NaN"):
        NaiveBayes().fit(np.ones((3, 2)), pd.Series(["a", "b", pd.NA], dtype=object))
    with pytest.raises(ValueError, match="y holds 'b' and 1, texts and other labels; make all of them texts"):
        NaiveBayes().fit(np.ones((3, 2)), np.array([1, "b", 1], dtype=object))
    with pytest.raises(ValueError, match="y has no label in row 1, but a missing value such as NaN"):
        NaiveBayes().fit(X[:3], [0.0, np.nan, 1.0])
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        GaussianBayes().fit(X, X[:, 0])


def test_log_probabilities_are_finite_where_probabilities_underflow():
    X, y = load_digits(return_X_y=True)
    small = load_iris(return_X_y=True)
    experts = MixtureOfExpertsClassifier(2, random_state=0).fit(*small)
    for fitted, rows in ((NaiveBayes("gaussian", reg_covar=1e-2).fit(X, y), X), (experts, 500.0 * small[0])):
        logs = fitted.predict_log_proba(rows)
        assert np.isfinite(logs).all()
        assert logs.min() < -750  # the log of less than the least number there is
        np.testing.assert_allclose(np.exp(logs), fitted.predict_proba(rows), atol=1e-9)


def test_structures_are_chosen_by_bic_as_in_mclust():
    X, y = load_iris(return_X_y=True)
    model = GaussianBayes("all").fit(X, y)
    # mclust's MclustDA(modelType = "EDDA"): VEV, log-likelihood −187.7097.
    assert model.covariance_type_ == "VEV"
    assert model.score_samples(X).sum() == pytest.approx(-187.7097, abs=1e-4)
    assert GaussianBayes(["tied", "diag"]).fit(X, y).covariance_type_ == "tied"
    with pytest.raises(ValueError, match="names no structure; use 'full'"):
        GaussianBayes([]).fit(X, y)


def test_classes_of_several_groups():
    rng = np.random.default_rng(0)
    centres = np.array([[-6.0, 0.0], [0.0, 0.0], [6.0, 0.0], [0.0, 7.0]])
    group = rng.integers(4, size=400)
    X, y = centres[group] + rng.normal(size=(400, 2)), np.array(["out", "in"])[group % 2]
    holes = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    model = MixtureDiscriminant(range(1, 4), covariance_type="VII", random_state=0).fit(holes, y)
    assert [mixture.n_components for mixture in model.mixtures_] == [2, 2]
    parts = [
        np.log(share) + mixture.score_samples(holes) for share, mixture in zip(model.class_prior_, model.mixtures_)
    ]
    expected = np.exp(parts) / np.exp(parts).sum(axis=0)
    np.testing.assert_allclose(model.predict_proba(holes), expected.T, atol=1e-12)
    np.testing.assert_allclose(model.score_samples(holes), np.log(np.exp(parts).sum(axis=0)))
    assert model.score(X, y) > 0.97 > GaussianBayes().fit(X, y).score(X, y) + 0.05
    twice = MixtureDiscriminant(2, covariance_type="VII", random_state=0).fit(X, y, np.full(400, 2.0))
    assert {mixture.n_components for mixture in twice.mixtures_} == {2}
    np.testing.assert_allclose(MixtureDiscriminant(1, priors=[0.9, 0.1]).fit(X, y).class_prior_, [0.9, 0.1])
    with pytest.raises(ValueError, match="class 'rare' has a single distinct row, of which no mixture is learned"):
        MixtureDiscriminant(1).fit(X, np.where(np.arange(400) == 3, "rare", y))
    with pytest.raises(ValueError, match="class 'in' has no observed value in column 1"):
        MixtureDiscriminant(1).fit(np.where((y == "in")[:, None] & [False, True], np.nan, X), y)


def test_ripleys_synthetic_classes_are_two_groups_each():
    folder = os.environ.get("TACIT_DATA")
    if not folder:
        pytest.skip("Ripley's synthetic data is not shipped; set TACIT_DATA to read it")
    train, test = (np.loadtxt(f"{folder}/ripley/synth_{part}.csv", delimiter=",", skiprows=1) for part in ("tr", "te"))
    model = MixtureDiscriminant((1, 2, 3), covariance_type=["EII", "VII"], random_state=0).fit(
        train[:, :2], train[:, 2]
    )
    assert [mixture.n_components for mixture in model.mixtures_] == [2, 2]
    # Test errors: linear .108, quadratic .102; what generated the data .08.
    assert model.score(test[:, :2], test[:, 2]) > 1 - 0.1
    qda = GaussianBayes().fit(train[:, :2], train[:, 2])
    losses = [log_loss(test[:, 2], each.predict_proba(test[:, :2])) for each in (model, qda)]
    assert losses[0] < losses[1] - 0.04
