"""Mixtures of regressions: the artificial data of R's flexmix, with a Gaussian and a Poisson response, and patients seen often.

Run: python examples/flexmix_regressions.py [FIGURE.png]        with a path, the figure is written there (needs matplotlib)
"""

import sys

import numpy as np

from tacit.mixture import MixtureOfExperts, select, standard_errors

# As in Leisch (2004): two classes of 100 rows, y = 5x + e and y = 40 - (x - 5)^2 + e with noise e of deviation 3, x from 0 to 10;
# counts of mean exp(2 - 0.2x) and exp(1 + 0.1x).
rng = np.random.default_rng(1)
first, x = np.arange(200) < 100, rng.uniform(0, 10, 200)
y = np.where(first, 5 * x, 40 - (x - 5) ** 2) + 3 * rng.normal(size=200)
counts = rng.poisson(np.exp(np.where(first, 2 - 0.2 * x, 1 + 0.1 * x)))
X = np.column_stack([x, x**2])

found = select(MixtureOfExperts(gate="constant", random_state=0), X, y, n_components=range(1, 4))
print(found)
best = found.best
print(
    f"\n{(best.responsibilities(X, y).argmax(axis=1) == best.coef_[:, 1].argmin()).sum()} rows in the class that bends"
)
print(standard_errors(best, X, y, method="information"))

poisson = MixtureOfExperts(2, gate="constant", family="poisson", n_init=5, random_state=0).fit(x[:, None], counts)
print("\nPoisson, true 2 - 0.2x and 1 + 0.1x:")
print(standard_errors(poisson, x[:, None], counts, method="information"))

# Fifty patients seen four times each: all visits of a patient belong to one class, so the classes are told apart.
patient = np.repeat(np.arange(50), 4)
kind = np.repeat(rng.random(50) < 0.5, 4)
dose = rng.uniform(0, 2, 200)
pain = rng.poisson(np.exp(np.where(kind, 1.5 - 0.8 * dose, 1.5)))
one_by_one = MixtureOfExperts(2, gate="constant", family="poisson", n_init=5, random_state=0).fit(dose[:, None], pain)
together = MixtureOfExperts(2, gate="constant", family="poisson", n_init=5, random_state=0).fit(
    dose[:, None], pain, unit=patient
)
told = [one_by_one.responsibilities(dose[:, None], pain), together.responsibilities(dose[:, None], pain, unit=patient)]
for name, model, resp in zip(("visits one by one", "visits by patient"), (one_by_one, together), told):
    right = (resp.argmax(axis=1) == (kind == (model.coef_[0, 0] > model.coef_[1, 0]))).mean()
    print(f"{name}: slopes {np.sort(model.coef_[:, 0]).round(2)}, {max(right, 1 - right):.0%} of visits in their class")

if len(sys.argv) > 1:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(layout="constrained")
    at = np.linspace(0, 10, 200)
    ax.scatter(x, y, c=best.responsibilities(X, y)[:, 0], cmap="coolwarm", s=12)
    ax.plot(at, best.predict_experts(np.column_stack([at, at**2])), color="black")
    ax.set(xlabel="x", ylabel="y")
    figure.savefig(sys.argv[1], dpi=120)
