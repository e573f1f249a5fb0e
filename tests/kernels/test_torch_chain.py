"""Chains on tensors against the reference: cut into stretches or not, in registers or not, with states that are lost."""

import copy

import numpy as np
import pytest

from tacit.kernels import host, kernel
from tests.kernels.reference import reference_of

from .test_kernels import CASES, agree, make_world

torch = pytest.importorskip("torch", reason="torch is not installed")

from tacit.kernels import torch_chain  # noqa: E402

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
TENSORS = {
    "smooth": (0, 2, 3),
    "filter_states": (0, 2),
    "weigh_sequences": (0, 2),
    "decode": (0, 2),
    "draw_states": (0,),
}


def check(name, arguments, device, told=""):
    """Run a kernel on tensors and in plain NumPy, and compare all that comes out."""
    copies = copy.deepcopy(arguments)
    given = [torch.as_tensor(each, device=device) if place in TENSORS[name] else each
             for place, each in enumerate(copy.deepcopy(arguments))]  # fmt: skip
    found, expected = kernel(name, "torch")(*given), reference_of(name)(*copies)
    if expected is not None:
        agree(found, expected, 1e-10, f"{told}: what {name} returns")
    for place, (value, other) in enumerate(zip(given, copies)):
        agree(np.asarray(host(value)), other, 1e-10, f"{told}: argument {place} of {name}")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("d", "n_states"), [(3, 2), (1, 5), (8, 17)])
@pytest.mark.parametrize("name", TENSORS)
def test_chains(name, d, n_states, device):
    for number, arguments in enumerate(CASES[name](make_world("float64", d, n_states))):
        check(name, arguments, device, f"case {number}")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("stretch", [70, 512])
@pytest.mark.parametrize("name", TENSORS)
def test_long_sequences_are_cut_into_stretches_or_left_to_the_cpu(name, stretch, device, monkeypatch):
    monkeypatch.setattr(torch_chain, "STRETCH", stretch)
    for number, arguments in enumerate(CASES[name](make_world("float64", 3, 3))):
        check(name, arguments, device, f"case {number}")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", TENSORS)
def test_long_sequences_that_are_not_cut(name, device, monkeypatch):
    monkeypatch.setattr(torch_chain, "WIDE", 0)
    monkeypatch.setattr(torch_chain, "NARROW", 0)
    for number, arguments in enumerate(CASES[name](make_world("float64", 3, 3))):
        check(name, arguments, device, f"case {number}")


@pytest.mark.parametrize("device", DEVICES)
def test_a_chain_that_hardly_forgets_is_run_again_until_stretches_agree(device, monkeypatch):
    monkeypatch.setattr(torch_chain, "STRETCH", 80)
    runs, plain = [], torch_chain.Along._run
    monkeypatch.setattr(torch_chain.Along, "_run", lambda self, *rest: runs.append(1) or plain(self, *rest))
    rng, n, k = np.random.default_rng(0), 1500, 3
    move = (0.999 * np.eye(k) + 0.001 / k)[None]
    sums = np.zeros(k), np.zeros((1, k, k)), np.empty(2)
    labels = np.full(n, -1)
    arguments = (0.01 * rng.normal(size=(k, n)), np.array([0, 1400, n]), np.ones(n), labels, np.full(k, 1 / k), move,
                 np.zeros(0, int), *sums)  # fmt: skip
    check("smooth", arguments, device)
    assert len(runs) > 3


@pytest.mark.parametrize("device", DEVICES)
def test_an_impossible_sequence_is_told_and_counts_for_nothing(device):
    joint = torch.zeros((2, 6), dtype=torch.float64, device=device)
    joint[:, 4] = -torch.inf
    first, moves, evidence = np.zeros(2), np.zeros((1, 2, 2)), np.empty(2)
    chain = np.full(2, 0.5), np.full((1, 2, 2), 0.5), np.zeros(0, int)
    weight, unknown = torch.tensor([1.0, 1, 1, 0, 0, 0], device=device).double(), torch.full((6,), -1, device=device)
    loglik = kernel("smooth", "torch")(joint, np.array([0, 3, 6]), weight, unknown, *chain, first, moves, evidence)
    assert loglik == pytest.approx(0.0)
    np.testing.assert_allclose(evidence, [0.0, -np.inf])
    np.testing.assert_allclose(host(joint), np.repeat([[0.5, 0.0]], 2, axis=0).repeat(3, axis=1))
    np.testing.assert_allclose(moves, np.full((1, 2, 2), 0.5))
    np.testing.assert_allclose(first, [0.5, 0.5])
