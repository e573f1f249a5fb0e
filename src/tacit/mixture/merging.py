"""Components merged into clusters: a mixture fits a shape that is not its family's with several components.

    Ent(t) = −Σ_i w_i Σ_k t_ik log t_ik,    t_ik = P(component k | x_i)

Step by step the two clusters are merged whose union lowers the entropy most. Where merging stops to pay, at the elbow of
the entropy against the number of clusters, components that share rows have become one cluster each.

References
----------
Baudry, Raftery, Celeux, Lo and Gottardo (2010), Combining mixture components for clustering.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy.special import xlogy
from sklearn.utils.validation import check_is_fitted

from ..checks import check_choice, check_number, check_weight
from .estimator import check_mixture

__all__ = ["MergeTree", "merge_components"]


class MergeTree:
    """The merges of a mixture's components, from all of them down to one; made by `merge_components`.

    Attributes
    ----------
    entropy : ndarray of shape (n_components,)
        Entropy of 1, 2, … n_components clusters, on the rows it was made from.
    n_clusters : int
        Clusters at the elbow: where two straight lines fit the entropy best.
    linkage : ndarray of shape (n_components − 1, 4)
        The tree as :mod:`scipy.cluster.hierarchy` has it; the height of a merge is the entropy lost up to it.
    mixture : estimator
    """

    def __init__(self, mixture: Any, entropy: np.ndarray, linkage: np.ndarray) -> None:
        self.mixture, self.entropy, self.linkage = mixture, entropy, linkage
        self.n_clusters, self.elbow = _elbow(entropy)

    def __repr__(self) -> str:
        told = "; ".join(" + ".join(map(str, part)) for part in self.groups())
        return f"MergeTree of {len(self.entropy)} components, {self.n_clusters} clusters: {told}"

    def groups(self, n_clusters: int | None = None) -> list[tuple[int, ...]]:
        """Components of each cluster, by default of as many clusters as the elbow says."""
        k = len(self.entropy)
        n_clusters = self.n_clusters if n_clusters is None else n_clusters
        check_number("n_clusters", n_clusters, numbers.Integral, 1, k)
        parts: dict[int, tuple[int, ...]] = {j: (j,) for j in range(k)}
        for step, (a, b, *_) in enumerate(self.linkage[: k - n_clusters]):
            parts[k + step] = tuple(sorted(parts.pop(int(a)) + parts.pop(int(b))))
        return sorted(parts.values())

    def predict_proba(self, X: Any, n_clusters: int | None = None) -> np.ndarray:
        """Probability of each cluster for each row; with noise, its probability is in one more column, the last."""
        resp = self.mixture.predict_proba(X)
        groups = [list(part) for part in self.groups(n_clusters)]
        return np.column_stack([*(resp[:, part].sum(axis=1) for part in groups), resp[:, len(self.entropy) :]])

    def predict(self, X: Any, n_clusters: int | None = None) -> np.ndarray:
        """Most probable cluster of each row, −1 for noise."""
        found = self.predict_proba(X, n_clusters)
        best = found.argmax(axis=1)
        return np.where(best < len(self.groups(n_clusters)), best, -1)

    def plot(self, kind: str = "entropy", ax: Any = None) -> Any:
        """Draw the entropy with its elbow, or the tree (``kind="tree"``); returns a :class:`tacit.plot.MergesDisplay`."""
        from ..plot import MergesDisplay

        check_choice("kind", kind, ("entropy", "tree"))
        return MergesDisplay(self, kind).plot(ax)


def merge_components(mixture: Any, X: Any, sample_weight: Any = None) -> MergeTree:
    """Merge the components of a fitted mixture into clusters, step by step, by entropy.

    Parameters
    ----------
    mixture : estimator
        A fitted mixture.
    X : array-like of shape (n_samples, n_features) or table
        Rows, usually those of the fit; NaN is missing.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights.

    Returns
    -------
    MergeTree

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.mixture import GaussianMixture, merge_components
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.uniform(size=(300, 2)) * [9, 1], rng.normal(size=(200, 2)) + [4, 8]])  # a bar and a ball
    >>> tree = merge_components(GaussianMixture(4, covariance_type="diag", random_state=0).fit(X), X)
    >>> tree.n_clusters, np.bincount(tree.predict(X)).tolist()
    (2, [200, 300])
    """
    check_mixture("merge_components", mixture)
    check_is_fitted(mixture)
    k = mixture.n_components
    t = mixture.predict_proba(X)[:, :k].astype(np.float64)
    weight = check_weight(sample_weight, len(t))
    weight = np.ones(len(t)) if weight is None else weight
    # A cluster keeps its column; `names` are its numbers in the tree, and `sizes` its components.
    names, sizes, linkage = list(range(k)), [1] * k, np.zeros((k - 1, 4))
    entropy = [-float(weight @ xlogy(t, t).sum(axis=1))]
    for step in range(k - 1):
        terms = xlogy(t, t)
        gains = {
            (a, b): float(weight @ (xlogy(both := t[:, a] + t[:, b], both) - terms[:, a] - terms[:, b]))
            for a in range(t.shape[1])
            for b in range(a + 1, t.shape[1])
        }
        a, b = max(gains, key=lambda pair: gains[pair])
        entropy.append(max(entropy[-1] - gains[a, b], 0.0))
        size = sizes[a] + sizes[b]
        linkage[step] = min(names[a], names[b]), max(names[a], names[b]), entropy[0] - entropy[-1], size
        t[:, a] += t[:, b]
        t = np.delete(t, b, axis=1)
        names[a], sizes[a] = k + step, size
        del names[b], sizes[b]
    return MergeTree(mixture, np.array(entropy[::-1]), linkage)


def _elbow(entropy: np.ndarray) -> tuple[int, list[np.ndarray]]:
    """Where two lines that meet there fit the entropy best, and the lines, as slope and intercept."""
    x, k = np.arange(1.0, len(entropy) + 1), len(entropy)
    best: tuple = (np.inf, k, [])
    for c in range(2, k):
        parts = [(x[:c], entropy[:c]), (x[c - 1 :], entropy[c - 1 :])]
        lines = [np.polyfit(*part, 1) for part in parts]
        loss = sum(((np.polyval(line, at) - value) ** 2).sum() for line, (at, value) in zip(lines, parts))
        if loss < best[0] - 1e-12 * entropy[-1] ** 2:
            best = loss, c, lines
    return best[1], best[2]
