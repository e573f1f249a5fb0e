"""Low rank: a sparse matrix of words by documents, its best approximation, and how close words are in it.

By Eckart and Young no matrix of rank k is nearer than that of the k largest singular values; what is left is known beforehand.

Run: python examples/low_rank.py
"""

import numpy as np
from scipy.sparse import csr_matrix

from tacit.factor import TruncatedSVD
from tacit.topics import TextVectorizer

texts = [
    "human machine interface for computer applications", "a survey of user opinion of computer system response time",
    "the user interface management system", "system and human system engineering testing",
    "relation of user perceived response time to error measurement", "the generation of random binary unordered trees",
    "the intersection graph of paths in trees", "graph minors widths of trees and well quasi ordering", "graph minors a survey",
]  # fmt: skip
words = ["human", "interface", "computer", "user", "system", "response", "time", "survey", "trees", "graph", "minors"]
counts = csr_matrix([[text.split().count(word) for word in words] for text in texts], dtype=float)
print(f"{counts.shape[0]} titles, {counts.shape[1]} words, {counts.nnz} counts stored")
values = np.linalg.svd(counts.toarray(), compute_uv=False)
for k in (1, 2, 3):
    svd = TruncatedSVD(k, random_state=0).fit(counts)
    near = svd.inverse_transform(svd.transform(counts))
    left = np.linalg.norm(counts.toarray() - near)
    print(f"rank {k}: misses {left:.6f}, as it must: {np.sqrt((values[k:] ** 2).sum()):.6f}")
svd = TruncatedSVD(2, random_state=0).fit(counts)
places = svd.components_.T * svd.singular_values_
unit = places / np.linalg.norm(places, axis=1, keepdims=True)
raw = counts.toarray() / np.linalg.norm(counts.toarray(), axis=0)


def cosine(matrix, a, b):
    return float(matrix[words.index(a)] @ matrix[words.index(b)])


print("\ncosines of words          counts   rank 2")
for a, b in (("human", "user"), ("trees", "graph"), ("trees", "minors"), ("human", "minors")):
    print(f"  {a + ' and ' + b:<22} {cosine(raw.T, a, b):>7.2f} {cosine(unit, a, b):>8.2f}")
found = TextVectorizer().fit_transform(texts)
print(f"\nthe same from the texts themselves: {found.shape[1]} words are counted where none is chosen by hand")
