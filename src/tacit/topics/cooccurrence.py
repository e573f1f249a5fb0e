"""How often two words of a document occur together, Q = Σ_d (n_d n_dᵀ − diag(n_d)) / (N_d − 1) / Σ_d N_d, never held as a whole.

The estimate is unbiased for documents of any length N ≥ 2, since no word is paired with itself; documents weigh as
much as they have words,
so that rows of Q sum to the shares of words. With H the counts divided by √(N − 1) and d the sums of n / (N − 1), Q
v ∝ Hᵀ(H v) − d∘v: products with Q cost as much as the stored counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Cooccurrence"]

BLOCK = 512
LEAST_DOCUMENTS = 3
SHARE_OF_DOCUMENTS = 0.05


@dataclass(frozen=True)
class Cooccurrence:
    """Co-occurrences of words; made by `of_counts` or `of_matrix`.

    Attributes
    ----------
    scaled : CSC matrix or None
        Counts divided by √((N − 1) Σ N), of documents with two words or more.
    own : (n_words,) array
        What to take off the diagonal.
    matrix : (n_words, n_words) array or None
        Q itself, where it was given.
    share : (n_words,) array
        Share of each word among all pairs.
    n_documents : int
        Of two words or more.
    present : (n_words,) array
        In how many of them each word is.
    """

    scaled: Any
    own: np.ndarray
    matrix: np.ndarray | None
    share: np.ndarray
    n_documents: int
    present: np.ndarray

    @classmethod
    def of_counts(cls, counts: Any) -> Cooccurrence:
        """From counts (documents, words)."""
        length = np.asarray(counts.sum(axis=1)).ravel()
        long = np.flatnonzero(length > 1)
        if not len(long):
            raise ValueError("no document has two words, so that none occur together; give longer documents.")
        counts, length = counts[long], length[long]
        weight = 1.0 / ((length - 1.0) * length.sum())
        scaled = counts.multiply(np.sqrt(weight)[:, None]).tocsc()
        own = np.asarray(counts.multiply(weight[:, None]).sum(axis=0)).ravel()
        share = scaled.T @ (scaled @ np.ones(counts.shape[1])) - own
        share = np.maximum(share, 0.0) / share.sum()
        return cls(scaled, own, None, share, len(long), np.diff(scaled.indptr))

    @classmethod
    def of_matrix(cls, Q: Any) -> Cooccurrence:
        """From probabilities of pairs."""
        Q = np.asarray(Q, dtype=np.float64)
        if Q.ndim != 2 or Q.shape[0] != Q.shape[1]:
            raise ValueError(f"Q has shape {Q.shape}; give a square matrix, a row and a column for each word.")
        if not np.isfinite(Q).all() or Q.min() < 0 or not Q.any():
            raise ValueError("Q must hold finite numbers, none below 0 and some above; give probabilities of pairs.")
        if np.abs(Q - Q.T).max() > 1e-8 * Q.max():
            raise ValueError("Q is not symmetric; give (Q + Q.T) / 2.")
        Q = Q / Q.sum()
        return cls(None, np.zeros(len(Q)), Q, Q.sum(axis=1), 0, np.full(len(Q), np.inf) * (Q.sum(axis=1) > 0))

    @property
    def n_words(self) -> int:
        """Words."""
        return len(self.share)

    def frequent(self, least: int | float | str, n_topics: int) -> np.ndarray:
        """Numbers of the words that may be anchors."""
        present = np.nan_to_num(self.present, nan=0.0, posinf=np.inf)
        if least == "auto":
            wanted = max(LEAST_DOCUMENTS, SHARE_OF_DOCUMENTS * self.n_documents)
            # Fewer documents will do where there would be hardly a choice.
            enough = np.sort(present)[::-1][min(4 * n_topics, len(present)) - 1]
            least = min(wanted, max(enough, 1))
        elif isinstance(least, float):
            least = least * self.n_documents
        return np.flatnonzero((present >= max(float(least), 1e-12)) & (self.share > 0))

    def dot(self, other: np.ndarray) -> np.ndarray:
        """Q times a matrix of a row for each word, divided by the share of each row: Q̄ times it."""
        if self.matrix is not None:
            product = self.matrix @ other
        else:
            product = self.scaled.T @ (self.scaled @ other) - self.own[:, None] * other
        return product / np.maximum(self.share, 1e-300)[:, None]

    def rows(self, which: np.ndarray) -> np.ndarray:
        """Rows of Q̄, dense."""
        if self.matrix is not None:
            found = self.matrix[which].copy()
        else:
            found = (self.scaled[:, which].T @ self.scaled).toarray()
            found[np.arange(len(which)), which] -= self.own[which]
        return np.maximum(found, 0.0) / np.maximum(self.share[which], 1e-300)[:, None]

    def block(self, which: np.ndarray) -> np.ndarray:
        """Q of some words with each other."""
        return self.rows(which)[:, which] * self.share[which][:, None]

    def sparse_rows(self, which: np.ndarray) -> Any:
        """Rows of Q̄ as a CSR matrix."""
        from scipy.sparse import csr_matrix

        made = csr_matrix(self.rows(which))
        made.eliminate_zeros()
        return made

    def squares(self, which: np.ndarray) -> np.ndarray:
        """Squared lengths of rows of Q̄, by blocks."""
        parts = [which[start : start + BLOCK] for start in range(0, len(which), BLOCK)]
        return np.concatenate([(self.rows(part) ** 2).sum(axis=1) for part in parts])
