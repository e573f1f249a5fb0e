"""`tacit.learning` beside what one tries first in scikit-learn: errors on rows held out of all, shares inside intervals.

python -m benchmarks.learn [FOLDER]   FOLDER: further tables NAME.TARGET.csv; one row of the table printed for each
python -m benchmarks.learn fresh      the error told by few rows of large tables in TACIT_DATA, and that of others
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from tacit.datasets import penguins_path
from tacit.learning import TableClassifier, TableRegressor

DRAWS, HELD_OUT = 3, 0.3
SIZES, BUDGET = (60, 150, 500), 20.0


def tables(folder):
    """Name, columns and target of each table."""
    for load in (load_diabetes, load_breast_cancer, load_wine):
        frame = load(as_frame=True)
        target = (
            frame.target
            if load is load_diabetes
            else frame.target.map(lambda k, names=frame.target_names: str(names[k]))
        )
        yield load.__name__[5:], frame.data, target
    penguins = pd.read_csv(penguins_path())
    for target in ("body_mass_g", "sex"):
        rows = penguins[penguins[target].notna()]
        yield f"penguins {target}", rows.drop(columns=target), rows[target]
    for path in sorted(Path(folder).glob("*.*.csv")) if folder else ():
        table, target = pd.read_csv(path), path.stem.split(".", 1)[1]
        rows = table[table[target].notna()].iloc[:1500]
        yield path.stem, rows.drop(columns=target), rows[target]


def pipelines(X, numbers):
    """A penalised linear model and boosted trees, with columns made ready for each."""
    texts = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    rest = [name for name in X if name not in texts]
    dense = {"handle_unknown": "ignore", "sparse_output": False}
    ready = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), rest), (OneHotEncoder(**dense), texts)
    )  # fmt: skip
    plain = make_column_transformer(("passthrough", rest), (OneHotEncoder(**dense), texts))
    linear = RidgeCV(np.logspace(-3, 4, 20)) if numbers else LogisticRegressionCV(max_iter=2000)
    trees = HistGradientBoostingRegressor() if numbers else HistGradientBoostingClassifier()
    return make_pipeline(ready, linear), make_pipeline(plain, trees)


def error(model, X, y, numbers):
    """Root mean square error, or log loss."""
    if numbers:
        return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))
    return log_loss(y, np.clip(model.predict_proba(X), 1e-6, 1.0), labels=model.classes_)


def compare(X, y, seed):
    """Errors of tacit and of both pipelines, what tacit told, the share inside intervals, seconds, and what was chosen."""
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = np.split(order, [int(HELD_OUT * len(y))])
    numbers = pd.api.types.is_numeric_dtype(y)
    new, known, truth, target = X.iloc[test], X.iloc[train], y.iloc[test], y.iloc[train]
    started = time.perf_counter()
    own = (TableRegressor if numbers else TableClassifier)(random_state=seed, budget=60.0).fit(known, target)
    seconds = time.perf_counter() - started
    losses = own.trial_.best.loss if own.trial_.nested is None else own.trial_.nested
    told = float(np.sqrt(losses.mean()) if numbers else losses.mean())
    inside = np.nan
    if numbers:
        low, high = own.predict_interval(new, 0.9)
        inside = float(((low <= truth) & (truth <= high)).mean())
    rivals = [error(each.fit(known, target), new, truth, numbers) for each in pipelines(X, numbers)]
    return [error(own, new, truth, numbers), told, *rivals, inside, seconds], own.method_


def large():
    """Name, columns and target of three tables of thousands of rows: numbers, two classes, and columns with missing cells."""
    folder = Path(os.environ["TACIT_DATA"])
    cells = np.load(folder / "california" / "california.npz")
    yield "california", pd.DataFrame(cells["X"]).rename(columns=str), pd.Series(np.log(cells["y"]))
    spam = pd.read_csv(folder / "spambase" / "spambase.csv")
    yield "spambase", spam.drop(columns="type"), spam["type"]
    marketing = pd.read_csv(folder / "missing" / "marketing.csv")
    yield "marketing", marketing.drop(columns="Income"), marketing["Income"].astype(float)


def fresh(draws=3):
    """What is told of few rows, and what comes true."""
    print(f"{'table':14s}{'rows':>6s}{'told':>9s}{'chosen':>9s}{'true':>9s}{'inside':>8s}{'seconds':>9s}  models")
    for name, X, y in large():
        numbers = pd.api.types.is_numeric_dtype(y)
        for n in SIZES:
            found, models = [], []
            for seed in range(draws):
                order = np.random.default_rng(seed).permutation(len(y))
                train, test = order[:n], order[n : n + 3000]
                started = time.perf_counter()
                own = (TableRegressor if numbers else TableClassifier)(random_state=seed, budget=BUDGET)
                own.fit(X.iloc[train], y.iloc[train])
                seconds, best = time.perf_counter() - started, own.trial_.best.loss.mean()
                told = best if own.trial_.nested is None else own.trial_.nested.mean()
                inside = np.nan
                if numbers:
                    low, high = own.predict_interval(X.iloc[test], 0.9)
                    inside = float(((low <= y.iloc[test]) & (y.iloc[test] <= high)).mean())
                root = np.sqrt if numbers else float
                found.append([root(told), root(best), error(own, X.iloc[test], y.iloc[test], numbers), inside, seconds])
                models.append(own.method_)
            told, best, true, inside, seconds = np.mean(found, axis=0)
            errors = "".join(f"{value:9.4g}" for value in (told, best, true))
            print(f"{name:14s}{n:6d}{errors}{inside:8.2f}{seconds:9.1f}  {', '.join(sorted(set(models)))}", flush=True)


def main():
    if sys.argv[1:] == ["fresh"]:
        return fresh()
    print(f"{'table':26s}{'tacit':>9s}{'told':>9s}{'linear':>9s}{'trees':>9s}{'inside':>8s}{'seconds':>9s}  chosen")
    for name, X, y in tables(sys.argv[1] if len(sys.argv) > 1 else None):
        found, chosen = zip(*(compare(X, y, seed) for seed in range(DRAWS)))
        own, told, linear, trees, inside, seconds = np.mean(found, axis=0)
        errors = "".join(f"{value:9.4g}" for value in (own, told, linear, trees))
        print(f"{name[:25]:26s}{errors}{inside:8.2f}{seconds:9.1f}  {', '.join(sorted(set(chosen)))}", flush=True)


if __name__ == "__main__":
    main()
