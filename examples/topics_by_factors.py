"""Topics by factors: KL factorisation of counts, its parts scaled to sum to 1, are topics; how near they come to LDA's.

counts ≈ W H: rows of H divided by their sums are topics, rows of W times these sums, divided by theirs, are proportions.

Run: python examples/topics_by_factors.py
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

from tacit.table import Table
from tacit.topics import NMF, AnchorTopics, LatentDirichletAllocation, NMFTopics, completion

rng = np.random.default_rng(0)
n_topics, n_words = 4, 60
topics = rng.dirichlet(np.full(n_words, 0.1), n_topics)
for k in range(n_topics):  # one word of each topic's own
    topics[:, k] = 0.0
    topics[k, k] = 0.05
topics /= topics.sum(axis=1, keepdims=True)
proportions = rng.dirichlet(np.full(n_topics, 0.3), 700)
counts = np.array([rng.multinomial(80, each @ topics) for each in proportions])
learned, new = counts[:500], counts[500:]

by_hand = NMF(n_topics, beta_loss="kullback-leibler", solver="mu", max_iter=1000, random_state=0).fit(learned)
sums = by_hand.components_.sum(axis=1, keepdims=True)
plain = by_hand.components_ / sums


def error(found):
    """Half the L1 distance of topics from the true ones, matched."""
    apart = 0.5 * np.abs(found[:, None] - topics).sum(axis=2)
    return float(apart[linear_sum_assignment(apart)].mean())


print(f"KL-NMF, scaled by hand: topics miss by {error(plain):.3f}")
shares = by_hand.transform(new) * sums[:, 0]
shares /= shares.sum(axis=1, keepdims=True)
match = linear_sum_assignment(0.5 * np.abs(plain[:, None] - topics).sum(axis=2))[1]
print(
    f"its proportions of new documents miss by {0.5 * np.abs(shares - proportions[500:, match]).sum(axis=1).mean():.3f}\n"
)
models = {
    "LDA by NMF": NMFTopics(n_topics, random_state=0), "LDA": LatentDirichletAllocation(n_topics, random_state=0),
    "anchor words": AnchorTopics(n_topics),
}  # fmt: skip
rows = []
for name, model in models.items():
    model.fit(learned)
    held = completion(model, new)
    rows.append({"topics by": name, "miss the true ones by": error(model.topic_word_), "perplexity": held.perplexity})
print(Table(rows))
print(f"a single topic for all: perplexity {held.baseline:.2f}")
