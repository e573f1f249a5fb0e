"""``python -m benchmarks.gpu.factorization``: sweeps of matrix factorisation on a GPU and on the cores beside it."""

import time

import numpy as np
import torch

from tacit.recommend import MatrixFactorization, Ratings

SIZES = [(6_000, 3_700, 1_000_000, 50), (160_000, 40_000, 20_000_000, 20), (160_000, 40_000, 20_000_000, 50)]


def popular(n_users, n_items, n, seed=0):
    """Ratings of items by users, some of both far more often than others."""
    rng = np.random.default_rng(seed)
    user = (n_users * rng.random(n) ** 2).astype(np.int32)
    item = (n_items * rng.random(n) ** 3).astype(np.int32)
    u, v = rng.normal(0, 0.4, (n_users, 5)), rng.normal(0, 0.4, (n_items, 5))
    rating = 3.5 + np.einsum("nk,nk->n", u[user], v[item]) + rng.normal(0, 0.8, n)
    return Ratings(user, item, np.clip(np.round(rating), 1, 5), np.arange(n_users), np.arange(n_items))


def timed(ratings, sweeps, **settings):
    """Seconds of a sweep beyond the first three, and the model."""
    seconds = []
    for n in (3, 3 + sweeps):
        start = time.perf_counter()
        model = MatrixFactorization(max_iter=n, tol=0.0, random_state=0, **settings).fit(ratings)
        seconds.append(time.perf_counter() - start)
    return (seconds[1] - seconds[0]) / sweeps, model


def main():
    """Print one line per size and way to learn."""
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    print("| users | items | ratings | K | inference | GPU (ms a sweep) | CPU (ms a sweep) | ratio | difference |")
    print("|---|---|---|---|---|---|---|---|---|")
    for settings in ({"regularization": 5.0, "inference": "map"}, {}):
        for device in ("cuda", None):
            MatrixFactorization(2, max_iter=2, device=device, **settings).fit(popular(500, 400, 500_000))  # compiles
    for n_users, n_items, n, K in SIZES:
        ratings = popular(n_users, n_items, n)
        ratings.by_user, ratings.by_item  # noqa: B018 - sorted once, before anything is timed
        few = ratings.user[:1000], ratings.item[:1000]
        for settings in ({"inference": "map", "regularization": 5.0}, {"inference": "vb"}):
            gpu, ours = timed(ratings, 5, n_components=K, device="cuda", **settings)
            cpu, _ = timed(ratings, 2, n_components=K, **settings)
            same = (
                MatrixFactorization(K, max_iter=8, tol=0.0, random_state=0, **settings).fit(ratings)
                if n < 2e6
                else None
            )
            told = "" if same is None else f"{np.abs(ours.predict(few) - same.predict(few)).max():.0e}"
            row = f"{1e3 * gpu:.0f} | {1e3 * cpu:.0f} | {cpu / gpu:.1f} × | {told}"
            print(f"| {n_users:,} | {n_items:,} | {n:,} | {K} | {settings['inference']} | {row} |", flush=True)


if __name__ == "__main__":
    main()
