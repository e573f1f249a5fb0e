"""Denoising: small patches of a picture lie near a few directions, noise near none; a model of both tells them apart.

Run: python examples/denoising.py [FIGURE.png]; it needs scikit-image for the picture.
"""

import sys

import numpy as np
from sklearn.decomposition import PCA

from tacit.factor import ProbabilisticPCA, average_patches, extract_patches
from tacit.families import FactorGaussian
from tacit.mixture import Mixture

try:
    from skimage.data import camera
except ImportError:
    print("this example needs scikit-image for its picture; install it with: pip install scikit-image")
    sys.exit(0)

SIZE = 8
truth = camera() / 255.0
noisy = truth + 25 / 255 * np.random.default_rng(0).normal(size=truth.shape)
patches, sample = extract_patches(noisy, SIZE, step=2), extract_patches(noisy, SIZE, step=5)


def psnr(picture):
    return -10 * np.log10(np.mean((picture - truth) ** 2))


def expected(mixture, rows):
    """E[μ + W z | x] of each row and its variance: every class shrinks by its own axes and noise."""
    classes, resp = mixture.params_.components.parts[0], mixture.predict_proba(rows)
    mean, square = np.zeros_like(rows), np.zeros_like(rows)
    for k, (middle, loading, noise) in enumerate(zip(classes.mean, classes.loading, classes.noise[:, 0])):
        spread = np.linalg.inv(np.eye(loading.shape[1]) + loading.T @ loading / noise)
        guess = middle + (rows - middle) @ (loading @ spread @ loading.T / noise)
        variance = ((loading @ spread) * loading).sum(axis=1)
        mean += resp[:, [k]] * guess
        square += resp[:, [k]] * (variance + guess**2)
    return mean, square - mean**2


print(f"camera, {truth.shape[0]} × {truth.shape[1]} pixels, noise of 25 grey levels: {psnr(noisy):.2f} dB")
print(f"{len(patches)} patches of {SIZE} × {SIZE} pixels, learned from {len(sample)} of them\n")
print(f"{'components':>10}{'PCA, cut off':>14}{'PPCA, shrunk':>14}{'its noise':>11}")
for k in (4, 8, 16, 32):
    cut = PCA(k).fit(sample)
    shrunk = ProbabilisticPCA(k).fit(sample)
    hard = average_patches(cut.inverse_transform(cut.transform(patches)), truth.shape, SIZE, step=2)
    soft = average_patches(shrunk.reconstruct(patches), truth.shape, SIZE, step=2)
    print(f"{k:>10}{psnr(hard):>14.2f}{psnr(soft):>14.2f}{255 * np.sqrt(shrunk.noise_variance_):>11.1f}")
    if k == 8:
        best_cut = hard

mixture = Mixture(8, family=FactorGaussian(8), tol=0.02, max_iter=60, random_state=0).fit(sample)
guess, variance = expected(mixture, patches)
mixed = average_patches(guess, truth.shape, SIZE, step=2, weight=1 / variance)
print(f"\nmixture of 8 PPCA of 8 components, patches averaged by precision: {psnr(mixed):.2f} dB")
print(
    "Components that are cut off take detail with them or bring noise along, so their number matters; shrunk ones do neither."
)
print(
    f"A mixture has axes for flat parts, for edges of each direction and for grass: {psnr(mixed) - psnr(soft):+.1f} dB."
)

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, places = pyplot.subplots(2, 4, figsize=(13, 6.9), layout="constrained")
    shown = {"truth": truth, "noisy": noisy, "PCA, 8 components": best_cut, "mixture of PPCA": mixed}
    for column, (name, picture) in zip(places.T, shown.items()):
        for ax, part in zip(column, (np.s_[:, :], np.s_[90:220, 170:300])):
            ax.imshow(picture[part], cmap="gray", vmin=0, vmax=1)
            ax.set(xticks=[], yticks=[])
        column[0].set_title(name if name == "truth" else f"{name}: {psnr(picture):.1f} dB", fontsize="medium")
    figure.savefig(sys.argv[1], dpi=110)
