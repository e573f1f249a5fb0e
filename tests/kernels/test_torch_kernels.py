"""Kernels on tensors against the reference: every name, every mode, with missing values, labels and weights."""

import copy

import numpy as np
import pytest

from tacit.families import Categorical, DiagonalGaussian, FullGaussian, StudentT, TiedGaussian
from tacit.kernels import EXPECT, KERNELS, MOMENTS, SCORE, backend, kernel
from tacit.source import Block, Patterns
from tacit.source.torch import TorchSource
from tests.kernels.reference import reference_of

from ..zoo import N_LEVELS, category_rows, count_rows, gaussian_rows, with_missing
from .test_kernels import CASES, agree, make_world

torch = pytest.importorskip("torch", reason="torch is not installed")

MODES = {"score": SCORE, "moments": MOMENTS, "expect": EXPECT}
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def implementation(name, which):
    return reference_of(name) if which == "reference" else kernel(name, which)


def rows_context(n, n_classes, rng):
    """Class weights, row weights, labels and responsibilities."""
    labels = np.where(rng.random(n) < 0.3, rng.integers(n_classes, size=n), -1)
    return np.log(rng.dirichlet(np.ones(n_classes))), rng.uniform(0.0, 3.0, n), labels, rng.random((n_classes, n))


def compare(name, X, arguments, mode, shapes, device, *, rtol=1e-10):
    """Run a kernel on tensors and in plain NumPy, and compare all that comes out."""
    rng, n_classes = np.random.default_rng(5), shapes[0][0]
    log_weight, weight, labels, resp = rows_context(len(X), n_classes, rng)
    results = []
    for which in ("reference", "torch"):
        out = resp.copy() if mode == MOMENTS else np.zeros_like(resp)
        moments = [np.full(shape, 0.5) for shape in shapes]
        data = X, weight, labels, out
        if which == "torch":
            data = [torch.as_tensor(value.copy(), device=device) for value in data]
        rest = mode, log_weight, data[1], data[2], data[3]
        loglik = implementation(name, which)(data[0], *arguments, *rest, *moments)
        results.append([np.asarray(loglik), data[3] if which == "reference" else data[3].cpu().numpy(), *moments])
    for a, b in zip(*results):
        np.testing.assert_allclose(b, a, rtol=rtol, atol=rtol * max(1.0, np.abs(a).max()))


def gaussian_case(family, X, n_classes=3):
    block = Block.of(np.asarray(X, dtype=np.float64))
    resp = np.random.default_rng(2).dirichlet(np.full(n_classes, 0.3), len(X))
    params = family.start(block, resp)
    return family.m_step(family.stats(params, block, resp), params), block.patterns


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("d", [1, 4, 33, 97])
def test_full(d, mode, dtype, device):
    X = gaussian_rows(400, d).astype(dtype)
    params, patterns = gaussian_case(FullGaussian(floor=1e-2), X)
    arguments = patterns.rows, params.origin, *params.form
    compare("full", X, arguments, MODES[mode], [(3,), (3, d), (3, d, d)], device)
    # A part of the rows, in any order.
    part = np.random.default_rng(0).permutation(len(X))[:150]
    compare("full", X, (part, *arguments[1:]), MODES[mode], [(3,), (3, d), (3, d, d)], device)


def student_shapes(d):
    return [(3,), (3,), (3,), (3, d), (3, d, d)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("d", [1, 4, 33, 97])
def test_student(d, mode, device):
    X = gaussian_rows(400, d)
    params, patterns = gaussian_case(StudentT(floor=1e-2), X)
    for rows in (patterns.rows, np.random.default_rng(0).permutation(len(X))[:150]):
        arguments = rows, params.origin, *params.form, *params.tables
        compare("student", X, arguments, MODES[mode], student_shapes(d), device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mode", MODES)
def test_student_rows_with_holes(mode, device):
    X = with_missing(gaussian_rows(400, 5), 0.4)
    X[7] = np.nan
    params, patterns = gaussian_case(StudentT(), X)
    holes = patterns.incomplete
    arguments = holes.rows, holes.starts, holes.missing, *params.posterior, *params.tables
    compare("student_conditional", X, arguments, MODES[mode], student_shapes(5), device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["full", "diag"])
def test_a_tight_class_far_from_the_origin_keeps_its_digits(name, device):
    X = np.vstack([gaussian_rows(200), 40.0 + 1e-4 * np.random.default_rng(0).normal(size=(200, 4))])
    family = {"full": FullGaussian(floor=0.0), "diag": DiagonalGaussian(floor=0.0)}[name]
    block, resp = Block.of(X), np.eye(2)[np.repeat([0, 1], 200)]
    start = family.start(block, resp)
    params = family.m_step(family.stats(start, block, resp), start)
    assert (params.form[1] ** 2).sum(axis=1).max() > 1e8, "the expanded square would lose eight digits"
    if name == "full":
        arguments, shapes = (block.patterns.rows, params.origin, *params.form), [(2,), (2, 4), (2, 4, 4)]
    else:
        arguments = block.patterns.rows, params.origin, *params.form, True
        shapes = [(2,), (2, 4), (2, 4), (2, 4)]
    compare(name, X, arguments, SCORE, shapes, device)
    compare(name, X, arguments, EXPECT, shapes, device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mode", MODES)
def test_tied(mode, device):
    X = gaussian_rows(400)
    params, patterns = gaussian_case(TiedGaussian(), X)
    compare("tied", X, (patterns.rows, params.origin, *params.form), MODES[mode], [(3,), (3, 4)], device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("holes", [0.0, 0.3])
@pytest.mark.parametrize("mode", MODES)
def test_diag(mode, holes, device):
    X = with_missing(gaussian_rows(400), holes)
    params, patterns = gaussian_case(DiagonalGaussian(), X)
    arguments = patterns.rows, params.origin, *params.form, holes == 0
    compare("diag", X, arguments, MODES[mode], [(3,), (3, 4), (3, 4), (3, 4)], device)


def holed_rows(d):
    X = with_missing(gaussian_rows(700, d), 0.3)
    X[:3] = np.nan  # nothing observed
    X[300:, 0] = np.nan  # one pattern for more rows than share a factor
    X[300:, 1:] = gaussian_rows(700, d)[300:, 1:]
    return X


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("d", [2, 4, 9])
def test_conditional(d, mode, device):
    X = holed_rows(d)
    params, patterns = gaussian_case(FullGaussian(floor=1e-3), X)
    holes = patterns.incomplete
    arguments = holes.rows, holes.starts, holes.missing, *params.posterior
    compare("conditional", X, arguments, MODES[mode], [(3,), (3, d), (3, d, d)], device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["complete", "draw"])
def test_what_is_missing(name, device):
    X, rng = holed_rows(4), np.random.default_rng(1)
    params, patterns = gaussian_case(FullGaussian(floor=1e-3), X)
    holes = patterns.incomplete
    n, d = X.shape
    resp = np.ascontiguousarray(rng.dirichlet(np.ones(3), n).T)
    results = []
    for which in ("reference", "torch"):
        if name == "complete":
            data, outs = (resp,), (X.copy(), np.zeros((n, d, d)))
        else:
            noise_rng = np.random.default_rng(3)
            classes, noise = noise_rng.integers(3, size=(2, n)), noise_rng.standard_normal((2, n, d))
            data, outs = (classes, noise), (np.repeat(X[None], 2, axis=0),)
        table = X if which == "reference" else torch.as_tensor(X, device=device)
        implementation(name, which)(table, holes.rows, holes.starts, holes.missing, *params.posterior, *data, *outs)
        results.append(outs)
    for a, b in zip(*results):
        assert not np.isnan(b).any()
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("based", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_linear(mode, based, device):
    X, rng = with_missing(count_rows(), 0.2), np.random.default_rng(4)
    slope, offset = rng.normal(size=(2, 3, 4))
    base = rng.normal(size=len(X)) if based else np.empty(0)
    compare("linear", X, (slope, offset, base), MODES[mode], [(3,), (3, 4), (3, 4)], device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("mode", MODES)
def test_levels(mode, device):
    X = with_missing(category_rows(), 0.2)
    block, resp = Block.of(X), np.random.default_rng(0).dirichlet(np.ones(3), len(X))
    params = Categorical(N_LEVELS).start(block, resp)
    compare("levels", X, (N_LEVELS, params.log_probability), MODES[mode], [(3,), (3, sum(N_LEVELS))], device)


@pytest.mark.parametrize("which", ["cpu", "torch"])
def test_log_factorial_and_scatter(which):
    X, weight = with_missing(count_rows(), 0.2), np.random.default_rng(0).random(240)
    table = torch.as_tensor(X) if which == "torch" else X
    found = kernel("log_factorial", which)(table)
    np.testing.assert_allclose(np.asarray(found), reference_of("log_factorial")(X), rtol=1e-12)
    rows, origin = Patterns.of(X).complete, np.arange(4.0)
    expected = reference_of("scatter")(X, rows, origin, weight)
    row_weight = torch.as_tensor(weight) if which == "torch" else weight
    for found, wanted in zip(kernel("scatter", which)(table, rows, origin, row_weight), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("n_classes", [1, 3, 130])
def test_normalise(n_classes, device):
    rng = np.random.default_rng(0)
    log_weight, weight, labels, _ = rows_context(500, n_classes, rng)
    joint, evidence = 300.0 * rng.normal(size=(n_classes, 500)), np.empty(500)
    rows = torch.as_tensor(joint.copy(), device=device)
    found = torch.empty(500, dtype=torch.float64, device=device)
    loglik = kernel("normalise", "torch")(rows, log_weight, weight, labels, found)
    expected = reference_of("normalise")(joint, log_weight, weight, labels, evidence)
    np.testing.assert_allclose(loglik, expected, rtol=1e-12)
    np.testing.assert_allclose(rows.cpu().numpy(), joint, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(found.cpu().numpy(), evidence, rtol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "d", "n_centers"), [("float64", 3, 5), ("float32", 8, 2), ("float32", 50, 70)])
@pytest.mark.parametrize("name", ["lloyd", "lloyd_cells", "distances", "misfit", "column_sums"])
def test_clusters(name, dtype, d, n_centers, device):
    """Cells, row weights and labels are tensors; what is small comes and goes as arrays."""
    for arguments in CASES[name](make_world(dtype, d, n_centers)):
        copies = copy.deepcopy(arguments)
        on_device = {0, {"lloyd": 2, "lloyd_cells": 2}.get(name, 1 if name != "distances" else 0)}
        on_device |= {"lloyd": {9}, "lloyd_cells": {5}}.get(name, set())
        given = [
            torch.as_tensor(value, device=device) if place in on_device else value
            for place, value in enumerate(copy.deepcopy(arguments))
        ]
        found, expected = kernel(name, "torch")(*given), reference_of(name)(*copies)
        rtol = 1e-10 if dtype == "float64" else 5e-5
        agree(0.0 if found is None else found, 0.0 if expected is None else expected, rtol, name)
        for place, (value, other) in enumerate(zip(given, copies)):
            if isinstance(other, np.ndarray):
                agree(
                    np.asarray(value.cpu() if place in on_device else value), other, rtol, f"argument {place} of {name}"
                )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["square_gaps", "decay", "weigh_gaps"])
def test_gaps(name, device):
    for arguments in CASES[name](make_world("float64", 5, 4)):
        copies = copy.deepcopy(arguments)
        given = [
            torch.as_tensor(value, device=device) if isinstance(value, np.ndarray) and value.ndim > 1 else value
            for value in copy.deepcopy(arguments)
        ]
        kernel(name, "torch")(*given)
        reference_of(name)(*copies)
        found = given[-1] if isinstance(given[-1], np.ndarray) else given[-1].cpu().numpy()
        agree(found, copies[-1], 1e-10, name)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_softmax(dtype, device):
    for arguments in CASES["softmax"](make_world(dtype, 8, 5)):
        copies = copy.deepcopy(arguments)
        X, slope, offset, codes, weight, *sums = copy.deepcopy(arguments)
        rows = (torch.as_tensor(value, device=device) for value in (X, codes, weight))
        X, codes, weight = rows
        found = kernel("softmax", "torch")(X, slope, offset, codes, weight, *sums)
        agree(found, reference_of("softmax")(*copies), 1e-10, "the log-likelihood")
        for actual, wanted in zip(sums, copies[5:]):
            agree(actual, wanted, 1e-10, "sums")


def test_small_chunks_change_nothing(monkeypatch):
    from tacit.kernels import torch_pass

    monkeypatch.setattr(torch_pass, "CPU_BUDGET", 1)
    test_full(4, "expect", np.float64, "cpu")
    test_diag("moments", 0.3, "cpu")
    test_conditional(4, "expect", "cpu")
    test_what_is_missing("complete", "cpu")
    test_softmax("float64", "cpu")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["centre_moments", "clip", "project", "roots", "within"])
def test_stacks_of_covariances(name, device):
    stacks = {"clip": (0,), "roots": (0,), "project": (1,), "within": (0,), "centre_moments": (3,)}[name]
    for arguments in CASES[name](make_world("float64", 5, 3)):
        there = [torch.tensor(v, device=device) if i in stacks else v for i, v in enumerate(arguments)]
        found, expected = kernel(name, "torch")(*there), reference_of(name)(*arguments)
        assert (found is None) == (expected is None)
        pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
        for a, b in pairs if expected is not None else ():
            agree(a.cpu().numpy() if isinstance(a, torch.Tensor) else a, b, 1e-9, name)


def test_narrow_classes_are_whitened_and_others_are_not():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 3)), 40.0 + 1e-3 * rng.normal(size=(60, 3))])
    block = Block.of(X)
    family = FullGaussian(floor=1e-12)
    params = family.params(
        np.array([np.zeros(3), np.full(3, 40.0)]), np.array([np.eye(3), 1e-6 * np.eye(3)]), np.zeros(3), np.ones(3)
    )
    (tensors,) = TorchSource(X)
    np.testing.assert_allclose(family.log_prob(params, tensors), family.log_prob(params, block), rtol=1e-9)


ON_HOST = {
    *("row_order", "square_lengths", "about_means"),  # of samples
    *(name for name, home in KERNELS.items()  # of symbols, codes, attributes and graphs
      if home in (
          "boosting", "counting", "crf", "crf_online", "descent", "histogram", "junction",
          "kernel_rows", "markov", "max_flow", "mistakes",
          "pairwise", "tallies",
      )),
}  # fmt: skip


def test_every_kernel_computes_on_tensors():
    for name in set(KERNELS) - ON_HOST:
        assert callable(kernel(name, "torch"))
    assert backend(torch.zeros(1)) == "torch"
    assert backend(np.zeros(1)) == "cpu"
