"""Global temperature since 1880: how many trends, where does one take over from the other, and how sure is that?

Run: python examples/temperature_experts.py [FIGURE.png]        with a path, the figure is written there (needs matplotlib)
"""

import sys
import warnings

import numpy as np
from sklearn.model_selection import KFold

from tacit.datasets import load_giss
from tacit.mixture import MixtureOfExperts

year, anomaly, _ = load_giss()
X, y = year[:, None], anomaly[:, 0]
folds = list(KFold(5, shuffle=True, random_state=0).split(X))
warnings.simplefilter("ignore", UserWarning)  # few rows: an expert too many may pass through its own

# How many trends? BIC on all years, and the log density of years left out.
print(f"{'experts':<9}{'BIC':>8}{'left out':>11}")
fits = []
for k in range(1, 5):
    fits.append(MixtureOfExperts(k, n_init=3, random_state=0).fit(X, y))
    left_out = np.concatenate([MixtureOfExperts(k, random_state=0).fit(X[a], y[a]).log_density(X[b], y[b])
                               for a, b in folds]).mean()  # fmt: skip
    print(f"{k:<9}{fits[-1].bic(X, y):>8.1f}{left_out:>11.3f}")
best = min(fits, key=lambda model: model.bic(X, y))

# The trends in the order in which they answer.
gate = best.predict_gate(X)
print(f"\n{best.n_components} experts; stopped because {best.fit_.reason}")
for expert in np.argsort(year @ gate / gate.sum(axis=0)):
    answers = year[gate.argmax(axis=1) == expert]
    if answers.size:
        slope, noise = 10 * best.coef_[expert, 0], np.sqrt(best.noise_variance_[expert])
        print(f"{answers.min():.0f}–{answers.max():.0f}: {slope:+.3f} °C a decade, noise {noise:.3f} °C")

low, high = best.quantile(X, [0.05, 0.95]).T
print(f"\n{((low < y) & (y < high)).mean():.0%} of the years lie in the band that should hold 90 %")
mean, std = best.predict([[2016.0]], return_std=True)
print(f"2016, the year after: {mean[0]:.2f} ± {std[0]:.2f} °C expected (NASA later reported about 1.0)")

if len(sys.argv) > 1:
    from tacit.plot import GateDisplay

    display = GateDisplay.from_estimator(best, X, y)
    display.ax_.set_ylabel("°C against 1951–1980")
    display.gate_ax_.set_xlabel("year")
    display.figure_.savefig(sys.argv[1], dpi=120)
