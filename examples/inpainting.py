"""Inpainting: half of a picture's pixels are lost; incomplete patches teach a model what stood there, and how sure that is.

Run: python examples/inpainting.py [FIGURE.png]; it needs scikit-image for the picture.
"""

import sys

import numpy as np
from sklearn.neighbors import KNeighborsRegressor

from tacit.factor import ProbabilisticPCA, average_patches, extract_patches

try:
    from skimage.data import camera
except ImportError:
    print("this example needs scikit-image for its picture; install it with: pip install scikit-image")
    sys.exit(0)

SIZE, RANK = 8, 32
truth = camera()[30:286, 100:356] / 255.0
lost = np.random.default_rng(0).random(truth.shape) < 0.5
incomplete = np.where(lost, np.nan, truth)


def psnr(picture):
    return -10 * np.log10(np.mean((picture - truth) ** 2))


def neighbours(n):
    """Lost pixels as the mean of the n nearest seen ones, by inverse distance."""
    model = KNeighborsRegressor(n, weights="distance").fit(np.argwhere(~lost), truth[~lost])
    picture = truth.copy()
    picture[lost] = model.predict(np.argwhere(lost))
    return picture


sample = extract_patches(incomplete, SIZE, step=4)
print(f"camera, {truth.shape[0]} × {truth.shape[1]} pixels, {lost.mean():.0%} lost")
print(f"learned from {len(sample)} patches of {SIZE} × {SIZE} pixels, none of which is whole")
model = ProbabilisticPCA(RANK, tol=1e-3, max_iter=60, random_state=0).fit(sample)
print(f"{model.n_iter_} passes; {model.fit_.reason}; noise of {255 * np.sqrt(model.noise_variance_):.1f} grey levels\n")


# Every lost pixel is in many patches; opinions count by how sure they are.
cells, std = model.impute(extract_patches(incomplete, SIZE), return_std=True)
precision = 1 / np.maximum(std, 1e-3) ** 2
pictures = {
    "mean": np.where(lost, np.nanmean(incomplete), truth),
    "nearest pixel": neighbours(1),
    "mean of 6 nearest": neighbours(6),
    "PPCA of patches": np.where(lost, average_patches(cells, truth.shape, SIZE, weight=precision), truth),
}
for name, picture in pictures.items():
    print(f"{name:<20}{psnr(picture):>6.2f} dB")
unsure, miss = (
    average_patches(std, truth.shape, SIZE, weight=precision)[lost],
    np.abs(pictures["PPCA of patches"] - truth)[lost],
)
quarters = np.array_split(np.argsort(unsure), 4)
print(
    "\nthe model knows where it is unsure: errors (grey levels) of the lost pixels, from the surest quarter to the least sure"
)
print("  " + "".join(f"{255 * np.sqrt(np.mean(miss[rows] ** 2)):>8.1f}" for rows in quarters))

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, places = pyplot.subplots(2, 4, figsize=(13, 6.9), layout="constrained")
    shown = {"truth": truth, "half lost": incomplete, **{name: pictures[name] for name in list(pictures)[2:]}}
    for column, (name, picture) in zip(places.T, shown.items()):
        for ax, part in zip(column, (np.s_[:, :], np.s_[80:180, 120:220])):
            ax.imshow(picture[part], cmap="gray", vmin=0, vmax=1, interpolation="nearest")
            ax.set(xticks=[], yticks=[])
        column[0].set_title(f"{name}: {psnr(picture):.1f} dB" if name in pictures else name, fontsize="medium")
    figure.savefig(sys.argv[1], dpi=110)
