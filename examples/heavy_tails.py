"""Heavy tails: a few far rows bend Gaussian groups out of shape; Student t groups weigh such rows down and stay.

Given its group, a row's weight is E[u] = (ν + d) / (ν + δ), δ its squared distance: far rows count for little. How heavy the
tails are, ν, is learned.

Run: python examples/heavy_tails.py [FIGURE.png]
"""

import sys

import numpy as np
from sklearn.metrics import adjusted_rand_score

from tacit.mixture import GaussianMixture, StudentTMixture

rng = np.random.default_rng(0)
group = rng.integers(0, 2, 400)
deviation = (
    rng.normal(size=(400, 2)) / np.sqrt(rng.chisquare(2, 400) / 2)[:, None]
)  # Student t with two degrees of freedom
X = np.array([[0.0, 0.0], [7.0, 2.0]])[group] + deviation
far = np.linalg.norm(deviation, axis=1) > 6
print(f"{len(X)} rows of two groups; {far.sum()} lie more than six units from their centre")

# Two groups by either model: do they tell the rows apart, and how wide are they said to be (1 is the truth)?
models = {
    "Gaussian": GaussianMixture(2, n_init=3, random_state=0).fit(X),
    "Student t": StudentTMixture(2, n_init=3, random_state=0).fit(X),
}
print(f"\n{'':<12}{'agreement':>10}{'widths':>14}{'BIC':>10}")
for name, model in models.items():
    scale = getattr(model, "scales_", model.covariances_)
    widths = np.sqrt(np.trace(scale, axis1=1, axis2=2) / 2)
    agreement = adjusted_rand_score(group, model.predict(X))
    print(f"{name:<12}{agreement:>10.2f}{'  '.join(f'{w:.1f}' for w in sorted(widths)):>14}{model.bic(X):>10.1f}")

# Weights say which rows were hardly listened to; with a light tail in mind, the same rows would be outliers.
student = models["Student t"]
weight = student.row_weights(X)
print(f"\ndegrees of freedom learned: {', '.join(f'{df:.1f}' for df in student.df_)} (2 in truth)")
print(f"mean weight of near rows {weight[~far].mean():.2f}, of far rows {weight[far].mean():.2f}")
strict = StudentTMixture(2, df=10.0, n_init=3, random_state=0).fit(X)
odd = np.flatnonzero(np.asarray(strict.outlier_scores(X)) > np.quantile(strict.outlier_scores(X), 0.97))
print(f"of the {len(odd)} oddest rows under tails of ten degrees of freedom, {far[odd].sum()} are among the far ones")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.patches import Ellipse

    figure, places = pyplot.subplots(1, 2, figsize=(11, 4.6), layout="constrained", sharex=True, sharey=True)
    for ax, (name, model) in zip(places, models.items()):
        ax.scatter(*X[~far].T, s=10, color="#56B4E9", label="near")
        ax.scatter(*X[far].T, s=14, color="#D55E00", marker="x", label="far")
        for mean, scale in zip(model.means_, getattr(model, "scales_", model.covariances_)):
            value, vector = np.linalg.eigh(scale)
            angle = np.degrees(np.arctan2(vector[1, 1], vector[0, 1]))
            ax.add_patch(Ellipse(mean, *(4 * np.sqrt(value[::-1])), angle=angle, fill=False, linewidth=2))
        ax.set(title=f"{name} groups, two deviations wide", xlim=(-15, 22), ylim=(-15, 17))
    places[0].legend(frameon=False)
    figure.savefig(sys.argv[1], dpi=110)
