"""Two maxima: a Gaussian with missing cells whose likelihood has two peaks and a saddle, and monthly data filled by EM.

Murray's twelve pairs: four complete, four without the second number, four without the first. Nothing tells whether they go
together or against each other; EM climbs the peak on whose side it starts.

Run: python examples/two_maxima.py; the cement data of Rubin where TACIT_DATA names a folder that has them
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd

from tacit.mixture import GaussianMixture

gap = np.nan
murray = np.array(
    [
        [1, 1],
        [1, -1],
        [-1, 1],
        [-1, -1],
        [2, gap],
        [2, gap],
        [-2, gap],
        [-2, gap],
        [gap, 2],
        [gap, 2],
        [gap, -2],
        [gap, -2],
    ]
)
print("Murray's twelve points, from three starts")
for start in (0.3, -0.3, 0.0):
    first = np.array([[[2.0, 2.0 * start], [2.0 * start, 2.0]]])
    model = GaussianMixture(
        1, means_init=np.zeros((1, 2)), precisions_init=np.linalg.inv(first), weights_init=[1.0], tol=1e-12, max_iter=5000,
        accelerate=None,
    ).fit(murray)  # fmt: skip
    (a, b), (_, c) = model.covariances_[0]
    total = float(model.score_samples(murray).sum())
    print(
        f"  from correlation {start:+.1f}: to {b / np.sqrt(a * c):+.3f}, variance {a:.4f}, log-likelihood {total:.4f}"
    )

path = Path(os.environ.get("TACIT_DATA", "")) / "missing" / "missvals.csv"
if path.is_file():
    table = pd.read_csv(path)
    table = table.select_dtypes("number")
else:
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(13, 1)) @ rng.normal(size=(1, 5)) + 0.3 * rng.normal(size=(13, 5))
    cells[6:, 3:] = np.nan
    cells[9:, 0] = np.nan
    table = pd.DataFrame(cells, columns=[f"x{j}" for j in range(1, 6)])
model = GaussianMixture(1, tol=1e-10, max_iter=5000).fit(table)
filled, std = model.impute(table, return_std=True)
holes, total = int(table.isna().to_numpy().sum()), model.score_samples(table).sum()
print(f"\n{len(table)} rows, {holes} missing cells: log-likelihood {total:.5f}")
print("means    ", np.round(model.means_[0], 4))
print("variances", np.round(np.diag(model.covariances_[0]), 4))
row = int(table.isna().any(axis=1).to_numpy().argmax())
known = table.iloc[row].notna().to_numpy()
told = [f"{name} {value:.1f}" + ("" if seen else f" ± {spread:.1f}") for name, value, seen, spread in
        zip(table.columns, np.asarray(filled)[row], known, np.asarray(std)[row])]  # fmt: skip
print(f"row {row}: " + ", ".join(told))
draws = [np.asarray(each)[row] for each in model.draw_missing(table, 3, random_state=0)]
print("three draws of it:", *(np.round(each[~known], 1) for each in draws))
