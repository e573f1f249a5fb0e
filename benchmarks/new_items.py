"""Items that nobody has rated, predicted from their features: a fifth of the films of MovieLens-100K with all ratings hidden.

python -m benchmarks.new_items
"""

import os
from pathlib import Path

import numpy as np

from tacit.recommend import ContentRecommender, MatrixFactorization, Ratings
from tacit.recommend.baseline import fit_baseline
from tacit.recommend.features import features_of

from .harness import table

FOLDER = Path(os.environ.get("TACIT_DATA", "")) / "movielens100k"


def films():
    """Years and genres of the films."""
    cells = [line.split("|") for line in (FOLDER / "u.item").read_text(encoding="latin-1").splitlines()]
    genres = ["|".join(str(k) for k, mark in enumerate(each[-19:]) if mark == "1") for each in cells]
    years = [float(each[2][-4:]) if each[2] else np.nan for each in cells]
    return {"item": np.arange(1, 1683), "year": years, "genre": genres}


def people():
    """Ages, sexes and occupations of the users."""
    cells = [line.split("|") for line in (FOLDER / "u.user").read_text().splitlines()]
    columns = zip(*cells)
    return dict(zip(("user", "age", "sex", "occupation"), (list(map(int, next(columns))), *columns)))


def row(name, rating, test, interval=None):
    """RMSE and coverage in a row of the table."""
    held = "" if interval is None else f"{np.mean((interval[0] <= test.rating) & (test.rating <= interval[1])):.3f}"
    return {"by": name, "RMSE": f"{np.sqrt(np.mean((rating - test.rating) ** 2)):.4f}", "90 % intervals hold": held}


def main():
    """Print the table."""
    cells = np.loadtxt(FOLDER / "u.data")
    ratings = Ratings(cells[:, 0] - 1, cells[:, 1] - 1, cells[:, 2], np.arange(1, 944), np.arange(1, 1683))
    new = np.random.default_rng(0).random(ratings.n_items) < 0.2
    learned, test = ratings.take(~new[ratings.item]), ratings.take(new[ratings.item])
    base = fit_baseline(learned)
    items, users = films(), {name: column for name, column in people().items()}
    users["age"] = list(map(float, users["age"]))
    rows = [row("mean of all ratings", np.full(len(test), base.mean), test)]
    rows.append(row("bias of the user", base.expect(test.user, np.full(len(test), -1)), test))
    for name, along in (("year and genre", {}), ("year and genre, features of users", {"user_features": users})):
        model = ContentRecommender().fit(learned, item_features=items, **along)
        rows.append(row(f"content: {name}", model.predict(test), test, model.predict_interval(test)))
    matrix = features_of(items, ratings.items).matrix
    matrix = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    model = MatrixFactorization(random_state=0).fit(learned, item_features=matrix)
    rows.append(row("factors linked to year and genre", model.predict(test), test, model.predict_interval(test)))
    print(table(rows))


if __name__ == "__main__":
    main()
