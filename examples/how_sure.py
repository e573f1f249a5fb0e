"""How sure: a mixture of Old Faithful's eruptions is fitted by EM, and the posterior says what the rows leave open.

Run: python examples/how_sure.py [FAITHFUL.csv] [FIGURE.png], with columns eruptions and waiting; without a table, TACIT_DATA must
name the data folder.
"""

import os
import sys
from pathlib import Path

import numpy as np

from tacit.mixture import GaussianMixture, standard_errors
from tacit.sampling import sample_posterior
from tacit.variational import variational_posterior

given = {Path(argument).suffix: Path(argument) for argument in sys.argv[1:]}
if ".csv" in given:
    path = given[".csv"]
elif "TACIT_DATA" in os.environ:
    path = Path(os.environ["TACIT_DATA"]) / "faithful" / "faithful.csv"
else:
    sys.exit("give the path of faithful.csv, or set TACIT_DATA to the folder of published data sets")
X = np.genfromtxt(path, delimiter=",", skip_header=1)[:, -2:]

mixture = GaussianMixture(2, component_prior="default", random_state=0).fit(X)
posterior = sample_posterior(mixture, X, n_draws=500, n_warmup=300, random_state=0)
bootstrap = standard_errors(mixture, X, n_bootstrap=200, random_state=0)
near = variational_posterior(mixture, X, random_state=0)

print("95 % intervals of the means, by the posterior, by a Gaussian near it and by the bootstrap")
parts = posterior.interval("means_"), near.interval("means_")
for j, column in enumerate(("eruption (min)", "waiting (min)")):
    for k in range(2):
        told = "   ".join(f"{part.low[k, j]:6.2f} to {part.high[k, j]:6.2f}" for part in parts)
        refits = f"{bootstrap.lower['means_'][k, j]:6.2f} to {bootstrap.upper['means_'][k, j]:6.2f}"
        print(f"  {column:15} class {k}   {told}   {refits}")
print(f"the Gaussian's bound of the log evidence is {near.bound:.2f} ± {near.bound_error:.2f}")

# What follows from the parameters is as easy: where an eruption is as likely long as short, and after what wait.
waits = np.linspace(40.0, 100.0, 241)
rows = np.column_stack([np.full(len(waits), np.nan), waits])
long = int(np.argmax(mixture.means_[:, 0]))


def even_wait(m):
    """The wait after which both kinds are equally likely."""
    return np.interp(0.5, m.predict_proba(rows)[:, long], waits)


even = posterior.interval(even_wait, n=400)
print(f"both kinds are equally likely after {even.mean:.1f} min, with 95 % between {even.low:.1f} and {even.high:.1f}")
summary = posterior.summary("means_")
print(f"largest R-hat {summary['r_hat'].max():.3f}, least effective sample size {summary['ess_bulk'].min():.0f} of {len(posterior)}")

if ".png" in given:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    chance = posterior.interval(lambda m: m.predict_proba(rows)[:, long], n=400)
    left.fill_between(waits, chance.low, chance.high, alpha=0.3)
    left.plot(waits, chance.mean)
    left.set(xlabel="waiting (min)", ylabel="probability of a long eruption", title="what the rows leave open")
    drawn = posterior.predictive(1000, random_state=0)[:, 0]
    right.plot(*drawn.T, ".", alpha=0.3, label="rows to come")
    right.plot(*X.T, "k.", label="rows seen")
    right.set(xlabel="eruption (min)", ylabel="waiting (min)", title="posterior predictive")
    right.legend()
    figure.savefig(given[".png"], dpi=120)
