"""Types of users and of films, read off a two-sided mixture: who likes what, and how probable each rating is.

Run: python examples/rating_types.py [FIGURE.png]; MovieLens-100K where TACIT_DATA names a folder that has it, otherwise
ratings drawn from three made-up genres.
"""

import os
import sys
from pathlib import Path

from tacit.datasets import load_movielens, make_ratings
from tacit.plot import ItemMapDisplay
from tacit.recommend import Ratings, TwoSidedMixture
from tacit.study.tastes import tastes_of


def films():
    """Ratings, titles of films by number, how many types to look for, and what it is."""
    folder = Path(os.environ.get("TACIT_DATA", "")) / "movielens100k"
    if folder.is_dir():
        data = load_movielens(folder)
        table = {"user": data.X[:, 0], "item": data.X[:, 1], "rating": data.target}
        return Ratings.read(table), data.more["titles"], 4, "ratings of MovieLens-100K"
    data = make_ratings(300, 60, density=0.4, random_state=0)
    return Ratings.read(data.table()), data.more["titles"], 4, "made-up ratings, since MovieLens is not here"


ratings, titles, n_types, what = films()
print(f"{len(ratings):,} {what}: {ratings.n_users:,} users, {ratings.n_items:,} films\n")

model = TwoSidedMixture(n_types, n_types, n_fits=8, random_state=0).fit(ratings)
names = [titles.get(item, item) for item in ratings.items.tolist()]
tastes = tastes_of(model, ratings, names)
for taste in tastes.items:
    print(f"films of type {taste.number} ({taste.n}, mean {taste.mean:.2f}): {'; '.join(taste.names[:4])}")
print()
for taste in tastes.users:
    print(
        f"users of type {taste.number} ({taste.share:.0%}, mean {taste.mean:.2f}): {' '.join(taste.words) or 'as others.'}"
    )

# Not an expected rating only: every level of the scale has a probability.
user, film = ratings.users[0], ratings.items[0]
chances = model.predict_proba(([user], [film]))[0]
told = ", ".join(f"{level:g}: {chance:.0%}" for level, chance in zip(model.levels_, chances))
print(f"\nuser {user} would rate {titles.get(film, film)} with {told}")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    display = ItemMapDisplay.from_estimator(model, names=names, types=tastes.item_type, n=25)
    display.figure_.savefig(sys.argv[1], dpi=110)
