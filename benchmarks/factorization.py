"""``python -m benchmarks.factorization``: matrix factorisation beside cmfrec and implicit, on MovieLens-1M.

Seconds of a sweep are those of a fit with more sweeps less those of one with fewer, medians of interleaved repeats; everyone has
two threads. Equal results are checked: errors on a hidden fifth of the ratings, and of events the share of hidden ones in the ten
best items. cmfrec and implicit are needed for their rows, and the folder that ``TACIT_DATA`` names.
"""

import os
import statistics
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from tacit.datasets import load_movielens
from tacit.recommend import MatrixFactorization, Ratings

from .harness import table

K, CORES, REPEATS, LAMBDA = 50, 2, 3, 8.0
FEW, MANY = 2, 7


def films():
    """Ratings of MovieLens-1M, four fifths to learn from and the rest."""
    data = load_movielens(Path(os.environ["TACIT_DATA"]) / "movielens1m")
    users, user = np.unique(data.X[:, 0], return_inverse=True)
    items, item = np.unique(data.X[:, 1], return_inverse=True)
    ratings = Ratings(user, item, data.target, users, items)
    hidden = np.random.default_rng(0).permutation(len(ratings)) % 5 == 0
    return ratings.take(~hidden), ratings.take(hidden)


def matrix(ratings):
    """The ratings as a sparse matrix."""
    return csr_matrix((ratings.rating, (ratings.user, ratings.item)), shape=(ratings.n_users, ratings.n_items))


def cmfrec(cells, n, use_cg):
    """Alternating least squares of cmfrec, with biases."""
    from cmfrec import CMF

    return CMF(
        k=K, lambda_=LAMBDA, method="als", use_cg=use_cg, niter=n, nthreads=CORES, verbose=False, finalize_chol=False,
        center=True, precompute_for_predictions=False, use_float=True, random_state=1,
    ).fit(cells)  # fmt: skip


def ours(ratings, n, **settings):
    """Sweeps of ours."""
    return MatrixFactorization(K, max_iter=n, tol=0.0, random_state=0, n_jobs=CORES, **settings).fit(ratings)


POINTS = {"inference": "map", "regularization": LAMBDA}


def implicit(cells, n, use_cg=True):
    """Alternating least squares of implicit, of events."""
    from implicit.als import AlternatingLeastSquares

    model = AlternatingLeastSquares(
        K, regularization=LAMBDA, alpha=1.0, iterations=n, num_threads=CORES, use_cg=use_cg, random_state=0
    )
    model.fit(cells, show_progress=False)
    return model


def per_sweep(ways):
    """Median seconds of a sweep of each way, interleaved, and the model with more sweeps."""
    seconds, models = {name: [] for name in ways}, {}
    for _ in range(REPEATS):
        for name, fit in ways.items():
            spent = []
            for n in (FEW, MANY):
                start = time.perf_counter()
                models[name] = fit(n)
                spent.append(time.perf_counter() - start)
            seconds[name].append((spent[1] - spent[0]) / (MANY - FEW))
    return {name: statistics.median(values) for name, values in seconds.items()}, models


def rmse(predicted, test):
    """Error of ratings within the scale."""
    return float(np.sqrt(np.mean((np.clip(predicted, 1, 5) - test.rating) ** 2)))


def found(items, test):
    """Share of users' hidden items, of ten at most, that are among their ten best."""
    hidden = matrix(test)
    counts = np.minimum(np.diff(hidden.indptr), 10)
    hits = np.array(
        [np.isin(items[u], hidden.indices[a:b]).sum() for u, (a, b) in enumerate(zip(hidden.indptr, hidden.indptr[1:]))]
    )
    return float(hits.sum() / counts.sum())


def main():
    """Print the table."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    train, test = films()
    frame = {"UserId": train.user, "ItemId": train.item, "Rating": train.rating.astype(float)}
    import pandas

    frame = pandas.DataFrame(frame)
    ours(train.take(np.arange(1000)), 2)
    ours(train, 1, **POINTS)
    ours(train, 1, **POINTS, solver="cg")
    ways = {
        "cmfrec, Cholesky": lambda n: cmfrec(frame, n, False),
        "cmfrec, CG": lambda n: cmfrec(frame, n, True),
        "ours, points": lambda n: ours(train, n, **POINTS),
        "ours, points by CG": lambda n: ours(train, n, **POINTS, solver="cg"),
        "ours, variational": lambda n: ours(train, n),
    }
    seconds, models = per_sweep(ways)
    rows = []
    for name, model in models.items():
        by_us = name.startswith("ours")
        predicted = model.predict(test) if by_us else model.predict(test.user, test.item)
        ratio = f"{seconds[name] / seconds['ours, points']:.2f} ×"
        rows.append(
            {
                "ratings, K = 50": name,
                "s a sweep": f"{seconds[name]:.3f}",
                "over ours, points": ratio,
                "RMSE": f"{rmse(predicted, test):.4f}",
            }
        )
    print(table(rows), flush=True)
    events(train, test)


def events(train, test):
    """Print the tables of events and of rankings."""
    liked, later = train.take(train.rating >= 4), test.take(test.rating >= 4)
    cells, settings = matrix(liked), {"response": "implicit", "biases": False, "alpha": 1.0}
    # An event of strength r has the weight r there, and 1 + r here.
    less = Ratings(liked.user, liked.item, liked.rating - 1, liked.users, liked.items)
    ways = {
        "implicit, CG": lambda n: implicit(cells, n),
        "implicit, Cholesky": lambda n: implicit(cells, n, False),
        "ours, CG": lambda n: ours(less, n, **settings, **POINTS, solver="cg"),
        "ours, Cholesky": lambda n: ours(less, n, **settings, **POINTS),
    }
    for fit in ways.values():
        fit(1)
    seconds, models = per_sweep(ways)
    rows, spent = [], {name: [] for name in models}
    for _ in range(REPEATS):
        for name, model in models.items():
            start = time.perf_counter()
            if name.startswith("ours"):
                items = np.searchsorted(liked.items, model.recommend_all(10)[0])
            else:
                items = model.recommend(np.arange(liked.n_users), cells, N=10)[0]
            spent[name].append(time.perf_counter() - start)
            models[name] = model
            if len(spent[name]) == REPEATS:
                rows.append({
                    "events, K = 50": name, "s a sweep": f"{seconds[name]:.3f}",
                    "ten best (s)": f"{statistics.median(spent[name]):.3f}",
                    "hidden ones found": f"{found(items, later):.4f}",
                })  # fmt: skip
    print(table(rows))


if __name__ == "__main__":
    main()
