"""Standard errors: closed forms, methods that agree, coverage, and labels that must be aligned."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from tacit.mixture import GaussianMixture, Mixture, standard_errors
from tacit.mixture.uncertainty import METHODS, align, memberships
from tacit.source import ArraySource

from ..zoo import gaussian_rows, with_missing

TIGHT = {"tol": 1e-10, "max_iter": 5000, "random_state": 0}


def separate(rng, n=400, spread=(1.0, 2.0)):
    """Two groups far apart, a third and two thirds of the rows."""
    first = rng.random(n) < 1 / 3
    return np.where(first[:, None], -6.0, 6.0) + rng.normal(size=(n, 2)) * spread


@pytest.mark.parametrize("method", METHODS)
def test_one_gaussian_has_closed_forms(rng, method):
    n, sigma = 500, 3.0
    X = rng.normal(5.0, sigma, size=(n, 1))
    fitted = GaussianMixture().fit(X)
    found = standard_errors(fitted, X, method=method, n_bootstrap=400, random_state=0)
    variance = X.var()
    fourth = ((X - X.mean()) ** 4).mean()
    assert found.standard_error["means_"][0, 0] == pytest.approx(np.sqrt(variance / n), rel=0.1)
    # Scores give 2σ⁴/n if the rows are normal; resampling gives the fourth moment whatever they are.
    normal, robust = np.sqrt(2 * variance**2 / n), np.sqrt((fourth - variance**2) / n)
    se = found.standard_error["covariances_"][0, 0, 0]
    assert se == pytest.approx(normal if method == "information" else robust, rel=0.12)
    assert found.standard_error["weights_"][0] == pytest.approx(0.0, abs=1e-9)


def test_jackknife_of_a_mean_is_exact(rng):
    X = rng.normal(size=(40, 2))
    found = standard_errors(GaussianMixture().fit(X), X, method="jackknife")
    np.testing.assert_allclose(found.standard_error["means_"][0], X.std(axis=0, ddof=1) / np.sqrt(40), rtol=1e-8)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_information_and_bootstrap_agree_on_separate_groups(rng, kind):
    # Scores know what the model says of the rows, so the model must be right.
    X = separate(rng, 600, (1.0, 1.0) if kind == "spherical" else (1.0, 2.0))
    fitted = GaussianMixture(2, covariance_type=kind, **TIGHT).fit(X)
    draws = standard_errors(fitted, X, n_bootstrap=300, random_state=0)
    scores = standard_errors(fitted, X, method="information")
    for name in ("weights_", "means_"):
        np.testing.assert_allclose(scores.standard_error[name], draws.standard_error[name], rtol=0.25)
    share = fitted.weights_
    np.testing.assert_allclose(scores.standard_error["weights_"], np.sqrt(share * (1 - share) / 600), rtol=0.02)


def test_holes_cost_precision(rng):
    X = separate(rng)
    whole, incomplete = (
        standard_errors(GaussianMixture(2, **TIGHT).fit(rows), rows, method="information")
        .standard_error["means_"]
        .mean()
        for rows in (X, with_missing(X, 0.4))
    )
    assert incomplete > 1.1 * whole


@pytest.mark.parametrize("method", ["information", "weighted"])
def test_intervals_cover(method):
    covered = []
    for seed in range(60):
        X = separate(np.random.default_rng(seed), 200)
        fitted = GaussianMixture(2, covariance_type="diag", **TIGHT).fit(X)
        found = standard_errors(fitted, X, method=method, n_bootstrap=60, level=0.9, random_state=seed)
        order = fitted.means_[:, 0].argsort()
        truth = np.array([[-6.0, -6.0], [6.0, 6.0]])
        covered.append((found.lower["means_"][order] <= truth) & (truth <= found.upper["means_"][order]))
    assert 0.83 <= np.mean(covered) <= 0.96


def test_a_singular_information_is_told(rng):
    """Twenty rows do not tell 29 parameters; two classes of one column are told, though by few rows."""
    X = rng.normal(size=(20, 3))
    fitted = GaussianMixture(3, reg_covar=0.1, random_state=0).fit(X)
    with pytest.warns(UserWarning, match=r"singular, of rank \d+ for 29 parameters.*covariances_.*infinite; use fewer"):
        found = standard_errors(fitted, X, method="information")
    assert np.isinf(found.standard_error["covariances_"]).any()
    assert np.isfinite(found.estimate["covariances_"]).all()
    X = separate(rng, 30)[:, :1]
    with pytest.warns(UserWarning, match="30 rows are few for 5 parameters.*too narrow here, by any method"):
        found = standard_errors(GaussianMixture(2, random_state=0).fit(X), X, method="information")
    assert np.isfinite(found.standard_error["means_"]).all()
    # Ends of intervals stay where weights and variances can lie.
    assert (found.lower["weights_"] > 0).all()
    assert (found.upper["weights_"] < 1).all()
    assert (found.lower["covariances_"] > 0).all()


@pytest.mark.full
@pytest.mark.filterwarnings("ignore:.*rows are few")
@pytest.mark.parametrize(("n", "low", "high"), [(40, 0.75, 0.97), (200, 0.93, 0.97), (400, 0.93, 0.97)])
def test_coverage_of_gaussian_mixtures(n, low, high):
    """Two classes four standard deviations apart; with 40 rows intervals are too narrow, as the warning says."""
    held = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        first = rng.random(n)[:, None] < 0.4
        X = np.where(first, [-2.0, 0.0], [2.0, 0.0]) + rng.normal(size=(n, 2)) * np.where(first, [1.0, 1.0], [1.0, 0.7])
        fitted = GaussianMixture(2, covariance_type="diag", **TIGHT).fit(X)
        found = standard_errors(fitted, X, method="information")
        order = fitted.means_[:, 0].argsort()
        truth = {"weights_": [0.4, 0.6], "means_": [[-2, 0], [2, 0]], "covariances_": [[1, 1], [1, 0.49]]}
        held.append([
            ((found.lower[name][order] <= value) & (value <= found.upper[name][order])).mean() for name, value in truth.items()
        ])  # fmt: skip
    assert ((np.mean(held, axis=0) >= low) & (np.mean(held, axis=0) <= high)).all(), np.mean(held, axis=0)


def test_intervals_of_probabilities_stay_within_0_and_1(rng):
    group = rng.random(60) < 0.5
    answers = rng.random((60, 4)) < np.where(group, 0.95, 0.1)[:, None]
    found = standard_errors(
        Mixture(2, family="categorical", random_state=0).fit(answers), answers, method="information"
    )
    names = [name for name in found.lower if name.startswith("probability")]
    assert names
    for name in names:
        assert (found.lower[name] >= 0).all()
        assert (found.upper[name] <= 1).all()


def test_labels_are_aligned(rng):
    X = separate(rng)
    fitted = GaussianMixture(2, covariance_type="tied", **TIGHT).fit(X)
    model, params, source = fitted._model(), fitted._params(), ArraySource(X)
    swapped = model.permute(params, np.array([1, 0]))
    np.testing.assert_array_equal(swapped.weight, params.weight[::-1])
    np.testing.assert_array_equal(swapped.components.covariance, params.components.covariance)
    back = align(model, swapped, source, memberships(model, params, source))
    np.testing.assert_array_equal(back.components.mean, params.components.mean)


def test_classes_that_trade_places_do_not_inflate_errors(rng, monkeypatch):
    """Refits that come back in another order must give the errors of refits that do not."""
    import tacit.mixture.uncertainty as module

    X = separate(rng)
    fitted = GaussianMixture(2, **TIGHT).fit(X)
    plain = standard_errors(fitted, X, n_bootstrap=20, random_state=0)
    learn, count = module.fit, [0]

    def swapping(model, *arguments, **settings):
        learned = learn(model, *arguments, **settings)
        count[0] += 1
        order = np.array([1, 0]) if count[0] % 2 else np.array([0, 1])
        return type(learned)(model.permute(learned.params, order), learned.trace, learned.reason)

    monkeypatch.setattr(module, "fit", swapping)
    aligned = standard_errors(fitted, X, n_bootstrap=20, random_state=0)
    np.testing.assert_allclose(aligned.standard_error["means_"], plain.standard_error["means_"], rtol=1e-9)
    monkeypatch.setattr(module, "align", lambda model, params, source, reference: params)
    mixed = standard_errors(fitted, X, n_bootstrap=20, random_state=0)
    assert mixed.standard_error["means_"].min() > 10 * plain.standard_error["means_"].max()


def test_permuted_mixtures_are_the_same_mixture():
    X = gaussian_rows()  # four columns and four classes: a shared covariance is as long as the classes are many
    for kind in ("full", "tied", "diag", "spherical"):
        fitted = GaussianMixture(4, covariance_type=kind, random_state=0).fit(X)
        model, params, source = fitted._model(), fitted._params(), ArraySource(X)
        order = np.array([2, 0, 3, 1])
        moved = model.permute(params, order)
        np.testing.assert_allclose(memberships(model, moved, source), memberships(model, params, source)[:, order])


def test_weight_two_is_a_row_given_twice(rng):
    X = separate(rng, 100)
    weight = rng.integers(1, 3, size=100)
    twice = np.repeat(X, weight, axis=0)
    fitted = GaussianMixture(2, **TIGHT).fit(twice)
    one = standard_errors(fitted, X, method="information", sample_weight=weight)
    two = standard_errors(fitted, twice, method="information")
    np.testing.assert_allclose(one.table["standard_error"], two.table["standard_error"], rtol=1e-6)


def test_table_names_columns_and_halves_matrices():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(gaussian_rows(), columns=list("abcd"))
    fitted = GaussianMixture(2, random_state=0).fit(frame)
    found = standard_errors(fitted, frame, method="information")
    names = found.table["parameter"]
    assert len(names) == 2 + 2 * 4 + 2 * 10
    assert names[:3] == ["weights_[0]", "weights_[1]", "means_[0, a]"]
    assert "covariances_[1, b, d]" in names
    assert list(found.to_pandas().columns) == ["parameter", "estimate", "standard_error", "lower", "upper"]
    assert "by information, intervals at the level 0.95" in repr(found)
    assert found.replicates is None


def test_replicates_have_the_shapes_of_the_attributes(rng):
    X = separate(rng, 100)
    found = standard_errors(GaussianMixture(2, random_state=0).fit(X), X, n_bootstrap=5, random_state=0)
    assert found.replicates["covariances_"].shape == (5, 2, 2, 2)
    again = standard_errors(GaussianMixture(2, random_state=0).fit(X), X, n_bootstrap=5, random_state=0)
    np.testing.assert_array_equal(found.replicates["means_"], again.replicates["means_"])


def test_information_takes_a_stream(tmp_path, rng):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    X = separate(rng)
    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.table({"a": X[:, 0], "b": X[:, 1]}), path)
    fitted = GaussianMixture(2, random_state=0).fit(path)
    stream = standard_errors(fitted, path, method="information")
    array = standard_errors(GaussianMixture(2, random_state=0).fit(X), X, method="information")
    np.testing.assert_allclose(stream.table["standard_error"], array.table["standard_error"], rtol=1e-6)
    with pytest.raises(ValueError, match="method='bootstrap' takes rows in memory; use method='information'"):
        standard_errors(fitted, path)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"method": "guess"}, ValueError, "method='guess' is unknown"),
        ({"n_bootstrap": 1}, ValueError, "n_bootstrap=1 is not a whole number of at least 2"),
        ({"level": 1.0}, ValueError, "level=1.0 is not a number between 0 and 1"),
        ({"estimator": PCA()}, TypeError, "standard_errors takes a mixture learned by likelihood, .* but got PCA"),
        ({"estimator": GaussianMixture()}, NotFittedError, "not fitted"),
        ({"X": np.ones((5, 3))}, ValueError, "X has 3 features"),
        ({"method": "jackknife", "sample_weight": np.full(240, 2.0)}, ValueError, "weights must be 0 or 1"),
    ],
)
def test_bad_input(change, kind, message):
    X = gaussian_rows()
    arguments = {"estimator": GaussianMixture(2, random_state=0).fit(X), "X": X, **change}
    with pytest.raises(kind, match=message):
        standard_errors(**arguments)
