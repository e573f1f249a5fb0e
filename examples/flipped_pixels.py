"""Flipped pixels: every seventh pixel of a silhouette is wrong, and neighbours tell which.

Run: python examples/flipped_pixels.py [FIGURE.png]; it needs scikit-image for the picture.
"""

import sys

import numpy as np

from tacit.graph import compare_denoising, denoise

try:
    from skimage.data import horse
except ImportError:
    print("this example needs scikit-image for its picture; install it with: pip install scikit-image")
    sys.exit(0)

FLIP = 0.15
truth = ~horse().astype(bool)
noisy = truth ^ (np.random.default_rng(0).random(truth.shape) < FLIP)
settings = {"flip": FLIP, "coupling": 1.0, "random_state": 0}

print(f"a horse of {truth.shape[0]} × {truth.shape[1]} pixels, {FLIP:.0%} of them flipped\n")
table = compare_denoising(noisy, truth, **settings)
print(f"{'method':<14}{'wrong pixels':>13}{'energy':>11}{'passes':>8}")
for row in table:
    energy = "" if row["energy"] is None else f"{row['energy']:.1f}"
    print(f"{row['method']:<14}{row['error']:>13.2%}{energy:>11}{row['passes']:>8}")
print(
    "\nThe graph cut is exact: no picture has less energy. The others stop where single pixels, shares or messages rest."
)

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    methods = ("icm", "gibbs", "mean_field", "graph_cut")
    pictures = {"flipped": noisy} | {method: denoise(noisy, method, **settings).image for method in methods}
    figure, places = pyplot.subplots(1, len(pictures), figsize=(13, 2.7), layout="constrained")
    for ax, (name, picture) in zip(places, pictures.items()):
        ax.imshow(picture, cmap="gray_r")
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"{name}: {np.mean(picture != truth):.1%} wrong", fontsize="medium")
    figure.savefig(sys.argv[1], dpi=110)
