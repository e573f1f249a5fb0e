"""The same rows from every kind of source give the same fit, for every model."""

import numpy as np
import pytest
from sklearn.base import clone

from tacit.engine import fit
from tacit.mixture import BayesianGaussianMixture, GaussianMixture
from tacit.source import ArraySource, DaskSource, ParquetSource
from tacit.testing import close

from ..zoo import LEARNERS, gaussian_rows, with_holes


def parquet(X, folder):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {f"x{j}": pa.array(column, from_pandas=True) for j, column in enumerate(X.T)}
    parquet.write_table(pa.table(columns), folder / "rows.parquet", row_group_size=50)
    return ParquetSource(folder / "rows.parquet", block_rows=64)


def dask(X, folder):
    return DaskSource(pytest.importorskip("dask.array").from_array(X, chunks=(90, -1)))


def tensor(X, folder):
    pytest.importorskip("torch")
    from tacit.source.torch import TorchSource

    return TorchSource(X, block_rows=70)


def memmap(X, folder):
    np.save(folder / "rows.npy", X)
    return ArraySource(np.load(folder / "rows.npy", mmap_mode="r"), block_rows=33)


SOURCES = [parquet, dask, tensor, memmap]


@pytest.mark.parametrize("holes", [False, True], ids=["complete", "holes"])
@pytest.mark.parametrize("make", SOURCES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("name", LEARNERS)
def test_every_source_gives_the_same_fit(name, make, holes, tmp_path):
    model, rows = LEARNERS[name]
    X = with_holes(rows()) if holes else rows()
    rng = np.random.default_rng(0)
    start = model.init(ArraySource(X).sample(len(X), rng), rng)
    expected, found = (
        fit(model, source, start, max_iter=12, tol=0.0, accelerate=None)
        for source in (ArraySource(X), make(X, tmp_path))
    )
    close(found.params, expected.params, 1e-10, f"fit from {make.__name__}")
    np.testing.assert_allclose(found.trace.objectives, expected.trace.objectives, rtol=1e-12)


@pytest.mark.parametrize(
    "estimator", [GaussianMixture(3), BayesianGaussianMixture(5)], ids=lambda one: type(one).__name__
)
@pytest.mark.parametrize("make", SOURCES, ids=lambda make: make.__name__)
def test_the_same_estimator_gives_the_same_result(make, estimator, tmp_path):
    X = with_holes(gaussian_rows())
    array, other = (clone(estimator).set_params(random_state=0).fit(rows) for rows in (X, make(X, tmp_path)))
    np.testing.assert_allclose(other.means_, array.means_, rtol=1e-10)
    np.testing.assert_allclose(other.covariances_, array.covariances_, rtol=1e-8)
