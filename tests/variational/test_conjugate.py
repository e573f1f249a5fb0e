"""Message passing: bounds never fall and lie below the evidence, which quadrature gives."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp, ndtr
from scipy.stats import gamma, multivariate_normal, norm

from tacit.variational import variational_gaussian, variational_probit, variational_regression

RNG = np.random.default_rng(0)
PRIOR = 2.0, 1.5  # shapes and rates of gamma priors


def grid(prior, n=400):
    """Points and log weights of a gamma distribution over its logs."""
    at = np.linspace(*np.log(gamma.ppf([1e-9, 1 - 1e-9], prior[0], scale=1 / prior[1])), n)
    return np.exp(at), gamma.logpdf(np.exp(at), prior[0], scale=1 / prior[1]) + at + np.log(at[1] - at[0])


def check(found, evidence, near):
    assert (np.diff(found.bounds) >= -1e-9 * np.abs(found.bounds[1:])).all()
    assert found.bound <= evidence + 1e-6
    assert found.bound == pytest.approx(evidence, abs=near)


@pytest.mark.parametrize("n", [1, 5, 60])
def test_a_gaussian(n):
    x = RNG.normal(2.0, 1.5, size=n)
    taus, weight = grid(PRIOR)
    covariances = [np.eye(n) / tau + 9.0 for tau in taus]
    logs = weight + [multivariate_normal(np.full(n, 1.0), each).logpdf(x) for each in covariances]
    found = variational_gaussian(np.append(x, np.nan), mean_prior=(1.0, 3.0), precision_prior=PRIOR)
    check(found, logsumexp(logs), 0.3)
    posterior = np.exp(logs - logsumexp(logs))
    assert found.noise.mean == pytest.approx(posterior @ taus, rel=0.15)
    twice = variational_gaussian(x, mean_prior=(1.0, 3.0), precision_prior=PRIOR, sample_weight=np.full(n, 2.0))
    doubled = variational_gaussian(np.tile(x, 2), mean_prior=(1.0, 3.0), precision_prior=PRIOR)
    assert twice.bound == pytest.approx(doubled.bound)


def test_linear_regression():
    n = 25
    X = RNG.normal(size=(n, 2))
    y = X @ [1.0, -0.5] + 0.7 * RNG.normal(size=n)
    taus, of_tau = grid(PRIOR, 120)
    alphas, of_alpha = grid(PRIOR, 120)
    logs = np.array([
        multivariate_normal(np.zeros(n), np.eye(n) / tau + X @ X.T / alpha).logpdf(y) + a + b
        for tau, a in zip(taus, of_tau) for alpha, b in zip(alphas, of_alpha)
    ])  # fmt: skip
    found = variational_regression(X, y, fit_intercept=False, noise_prior=PRIOR, relevance_prior=PRIOR)
    check(found, logsumexp(logs), 0.3)
    mean, std = found.predict(X, return_std=True)
    assert np.abs(mean - X @ [1.0, -0.5]).max() < 0.6
    assert (std > 1 / np.sqrt(found.noise.mean)).all()
    # The bound tells which columns are of use.
    other = variational_regression(
        np.column_stack([X, RNG.normal(size=(n, 5))]), y, noise_prior=PRIOR, relevance_prior=PRIOR
    )
    assert other.bound < variational_regression(X, y, noise_prior=PRIOR, relevance_prior=PRIOR).bound


def test_probit_regression():
    x = RNG.normal(size=40)
    y = (1.5 * x + RNG.normal(size=40) > 0).astype(int)
    sign = 2 * y - 1

    def joint(w):
        return np.prod(2 * ndtr(sign * w * x)) * norm.pdf(w)

    total = quad(joint, -2, 8, limit=200)[0]
    evidence = np.log(total) - len(x) * np.log(2.0)
    mean = quad(lambda w: w * joint(w), -2, 8, limit=200)[0] / total
    found = variational_probit(x[:, None], y, fit_intercept=False)
    check(found, evidence, 2.0)  # the cut normals follow w closely, which a product cannot
    assert found.mean[0] == pytest.approx(mean, abs=0.15)
    exact = quad(lambda w: ndtr(w) * joint(w), -2, 8, limit=200)[0] / total
    assert found.predict([[1.0]])[0] == pytest.approx(exact, abs=0.05)
    assert (np.diff(variational_probit(x[:, None], y, relevance_prior=(2.0, 2.0)).bounds) >= -1e-8).all()


def test_intervals_of_a_mean_hold_from_twenty_rows_up():
    inside = 0
    for seed in range(400):
        x = np.random.default_rng(seed).normal(3.0, 2.0, size=20)
        found = variational_gaussian(x)
        inside += abs(found.mean[0] - 3.0) < 1.96 * found.std[0]
    # Mean field takes τ for known where it tells of μ, so that a little is lost: a t interval has 1.07 times the length.
    assert 0.91 < inside / 400 < 0.97


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: variational_gaussian([np.nan, np.nan]), "x has no observed value"),
        (lambda: variational_gaussian([[1.0]]), r"x has shape \(1, 1\); give one column"),
        (lambda: variational_gaussian([1.0, np.inf]), "x holds inf; values must be finite"),
        (
            lambda: variational_gaussian([1.0, 2.0], precision_prior=(0, 1)),
            r"precision_prior=\(0, 1\) must be the shape and the rate",
        ),
        (lambda: variational_gaussian([3.5, 3.5]), "x holds no value but 3.5, .* give mean_prior="),
        (lambda: variational_gaussian([1.0], mean_prior=(0.0, -1.0)), "mean_prior has the standard deviation -1"),
        (lambda: variational_regression([[1.0], [2.0]], [1.0]), r"y has shape \(1,\), but X has 2 rows"),
        (lambda: variational_regression([[1.0], [np.nan]], [1.0, 2.0]), "X has missing values; fill them in"),
        (lambda: variational_regression([[1.0]], [np.nan]), "y has no observed value"),
        (lambda: variational_probit([[1.0]], [2]), "y holds 2; classes must be 0 and 1"),
        (lambda: variational_probit([[1.0], [2.0]], ["a", "b"]), "y holds 'a'; classes must be 0 and 1"),
        (
            lambda: variational_probit([[1.0]], [1]).predict([[1.0, 2.0]]),
            "X has 2 columns, but there are 1 coefficients",
        ),
        (lambda: variational_probit([[1.0]], [1]).predict([[1.0]], return_std=True), "a probability has no noise"),
    ],
)
def test_faults_are_told(call, told):
    with pytest.raises(ValueError, match=told):
        call()
