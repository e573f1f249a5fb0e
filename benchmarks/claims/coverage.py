"""``python -m benchmarks.claims.coverage [FOLDER …]``: do filled cells lie in their 90 % intervals, and beat a naive fill?

Of every table a tenth of the known cells of columns with missing cells is hidden (of complete tables, of all columns), a fifth
where rows are under 200. `choose_imputer` gets what is left, and calibrates by cells that it hides itself; it never sees those
that are judged here. Errors are root mean squares in standard deviations of the columns, beside those of the mean of the known
cells; levels are judged where they were filled, beside the most frequent one. Tables are CSV files under the folder that
TACIT_DATA names, those of scikit-learn, and those of the folders given.
"""

import argparse
import glob
import os
import time
import warnings

import numpy as np
import pandas as pd
from sklearn import datasets

from tacit.impute import choose_imputer
from tacit.tables import open_table

from ..harness import table

NAMES = (
    "missing/airquality", "missing/boys", "missing/housevotes84", "missing/mammalsleep", "missing/oceanbuoys", "missing/ozone",
    "missing/pima", "cars04/cars04_387", "esl/prostate", "esl/saheart", "marks/marks", "mclust/banknote", "mclust/thyroid",
)  # fmt: skip
MOST_ROWS = 3000


def frames(folders):
    """Yield tables by name."""
    for name in NAMES:
        path = os.path.join(os.environ.get("TACIT_DATA", ""), f"{name}.csv")
        if os.path.exists(path):
            yield name.split("/")[1], pd.read_csv(path, skipinitialspace=True)
    for name in ("wine", "breast_cancer", "diabetes"):
        yield name, getattr(datasets, f"load_{name}")(as_frame=True).frame.iloc[:, :12]
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(folder, "*.csv"))):
            yield os.path.basename(path)[:-4], pd.read_csv(path, skipinitialspace=True)


def hidden_cells(frame, rng):
    """The table as it is read, and a mask of known cells to hide, in columns that models use."""
    read = open_table(frame)
    used = [column.name for column in read.used]
    known = frame[used].notna().to_numpy()
    chosen = known & ~known.all(axis=0) if not known.all() else known
    return used, chosen & (rng.random(known.shape) < (0.1 if len(frame) >= 200 else 0.2))


def judge(frame, seed, budget):
    """How good the fills of a table are: a row of the printed table, and its figures."""
    rng = np.random.default_rng(seed)
    frame = frame.iloc[np.sort(rng.permutation(len(frame))[:MOST_ROWS])].reset_index(drop=True)
    used, mask = hidden_cells(frame, rng)
    given = frame.copy()
    for j, name in enumerate(used):
        given[name] = given[name].mask(mask[:, j])
    started = time.perf_counter()
    choice = choose_imputer(given, groups=range(1, 4), seed=seed, budget=budget)
    told = choice.model.impute(given[list(choice.table.schema.names)], interval=0.9)
    took = time.perf_counter() - started
    covered, error, naive, right, usual, empty = [], [], [], [], [], 0
    for j, column in enumerate(choice.table.used):
        hidden = mask[:, used.index(column.name)]
        truth, filled = frame[column.name][hidden], told.filled[column.name][hidden]
        kept = filled.notna().to_numpy()
        empty += int((~kept).sum())
        if not kept.any():
            continue
        if column.levels:
            best = given[column.name].mode().iloc[0]
            right.append(np.array([one == other for one, other in zip(filled[kept], truth[kept])]))
            usual.append(np.array([one == best for one in truth[kept]]))
            continue
        y, spread = truth[kept].to_numpy(float), float(frame[column.name].std()) or 1.0
        low, high = (end[hidden, j][kept] for end in (told.low, told.high))
        small = 1e-9 * np.abs(y)
        covered.append((low <= y + small) & (y <= high + small))
        error.append((y - filled[kept].to_numpy(float)) / spread)
        naive.append((y - float(given[column.name].mean())) / spread)
    return choice.method, took, empty, covered, error, naive, right, usual


def main():
    """Print one line a table, and all of them together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--budget", type=float, default=30.0)
    parser.add_argument("--only", nargs="*")
    asked = parser.parse_args()
    lines, every = [], []
    for name, frame in frames(asked.folders):
        if asked.only and name not in asked.only:
            continue
        parts = [[] for _ in range(5)]
        method, took, empty = "", 0.0, 0
        for seed in range(asked.seeds):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                method, seconds, blank, *found = judge(frame, seed, asked.budget)
            took, empty = took + seconds, empty + blank
            for part, more in zip(parts, found):
                part.extend(more)
        covered, error, naive, right, usual = (np.concatenate(part) if part else np.empty(0) for part in parts)
        every.append((covered, error, naive))
        line = {"table": name, "rows": len(frame), "method": method, "numbers": len(covered), "left empty": empty}
        line |= {"covered": f"{covered.mean():.3f}", "error": f"{np.sqrt((error**2).mean()):.2f}",
                 "mean's": f"{np.sqrt((naive**2).mean()):.2f}"} if len(covered) else {}  # fmt: skip
        line |= (
            {"levels": len(right), "right": f"{right.mean():.2f}", "usual": f"{usual.mean():.2f}"} if len(right) else {}
        )
        lines.append(line | {"s": f"{took:.0f}"})
        print(lines[-1], flush=True)
    names = list(dict.fromkeys(key for line in lines for key in line))
    print(table([{key: str(line.get(key, "")) for key in names} for line in lines]))
    covered, error, naive = (np.concatenate([each[i] for each in every]) for i in range(3))
    inside = [each[0].mean() for each in every if len(each[0])]
    print(f"all cells: {covered.mean():.3f} of {len(covered):,} covered; mean over tables {np.mean(inside):.3f}; "
          f"{sum(0.87 <= each <= 0.93 for each in inside)} of {len(inside)} tables within 0.87 to 0.93; "
          f"error {np.sqrt((error**2).mean()):.3f}, mean's {np.sqrt((naive**2).mean()):.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
