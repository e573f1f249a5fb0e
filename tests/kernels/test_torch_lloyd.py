"""Kernels of k-medians and soft k-means on tensors against the reference, on the cases of the compiled ones."""

import copy

import numpy as np
import pytest

from tacit.kernels import kernel
from tests.kernels.reference import reference_of

from .test_kernels import CASES, agree, make_world

torch = pytest.importorskip("torch", reason="torch is not installed")

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
ON_DEVICE = {"medians": (0, 1, 5), "soft": (0, 1)}


def compare(name, dtype, shape, device):
    for number, arguments in enumerate(CASES[name](make_world(dtype, *shape))):
        copies = [
            torch.as_tensor(value, device=device) if place in ON_DEVICE[name] else value
            for place, value in enumerate(copy.deepcopy(arguments))
        ]
        expected, found = reference_of(name)(*arguments), kernel(name, "torch")(*copies)
        agree(found, expected, 1e-10, f"case {number}: what {name} returns")
        for place, (array, other) in enumerate(zip(arguments, copies)):
            if isinstance(array, np.ndarray):
                other = other.cpu().numpy() if isinstance(other, torch.Tensor) else other
                agree(other, array, 1e-10, f"case {number}: argument {place} of {name}")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(1, 2), (3, 5), (8, 1), (20, 2), (33, 5)])
@pytest.mark.parametrize("name", ON_DEVICE)
def test_kernel(name, shape, dtype, device):
    compare(name, dtype, shape, device)


@pytest.mark.parametrize("name", ON_DEVICE)
def test_small_chunks_change_nothing(name, monkeypatch):
    from tacit.kernels import torch_pass

    monkeypatch.setattr(torch_pass, "CPU_BUDGET", 1)
    compare(name, "float64", (3, 5), "cpu")
