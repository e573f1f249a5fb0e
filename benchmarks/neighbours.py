"""Neighbourhoods against Surprise's KNNBaseline: a fit and predictions of all hidden ratings, to an equal or lower RMSE.

Both sides learn biases and shrunk correlations of what they leave, with 30 neighbours; runs are interleaved. Surprise is given
its own kind of table, made beforehand. MovieLens is read from the folder that TACIT_DATA names:

    python -m benchmarks.neighbours
"""

import argparse
import os
from functools import partial
from pathlib import Path

import numpy as np

from tacit.recommend import NeighbourhoodRecommender, Ratings

from .harness import Job, measure, table


def hundred_thousand():
    """MovieLens-100K, the first official fold hidden."""
    folder = Path(os.environ["TACIT_DATA"]) / "movielens100k"
    cells = np.loadtxt(folder / "u.data")
    return parted(cells[:, 0], cells[:, 1], cells[:, 2], np.load(folder / "splits.npz")["fold"] == 1)


def million():
    """MovieLens-1M, a fifth hidden at random."""
    cells = np.load(Path(os.environ["TACIT_DATA"]) / "movielens1m" / "ratings.npz")
    hidden = np.random.default_rng(0).permutation(len(cells["rating"])) % 5 == 0
    return parted(cells["user"], cells["item"], cells["rating"], hidden)


def parted(user, item, rating, hidden):
    """Ratings to learn from and to predict, for us and for Surprise."""
    import pandas as pd
    from surprise import Dataset, Reader

    (users, user), (items, item) = (np.unique(each, return_inverse=True) for each in (user, item))
    ratings = Ratings(user, item, rating, users, items)
    learned, test = ratings.take(~hidden), ratings.take(hidden)
    frame = pd.DataFrame({"user": user[~hidden], "item": item[~hidden], "rating": rating[~hidden].astype(float)})
    theirs = Dataset.load_from_df(frame, Reader(rating_scale=(1, 5))).build_full_trainset()
    pairs = list(zip(user[hidden].tolist(), item[hidden].tolist(), rating[hidden].astype(float).tolist()))
    return learned, test, theirs, pairs


def ours(by, data):
    """RMSE of ours."""
    learned, test, *_ = data
    model = NeighbourhoodRecommender(by).fit(learned)
    return float(np.sqrt(np.mean((model.predict(test) - test.rating) ** 2)))


def theirs(by, data):
    """RMSE of Surprise's, by its recommended similarity and as many neighbours."""
    from surprise import KNNBaseline

    *_, learned, pairs = data
    options = {"name": "pearson_baseline", "user_based": by == "user", "shrinkage": 100}
    model = KNNBaseline(k=30, sim_options=options, verbose=False).fit(learned)
    return float(np.sqrt(np.mean([(found.est - found.r_ui) ** 2 for found in model.test(pairs)])))


def lower(mine, other):
    """Both errors, of which ours must not be higher."""
    assert mine <= other + 1e-4, f"our RMSE is {mine:.4f}, theirs {other:.4f}"
    return f"RMSE {mine:.4f} and {other:.4f}"


def job(name, make, by, repeats):
    """One comparison."""
    return Job(f"{name}, by {by}", "Surprise", make, partial(ours, by), partial(theirs, by), lower, 5.0, repeats)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--large", action="store_true", help="also MovieLens-1M by item, where Surprise takes minutes")
    large = parser.parse_args().large
    jobs = [job("MovieLens-100K", hundred_thousand, by, 3) for by in ("item", "user")]
    jobs += [job("MovieLens-1M", million, "item", 1)] if large else []
    print(table([measure(each, memory=False) for each in jobs]))


if __name__ == "__main__":
    main()
