"""The best split of weighted rows into two, over all columns sorted once: what AdaBoost asks for in every round."""

import numpy as np

from .jit import jit

__all__ = ["best_stump", "goes_left"]


@jit
def _purity(side, total):
    """Σ_k w_k² / Σ_k w_k, which weight less Gini's impurity comes to."""
    found = 0.0
    for k in range(len(side)):
        found += side[k] * side[k]
    return found / total if total > 0.0 else 0.0


@jit
def best_stump(order, seen, differs, y, weight, n_classes, left, right):
    """The column, the place among its sorted rows and the side of missing cells of the split with the least impurity.

    Parameters
    ----------
    order : (d, n) array
        Rows by the cells of each column, missing ones last.
    seen : (d,) array
        How many cells of each column are there.
    differs : (d, n) array of bool
        Whether a cell is less than the next.
    y : (n,) array
        Numbers of classes.
    weight : (n,) array
    n_classes : int
    left, right : (n_classes,) arrays
        Written: the weights of the classes on either side of the best split.

    Returns
    -------
    column, place, missing_left, gain
        Rows up to and with the place go left; −1, −1 where no column can be split.
    """
    d, n = order.shape
    total, side, gone = np.zeros(n_classes), np.empty(n_classes), np.empty(n_classes)
    for i in range(n):
        total[y[i]] += weight[i]
    whole = total.sum()
    base = _purity(total, whole)
    best, column, place, missing_left = base * (1.0 + 1e-12), -1, -1, 0
    other = np.empty(n_classes)
    for j in range(d):
        gone[:] = 0.0
        for i in range(seen[j], n):
            gone[y[order[j, i]]] += weight[order[j, i]]
        missing = gone.sum()
        for way in range(2 if seen[j] < n else 1):
            side[:] = 0.0
            if way:
                side[:] = gone
            amount = side.sum()
            for i in range(seen[j] if seen[j] < n and not way else seen[j] - 1):
                row = order[j, i]
                side[y[row]] += weight[row]
                amount += weight[row]
                if i < seen[j] - 1 and not differs[j, i]:
                    continue
                for k in range(n_classes):
                    other[k] = total[k] - side[k]
                found = _purity(side, amount) + _purity(other, whole - amount)
                if found > best * (1.0 + 1e-12):
                    best, column, place = found, j, i
                    missing_left = way if missing > 0.0 else int(2.0 * amount > whole)
                    left[:], right[:] = side, other
    return column, place, missing_left, best - base


@jit
def goes_left(x, threshold, missing_left, out):
    """Which cells of a column are at most a threshold, or missing where these go left."""
    for i in range(len(x)):
        out[i] = x[i] <= threshold if x[i] == x[i] else missing_left
