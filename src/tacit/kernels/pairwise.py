"""Passes over the nodes of a pairwise network, E(x) = Σ_i U_i(x_i) + Σ_(ij) w_ij V(x_i, x_j), V symmetric.

Arcs first[p] … first[p + 1] − 1 lead from node p to `heads`; an edge is two arcs of the same weight, sisters of each other. Nodes
are taken in their order, each seeing what those before it became.
"""

import math

import numpy as np

from .jit import jit

__all__ = ["conditional_modes", "gibbs_sweep", "max_product_sweep", "mean_field_sweep"]


@jit
def local_energy(p, first, heads, weight, unary, distance, labels, out):
    """The energy of each label of a node, given its neighbours'."""
    n_labels = unary.shape[1]
    for k in range(n_labels):
        out[k] = unary[p, k]
    for a in range(first[p], first[p + 1]):
        for k in range(n_labels):
            out[k] += weight[a] * distance[k, labels[heads[a]]]


@jit
def conditional_modes(first, heads, weight, unary, distance, labels):
    """Give every node the best label given its neighbours', its own where that is as good; returns how many changed.

    Parameters
    ----------
    first, heads, weight : (n + 1,), (arcs,), (arcs,)
    unary : (n, L)
    distance : (L, L)
    labels : (n,) int32
        Are changed.
    """
    energy, changed = np.empty(unary.shape[1]), 0
    for p in range(len(labels)):
        local_energy(p, first, heads, weight, unary, distance, labels, energy)
        best = labels[p]
        for k in range(len(energy)):
            if energy[k] < energy[best]:
                best = k
        changed += best != labels[p]
        labels[p] = best
    return changed


@jit
def gibbs_sweep(first, heads, weight, unary, distance, temperature, chance, labels):
    """Draw the label of every node given its neighbours', p ∝ exp(−E / temperature).

    Parameters
    ----------
    first, heads, weight, unary, distance, labels
        As in `conditional_modes`.
    temperature : float
    chance : (n,)
        Uniform numbers.
    """
    energy = np.empty(unary.shape[1])
    for p in range(len(labels)):
        local_energy(p, first, heads, weight, unary, distance, labels, energy)
        least, total = energy.min(), 0.0
        for k in range(len(energy)):
            energy[k] = math.exp((least - energy[k]) / temperature)
            total += energy[k]
        rest, k = chance[p] * total, 0
        while k < len(energy) - 1 and rest >= energy[k]:
            rest -= energy[k]
            k += 1
        labels[p] = k


@jit
def mean_field_sweep(first, heads, weight, unary, distance, shares):
    """Fit the shares of every node to its neighbours', q ∝ exp(−U − Σ w V q); returns the largest change.

    Parameters
    ----------
    first, heads, weight, unary, distance
        As in `conditional_modes`.
    shares : (n, L)
        Are changed.
    """
    n_labels = unary.shape[1]
    energy, most = np.empty(n_labels), 0.0
    for p in range(len(unary)):
        for k in range(n_labels):
            energy[k] = unary[p, k]
        for a in range(first[p], first[p + 1]):
            for l in range(n_labels):
                share = weight[a] * shares[heads[a], l]
                for k in range(n_labels):
                    energy[k] += distance[k, l] * share
        least, total = energy.min(), 0.0
        for k in range(n_labels):
            energy[k] = math.exp(least - energy[k])
            total += energy[k]
        for k in range(n_labels):
            share = energy[k] / total
            most = max(most, abs(share - shares[p, k]))
            shares[p, k] = share
    return most


@jit
def max_product_sweep(first, heads, sisters, weight, unary, distance, damping, backward, messages):
    """Send messages from every node to its neighbours that come later, or earlier; returns the largest change.

    Parameters
    ----------
    first, heads, sisters, weight, unary, distance
        As in `conditional_modes`; `sisters` are the arcs back.
    damping : float
        Share of the old message that is kept.
    backward : bool
        Whether nodes are taken from the last to the first.
    messages : (arcs, L)
        Energies that arcs tell the nodes they lead to, 0 at least; are changed.
    """
    n, n_labels = unary.shape
    energy, new, most = np.empty(n_labels), np.empty(n_labels), 0.0
    for i in range(n):
        p = n - 1 - i if backward else i
        for k in range(n_labels):
            energy[k] = unary[p, k]
        for a in range(first[p], first[p + 1]):
            for k in range(n_labels):
                energy[k] += messages[sisters[a], k]
        for a in range(first[p], first[p + 1]):
            if (heads[a] > p) == backward:
                continue
            least = np.inf
            for l in range(n_labels):
                new[l] = np.inf
                for k in range(n_labels):
                    new[l] = min(new[l], energy[k] - messages[sisters[a], k] + weight[a] * distance[k, l])
                least = min(least, new[l])
            for l in range(n_labels):
                value = damping * messages[a, l] + (1.0 - damping) * (new[l] - least)
                most = max(most, abs(value - messages[a, l]))
                messages[a, l] = value
    return most
