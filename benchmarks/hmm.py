"""Hidden Markov models against hmmlearn's (scaling) and dynamax's: same rows, same start, same number of steps.

Besides the jobs, ``python -m benchmarks.hmm`` compares defaults on small tables, quality and speed: how often each library ends
at the best likelihood that either found over twenty seeds, and how long a fit takes.
"""

import time
import warnings
from functools import partial

import numpy as np

from .harness import Job

STEPS = 5


def gaussian_rows(n_sequences=200, n_steps=5000, k=10, d=8, seed=0):
    """Rows of a chain of Gaussian states, and lengths of its sequences."""
    rng = np.random.default_rng(seed)
    move = 0.9 * np.eye(k) + 0.1 * rng.dirichlet(np.ones(k), k)
    means, spread = 3.0 * rng.normal(size=(k, d)), rng.uniform(0.5, 1.5, size=(k, d))
    states = walk(n_sequences, n_steps, move, rng)
    return means[states] + spread[states] * rng.normal(size=(n_sequences * n_steps, d)), [n_steps] * n_sequences


def walk(n_sequences, n_steps, move, rng):
    """States of sequences side by side, one after the other."""
    states = np.empty((n_steps, n_sequences), dtype=int)
    states[0] = rng.integers(len(move), size=n_sequences)
    cumulated, chance = np.cumsum(move, axis=1), rng.random((n_steps, n_sequences, 1))
    for t in range(1, n_steps):
        states[t] = np.minimum((chance[t] > cumulated[states[t - 1]]).sum(axis=1), len(move) - 1)
    return states.T.ravel()


def symbol_rows(n_sequences=200, n_steps=5000, k=10, n_symbols=20, seed=0):
    """Symbols of a chain of states, and lengths."""
    rng = np.random.default_rng(seed)
    move = 0.9 * np.eye(k) + 0.1 * rng.dirichlet(np.ones(k), k)
    states = walk(n_sequences, n_steps, move, rng)
    cumulated = np.cumsum(rng.dirichlet(np.full(n_symbols, 0.3), k), axis=1)
    symbols = np.minimum((rng.random((len(states), 1)) > cumulated[states]).sum(axis=1), n_symbols - 1)
    return symbols[:, None], [n_steps] * n_sequences


def _started(kind, module, data, n_iter):
    """A model of a library with the same parameters to begin with, whichever library it is."""
    X, _ = data
    rng = np.random.default_rng(1)
    k = 10
    model = getattr(module, kind)(k, n_iter=n_iter, tol=-np.inf, init_params="", random_state=0)
    model.startprob_, model.transmat_ = np.full(k, 1 / k), 0.5 * np.eye(k) + 0.5 / k
    if kind == "GaussianHMM":
        model.implementation = "scaling"
        model.means_, model.covars_ = X[rng.choice(len(X), k, replace=False)], np.tile(X.var(axis=0), (k, 1))
    else:
        model.implementation = "scaling"
        model.emissionprob_ = rng.dirichlet(np.full(int(X.max()) + 1, 5.0), k)
    return model


def _ours(kind, data):
    from tacit import sequence

    return _started(kind, sequence, data, STEPS).fit(*data).score(*data)


def _theirs(kind, data):
    from hmmlearn import hmm

    return _started(kind, hmm, data, STEPS).fit(*data).score(*data)


def _close(ours, theirs):
    gap = abs(ours - theirs) / abs(theirs)
    assert gap < 1e-8, f"log-likelihoods {ours} and {theirs}"
    return f"log-likelihood equal to {gap:.0e}"


def _decoders():
    """Rows, lengths, and a model of either library with the same parameters."""
    from hmmlearn import hmm

    from tacit import sequence

    data, move = gaussian_rows(), 0.9 * np.eye(10) + 0.1 * np.random.default_rng(0).dirichlet(np.ones(10), 10)
    models = {
        name: _started("GaussianHMM", module, data, 1) for name, module in (("tacit", sequence), ("hmmlearn", hmm))
    }
    for model in models.values():
        model.transmat_ = move
    return *data, models


def _decode(library, data):
    X, lengths, models = data
    return models[library].decode(X, lengths)


def _same_paths(ours, theirs):
    assert abs(ours[0] - theirs[0]) < 1e-9 * abs(theirs[0]), "log probabilities of the paths"
    share = (ours[1] == theirs[1]).mean()
    assert share > 0.999999, f"{share} of the states"
    return f"paths equal in {share:.6%} of the steps"


def _dynamax(data):
    """Steps of dynamax's diagonal Gaussian model, jitted; the time of compilation is not counted."""
    import jax
    import jax.numpy as jnp
    from dynamax.hidden_markov_model import DiagonalGaussianHMM

    jax.config.update("jax_enable_x64", True)
    X, lengths = data
    start = _started("GaussianHMM", __import__("hmmlearn.hmm").hmm, data, 1)
    rows = jnp.asarray(X.reshape(len(lengths), lengths[0], -1))
    model = DiagonalGaussianHMM(10, X.shape[1])
    params, props = model.initialize(
        initial_probs=jnp.asarray(start.startprob_), transition_matrix=jnp.asarray(start.transmat_),
        emission_means=jnp.asarray(start.means_),
        emission_scale_diags=jnp.sqrt(jnp.asarray(start._covars_)),
    )  # fmt: skip
    if not hasattr(_dynamax, "warm"):
        model.fit_em(params, props, rows, num_iters=1, verbose=False)
        _dynamax.warm = True
    _, values = model.fit_em(params, props, rows, num_iters=STEPS, verbose=False)
    return float(values[-1])


def _finite(ours, theirs):
    gap = abs(ours - theirs) / abs(ours)
    assert gap < 1e-2, f"log-likelihoods {ours} and {theirs}"
    return f"log-likelihood within {gap:.0e} (dynamax has priors of its own)"


def _jobs():
    shape = "K=10 d=8, 200 × 5,000 steps"
    yield Job(f"GaussianHMM {shape}, {STEPS} steps of EM", "hmmlearn scaling", gaussian_rows, partial(_ours, "GaussianHMM"),
              partial(_theirs, "GaussianHMM"), _close, 10.0, 3)  # fmt: skip
    yield Job(f"Viterbi {shape}", "hmmlearn", _decoders, partial(_decode, "tacit"), partial(_decode, "hmmlearn"),
              _same_paths, 10.0, 3)  # fmt: skip
    yield Job(f"CategoricalHMM K=10, 20 symbols, 200 × 5,000 steps, {STEPS} steps of EM", "hmmlearn scaling", symbol_rows,
              partial(_ours, "CategoricalHMM"), partial(_theirs, "CategoricalHMM"), _close, 8.0, 3)  # fmt: skip
    yield Job(f"GaussianHMM against dynamax {shape}, {STEPS} steps of EM", "dynamax (CPU, jitted)", gaussian_rows,
              partial(_ours, "GaussianHMM"), _dynamax, _finite, 2.0, 3)  # fmt: skip


JOBS = list(_jobs())


# Small tables, defaults


def small_tables():
    """Series that come with the library or with packages: name, kind of the states, rows, lengths, states."""
    import os
    from pathlib import Path

    from sklearn.datasets import load_iris, load_wine

    rng = np.random.default_rng(0)
    folder = Path(os.environ.get("TACIT_DATA", ""))

    def read(path, *columns):
        found = np.genfromtxt(folder / path, delimiter=",", names=True)
        return np.column_stack([found[name] for name in columns])

    if (folder / "hmm").exists():
        yield "earthquakes", "PoissonHMM", read("hmm/earthquakes_1900_2006.csv", "count").astype(int), [107], 2
        yield "earthquakes", "PoissonHMM", read("hmm/earthquakes_1900_2006.csv", "count").astype(int), [107], 3
        yield "speed", "GaussianHMM", read("hmm/speed.csv", "rt"), [168, 134, 137], 2
        yield "S&P 500", "GaussianHMM", read("hmm/sp500_monthly.csv", "logret"), [744], 2
        yield "S&P 500", "GaussianHMM", read("hmm/sp500_monthly.csv", "logret"), [744], 3
    geyser = folder / "faithful" / "geyser.csv"
    if geyser.exists():
        names = np.genfromtxt(geyser, delimiter=",", names=True).dtype.names
        yield (
            "geyser",
            "GaussianHMM",
            read("faithful/geyser.csv", *names[-2:]),
            [len(read("faithful/geyser.csv", names[-1]))],
            3,
        )
    yield "iris", "GaussianHMM", load_iris().data, [150], 3
    yield "wine", "GaussianHMM", load_wine().data[:, :4], [178], 3
    states = walk(1, 40, np.array([[0.9, 0.1], [0.2, 0.8]]), rng)
    yield "40 steps", "GaussianHMM", rng.normal(3.0 * states, 1.0)[:, None], [40], 2
    states = walk(1, 100, np.array([[0.95, 0.05], [0.1, 0.9]]), rng)
    loaded = np.array([[1 / 6] * 6, [0.1] * 5 + [0.5]])
    yield "casino, 100 rolls", "CategoricalHMM", np.array([[rng.choice(6, p=loaded[s])] for s in states]), [100], 2


def defaults(n_seeds=20):
    """One line a table: the share of seeds that end at the best likelihood, and milliseconds of a fit, of both libraries."""
    import logging

    from hmmlearn import hmm

    from tacit import sequence

    logging.disable(logging.WARNING)
    print(f"{'table':22}{'states':>7}{'ours best':>11}{'theirs':>8}{'ours ms':>9}{'theirs':>8}{'ratio':>7}")
    for name, kind, X, lengths, k in small_tables():
        found = {sequence: ([], []), hmm: ([], [])}
        for seed in range(-1, n_seeds):  # the first warms up
            for module, (scores, times) in found.items():
                more = {"covars_prior": 0.0} if kind == "GaussianHMM" else {}
                model = getattr(module, kind)(k, n_iter=200, tol=1e-4, random_state=max(seed, 0), **more)
                begin = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model.fit(X, lengths)
                    value = model.score(X, lengths)
                if seed >= 0:
                    times.append(time.perf_counter() - begin)
                    scores.append(value)
        best = max(max(scores) for scores, _ in found.values())
        shares = [np.mean(np.array(scores) > best - 0.05) for scores, _ in found.values()]
        ours, theirs = (1e3 * np.median(times) for _, times in found.values())
        print(
            f"{name:22}{k:7}{shares[0]:11.0%}{shares[1]:8.0%}{ours:9.1f}{theirs:8.1f}{theirs / ours:7.2f}", flush=True
        )


if __name__ == "__main__":
    defaults()
