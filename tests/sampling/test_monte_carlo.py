"""Averages, rejection, importance sampling and evenly spread points: known values by z-scores, and what is told where
they fail.
"""

import math

import numba
import numpy as np
import pytest
import scipy.stats as st

from tacit.families import Normal
from tacit.mixture import GaussianMixture
from tacit.sampling import (
    Chains,
    expectation,
    importance_sample,
    latin_hypercube,
    quasi_random,
    rejection_sample,
)


def z(estimate, truth):
    return abs((estimate.value - truth) / estimate.standard_error)


@pytest.mark.parametrize("block", [None, 7, 1000])
def test_averages_of_independent_draws(block):
    draws = np.random.default_rng(0).normal(2.0, 3.0, size=(5000, 2))
    found = expectation(lambda x: x[:, 0] * x[:, 1], draws, block=block)
    values = draws[:, 0] * draws[:, 1]
    assert found.value == pytest.approx(values.mean(), rel=1e-12)
    assert found.standard_error == pytest.approx(values.std(ddof=1) / math.sqrt(5000), rel=1e-12)
    assert (found.ess, found.n) == (5000, 5000)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x[0] ** 2, lambda x: x[:, 0] ** 2, lambda x: x[..., 0] ** 2, numba.njit(lambda x: x[0] ** 2),
        lambda x: np.array([x[0] ** 2, x[0]]), lambda x: np.column_stack([x[:, 0] ** 2, x[:, 0]]),
    ],
)  # fmt: skip
def test_functions_of_one_draw_and_of_rows_give_the_same(f):
    draws = np.random.default_rng(1).normal(size=(50, 3))
    found = expectation(f, draws)
    assert np.ravel(found.value)[0] == pytest.approx((draws[:, 0] ** 2).mean(), rel=1e-12)
    assert np.size(found.value) in (1, 2)


@pytest.mark.parametrize("n", [1000, 20_001])
def test_draws_are_made_in_blocks_by_anything_that_draws(n):
    sizes = []

    def sample(size, rng):
        sizes.append(size)
        return rng.exponential(2.0, size=(size, 1))

    found = expectation(lambda x: x[:, 0], sample, n, block=512, random_state=0)
    assert z(found, 2.0) < 4
    assert (sum(sizes), max(sizes)) == (n, 512)
    for source in (st.norm(1, 2), st.multivariate_normal([1.0], [[4.0]]), Normal().fit([-1.0, 3.0])):
        assert z(expectation(lambda x: (x[:, 0] - 1) ** 2, source, n, random_state=1), 4.0) < 4


@pytest.mark.parametrize(
    ("n", "law", "slack"), [(20, st.norm(1, 3), 0.02), (20, st.uniform(0.5, 1), 0.02), (200, st.expon(), 0.03)]
)
def test_intervals_of_averages_hold_what_they_say(n, law, slack):
    rows = law.rvs(size=(2000, n), random_state=2)
    ends = np.array([expectation(lambda x: x, row).interval(0.9) for row in rows])
    assert ((ends[:, 0] <= 1) & (ends[:, 1] >= 1)).mean() == pytest.approx(0.9, abs=slack)


def test_correlated_draws_count_for_less():
    rng, n = np.random.default_rng(3), 4000
    chains = np.zeros((4, n, 1))
    for t in range(1, n):
        chains[:, t, 0] = 0.9 * chains[:, t - 1, 0] + rng.normal(0, math.sqrt(1 - 0.81), 4)
    found = expectation(lambda x: x[0], chains, correlated=True)
    assert found.ess == pytest.approx(4 * n * 0.1 / 1.9, rel=0.3)
    assert found.standard_error > 3 * expectation(lambda x: x[0], chains.reshape(-1, 1)).standard_error
    named = Chains({"a": chains[..., 0], "b": chains})
    both = expectation(lambda s: s["a"] + s["b"][..., 0], named)
    assert both.value == pytest.approx(2 * found.value)


def test_rejection_gives_the_density_and_its_integral():
    kept = rejection_sample(
        lambda x: 2 * np.log(x[0]) + np.log1p(-x[0]), st.uniform(), 20_000, log_bound=math.log(4 / 27), random_state=0
    )
    assert st.kstest(kept.draws[:, 0], st.beta(3, 2).cdf).pvalue > 1e-3
    assert abs(kept.log_evidence - math.log(1 / 12)) < 4 * kept.log_evidence_error
    assert kept.acceptance_rate == pytest.approx(27 / 48, abs=0.02)
    assert (kept.notes, len(kept.broken)) == ((), 0)


def test_a_broken_envelope_is_told_with_where_and_by_how_much():
    kept = rejection_sample(
        lambda x: math.log(3 * x[0] ** 2 + 1e-300), st.uniform(), 2000, log_bound=math.log(1.5), random_state=0
    )
    (note,) = kept.notes
    assert note.code == "envelope_broken"
    assert note.values["factor"] == pytest.approx(2.0, rel=0.01)
    assert kept.broken.min() > math.sqrt(0.5)
    repaired = rejection_sample(
        lambda x: math.log(3 * x[0] ** 2 + 1e-300),
        st.uniform(),
        2000,
        log_bound=math.log(1.5) + note.values["remedy"] + 1e-3,
        random_state=1,
    )
    assert repaired.notes == ()
    (estimated,) = rejection_sample(st.norm(), st.norm(0, 2), 100, random_state=0).notes
    assert estimated.code == "bound_estimated"
    assert estimated.values["bound"] == pytest.approx(math.log(2.0), abs=1e-3)


@pytest.mark.parametrize(
    "density",
    [
        st.norm(2, 1), Normal().fit([1.0, 3.0]), lambda x: -0.5 * (x[0] - 2.0) ** 2 - 0.5 * math.log(2 * math.pi),
        lambda X: -0.5 * (X[..., 0] - 2.0) ** 2 - 0.5 * math.log(2 * math.pi),
        numba.njit(lambda x: -0.5 * (x[0] - 2.0) ** 2 - 0.5 * math.log(2 * math.pi)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("proposal", ["scipy", "pair", "estimator"])
def test_importance_sampling_of_every_kind_of_density(density, proposal):
    proposals = {
        "scipy": st.t(4, 1.0, 2.0), "pair": (lambda n, rng: rng.normal(1, 3, (n, 1)), lambda X: st.norm.logpdf(X[:, 0], 1, 3)),
        "estimator": GaussianMixture(2, random_state=0).fit(np.random.default_rng(0).normal(2, 1.5, (300, 1))),
    }  # fmt: skip
    sample = importance_sample(density, proposals[proposal], 8000, random_state=0)
    assert sample.notes == ()
    assert sample.weights.sum() == pytest.approx(1.0)
    assert z(sample.expectation(lambda x: np.array([x[0], (x[0] - 2) ** 2])), np.array([2.0, 1.0])).max() < 4
    assert abs(sample.log_evidence) < 4 * sample.log_evidence_error
    assert sample.resample(4000, 0).mean() == pytest.approx(2.0, abs=0.1)
    assert expectation(lambda x: x[0], sample).value == sample.expectation(lambda x: x[0]).value


def test_weights_of_infinite_variance_are_told():
    # The weights' tail is that of a power with shape k = 1 − σ².
    heavy = importance_sample(st.norm(), st.norm(0, 0.5), 20_000, random_state=0)
    assert [note.code for note in heavy.notes] == ["weights_infinite_variance"]
    assert heavy.k_hat == pytest.approx(0.75, abs=0.2)
    narrow = importance_sample(st.norm(), st.norm(0, 0.3), 20_000, random_state=0)
    (note,) = narrow.notes[:1]
    assert note.code == "weights_unreliable"
    assert note.values["k"] == narrow.k_hat == pytest.approx(0.91, abs=0.2)
    assert "infinite variance" in note
    wide = importance_sample(st.norm(), st.norm(0, 2), 20_000, random_state=0)
    assert wide.k_hat < 0.5
    same = importance_sample(st.norm(), st.norm(), 100, random_state=0)
    assert (same.ess, same.k_hat, same.notes) == (pytest.approx(100), -math.inf, ())


def test_a_rare_event_that_plain_draws_never_see():
    truth = st.norm.sf(6.0)
    assert expectation(lambda x: x[:, 0] > 6, st.norm(), 10_000, random_state=0).value == 0
    sample = importance_sample(st.norm(), st.norm(6, 1), 20_000, smooth=False, random_state=0)
    weights = np.exp(sample.raw_log_weights)
    found = expectation(lambda x: x, weights * (sample.draws[:, 0] > 6))
    assert z(found, truth) < 4
    assert found.standard_error < 0.03 * truth


def test_points_cover_every_slice_and_go_through_quantiles():
    points = latin_hypercube(50, [st.norm(1, 2), st.expon()], random_state=0)
    slices = np.floor(50 * np.column_stack([st.norm(1, 2).cdf(points[:, 0]), st.expon().cdf(points[:, 1])]))
    for column in slices.T:
        assert sorted(column) == list(range(50))
    family = Normal().fit(np.random.default_rng(0).normal(size=(100, 2)) * [1.0, 5.0])
    columns = latin_hypercube(20, family, random_state=1)
    for j in range(2):
        cells = np.floor(20 * st.norm(family.mean[j], math.sqrt(family.variance[j])).cdf(columns[:, j]))
        assert sorted(cells) == list(range(20))
    for method in ("sobol", "halton"):
        points = quasi_random(4096, [st.norm(), st.norm()], method=method, random_state=0)
        assert np.isfinite(points).all()
        assert abs((points**2).mean(axis=0) - 1).max() < 0.01  # of random points, a standard error is 0.022


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: expectation(lambda x: x, st.norm()), "n=None, but draws are still to be made"),
        (lambda: expectation(lambda x: np.where(x > 0, x, np.inf), np.array([0.0, 1.0])), "f returned inf for 1 of 2 draws"),
        (lambda: expectation(lambda x: x, np.array([1.0])), "draws has 1 rows"),
        (lambda: expectation(lambda x: x, [1.0, 2.0]).interval(2), "level=2 must be between 0 and 1"),
        (lambda: importance_sample(lambda x: -np.inf, st.norm(), 100), "log_density is -inf at all 100 proposals"),
        (lambda: importance_sample(lambda x: np.nan, st.norm(), 100), "log_density is nan at 100 of 100 proposals"),
        (lambda: importance_sample(st.norm(), (lambda n, rng: np.zeros((n, 2, 2)), lambda X: X), 100),
         r"proposal drew an array of shape"),
        (lambda: importance_sample(st.norm(), (lambda n, rng: rng.normal(size=(n, 1)), lambda X: 0.0), 100),
         "log density has shape"),
        (lambda: rejection_sample(st.norm(9), st.norm(), 10, log_bound=50.0, max_proposals=5000),
         "0 of n=10 draws were kept of max_proposals=5000"),
        (lambda: rejection_sample(st.norm(), st.norm(), 10, log_bound=math.inf), "log_bound=inf is not finite"),
        (lambda: latin_hypercube(5, optimization="best"), "optimization='best' is unknown"),
        (lambda: quasi_random(0), "n=0 is not a whole number"),
    ],
)  # fmt: skip
def test_what_does_not_fit(run, message):
    with pytest.raises(ValueError, match=message):
        run()


def test_correlated_columns_and_distributions_without_quantiles_are_refused():
    from tacit.families import MultivariateNormal

    rows = np.random.default_rng(0).normal(size=(50, 2)) @ [[1.0, 0.9], [0.0, 0.3]]
    with pytest.raises(ValueError, match="columns of the distribution are correlated"):
        latin_hypercube(5, MultivariateNormal().fit(rows))
    with pytest.raises(TypeError, match="has no quantiles"):
        latin_hypercube(5, st.multivariate_normal([0, 0]))
    with pytest.raises(TypeError, match="cannot propose points"):
        importance_sample(st.norm(), 3, 100)


def test_a_constant_function_is_no_certainty_and_a_rare_event_is_an_evidence():
    never = expectation(lambda x: x > 9, st.norm(), 1000, random_state=0)
    (note,) = never.notes
    assert (note.code, note.values["flat"], note.values["bound"]) == ("constant", 1, 0.003)
    assert expectation(lambda x: x > 0, st.norm(), 1000, random_state=0).notes == ()
    tail = importance_sample(lambda x: st.norm.logpdf(x[0]) if x[0] > 4 else -np.inf, st.norm(4), 4000, random_state=0)
    assert tail.log_evidence_error < 0.05
    assert abs(tail.log_evidence - st.norm.logsf(4)) < 4 * tail.log_evidence_error


def test_representations_are_a_line():
    weighted = importance_sample(st.norm(), st.norm(0, 2), 500, random_state=0)
    assert repr(weighted).startswith(f"ImportanceSample(500 draws of 1 columns, ess={weighted.ess:.4g}, k_hat=")
    kept = rejection_sample(st.norm(), st.norm(0, 2), 500, log_bound=math.log(2.0), random_state=0)
    assert (
        repr(kept) == f"RejectionSample(500 draws of 1 columns, acceptance_rate={kept.acceptance_rate:.3g}, notes=[])"
    )


def test_what_is_no_function():
    with pytest.raises(TypeError, match="f='mean' is no function"):
        expectation("mean", st.norm(), 100)
