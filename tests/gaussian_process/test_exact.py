"""Exact regression: the marginal likelihood and its slopes, predictions, noise, memory and bad input."""

import re
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor as Theirs

import tacit
from tacit.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor, pairs
from tacit.gaussian_process.covariance import expression
from tacit.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern, WhiteKernel

from .rows import GENERIC, KERNELS, NOISE, QUICK, differences, table


@pytest.fixture(params=[256, 32])
def tiles(request, monkeypatch):
    monkeypatch.setattr(pairs, "TILE", request.param)


@pytest.mark.parametrize("name", KERNELS)
def test_slopes_are_those_of_differences_and_values_those_of_scikit_learn(name, tiles):
    X, y = table()
    Y, kernel = np.column_stack([y, X[:, 1]]), KERNELS[name]
    assert (expression(kernel) is None) == (name in GENERIC)
    ours, theirs = (kind(kernel, alpha=0.01, optimizer=None).fit(X, Y) for kind in (GaussianProcessRegressor, Theirs))
    theta = kernel.theta + 0.1
    value, slopes = ours.log_marginal_likelihood(theta, eval_gradient=True)
    np.testing.assert_allclose(value, theirs.log_marginal_likelihood(theta), rtol=1e-10)
    rtol = 1e-6 if name in QUICK else 1e-4  # scikit-learn's slope of Matern of other orders is a difference itself
    expected = differences(ours.log_marginal_likelihood, theta)
    np.testing.assert_allclose(slopes, expected, rtol=rtol, atol=rtol * np.abs(expected).max())
    for mine, other in zip(ours.predict(X[:9] + 0.1, return_std=True), theirs.predict(X[:9] + 0.1, return_std=True)):
        np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        ours.predict(X[:9], return_cov=True)[1], theirs.predict(X[:9], return_cov=True)[1], rtol=1e-8, atol=1e-9
    )


def test_threads_and_tiles_change_nothing(monkeypatch):
    X, y = table(150)
    found = []
    for size, n_jobs in ((256, 1), (40, 1), (40, 2)):
        monkeypatch.setattr(pairs, "TILE", size)
        model = GaussianProcessRegressor(QUICK["matern 3"], n_jobs=n_jobs).fit(X, y)
        found.append(np.append(model.kernel_.theta, model.predict(X[:20])))
    np.testing.assert_array_equal(found[1], found[2])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-4)


def test_it_learns_what_scikit_learn_learns_and_comes_back_from_a_file(tmp_path):
    X, y = table(60)
    kernel = ConstantKernel() * RBF([1.0] * 3) + WhiteKernel()
    ours, theirs = (kind(kernel, normalize_y=True).fit(X, y) for kind in (GaussianProcessRegressor, Theirs))
    assert ours.log_marginal_likelihood() >= theirs.log_marginal_likelihood() - 1e-6
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-2)
    tacit.save(ours, tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    np.testing.assert_array_equal(again.predict(X, return_std=True)[1], ours.predict(X, return_std=True)[1])
    assert again.kernel_ == ours.kernel_


def test_noise_of_groups_is_learned():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 6, (300, 1))
    group = np.array(["calm", "loud"])[(rng.random(300) < 0.5).astype(int)]
    y = np.sin(X[:, 0]) + np.where(group == "loud", 1.0, 0.1) * rng.normal(size=300)
    model = GaussianProcessRegressor(RBF()).fit(X, y, noise_groups=group)
    assert model.noise_groups_.tolist() == ["calm", "loud"]
    np.testing.assert_allclose(np.sqrt(model.noise_levels_), [0.1, 1.0], rtol=0.15)
    given = GaussianProcessRegressor(model.kernel_, alpha=np.where(group == "loud", 1.0, 0.01), optimizer=None).fit(
        X, y
    )
    np.testing.assert_allclose(model.predict(X), given.predict(X), atol=0.05)

    # The noise of groups is at its maximum as well as the kernel.
    def with_levels(logs):
        alpha = 1e-10 + np.exp(logs)[(group == "loud").astype(int)]
        return GaussianProcessRegressor(model.kernel_, alpha=alpha, optimizer=None).fit(X, y).log_marginal_likelihood()

    assert np.abs(differences(with_levels, np.log(model.noise_levels_), 1e-4)).max() < 0.05


def test_rows_from_files_are_those_in_memory(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = table(70)
    path = tmp_path / "rows.parquet"
    pandas.DataFrame(np.column_stack([X, y]), columns=["a", "b", "c", "y"]).to_parquet(path)
    kernel = RBF() + WhiteKernel()
    read = GaussianProcessRegressor(kernel).fit(str(path), "y")
    np.testing.assert_allclose(read.predict(X), GaussianProcessRegressor(kernel).fit(X, y).predict(X), rtol=1e-9)


# Bad input


def test_a_matrix_that_memory_does_not_hold(monkeypatch):
    monkeypatch.setattr(pairs, "machine_memory", lambda: 1e4)
    X, y = table(50)
    told = "50 rows have 1 matrix of all pairs, 2e+04 bytes, but this machine has 1e+04 bytes of memory; set inducing_points=500"
    with pytest.raises(MemoryError, match=re.escape(told)):
        GaussianProcessRegressor().fit(X, y)


def test_missing_cells_are_refused_with_a_remedy():
    X, y = table(20)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN \(row 3, column 1\), and a kernel needs every cell: impute them first"):
        GaussianProcessRegressor().fit(X, y)


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        ({"alpha": -1.0}, ValueError, "alpha holds -1; variances of noise must be finite and not negative"),
        ({"alpha": np.ones(3)}, ValueError, r"same number of entries as y. \(3 != 20\)"),
        ({"kernel": "rbf"}, TypeError, "kernel='rbf' is no kernel; take one of tacit.gaussian_process.kernels"),
        ({"optimizer": "adam"}, ValueError, "optimizer='adam' is unknown; use one of 'fmin_l_bfgs_b'"),
        ({"n_restarts_optimizer": -1}, ValueError, "n_restarts_optimizer=-1 is not a whole number of at least 0"),
        ({"n_targets": 2}, ValueError, "Got 1 != 2"),
        ({"kernel": RBF([1.0, 2.0])}, ValueError, r"same number of dimensions as data \(2!=3\)"),
    ],
)
def test_bad_settings(settings, error, told):
    with pytest.raises(error, match=told):
        GaussianProcessRegressor(**settings).fit(*table(20))


def test_weights_are_refused_with_a_remedy():
    X, y = np.arange(6.0)[:, None], np.arange(6.0)
    with pytest.raises(TypeError, match=r"takes no sample_weight; .* set alpha=variance / sample_weight"):
        GaussianProcessRegressor().fit(X, y, sample_weight=np.ones(6))
    with pytest.raises(TypeError, match=r"takes no sample_weight; repeat rows, or use RelevanceVectorClassifier"):
        GaussianProcessClassifier().fit(X, y > 2, sample_weight=np.ones(6))


def test_groups_of_other_rows():
    X, y = table(20)
    with pytest.raises(ValueError, match=r"noise_groups has shape \(3,\), but X has 20 rows"):
        GaussianProcessRegressor().fit(X, y, noise_groups=[1, 2, 3])


def test_a_kernel_that_is_not_positive_definite():
    X = np.repeat(np.arange(3.0)[:, None], 2, axis=0)
    with pytest.raises(
        np.linalg.LinAlgError, match=r"is not returning a positive definite matrix.*increasing the 'alpha'"
    ):
        GaussianProcessRegressor(DotProduct(), alpha=0.0, optimizer=None).fit(X, np.arange(6.0))


def test_one_row_and_a_constant_target():
    model = GaussianProcessRegressor(RBF(), alpha=0.1, optimizer=None).fit([[1.0]], [2.0])
    np.testing.assert_allclose(model.predict([[1.0]]), 2.0 / 1.1)
    X, _ = table(20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        flat = GaussianProcessRegressor(RBF() + NOISE, normalize_y=True).fit(X, np.full(20, 7.5))
    mean, std = flat.predict(X, return_std=True)
    np.testing.assert_allclose(mean, 7.5)
    assert (std < 0.1).all()


def test_hyperparameters_at_their_bounds_are_told():
    X, y = table(40)
    with pytest.warns(ConvergenceWarning, match="length_scale is close to the specified upper bound 0.01"):
        GaussianProcessRegressor(Matern(0.01, (1e-3, 1e-2)) + NOISE).fit(X, y)
