"""Digit prototypes: a mixture of Bernoulli distributions over black and white pixels finds the ways in which digits are written.

Every component is a picture of probabilities. Nobody says which digit is which; afterwards each component is named by the digits
that joined it. Pixels that are missing are integrated out, so that half a picture still finds its component.

Run: python examples/digit_prototypes.py [FIGURE.png]
"""

import sys

import numpy as np

from tacit.datasets import load
from tacit.families import Bernoulli
from tacit.mixture import Mixture

digits = load("digits")
X, digit = (digits.X > 7).astype(float), digits.target
mixture = Mixture(16, family=Bernoulli(), random_state=0, max_iter=300).fit(X)
group = mixture.predict(X)

# What each component is, by the digits that joined it.
names = np.array([np.bincount(digit[group == k], minlength=10).argmax() for k in range(16)])
for k in np.argsort(names, kind="stable"):
    members = digit[group == k]
    print(f"prototype of {names[k]}: {len(members):>4} pictures, {np.mean(members == names[k]):.0%} of them that digit")
print(f"all in all {np.mean(names[group] == digit):.0%} of the pictures join a prototype of their own digit")

# With the lower half of every picture missing, the upper half still finds the component, and fills in the rest.
half = X.copy()
half[:, 32:] = np.nan
again = mixture.predict(half)
filled = mixture.impute(half)
right = np.mean((filled[:, 32:] > 0.5) == X[:, 32:])
usual = np.mean((X[:, 32:].mean(axis=0) > 0.5) == X[:, 32:])
print(f"from the upper half alone {np.mean(names[again] == digit):.0%} do")
print(f"{right:.0%} of the lower pixels are guessed right, {usual:.0%} by each pixel's usual value")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    picture = mixture.params_.components.parts[0].probability.reshape(16, 8, 8)
    figure, places = pyplot.subplots(2, 8, figsize=(10, 2.9), layout="constrained")
    for ax, k in zip(places.flat, np.argsort(names, kind="stable")):
        ax.imshow(picture[k], cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[], title=f"{names[k]}  ({mixture.weights_[k]:.0%})")
    figure.savefig(sys.argv[1], dpi=110)
