"""Squared distances of pairs of rows on a GPU, in one trip through memory.

D_ij = Σ_f (a_if − b_jf)²
"""

import torch
import triton
import triton.language as tl

__all__ = ["square_gaps"]

ROWS, COLUMNS = 16, 128


@triton.jit
def _square_gaps(a, flipped, out, n, m, d, a_stride, b_stride, out_stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), out.dtype.element_ty)
    for f in range(d):
        left = tl.load(a + row * a_stride + f, mask=row < n, other=0.0)
        right = tl.load(flipped + f * b_stride + j, mask=j < m, other=0.0)
        gap = left[:, None] - right[None, :]
        total += gap * gap
    tl.store(out + row[:, None] * out_stride + j[None, :], total, mask=(row < n)[:, None] & (j < m)[None, :])


def square_gaps(A, flipped, out):
    """Set `out` (rows of A, rows of B) to squared distances; `flipped` is B with its features along the first axis."""
    A, flipped = A.contiguous(), flipped.contiguous()
    n, m = out.shape
    with torch.cuda.device(out.device):
        _square_gaps[(triton.cdiv(n, ROWS), triton.cdiv(m, COLUMNS))](
            A, flipped, out, n, m, A.shape[1], A.stride(0), flipped.stride(0), out.stride(0), ROWS, COLUMNS, num_warps=4
        )
