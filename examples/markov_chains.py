"""Two Markov chains: a bivariate normal by Gibbs sampling, Metropolis and Hamiltonian chains, with traces and autocorrelation.

Run: python examples/markov_chains.py [FIGURE.png]; it needs matplotlib for the figure.
"""

import sys

import numpy as np

from tacit.sampling import gibbs, hamiltonian, metropolis

RHO = 0.95
START = np.array([[-3.0, 3.0], [3.0, -3.0], [3.0, 3.0], [-3.0, -3.0]])
SETTINGS = {"n_draws": 2000, "n_warmup": 1000, "random_state": 0}


def log_density(x):
    return -0.5 * (x[0] ** 2 - 2 * RHO * x[0] * x[1] + x[1] ** 2) / (1 - RHO**2)


def gradient(x):
    return -np.array([x[0] - RHO * x[1], x[1] - RHO * x[0]]) / (1 - RHO**2)


def timid(x, rng):
    """A step that is much shorter than the density is long; it is as probable back as there."""
    return x + 0.2 * rng.standard_normal(2), 0.0


spread = np.sqrt(1 - RHO**2)
conditionals = [
    lambda x, rng: RHO * x[1] + spread * rng.standard_normal(),
    lambda x, rng: RHO * x[0] + spread * rng.standard_normal(),
]
chains = {
    "Metropolis, short steps": metropolis(log_density, START, proposal=timid, **SETTINGS),
    "Metropolis, learned steps": metropolis(log_density, START, **SETTINGS),
    "Gibbs": gibbs(conditionals, START, **SETTINGS),
    "Hamiltonian": hamiltonian(log_density, START, gradient=gradient, **SETTINGS),
}


def autocorrelation(draws, n_lags):
    """Of all chains together, about their common mean."""
    apart = draws - draws.mean()
    return np.array([(apart[:, : apart.shape[1] - lag] * apart[:, lag:]).mean() for lag in range(n_lags)]) / apart.var()


print(f"normal with correlation {RHO}: 4 chains of {SETTINGS['n_draws']} draws from the four corners\n")
print(f"{'':<27}{'accepted':>9}{'mean':>8}{'sd':>7}{'correlation':>13}{'ESS':>7}{'R-hat':>7}")
for name, each in chains.items():
    table, x = each.summary(), each.flat()
    print(
        f"{name:<27}{each.acceptance.mean():>9.2f}{table['mean'].iloc[0]:>8.2f}{table['sd'].iloc[0]:>7.2f}"
        f"{np.corrcoef(x.T)[0, 1]:>13.3f}{table['ess_bulk'].iloc[0]:>7.0f}{table['r_hat'].iloc[0]:>7.3f}"
    )
    for note in each.warnings():
        if note.code in ("r_hat", "ess"):
            print(f"    {note}")

if len(sys.argv) > 1:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(chains), 3, figsize=(10, 9), gridspec_kw={"width_ratios": [1, 2, 1]})
    for (path, trace, lags), (name, each) in zip(axes, chains.items()):
        path.plot(*each["x"][0, :150].T, ".-", lw=0.4, ms=2)
        path.set(ylabel=name, xlim=(-3.5, 3.5), ylim=(-3.5, 3.5), aspect="equal")
        for draws in each["x"][:2, :600, 0]:
            trace.plot(draws, lw=0.5)
        lags.vlines(np.arange(60), 0, autocorrelation(each["x"][..., 0], 60))
        lags.set_ylim(-0.1, 1)
    for axis, title in zip(axes[0], ("150 draws", "trace of x₀, two chains", "autocorrelation")):
        axis.set_title(title)
    figure.tight_layout()
    figure.savefig(sys.argv[1], dpi=120)
