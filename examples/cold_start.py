"""Cold start: films that nobody has rated and people whom nobody knows, predicted by features, by a few ratings, or in general.

Run: python examples/cold_start.py [FIGURE.png]; MovieLens-100K where TACIT_DATA names a folder that has it, otherwise
ratings drawn from made-up genres.
"""

import os
import sys
from pathlib import Path

import numpy as np

from tacit.datasets import load_movielens, make_ratings
from tacit.recommend import ContentRecommender, MatrixFactorization, Ratings, metrics


def films():
    """Ratings, features of films, titles, and what it is."""
    folder = Path(os.environ.get("TACIT_DATA", "")) / "movielens100k"
    if folder.is_dir():
        data = load_movielens(folder)
        table = {"user": data.X[:, 0], "item": data.X[:, 1], "rating": data.target}
        return Ratings.read(table), data.more["items"], data.more["titles"], "ratings of MovieLens-100K"
    data = make_ratings(300, 90, density=0.3, random_state=0)
    genres = {"item": data.more["items"], "genre": [title.split()[0] for title in data.more["titles"].values()]}
    return Ratings.read(data.table()), genres, data.more["titles"], "made-up ratings, since MovieLens is not here"


ratings, features, titles, what = films()
print(f"{len(ratings):,} {what}\n")

# Every tenth film loses all of its ratings.
hidden = np.random.default_rng(0).permutation(ratings.n_items) % 10 == 0
new = hidden[ratings.item]
known, held = ratings.take(~new), ratings.take(new)
print(f"{hidden.sum()} films are new: {len(held):,} ratings of them are predicted from features alone")

mean = np.full(len(held), known.rating.mean())
plain = MatrixFactorization(10, random_state=0).fit(known)
informed = MatrixFactorization(10, random_state=0).fit(known, item_features=features)
content = ContentRecommender().fit(known, item_features=features)
errors = {"the mean of all ratings": metrics.rmse(held.rating, mean)}
for name, model in (("factors, no features", plain), ("factors with features", informed), ("features alone", content)):
    low, high = model.predict_interval(held)
    inside = metrics.interval_coverage(held.rating, low, high)
    errors[name] = metrics.rmse(held.rating, model.predict(held))
    print(f"  {name + ':':<24} error {errors[name]:.3f}, {inside:.0%} inside 90 % intervals")
print(f"  {'the mean of all ratings:':<24} error {errors['the mean of all ratings']:.3f}")

# Somebody new: nothing is known, then a few ratings are.
best = plain.recommend("somebody", 3)
print(f"\nto somebody unknown: {', '.join(titles.get(item, str(item)) for item in best.items)}")
counts = np.bincount(known.item, minlength=known.n_items)
liked, disliked = known.items[np.argsort(-counts)[:2]]
best = plain.recommend({liked: 5, disliked: 1}, 3)
print(f"to somebody who gave {titles.get(liked, liked)} a 5 and {titles.get(disliked, disliked)} a 1: "
      f"{', '.join(titles.get(item, str(item)) for item in best.items)}")  # fmt: skip

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(6.4, 2.8), layout="constrained")
    ax.barh(list(errors), list(errors.values()), color="#0072B2")
    ax.invert_yaxis()
    ax.set(xlabel="error on ratings of new films", xlim=(0.9 * min(errors.values()), 1.02 * max(errors.values())))
    figure.savefig(sys.argv[1], dpi=110)
