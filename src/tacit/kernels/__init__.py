"""Inner loops. One registry: a kernel has a name, and an implementation per backend with the same signature.

Backends: ``cpu`` (numba, or NumPy where a pass is matrix products anyway), ``torch`` (tensors on any device) and ``sparse``
(rows by the cells that are stored, for some kernels); ``tests/kernels/reference.py`` says in plain NumPy what the work is, and
the tests hold every backend to it. Nothing above this package knows numba, torch or Triton, or branches on what rows are:
`backend` names the backend of an array, and `empty`, `flipped`, `cast` and `host` handle arrays of either kind.
"""

from functools import cache
from importlib import import_module

import numpy as np

__all__ = [
    "EXPECT", "KERNELS", "MOMENTS", "SCORE", "backend", "cast", "empty", "flipped", "host", "integers", "kernel",
    "lazy", "on_device", "renamed", "rows_on_host", "zeros",
]  # fmt: skip

HOMES = {
    "boosting": ("bin_cells", "slopes"),
    "cells": ("features", "log_choose", "log_factorial", "log_rising", "rising_slope", "row_sums"),
    "chain": ("filter_states", "smooth", "weigh_sequences"),
    "chain_paths": ("decode", "draw_states"),
    "conditional": ("conditional",),
    "crf": ("label_scores", "label_slopes"),
    "crf_online": ("gradient_pass", "mistake_pass"),
    "counting": ("family_scores", "independence", "pack"),
    "dense": ("centre_moments", "clip", "project", "roots", "within"),
    "descent": ("shrunken_step",),
    "distances": ("column_sums", "distances", "misfit"),
    "factor": ("factor", "factor_scores"),
    "gaps": ("decay", "square_gaps", "weigh_gaps"),
    "gaussian": ("diag", "full", "tied"),
    "histogram": ("histogram",),
    "imputation": ("complete", "draw"),
    "junction": ("maximise", "propagate"),
    "kernel_rows": ("all_rows", "expansion"),
    "levels": ("levels",),
    "lloyd": ("lloyd", "lloyd_cells"),
    "markov": ("count_moves", "hidden_moves", "score_moves"),
    "max_flow": ("max_flow",),
    "means": ("means", "nearest"),
    "medians": ("medians",),
    "mistakes": ("dual_pass", "primal_pass"),
    "mixture": ("normalise",),
    "nonnegative": ("divergence", "least_squares"),
    "pairwise": ("conditional_modes", "gibbs_sweep", "max_product_sweep", "mean_field_sweep"),
    "products": ("about_means", "linear", "row_order", "scatter", "square_lengths"),
    "soft": ("soft",),
    "softmax": ("softmax",),
    "student": ("student", "student_conditional"),
    "tallies": ("tally",),
    "topics": ("collapsed", "fold_in", "topic_assignments", "variational"),
}
KERNELS = {name: home for home, names in HOMES.items() for name in names}
"""The module of every kernel's implementation for the CPU; a module of each other backend has those it has."""

SCORE, MOMENTS, EXPECT = 0, 1, 2
"""What a pass over rows does: score them, add up their moments, or both with responsibilities made in between."""


@cache
def kernel(name, backend="cpu"):
    """The implementation of a kernel; compiled kernels are imported when first asked for."""
    if name not in KERNELS:
        raise KeyError(f"no kernel is called {name!r}; there are {', '.join(sorted(KERNELS))}.")
    home = import_module(f"{__name__}.{KERNELS[name] if backend == 'cpu' else backend}")
    if not hasattr(home, name):
        kind = {"sparse": "sparse rows", "torch": "tensors"}.get(backend, backend)
        raise TypeError(f"there is no {name} of {kind}; give X as an ordinary array.")
    return getattr(home, name)


class lazy:
    """A module of compiled functions that is imported when one of them is first used, since numba takes a while to load."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, function):
        return getattr(import_module(f"{__name__}.{self._name}"), function)


def backend(X):
    """The backend that computes on arrays like X: ``torch`` for tensors, ``sparse`` for `SparseRows`, else ``cpu``."""
    if isinstance(X, np.ndarray):
        return "cpu"
    return "torch" if type(X).__module__.partition(".")[0] == "torch" else "sparse" if hasattr(X, "indptr") else "cpu"


def empty(shape, like):
    """An uninitialised float64 array of the kind, and on the device, of `like`."""
    if backend(like) != "torch":
        return np.empty(shape)
    import torch

    return torch.empty(shape, dtype=torch.float64, device=like.device)


def zeros(shape, like):
    """A float64 array of zeros of the kind, and on the device, of `like`."""
    if backend(like) != "torch":
        return np.zeros(shape)
    import torch

    return torch.zeros(shape, dtype=torch.float64, device=like.device)


def on_device(values, device):
    """An array as a float64 tensor on a device."""
    import torch

    return torch.as_tensor(values, dtype=torch.float64, device=device)


def integers(n, fill, like):
    """An int32 array of n equal numbers of the kind, and on the device, of `like`."""
    if backend(like) != "torch":
        return np.full(n, fill, np.int32)
    return like.new_full((n,), fill).int()


def renamed(names, labels):
    """names[labels] as int32, of the kind of `labels`."""
    if backend(labels) != "torch":
        return names.astype(np.int32)[labels]
    return labels.new_tensor(names)[labels.long()].int()


def flipped(values, like):
    """`values` (rows, classes) as contiguous float64 (classes, rows), as kernels want them, of the kind of `like`."""
    if backend(like) != "torch":
        return np.ascontiguousarray(values.T, dtype=np.float64)
    import torch

    values = torch.as_tensor(values, dtype=torch.float64, device=like.device)
    return values.T.contiguous()


def cast(values, like):
    """Arguments in the precision of the rows `like`; tensors are always computed on in float64."""
    if backend(like) == "torch":
        return list(values)
    return [value.astype(like.dtype, copy=False) if isinstance(value, np.ndarray) else value for value in values]


def host(values):
    """An array, tensor or sparse rows as a NumPy array."""
    kind = backend(values)
    return values if kind == "cpu" else values.detach().cpu().numpy() if kind == "torch" else values.toarray()


def rows_on_host(X):
    """Rows on the CPU; sparse ones stay sparse."""
    return X if backend(X) == "sparse" else host(X)
