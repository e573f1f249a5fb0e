"""Multiple imputation: draw the missing cells several times, analyse every completed table, pool; and what no method can repair.

Cells go missing completely at random, by another column, or by their own value. Dropping incomplete rows is right only in the
first case, filling in means never; draws from a model are right in the first two, with honest standard errors by Rubin's rules.

Run: python examples/multiple_imputation.py [FIGURE.png]
"""

import sys

import numpy as np

from tacit.datasets import make_missing
from tacit.mixture import GaussianMixture

rng = np.random.default_rng(0)
n, n_draws = 1000, 10
dose = rng.normal(size=n)
age = 0.5 * dose + rng.normal(size=n)
effect = 1.0 * dose + 1.0 * age + rng.normal(size=n)
whole = np.column_stack([dose, effect, age])  # the question: the mean effect, and its slope on the dose given the age


def answers(X):
    """Mean of the effect and its slope on the dose given the age, with squared standard errors."""
    design = np.column_stack([np.ones(len(X)), X[:, 0], X[:, 2]])
    gram = np.linalg.inv(design.T @ design)
    slope = gram @ design.T @ X[:, 1]
    noise = np.mean((X[:, 1] - design @ slope) ** 2)
    return np.array([X[:, 1].mean(), slope[1]]), np.array([X[:, 1].var() / len(X), noise * gram[1, 1]])


def pooled(tables):
    """Rubin's rules: the mean of the answers; their variance within tables and between them."""
    values, squares = (np.array(part) for part in zip(*map(answers, tables)))
    between = values.var(axis=0, ddof=1) * (1 + 1 / len(tables))
    return values.mean(axis=0), squares.mean(axis=0) + between


# Four ways to treat the missing values, for three ways they came about.
truth = answers(whole)[0]
print(f"all rows known: mean {truth[0]:+.2f}, slope {truth[1]:.2f}\n")
print(f"{'cells missing':<26}{'method':<19}{'mean':>16}{'slope':>16}")
found = {}
for mechanism, why in (("mcar", "at random"), ("mar", "by the dose"), ("mnar", "by their own value")):
    X = make_missing(whole, 0.3, mechanism, random_state=1)
    model = GaussianMixture(random_state=0).fit(X)
    complete = X[~np.isnan(X).any(axis=1)]
    ways = {
        "rows dropped": answers(complete),
        "means filled in": answers(np.where(np.isnan(X), np.nanmean(X, axis=0), X)),
        "expectations": answers(model.impute(X)),
        f"{n_draws} tables of draws": pooled(model.draw_missing(X, n_draws, random_state=2)),
    }
    for method, (value, square) in ways.items():
        found[why, method] = value, np.sqrt(square)
        told = "".join(f"{v:>+9.2f} ±{e:5.2f}" for v, e in zip(value, np.sqrt(square)))
        print(f"{why:<26}{method:<19}{told}")
print("\nWhere values themselves decide what is seen, every way is off: the table does not hold what would tell.")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.6), layout="constrained", sharey=True)
    labels = list(found)
    for ax, j, title in zip(axes, (0, 1), ("mean effect", "slope on the dose")):
        values, errors = (np.array([found[label][part][j] for label in labels]) for part in (0, 1))
        place = np.arange(len(labels))[::-1] + np.repeat([1.0, 0.5, 0.0], 4)
        ax.errorbar(values, place, xerr=1.645 * errors, fmt="o", color="#0072B2")
        ax.axvline(truth[j], color="#D55E00", label="all rows known")
        ax.set(title=title, yticks=place, yticklabels=[f"{why}: {method}" for why, method in labels])
    axes[0].legend(frameon=False)
    figure.savefig(sys.argv[1], dpi=110)
