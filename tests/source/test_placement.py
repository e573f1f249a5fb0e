"""Rows of arrays and files on a device: the same answers, wherever they are; tensors of the CPU stand in for it."""

import numpy as np
import pytest
from sklearn.base import clone

from tacit.cluster import KMeans
from tacit.impute import GaussianImputer
from tacit.mixture import GaussianMixture, Mixture, MixtureModel
from tacit.source import ArraySource, Block, as_source, check_device, placement

from ..zoo import gaussian_rows, mixed_rows, with_missing

torch = pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture
def device(monkeypatch):
    """Every setting but None means tensors on the CPU."""
    monkeypatch.setattr(placement, "_target", lambda source, device: device and torch.device("cpu"))
    return "cpu"


@pytest.mark.parametrize(
    "estimator", [GaussianMixture(3, random_state=0), KMeans(3, random_state=0)], ids=lambda e: type(e).__name__
)
def test_arrays_on_a_device(device, estimator):
    X, weight = with_missing(gaussian_rows()), np.linspace(0.5, 2.0, 240)
    here, there = clone(estimator), clone(estimator).set_params(device=device)
    here.fit(X, sample_weight=weight), there.fit(X, sample_weight=weight)
    np.testing.assert_allclose(there.fit_.trace.objectives, here.fit_.trace.objectives, rtol=1e-9)
    np.testing.assert_array_equal(there.predict(X), here.predict(X))
    assert clone(there).device == device
    assert all(isinstance(value, np.ndarray) for value in there.fit_.params.to_dict().values())


@pytest.mark.parametrize("kept", [True, False])
def test_files_on_a_device(device, kept, monkeypatch, tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X = with_missing(gaussian_rows())
    names = {f"c{j}": X[:, j] for j in range(X.shape[1])} | {"w": np.linspace(0.5, 2.0, len(X))}
    parquet.write_table(arrow.table(names), tmp_path / "rows.parquet")
    monkeypatch.setattr(placement, "_fits", lambda source, device: kept)
    monkeypatch.setattr(placement, "ROWS_TOGETHER", 100)
    here, there = GaussianMixture(3, random_state=0), GaussianMixture(3, random_state=0, device=device)
    for mixture in (here, there):
        mixture.fit(str(tmp_path / "rows.parquet"), sample_weight="w")
    np.testing.assert_allclose(there.fit_.trace.objectives, here.fit_.trace.objectives, rtol=1e-9)
    assert list(there.feature_names_in_) == ["c0", "c1", "c2", "c3"]


def test_tables_as_tensors():
    X = mixed_rows()
    mixture = Mixture(3, by_column={0: "poisson", 2: "categorical", 4: "categorical"}, random_state=0)
    here, there = clone(mixture).fit(X), clone(mixture).fit(torch.tensor(X))
    np.testing.assert_allclose(there.fit_.trace.objectives, here.fit_.trace.objectives, rtol=1e-9)


def test_labels_weights_and_checkpoints_of_tensors(tmp_path):
    X = with_missing(gaussian_rows())
    y, weight = np.where(np.arange(240) % 5, -1, np.arange(240) % 3), np.linspace(0.5, 2.0, 240)
    here = GaussianMixture(3, random_state=0).fit(X, y, weight)
    there = GaussianMixture(3, random_state=0).fit(
        *map(torch.tensor, (X, y, weight)), checkpoint=tmp_path / "a", checkpoint_every=0.0
    )
    np.testing.assert_allclose(there.means_, here.means_, rtol=1e-9)
    np.testing.assert_allclose(
        GaussianImputer().fit(torch.tensor(X)).transform(torch.tensor(X)),
        GaussianImputer().fit(X).transform(X),
        rtol=1e-7,
    )


def test_rows_of_a_tensor_are_used_where_they_are():
    X = torch.tensor(gaussian_rows())
    assert as_source(ArraySource(X.numpy()), device="cpu").X is not None
    assert GaussianMixture(2)._open(X, reset=True).X.data_ptr() == X.data_ptr()


def test_small_tables_and_machines_without_a_gpu_stay_on_the_cpu():
    X = gaussian_rows()
    source = as_source(X, device="auto")
    assert source.device is None
    assert as_source(source, device="cpu") is source


def test_starts_of_a_device_find_what_others_find(monkeypatch):
    from tacit.engine import fit
    from tacit.families import FullGaussian
    from tacit.mixture import batched

    monkeypatch.setattr(batched, "DEVICES", ("cpu",))
    X = gaussian_rows(400, 3, 4)
    block, model = Block.of(X), MixtureModel(FullGaussian(), 4)
    assert batched.can_batch(model, block, torch.device("cpu"))
    ends = []
    for seed in range(3):
        params, _ = batched.batched_start(model, block, np.random.default_rng(seed), torch.device("cpu"))
        ends.append(fit(model, ArraySource(X), params, max_iter=200, tol=1e-8).trace.per_weight[-1])
    truth = GaussianMixture(4, random_state=0, tol=1e-8, max_iter=500).fit(X).lower_bound_
    assert max(ends) >= truth - 1e-5
    assert min(ends) >= truth - 1e-2


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("gpu", "device='gpu' is unknown; use 'auto', 'cpu', 'cuda', 'cuda:0' (1, …) or None."),
        ("cpu:1", "device='cpu:1' is unknown; use 'auto', 'cpu', 'cuda', 'cuda:0' (1, …) or None."),
        ("cuda:99", "device='cuda:99', but torch finds "),
    ],
)
def test_devices_that_are_not_there(value, message):
    with pytest.raises(ValueError) as error:
        GaussianMixture(2, device=value).fit(gaussian_rows())
    assert str(error.value).startswith(message)


def test_without_torch_the_error_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"device='cuda' needs torch; install it with: pip install 'tacit\[gpu\]'"):
        check_device("cuda")
