"""Stacks of covariance matrices on tensors, in batches; what is of size classes × d comes in and goes out as NumPy arrays."""

import numpy as np
import torch

from .torch_pass import put

__all__ = ["centre_moments", "clip", "project", "roots", "within"]


def within(second, count, shift):
    count, shift = put(count, second.device), put(shift, second.device)
    return torch.baddbmm(second / count[:, None, None], shift[:, :, None], shift[:, None, :], alpha=-1.0)


def centre_moments(shift, s0, s1, s2):
    a, b, n = (put(value, s2.device) for value in (shift, s1, s0))
    cross = a[:, :, None] * b[:, None, :]
    outer = a[:, :, None] * a[:, None, :]
    return s0, s1 + s0[:, None] * shift, s2 + cross + cross.mT + n[:, None, None] * outer


def clip(covariance, scale, floor):
    scale = put(scale, covariance.device)
    if floor == 0 and bool((covariance.diagonal(dim1=-2, dim2=-1) <= 1e-13 * scale).any()):
        return None
    if not bool(torch.linalg.cholesky_ex(covariance - torch.diag(floor * scale))[1].any()):
        return covariance
    if floor == 0:
        return None
    root = scale.sqrt()
    value, vector = torch.linalg.eigh(covariance / (root[:, None] * root))
    value = torch.maximum(value, (1e-13 * value[..., -1:]).clamp_min(floor))
    return (vector * value[..., None, :]) @ vector.mT * (root[:, None] * root)


def roots(covariance):
    lower, failed = torch.linalg.cholesky_ex(covariance)
    if bool(failed.any()):
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    unit = torch.eye(lower.shape[-1], dtype=lower.dtype, device=lower.device).expand_as(lower)
    triangle = torch.linalg.solve_triangular(lower, unit, upper=False).mT.contiguous()
    return triangle, triangle.diagonal(dim1=-2, dim2=-1).log().sum(dim=-1).cpu().numpy()


def project(shift, triangle):
    return (put(shift, triangle.device)[:, None, :] @ triangle)[:, 0].cpu().numpy()
