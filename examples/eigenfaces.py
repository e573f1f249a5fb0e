"""Eigenfaces: most of what tells faces apart lies along a few directions, which also foretell what a scarf hides.

Run: python examples/eigenfaces.py [FIGURE.png]; the Olivetti faces where TACIT_DATA names a folder that has them, otherwise the
small faces that come with scikit-image, or the digits of scikit-learn.
"""

import os
import sys
from pathlib import Path

import numpy as np

from tacit.factor import PCA


def images():
    """Pictures as (n, height, width) between 0 and 1, and what they are."""
    path = Path(os.environ.get("TACIT_DATA", "")) / "faces" / "olivetti.npz"
    if path.is_file():
        return np.load(path)["X"] / np.float32(255), "Olivetti faces"
    try:
        from skimage.data import lfw_subset
    except ImportError:
        from sklearn.datasets import load_digits

        return load_digits().images.astype(np.float32) / 16, "digits, since neither Olivetti nor scikit-image is here"
    return lfw_subset()[:100].astype(np.float32), "faces of scikit-image"


pictures, what = images()
n, height, width = pictures.shape
new = np.arange(n) % 10 == 9  # one picture in ten; of the Olivetti faces, the last of every person
rows = pictures.reshape(n, -1)
print(f"{n} {what}, {height} × {width} pixels; {new.sum()} are kept aside")

everything = PCA().fit(rows)
share = np.cumsum(everything.explained_variance_ratio_)
for k in (1, 6, 50, 100):
    if k <= len(share):
        print(f"{k:>4} components explain {share[k - 1]:.4f} of the variance")

# New pictures from the components of the others, and from their upper parts alone.
k = min(int((~new).sum()) // 5, rows.shape[1] // 2)  # what so many pictures can teach
model = PCA(k).fit(rows[~new])
whole = model.reconstruct(rows[new])
scarf = np.zeros((height, width), dtype=bool)
scarf[int(0.6 * height) :] = True
masked = np.where(scarf.ravel(), np.nan, rows[new])
guessed = model.reconstruct(masked)  # a missing pixel counts at its expectation given the others


def error(found, cells=slice(None)):
    return np.sqrt(np.mean((found - rows[new])[:, cells] ** 2))


hidden = scarf.ravel()
mean = np.broadcast_to(model.mean_, whole.shape)
print(f"\nroot mean square error of new pictures from {k} components (black is 0, white is 1)")
print(f"  all pixels:          {error(whole):.3f}   (the mean picture: {error(mean):.3f})")
print(f"  pixels of the scarf: {error(guessed, hidden):.3f}   (the mean picture: {error(mean, hidden):.3f})")
gain = 1 - error(guessed, hidden) / error(mean, hidden)
print(f"What is seen above the scarf takes {gain:.0%} off the error of the pixels under it.")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    chosen = np.linspace(0, new.sum() - 1, 7).astype(int)
    axes_of = everything.components_[:7]
    lines = {
        "mean and\ncomponents": [everything.mean_, *axes_of[:6]],
        "new": rows[new][chosen],
        f"{k} com-\nponents": whole[chosen],
        "scarf": masked[chosen],
        "guessed": np.where(np.isnan(masked), guessed, masked)[chosen],
    }
    figure, places = pyplot.subplots(len(lines), 7, figsize=(9, 6.6), layout="constrained")
    for i, (line, (title, found)) in enumerate(zip(places, lines.items())):
        for j, (ax, picture) in enumerate(zip(line, found)):
            signed = i == 0 and j > 0
            limit = np.abs(picture).max() if signed else 1.0
            look = (
                {"cmap": "PuOr_r", "vmin": -limit, "vmax": limit} if signed else {"cmap": "gray", "vmin": 0, "vmax": 1}
            )
            ax.imshow(picture.reshape(height, width), **look)
            ax.set(xticks=[], yticks=[], facecolor="#0072B2")
        line[0].set_ylabel(title, fontsize="small")
    figure.savefig(sys.argv[1], dpi=110)
