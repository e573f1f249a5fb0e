"""Threes: how people write one digit, as a mean and a few directions in which they differ.

Run: python examples/digit_threes.py [FIGURE.png]; the zip-code digits where TACIT_DATA names a folder that has them, otherwise
the small ones that come with scikit-learn.
"""

import os
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from tacit.factor import PCA, choose_rank

path = Path(os.environ.get("TACIT_DATA", "")) / "usps" / "usps.npz"
if path.is_file():
    stored = np.load(path)
    rows, what = stored["X_train"][stored["y_train"] == 3] / 1000.0, "zip-code digits"
else:
    digits = load_digits()
    rows, what = digits.data[digits.target == 3] / 8.0 - 1.0, "digits of scikit-learn"
side = int(np.sqrt(rows.shape[1]))
print(f"{len(rows)} threes of the {what}, {side} × {side} pixels")

model = PCA().fit(rows)
share = np.cumsum(model.explained_variance_ratio_)
for k in (1, 2, 12, 50):
    print(f"{k:>4} components explain {share[k - 1]:.3f} of the variance")
choice = choose_rank(rows, random_state=0)
print(f"{choice.rank:>4} components stand out from independent pixels (Horn's parallel analysis)")

scores = model.transform(rows)
deviation = np.sqrt(model.explained_variance_)


def three(first, second):
    """The three so many standard deviations along the first two components."""
    return (
        model.mean_ + first * deviation[0] * model.components_[0] + second * deviation[1] * model.components_[1]
    ).reshape(side, side)


upper = model.components_[:2].reshape(2, side, side)[:, : side // 2]
print("\nhow much of a component lies in the upper half of the picture:")
for k in (0, 1):
    print(f"  component {k + 1}: {(upper[k] ** 2).sum():.0%}")
if path.is_file():
    print("The first makes the lower tail long or short, the second the stroke thick or thin.")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from tacit.plot import ScreeDisplay

    figure = pyplot.figure(figsize=(12, 4.6), layout="constrained")
    left, middle, right = figure.subfigures(1, 3, width_ratios=(1, 1, 1.2))
    steps = (-2, -1, 0, 1, 2)
    for ax, (i, j) in zip(left.subplots(5, 5).flat, np.ndindex(5, 5)):
        ax.imshow(three(steps[j], -steps[i]), cmap="gray_r", vmin=-1, vmax=1)
        ax.set_axis_off()
    left.suptitle("mean ± 2 deviations\nalong components 1 (→) and 2 (↑)", fontsize="medium")
    # Real threes, each the nearest to a point of the same grid.
    for ax, (i, j) in zip(middle.subplots(5, 5).flat, np.ndindex(5, 5)):
        place = np.array([steps[j], -steps[i]])
        nearest = np.argmin(((scores[:, :2] / deviation[:2] - place) ** 2).sum(axis=1))
        ax.imshow(rows[nearest].reshape(side, side), cmap="gray_r", vmin=-1, vmax=1)
        ax.set_axis_off()
    middle.suptitle("real threes nearest\nto those points", fontsize="medium")
    shown = ScreeDisplay.from_choice(choice, ax=right.subplots())
    shown.ax_.set_xlim(0.5, 60.5)
    figure.savefig(sys.argv[1], dpi=110)
