"""Squared distances of pairs of rows on tensors; see `tacit.kernels.gaps`."""

import torch

from .torch_pass import fused

__all__ = ["decay", "square_gaps", "weigh_gaps"]


def square_gaps(A, flipped, out):
    """Set `out` (rows of A, rows of B) to squared distances; `flipped` is B with its features along the first axis."""
    quick = fused(out, "triton_gaps")
    if quick is not None:
        return quick.square_gaps(A, flipped, out)
    out.zero_()
    for f in range(A.shape[1]):
        gap = A[:, f, None] - flipped[f]
        out.addcmul_(gap, gap)


def decay(values, factor, out):
    """Set `out` to exp(−factor · values)."""
    torch.exp(-factor * values, out=out)


def weigh_gaps(weights, A, flipped, out):
    """Add Σ_ij weights_ij (a_if − b_jf)² of every feature f to `out`, an array of NumPy."""
    found = torch.stack([(weights * (A[:, f, None] - flipped[f]) ** 2).sum() for f in range(A.shape[1])])
    out += found.cpu().numpy()
