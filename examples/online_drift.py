"""Rows that arrive in batches from two groups, one of which moves: stepwise EM that forgets follows it, EM that remembers lags.

Run: python examples/online_drift.py
"""

import numpy as np

from tacit.engine import Online, online_step
from tacit.families import FullGaussian
from tacit.mixture import GaussianMixture, MixtureModel
from tacit.source import ArraySource

rng = np.random.default_rng(0)


def batch(position, n=500):
    """Half of the rows around 0, half around a point that moves."""
    moved = rng.random(n) < 0.5
    return rng.normal(size=(n, 2)) + np.where(moved[:, None], [position, 6.0], [0.0, 0.0])


# The estimator's face: partial_fit, batch after batch. Its steps shrink, so that on rows that do not drift it converges.
mixture = GaussianMixture(2, random_state=0)
for _ in range(50):
    mixture.partial_fit(batch(6.0))
print("no drift, 50 batches: means", np.round(mixture.means_[np.argsort(mixture.means_[:, 0])], 2).tolist())

# The engine's face: the same step with a floor under its size.
model = MixtureModel(FullGaussian(), 2)
first = ArraySource(batch(0.0))
start = model.init(first.sample(500, rng), rng)
states = {"remembers all": (Online(start), 0.0), "forgets": (Online(start), 0.1)}
print("\nbatch  truth  remembers all  forgets")
for t in range(1, 201):
    rows = ArraySource(batch(t / 20))
    states = {name: (online_step(model, rows, state, least=least), least) for name, (state, least) in states.items()}
    if t % 40 == 0:
        means = [state.params.components.mean for state, _ in states.values()]
        found = [mean[mean[:, 1].argmax(), 0] for mean in means]
        print(f"{t:>5}{t / 20:>7.1f}{found[0]:>15.2f}{found[1]:>9.2f}")
