"""Parts of faces: non-negative factors of pictures are eyes, mouths and shadows, and fill in what is hidden of a face.

Run: python examples/face_parts.py [FIGURE.png]; the CBCL faces where TACIT_DATA names a folder that has them, otherwise the small
faces that come with scikit-image, or the digits of scikit-learn.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tacit.topics import NMF

warnings.simplefilter("ignore", ConvergenceWarning)  # a fixed number of passes is what is wanted here


def images():
    """Pictures as (n, height, width) between 0 and 1, and what they are."""
    path = Path(os.environ.get("TACIT_DATA", "")) / "faces" / "cbcl.npz"
    if path.is_file():
        return np.load(path)["X"] / 255.0, "CBCL faces"
    try:
        from skimage.data import lfw_subset
    except ImportError:
        from sklearn.datasets import load_digits

        return load_digits().images / 16.0, "digits, since neither CBCL nor scikit-image is here"
    return lfw_subset()[:100].astype(float), "faces of scikit-image"


pictures, what = images()
n, height, width = pictures.shape
rows = pictures.reshape(n, -1)
new = np.arange(n) % 20 == 19
k = 49 if n > 1000 else 16
print(f"{n} {what}, {height} × {width} pixels; {new.sum()} are kept aside")

parts = NMF(k, max_iter=200).fit(rows[~new])
size = np.linalg.norm(rows[~new])
bound = np.sqrt((np.linalg.svd(rows[~new], compute_uv=False)[k:] ** 2).sum()) / size
print(f"{k} parts leave {parts.reconstruction_err_ / size:.4f} of the pictures' length after {parts.n_iter_} passes;")
print(f"no factors of that rank, of any sign, leave less than {bound:.4f}.")
zeros = (parts.components_ < 1e-3 * parts.components_.max(axis=1, keepdims=True)).mean()
print(f"{zeros:.0%} of the pixels of a part are black: parts are local.")

# Half of the pixels of new faces from the other half.
hidden = np.random.default_rng(0).random(rows[new].shape) < 0.5
masked = np.where(hidden, np.nan, rows[new])
filled = parts.impute(masked)


def error(found, cells):
    return np.sqrt(np.mean((found - rows[new])[cells] ** 2))


mean = np.broadcast_to(rows[~new].mean(axis=0), filled.shape)
print(
    f"The hidden pixels are filled with an error of {error(filled, hidden):.3f} (the mean picture: {error(mean, hidden):.3f})."
)

# Parts are local, so that the left side of a face says little of the right one: there a penalty must hold them.
right = np.broadcast_to((np.arange(width) >= width // 2)[None].repeat(height, axis=0).ravel(), hidden.shape)
for alpha in (0.0, 0.1):
    side = parts.set_params(alpha_W=alpha).impute(np.where(right, np.nan, rows[new]))
    told = f"{error(side, right):.3f} (the mean picture: {error(mean, right):.3f})"
    print(f"The right side from the left one, alpha_W={alpha:g}: {told}.")
parts.set_params(alpha_W=0.0)

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, places = pyplot.subplots(7, 10, figsize=(9, 6.6), layout="constrained")
    order = np.argsort(-(parts.transform(rows[~new]).sum(axis=0) * parts.components_.sum(axis=1)))
    for ax, part in zip(places[:4].ravel(), parts.components_[order]):
        ax.imshow(part.reshape(height, width), cmap="gray_r")
    chosen = np.linspace(0, new.sum() - 1, 10).astype(int)
    for line, (title, found) in zip(places[4:], {"new": rows[new], "half": masked, "filled": filled}.items()):
        line[0].set_ylabel(title)
        for ax, picture in zip(line, found[chosen]):
            ax.imshow(picture.reshape(height, width), cmap="gray", vmin=0, vmax=1)
    for ax in places.ravel():
        ax.set(xticks=[], yticks=[], facecolor="#0072B2")
    places[0, 0].set_ylabel("parts")
    figure.savefig(sys.argv[1], dpi=110)
