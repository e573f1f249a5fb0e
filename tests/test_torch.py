"""Fits on tensors: the same engine, the same models and the same answers as on arrays."""

import warnings
from functools import partial

import numpy as np
import pytest

from tacit.engine import fit
from tacit.families import FullGaussian
from tacit.mixture import GaussianMixture, MixtureModel
from tacit.source import ArraySource
from tacit.testing import close

from .zoo import LEARNERS, MODELS, PARAMETRISATIONS, gaussian_rows, some, with_missing

torch = pytest.importorskip("torch", reason="torch is not installed")
TorchSource = pytest.importorskip("tacit.source.torch").TorchSource

ON_TENSORS = [*PARAMETRISATIONS, "k-means", "k-medians", "soft k-means"]
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def learn(model, source, start, max_iter=20):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return fit(model, source, start, max_iter=max_iter, tol=0.0)


def same_fit(model, X, weight, labels, device, **settings):
    """Fit on arrays and on tensors from one start."""
    arrays, tensors = ArraySource(X, weight, labels), TorchSource(X, weight, labels, device=device, **settings)
    start = model.init(arrays.sample(len(X), np.random.default_rng(0)), np.random.default_rng(0))
    base, other = learn(model, arrays, start), learn(model, tensors, start)
    close(base.params, other.params, 1e-10, "parameters on tensors")
    np.testing.assert_allclose(other.trace.objectives, base.trace.objectives, rtol=1e-11)
    return start, other


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize("name", some(LEARNERS, ON_TENSORS))
def test_fit(name, holes, device):
    model, rows = LEARNERS[name]
    same_fit(model, with_missing(rows(), holes), None, None, device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", some(MODELS, PARAMETRISATIONS))
def test_fit_with_weights_and_labels(name, device):
    model, rows = MODELS[name]
    rng = np.random.default_rng(3)
    X = with_missing(rows(), 0.1)
    labels = np.where(rng.random(len(X)) < 0.2, rng.integers(model.n_components, size=len(X)), -1)
    weight = rng.uniform(0.2, 3.0, len(X))
    start, whole = same_fit(model, X, weight, labels, device)
    small = learn(model, TorchSource(X, weight, labels, device=device, block_rows=17), start)
    close(small.params, whole.params, 1e-10, "block size does not matter")
    twice = learn(model, TorchSource(np.vstack([X, X]), np.tile(weight, 2), np.tile(labels, 2), device=device), start)
    double = learn(model, TorchSource(X, 2.0 * weight, labels, device=device), start)
    close(twice.params, double.params, 1e-10, "weight 2 equals the row given twice")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", LEARNERS)
def test_posterior_is_numpy(name, device):
    model, rows = LEARNERS[name]
    X = with_missing(rows(), 0.1)
    source = ArraySource(X)
    params = model.init(source.sample(len(X), np.random.default_rng(0)), np.random.default_rng(0))
    expected = [np.concatenate(part) for part in zip(*source.map(partial(model.posterior, params)))]
    tensors = TorchSource(X, device=device, block_rows=50)
    found = [np.concatenate(part) for part in zip(*tensors.map(partial(model.posterior, params)))]
    for a, b in zip(expected, found):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
def test_missing_cells_are_completed_and_drawn(device):
    X = with_missing(gaussian_rows())
    model = MixtureModel(FullGaussian(), 3)
    block = ArraySource(X).sample(len(X), np.random.default_rng(0))
    params = model.init(block, np.random.default_rng(0))
    (tensors,) = TorchSource(X, device=device, block_rows=len(X))
    resp, family = model.posterior(params, block)[0], model.family
    for a, b in zip(
        family.complete(params.components, block, resp, return_cov=True),
        family.complete(params.components, tensors, resp, return_cov=True),
    ):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)
    draws = [family.draw(params.components, b, resp, 2, np.random.default_rng(1)) for b in (block, tensors)]
    np.testing.assert_allclose(draws[1], draws[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
def test_float32_rows_are_computed_on_in_float64(device):
    X = gaussian_rows().astype(np.float32)
    model = MixtureModel(FullGaussian(), 3)
    start = model.init(ArraySource(X).sample(len(X), np.random.default_rng(0)), np.random.default_rng(0))
    single = learn(model, TorchSource(X, device=device), start)
    double = learn(model, ArraySource(X.astype(np.float64)), start)
    close(single.params, double.params, 1e-10, "float32 rows")


def test_a_block_without_memory_is_cut_in_two():
    X = with_missing(gaussian_rows(), 0.1)
    model = MixtureModel(FullGaussian(), 3)
    start = model.init(ArraySource(X).sample(len(X), np.random.default_rng(0)), np.random.default_rng(0))
    expected = ArraySource(X).sum(partial(model.e_step, start))
    tried = []

    def e_step(block):
        tried.append(len(block))
        if len(block) > 70:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
        return model.e_step(start, block)

    source = TorchSource(X, block_rows=len(X))
    close(source.sum(e_step), expected, 1e-10, "statistics of halved blocks")
    assert tried == [240, 120, 60, 60, 120, 60, 60]
    assert source.n_blocks == 4
    source.sum(e_step)
    assert len(tried) == 7 + 4, "what was cut stays cut"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_scarce_memory_on_a_gpu():
    X = gaussian_rows(200_000, 32)
    model = MixtureModel(FullGaussian(), 3)
    start = model.init(ArraySource(X[:1000]).sample(1000, np.random.default_rng(0)), np.random.default_rng(0))
    source = TorchSource(X, device="cuda")
    expected = source.sum(partial(model.e_step, start))
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 300e6) / total)
    try:
        close(source.sum(partial(model.e_step, start)), expected, 1e-10, "statistics of halved blocks")
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert source.n_blocks > 1


def test_memory_that_does_not_suffice_for_one_row_is_an_error():
    def fail(block):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory.")

    with pytest.raises(torch.cuda.OutOfMemoryError, match="out of memory"):
        TorchSource(gaussian_rows(8)).sum(fail)


def test_sources_agree_on_samples():
    X, weight = with_missing(gaussian_rows()), np.where(np.arange(240) % 3, 1.0, 0.0)
    a = ArraySource(X, weight).sample(50, np.random.default_rng(0))
    b = TorchSource(torch.as_tensor(X), weight).sample(50, np.random.default_rng(0))
    np.testing.assert_array_equal(a.X, b.X)
    np.testing.assert_array_equal(a.weight, b.weight)
    np.testing.assert_array_equal(a.labels, b.labels)


def test_whole_numbers_become_float64():
    assert TorchSource(torch.ones((4, 2), dtype=torch.int64)).X.dtype == torch.float64


def test_without_torch_the_error_names_the_extra(monkeypatch):
    import importlib
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "tacit.source.torch")
    with pytest.raises(ImportError, match=r"pip install 'tacit\[gpu\]'"):
        importlib.import_module("tacit.source.torch")


def test_estimators_take_tensors():
    X = with_missing(gaussian_rows())
    tensor = torch.tensor(X)
    array, same = (GaussianMixture(3, random_state=0).fit(rows) for rows in (X, tensor))
    np.testing.assert_allclose(same.means_, array.means_, rtol=1e-10)
    np.testing.assert_allclose(same.predict_proba(tensor), array.predict_proba(X), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(same.impute(tensor), array.impute(X), rtol=1e-8)
    single = GaussianMixture(3, random_state=0).fit(tensor.float(), sample_weight=np.full(len(X), 2.0))
    assert single.means_.dtype == single.predict_proba(tensor.float()).dtype == np.float32
    np.testing.assert_allclose(single.means_, array.means_, rtol=1e-3, atol=1e-3)


def test_infinity_in_a_tensor_is_an_error():
    with pytest.raises(ValueError, match="X contains infinity"):
        GaussianMixture().fit(torch.tensor([[1.0, 2.0], [3.0, float("inf")], [0.0, 1.0]]))
