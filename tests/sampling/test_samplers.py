"""Metropolis, Gibbs and Hamiltonian chains: known moments by z-scores, compiled or not, and densities that are at fault."""

import numba
import numpy as np
import pytest
import scipy.stats as st

from tacit.families import MultivariateNormal
from tacit.sampling import gibbs, hamiltonian, metropolis
from tacit.sampling.estimate import expectation

MEAN, COVARIANCE = np.array([1.0, -2.0, 0.5]), np.array([[4.0, 1.2, 0.0], [1.2, 1.0, 0.3], [0.0, 0.3, 0.25]])
PRECISION = np.linalg.inv(COVARIANCE)


def gaussian(x):
    apart = x - MEAN
    return -0.5 * apart @ (PRECISION @ apart)


def gaussian_slope(x):
    return -PRECISION @ (x - MEAN)


def check_moments(chains, mean=MEAN, covariance=COVARIANCE, limit=4.0):
    """z-scores of means and second moments, by the effective sample sizes of ArviZ."""

    def moments(x):
        apart = x - mean
        return np.concatenate([apart, (apart[:, None] * apart)[np.triu_indices(len(mean))]])

    found = expectation(moments, chains)
    truth = np.concatenate([0 * mean, covariance[np.triu_indices(len(mean))]])
    z = (found.value - truth) / found.standard_error
    assert np.min(found.ess) > 200
    assert np.abs(z).max() < limit, z


class Told:
    def value_and_gradient(self, x):
        return gaussian(x), gaussian_slope(x)


def conditionals():
    def one(i):
        others = np.array([j for j in range(3) if j != i])
        slope = np.linalg.solve(COVARIANCE[np.ix_(others, others)], COVARIANCE[others, i])
        spread = float(np.sqrt(COVARIANCE[i, i] - COVARIANCE[i, others] @ slope))
        a, b = others
        s, t = slope
        return lambda x, rng: MEAN[i] + s * (x[a] - MEAN[a]) + t * (x[b] - MEAN[b]) + spread * rng.standard_normal()

    return [one(i) for i in range(3)]


def skewed(x, rng):
    """A proposal that is not symmetric, with its log ratio."""
    y = x.copy()
    for i in range(len(x)):
        y[i] = x[i] + rng.normal(0.3 if x[i] < MEAN[i] else -0.1, 0.8)
    ratio = 0.0
    for i in range(len(x)):
        there, back = 0.3 if x[i] < MEAN[i] else -0.1, 0.3 if y[i] < MEAN[i] else -0.1
        ratio += ((y[i] - x[i] - there) ** 2 - (x[i] - y[i] - back) ** 2) / (2 * 0.8**2)
    return y, ratio


START = MEAN + np.random.default_rng(0).normal(size=(4, 3))
RUNS = {
    "walk": lambda: metropolis(gaussian, START, n_draws=20_000, random_state=1),
    "walk of a numba function": lambda: metropolis(numba.njit(gaussian), START, n_draws=20_000, random_state=2),
    "own proposals": lambda: metropolis(gaussian, START, proposal=skewed, n_draws=60_000, random_state=3),
    "independent": lambda: metropolis(
        gaussian, START, proposal=st.multivariate_t(MEAN, COVARIANCE, df=5), n_draws=5000, n_warmup=0, random_state=4
    ),
    "scipy's density": lambda: metropolis(
        st.multivariate_normal(MEAN, COVARIANCE), START, proposal=MultivariateNormal().fit(
            np.random.default_rng(0).multivariate_normal(MEAN, 2 * COVARIANCE, 500)), n_draws=3000, random_state=5,
    ),
    "gibbs": lambda: gibbs(conditionals(), START, n_draws=10_000, random_state=6),
    "no u-turn": lambda: hamiltonian(gaussian, START, gradient=gaussian_slope, n_draws=2000, random_state=7),
    "no u-turn, dense": lambda: hamiltonian(
        gaussian, START, gradient=gaussian_slope, metric="dense", n_draws=2000, random_state=8
    ),
    "no u-turn by differences": lambda: hamiltonian(gaussian, START, n_draws=2000, random_state=9),
    "no u-turn of an object": lambda: hamiltonian(Told(), START, n_draws=400, n_warmup=300, random_state=10),
}  # fmt: skip
COMPILED = {"walk", "walk of a numba function", "own proposals", "gibbs", "no u-turn", "no u-turn, dense"}


@pytest.mark.parametrize("name", RUNS)
def test_moments_of_a_gaussian(name):
    chains = RUNS[name]()
    check_moments(chains)
    codes = [note.code for note in chains.notes]
    assert ("compiled" in codes) == (name in COMPILED | {"independent"})
    assert all(note.code not in ("divergent", "stuck", "never_accepted") for note in chains.notes)


def test_dicts_of_arrays_and_torch_give_the_same_distribution():
    torch = pytest.importorskip("torch")
    settings = {"n_draws": 250, "n_warmup": 200, "n_chains": 2, "random_state": 0, "keep_warmup": True}
    start = {"a": 1.0, "b": np.array([-2.0, 0.5])}

    def density(state):
        return gaussian(np.concatenate([[state["a"]], state["b"]]))

    mean, precision = torch.tensor(MEAN), torch.tensor(PRECISION)

    def in_torch(state):
        apart = torch.cat([state["a"][None], state["b"]]) - mean
        return -0.5 * apart @ (precision @ apart)

    by_differences, by_torch = hamiltonian(density, start, **settings), hamiltonian(in_torch, start, **settings)
    assert by_torch["b"].shape == (2, 250, 2)
    # The same stream: the first draws agree to what differences resolve.
    np.testing.assert_allclose(by_torch.warmup["b"][:, :5], by_differences.warmup["b"][:, :5], rtol=1e-4)
    for chains in (by_differences, by_torch):
        joined = np.concatenate([chains["a"][..., None], chains["b"]], axis=2)
        z = (joined.mean(axis=(0, 1)) - MEAN) / np.sqrt(np.diag(COVARIANCE) / 100)
        assert np.abs(z).max() < 4
    assert [note.code for note in by_torch.notes] == ["gradient_torch"]
    assert "gradient_differences" in [note.code for note in by_differences.notes]
    assert "it takes a dict" in metropolis(density, start, n_draws=5, n_warmup=5).notes[0]


def test_a_dict_of_conditionals():
    rng = np.random.default_rng(0)
    y = rng.normal(3.0, 2.0, size=30)
    draws = {
        "mean": lambda s, rng: rng.normal(y.mean(), np.sqrt(s["variance"] / len(y))),
        "variance": lambda s, rng: 0.5 * ((y - s["mean"]) ** 2).sum() / rng.gamma(0.5 * len(y)),
    }
    chains = gibbs(draws, {"mean": 0.0, "variance": 1.0}, n_draws=2000, n_warmup=100, random_state=0)
    # Under p(μ, σ²) ∝ 1/σ² the mean is Student t about the mean of the rows with n − 1 degrees of freedom.
    law = st.t(len(y) - 1, y.mean(), y.std(ddof=1) / np.sqrt(len(y)))
    assert st.kstest(chains["mean"].ravel()[::5], law.cdf).pvalue > 1e-3


def test_hamiltonian_trajectories_are_drawn_from_a_banana_of_known_moments():
    def banana(x):
        return -0.5 * x[0] ** 2 - 0.5 * ((x[1] - x[0] ** 2) / 0.5) ** 2

    def slope(x):
        gap = (x[1] - x[0] ** 2) / 0.25
        return np.array([-x[0] + 2 * x[0] * gap, -gap])

    chains = hamiltonian(banana, np.zeros(2), gradient=slope, n_draws=4000, target_acceptance=0.9, random_state=0)
    found = expectation(lambda x: np.array([x[0], x[0] ** 2, x[1], x[1] ** 2, x[0] ** 2 * x[1]]), chains)
    assert np.abs((found.value - [0, 1, 1, 3.25, 3]) / found.standard_error).max() < 4


def test_a_density_that_numba_cannot_follow_or_reads_otherwise_is_called_from_python():
    table = {"scale": 0.5}
    chains = metropolis(lambda x: -table["scale"] * x[0] ** 2, [0.0], n_draws=20, n_warmup=20, random_state=0)
    assert (chains.notes[0].code, chains.notes[0].values["error"]) == ("not_compiled", "TypingError")
    assert "called from Python, because numba cannot compile it" in chains.notes[0]

    def otherwise(x):
        return -0.5 * x[0] ** 2 if isinstance(x, np.ndarray) and type(x[0]).__name__ == "float64" else -50.0 * x[0] ** 2

    assert metropolis(otherwise, [0.3], n_draws=20, n_warmup=20).notes[0].code == "not_compiled"


def test_a_proposal_that_numba_cannot_follow_is_told_of():
    table = {"scale": 0.5}

    def propose(x, rng):
        return x + table["scale"] * rng.standard_normal(1), 0.0

    chains = metropolis(lambda x: -0.5 * x[0] ** 2, [0.0], proposal=propose, n_draws=50, n_warmup=0, random_state=0)
    assert [note.code for note in chains.notes] == ["not_compiled"]
    assert "The proposal is called from Python" in chains.notes[0]


def test_a_density_that_changed_is_compiled_again():
    scale = [1.0]

    def make():
        s = scale[0]
        return lambda x: -0.5 * (x[0] / s) ** 2

    narrow = metropolis(make(), [0.0], random_state=0)["x"].std()
    scale[0] = 100.0
    assert metropolis(make(), [0.0], random_state=0)["x"].std() > 20 * narrow


@pytest.mark.parametrize("value", [np.nan, -np.inf])
@pytest.mark.parametrize("sampler", [metropolis, hamiltonian])
def test_a_start_where_the_density_is_0_or_no_number(sampler, value):
    told = "has probability 0: its log density is -inf" if value == -np.inf else "has log density nan"
    with pytest.raises(
        ValueError, match=rf"The start of chain 0, \[1. 2.\], {told}; start where the density is positive"
    ):
        sampler(lambda x: value, [1.0, 2.0])


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_proposals_that_are_never_accepted_are_told_during_warm_up(value):
    def spike(x):
        return 0.0 if x[0] == 1.0 else value

    with pytest.warns(UserWarning, match="None of the first 1.. proposals of 4 of 4 chains was accepted"):
        chains = metropolis(spike, [1.0], random_state=0, n_warmup=300, n_draws=100)
    codes = {note.code: note.values for note in chains.notes}
    assert codes["never_accepted"]["n"] == codes["stuck"]["n"] == 4
    assert (chains["x"] == 1.0).all()
    assert "r_hat" not in codes


def test_nan_of_a_part_of_the_space_is_never_entered():
    chains = metropolis(lambda x: -x[0] if x[0] > 0 else np.nan, [1.0], n_draws=20_000, random_state=0)
    assert chains["x"].min() > 0
    found = expectation(lambda x: x[0], chains)
    assert abs(found.value - 1.0) < 4 * found.standard_error


def test_divergent_trajectories_are_told():
    def funnel(x):
        return -0.5 * (x[0] / 3.0) ** 2 - 0.5 * (x[1:] ** 2).sum() * np.exp(-x[0]) - 0.5 * x[0] * (len(x) - 1)

    chains = hamiltonian(funnel, np.zeros(6), random_state=0, n_draws=500, n_warmup=500)
    told = {note.code: note.values for note in chains.warnings()}
    assert told["divergent"]["n"] == chains.statistics["diverging"].sum() > 0


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: metropolis(lambda x: x, [0.0, 1.0]), r"log_density returned an array of shape \(2,\) for one point"),
        (lambda: metropolis(lambda x: "many", [0.0]), "log_density returned 'many', which is not a number"),
        (lambda: metropolis(gaussian, MEAN, proposal=lambda x, rng: x),
         "proposal returned .* return the proposed vector and the log ratio"),
        (lambda: metropolis(gaussian, MEAN, proposal=lambda x, rng: (x[:2], 0.0)),
         "what proposal returned has 2 entries, but 3 are expected"),
        (lambda: metropolis(gaussian, MEAN, proposal=st.norm()),
         r"proposal drew an array of shape \(\d+, 1\) for .* points of 3 numbers"),
        (lambda: metropolis(gaussian, MEAN, proposal=st.multivariate_t(MEAN, df=3, shape=np.eye(3)), n_draws=1.5), "n_draws=1.5"),
        (lambda: metropolis(lambda x: -x[0] ** 2, [2.0], proposal=st.uniform()), "The proposal has probability 0 at the start"),
        (lambda: hamiltonian(gaussian, MEAN, gradient=lambda x: x[:1]), "the gradient has 1 entries, but 3 are expected"),
        (lambda: hamiltonian(gaussian, MEAN, gradient=lambda x: x * np.nan), "The gradient at the start of chain 0 holds nan"),
        (lambda: hamiltonian(gaussian, MEAN, metric="full"), "metric='full' is unknown"),
        (lambda: gibbs([lambda x, rng: x[0]], [0.0, 1.0]), r"No conditional draws x\[1\]"),
        (lambda: gibbs([lambda x, rng: x, lambda x, rng: 0.0], [0.0, 1.0]),
         r"conditional of x\[0\] returned an array of shape \(2,\)"),
        (lambda: gibbs([lambda x, rng: np.nan], [0.0]), r"the conditional of x\[0\] returned nan"),
        (lambda: gibbs({"a": lambda s, rng: 0.0}, {"b": 0.0}), "conditionals names a, but the variables are b"),
        (lambda: gibbs([3], [0.0]), r"the conditional of x\[0\] is 3, which is no function"),
    ],
)  # fmt: skip
def test_what_does_not_fit(run, message):
    with pytest.raises(ValueError if "no function" not in message else TypeError, match=message):
        run()


def test_a_gradient_of_the_wrong_sign_is_told():
    short = {"n_draws": 20, "n_warmup": 20, "n_chains": 1, "random_state": 0}
    codes = [
        {note.code for note in hamiltonian(lambda x: -0.5 * (x**2).sum(), [1.0, -2.0], gradient=slope, **short).notes}
        for slope in (lambda x: x, lambda x: -x)
    ]
    assert "gradient_differs" in codes[0]
    assert "gradient_differs" not in codes[1]


def test_what_is_no_start_and_no_seed():
    with pytest.raises(TypeError, match="start='a' is no array of numbers"):
        metropolis(lambda x: 0.0, "a")
    with pytest.raises(ValueError, match="random_state='x' is no seed; use a whole number of at least 0"):
        metropolis(lambda x: 0.0, [0.0], random_state="x")


def test_what_is_no_density():
    with pytest.raises(TypeError, match="log_density=3 is no density"):
        metropolis(3, [0.0])


def test_a_density_cannot_write_into_its_argument():
    def writes(x):
        x[0] = 0.0
        return 0.0

    with pytest.raises(ValueError, match="read-only"):
        metropolis(writes, [0.0])
