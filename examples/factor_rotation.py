"""Factor rotation: factors are found up to a turn; turned towards simple structure, they are those that made the tests.

Two abilities are behind eight tests, each test belonging to one of them most. Maximum likelihood finds the plane they span;
varimax and promax choose the axes in it. Missing cells are integrated out on the way.

Run: python examples/factor_rotation.py [FIGURE.png]
"""

import sys
from itertools import permutations

import numpy as np

from tacit.datasets import make_factors
from tacit.factor import FactorAnalysis

made = make_factors(600, 8, 2, noise=0.6, missing=0.1, random_state=4)
X, spread = made.X, np.sqrt((made.more["loadings"] ** 2).sum(axis=1) + made.more["noise"] ** 2)
truth = made.more["loadings"] / spread[:, None]
print(f"{len(X)} people, 8 tests, {np.isnan(X).mean():.0%} of the results missing")

# How many factors? Parallel analysis counts those that stand out from what independent tests would show.
chosen = FactorAnalysis("parallel", scale=True).fit(X)
print(f"factors that stand out: {chosen.rank_choice_.rank}")


def matched(loadings):
    """Loadings with their columns in the order, and of the signs, that come nearest to the truth."""
    ways = [loadings[:, order] for order in permutations(range(2))]
    ways = [way * np.sign((way * truth).sum(axis=0)) for way in ways]
    return min(ways, key=lambda way: ((way - truth) ** 2).sum())


# The same likelihood, seen along other axes.
found = {}
for rotation in (None, "varimax", "promax"):
    model = FactorAnalysis(2, scale=True, rotation=rotation, random_state=0).fit(X)
    loadings = found[rotation or "none"] = matched(model.components_.T)
    apart = np.sqrt(((loadings - truth) ** 2).mean())
    told = f"log-likelihood {model.loglike_[-1]:.2f}, off the truth by {apart:.3f}"
    print(f"rotation {rotation or 'none':<8} {told}, correlation of the factors {model.factor_correlation_[0, 1]:+.2f}")

print(f"\n{'':<9}" + "".join(f"{name:>16}" for name in ("truth", *found)))
for j, name in enumerate(made.columns):
    print(f"{name:<9}" + "".join(f"{a:>+9.2f}{b:>+7.2f}" for a, b in (truth[j], *(each[j] for each in found.values()))))

# Scores say how surely they are known: less so for people with missing results.
model = FactorAnalysis(2, scale=True, rotation="varimax", random_state=0).fit(X)
scores, std = model.scores(X, return_std=True)
lost = np.isnan(X).sum(axis=1)
for n in (0, 2, 3):
    print(f"standard error of the scores with {n} of 8 results missing: {std[lost == n].mean():.2f}")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, places = pyplot.subplots(1, 4, figsize=(12, 3.4), layout="constrained", sharex=True, sharey=True)
    for ax, (name, loadings) in zip(places, {"truth": truth, **found}.items()):
        ax.axhline(0, color="#BBBBBB")
        ax.axvline(0, color="#BBBBBB")
        for j, (a, b) in enumerate(loadings):
            ax.plot([0, a], [0, b], color="#0072B2" if j % 2 else "#E69F00")
            ax.text(1.08 * a, 1.08 * b, str(j + 1), ha="center", va="center")
        ax.set(
            title=f"rotation: {name}" if name != "truth" else "truth",
            xlim=(-1.15, 1.15),
            ylim=(-1.15, 1.15),
            aspect="equal",
        )
    figure.savefig(sys.argv[1], dpi=110)
