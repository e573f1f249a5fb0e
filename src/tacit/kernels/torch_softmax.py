"""The kernel of `softmax` on tensors: products of rows on their device; coefficients and sums are NumPy arrays."""

import numpy as np
import torch

from .torch_pass import chunks, put

__all__ = ["softmax"]


def softmax(X, slope, offset, codes, weight, gradient, curvature):
    """As the kernel for arrays; rows are computed on in float64, in chunks."""
    n_classes, d = slope.shape
    coef = put(np.column_stack([slope, offset]), X.device)
    codes = torch.as_tensor(codes, device=X.device).long()
    weight = torch.as_tensor(weight, dtype=torch.float64, device=X.device)
    total = coef.new_zeros(1 + gradient.size + curvature.size)
    for part in chunks(len(X), 2 * d + 3 * n_classes, X.device):
        Z = torch.nn.functional.pad(X[part].double(), (0, 1), value=1.0)
        total += torch.cat(_chunk(Z, coef, codes[part], weight[part], curvature.size > 0))
    found = total.cpu().numpy()
    gradient += found[1 : 1 + gradient.size].reshape(gradient.shape)
    curvature += found[1 + gradient.size :].reshape(curvature.shape)
    return float(found[0])


def _chunk(Z, coef, codes, weight, bends):
    """The log-likelihood, the gradient and the curvature of some rows, each flat."""
    score = Z @ coef.T
    if len(coef) == 1:
        sign = (2 * codes - 1)[:, None]
        loglik = torch.nn.functional.logsigmoid(sign * score)
        chance = torch.sigmoid(score)
        known = codes[:, None].double()
    else:
        loglik = torch.log_softmax(score, dim=1).gather(1, codes[:, None])
        chance = torch.softmax(score, dim=1)
        known = torch.nn.functional.one_hot(codes, len(coef)).double()
    found = [(weight * loglik[:, 0]).nan_to_num().sum()[None], ((weight[:, None] * (known - chance)).T @ Z).ravel()]
    if bends:
        out = Z.new_zeros(len(coef), Z.shape[1], len(coef), Z.shape[1])
        for a in range(len(coef)):
            for b in range(a + 1):
                bend = weight * chance[:, a] * (1.0 - chance[:, a] if a == b else -chance[:, b])
                out[a, :, b] = -(Z * bend[:, None]).T @ Z
                out[b, :, a] = out[a, :, b]
        found.append(out.ravel())
    return found
