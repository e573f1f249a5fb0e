"""Two views of the same rows: what a fitness club's bodies tell of its exercises, and half a digit of the other half.

Run: python examples/two_views.py [FIGURE.png]
"""

import sys

import numpy as np
from sklearn.datasets import load_digits, load_linnerud

from tacit.factor import CCA, ProbabilisticCCA

# Twenty men: three exercises, and weight, waist and pulse. Canonical pairs are the combinations that go together most.
club = load_linnerud()
cca = CCA(3).fit(club.data, club.target)
print("twenty men of a fitness club: do their exercises go with their bodies?\n")
print(cca.test())
print("\nfirst pair, correlations of the columns with their score:")
for names, rows, scores in zip(
    (club.feature_names, club.target_names), (club.data, club.target), cca.transform(club.data, club.target)
):
    structure = [np.corrcoef(column, scores[:, 0])[0, 1] for column in rows.T]
    print("  " + ", ".join(f"{name} {value:+.2f}" for name, value in zip(names, structure)))

# Handwritten digits: the left half and the right half are two views.
images = load_digits().images
left, right = (images[:, :, half].reshape(len(images), -1) for half in (slice(0, 4), slice(4, 8)))
varies = [view.std(axis=0) > 0.5 for view in (left, right)]
left, right = left[:, varies[0]], right[:, varies[1]]
train, test = np.arange(1200), np.arange(1200, len(images))
halves = ProbabilisticCCA("bic", reg_covar=1e-2).fit(left[train], right[train])
print(f"\n{len(train)} digits, cut into halves of {left.shape[1]} and {right.shape[1]} pixels that vary")
print(
    f"BIC takes {halves.n_components_} hidden variables, of the correlations {halves.canonical_correlations_.round(2)}"
)

# Now most rows shall lack one of the halves. What they do show still tells how that half varies.
rng = np.random.default_rng(0)
lacks = rng.permutation(np.repeat(["left", "right", "neither"], [500, 500, 200]))
X, y = left[train].copy(), right[train].copy()
X[lacks == "left"], y[lacks == "right"] = np.nan, np.nan
both = train[lacks == "neither"]
model = ProbabilisticCCA(halves.n_components_, reg_covar=1e-2, tol=1e-5).fit(X, y)
paired = ProbabilisticCCA(halves.n_components_, reg_covar=1e-2).fit(left[both], right[both])
print(f"\n1000 of them lose a half. The right halves of {len(test)} new digits from the left ones:")
print(f"{'':<28}{'error (of 16 shades)':>22}{'log density':>14}")
print(f"{'the mean digit':<28}{np.sqrt(((right[test] - right[both].mean(axis=0)) ** 2).mean()):>22.2f}")
for name, fitted in (("200 rows with both halves", paired), ("all 1200 rows", model)):
    error = np.sqrt(((fitted.predict(left[test]) - right[test]) ** 2).mean())
    print(f"{name:<28}{error:>22.2f}{fitted.score(left[test], right[test]):>14.1f}")
mean, std = model.predict(left[test], return_std=True)
inside = (np.abs(right[test] - mean) < 1.645 * std).mean()
print(f"intervals of 90 % hold {inside:.1%} of the new pixels")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = rng.choice(len(test), 6, replace=False)
    figure, places = pyplot.subplot_mosaic(
        [*(["pairs", "pairs", *(f"{row}{i}" for i in range(6))] for row in "tm"), ["pairs"] * 2 + ["cells"] * 6],
        figsize=(13, 5.5), layout="constrained",
    )  # fmt: skip
    a, b = cca.transform(club.data, club.target)
    places["pairs"].scatter(a[:, 0], b[:, 0], color="#0072B2")
    places["pairs"].set(
        title=f"fitness club, first pair: ρ = {cca.canonical_correlations_[0]:.2f}", xlabel="exercises", ylabel="body"
    )

    def whole(known, other):
        """Both halves as an image."""
        image = np.zeros((8, 8))
        for half, keep, values in ((slice(0, 4), varies[0], known), (slice(4, 8), varies[1], other)):
            pixels = np.zeros(32)
            pixels[keep] = values
            image[:, half] = pixels.reshape(8, 4)
        return image

    for i, row in enumerate(shown):
        for kind, other in (("t", right[test][row]), ("m", mean[row])):
            ax = places[f"{kind}{i}"]
            ax.imshow(whole(left[test][row], other), cmap="gray_r", vmin=0, vmax=16)
            ax.axvline(3.5, color="#D55E00", linewidth=1)
            ax.set(xticks=[], yticks=[])
    places["t0"].set_ylabel("the digit")
    places["m0"].set_ylabel("right half predicted")
    row, cells = shown[0], np.arange(right.shape[1])
    places["cells"].errorbar(
        cells, mean[row], 1.645 * std[row], fmt="o", color="#0072B2", markersize=4, label="predicted, 90 %"
    )
    places["cells"].plot(cells, right[test][row], "x", color="#D55E00", label="true")
    places["cells"].set(title="the first one's right half, pixel by pixel", xlabel="pixel", ylabel="shade")
    places["cells"].legend(loc="upper right", ncols=2)
    figure.savefig(sys.argv[1], dpi=90)
