"""Markov chains side by side: effective samples per second of a density written in Python against emcee, sweeps of an
Ising model against NumPy.

Run: python -m benchmarks.sampling
"""

import statistics
import time

import numpy as np

D, SIZE, COUPLING = 10, 256, 0.4
SCALES = 1.0 + np.arange(D)
MIX = np.linalg.cholesky(0.5 * np.eye(D) + 0.5)


def log_density(x):
    """A Gaussian of ten correlated columns of different scales, row by row."""
    total = 0.0
    for i in range(D):
        z = x[i] / SCALES[i]
        if i > 0:
            z = (z - 0.5 * x[i - 1] / SCALES[i - 1]) / 0.75**0.5
        total -= 0.5 * z * z
    return total


def log_density_rows(X):
    """The same for many rows in NumPy, which is emcee's fastest way."""
    Z = X / SCALES
    apart = (Z[:, 1:] - 0.5 * Z[:, :-1]) / 0.75**0.5
    return -0.5 * (Z[:, 0] ** 2 + (apart**2).sum(axis=1))


def _effective(draws):
    """The least effective sample size of draws (chain, draw, column)."""
    import arviz

    return float(arviz.ess(arviz.convert_to_dataset({"x": draws}), method="bulk")["x"].min())


def _check(draws):
    variance = draws.reshape(-1, D).var(axis=0) / SCALES**2
    assert np.abs(variance - 1).max() < 0.3, f"variances are off: {variance}"


def ours(seed):
    from tacit.sampling import metropolis

    return metropolis(log_density, np.zeros(D), n_draws=50_000, n_warmup=5000, random_state=seed)["x"]


def emcee_loop(seed):
    return _emcee(seed, log_density, False, 2000)


def emcee_rows(seed):
    return _emcee(seed, log_density_rows, True, 10_000)


def _emcee(seed, density, vectorised, n_steps):
    import emcee

    np.random.seed(seed)  # noqa: NPY002 — emcee's generator is NumPy's global one
    start = np.random.normal(size=(4 * D, D))  # noqa: NPY002
    sampler = emcee.EnsembleSampler(4 * D, D, density, vectorize=vectorised)
    sampler.run_mcmc(start, n_steps)
    return sampler.get_chain(discard=n_steps // 5).transpose(1, 0, 2)


def compare_metropolis(repeats=5):
    """Effective samples per second: medians of interleaved runs, by the clock and by the processor."""
    rates = {"tacit": [], "emcee, row by row": [], "emcee, rows in NumPy": []}
    ours(0)
    for seed in range(repeats):
        for name, run in zip(rates, (ours, emcee_loop, emcee_rows)):
            clock, cpu = time.perf_counter(), time.process_time()
            draws = run(seed)
            clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
            _check(draws)
            rates[name].append((_effective(draws) / clock, _effective(draws) / cpu))
    medians = {name: [statistics.median(each) for each in zip(*values)] for name, values in rates.items()}
    print(f"Metropolis, {D} columns, density written in Python: effective samples per second (least of the columns)")
    for name, (clock, cpu) in medians.items():
        ratios = [ours / theirs for ours, theirs in zip(medians["tacit"], (clock, cpu))]
        print(
            f"  {name:<22}{clock:>12,.0f} by the clock{cpu:>12,.0f} per CPU second   ours {ratios[0]:.1f} × and {ratios[1]:.1f} ×"
        )


def numpy_loop(spins, rng, n_sweeps):
    """Site by site in Python."""
    for _ in range(n_sweeps):
        for i in range(SIZE):
            for j in range(SIZE):
                field = 0.0
                if i:
                    field += spins[i - 1, j]
                if i < SIZE - 1:
                    field += spins[i + 1, j]
                if j:
                    field += spins[i, j - 1]
                if j < SIZE - 1:
                    field += spins[i, j + 1]
                spins[i, j] = 1.0 if rng.random() * (1 + np.exp(-2 * COUPLING * field)) < 1 else -1.0


def checkerboard(spins, rng, n_sweeps):
    """Black sites, then white ones, half a picture of random numbers at a time, probabilities from a table."""
    padded = np.zeros((SIZE + 2, SIZE + 2), np.int8)
    padded[1:-1, 1:-1] = spins
    table = 1 / (1 + np.exp(-2 * COUPLING * np.arange(-4, 5)))
    for _ in range(n_sweeps):
        for colour in (0, 1):
            for row in (0, 1):
                column = (row + colour) % 2
                here = slice(1 + row, SIZE + 1, 2), slice(1 + column, SIZE + 1, 2)
                field = (
                    padded[row : SIZE + row : 2, here[1]] + padded[2 + row : SIZE + 2 + row : 2, here[1]]
                    + padded[here[0], column : SIZE + column : 2] + padded[here[0], 2 + column : SIZE + 2 + column : 2]
                )  # fmt: skip
                chance = rng.random((SIZE // 2, SIZE // 2), dtype=np.float32)
                padded[here] = np.where(chance < table[field + 4], 1, -1)
    spins[:] = padded[1:-1, 1:-1]


def compare_ising(repeats=5):
    """Milliseconds per sweep, and energies per bond, which all must agree in."""
    from tacit.graph import PairwiseEnergy
    from tacit.sampling import gibbs_ising

    energy = PairwiseEnergy(np.zeros((SIZE, SIZE, 2)), weight=2 * COUPLING)

    def sampled(n_sweeps, seed):
        settings = {"n_chains": 1, "n_warmup": 0, "n_draws": max(n_sweeps // 20, 1), "n_thin": 20, "keep_states": True}
        return 2.0 * gibbs_ising(energy, random_state=seed, **settings)["state"][0, -1] - 1

    def of(run, n_sweeps, seed):
        rng = np.random.default_rng(seed)
        spins = rng.choice([-1.0, 1.0], (SIZE, SIZE))
        run(spins, rng, n_sweeps)
        return spins

    def bonds(spins):
        return float(((spins[1:] * spins[:-1]).mean() + (spins[:, 1:] * spins[:, :-1]).mean()) / 2)

    runs = {
        "tacit": (sampled, 1000), "NumPy, checkerboard": (lambda n, seed: of(checkerboard, n, seed), 500),
        "NumPy, site by site": (lambda n, seed: of(numpy_loop, n, seed), 3),
    }  # fmt: skip
    sampled(20, 0)
    spent, agree = {name: [] for name in runs}, {name: [] for name in runs}
    for seed in range(repeats):
        for name, (run, n_sweeps) in runs.items():
            clock, cpu = time.perf_counter(), time.process_time()
            spins = run(n_sweeps, seed)
            spent[name].append(((time.perf_counter() - clock) / n_sweeps, (time.process_time() - cpu) / n_sweeps))
            agree[name].append(bonds(spins))
    means = {name: statistics.mean(values) for name, values in agree.items()}
    assert abs(means["tacit"] - means["NumPy, checkerboard"]) < 0.02, f"bonds disagree: {means}"
    print(f"\nIsing model of {SIZE} × {SIZE}, coupling {COUPLING}: one sweep, one chain")
    medians = {name: [statistics.median(each) for each in zip(*values)] for name, values in spent.items()}
    for name, (clock, cpu) in medians.items():
        ratio = cpu / medians["tacit"][1]
        print(
            f"  {name:<22}{1e3 * clock:>9.2f} ms{1e3 * cpu:>9.2f} ms of CPU   ours {ratio:.1f} ×   like neighbours "
            f"{means[name]:+.4f}"
        )


if __name__ == "__main__":
    compare_metropolis()
    compare_ising()
