"""Carbon dioxide, twenty years ahead: a Gaussian process whose covariance is a sum of a trend, seasons and slow wandering.

The monthly means at Mauna Loa are taken apart as by Rasmussen and Williams (2006, section 5.4.3), with a trend that may grow as a
square: every part is a kernel, their sum is one, and its hyperparameters are learned from the years before 2004. The band is
averaged over them. Nothing measured since was shown.

Run: python examples/co2_forecast.py [FIGURE.png]; the series where TACIT_DATA names a folder that has it (co2), else one like it.
"""

import os
import sys
from pathlib import Path

import numpy as np

from tacit.gaussian_process import GaussianProcessRegressor
from tacit.gaussian_process.kernels import RBF, DotProduct, ExpSineSquared, Matern, WhiteKernel

path = Path(os.environ.get("TACIT_DATA", "")) / "co2" / "mauna_loa_monthly.csv"
if path.is_file():
    year, month, co2 = np.loadtxt(path, delimiter=",", skiprows=1).T
    time = year + (month - 0.5) / 12
else:
    time = 1958.2 + np.arange(800) / 12
    since = time - 1958
    wander = np.cumsum(np.random.default_rng(0).normal(0, 0.03, 800))
    co2 = 315 + 0.77 * since + 0.0128 * since**2 + 2.8 * np.sin(2 * np.pi * (time - 0.15)) + wander
    print("a curve like that of Mauna Loa, since TACIT_DATA names no folder with the real one\n")
known = time < 2004

start = 1981.0  # powers of years are taken about the middle of what is known
trend = 0.01 * DotProduct(10.0) ** 2 + 4.0 * Matern(10.0, nu=2.5)
seasons = 4.0 * RBF(100.0) * ExpSineSquared(1.0, 1.0, periodicity_bounds="fixed")
wandering = 0.25 * Matern(1.0, nu=0.5) + WhiteKernel(0.01)
mean, X = co2[known].mean(), (time - start)[:, None]
model = GaussianProcessRegressor(trend + seasons + wandering).fit(X[known], co2[known] - mean)

print(f"{known.sum()} months until 2003, log marginal likelihood {model.log_marginal_likelihood():.1f}")
for part in str(model.kernel_).split(" + "):
    print(f"  {part}")

forecast = model.predict(X[~known]) + mean
low, high = (end + mean for end in model.predict_interval(X[~known]))
inside = (low < co2[~known]) & (co2[~known] < high)
print(f"\n{len(inside)} months since, to {time[-1]:.0f}: {inside.mean():.1%} are inside the 95 % band")
for ahead in (1, 5, 10, 18):
    at = np.argmin(np.abs(time[~known] - 2004 - ahead))
    told = f"{forecast[at]:.1f} ppm, {low[at]:.1f} to {high[at]:.1f}"
    print(f"  {ahead:>2} years ahead: {told}; measured {co2[~known][at]:.1f}")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, ax = pyplot.subplots(figsize=(10, 4.6), layout="constrained")
    ax.plot(time[known], co2[known], ".", markersize=2, color="#999999", label="known")
    ax.plot(time[~known], co2[~known], ".", markersize=3, color="#D55E00", label="measured later")
    ax.fill_between(time[~known], low, high, color="#0072B2", alpha=0.25, label="95 % band")
    ax.plot(time[~known], forecast, linewidth=0.8, color="#0072B2")
    ax.set(xlim=(1990, None), ylim=(350, None), ylabel="CO₂, ppm")
    ax.legend(frameon=False, loc="upper left")
    figure.savefig(sys.argv[1], dpi=110)
