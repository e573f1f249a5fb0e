"""Growing boys: a table of measurements and stages with half of its rows incomplete, from end to end.

Age, height, weight, head circumference and testicular volume are measured; the stages of puberty and the region are categories.
Which groups are there, how sure is that, and what stood in the empty cells?

Run: python examples/mixed_table.py [BOYS.csv] [FIGURE.png], or with TACIT_DATA naming the data folder.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from tacit.mixture import Mixture, select

given = [Path(argument) for argument in sys.argv[1:]]
table_path = next((path for path in given if path.suffix == ".csv"), None)
figure_path = next((path for path in given if path.suffix == ".png"), None)
if table_path is None and "TACIT_DATA" not in os.environ:
    sys.exit("give the path of boys.csv, or set TACIT_DATA to the folder of published data sets")
boys = pd.read_csv(table_path or Path(os.environ["TACIT_DATA"]) / "missing" / "boys.csv")
print(
    f"{len(boys)} boys, {boys.isna().sum().sum()} of {boys.size} cells missing, {boys.dropna().shape[0]} rows complete"
)

# How many groups? Rows with missing values take part; continuous columns share a full covariance beside the categories.
chosen = select(Mixture(random_state=0), boys, n_components=range(1, 11))
print(chosen)
mixture = chosen.best

# What are they? In order of age.
told = mixture.describe()
order = np.argsort(told["age"]["mean"])
print(f"\n{'group':<8}{'share':>7}{'age':>8}{'height':>9}{'weight':>9}   most frequent stage of growth")
for rank, k in enumerate(order):
    stages = told["gen"]["probability"]
    stage = max(stages, key=lambda level: stages[level][k])
    print(
        f"{rank:<8}{mixture.weights_[k]:>7.1%}{told['age']['mean'][k]:>8.1f}{told['hgt']['mean'][k]:>9.1f}"
        f"{told['wgt']['mean'][k]:>9.1f}   {stage} ({stages[stage][k]:.0%})"
    )
uncertain = mixture.predict_proba(boys).max(axis=1) < 0.9
print(f"{uncertain.mean():.0%} of the boys are between two groups")

# How good are the filled cells? Hide some that we know.
rng = np.random.default_rng(0)
hidden = boys.notna().to_numpy() & (rng.random(boys.shape) < 0.1)
incomplete = boys.mask(hidden)
refit = Mixture(mixture.n_components, random_state=0).fit(incomplete)
filled, std = refit.impute(incomplete, return_std=True)
print(f"\n{'hidden cells of':<18}{'error':>9}{'mean fill':>11}{'in 90 % interval':>18}")
for j, name in enumerate(boys):
    rows = hidden[:, j]
    truth, guess = boys[name][rows], filled[name][rows]
    if name in ("gen", "phb", "reg"):
        usual = incomplete[name].mode()[0]
        print(f"{name:<18}{(guess != truth).mean():>8.0%} {(truth != usual).mean():>9.0%}  (share wrong)")
    else:
        error = (guess - truth).to_numpy()
        naive = np.sqrt(((incomplete[name].mean() - truth) ** 2).mean())
        covered = (np.abs(error) < 1.645 * std[rows, j]).mean()
        print(f"{name:<18}{np.sqrt((error**2).mean()):>9.2f}{naive:>11.2f}{covered:>17.0%}")

# What would a boy of fourteen look like? Any columns given any others.
boy = pd.DataFrame({"age": [14.0]})
guess, std = mixture.predict_given(boy, given="age", target=["hgt", "gen"], return_std=True)
print(
    f"\na boy of 14: {guess['hgt'][0]:.0f} ± {std[0, 0]:.0f} cm, stage {guess['gen'][0]} (wrong with {std[0, 1]:.0%})"
)

if figure_path is not None:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    group = np.argsort(order)[mixture.predict(boys)]
    whole = mixture.impute(boys)
    left.scatter(whole["age"], whole["hgt"], c=group, s=8, cmap="viridis")
    gone = boys["hgt"].isna()
    left.scatter(
        whole["age"][gone], whole["hgt"][gone], facecolors="none", edgecolors="red", s=40, label="height filled in"
    )
    left.set(xlabel="age (years)", ylabel="height (cm)", title=f"{mixture.n_components} groups")
    left.legend()
    chosen.plot(ax=right)
    figure.savefig(figure_path, dpi=120)
    print(f"figure written to {figure_path}")
