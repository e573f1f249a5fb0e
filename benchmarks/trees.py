"""Trees and forests against scikit-learn's: growth to purity and prediction, interleaved, by wall time and CPU time.

`--trees 100` grows forests of 100 trees, which takes minutes.
"""

import argparse
import time

import numpy as np
from sklearn import ensemble, tree
from sklearn.datasets import load_iris, make_classification

from tacit import ensemble as ours
from tacit import tree as our_trees

__all__ = ["main"]


def clock(function):
    """Wall time, CPU time and what a function returns."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = function()
    return time.perf_counter() - wall, time.process_time() - cpu, found


def compare(name, mine, theirs, runs=2):
    """Print the ratios of the least of some interleaved runs."""
    mine()
    times = [(clock(mine), clock(theirs)) for _ in range(runs)]
    wall, cpu = (min(b[k] for _, b in times) / min(a[k] for a, _ in times) for k in (0, 1))
    print(f"{name:<44} {min(a[0] for a, _ in times):9.4f} s   {wall:6.2f} x wall   {cpu:6.2f} x CPU")
    return times[0][0][2], times[0][1][2]


def main(n=100_000, trees=10):
    """Run all."""
    X, y = make_classification(n + 20_000, 30, n_informative=10, random_state=0)
    X, new, y, new_y = X[:n], X[n:], y[:n], y[n:]
    compare("DecisionTreeClassifier", lambda: our_trees.DecisionTreeClassifier().fit(X, y),
            lambda: tree.DecisionTreeClassifier().fit(X, y), 1)  # fmt: skip
    for kind in ("RandomForestClassifier", "ExtraTreesClassifier"):
        a, b = compare(
            f"{kind}, {trees} trees",
            lambda: getattr(ours, kind)(trees, n_jobs=2, random_state=0).fit(X, y),  # noqa: B023
            lambda: getattr(ensemble, kind)(trees, n_jobs=2, random_state=0).fit(X, y),  # noqa: B023
            1,
        )
        sizes = [
            np.mean([each.node_count for each in a.trees_]),
            np.mean([each.tree_.node_count for each in b.estimators_]),
        ]
        print(
            f"    error {1 - a.score(new, new_y):.4f} and {1 - b.score(new, new_y):.4f}, nodes {sizes[0]:.0f} and {sizes[1]:.0f}"
        )
        compare(f"{kind}, prediction", lambda: a.predict_proba(new), lambda: b.predict_proba(new))  # noqa: B023
    X, y = load_iris(return_X_y=True)
    compare("DecisionTreeClassifier, iris", lambda: our_trees.DecisionTreeClassifier().fit(X, y),
            lambda: tree.DecisionTreeClassifier().fit(X, y), 20)  # fmt: skip
    compare("RandomForestClassifier, iris, 100 trees", lambda: ours.RandomForestClassifier(random_state=0).fit(X, y),
            lambda: ensemble.RandomForestClassifier(random_state=0).fit(X, y), 3)  # fmt: skip


if __name__ == "__main__":
    np.seterr(all="ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=10)
    main(trees=parser.parse_args().trees)
