"""Draws of a mixture's parameters side by side: effective samples per second of processor time, by `sample_posterior` and by
emcee on the same density, which costs both of them one E-step.

Run: python -m benchmarks.posterior
"""

import statistics
import time

import numpy as np

N, REPEATS = 300, 2


def _fitted():
    from tacit.mixture import GaussianMixture

    rng = np.random.default_rng(0)
    X = rng.normal(np.repeat([[0.0, 0.0], [3.0, 2.0]], N // 2, axis=0), 1.0)
    return GaussianMixture(2, component_prior="default", random_state=0).fit(X), X


def ours(mixture, X, seed):
    from tacit.sampling import sample_posterior

    found = sample_posterior(mixture, X, n_draws=300, n_warmup=150, n_chains=4, random_state=seed, n_jobs=1)
    return found.chains["means_"].reshape(4, 300, -1)


def rival(mixture, X, seed):
    import emcee

    from tacit.sampling.posterior import posterior_density

    density = posterior_density(mixture, *mixture._sampled(X), None)
    walkers = 2 * density.size + 2
    np.random.seed(seed)  # noqa: NPY002 — emcee's generator is NumPy's global one
    start = density.center + 0.05 * np.random.normal(size=(walkers, density.size))  # noqa: NPY002
    sampler = emcee.EnsembleSampler(walkers, density.size, lambda x: density.at(x, slope=False)[0])
    sampler.run_mcmc(start, 800)
    chains = sampler.get_chain(discard=300).transpose(1, 0, 2)
    means = [[density.view.bound(x).components.mean.ravel() for x in chain] for chain in chains[:, ::5]]
    return np.array(means)


def _effective(draws):
    """The least effective sample size of draws (chain, draw, column)."""
    import arviz

    return float(arviz.ess(arviz.convert_to_dataset({"x": draws}), method="bulk")["x"].min())


def main():
    mixture, X = _fitted()
    rates, means = {"tacit": [], "emcee": []}, {}
    ours(mixture, X, 0)
    for seed in range(REPEATS):
        for name, run in (("tacit", ours), ("emcee", rival)):
            cpu = time.process_time()
            draws = run(mixture, X, seed)
            rates[name].append(_effective(draws) / (time.process_time() - cpu))
            means[name] = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))
    apart = np.abs(means["tacit"][0] - means["emcee"][0]) / means["tacit"][1]
    assert apart.max() < 0.3, f"means differ by {apart.max():.2f} deviations"
    rate = {name: statistics.median(values) for name, values in rates.items()}
    for name, value in rate.items():
        print(f"{name:8} {value:8.1f} effective samples per second of processor time")
    print(f"ratio {rate['tacit'] / rate['emcee']:.1f}")


if __name__ == "__main__":
    main()
