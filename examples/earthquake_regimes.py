"""Earthquakes by Poisson hidden Markov models: one to four rates, chosen by BIC, decoded and forecast.

Great earthquakes of the years 1900 to 2006 do not come at one rate, and neighbouring years are alike. The stationary models give
the log-likelihoods of Zucchini, MacDonald and Langrock, Hidden Markov Models for Time Series: −391.92, −342.32, −329.46 and
−327.83.

Run: python examples/earthquake_regimes.py [FIGURE.png]
"""

import sys

import numpy as np

from tacit.datasets import load
from tacit.sequence import HiddenMarkovModel

year, count = load("earthquakes").X.T
rows = count[:, None]

print(f"{'rates':<7}{'log-likelihood':>15}{'BIC':>9}{'AIC':>9}  rates a year")
models = {}
for k in range(1, 5):
    model = HiddenMarkovModel(k, "poisson", start="stationary", n_init=8, tol=1e-7, max_iter=1000, random_state=0).fit(
        rows
    )
    told = model.score_samples(rows).sum(), model.bic(rows), model.aic(rows)
    rates = np.sort(model.describe()[0]["mean"])
    print(f"{k:<7}{told[0]:>15.3f}{told[1]:>9.1f}{told[2]:>9.1f}  {', '.join(f'{rate:.1f}' for rate in rates)}")
    models[k] = model
best = min(models.values(), key=lambda model: model.bic(rows))
rate = np.asarray(best.describe()[0]["mean"])
stays = ", ".join(f"{n:.0f}" for n in best.stays()[np.argsort(rate)])
print(f"\nBIC takes {best.n_components}; a regime lasts {stays} years on average")

path = best.predict(rows)
begin = np.flatnonzero(np.diff(path, prepend=-1))
print("likeliest regimes: " + ", ".join(f"{int(year[a])} {rate[path[a]]:.0f}" for a in begin))

ahead = best.forecast(rows, 5)
print("\nyears ahead, with 90 % intervals and the probability of the busiest regime:")
for h in range(5):
    low, high = ahead.low[0, h, 0], ahead.high[0, h, 0]
    print(
        f"  {int(year[-1]) + 1 + h}: {ahead.mean[0, h, 0]:.1f} ({low:.0f} to {high:.0f}), {ahead.states[0, h, rate.argmax()]:.0%}"
    )

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 3.4), layout="constrained")
    axes.bar(year, count, color="#DDDDDD", label="earthquakes")
    axes.plot(year, best.predict_proba(rows) @ rate, color="#0072B2", label="expected rate of the year")
    axes.step(year, rate[path], where="mid", color="#E69F00", label="likeliest regimes")
    later = year[-1] + 1 + np.arange(5)
    axes.fill_between(later, ahead.low[0, :, 0], ahead.high[0, :, 0], color="#0072B2", alpha=0.2)
    axes.plot(later, ahead.mean[0, :, 0], color="#0072B2", linestyle="--", label="forecast, 90 %")
    axes.legend(frameon=False, ncols=2)
    figure.savefig(sys.argv[1], dpi=110)
