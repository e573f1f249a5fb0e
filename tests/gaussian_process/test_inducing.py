"""Inducing points: the bound and its slopes, rows from anywhere, and bad input."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import ConstantKernel as C

import tacit
from tacit.gaussian_process import GaussianProcessRegressor
from tacit.gaussian_process.covariance import expression
from tacit.gaussian_process.evidence import evidence
from tacit.gaussian_process.inducing import Inducing
from tacit.gaussian_process.kernels import RBF, Matern, WhiteKernel
from tacit.gaussian_process.pairs import Covariance
from tacit.source import ArraySource

from .rows import QUICK, differences, table

KERNEL = C(1.0) * RBF(1.0) + WhiteKernel(0.1)


@pytest.mark.parametrize("name", QUICK)
def test_the_bound_and_its_slopes(name):
    X, y = table(120)
    Y, kernel, plain = np.column_stack([y, X[:, 1]]), QUICK[name], (np.zeros(2), np.ones(2))
    tree, theta = expression(kernel), kernel.theta + 0.1
    rows = ArraySource(X, targets=Y, block_rows=50)
    few = Inducing(tree, X[:30] + 0.01, rows, 0.01, *plain)
    value, slopes = few.evidence(theta)
    expected = differences(lambda theta: few.evidence(theta, False)[0], theta)
    np.testing.assert_allclose(slopes, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
    exact = evidence(Covariance(kernel), theta, X, Y, 0.01).value
    assert value < exact
    # With all rows for points the bound is the marginal likelihood, but for the jitter.
    np.testing.assert_allclose(Inducing(tree, X.copy(), rows, 0.01, *plain).bound(theta).value, exact, rtol=1e-6)


def test_predictions_by_all_rows_are_exact_ones():
    X, y = table(80)
    exact = GaussianProcessRegressor(KERNEL, optimizer=None, normalize_y=True).fit(X, y)
    found = GaussianProcessRegressor(KERNEL, optimizer=None, normalize_y=True, inducing_points=X).fit(X, y)
    for mine, other in zip(found.predict(X + 0.2, return_std=True), exact.predict(X + 0.2, return_std=True)):
        np.testing.assert_allclose(mine, other, atol=1e-5)
    np.testing.assert_allclose(
        found.predict(X[:9], return_cov=True)[1], exact.predict(X[:9], return_cov=True)[1], atol=1e-5
    )


def test_few_points_come_near_and_back_from_a_file(tmp_path):
    X, y = table(700, d=2)
    exact = GaussianProcessRegressor(KERNEL).fit(X, y)
    found = GaussianProcessRegressor(KERNEL, inducing_points=50, random_state=0).fit(X, y)
    assert found.inducing_points_.shape == (50, 2)
    gap = exact.log_marginal_likelihood() - found.log_marginal_likelihood()
    assert 0 < gap < 0.02 * abs(exact.log_marginal_likelihood())
    assert np.sqrt(np.mean((found.predict(X) - exact.predict(X)) ** 2)) < 0.1
    value, slopes = found.evidence_bound(X, y, eval_gradient=True)
    np.testing.assert_allclose(value, found.log_marginal_likelihood())
    assert np.abs(slopes).max() < 0.5  # of a bound of hundreds: it is at its maximum
    tacit.save(found, tmp_path / "model.tacit")
    again = tacit.load(tmp_path / "model.tacit")
    np.testing.assert_array_equal(again.predict(X, return_std=True)[1], found.predict(X, return_std=True)[1])


@pytest.mark.parametrize("kind", ["parquet", "dask", "torch", "threads"])
def test_rows_from_anywhere_give_the_same(kind, tmp_path):
    X, y = table(900, d=2)
    points = X[:20]
    settings = {"inducing_points": points, "normalize_y": True, "random_state": 0}
    here = GaussianProcessRegressor(KERNEL, **settings, n_jobs=1).fit(X, y)
    if kind == "threads":
        found = GaussianProcessRegressor(KERNEL, **settings, n_jobs=2).fit(X, y)
        np.testing.assert_array_equal(found.kernel_.theta, here.kernel_.theta)
    elif kind == "torch":
        torch = pytest.importorskip("torch", reason="torch is not installed")
        found = GaussianProcessRegressor(KERNEL, **settings).fit(torch.as_tensor(X), torch.as_tensor(y))
    else:
        pandas = pytest.importorskip("pandas")
        rows = pandas.DataFrame(np.column_stack([X, y]), columns=["a", "b", "y"])
        if kind == "parquet":
            rows.to_parquet(tmp_path / "rows.parquet", row_group_size=300)
            rows = str(tmp_path / "rows.parquet")
        else:
            rows = pytest.importorskip("dask.dataframe", reason="dask is not installed").from_pandas(
                rows, npartitions=3
            )
        found = GaussianProcessRegressor(KERNEL, **settings).fit(rows, "y")
        X = X if kind == "dask" else pandas.DataFrame(X, columns=["a", "b"])
    # Where the optimiser stops depends on the sample it begins with.
    np.testing.assert_allclose(found.log_marginal_likelihood(), here.log_marginal_likelihood(), rtol=1e-6)
    np.testing.assert_allclose(found.predict(X), here.predict(np.asarray(X)), atol=2e-3)


# Bad input


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"inducing_points": 0}, "inducing_points=0 is not a whole number of at least 1"),
        ({"inducing_points": np.ones((4, 2))}, "inducing_points have 2 columns, but X has 3"),
        (
            {"kernel": RBF(), "alpha": 0.0},
            "inducing points need noise, but the kernel has no WhiteKernel and alpha is 0",
        ),
        ({"kernel": Matern(nu=0.8)}, r"kernels that are computed in tiles.*inducing_points=None for the kernel Matern"),
        ({"alpha": np.ones(40)}, "and one alpha; leave inducing_points=None for an alpha of each row"),
    ],
)
def test_bad_settings(settings, told):
    with pytest.raises(ValueError, match=told):
        GaussianProcessRegressor(**{"inducing_points": 5, **settings}).fit(*table(40))


def test_rows_are_not_kept():
    model = GaussianProcessRegressor(inducing_points=5, optimizer=None).fit(*table(40))
    with pytest.raises(ValueError, match=r"rows are not kept; give them to evidence_bound\(X, y, theta\)"):
        model.log_marginal_likelihood(model.kernel_.theta)
