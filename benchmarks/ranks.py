"""Ranks of probabilistic PCA: error of hidden cells, and seconds, by each way to choose. Run: python benchmarks/ranks.py"""

import time
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from tacit.factor import ProbabilisticPCA

METHODS = ("bic", "cv", "auto")
TABLES = {"wine": load_wine, "diabetes": load_diabetes, "breast cancer": load_breast_cancer}


def trial(X: np.ndarray, seed: int) -> np.ndarray:
    """Error of column means; of every method the error and the seconds."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(X.shape) < 0.2
    seen, spread = np.where(hidden, np.nan, X), X.std(axis=0)

    def error(filled: np.ndarray) -> float:
        return float(np.sqrt((((filled - X) / spread)[hidden] ** 2).mean()))

    found = [error(np.broadcast_to(np.nanmean(seen, axis=0), X.shape))]
    for method in METHODS:
        begin = time.perf_counter()
        model = ProbabilisticPCA(method, scale=True, random_state=0, n_jobs=1, parameter_draws=0).fit(seen)
        seconds = time.perf_counter() - begin
        found += [error(model.impute(seen)), seconds]
    return np.array(found)


def main() -> None:
    warnings.simplefilter("ignore")
    trial(load_wine().data[:40], 0)  # compiles
    for name, load in TABLES.items():
        rows = load().data
        for n in (40, len(rows)):
            draws = [rows[np.random.default_rng(seed).permutation(len(rows))[:n]] for seed in range(6)]
            told = np.mean([trial(X, seed) for seed, X in enumerate(draws)], axis=0)
            cells = [f"{told[0]:.2f}"] + [f"{told[i]:.2f} ({told[i + 1]:.2f} s)" for i in (1, 3, 5)]
            print(f"| {name} | {n} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
