"""Passes over documents of topics on tensors; functions do what the compiled kernels of their names do.

Pairs of document and word are found once a block. Products Σ_w (c/Σ_k θβ) β are those of a sparse matrix with a dense one;
documents are updated all at once, until every one has settled. Parameters come in and sums go out as NumPy arrays.
"""

import numpy as np
import torch

from .torch_pass import put

__all__ = ["collapsed", "fold_in", "topic_assignments", "variational"]

TINY = 1e-300
CHUNK = 1 << 22  # numbers gathered at once, times the topics


def _pairs(X, local):
    """Documents, words and counts of the cells that are not zero."""
    if "pairs" not in local:
        X = torch.nan_to_num(X)
        document, word = X.nonzero(as_tuple=True)
        local["pairs"] = document, word, X[document, word].double()
    return local["pairs"]


def _norms(document, word, theta, table):
    """Σ_k θ_dk β_kw of every pair, a chunk of pairs at a time."""
    step = max(CHUNK // table.shape[1], 1)
    cuts = zip(document.split(step), word.split(step))
    parts = [(theta[d] * table[w]).sum(dim=1) for d, w in cuts]
    return torch.cat(parts).clamp_min(TINY) if parts else theta.new_empty(0)


def _matrix(document, word, values, shape):
    return torch.sparse_coo_tensor(torch.stack([document, word]), values, shape, check_invariants=False).coalesce()


def variational(X, local, weight, gamma, word, alpha, n_iter, tol, counts):
    """As the compiled kernel; updates of all documents end when the last one has settled, and settled ones stay."""
    document, column, data = _pairs(X, local)
    table, prior = put(word, X.device), put(alpha, X.device)
    moving = torch.ones(len(gamma), dtype=torch.bool, device=X.device)
    for _ in range(n_iter):
        theta = torch.exp(torch.digamma(gamma) - torch.digamma(gamma.sum(dim=1, keepdim=True)))
        rate = _matrix(document, column, data / _norms(document, column, theta, table), X.shape)
        fresh = prior + theta * (rate @ table)
        change = (fresh - gamma).abs().mean(dim=1)
        gamma.copy_(torch.where(moving[:, None], fresh, gamma))
        moving &= change >= tol
        if not bool(moving.any()):
            break
    log_theta = torch.digamma(gamma) - torch.digamma(gamma.sum(dim=1, keepdim=True))
    theta = log_theta.exp()
    norm = _norms(document, column, theta, table)
    if len(counts):
        rate = _matrix(column, document, data * weight[document] / norm, (X.shape[1], X.shape[0]))
        counts += (table * (rate @ theta)).cpu().numpy()
    words = torch.zeros(len(gamma), dtype=torch.float64, device=X.device).index_add_(0, document, data * norm.log())
    bound = words + torch.lgamma(prior.sum()) - torch.lgamma(prior).sum() - torch.lgamma(gamma.sum(dim=1))
    return (bound + ((prior - gamma) * log_theta + torch.lgamma(gamma)).sum(dim=1)).cpu().numpy()


def collapsed(X, local, weight, owner, counts, word, alpha, out):
    """As the compiled kernel, all pairs of a document at once."""
    document, column, data = _pairs(X, local)
    table, prior = put(word, X.device).float(), put(alpha, X.device).float()
    rate, data, theta = 1.0 / table.sum(dim=0), data.float(), counts + prior
    kept = local.get("topics of pairs")
    known, seen = kept is not None and kept[0] is owner, bool(counts.any())
    values = theta[document] * table[column] * rate
    if known or seen:
        own = kept[1] if known else values / values.sum(dim=1, keepdim=True)
        values = (theta[document] - own).clamp_min(1e-10) * (table[column] - own).clamp_min(1e-10) * rate
    total = values.sum(dim=1, keepdim=True)
    gamma = values / total
    local["topics of pairs"] = owner, gamma
    counts.zero_().index_add_(0, document, data[:, None] * gamma)
    sums = torch.zeros_like(table).index_add_(0, column, (data * weight[document].float())[:, None] * gamma)
    out += sums.double().cpu().numpy()
    mass = (counts.sum(dim=1) + prior.sum() - 1.0).clamp_min(1e-6).log()
    told = data * (total[:, 0].log() - mass[document])
    return torch.zeros_like(mass).index_add_(0, document, told).double().cpu().numpy()


def fold_in(X, local, weight, word, alpha, n_iter, tol, out):
    """As the compiled kernel, all pairs of a document at once and without leaving a pair's own word out."""
    document, column, data = _pairs(X, local)
    table, prior = put(word, X.device), put(alpha, X.device)
    theta = prior.expand(len(X), -1) + 1.0
    for _ in range(max(n_iter, 1)):
        rate = _matrix(document, column, data / _norms(document, column, theta, table), X.shape)
        fresh = prior + theta * (rate @ table)
        settled = bool(((fresh - theta).abs().mean(dim=1) < tol).all())
        theta = fresh
        if settled:
            break
    norm = _norms(document, column, theta, table)
    if len(out):
        rate = _matrix(column, document, data * weight[document] / norm, (X.shape[1], X.shape[0]))
        out += (table * (rate @ theta)).cpu().numpy()
    told = data * (norm / theta.sum(dim=1)[document]).log()
    loglik = torch.zeros(len(X), dtype=torch.float64, device=X.device).index_add_(0, document, told)
    return (theta - prior).cpu().numpy(), loglik.cpu().numpy()


def topic_assignments(X, local, theta, word):
    """As the compiled kernel."""
    document, column, _ = _pairs(X, local)
    found = theta[document.cpu().numpy()] * word[column.cpu().numpy()]
    return found / np.maximum(found.sum(axis=1, keepdims=True), TINY)
