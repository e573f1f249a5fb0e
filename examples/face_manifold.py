"""A manifold of faces: frames of a film lie near a curved surface of two dimensions, which an autoencoder finds.

Kingma and Welling (2014) drew this map of the faces of Brendan Frey: what the decoder expects at points of a grid, which lie
where the frames do.

Run: python examples/face_manifold.py [FIGURE.png]; the frames where TACIT_DATA names a folder that has them, else
scikit-learn's digits.
"""

import os
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from tacit.factor import ProbabilisticPCA
from tacit.variational import VariationalAutoencoder

path = Path(os.environ.get("TACIT_DATA", "")) / "faces" / "frey.npz"
pictures = np.load(path)["X"] if path.is_file() else load_digits().images[load_digits().target < 5]
height, width = pictures.shape[1:]
X = pictures.reshape(len(pictures), -1).astype(float)
order = np.random.default_rng(0).permutation(len(X))
train, test = X[order[: -len(X) // 5]], X[order[-len(X) // 5 :]]

# Pixels have one unit and one noise, as principal components have it, so that the two can be compared.
settings = {
    "family": "gaussian",
    "scale": False,
    "noise": "shared",
    "n_importance": 1,
    "validation_fraction": 0.0,
    "batch_size": 64,
}
model = VariationalAutoencoder(
    2, **settings, encoder_widths=(128,), decoder_widths=(128,), max_epochs=60, random_state=0
)
model.fit(train)
ppca = ProbabilisticPCA(2).fit(train)
print(f"{len(train)} pictures of {height} × {width} pixels, and {len(test)} that were left out")
print("\nlog density of a picture left out, by two dimensions")
for name, each in (("principal components", ppca), ("autoencoder", model)):
    print(f"  {name:<22}{each.score(test):>10.0f}")

# The lower half of a picture, filled in from the upper one.
hidden = test.copy()
hidden[:, X.shape[1] // 2 :] = np.nan
print("\nroot mean square error of the lower half, filled in from the upper one")
mean = np.where(np.isnan(hidden), train.mean(axis=0), hidden)
for name, filled in (
    ("mean picture", mean),
    ("principal components", ppca.impute(hidden[:100])),
    ("autoencoder", model.impute(hidden[:100])),
):
    error = (filled[:100] - test[:100])[:, X.shape[1] // 2 :]
    print(f"  {name:<22}{np.sqrt(np.mean(error**2)):>10.1f}")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    across, along = np.quantile(model.transform(train), (np.arange(14) + 0.5) / 14, axis=0).T
    grid = np.array([[a, b] for b in along[::-1] for a in across])
    faces = model.inverse_transform(grid).reshape(14, 14, height, width)
    figure, ax = pyplot.subplots(figsize=(7, 7 * height / width), layout="constrained")
    ax.imshow(faces.transpose(0, 2, 1, 3).reshape(14 * height, 14 * width), cmap="gray", aspect="auto")
    ax.set(xticks=[], yticks=[], xlabel="first coordinate of z", ylabel="second coordinate of z")
    figure.savefig(sys.argv[1], dpi=110)
