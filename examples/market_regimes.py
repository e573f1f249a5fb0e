"""Regimes of the S&P 500: calm and turbulent months, with what a single normal distribution misses.

Monthly log returns from 1950 to 2011. Two states give a log-likelihood of 1334.635 and three 1347.075; regimes differ in their
spread far more than in their mean. The data set is read from the folder that TACIT_DATA names (hmm/sp500_monthly.csv); without
it, returns are drawn from the two states that were learned of it.

Run: python examples/market_regimes.py [FIGURE.png]
"""

import os
import sys
from pathlib import Path

import numpy as np

from tacit.mixture import select
from tacit.sequence import HiddenMarkovModel

path = Path(os.environ.get("TACIT_DATA", "")) / "hmm" / "sp500_monthly.csv"
if path.exists():
    returns = np.genfromtxt(path, delimiter=",", names=True)["logret"][:, None]
    print(f"{len(returns)} monthly returns of the S&P 500")
else:
    rng, state, rows = np.random.default_rng(0), 0, []
    for _ in range(744):
        state = state if rng.random() < (0.96, 0.86)[state] else 1 - state
        rows.append(rng.normal((0.0105, -0.0143)[state], (0.0337, 0.0645)[state]))
    returns = np.array(rows)[:, None]
    print(f"{len(returns)} returns drawn at random; set TACIT_DATA for those of the S&P 500")

found = select(HiddenMarkovModel(tol=1e-7, max_iter=1000, random_state=0), returns, n_components=range(1, 5))
print(found, "\n")
best = found.best
told, stays = best.describe()[0], best.stays()
for k in np.argsort(told["std"]):
    print(
        f"a regime of {best.weights_[k]:.0%} of the months: mean {told['mean'][k]:+.2%} and deviation {told['std'][k]:.2%} a "
        f"month, lasts {stays[k]:.0f} months"
    )

# One month ahead: what is known before a month decides how wide its interval is.
seen = best.predictive(returns)
low, high = seen.interval(0.9)
turbulent = seen.states[:, np.argmax(told["std"])] > 0.5
for name, among in (("calm", ~turbulent), ("turbulent", turbulent)):
    width, held = (high - low)[among].mean(), ((low <= returns) & (returns <= high))[among].mean()
    print(
        f"90 % intervals one month ahead, expected to be {name}: {among.sum()} months, {width:.1%} wide, held {held:.0%}"
    )

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from tacit.plot import RegimeDisplay

    figure, axes = pyplot.subplots(figsize=(9, 3.4), layout="constrained")
    RegimeDisplay.from_estimator(best, returns, ax=axes)
    figure.savefig(sys.argv[1], dpi=110)
